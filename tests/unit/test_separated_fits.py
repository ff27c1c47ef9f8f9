"""Unpenalised logistic regression of separated classes: the limit itself, flagged, told once, whatever the tol."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import roc_auc_score

import discriminant
from discriminant import LogisticRegression
from discriminant.errors import DataError, DiscriminantWarning, ParameterError


def quasi(n=200, d=4, K=2, seed=0):
    """A dummy in column 0 that occurs in the last class only; the other columns overlap."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    X[:, 0] = random.random(n) < 0.2
    noise = random.gumbel(size=(n, K))
    y = (np.c_[np.zeros(n), X[:, 1:K]] + noise).argmax(axis=1)
    y[X[:, 0] == 1] = K - 1
    return X, y


def separated(X, y, **parameters):
    weight, offset = parameters.pop("sample_weight", None), parameters.pop("offset", None)
    with pytest.warns(DiscriminantWarning, match="no finite maximum"):
        return LogisticRegression(C=np.inf, **parameters).fit(X, y, weight, offset=offset)


@pytest.mark.parametrize("K", [2, 3, 5])
def test_the_rest_is_the_fit_of_the_undecided_rows(K):
    """What the dummy leaves undecided is fitted as if the dummy and its rows were not there."""
    X, y = quasi(n=400, d=6, K=K)
    model = separated(X, y)
    rest = X[:, 0] == 0
    plain = LogisticRegression(C=np.inf).fit(X[rest, 1:], y[rest])
    np.testing.assert_allclose(model.coef_[:, 1:], plain.coef_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, plain.intercept_, rtol=1e-8, atol=1e-9)
    assert model.coef_[-1, 0] == np.inf
    assert np.isinf(model.coef_).sum() == 1
    np.testing.assert_allclose(model.predict_proba(X)[rest], plain.predict_proba(X[rest, 1:]), atol=1e-10)
    assert (model.predict_proba(X)[~rest, -1] == 1).all()
    assert model.certificate_.objective == pytest.approx(plain.certificate_.objective * rest.mean(), rel=1e-12)
    assert model.certificate_.separability.check(X, y)


def test_no_number_depends_on_tol():
    X, y = quasi()
    models = [separated(X, y, tol=tol) for tol in (1e-1, 1e-4, 1e-8, 1e-15)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        np.testing.assert_array_equal(model.intercept_, models[0].intercept_)
        np.testing.assert_array_equal(model.decision_function(X), models[0].decision_function(X))
        assert model.discriminant_ == models[0].discriminant_


def test_complete_separation():
    X, y = load_breast_cancer(return_X_y=True)
    model = separated(X, y)
    assert np.isinf(model.coef_).all()
    assert np.isinf(model.intercept_).all()
    assert set(np.unique(model.predict_proba(X))) == {0.0, 1.0}
    assert model.score(X, y) == 1
    assert model.certificate_.objective == 0
    assert not model.certificate_.converged
    assert (model.discriminant_.predict(X) == y).all()
    np.testing.assert_allclose(model.discriminant_.predict_proba(X), model.predict_proba(X), atol=1e-15)


def test_three_irises():
    """Setosa is certain; the other two keep the contrast that R's glm gives them."""
    X, y = load_iris(return_X_y=True)
    model = separated(X, y)
    assert np.isinf(model.coef_[0]).all()
    contrast = np.r_[model.intercept_[2] - model.intercept_[1], model.coef_[2] - model.coef_[1]]
    np.testing.assert_allclose(contrast, [-42.638, -2.465, -6.681, 9.429, 18.286], atol=6e-4)
    proba = model.predict_proba(X)
    assert (proba[y == 0] == [1, 0, 0]).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-14)
    assert model.score(X, y) == pytest.approx(148 / 150)


def test_one_warning_names_columns_and_remedies():
    frame = pytest.importorskip("pandas")
    X, y = quasi()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        LogisticRegression(C=np.inf).fit(frame.DataFrame(X, columns=["smoker", "a", "b", "c"]), y)
    assert len(caught) == 1
    text = str(caught[0].message)
    for part in ("quasi-separable", "column 'smoker'", "finite C", "penalty='jeffreys'", "merge", "±inf"):
        assert part in text
    assert caught[0].filename == __file__


