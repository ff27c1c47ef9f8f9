"""The Python that reproduces what the page shows: the points, the estimator, the fit, the verdict."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from discriminant.play.state import State
from discriminant.protocols import Array

ACROSS = 5  # points on a line


def script(state: State) -> str:
    """A program that fits the same estimator to the same points."""
    recipe = state.recipe()
    return "\n".join(
        [
            "import numpy as np",
            *recipe.imports("separability"),
            "",
            _points(state.X),
            _labels(state.y),
            *_split(state),
            "",
            f"model = {recipe.source()}",
            "model.fit(X, y)",
            'print(f"{model.score(X, y):.1%} of the points are right")',
            *['print(f"{model.score(X_test, y_test):.1%} in the test")'] * (len(state.learned) < len(state.y)),
            *_about(state),
            "",
        ]
    )


def _about(state: State) -> list[str]:
    recipe, model, features = state.recipe(), "model", "X"
    if recipe.name == "MinimumRiskClassifier":
        recipe, model = recipe.parts[0], "model.estimator_"
    piped = recipe.name == "make_pipeline"
    if state.basis != "none":
        features = f"{model}[:-1].transform(X)" if piped else f"{model}.discriminant_.basis.transform(X)"
    model += "[-1]" if piped else ""
    return [
        *[f"print({model}.intercept_, {model}.coef_)"] * (state.method != "qda"),
        *[f"print({model}.certificate_)"] * (state.method != "fisher"),
        f"print(separability({features}, y))",
    ]


def _split(state: State) -> list[str]:
    """Points that are left out for the test."""
    left = np.setdiff1d(np.arange(len(state.y)), state.learned).tolist()
    if not left:
        return []
    out = f"test = np.isin(np.arange(len(X)), {left})"
    return [out, "X_test, y_test = X[test], y[test]", "X, y = X[~test], y[~test]"]


def _points(X: Array) -> str:
    pairs = [str(pair) for pair in X.tolist()]
    lines = [f"    {', '.join(pairs[i : i + ACROSS])},\n" for i in range(0, len(pairs), ACROSS)]
    return f"X = np.array([\n{''.join(lines)}])"


def _labels(y: Array) -> str:
    """Runs of one class, as the page keeps its points in the order in which they came."""
    runs = [(label, len(list(run))) for label, run in groupby(y.tolist())]
    if len(runs) * 3 < len(y):
        labels, counts = zip(*runs, strict=True)
        return f"y = np.repeat({list(labels)}, {list(counts)})"
    return f"y = np.array({y.tolist()})"
