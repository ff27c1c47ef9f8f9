"""The Python that reproduces what the page shows: the points, the estimator, the fit, the verdict."""

from __future__ import annotations

import numpy as np

from discriminant.play.state import State
from discriminant.protocols import Array

ACROSS = 5  # points on a line


def script(state: State) -> str:
    """A program that fits the same estimator to the same points."""
    recipe = state.recipe()
    imports = recipe.imports()
    ours = imports[-1].removeprefix("from discriminant import ").split(", ")
    imports[-1] = f"from discriminant import {', '.join(sorted({*ours, 'separability'}))}"
    outside = [line for line in imports if not line.startswith("from discriminant")]
    return "\n".join(
        [
            "import numpy as np",
            *outside,
            "",
            imports[-1],
            "",
            _array("X", state.X),
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
    lines = [f"print(separability({features}, y))"]
    if state.method != "qda":
        lines.insert(0, f"print({model}.intercept_, {model}.coef_)")
    if state.method not in ("fisher",):
        lines.insert(-1, f"print({model}.certificate_)")
    return lines


def _split(state: State) -> list[str]:
    """Points that are left out for the test."""
    left = np.setdiff1d(np.arange(len(state.y)), state.learned).tolist()
    if not left:
        return []
    out = f"test = np.isin(np.arange(len(X)), {left})"
    return [out, "X_test, y_test = X[test], y[test]", "X, y = X[~test], y[~test]"]


def _array(name: str, X: Array) -> str:
    pairs = [f"[{float(a)!r}, {float(b)!r}]" for a, b in X]
    lines = [", ".join(pairs[i : i + ACROSS]) for i in range(0, len(pairs), ACROSS)]
    return f"{name} = np.array([\n    " + ",\n    ".join(lines) + ",\n])"


def _labels(y: Array) -> str:
    """Runs of one class, as the page keeps its points in the order in which they came."""
    text = ", ".join(str(int(label)) for label in y)
    runs: list[tuple[int, int]] = []
    for label in y.tolist():
        runs = [*runs[:-1], (label, runs[-1][1] + 1)] if runs and runs[-1][0] == label else [*runs, (label, 1)]
    if len(runs) * 3 < len(y):
        text = ", ".join(str(label) for label, _ in runs)
        return f"y = np.repeat([{text}], [{', '.join(str(count) for _, count in runs)}])"
    return f"y = np.array([{text}])"
