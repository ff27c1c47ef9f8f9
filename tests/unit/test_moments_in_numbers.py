"""Class moments against plain sums in the widest float: every storage, weighting and form, in parts, on a device."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from discriminant.data import device as device_
from discriminant.data import make_blocks
from discriminant.data.rows import DenseDesign
from discriminant.gaussian import class_moments, device_fused, moments
from discriminant.gaussian.device import moment_sums
from discriminant.gaussian.moments import ClassMoments, mapped_moments, row_moments
from discriminant.gaussian.projection import projected_variances
from discriminant.gaussian.sums import MomentKernel, MomentSums, class_sums, exact_difference, precise_product
from discriminant.kernels import device_moments
from discriminant.protocols import Block
from discriminant.thresholds import ONE_HOT_CLASSES

EPS = float(np.finfo(float).eps)
rng = np.random.default_rng(4)
N, D, K = 90, 5, 4
Y = rng.integers(0, 3, N)  # the last class has no rows
SOME = np.where(rng.random(N) < 0.2, 0.0, rng.uniform(0.5, 3.0, N))  # weights, some of them zero
FORMS = [(False, False), (True, False), (False, True), (True, True)]


BEGIN = rng.bit_generator.state


@pytest.fixture(autouse=True)
def same_numbers_in_any_order():
    """A test draws the same numbers whichever ran before it."""
    rng.bit_generator.state = BEGIN


def dense(d=D, offset=0.0):
    return rng.normal(size=(N, d)) @ (np.eye(d) + 0.3) + Y[:, None] + offset


def thin(d=100, share=0.05):
    """Few non-zeros, but for two columns without zeros and far from it."""
    X = np.where(rng.random((N, d)) < share, rng.normal(size=(N, d)) + 1, 0.0)
    X[:, [3, 70]] = rng.normal(size=(N, 2)) + 50 + Y[:, None]
    return X


TABLES = {
    "near zero": dense(),
    "far off": dense(offset=1e7),
    "one column far off": dense() + [0, 1e6, 0, -1e3, 0],
    "large": dense() * [1, 1e180, 1e-180, 1e3, 1e-5],
    "single": dense(offset=100.0).astype(np.float32),
    "integers": rng.integers(-5, 90, (N, D)),
    "CSR": sparse.csr_array(dense(offset=30.0)),
    "CSR, thin": sparse.csr_array(thin()),
    "CSR, large": sparse.csr_array(thin() * np.where(np.arange(100) % 7 == 0, 1e170, 1.0)),
    "CSR, half full": sparse.csr_array(thin(share=0.4)),
}


def plain(X, y, weight, n_classes=K):
    """(weight, count, mean, scatter) of each class; sums about the class mean, in the widest float."""
    values = np.asarray(X.toarray() if sparse.issparse(X) else X).astype(np.longdouble)
    w = np.ones(len(y)) if weight is None else weight
    W = np.array([w[y == k].sum() for k in range(n_classes)])
    count = np.array([(w[y == k] > 0).sum() for k in range(n_classes)])
    d = values.shape[1]
    mean, scatter = np.zeros((n_classes, d), np.longdouble), np.zeros((n_classes, d, d), np.longdouble)
    for k in np.flatnonzero(W):
        part, own = values[y == k], w[y == k, None]
        exact = (part * own).sum(axis=0) / W[k]
        mean[k], scatter[k] = exact, ((part - exact) * own).T @ (part - exact)
    return W, count, mean, scatter


def compare(found, X, y, weight, rtol=2e-12):
    """All four, each scatter relative to its own columns' spread."""
    W, count, mean, scatter = plain(X, y, weight, found.n_classes)
    np.testing.assert_allclose(found.weight, W, rtol=1e-14)
    np.testing.assert_array_equal(found.count, count)
    unit = found.unit.astype(np.longdouble)
    scale = np.maximum(np.sqrt(np.einsum("kii->i", scatter)), 1e-9 * np.abs(mean).max(axis=0))
    centres = found.origin + unit * found.means
    assert (np.abs(centres - mean)[W > 0] <= rtol * scale + 4 * EPS * np.abs(mean)[W > 0]).all()
    assert not found.means[W == 0].any()
    wanted = scatter if found.by_class else scatter.sum(axis=0)
    wanted = np.einsum("...ii->...i", wanted) if found.diagonal else wanted
    got = found.scatter * (unit**2 if found.diagonal else unit[:, None] * unit)
    size = scale**2 if found.diagonal else scale[:, None] * scale
    assert got.shape == wanted.shape
    assert (np.abs(got - wanted) <= rtol * size).all()
    assert (np.abs(found.squares() * unit**2 - np.einsum("kii->i", scatter)) <= rtol * scale**2).all()
    assert found.total == pytest.approx(W.sum())


