"""Everything the page shows for a state: the fit with its frames, the verdict with its witness, the Python.

The fit and the verdict are independent: where a method refuses the points, the page still says whether any line
could separate them.
"""

from __future__ import annotations

import math
import threading
import time
import warnings
from typing import Any

import numpy as np

from discriminant.errors import DiscriminantError
from discriminant.inference.ambiguity import ambiguity
from discriminant.inference.separability import Separability, separability
from discriminant.model import discriminant_of
from discriminant.play.frames import features, final_weights, frames, grid, last_step, packed, rule_of
from discriminant.play.globe import globe, views
from discriminant.play.methods import basis_recipe
from discriminant.play.presets import EXTENT
from discriminant.play.script import script
from discriminant.play.state import State
from discriminant.protocols import Array

_ONE_AT_A_TIME = threading.Lock()  # catching warnings changes the state of the whole process


def answer(state: State) -> dict[str, Any]:
    """What the page shows for these points and choices."""
    started = time.perf_counter()
    if len(state.classes) < 2:
        text = "Put points of two classes or more." if len(state.y) else "Click to put a point."
        return {"fit": None, "verdict": None, "problem": text, "python": "", "notes": [], "milliseconds": 0}
    shown: dict[str, Any] = {"fit": None, "problem": None, "python": "", "notes": []}
    with _ONE_AT_A_TIME, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        shown["verdict"] = _verdict(state)
        decided = time.perf_counter()
        try:
            shown["fit"] = _fit(state, shown["verdict"]["verdict"])
            shown["python"] = script(state)
        except (DiscriminantError, ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            shown["problem"] = " ".join(str(error).split())
    notes = dict.fromkeys(" ".join(str(w.message).split()) for w in caught)
    certified = shown["fit"]["certificate"]["status"] if shown["fit"] else ""
    shown["notes"] = [note for note in notes if note != certified]
    shown["milliseconds"] = round(1000 * (time.perf_counter() - started), 1)
    shown["fit_milliseconds"] = round(1000 * (time.perf_counter() - decided), 1)
    return shown


def _fit(state: State, verdict: str) -> dict[str, Any]:
    model = state.recipe().build().fit(*state.sample)
    final, rule, made = last_step(model), rule_of(model), frames(model)
    curved = state.basis != "none" or discriminant_of(final) is None
    side, nodes = grid(model, curved)
    Y, learned = features(model, state.X), state.learned
    shown = np.append(learned, -1)  # the point of each row of the fit; −1 stays
    q, places = made.weights.shape[2], {label: k for k, label in enumerate(rule["classes"])}
    problems = views(rule, q) if discriminant_of(final) is not None and Y.shape[1] > 2 else []
    view = min(state.view, len(problems) - 1)
    empty = len(rule["classes"]) == 2 and verdict != "separable"  # then nothing is left to ask about the region
    return {
        "rule": rule, "curved": curved, "outputs": q, "dimensions": int(Y.shape[1]),
        "grid": {"side": side, "extent": EXTENT, "values": packed(nodes, "<f4")},
        "points": packed(Y),
        "frames": {
            "count": len(made.k), "weights": packed(made.weights), "k": made.k.tolist(),
            "objective": [_finite(J) for J in made.objective], "row": shown[made.row].tolist(),
        },
        "weights": final_weights(model).tolist(),
        "predicted": [places.get(label, -1) for label in model.predict(state.X).tolist()],  # −1: a reject
        "learned": learned.tolist(), "right": float(model.score(*state.sample)),
        "certificate": _certificate(final),
        "ambiguity": _ambiguity(model, rule, curved),
        "views": [problem["title"] for problem in problems], "view": view,
        "globe": globe(Y[learned], state.y[learned], made.weights, problems[view], empty) if problems else None,
        "margin": 1.0 if state.method in ("svc", "program") else float(state.given.get("margin", 0.0)),
    }  # fmt: skip


def _certificate(final: Any) -> dict[str, Any]:
    found = final.certificate_
    if found is None:
        return {"status": "Closed form: the weights are a function of the class moments.", "converged": True}
    numbers = {name: _finite(getattr(found, name)) for name in ("objective", "bound", "gap", "gradient_norm", "passes")}
    return {"status": found.status, "converged": bool(found.converged), "notes": list(found.notes), **numbers}


def _ambiguity(model: Any, rule: dict[str, Any], curved: bool) -> dict[str, Any] | None:
    if rule["claims"] is None or curved:
        return None
    found = ambiguity(model, ((-EXTENT, EXTENT), (-EXTENT, EXTENT)))
    return {"none": found.none, "several": found.several, "one": found.one, "text": str(found)}


def _verdict(state: State) -> dict[str, Any]:
    X, y = state.sample
    basis = basis_recipe(state.basis, state.centres)
    if basis is not None:
        X = np.asarray(basis.build().fit(X, y).transform(X))
    result = separability(X, y)
    straight = basis is None
    plane = result.hyperplane if straight and len(result.classes) == 2 else None
    return {
        "verdict": result.verdict, "text": _said(result, straight), "proved": bool(result.check()),
        "margin": _finite(result.margin), "hyperplane": None if plane is None else plane.tolist(),
        "witness": _witness(result, straight, state.learned),
        "boundary": state.learned[result.boundary].tolist()[:200],
    }  # fmt: skip


def _said(result: Separability, straight: bool) -> str:
    several = len(result.classes) > 2
    what = (
        ("linear machine" if straight else "linear machine on the features")
        if several
        else ("line" if straight else "hyperplane of the features")
    )
    if result.verdict == "separable":
        unit = "" if straight else ", in the units of the features"
        chance = f" Labels drawn by lot would be separable with probability {result.chance:.2g}." * (
            len(result.classes) == 2 and result.chance > 0.05
        )
        return f"A {what} tells the classes apart; every point is at least {result.margin:.3g} from it{unit}.{chance}"
    if result.verdict == "quasi-separable":
        count = len(result.boundary)
        return f"A {what} puts no point on the wrong side, but {count} of them must lie on the boundary itself."
    assert result.witness is not None
    count = len(result.witness)
    if result.witness.point is not None and straight:
        return f"No {what} can: {count} points prove it. Weighted as shown, both classes have the same average ✕."
    return f"No {what} can: {count} points, weighted as shown, balance each other and prove it."


def _witness(result: Separability, straight: bool, learned: Array) -> dict[str, Any] | None:
    if result.witness is None:
        return None
    found = result.witness
    exact = [text if len(text) <= 17 else "" for text in map(str, found.weights)]  # short enough to be checked by hand
    point = found.point if straight and found.point is not None else None
    return {
        "rows": learned[found.rows].tolist(), "rivals": [int(label) for label in found.rivals],
        "weights": [float(weight) for weight in found.weights], "exact": exact,
        "point": None if point is None else point.tolist(),
    }  # fmt: skip


def _finite(number: Any) -> float | None:
    value = float(number)
    return value if math.isfinite(value) else None