def test_overlapping_classes_are_not_asked_about(monkeypatch):
    """The check costs ordinary fits nothing: it is not made."""
    monkeypatch.setattr("discriminant.methods.limit.handle_separation", lambda *_: pytest.fail("asked"))
    random = np.random.default_rng(0)
    for K in (2, 3):
        X = random.normal(size=(300, 5))
        LogisticRegression(C=np.inf).fit(X, random.integers(0, K, 300))
        LogisticRegression(C=np.inf).fit(np.c_[X, X[:, 0]], random.integers(0, K, 300))
    X, y = quasi()
    LogisticRegression(C=1e6).fit(X, y)


def test_weights_offsets_and_soft_targets():
    X, y = quasi()
    random = np.random.default_rng(1)
    times = random.integers(0, 4, len(y))
    weighted = separated(X, y, sample_weight=times)
    repeated = separated(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)
    assert weighted.certificate_.objective == pytest.approx(repeated.certificate_.objective, rel=1e-12)
    plain = separated(X, y)
    np.testing.assert_allclose(separated(X, np.c_[1.0 - y, y]).coef_, plain.coef_, rtol=1e-9)
    moved = separated(X, y, offset=0.5 * X[:, 1])
    np.testing.assert_allclose(moved.coef_[0, 1:], plain.coef_[0, 1:] - [0.5, 0, 0], rtol=1e-8, atol=1e-9)
    balanced = separated(X, y, class_weight={0: 1, 1: 5})
    again = separated(X, y, sample_weight=np.where(y == 1, 5.0, 1.0))
    np.testing.assert_allclose(balanced.coef_, again.coef_, rtol=1e-12)
    corrected = separated(X, y, class_weight={0: 1, 1: 5}, correct_priors=True)
    np.testing.assert_allclose(corrected.intercept_, balanced.intercept_ - np.log(5), rtol=1e-10)
    rest = X[:, 0] == 0
    shifted = balanced.decision_function(X[rest]) - np.log(5)
    np.testing.assert_allclose(corrected.decision_function(X[rest]), shifted, atol=1e-10)


def test_certify_knows_infinite_weights():
    X, y = quasi()
    model = separated(X, y)
    found = discriminant.certify(model, X, y)
    assert found.objective == pytest.approx(model.certificate_.objective, rel=1e-12)
    assert "infimum" in found.status
    random = np.random.default_rng(0)
    assert "overlap" in discriminant.certify(model, X, random.integers(0, 2, len(y))).status


def test_without_an_intercept():
    X, y = quasi()
    model = separated(X, y, fit_intercept=False)
    plain = LogisticRegression(C=np.inf, fit_intercept=False).fit(X[X[:, 0] == 0, 1:], y[X[:, 0] == 0])
    np.testing.assert_allclose(model.coef_[:, 1:], plain.coef_, rtol=1e-8)
    assert model.intercept_ == 0
    assert model.coef_[0, 0] == np.inf


@pytest.mark.parametrize("K", [2, 3])
def test_files_and_pickles_keep_the_limit(tmp_path, K):
    X, y = quasi(K=K)
    model = separated(X, y)
    discriminant.save(model, tmp_path / "model")
    for copy in (discriminant.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.coef_, model.coef_)
        np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
        assert copy.certificate_.separability.check(X, y)
    assert len(pickle.dumps(model)) < 40_000  # the rows stay where they are


