"""Small parts of the theory against numbers that were worked out by hand or by another formula."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from discriminant import criteria, penalties
from discriminant.codings import ClassCoding, couple_pairwise, make_coding
from discriminant.criteria.logistic import entropy_term
from discriminant.criteria.pointwise import outdone
from discriminant.decision import posteriors
from discriminant.decision.priors import check_priors, estimate_priors
from discriminant.decision.reject import chow_threshold, reject_interval, with_reject, without_single_winner
from discriminant.decision.risk import check_costs, cost_threshold
from discriminant.decision.rule import Rule, largest
from discriminant.errors import DataError, DiscriminantWarning, MismatchError, ParameterError
from discriminant.geometry import regions
from discriminant.geometry.contributions import Contributions
from discriminant.geometry.hyperplane import Hyperplane
from discriminant.penalties.separable import separable_penalty
from discriminant.penalties.weight import strength_from_C
from discriminant.protocols import Oracle
from discriminant.thresholds import COMPARED_COLUMNS, COMPARED_ROWS

rng = np.random.default_rng(0)
Z = rng.normal(size=(6, 4)) * 3
T = np.eye(4)[rng.integers(0, 4, 6)]


@pytest.mark.parametrize("z", [Z, Z[:, :1], Z.reshape(2, 3, 4), rng.normal(size=(5, 40)), Z[0], Z.astype(np.float32)])
def test_exponential_sums_are_those_of_another_library(z):
    for module in (posteriors,):
        np.testing.assert_allclose(
            module.softmax(z), special.softmax(z, axis=-1), rtol=1e-5 if z.dtype == "f4" else 1e-12
        )
        np.testing.assert_allclose(module.log_softmax(z), special.log_softmax(z, axis=-1), rtol=1e-5, atol=1e-6)
    wanted = special.logsumexp(z, axis=-1)
    np.testing.assert_allclose(criteria.log_sum_exp(z), wanted[..., None], rtol=1e-5)
    np.testing.assert_allclose(posteriors.logsumexp(z), wanted, rtol=1e-5)
    np.testing.assert_allclose(posteriors.logsumexp(z, keepdims=True), wanted[..., None], rtol=1e-5)
    assert posteriors.softmax(z).shape == z.shape


def test_pairs_of_a_score():
    z = np.array([-800.0, -2.0, 0.0, 3.0, 800.0])
    both = np.column_stack([special.expit(-z), special.expit(z)])
    np.testing.assert_allclose(posteriors.sigmoid_pair(z), both, rtol=1e-14)
    np.testing.assert_allclose(posteriors.log_sigmoid_pair(z), special.log_expit(np.column_stack([-z, z])), rtol=1e-14)
    np.testing.assert_allclose(posteriors.sigmoid_pair(z[1:2]), both[1:2], rtol=1e-14)


def test_entropy_terms():
    p = np.array([-0.1, 0.0, 0.25, 1.0, 2.0])
    np.testing.assert_allclose(entropy_term(p), [np.inf, 0.0, 0.25 * np.log(0.25), 0.0, 2 * np.log(2)])


@pytest.mark.parametrize(
    "criterion",
    [criteria.Softmax(), criteria.Softmax(reference=True), criteria.Logistic(), criteria.Squared(),
     criteria.SquaredHinge()],
    ids=repr,
)  # fmt: skip
def test_a_root_of_the_curvature_squares_to_it(criterion):
    """RᵗR = ∂²ℓ/∂z²."""
    t = T if criterion.coupled else np.where(T > 0, criterion.labels[1], criterion.labels[0])
    root, curvature = criterion.curvature_root(t, Z), criterion.curvature(t, Z)
    full = curvature if criterion.coupled else curvature[:, :, None] * np.eye(4)
    np.testing.assert_allclose(np.einsum("nmi,nmj->nij", root, root), full, atol=1e-12)


def test_what_criteria_say_of_themselves():
    """Labels, thresholds and margins of the definitions."""
    assert (
        criteria.Perceptron().margin
        == criteria.Quadratic().margin
        == criteria.Kesler(criteria.Perceptron()).base.margin
        == 0
    )
    assert criteria.Hinge().margin == criteria.SquaredHinge().margin == criteria.Relaxation().margin == 1
    assert criteria.Kesler(criteria.Hinge()).labels == (0.0, 1.0)
    assert criteria.Kesler(criteria.Hinge()).single == criteria.Hinge()
    assert criteria.Hinge().single == criteria.Hinge()
    assert criteria.Kesler(criteria.Relaxation()).over_norm == 2 * criteria.Relaxation().over_norm == 2
    assert criteria.Perceptron().over_norm == 0
    assert criteria.Kesler(criteria.Logistic()).recedes is bool(criteria.Logistic().recedes)
    assert criteria.Softmax().free_sum
    assert not criteria.Softmax(reference=True).free_sum
    assert Oracle.VALUE in criteria.ZeroOne().oracles
    assert Oracle.MARGIN in criteria.ZeroOne().oracles
    assert criteria.Hinge().labels == criteria.Perceptron().labels == (-1.0, 1.0)
    assert not criteria.Hinge().coupled
    np.testing.assert_allclose(criteria.Logistic().probability(Z), special.expit(Z))


def test_wrong_rows():
    """On the boundary is wrong; a threshold moves it."""
    t, z = np.array([[-1.0], [1.0], [1.0], [-1.0]]), np.array([[-2.0], [2.0], [0.0], [0.5]])
    assert criteria.Hinge().wrong(t, z).ravel().tolist() == [False, False, True, True]
    half = criteria.Squared()
    low, high = half.labels
    middle = (low + high) / 2 if half.threshold is None else half.threshold
    t = np.array([[low], [high], [low], [high]])
    assert half.wrong(t, np.array([[middle - 0.1], [middle + 0.1], [middle + 0.1], [middle]])).ravel().tolist() == [
        False, False, True, True]  # fmt: skip
    one = np.array([[0.0, 1.0, 0.0]] * 3)
    scores = np.array([[0.0, 1.0, 0.5], [1.0, 1.0, 0.0], [2.0, 1.0, 0.0]])
    assert outdone(one, scores).ravel().tolist() == [False, True, True]
    assert criteria.Kesler(criteria.Perceptron()).wrong(one, scores).ravel().tolist() == [False, True, True]
    assert criteria.Softmax().wrong(one, scores).ravel().tolist() == [False, True, True]
    silent = np.array([[0.0, 0.0], [1.0, 0.0]])  # the last class is the silent one, with score 0
    assert criteria.Softmax(reference=True).wrong(silent, np.array([[-1.0, -1.0], [-1.0, -2.0]])).ravel().tolist() == [
        False, True]  # fmt: skip


def test_targets_that_do_not_sum_to_one_are_refused():
    for criterion, bad in (
        (criteria.Softmax(), 0.9),
        (criteria.Softmax(), 1.1),
        (criteria.Softmax(reference=True), 1.01),
    ):
        with pytest.raises(MismatchError, match=f"sums to {bad:g}"):
            criterion.check_targets(np.array([[bad - 0.5, 0.5], [1.0, 0.0]]))
    criteria.Softmax(reference=True).check_targets(np.array([[0.4, 0.0]]))
    with pytest.raises(MismatchError, match="3"):
        criteria.Hinge().check_targets(np.array([[3.0]]))


@pytest.mark.parametrize(
    "criterion", [criteria.Perceptron(0.5), criteria.Quadratic(0.5), criteria.Relaxation(0.5)], ids=repr
)
@pytest.mark.parametrize("t", [-1.0, 1.0])
def test_conjugates_are_suprema(criterion, t):
    """ℓ*(u) = sup_z uz − ℓ(z), over a fine grid; infinite where the supremum grows without end."""
    z = np.linspace(-60, 60, 240_001)[:, None]
    targets = np.full_like(z, t)
    for u in (-1.5, -0.7, -0.2, 0.0, 0.3, 0.9, 1.4):
        found = float(criterion.conjugate(np.array([[t]]), np.array([[u]])).ravel()[0])
        seen = float((u * z - criterion.value(targets, z)).max())
        assert (found == np.inf and seen > 5) or found == pytest.approx(seen, abs=1e-6), u


def test_kesler_curvature_times_a_direction():
    criterion = criteria.Kesler(criteria.SquaredHinge())
    v = rng.normal(size=Z.shape)
    wanted = np.einsum("nij,nj->ni", criterion.curvature(T, Z), v)
    np.testing.assert_allclose(criterion.curvature_product(T, Z, v), wanted, atol=1e-12)
    balanced = criterion.gradient(T, Z)
    loss = criterion.value(T, Z) + criterion.conjugate(T, balanced)
    np.testing.assert_allclose(loss, (balanced * Z).sum(axis=1, keepdims=True), atol=1e-9)  # Fenchel and Young
    assert np.isinf(criterion.conjugate(T, balanced + 0.1)).all()


def test_largest_of_rows_either_way():
    for columns in (1, 2, COMPARED_COLUMNS, COMPARED_COLUMNS + 1):
        for rows in (3, COMPARED_ROWS, COMPARED_ROWS + 5):
            g = rng.integers(-3, 3, (rows, columns)).astype(float)
            np.testing.assert_array_equal(largest(g), g.argmax(axis=1))


def flipped():
    """One output of two classes that stands for the first of them, with a threshold of 3."""
    return make_coding(np.array([[5.0], [1.0]]), 2, threshold=None)


def test_a_rule_of_one_output():
    rule = Rule(np.array(["a", "b"]), 1, coding=flipped(), link="sigmoid")
    z = np.array([[1.0], [3.0], [4.5]])
    assert rule.threshold == 3.0
    assert rule.orientation == -1.0
    np.testing.assert_allclose(rule.decision_function(z), [2.0, 0.0, -1.5])
    np.testing.assert_allclose(rule.class_scores(z), [[-1.0, 1.0], [0.0, 0.0], [0.75, -0.75]])
    assert rule.labels(z).tolist() == ["b", "a", "a"]
    D, s = rule.linear_decoder
    np.testing.assert_allclose(z @ D + s, rule.class_scores(z))
    np.testing.assert_allclose(rule.posteriors(z)[:, 1], special.expit([2.0, 0.0, -1.5]))
    np.testing.assert_allclose(rule.log_posteriors(z)[:, 0], special.log_expit([-2.0, 0.0, 1.5]))
    straight = Rule(np.array(["a", "b"]), 1, coding=make_coding("two-class", 2, labels=(0, 1), threshold=None))
    assert straight.orientation == 1.0
    np.testing.assert_allclose(straight.decision_function(z), [0.5, 2.5, 4.0])


def test_a_rule_of_two_outputs_and_of_codings():
    rule = Rule(np.array([3, 7]), 2, link="softmax")
    z = np.array([[1.0, 4.0], [2.0, 2.0], [5.0, -1.0]])
    assert not rule.one_output
    np.testing.assert_allclose(rule.decision_function(z), [3.0, 0.0, -6.0])
    assert rule.labels(z).tolist() == [7, 3, 3]
    np.testing.assert_allclose(rule.log_posteriors(z), special.log_softmax(z, axis=1))
    coded = Rule(np.arange(3), 3, coding=make_coding("pairwise", 3, decoder="sum"))
    D, s = coded.linear_decoder
    z = rng.normal(size=(4, 3))
    np.testing.assert_allclose(z @ D + s, coded.class_scores(z))
    assert Rule(np.arange(3), 3, coding=make_coding("pairwise", 3)).linear_decoder is None


def test_positions_of_labels():
    rule = Rule(np.array(["a", "b", "c"]), 3)
    assert [rule.position(label) for label in ("a", "c", 0, 2, np.str_("b"))] == [0, 2, 0, 2, 1]
    for stranger in ("d", 3, -1, 1.0):
        with pytest.raises(ParameterError, match="is no class"):
            rule.position(stranger)
    assert Rule(np.array([1.5, 2.5]), 2).position(2.5) == 1
    assert rule.encode(["c", "a"]).tolist() == [2, 0]
    with pytest.raises(DataError, match="'x', which is no class"):
        rule.encode(["a", "x"])


def test_classes_of_a_rule():
    for classes in (["a"], ["a", "a"], [["a", "b"]]):
        with pytest.raises(DataError, match="at least two different labels"):
            Rule(np.array(classes), 1).check()
    with pytest.raises(MismatchError, match="need a coding"):
        Rule(np.arange(3), 2).check()
    Rule(np.arange(2), 1).check()
    Rule(np.arange(3), 3, coding=make_coding("machine", 3)).check()


def test_priors_that_do_not_sum_to_one_are_told():
    with pytest.warns(DiscriminantWarning, match=r"they sum to 0\.9"):
        np.testing.assert_allclose(check_priors([0.5, 0.4], np.array([0, 1])), [5 / 9, 4 / 9])
    check_priors([0.5, 0.500001], np.array([0, 1]))


def test_codings_in_numbers():
    np.testing.assert_array_equal(make_coding("reference", 3).targets, np.eye(3)[:, :2])
    np.testing.assert_array_equal(make_coding("reference", 3).threshold, [0.0, 0.0])
    fisher = make_coding("fisher", 2, counts=np.array([30.0, 10.0]))
    np.testing.assert_allclose(fisher.targets, [[-40 / 30], [4.0]])
    np.testing.assert_allclose(fisher.decode(np.array([[1.0], [-2.0]])), [[-1.0, 1.0], [2.0, -2.0]])
    assert fisher.threshold.tolist() == [0.0]
    assert make_coding("fisher", 3, counts=np.ones(3)).threshold.tolist() == [0.0] * 3
    targets, care = np.array([[1.0, 0.0], [-1.0, 2.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])
    z = np.array([[0.5, 1.0]])
    nearest = ClassCoding(targets, care, np.zeros(2), decoder="nearest")
    np.testing.assert_allclose(nearest.decode(z), [[-0.125, -(2.25 + 1.0) / 2]])


def test_strengths_and_levels_of_penalties():
    assert strength_from_C(0.5, 100) == 0.02
    assert strength_from_C(np.inf, 100) == 0.0
    for C in (0.0, -1.0):
        with pytest.raises(ParameterError, match="greater than 0"):
            strength_from_C(C, 10)
    assert all(
        kind().strength == 1.0 for kind in (penalties.Ridge, penalties.Lasso, penalties.Group, penalties.ElasticNet)
    )
    for kind in (penalties.Lasso(1.0), penalties.ElasticNet(1.0), penalties.Group(1.0)):
        assert Oracle.VALUE in kind.oracles
        assert Oracle.CONJUGATE in kind.oracles
    assert Oracle.LINEAR in penalties.Lasso(1.0).oracles
    for oracle in (Oracle.VALUE, Oracle.GRADIENT, Oracle.CURVATURE):
        assert oracle in penalties.Jeffreys().oracles
    assert penalties.Ridge(1.0, factors=(0.0, 1.0)).value(np.array([[9.0], [3.0], [2.0]])) == 2.0


def test_a_group_penalty_in_numbers():
    """λ f √|g| ‖a_g‖."""
    group = penalties.Group(0.5, groups=((0, 1), (2,)), factors=(2.0, 3.0))
    A = np.array([[7.0], [3.0], [4.0], [-2.0], [9.0]])
    assert group.value(A) == pytest.approx(0.5 * 2 * 2**0.5 * 5 + 0.5 * 3 * 2)
    np.testing.assert_allclose(group.prox(0 * A, 1.0), 0 * A)
    small = np.array([[1.0], [0.3], [0.4], [0.1], [0.0]])
    assert group.conjugate(small) == 0.0
    assert group.conjugate(small + np.array([[0.0], [0], [0], [0], [0.1]])) == np.inf  # a feature of no group
    assert group.conjugate(10 * small) == np.inf
    with pytest.raises(ParameterError, match="not there"):
        penalties.Group(1.0, groups=((0, 4),)).value(A)
    with pytest.raises(ParameterError, match="groups and 1 factors"):
        penalties.Group(1.0, groups=((0,), (1,)), factors=(1.0,)).value(A)


@pytest.mark.parametrize("groups", [None, ((0, 2), (1,)), ((2,), (0,))])
@pytest.mark.parametrize("ratio", [1.0, 0.4])
@pytest.mark.parametrize("q", [1, 2])
def test_a_separable_penalty_is_its_formula(groups, ratio, q):
    """Ω, its conjugate (sup over many a) and where it is infinite, in the order of the groups."""
    factors = np.array([1.0, 2.0, 0.5, 3.0])
    made = separable_penalty(4, np.ones(4), l1_ratio=ratio, factors=factors, groups=groups)
    order = made.order
    A = rng.normal(size=(4, q))
    members = [made.order[made.starts[g] : made.starts[g + 1]] for g in range(made.n_groups)]
    place = {feature: i for i, feature in enumerate(order)}

    def omega(a):
        total = 0.0
        for group in members:
            part, f = a[[place[j] for j in group]], factors[group[0]]
            root = np.sqrt(len(group)) if groups is not None else 1.0
            kink = np.linalg.norm(part) if made.joint else np.abs(part).sum()
            total += ratio * f * root * kink + 0.5 * (1 - ratio) * f * (part**2).sum()
        return total

    assert made.value(A) == pytest.approx(omega(A))
    assert made.single == (len(members) == 4)
    assert made.plain == (made.single and not made.joint and ratio == 1.0)
    R = 3 * rng.normal(size=(4, q))
    tau = made.scale(R)
    tries = [scale * (R if direction is None else direction) for scale in np.linspace(0, 12, 60)
             for direction in (None, *rng.normal(size=(40, 4, q)))]  # fmt: skip
    best = max(float((tau * R * a).sum() - omega(a)) for a in tries)
    found = made.conjugate(tau * R)
    assert best <= found + 1e-9
    assert made.conjugate(1e-3 * R) == 0.0  # below every l₁
    if ratio < 1:  # a curvature leaves no slope without its weight: Σ (pull − l₁)₊² / 2l₂
        assert tau == 1.0
        pulls = made.lengths(R)[:, None] if made.joint else np.abs(R)
        excess = np.maximum(pulls - made.l1[:, None], 0)
        assert found == pytest.approx(float((excess**2 / (2 * made.l2[:, None])).sum()))
    if ratio == 1.0:
        assert found == pytest.approx(0.0, abs=1e-12)
        held = made.violation(R)
        pulls = held + made.l1
        assert tau == pytest.approx(min(1.0, float((made.l1 / pulls).min())))
    violation = made.violation(R)
    for u, group in enumerate(members):
        rows = R[[place[j] for j in group]]
        pull = np.linalg.norm(rows) if made.joint else np.abs(rows).max()
        root = np.sqrt(len(group)) if groups is not None else 1.0
        assert violation[u] == pytest.approx(pull - ratio * factors[group[0]] * root)


def test_bounds_of_a_separable_penalty():
    lower, upper = np.array([0.0, -1.0, -np.inf]), np.array([2.0, 0.0, 0.5])
    made = separable_penalty(3, np.array([2.0, 1.0, 4.0]), lower=lower, upper=upper)
    np.testing.assert_allclose(made.l1, [0.5, 1.0, 0.25])
    np.testing.assert_allclose(made.lower, [0.0, -1.0, -np.inf])
    np.testing.assert_allclose(made.upper, [4.0, 0.0, 2.0])
    R = np.array([[3.0], [5.0], [-1.0]])
    np.testing.assert_allclose(made.violation(R), [2.5, -1.0, 0.75])  # a bound at zero holds all of it back
    np.testing.assert_allclose(made.violation(-R), [-0.5, 4.0, 0.75])
    scaled = made.scale(R) * R
    assert made.scale(R) == 0.25  # of the third, which has no end below
    assert made.conjugate(scaled) == pytest.approx(4 * (0.75 - 0.5))
    for bad in ({"factors": [1.0, -1.0, 1.0]}, {"factors": [1.0, np.nan, 1.0]}, {"factors": [1.0, 1.0]},
                {"lower": 0.1}, {"upper": -0.1}, {"groups": ((0, 3),)}, {"groups": ((-1,),)}, {"groups": ((0,), (0,))},
                {"groups": ((0, 1),), "upper": 1.0}):  # fmt: skip
        with pytest.raises(ParameterError):
            separable_penalty(3, np.ones(3), **bad)


def test_units_and_bounds_of_a_separable_penalty():
    """A weight a of a column of unit u is the inner weight a·u: l₁/u, l₂/u², and bounds times u."""
    made = separable_penalty(2, np.array([2.0, 4.0]), l1_ratio=0.5, lower=[-3.0, -1.0], upper=[0.1, np.inf])
    np.testing.assert_allclose(made.l1, [0.25, 0.125])
    np.testing.assert_allclose(made.l2, [0.125, 0.03125])
    np.testing.assert_allclose(made.lower, [-6.0, -4.0])
    np.testing.assert_allclose(made.upper, [0.2, np.inf])
    R = np.array([[0.5], [-0.05]])
    np.testing.assert_allclose(made.violation(R), [0.25, -0.075])
    assert made.conjugate(R) == pytest.approx(0.25 * 0.2 - 0.5 * 0.125 * 0.2**2)  # up to its bound, below l₁ not at all
    # Where nothing bends, only a bound ends the first weight; the second is at its level, and none grows it.
    kinked = separable_penalty(2, np.ones(2), lower=[-2.0, -np.inf], upper=[3.0, np.inf])
    assert kinked.conjugate(np.array([[-1.5], [1.0]])) == pytest.approx(0.5 * 2.0)
    assert kinked.scale(np.array([[9.0], [0.5]])) == 1.0
    assert kinked.scale(np.array([[0.0], [4.0]])) == 0.25
    assert kinked.scale(np.array([[0.0], [-4.0]])) == 0.25
    plain = separable_penalty(2, np.ones(2))
    assert plain.scale(np.array([[0.5], [-0.2]])) == 1.0
    assert plain.scale(np.array([[0.5], [-4.0]])) == 0.25
    upper = separable_penalty(2, np.ones(2), upper=[1.0, np.inf])
    assert upper.bounded
    assert not upper.plain
    assert upper.conjugate(np.array([[3.0], [0.0]])) == 2.0
    assert not plain.bounded


def test_weights_without_a_penalty():
    """Free are those without l₁, l₂ and bounds, like the intercept; they take no part in scale and conjugate."""
    made = separable_penalty(
        4, np.ones(4), factors=[0.0, 0.0, 1.0, 0.0], lower=[-np.inf, -1.0, -np.inf, -np.inf],
        upper=[np.inf, np.inf, np.inf, 2.0],
    )  # fmt: skip
    assert made.free.tolist() == [True, False, False, False]
    assert not made.plain
    R = np.array([[5.0], [-2.0], [0.5], [0.25]])
    assert made.scale(R) == 1.0
    assert made.conjugate(R) == pytest.approx(2.0 * 1.0 + 0.25 * 2.0)
    ridge = separable_penalty(2, np.ones(2), l1_ratio=0.0, factors=[2.0, 0.0])
    assert ridge.free.tolist() == [False, True]
    assert not separable_penalty(2, np.ones(2), factors=[0.0, 1.0]).plain
    assert separable_penalty(2, np.ones(2), factors=[2.0, 1.0]).free.tolist() == [False, False]
    group = separable_penalty(3, np.ones(3), factors=[0.0, 1.0, 0.0], groups=((0, 2),))
    assert group.free.tolist() == [True, False]
    assert group.scale(np.array([[3.0], [4.0], [2.0]])) == 0.5  # of the second; the pair is free
    half = separable_penalty(3, np.ones(3), l1_ratio=0.5, factors=[1.0, 1.0, 1.0], groups=((0, 2),))
    assert half.free.tolist() == [False, False]


def test_some_groups_of_a_separable_penalty():
    """Features group by group, those in no group behind; a penalty of some of them is that of these weights."""
    made = separable_penalty(5, np.ones(5), l1_ratio=0.5, factors=np.arange(1.0, 6), groups=((3, 1), (4,)))
    assert made.order.tolist() == [3, 1, 4, 0, 2]
    assert made.sizes.tolist() == [2, 1, 1, 1]
    assert made.features(np.array([2, 0])).tolist() == [0, 3, 1]
    assert made.features(np.array([], dtype=int)).tolist() == []
    numbers = np.arange(10.0).reshape(5, 2)
    np.testing.assert_array_equal(made.arranged(numbers), numbers[[3, 1, 4, 0, 2]])
    np.testing.assert_array_equal(made.each(np.array([1.0, 2, 3, 4])).ravel(), [1, 1, 2, 3, 4])
    few = made.pick(np.array([2, 0]))
    assert (few.order.tolist(), few.starts.tolist(), few.joint) == ([0, 1, 2], [0, 1, 3], True)
    A = np.array([[2.0], [3.0], [4.0]])  # of the features 0, 3 and 1
    assert few.value(A) == pytest.approx(0.5 * (2 + 4 * 2**0.5 * 5) + 0.25 * (4 + 4 * 25))
    assert few.kinks(A) == pytest.approx(0.5 * (2 + 4 * 2**0.5 * 5))
    assert few.times(3.0).value(A) == pytest.approx(3 * few.value(A))
    single = separable_penalty(3, np.ones(3), factors=[1.0, 2.0, 3.0], lower=[-1.0, -2.0, -3.0], upper=[4.0, 5.0, 6.0])
    part = single.pick(np.array([2, 0]))
    assert single.features(np.array([2, 0])).tolist() == [2, 0]
    assert (part.l1.tolist(), part.lower.tolist(), part.upper.tolist()) == ([3.0, 1.0], [-3.0, -1.0], [6.0, 4.0])
    assert part.kinks(np.array([[-2.0], [5.0]])) == 11.0
    np.testing.assert_array_equal(single.arranged(numbers[:3]), numbers[:3])
    # Groups of one are features: in the order of the columns, as their bounds are.
    ones = separable_penalty(3, np.ones(3), groups=((2,), (0,)), upper=[0.0, np.inf, np.inf])
    assert ones.order.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(ones.violation(ones.arranged(np.array([[2.0], [3.0], [4.0]]))), [-1.0, 2.0, 3.0])


def test_defaults_of_penalties():
    assert penalties.make_penalty("ridge") == penalties.Ridge(1.0)
    assert penalties.Jeffreys().strength == 1.0
    assert penalties.Jeffreys().needs_information
    assert not penalties.Ridge().needs_information


def test_kesler_of_the_worst_rival_has_no_curvature():
    worst = criteria.Kesler(criteria.SquaredHinge(), over="worst")
    for ask in (lambda: worst.curvature(T, Z), lambda: worst.curvature_product(T, Z, Z)):
        with pytest.raises(MismatchError):
            ask()


def test_large_scores_and_soft_targets():
    np.testing.assert_allclose(
        posteriors.softmax(np.array([[1000.0, 999.0]])), special.softmax([[1000.0, 999.0]], axis=1)
    )
    logistic = criteria.Logistic()
    assert logistic.wrong(np.array([[0.4], [0.6], [0.4]]), np.array([[-1.0], [1.0], [1.0]])).ravel().tolist() == [
        False, False, True]  # fmt: skip
    with pytest.raises(MismatchError, match=r"between 0 and 1; it was given 1\.5"):
        logistic.check_targets(np.array([[1.5]]))
    silent = criteria.Softmax(reference=True)
    assert silent.wrong(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[2.0, -1.0], [1.0, -1.0]])).ravel().tolist() == [
        False, True]  # fmt: skip


def test_a_line_in_boxes():
    line = Hyperplane([1.0, 1.0])
    assert line.intercept == 0.0
    assert line.points(((-1, 1), (-1, 1))).shape == (2, 2)
    assert line.points(((1, 2), (1, 2))).shape == (0, 2)
    assert line.points(((0, 1), (0, 1))).shape == (0, 2)  # one corner only
    assert regions.polygon_area([[5, 5], [7, 5], [5, 6]]) == 1.0
    assert regions.polygon_area([[5, 5], [7, 5]]) == 0.0
    square = regions.box(((0, 1), (0, 1)))
    assert len(regions.clip(square, -1 - square[:, 0])) == 0
    assert len(regions.clip(square, -square[:, 0])) == 0
    np.testing.assert_array_equal(regions.clip(square, square[:, 0]), square)
    weights = np.array([[0.0, 0.0, -9.0], [1.0, -1.0, 0.0], [0.0, 0.0, 0.0]])
    first, second, never = regions.decision_regions(weights, ((0, 4), (0, 1)), center=np.array([1.0, 0.0]))
    assert (regions.polygon_area(first), regions.polygon_area(second), len(never)) == (3.0, 1.0, 0)
    equal = regions.decision_regions(np.zeros((3, 2)), ((0, 1), (0, 1)))
    assert [len(part) for part in equal] == [4, 0]  # a tie is the first's


def test_thresholds_of_criteria_move_what_is_wrong():
    """An output is right strictly on its target's side of the threshold, zero or not."""

    class Moved(criteria.Squared):
        threshold = 0.4

    t, z = np.array([[-1.0], [1.0], [-1.0], [1.0]]), np.array([[0.2], [0.6], [0.6], [0.2]])
    assert Moved().wrong(t, z).ravel().tolist() == [False, False, True, True]


