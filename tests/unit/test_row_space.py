"""Fewer rows than columns: closed forms go through the rows' inner products and give what the d × d formulas give."""

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse

import discriminant.methods.moments as moments_methods
from discriminant import (
    FisherDiscriminant,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    load,
    save,
)
from discriminant.data import make_blocks
from discriminant.errors import CollinearityWarning, DataError
from discriminant.gaussian.moments import row_moments
from discriminant.gaussian.row_least_squares import row_least_squares

pytestmark = pytest.mark.filterwarnings("ignore::discriminant.errors.CollinearityWarning")

MODELS = {
    "LDA": LinearDiscriminantAnalysis(),
    "LDA unbiased": LinearDiscriminantAnalysis(covariance="unbiased"),
    "LDA 0.1": LinearDiscriminantAnalysis(shrinkage=0.1),
    "LDA Ledoit-Wolf": LinearDiscriminantAnalysis(shrinkage="auto"),
    "LDA OAS": LinearDiscriminantAnalysis(shrinkage="oas"),
    "LDA lsqr": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    "QDA": QuadraticDiscriminantAnalysis(),
    "QDA reg_param": QuadraticDiscriminantAnalysis(reg_param=0.1),
    "QDA 0.1": QuadraticDiscriminantAnalysis(shrinkage=0.1),
    "QDA Ledoit-Wolf": QuadraticDiscriminantAnalysis(shrinkage="auto"),
    "QDA pooled": QuadraticDiscriminantAnalysis(pooling=0.5),
    "QDA pooled, shrunken": QuadraticDiscriminantAnalysis(pooling=0.5, shrinkage=0.1, covariance="unbiased"),
    "Fisher": FisherDiscriminant(),
    "ridge": LeastSquaresClassifier(alpha=1.0),
    "small ridge": LeastSquaresClassifier(alpha=1e-6),
    "pairs": LeastSquaresClassifier("pairwise", alpha=0.3),
    "least squares": LeastSquaresClassifier(),
}


ISOTROPIC = ("ridge", "small ridge", "pairs", "QDA reg_param")  # whose penalty is in the units of X


