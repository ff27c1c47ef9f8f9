"""G4: decisions beyond the argmax.  Alpaydin 10.3.2, 10.7; Duda, Hart & Stork 2.2; Chow 1970; Elkan 2001."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.frozen import FrozenEstimator

from discriminant import LinearDiscriminant, LinearDiscriminantAnalysis, MinimumRiskClassifier, decision

posteriors = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 6), st.just(3)), elements=st.floats(0.001, 1).map(lambda v: round(v, 3))
).map(lambda p: p / p.sum(axis=1, keepdims=True))
cost_matrices = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 5), st.just(3)), elements=st.floats(-5, 20).map(lambda v: round(v, 2))
)


def sample(seed: int = 0, counts: tuple[int, ...] = (300, 200, 100)) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    means = rng.normal(scale=1.5, size=(len(counts), 3))
    codes = np.repeat(np.arange(len(counts)), counts)
    return means[codes] + rng.normal(size=(len(codes), 3)), codes


@given(posteriors, cost_matrices)
def test_minimum_risk_is_brute_force_over_the_acts(p, costs):
    """argmin_a Σ_k λ(α_a|C_k) P(C_k|x), act by act, class by class."""
    for row, act in zip(p, decision.bayes_actions(p, costs), strict=True):
        risks = [sum(costs[a, k] * row[k] for k in range(3)) for a in range(len(costs))]
        assert risks[act] <= min(risks) + 1e-12
    np.testing.assert_allclose(decision.expected_costs(p, costs), np.einsum("nk,ak->na", p, costs), atol=1e-12)


def test_no_rule_has_a_smaller_expected_cost():
    """Of all assignments of acts to rows, the minimum-risk rule has the least total expected cost."""
    p = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]])
    costs = np.array([[0, 2, 9], [1, 0, 3], [5, 1, 0.0], [0.8, 0.8, 0.8]])
    risk = decision.expected_costs(p, costs)
    totals = {acts: sum(risk[n, a] for n, a in enumerate(acts)) for acts in itertools.product(range(4), repeat=3)}
    assert min(totals, key=totals.get) == tuple(decision.bayes_actions(p, costs))


@given(posteriors)
def test_zero_one_costs_give_the_largest_posterior(p):
    """R(α_a|x) = 1 − P(C_a|x)."""
    costs = decision.zero_one_costs(3)
    np.testing.assert_allclose(decision.expected_costs(p, costs), 1 - p, atol=1e-12)
    chosen = decision.bayes_actions(p, costs)
    np.testing.assert_allclose(p[np.arange(len(p)), chosen], p.max(axis=1), atol=1e-15)


@given(posteriors, cost_matrices, st.floats(0.1, 10), st.floats(-5, 5))
def test_units_and_class_wise_constants_do_not_change_the_act(p, costs, factor, constant):
    """λ' = c λ + e_k chooses the same acts: only differences of costs within a class count."""
    risk = decision.expected_costs(p, costs)
    moved = decision.bayes_actions(p, factor * costs + constant * np.arange(3.0))
    np.testing.assert_allclose(risk[np.arange(len(p)), moved], risk.min(axis=1), atol=1e-9)


@given(posteriors, st.floats(0.0, 1.0))
def test_chows_rule_is_a_reject_act_of_constant_cost(p, reject_cost):
    """Under 0–1 costs reject is the act of least risk iff max_k P(C_k|x) < 1 − d."""
    acts = decision.bayes_actions(p, decision.with_reject(decision.zero_one_costs(3), reject_cost))
    top = p.max(axis=1)
    clear = np.abs(top - (1 - reject_cost)) > 1e-9
    expected = decision.reject_by_posterior(p, decision.chow_threshold(reject_cost))
    np.testing.assert_array_equal((acts == 3)[clear], expected[clear])


def test_reject_lowers_the_error_of_what_is_kept():
    """Chow: the error among accepted rows falls as the reject rate grows (posteriors of the true model)."""
    rng = np.random.default_rng(3)
    x = np.repeat([-1.0, 1.0], 20_000) + rng.normal(size=40_000)
    p = decision.sigmoid_pair(2 * x)
    _, rejected, error = decision.error_reject_curve(p, np.repeat([0, 1], 20_000))
    at = [error[np.searchsorted(rejected, share)] for share in (0.0, 0.1, 0.2, 0.4, 0.6)]
    assert all(a > b for a, b in itertools.pairwise(at))


@given(st.floats(-20, 20), st.floats(0.01, 0.99))
def test_new_priors_add_their_log_ratio_to_the_intercept(z, prior):
    """w₀ = w₀° + log P(C₁)/P(C₂) (Alpaydin 10.20)."""
    balanced = LinearDiscriminant([0.0, 1.0], [0, 1], link="sigmoid")
    moved = balanced.with_priors([1 - prior, prior], training_priors=[0.5, 0.5])
    assert moved.scores([[z]])[0, 0] == pytest.approx(z + np.log(prior / (1 - prior)), abs=1e-12)
    by_bayes = decision.shift_posteriors(balanced.predict_proba([[z]]), [0.5, 0.5], [1 - prior, prior])
    np.testing.assert_allclose(moved.predict_proba([[z]]), by_bayes, rtol=1e-9)


