"""The displays: what they hold is what the model says, and what they draw is what they hold."""

from __future__ import annotations

import itertools

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from discriminant import (
    Discriminant,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MinimumRiskClassifier,
    QuadraticDiscriminantAnalysis,
    datasets,
    plots,
    shown,
)
from discriminant.errors import DataError, MismatchError, ParameterError
from discriminant.geometry import polygon_area
from discriminant.penalties import Ridge
from discriminant.plots import theme


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def iris():
    return datasets.load("iris")


@pytest.fixture(scope="module")
def petals(iris):
    return iris.X[:, 2:], iris.y


# Colours

# Machado, Oliveira and Fernandes (2009), severity 1: what a dichromat sees of linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def lightness_and_hue(linear: np.ndarray) -> np.ndarray:
    """CIE Lab of linear RGB under D65."""
    to_xyz = np.array(
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
    )
    share = linear @ to_xyz.T / np.array([0.95047, 1.0, 1.08883])
    f = np.where(share > 216 / 24389, np.cbrt(share), (24389 / 27 * share + 16) / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


@pytest.mark.parametrize("colors", [shown.COLORS, shown.DARK_COLORS], ids=["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_colours_differ_for_every_kind_of_sight(vision, colors):
    """ΔE of 2.3 is just noticeable; any two of the eight colours differ by more than six times that."""
    coded = np.array([[int(shade[i : i + 2], 16) / 255 for i in (1, 3, 5)] for shade in colors])
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    seen = lightness_and_hue(np.clip(linear @ np.array(VISION[vision]).T, 0, 1))
    apart = np.linalg.norm(seen[:, None] - seen, axis=2)[np.triu_indices(8, 1)]
    assert apart.min() > 14


def test_classes_differ_by_marker_too():
    looks = [(theme.color(k), theme.marker(k)) for k in range(64)]
    assert len(set(looks)) == 64
    assert len({theme.marker(k) for k in range(8)}) == 8


# Regions


def test_regions_of_a_straight_model_are_exact_polygons(petals):
    X, y = petals
    model = LinearDiscriminantAnalysis().fit(X, y)
    display = plots.DecisionRegionsDisplay.from_estimator(model, X, y)
    (x0, x1), (y0, y1) = display.bounds
    assert sum(polygon_area(area) for area, _ in display.areas) == pytest.approx((x1 - x0) * (y1 - y0))
    for area, (label,) in display.areas:
        assert model.predict([area.mean(axis=0)]) == label
    assert display.figure_ is display.ax_.figure
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == model.classes_.tolist()


def test_regions_of_a_curved_model_are_those_of_predict(petals):
    X, y = petals
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    display = plots.DecisionRegionsDisplay.from_estimator(model, X, y, resolution=40)
    assert display.areas is None
    (_, x1), (y0, _) = display.bounds
    corner = model.classes_[display.codes[0, -1]]
    assert model.predict([[x1, y0]])[0] == corner
    assert display.levels.shape == (40, 40, 3)
    assert ((display.levels > 0).argmax(axis=2)[display.levels.max(axis=2) > 0] >= 0).all()


def test_rejected_area_shrinks_as_rejecting_costs_more(petals):
    X, y = petals
    shares = []
    for cost in (0.05, 0.2, 0.6):
        model = MinimumRiskClassifier(reject_cost=cost).fit(X, y)
        display = plots.DecisionRegionsDisplay.from_estimator(model, X, y, resolution=60)
        shares.append(display.share(of="rejected"))
        plt.close("all")
    assert shares[0] > shares[1] > shares[2] == 0


def test_claims_show_what_is_ambiguous(petals):
    X, y = petals
    model = Discriminant(coding="one-vs-rest", penalty=Ridge(0.01)).fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    display = plots.DecisionRegionsDisplay.from_estimator(model, (X - X.mean(axis=0)) / X.std(axis=0), y, show="claims")
    assert 0 < display.share() < 1
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert {"no class", "several classes"} & set(texts)


def test_more_columns_are_held_at_their_means_and_the_telling_ones_are_drawn(iris):
    frame = pd.DataFrame(iris.X, columns=iris.feature_names)
    model = LinearDiscriminantAnalysis().fit(frame, iris.y)
    display = plots.DecisionRegionsDisplay.from_estimator(model, frame, iris.y)
    drawn = [iris.feature_names.index(display.ax_.get_xlabel()), iris.feature_names.index(display.ax_.get_ylabel())]
    said, agreed = model.predict(frame), {}
    for pair in itertools.combinations(range(4), 2):  # the pair whose slice says what the model says most often
        rows = np.tile(iris.X.mean(axis=0), (150, 1))
        rows[:, pair] = iris.X[:, pair]
        agreed[pair] = (model.predict(pd.DataFrame(rows, columns=iris.feature_names)) == said).sum()
    assert agreed[tuple(drawn)] == max(agreed.values())
    assert "where" in display.note
    chosen = plots.DecisionRegionsDisplay.from_estimator(model, frame, iris.y, features=[iris.feature_names[2], 3])
    held = frame.mean().to_numpy()
    for area, (label,) in chosen.areas:
        row = held.copy()
        row[2:] = area.mean(axis=0)
        assert model.predict(pd.DataFrame([row], columns=iris.feature_names))[0] == label


def test_regions_refuse_in_sentences(petals):
    X, y = petals
    model = LinearDiscriminantAnalysis().fit(X, y)
    with pytest.raises(ParameterError, match="'decisions' or 'claims'"):
        plots.DecisionRegionsDisplay.from_estimator(model, X, y, show="all")
    with pytest.raises(DataError, match="at least two columns"):
        plots.DecisionRegionsDisplay.from_estimator(model, X[:, :1], y)
    with pytest.raises(DataError, match="NaN or infinity"):
        plots.DecisionRegionsDisplay.from_estimator(model, np.where(X > 6, np.nan, X), y)
    with pytest.raises(DataError, match="no column 'width'"):
        plots.DecisionRegionsDisplay.from_estimator(model, X, y, features=["width", 0])
    with pytest.raises(MismatchError, match="no straight discriminants"):
        plots.DecisionRegionsDisplay.from_estimator(QuadraticDiscriminantAnalysis().fit(X, y), X, y, show="claims")


def test_the_users_settings_are_left_alone(petals):
    before = dict(mpl.rcParams)
    plots.DecisionRegionsDisplay.from_estimator(LinearDiscriminantAnalysis().fit(*petals), *petals)
    assert dict(mpl.rcParams) == before


# History


def test_history_display_draws_the_columns(petals):
    X, y = petals
    model = LogisticRegression(optimizer="newton").fit(X, y)
    display = plots.HistoryDisplay.from_estimator(model, ["objective", "gradient_norm"])
    drawn = [line.get_ydata() for line in display.ax_.get_lines()]
    np.testing.assert_array_equal(drawn[0], model.history_["objective"])
    np.testing.assert_array_equal(drawn[1], model.history_["gradient_norm"])
    assert display.ax_.get_yscale() == "log"


def test_history_plot_is_the_display(petals):
    X, y = petals
    model = LogisticRegression(optimizer="newton").fit(X, y)
    (drawn,) = model.history_.plot().get_lines()
    np.testing.assert_array_equal(drawn.get_ydata(), model.history_["objective"])


def test_history_display_refuses_what_has_no_steps(petals):
    with pytest.raises(DataError, match="history is empty"):
        plots.HistoryDisplay.from_estimator(LinearDiscriminantAnalysis().fit(*petals))


def test_unknown_display_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'PieDisplay'"):
        _ = plots.PieDisplay
