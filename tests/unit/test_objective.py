"""J(A) against plain arrays: every criterion, weighted and not, dense and sparse, cut into any blocks."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from discriminant import criteria, penalties
from discriminant.codings import make_coding
from discriminant.data import ArrayBlocks, make_blocks
from discriminant.errors import DataError, MismatchError
from discriminant.objective import PointwiseObjective
from discriminant.protocols import Need, Oracle

N, D, K = 60, 4, 3
rng = np.random.default_rng(0)
X = rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.7)
CODES = rng.integers(K, size=N)
WEIGHT = rng.uniform(0.2, 3.0, N)

CASES = [
    (criteria.Logistic(), "one-vs-rest"),
    (criteria.Logistic(), "pairwise"),
    (criteria.Squared(), "one-of-k"),
    (criteria.Squared(), "pairwise"),
    (criteria.Quadratic(1.0), "one-vs-rest"),
    (criteria.Relaxation(0.5), "pairwise"),
    (criteria.SigmoidSquared(), "one-vs-rest"),
    (criteria.Softmax(), "softmax"),
    (criteria.Softmax(reference=True), "reference"),
    (criteria.Kesler(criteria.SquaredHinge()), "machine"),
    (criteria.Kesler(criteria.Relaxation(1.0)), "machine"),
    (criteria.Hinge(), "one-vs-rest"),
    (criteria.Perceptron(0.3), "pairwise"),
]
cases = pytest.mark.parametrize(("criterion", "name"), CASES, ids=lambda part: str(part))


def build(criterion, name, *, X=X, weight=None, block_rows=0, penalty=None, codes=CODES):
    coding = make_coding(name, K, labels=criterion.labels)
    return PointwiseObjective(make_blocks(X, codes, weight, block_rows), criterion, coding, penalty)


def by_hand(objective, A, weight):
    """J by its definition, output by output, row by row."""
    criterion, coding = objective.criterion, objective.coding
    Y = np.hstack([np.ones((N, 1)), X])
    z, t, care = Y @ A, coding.targets[CODES], coding.care[CODES]
    loss = criterion.value(t, z)
    norms = np.square(Y).sum(axis=1) * (criterion.over_norm or 0) if criterion.over_norm else np.ones(N)
    total = 0.0
    for j in range(loss.shape[1]):
        part = weight * (1.0 if criterion.coupled else care[:, j])
        total += sum(part[i] * loss[i, j] / norms[i] for i in range(N)) / part.sum()
    return total


def start(objective, seed=1):
    return np.random.default_rng(seed).standard_normal((objective.n_parameters, objective.n_outputs))


@cases
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_value_is_its_definition(criterion, name, weight):
    objective = build(criterion, name, weight=weight)
    A = start(objective)
    expected = by_hand(objective, A, np.ones(N) if weight is None else weight)
    assert objective.value(A) == pytest.approx(expected, rel=1e-12)
    assert objective.value_and_gradient(A)[0] == pytest.approx(expected, rel=1e-12)


@cases
@pytest.mark.parametrize("penalty", [None, penalties.Ridge(0.3)], ids=["free", "ridge"])
def test_gradient_hessian_and_products_are_derivatives(criterion, name, penalty):
    objective = build(criterion, name, weight=WEIGHT, penalty=penalty)
    A, h = start(objective, 2), 1e-6
    gradient = objective.value_and_gradient(A)[1]
    rows, q = A.shape
    columns = []
    for j in range(q):
        for i in range(rows):
            E = np.zeros_like(A)
            E[i, j] = h
            assert gradient[i, j] == pytest.approx(
                (objective.value(A + E) - objective.value(A - E)) / (2 * h), abs=2e-8
            )
            if Oracle.CURVATURE in objective.oracles:
                slope = objective.value_and_gradient(A + E)[1] - objective.value_and_gradient(A - E)[1]
                columns.append((slope / (2 * h)).T.ravel())
    if Oracle.CURVATURE not in objective.oracles:
        return
    numerical, hessian = np.array(columns), objective.hessian(A)
    if not criterion.coupled:
        assert hessian.shape == (q, rows, rows)
        full = np.zeros((q, rows, q, rows))
        for j in range(q):
            full[j, :, j] = hessian[j]
        hessian = full.reshape(q * rows, q * rows)
    np.testing.assert_allclose(hessian, numerical, atol=1e-7)
    V = np.random.default_rng(3).standard_normal(A.shape)
    product = (hessian @ V.T.ravel()).reshape(q, rows).T
    np.testing.assert_allclose(objective.evaluate(A, Need.PRODUCT, V).product, product, atol=1e-12)


@cases
def test_along_is_the_value_at_each_step(criterion, name):
    objective = build(criterion, name, weight=WEIGHT, penalty=penalties.ElasticNet(0.2))
    A, direction = start(objective, 4), start(objective, 5)
    steps = np.array([0.0, 0.5, 1.0, -2.0])
    expected = [objective.value(A + s * direction) for s in steps]
    np.testing.assert_allclose(objective.along(A, direction, steps), expected, rtol=1e-12)


@cases
def test_any_partition_and_storage_give_one_answer(criterion, name):
    """Blocks of 1, 7 or all rows; dense, CSR, CSC; float64 arithmetic throughout."""
    whole = build(criterion, name, weight=WEIGHT)
    A = start(whole, 6)
    expected = whole.value_and_gradient(A)
    for source in (X, sp.csr_matrix(X), sp.csc_array(X), np.asfortranarray(X)):
        for block_rows in (1, 7, N):
            value, gradient = build(criterion, name, X=source, weight=WEIGHT, block_rows=block_rows).value_and_gradient(
                A
            )
            assert value == pytest.approx(expected[0], rel=1e-13)
            np.testing.assert_allclose(gradient, expected[1], atol=1e-13)


@cases
def test_integer_weight_equals_repeated_rows(criterion, name):
    times = np.random.default_rng(7).integers(0, 4, N)
    weighted = build(criterion, name, weight=times.astype(float))
    again = build(criterion, name, X=np.repeat(X, times, axis=0), codes=np.repeat(CODES, times))
    A = start(weighted, 8)
    for one, other in zip(weighted.value_and_gradient(A), again.value_and_gradient(A), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)


class PickledBlocks(ArrayBlocks):
    """Blocks of a far machine: each kernel and each block travels through pickle, and only sums come back."""

    def reduce(self, kernel):
        sent = pickle.dumps(kernel)
        total = None
        for block in self:
            part = pickle.loads(sent)(pickle.loads(pickle.dumps(block)))
            if total is None:
                total = part
            else:
                total += part
        return total


@cases
def test_kernels_travel(criterion, name):
    here = build(criterion, name, weight=WEIGHT, block_rows=11)
    there = PointwiseObjective(
        PickledBlocks(here.blocks.rows, here.blocks.target, here.blocks.weight, here.blocks.block_rows),
        criterion,
        here.coding,
    )
    A = start(here, 9)
    assert there.value(A) == here.value(A)
    np.testing.assert_array_equal(there.value_and_gradient(A)[1], here.value_and_gradient(A)[1])
    np.testing.assert_array_equal(there.scores(A), here.scores(A))
    assert there.errors(A) == here.errors(A)
    if Oracle.CURVATURE in here.oracles:
        np.testing.assert_array_equal(there.hessian(A), here.hessian(A))
        np.testing.assert_array_equal(
            there.evaluate(A, Need.PRODUCT, A).product, here.evaluate(A, Need.PRODUCT, A).product
        )


def test_pairwise_output_equals_a_fit_on_its_two_classes_alone():
    """Don't-care rows neither enter the sum nor its normaliser."""
    objective = build(criteria.Logistic(), "pairwise", weight=WEIGHT)
    A = start(objective, 10)
    gradient = objective.value_and_gradient(A)[1]
    for column, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        part = np.isin(CODES, (i, j))
        alone = PointwiseObjective(
            make_blocks(X[part], (CODES[part] == i).astype(int), WEIGHT[part]),
            criteria.Logistic(),
            make_coding("two-class", 2, labels=(0, 1)),
        )
        np.testing.assert_allclose(alone.value_and_gradient(A[:, [column]])[1][:, 0], gradient[:, column], atol=1e-14)


