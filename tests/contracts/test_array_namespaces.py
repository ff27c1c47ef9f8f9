"""Arrays of other libraries: weights and predictions come in the library and on the device of X, and are the same."""

from __future__ import annotations

import importlib
import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import discriminant
from discriminant import LinearDiscriminantAnalysis, LogisticRegression, MinimumErrorClassifier, Perceptron
from discriminant.arrays import in_memory

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


def test_arrays_of_other_libraries_are_told_from_numpys():
    assert in_memory([1.0, 2.0]).tolist() == [1.0, 2.0]
    strict = importlib.import_module("array_api_strict")
    assert type(in_memory(strict.asarray([1.0]))) is np.ndarray
