"""What the figures claim, asserted on the data that they are drawn from; and that each of them is drawn."""

from __future__ import annotations

import io

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.special import ndtr

from discriminant import figures
from discriminant.geometry import polygon_area


@pytest.fixture(scope="session")
def data():
    """The data part of a figure by name, computed once."""
    found: dict[str, object] = {}

    def of(name: str):
        if name not in found:
            found[name] = figures.entry(name).data()
        return found[name]

    return of


@pytest.mark.parametrize("name", sorted(figures.REGISTRY))
def test_figure_is_drawn_whole(name, data):
    """Every figure draws from its data part, without pyplot; all its text lies inside the page."""
    known = plt.get_fignums()
    figure = getattr(figures, name)(data(name))
    assert plt.get_fignums() == known
    figure.savefig(io.BytesIO(), format="png", dpi=50)
    figure.set_dpi(50)
    assert figure.get_axes()
    page = figure.bbox
    for ax in figure.get_axes():
        for text in [ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label]:
            box = text.get_window_extent() if text.get_text() else None
            assert box is None or (box.x0 >= -1 and box.x1 <= page.x1 + 1 and box.y1 <= page.y1 + 1), text.get_text()


def test_every_figure_has_a_source_and_a_caption():
    for entry in figures.REGISTRY.values():
        assert entry.source
        assert entry.caption.endswith(".")
        assert entry.seen.endswith(".")
        assert getattr(figures, entry.name).__doc__
        assert entry.name not in {other.module for other in figures.REGISTRY.values()}  # a file would hide it


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("5.11", "criterion_surfaces"), ("5.17", "lms_versus_separating_line"), ("10.3", "one_against_rest"),
        ("Bishop 4.6", "fisher_projection"), ("figure 4.7", "perceptron_convergence"), ("4.12", "basis_functions"),
        ("Duda 5.8", "normalised_samples"), ("lecture on IRLS", "gradient_and_newton"),
    ],
)  # fmt: skip
def test_a_figure_is_found_by_its_place_in_any_of_the_books(place, name):
    assert figures.entry(place).name == name


def test_numbers_that_captions_give_are_those_of_the_fits(data):
    directions, turned = data("naive_and_lda_direction").errors, data("outliers_pull_least_squares").turned
    assert (directions["naive"], directions["fisher"]) == (13, 1)
    assert (round(turned["least squares"]), round(turned["logistic"])) == (57, 0)
    runs = data("gradient_and_newton")
    assert (len(runs.gradient.path) - 1, len(runs.newton.path) - 1) == (99, 4)
    curves = data("sigmoid_and_probit")
    assert abs(curves.logistic - curves.scaled_probit).max() < 0.018
    assert data("hardening_sigmoid").errors[1:].tolist() == [0, 0]
    assert data("signed_distance").line.normal.tolist() == [3.0, 4.0]


def test_a_place_of_several_figures_names_them():
    with pytest.raises(figures.registry.ParameterError, match=r"several figures.*normalised_samples"):
        figures.entry("slides on linear discriminant functions")


def test_the_contact_sheet_has_every_figure():
    chosen = ["sigmoid_curve", "separating_line"]
    sheet = figures.contact_sheet(chosen, columns=2, dpi=30)
    titles = [ax.get_title(loc="left") for ax in sheet.get_axes()]
    assert [title.split("\n")[0] for title in titles] == chosen
    assert all(len(ax.get_images()) == 1 for ax in sheet.get_axes())


# One line


def test_separating_line_has_each_class_on_its_side(data):
    found = data("separating_line")
    assert ((found.scores > 0) == (found.y == 1)).all()
    assert np.sign(found.threshold) == np.sign(found.line.distance(np.zeros((1, 2)))[0])


