"""``patch_sklearn``: scikit-learn's names, our fits, the same answers."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from inspect import signature
from unittest import SkipTest

import numpy as np
import pytest
import sklearn
from sklearn import discriminant_analysis, linear_model, pipeline, svm
from sklearn.base import clone, is_classifier
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, KFold, _validation, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder, QuantileTransformer, StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import discriminant
from discriminant import patch, patch_folds
from discriminant.methods.logistic import Logistic

OLD = "multi_class" in signature(linear_model.LogisticRegression).parameters  # before scikit-learn 1.8
CV = {"scoring": "accuracy", "cv": 3, "Cs": 4}
if not OLD:
    CV |= {"l1_ratios": (0,), "use_legacy_attributes": True}
LASSO = {"penalty": "l1"} if OLD else {"l1_ratio": 1.0}
HERE = {  # settings whose answer is promised: (original, parameters)
    "ridge": (linear_model.LogisticRegression, {"C": 0.3, "tol": 1e-10, "max_iter": 5000}),
    "weights": (linear_model.LogisticRegression, {"class_weight": "balanced", "tol": 1e-10, "max_iter": 5000}),
    "origin": (linear_model.LogisticRegression, {"fit_intercept": False, "tol": 1e-10, "max_iter": 5000}),
    "lasso": (linear_model.LogisticRegression, {**LASSO, "solver": "saga", "tol": 1e-12, "max_iter": 100_000}),
    "cv": (linear_model.LogisticRegressionCV, {**CV, "tol": 1e-10, "max_iter": 5000}),
    "lda": (discriminant_analysis.LinearDiscriminantAnalysis, {}),
    "lda-lsqr": (discriminant_analysis.LinearDiscriminantAnalysis, {"solver": "lsqr", "shrinkage": "auto"}),
    "lda-eigen": (discriminant_analysis.LinearDiscriminantAnalysis, {"solver": "eigen", "n_components": 1}),
    "qda": (discriminant_analysis.QuadraticDiscriminantAnalysis, {"reg_param": 0.1, "store_covariance": True}),
    "svc": (svm.LinearSVC, {"tol": 1e-10, "max_iter": 1_000_000}),
    "hinge": (svm.LinearSVC, {"loss": "hinge", "tol": 1e-10, "max_iter": 10_000_000, "C": 0.1}),
    "least-squares": (linear_model.RidgeClassifier, {"alpha": 2.0, "class_weight": "balanced"}),
}
ELSEWHERE = {  # settings whose answer is scikit-learn's own
    "liblinear": (linear_model.LogisticRegression, {"solver": "liblinear"}, "penalises the intercept"),
    "eigen": (
        discriminant_analysis.LinearDiscriminantAnalysis,
        {"solver": "eigen", "shrinkage": 0.3},
        "total covariance",
    ),
    "positive": (linear_model.RidgeClassifier, {"positive": True}, "bounds the weights"),
    "shuffled": (linear_model.Perceptron, {}, "order of shuffled rows"),
    "crammer": (svm.LinearSVC, {"multi_class": "crammer_singer", "random_state": 0, "C": 0.01}, "liblinear's own"),
}


@pytest.fixture
def patched():
    discriminant.patch_sklearn()
    yield
    discriminant.unpatch_sklearn()


def rows(n_classes=2, dtype=np.float64):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(200, 5)) @ rng.normal(size=(5, 5))
    y = (X @ rng.normal(size=(5, n_classes)) / 2 + rng.gumbel(size=(200, n_classes))).argmax(axis=1)
    return X.astype(dtype), np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", HERE)
def test_promised_settings_are_fitted_here_with_the_same_answer(patched, capsys, name, n_classes):
    original, parameters = HERE[name]
    discriminant.patch_sklearn(verbose=True)
    X, y = rows(n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = original(**parameters).fit(X, y)
        ours = getattr(patch, original.__name__)(**parameters).fit(X, y)
    assert "by discriminant: the same answer" in capsys.readouterr().err
    for attribute in (word for word in vars(theirs) if word.endswith("_") and not word.startswith("_")):
        if attribute in ("n_iter_", "scalings_", "rotations_", "solver_"):
            continue
        mine, reference = getattr(ours, attribute), getattr(theirs, attribute)
        assert type(mine) is type(reference), attribute
        if isinstance(reference, np.ndarray) and reference.dtype.kind == "f":
            assert mine.shape == reference.shape, attribute
            assert mine.dtype == reference.dtype, attribute
            np.testing.assert_allclose(mine, reference, atol=2e-4 * np.abs(reference).max(), err_msg=attribute)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.99
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_other_settings_are_fitted_by_scikit_learn_to_the_bit(patched, capsys, name):
    original, parameters, why = ELSEWHERE[name]
    discriminant.patch_sklearn(verbose=True)
    X, y = rows()
    theirs = original(**parameters).fit(X, y)
    ours = getattr(patch, original.__name__)(**parameters).fit(X, y)
    said = capsys.readouterr().err
    assert "by scikit-learn" in said
    assert why in said
    assert (ours.coef_ == theirs.coef_).all()


def test_unshuffled_perceptrons_of_two_classes_agree_to_the_bit(patched, capsys):
    discriminant.patch_sklearn(verbose=True)
    X, _ = rows()
    y = (X[:, 0] > X[:, 0].mean()).astype(int)  # of classes that nothing separates ours warns, and scikit-learn fits
    theirs = patch.Perceptron._original(shuffle=False).fit(X, y)
    ours = linear_model.Perceptron(shuffle=False).fit(X, y)
    assert "by discriminant" in capsys.readouterr().err
    assert (ours.coef_ == theirs.coef_).all()
    assert ours.t_ == theirs.t_
    assert (ours.partial_fit(X, y).coef_ == theirs.partial_fit(X, y).coef_).all()


def test_names_are_patched_and_given_back():
    original = linear_model.LogisticRegression
    discriminant.patch_sklearn()
    try:
        assert linear_model.LogisticRegression is patch.LogisticRegression
        assert isinstance(original(), linear_model.LogisticRegression)
        assert isinstance(linear_model.LogisticRegression(), original)
        assert issubclass(original, linear_model.LogisticRegression)

        class Mine(linear_model.LogisticRegression):
            pass

        assert not isinstance(original(), Mine)
    finally:
        discriminant.unpatch_sklearn()
    assert linear_model.LogisticRegression is original


def test_clones_pickles_and_searches_work_under_the_patch(patched):
    X, y = rows(3)
    model = linear_model.LogisticRegression(C=2.0)
    assert type(clone(model)) is patch.LogisticRegression
    assert is_classifier(model)
    fitted = model.fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict_proba(X) == fitted.predict_proba(X)).all()
    search = GridSearchCV(linear_model.LogisticRegression(), {"C": [0.1, 1.0]}, cv=3).fit(X, y)
    assert type(search.best_estimator_) is patch.LogisticRegression
    with sklearn.config_context(transform_output="default"):
        linear_model.LogisticRegression().fit(X, y)


def test_a_search_over_c_scores_by_the_scorer_that_it_was_given(patched):
    X, y = rows()
    ours = linear_model.LogisticRegressionCV(**{**CV, "scoring": "neg_log_loss"}).fit(X, y)
    assert ours.score(X, y) == pytest.approx(-log_loss(y, ours.predict_proba(X)))


def test_a_wrong_parameter_and_wrong_data_get_scikit_learns_own_words(patched):
    X, y = rows()
    with pytest.raises(sklearn.utils._param_validation.InvalidParameterError, match="'C' parameter"):
        linear_model.LogisticRegression(C=-1.0).fit(X, y)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        linear_model.LogisticRegression().fit(X, y)


def test_float32_rows_give_float32_weights(patched):
    X, y = rows(dtype=np.float32)
    assert linear_model.LogisticRegression().fit(X, y).coef_.dtype == np.float32


def test_separated_classes_without_a_penalty_stay_scikit_learns(patched):
    X, y = np.arange(10.0)[:, None], np.arange(10) > 4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isfinite(linear_model.LogisticRegression(C=np.inf).fit(X, y).coef_).all()


@pytest.mark.parametrize(
    "kind",
    [
        linear_model.LogisticRegression,
        linear_model.RidgeClassifier,
        discriminant_analysis.LinearDiscriminantAnalysis,
        discriminant_analysis.QuadraticDiscriminantAnalysis,
        svm.LinearSVC,
    ],
)
def test_scikit_learns_contract_holds_under_the_patch(kind):
    for model, check in estimator_checks_generator(getattr(patch, kind.__name__)()):
        if kind is linear_model.RidgeClassifier and check.func.__name__ == "check_non_transformer_estimators_n_iter":
            continue  # scikit-learn's own fails it too: a closed form counts no steps
        with warnings.catch_warnings(), suppress(SkipTest):  # a check that is skipped skips no other
            warnings.simplefilter("ignore")
            check(model)


def test_a_script_runs_under_the_patch(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nfrom sklearn.linear_model import LogisticRegression\nfrom sklearn.datasets import load_iris\n"
        "X, y = load_iris(return_X_y=True)\n"
        "print(LogisticRegression.__module__, LogisticRegression().fit(X, y).score(X, y) > 0.9, sys.argv[1:])\n"
    )
    command = [sys.executable, "-m", "discriminant", "--verbose", str(script), "a", "b"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "discriminant.patch True ['a', 'b']"
    assert "LogisticRegression.fit by discriminant" in done.stderr


def test_the_module_is_the_command_line():
    done = subprocess.run(
        [sys.executable, "-m", "discriminant", "--version"], capture_output=True, text=True, check=True
    )
    assert discriminant.__version__ in done.stdout


# Searches: the copies of a fold, and what fits of it have in common, are made once


def many_rows(n=20_000, d=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.1 * rng.normal(size=(d, d)))
    return X, (X @ rng.normal(size=d) / 8 + rng.logistic(size=n) > 0).astype(int)


def search(model, name, X, y, **options):
    found = GridSearchCV(model, {name: np.logspace(-4, 3, 5)}, cv=3, scoring="neg_log_loss", **options).fit(X, y)
    return np.array([found.cv_results_[f"split{k}_test_score"] for k in range(3)]), found


@pytest.mark.parametrize("scaled", [False, True], ids=["alone", "pipeline"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_search_gives_the_scores_of_converged_fits(n_jobs, scaled):
    """Log losses of every fold and C are those that scikit-learn's fits to 1e-10 have."""
    X, y = many_rows()
    original = linear_model.LogisticRegression

    def scores(kind, n_jobs=None, **options):
        model = kind(**options)
        model = make_pipeline(StandardScaler(), model) if scaled else model
        return search(model, f"{kind.__name__.lower()}__C" if scaled else "C", X, y, n_jobs=n_jobs)

    theirs, chosen = scores(original, solver="newton-cholesky", tol=1e-10)
    discriminant.patch_sklearn()
    try:
        ours, found = scores(linear_model.LogisticRegression, n_jobs)
    finally:
        discriminant.unpatch_sklearn()
    # A gap of 1e-8 on the training rows leaves 1e-4 of the weights, and a slope of J on the test rows times that.
    np.testing.assert_allclose(ours, theirs, rtol=3e-5)
    assert found.best_params_ == chosen.best_params_