@pytest.mark.parametrize("weight", [None, SOME], ids=["", "weights"])
@pytest.mark.parametrize(("by_class", "diagonal"), FORMS)
@pytest.mark.parametrize("name", TABLES)
def test_moments_are_sums(name, by_class, diagonal, weight):
    X = TABLES[name]
    for block_rows in (0, 17):
        found = class_moments(make_blocks(X, Y, weight, block_rows), K, by_class=by_class, diagonal=diagonal)
        assert found.by_class == by_class
        assert found.n_classes == K
        assert found.n_features == X.shape[1]
        compare(found, X, Y, weight)
        assert found.precision == pytest.approx(1.2e-7 if name == "single" else EPS, rel=0.1)
        assert found.pooled().scatter.ndim == (1 if diagonal else 2)
        assert (np.frexp(found.unit)[0] == 0.5).all()
        assert found.unit.max() > 1e150 if "large" in name else (found.unit == 1).all()


@pytest.mark.parametrize("name", ["near zero", "far off", "large", "single", "CSR, thin"])
@pytest.mark.parametrize("weight", [None, SOME], ids=["", "weights"])
def test_moments_of_some_columns_through_a_matrix(name, weight, monkeypatch):
    """Wᵗ(x − origin)/unit of all rows or of one class, in twice the precision or not; and variances along an axis."""
    X = TABLES[name]
    d = X.shape[1]
    blocks = make_blocks(X, Y, weight)
    about = class_moments(blocks, K, by_class=True)
    W = rng.normal(size=(d, 3))
    exact = np.asarray(X.toarray() if sparse.issparse(X) else X).astype(np.longdouble)
    seen = ((exact - about.origin) / about.unit) @ W.astype(np.longdouble)
    total, _, mean, scatter = plain(seen, Y, weight)
    for precise in (True, False):
        if not precise:
            monkeypatch.setattr(moments, "PRECISE_VALUES", 0)
            monkeypatch.setattr("discriminant.gaussian.projection.PRECISE_VALUES", 0)
        found, means = mapped_moments(blocks, about, W)
        size = np.abs(scatter).max()
        np.testing.assert_allclose(found, scatter.sum(axis=0), atol=1e-9 * size)
        np.testing.assert_allclose(means[:3], mean[:3], rtol=1e-9, atol=1e-9)
        for k in range(3):
            found, means = mapped_moments(blocks, about, W, only=k)
            np.testing.assert_allclose(found, scatter[k], atol=1e-9 * size)
            np.testing.assert_allclose(means[k], mean[k], rtol=1e-9, atol=1e-9)
        axis = W[:, 0] / about.unit
        some = replace(about, weight=np.maximum(about.weight, 1e-300))
        wanted = np.divide(scatter[:, 0, 0], total, out=np.zeros(K), where=total > 0)
        np.testing.assert_allclose(projected_variances(some, axis), wanted, rtol=1e-8)
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(projected_variances(some, axis, blocks)[:3], wanted[:3], rtol=1e-9)
            short = projected_variances(some, axis / 1024, blocks)[:3]
            np.testing.assert_allclose(short, wanted[:3] / 1024**2, rtol=1e-9)


