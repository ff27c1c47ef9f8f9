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
from discriminant.data.rows import Rows
from discriminant.inference.separability import decide
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
    source: Rows, codes: Array, rest: Array, fit_intercept: bool, most: int, end: float
) -> tuple[list[Array], Array | None]:
    """Disjoint sets of rows that cannot be separated; or none, and the weights that separate ``rest``."""
    found: list[Array] = []
    while len(found) < most and (not found or time.monotonic() < end):
        kinds, of_rest = np.unique(codes[rest], return_inverse=True)
        if not len(kinds) or (len(kinds) == 1 and fit_intercept):
            return found, None if found else _constant(source.shape[1], kinds, int(codes.max()) + 1)
        two_or_more, part = max(len(kinds), 2), as_rows(source.pick(rest).raw)
        of_rest = of_rest + (len(kinds) == 1)  # through the origin one class alone is against nothing: a·x > 0
        answer = decide(part, of_rest, np.arange(two_or_more), None, fit_intercept, "any", 0)
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
    """Weights that name the one class that is left, or none, whatever x."""
    A = np.zeros((1 + d, n_classes))
    A[0, kinds] = 1.0
    return A[:, 1] - A[:, 0] if n_classes == 2 else A


def _all_classes(plane: Array, kinds: Array, n_classes: int) -> Array:
    """Weights (1+d, K) of all classes from those of the classes that are left, of which the others are the mean."""
    if len(kinds) == n_classes:
        return plane
    two = plane if plane.ndim == 2 else np.column_stack([-plane / 2, plane / 2])
    if len(kinds) == 1:  # against nothing, the second column
        two = two[:, 1:]
    A = np.zeros((len(two), n_classes))
    A[:, kinds] = two
    if len(kinds) > 1:  # a row's own score is above the mean of all
        A[:, np.setdiff1d(np.arange(n_classes), kinds)] = two.mean(axis=1, keepdims=True)
    return A[:, 1] - A[:, 0] if n_classes == 2 else A
