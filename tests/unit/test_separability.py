"""Verdicts, certificates and their exact checks, against an independent verifier in plain fractions."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from discriminant import separability
from discriminant.errors import DataError, ParameterError
from discriminant.inference import proofs
from discriminant.inference.exact import dot_signs, independent_rows, integer_row, nullspace, solve
from discriminant.inference.programs import vertex, widest
from discriminant.inference.search import Search


def kesler_row(x, own, rival, n_classes):
    """(e_own − e_rival) ⊗ (1, x) in fractions, written out in full."""
    features = [Fraction(1), *(Fraction(float(v)) for v in x)]
    row = [Fraction(0)] * (n_classes * len(features))
    for j, value in enumerate(features):
        row[own * len(features) + j] += value
        row[rival * len(features) + j] -= value
    return row


def proved(result, X, y):
    """Whether public attributes alone prove the verdict: forty lines of fractions that share no code with it."""
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    codes = np.searchsorted(result.classes, y)
    K = len(result.classes)
    rows = {(i, k): kesler_row(X[i], codes[i], k, K) for i in range(len(X)) for k in range(K) if k != codes[i]}
    if result.verdict != "separable":
        rivals = np.searchsorted(result.classes, result.witness.rivals)
        parts = zip(result.witness.rows, rivals, result.witness.weights, strict=True)
        total = [sum(column) for column in zip(*([w * v for v in rows[i, k]] for i, k, w in parts), strict=True)]
        if any(total) or min(result.witness.weights) <= 0 or len(result.witness) > (K - 1) * (X.shape[1] + 1) + 1:
            return False
    if result.verdict == "overlapping":
        total = [
            sum(c) for c in zip(*([w * v for v in rows[pair]] for pair, w in result.multipliers.items()), strict=True)
        ]
        return (
            not any(total)
            and min(result.multipliers.values()) > 0
            and rank([rows[pair] for pair in result.multipliers]) == rank(list(rows.values()))
        )
    weights = [v for block in result.exact for v in block]
    values = {pair: sum(a * b for a, b in zip(row, weights, strict=True)) for pair, row in rows.items()}
    if result.verdict == "separable":
        return min(values.values()) > 0
    zero = sorted({i for (i, _), value in values.items() if value == 0})
    return min(values.values()) == 0 < max(values.values()) and zero == result.boundary.tolist()


def rank(rows):
    """Rank by plain elimination in fractions."""
    rows, found = [list(row) for row in rows], 0
    for j in range(len(rows[0])):
        pivot = next((i for i in range(found, len(rows)) if rows[i][j]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for i in range(found + 1, len(rows)):
            if rows[i][j]:
                factor = rows[i][j] / rows[found][j]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[found], strict=True)]
        found += 1
    return found


def facing(d, gap, random, spread=4):
    """Two clouds of grid points on either side of x₀ = 0, each with a whole simplex on its face, ``gap`` apart."""
    corners = np.vstack([np.zeros(d - 1), spread * np.eye(d - 1)]) - 1.0
    low, high = (random.integers(-spread, spread + 1, size=(2 * d, d)).astype(float) for _ in range(2))
    low[:, 0], high[:, 0] = -np.abs(low[:, 0]), np.abs(high[:, 0])
    low = np.vstack([low, np.column_stack([np.zeros(d), corners])])
    high = np.vstack(
        [np.maximum(high, np.where(np.arange(d) == 0, gap, -np.inf)), np.column_stack([np.full(d, gap), corners])]
    )
    return np.vstack([low, high]), np.repeat([0, 1], [len(low), len(high)])


@pytest.mark.parametrize("k", [0, 1, 10, 20, 30, 40, 50, 52, 55, 60])
@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_hulls_apart_by_two_to_the_minus_k_are_separable(d, k):
    """A gap of 2^−k is a gap, whatever k: check() and an independent verifier agree."""
    random = np.random.default_rng(k)
    X, y = facing(d, 2.0**-k, random)
    for scale in (np.ones(d), 2.0 ** random.integers(-26, 27, size=d)):
        result = separability(X * scale, y)
        assert result.verdict == "separable"
        assert result.check()
        assert proved(result, X * scale, y)
        assert 0 < result.margin <= 2.0**-k * scale[0]


@pytest.mark.parametrize("k", [1, 10, 30, 45])
@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_hulls_that_meet_by_two_to_the_minus_k_overlap_or_touch(d, k):
    """Moved in by 2^−k past touching, with simplices on both faces, the hulls share interior points."""
    X, y = facing(d, 0.0, np.random.default_rng(k))
    touching = separability(X, y)
    assert touching.verdict == "quasi-separable"
    assert touching.check()
    assert proved(touching, X, y)
    assert touching.columns == (0,)
    X[y == 1, 0] -= 2.0**-k
    result = separability(X, y)
    assert result.verdict == "overlapping"
    assert result.check()
    assert proved(result, X, y)
    assert len(result.witness) <= d + 2


@pytest.mark.parametrize("k", [50, 55, 60])
@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_no_overlap_is_too_small_and_no_unit_or_copy_matters(d, k):
    """One face pushed 2^−k into the other, columns in units of about 1e±8 and doubled: overlapping, and proved."""
    random = np.random.default_rng(k)
    X, y = facing(d, 0.0, random)
    X[2 * d : 3 * d, 0] = 2.0**-k  # the face of the first class, which lay at zero
    units = random.choice([2.0**-27, 1e8], size=d)  # exact products: rounding would make another problem
    for table in (X, X * units, np.column_stack([X, X[:, 0]]), np.column_stack([X * units, X])):
        result = separability(table, y)
        assert result.verdict == "overlapping"
        assert result.check()
        assert proved(result, table, y)
        assert len(result.witness) <= d + 2
    apart, labels = facing(d, 2.0**-k, random)
    for table in (apart * units, np.column_stack([apart, apart[:, 0]]), np.column_stack([apart * units, apart])):
        result = separability(table, labels)
        assert result.verdict == "separable"
        assert result.check()
        assert proved(result, table, labels)


@pytest.mark.parametrize("k", [20, 47])  # floats near 26 can tell 2^−47 apart
def test_twenty_six_classes_by_a_hair(k):
    """26 intervals of a line, each 2^−k short of the next or past it by as much; as they are, and doubled."""
    centres = np.arange(26, dtype=float)
    y = np.tile(np.arange(26), 2)
    for sign, verdict in ((-1, "separable"), (1, "overlapping")):
        X = np.concatenate([centres, centres + 1 + sign * 2.0**-k])[:, None]
        for table in (X, np.column_stack([2.0**-27 * X, X])):
            result = separability(table, y)
            assert result.verdict == verdict
            assert result.check()


@pytest.mark.parametrize("seed", range(40))
def test_random_problems_of_every_kind_are_proved(seed):
    """Scales of 10^±8, offsets of 1e8, copies, constants, contradictions, K classes: each verdict is proved."""
    random = np.random.default_rng(seed)
    d, n, K = int(random.integers(1, 6)), int(random.choice([2, 3, 8, 25])), int(random.choice([2, 2, 3, 4]))
    X = random.normal(size=(n, d)) if random.random() < 0.5 else random.integers(-2, 3, size=(n, d)).astype(float)
    y = (X @ np.round(random.normal(size=(d, K))) + random.choice([0, 1]) * random.normal(size=(n, K))).argmax(axis=1)
    y[0] = (y[-1] + 1) % K
    kind = seed % 8
    if kind in (1, 2):
        X = X * 10.0 ** random.uniform(-8, 8, size=d)
    if kind in (2, 3):
        X = X + 1e8 * random.normal(size=d)
    if kind == 4:
        X = np.column_stack([X, X[:, 0], np.ones(n), X.sum(axis=1)])
    if kind == 5:
        X = np.column_stack([X, 0.1 * X[:, 0], X @ random.normal(size=d)])
    if kind == 6:
        X, y = np.vstack([X, X[:2]]), np.append(y, y[[1, 0]])
    if kind == 7:
        X = X.astype(np.float32)
    result = separability(X, y, random_state=seed)
    assert result.check()
    assert proved(result, X, y)
    assert separability(X, y, random_state=seed + 1).verdict == result.verdict


@pytest.mark.parametrize("K", [3, 10, 26])
def test_many_classes_side_by_side(K):
    """K intervals of a line are separable by a linear machine when apart, quasi-separable when they touch."""
    centres = np.arange(K, dtype=float)
    X = np.concatenate([centres, centres + 0.5])[:, None]
    y = np.tile(np.arange(K), 2)
    apart = separability(X, y)
    assert apart.verdict == "separable"
    assert apart.check()
    assert proved(apart, X, y)
    touching = separability(np.concatenate([centres, centres + 1.0])[:, None], y)
    assert touching.verdict == "quasi-separable"
    assert touching.check()
    meeting = separability(np.concatenate([centres, centres + 1.0 + 2.0**-40])[:, None], y)
    assert meeting.verdict == "overlapping"
    assert meeting.check()
    assert proved(meeting, np.concatenate([centres, centres + 1.0 + 2.0**-40])[:, None], y)


def test_check_finds_a_forged_certificate():
    """A hyperplane for other labels, a margin too wide or multipliers off by one do not pass."""
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 3))
    y = X[:, 0] > 0
    result = separability(X, y)
    flipped = replace(result, _cone=replace(result._cone, codes=1 - result._cone.codes))
    assert not flipped.check()
    assert not replace(result, margin=np.nextafter(result.margin, 1) * (1 + 1e-12)).check()
    overlap = separability(X, random.random(50) > 0.5)
    pair = next(iter(overlap.multipliers))
    forged = {**overlap.multipliers, pair: overlap.multipliers[pair] + Fraction(1, 10**30)}
    assert overlap.check()
    assert not replace(overlap, multipliers=forged).check()
    assert not replace(overlap, multipliers={p: -w for p, w in overlap.multipliers.items()}).check()
    few = dict(list(overlap.multipliers.items())[:2])
    assert not replace(overlap, multipliers=few).check()


def test_every_part_of_a_proof_is_needed():
    """Each condition that a check asks for is all that stands against some forgery."""
    X = np.array([[-2.0, 0.3], [-1.0, 5.0], [0.0, 0.0], [0.0, 2.0], [0.0, 1.0], [1.0, -4.0], [3.0, 0.7]])
    touching = separability(X, [0, 0, 0, 0, 1, 1, 1])
    assert touching.verdict == "quasi-separable"
    cone, weights, boundary = touching._cone, list(touching._weights), touching.boundary
    spanning, (columns, relations) = list(touching.multipliers), touching._spanned
    assert touching.check() is True
    assert proofs.boundary_only(cone, weights, boundary, spanning, columns, relations) is True
    assert proofs.all_positive(cone, weights, {}) is False  # some rows are on the boundary
    assert proofs.boundary_only(cone, [-w for w in weights], boundary, spanning, columns, relations) is False
    assert proofs.boundary_only(cone, weights, boundary[1:], spanning, columns, relations) is False
    assert proofs.boundary_only(cone, weights, np.arange(7), spanning, columns, relations) is False
    assert proofs.boundary_only(cone, weights, boundary, [*spanning, (0, 1)], columns, relations) is False
    assert proofs.boundary_only(cone, weights, boundary, spanning[:1], columns, relations) is False
    for kept in (*columns,):  # the other column is told by nothing
        assert proofs.boundary_only(cone, weights, boundary, spanning, (kept,), {}) is False
    zero = ({0: [0, 1, 0]}, {1: [0, 0, 1]})  # or it is said to be zero on the boundary, where only the first is
    assert proofs.boundary_only(cone, weights, boundary, spanning, (1,), zero[0]) is True
    assert proofs.boundary_only(cone, weights, boundary, spanning, (0,), zero[1]) is False
    overlap = separability(X, [0, 1, 0, 1, 0, 1, 0])
    assert overlap.verdict == "overlapping"
    nothing, everything = [0] * overlap._cone.dimension, np.arange(7)
    every = list(overlap.multipliers)
    assert proofs.boundary_only(overlap._cone, nothing, everything, every, overlap._cone.keep, {}) is False
    assert proofs.balanced(overlap._cone, overlap.multipliers) is True
    unused = next((i, 1 - int(overlap._cone.codes[i])) for i in range(7)
                  if (i, 1 - int(overlap._cone.codes[i])) not in overlap.multipliers)  # fmt: skip
    assert proofs.balanced(overlap._cone, {**overlap.multipliers, unused: Fraction(0)}) is False
    assert proofs.balanced(overlap._cone, {}) is False


def test_margin_is_that_of_the_hard_margin_machine():
    """The margin equals scikit-learn's hard-margin SVM's to its tolerance, and the bound closes in on it."""
    from sklearn.svm import SVC

    random = np.random.default_rng(3)
    X = random.normal(size=(300, 8))
    y = X @ random.normal(size=8) > 0.1
    svc = SVC(kernel="linear", C=1e12, tol=1e-10).fit(X, y)
    result = separability(X, y)
    assert result.margin == pytest.approx(1.0 / np.linalg.norm(svc.coef_), rel=1e-4)  # SVC stops 1e-5 short of it
    assert result.margin <= result.margin_bound <= result.margin * (1 + 1e-6)
    distance = (result.hyperplane[0] + X @ result.hyperplane[1:]) * np.where(y, 1, -1)
    assert np.linalg.norm(result.hyperplane[1:]) == pytest.approx(1.0)
    assert distance.min() == pytest.approx(result.margin, rel=1e-9)
    any_plane = separability(X, y, hyperplane="any")
    assert any_plane.check()
    assert any_plane.margin <= result.margin_bound


def test_the_widest_gap_takes_part_of_columns_that_others_tell():
    X, y = np.array([[-2.0, -3, -2], [0, -1, 3]]), [0, 1]  # two points in space: the gap is the way between them
    result = separability(X, y)
    assert result.aliased == (1, 2)
    assert result.chance == 1.0
    assert result.margin == pytest.approx(np.linalg.norm(X[1] - X[0]) / 2)
    assert result.check()
    assert proved(result, X, y)
    assert result.limiting_fit().coefficients.tolist()[2:] == [0.0, 0.0]
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 50)), rng.integers(2, size=30)
    result = separability(X, y)
    assert result.aliased
    assert result.margin >= 0.999 * result.margin_bound


@pytest.mark.filterwarnings("error")
def test_a_gap_of_the_size_of_rounding_is_no_news_to_the_user():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((9, 1)) * 1e-6
        y = (X[:, 0] > np.median(X)).astype(int)
        X[y == 1] = np.nextafter(X[y == 0].max(), 1.0)
        assert separability(X + 0.0, y).check()


def test_column_scales_and_offsets_do_not_change_the_verdict():
    """Powers of two are exact, so that the verdict and the witness rows' count are the same at scales of 2^±27."""
    random = np.random.default_rng(5)
    X = np.round(random.normal(size=(60, 4)), 2)
    for y in (
        X @ [1, 2, 3, 4] > 0,
        random.random(60) > 0.5,
        np.where(X[:, 0] == 0, random.random(60) > 0.5, X[:, 0] > 0),
    ):
        plain = separability(X, y).verdict
        for scale in ([2.0**-27, 1, 2.0**27, 1], [2.0**-300, 2.0**300, 1, 1]):
            result = separability(X * scale, y)
            assert result.verdict == plain
            assert result.check()


