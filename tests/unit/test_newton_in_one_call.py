"""Small fits of two classes: all Newton steps in one compiled call, with the answers of the steps in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discriminant import LogisticRegression
from discriminant.errors import DiscriminantWarning
from discriminant.kernels import compiled
from discriminant.optimize import newton

if compiled.load() is None:
    pytest.skip("the kernels are not compiled", allow_module_level=True)

SHAPES = [(40, 2), (200, 10), (700, 40), (400, 130)]
STRENGTHS = [1e-6, 1e-2, 1.0, 1e4]


def drawn(n: int, d: int, seed: int, kind: str = "plain") -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + rng.standard_normal((n, 1))
    if kind == "units":
        X *= 10.0 ** rng.uniform(-8, 8, d)
    elif kind == "offset":
        X += 1e6
    elif kind == "dummies":
        X = np.zeros((n, d))
        X[np.arange(n), rng.integers(0, d, n)] = 1.0
    z = (X - X.mean(axis=0)) @ (rng.standard_normal(d) / np.maximum(X.std(axis=0), 1e-300)) / np.sqrt(d)
    return X, (2 * z + rng.logistic(size=n) > 0).astype(int)


def in_python(monkeypatch: pytest.MonkeyPatch, model: LogisticRegression, *args: Any, **more: Any) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr(newton, "in_one_call", lambda *_: False)
        return model.fit(*args, **more)


def objective(model: LogisticRegression, X: np.ndarray, y: np.ndarray) -> float:
    """J, the mean loss and the penalty, with sums in the widest float."""
    z = (X.astype(np.longdouble) @ model.coef_[0]) + model.intercept_[0]
    loss = np.logaddexp(np.longdouble(0), np.where(y == 1, -z, z)).mean()
    return float(loss + (model.coef_[0].astype(np.longdouble) ** 2).sum() / (2 * model.C * len(y)))


@pytest.mark.parametrize("kind", ["plain", "units", "offset", "dummies"])
@pytest.mark.parametrize("C", STRENGTHS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_call_finds_the_minimum_of_the_steps_in_python(shape, C, kind, monkeypatch):
    """argmin J is one, whoever finds it: scores agree to 1e-7 of their spread."""
    X, y = drawn(*shape, seed=3, kind=kind)
    fast = LogisticRegression(C=C).fit(X, y)
    slow = in_python(monkeypatch, LogisticRegression(C=C), X, y)
    assert fast.certificate_.converged
    found, wanted = fast.decision_function(X), slow.decision_function(X)
    np.testing.assert_allclose(found, wanted, atol=1e-7 * max(np.abs(wanted).max(), 1e-3))


@pytest.mark.parametrize("kind", ["plain", "units", "dummies"])
@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("C", STRENGTHS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_its_gap_is_never_less_than_the_truth(shape, C, tol, kind):
    """J(A) − min J ≤ gap ≤ tol·|J|, the minimum being that of a fit to the last digits."""
    X, y = drawn(*shape, seed=4, kind=kind)
    model = LogisticRegression(C=C, tol=tol).fit(X, y)
    least = objective(LogisticRegression(C=C, tol=1e-12).fit(X, y), X, y)
    certificate = model.certificate_
    assert certificate.converged
    assert certificate.gap <= tol * abs(certificate.objective)
    assert objective(model, X, y) - least <= certificate.gap + 1e-14


@pytest.mark.parametrize("how", ["weights", "zero weights", "offset", "no intercept", "float32", "strided", "soft"])
@pytest.mark.parametrize("C", [0.1, np.inf])
def test_what_a_fit_may_be_given_means_the_same_in_one_call(how, C, monkeypatch):
    """Weights, offsets, class probabilities, no intercept, any strides and float32."""
    rng = np.random.default_rng(5)
    X, y = drawn(300, 12, seed=6)
    more: dict[str, Any] = {}
    if how.endswith("weights"):
        more["sample_weight"] = rng.integers(0 if how.startswith("zero") else 1, 4, len(y)).astype(float)
    if how == "offset":
        more["offset"] = rng.standard_normal(len(y))
    if how == "float32":
        X = X.astype(np.float32)
    if how == "strided":
        X = np.repeat(X, 2, axis=1)[:, ::2]
    if how == "soft":
        p = 0.8 * y + 0.1
        y = np.column_stack([1 - p, p])
    make = lambda: LogisticRegression(C=C, fit_intercept=how != "no intercept")  # noqa: E731
    fast, slow = make().fit(X, y, **more), in_python(monkeypatch, make(), X, y, **more)
    assert fast.certificate_.converged
    np.testing.assert_allclose(fast.coef_, slow.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(fast.intercept_, slow.intercept_, rtol=1e-6, atol=1e-9)


def test_separated_classes_and_collinear_columns_go_on_in_python():
    """What the call does not know it leaves to the steps in Python, from where it stands."""
    X, _ = drawn(200, 5, seed=7)
    separated = LogisticRegression(C=np.inf)
    with pytest.warns(DiscriminantWarning, match="separated"):
        separated.fit(X, (X[:, 0] > 0).astype(int))
    assert "limit_" in vars(separated)
    y = (X[:, 0] + np.random.default_rng(8).logistic(size=200) > 0).astype(int)
    double = LogisticRegression(C=np.inf).fit(np.hstack([X, X]), y)
    assert double.certificate_.converged
    np.testing.assert_allclose(double.coef_[0, :5], double.coef_[0, 5:], atol=1e-8)
