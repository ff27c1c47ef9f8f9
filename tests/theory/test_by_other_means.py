"""Claims of the textbooks computed a second way, with NumPy and SciPy alone, and then compared with the package."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logit, ndtr
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris

import discriminant as ds
from discriminant.bases import Gaussian, HalfPlane, Log, Radial, Sine, Step
from discriminant.decision import posteriors
from discriminant.errors import DiscriminantWarning
from discriminant.optimize import GradientDescent, Inverse
from discriminant.penalties import Ridge
from theory import transcriptions as naive

IRIS, SPECIES = load_iris(return_X_y=True)
quiet = pytest.mark.filterwarnings("ignore::discriminant.errors.DiscriminantWarning")


def augmented(X):
    return np.column_stack([np.ones(len(X)), X])


def three_clouds(seed=0, n=60, spread=0.5):
    """Three classes around the corners of a triangle."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return np.array([[-2.0, -1.0], [2.2, -1.0], [0.1, 2.3]])[y] + spread * rng.normal(size=(n, 2)), y


def descended(value, slope, start):
    """The minimiser of a smooth convex function, by SciPy."""
    found = minimize(value, start, jac=slope, method="BFGS", options={"gtol": 1e-10, "maxiter": 5000})
    return found.x


# Geometry and bases


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 4), st.floats(0, 1))
def test_g3_what_lies_between_two_points_of_a_region_lies_in_it(seed, K, d, share):
    """x_A, x_B ∈ R_k: g_k(x̂) = λ g_k(x_A) + (1 − λ) g_k(x_B), hence x̂ ∈ R_k; g by hand, decisions by the package."""
    rng = np.random.default_rng(seed)
    A, ends = rng.normal(size=(1 + d, K)), 3 * rng.normal(size=(2, d))
    g = augmented(ends) @ A
    assume(g[0].argmax() == g[1].argmax())
    between = share * ends[0] + (1 - share) * ends[1]
    k, mixed = g[0].argmax(), share * g[0] + (1 - share) * g[1]
    assume(np.sort(mixed)[-1] - np.sort(mixed)[-2] > 1e-9)
    assert mixed.argmax() == k
    weights = A if K > 2 else A[:, 1:] - A[:, :1]
    assert ds.LinearDiscriminant(weights, np.arange(K)).predict(between[None])[0] == k


def test_b2_every_basis_function_is_its_formula():
    """sin, exp(−(x−m)²/c), exp(−‖x−m‖²/c) with c = 2 width², ln, 1(x > c), 1(a·x > c) (Alpaydin 10.2)."""
    X = np.random.default_rng(1).uniform(0.1, 4.0, (200, 2))
    x, m = X[:, 0], np.array([1.5, 2.5])
    formulas = [
        (Sine().on(0), np.sin(x)),
        (Gaussian((1.5,), width=2.0).on(0), np.exp(-((x - 1.5) ** 2) / 8.0)),
        (Radial(m[None], width=3.0), np.exp(-((X - m) ** 2).sum(axis=1) / 18.0)),
        (Log().on(1), np.log(X[:, 1])),
        (Step((2.0,)).on(0), 1.0 * (x > 2.0)),
        (HalfPlane([[2.0, -1.0]], (0.3,)), 1.0 * (2 * x - X[:, 1] > 0.3)),
    ]
    for basis, expected in formulas:
        np.testing.assert_allclose(basis.fit_transform(X)[:, 0], expected, rtol=1e-12, err_msg=repr(basis))


