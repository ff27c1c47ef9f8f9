"""Posteriors, priors, costs and reject against mpmath, SciPy and brute force."""

from __future__ import annotations

import inspect

import mpmath
import numpy as np
import pandas as pd
import pytest
import scipy.special
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import discriminant as ds
from discriminant import decision
from discriminant.decision.rule import largest
from discriminant.errors import DataError, DiscriminantWarning, ParameterError

scores = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(2, 40)),
    elements=st.floats(-1e4, 1e4, allow_subnormal=False),
)


# posteriors


@given(scores)
def test_log_softmax_agrees_with_scipy(z):
    np.testing.assert_allclose(decision.log_softmax(z), scipy.special.log_softmax(z, axis=1), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(decision.softmax(z), scipy.special.softmax(z, axis=1), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(decision.logsumexp(z), scipy.special.logsumexp(z, axis=1), rtol=1e-14, atol=1e-13)


@pytest.mark.parametrize("K", [1, 2, 3, 32, 33, 70])
@pytest.mark.parametrize("n", [1, 15, 16, 63, 64, 130, 5000])
def test_the_kernels_posteriors_are_those_of_numpy(n, K, monkeypatch):
    """Of any number of rows and classes, far into both tails, where a score is −∞, and of NaN, which it leaves."""
    rng = np.random.default_rng(n + K)
    z = rng.normal(size=(n, K)) * rng.choice([1.0, 30.0, 400.0], size=(n, 1))
    z[rng.random(z.shape) < 0.02] = -745.0
    for lowest in (-800.0, -np.inf, np.nan):
        z[-1, -1] = lowest
        rows = z[:, 0] if K == 1 else z
        answer = decision.sigmoid_pair if K == 1 else decision.softmax
        with np.errstate(all="ignore"), monkeypatch.context() as patch:
            found, turned = answer(rows), answer(np.asfortranarray(rows))
            patch.setattr("discriminant.kernels.compiled.load", lambda: None)
            wanted = answer(rows)
        np.testing.assert_allclose(found, wanted, rtol=4e-15, atol=1e-322)
        np.testing.assert_array_equal(found, turned)


@pytest.mark.parametrize("lead", [0.0, 1e-3, 1.0, 30.0, 40.0, 700.0])
def test_the_winners_log_posterior_keeps_its_digits(lead):
    """log P = −log(1 + 2e^−lead) to full relative accuracy, where a plain log of a sum gives 0."""
    with mpmath.workdps(60):
        exact = float(-mpmath.log1p(2 * mpmath.exp(-mpmath.mpf(lead))))
    assert decision.log_softmax([[0.0, lead, 0.0]])[0, 1] == pytest.approx(exact, rel=1e-15)


@pytest.mark.parametrize("z", [-1e4, -745.5, -40.0, -1e-9, 0.0, 1e-9, 40.0, 700.0, 1e4])
def test_sigmoid_and_its_logarithm_agree_with_mpmath(z):
    with mpmath.workdps(60):
        exact = 1 / (1 + mpmath.exp(-mpmath.mpf(z)))
        log_exact = float(mpmath.log(exact)) if z < 100 else float(-mpmath.exp(-mpmath.mpf(z)))
    assert float(decision.sigmoid(z)) == pytest.approx(float(exact), rel=1e-15, abs=1e-320)
    assert float(decision.log_sigmoid(z)) == pytest.approx(log_exact, rel=1e-15, abs=1e-320)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_log_posteriors_are_finite_and_keep_the_type(dtype):
    z = np.array([[-1e4, 1e4], [1e4, 1e4], [0, -1e4]], dtype=dtype)
    for function in (decision.log_softmax, decision.log_sigmoid, decision.softmax, decision.sigmoid):
        result = function(z)
        assert result.dtype == dtype
        assert np.isfinite(result).all()
    assert decision.log_softmax(z)[0, 0] == -2e4


def test_softmax_of_two_scores_is_the_sigmoid_of_their_difference():
    z = np.linspace(-50, 50, 11)
    pair = np.column_stack([np.zeros_like(z), z])
    np.testing.assert_allclose(decision.log_softmax(pair)[:, 1], decision.log_sigmoid(z), rtol=1e-15)


def test_rows_without_a_possible_class_stay_minus_infinity():
    assert decision.logsumexp([-np.inf, -np.inf]) == -np.inf
    assert decision.logsumexp(np.zeros((2, 3)), keepdims=True).shape == (2, 1)


def test_logit_inverts_the_sigmoid_and_refuses_what_is_no_probability():
    z = np.linspace(-30, 30, 13)
    np.testing.assert_allclose(decision.logit(decision.sigmoid(z)), z, rtol=1e-3)
    np.testing.assert_allclose(decision.logit(decision.sigmoid(-np.abs(z))), -np.abs(z), rtol=1e-12)
    assert decision.logit([0.0, 1.0]).tolist() == [-np.inf, np.inf]
    with pytest.raises(DataError, match="between 0 and 1"):
        decision.logit([1.5])


def test_probit_and_sigmoid_touch_after_matching_their_slope_at_zero():
    """Φ(√(π/8) z) and σ(z) have equal slope at 0 and differ by less than 0.02 (PRML 4.5.2)."""
    z = np.linspace(-10, 10, 401)
    assert np.abs(decision.probit(np.sqrt(np.pi / 8) * z) - decision.sigmoid(z)).max() < 0.02
    np.testing.assert_allclose(np.exp(decision.log_probit(z)), decision.probit(z), rtol=1e-12)
    assert np.isfinite(decision.log_probit(-1e4))


# priors


def test_priors_are_read_in_the_order_of_the_classes():
    np.testing.assert_array_equal(decision.check_priors({2: 0.1, 1: 0.9}, np.array([1, 2])), [0.9, 0.1])
    np.testing.assert_array_equal(decision.check_priors([0.9, 0.1], ["a", "b"]), [0.9, 0.1])


@pytest.mark.parametrize(
    ("priors", "sentence"),
    [
        ([0.5, 0.3, 0.2], "2 classes"),
        ([-0.5, 1.5], "priors must be non-negative; class a"),
        ([np.nan, 1.0], "NaN or infinity for class a"),
        ([0.0, 0.0], "all zero"),
        ({"a": 1.0}, "nothing about class 'b'"),
        ({"a": 0.5, "b": 0.4, "c": 0.1}, "'c', which is no class"),
        ({"a": 0.5, "b": 0.4, "c": 0.1, "d": 0.0}, "'c' and 'd', which are no classes"),
    ],
)
def test_priors_that_make_no_sense_are_refused_in_a_sentence(priors, sentence):
    with pytest.raises(ParameterError, match=sentence):
        decision.check_priors(priors, ["a", "b"])


def test_priors_that_do_not_sum_to_one_are_renormalised_with_a_warning():
    with pytest.warns(DiscriminantWarning, match="The priors do not sum to 1. Renormalizing"):
        assert decision.check_priors([1, 3], [0, 1]).tolist() == [0.25, 0.75]


def test_a_change_of_priors_there_and_back_changes_nothing():
    rng = np.random.default_rng(0)
    old, new = np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.3, 0.1])
    log_p = decision.log_softmax(rng.normal(scale=100, size=(20, 3)))
    there = decision.shift_log_posteriors(log_p, old, new)
    np.testing.assert_allclose(decision.shift_log_posteriors(there, new, old), log_p, rtol=1e-12, atol=1e-12)


