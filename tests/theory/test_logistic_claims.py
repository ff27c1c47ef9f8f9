"""What the textbooks and the certificate say about logistic regression, each against an independent computation."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from discriminant import LogisticRegression
from discriminant.data import make_blocks
from discriminant.data.scaling import choose_scaling
from discriminant.objective import logistic_objective
from discriminant.optimize import automatic
from discriminant.optimize.newton import Trace
from discriminant.optimize.sampled import by_gram, by_sampled_hessian


def problem(n=300, d=4, K=2, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * scale
    Z = X / scale @ rng.standard_normal((d, K)) + rng.gumbel(size=(n, K))
    return X, Z.argmax(axis=1)


def loss(X, y, coef, intercept, C=1.0, weight=None):
    """Σ w ℓ + ½‖w‖²/C, written out anew."""
    weight = np.ones(len(y)) if weight is None else weight
    if len(coef) == 1:
        z = X @ coef[0] + intercept[0]
        rows = np.logaddexp(0, z) - y * z
    else:
        Z = X @ coef.T + intercept
        rows = logsumexp(Z, axis=1) - Z[np.arange(len(y)), y]
    return float(weight @ rows + 0.5 * np.square(coef).sum() / C)


def test_gradient_vanishes_at_the_solution():
    """Σ (σ − t) = 0 and Σ (σ − t) x + w/C = 0 (PRML 4.91 with a Gaussian prior)."""
    X, y = problem()
    model = LogisticRegression(C=0.7).fit(X, y)
    r = expit(X @ model.coef_[0] + model.intercept_[0]) - y
    assert abs(r.sum()) < 1e-11
    np.testing.assert_allclose(X.T @ r + model.coef_[0] / 0.7, 0, atol=1e-11)


def test_posteriors_of_the_training_rows_add_up_to_the_class_counts():
    """The intercept's equation: Σ_i P(C_k|x_i) = N_k, because it is not penalised."""
    X, y = problem(K=4)
    model = LogisticRegression(C=0.01).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=0), np.bincount(y), rtol=1e-12)