@quiet
@pytest.mark.parametrize(
    "name",
    ["LinearDiscriminantAnalysis", "FisherDiscriminant", "LeastSquaresClassifier", "LogisticRegression", "LinearSVC",
     "Perceptron", "Adaline", "LinearMachine", "LinearProgrammingClassifier", "SigmoidRegressionClassifier"],
)  # fmt: skip
def test_b5_a_method_on_phi_of_x_scores_the_features_one_writes_down(name):
    """2 < x < 4 by any method on φ(x) = (x, x²): its score is w₀ + w₁x + w₂x², positive between the roots only."""
    x = np.r_[np.linspace(0.5, 1.8, 12), np.linspace(2.2, 3.8, 12), np.linspace(4.2, 5.5, 12)]
    labels = ((x > 2) & (x < 4)).astype(int)
    options = {"Perceptron": {"tol": None, "max_iter": 50_000}, "LinearMachine": {"criterion": "hinge"}}.get(name, {})
    model = getattr(ds, name)(basis="quadratic", **options).fit(x[:, None], labels)
    w0, w = np.ravel(model.intercept_), np.atleast_2d(model.coef_)
    by_hand = w0 + np.column_stack([x, x**2]) @ w.T
    score = by_hand[:, -1] - (by_hand[:, 0] if by_hand.shape[1] > 1 else 0.0)
    np.testing.assert_array_equal(score > 0, model.predict(x[:, None]) == 1)
    assert np.mean((score > 0) == labels) > 0.9  # the best threshold on x itself has two thirds


# Many classes


def test_m1_ambiguous_regions_are_counted_by_the_signs_of_the_discriminants():
    """K and K − 1 discriminants of a class against the rest: the share of the plane with none or several positive."""
    X, y = three_clouds(spread=0.3)
    points = np.random.default_rng(2).uniform((-4, -3), (4, 4), (200_000, 2))
    for coding in ("one-vs-rest", "one-vs-rest-k-1"):
        model = ds.Perceptron(coding=coding, random_state=3, tol=None).fit(X, y)
        g = augmented(points) @ model.discriminant_.weights > 0
        unclear = g.sum(axis=1) != 1 if coding == "one-vs-rest" else g.sum(axis=1) > 1
        assert unclear.mean() > 0.02
        assert ds.ambiguity(model, ((-4, 4), (-3, 4))).ambiguous == pytest.approx(unclear.mean(), abs=0.005)


@pytest.mark.parametrize("decoder", ["sum", "votes", "unanimous"])
def test_m2_pairwise_discriminants_decide_by_conjunction_sum_and_vote(decoder):
    """g_ij by least squares on the rows of C_i and C_j alone, and each of the three rules, written out."""
    X, y = IRIS[:, :2], SPECIES
    points = np.random.default_rng(0).uniform((3, 1), (9, 6), (2000, 2))
    pairs = list(itertools.combinations(range(3), 2))
    g = {}
    for i, j in pairs:
        rows = (y == i) | (y == j)
        a = np.linalg.lstsq(augmented(X[rows]), np.where(y[rows] == i, 1.0, -1.0), rcond=None)[0]
        g[i, j], g[j, i] = augmented(points) @ a, -(augmented(points) @ a)
    model = ds.Discriminant(criterion="squared", coding="pairwise", decoder=decoder, reject_label=-1)
    decided = model.fit(X, y).predict(points)
    others = [[j for j in range(3) if j != i] for i in range(3)]
    if decoder == "unanimous":
        wins = np.column_stack([np.all([g[i, j] > 0 for j in others[i]], axis=0) for i in range(3)])
        assert 0 < (~wins.any(axis=1)).mean() < 0.5
        np.testing.assert_array_equal(decided, np.where(wins.any(axis=1), wins.argmax(axis=1), -1))
    elif decoder == "sum":
        total = np.column_stack([sum(g[i, j] for j in others[i]) for i in range(3)])
        np.testing.assert_array_equal(decided, total.argmax(axis=1))
    else:
        votes = np.column_stack([sum((g[i, j] > 0).astype(int) for j in others[i]) for i in range(3)])
        clear = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) == 1
        np.testing.assert_array_equal(decided[clear], votes.argmax(axis=1)[clear])


