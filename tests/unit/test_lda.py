"""Linear discriminant analysis: equal to scikit-learn where it is right, right where it is not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn.discriminant_analysis as reference
from scipy import sparse
from scipy.special import log_softmax as scipy_log_softmax
from sklearn.covariance import OAS, LedoitWolf
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.utils.estimator_checks import estimator_checks_generator

from discriminant import LinearDiscriminantAnalysis, datasets
from discriminant.errors import CollinearityWarning, DataError, MismatchError, ParameterError

SETS = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}


@pytest.fixture(params=SETS, ids=list(SETS))
def data(request):
    return SETS[request.param](return_X_y=True)


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("check", "estimator"),
    [(check, model) for model, check in estimator_checks_generator(LinearDiscriminantAnalysis())],
    ids=lambda value: getattr(getattr(value, "func", value), "__name__", ""),
)
def test_estimator_contract(check, estimator):
    check(estimator)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"solver": "svd"},
        {"solver": "lsqr"},
        {"solver": "eigen"},
        {"solver": "lsqr", "shrinkage": 0.3},
        {"solver": "eigen", "shrinkage": "auto"},
        {"solver": "eigen", "covariance_estimator": OAS()},
    ],
    ids=str,
)
def test_equals_scikit_learn(data, options):
    X, y = data
    ours = LinearDiscriminantAnalysis(**options).fit(X, y)
    # Its tol of 1e-4 drops directions that the breast cancer data do have.
    theirs = reference.LinearDiscriminantAnalysis(**{"tol": 1e-10} | options).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-12)
    if set(options) <= {"solver"} and options.get("solver") != "lsqr":  # shrunken, it mixes in a shrunken total scatter
        ratio = ours.explained_variance_ratio_
        np.testing.assert_allclose(ratio, theirs.explained_variance_ratio_[: len(ratio)], atol=1e-8)
        mine, other = ours.transform(X), theirs.transform(X)[:, : len(ratio)]
        signs = np.sign((mine * other).sum(axis=0))
        np.testing.assert_allclose(mine * signs, other, rtol=1e-6, atol=1e-6)


def test_given_priors_give_one_answer_whatever_the_solver(data):
    X, y = data
    priors = np.arange(1.0, len(np.unique(y)) + 1)
    priors /= priors.sum()
    answers = [LinearDiscriminantAnalysis(solver=s, priors=priors).fit(X, y) for s in ("auto", "svd", "lsqr", "eigen")]
    for other in answers[1:]:
        np.testing.assert_allclose(other.predict_proba(X), answers[0].predict_proba(X), atol=1e-9)
    later = LinearDiscriminantAnalysis().fit(X, y).predict_proba(X, priors=priors)
    np.testing.assert_allclose(later, answers[0].predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(
        LinearDiscriminantAnalysis().fit(X, y).predict(X, priors=priors), answers[0].predict(X)
    )


@pytest.mark.parametrize(
    "options", [{}, {"covariance": "unbiased"}, {"form": "diagonal"}, {"shrinkage": "oas"}], ids=str
)
def test_an_integer_weight_is_a_repeated_row(data, options):
    X, y = data
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    a = LinearDiscriminantAnalysis(**options).fit(X, y, sample_weight=weight)
    b = LinearDiscriminantAnalysis(**options).fit(X.repeat(weight, axis=0), y.repeat(weight))
    np.testing.assert_allclose(a.predict_log_proba(X), b.predict_log_proba(X), rtol=1e-9, atol=1e-9)


def test_units_do_not_matter(data):
    X, y = data
    scale = 10.0 ** np.random.default_rng(0).uniform(-6, 6, X.shape[1])
    a, b = LinearDiscriminantAnalysis().fit(X, y), LinearDiscriminantAnalysis().fit(X * scale, y)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X * scale), atol=1e-9)
    np.testing.assert_allclose(b.coef_ * scale, a.coef_, rtol=1e-7)


def test_log_posteriors_are_right_far_from_the_boundary():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(-1, 1, (50, 2)), rng.normal(1, 1, (50, 2))]
    model = LinearDiscriminantAnalysis().fit(X, np.repeat([0, 1], 50))
    direction = model.coef_[0] / (model.coef_[0] @ model.coef_[0])
    for score in (-1e4, 1e4):
        far = (score - model.intercept_) * direction
        expected = scipy_log_softmax([0.0, score])
        np.testing.assert_allclose(model.predict_log_proba(far[None])[0], expected, rtol=1e-10)


def test_constant_and_collinear_columns_change_nothing_and_are_named(iris):
    X, y = iris
    plain = LinearDiscriminantAnalysis().fit(X, y).predict_proba(X)
    wide = np.c_[X, np.full(150, 7.3), X[:, 0] + 2 * X[:, 1] + 1e6]
    with pytest.warns(CollinearityWarning) as caught:
        model = LinearDiscriminantAnalysis().fit(wide, y)
    said = " ".join(str(warning.message) for warning in caught)
    assert "Column 4" in said
    assert "columns 0, 1 and 5" in said
    assert model.rank_ == 4
    np.testing.assert_allclose(model.predict_proba(wide), plain, atol=1e-7)
    assert (model.coef_[:, 4] == 0).all()


def test_tolerance_has_no_scale(iris):
    X, y = iris
    for factor in (1e-12, 1e-3, 1e12):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert LinearDiscriminantAnalysis().fit(X * factor, y).rank_ == 4


def test_storage_makes_no_difference(iris):
    X, y = iris
    plain = LinearDiscriminantAnalysis().fit(X, y)
    for other in (np.asfortranarray(X), X[::-1][::-1], sparse.csr_array(X), sparse.csc_matrix(X), X.tolist()):
        model = LinearDiscriminantAnalysis().fit(other, y)
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-11)
        np.testing.assert_array_equal(model.predict(other), plain.predict(X))
    whole = np.rint(X * 10)
    exact = LinearDiscriminantAnalysis().fit(whole, y).coef_
    for kind in (np.int8, np.int64, np.float32):
        np.testing.assert_allclose(LinearDiscriminantAnalysis().fit(whole.astype(kind), y).coef_, exact, rtol=1e-5)


def test_wide_sparse_data_stay_sparse():
    rng = np.random.default_rng(3)
    X = sparse.random_array((400, 120), density=0.03, rng=rng, format="csr")
    X = sparse.hstack([X, sparse.csr_array(rng.normal(50, 1, (400, 2)))]).tocsr()
    y = rng.integers(0, 3, 400)
    a, b = LinearDiscriminantAnalysis().fit(X, y), LinearDiscriminantAnalysis().fit(X.toarray(), y)
    np.testing.assert_allclose(a.predict_log_proba(X), b.predict_log_proba(X.toarray()), rtol=1e-9, atol=1e-9)
    weight = rng.integers(1, 4, 400)
    a = LinearDiscriminantAnalysis().fit(X, y, weight)
    b = LinearDiscriminantAnalysis().fit(X.toarray(), y, weight)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-8, atol=1e-10)


def test_more_columns_than_rows_equal_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1500))
    y = rng.integers(0, 3, 60)
    X[np.arange(60), y] += 3
    with pytest.warns(CollinearityWarning, match="1,500 columns and 60 rows"):
        ours = LinearDiscriminantAnalysis().fit(X, y)
    theirs = reference.LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-9 * np.abs(theirs.coef_).max())


def test_learning_in_parts_equals_learning_at_once(data):
    X, y = data
    whole = LinearDiscriminantAnalysis().fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    parts = np.array_split(order, 5)
    for sequence in (parts, parts[::-1]):
        model = LinearDiscriminantAnalysis()
        for rows in sequence:
            model.partial_fit(X[rows], y[rows], classes=np.unique(y))
        np.testing.assert_allclose(model.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-6, atol=1e-7)


def test_merging_does_not_depend_on_the_order(iris):
    X, y = iris
    rows = np.random.default_rng(0).permutation(150)

    def half(start):
        return LinearDiscriminantAnalysis().fit(X[rows[start::2]], y[rows[start::2]])

    a, b = half(0).merge(half(1)), half(1).merge(half(0))
    np.testing.assert_array_equal(a.coef_, b.coef_)
    np.testing.assert_array_equal(a.intercept_, b.intercept_)
    np.testing.assert_allclose(a.coef_, LinearDiscriminantAnalysis().fit(X, y).coef_, rtol=1e-10)
    with pytest.raises(MismatchError, match="equal parameters"):
        a.merge(LinearDiscriminantAnalysis(shrinkage=0.1).fit(X, y))


@pytest.mark.parametrize("options", [{}, {"covariance": "unbiased"}, {"priors": [0.2, 0.3, 0.5]}], ids=str)
def test_leave_one_out_equals_leaving_one_out(options):
    X, y = load_wine(return_X_y=True)
    model = LinearDiscriminantAnalysis(**options).fit(X, y)
    left_out = [
        LinearDiscriminantAnalysis(**options)
        .fit(np.delete(X, i, 0), np.delete(y, i))
        .predict_log_proba(X[i : i + 1])[0]
        for i in range(0, len(y), 7)
    ]
    np.testing.assert_allclose(model.loo_predict_log_proba(X, y)[::7], left_out, rtol=1e-8, atol=1e-8)


def test_leave_one_out_where_a_row_alone_spans_a_direction(iris):
    """A column in which one row alone varies: without that row the column is constant and is dropped."""
    X, y = iris
    X = np.column_stack([X, np.arange(len(X)) == 60])
    found = LinearDiscriminantAnalysis().fit(X, y).loo_predict_log_proba(X, y)
    with pytest.warns(CollinearityWarning, match="constant"):
        rest = LinearDiscriminantAnalysis().fit(np.delete(X, 60, 0), np.delete(y, 60))
    np.testing.assert_allclose(found[60], rest.predict_log_proba(X[60:61])[0], rtol=1e-8, atol=1e-8)


def test_leave_one_out_is_refused_where_it_is_not_exact(iris):
    X, y = iris
    with pytest.raises(ParameterError, match="cross_val_predict"):
        LinearDiscriminantAnalysis(shrinkage=0.1).fit(X, y).loo_predict(X, y)
    with pytest.raises(DataError, match="was fitted to"):
        LinearDiscriminantAnalysis().fit(X, y).loo_predict(X[:100], y[:100])


def test_robust_means_and_covariance_withstand_outliers(iris):
    X, y = iris
    rng = np.random.default_rng(0)
    bad = X.copy()
    bad[rng.choice(50, 6, replace=False)] += 60
    robust = LinearDiscriminantAnalysis(covariance="robust").fit(bad, y)
    plain = LinearDiscriminantAnalysis().fit(bad, y)
    assert robust.score(X, y) > 0.95 > plain.score(X, y) - 1e-9
    assert np.abs(robust.means_[0] - X[y == 0].mean(axis=0)).max() < 0.3


def test_restricted_forms_equal_their_definitions(iris):
    X, y = iris
    from sklearn.naive_bayes import GaussianNB

    means = np.stack([X[y == k].mean(axis=0) for k in range(3)])
    variances = ((X - means[y]) ** 2).mean(axis=0)
    naive = GaussianNB().fit(X, y)
    naive.var_[:] = variances
    diagonal = LinearDiscriminantAnalysis(form="diagonal").fit(X, y)
    np.testing.assert_allclose(diagonal.predict_proba(X), naive.predict_proba(X), atol=1e-10)
    naive.var_[:] = variances.mean()
    spherical = LinearDiscriminantAnalysis(form="spherical").fit(X, y)
    np.testing.assert_allclose(spherical.predict_proba(X), naive.predict_proba(X), atol=1e-10)


def test_ledoit_wolf_equals_its_library_form(iris):
    X, y = iris
    ours = LinearDiscriminantAnalysis(shrinkage="ledoit-wolf", store_covariance=True).fit(X, y)
    expected = np.zeros((4, 4))
    for k in range(3):
        group = X[y == k]
        sd = group.std(axis=0)
        expected += LedoitWolf().fit((group - group.mean(axis=0)) / sd).covariance_ * sd * sd[:, None] / 3
    np.testing.assert_allclose(ours.covariance_, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda X, y: (np.where(X[3, 2] == X, np.nan, X), y), "contains NaN: column 2"),
        (lambda X, y: (X, y * 0), "one class only"),
        (lambda X, y: (X[:0], y[:0]), "0 sample"),
        (lambda X, y: (X, ["a", 1, 2] * 50), "mixes labels of the types int and str"),
        (lambda X, y: (X, y + 0.5), "Unknown label type: continuous"),
        (lambda X, y: (X, y[:-1]), "X has 150 rows and y has 149"),
        (lambda X, y: (X, np.where(y == 1, np.nan, y)), "y contains NaN"),
    ],
)
def test_bad_input_gets_a_sentence_and_leaves_the_old_model(iris, change, sentence):
    X, y = iris
    model = LinearDiscriminantAnalysis().fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=sentence):
        model.fit(*change(X[:, :3] if "NaN" not in sentence else X, y))
    np.testing.assert_array_equal(model.predict_proba(X), before)
    with pytest.raises(ValueError, match=sentence):
        LinearDiscriminantAnalysis().fit(*change(X, y))


def test_bad_parameters_get_a_sentence(iris):
    X, y = iris
    for options, sentence in [
        ({"priors": [0.5, 0.5]}, "one prior for each class"),
        ({"priors": [0.5, -0.5, 1]}, "non-negative"),
        ({"shrinkage": 1.5}, "'shrinkage' parameter"),
        ({"form": "round"}, "must be one of"),
        ({"n_components": 3}, "n_components cannot be larger than"),
        ({"form": "diagonal", "shrinkage": 0.1}, "give one of them"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            LinearDiscriminantAnalysis(**options).fit(X, y)
    with pytest.raises(ValueError, match=r"Negative values.*row 0"):
        LinearDiscriminantAnalysis().fit(X, y, sample_weight=-np.ones(150))
    with pytest.warns(UserWarning, match="do not sum to 1"):
        LinearDiscriminantAnalysis(priors=[1, 1, 1]).fit(X, y)


def test_frames_keep_names_and_refuse_others():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    bundled = datasets.load("penguins")
    names = list(bundled.feature_names)
    plain = LinearDiscriminantAnalysis().fit(bundled.X, bundled.y)
    columns = {name: bundled.X[:, j] for j, name in enumerate(names)}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        model = LinearDiscriminantAnalysis().fit(frame, bundled.y)
        assert list(model.feature_names_in_) == names
        np.testing.assert_allclose(model.predict_proba(frame), plain.predict_proba(bundled.X), atol=1e-12)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(columns).rename(columns={names[0]: "other"}))
    with pytest.raises(DataError, match="'bird'"):  # a name for each row is no category
        LinearDiscriminantAnalysis().fit(
            pd.DataFrame(columns).assign(bird=[f"bird {i}" for i in range(len(bundled.y))]), bundled.y
        )


def test_digits_with_constant_pixels():
    X, y = load_digits(return_X_y=True)
    with pytest.warns(CollinearityWarning, match="constant within the classes"):
        ours = LinearDiscriminantAnalysis().fit(X, y)
    theirs = reference.LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
