"""The laws of an evaluation: the compiled body answers as the array body does, on every storage and for every need."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from contracts.registry import CRITERIA, name, targets_for
from discriminant.data.evaluate import Evaluate, Groups, GroupSums, compiled_rows
from discriminant.data.rows import DenseDesign, SparseDesign
from discriminant.kernels import compiled
from discriminant.protocols import Block, Need, Oracle

ROBUST = Need.OUTER | Need.GROUPS
EVERYTHING = Need.VALUE | Need.GRADIENT | Need.HESSIAN | Need.PRODUCT | Need.DIAGONAL | Need.INTERCEPT | ROBUST
STORAGES = ("C", "F", "float32", "strided", "sparse", "sparse-int64", "integers")

pytestmark = pytest.mark.skipif(compiled.load() is None, reason="nothing is compiled here, so there is one body only")


def stored(X: np.ndarray, how: str):
    if how.startswith("sparse"):
        rows = sp.csr_array(np.where(np.abs(X) < 0.7, 0.0, X))
        if how.endswith("64"):
            rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
        return SparseDesign(rows)
    if how == "integers":
        return DenseDesign(np.round(3 * X).astype(np.int16))
    if how == "strided":
        return DenseDesign(np.repeat(X, 2, axis=1)[::-1, ::2])
    return DenseDesign(
        np.array(X, dtype=np.float32 if how == "float32" else np.float64, order="F" if how == "F" else "C")
    )


@pytest.mark.parametrize("how", STORAGES)
@pytest.mark.parametrize("shape", ["three outputs", "one output", "one output, first derivatives"])
@pytest.mark.parametrize("criterion", [c for c in CRITERIA if c.kind is not None], ids=name)
def test_both_bodies_give_the_same_sums(criterion, shape, how):
    """Compiled and array sums agree to rounding: value, gradient, Hessian, product, diagonal, intercepts, margin."""
    rng = np.random.default_rng(5)
    n, d, q = 531, 11, 3 if shape == "three outputs" else 1  # more than two tiles, and not a whole number of them
    if q == 1 and criterion.coupled:
        pytest.skip("outputs that compete are several")
    design = stored(rng.standard_normal((n, d)), how)
    t = targets_for(criterion, n, q, rng)
    weight = rng.integers(3, size=n).astype(float)
    center = None if how.startswith("sparse") else rng.standard_normal(d)
    A, V = rng.standard_normal((2, d + 1, q))
    curved = Oracle.CURVATURE in criterion.oracles
    need = EVERYTHING if curved and "first" not in shape else Need.VALUE | Need.GRADIENT
    if "first" in shape and curved:
        need |= Need.INTERCEPT | Need.GROUPS
    totals = np.full(q, weight.sum())
    request = Evaluate(
        criterion, None, totals, A, need, V if Need.PRODUCT in need else None, center, rng.standard_normal((n, 1))
    )
    few = rng.integers(2) == 1
    groups = Groups(rng.integers(37 if few else 9_000, size=n), 37 if few else 9_000)
    request = replace(request, factor=rng.random(n), groups=groups if Need.GROUPS in need else None)
    if criterion.coupled:
        request = replace(request, offset=rng.standard_normal((n, q)))
    block = replace(Block(design, 0, t, weight), weight=request.weight(Block(design, 0, t, weight)))
    fast, plain = request._compiled(compiled_rows(design), block), request._arrays(block)
    assert fast.value == pytest.approx(plain.value, rel=1e-12)
    assert fast.margin == pytest.approx(plain.margin, rel=1e-12)
    if Need.GROUPS in need:
        fast.groups, plain.groups = fast.groups.total(), plain.groups.total()
        np.testing.assert_allclose(fast.groups.sum(axis=0).T, fast.gradient, atol=1e-12)
    for part in ("gradient", "hessian", "product", "diagonal", "intercept", "outer", "groups"):
        mine, other = getattr(fast, part), getattr(plain, part)
        if other is None:
            assert mine is None or not curved
            continue
        np.testing.assert_allclose(
            mine, np.broadcast_to(other, mine.shape), rtol=1e-10, atol=1e-12 * np.abs(other).max()
        )


@pytest.mark.parametrize("criterion", [c for c in CRITERIA if c.kind is not None], ids=name)
def test_compiled_losses_are_right_in_both_tails(criterion):
    """Values and slopes at scores from ±1e-300 to ±1e4, one row at a time, against the NumPy formula."""
    q = 3 if criterion.coupled else 1
    scores = np.concatenate([s * np.array([1e-300, 1e-9, 1e-3, 0.5, 1.0, 3.0, 30.0, 600.0, 1e4]) for s in (-1, 1)])
    rng = np.random.default_rng(0)
    for z in scores:
        t = targets_for(criterion, 4, q, rng)
        A = np.zeros((2, q))
        A[0] = z * np.linspace(1.0, 0.3, q)
        request = Evaluate(criterion, None, np.ones(q), A)
        for row in t:
            design = DenseDesign(np.zeros((1, 1)))
            block = Block(design, 0, row[None], None if not criterion.over_norm else np.ones(1))
            found = request._compiled(compiled_rows(design), block)
            with np.errstate(over="ignore"):
                value, slope = criterion.value_and_gradient(row[None], A[:1])
            assert found.value == pytest.approx(float(value.sum()), rel=1e-14, abs=1e-300)
            np.testing.assert_allclose(found.gradient[0], slope[0], rtol=1e-13, atol=1e-300)


def test_sums_of_groups_add_whatever_groups_their_parts_name():
    """Parts with some groups and parts with all of them: the total is that of one table."""
    rng = np.random.default_rng(1)
    total, expected = None, np.zeros((6, 1, 2))
    for named in ([0, 3], None, [5], [1, 2, 3], None, [0, 5], [4]):
        groups = None if named is None else np.array(named)
        sums = rng.normal(size=(6 if named is None else len(named), 1, 2))
        expected[slice(None) if named is None else groups] += sums
        part = GroupSums(6, groups, sums)
        total = part if total is None else total.__iadd__(part)
    np.testing.assert_allclose(total.total(), expected, rtol=1e-14)
