"""Our single-sample procedures, in the order of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.contract import Data, Methods, Prepared


def _weights(model: Any) -> dict[str, Any]:
    return {"weights": np.asarray(model.coef_)}


def _epoch(data: Data) -> Prepared:
    from discriminant import Perceptron

    def call() -> Any:
        return Perceptron(shuffle=False, fit_intercept=False).partial_fit(data.X, data.y, classes=[0, 1])

    return Prepared(call, _weights)


def _fit(**options: Any) -> Any:
    def build(data: Data) -> Prepared:
        from discriminant import Perceptron

        settings = {"max_iter": 10, "tol": None, "shuffle": False, "fit_intercept": False, **options}
        return Prepared(lambda: Perceptron(**settings).fit(data.X, data.y), _weights)

    return build


def _lms(data: Data) -> Prepared:
    from discriminant import Adaline

    def call() -> Any:
        return Adaline(eta0=1e-3, shuffle=False, fit_intercept=False).partial_fit(data.X, data.y, classes=[0, 1])

    return Prepared(call, _weights)


METHODS: Methods = {
    "perceptron-epoch": {"Perceptron": _epoch},
    "perceptron-fit": {"Perceptron": _fit(), "Perceptron, traced": _fit(trace=True)},
    "lms-epoch": {"Adaline": _lms},
}
