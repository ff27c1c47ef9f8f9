"""Results read well in a terminal and in a notebook: short, and with every number in a frame."""

from __future__ import annotations

import numpy as np
import pytest

import discriminant
from discriminant import LogisticRegression, Perceptron, compare, datasets, separability

IRIS = datasets.load("iris")
X, Y = IRIS.X[50:], IRIS.y[50:]
MODEL = LogisticRegression(C=np.inf).fit(X, Y)
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
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_short_in_a_terminal_and_a_notebook(name):
    found = RESULTS[name]()
    text, page = str(found), found._repr_html_()
    assert len(text.splitlines()) <= 16
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
