"""Models that earlier versions saved are loaded and give the answers that they gave then."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import discriminant

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
FILES = sorted(FIXTURES.glob("model-v*.discriminant"))
iris = discriminant.datasets.load("iris")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_old_model_answers_as_it_did(path):
    version, name = path.stem.removeprefix("model-").split("-", 1)
    then = json.loads((FIXTURES / f"model-{version}-answers.json").read_text())[name]
    model = discriminant.load(path)
    assert type(model).__name__ == name
    rows = iris.X[::15]
    assert model.predict(rows).tolist() == then["labels"]
    scores = model.predict_proba if hasattr(model, "predict_proba") else model.decision_function
    np.testing.assert_allclose(scores(rows), then["scores"], rtol=1e-9, atol=1e-9)


def test_there_is_one_of_each_family():
    assert {"LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis", "LogisticRegression", "Perceptron"} <= {
        path.stem.split("-")[-1] for path in FILES
    }
