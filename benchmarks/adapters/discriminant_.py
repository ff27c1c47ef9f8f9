"""This package, at its defaults."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.adapters.discriminant_logistic import METHODS as LOGISTIC
from benchmarks.adapters.discriminant_steps import METHODS as STEPS
from benchmarks.cold import fresh_process
from benchmarks.contract import OURS, Data, Prepared

NAME, ROLE, PACKAGE = "discriminant", OURS, "discriminant"


def _fit(name: str, **options: Any) -> Any:
    def build(data: Data) -> Prepared:
        import discriminant

        Model = getattr(discriminant, name)
        return Prepared(
            lambda: Model(**options).fit(data.X, data.y), lambda m: {"posterior": m.predict_proba(data.probe)}
        )

    return build


def _least_squares(data: Data) -> Prepared:
    from discriminant import LeastSquaresClassifier

    alpha = 1.0 / data.extra["C"]

    def scores(model: Any) -> dict[str, Any]:
        z = np.asarray(model.decision_function(data.probe))
        return {"scores": (z + 1.0) / 2.0 if data.n_classes == 2 else z}  # two classes have targets ±1 here too

    return Prepared(lambda: LeastSquaresClassifier(alpha=alpha).fit(data.X, data.y), scores)


def _predict(name: str) -> Any:
    def build(data: Data) -> Prepared:
        import discriminant

        model = getattr(discriminant, name)().fit(data.X, data.y)
        rows = data.X[: data.extra["rows"]]
        return Prepared(lambda: model.predict(rows), lambda labels: {"labels": labels})

    return build


_LDA, _QDA, _FAMILY = "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis", "ExponentialFamilyClassifier"
METHODS = {
    "lda-fit": {"default": _fit(_LDA)},
    "lda-auto": {"default": _fit(_LDA, shrinkage="auto")},
    "lda-shrunk": {"default": _fit(_LDA, shrinkage=0.5)},
    "qda-fit": {"default": _fit(_QDA)},
    "bernoulli": {"default": _fit(_FAMILY, family="bernoulli")},
    "multinomial": {"default": _fit(_FAMILY, family="multinomial")},
    "least-squares-fit": {"default": _least_squares},
    "lda-predict": {"predict": _predict(_LDA)},
    "qda-predict": {"predict": _predict(_QDA)},
    "lda-cold-start": {
        "import and fit": fresh_process("from discriminant import LinearDiscriminantAnalysis as Model"),
    },
    **LOGISTIC,
    **STEPS,
}
REFUSALS: dict[str, str] = {}