def test_predictions_of_every_kind():
    X, y = quasi()
    model = separated(X, y)
    score = model.decision_function(X)
    assert np.isfinite(score).all()
    assert (score[X[:, 0] == 1] > 1e300).all()
    assert roc_auc_score(y, score) == pytest.approx(roc_auc_score(y, model.predict_proba(X)[:, 1]), abs=1e-12)
    np.testing.assert_array_equal(model.predict(X), (score > 0).astype(int))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), rtol=1e-14)
    rows = sparse.csr_matrix(X)
    np.testing.assert_allclose(model.predict_proba(rows), model.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(separated(rows, y).coef_, model.coef_, rtol=1e-9)
    single = separated(X.astype(np.float32), y)
    assert single.coef_.dtype == single.predict_proba(X.astype(np.float32)).dtype == np.float32
    with pytest.raises(DataError, match="column 1"):
        model.predict(np.where(np.arange(4) == 1, np.nan, X[:1]))
    model.coef_ = np.ones_like(model.coef_)  # what the user sets is what counts
    model.intercept_ = np.zeros(1)
    np.testing.assert_allclose(model.decision_function(X), X.sum(axis=1), rtol=1e-12)


def test_a_later_fit_forgets_the_limit():
    X, y = quasi()
    model = separated(X, y, warm_start=True)
    model.set_params(C=1.0).fit(X, y)
    assert not hasattr(model, "limit_")
    np.testing.assert_allclose(model.coef_, LogisticRegression().fit(X, y).coef_, rtol=1e-7)


def test_columns_that_may_be_anything_are_said_to_be():
    X = np.array([[-1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0]])
    with pytest.warns(DiscriminantWarning, match="column 1 may have any weight"):
        model = LogisticRegression(C=np.inf).fit(X, [0, 0, 1, 1])
    assert model.coef_.tolist() == [[np.inf, 0.0]]
    assert model.predict_proba([[1e-9, 7.0]]).tolist() == [[0.0, 1.0]]


def test_where_the_limit_is_not_worked_out_a_sentence_says_so():
    X, y = quasi()
    with pytest.warns(DiscriminantWarning, match="not worked out with bounds"):
        LogisticRegression(C=np.inf, bounds=(0, np.inf)).fit(np.abs(X), y)


def test_factors_of_no_penalty_say_nothing():
    X, y = quasi()
    np.testing.assert_array_equal(separated(X, y, penalty_factors=np.ones(4)).coef_, separated(X, y).coef_)


@pytest.mark.parametrize("tol", [1e-4, 1e-8, 1e-12])
def test_no_proof_of_a_minimum_that_is_not_there(tol):
    """A Hessian from before the last steps must not prove what the one at hand would not."""
    from discriminant.data import make_blocks
    from discriminant.data.scaling import choose_scaling
    from discriminant.objective import logistic_objective
    from discriminant.optimize.newton import Trace, newton_to_gap

    for K in (2, 3):
        X, y = quasi(n=300, K=K)
        objective = logistic_objective(make_blocks(X, y.astype(np.uint8)), K)
        objective = objective.scaled(choose_scaling(objective.blocks, True))
        zero = np.zeros((objective.n_parameters, objective.n_outputs))
        assert newton_to_gap(objective, zero, Trace(), tol).gap > 0.1


def test_rows_that_are_not_in_memory(tmp_path):
    X, y = quasi(n=300)
    np.savetxt(tmp_path / "rows.csv", np.c_[X, y], delimiter=",", header="a,b,c,d,ill", comments="", fmt="%.6f")
    rows = discriminant.scan(tmp_path / "rows.csv", target="ill", hold=False)
    with pytest.warns(DiscriminantWarning, match="not in memory"):
        model = LogisticRegression(C=np.inf).fit(rows)
    assert not model.certificate_.converged


@pytest.mark.parametrize("tol", [1e-3, 1e-8, 1e-13])
def test_a_single_row_that_separates_is_found(tol):
    """The bound that proves a minimum is exact here but for rounding, which must not decide."""
    for seed in range(6):
        random = np.random.default_rng(seed)
        X, y = random.normal(size=(100, 2)), random.integers(0, 2 + seed % 2, 100)
        alone = np.zeros(100)
        alone[np.flatnonzero(y == 0)[0]] = 1
        model = separated(np.c_[alone, X], y, tol=tol)
        assert np.isinf(model.coef_[:, 0]).sum() == 1


def test_weights_that_separate_many_columns_spare_the_exact_arithmetic_on_them(monkeypatch):
    """More columns than rows: the verdict needs none of the relations among them."""
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((60, 150)), rng.integers(0, 3, 60)
    monkeypatch.setattr(
        "discriminant.inference.separability.independent_columns", lambda *_: pytest.fail("exact rank asked for")
    )
    with pytest.warns(DiscriminantWarning, match="separated"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.certificate_.separability.verdict == "separable"
    assert (model.predict(X) == y).all()


def test_an_offset_is_not_dropped_where_it_has_no_meaning():
    X, y = quasi()
    with pytest.raises(ParameterError, match="offset= has no effect with penalty='jeffreys'"):
        LogisticRegression(penalty="jeffreys").fit(X, y, offset=np.ones(len(y)))
