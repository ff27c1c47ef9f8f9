"""Results read well in a terminal and in a notebook: short, and with every number in a frame."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import discriminant
from discriminant import (
    ExponentialFamilyClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    Perceptron,
    QuadraticDiscriminantAnalysis,
    compare,
    datasets,
    logistic_path,
    plots,
    scan,
    separability,
    shatters,
)

IRIS = datasets.load("iris")
X, Y = IRIS.X[50:], IRIS.y[50:]
MODEL = LogisticRegression(C=np.inf).fit(X, Y)
LETTERS = np.array([chr(65 + k) for k in range(26)])[np.arange(780) % 26]
MANY_X = np.random.default_rng(0).normal(size=(26, 3))[np.arange(780) % 26] + np.random.default_rng(1).normal(
    size=(780, 3)
)
MANY = LogisticRegression().fit(MANY_X, LETTERS)
RESULTS = {
    "diagnostics": lambda: MODEL.diagnostics(X, Y),
    "separability": lambda: separability(X, Y),
    "witness": lambda: separability(X, Y).witness,
    "history": lambda: Perceptron(max_iter=100).fit(IRIS.X[:100], IRIS.y[:100]).history_,
    "contributions": lambda: MODEL.explain(X),
    "contributions of many classes": lambda: LogisticRegression().fit(IRIS.X, IRIS.y).explain(IRIS.X),
    "summary": lambda: MODEL.summary(),
    "comparison": lambda: compare(LogisticRegression(C=np.inf).fit(X[:, :2], Y), MODEL, X, Y),
    "certificate": lambda: MODEL.certificate_,
    "summary of 26 classes": lambda: MANY.summary(),
    "effects of 26 classes": lambda: MANY.marginal_effects(MANY_X),
    "contributions of 26 classes": lambda: MANY.explain(MANY_X),
    "witness of 26 classes": lambda: separability(MANY_X, LETTERS).witness,
    "discriminant": lambda: MODEL.discriminant_,
    "discriminant of 26 classes": lambda: MANY.discriminant_,
    "limiting fit": lambda: separability(IRIS.X, IRIS.y).limiting_fit(),
    "moments": lambda: LinearDiscriminantAnalysis().fit(X, Y).moments_,
    "moments by class": lambda: QuadraticDiscriminantAnalysis().fit(X, Y).moments_,
    "moments of 26 classes": lambda: LinearDiscriminantAnalysis().fit(MANY_X, LETTERS).moments_,
    "class sums": lambda: ExponentialFamilyClassifier().fit(X, Y).moments_,
    "axes": lambda: LinearDiscriminantAnalysis().fit(IRIS.X, IRIS.y).axes_,
    "path": lambda: logistic_path(IRIS.X, IRIS.y),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_short_in_a_terminal_and_a_notebook(name):
    found = RESULTS[name]()
    text, page = repr(found), found._repr_html_()
    assert len(text.splitlines()) <= 20
    assert max(map(len, text.splitlines())) <= 200
    assert page.count("<tr>") <= 14
    assert page.count("<p>") + page.count("<table>") >= 1
    assert "Fraction" not in text
    assert "array(" not in text


@pytest.mark.parametrize("name", ["diagnostics", "witness", "history", "contributions", "summary", "comparison"])
def test_every_number_is_in_a_frame(name):
    found = RESULTS[name]()
    frame = found.to_frame()
    assert len(frame) > 0
    if name == "diagnostics":
        assert frame["cook"].to_numpy().tolist() == found.cook.tolist()
    if name == "contributions":
        np.testing.assert_allclose(frame["score"], MODEL.decision_function(X))
        np.testing.assert_allclose(frame.drop(columns="score").sum(axis=1), frame["score"])


def test_names_of_columns_are_escaped():
    import pandas as pd

    frame = pd.DataFrame(X[:, 2:], columns=["<b>a</b>", "x\x1b[31m"])
    model = LogisticRegression(C=np.inf).fit(frame, Y)
    for found in (model.summary(), model.explain(frame)):
        assert "<b>a</b>" not in found._repr_html_()
    assert "\x1b" not in str(model.summary())


def test_the_limit_of_a_fit_names_its_columns_and_a_scorer_what_it_scores():
    frame = datasets.load("iris", as_frame=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        limit = LogisticRegression(C=np.inf).fit(frame.X, frame.y).limit_
    assert all(name in repr(limit) for name in frame.X.columns)
    assert repr(MODEL.scorer()) == "Scorer of 4 features for 'versicolor' and 'virginica'"


def test_the_rows_of_the_largest_influence_come_first():
    found = MODEL.diagnostics(X, Y)
    first = str(found).splitlines()[2].split()[0]
    assert int(first) == int(found.cook.argmax())
    assert isinstance(found, discriminant.inference.diagnostics.Diagnostics)


def test_a_long_table_is_whole_where_it_is_asked_for():
    """What is shown by its ends in a notebook is printed, written as HTML and handed out as a frame in full."""
    found = MANY.summary()
    assert "100 rows in all: to_frame() has them" in repr(found)
    assert len(found.to_frame()) == 100
    assert found.to_html().count("<tr>") == 101
    assert len(str(found).splitlines()) > 100


@pytest.mark.parametrize("make", [
    lambda: plots.DecisionRegionsDisplay.from_estimator(LogisticRegression().fit(X[:, :2], Y), X[:, :2], Y),
    lambda: plots.CalibrationDisplay.from_estimator(MODEL, X, Y),
    lambda: discriminant.ambiguity(LogisticRegression().fit(IRIS.X[:, :2], IRIS.y), ((4, 8), (2, 5))),
    lambda: MODEL.report(X, Y),
    lambda: Perceptron().fit(IRIS.X[:100], IRIS.y[:100]).coding_,
    lambda: separability(X, Y).removals(),
    lambda: shatters([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
    lambda: MANY.discriminant_,
    lambda: discriminant.solution_region(X[:, :1], Y),
    lambda: MANY.plan(MANY_X, LETTERS),
], ids=["regions", "calibration", "ambiguity", "report", "coding", "removals", "shattering", "discriminant",
        "solution region", "choice"])  # fmt: skip
def test_what_is_no_table_says_in_a_line_what_it_is(make):
    text = repr(make())
    assert len(text) < 150
    assert "\n" not in text
    assert "array(" not in text
    assert "Fraction" not in text


def test_a_frame_of_weights_is_the_weights():
    frame = MODEL.discriminant_.to_frame()
    assert frame["feature"].tolist() == ["(intercept)", *MODEL.discriminant_.names]
    np.testing.assert_allclose(frame.iloc[:, 1], [*MODEL.intercept_, *MODEL.coef_[0]])
    path = logistic_path(X, Y, n_lambdas=10)
    np.testing.assert_array_equal(path.to_frame().iloc[:, -4:], path.coefs[:, 0])


def test_moments_show_the_means_and_deviations_of_the_columns():
    frame = LinearDiscriminantAnalysis().fit(IRIS.X, IRIS.y).moments_.to_frame()
    for k, label in enumerate(IRIS.classes):
        np.testing.assert_allclose(frame[f"mean {k}"], IRIS.X[IRIS.y == label].mean(axis=0))
    within = np.mean([IRIS.X[IRIS.y == label].var(axis=0) for label in IRIS.classes], axis=0)
    np.testing.assert_allclose(frame["deviation within"] ** 2, within)


def test_what_is_not_known_is_not_shown():
    """No "gradient norm nan" of a method without a gradient, no column of gaps, no deviance of −0."""
    for model in (Perceptron(max_iter=5), discriminant.Adaline(), discriminant.LinearSVC()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = model.fit(X, Y)
        assert "nan" not in f"{fitted.certificate_!r} {fitted.history_!r}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        limit = LogisticRegression(C=np.inf).fit(IRIS.X[:100], IRIS.y[:100])
    assert "deviance 0," in repr(limit.summary())
    assert "deviance -0" not in repr(limit.summary())


def test_the_size_of_a_small_file_is_shown(tmp_path):
    np.save(tmp_path / "X.npy", IRIS.X)
    source = scan(tmp_path / "X.npy")
    assert repr(source).endswith("4.8 kB>")
    assert "object at" not in repr(MODEL.predict(source))


def test_pictures_leave_a_notebook_interactive(tmp_path):
    """A notebook's backend turns interaction on when a figure loads it; later pictures show only if that lasts."""
    (tmp_path / "notebook_backend.py").write_text(
        "import matplotlib\nfrom matplotlib.backends.backend_agg import *\nmatplotlib.interactive(True)\n"
    )
    code = (
        "import numpy as np, matplotlib\n"
        "from discriminant import plots, LogisticRegression\n"
        "X = np.array([[0.0, 0], [1, 0], [0, 2], [1, 3]]); y = [0, 0, 1, 1]\n"
        "size = matplotlib.rcParams['axes.titlesize'], matplotlib.rcParams['axes.prop_cycle']\n"
        "plots.DecisionRegionsDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)\n"
        "print(matplotlib.is_interactive())\n"
        "print(size == (matplotlib.rcParams['axes.titlesize'], matplotlib.rcParams['axes.prop_cycle']))\n"
    )
    paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "MPLBACKEND": "module://notebook_backend", "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert ran.stdout == "True\nTrue\n", ran.stderr