def test_a_precise_product_is_rounded_once():
    """(A + rest) W of columns that cancel, of scales 1e-150 to 1e150, against sums of fractions."""
    scale = 10.0 ** np.array([-150, -8, 0, 8, 150])
    A = rng.normal(size=(6, 5)) * scale
    A[:, 1] = A[:, 0] / scale[0] * scale[1] * (1 + 1e-12)
    W = rng.normal(size=(5, 3)) / scale[:, None]
    W[1] = -W[0] * scale[0] / scale[1]
    A[:2], W[2:, 0] = A[:2] * [1, 1, 0, 0, 0], 0.0
    values, rest = exact_difference(A, A[::-1] * 1.1)
    found = precise_product(values, rest, W)
    for i, j in np.ndindex(found.shape):
        a, b = A[i], (A[::-1] * 1.1)[i]
        exact = float(sum((Fraction(x) - Fraction(y)) * Fraction(w) for x, y, w in zip(a, b, W[:, j], strict=True)))
        assert abs(found[i, j] - exact) <= 2 * EPS * abs(exact) + 1e-6 * EPS * np.abs((a - b) * W[:, j]).sum()
    assert not precise_product(np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((2, 2))).any()


def test_twice_the_precision_keeps_what_a_matrix_undoes():
    """Columns that differ by 1e-9 of their spread: the difference is read to nine digits, the mean of it too."""
    base = rng.normal(size=N)
    X = np.column_stack([base, base + 1e-9 * rng.normal(size=N)]) + 1e3
    blocks = make_blocks(X, Y)
    for by_class in (False, True):
        about = class_moments(blocks, K, by_class=by_class)
        W = np.array([[-1.0], [1.0]]) * 1e9
        difference = (X[:, 1].astype(np.longdouble) - X[:, 0]) * 1e9
        _, _, mean, scatter = plain(difference[:, None], Y, None)
        found, means = mapped_moments(blocks, about, W)
        assert found[0, 0] == pytest.approx(float(scatter.sum()), rel=1e-10)
        shift = (about.origin[1] - about.origin[0]) * 1e9
        np.testing.assert_allclose(means[:3, 0] + shift, mean[:3, 0], rtol=1e-9)
    found = projected_variances(replace(about, weight=about.weight + (about.weight == 0)), W[:, 0], blocks=None)
    assert abs(found[0] * about.weight[0] / scatter[0, 0, 0] - 1) > 1e-4  # lost in the Gram matrix
    with np.errstate(invalid="ignore"):
        found = projected_variances(about, W[:, 0], blocks)
    np.testing.assert_allclose(found[:3] * about.weight[:3], scatter[:3, 0, 0], rtol=1e-10)