def cross_entropy(A, Y, codes, ridge, outputs):
    """(value, gradient) of the mean cross-entropy with ½ λ ‖W‖², the intercepts free."""
    A = A.reshape(-1, outputs)
    logs, T = log_softmax(Y @ A, axis=1), np.eye(outputs)[codes]
    W = np.vstack([np.zeros(outputs), A[1:]])
    value = -(T * logs).sum() / len(Y) + ridge / 2 * (W**2).sum()
    return value, (Y.T @ (np.exp(logs) - T) / len(Y) + ridge * W).ravel()


def logistic_minimum(Y, t, ridge):
    """The minimiser of the mean logistic loss with ½ λ ‖w‖², by SciPy."""

    def value(a):
        z = Y @ a
        return (np.logaddexp(0, z) - t * z).mean() + ridge / 2 * (a[1:] ** 2).sum()

    def slope(a):
        return Y.T @ (expit(Y @ a) - t) / len(Y) + ridge * np.r_[0.0, a[1:]]

    return descended(value, slope, np.zeros(Y.shape[1]))


def test_m5_two_softmax_outputs_equal_one_sigmoid():
    """e^{z₁}/(e^{z₀} + e^{z₁}) = σ(z₁ − z₀); a ridge of λ on both outputs is one of λ/2 on their difference."""
    X, t = IRIS[50:] - IRIS[50:].mean(axis=0), SPECIES[50:] - 1
    Y = augmented(X)
    one = logistic_minimum(Y, t, 0.01)
    start = np.zeros(2 * Y.shape[1])
    two = descended(
        lambda A: cross_entropy(A, Y, t, 0.02, 2)[0], lambda A: cross_entropy(A, Y, t, 0.02, 2)[1], start
    ).reshape(-1, 2)
    np.testing.assert_allclose(two[:, 1] - two[:, 0], one, atol=1e-6)  # SciPy's accuracy
    softmax = ds.Discriminant(criterion="softmax", penalty=Ridge(0.02)).fit(X, t)
    sigmoid = ds.Discriminant(criterion="logistic", penalty=Ridge(0.01)).fit(X, t)
    np.testing.assert_allclose(softmax.coef_[1] - softmax.coef_[0], one[1:], atol=1e-6)
    np.testing.assert_allclose(sigmoid.coef_[0], one[1:], atol=1e-6)
    np.testing.assert_allclose(softmax.predict_proba(X)[:, 1], expit(Y @ one), atol=1e-6)
    np.testing.assert_allclose(sigmoid.predict_proba(X)[:, 1], expit(Y @ one), atol=1e-6)


# Error-correcting procedures and programs


