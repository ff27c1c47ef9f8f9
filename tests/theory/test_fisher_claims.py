"""What the textbooks claim of Fisher's discriminant: rows F1 to F3 of the mission, and the seeds' errors set right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, stats

from discriminant import FisherDiscriminant, LinearDiscriminantAnalysis, datasets


def _two_gaussians(seed: int = 0, n: int = 400, correlation: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    spread = np.linalg.cholesky(np.array([[1.0, correlation], [correlation, 1.0]]))
    X = rng.standard_normal((n, 2)) @ spread.T + np.outer(y, [1.5, 0.0])
    return X, y


def _scatter(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    m = X.mean(axis=0)
    within, between = np.zeros((2, X.shape[1], X.shape[1]))
    for k in np.unique(y):
        rows = X[y == k]
        centred = rows - rows.mean(axis=0)
        within += centred.T @ centred
        between += len(rows) * np.outer(rows.mean(axis=0) - m, rows.mean(axis=0) - m)
    return within, between


# F1


def test_f1_direction_is_the_inverse_scatter_times_the_difference_of_means():
    """w ∝ S_W⁻¹ (m1 − m2)."""
    X, y = _two_gaussians()
    within, _ = _scatter(X, y)
    direction = np.linalg.solve(within, X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    w = FisherDiscriminant().fit(X, y).coef_[0]
    np.testing.assert_allclose(w / np.linalg.norm(w), direction / np.linalg.norm(direction), rtol=1e-12)


@given(st.floats(0, np.pi), st.integers(0, 5))
def test_f1_no_direction_has_a_larger_criterion(angle, seed):
    """J(w) = (m2 − m1)² / (s1² + s2²) is largest at Fisher's w."""
    X, y = _two_gaussians(seed)

    def J(w):
        p, q = X[y == 0] @ w, X[y == 1] @ w
        return (q.mean() - p.mean()) ** 2 / (((p - p.mean()) ** 2).sum() + ((q - q.mean()) ** 2).sum())

    fisher = FisherDiscriminant().fit(X, y)
    assert J(fisher.coef_[0]) >= J(np.array([np.cos(angle), np.sin(angle)])) * (1 - 1e-12)
    assert fisher.criterion_ == pytest.approx(J(fisher.coef_[0]), rel=1e-10)
    assert fisher.criterion([np.cos(angle), np.sin(angle)]) == pytest.approx(
        J(np.array([np.cos(angle), np.sin(angle)])), rel=1e-8, abs=1e-12
    )


@pytest.mark.parametrize("threshold", ["gaussian", "midpoint", "mean"])
def test_f1_the_threshold_is_known_on_the_projection_and_for_w_x(threshold):
    """Decide for C1 where y = w·x ≥ −w0 (PRML 4.20)."""
    X, y = _two_gaussians(3)
    fisher = FisherDiscriminant(threshold=threshold).fit(X, y)
    right = fisher.predict(X)
    np.testing.assert_array_equal(X @ fisher.coef_[0] > fisher.score_threshold_, right == 1)
    sign = np.sign(fisher.scalings_[:, 0] @ fisher.coef_[0])
    np.testing.assert_array_equal(sign * fisher.transform(X)[:, 0] > sign * fisher.threshold_, right == 1)
    if threshold == "midpoint":
        middle = (X[y == 0].mean(axis=0) + X[y == 1].mean(axis=0)) / 2
        assert fisher.score_threshold_ == pytest.approx(fisher.coef_[0] @ middle)


def test_f1_isotropic_classes_have_the_direction_of_the_means():
    """S_W ∝ I: w ∝ m1 − m2 (D, remark 3)."""
    square = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    X = np.vstack([square, square + [3.0, 5.0]])
    y = np.repeat([0, 1], 4)
    w = FisherDiscriminant().fit(X, y).coef_[0]
    np.testing.assert_allclose(w / w[0], [1, 5 / 3], rtol=1e-13)


@pytest.mark.parametrize("priors", [None, [0.5, 0.5], [0.95, 0.05]])
def test_f1_threshold_is_where_the_fitted_gaussians_cross(priors):
    """P0 N(y0 | μ0, s0²) = P1 N(y0 | μ1, s1²), and the error of the fitted Gaussians has its minimum there."""
    rng = np.random.default_rng(3)
    X = np.vstack([rng.standard_normal((300, 3)), 2.5 * rng.standard_normal((200, 3)) + [3, 1, 0]])
    y = np.repeat(["narrow", "wide"], [300, 200])
    fisher = FisherDiscriminant(priors=priors).fit(X, y)
    projected = fisher.transform(X)[:, 0]
    fitted = [stats.norm(projected[y == k].mean(), projected[y == k].std()) for k in fisher.classes_]
    P0, P1 = fisher.priors_
    at = fisher.threshold_
    assert P0 * fitted[0].pdf(at) == pytest.approx(P1 * fitted[1].pdf(at), rel=1e-9)

    def error(threshold):
        return P0 * fitted[0].sf(threshold) + P1 * fitted[1].cdf(threshold)

    near = at + np.linspace(-0.5, 0.5, 101)
    assert (error(near) >= error(at) - 1e-15).all()
    assert ((projected > at) == (fisher.predict(X) == "wide")).all()


def test_f1_equal_variances_give_the_threshold_of_linear_discriminant_analysis():
    X, y = _two_gaussians(4)
    fisher, lda = FisherDiscriminant(threshold="pooled").fit(X, y), LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(fisher.decision_function(X), lda.decision_function(X), rtol=1e-10, atol=1e-12)


# F2