def test_a_class_with_new_prior_zero_becomes_impossible():
    moved = decision.shift_posteriors([[0.2, 0.3, 0.5]], [1 / 3] * 3, [0.5, 0.5, 0.0])
    np.testing.assert_allclose(moved, [[0.4, 0.6, 0.0]])


def test_what_was_never_learned_cannot_be_raised():
    with pytest.raises(DataError, match="Class number 1 had prior 0 in training"):
        decision.prior_shift([1.0, 0.0], [0.5, 0.5])
    with pytest.raises(DataError, match="Row 1 has posterior 0"):
        decision.shift_posteriors([[0.5, 0.5], [0.0, 1.0]], [0.5, 0.5], [1.0, 0.0])


def test_priors_of_unlabelled_rows_are_found_again():
    """EM reaches a stationary point of Σ log Σ P'_k p(x|C_k), close to the truth for 50,000 rows."""
    rng = np.random.default_rng(1)
    truth, old = np.array([0.8, 0.15, 0.05]), np.array([0.3, 0.3, 0.4])
    means = np.array([-2.0, 0.0, 2.0])
    x = means[rng.choice(3, p=truth, size=50_000)] + rng.normal(size=50_000)
    log_likelihood = -0.5 * (x[:, None] - means) ** 2
    found = decision.estimate_priors(decision.log_softmax(log_likelihood + np.log(old)), old)
    assert np.abs(found - truth).max() < 0.01
    density = np.exp(log_likelihood)
    gradient = (density / (density @ found)[:, None]).mean(axis=0)
    np.testing.assert_allclose(gradient, 1.0, atol=1e-5)  # the Lagrange condition; EM stops at steps of 1e-8


