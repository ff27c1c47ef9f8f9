"""Quadratic discriminant analysis: equal to scikit-learn where it is right, right where it is not."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.discriminant_analysis as reference
from scipy import sparse
from sklearn.covariance import OAS, MinCovDet
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import estimator_checks_generator

from discriminant import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from discriminant.errors import CollinearityWarning, DataError, ParameterError, SingularCovarianceError

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
    [(check, model) for model, check in estimator_checks_generator(QuadraticDiscriminantAnalysis())],
    ids=lambda value: getattr(getattr(value, "func", value), "__name__", ""),
)
def test_estimator_contract(check, estimator):
    check(estimator)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"solver": "eigen"},
        {"reg_param": 0.1},
        {"solver": "eigen", "shrinkage": 0.3},
        {"solver": "eigen", "shrinkage": "auto"},
        {"solver": "eigen", "covariance_estimator": OAS()},
    ],
    ids=str,
)
def test_equals_scikit_learn(data, options):
    X, y = data
    ours = QuadraticDiscriminantAnalysis(store_covariance=True, **options).fit(X, y)
    theirs = reference.QuadraticDiscriminantAnalysis(tol=0.0, store_covariance=True, **options).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-12)
    for k in range(len(ours.classes_)):
        size = np.abs(theirs.covariance_[k]).max()
        np.testing.assert_allclose(ours.covariance_[k], theirs.covariance_[k], atol=1e-9 * size)
        np.testing.assert_allclose(ours.scalings_[k], theirs.scalings_[k], atol=1e-9 * size)
        one = ours.rotations_[k] * np.sign((ours.rotations_[k] * theirs.rotations_[k]).sum(axis=0))
        np.testing.assert_allclose(one, theirs.rotations_[k], atol=1e-3)


def test_iris_in_decimetres(iris):
    X, y = iris
    with pytest.raises(np.linalg.LinAlgError, match="not full rank"):
        reference.QuadraticDiscriminantAnalysis().fit(X * 0.01, y)
    plain = QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X)
    for factor in (0.1, 0.01, 1e-9, 1e9):
        smaller = QuadraticDiscriminantAnalysis().fit(X * factor, y).predict_proba(X * factor)
        np.testing.assert_allclose(smaller, plain, atol=1e-10)


def test_units_do_not_matter(data):
    X, y = data
    scale = 10.0 ** np.random.default_rng(0).uniform(-6, 6, X.shape[1])
    a, b = QuadraticDiscriminantAnalysis().fit(X, y), QuadraticDiscriminantAnalysis().fit(X * scale, y)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X * scale), atol=1e-9)


def test_an_integer_weight_is_a_repeated_row(data):
    X, y = data
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    for options in ({}, {"covariance": "unbiased"}, {"pooling": 0.3, "shrinkage": 0.1}, {"form": "diagonal"}):
        a = QuadraticDiscriminantAnalysis(**options).fit(X, y, sample_weight=weight)
        b = QuadraticDiscriminantAnalysis(**options).fit(X.repeat(weight, axis=0), y.repeat(weight))
        np.testing.assert_allclose(a.predict_log_proba(X), b.predict_log_proba(X), rtol=1e-8, atol=1e-8)


def test_friedmans_family_ends_in_the_linear_discriminant(iris):
    X, y = iris
    pooled = QuadraticDiscriminantAnalysis(pooling=1.0).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(pooled, LinearDiscriminantAnalysis().fit(X, y).predict_proba(X), atol=1e-10)
    # Formula by hand: Σ_k(λ, γ) of the first class.
    centred = [X[y == k] - X[y == k].mean(axis=0) for k in range(3)]
    scatters = [group.T @ group for group in centred]
    mixed = (0.6 * scatters[0] + 0.4 * sum(scatters)) / (0.6 * 50 + 0.4 * 150)
    expected = 0.8 * mixed + 0.2 * np.trace(mixed) / 4 * np.eye(4)
    model = QuadraticDiscriminantAnalysis(pooling=0.4, shrinkage=0.2, store_covariance=True).fit(X, y)
    np.testing.assert_allclose(model.covariance_[0], expected, rtol=1e-10)


def test_diagonal_form_is_gaussian_naive_bayes(iris):
    X, y = iris
    naive = GaussianNB(var_smoothing=0).fit(X, y)
    ours = QuadraticDiscriminantAnalysis(form="diagonal").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), naive.predict_proba(X), atol=1e-10)


def test_what_all_classes_lack_is_dropped_with_a_warning(iris):
    X, y = iris
    plain = QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X)
    wide = np.c_[X, np.ones(150), X[:, 0] - X[:, 3]]
    with pytest.warns(CollinearityWarning, match="(?s)Column 4|columns 0, 3 and 5"):
        model = QuadraticDiscriminantAnalysis().fit(wide, y)
    np.testing.assert_allclose(model.predict_proba(wide), plain, atol=1e-8)


def test_what_one_class_lacks_is_lent_to_it_or_refused(iris):
    X, y = iris
    X = X.copy()
    X[y == 0, 2] = 1.5
    with pytest.warns(CollinearityWarning, match="class 0 is not full rank"):
        model = QuadraticDiscriminantAnalysis().fit(X, y)
    assert model.score(X, y) > 0.95
    for solver in ("svd", "eigen"):
        with pytest.raises(SingularCovarianceError, match=r"class 0 is not full rank.*column 2"):
            QuadraticDiscriminantAnalysis(solver=solver).fit(X, y)
    # Integer weights are repeated rows here too.
    weight = np.random.default_rng(0).integers(1, 3, 150)
    with pytest.warns(CollinearityWarning):
        a = QuadraticDiscriminantAnalysis().fit(X, y, weight)
    with pytest.warns(CollinearityWarning):
        b = QuadraticDiscriminantAnalysis().fit(X.repeat(weight, axis=0), y.repeat(weight))
    np.testing.assert_allclose(a.predict_log_proba(X), b.predict_log_proba(X), rtol=1e-8, atol=1e-8)


def test_one_row_of_a_class_is_refused_by_name(iris):
    X, y = iris
    keep = (y != 2) | (np.arange(150) == 149)
    with pytest.raises(DataError, match="only 1 sample in class 2"):
        QuadraticDiscriminantAnalysis().fit(X[keep], y[keep])
    assert QuadraticDiscriminantAnalysis(pooling=0.5).fit(X[keep], y[keep]).score(X[keep], y[keep]) > 0.9


@pytest.mark.parametrize("options", [{}, {"covariance": "unbiased"}, {"priors": [0.2, 0.3, 0.5]}], ids=str)
def test_leave_one_out_equals_leaving_one_out(options):
    X, y = load_wine(return_X_y=True)
    model = QuadraticDiscriminantAnalysis(**options).fit(X, y)
    left_out = [
        QuadraticDiscriminantAnalysis(**options)
        .fit(np.delete(X, i, 0), np.delete(y, i))
        .predict_log_proba(X[i : i + 1])[0]
        for i in range(0, len(y), 7)
    ]
    np.testing.assert_allclose(model.loo_predict_log_proba(X, y)[::7], left_out, rtol=1e-8, atol=1e-8)
    with pytest.raises(ParameterError, match="cross_val_predict"):
        QuadraticDiscriminantAnalysis(pooling=0.1).fit(X, y).loo_predict(X, y)


def test_learning_in_parts_and_merging(data):
    X, y = data
    whole = QuadraticDiscriminantAnalysis().fit(X, y)
    rows = np.random.default_rng(0).permutation(len(y))
    model = QuadraticDiscriminantAnalysis()
    for part in np.array_split(rows, 9):
        model.partial_fit(X[part], y[part], classes=np.unique(y))
    np.testing.assert_allclose(model.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-5, atol=1e-5)

    def half(start):
        return QuadraticDiscriminantAnalysis().fit(X[rows[start::2]], y[rows[start::2]])

    a, b = half(0).merge(half(1)), half(1).merge(half(0))
    np.testing.assert_array_equal(a.predict_log_proba(X), b.predict_log_proba(X))
    np.testing.assert_allclose(a.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-5, atol=1e-5)


def test_robust_covariance_is_the_minimum_covariance_determinant(iris):
    X, y = iris
    model = QuadraticDiscriminantAnalysis(covariance="robust").fit(X, y)
    group = X[y == 1]
    direct = MinCovDet(random_state=0).fit((group - np.median(group, axis=0)) / group.std(axis=0))
    np.testing.assert_allclose(model.means_[1], np.median(group, axis=0) + direct.location_ * group.std(axis=0))
    bad = X.copy()
    bad[:5] += 100.0
    assert QuadraticDiscriminantAnalysis(covariance="robust").fit(bad, y).score(X, y) > 0.95


def test_sparse_rows_equal_dense_rows(iris):
    X, y = iris
    plain = QuadraticDiscriminantAnalysis().fit(X, y)
    model = QuadraticDiscriminantAnalysis().fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(model.predict_log_proba(sparse.csr_array(X)), plain.predict_log_proba(X), rtol=1e-9)
    rng = np.random.default_rng(3)
    wide = sparse.random_array((900, 80), density=0.05, rng=rng, format="csr")
    labels = rng.integers(0, 2, 900)
    a = QuadraticDiscriminantAnalysis(shrinkage=0.1).fit(wide, labels)
    b = QuadraticDiscriminantAnalysis(shrinkage=0.1).fit(wide.toarray(), labels)
    np.testing.assert_allclose(a.predict_log_proba(wide), b.predict_log_proba(wide.toarray()), rtol=1e-8, atol=1e-8)


def test_missing_values_are_named(iris):
    X, y = iris
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    bad = X.copy()
    bad[7, 1] = np.inf
    with pytest.raises(DataError, match="infinity: column 1 in row 7"):
        model.predict(bad)
    with pytest.raises(DataError, match="infinity: column 1 in row 7"):
        QuadraticDiscriminantAnalysis().fit(bad, y)


def test_a_class_with_fewer_rows_than_columns_has_a_certificate():
    """Seven columns, five and two rows: the classes are whitened within the pooled directions."""
    X = np.random.default_rng(0).normal(size=(7, 7))
    with pytest.warns(CollinearityWarning):
        model = QuadraticDiscriminantAnalysis().fit(X, [1, 1, 1, 1, 1, 2, 2])
    assert "Closed form" in model.certificate_.status
