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
)
from discriminant.errors import DataError, MismatchError, ParameterError
from discriminant.geometry import polygon_area
from discriminant.penalties import Ridge


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
    with pytest.raises(DataError, match="no history_"):
        plots.HistoryDisplay.from_estimator(LinearDiscriminantAnalysis().fit(*petals))


def test_unknown_display_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'PieDisplay'"):
        _ = plots.PieDisplay
