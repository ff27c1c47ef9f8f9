"""The books' claims about Gaussian classes (rows D1 to D4), each as a test."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, ndtr
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris

from discriminant import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from discriminant.decision import posteriors


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def pooled(X, y, unbiased=False):
    classes = np.unique(y)
    scatter = sum((len(G := X[y == k]) * np.cov(G.T, bias=True) for k in classes), np.zeros((X.shape[1],) * 2))
    return scatter / (len(y) - (len(classes) if unbiased else 0))


@pytest.mark.parametrize("covariance", ["maximum-likelihood", "unbiased"])
def test_d1_linear_weights(iris, covariance):
    """w_k = Σ⁻¹μ_k and w_k0 = −½ μ_kᵗΣ⁻¹μ_k + ln P_k, with Σ over N or N − K."""
    X, y = iris
    inverse = np.linalg.inv(pooled(X, y, covariance == "unbiased"))
    means = np.stack([X[y == k].mean(axis=0) for k in range(3)])
    priors = np.array([0.5, 0.3, 0.2])
    scores = X @ inverse @ means.T - 0.5 * np.einsum("ki,ij,kj->k", means, inverse, means) + np.log(priors)
    model = LinearDiscriminantAnalysis(covariance=covariance, priors=priors).fit(X, y)
    expected = np.exp(scores - scores.max(axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(X), expected / expected.sum(axis=1, keepdims=True), atol=1e-10)
    books = LinearDiscriminantAnalysis(solver="lsqr", covariance=covariance, priors=priors).fit(X, y)
    np.testing.assert_allclose(books.coef_, means @ inverse, rtol=1e-8)
    np.testing.assert_allclose(books.decision_function(X), scores, rtol=1e-8)


def test_d1_two_classes_have_a_sigmoid_posterior(iris):
    """P(C₁|x) = σ(w·x + w₀) with w = Σ⁻¹(μ₁ − μ₀)."""
    X, y = iris[0][50:], iris[1][50:]
    means = [X[y == k].mean(axis=0) for k in (1, 2)]
    inverse = np.linalg.inv(pooled(X, y))
    w = inverse @ (means[1] - means[0])
    w0 = -0.5 * (means[1] @ inverse @ means[1] - means[0] @ inverse @ means[0])
    model = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(X @ w + w0), atol=1e-11)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-10)


@pytest.mark.parametrize("covariance", ["maximum-likelihood", "unbiased"])
def test_d2_quadratic_scores_are_log_densities(iris, covariance):
    """ln P_k + ln N(x; μ_k, Σ_k): with −½ ln|Σ|, not the −½|Σ| of one of the seeds."""
    X, y = iris
    joint = np.column_stack(
        [
            np.log(1 / 3) + multivariate_normal(G.mean(axis=0), np.cov(G.T, bias=covariance != "unbiased")).logpdf(X)
            for G in (X[y == k] for k in range(3))
        ]
    )
    model = QuadraticDiscriminantAnalysis(covariance=covariance).fit(X, y)
    constant = 0.5 * 4 * np.log(2 * np.pi)
    np.testing.assert_allclose(model.decision_function(X), joint + constant, rtol=1e-9)


def test_d2_equal_covariances_make_it_linear():
    rng = np.random.default_rng(0)
    centred = rng.normal(size=(60, 3))
    centred -= centred.mean(axis=0)
    X, y = np.vstack([centred, centred + [1, 2, 3]]), np.repeat([0, 1], 60)
    linear, quadratic = LinearDiscriminantAnalysis().fit(X, y), QuadraticDiscriminantAnalysis().fit(X, y)
    grid = rng.normal(size=(100, 3)) * 5
    np.testing.assert_allclose(quadratic.decision_function(grid), linear.decision_function(grid), atol=1e-9)


def test_d3_logit_of_the_posterior_is_linear_and_the_probit_is_its_neighbour(iris):
    X, y = iris[0][50:], iris[1][50:]
    model = LinearDiscriminantAnalysis().fit(X, y)
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(posteriors.logit(p), model.decision_function(X), rtol=1e-6)
    z = np.linspace(-4, 4, 200)
    np.testing.assert_allclose(posteriors.probit(z), ndtr(z))
    # Φ(√(π/8) z) is the probit that matches the sigmoid's slope at 0; they differ by less than 0.02.
    assert np.abs(posteriors.probit(np.sqrt(np.pi / 8) * z) - posteriors.sigmoid(z)).max() < 0.02


def test_d3_softmax_of_the_scores_is_the_posterior(iris):
    X, y = iris
    model = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(posteriors.softmax(model.decision_function(X)), model.predict_proba(X), atol=1e-12)


def test_d4_shrinkage_helps_small_samples():
    rng = np.random.default_rng(0)
    d = 36
    train, labels = rng.normal(size=(40, d)), np.repeat([0, 1], 20)
    train[labels == 1, :3] += 1.2
    test, truth = rng.normal(size=(4000, d)), np.repeat([0, 1], 2000)
    test[truth == 1, :3] += 1.2
    plain = LinearDiscriminantAnalysis().fit(train, labels).score(test, truth)
    shrunk = LinearDiscriminantAnalysis(shrinkage="auto").fit(train, labels).score(test, truth)
    assert shrunk > plain + 0.05


def test_given_priors_only_move_the_intercept(iris):
    """w_k0 = w_k0° + log P_k′/P_k: a prior chosen at prediction equals one chosen at the fit."""
    X, y = iris
    priors = [0.1, 0.2, 0.7]
    at_fit = LinearDiscriminantAnalysis(priors=priors).fit(X, y).predict_log_proba(X)
    at_use = LinearDiscriminantAnalysis().fit(X, y).predict_log_proba(X, priors=priors)
    np.testing.assert_allclose(at_use, at_fit, rtol=1e-9, atol=1e-12)
    quadratic = QuadraticDiscriminantAnalysis(priors=priors).fit(X, y).predict_log_proba(X)
    moved = QuadraticDiscriminantAnalysis().fit(X, y).predict_log_proba(X, priors=priors)
    np.testing.assert_allclose(moved, quadratic, rtol=1e-9, atol=1e-12)


def test_the_certificate_tells_the_likelihood(iris):
    X, y = iris
    means = np.stack([X[y == k].mean(axis=0) for k in range(3)])
    density = multivariate_normal(np.zeros(4), pooled(X, y))
    expected = -np.mean(density.logpdf(X - means[y]) + np.log(1 / 3))
    certificate = LinearDiscriminantAnalysis().fit(X, y).certificate_
    assert certificate.converged
    np.testing.assert_allclose(certificate.objective, expected, rtol=1e-10)
    groups = [X[y == k] for k in range(3)]
    own = [multivariate_normal(G.mean(axis=0), np.cov(G.T, bias=True)).logpdf(G) + np.log(1 / 3) for G in groups]
    certificate = QuadraticDiscriminantAnalysis().fit(X, y).certificate_
    np.testing.assert_allclose(certificate.objective, -np.mean(np.concatenate(own)), rtol=1e-10)
    assert "Closed form" in str(certificate)
    assert np.isnan(LinearDiscriminantAnalysis(shrinkage=0.1).fit(X, y).certificate_.objective)
