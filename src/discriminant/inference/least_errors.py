"""The least number of rows that any linear discriminant must get wrong: a proved lower bound, often the number itself.

Rows that no weights can all put strictly on their side, a witness of ``separability``, cost at least one error.  So the
errors of any discriminant meet (hit) every witness, and the lightest set of rows that hits all witnesses found so far
is a lower bound.  Take those rows out and ask again: either the rest is separable, and the bound is the least number
of errors, proved; or there is a further witness (the implicit hitting set method; Parker & Ryan 1996, for linear
systems).  Everything rests on exact verdicts: no margin, no big constant, no tolerance.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.data import as_rows
from discriminant.inference.separability import separability
from discriminant.optimize.highs import binary_program
from discriminant.protocols import Array

AT_ONCE = 10  # disjoint witnesses that are looked for in one round; the first round looks for as many as all others


@dataclass(frozen=True)
class LeastErrors:
    """``bound``: every discriminant errs by at least this weight of rows; ``weights`` reach it where ``proved``."""

    bound: float
    proved: bool
    rows: Array  # a lightest set of rows whose removal was tried last: the errors, where proved
    weights: Array | None  # (1+d,) or (1+d, K), where the remaining rows were separated
    witnesses: int
    rounds: int


def least_errors(
    X: Any,
    codes: Array,
    weight: Array | None = None,
    *,
    fit_intercept: bool = True,
    rounds: int = 100,
    seconds: float = 60.0,
    enough: float = np.inf,
) -> LeastErrors:
    """The least weight of rows that are not strictly on their side, or a lower bound of it.

    Parameters
    ----------
    X, codes, weight : rows, class codes, and how often each row counts (1 unless given)
    rounds, seconds : when to stop without a proof
    enough : stop once the bound has reached this: the errors of a discriminant that is at hand

    >>> least_errors(np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), np.array([0, 1, 0, 1, 1])).bound
    1.0
    """
    source = as_rows(X)
    heavy = np.ones(len(codes)) if weight is None else np.asarray(weight, dtype=np.float64)
    alive = np.flatnonzero(heavy > 0)
    begun = time.monotonic()
    witnesses: list[Any] = []
    half, end = begun + seconds / 2, begun + seconds
    bound, hit, k = 0.0, np.empty(0, np.intp), 0
    for k in range(1, rounds + 1):
        if witnesses:
            hit, proved = _hitting_set(witnesses, heavy, max(end - time.monotonic(), 0.1))
            bound = max(bound, proved)
        rest = np.setdiff1d(alive, hit)
        most = AT_ONCE if k > 1 else 1 if rounds == 1 else AT_ONCE * rounds
        found, plane = _witnesses(source, codes, rest, fit_intercept, most, end if k > 1 else half)
        if not found:
            return LeastErrors(bound, heavy[hit].sum() <= bound * (1 + 1e-9), hit, plane, len(witnesses), k)
        witnesses += found
        if bound >= enough * (1 - 1e-9) or time.monotonic() > end:
            break
    if bound < enough:
        bound = max(bound, _hitting_set(witnesses, heavy, max(end - time.monotonic(), 0.5))[1])
    return LeastErrors(bound, False, hit, None, len(witnesses), k)


def _witnesses(
    source: Any, codes: Array, rest: Array, fit_intercept: bool, most: int, end: float
) -> tuple[list[Array], Array | None]:
    """Disjoint sets of rows that cannot be separated; or none, and the weights that separate ``rest``."""
    found: list[Array] = []
    while len(found) < most and (not found or time.monotonic() < end):
        kinds = np.unique(codes[rest])
        if len(kinds) < 2:
            plane = None if found else _constant(source.shape[1], kinds, int(codes.max()) + 1)
            return found, plane
        answer = separability(source.pick(rest).raw, codes[rest], fit_intercept=fit_intercept, hyperplane="any")
        if answer.witness is None:
            plane = None if found else _all_classes(np.asarray(answer.hyperplane), kinds, int(codes.max()) + 1)
            return found, plane
        rows = rest[answer.witness.rows]
        found.append(np.unique(rows))
        rest = np.setdiff1d(rest, rows)
    return found, None


def _hitting_set(witnesses: list[Array], heavy: Array, seconds: float) -> tuple[Array, float]:
    """The lightest rows that meet every witness, and a proved lower bound of their weight."""
    from scipy.sparse import csr_array

    rows = np.unique(np.concatenate(witnesses))
    place = {int(row): j for j, row in enumerate(rows)}
    # 32-bit indices: SciPy's solver of before 1.12 takes no others.
    columns = np.array([place[int(row)] for some in witnesses for row in some], dtype=np.int32)
    starts = np.concatenate([[0], np.cumsum([len(some) for some in witnesses])]).astype(np.int32)
    cover = csr_array((np.ones(len(columns)), columns, starts), shape=(len(witnesses), len(rows)))
    cost = heavy[rows]
    found = binary_program(cost / cost.max(), (cover, 1.0), seconds)
    bound = 0.0 if found.mip_dual_bound is None else float(found.mip_dual_bound) * cost.max()
    if np.ptp(cost) == 0:  # equal weights: a fraction of a row is a row
        bound = float(np.ceil(bound / cost.max() - 1e-6)) * cost.max()
    chosen = rows if found.x is None else rows[found.x > 0.5]
    return chosen, float(bound)


def _constant(d: int, kinds: Array, n_classes: int) -> Array:
    """Weights that name the one class that is left, whatever x."""
    if n_classes == 2:
        return np.concatenate([[2.0 * kinds[0] - 1.0], np.zeros(d)])
    A = np.zeros((1 + d, n_classes))
    A[0, kinds] = 1.0
    return A


def _all_classes(plane: Array, kinds: Array, n_classes: int) -> Array:
    """Weights (1+d, K) of all classes from those of the classes that are left; the others never win."""
    if n_classes == 2 or len(kinds) == n_classes:
        return plane
    two = plane if plane.ndim == 2 else np.column_stack([-plane / 2, plane / 2])
    A = np.zeros((len(two), n_classes))
    A[:, kinds] = two
    others = np.setdiff1d(np.arange(n_classes), kinds)
    A[:, others] = two.mean(axis=1, keepdims=True)
    A[0, others] -= 1e6 * (1 + np.abs(two).max())
    return A
