"""What the figures claim, asserted on the data that they are drawn from; and that each of them is drawn."""

from __future__ import annotations

import io

import matplotlib as mpl
import numpy as np
import pytest

from discriminant import figures
from discriminant.geometry import polygon_area

mpl.use("agg")


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
    figure = getattr(figures, name)(data(name))
    assert figure.get_axes()
    figure.set_dpi(50)
    figure.savefig(io.BytesIO(), format="png", dpi=50)
    assert mpl.pyplot.get_fignums() == [] if "matplotlib.pyplot" in __import__("sys").modules else True
    page = figure.bbox
    for ax in figure.get_axes():
        for text in [ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label]:
            box = text.get_window_extent() if text.get_text() else None
            assert box is None or (box.x0 >= -1 and box.x1 <= page.x1 + 1 and box.y1 <= page.y1 + 1), text.get_text()


def test_every_figure_has_a_source_and_a_caption():
    for entry in figures.REGISTRY.values():
        assert entry.source
        assert entry.caption.endswith(".")
        assert getattr(figures, entry.name).__doc__


# One line


def test_separating_line_has_each_class_on_its_side(data):
    found = data("separating_line")
    assert ((found.scores > 0) == (found.y == 1)).all()
    assert np.sign(found.threshold) == np.sign(found.line.distance(np.zeros((1, 2)))[0])


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