def test_targets_without_a_coding_serve_many_labels_at_once():
    """Independent outputs, none or several positive: t is a matrix of its own."""
    t = (np.random.default_rng(11).random((N, 2)) < 0.5).astype(float)
    objective = PointwiseObjective(make_blocks(X, t), criteria.SigmoidSquared())
    A = start(objective, 12)
    z = np.hstack([np.ones((N, 1)), X]) @ A
    assert objective.value(A) == pytest.approx((np.square(t - criteria.sigmoid(z)) / 2).sum() / N)
    assert objective.errors(A) == ((z > 0) != (t > 0)).any(axis=1).sum()


def test_errors_count_rows_that_lose_their_class():
    objective = build(criteria.Softmax(), "softmax")
    A = start(objective, 13)
    z = objective.scores(A)
    assert objective.errors(A) == (z.argmax(axis=1) != CODES).sum()


@pytest.mark.parametrize("name", ["two-class", "pairwise"])
def test_jeffreys_penalty_is_half_the_log_determinant(name):
    """Value −½ ln det I/Σw by explicit information matrices, and its gradient as the derivative of that."""
    codes = CODES if name == "pairwise" else (CODES > 0).astype(int)
    coding = make_coding(name, codes.max() + 1, labels=(0, 1))
    objective = PointwiseObjective(make_blocks(X, codes, WEIGHT), criteria.Logistic(), coding, penalties.Jeffreys())
    plain = objective.without_penalty()
    A = 0.3 * start(objective, 14)
    Y = np.hstack([np.ones((N, 1)), X])
    extra = 0.0
    for j in range(A.shape[1]):
        part = WEIGHT * coding.care[codes, j]
        p = criteria.sigmoid(Y @ A[:, j])
        extra -= np.linalg.slogdet(Y.T @ (Y * (part * p * (1 - p))[:, None]))[1] / 2 / part.sum()
    assert objective.value(A) - plain.value(A) == pytest.approx(extra, rel=1e-12)
    value, gradient = objective.value_and_gradient(A)
    assert value == pytest.approx(objective.value(A))
    for index in np.ndindex(A.shape):
        E = np.zeros_like(A)
        E[index] = 1e-5
        slope = (objective.value(A + E) - objective.value(A - E)) / 2e-5
        assert gradient[index] == pytest.approx(slope, abs=1e-8)


