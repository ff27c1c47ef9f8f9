"""``make_report``: a fitted classifier and some rows, told on one HTML page."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discriminant.data import is_frame
from discriminant.errors import DataError
from discriminant.protocols import Array
from discriminant.report.html import page
from discriminant.report.measures import measure
from discriminant.report.sections import SECTIONS, headline
from discriminant.report.story import Story

MOST_SEPARABILITY = 300_000  # rows × features up to which a report asks whether the classes can be separated


@dataclass(frozen=True)
class Report:
    """A page: ``html`` is the whole of it; in a notebook it shows itself."""

    html: str

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page, whole or not at all."""
        target = Path(path)
        try:
            with tempfile.NamedTemporaryFile("wb", dir=target.parent, prefix=".report", delete=False) as file:
                file.write(self.html.encode())
            os.replace(file.name, target)
        except OSError as error:
            raise DataError(f"{target} cannot be written: {error.strerror or error}.") from error
        return target

    def _repr_html_(self) -> str:
        from html import escape

        return f'<iframe srcdoc="{escape(self.html, quote=True)}" style="width:100%;height:800px;border:0"></iframe>'


def render(story: Story) -> str:
    """The page of a story."""
    parts = [(name, make(story)) for name, make in SECTIONS.items()]
    return page(story.title, story.subtitle, headline(story), [(name, part) for name, part in parts if part])


def make_report(model: Any, X: Any, y: Any, *, title: str = "", feature_names: Sequence[str] | None = None) -> Report:
    """The report of a fitted classifier on the rows X with labels y.

    Parameters
    ----------
    model : a fitted classifier with ``predict``; with ``predict_proba`` for curves and calibration
    X : array, sparse matrix or frame, preferably of rows that the model was not fitted to
    y : labels
    title, feature_names : optional

    Examples
    --------
    >>> from discriminant import LinearDiscriminantAnalysis, datasets
    >>> iris = datasets.load("iris")
    >>> lda = LinearDiscriminantAnalysis().fit(iris.X[::2], iris.y[::2])
    >>> make_report(lda, iris.X[1::2], iris.y[1::2]).html[:15]
    '<!doctype html>'
    """
    labels = np.asarray(y)
    values: Any = X
    names = feature_names
    if is_frame(X):
        names = [str(name) for name in X.columns] if names is None else names
        values = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X, dtype=np.float64)
    elif not hasattr(X, "tocsr"):
        values = np.asarray(X, dtype=np.float64)
    if names is None:
        names = list(getattr(model, "feature_names_in_", [f"x{j}" for j in range(values.shape[1])]))
    classes = np.asarray(getattr(model, "classes_", getattr(model, "classes", None)))
    chances = np.asarray(model.predict_proba(X)) if hasattr(model, "predict_proba") else None
    measured = measure(classes, labels, np.asarray(model.predict(X)), chances)
    kind = type(model).__name__
    story = Story(
        title or f"{kind}: {len(classes)} classes", f"{len(labels):,} rows, {len(names)} features", model, values,
        labels, classes, [str(name) for name in names], measured, "the rows given",
        certificate=str(getattr(model, "certificate_", "")), extra={"separability": separable(values, labels)},
    )  # fmt: skip
    return Report(render(story))


def separable(X: Any, labels: Array) -> tuple[str, str, list[list[str]]] | None:
    """(verdict, sentence, rows of the witness), or None where the question is too large for a report."""
    if hasattr(X, "tocsr") or X.size > MOST_SEPARABILITY or X.shape[1] > 200:
        return None
    from discriminant.inference.separability import separability

    found = separability(X, labels, hyperplane="any")
    sentence = {
        "separable": "a linear discriminant puts every row on its own side. Maximum likelihood has no finite estimate.",
        "quasi-separable": "some weights put no row on the wrong side, but none put all rows strictly on their side.",
        "overlapping": "whatever the weights of a linear discriminant, some row is on the wrong side.",
    }[found.verdict]
    rows: list[list[str]] = []
    if found.witness is not None:
        witness = found.witness
        rows = [[str(int(r) + 1), str(labels[r]), str(rival), f"{float(w):.4g}"]
                for r, rival, w in zip(witness.rows, witness.rivals, witness.weights, strict=True)]  # fmt: skip
    return found.verdict, sentence, rows