def test_sparse_frames_lists_and_types_agree():
    """CSR, CSC, pandas, polars, Fortran order, float32, integers and lists give the dense answer; names are used."""
    import pandas as pd
    import polars as pl

    random = np.random.default_rng(6)
    X = random.integers(-3, 4, size=(80, 3)).astype(float)
    y = np.where(X[:, 1] == 0, random.random(80) > 0.5, X[:, 1] > 0)
    named = ["a", "b", "c"]
    plain = separability(X, y)
    assert plain.verdict == "quasi-separable"
    assert plain.columns == (1,)
    forms = [sparse.csr_array(X), sparse.csc_matrix(X), np.asfortranarray(X), X.astype(np.float32), X.astype(np.int8)]
    for form in [*forms, X.tolist(), pd.DataFrame(X, columns=named), pl.DataFrame(X, schema=named)]:
        result = separability(form, y)
        assert result.verdict == plain.verdict
        assert result.boundary.tolist() == plain.boundary.tolist()
        assert result.check()
    assert separability(pd.DataFrame(X, columns=named), y).columns == ("b",)
    assert "'b'" in str(separability(pl.DataFrame(X, schema=named), y))


def test_labels_may_be_strings_and_the_hyperplane_points_to_the_second():
    result = separability([[0.0], [1.0]], ["yes", "no"])
    assert result.classes.tolist() == ["no", "yes"]
    assert result.hyperplane[0] + result.hyperplane[1] * 0.0 > 0


