"""scikit-learn's single-sample classes, in the order of the rows.

Without intercepts: on sparse rows it lets them learn a hundredth as fast, which would be another problem.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.contract import Data, Methods, Prepared

PLAIN = {"shuffle": False, "fit_intercept": False}
SGD = {**PLAIN, "penalty": None, "learning_rate": "constant"}


def _weights(model: Any) -> dict[str, Any]:
    return {"weights": np.asarray(model.coef_)}


def _epoch(name: str, **settings: Any) -> Any:
    def build(data: Data) -> Prepared:
        from sklearn import linear_model

        Model = getattr(linear_model, name)
        return Prepared(lambda: Model(**settings).partial_fit(data.X, data.y, classes=[0, 1]), _weights)

    return build


def _fit(name: str, **settings: Any) -> Any:
    def build(data: Data) -> Prepared:
        from sklearn import linear_model

        Model = getattr(linear_model, name)
        return Prepared(lambda: Model(max_iter=10, tol=None, **settings).fit(data.X, data.y), _weights)

    return build


METHODS: Methods = {
    "perceptron-epoch": {
        "Perceptron": _epoch("Perceptron", **PLAIN),
        "SGDClassifier": _epoch("SGDClassifier", loss="perceptron", eta0=1.0, **SGD),
    },
    "perceptron-fit": {"Perceptron": _fit("Perceptron", **PLAIN)},
    "lms-epoch": {"SGDClassifier": _epoch("SGDClassifier", loss="squared_error", eta0=1e-3, **SGD)},
}