def test_a_search_copies_and_scales_the_rows_of_a_fold_once(patched, monkeypatch):
    X, y = many_rows()
    scaled, copied = [], []
    fit, take = StandardScaler.fit, _validation._safe_split.__wrapped__
    monkeypatch.setattr(StandardScaler, "fit", lambda self, *args: scaled.append(1) or fit(self, *args))
    counted = patch_folds.shared_split(lambda *args: copied.append(1) or take(*args))
    monkeypatch.setattr(_validation, "_safe_split", counted)
    search(make_pipeline(StandardScaler(), linear_model.LogisticRegression()), "logisticregression__C", X, y)
    assert len(copied) == 6  # three folds, training and test rows
    assert len(scaled) == 3 + 1  # and the last fit, of all rows
    assert patch_folds.find_fold(X) == (None, None)


def test_a_search_with_jobs_fits_in_this_process_to_the_same_bits(patched, capsys):
    discriminant.patch_sklearn(verbose=True)
    X, y = many_rows(4_000, 5)
    filters = [(action, category) for action, _, category, *_ in warnings.filters]
    alone, _ = search(linear_model.LogisticRegression(), "C", X, y)
    together, _ = search(linear_model.LogisticRegression(), "C", X, y, n_jobs=4)
    assert (alone == together).all()
    assert capsys.readouterr().err.count("by discriminant") == 2 * (15 + 1)
    assert [(action, category) for action, _, category, *_ in warnings.filters] == filters


