"""Logistic regression: posteriors that are logistic (two classes) or softmax (K classes) functions of linear scores.

minimise  Σ_i w_i ℓ(t_i, z_i) + ½ ‖w‖² / C,        ℓ = ln(1+e^z) − tz   or   ln Σ_k e^{z_k} − t·z
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.data import require_finite
from discriminant.data.check import require_few_classes
from discriminant.errors import DataError
from discriminant.methods.fit import Fit, Sample
from discriminant.model import LinearDiscriminant
from discriminant.optimize.history import History
from discriminant.optimize.logistic import LogisticFit, LogisticProblem, solve_logistic
from discriminant.optimize.logistic.certificate import certify_fit
from discriminant.protocols import Array


@dataclass(frozen=True)
class Logistic:
    """The parameters of ``LogisticRegression``."""

    estimator: ClassVar[str] = "LogisticRegression"
    optional: ClassVar[tuple[str, ...]] = ("limit_", "coding_")

    penalty: Any = "deprecated"
    C: float = 1.0
    l1_ratio: float | None = 0.0
    dual: bool = False
    tol: float = 1e-8
    fit_intercept: bool = True
    intercept_scaling: float = 1
    class_weight: Any = None
    random_state: Any = None
    solver: str = "auto"
    max_iter: int = 100
    verbose: int = 0
    warm_start: bool = False
    n_jobs: Any = None
    optimizer: Any = "auto"
    correct_priors: bool = False
    penalty_factors: Any = None
    bounds: Any = None
    groups: Any = None
    grouped: bool = False
    basis: Any = None
    coding: Any = "auto"
    decoder: str | None = None
    reject_label: Any = None
    trace: bool = False
    callback: Any = None

    def fit(self, sample: Sample) -> Fit:
        """Minimise with a ridge, to the gap that ``tol`` asks for."""
        blocks, K = sample.blocks, len(sample.classes)
        require_few_classes(self.estimator, blocks.n_rows, K)
        total = LogisticProblem(blocks, K).total
        problem = LogisticProblem(blocks, K, 1 / self.C / total, self.fit_intercept)
        fit = solve_logistic(problem, self.tol)
        if not (np.isfinite(fit.weights).all() and np.isfinite(fit.objective)):
            require_finite(blocks.rows, sample.schema.names, estimator=self.estimator)
            raise DataError("The scores overflow although X is finite: its values are too large. Rescale the columns.")
        return self._found(fit, problem, sample)

    def _found(self, fit: LogisticFit, problem: LogisticProblem, sample: Sample) -> Fit:
        link = "sigmoid" if problem.n_classes == 2 else "softmax"
        model = LinearDiscriminant(
            fit.weights.copy(), sample.classes, feature_names=sample.schema.names, center=fit.center, link=link
        )
        coef: Array = np.array(model.coef, dtype=sample.dtype)
        intercept: Array = np.array(model.intercept, dtype=sample.dtype)
        history = {"objective" if name == "J" else name: list(values) for name, values in fit.history.items()}
        state = {
            "classes_": sample.classes, "discriminant_": model, "coef_": coef, "intercept_": intercept,
            "_kept": (coef.copy(), intercept.copy()), "_belief": None,
            "n_iter_": np.array([fit.steps], dtype=np.int32),
            "certificate_": certify_fit(fit, self.tol, problem.ridge), "history_": History(history),
        }  # fmt: skip
        return Fit(self, model, state)

    def discriminant(self, state: Mapping[str, Any]) -> LinearDiscriminant | None:
        """What decides; None where it is the limit of a fit without a maximum, or a coding's outputs."""
        return None if state.keys() & {"limit_", "coding_"} else state.get("discriminant_")