@pytest.mark.parametrize(("by_class", "diagonal"), FORMS)
def test_parts_merge_into_the_whole(by_class, diagonal):
    """Of other origins, units, precisions; a class in one part only; to the last bit either way round."""
    X = TABLES["near zero"]
    left = np.flatnonzero((np.arange(N) < 30) & (Y != 1))
    right = np.setdiff1d(np.arange(N), left)
    for scale, offset in ((1.0, 0.0), (1.0, 1e5), (2.0**600, 0.0)):
        rows = X * [1.0, scale, 1.0, 1.0, 1.0] + [0.0, 0.0, offset, 0.0, 0.0]
        first = rows[left]
        first[:, 1] = X[left, 1]  # small where the others are large
        rows[left] = first
        a, b = (
            class_moments(make_blocks(rows[part], Y[part], SOME[part]), K, by_class=by_class, diagonal=diagonal)
            for part in (left, right)
        )
        if offset:
            a = replace(a, precision=1e-7, inflation=9.0)
        found, other = a.merge(b), b.merge(a)
        for name in ("weight", "count", "origin", "unit", "means", "scatter"):
            np.testing.assert_array_equal(getattr(found, name), getattr(other, name))
        assert found.precision == other.precision == max(a.precision, b.precision)
        assert found.inflation == other.inflation == max(a.inflation, b.inflation)
        assert found.diagonal == diagonal
        compare(found, rows, Y, SOME)
        np.testing.assert_allclose(found.class_means[1], b.class_means[1], rtol=3 * EPS)


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("weight", [None, SOME], ids=["", "weights"])
def test_rows_stand_for_their_scatter(weight, by_class):
    for offset in (0.0, 1e8):
        X = dense(110, offset)
        X[:, 9] = 7.25  # constant
        blocks = make_blocks(X, Y, weight)
        held = row_moments(blocks, K, by_class=by_class)
        assert held.rows is not None
        assert held.by_class == by_class
        assert held.diagonal
        assert held.inflation == 1.0
        assert held.precision == EPS
        diagonal = replace(held, rows=None)
        wide = np.abs(X).max() * 1e-15 + 2e-12
        compare(diagonal, X, Y, weight, rtol=wide)
        whole = held.whole()
        assert whole.rows is None
        assert whole.whole() is whole
        compare(whole, X, Y, weight, rtol=wide)
        assert (whole.scatter[..., 9] == 0).all()
        half = np.arange(N) % 2 == 0
        parts = [row_moments(make_blocks(X[p], Y[p], None if weight is None else weight[p]), K, by_class=by_class)
                 for p in (half, ~half)]  # fmt: skip
        for merged in (parts[0].merge(parts[1]), parts[0].whole().merge(parts[1]), parts[0].merge(parts[1].whole())):
            compare(merged, X, Y, weight, rtol=wide)
    large = row_moments(make_blocks(dense(110) * 1e170, Y), K, by_class=by_class)
    tiny = row_moments(make_blocks(dense(110) * 1e-170, Y), K, by_class=by_class)
    assert large.rows is None
    assert tiny.rows is None
    assert large.unit.min() > 1e150
    assert tiny.unit.max() < 1e-150
    assert large.by_class == tiny.by_class == by_class
    short = row_moments(make_blocks(dense(110).astype(np.float32), Y), K)
    assert short.precision == pytest.approx(1.19e-7, rel=0.01)


def test_weights_far_below_one():
    """Weights times a power of two: the means to the last bit, and scatter times it."""
    X, W = dense(), rng.normal(size=(D, 2))
    for weight in (np.ones(N), SOME):
        for by_class in (False, True):
            one, small = (make_blocks(X, Y, w) for w in (weight, weight / 1024))
            for make in (class_moments, row_moments):
                a, b = make(one, K, by_class=by_class), make(small, K, by_class=by_class)
                np.testing.assert_array_equal(a.means, b.means)
                np.testing.assert_array_equal(a.scatter / 1024, b.scatter)
                np.testing.assert_array_equal(a.merge(a).means, b.merge(b).means)
            a, b = mapped_moments(one, a, W), mapped_moments(small, b, W)
            np.testing.assert_allclose(a[0] / 1024, b[0], rtol=1e-12)
            np.testing.assert_allclose(a[1], b[1], rtol=1e-12)


def test_views_of_moments():
    X = TABLES["large"]
    whole = class_moments(make_blocks(X, Y, SOME), K, by_class=True)
    W, count, mean, scatter = plain(X / whole.unit, Y, SOME)
    one = whole.of_class(2)
    assert one.n_classes == 1
    assert not one.by_class
    np.testing.assert_array_equal(one.scatter, whole.scatter[2])
    np.testing.assert_array_equal(one.class_means[0], whole.class_means[2])
    assert (one.weight[0], one.count[0]) == (pytest.approx(W[2]), count[2])
    overall = W @ mean / W.sum()
    wanted = sum(w * np.outer(m - overall, m - overall) for w, m in zip(W, mean, strict=True))
    np.testing.assert_allclose(whole.between(), wanted, rtol=1e-10, atol=1e-12)
    near = replace(whole, unit=np.array([1.0, 8.0, 0.5, 1.0, 2.0]))
    np.testing.assert_allclose(near.in_units_of_X(whole.between()), wanted * np.outer(near.unit, near.unit), rtol=1e-10)
    assert np.isinf(whole.in_units_of_X(scatter[0].astype(float))[1, 1])
    simple = replace(whole, unit=np.ones(D))
    assert simple.in_units_of_X(wanted) is wanted
    assert whole.pooled().pooled().scatter.shape == (D, D)
    bare = ClassMoments(W, count, np.zeros(D), np.ones(D), mean, scatter)
    assert (bare.precision, bare.inflation, bare.diagonal, bare.rows) == (EPS, 1.0, False, None)


