"""Separation verdicts against stored linear programs (as R's detectseparation states them)."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from discriminant import separability

VERDICTS = {"complete": "separable", "overlap (ML exists)": "overlapping"}
MEASURES = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
CASES = {
    "iris setosa vs rest": ("iris", None, "species", "setosa", None),
    "iris versicolor vs rest": ("iris", None, "species", "versicolor", None),
    "iris virginica vs versicolor": ("iris", None, "species", "virginica", {"virginica", "versicolor"}),
    "breast_cancer 30 features": ("breast_cancer", None, "diagnosis", "malignant", None),
    "breast_cancer first 10 features": ("breast_cancer", 10, "diagnosis", "malignant", None),
    "spector": ("spector", None, "GRADE", "1", None),
    "penguins Adelie vs rest (4 measurements)": ("penguins", MEASURES, "species", "Adelie", None),
    "penguins Chinstrap vs rest (4 measurements)": ("penguins", MEASURES, "species", "Chinstrap", None),
    "penguins Gentoo vs rest (4 measurements)": ("penguins", MEASURES, "species", "Gentoo", None),
}


@pytest.mark.parametrize("name", CASES)
def test_verdict_is_that_of_the_stored_program(shared_data, name):
    """Complete separation or overlap, as the reference says; in its metric no margin is wider than its program's."""
    reference = json.loads((shared_data / "reference" / "separation_lp.json").read_text())[name]
    folder, columns, target, positive, among = CASES[name]
    with open(shared_data / folder / "data.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    kept = columns if isinstance(columns, list) else [c for c in rows[0] if c != target][:columns]
    rows = [r for r in rows if all(v not in ("", "NA") for v in r.values()) and (among is None or r[target] in among)]
    X = np.array([[float(row[c]) for c in kept] for row in rows])
    y = np.array([row[target] == positive for row in rows])
    assert X.shape == (reference["n"], reference["p"] - 1)
    result = separability(X, y)
    assert result.verdict == VERDICTS[reference["status"]]
    assert result.check()
    assert len(result.columns) == max(len(reference["infinite_estimates"]) - 1, 0)
    assert result.aliased == ()
    if result:
        assert _box_margin(X, y, result) <= reference["max_min_margin"] * (1 + 1e-6)


def _box_margin(X, y, result):
    """min ±g over rows, scaled as in the reference: columns by their largest size, |weights| ≤ 1."""
    size = np.abs(X).max(axis=0)
    weights = np.append(result.hyperplane[0], result.hyperplane[1:] * size)
    values = np.where(y, 1.0, -1.0) * (result.hyperplane[0] + X @ result.hyperplane[1:])
    return values.min() / np.abs(weights).max()