@pytest.mark.parametrize("name", ["distance_to_the_line", "signed_distance"])
def test_distances_are_those_of_the_geometry(name, data):
    """x = x_p + r w/‖w‖ with g(x_p) = 0, r = g(x)/‖w‖; w is normal to the line; the origin lies w₀/‖w‖ from it."""
    found = data(name)
    w, w0 = found.line.normal, float(found.line.value(np.zeros(2)))
    length = np.linalg.norm(w)
    np.testing.assert_allclose(found.distances, (found.points @ w + w0) / length, atol=1e-12)
    np.testing.assert_allclose(found.feet @ w + w0, 0, atol=1e-9)
    np.testing.assert_allclose(found.feet + found.distances[:, None] * w / length, found.points, atol=1e-12)
    assert abs(found.along @ w) < 1e-9
    assert found.origin == pytest.approx(w0 / length)


# Probabilities


def test_sigmoid_curve_has_its_symmetry_and_slope(data):
    found = data("sigmoid_curve")
    np.testing.assert_allclose(found.values + found.values[::-1], 1, atol=1e-15)
    np.testing.assert_allclose(np.log(found.values / (1 - found.values))[100:-100], found.a[100:-100], atol=1e-10)
    assert found.slope_at_zero == pytest.approx(0.25, abs=1e-9)


def test_sigmoid_and_probit_agree_in_slope_and_nearly_everywhere(data):
    """λ² = π/8: σ'(0) = λ φ(0); computed against scipy's normal distribution."""
    found = data("sigmoid_and_probit")
    assert found.slopes[0] == pytest.approx(found.slopes[1], abs=1e-9) == pytest.approx(0.25, abs=1e-9)
    np.testing.assert_allclose(found.scaled_probit, ndtr(found.scale * found.a), atol=1e-14)
    assert 0.015 < np.abs(found.logistic - found.scaled_probit).max() < 0.02


def test_hardening_sigmoid_lowers_the_loss_after_the_last_error(data):
    found = data("hardening_sigmoid")
    assert found.passes == (10, 100, 1000)
    assert (np.diff(found.weights[:, 1]) > 0).all()  # steeper
    assert (np.diff(found.cross_entropy) < 0).all()
    np.testing.assert_array_equal(found.errors[1:], [0, 0])
    crossing = -found.weights[-1, 0] / found.weights[-1, 1]
    assert found.x[found.y == 0].max() < crossing < found.x[found.y == 1].min()


def test_softmax_keeps_the_winner_and_sums_to_one(data):
    found = data("softmax_surfaces")
    np.testing.assert_allclose(found.posteriors.sum(axis=2), 1, atol=1e-12)
    np.testing.assert_array_equal(found.posteriors.argmax(axis=2), found.discriminants.argmax(axis=2))
    across, up = found.grid  # the discriminants are planes: second differences vanish
    assert np.abs(np.diff(found.discriminants, 2, axis=0)).max() < 1e-9
    assert np.abs(np.diff(found.discriminants, 2, axis=1)).max() < 1e-9
    assert across.shape == up.shape == found.posteriors.shape[:2]


def test_softmax_lines_separate_the_sample(data):
    found = data("softmax_lines")
    assert found.model.score(found.X, found.y) == 1
    assert found.model.certificate_.converged


# Many classes


def test_one_against_rest_has_a_hyperplane_for_each_class(data):
    """g_i > 0 exactly for the examples of C_i, and the largest g_i decides everywhere."""
    found = data("one_against_rest")
    own = found.y[:, None] == found.model.classes_
    assert ((found.scores > 0) == own).all()
    assert all(verdict.verdict == "separable" and verdict.check() for verdict in found.verdicts)
    assert found.claims.ambiguous > 0.02  # where reject would be an answer …
    (x0, x1), (y0, y1) = found.bounds
    assert sum(map(polygon_area, found.regions)) == pytest.approx((x1 - x0) * (y1 - y0))  # … and argmax is another