def test_aliased_columns_are_named_and_do_not_matter():
    random = np.random.default_rng(7)
    X = random.normal(size=(100, 3))
    y = random.random(100) > 0.5
    wide = np.column_stack([X, np.full(100, 7.0), X[:, 1], -2 * X[:, 0], np.zeros(100)])
    result = separability(wide, y)
    assert result.aliased == (3, 4, 5, 6)
    assert result.verdict == separability(X, y).verdict == "overlapping"
    assert result.check()
    assert "linear combinations" in str(result)


def test_without_an_intercept_hyperplanes_pass_through_the_origin():
    assert separability([[1.0], [2.0]], [0, 1]).verdict == "separable"
    through = separability([[1.0], [2.0]], [0, 1], fit_intercept=False)
    assert through.verdict == "overlapping"
    assert through.check()
    zero = separability([[0.0], [1.0], [-2.0]], [0, 1, 0], fit_intercept=False)
    assert zero.verdict == "quasi-separable"
    assert zero.boundary.tolist() == [0]
    assert zero.check()
    nothing = separability(np.zeros((3, 2)), [0, 1, 1], fit_intercept=False)
    assert nothing.verdict == "overlapping"
    assert nothing.check()


def test_large_numbers_of_rows_take_one_pass_or_a_few(monkeypatch):
    """Overlap in a sample settles 200,000 rows without a look at the rest; the separable case is certified on all."""
    random = np.random.default_rng(8)
    X = random.normal(size=(200_000, 10))
    z = X @ random.normal(size=10)
    overlap = separability(X, z + random.normal(size=len(z)) > 0)
    assert overlap.verdict == "overlapping"
    assert overlap.check()
    apart = separability(X, z > 0)
    assert apart.verdict == "separable"
    assert apart.check()
    flipped = z > 0
    flipped[np.argmax(z)] ^= True
    result = separability(X, flipped)
    assert result.verdict == "overlapping"
    assert int(np.argmax(z)) in result.witness.rows.tolist() or result.check()
    assert result.check()