def test_no_number_comes_through():
    """NaN and infinity are in the sums, for the caller to see; so are squares of values that no unit brings down."""
    for bad in (np.nan, np.inf):
        X = dense()
        X[5, 2] = bad
        for by_class, diagonal in FORMS:
            with np.errstate(invalid="ignore"):
                found = class_moments(make_blocks(X, Y), K, by_class=by_class, diagonal=diagonal)
            assert not (np.isfinite(found.means).all() and np.isfinite(found.scatter).all())
            assert (found.unit == 1).all()
        with np.errstate(invalid="ignore"):
            assert row_moments(make_blocks(np.tile(X, 40), Y), K).rows is None


def test_shifts():
    """Means within five deviations of zero are left where they are; others are taken off, class by class."""
    near, far = dense() * 0.1 + 1.0, dense() + 1e4
    for by_class in (False, True):
        for X, shifted in ((near - near.mean(axis=0), False), (far, True)):
            shift, origin, precision, inflation = moments._shifts(make_blocks(X, Y), K, by_class)
            assert shift.any() == origin.any() == shifted
            assert precision == EPS
            assert 1.0 <= inflation <= (1.0 if shifted else 26.0)
            if shifted:
                np.testing.assert_allclose(shift[0], X[Y == 0].mean(axis=0), rtol=1e-3)
                np.testing.assert_allclose(origin, X.mean(axis=0), rtol=1e-3)
                np.testing.assert_array_equal(shift[3], origin)  # no rows
    ratio = 1 + (near.mean(axis=0) ** 2).max()
    assert moments._inflation(near, np.tile(near.mean(axis=0), (N, 1))) == pytest.approx(
        1 + (near.mean(axis=0) ** 2 / near.var(axis=0)).max()
    )
    assert ratio > 1
    half = np.arange(N) % 2
    both = np.where(half[:, None] == 1, near + 5, near)
    centres = np.where(half[:, None] == 1, both[half == 1].mean(axis=0), both[half == 0].mean(axis=0))
    each = [1 + (part.mean(axis=0) ** 2 / part.var(axis=0)).max() for part in (both[half == 0], both[half == 1])]
    assert moments._inflation(both, centres, half) == pytest.approx(max(each))
    assert moments._inflation(np.ones((4, 1)), np.ones((4, 1))) == np.inf
    assert moments._inflation(np.zeros((4, 2)), np.zeros((4, 2))) == 1.0
    assert moments._inflation(np.zeros((4, 0)), np.zeros((4, 0))) == 1.0
    # A constant in one class alone is its own shift there.
    odd = dense() * 0.1
    odd[Y == 1, 2] = 3.7
    shift = moments._shifts(make_blocks(odd, Y), K, True)[0]
    assert shift[1, 2] == 3.7
    assert (class_moments(make_blocks(odd, Y), K, by_class=True).scatter[1, 2] == 0).all()
    many = np.arange(N) % 70  # classes
    shift, _, _, inflation = moments._shifts(make_blocks(far, many), 70, False)
    np.testing.assert_allclose(shift[many[0]], far[many == many[0]].mean(axis=0), rtol=1e-12)
    assert inflation == 1.0
    shift, _, _, inflation = moments._shifts(make_blocks(rng.normal(size=(490, 2)) + 1, np.arange(490) % 70), 70, False)
    assert not shift.any()
    assert 1.0 < inflation < 26.0