def test_pairwise_separation_works_where_one_class_cannot_be_cut_off(data):
    found = data("pairwise_separation")
    assert found.verdicts["1 | rest"].verdict == "overlapping"
    assert {verdict.verdict for pair, verdict in found.verdicts.items() if "rest" not in pair} == {"separable"}
    assert all(verdict.check() for verdict in found.verdicts.values())
    assert found.conjunction_errors == 0
    assert found.model.discriminant_.n_outputs == 3


def test_ambiguous_regions_vanish_with_one_machine(data):
    found = data("ambiguous_regions")
    assert found.shares["rest"] > 0.05
    assert found.shares["pairs"] > 0.05
    assert abs(found.shares["machine"]) < 1e-12
    assert all(model.score(found.X, found.y) == 1 for model in found.models.values())
    grid = np.random.default_rng(0).uniform((-4.5, -3.5), (4.5, 4.5), (40_000, 2))
    signs = found.models["rest"].outputs(grid) > 0  # counted by hand: both of the K − 1 say "mine"
    assert signs.all(axis=1).mean() == pytest.approx(found.shares["rest"], abs=0.01)


def test_convex_regions_hold_their_chords(data):
    found = data("convex_regions")
    assert set(found.decided) == {3}
    for region in found.regions:  # each corner turns left
        edges = np.roll(region, -1, axis=0) - region
        following = np.roll(edges, -1, axis=0)
        assert (edges[:, 0] * following[:, 1] - edges[:, 1] * following[:, 0] > -1e-9).all()


# Perceptrons


def test_perceptron_convergence_adds_the_misclassified_sample(data):
    """w ← w + φ t for a sample with t w·φ ≤ 0, which lessens its own error by ‖φ‖²; at the end none is wrong."""
    found = data("perceptron_convergence")
    for k, row in enumerate(found.samples):
        before, after = found.weights[k], found.weights[k + 1]
        signed = found.t[row] * found.X[row]
        assert signed @ before <= 0
        np.testing.assert_allclose(after, before + signed)
        assert -(after @ signed) == pytest.approx(-(before @ signed) - signed @ signed)
    assert found.errors[0] > 0
    assert found.errors[-1] == 0
    assert len(found.weights) == 4


def test_mark_one_learns_whatever_its_wiring(data):
    """Every one of the random wirings tells new scenes apart, far above chance; none was tuned."""
    found = data("mark_one")
    assert found.before == pytest.approx(1 / 8)
    assert (found.accuracies > 0.9).all()
    assert len(found.accuracies) == 3
    assert found.curve[-1, 0] == 1
    assert found.wiring.wiring_.shape == (400, 512)
    assert (np.abs(found.wiring.wiring_).sum(axis=0) == 8).all()


# Criteria


def test_normalised_samples_have_one_solution_region(data):
    """{a : a·y > 0 for C1, a·y < 0 for C2} is the region of the turned samples; a margin narrows it; rays are tight."""
    found = data("normalised_samples")
    rng = np.random.default_rng(0)
    for a in rng.uniform(-2.6, 2.6, (2000, 2)):
        raw = bool(((found.Y @ a > 0) == (found.labels == 1)).all())
        assert (a in found.region) == raw
        assert not (a in found.with_margin and a not in found.region)
    np.testing.assert_allclose((found.region.rays @ found.normalised.T).min(axis=1), 0, atol=1e-12)
    assert (found.margin_polygon @ found.normalised.T >= 1 - 1e-9).all()
    assert 0 < polygon_area(found.margin_polygon) < polygon_area(found.polygon)