def test_priors_that_cannot_be_told_say_so():
    with pytest.raises(DataError, match="at least one row"):
        decision.estimate_priors(np.empty((0, 2)), [0.5, 0.5])
    with pytest.warns(DiscriminantWarning, match="still moved"):
        decision.estimate_priors(np.log([[0.4, 0.6], [0.3, 0.7]]), [0.5, 0.5], max_iter=2)


# costs


def test_costs_as_matrix_as_rows_and_as_pairs_are_the_same():
    matrix = [[0, 1, 4], [2, 0, 1], [9, 1, 0]]
    rows = {a: {k: matrix[a][k] for k in range(3)} for a in range(3)}
    pairs = {(0, 2): 4, (1, 0): 2, (2, 0): 9}  # the rest is 0–1
    for given_costs in (matrix, rows, pairs, np.array(matrix, dtype=np.int8)):
        found, acts = decision.check_costs(given_costs, np.arange(3))
        np.testing.assert_array_equal(found, matrix)
        assert acts == [0, 1, 2]


def test_series_and_frames_are_read_by_their_labels_where_they_have_some():
    """``y.value_counts(normalize=True)`` comes sorted by frequency, and a table of costs as its writer sorted it."""
    classes = np.array(["a", "b", "c"])
    priors = pd.Series([0.5, 0.3, 0.2], index=["c", "b", "a"])
    assert decision.check_priors(priors, classes).tolist() == [0.2, 0.3, 0.5]
    assert decision.check_priors(priors.reset_index(drop=True), classes).tolist() == [0.5, 0.3, 0.2]
    with pytest.raises(ParameterError, match=r"'z', which is no class|nothing about class"):
        decision.check_priors(priors.rename({"a": "z"}), classes)
    table = pd.DataFrame([[0.0, 1.0, 2.0], [3.0, 0.0, 4.0], [5.0, 6.0, 0.0]])
    named = table.set_axis(["c", "b", "a"], axis=0).set_axis(["b", "c", "a"], axis=1)
    assert decision.check_costs(table, classes)[0].tolist() == table.to_numpy().tolist()
    assert decision.check_costs(named, classes)[0].tolist() == [[0.0, 5.0, 6.0], [4.0, 3.0, 0.0], [2.0, 0.0, 1.0]]


def test_acts_that_are_no_class_have_rows_of_their_own():
    costs = {"ask": {"ill": 3, "well": 3}, ("well", "ill"): 50}
    found, acts = decision.check_costs(costs, ["ill", "well"])
    assert acts == ["ill", "well", "ask"]
    np.testing.assert_array_equal(found, [[0, 1], [50, 0], [3, 3]])
    only, acts = decision.check_costs([[1, 2]], ["ill", "well"], ["wait"])
    assert acts == ["wait"]
    np.testing.assert_array_equal(only, [[1, 2]])


