"""Displays of distances, axes, weights, probabilities and films: their numbers, against independent computations."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from PIL import Image

from discriminant import (
    FisherDiscriminant,
    LinearDiscriminantAnalysis,
    LinearMachine,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    QuadraticDiscriminantAnalysis,
    datasets,
    logistic_path,
    plots,
)
from discriminant.errors import DataError, MismatchError, ParameterError
from discriminant.optimize import GradientDescent
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
def pair():
    """Two clouds in the plane, separable."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal((0, 0), 0.4, (15, 2)), rng.normal((3, 1), 0.4, (15, 2))])
    return X, np.repeat(["left", "right"], 15)


@pytest.fixture(scope="module")
def traced(pair):
    return Perceptron(shuffle=False, tol=None, trace=True).fit(*pair)


# Margins


def test_margin_display_measures_from_the_line(pair):
    X, y = pair
    model = LinearSVC(C=10.0).fit(X, y)
    display = plots.MarginDisplay.from_estimator(model, X, y)
    w, w0 = model.coef_[0], model.intercept_[0]
    np.testing.assert_allclose(display.distances, (X @ w + w0) / np.linalg.norm(w), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(X - display.feet, axis=1), np.abs(display.distances), atol=1e-12)
    np.testing.assert_allclose(display.feet @ w + w0, 0, atol=1e-9)
    assert display.smallest == pytest.approx((np.where(y == "right", 1, -1) * display.distances).min())
    assert "smallest margin" in display.ax_.get_title(loc="left")


def test_margin_of_many_classes_is_negative_exactly_where_the_model_errs(iris):
    model = LinearDiscriminantAnalysis().fit(iris.X, iris.y)
    display = plots.MarginDisplay.from_estimator(model, iris.X, iris.y)
    np.testing.assert_array_equal(display.distances < 0, model.predict(iris.X) != iris.y)
    with pytest.raises(MismatchError, match="no plane to draw"):
        display.plot(kind="plane")
    with pytest.raises(ParameterError, match="must be 'auto'"):
        display.plot(kind="pie")
    with pytest.raises(MismatchError, match="no linear discriminant"):
        plots.MarginDisplay.from_estimator(object(), iris.X, iris.y)


# Axes


def test_discriminant_axes_show_what_transform_says(iris):
    frame = pd.DataFrame(iris.X, columns=iris.feature_names)
    model = LinearDiscriminantAnalysis().fit(frame, iris.y)
    display = plots.DiscriminantAxesDisplay.from_estimator(model, frame, iris.y)
    np.testing.assert_array_equal(display.coordinates, model.transform(frame))
    drawn = np.vstack([part.get_offsets() for part in display.ax_.collections[:3]])
    assert {tuple(row) for row in drawn} == {tuple(row) for row in display.coordinates[:, :2]}
    assert display.means.shape == (3, 2)
    one = FisherDiscriminant(n_components=1).fit(frame, iris.y)
    assert plots.DiscriminantAxesDisplay.from_estimator(one, frame, iris.y).ax_.get_ylabel() == "rows"
    with pytest.raises(MismatchError, match="no discriminant axes"):
        plots.DiscriminantAxesDisplay.from_estimator(LinearSVC().fit(iris.X, iris.y), iris.X, iris.y)
    with pytest.raises(DataError, match="not one that the model knows"):
        plots.DiscriminantAxesDisplay.from_estimator(model, frame, np.full(150, "rose"))


# Weight space


def test_solution_region_holds_the_weights_found(pair):
    x, y = pair[0][:, :1], pair[1]
    model = Perceptron(shuffle=False, tol=None, max_iter=10_000).fit(x, y)
    display = plots.SolutionRegionDisplay.from_estimator(model, x, y)
    assert display.weights in display.region
    np.testing.assert_allclose(display.weights, [model.intercept_[0], model.coef_[0, 0]])
    (low, high), _ = display._box()
    assert low <= display.weights[0] <= high
    patches = [patch for patch in display.ax_.patches if len(patch.get_xy()) >= 4]
    middle = patches[0].get_xy()[:-1].mean(axis=0)
    assert middle in display.region


def test_solution_region_in_three_dimensions_and_where_it_is_empty(pair):
    X, y = pair
    model = Perceptron(shuffle=False, tol=None, max_iter=10_000).fit(X, y)
    display = plots.SolutionRegionDisplay.from_estimator(model, X, y)
    assert display.ax_.name == "3d"
    assert display.region.rays.shape[1] == 3
    empty = plots.SolutionRegionDisplay.from_data([[0.0], [1.0], [2.0]], ["a", "b", "a"])
    assert empty.region.empty
    assert "empty" in empty.ax_.get_title(loc="left")
    with pytest.raises(DataError, match="two or three weights"):
        plots.SolutionRegionDisplay.from_data(np.random.default_rng(0).normal(size=(6, 3)), [0, 0, 0, 1, 1, 1])