def test_criterion_surfaces_lead_to_the_solution_region(data):
    found = data("criterion_surfaces")
    region, by_name = found.region, found.descents
    samples = region.samples
    grids = {}
    for name, descent in by_name.items():
        surface = descent.surface
        points = np.stack(np.meshgrid(surface.across, surface.up), axis=-1)
        grids[name] = (points @ samples.T, surface.values)
        assert descent.values[-1] < 1e-8 < descent.values[0]
    z, J = grids["count"]
    clear = (np.abs(z) > 1e-9).all(axis=2)  # off the edges of the stairs, where rounding decides
    np.testing.assert_allclose(J[clear], (z <= 0).sum(axis=2)[clear])  # 0, 1, …, 4: flat almost everywhere
    assert clear.mean() > 0.98
    z, J = grids["perceptron"]
    np.testing.assert_allclose(J, np.maximum(0, -z).sum(axis=2), atol=1e-12)
    z, J = grids["quadratic"]
    np.testing.assert_allclose(J, (np.maximum(0, -z) ** 2).sum(axis=2), atol=1e-12)
    z, J = grids["relaxation"]
    by_hand = (np.maximum(0, 1 - z) ** 2 / (2 * (samples**2).sum(axis=1))).sum(axis=2)
    np.testing.assert_allclose(J, by_hand, atol=1e-12)
    ends = {name: float((samples @ descent.path[-1]).min()) for name, descent in by_name.items()}
    assert ends["count"] > 0
    assert ends["perceptron"] > 0
    assert abs(ends["quadratic"]) < 1e-6  # it stops at the edge, where its slope vanishes
    assert ends["relaxation"] == pytest.approx(1, abs=1e-6)  # and this one inside, at its margin


def test_gradient_and_newton_end_at_one_point_by_different_ways(data):
    found = data("gradient_and_newton")
    objective = found.newton.objective
    np.testing.assert_allclose(found.gradient.path[-1], found.minimum, atol=5e-3)
    assert len(found.newton.path) * 5 < len(found.gradient.path)
    for here, there in zip(found.gradient.path[:5], found.gradient.path[1:6], strict=True):
        slope = objective.value_and_gradient(np.r_[0, here][:, None])[1][1:, 0]
        step = there - here  # against the gradient, so at right angles to the contour
        assert step @ slope / (np.linalg.norm(step) * np.linalg.norm(slope)) == pytest.approx(-1, abs=1e-9)
    slope = objective.value_and_gradient(np.r_[0, found.newton.path[0]][:, None])[1][1:, 0]
    hessian = objective.hessian(np.r_[0, found.newton.path[0]][:, None])[0, 1:, 1:]
    step = found.newton.path[1] - found.newton.path[0]
    np.testing.assert_allclose(step, -np.linalg.solve(hessian, slope), atol=1e-8)


# Least squares


def test_lms_line_misses_samples_that_another_line_separates(data):
    found = data("lms_versus_separating_line")
    assert found.verdict.verdict == "separable"
    assert found.verdict.check()
    assert found.errors["lms"] >= 1
    assert found.errors["perceptron"] == 0
    Y = np.c_[np.ones(len(found.X)), found.X]
    b = np.where(found.y == 2, 1.0, -1.0)
    by_hand = np.linalg.lstsq(Y, b, rcond=None)[0]
    np.testing.assert_allclose(np.r_[found.lms.intercept_, found.lms.coef_[0]], by_hand, atol=1e-10)
    np.testing.assert_allclose(np.r_[found.by_steps.intercept_, found.by_steps.coef_[0]], by_hand, atol=1e-4)


def test_outliers_pull_least_squares_but_not_logistic_regression(data):
    """The extra points were right for both lines before they were added."""
    found = data("outliers_pull_least_squares")
    assert found.errors["least squares"] == found.errors["logistic"] == 0
    assert (found.models["least squares"].predict(found.extra) == 2).all()
    assert found.errors["least squares with outliers"] > 0
    assert found.errors["logistic with outliers"] == 0
    assert found.turned["logistic"] < 2 < 20 < found.turned["least squares"]


def test_masked_class_is_lost_to_least_squares_only(data):
    found = data("masked_class")
    assert found.middle_right["squares"] < 0.2
    assert found.middle_right["logistic"] > 0.95


# Gaussian classes


