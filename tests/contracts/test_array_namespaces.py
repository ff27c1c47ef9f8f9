"""Arrays of other libraries: weights and predictions come in the library and on the device of X, and are the same."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import os
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.utils import estimator_checks, get_tags

import discriminant
from discriminant import LinearDiscriminantAnalysis, LogisticRegression, MinimumErrorClassifier, Perceptron
from discriminant.arrays import in_memory
from discriminant.data import sources
from discriminant.data.device import open_device

rng = np.random.default_rng(0)
X = np.abs(rng.normal(size=(90, 4)))
Y = (X[:, 0] > 0.6).astype(np.int64) + (X[:, 1] > 0.9)
ESTIMATORS = [
    value
    for name in discriminant.__all__
    if inspect.isclass(value := getattr(discriminant, name)) and hasattr(value, "fit")
]


@pytest.fixture(params=["array_api_strict", "torch"])
def there(request):
    library = pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    return library.asarray


def fitted(kind, rows, labels):
    model = kind(max_iter=10, rounds=1) if kind is MinimumErrorClassifier else kind()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows, labels)


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_what_was_learned_lies_where_the_rows_lie(kind, there):
    labels = (Y > 0).astype(np.int64) if kind is MinimumErrorClassifier else Y
    here, model = fitted(kind, X, labels), fitted(kind, there(X), there(labels))
    for name in ("coef_", "intercept_"):
        if hasattr(here, name):
            assert type(getattr(model, name)) is type(there(X)), name
            np.testing.assert_allclose(in_memory(getattr(model, name)), getattr(here, name), rtol=1e-9)
    for name in ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform"):
        if hasattr(here, name):
            found = getattr(model, name)(there(X))
            assert type(found) is type(there(X)), name
            np.testing.assert_allclose(in_memory(found), getattr(here, name)(X), rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(getattr(model, name)(X), getattr(here, name)(X), rtol=1e-9, atol=1e-9)
    assert model.score(there(X), there(labels)) == here.score(X, labels)


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, LogisticRegression, Perceptron])
def test_learning_goes_on_from_weights_elsewhere(kind, there, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts, here = kind(), kind()
        for part in (slice(0, 45), slice(45, 90)):
            parts.partial_fit(there(X[part]), there(Y[part]), classes=[0, 1, 2])
            here.partial_fit(X[part], Y[part], classes=[0, 1, 2])
        assert type(parts.coef_) is type(there(X))
        np.testing.assert_array_equal(in_memory(parts.coef_), here.coef_)
        discriminant.save(parts, tmp_path / "model")
        np.testing.assert_array_equal(discriminant.load(tmp_path / "model").predict(X), here.predict(X))
        if "warm_start" in parts.get_params():
            parts.set_params(warm_start=True).fit(there(X), there(Y)).fit(X, Y)
            assert type(parts.coef_) is np.ndarray
        if hasattr(parts, "sparsify"):
            np.testing.assert_array_equal(
                clone(here).fit(there(X), there(Y)).sparsify().coef_.toarray(), clone(here).fit(X, Y).coef_
            )


CHECKS = """
import sys
import warnings
from unittest import SkipTest

import discriminant
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import _yield_array_api_checks

warnings.simplefilter("ignore")
for name in sys.argv[1:]:
    model = getattr(discriminant, name)()
    if name == "MinimumErrorClassifier":
        model.set_params(max_iter=10, rounds=1)
    if name in ("LinearMachine", "Perceptron", "Adaline"):
        model.set_params(**({"optimizer": "gradient-descent"} if name == "LinearMachine" else {"max_iter": 20}))
    assert get_tags(model).array_api_support
    done = 0
    for check in _yield_array_api_checks(model):
        try:
            check(name, model)
            done += 1
        except SkipTest:
            pass
        except Exception as error:
            if type(error).__name__ == "Skipped":
                continue
            raise AssertionError(f"{name}, {check}") from error
    assert done >= 3, (name, done)
"""
FOLLOW = [
    "Adaline", "Discriminant", "FisherDiscriminant", "LeastSquaresClassifier", "LinearDiscriminantAnalysis",
    "LinearMachine", "LinearProgrammingClassifier", "LogisticRegression", "MinimumErrorClassifier", "Perceptron",
    "QuadraticDiscriminantAnalysis", "SigmoidRegressionClassifier",
]  # fmt: skip


def test_the_tag_is_set_where_it_is_true():
    declared = {kind.__name__ for kind in ESTIMATORS if get_tags(kind()).array_api_support}
    assert declared == set(FOLLOW)
    for model in (
        LogisticRegression(l1_ratio=0.5),
        LogisticRegression(penalty="jeffreys"),
        LogisticRegression(basis="quadratic"),
        LogisticRegression(coding="pairwise"),
        Perceptron(fit_intercept=False),
        LinearDiscriminantAnalysis(basis="quadratic"),
    ):
        assert not get_tags(model).array_api_support


def test_scikit_learns_checks_of_what_declares_array_api_support():
    """In a process of its own: SciPy's part of the array API is switched on before its first import."""
    pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    if not hasattr(estimator_checks, "check_array_api_same_namespace"):
        pytest.skip("these checks came with scikit-learn 1.9")
    source = str(Path(discriminant.__file__).parents[1])
    environment = {**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": source}
    run = subprocess.run([sys.executable, "-c", CHECKS, *FOLLOW], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-3000:]


@pytest.mark.parametrize("name", FOLLOW)
def test_large_rows_of_another_library_give_the_same_model_there(name, there, monkeypatch):
    monkeypatch.setitem(sources.OPENERS, "torch", f"{__name__}:opened")
    monkeypatch.setitem(sources.OPENERS, "array_api_strict", f"{__name__}:opened")
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or SimpleNamespace(opened=opened))
    kind, labels = getattr(discriminant, name), (Y > 0).astype(np.int64)
    here, model = fitted(kind, X, labels), fitted(kind, there(X), there(labels))
    absent = {"priors_"} - set(vars(model))  # of a logistic regression: they would cost a pass
    for key, value in vars(here).items():
        if key.endswith("_") and isinstance(value, np.ndarray) and key not in ("classes_", *absent):
            assert type(vars(model)[key]) is type(there(X)), key
            assert vars(model)[key].shape == value.shape
    assert np.mean(in_memory(model.predict(there(X))) == here.predict(X)) > 0.98


def opened(rows):
    source = open_device(rows)
    return None if source is None else dataclasses.replace(source, smallest=1)


def test_while_scikit_learn_dispatches_rows_must_lie_where_the_fit_was(monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    model = LogisticRegression().fit(strict.asarray(X), strict.asarray(Y))
    with (
        sklearn.config_context(array_api_dispatch=True),
        pytest.raises(ValueError, match=r"LogisticRegression\.predict\(\) must use the same namespace"),
    ):
        model.predict(X)


def test_arrays_of_other_libraries_are_told_from_numpys():
    assert in_memory([1.0, 2.0]).tolist() == [1.0, 2.0]
    strict = importlib.import_module("array_api_strict")
    assert type(in_memory(strict.asarray([1.0]))) is np.ndarray