def test_refusals_say_what_to_do():
    with pytest.raises(DataError, match="class 1 alone"):
        separability([[1.0], [2.0]], [1, 1])
    with pytest.raises(DataError, match="2 rows and y has 3"):
        separability([[1.0], [2.0]], [0, 1, 1])
    with pytest.raises(DataError, match="NaN: column 0 in row 1"):
        separability([[1.0], [np.nan]], [0, 1])
    with pytest.raises(ParameterError, match="'widest' and 'any'"):
        separability([[1.0], [2.0]], [0, 1], hyperplane="best")


def test_huge_and_tiny_numbers_are_numbers():
    """Floats near both ends of their range, and integers beyond 2^53, are compared exactly."""
    X = np.array([[1e308, 5e-324], [1e308, 0.0], [-1e308, 1e-320]])
    result = separability(X, [1, 0, 0])
    assert result.verdict == "separable"
    assert result.check()
    big = np.array([[2**53], [2**53 + 1]], dtype=np.int64)
    pair = separability(big, [0, 1])
    assert pair.verdict == "separable"
    assert pair.check()


def test_simplex_answers_what_the_programs_cannot(monkeypatch):
    """With programs that always give up, the simplex finds the same verdicts: it stands on its own."""
    import discriminant.inference.search as search

    monkeypatch.setattr(search, "_TRUST", np.inf)
    monkeypatch.setattr(search.Face, "circuit", _refuse_once(search.Face.circuit))
    random = np.random.default_rng(9)
    X = random.normal(size=(40, 3))
    for y, verdict in ((X[:, 0] > 0, "separable"), (random.random(40) > 0.5, "overlapping")):
        result = separability(X, y)
        assert result.verdict == verdict
        assert result.check()