def test_shifts_of_sparse_columns():
    X = thin()
    shift, origin, _, inflation = moments._shifts(make_blocks(sparse.csr_array(X), Y), K, False)
    assert np.flatnonzero(shift.any(axis=0)).tolist() == np.flatnonzero(origin).tolist() == [3, 70]
    assert inflation == 1.0
    X[:, 5] = np.where(Y == 0, 40.0, 0.0)  # full in one class, a third of all rows
    shift = moments._shifts(make_blocks(sparse.csr_array(X), Y), K, True)[0]
    assert np.flatnonzero(shift.any(axis=0)).tolist() == [3, 5, 70]
    assert np.flatnonzero(moments._shifts(make_blocks(sparse.csr_array(X), Y), K, False)[0].any(axis=0)).tolist() == [
        3, 70]  # fmt: skip
    few = sparse.csr_array(X[:, :60])
    assert moments._shifts(make_blocks(few, Y), K, False)[0].any(axis=0).all()
    assert moments._shifts(make_blocks(few, Y), K, False)[3] == 1.0


def test_small_parts_of_the_first_look():
    values = np.array([[1.0, 5.0, 1e308], [1.0, 6.0, -1e308], [1.0, 10.0, 1.5e308]])
    np.testing.assert_allclose(moments._typical(values), [1.0, 7.0, 1.5e308 / 3], rtol=1e-12)
    np.testing.assert_array_equal(moments._typical(np.array([[np.inf, 0.1], [2.0, 0.1]])), [np.inf, 0.1])
    codes, weight = np.array([0, 0, 1, 2]), np.array([0.0, 2.0, 0.0, 1.0])
    rows, kept = moments._with_weight(np.arange(4.0)[:, None], codes, weight)
    assert (rows.ravel().tolist(), kept.tolist()) == ([1.0, 2.0, 3.0], [0, 1, 2])
    assert moments._with_weight(values, codes[:3], None)[0] is values
    np.testing.assert_array_equal(moments._with_weight(values, codes[:3], np.ones(3))[0], values)
    seen = moments._plain_means(values[:, :2], np.array([0, 0, 2]), np.array([0, 2]))
    np.testing.assert_allclose(seen, [[1.0, 5.5], [1.0, 5.5], [1.0, 10.0]])
    reach = np.array([0.0, 1.0, 1e50, 1e-50, 1e100, 1e-100, 1e300, 5e-324, 1.7e308])
    unit = moments._power_of_two(reach)
    assert (unit[:4] == 1).all()
    assert (reach[4:7] / unit[4:7] >= 0.5).all()
    assert (reach[4:7] / unit[4:7] < 1).all()
    assert (unit[7], unit[8]) == (2.0**-1000, 2.0**1000)
    for dtype, wanted in (("f4", np.finfo("f4").eps), ("f8", EPS), ("i8", EPS), ("f2", np.finfo("f2").eps)):
        block = Block(DenseDesign(np.ones((2, 2), dtype=dtype)), 0, None, None)
        assert moments._precision(block) == wanted
    assert moments._precision(Block(SimpleNamespace(raw=[[1.0]]), 0, None, None)) == EPS
    assert moments._precision(Block(DenseDesign(np.ones((2, 2), dtype=np.longdouble)), 0, None, None)) == EPS


def test_sums_of_classes_however_many():
    rows, root = rng.normal(size=(50, 3)), rng.uniform(0.5, 2, 50)
    for n_classes in (2, ONE_HOT_CLASSES, ONE_HOT_CLASSES + 1, 60):
        codes = rng.integers(0, n_classes - 1, 50)
        member = (codes == np.arange(n_classes)[:, None]).astype(float)
        np.testing.assert_allclose(class_sums(rows, codes, n_classes, None), member @ rows, atol=1e-13)
        np.testing.assert_allclose(class_sums(rows, codes, n_classes, root), (member * root) @ rows, atol=1e-13)
    W = rng.normal(size=(3, 2))
    mapped = MomentKernel(np.zeros((2, 3)), matrix=W)(Block(DenseDesign(rows), 0, np.zeros(50, dtype=int), None))
    np.testing.assert_allclose(mapped.gram, (rows @ W).T @ (rows @ W), rtol=1e-12)
    a, b = (MomentSums(*(rng.normal(size=s) for s in ((2,), (2,), (2, 3), (3, 3)))) for _ in range(2))
    wanted = {name: getattr(a, name) + getattr(b, name) for name in ("weight", "count", "sums", "gram")}
    a += b
    for name, value in wanted.items():
        np.testing.assert_array_equal(getattr(a, name), value)