def test_criterion_surface_is_the_criterion(pair):
    X, y = pair
    display = plots.CriterionSurfaceDisplay.from_data(
        X, y, "logistic", penalty=Ridge(0.1), fit_intercept=False, optimizer="newton", resolution=15
    )
    t = np.where(y == "right", 1.0, -1.0)
    for i, j in ((0, 0), (7, 3), (14, 14)):
        a = np.array([display.across[j], display.up[i]])
        by_hand = np.mean(np.logaddexp(0, -t * (X @ a))) + 0.05 * a @ a
        assert display.values[i, j] == pytest.approx(by_hand, rel=1e-10)
    assert (np.diff(display.path_values) <= 1e-12).all()
    assert display.path_values[-1] <= display.values.min()


def test_criterion_surface_of_an_estimator_follows_its_trace(pair, traced):
    X, y = pair
    display = plots.CriterionSurfaceDisplay.from_estimator(traced, X, y, resolution=10)
    np.testing.assert_array_equal(display.path, traced.history_.weights()[:, :2, 0])
    assert display.path_values[-1] == 0
    surface = plots.CriterionSurfaceDisplay.from_estimator(traced, X, y, resolution=10, kind="surface")
    assert surface.ax_.name == "3d"
    smooth = LogisticRegression(C=2.0).fit(X, y)
    shown = plots.CriterionSurfaceDisplay.from_estimator(smooth, X, y, resolution=21)
    at = [np.abs(shown.across - smooth.intercept_[0]).argmin(), np.abs(shown.up - smooth.coef_[0, 0]).argmin()]
    assert shown.values[at[1], at[0]] == shown.values.min()
    with pytest.raises(DataError, match="two classes"):
        plots.CriterionSurfaceDisplay.from_data([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    with pytest.raises(ParameterError, match="'contour' or 'surface'"):
        shown.plot(kind="map")


def test_coefficient_path_draws_the_path(iris):
    frame = pd.DataFrame(iris.X, columns=iris.feature_names)
    path = logistic_path(frame, iris.y, n_lambdas=12)
    display = plots.CoefficientPathDisplay.from_path(path, output=1)
    np.testing.assert_array_equal(display.coefs, path.coefs[:, 1])
    assert display.ax_.get_ylabel() == "weight for versicolor"
    assert display.ax_.get_xlim()[0] > display.ax_.get_xlim()[1]
    scaled = plots.CoefficientPathDisplay.from_data(frame, iris.y, n_lambdas=12, output=1)
    np.testing.assert_allclose(scaled.coefs, path.coefs[:, 1] * iris.X.std(axis=0))
    chosen = plots.CoefficientPathDisplay.from_estimator(LogisticRegression(C=0.5).fit(frame, iris.y), frame, iris.y)
    assert chosen.chosen == pytest.approx(1 / (0.5 * 150))
    with pytest.raises(DataError, match="no penalty path"):
        plots.CoefficientPathDisplay.from_estimator(LinearDiscriminantAnalysis(), frame, iris.y)


# Probabilities


def test_posterior_display_asks_the_model(iris):
    X, y = iris.X[:, 2:], iris.y
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    display = plots.PosteriorDisplay.from_estimator(model, X, y, target="virginica", resolution=9)
    corner = model.predict_proba([[display.across[-1], display.up[0]]])[0, 2]
    assert display.posterior[0, -1] == pytest.approx(corner)
    assert plots.PosteriorDisplay.from_estimator(model, X, resolution=9, kind="surface").ax_.name == "3d"
    with pytest.raises(DataError, match="no class 'rose'"):
        plots.PosteriorDisplay.from_estimator(model, X, y, target="rose")
    with pytest.raises(MismatchError, match="gives no probabilities"):
        plots.PosteriorDisplay.from_estimator(LinearSVC().fit(X, y), X, y)


def test_calibration_display_counts(iris):
    model = LinearDiscriminantAnalysis().fit(iris.X, iris.y)
    display = plots.CalibrationDisplay.from_estimator(model, iris.X, iris.y)
    assert sorted(display.curves) == ["setosa", "versicolor", "virginica"]
    bins = display.curves["virginica"]
    assert sum(one.count for one in bins) == 150
    assert sum(one.count * one.observed for one in bins) == pytest.approx(50)
    assert all(one.low <= one.observed <= one.high for one in bins)
    with pytest.raises(DataError, match="probabilities has shape"):
        plots.CalibrationDisplay.from_predictions(iris.y, np.ones((150, 2)) / 2)


def test_calibration_tells_an_honest_model_from_a_boastful_one():
    rng = np.random.default_rng(1)
    z = rng.normal(size=4000) * 1.5
    p = 1 / (1 + np.exp(-z))
    y = (rng.random(4000) < p).astype(int)
    honest = plots.CalibrationDisplay.from_predictions(y, p)
    boastful = plots.CalibrationDisplay.from_predictions(y, 1 / (1 + np.exp(-3 * z)))
    assert honest.error(1) < 0.03 < 0.1 < boastful.error(1)


# Contributions


def test_contributions_add_up_to_the_score(iris):
    frame = pd.DataFrame(iris.X, columns=iris.feature_names)
    model = LogisticRegression().fit(frame, iris.y)
    row = frame.iloc[[100]]
    display = plots.ContributionsDisplay.from_estimator(model, row, reference=iris.X.mean(axis=0), most=2)
    assert display.target == model.predict(row)[0]
    assert display.score == pytest.approx(
        model.decision_function(row)[0, model.classes_.tolist().index(display.target)]
    )
    texts = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert texts[0] == "reference"
    assert texts[-2:] == ["2 others", "score"]
    ends = [bar.get_x() + bar.get_width() for bar in display.ax_.patches]
    assert ends[-1] == pytest.approx(display.score)
    with pytest.raises(DataError, match="explains one row"):
        plots.ContributionsDisplay.from_estimator(model, frame.iloc[:2])
    with pytest.raises(DataError, match="no class 'rose'"):
        plots.ContributionsDisplay.from_estimator(model, row, target="rose")


def test_contributions_for_the_first_of_two_classes_are_those_for_the_second_turned(pair):
    X, y = pair
    model = LogisticRegression().fit(X, y)
    first, second = (plots.ContributionsDisplay.from_estimator(model, X[3], target=name) for name in ("left", "right"))
    np.testing.assert_allclose(first.contributions, -second.contributions)
    assert first.score == pytest.approx(-model.decision_function(X[3:4])[0])
    assert (
        second.shades == first.shades[::-1] == (theme.color(1), theme.color(0))
    )  # what speaks for a class is its colour


# Films


def test_film_is_written_as_gif_and_as_a_page(pair, traced, tmp_path):
    X, y = pair
    film = plots.TraceAnimation.from_estimator(traced, X, y, frames=3)
    assert film.errors[-1] == 0
    np.testing.assert_array_equal(film.steps[[0, -1]], [0, len(traced.history_) - 1])
    gif = film.save(tmp_path / "film.gif", dpi=30)
    with Image.open(gif) as picture:
        assert picture.n_frames == len(film.steps)
    page = film.save(tmp_path / "film.html", dpi=30).read_text(encoding="utf-8")
    assert page.count("iVBOR") == len(film.steps)
    assert "http" not in page
    assert film.plot(0).ax_.get_title(loc="left").startswith("step 0")
    with pytest.raises(ParameterError, match=r"must end in .gif, .mp4 or .html"):
        film.save(tmp_path / "film.avi")
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.filterwarnings("ignore::discriminant.errors.DiscriminantWarning")
def test_film_of_three_classes_and_refusals(iris, pair, monkeypatch):
    X, y = iris.X[:, 2:] - iris.X[:, 2:].mean(axis=0), iris.y
    model = LogisticRegression(optimizer=GradientDescent(0.3, iterations=30, trace=True)).fit(X, y)
    film = plots.TraceAnimation.from_estimator(model, X, y, frames=4)
    assert film.errors[-1] == (model.predict(X) != y).sum() < film.errors[0]
    assert len(film.plot().ax_.patches) == 3
    from matplotlib.animation import writers

    monkeypatch.setattr(writers, "is_available", lambda name: False)
    with pytest.raises(ParameterError, match="needs the program ffmpeg"):
        film.save("film.mp4")
    with pytest.raises(DataError, match="trace=True"):
        plots.TraceAnimation.from_estimator(LinearMachine().fit(*pair), *pair)
    with pytest.raises(ParameterError, match="at least two pictures"):
        plots.TraceAnimation.from_estimator(model, X, y, frames=1)