def _refuse_once(method):
    calls = []

    def circuit(self, pairs):
        calls.append(pairs)
        return None if len(calls) % 2 else method(self, pairs)

    return circuit


# -- the parts ---------------------------------------------------------------------------------------------------------


def test_exact_solve_and_nullspace_against_fractions():
    random = np.random.default_rng(10)
    for n in (1, 2, 7, 20):
        A = [integer_row(row)[0] for row in random.normal(size=(n, n)).tolist()]
        x, q = solve(A, [[v] for v in range(1, n + 1)])
        assert all(sum(a * int(v) for a, v in zip(row, x[:, 0], strict=True)) == q * (i + 1) for i, row in enumerate(A))
    with pytest.raises(ZeroDivisionError):
        solve([[1, 2], [2, 4]], [[1], [1]])
    basis, free = nullspace([[1, 2, 3, 4], [2, 4, 6, 8], [0, 1, 1, 0]])
    assert len(basis) == 2
    assert all(v[j] != 0 for v, j in zip(basis, free, strict=True))
    assert independent_rows([[0, 0], [0, 3]])[0] == [1]


def test_dot_signs_against_fractions():
    """Every road (one column, two columns, whole numbers, integers) gives the sign of the exact sum."""
    random = np.random.default_rng(11)
    for values, weights in (
        (random.normal(size=(30, 1)), [3]),
        (np.repeat(random.normal(size=(30, 1)), 2, axis=1) * [1, 4], [4, -1]),
        (random.integers(-9, 9, size=(30, 3)) / 4.0, [5, -7, 2]),
        (random.normal(size=(30, 3)), [10**20, -(10**19), 7]),
    ):
        for constant in (0, 2):
            signs = dot_signs(values, weights, [1] * len(weights), constant)
            exact = [
                constant + sum(2 * w * Fraction(v) for w, v in zip(weights, row, strict=True))
                for row in values.tolist()
            ]
            assert signs.tolist() == [(v > 0) - (v < 0) for v in exact]