# On a device


def on_device(X, y, weight=None):
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    rows = device_.open_device(strict.asarray(X)).rows
    own = None if weight is None else strict.asarray(weight)
    return device_.DeviceBlocks(rows, strict.asarray(y.astype(np.int64)), own)


@pytest.mark.parametrize("weight", [None, SOME], ids=["", "weights"])
@pytest.mark.parametrize(("by_class", "diagonal"), FORMS)
@pytest.mark.parametrize("name", ["near zero", "one column far off", "large", "single"])
def test_moments_on_a_device(name, by_class, diagonal, weight, monkeypatch):
    monkeypatch.setattr("discriminant.gaussian.device.BLOCK_VALUES", 4 * D * 23)  # blocks of 23 rows
    X = TABLES[name]
    found = class_moments(on_device(X, Y, weight), K, by_class=by_class, diagonal=diagonal)
    compare(found, X, Y, weight, rtol=2e-6 if name == "single" else 2e-12)
    here = class_moments(make_blocks(X, Y, weight, 23), K, by_class=by_class, diagonal=diagonal)
    if weight is None:
        assert found.inflation == pytest.approx((10 if name == "single" else 1) * here.inflation)
    if diagonal:
        return
    W = rng.normal(size=(D, 2))
    for only in (None, 1):
        a, means = mapped_moments(on_device(X, Y, weight), here, W, only)
        b, wanted = mapped_moments(make_blocks(X, Y, weight), here, W, only)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * np.abs(b).max())
        np.testing.assert_allclose(means[1], wanted[1], rtol=1e-8, atol=1e-8)
    if by_class and name != "large":
        shift = np.tile(X.mean(axis=0), (K, 1))
        each = MomentKernel(shift, by_class=True, matrix=rng.normal(size=(K, D, 2)))
        a, b = (blocks.reduce(each) for blocks in (on_device(X, Y, weight), make_blocks(X, Y, weight)))
        np.testing.assert_allclose(a.gram, b.gram, rtol=1e-8)
        np.testing.assert_allclose(a.sums, b.sums, rtol=1e-8, atol=1e-6 * np.abs(b.sums).max())


class Tensor:
    """What the fused kernel asks of a tensor."""

    def __init__(self, values, contiguous=True, place=0):
        self.values, self.contiguous, self.place = values, contiguous, place
        self.shape = values.shape

    def is_contiguous(self):
        return self.contiguous

    def data_ptr(self):
        return self.place


def fused_blocks(X, y, **other):
    values = {"accelerated": True, "streamed": False, "weight": None, "kind": "float32", "rows": Tensor(X)} | other
    library = SimpleNamespace(accelerated=values["accelerated"], xp="torch", device="cuda")
    rows = SimpleNamespace(shape=X.shape, streamed=values["streamed"], kind=values["kind"], X=values["rows"])
    peek = Block(DenseDesign(X[::7]), 0, y[::7], None)
    codes = other.get("codes", Tensor(y))
    return SimpleNamespace(rows=rows, library=library, weight=values["weight"], target=codes, peek=peek)