def test_codings_of_machines_in_numbers():
    """Outputs that compete have no thresholds; the silent last class of a reference has the score 0."""
    z = np.array([[0.5, -1.0], [-2.0, -3.0]])
    reference = make_coding("reference", 3)
    np.testing.assert_allclose(reference.decode(z), [[0.5, -1.0, 0.0], [-2.0, -3.0, 0.0]])
    for name in ("machine", "softmax"):
        assert make_coding(name, 3).threshold.tolist() == [0.0, 0.0, 0.0]
    last = make_coding("one-vs-rest-k-1", 3)
    np.testing.assert_array_equal(last.targets, [[1, -1], [-1, 1], [-1, -1]])
    np.testing.assert_allclose(last.decode(z), [[0.5, -1.0, 0.0], [-2.0, -3.0, 0.0]])


def test_rejects_and_costs_in_numbers():
    assert chow_threshold(0.5, error_cost=3.0, correct_cost=1.0) == 1.25
    assert with_reject([[0, 1], [1, 0]], 0.2).tolist() == [[0, 1], [1, 0], [0.2, 0.2]]
    assert reject_interval([[1, 1], [1, 1]], 0.5) == (0.0, 1.0)  # both acts are dearer everywhere
    assert without_single_winner([[0.0, 1.0], [0.0, -1.0]]).tolist() == [False, True]
    with pytest.raises(ParameterError, match="costs has the entry 'ab': 1"):
        check_costs({"ab": 1}, ["a", "b"])
    with pytest.raises(ParameterError, match="wrong act the cheaper one"):
        cost_threshold(np.zeros((2, 2)))
    likelihood = np.log([[0.9, 0.1]] * 3 + [[0.1, 0.9]])
    with pytest.warns(DiscriminantWarning, match="after 1 steps"):
        np.testing.assert_allclose(estimate_priors(likelihood, [0.5, 0.5], max_iter=1), [0.7, 0.3])
    with pytest.warns(DiscriminantWarning, match="after 1 steps"):  # old priors are in proportion
        np.testing.assert_allclose(estimate_priors(likelihood, [2.0, 2.0], max_iter=1), [0.7, 0.3])