def test_two_searches_of_the_same_rows_at_once_keep_to_their_labels(patched):
    X, y = many_rows(4_000, 5)
    z = (X[:, 0] > 0).astype(int)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda labels: search(linear_model.LogisticRegression(), "C", X, labels)[0], (y, z)))
    for labels, scores in zip((y, z), found, strict=True):
        assert (scores == search(linear_model.LogisticRegression(), "C", X, labels)[0]).all()


def test_a_second_search_sees_rows_that_have_changed(patched):
    X, y = many_rows()
    splits = list(KFold(3).split(X))
    model, grid = linear_model.LogisticRegression(), {"C": [0.1, 1.0]}
    first = GridSearchCV(model, grid, cv=splits).fit(X, y).best_score_
    X[:] = np.random.default_rng(1).normal(size=X.shape)
    assert GridSearchCV(model, grid, cv=splits).fit(X, y).best_score_ < 0.55 < first


@pytest.mark.parametrize(
    "step", [StandardScaler(copy=False), FunctionTransformer(np.negative), QuantileTransformer(n_quantiles=50)]
)
def test_steps_that_may_change_rows_or_draw_get_copies_of_their_own(patched, step):
    X, y = many_rows(4_000, 5)
    model = make_pipeline(step, linear_model.LogisticRegression())
    assert not patch_folds._keeps_rows(model)
    scores, _ = search(model, "logisticregression__C", X, y)
    assert np.isfinite(scores).all()