def test_f2_total_scatter_is_within_plus_between():
    """S_T = S_W + S_B, each against its definition."""
    iris = datasets.load("iris")
    fisher = FisherDiscriminant().fit(iris.X, iris.y)
    within, between = _scatter(iris.X, iris.y)
    centred = iris.X - iris.X.mean(axis=0)
    np.testing.assert_allclose(fisher.within_scatter_, within, rtol=1e-12)
    np.testing.assert_allclose(fisher.between_scatter_, between, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(fisher.total_scatter_, centred.T @ centred, rtol=1e-12)


def _four_classes() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    y = rng.integers(0, 4, 500)
    return rng.standard_normal((500, 7)) @ rng.standard_normal((7, 7)) + rng.standard_normal((4, 7))[y], y


def test_f2_axes_are_the_leading_eigenvectors():
    """S_B a = λ S_W a."""
    X, y = _four_classes()
    fisher = FisherDiscriminant().fit(X, y)
    within, between = _scatter(X, y)
    values = linalg.eigh(between, within, eigvals_only=True)[::-1]
    np.testing.assert_allclose(fisher.eigenvalues_, values[:3], rtol=1e-9)
    residual = between @ fisher.scalings_ - (within @ fisher.scalings_) * fisher.eigenvalues_
    assert np.abs(residual).max() < 1e-9 * np.abs(between @ fisher.scalings_).max()


def test_f2_at_most_k_minus_one_eigenvalues_are_not_zero():
    """D's "K largest eigenvectors" is wrong: S_B has rank K − 1, so that the K-th eigenvalue is zero."""
    X, y = _four_classes()
    within, between = _scatter(X, y)
    values = linalg.eigh(between, within, eigvals_only=True)[::-1]
    assert np.abs(values[3:]).max() < 1e-12 * values[0]
    assert FisherDiscriminant().fit(X, y).scalings_.shape == (7, 3)
    with pytest.raises(ValueError, match="n_components must be a whole number from 1 to"):
        FisherDiscriminant(n_components=4).fit(X, y)


def test_f2_trace_criterion_is_the_sum_of_the_leading_eigenvalues():
    """J(W) = Tr{(WᵗS_W W)⁻¹(WᵗS_B W)}; no other W has more, and K − 1 axes have all there is."""
    X, y = _four_classes()
    within, between = _scatter(X, y)
    everything = np.trace(np.linalg.solve(within, between))
    rng = np.random.default_rng(1)
    for m in (1, 2, 3):
        fisher = FisherDiscriminant(n_components=m).fit(X, y)
        assert fisher.criterion_ == pytest.approx(fisher.eigenvalues_.sum(), rel=1e-9)
        for _ in range(20):
            assert fisher.criterion(rng.standard_normal((7, m))) < fisher.criterion_
    assert fisher.criterion_ == pytest.approx(everything, rel=1e-9)


def test_f2_the_criterion_reads_w_transposed_s_w():
    """E (4.51) has W S Wᵗ with y = Wᵗx: of the wrong shape; right is WᵗSW, the scatter of the projections."""
    X, y = _four_classes()
    fisher = FisherDiscriminant().fit(X, y)
    W = np.random.default_rng(2).standard_normal((7, 2))
    with pytest.raises(ValueError, match="matmul"):
        W @ fisher.within_scatter_ @ W.T
    small_within, small_between = _scatter(X @ W, y)
    np.testing.assert_allclose(W.T @ fisher.within_scatter_ @ W, small_within, rtol=1e-11)
    expected = np.trace(np.linalg.solve(small_within, small_between))
    assert fisher.criterion(W) == pytest.approx(expected, rel=1e-10)
    # The criterion is that of the space spanned, whatever its basis.
    assert fisher.criterion(W @ [[2.0, 1.0], [0.0, -3.0]]) == pytest.approx(expected, rel=1e-10)


# F3


def test_f3_the_mean_difference_fails_where_columns_are_strongly_correlated():
    """E fig. 4.6: separated in the plane, overlapping on the line that joins the means."""
    X, y = _two_gaussians(correlation=0.98)
    fisher = FisherDiscriminant().fit(X, y)
    naive = FisherDiscriminant(direction="mean-difference").fit(X, y)
    difference = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    np.testing.assert_allclose(naive.scalings_[:, 0], difference / np.linalg.norm(difference), rtol=1e-12)
    assert fisher.score(X, y) > 0.99
    assert naive.score(X, y) < 0.85
    assert naive.criterion_ < 0.1 * fisher.criterion_


def test_f3_without_correlation_the_mean_difference_does_as_well():
    X, y = _two_gaussians(correlation=0.0, n=4000)
    fisher = FisherDiscriminant().fit(X, y)
    naive = FisherDiscriminant(direction="mean-difference").fit(X, y)
    assert abs(fisher.score(X, y) - naive.score(X, y)) < 0.01


def test_the_rule_positive_for_the_first_class_needs_its_mean_first():
    """E (4.38) has m2 − m1 under "C1 if w·(x − m) > 0"; that rule needs w ∝ S_W⁻¹(m1 − m2)."""
    X, y = _two_gaussians(6)
    within, _ = _scatter(X, y)
    first, second = X[y == 1], X[y == 0]  # C1 is the class that a positive score stands for: classes_[1]
    w = np.linalg.solve(within, first.mean(axis=0) - second.mean(axis=0))
    rule = (X - X.mean(axis=0)) @ w > 0
    fisher = FisherDiscriminant(threshold="mean").fit(X, y)
    assert (rule == (fisher.predict(X) == 1)).all()
    assert np.mean(rule == (y == 1)) > 0.9
    assert np.mean(((X - X.mean(axis=0)) @ -w > 0) == (y == 1)) < 0.1