@pytest.mark.parametrize(
    ("costs", "actions", "sentence"),
    [
        ([[0, 1]], None, "costs has shape"),
        ([[0, 1], [1, 0]], ["a"], "a row for each of the 1 acts"),
        ([[0, np.inf], [1, 0]], None, "The cost of act 'a' for class 'b' is inf"),
        ({"a": {"c": 1}}, None, "'c', which is no class"),
        ({"ask": {"a": 1}}, None, "where the class is 'b'"),
        ({"a": 1}, None, "write {act: {class: cost}}"),
        ({("a", "b"): 1}, ["b"], "actions names 'b'"),
    ],
)
def test_costs_that_make_no_sense_are_refused_in_a_sentence(costs, actions, sentence):
    with pytest.raises(ParameterError, match=sentence):
        decision.check_costs(costs, ["a", "b"], actions)


def test_posteriors_and_costs_of_different_classes_are_refused():
    with pytest.raises(ParameterError, match="do not fit"):
        decision.expected_costs([[0.5, 0.5]], np.eye(3))


@given(
    hnp.arrays(np.float64, (2, 2), elements=st.floats(0, 10)),
    st.floats(0, 1, allow_subnormal=False),
)
def test_the_threshold_of_two_acts_decides_as_their_risks(costs, p):
    assume(costs[1, 0] + costs[0, 1] - costs[0, 0] - costs[1, 1] > 1e-6)
    risk = decision.expected_costs([[1 - p, p]], costs)[0]
    if abs(risk[0] - risk[1]) > 1e-9:
        assert (p > decision.cost_threshold(costs)) == (risk[1] < risk[0])


def test_a_threshold_needs_two_acts_and_right_costs():
    with pytest.raises(ParameterError, match="two acts"):
        decision.cost_threshold(np.eye(3))
    with pytest.raises(ParameterError, match="exchanged"):
        decision.cost_threshold(np.eye(2))


# reject


def test_chow_threshold_and_interval_are_the_same_rule():
    low, high = decision.reject_interval([[0, 1], [1, 0]], 0.2)
    assert (low, high) == pytest.approx((0.2, 0.8))
    assert decision.chow_threshold(0.2) == pytest.approx(high)
    assert decision.chow_threshold(2.0, error_cost=10, correct_cost=0) == pytest.approx(0.8)
    with pytest.raises(ParameterError, match="must cost more"):
        decision.chow_threshold(0.1, error_cost=0.0)


@given(
    hnp.arrays(np.float64, (2, 2), elements=st.floats(0, 10).map(lambda v: round(v, 2))),
    st.floats(0, 10).map(lambda v: round(v, 2)),
)
def test_inside_the_reject_interval_reject_is_cheapest(costs, reject_cost):
    interval = decision.reject_interval(costs, reject_cost)
    for p in np.linspace(0, 1, 43)[1:-1]:
        risk = decision.expected_costs([[1 - p, p]], decision.with_reject(costs, reject_cost))[0]
        if abs(risk[:2].min() - risk[2]) < 1e-9:
            continue
        assert (risk[2] < risk[:2].min()) == (interval is not None and interval[0] < p < interval[1])


def test_reject_is_taken_only_where_it_is_strictly_cheaper():
    costs = decision.with_reject(decision.zero_one_costs(2), 0.5)
    assert decision.bayes_actions([[0.5, 0.5]], costs).tolist() == [0]
    with pytest.raises(ParameterError, match=r"'reject_cost' parameter .* a finite number. Got nan"):
        decision.with_reject(costs, np.nan)
    with pytest.raises(ParameterError, match="two acts"):
        decision.reject_interval(costs, 0.5)