def test_program_agrees_with_highs():
    """The interior-point method's margin is that of scipy's linear program, and its vertex is one."""
    from scipy.optimize import linprog

    random = np.random.default_rng(12)
    for noise in (0.0, 1.0):
        X = random.normal(size=(120, 9))
        y = X @ random.normal(size=9) + noise * random.normal(size=120) > 0
        rows = np.column_stack([np.ones(120), X]) * np.where(y, 1, -1)[:, None]
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        program = widest(rows)
        cost = np.append(np.zeros(10), -1.0)
        best = linprog(
            cost, A_ub=np.column_stack([-rows, np.ones(120)]), b_ub=np.zeros(120), bounds=[(-1, 1)] * 10 + [(None, 1)]
        )
        assert -best.fun - 1.01 * program.gap - 1e-12 <= program.margin <= -best.fun + 1e-9
        if noise:
            few = vertex(rows[program.vanishing])
            assert (few > 0).sum() == 11
            assert np.abs(rows[program.vanishing].T @ few).max() < 1e-12


def test_no_rows_have_no_vertex():
    assert vertex(np.zeros((0, 3))).shape == (0,)


def test_search_is_deterministic_for_a_seed():
    random = np.random.default_rng(13)
    X = random.normal(size=(300, 5))
    y = random.random(300) > 0.5
    first, second = separability(X, y), separability(X, y)
    assert first.multipliers == second.multipliers
    assert isinstance(first._cone.width, int)
    assert Search(first._cone).run().weights is None


# -- many columns, many classes, files ---------------------------------------------------------------------------------


