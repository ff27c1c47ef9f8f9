"""Bases one by one: formulas against independent ones, names, and the sentences that refuse."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.spatial.distance import cdist
from scipy.special import eval_chebyt
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from discriminant import bases
from discriminant.bases.radial import lloyd, spread_rows, squared_distances
from discriminant.errors import DataError, DiscriminantWarning, MismatchError, ParameterError

X = np.array([[1.0, 2.0], [3.0, 5.0], [0.5, 4.0], [2.0, 0.25]])
Y = np.array([0, 1, 0, 1])


def loaded_after(code: str) -> set[str]:
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


# ---- cold start


def test_bases_work_without_scikit_learn_and_scipy():
    code = (
        "import numpy as np; from discriminant.bases import *\n"
        "X = np.abs(np.random.default_rng(0).normal(size=(30, 3))) + 0.1; y = np.arange(30) % 2\n"
        "phi = Linear() + Sine() + Log().on(0) + Step(2) + Gaussian() + Radial() + Distances() + HalfPlane()\n"
        "phi = phi + Wiring(20) + Functions(np.tanh) + LowRankQuadratic()\n"
        "phi.fit(X, y).transform(X); phi.get_feature_names_out(); repr(phi); phi.get_params()"
    )
    assert not loaded_after(code) & {"sklearn", "scipy", "pandas"}


# ---- formulas


def test_polynomial_is_scikit_learns_without_the_constant():
    for degree, only in ((1, False), (2, False), (3, False), (3, True)):
        ours = bases.Polynomial(degree, interaction_only=only).fit_transform(X)
        theirs = PolynomialFeatures(degree, interaction_only=only, include_bias=False).fit_transform(X)
        np.testing.assert_array_equal(ours, theirs)


def test_polynomial_of_the_book_in_two_inputs():
    """z = (x₁, x₂, x₁², x₂², x₁x₂), in another order  (Alpaydin 10.2)."""
    one, two = X.T
    np.testing.assert_array_equal(bases.Polynomial().fit_transform(X).T, [one, two, one**2, one * two, two**2])


def test_sine_gaussian_log_and_step_by_hand():
    one, two = X.T
    np.testing.assert_array_equal(bases.Sine((1, 3)).fit_transform(X).T, np.sin([one, 3 * one, two, 3 * two]))
    np.testing.assert_allclose(bases.Sine(phase=math.pi / 2).fit_transform(X), np.cos(X), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(bases.Log().fit_transform(X), np.log(X))
    np.testing.assert_array_equal(bases.Log(2.0).fit_transform(X), np.log(X + 2))
    steps = bases.Step((1.0, 2.0)).fit_transform(X).T
    np.testing.assert_array_equal(steps, [one > 1, one > 2, two > 1, two > 2])
    bumps = bases.Gaussian((0.0, 1.0), width=0.5).fit_transform(X).T
    m = [np.exp(-((x - c) ** 2) / (2 * 0.25)) for x in (one, two) for c in (0.0, 1.0)]
    np.testing.assert_allclose(bumps, m, rtol=1e-14)


def test_distances_and_radial_against_scipy():
    rng = np.random.default_rng(0)
    points, centres = rng.normal(size=(300, 7)), rng.normal(size=(20, 7))
    np.testing.assert_allclose(bases.Distances(centres).fit_transform(points), cdist(points, centres), rtol=1e-13)
    expected = np.exp(-cdist(points, centres, "sqeuclidean") / (2 * 1.7**2))
    np.testing.assert_allclose(bases.Radial(centres, width=1.7).fit_transform(points), expected, rtol=1e-12)


def test_distances_keep_their_digits_far_from_the_origin():
    """‖x‖² − 2x·c + ‖c‖² would give 0 or worse here."""
    far = 1e8 + np.array([[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_array_equal(bases.Distances(far[:1]).fit_transform(far).ravel(), [0.0, 5.0])


def test_half_plane_by_hand():
    plane = bases.HalfPlane([[1.0, -1.0], [0.0, 2.0]], (0.0, 5.0)).fit(X)
    np.testing.assert_array_equal(plane.transform(X).T, [X[:, 0] > X[:, 1], 2 * X[:, 1] > 5])


def test_random_half_planes_cut_the_data_whatever_its_units():
    rows = np.random.default_rng(0).normal(size=(200, 3)) * [1e-6, 1.0, 1e6] + [0, 1e3, 1e7]
    share = bases.HalfPlane(100, random_state=0).fit_transform(rows).mean(axis=0)
    assert share.min() > 0.02
    assert share.max() < 0.98
    assert 0.4 < share.mean() < 0.6


def test_wiring_by_hand():
    retina = (np.random.default_rng(0).random((50, 400)) < 0.3).astype(float)
    wiring = bases.Wiring(units=64, connections=40, threshold=2, random_state=1).fit(retina)
    assert wiring.wiring_.shape == (400, 64)
    assert set(np.unique(wiring.wiring_)) == {-1, 0, 1}
    assert (np.abs(wiring.wiring_).sum(axis=0) == 40).all()
    assert (wiring.wiring_.sum(axis=0) == 0).all()  # half excite, half inhibit
    fires = [
        [sum(int(w) * x for w, x in zip(joints, row, strict=True)) >= 2 for joints in wiring.wiring_.T]
        for row in retina
    ]
    np.testing.assert_array_equal(wiring.transform(retina), fires)


def test_wiring_with_odd_and_with_too_many_connections():
    odd = bases.Wiring(units=200, connections=3, random_state=0).fit(np.ones((1, 9))).wiring_.sum(axis=0)
    assert set(odd.tolist()) == {-1, 1}
    assert (np.abs(bases.Wiring(units=5, connections=40).fit(np.ones((1, 4))).wiring_).sum(axis=0) == 4).all()


def test_median_threshold_fires_for_half_of_the_rows():
    rows = np.random.default_rng(0).normal(size=(100, 30))
    fired = bases.Wiring(units=20, connections=10, threshold="median", random_state=0).fit_transform(rows)
    np.testing.assert_array_equal(fired.mean(axis=0), 0.5)


@pytest.mark.parametrize("make", [bases.Wiring, bases.HalfPlane, bases.Radial, bases.Distances])
def test_random_state_is_a_seed_a_generator_or_an_old_random_state(make):
    rows = np.random.default_rng(0).normal(size=(60, 5))
    same = [make(8, random_state=7).fit_transform(rows) for _ in range(2)]
    np.testing.assert_array_equal(*same)
    for state in (np.random.default_rng(7), np.random.RandomState(7), np.int64(7), None):
        assert make(8, random_state=state).fit_transform(rows).shape == (60, 8)
    assert not np.array_equal(same[0], make(8, random_state=8).fit_transform(rows))
    with pytest.raises(ParameterError, match=r"'random_state' parameter of .* Got 'seven'"):
        make(8, random_state="seven").fit(rows)


# ---- what is taken from the data


def test_quantiles_place_thresholds_and_centres():
    column = np.arange(100.0)[:, None]
    expected = np.quantile(column, [0.125, 0.375, 0.625, 0.875])
    np.testing.assert_allclose(bases.Step(4).fit(column).value_, expected)
    gaussian = bases.Gaussian(4).fit(column)
    np.testing.assert_allclose(gaussian.value_, expected)
    np.testing.assert_allclose(gaussian.width_, np.diff(expected).mean())
    assert bases.Step(4).fit(np.array([[0.0], [0.0], [0.0], [1.0]])).n_features_out_ < 4  # repeated quantiles once


def test_one_gaussian_has_the_spread_of_its_column_and_a_constant_column_is_no_trouble():
    column = np.random.default_rng(0).normal(3, 2, size=(500, 1))
    np.testing.assert_allclose(bases.Gaussian(1).fit(column).width_, column.std())
    assert (bases.Gaussian(5).fit_transform(np.full((4, 1), 7.0)) == 1).all()


def test_spread_rows_are_different_rows_and_all_of_them_where_there_are_few():
    rows = np.repeat([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]], 20, axis=0)
    for seed in range(20):
        for wanted in (3, 10):
            chosen = spread_rows(rows, wanted, np.random.default_rng(seed))
            assert sorted(map(tuple, chosen)) == [(0.0, 0.0), (1.0, 0.0), (5.0, 5.0)]


def test_spread_rows_survive_numbers_whose_squares_overflow():
    rows = np.array([[1e200], [-1e200], [0.0]])
    assert len(spread_rows(rows, 3, np.random.default_rng(0))) == 3


def test_means_are_a_fixed_point_of_lloyd_and_lower_the_distortion():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(c, 0.3, size=(50, 2)) for c in ((0, 0), (4, 0), (0, 4))])
    start = spread_rows(rows, 3, rng)
    means = lloyd(rows, start.copy())
    nearest = cdist(rows, means).argmin(axis=1)
    np.testing.assert_allclose(means, [rows[nearest == k].mean(axis=0) for k in range(3)])
    assert squared_distances(rows, means).min(axis=1).sum() <= squared_distances(rows, start).min(axis=1).sum()


def test_class_means_as_centres():
    labels = np.array(["b", "a", "b", "a"])
    distances = bases.Distances("classes").fit(X, labels)
    np.testing.assert_allclose(distances.centres_, [X[labels == "a"].mean(axis=0), X[labels == "b"].mean(axis=0)])
    with pytest.raises(DataError, match="needs the labels: pass y to fit"):
        bases.Distances("classes").fit(X)
    with pytest.raises(DataError, match="one label per row"):
        bases.Distances("classes").fit(X, [0, 1])


def test_radial_width_is_the_mean_distance_to_the_nearest_centre():
    centres = [[0.0, 0.0], [1.0, 0.0], [1.0, 3.0]]
    assert bases.Radial(centres).fit(X).width_ == pytest.approx((1 + 1 + 3) / 3)
    assert bases.Radial([[0.0, 0.0]]).fit(X).width_ == pytest.approx(np.sqrt((X**2).sum(axis=1).mean()))
    assert bases.Radial([[1.0, 2.0]]).fit(X[:1]).width_ == 1.0


# ---- functions of the user


def square(X):
    return X**2


def test_functions_of_the_user():
    functions = bases.Functions({"sum": lambda X: X.sum(axis=1), "t3": lambda X: eval_chebyt(3, X)})
    features = functions.fit_transform(X)
    np.testing.assert_allclose(features, np.column_stack([X.sum(axis=1), 4 * X**3 - 3 * X]))
    assert functions.get_feature_names_out().tolist() == ["sum", "t3(x0)", "t3(x1)"]
    several = bases.Functions((square, lambda X: X[:, 0] > 1, lambda X: np.tile(X, 2))).fit(X)
    assert several.get_feature_names_out().tolist() == [
        *("square(x0)", "square(x1)"),
        *("f2", "f3[0]", "f3[1]", "f3[2]", "f3[3]"),
    ]
    assert bases.Functions(square).fit(X[:, :1]).get_feature_names_out().tolist() == ["square(x0)"]


@pytest.mark.parametrize(
    ("function", "error", "sentence"),
    [
        (lambda X: X - X.mean(axis=0), DataError, "another value alone than among the other rows"),
        (lambda X: X.sum(), DataError, r"gave shape \(\) for 4 rows"),
        (lambda X: X[:2], DataError, r"gave shape \(2, 2\) for 4 rows"),
        (lambda X: np.array(["a"] * len(X)), MismatchError, "a feature is a real number"),
        (lambda X: X[:, 0] + 1j, MismatchError, "complex"),
    ],
)
def test_functions_that_are_no_basis_are_refused(function, error, sentence):
    with pytest.raises(error, match=sentence):
        bases.Functions({"mine": function}).fit(X)


def test_functions_whose_width_changes_or_that_cannot_be_called_are_refused():
    growing = bases.Functions({"mine": lambda X: X[:, : 1 + int(X.max() > 100)]}).fit(X)
    with pytest.raises(DataError, match=r"gave \[1\] columns at fit and give \[2\] now"):
        growing.transform(X * 1000)
    with pytest.raises(MismatchError, match="mine=3 of Functions is not callable"):
        bases.Functions({"mine": 3}).fit(X)
    with pytest.raises(ParameterError, match="must be callables"):
        bases.Functions().fit(X)


# ---- names


def test_names_are_the_formulas():
    frame = pd.DataFrame(X, columns=["age", "income"])
    named = {
        bases.Polynomial(3): ["age", "income", "age²", "age·income", "income²", "age³", "age²·income"],
        bases.Polynomial(12): ["age", "income", "age²"],
        bases.Sine((1, 0.5), phase=-1): ["sin(age-1)", "sin(0.5·age-1)", "sin(income-1)"],
        bases.Log(): ["log(age)", "log(income)"],
        bases.Log(0.5): ["log(age+0.5)"],
        bases.Step((0, 1.5)): ["1(age>0)", "1(age>1.5)", "1(income>0)"],
        bases.Gaussian((0, 2, -2), width=0.5): ["exp(-age²/2·0.5²)", "exp(-(age-2)²/2·0.5²)", "exp(-(age+2)²/2·0.5²)"],
        bases.Gaussian((0,), width=1): ["exp(-age²/2)"],
        bases.Radial([[0, 0], [1, 1]], width=3): ["exp(-|x-c1|²/2·3²)", "exp(-|x-c2|²/2·3²)"],
        bases.Distances([[0, 0], [1, 1]]): ["|x-c1|", "|x-c2|"],
        bases.HalfPlane([[1, -2], [0, 1], [-1, 0]], (3, 0, 1)): ["1(age-2·income>3)", "1(income>0)", "1(-age>1)"],
        bases.Wiring(2): ["unit1", "unit2"],
    }
    for basis, names in named.items():
        assert basis.fit(frame).get_feature_names_out().tolist()[: len(names)] == names
    assert "age¹²" in bases.Polynomial(12).fit(frame).get_feature_names_out()


def test_half_planes_in_many_columns_are_numbered_and_so_are_those_that_look_alike():
    rows = np.ones((2, 5))
    assert bases.HalfPlane(2, random_state=0).fit(rows).get_feature_names_out().tolist() == ["1(a1·x>c1)", "1(a2·x>c2)"]
    alike = bases.HalfPlane([[1.0, 1.0], [1.0 + 1e-9, 1.0]], (0.0, 0.0)).fit(X)
    assert alike.get_feature_names_out().tolist() == ["1(a1·x>c1)", "1(a2·x>c2)"]


def test_names_of_close_thresholds_differ():
    names = bases.Step((2000.1, 2000.2, 2000.25)).fit(X).get_feature_names_out()
    assert names[:3].tolist() == ["1(x0>2000.1)", "1(x0>2000.2)", "1(x0>2000.25)"]


# ---- combining


def test_plus_puts_features_side_by_side():
    both = bases.Polynomial(2) + bases.Sine().on(1) + StandardScaler()
    expected = np.hstack([bases.Polynomial(2).fit_transform(X), np.sin(X[:, 1:]), StandardScaler().fit_transform(X)])
    np.testing.assert_allclose(both.fit_transform(X), expected, rtol=1e-15)
    assert len(both.parts) == 3
    assert (StandardScaler() + bases.Sine()).fit(X).n_features_out_ == 4
    assert repr(both) == "Polynomial() + Sine().on(1) + StandardScaler()"


def test_features_of_the_same_name_get_the_number_of_their_part():
    twice = (bases.Linear() + bases.Polynomial(2).on(0)).fit(X)
    assert twice.get_feature_names_out().tolist() == ["x0#1", "x1", "x0#2", "x0²"]


def test_columns_by_name_position_and_order():
    frame = pd.DataFrame(np.c_[X, X[:, 0] + 1], columns=["a", "b", "c"])
    for columns in (("c", "a"), (2, 0), (-1, "a"), ["c", 0]):
        picked = bases.Columns(bases.Linear(), columns).fit(frame)
        np.testing.assert_array_equal(picked.transform(frame), frame[["c", "a"]])
        assert picked.get_feature_names_out().tolist() == ["c", "a"]
    assert repr((bases.Linear() + bases.Sine()).on("a")) == "(Linear() + Sine()).on('a')"
    assert bases.Columns(bases.Linear(), "c").fit(frame).n_features_out_ == 1


@pytest.mark.parametrize(
    ("columns", "error", "sentence"),
    [
        (("z",), DataError, "X has no column 'z'; its columns are 'a' and 'b'"),
        ((2,), DataError, "Column 2 was asked for and X has 2 columns"),
        ((1.5,), ParameterError, "must be a name or a position"),
        ((True,), ParameterError, "must be a name or a position"),
        ((), ParameterError, "must be names or positions of columns"),
    ],
)
def test_columns_that_are_not_there_are_named(columns, error, sentence):
    with pytest.raises(error, match=sentence):
        bases.Sine().on(*columns).fit(pd.DataFrame(X, columns=["a", "b"]))


def test_names_cannot_be_used_where_there_are_none():
    with pytest.raises(DataError, match="X has no column names: give positions, or a frame"):
        bases.Sine().on("age").fit(X)


@pytest.mark.parametrize("part", [None, 3, bases.Sine, "sine", np.tanh])
def test_parts_that_are_no_bases_are_refused(part):
    with pytest.raises(MismatchError, match="cannot be part of a basis"):
        bases.Linear() + part
    with pytest.raises(MismatchError, match="cannot be part of a basis"):
        bases.Columns(part, (0,)).fit(X)
    with pytest.raises(MismatchError, match="cannot be part of a basis"):
        bases.Concatenation((part,)).fit(X)


def test_empty_concatenation_is_refused():
    for parts in ((), None, bases.Sine()):
        with pytest.raises(ParameterError, match="must be a list or tuple of bases"):
            bases.Concatenation(parts).fit(X)


# ---- with scikit-learn


def test_parameters_of_parts_are_reached_by_name():
    both = bases.Polynomial(2) + bases.Sine() + bases.Sine((2.0,)).on(0)
    params = both.get_params()
    assert params["polynomial__degree"] == 2
    assert params["sine__frequencies"] == (1.0,)
    assert params["columns__basis__frequencies"] == (2.0,)
    both.set_params(polynomial__degree=3, columns__basis__frequencies=(5.0,))
    assert both.parts[0].degree == 3
    assert both.parts[2].basis.frequencies == (5.0,)
    two = bases.Sine() + bases.Sine((2.0,))
    assert {"sine-1__phase", "sine-2__phase"} <= set(two.get_params())
    swapped = bases.Columns(bases.Sine(), (0,)).set_params(basis=bases.Polynomial(), basis__degree=4)
    assert swapped.basis.degree == 4
    with pytest.raises(ValueError, match="Invalid parameter 'cosine__phase'"):
        two.set_params(cosine__phase=1)


def test_grid_search_over_the_parameters_of_a_part():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 2))
    labels = (rows**2).sum(axis=1) > 1.5
    pipeline = make_pipeline(bases.Polynomial(1).on(0, 1) + bases.Sine(), LogisticRegression())
    search = GridSearchCV(pipeline, {"concatenation__columns__basis__degree": [1, 2]}, cv=3).fit(rows, labels)
    assert search.best_params_ == {"concatenation__columns__basis__degree": 2}
    assert search.best_score_ > 0.9
    assert pipeline[0].parts[0].basis.degree == 1


def test_unions_and_column_transformers_of_scikit_learn():
    frame = pd.DataFrame(X, columns=["a", "b"])
    union = make_union(bases.Linear(), bases.Sine()).fit(X)
    assert union.get_feature_names_out().tolist()[0] == "linear__x0"
    table = ColumnTransformer([("log", bases.Log(), ["a"])], remainder=bases.Step((1.0,))).set_output(
        transform="pandas"
    )
    assert table.fit_transform(frame).columns.tolist() == ["log__log(a)", "remainder__1(b>1)"]
    assert isinstance(
        FeatureUnion([("s", bases.Sine())]).set_output(transform="pandas").fit_transform(frame), pd.DataFrame
    )


def test_global_output_and_metadata_routing():
    with sklearn.config_context(transform_output="pandas", enable_metadata_routing=True):
        pipeline = make_pipeline(bases.Polynomial() + StandardScaler(), LogisticRegression()).fit(X, Y)
        assert isinstance(pipeline[0].transform(X), pd.DataFrame)
        assert pipeline.score(X, Y) == 1.0


def test_set_output_refuses_what_it_does_not_know_and_what_is_sparse():
    from scipy.sparse import csr_array

    with pytest.raises(ParameterError, match=r"'default', 'pandas' and 'polars'"):
        bases.Sine().set_output(transform="arrow")
    with pytest.raises(MismatchError, match="a pandas frame is dense"):
        bases.Sine().set_output(transform="pandas").fit_transform(csr_array(X))


def test_clone_of_a_fitted_basis_is_not_fitted():
    fitted = bases.Radial(2, random_state=3).fit(X)
    assert not hasattr(clone(fitted), "centres_")
    assert clone(fitted).get_params() == fitted.get_params()


def test_repr_shows_what_differs_from_the_default():
    assert repr(bases.Wiring(units=3)) == "Wiring(units=3)"
    assert repr(bases.Distances(np.eye(2))) == "Distances(centres=array([[1., 0.],\n       [0., 1.]]))"


# ---- hostile input


@pytest.mark.parametrize(
    ("rows", "error", "sentence"),
    [
        (np.arange(3.0), DataError, "Expected 2D array, got 1D array"),
        (np.zeros((3, 20, 20)), DataError, r"got 3D array.*X\.reshape\(len\(X\), -1\)"),
        (np.zeros((0, 2)), DataError, r"0 sample\(s\)"),
        (np.zeros((2, 0)), DataError, r"0 feature\(s\)"),
        (np.ones((2, 2)) * 1j, DataError, "Complex data not supported"),
        ([[1.0, "red"], [2.0, "blue"]], DataError, "column 1 holds 'red' in row 0"),
        (pd.DataFrame({"a": [1.0], "colour": ["red"]}), DataError, "column 'colour' holds 'red' in row 0"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", 3]), MismatchError, "column 3 has a name of type int"),
    ],
)
def test_rows_that_are_no_rows_are_refused(rows, error, sentence):
    with pytest.raises(error, match=sentence):
        bases.Sine().fit(rows)


def test_numbers_in_other_clothes_are_accepted():
    for rows in (
        X.tolist(),
        X.astype(object),
        X.astype(str),
        np.asfortranarray(X),
        pd.DataFrame(X),
        X.astype(np.float16),
    ):
        np.testing.assert_allclose(bases.Sine().fit_transform(rows), np.sin(X), rtol=1e-3)
    np.testing.assert_array_equal(bases.Linear().fit_transform([[True, False]]), [[1.0, 0.0]])


def test_frames_of_every_library_are_read_with_their_names():
    import polars as pl
    import pyarrow as pa

    expected = np.column_stack([np.sin(X), np.sin([1.0, 0.0, 1.0, 1.0])])
    data = {"a": X[:, 0], "b": X[:, 1], "flag": [True, False, True, True]}
    for frame in (pd.DataFrame(data), pl.DataFrame(data), pa.table(data), pd.DataFrame(data).convert_dtypes()):
        fitted = bases.Sine().fit(frame)
        np.testing.assert_allclose(fitted.transform(frame), expected, rtol=1e-15)
        assert fitted.get_feature_names_out().tolist() == ["sin(a)", "sin(b)", "sin(flag)"]
    missing = pd.DataFrame({"a": [1.0, None]}).convert_dtypes()
    with pytest.raises((DataError, MismatchError), match=r"column 'a'.* row 1"):
        bases.Sine().fit(missing)
    with pytest.raises(MismatchError, match="column 'day' holds"):
        bases.Sine().fit(pd.DataFrame({"day": pd.to_datetime(["2020-01-01"])}))


def test_features_that_overflow_are_named():
    with pytest.raises(DataError, match=r"Feature 'x0²' of Polynomial is inf in row 1: .*float64"):
        bases.Polynomial().fit_transform(np.array([[1.0], [1e200]]))
    with pytest.raises(DataError, match=r"range of float32"):
        bases.Polynomial().fit_transform(np.array([[1e30]], dtype=np.float32))
    with pytest.raises(DataError, match=r"Feature '\|x-c1\|'"):
        bases.Distances([[0.0]]).fit_transform(np.array([[1e200]]))


def test_radial_of_far_rows_is_zero_not_an_error():
    assert bases.Radial([[0.0]], width=1.0).fit_transform(np.array([[1e200]])).item() == 0.0


def test_log_of_what_is_not_positive_names_the_column():
    frame = pd.DataFrame({"age": [1.0, 2.0], "debt": [3.0, -1.0]})
    with pytest.raises(DataError, match=r"column 'debt' holds -1 in row 1.*offset=\.\.\.\) above 1"):
        bases.Log().fit(frame)
    fitted = bases.Log().fit(frame.abs())
    with pytest.raises(DataError, match="column 'debt' holds -1 in row 1"):
        fitted.transform(frame)


def test_columns_must_be_those_of_fit():
    frame = pd.DataFrame(X, columns=["a", "b"])
    fitted = bases.Sine().fit(frame)
    with pytest.raises(DataError, match="Feature names must be in the same order"):
        fitted.transform(frame[["b", "a"]])
    with pytest.raises(DataError, match=r"unseen at fit time:\n- z\n(.|\n)*now missing:\n- b\n"):
        fitted.transform(frame.rename(columns={"b": "z"}))
    with pytest.warns(DiscriminantWarning, match="X does not have valid feature names, but Sine was fitted with"):
        fitted.transform(X)
    with pytest.warns(DiscriminantWarning, match="X has feature names, but Sine was fitted without"):
        bases.Sine().fit(X).transform(frame)
    with pytest.raises(DataError, match="X has 3 features, but Sine is expecting 2 features as input"):
        bases.Sine().fit(X).transform(np.ones((1, 3)))
    with pytest.raises(DataError, match="input_features is not equal to feature_names_in_"):
        fitted.get_feature_names_out(["b", "a"])


@pytest.mark.parametrize(
    ("basis", "sentence"),
    [
        (bases.Polynomial(0), "'degree' parameter of Polynomial must be an integer at least 1. Got 0"),
        (bases.Polynomial(2.0), "'degree' parameter of Polynomial must be an integer at least 1. Got 2.0"),
        (bases.Polynomial(2, interaction_only="yes"), "'interaction_only' .* must be True or False"),
        (bases.Sine(2.0), r"'frequencies' .* of Sine must be a sequence of finite numbers, such as .* Got 2.0"),
        (bases.Sine(()), r"finite numbers, .* Got \(\)"),
        (bases.Sine((np.nan,)), "finite"),
        (bases.Sine(("a",)), "finite numbers"),
        (bases.Sine(phase="x"), "'phase' parameter of Sine must be a finite number. Got 'x'"),
        (bases.Log(offset="x"), "'offset' parameter of Log must be a finite number. Got 'x'"),
        (bases.Step(("a",)), "'thresholds' .* of Step must be an integer .* or a sequence of finite numbers"),
        (bases.Step(()), "sequence of finite numbers"),
        (bases.Step(True), "'thresholds' .* of Step must be an integer .* Got True"),
        (bases.Step(0), "at least 1"),
        (bases.Step(0.5), r"such as \(1.0, 2.0\). Got 0.5"),
        (
            bases.Gaussian(3, width=0.0),
            "'width' .* of Gaussian must be a finite number greater than 0, .* Got 0.0",
        ),
        (bases.Radial(3, width=np.inf), "'width' .* of Radial must be a finite number .* Got inf"),
        (bases.Radial(3, placement="grid"), "'placement' .* of Radial must be one of 'rows' and 'means'. Got 'grid'"),
        (bases.Radial("corners"), "'centres' .* of Radial must be a number of centres, 'classes', or .* Got 'corners'"),
        (bases.Radial([1.0, 2.0]), "'centres' .* of Radial must be a number of centres, 'classes', or finite points"),
        (bases.Radial([["a", "b"]]), "finite points"),
        (bases.Distances([[1.0]]), "have 1 coordinates and X has 2 columns"),
        (bases.HalfPlane([[1.0]]), "1 entries and X has 2 columns"),
        (bases.HalfPlane([["a", "b"]]), "finite points"),
        (bases.HalfPlane([[1.0, 0.0]], (1.0, 2.0)), "1 normals and 2 thresholds"),
        (bases.Wiring(0), "'units' .* of Wiring .* Got 0"),
        (bases.Wiring(3, connections=0), "'connections' .* of Wiring .* Got 0"),
        (
            bases.Wiring(3, threshold="mean"),
            "'threshold' .* of Wiring must be a finite number, .*median.* Got 'mean'",
        ),
        (bases.Wiring(3, threshold=np.nan), "finite number"),
        (bases.LowRankQuadratic(0), "'rank' .* of LowRankQuadratic .* Got 0"),
        (bases.LowRankQuadratic(directions=np.eye(3)), r"shape \(2, r\)"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_at_fit(basis, sentence):
    with pytest.raises(ParameterError, match=sentence):
        basis.fit(X, Y)


# ---- low-rank quadratic


def test_quadratic_form_reads_the_weights_of_a_polynomial():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 4))
    polynomial = bases.Polynomial(2).fit(rows)
    coef = rng.normal(size=polynomial.n_features_out_)
    form = bases.quadratic_form(polynomial, coef, 0.7)
    np.testing.assert_allclose(form(rows), polynomial.transform(rows) @ coef + 0.7, rtol=1e-12)
    np.testing.assert_array_equal(form.W, form.W.T)
    products = bases.Polynomial(2, interaction_only=True).fit(rows)
    coef = rng.normal(size=products.n_features_out_)
    np.testing.assert_allclose(bases.quadratic_form(products, coef)(rows), products.transform(rows) @ coef, rtol=1e-12)


def test_quadratic_form_refuses_what_it_cannot_read():
    with pytest.raises(MismatchError, match="needs a fitted Polynomial"):
        bases.quadratic_form(bases.Polynomial(2), [1.0])
    with pytest.raises(MismatchError, match="higher degree"):
        bases.quadratic_form(bases.Polynomial(3).fit(X), np.ones(9))
    with pytest.raises(DataError, match=r"pass those of one class, such as coef_\[k\]"):
        bases.quadratic_form(bases.Polynomial(2).fit(X), np.ones((3, 5)), np.ones(3))
    form = bases.quadratic_form(bases.Polynomial(2).fit(X), np.ones(5))
    with pytest.raises(ParameterError, match="rank=3 is larger than the number of columns, 2"):
        form.low_rank(3)


def test_low_rank_quadratic_with_given_directions():
    V = np.array([[1.0], [2.0]])
    basis = bases.LowRankQuadratic(directions=V)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(basis.fit_transform(X), np.c_[X, (centred @ V) ** 2])
    assert basis.fit(X).get_feature_names_out().tolist() == ["x0", "x1", "(v1·(x-m))²"]


def test_low_rank_quadratic_refuses_targets_that_are_no_classes():
    rng = np.random.default_rng(0)
    for y, sentence in (
        (None, "requires y to be passed, but the target y is None"),
        (rng.normal(size=4), "y holds fractions"),
        (np.zeros(4), "one class only"),
        (np.zeros(3), "one label per row"),
    ):
        with pytest.raises(DataError, match=sentence):
            bases.LowRankQuadratic().fit(X, y)
    with pytest.raises(DataError, match="all rows are equal"):
        bases.LowRankQuadratic().fit(np.repeat([[0.0], [1.0]], 3, axis=0), [0, 0, 0, 1, 1, 1])


def test_low_rank_quadratic_with_collinear_columns_keeps_to_what_varies():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 2)) * np.where(np.arange(100) < 50, 1, 3)[:, None]
    rows = np.c_[rows, rows.sum(axis=1), np.full(100, 5.0)]
    basis = bases.LowRankQuadratic(4).fit(rows, np.arange(100) < 50)
    assert basis.directions_.shape == (4, 2)
    assert np.isfinite(basis.transform(rows)).all()


# ---- bases by text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("linear", "Linear()"),
        ("quadratic", "Polynomial()"),
        ("poly:3", "Polynomial(degree=3)"),
        ("interactions", "Polynomial(interaction_only=True)"),
        ("sine:2", "Sine(frequencies=(1.0, 2.0))"),
        ("log:1", "Log(offset=1.0)"),
        ("step:4", "Step(thresholds=4)"),
        ("gaussian:3", "Gaussian(centres=3)"),
        ("rbf:50", "Radial(centres=50, random_state=0)"),
        ("distances", "Distances(random_state=0)"),
        ("half-plane:5", "HalfPlane(normals=5, random_state=0)"),
        ("wiring", "Wiring(random_state=0)"),
        ("low-rank:3", "LowRankQuadratic(rank=3)"),
        ("log@income + poly:2@age, 3+linear", "Log().on('income') + Polynomial().on('age', 3) + Linear()"),
    ],
)
def test_basis_by_text(text, written):
    assert repr(bases.resolve(text)) == written


def test_resolve_takes_functions_sequences_and_bases():
    assert repr(bases.resolve(["linear", bases.Sine()])) == "Linear() + Sine()"
    np.testing.assert_array_equal(bases.resolve(np.tanh).fit_transform(X), np.tanh(X))
    scaler = StandardScaler()
    assert bases.resolve(scaler) is scaler


@pytest.mark.parametrize(
    ("basis", "error", "sentence"),
    [
        ("cubic", ParameterError, "Basis 'cubic': 'cubic' is not a basis; there are 'distances'"),
        ("poly:x", ParameterError, "'x' after 'poly' must be a number"),
        ("linear:2", ParameterError, "'linear' takes no number"),
        ("", ParameterError, "'' is not a basis"),
        (bases.Sine, MismatchError, r"Write Sine\(\)"),
        (3, MismatchError, "basis=3 is neither a text"),
    ],
)
def test_basis_by_text_that_means_nothing(basis, error, sentence):
    with pytest.raises(error, match=sentence):
        bases.resolve(basis)
