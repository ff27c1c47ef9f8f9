"""Linear support vector classification, to a proved gap.

    minimise  ½ ‖w‖² + C Σ c_i ξ(y_i z_i),        ξ = max(0, 1 − m)  or its square;   or ‖w‖₁ in place of ½ ‖w‖²

As in LIBLINEAR and scikit-learn the intercept is penalised like a weight (of a constant feature ``intercept_scaling``),
unless ``penalize_intercept=False``.  Bishop 7.1; Alpaydin 13; Duda, Hart & Stork 5.11.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.arrays import is_sparse
from discriminant.bases.expansion import generator
from discriminant.criteria import SquaredHinge
from discriminant.data import (
    DenseRows,
    SparseRows,
    count_classes,
    held_blas,
    make_blocks,
    workers,
)
from discriminant.data.check import require_few_classes
from discriminant.data.scaling import choose_scaling
from discriminant.data.sources import require_memory
from discriminant.data.threads import ordered_map
from discriminant.data.working_columns import AllColumns
from discriminant.errors import DataError, ParameterError
from discriminant.methods.coded import Codable, fit_coded, plan_coded
from discriminant.methods.fit import Fit, Note, Sample, editable_state
from discriminant.methods.parameters import CodedParameters, method, parameter_list
from discriminant.methods.parts import class_weights
from discriminant.model import LinearDiscriminant
from discriminant.optimize import progress
from discriminant.optimize.choose import Choice
from discriminant.optimize.history import History
from discriminant.optimize.machine import solve_machine
from discriminant.optimize.margins import MarginProblem, choose_margin, solve_margin
from discriminant.optimize.path import LAST_DIGITS
from discriminant.optimize.row_loss import RowLoss
from discriminant.optimize.working_set import ColumnProblem
from discriminant.penalties.separable import separable_penalty
from discriminant.protocols import Array, Certificate
from discriminant.thresholds import SERIAL_VALUES


@dataclass(frozen=True)
class OneFit:
    """Weights (1+d, q) and what is proved of them."""

    weights: Array
    objective: float
    gap: float
    steps: int
    method: str


@parameter_list
class SVCParameters(CodedParameters):
    """Of ``LinearSVC``."""

    penalty: str = "l2"
    loss: str = "squared_hinge"
    _: KW_ONLY
    dual: Any = "auto"
    tol: float = 1e-6
    C: float = 1.0
    multi_class: str = "ovr"
    intercept_scaling: float = 1
    verbose: int = 0
    random_state: Any = None
    max_iter: int = 1000
    penalize_intercept: bool = True


@method
class SupportVectors(SVCParameters, Codable):
    """What ``LinearSVC`` does."""

    estimator: ClassVar[str] = "LinearSVC"
    optional: ClassVar[tuple[str, ...]] = ("coding_", "criterion_")
    coupled: ClassVar[str] = "machine"
    two_class: ClassVar[str] = "hinge"
    together: ClassVar[dict[str, Any]] = {"multi_class": "crammer_singer"}

    def check(self) -> None:
        """Refuse what does not go together."""
        if self.multi_class == "crammer_singer":
            if self.fit_intercept and not self.penalize_intercept:
                raise ParameterError("penalize_intercept=False goes with multi_class='ovr', not with 'crammer_singer'.")
            return
        wrong = self.penalty == "l1" and (self.loss == "hinge" or self.dual is True)
        if wrong or (self.penalty == "l2" and self.loss == "hinge" and self.dual is False):
            raise ParameterError(
                f"Unsupported set of arguments: The combination of penalty={self.penalty!r} and loss={self.loss!r} is "
                f"not supported when dual={self.dual!r}, Parameters: penalty={self.penalty!r}, loss={self.loss!r}, "
                f"dual={self.dual!r}"
            )

    def fit(self, sample: Sample) -> Fit:
        """Minimise to the gap that ``tol`` asks for."""
        self.check()
        if self.coded:
            return fit_coded(self, sample)
        classes, codes = sample.classes, sample.codes
        require_memory(sample.blocks, self.estimator)
        require_few_classes(self.estimator, len(codes), len(classes))
        factors = class_weights(self.class_weight, classes, count_classes(codes, len(classes), sample.weight))
        cost = np.ones(len(codes)) if sample.weight is None else np.asarray(sample.weight, dtype=np.float64)
        if factors is not None:
            cost = cost * factors[codes]
        kept = cost > 0
        if len(np.unique(codes[kept])) < 2:
            raise DataError("Only one class has rows of positive weight; a discriminant needs two to tell apart.")
        values = self._values(sample)
        values = values if kept.all() else values[kept]
        with progress.reading(lambda A: _state(A, sample)), held_blas(min(values.shape), max(values.shape)):
            fits = self._fits(values, codes[kept], len(classes), self.C * cost[kept])
        return self._found(*fits, sample)

    def plan(self, sample: Sample) -> Choice:
        """Which way ``fit`` would go, and why."""
        self.check()
        if self.coded:
            return plan_coded(self, sample)
        if self.multi_class == "crammer_singer":
            return Choice("dual coordinate descent over rows", "all classes are one problem, coupled in each row")
        if self.penalty == "l1":
            return Choice(
                "coordinate descent on a working set", "few weights differ from zero, and only these are moved"
            )
        n, d = sample.X.shape
        sparse = isinstance(sample.X, SparseRows)
        values = sample.X.X.nnz if isinstance(sample.X, SparseRows) else n * d
        return choose_margin(n, d, values, sparse, self.loss == "squared_hinge")

    def _fits(self, X: Any, codes: Array, K: int, cost: Array) -> tuple[Array, list[OneFit]]:
        """Weights (1+d, q) and what is known of each fit."""
        bias = float(self.intercept_scaling) if self.fit_intercept else 0.0
        free = bool(self.fit_intercept and not self.penalize_intercept)
        seed = 0 if self.random_state is None else int(generator(self.random_state).integers(2**31 - 1))
        if self.multi_class == "crammer_singer":

            def outputs(A: Array) -> Array:
                return A[:, [1]] - A[:, [0]] if K == 2 else A

            with progress.reading(outputs):
                fit = machine_fit(X, codes, K, cost, bias, self.tol, seed, self._most())
            return outputs(fit.weights), [fit]
        labels = [np.where(codes == k, 1.0, -1.0) for k in ([1] if K == 2 else range(K))]

        def one(y: Array) -> OneFit:
            if self.penalty == "l1":
                return lasso_fit(X, y, cost, bias, free, self.tol)
            return ridge_fit(X, y, cost, self.loss == "squared_hinge", bias, free, self.tol, seed, self._most())

        size = X.nnz if is_sparse(X) else X.size
        threads = workers() if size >= SERIAL_VALUES and len(labels) > 1 else 1
        if len(labels) == 1:
            fits = [one(labels[0])]
        else:
            fits = []
            for fit in ordered_map(progress.watched(None)(one), labels, threads):
                progress.stepped()
                fits.append(fit)
        return np.hstack([fit.weights for fit in fits]), fits

    def _most(self) -> int:
        return max(int(self.max_iter), 1_000)

    def _found(self, A: Array, fits: list[OneFit], sample: Sample) -> Fit:
        steps = max(int(fit.steps) for fit in fits)
        worst = max(fits, key=lambda fit: fit.gap / max(fit.objective, 1e-300))
        met = worst.gap <= self.tol * worst.objective
        gap = max(
            worst.gap, 8 * float(np.finfo(np.float64).eps) * worst.objective
        )  # of P and of its bound both, a sum over rows
        how = f"P = {worst.objective:.10g} is proved to be within {gap:.1e} of its minimum"
        status = f"Solved: {how}." if met else f"Stopped after {steps} passes: {how}; raise max_iter or tol."
        certificate = Certificate(
            status, met, worst.objective, worst.objective - worst.gap, worst.gap, float("nan"), float(steps), None,
            (worst.method,),
        )  # fmt: skip
        state = _state(A, sample) | {
            "n_iter_": steps, "certificate_": certificate,
            "history_": History(),  # what is proved stands in the certificate; the steps themselves are not kept
        }  # fmt: skip
        return Fit(self, state["discriminant_"], state, () if met else (Note(status),))

    def _values(self, sample: Sample) -> Any:
        """X in float64: CSR as it is, dense rows contiguous (a copy only where they are not)."""
        rows = sample.X
        sample.require_finite(self.estimator)
        if isinstance(rows, SparseRows):
            return rows.X if rows.X.dtype == np.float64 else rows.X.astype(np.float64)
        X = rows.X if isinstance(rows, DenseRows) else rows.columns(np.arange(rows.shape[1]))
        return np.ascontiguousarray(X, dtype=np.float64)

    def discriminant(self, state: Mapping[str, Any]) -> LinearDiscriminant | None:
        """What decides."""
        return state.get("discriminant_")


def _state(A: Array, sample: Sample) -> dict[str, Any]:
    """The attributes that hold these weights."""
    schema = sample.schema
    return editable_state(LinearDiscriminant(A, schema.classes, feature_names=schema.names), schema)


def ridge_fit(
    X: Any, y: Array, cost: Array, squared: bool, bias: float, free: bool, tol: float, seed: int, most: int
) -> OneFit:
    """½‖w‖² + Σ cost ξ."""
    scale = 1.0 if free else bias

    def weights(w: Array) -> Array:
        return np.concatenate([[w[-1] * scale], w[:-1]])[:, None]

    with progress.reading(weights):
        fit = solve_margin(MarginProblem(X, y, cost, squared, scale, free), tol, seed, most)
    return OneFit(weights(fit.w), fit.objective, fit.gap, fit.steps, fit.method)


def lasso_fit(X: Any, y: Array, cost: Array, bias: float, free: bool, tol: float) -> OneFit:
    """‖w‖₁ + Σ cost ξ², by the sparse solver; a penalised intercept is one more column."""
    extra = bias > 0 and not free
    if extra:
        if is_sparse(X):
            from scipy.sparse import csr_array, hstack

            X = hstack([X, csr_array(np.full((X.shape[0], 1), bias))], format="csr")
        else:
            X = np.column_stack([X, np.full(len(X), bias)])
    blocks, total = make_blocks(X), float(cost.sum())
    scaling = choose_scaling(blocks, free)
    columns = AllColumns(blocks, scaling.center, scaling.unit)
    loss = RowLoss(SquaredHinge(), y[:, None], cost / total)
    exact, strength = blocks.n_values <= LAST_DIGITS, np.array([1 / total])
    problem = ColumnProblem(columns, loss, separable_penalty(X.shape[1], scaling.unit), free)
    with progress.reading(None):
        found = problem.follow(strength, tol, exact=exact)
    A = found.weights[0]
    if scaling.center is not None:
        A[0] -= scaling.center @ A[1:]
    if extra:
        A[0] = bias * A[-1]
        A = A[:-1]
    how = "coordinate descent on a working set"
    return OneFit(A, float(found.J[0]) * total, float(found.gaps[0]) * total, int(found.steps[0]), how)


def machine_fit(
    X: Any, codes: Array, n_classes: int, cost: Array, bias: float, tol: float, seed: int, most: int
) -> OneFit:
    """Crammer and Singer's machine."""

    def weights(W: Array) -> Array:
        return np.vstack([bias * W[-1], W[:-1]])

    with progress.reading(weights):
        fit = solve_machine(X, codes, n_classes, cost, bias, tol, seed, most)
    return OneFit(weights(fit.W), fit.objective, fit.gap, fit.steps, "dual coordinate descent over rows")
