"""Codings against brute force: every decoder by its definition, pairwise coupling by constrained minimisation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from discriminant.codings import couple_pairwise, make_coding, pairs
from discriminant.errors import ParameterError


def test_pairwise_decoders_by_their_definitions():
    """Sum (A 10.10), majority, and the conjunction that rejects, each by a loop over pairs."""
    rng = np.random.default_rng(0)
    K, n = 4, 200
    z = rng.standard_normal((n, 6))
    total, votes, least = np.zeros((n, K)), np.zeros((n, K)), np.full((n, K), np.inf)
    for column, (i, j) in enumerate(itertools.combinations(range(K), 2)):
        for k, sign in ((i, 1), (j, -1)):
            total[:, k] += sign * z[:, column]
            votes[:, k] += sign * z[:, column] > 0
            least[:, k] = np.minimum(least[:, k], sign * z[:, column])
    np.testing.assert_allclose(make_coding("pairwise", K, decoder="sum").decode(z), total, atol=1e-14)
    np.testing.assert_array_equal(np.rint(make_coding("pairwise", K, decoder="votes").decode(z)), votes)
    unanimous = make_coding("pairwise", K, decoder="unanimous")
    np.testing.assert_allclose(unanimous.decode(z), least)
    expected = np.where((votes == K - 1).any(axis=1), votes.argmax(axis=1), -7)
    np.testing.assert_array_equal(unanimous.decide(z, reject=-7), expected)
    assert (expected == -7).any()


def test_votes_break_ties_by_the_sum():
    """A cycle 0 > 1 > 2 > 0 has one vote each; the greatest sum decides."""
    z = np.array([[5.0, -1.0, 1.0]])
    assert make_coding("pairwise", 3).decide(z) == [0]


def test_one_vs_rest_with_reject_is_exactly_one_positive():
    rng = np.random.default_rng(1)
    z = rng.standard_normal((300, 3))
    decided = make_coding("one-vs-rest", 3, decoder="unanimous").decide(z)
    positive = z > 0
    np.testing.assert_array_equal(decided, np.where(positive.sum(axis=1) == 1, positive.argmax(axis=1), -1))


def test_k_minus_one_form_names_the_last_class_where_no_output_is_positive():
    z = np.array([[-1.0, -2.0], [0.5, -1.0], [0.5, 0.7]])
    np.testing.assert_array_equal(make_coding("one-vs-rest-k-1", 3).decide(z), [2, 0, 1])
    np.testing.assert_array_equal(make_coding("one-vs-rest-k-1", 3, decoder="unanimous").decide(z), [2, 0, -1])


def test_two_classes_positive_side_is_the_second_class():
    coding = make_coding("two-class", ["no", "yes"])
    np.testing.assert_array_equal(coding.decide(np.array([[-1.0], [0.0], [1.0]])), [0, 0, 1])
    half = make_coding("two-class", 2, labels=(0, 1), threshold=None)
    np.testing.assert_array_equal(half.decide(np.array([[0.4], [0.6]])), [0, 1])


def test_fishers_targets_sum_to_zero_over_the_rows():
    """Σ_n t_n = 0, so that w0 = −w·m; for two classes they are −N/N_1 and N/N_2 (PRML 4.33)."""
    counts = np.array([30.0, 10.0])
    np.testing.assert_allclose(make_coding("fisher", 2, counts=counts).targets, [[-40 / 30], [40 / 10]])
    many = np.array([30.0, 10.0, 5.0])
    np.testing.assert_allclose(many @ make_coding("fisher", 3, counts=many).targets, 0, atol=1e-12)


def test_pairs_come_in_the_order_of_combinations():
    assert list(zip(*pairs(5), strict=True)) == list(itertools.combinations(range(5), 2))


@pytest.mark.parametrize("K", [2, 3, 5, 12])
def test_coupling_recovers_probabilities_that_are_consistent(K):
    """r_ij = p_i/(p_i+p_j) has the one answer p."""
    p = np.random.default_rng(K).dirichlet(np.full(K, 0.7), size=50)
    i, j = pairs(K)
    np.testing.assert_allclose(couple_pairwise(p[:, i] / (p[:, i] + p[:, j])), p, atol=1e-9)


def test_coupling_minimises_its_criterion_under_the_constraint():
    rng = np.random.default_rng(5)
    K = 4
    first, second = pairs(K)
    for r in rng.random((5, 6)):
        R = np.zeros((K, K))
        R[first, second], R[second, first] = r, 1 - r

        def criterion(p, R=R):
            return sum((R[j, i] * p[i] - R[i, j] * p[j]) ** 2 for i in range(K) for j in range(K) if i != j)

        found = minimize(
            criterion,
            np.full(K, 1 / K),
            method="SLSQP",
            bounds=[(0, 1)] * K,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
            options={"ftol": 1e-14, "maxiter": 500},
        )
        np.testing.assert_allclose(couple_pairwise(r[None])[0], found.x, atol=1e-5)


def test_coupling_stands_certain_and_contradictory_pairs():
    certain = couple_pairwise(np.array([[1.0, 1, 1, 1, 1, 1], [1, 0, 1, 1, 0, 1]]))
    np.testing.assert_allclose(certain[0], [1, 0, 0, 0], atol=1e-14)
    assert np.isfinite(certain).all()
    np.testing.assert_allclose(certain.sum(axis=1), 1)
    np.testing.assert_allclose(couple_pairwise(np.array([[1.0, 0.0, 1.0]])), 1 / 3)  # a cycle
    assert couple_pairwise(np.empty((0, 3))).shape == (0, 3)


def test_error_correcting_code_mends_one_wrong_output():
    """The rows of this code differ in at least four places, so that any one output may be wrong."""
    code = np.array([[1, 1, 1, 1, 1, 1], [1, 1, -1, -1, -1, -1], [-1, -1, 1, 1, -1, -1], [-1, -1, -1, -1, 1, 1]])
    coding = make_coding(code, 4, decoder="votes")
    assert coding.linear_map() is None
    for k, j in itertools.product(range(4), range(6)):
        z = code[k].astype(float)
        z[j] *= -1
        assert coding.decide(z[None]) == [k]


def test_levels_in_one_output_decode_to_the_nearest():
    coding = make_coding([[0.0], [1.0], [2.0]], 3)
    assert coding.decoder == "nearest"
    np.testing.assert_array_equal(coding.decide(np.array([[-3.0], [0.9], [1.6]])), [0, 1, 2])


def test_signs_of_a_matrix_become_the_criterions_labels():
    with pytest.raises(ParameterError, match="cannot be told apart"):
        make_coding([[1, 0], [-1, 1], [0, -1]], 3)
    made = make_coding([[1, 1, 0], [-1, 0, 1], [0, -1, -1]], 3, labels=(0, 1))
    np.testing.assert_array_equal(made.targets, [[1, 1, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(made.care, [[1, 1, 0], [1, 0, 1], [0, 1, 1]])


def test_refusals_are_sentences():
    with pytest.raises(ParameterError, match=r"no coding 'ovo'.*'pairwise'"):
        make_coding("ovo", 3)
    with pytest.raises(ParameterError, match="for two classes and there are 3"):
        make_coding("two-class", 3)
    with pytest.raises(ParameterError, match="at least two classes; there is 1"):
        make_coding("softmax", ["only"])
    with pytest.raises(ParameterError, match=r"'maximum' needs an output for each class.*'votes'"):
        make_coding("pairwise", 3, decoder="maximum")
    with pytest.raises(ParameterError, match="no decoder 'median'"):
        make_coding("pairwise", 3, decoder="median")
    with pytest.raises(ParameterError, match="counts"):
        make_coding("fisher", 3)
    with pytest.raises(ParameterError, match="counts, positive"):
        make_coding("fisher", 2, counts=[3, 0])
    with pytest.raises(ParameterError, match=r"3 classes and the matrix has shape \(2, 2\)"):
        make_coding(np.eye(2), 3)
    with pytest.raises(ParameterError, match="Column 1"):
        make_coding([[1.0, 1.0], [-1.0, 1.0]], 2)
    with pytest.raises(ParameterError, match="infinite"):
        make_coding([[np.inf], [1.0]], 2)
    with pytest.raises(ParameterError, match="for 3 classes and there are 4"):
        make_coding(make_coding("pairwise", 3), 4)
    with pytest.raises(ParameterError, match="columns; 4"):
        couple_pairwise(np.full((1, 4), 0.5))
    with pytest.raises(ParameterError, match="between 0 and 1"):
        couple_pairwise(np.array([[0.5, 1.5, np.nan]]))