@pytest.mark.parametrize("seed", range(5))
def test_p7_corrections_are_counted_and_stay_below_the_bound_of_the_widest_margin(seed):
    """k ≤ (R/γ)²: k by the loop of the book, γ = 1/min ‖a‖ subject to a·y ≥ 1 by SciPy."""
    rng = np.random.default_rng(seed)
    y = np.arange(24) % 2
    X = rng.normal(size=(24, 2)) + np.outer(2 * y - 1, [1.8, 1.2])
    X += 0.8 * np.outer(2 * y - 1, [1.8, 1.2])
    samples = np.array(naive.normalised(X, y))
    widest = minimize(
        lambda a: a @ a / 2, np.array([0.0, 1.0, 1.0]), jac=lambda a: a, method="SLSQP",
        constraints={"type": "ineq", "fun": lambda a: samples @ a - 1, "jac": lambda a: samples},
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    assert widest.success
    radius, margin = np.linalg.norm(samples, axis=1).max(), 1 / np.linalg.norm(widest.x)
    corrections = len(naive.fixed_increment(samples)) - 1
    model = ds.Perceptron(shuffle=False, tol=None, max_iter=10_000).fit(X, y)
    assert model.corrections_.tolist() == [corrections]
    assert model.mistake_bounds_[0].bound == pytest.approx((radius / margin) ** 2, rel=1e-5)  # SLSQP's accuracy
    assert corrections <= (radius / margin) ** 2


@pytest.mark.parametrize("seed", range(5))
def test_lp1_every_row_has_its_margin(seed):
    """t(w·x + w₀) ≥ 1 for all rows, from the weights themselves."""
    rng = np.random.default_rng(seed)
    w, y = rng.normal(size=4), np.arange(40) % 2
    t, X = 2.0 * y - 1.0, rng.normal(size=(40, 4))
    X += np.outer(t * (0.2 + np.abs(X @ w)) - X @ w, w) / (w @ w)  # on the two sides of w·x = 0
    assert (t * (X @ w) > 0).all()
    model = ds.LinearProgrammingClassifier().fit(X, y)
    assert (t * (X @ model.coef_[0] + model.intercept_[0])).min() >= 1 - 1e-9


# Least squares and Gaussian classes


@given(st.integers(0, 30))
def test_l4_least_squares_on_fishers_targets_is_fishers_discriminant(seed):
    """t = N/N₁, −N/N₂: w ∝ S_W⁻¹(m₁ − m₂) and w₀ = −w·m (PRML 4.1.5), both sides by NumPy."""
    rng = np.random.default_rng(seed)
    y = np.r_[0, 1, rng.integers(0, 2, 60)]
    X = rng.normal(size=(62, 3)) @ rng.normal(size=(3, 3)) + np.outer(y, [1.0, -0.5, 2.0])
    N, N1 = len(y), y.sum()
    a = np.linalg.lstsq(augmented(X), np.where(y == 1, N / N1, -N / (N - N1)), rcond=None)[0]
    means = [X[y == k].mean(axis=0) for k in (0, 1)]
    within = sum((X[y == k] - means[k]).T @ (X[y == k] - means[k]) for k in (0, 1))
    w = np.linalg.solve(within, means[1] - means[0])
    np.testing.assert_allclose(a[1:] / np.linalg.norm(a[1:]), w / np.linalg.norm(w), atol=1e-9)
    assert a[0] == pytest.approx(-a[1:] @ X.mean(axis=0), abs=1e-9)
    model = ds.LeastSquaresClassifier(coding="fisher").fit(X, y)
    np.testing.assert_allclose(np.r_[model.intercept_, model.coef_[0]], a, rtol=1e-8, atol=1e-9)


def test_l5_the_masked_class_is_masked_in_the_pseudo_inverse_too():
    """PRML figure 4.5: Y†T on three classes in a row; the middle output is never the largest."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 60)
    X = 0.4 * rng.normal(size=(180, 2)) + np.outer(y - 1.0, [4.0, 4.0])
    decided = (augmented(X) @ np.linalg.pinv(augmented(X)) @ np.eye(3)[y]).argmax(axis=1)
    assert (decided[y == 1] == 1).mean() < 0.4  # symmetric classes: none at all
    assert (decided[y != 1] == y[y != 1]).all()
    np.testing.assert_array_equal(ds.LeastSquaresClassifier().fit(X, y).predict(X), decided)


def test_d3_posteriors_are_the_sigmoid_of_log_odds_and_the_probit_is_its_neighbour():
    """P(C₁|x) by Bayes' rule with SciPy's densities; logit P = w·x + w₀; Φ(√(π/8) a) within 0.02 of σ(a)."""
    X, y = IRIS[50:, :3], SPECIES[50:] - 1
    groups = [X[y == k] for k in (0, 1)]
    sigma = sum((G - G.mean(axis=0)).T @ (G - G.mean(axis=0)) for G in groups) / len(y)
    p = [multivariate_normal(G.mean(axis=0), sigma).pdf(X) * len(G) / len(y) for G in groups]
    posterior = p[1] / (p[0] + p[1])
    w = np.linalg.solve(sigma, groups[1].mean(axis=0) - groups[0].mean(axis=0))
    w0 = (logit(posterior) - X @ w).mean()
    np.testing.assert_allclose(logit(posterior), X @ w + w0, atol=1e-8)  # linear in x
    model = ds.LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], posterior, atol=1e-10)
    np.testing.assert_allclose(posteriors.logit(posterior), logit(posterior), rtol=1e-12)
    a = np.linspace(-6, 6, 500)
    np.testing.assert_allclose(posteriors.probit(a), ndtr(a), atol=1e-14)
    assert np.abs(ndtr(np.sqrt(np.pi / 8) * a) - expit(a)).max() < 0.02


def test_d4_troubles_of_lda_are_answered_and_their_columns_named():
    """Σ(α) = (1 − α)Σ + α tr(Σ)/d I; a nearly collinear column is named; an outlier moves the robust means less."""
    rng = np.random.default_rng(3)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 4)) + np.outer(y, [1.0, 0.5, 0.0, 0.0])
    means = np.array([X[y == k].mean(axis=0) for k in (0, 1)])
    sigma = (X - means[y]).T @ (X - means[y]) / 30
    shrunk = 0.7 * sigma + 0.3 * np.trace(sigma) / 4 * np.eye(4)
    model = ds.LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3).fit(X, y)
    w = np.linalg.solve(shrunk, means[1] - means[0])
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-9)
    assert model.intercept_[0] == pytest.approx(-w @ means.mean(axis=0), rel=1e-9)
    import pandas as pd

    near = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(echo=lambda f: f["a"] + f["b"] + 1e-9 * X[:, 3])
    with pytest.warns(DiscriminantWarning, match="echo|'a'|'b'"):
        ds.LinearDiscriminantAnalysis().fit(near, y)
    spoilt = X.copy()
    spoilt[0] += 200.0
    plain, robust = (
        np.abs(ds.LinearDiscriminantAnalysis(covariance=name).fit(spoilt, y).means_ - means).max()
        for name in ("ml", "robust")
    )
    assert plain > 10
    assert robust < 0.5


# Logistic discrimination and optimisers


def test_r4_stopping_early_is_the_path_of_descent_cut_short():
    """The steps of figure 10.6 to the end of the run; the errors had stopped falling, the weights still grew."""
    X, t = IRIS[50:] - IRIS[50:].mean(axis=0), SPECIES[50:] - 1
    optimizer = GradientDescent(step=0.5, patience=20, iterations=10_000, trace=True)
    model = ds.LogisticRegression(C=np.inf, optimizer=optimizer, random_state=1).fit(X, t)
    start = model.history_["weights"][0, :, 0]
    path = np.array(naive.logistic_descent(X, t, start, 0.5 / len(t), 2000))
    last = len(model.history_["weights"]) - 1
    np.testing.assert_allclose(model.history_["weights"][-1, :, 0], path[last], atol=1e-10)
    errors = ((path @ augmented(X).T > 0) != t).sum(axis=1)
    assert errors[last - 20 : last + 1].min() >= errors[: last - 19].min()  # no fewer for 20 passes
    length = np.linalg.norm(path[:, 1:], axis=1)
    assert length[0] < 0.02 < length[last] < length[-1] / 2  # the whole run would have gone on


def test_r5_quadratic_logistic_is_logistic_on_the_products():
    """log p(x|C₁)/p(x|C₂) = xᵗWx + wᵗx + w₀ (Alpaydin 10.34): SciPy's minimum on x, x² and x₁x₂ written down."""
    rng = np.random.default_rng(2)
    t = np.arange(200) % 2
    X = rng.normal(size=(200, 2)) * np.where(t, 1.6, 0.8)[:, None]
    Y = np.column_stack([np.ones(200), X, X[:, 0] ** 2, X[:, 0] * X[:, 1], X[:, 1] ** 2])
    a = logistic_minimum(Y, t, 0.01)
    model = ds.LogisticRegression(C=1 / (0.01 * 200), basis="quadratic").fit(X, t)
    np.testing.assert_allclose(model.decision_function(X), Y @ a, atol=1e-4)
    W = np.array([[a[3], a[4] / 2], [a[4] / 2, a[5]]])
    form = a[0] + X @ a[1:3] + np.einsum("ni,ij,nj->n", X, W, X)
    np.testing.assert_allclose(form, Y @ a, atol=1e-10)
    assert (np.linalg.eigvalsh(W) > 0).all()  # class 1 lies around class 0


def test_r6_a_ridge_is_the_map_estimate_under_a_gaussian_prior():
    """argmax Π p(t|x) N(w|0, C I) minimises the cross-entropy plus ‖w‖²/2C; no weights near it do better."""
    X, t, C = IRIS[50:, :2] - 3.0, SPECIES[50:] - 1, 0.7
    model = ds.LogisticRegression(C=C).fit(X, t)
    found = np.r_[model.intercept_, model.coef_[0]]

    def log_posterior(a):
        z = augmented(X) @ a
        return (t * z - np.logaddexp(0, z)).sum() - a[1:] @ a[1:] / (2 * C)

    np.testing.assert_allclose(found, logistic_minimum(augmented(X), t, 1 / (C * len(t))), atol=1e-4)
    for move in np.random.default_rng(0).normal(size=(200, 3)) * 0.05:
        assert log_posterior(found + move) < log_posterior(found)


@pytest.mark.parametrize("optimizer", ["conjugate-gradient", "lbfgs", "newton"])
def test_o3_conjugate_gradient_and_quasi_newton_end_at_the_minimum(optimizer):
    """The same minimum as SciPy's."""
    X, t = IRIS[50:] - IRIS[50:].mean(axis=0), SPECIES[50:] - 1
    a = logistic_minimum(augmented(X), t, 0.01)
    model = ds.Discriminant(optimizer=optimizer, penalty=Ridge(0.01)).fit(X, t)
    np.testing.assert_allclose(model.coef_[0], a[1:], atol=1e-4)


@quiet
def test_o4_single_samples_are_taken_in_turn_with_the_books_step():
    """PRML (4.55) and Widrow–Hoff with η₁/k: w ← w + η φt and a ← a + η(k)(b − a·y)y, sample after sample."""
    X, t = IRIS[50:80, :2] - 3.0, np.arange(30) % 2
    perceptron = ds.Perceptron(shuffle=False, tol=None, max_iter=4, trace=True).fit(X, t)
    np.testing.assert_allclose(
        perceptron.history_["weights"][:, :, 0], naive.fixed_increment(naive.normalised(X, t), 120), atol=1e-12
    )
    adaline = ds.Adaline(eta0=Inverse(0.05), shuffle=False, max_iter=3, tol=0, trace=True).fit(X, t)
    path = naive.lms(naive.normalised(X, t), [1.0] * 30, lambda k: 0.05 / k, 90)
    np.testing.assert_allclose(adaline.history_["weights"][:, :, 0], path, atol=1e-12)


# Theory


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_t1_the_books_weights_cut_every_labelling_of_the_origin_and_the_unit_vectors(d):
    """w = (y₁ − b, …, y_d − b), w₀ = b = y₀ has the sign y_i at each point; d + 2 points have a Radon partition."""
    corners = np.vstack([np.zeros(d), np.eye(d)])
    for labels in itertools.product([-1.0, 1.0], repeat=d + 1):
        b, y = labels[0], np.array(labels[1:])
        np.testing.assert_array_equal(np.sign(corners @ (y - b) + b), labels)
    assert ds.shatters(corners)
    assert ds.vc_dimension(d) == d + 1
    points = np.random.default_rng(d).normal(size=(d + 2, d))
    alpha = np.linalg.svd(np.vstack([points.T, np.ones(d + 2)]))[2][-1]  # Σ α = 0, Σ α x = 0
    plus, minus = alpha > 0, alpha < 0
    common = alpha[plus] @ points[plus] / alpha[plus].sum()
    np.testing.assert_allclose(alpha[minus] @ points[minus] / alpha[minus].sum(), common, atol=1e-10)
    found = ds.shatters(points)
    assert not found
    np.testing.assert_allclose(found.radon.point, common, atol=1e-8)