def test_jeffreys_penalty_keeps_separable_weights_finite():
    """Four separated points, one feature: the maximum of the penalised likelihood, found by search over values."""
    x, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    objective = PointwiseObjective(
        make_blocks(x, codes), criteria.Logistic(), make_coding("two-class", 2, labels=(0, 1)), penalties.Jeffreys()
    )
    found = minimize(lambda a: objective.value(a[:, None]), np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-9})
    assert np.abs(found.x).max() < 10
    assert np.abs(objective.value_and_gradient(found.x[:, None])[1]).max() < 1e-5


def no_minimum(objective, A):
    """Whether A separates the rows of an output, and nothing holds the weights back."""
    return objective.may_lack_minimum and bool((objective.sides(A)[0] == 0).any())


def test_separated_rows_prove_that_there_is_no_minimum():
    x, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    coding = make_coding("two-class", 2, labels=(0, 1))
    objective = PointwiseObjective(make_blocks(x, codes), criteria.Logistic(), coding)
    right, wrong = np.array([[-1.5], [1.0]]), np.array([[-0.5], [1.0]])
    assert no_minimum(objective, right)
    assert not no_minimum(objective, wrong)
    ridge = PointwiseObjective(make_blocks(x, codes), criteria.Logistic(), coding, penalties.Ridge(1e-9))
    assert not no_minimum(ridge, right)
    soft = PointwiseObjective(make_blocks(x, np.array([[0.1], [0.1], [0.9], [0.9]])), criteria.Logistic())
    assert not no_minimum(soft, right)


@pytest.mark.parametrize("reference", [False, True])
def test_softmax_has_no_minimum_where_the_argmax_rule_makes_no_error(reference):
    x, codes = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 2])
    coding = make_coding("reference" if reference else "softmax", 3)
    objective = PointwiseObjective(make_blocks(x, codes), criteria.Softmax(reference=reference), coding)
    A = np.array([[0.0, -1.0, -4.0], [0.0, 2.0, 4.0]])
    A = A[:, :2] - A[:, 2:] if reference else A
    assert objective.errors(A) == 0
    assert no_minimum(objective, A)
    assert not no_minimum(objective, 0 * A)


def test_oracles_are_those_that_criterion_and_penalty_share():
    assert Oracle.CURVATURE in build(criteria.Logistic(), "pairwise", penalty=penalties.Ridge(1.0)).oracles
    lasso = build(criteria.Logistic(), "pairwise", penalty=penalties.Lasso(1.0)).oracles
    assert Oracle.GRADIENT not in lasso
    assert Oracle.VALUE in lasso
    assert Oracle.MARGIN not in build(criteria.Hinge(), "pairwise", penalty=penalties.Lasso(1.0)).oracles
    assert Oracle.LINEAR in build(criteria.Hinge(), "pairwise", penalty=penalties.Lasso(1.0)).oracles
    assert Oracle.LINEAR not in build(criteria.Hinge(), "pairwise", penalty=penalties.Ridge(1.0)).oracles


def test_refusals_name_both_parts():
    with pytest.raises(MismatchError, match=r"Softmax couples its outputs and the coding 'pairwise'.*Logistic"):
        build(criteria.Softmax(), "pairwise")
    with pytest.raises(MismatchError, match="Logistic takes targets between 0 and 1"):
        PointwiseObjective(make_blocks(X, CODES), criteria.Logistic(), make_coding("one-vs-rest", K))
    with pytest.raises(MismatchError, match=r"Jeffreys needs .* third derivative, which Hinge"):
        build(criteria.Hinge(), "pairwise", penalty=penalties.Jeffreys())
    with pytest.raises(MismatchError, match="Pointwise"):
        PointwiseObjective(make_blocks(X, CODES), "logistic")
    with pytest.raises(DataError, match="Output 0 has no row"):
        _ = build(criteria.Logistic(), "one-vs-rest", weight=np.zeros(N)).totals
    with pytest.raises(DataError, match="too many"):
        build(criteria.Logistic(), "one-vs-rest").collect(most=10)
    collinear = PointwiseObjective(
        make_blocks(np.hstack([X, X]), (CODES > 0).astype(int)),
        criteria.Logistic(),
        make_coding("two-class", 2, labels=(0, 1)),
        penalties.Jeffreys(),
    )
    with pytest.raises(DataError, match="full rank"):
        collinear.value_and_gradient(np.zeros((2 * D + 1, 1)))


def test_collect_hands_out_all_rows():
    objective = build(criteria.Relaxation(), "pairwise", weight=WEIGHT, block_rows=9)
    Y, t, s = objective.collect()
    A = start(objective, 15)
    assert (s * objective.criterion.value(t, Y @ A)).sum() == pytest.approx(objective.value(A))
