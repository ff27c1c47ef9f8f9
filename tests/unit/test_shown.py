"""Results read well in a terminal and in a notebook: short, and with every number in a frame."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import discriminant
from discriminant import LogisticRegression, Perceptron, compare, datasets, plots, separability

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
], ids=["regions", "calibration", "ambiguity", "report"])  # fmt: skip
def test_pictures_and_pages_say_in_a_line_what_they_are(make):
    text = repr(make())
    assert len(text) < 150
    assert "\n" not in text


def test_a_first_picture_leaves_a_notebook_interactive():
    """IPython turns interaction on when pyplot is loaded; pictures after ours are shown only if that lasts."""
    code = (
        "import numpy as np, matplotlib, sys\n"
        "from discriminant import plots, LogisticRegression\n"
        "class Loads:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'matplotlib.pyplot': matplotlib.rcParams['interactive'] = True\n"
        "sys.meta_path.insert(0, Loads())\n"
        "X = np.array([[0.0, 0], [1, 0], [0, 2], [1, 3]]); y = [0, 0, 1, 1]\n"
        "plots.DecisionRegionsDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)\n"
        "print(matplotlib.is_interactive())\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "MPLBACKEND": "agg"}, capture_output=True, text=True
    )
    assert ran.stdout == "True\n", ran.stderr