def _table(kind):
    rng = np.random.default_rng(7)
    n, d, K = 30, 100, 3
    y = np.arange(n) % K
    X, weight = rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(K, d))[y], None
    if kind == "dependent":
        X = X[:, :5] @ rng.normal(size=(5, d))
    elif kind == "doubled columns":
        X[:, d // 2 :] = X[:, : d // 2]
    elif kind == "doubled rows":
        X[n // 2 :] = X[: n // 2]
    elif kind == "few large columns":
        X[:, :5] *= 1e8
    elif kind == "large units":
        X *= 10.0 ** rng.uniform(0, 8, d)
    elif kind == "far away":
        X += 1e8
    elif kind == "weights":
        weight = rng.uniform(0.2, 3, n) * (np.arange(n) > 2)
    elif kind == "float32":
        X = (X + 3).astype(np.float32)
    elif kind == "constant columns":
        X[:, :12] = 3.0
    elif kind == "two classes":
        y = y % 2
    return X, y, weight


KINDS = (
    "plain", "dependent", "doubled columns", "doubled rows", "few large columns", "large units", "far away", "weights",
    "float32", "constant columns", "two classes",
)  # fmt: skip


def _dense(monkeypatch):
    monkeypatch.setattr(moments_methods, "is_wide", lambda n, d: False)


def _fresh(name):
    model = MODELS[name]
    return type(model)(**model.get_params())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MODELS)
def test_the_rows_give_what_the_scatter_gives(name, kind, monkeypatch):
    if kind == "large units" and name in ISOTROPIC:
        pytest.skip("the d × d formula loses what is asked here; see the next test")
    X, y, weight = _table(kind)
    inside = np.vstack([X, (X[::-1] + X) / 2])
    wide = _fresh(name).fit(X, y, weight)
    assert wide.moments_.rows is not None
    found, proof = wide.decision_function(inside), wide.certificate_
    assert proof.converged
    _dense(monkeypatch)
    dense = _fresh(name).fit(X, y, weight)
    assert dense.moments_.rows is None
    expected = dense.decision_function(inside)
    # κ of the d × d formulas: a penalty of 1e-6 beside eigenvalues of 1e3 leaves them seven digits.
    limit = 1e-7 if name == "small ridge" else 1e-10
    np.testing.assert_allclose(found, expected, rtol=0, atol=limit * np.abs(expected).max())
    if np.isfinite(proof.objective) and np.isfinite(dense.certificate_.objective):
        assert proof.objective == pytest.approx(dense.certificate_.objective, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("alpha", [1e-6, 1.0])
def test_a_penalty_beside_columns_of_many_units_keeps_its_digits(alpha):
    """z − t = −αu, and u ≤ t/λ with λ, the least eigenvalue of the rows' inner products, above 1e8."""
    X, y, _ = _table("large units")
    z = LeastSquaresClassifier(alpha=alpha).fit(X, y).decision_function(X)
    np.testing.assert_allclose(z, np.eye(3)[y], rtol=0, atol=1e-8 * alpha + 1e-12)


@pytest.mark.parametrize("name", ["LDA", "ridge", "pairs", "least squares"])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_is_the_same(name, weighted, monkeypatch):
    X, y, weight = _table("weights" if weighted else "plain")
    if weighted:
        weight = weight + 0.1
    wide = _fresh(name).fit(X, y, weight)
    method = "loo_predict_log_proba" if name == "LDA" else "loo_decision_function"
    found = getattr(wide, method)(X, y, weight)
    _dense(monkeypatch)
    expected = getattr(_fresh(name).fit(X, y, weight), method)(X, y, weight)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())


def test_leverages_are_the_same_and_no_table_is_left_to_estimate(monkeypatch):
    X, y, _ = _table("two classes")
    wide = LeastSquaresClassifier(alpha=2.0).fit(X, y)
    leverages = wide.leverages(X)
    with pytest.raises(DataError, match="leave nothing to estimate errors from"):
        wide.summary(X, y)
    _dense(monkeypatch)
    np.testing.assert_allclose(leverages, LeastSquaresClassifier(alpha=2.0).fit(X, y).leverages(X), rtol=1e-10)


@pytest.mark.parametrize("name", ["LDA", "LDA 0.1", "LDA OAS", "QDA 0.1", "Fisher", "ridge"])
def test_models_of_few_rows_merge(name):
    """The scatter is formed when another model's rows are added to it."""
    X, y, _ = _table("plain")
    one, other = _fresh(name).fit(X[:12], y[:12]), _fresh(name).fit(X[12:], y[12:])
    whole = _fresh(name).fit(X, y)
    np.testing.assert_allclose(one.merge(other).decision_function(X), whole.decision_function(X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", MODELS)
def test_models_of_few_rows_are_saved(name, tmp_path):
    X, y, _ = _table("plain")
    model = _fresh(name).fit(X, y)
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("columns", [1, 2, 5, 100])
def test_independent_columns_weigh_by_their_variance(columns):
    """w = (m_k − m_1)/σ², whatever the number of classes beside that of columns."""
    X, y, _ = _table("plain")
    X, y = X[:, :columns], np.arange(30) % 4
    model = LinearDiscriminantAnalysis(form="diagonal").fit(X, y)
    means = np.array([X[y == k].mean(axis=0) for k in range(4)])
    variance = ((X - means[y]) ** 2).mean(axis=0)
    expected = -((X[:, None] - means) ** 2 / variance).sum(axis=2) / 2 + np.log(np.bincount(y) / 30)
    found = model.decision_function(X)
    np.testing.assert_allclose(found - found[:, :1], expected - expected[:, :1], rtol=1e-9, atol=1e-10)


def test_sparse_rows_are_the_same():
    X, y, _ = _table("plain")
    X[np.abs(X) < 1.0] = 0.0
    for name in ("LDA Ledoit-Wolf", "QDA reg_param", "ridge"):
        dense, thin = _fresh(name).fit(X, y), _fresh(name).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(thin.decision_function(X), dense.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_no_matrix_of_all_columns_is_formed(name):
    """3,000 columns: a d × d matrix would be 72 MB, the rows are 0.5 MB."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3_000)), np.arange(20) % 2
    X[y == 1, :9] += 2
    tracemalloc.start()
    try:
        model = _fresh(name).fit(X, y)
        model.predict(X)
        assert model.certificate_.converged
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_matrices_of_all_columns_are_there_when_asked_for(monkeypatch):
    X, y, _ = _table("plain")
    options = {"shrinkage": 0.1, "store_covariance": True}
    lda, qda = LinearDiscriminantAnalysis(**options).fit(X, y), QuadraticDiscriminantAnalysis(**options).fit(X, y)
    fisher, axes = FisherDiscriminant().fit(X, y), qda.scalings_
    _dense(monkeypatch)
    np.testing.assert_allclose(lda.covariance_, LinearDiscriminantAnalysis(**options).fit(X, y).covariance_, atol=1e-12)
    plain = QuadraticDiscriminantAnalysis(**options).fit(X, y)
    for k in range(3):
        np.testing.assert_allclose(qda.covariance_[k], plain.covariance_[k], atol=1e-12)
        np.testing.assert_allclose(axes[k], plain.scalings_[k], atol=1e-11)
    expected = FisherDiscriminant().fit(X, y)
    np.testing.assert_allclose(fisher.within_scatter_, expected.within_scatter_, atol=1e-11)
    assert fisher.criterion(X[0]) == pytest.approx(expected.criterion(X[0]), rel=1e-10)


def test_a_pseudo_inverse_is_told_and_a_penalty_is_quiet():
    X, y, _ = _table("plain")
    for model in (LinearDiscriminantAnalysis(), LeastSquaresClassifier(), FisherDiscriminant()):
        with pytest.warns(CollinearityWarning, match="100 columns and 30 rows"):
            model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearDiscriminantAnalysis(shrinkage="auto").fit(X, y)
        LeastSquaresClassifier(alpha=1.0).fit(X, y)


def test_a_penalty_of_any_size_keeps_all_digits_of_rows_in_any_units():
    """w = V s/(s² + α) Uᵗ S off a singular value decomposition: what single precision loses is brought back."""
    rng = np.random.default_rng(4)
    y, weight = rng.integers(3, size=90), rng.uniform(0.2, 3.0, 90)
    for scale, alpha in ((1.0, 1.0), (1e4, 1e8), (1e8, 1e16), (1e-8, 1e-16), (1e-8, 1e30), (1.0, 1e-9)):
        X = scale * (rng.standard_normal((90, 400)) + y[:, None] * rng.standard_normal(400) + 30.0)
        share = np.bincount(y, weight) / weight.sum()
        root = np.sqrt(weight)[:, None]
        U, s, V = np.linalg.svd(root * (X - weight @ X / weight.sum()), full_matrices=False)
        exact = V.T @ ((s / (s**2 + alpha))[:, None] * (U.T @ (root * (np.eye(3)[y] - share))))
        problem = row_least_squares(row_moments(make_blocks(X, y, weight), 3), alpha, np.ones(3, dtype=bool))
        slopes = problem.weights(np.eye(3))[1:]
        np.testing.assert_allclose(slopes, exact, rtol=0, atol=1e-12 * np.abs(exact).max())