def test_posterior_of_gaussian_classes_is_a_sigmoid_of_a_line(data):
    """Bayes' rule by hand on the densities gives the model's posterior, and its log odds are a plane."""
    found = data("class_densities_and_posterior")
    by_hand = found.densities[0] / found.densities.sum(axis=0)  # equal priors
    np.testing.assert_allclose(found.posterior, by_hand, atol=1e-10)
    np.testing.assert_allclose(found.posterior, 1 / (1 + np.exp(-found.log_odds)), atol=1e-12)
    assert np.abs(np.diff(found.log_odds, 2, axis=0)).max() < 1e-9
    assert np.abs(np.diff(found.log_odds, 2, axis=1)).max() < 1e-9


@pytest.mark.parametrize("name", ["naive_and_lda_direction", "fisher_projection"])
def test_fishers_direction_beats_the_difference_of_means(name, data):
    found = data(name)
    assert found.angle > 30
    assert found.errors["naive"] > 5 * max(found.errors["fisher"], 1)
    one, two = found.X[found.y == 1], found.X[found.y == 2]
    within = sum((group - group.mean(axis=0)).T @ (group - group.mean(axis=0)) for group in (one, two))
    w = np.linalg.solve(within, two.mean(axis=0) - one.mean(axis=0))
    ours = found.fisher.scalings_[:, 0]
    assert abs(w @ ours) / (np.linalg.norm(w) * np.linalg.norm(ours)) == pytest.approx(1, abs=1e-9)
    assert found.criterion["fisher"] > 3 * found.criterion["naive"]


def test_outlier_is_lost_on_the_difference_of_means_only(data):
    found = data("outlier_and_mean_difference")
    assert found.verdict.verdict == "separable"
    assert found.verdict.check()
    assert found.gaps["naive"] < 0 < found.gaps["fisher"]
    others = np.delete(np.arange(len(found.directions.y)), found.outlier)
    values = found.directions.naive.transform(found.directions.X)[:, 0]
    one, two = (values[others][found.directions.y[others] == label] for label in (1, 2))
    assert one.max() < two.min() or two.max() < one.min()  # it is the outlier alone


def test_qda_boundary_is_straight_between_classes_of_one_covariance(data):
    found = data("qda_regions")
    assert found.curvature["1 | 2"] < 1e-10
    assert found.curvature["1 | 3"] > 1
    scores = found.model.decision_function(np.random.default_rng(0).uniform(-2.5, 2.5, (300, 2)))
    points = np.random.default_rng(0).uniform(-2.5, 2.5, (300, 2))
    Y = np.c_[np.ones(300), points]
    for j, straight in ((1, True), (2, False)):  # is the difference of two scores affine?
        difference = scores[:, 0] - scores[:, j]
        rest = difference - Y @ np.linalg.lstsq(Y, difference, rcond=None)[0]
        assert (np.abs(rest).max() < 1e-9) == straight


# Bases


def test_parabola_of_one_variable_has_a_region_in_two_parts(data):
    found = data("discriminant_of_one_variable")
    np.testing.assert_allclose(found.quadratic, -1 + found.x + 2 * found.x**2, atol=1e-12)
    np.testing.assert_allclose(found.roots, [-1, 0.5])
    decided = found.model.predict(found.x[:, None])
    assert np.count_nonzero(np.diff(decided)) == 2  # R1, R2, R1
    assert np.count_nonzero(np.diff(np.sign(found.linear))) in (1, 2)  # one root, perhaps a point of the grid
    rows, labels = found.sample
    assert found.learned.score(rows[:, None], labels) == 1


def test_basis_functions_make_the_classes_separable(data):
    found = data("basis_functions")
    assert found.before.verdict == "overlapping"
    assert found.after.verdict == "separable"
    assert found.before.check()
    assert found.after.check()
    assert found.model.score(found.X, found.y) == 1
    centres = found.basis.centres_
    np.testing.assert_allclose(found.features, np.linalg.norm(found.X[:, None] - centres, axis=2), atol=1e-12)
