"""The limit of maximum likelihood on separated data, against ridge fits whose penalty is let go to zero."""

import numpy as np
import pytest

from discriminant import separability
from discriminant.errors import DataError


def ridge_fit(X, y, K, penalty):
    """Multinomial logistic regression with a tiny ridge on all but the intercepts, plain Newton: (1+d, K)."""
    Y = np.column_stack([np.ones(len(X)), X])
    r = Y.shape[1]
    W, own = np.zeros((r, K)), np.eye(K)[y]
    weight = np.tile(np.append(1e-6 * penalty, np.full(r - 1, penalty)), K)
    for _ in range(300):
        z = Y @ W
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        gradient = (Y.T @ (p - own)).T.ravel() + weight * W.T.ravel()
        hessian = np.diag(weight)
        for j in range(K):
            for k in range(K):
                part = Y.T @ ((p[:, j] * ((j == k) - p[:, k]))[:, None] * Y)
                hessian[j * r : (j + 1) * r, k * r : (k + 1) * r] += part
        step = np.linalg.solve(hessian, gradient)
        W = W - np.clip(step, -2, 2).reshape(K, r).T
        if np.abs(step).max() < 1e-12:
            break
    return W, p


@pytest.mark.parametrize("seed", range(6))
def test_limits_of_two_classes(seed):
    """Finite coefficients, probabilities and likelihood are those of a ridge that vanishes; infinite ones run away."""
    random = np.random.default_rng(seed)
    n = 60
    X = np.column_stack([random.integers(0, 2, size=n), random.normal(size=n), random.integers(-1, 2, size=n)]).astype(
        float
    )
    y = (X[:, 1] + X[:, 2] + random.logistic(size=n) > 0).astype(int)
    y[X[:, 0] == 1] = 1  # a dummy that occurs in one class only
    result = separability(X, y)
    assert result.verdict == "quasi-separable"
    assert result.columns == (0,)
    fit = result.limiting_fit()
    W, p = ridge_fit(X, y, 2, 1e-7)
    beta = W[:, 1] - W[:, 0]
    assert fit.coefficients[1] == np.inf
    assert np.isfinite(fit.coefficients[[0, 2, 3]]).all()
    assert fit.coefficients[[0, 2, 3]] == pytest.approx(beta[[0, 2, 3]], abs=1e-4)  # the ridge's own bias
    assert fit.predict_proba(X) == pytest.approx(p, abs=1e-4)
    assert fit.log_likelihood == pytest.approx(np.log(p[np.arange(n), y]).sum(), abs=1e-3)
    assert fit.boundary.tolist() == np.flatnonzero(X[:, 0] == 0).tolist()


def test_limits_of_three_classes():
    """Iris as a machine: setosa is told apart for certain, the other two keep their own logistic fit."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    result = separability(X, y)
    assert result.verdict == "quasi-separable"
    fit = result.limiting_fit()
    proba = fit.predict_proba(X)
    assert proba[y == 0] == pytest.approx(np.tile([1.0, 0.0, 0.0], (50, 1)))
    published = np.array([-42.638, -2.465, -6.681, 9.429, 18.286])  # R's glm, virginica against versicolor
    part = y > 0
    z = published[0] + X[part] @ published[1:]
    assert proba[part, 0].max() == 0.0
    assert proba[part, 2] == pytest.approx(1 / (1 + np.exp(-z)), abs=2e-3)
    assert fit.log_likelihood == pytest.approx(-11.899 / 2, abs=1e-3)
    assert np.isinf(fit.coefficients[:, 1:]).all()
    assert (fit.coefficients[:, 0] == 0).all()


def test_complete_separation_has_nothing_finite():
    X = np.array([[0.0, 5.0], [1.0, 5.5], [2.0, 4.0], [3.0, 4.5]])
    fit = separability(X, [0, 0, 1, 1]).limiting_fit()
    assert np.isinf(fit.coefficients).all()
    assert fit.log_likelihood == 0.0
    assert fit.predict_proba(X).tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]
    assert len(fit.boundary) == 0


def test_scales_and_offsets_do_not_matter():
    random = np.random.default_rng(9)
    X = np.column_stack([random.integers(0, 2, size=80), random.normal(size=80)]).astype(float)
    y = (X[:, 1] + random.logistic(size=80) > 0).astype(int)
    y[X[:, 0] == 1] = 0
    plain = separability(X, y).limiting_fit()
    moved = separability(X * [2.0**20, 2.0**-20] + [0.0, 2.0**-3], y).limiting_fit()
    assert plain.coefficients[1] == moved.coefficients[1] == -np.inf
    assert moved.coefficients[2] == pytest.approx(plain.coefficients[2] * 2.0**20, rel=1e-6)
    assert moved.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-10)


def test_overlapping_data_have_no_limit_to_speak_of():
    random = np.random.default_rng(1)
    with pytest.raises(DataError, match="estimates are finite"):
        separability(random.normal(size=(50, 2)), random.random(50) > 0.5).limiting_fit()


def test_new_points_off_the_boundary_are_certain_and_on_it_are_not():
    X = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 4.0], [1.0, 3.0], [1.0, 1.0]])
    fit = separability(X, [0, 1, 0, 1, 1]).limiting_fit()
    proba = fit.predict_proba([[0.0, 1.5], [2.0**-60, 1.5], [-(2.0**-60), 1.5]])
    assert 0 < proba[0, 1] < 1
    assert proba[1].tolist() == [0.0, 1.0]
    assert proba[2].tolist() == [1.0, 0.0]