def test_error_reject_curve_agrees_with_counting():
    rng = np.random.default_rng(2)
    p = decision.softmax(rng.normal(size=(200, 3)).round(1))
    codes = rng.integers(3, size=200)
    threshold, rejected, error = decision.error_reject_curve(p, codes)
    assert rejected[0] == 0
    for t, r, e in zip(threshold, rejected, error, strict=True):
        out = decision.reject_by_posterior(p, t)
        assert r == pytest.approx(out.mean())
        assert e == pytest.approx((p.argmax(axis=1) != codes)[~out].mean())
    with pytest.raises(DataError, match="do not fit"):
        decision.error_reject_curve(p, codes[:3])


def test_without_single_winner_counts_the_positive_discriminants():
    z = np.array([[1.0, -1, -1], [0, 0, 0], [1, 1, -1], [-1, -1, 2]])
    assert decision.without_single_winner(z).tolist() == [False, True, True, False]


@pytest.mark.parametrize("K", [2, 3, 5, 8, 9])
@pytest.mark.parametrize("n", [1, 255, 256, 1000])
def test_the_largest_score_is_the_first_of_equals(K, n):
    g = np.random.default_rng(K).integers(-2, 3, size=(n, K)).astype(float)
    np.testing.assert_array_equal(largest(g), g.argmax(axis=1))


ORDER = ("b", "c", "a")  # not the order of the labels
BY_CLASS = {"b": 0.2, "c": 0.7, "a": 0.1}
IN_ORDER = [0.1, 0.2, 0.7]  # of classes_: a, b, c


@pytest.mark.parametrize(
    "make",
    [
        ds.LinearDiscriminantAnalysis,
        ds.QuadraticDiscriminantAnalysis,
        ds.FisherDiscriminant,
        lambda **given: ds.ExponentialFamilyClassifier("poisson", **given),
        lambda **given: ds.MinimumRiskClassifier(ds.LinearDiscriminantAnalysis(), **given),
    ],
)
def test_priors_are_in_the_order_of_the_classes_or_by_class(make):
    """priors=P as a sequence is P(classes_[k]); as a mapping the order does not matter; at fit and at prediction."""
    rng = np.random.default_rng(5)
    y = np.repeat(ORDER, 30)
    X = rng.poisson(3.0, (90, 2)) + 1.5 * (y == "c")[:, None] + (y == "a")[:, None]
    sequence, mapping = make(priors=IN_ORDER).fit(X, y), make(priors=BY_CLASS).fit(X, y)
    np.testing.assert_array_equal(mapping.priors_, IN_ORDER)
    np.testing.assert_array_equal(mapping.predict(X), sequence.predict(X))
    if hasattr(sequence, "predict_proba") and "priors" in inspect.signature(sequence.predict_proba).parameters:
        there = make().fit(X, y)
        np.testing.assert_array_equal(there.predict_proba(X, priors=BY_CLASS), there.predict_proba(X, priors=IN_ORDER))


def test_other_priors_of_a_fitted_model_are_named_where_there_are_two():
    """shift…(old, new) go from the training to now; with_priors takes the training priors by name only."""
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(60, 2)), np.repeat(ORDER, [30, 20, 10])
    model = ds.LogisticRegression().fit(X, y)
    expected = decision.shift_posteriors(model.predict_proba(X), [1 / 6, 1 / 2, 1 / 3], IN_ORDER)
    np.testing.assert_allclose(model.predict_proba(X, priors=BY_CLASS), expected, rtol=1e-12)
    by_name = {"c": 1 / 3, "b": 1 / 2, "a": 1 / 6}
    moved = model.discriminant_.with_priors(BY_CLASS, training_priors=by_name)
    np.testing.assert_allclose(moved.predict_proba(X), expected, rtol=1e-9)
    with pytest.raises(TypeError):
        model.discriminant_.with_priors(BY_CLASS, by_name)
    with pytest.raises(ParameterError, match="training_priors says nothing about class 'a'"):
        model.discriminant_.with_priors(BY_CLASS, training_priors={"b": 0.5, "c": 0.5})