def test_two_class_softmax_is_the_sigmoid():
    """softmax(−z/2, z/2) = σ(z): with the penalty halved the two parametrisations agree (Alpaydin 10.7)."""
    X, y = problem()
    two = LogisticRegression(C=1.0).fit(X, y)

    def J(a):  # softmax over two outputs ±a/2 with the same penalty on a
        Z = np.column_stack([-(X @ a[1:] + a[0]) / 2, (X @ a[1:] + a[0]) / 2])
        return (logsumexp(Z, axis=1) - Z[np.arange(len(y)), y]).sum() + 0.5 * a[1:] @ a[1:]

    found = minimize(J, np.zeros(5), method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(found.x[1:], two.coef_[0], rtol=1e-5)  # as near as finite differences get


def test_softmax_optimum_matches_a_plain_minimiser():
    X, y = problem(K=3)
    model = LogisticRegression(C=2.0).fit(X, y)

    def J(a):
        A = a.reshape(3, 5)
        return loss(X, y, A[:, 1:], A[:, 0], C=2.0)

    found = minimize(J, np.zeros(15), method="BFGS", options={"gtol": 1e-6})
    ours = loss(X, y, model.coef_, model.intercept_, C=2.0)
    assert ours <= found.fun + 1e-9
    assert found.fun - ours < 1e-6
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("seed", range(5))
def test_the_proved_gap_bounds_the_true_error(K, C, seed):
    """J(A) − min J ≤ gap at every point, not only at the end: here after a coarse tolerance on many rows."""
    X, y = problem(n=3000, d=6, K=K, seed=seed, scale=10.0 ** np.arange(-2, 4))
    objective = logistic_objective(make_blocks(X, y.astype(np.uint8)), K, 1 / (C * len(y)))
    best = automatic.minimize(objective, 1e-12)
    objective = objective.scaled(choose_scaling(objective.blocks, True))
    solver = by_sampled_hessian if K == 2 else by_gram
    for tol in (1e-1, 1e-3, 1e-6):
        state = solver(objective, np.zeros((7, objective.n_outputs)), Trace(), tol)
        assert state.gap <= tol * abs(state.found.value)
        assert state.found.value - best.objective <= state.gap + 1e-14


def test_the_bound_needs_no_penalty():
    """Self-concordance proves a gap, and so that a maximum of the likelihood exists, without any penalty."""
    X, y = problem(n=500)
    model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.certificate_.converged
    assert model.certificate_.gap < 1e-14


def test_separated_classes_have_no_maximum_and_the_fit_says_so():
    X, y = problem()
    X = np.column_stack([X, 2.0 * y - 1])
    with pytest.warns(UserWarning, match="separated"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert not model.certificate_.converged
    assert model.score(X, y) == 1


def test_units_change_the_weights_and_nothing_else():
    """x_j ↦ s x_j: without a penalty w_j ↦ w_j / s, and the predictions do not move at all."""
    X, y = problem(n=400, K=2)
    s = np.array([1e-6, 1e6, 1e3, 1.0])
    plain = LogisticRegression(C=np.inf).fit(X, y)
    scaled = LogisticRegression(C=np.inf).fit(X * s, y)
    np.testing.assert_allclose(scaled.coef_ * s, plain.coef_, rtol=1e-10)
    np.testing.assert_allclose(scaled.predict_proba(X * s), plain.predict_proba(X), rtol=1e-10)


def test_an_integer_weight_is_a_repeated_row():
    X, y = problem()
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    once = LogisticRegression().fit(X, y, weight)
    repeated = LogisticRegression().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(once.coef_, repeated.coef_, rtol=1e-11)


def test_soft_labels_are_weighted_hard_ones():
    """Probability t of class 1 = a row of class 1 with weight t and one of class 0 with weight 1 − t."""
    X, _ = problem(n=100)
    t = np.random.default_rng(2).random(100)
    soft = LogisticRegression().fit(X, np.column_stack([1 - t, t]))
    hard = LogisticRegression().fit(np.vstack([X, X]), np.repeat([1, 0], 100), np.concatenate([t, 1 - t]))
    np.testing.assert_allclose(soft.coef_, hard.coef_, rtol=1e-10)
    third = np.random.default_rng(3).dirichlet(np.ones(3), 100)
    soft = LogisticRegression().fit(X, third)
    hard = LogisticRegression().fit(np.tile(X, (3, 1)), np.repeat([0, 1, 2], 100), third.T.ravel())
    np.testing.assert_allclose(soft.coef_, hard.coef_, rtol=1e-9)


def test_class_weights_with_corrected_priors_keep_probabilities_honest():
    """With weights the mean posterior is far from the base rate; corrected, it is near it again (King & Zeng 2001)."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((20_000, 2))
    y = (rng.random(20_000) < expit(X @ [1.0, -1.0] - 3.5)).astype(int)
    plain = LogisticRegression(class_weight="balanced").fit(X, y)
    honest = LogisticRegression(class_weight="balanced", correct_priors=True).fit(X, y)
    assert plain.predict_proba(X)[:, 1].mean() > 4 * y.mean()
    assert abs(honest.predict_proba(X)[:, 1].mean() - y.mean()) < 0.1 * y.mean()
    np.testing.assert_array_equal(plain.coef_, honest.coef_)


# Plain data on which the usual default is silently wrong


def expected_optimum(X, y, C=1.0):
    """The optimum found on centred and scaled columns with the penalty carried over exactly: an independent route."""
    mean, size = X.mean(axis=0), X.std(axis=0)
    S = (X - mean) / size

    def J(a):
        z = S @ a[1:] + a[0]
        r = expit(z) - y
        g = np.concatenate([[r.sum()], S.T @ r + a[1:] / size**2 / C])
        return float((np.logaddexp(0, z) - y * z).sum() + 0.5 * np.square(a[1:] / size).sum() / C), g

    def hess(a):
        p = expit(S @ a[1:] + a[0])
        Y = np.column_stack([np.ones(len(S)), S])
        return Y.T @ (Y * (p * (1 - p))[:, None]) + np.diag(np.concatenate([[0], 1 / size**2 / C]))

    found = minimize(J, np.zeros(X.shape[1] + 1), jac=True, hess=hess, method="trust-exact", options={"gtol": 1e-9})
    return found.x[1:] / size


def test_features_at_offset_a_thousand():
    X, y = problem(n=2000)
    X = X + 1000.0
    model = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_[0], expected_optimum(X, y), rtol=1e-7)


def test_a_unix_time_stamp_as_a_feature():
    X, y = problem(n=2000)
    stamp = 1.7e9 + 86_400.0 * np.random.default_rng(5).integers(0, 365, 2000)
    X = np.column_stack([X, stamp])
    y = (X[:, 0] + (stamp - stamp.mean()) / stamp.std() + np.random.default_rng(6).logistic(size=2000) > 0).astype(int)
    model = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_[0], expected_optimum(X, y), rtol=1e-6)


def test_float32_at_offset_ten_thousand():
    X, y = problem(n=2000)
    X = (X + 1e4).astype(np.float32)
    model = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_[0], expected_optimum(X.astype(np.float64), y), rtol=1e-5)


def test_a_hundred_positives_in_a_million_rows_sum_to_a_hundred():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((1_000_000, 5))
    y = np.zeros(1_000_000, dtype=np.int8)
    y[np.argsort(X[:, 0] + 2 * rng.standard_normal(1_000_000))[-100:]] = 1
    model = LogisticRegression().fit(X, y)
    assert model.certificate_.converged
    np.testing.assert_allclose(model.predict_proba(X)[:, 1].sum(), 100, rtol=1e-3)


def test_iris_in_nanometres():
    """1 cm = 10⁷ nm: with the penalty's unit carried over, the same posteriors."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    cm = LogisticRegression(C=1.0).fit(X, y)
    nm = LogisticRegression(C=1e-14).fit(X * 1e7, y)
    np.testing.assert_allclose(nm.predict_proba(X * 1e7), cm.predict_proba(X), rtol=1e-9, atol=1e-14)


def test_no_solver_name_changes_the_answer():
    X, y = problem(n=500, scale=10.0 ** np.arange(-2, 2))
    answers = [
        LogisticRegression(solver=name).fit(X, y).coef_
        for name in ("auto", "lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
    ]
    assert all(np.array_equal(answers[0], other) for other in answers)


def test_generated_problems_never_warn_and_are_always_certified():
    """Shapes, scales, offsets and penalties at random: a certificate every time, no warning ever."""
    rng = np.random.default_rng(8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(500):
            n, d, K = int(rng.integers(8, 300)), int(rng.integers(1, 12)), int(rng.integers(2, 5))
            X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-4, 4, d) + 10.0 ** rng.uniform(-2, 5, d)
            y = np.concatenate([np.arange(K), rng.integers(0, K, n - K)])
            model = LogisticRegression(C=10.0 ** rng.uniform(-4, 4), fit_intercept=bool(rng.integers(2))).fit(X, y)
            assert model.certificate_.converged, (n, d, K, model)