def test_rare_words_are_peeled_off():
    """Columns that occur in one class only settle their rows; what is left decides, and the layers keep their order."""
    random = np.random.default_rng(14)
    n, d = 120, 700
    X = np.zeros((n, d))
    y = np.repeat([0, 1], n // 2)
    X[np.arange(n - 20), np.arange(n - 20)] = 1.0 + random.integers(0, 3, size=n - 20)  # a word of its own for most
    X[:, 600:603] = random.integers(0, 2, size=(n, 3))
    for form in (X, sparse.csr_array(X)):
        result = separability(form, y)
        assert result.check()
        assert result.verdict in ("separable", "quasi-separable")
    crossed = X.copy()
    crossed[-20:] = 0.0
    crossed[-20:, 600] = random.integers(0, 2, size=20)
    y[-20:] = random.integers(0, 2, size=20)
    y[-4:], crossed[-4:, 600] = [0, 1, 0, 1], [0, 0, 1, 1]
    dense, light = separability(crossed, y), separability(sparse.csr_array(crossed), y)
    assert dense.verdict == light.verdict == "quasi-separable"
    assert dense.check()
    assert light.check()
    assert set(range(n - 20, n)) <= set(dense.boundary.tolist())
    assert 600 not in dense.columns
    assert 0 in dense.columns
    narrow = separability(crossed[:, :500], y)  # fewer columns: the other road
    assert narrow.check()


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_many_columns_agree_with_few(fit_intercept):
    """Padding X with 700 zero columns takes the road for many columns; the verdict stays."""
    random = np.random.default_rng(15)
    for seed in range(12):
        X = random.integers(-1, 2, size=(14, 2)).astype(float)
        y = random.integers(0, 2, size=14)
        y[:2] = [0, 1]
        wide = np.column_stack([X, np.zeros((14, 700))])
        few = separability(X, y, fit_intercept=fit_intercept, random_state=seed)
        many = separability(wide, y, fit_intercept=fit_intercept, random_state=seed)
        assert few.verdict == many.verdict
        assert few.check()
        assert many.check()


@pytest.mark.parametrize("spread", [0.2, 0.8, 1.5, 4.0])
def test_merging_classes_gives_the_verdict_of_the_whole_machine(monkeypatch, spread):
    """With mergers and without them, the same verdict, each proved; groups that stay apart make it quasi-separable."""
    import discriminant.inference.merging as merging

    random = np.random.default_rng(16)
    centres = np.array([[0.0, 0.0], [1.0, 0.0], [30.0, 0.0], [31.0, 0.0], [0.0, 40.0]])
    y = np.repeat(np.arange(5), 30)
    X = centres[y] + spread * random.uniform(-1, 1, size=(150, 2))
    whole = separability(X, y)
    monkeypatch.setattr(merging, "MERGE_FROM", 0)
    merged = separability(X, y)
    assert merged.verdict == whole.verdict
    assert merged.check()
    assert whole.check()
    assert merged.boundary.tolist() == whole.boundary.tolist()
    assert merged.columns == whole.columns


def test_newton_steps_find_a_machine_for_digits():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    result = separability(X, y)
    assert result.verdict == "separable"
    assert result.hyperplane.shape == (65, 10)
    assert result.check()
    g = result.hyperplane[0] + X @ result.hyperplane[1:]
    assert (g.argmax(axis=1) == y).all()
    assert len(result.aliased) == 3  # three pixels are always blank


def test_removals_separate_the_rest():
    """Without the named rows the data are separable, and no set is smaller than the bound."""
    random = np.random.default_rng(17)
    X = random.normal(size=(60, 2))
    y = X[:, 0] + X[:, 1] > 0
    y[[3, 17]] ^= True
    result = separability(X, y)
    assert result.verdict == "overlapping"
    removals = result.removals()
    rest = np.setdiff1d(np.arange(60), removals.rows)
    assert separability(X[rest], y[rest]).verdict == "separable"
    assert 1 <= removals.least <= len(removals) <= 2
    assert len(separability(X, X[:, 0] > 0).removals()) == 0


def test_a_verdict_in_a_file_leaves_the_data_behind():
    import pickle

    random = np.random.default_rng(18)
    X = random.normal(size=(2000, 5))
    for y in (X[:, 0] > 0, random.random(2000) > 0.5):
        result = separability(X, y)
        stored = pickle.dumps(result)
        assert len(stored) < 40_000 < X.nbytes
        again = pickle.loads(stored)
        assert again.verdict == result.verdict
        assert str(again) == str(result)
        with pytest.raises(DataError, match="does not hold its data"):
            again.check()
        assert again.check(X, y)
        if again:
            assert again.exact == result.exact
            assert not again.check(X[::-1], y)
        with pytest.raises(DataError, match="not the data"):
            again.check(X[:5], y[:5])


def test_chance_is_covers_probability():
    random = np.random.default_rng(19)
    X = random.normal(size=(8, 3))
    result = separability(X, [0, 1, 0, 1, 1, 0, 0, 1])
    assert result.chance == 0.5
    assert "probability 0.5" in str(result) or result.verdict != "separable"