def test_the_fused_kernel_takes_what_it_can(monkeypatch):
    """Each thing that it cannot do sends the rows the other way."""
    X = dense().astype(np.float32)
    monkeypatch.setattr(device_fused, "LEAST_ROWS", N)
    monkeypatch.setattr(device_moments, "here", lambda torch, device: (torch, device) == ("torch", "cuda"))
    kernel = MomentKernel(np.zeros((K, D)))
    assert device_fused.applies(kernel, fused_blocks(X, Y)) is True
    for bad in (
        {"accelerated": False}, {"streamed": True}, {"weight": SOME}, {"kind": "float64"},
        {"rows": Tensor(X, contiguous=False)}, {"codes": Tensor(Y, contiguous=False)},
        {"rows": Tensor(X, place=8)}, {"codes": Tensor(Y, place=24)},
    ):  # fmt: skip
        assert device_fused.applies(kernel, fused_blocks(X, Y, **bad)) is False
    assert device_fused.applies(kernel, fused_blocks(X, Y, rows=Tensor(X, place=32), codes=Tensor(Y, place=16)))
    for change in ({"by_class": True}, {"diagonal": True}, {"unit": np.ones(D)}, {"matrix": np.eye(D)}):
        assert not device_fused.applies(replace(kernel, **change), fused_blocks(X, Y))
    most, widest = device_moments.CLASSES, device_moments.COLUMNS
    for n_classes, n, d, fits in (
        (most, N, widest, True), (most + 1, N, widest, False), (most, N, widest + 1, False), (2, N - 1, 3, False),
    ):  # fmt: skip
        rows = np.ones((n, d), dtype=np.float32)
        assert device_fused.applies(MomentKernel(np.zeros((n_classes, d))), fused_blocks(rows, Y)) is fits
    monkeypatch.setattr(device_moments, "here", lambda *_: False)
    assert not device_fused.applies(kernel, fused_blocks(X, Y))


@pytest.mark.parametrize("shifted", [False, True])
def test_sums_of_the_fused_kernel(shifted, monkeypatch):
    """The kernel's own place is taken by plain sums: what goes in and comes out is put together rightly."""
    X = dense(offset=3.0).astype(np.float32)
    X[:, 3] *= 0.01  # small
    X[:, 4] = 0.0
    shift = np.arange(K * D, dtype=float).reshape(K, D) * [1, 1, 1, 1e-2, 0] if shifted else np.zeros((K, D))
    seen = {}

    def kernel(rows, codes, s, reach, n_classes):
        seen.update(shift=s, reach=reach)
        r = rows.values - (0 if s is None else s[codes.values])
        member = (codes.values == np.arange(n_classes)[:, None]).astype(float)
        with np.errstate(invalid="ignore"):
            return r.T @ r, member @ r, member.sum(axis=1)

    monkeypatch.setattr(device_fused, "LEAST_ROWS", 0)
    monkeypatch.setattr(device_moments, "here", lambda *_: True)
    monkeypatch.setattr(device_moments, "moments", kernel)
    blocks = fused_blocks(X, Y)
    found = moment_sums(MomentKernel(shift), blocks)
    wanted = MomentKernel(shift)(Block(DenseDesign(X), 0, Y, None))
    for name in ("weight", "count", "sums", "gram"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-5, atol=1e-4)
    assert found.weight is not found.count
    assert (seen["shift"] is None) is not shifted
    reach = np.abs(X[::7] - shift.mean(axis=0)).max(axis=0)
    np.testing.assert_allclose(seen["reach"], np.where(reach > 0, reach, 1.0))
    assert seen["reach"][4] == 1.0
    odd = X.copy()
    odd[0, 0] = np.inf
    device_fused.fused_sums(MomentKernel(shift), fused_blocks(odd, Y))
    assert seen["reach"][0] == 1.0
    for broken in (lambda *_: None, lambda *_: (np.full((D, D), np.nan), np.zeros((K, D)), np.zeros(K))):
        monkeypatch.setattr(device_moments, "moments", broken)
        assert device_fused.fused_sums(MomentKernel(shift), fused_blocks(X, Y)) is None
    monkeypatch.setattr(device_moments, "here", lambda *_: False)
    assert device_fused.fused_sums(MomentKernel(shift), fused_blocks(X, Y)) is None
