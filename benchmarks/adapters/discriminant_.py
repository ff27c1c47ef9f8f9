"""This package, at its defaults."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.adapters.discriminant_logistic import METHODS as LOGISTIC
from benchmarks.adapters.discriminant_steps import METHODS as STEPS
from benchmarks.cold import fresh_process
from benchmarks.contract import OURS, Data, Prepared

NAME, ROLE, PACKAGE = "discriminant", OURS, "discriminant"


def _fit(name: str) -> Any:
    def build(data: Data) -> Prepared:
        import discriminant

        Model = getattr(discriminant, name)
        return Prepared(lambda: Model().fit(data.X, data.y), lambda m: {"posterior": m.predict_proba(data.probe)})

    return build


def _least_squares(data: Data) -> Prepared:
    from discriminant import LeastSquaresClassifier

    def scores(model: Any) -> dict[str, Any]:
        return {"scores": np.asarray(model.decision_function(data.probe))}

    return Prepared(lambda: LeastSquaresClassifier().fit(data.X, data.y), scores)


def _predict(data: Data) -> Prepared:
    from discriminant import LinearDiscriminantAnalysis

    model = LinearDiscriminantAnalysis().fit(data.X, data.y)
    return Prepared(lambda: model.predict(data.X), lambda labels: {"labels": labels})


METHODS = {
    "lda-fit": {"default": _fit("LinearDiscriminantAnalysis")},
    "qda-fit": {"default": _fit("QuadraticDiscriminantAnalysis")},
    "least-squares-fit": {"default": _least_squares},
    "lda-predict": {"predict": _predict},
    "lda-cold-start": {
        "import and fit": fresh_process("from discriminant import LinearDiscriminantAnalysis as Model"),
    },
    **LOGISTIC,
    **STEPS,
}
REFUSALS: dict[str, str] = {}
