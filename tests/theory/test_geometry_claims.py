"""G1, G2, G3, G5: what the textbooks claim of a linear discriminant's geometry.  Alpaydin 10.1, 10.3; PRML 4.1.1–2."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.optimize
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from discriminant import LinearDiscriminant, datasets
from discriminant.estimators.linear import LinearDiscriminantAnalysis
from discriminant.geometry import polygon_area

numbers = st.floats(-10, 10).map(lambda v: round(v, 3))


def models(classes: int, features: int) -> st.SearchStrategy[LinearDiscriminant]:
    outputs = 1 if classes == 2 else classes
    weights = hnp.arrays(np.float64, (1 + features, outputs), elements=numbers)
    return weights.map(lambda A: LinearDiscriminant(A, np.arange(classes)))


def separated(model: LinearDiscriminant) -> None:
    """Only discriminants whose pairs have a boundary."""
    W = model.class_weights[1:]
    assume(all(np.linalg.norm(W[:, i] - W[:, j]) > 1e-2 for i, j in itertools.combinations(range(model.n_classes), 2)))


# G1


@given(models(2, 3), hnp.arrays(np.float64, (5, 3), elements=numbers))
def test_the_affine_and_the_augmented_form_are_one(model, X):
    """g(x) = w·x + w₀ = a·y with y = (1, x); C₁ iff g(x) > 0."""
    augmented = np.column_stack([np.ones(5), X]) @ model.weights[:, 0]
    np.testing.assert_allclose(model.decision_function(X), augmented, atol=1e-10)
    clear = np.abs(augmented) > 1e-9
    np.testing.assert_array_equal((model.predict(X) == 1)[clear], (augmented > 0)[clear])


# G2


@given(models(2, 4), hnp.arrays(np.float64, (4,), elements=numbers))
def test_the_foot_is_the_nearest_point_of_the_hyperplane(model, x):
    """x_p = argmin ‖u − x‖² subject to g(u) = 0, solved through its Lagrange system, and r = ±‖x − x_p‖."""
    separated(model)
    w, w0 = model.coef[0], model.intercept[0]
    system = np.block([[np.eye(4), w[:, None]], [w[None, :], np.zeros((1, 1))]])
    foot = np.linalg.solve(system, np.r_[x, -w0])[:4]
    np.testing.assert_allclose(model.project(x[None])[0], foot, atol=1e-9)
    r = model.distance(x[None])[0]
    assert abs(r) == pytest.approx(np.linalg.norm(x - foot), abs=1e-9)
    np.testing.assert_allclose(foot + r * w / np.linalg.norm(w), x, atol=1e-8)


def test_no_other_point_of_the_hyperplane_is_nearer():
    """A numerical minimiser along the hyperplane finds no shorter way than |r|."""
    model = LinearDiscriminant([-1.0, 2.0, -1.0, 0.5], [0, 1])
    x = np.array([3.0, 1.0, -2.0])
    found = scipy.optimize.minimize(
        lambda u: np.sum((u - x) ** 2),
        np.zeros(3),
        constraints={"type": "eq", "fun": lambda u: model.boundary().value(u)},
        options={"ftol": 1e-14},
    )
    assert np.sqrt(found.fun) == pytest.approx(abs(model.distance(x[None])[0]), rel=1e-6)  # the minimiser's accuracy


@given(models(2, 3))
def test_the_origin_lies_at_w0_over_the_norm(model):
    """r₀ = w₀ / ‖w‖, and its sign tells the side of the origin."""
    separated(model)
    assert model.offset == pytest.approx(model.intercept[0] / np.linalg.norm(model.coef[0]), rel=1e-12, abs=1e-15)
    assert model.offset == pytest.approx(model.distance(np.zeros((1, 3)))[0], rel=1e-12, abs=1e-15)


@given(models(2, 3), hnp.arrays(np.float64, (2, 3), elements=numbers))
def test_the_weight_vector_is_normal_to_the_hyperplane(model, X):
    """w·(x₁ − x₂) = 0 for two points of the hyperplane."""
    separated(model)
    first, second = model.project(X)
    assert abs(model.boundary().unit_normal @ (first - second)) < 1e-10


@given(models(2, 3), hnp.arrays(np.float64, (4, 3), elements=numbers), st.floats(0.01, 100))
def test_scaling_the_weights_moves_no_point(model, X, factor):
    """c·g has the same hyperplane and distances for c > 0."""
    separated(model)
    scaled = LinearDiscriminant(factor * model.weights, model.classes)
    np.testing.assert_allclose(scaled.distance(X), model.distance(X), rtol=1e-10, atol=1e-10)


# G3


@pytest.mark.parametrize("features", [1, 2, 5])
@given(data=st.data())
def test_regions_are_convex(features, data):
    """x_A, x_B ∈ R_k implies λ x_A + (1 − λ) x_B ∈ R_k (PRML 4.12)."""
    model = data.draw(models(4, features))
    ends = data.draw(hnp.arrays(np.float64, (2, features), elements=numbers))
    share = data.draw(st.floats(0, 1))
    g = model.scores(ends)
    between = model.scores((share * ends[0] + (1 - share) * ends[1])[None])[0]
    winners = g.argmax(axis=1)
    assume(winners[0] == winners[1])
    assert between[winners[0]] >= between.max() - 1e-9


@given(models(5, 2), st.floats(0.5, 20), st.floats(-5, 5))
def test_polygons_cover_the_box_and_nothing_twice(model, size, shift):
    """Σ_k area(R_k) = area(box); each polygon is convex; inside each, its class wins."""
    bounds = ((shift - size, shift + size), (-size, 2 * size))
    regions = model.regions(bounds)
    assert sum(polygon_area(region) for region in regions) == pytest.approx(2 * size * 3 * size, rel=1e-9)
    for k, region in enumerate(regions):
        if polygon_area(region) < 1e-6:
            continue
        edges = np.roll(region, -1, axis=0) - region
        following = np.roll(edges, -1, axis=0)
        turns = edges[:, 0] * following[:, 1] - edges[:, 1] * following[:, 0]
        assert turns.min() > -1e-8 * size**2
        middle = model.scores(region.mean(axis=0)[None])[0]
        assert middle[k] >= middle.max() - 1e-9
        outline = model.scores(region)
        assert (outline[:, k] >= outline.max(axis=1) - 1e-7).all()


@given(models(4, 2))
def test_polygons_agree_with_the_argmax_on_a_grid(model):
    """A grid point well inside polygon k is decided for class k."""
    grid = np.stack(np.meshgrid(np.linspace(-4, 4, 15), np.linspace(-4, 4, 15)), axis=-1).reshape(-1, 2)
    decided = model.predict(grid)
    for k, region in enumerate(model.regions(((-5, 5), (-5, 5)))):
        if not len(region):
            continue
        start, edge = region, np.roll(region, -1, axis=0) - region
        length = np.linalg.norm(edge, axis=1)
        depth = edge[:, 0] * (grid[:, 1:] - start[:, 1]) - edge[:, 1] * (grid[:, :1] - start[:, 0])
        inside = (depth > 1e-6 * length).all(axis=1)
        assert (decided[inside] == k).all()


@given(models(3, 3), hnp.arrays(np.float64, (5, 3), elements=numbers))
def test_pairwise_boundaries_are_differences(model, X):
    """H_ij: (w_i − w_j)·x + (w_i0 − w_j0) = 0, and g_i − g_j is its signed distance times ‖w_i − w_j‖."""
    separated(model)
    z = model.scores(X)
    for i, j in itertools.permutations(range(3), 2):
        plane = model.boundary(i, j)
        np.testing.assert_allclose(plane.normal, model.coef[i] - model.coef[j], atol=1e-12)
        np.testing.assert_allclose(plane.distance(X) * plane.norm, z[:, i] - z[:, j], atol=1e-9)
        foot = model.scores(model.project(X, i, j))
        np.testing.assert_allclose(foot[:, i], foot[:, j], atol=1e-8)


@given(models(4, 3), hnp.arrays(np.float64, (1, 3), elements=numbers), st.integers(0, 10_000))
def test_no_step_shorter_than_the_margin_changes_the_decision(model, x, seed):
    """min_j r_ij(x) is the distance to the nearest point of another region."""
    separated(model)
    margin = model.margin(x)[0]
    assume(margin > 1e-6)
    steps = np.random.default_rng(seed).normal(size=(50, 3))
    steps *= 0.999 * margin / np.linalg.norm(steps, axis=1, keepdims=True)
    assert (model.predict(x + steps) == model.predict(x)[0]).all()
    own = model.predict(x)[0]
    others = [j for j in range(4) if j != own]
    nearest = min(others, key=lambda j: model.distance(x, own, j)[0])
    across = x + 1.001 * (model.project(x, own, nearest) - x)
    assert model.predict(across)[0] != own


def test_the_example_of_three_discriminants():
    """g₁ = x₁ − 2x₂ + 4x₃, g₂ = x₁ + 3x₃ + 4, g₃ = −2 (the lecture's example): decided by the largest."""
    weights = np.array([[0.0, 4.0, -2.0], [1.0, 1.0, 0.0], [-2.0, 0.0, 0.0], [4.0, 3.0, 0.0]])
    model = LinearDiscriminant(weights, ["ω1", "ω2", "ω3"])
    rows = np.array([[0.0, -5.0, 1.0], [1.0, 1.0, 1.0], [-20.0, 0.0, 0.0]])
    np.testing.assert_allclose(model.scores(rows), [[14, 7, -2], [3, 8, -2], [-20, -16, -2]])
    assert model.predict(rows).tolist() == ["ω1", "ω2", "ω3"]


# G5


def test_a_credit_score_breaks_down_into_its_attributes():
    """score = baseline + Σ w_j (x_j − r_j): a positive weight raises the score with its attribute."""
    score = LinearDiscriminant(
        [0.5, 0.04, -0.1, 0.02], ["refuse", "grant"], feature_names=["income", "debt", "years"], center=[30.0, 5.0, 4.0]
    )
    applicant = np.array([[55.0, 20.0, 4.0]])
    parts = score.contributions(applicant)
    assert parts.row(0) == pytest.approx({"debt": -1.5, "income": 1.0, "years": 0.0})
    assert float(parts.baseline) == 0.5
    assert parts.scores[0] == pytest.approx(0.0)
    against_neighbour = score.contributions(applicant, reference=[55.0, 10.0, 4.0])
    assert against_neighbour.row(0) == pytest.approx({"debt": -1.0, "income": 0.0, "years": 0.0})


@given(
    models(3, 4),
    hnp.arrays(np.float64, (6, 4), elements=numbers),
    hnp.arrays(np.float64, (4,), elements=numbers),
)
def test_contributions_add_up_for_every_reference(model, X, reference):
    """g(x) = g(r) + Σ_j w_j (x_j − r_j)."""
    parts = model.contributions(X, reference)
    np.testing.assert_allclose(parts.baseline, model.scores(reference[None])[0], atol=1e-9)
    np.testing.assert_allclose(parts.scores, model.scores(X), atol=1e-9)


def test_importance_does_not_depend_on_units():
    """|w_j| std(x_j) is the same in millimetres and in metres, where |w_j| is not."""
    iris = datasets.load("iris")
    X, keep = np.asarray(iris.X, dtype=float), np.asarray(iris.y) != "setosa"
    X, y = X[keep], np.asarray(iris.y)[keep]
    units = np.array([1.0, 1e3, 1e-3, 10.0])
    plain, scaled = (LinearDiscriminantAnalysis().fit(rows, y).discriminant_ for rows in (X, X * units))
    np.testing.assert_allclose(
        scaled.contributions(X * units).importance(), plain.contributions(X).importance(), rtol=1e-9
    )
    assert not np.allclose(scaled.coef, plain.coef)