@given(
    hnp.arrays(np.float64, (3,), elements=st.floats(0.05, 1)), hnp.arrays(np.float64, (4, 3), elements=st.floats(-9, 9))
)
def test_shifted_posteriors_are_bayes_rule_with_the_new_priors(weights, log_density):
    """P'(C_k|x) = p(x|C_k) P'_k / Σ_j p(x|C_j) P'_j, whatever the old priors were."""
    old, new = np.array([0.2, 0.5, 0.3]), weights / weights.sum()
    shifted = decision.shift_log_posteriors(decision.log_softmax(log_density + np.log(old)), old, new)
    joint = np.exp(log_density) * new
    np.testing.assert_allclose(np.exp(shifted), joint / joint.sum(axis=1, keepdims=True), rtol=1e-9)


def test_changed_priors_equal_a_fit_with_these_priors():
    """LDA's posteriors moved to new priors are those of LDA fitted with them: the densities are the same."""
    X, y = sample()
    new = [0.1, 0.3, 0.6]
    moved = MinimumRiskClassifier(LinearDiscriminantAnalysis(), priors=new).fit(X, y).predict_log_proba(X)
    direct = LinearDiscriminantAnalysis(priors=new).fit(X, y).predict_log_proba(X)
    np.testing.assert_allclose(moved, direct, rtol=1e-10, atol=1e-10)


def test_changed_priors_equal_a_fit_on_reweighted_rows():
    """For Gaussians with known common spread, weighting class k by P'_k / P_k is the same as moving its prior.

    The pooled covariance depends on the weights, so the model takes it from classes of equal covariance: each class
    holds the same cloud, moved.
    """
    rng = np.random.default_rng(5)
    cloud = rng.normal(size=(200, 2))
    means = np.array([[0.0, 0.0], [1.5, 0.5], [0.0, 2.0]])
    X, y = np.concatenate([cloud + m for m in means]), np.repeat([0, 1, 2], 200)
    new = np.array([0.7, 0.2, 0.1])
    reweighted = LinearDiscriminantAnalysis().fit(X, y, sample_weight=new[y] * 3)
    moved = MinimumRiskClassifier(LinearDiscriminantAnalysis(), priors=new).fit(X, y)
    np.testing.assert_allclose(moved.predict_log_proba(X), reweighted.predict_log_proba(X), rtol=1e-9, atol=1e-9)


def test_costs_and_priors_exchange_for_two_classes():
    """λ₁₀ P₀ against λ₀₁ P₁: doubling a class's cost decides as doubling its odds."""
    X, y = sample(counts=(200, 200))
    model = LinearDiscriminantAnalysis().fit(X, y)
    dear = MinimumRiskClassifier(FrozenEstimator(model), costs=[[0, 2], [1, 0]]).fit(X, y)
    frequent = MinimumRiskClassifier(FrozenEstimator(model), priors=[1 / 3, 2 / 3]).fit(X, y)
    np.testing.assert_array_equal(dear.predict(X), frequent.predict(X))
    shifted = model.discriminant_.with_priors([1 / 3, 2 / 3], training_priors=[0.5, 0.5])
    np.testing.assert_array_equal(shifted.predict(X), dear.predict(X))
    threshold = decision.cost_threshold([[0, 2], [1, 0]])
    np.testing.assert_array_equal(dear.predict(X) == 1, model.predict_proba(X)[:, 1] > threshold)


def test_several_or_no_positive_discriminants_are_reject_cases():
    """Alpaydin 10.3.2: ideally one g_j > 0; where several are, or none is, reject, or take the largest."""
    weights = np.array([[-1.0, -1.0, -1.0], [1.0, -1.0, 0.0], [0.0, 0.0, 1.0]])
    model = LinearDiscriminant(weights, ["right", "left", "up"])
    X = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 0.0], [2.0, 2.0], [0.0, 3.0]])
    assert model.predict_or_reject(X, "reject").tolist() == ["right", "left", "reject", "reject", "up"]
    g = model.scores(X)
    np.testing.assert_array_equal(model.predict_or_reject(X, "reject") == "reject", (g > 0).sum(axis=1) != 1)


def test_the_rule_of_least_risk_is_a_linear_machine_in_the_posteriors():
    """g_a(x) = −R(α_a|x): the largest discriminant names the act."""
    X, y = sample(1)
    costs = np.array([[0, 1, 4], [2, 0, 1], [3, 6, 0], [0.5, 0.5, 0.5]])
    model = MinimumRiskClassifier(costs=costs, actions=[0, 1, 2, 9]).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.actions_[(-model.expected_costs(X)).argmax(axis=1)])
    machine = LinearDiscriminant(np.vstack([np.zeros(4), -costs.T]), model.actions_)
    np.testing.assert_array_equal(machine.predict(model.predict_proba(X)), model.predict(X))