def test_steps_that_differ_inside_a_long_parameter_are_different_steps(patched):
    """A long array shows its ends only where it is printed."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3_000, size=(4_000, 1)).astype(float)
    y = (X[:, 0] + 300 * rng.normal(size=4_000) > 1_500).astype(int)
    forth = np.arange(3_000.0)
    back = np.concatenate([forth[:10], forth[10:-10] + 0.5, forth[-10:]])  # knows only the ends
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    model = make_pipeline(encoder, linear_model.LogisticRegression(solver="newton-cholesky"))
    grid = {"ordinalencoder__categories": [[forth], [back]]}
    found = GridSearchCV(model, grid, cv=3, scoring="neg_log_loss").fit(X, y).cv_results_["mean_test_score"]
    for categories, score in zip((forth, back), found, strict=True):
        alone = model.set_params(ordinalencoder__categories=[categories])
        assert cross_val_score(alone, X, y, cv=3, scoring="neg_log_loss").mean() == pytest.approx(score, rel=1e-9)


def test_searches_are_scikit_learns_again_afterwards():
    before = [getattr(place, name) for place, name, *_ in patch_folds.HOOKS]
    discriminant.patch_sklearn()
    assert GridSearchCV.fit is not before[0]
    discriminant.unpatch_sklearn()
    assert [getattr(place, name) for place, name, *_ in patch_folds.HOOKS] == before


@pytest.mark.parametrize("gone", [(_validation, "_safe_split"), (pipeline, "_fit_transform_one")])
def test_a_version_with_other_names_inside_searches_its_own_way(monkeypatch, gone):
    """The patch leans on names that scikit-learn may rename: then it shares nothing between the fits of a search."""
    X, y = many_rows(2_000, 5)
    with monkeypatch.context() as without:
        without.delattr(*gone)
        hooks = patch_folds._hooks()
    assert hooks == ()
    monkeypatch.setattr(patch_folds, "HOOKS", hooks)
    discriminant.patch_sklearn()
    try:
        assert not hasattr(_validation._safe_split, "__wrapped__")
        found = GridSearchCV(linear_model.LogisticRegression(), {"C": [0.1, 1.0]}, cv=3).fit(X, y)
        copy = pickle.loads(pickle.dumps(found))  # a worker's way in
    finally:
        discriminant.unpatch_sklearn()
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()
    assert copy.best_params_ == found.best_params_


@pytest.mark.parametrize("intercept", [True, False])
def test_fits_of_rows_that_remember_do_not_depend_on_their_order(intercept):
    """A fit ends at the optimum, with a proof, and to the bit where a fit of other order does."""
    X, y = many_rows()
    grid = np.logspace(-7, 6, 8)

    def fits(order):
        sample = discriminant.LogisticRegression()._sample(X, y, None)
        sample.blocks.remembering()
        return {C: Logistic(C=C, fit_intercept=intercept).fit(sample).state for C in order}

    there, back = fits(grid), fits(grid[::-1])
    for C in grid:
        assert (there[C]["coef_"] == back[C]["coef_"]).all()
        exact = discriminant.LogisticRegression(C=C, fit_intercept=intercept, tol=1e-13).fit(X, y)
        proof = there[C]["certificate_"]
        assert proof.converged
        J = exact.certificate_.objective
        assert -1e-12 * J <= proof.objective - J <= proof.gap + 1e-12 * J
        np.testing.assert_allclose(there[C]["coef_"], exact.coef_, atol=3e-4)  # of columns of spread one