def test_a_rule_without_a_coding():
    rule = Rule(np.array(["a", "b"]), 1)
    assert (rule.orientation, rule.threshold) == (1.0, 0.0)
    D, s = rule.linear_decoder
    np.testing.assert_array_equal(np.array([[3.0]]) @ D + s, [[-1.5, 1.5]])


def test_a_function_that_vanishes_crosses_twice_at_most():
    square = regions.box(((0, 1), (0, 1)))
    assert regions.crossings(square, np.zeros(4)).shape == (2, 2)
    np.testing.assert_array_equal(regions.crossings(square, square[:, 0]), [[0, 0], [0, 1]])


def test_codings_at_their_edges():
    for r in ([[-0.1, 0.5, 0.5]], [[1.1, 0.5, 0.5]]):
        with pytest.raises(ParameterError, match="between 0 and 1"):
            couple_pairwise(np.array(r))
    two, three = np.array([[2.0]]), np.array([[3.0], [-1.0], [0.0]])
    votes = ClassCoding(np.array([[1.0], [-1.0]]), np.ones((2, 1)), np.zeros(1), decoder="votes")
    np.testing.assert_allclose(votes.decode(two), [[1 + 2 / 9, -2 / 9]])
    coding = make_coding("one-vs-rest", 3)
    assert make_coding(coding, 3) is coding
    assert make_coding(three, 3).decoder == "nearest"  # −1 among other numbers is a number, no side
    np.testing.assert_array_equal(make_coding(three, 3).targets, three)
    low = make_coding(np.array([[1.0, 4.0], [2.0, 3.0], [2.0, 4.0]]), 3)
    np.testing.assert_array_equal(low.signs, [[-1, 1], [1, -1], [1, 1]])  # half way, wherever zero is


def test_softplus_is_the_logarithm_of_one_and_a_power():
    z = np.array([-800.0, -1.5, 0.0, 2.0, 800.0])
    np.testing.assert_allclose(criteria.softplus(z), np.logaddexp(0, z), rtol=1e-15)


def test_contributions_to_several_classes_as_a_frame():
    """A row for each class and row: its contributions, the baseline of its class, and their sum."""
    values = rng.normal(size=(4, 2, 3))
    frame = Contributions(values, np.array([1.0, 2.0, 3.0]), ("a", "b"), ("x", "y", "z")).to_frame()
    assert frame.columns.tolist() == ["a", "b", "baseline", "score"]
    for k, label in enumerate("xyz"):
        part = frame.loc[label]
        np.testing.assert_allclose(part[["a", "b"]], values[:, :, k])
        assert (part["baseline"] == k + 1.0).all()
        np.testing.assert_allclose(part["score"], k + 1.0 + values[:, :, k].sum(axis=1))
