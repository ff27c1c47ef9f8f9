"""Logistic regression: posteriors that are logistic (two classes) or softmax (K classes) functions of linear scores.

    minimise  Σ_i w_i ℓ(t_i, z_i) + ½ ‖w‖² / C,        ℓ = ln(1+e^z) − tz   or   ln Σ_k e^{z_k} − t·z

The intercept is free.  Beside the ridge: no penalty, with the limit itself where the classes are separated; L1, elastic
net, groups and bounds; Firth's bias reduction; a coding with outputs of its own; an optimizer of the textbooks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discriminant.data import ArrayBlocks
from discriminant.data.check import require_few_classes
from discriminant.data.sources import require_memory
from discriminant.errors import (
    DataError,
    MismatchError,
    NotAvailableError,
    ParameterError,
    as_numbers,
    counted,
)
from discriminant.methods.coded import Codable, assign, fit_coded, plan_coded
from discriminant.methods.fit import Fit, Note, Sample, Schema, editable_state, solved_certificate
from discriminant.methods.parameters import CodedParameters, method, parameter_list
from discriminant.methods.parts import class_weights, prepare_optimizer, require_known_weights, starting_weights
from discriminant.model import LinearDiscriminant
from discriminant.objective import PointwiseObjective, logistic_objective
from discriminant.optimize.automatic import Minimum, minimize, shape_of
from discriminant.optimize.choose import EXACT_SIZE, Choice, choose
from discriminant.optimize.history import History
from discriminant.optimize.progress import reading
from discriminant.penalties import ElasticNet, Ridge
from discriminant.penalties.jeffreys import BIAS_REDUCED
from discriminant.protocols import Array, Certificate, Solution

if TYPE_CHECKING:  # loaded by the fits that need it
    from discriminant.optimize.path import SparsePenalty

NO_L1 = ("lbfgs", "newton-cg", "newton-cholesky", "sag")

SATURATED = 15.0  # a score: its probability is one but for 3e-7
WORTH_A_WORD = 1e-6  # of J: a gap beyond which a fit that is not proved says so without being asked


@dataclass(frozen=True)
class Strength:
    """The penalty in one form: α ‖w‖₁ + ½ β ‖w‖² with α = ratio/C and β = (1 − ratio)/C, on Σ w ℓ."""

    C: float
    l1_ratio: float

    @property
    def l2(self) -> float:
        return 0.0 if np.isinf(self.C) else (1 - self.l1_ratio) / self.C


@parameter_list
class LogisticParameters(CodedParameters):
    """Of ``LogisticRegression``."""

    penalty: Any = "deprecated"
    _: KW_ONLY
    C: float = 1.0
    l1_ratio: float | None = 0.0
    dual: bool = False
    tol: float = 1e-8
    intercept_scaling: float = 1
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
    trace: bool = False
    callback: Any = None
    scale: str = "mean"


@method
class Logistic(LogisticParameters, Codable):
    """What ``LogisticRegression`` does."""

    estimator: ClassVar[str] = "LogisticRegression"
    optional: ClassVar[tuple[str, ...]] = ("limit_", "coding_", "criterion_", "priors_")
    coupled: ClassVar[str] = "softmax"
    two_class: ClassVar[str] = "logistic"
    together: ClassVar[dict[str, Any]] = {}

    # Parameters

    @property
    def named_optimizer(self) -> bool:
        """Whether an optimizer was asked for, instead of the table behind "auto"."""
        return not (isinstance(self.optimizer, str) and self.optimizer.lower() == "auto")

    def check(self) -> tuple[Strength, list[Note]]:
        """Refuse what does not go together, note what scikit-learn deprecates, and say what penalty is meant."""
        if (self.trace or self.callback is not None or self.scale != "mean") and not self.named_optimizer:
            raise ParameterError(
                "trace, callback and scale follow the steps of a named optimizer, such as optimizer='newton'; the "
                "automatic one keeps objective, gradient and step in history_ without them, on the scale of the mean."
            )
        strength, notes = self._strength()
        self._check_solver(strength)
        if self.n_jobs is not None:
            text = (
                "'n_jobs' has no effect since 1.8 and will be removed in 1.10. "
                f"You provided 'n_jobs={self.n_jobs}', please leave it unspecified; threads are used without it."
            )
            notes = [Note(text, FutureWarning), *notes]
        return strength, notes

    def _strength(self) -> tuple[Strength, list[Note]]:
        ratio = self.l1_ratio
        if self.penalty == "deprecated":
            text = (
                "'l1_ratio=None' was deprecated in version 1.8 and will trigger an error in 1.10. "
                "Use 0<=l1_ratio<=1 instead."
            )
            return Strength(self.C, ratio or 0.0), [Note(text, FutureWarning)] if ratio is None else []
        text = (
            "'penalty' was deprecated in version 1.8 and will be removed in 1.10. To avoid this warning, leave "
            "'penalty' set to its default value and use 'l1_ratio' or 'C' instead. Use l1_ratio=0 instead of "
            "penalty='l2', l1_ratio=1 instead of penalty='l1', l1_ratio set to a float between 0 and 1 instead of "
            "penalty='elasticnet', and C=np.inf instead of penalty=None."
        )
        notes = [Note(text, FutureWarning)]
        if self.penalty != "elasticnet" and ratio is not None and 0 < ratio < 1:
            text = f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={self.penalty})"
            notes.append(Note(text))
        if (self.penalty == "l2" and ratio != 0) or (self.penalty == "l1" and ratio != 1):
            text = (
                f"Inconsistent values: penalty={self.penalty} with l1_ratio={ratio}. penalty is deprecated. "
                "Please use l1_ratio only."
            )
            notes.append(Note(text))
        if self.penalty is None:
            if self.C != 1.0:
                notes.append(Note("Setting penalty=None will ignore the C and l1_ratio parameters"))
            return Strength(np.inf, 0.0), notes
        if self.penalty == "elasticnet":
            if ratio is None:
                raise ParameterError("l1_ratio must be specified when penalty is elasticnet.")
            return Strength(self.C, ratio), notes
        return Strength(self.C, 1.0 if self.penalty == "l1" else 0.0), notes

    def _check_solver(self, strength: Strength) -> None:
        """The combinations that scikit-learn refuses are refused here too, in its words: code may count on it."""
        solver = self.solver
        if solver == "auto":
            return
        kind = None if np.isinf(strength.C) else {0.0: "l2", 1.0: "l1"}.get(float(strength.l1_ratio), "elasticnet")
        if solver in NO_L1 and kind not in ("l2", None):
            raise ParameterError(
                f"Solver {solver} supports only 'l2' or None penalties, got {kind} penalty. Use solver='auto'."
            )
        if solver != "liblinear" and self.dual:
            raise ParameterError(f"Solver {solver} supports only dual=False, got dual={self.dual}")
        if solver == "liblinear" and kind == "elasticnet":
            raise ParameterError(f"Only 'saga' solver supports elasticnet penalty, got solver={solver}.")
        if solver == "liblinear" and kind is None:
            raise ParameterError("penalty=None is not supported for the liblinear solver")

    def is_sparse(self, strength: Strength) -> bool:
        """Whether the penalty has a kink, or is more than one ridge for all weights."""
        if np.isinf(strength.C):  # factors and groups of no penalty say nothing
            return self.bounds is not None
        special = (self.penalty_factors, self.bounds, self.groups)
        return bool(strength.l1_ratio) or any(value is not None for value in special)

    # Learning

    def fit(self, sample: Sample, start: Array | None = None, offset: Any = None) -> Fit:
        """Learn from rows with labels or class probabilities; ``offset``: known parts of the scores."""
        fit = self._fit(sample, start, offset)
        return replace(fit, state={**fit.state, **self._training_priors(sample)})

    def _training_priors(self, sample: Sample) -> dict[str, Any]:
        """The class frequencies that the intercepts hold, where they cost no pass over rows that lie elsewhere."""
        if not sample.blocks.in_memory or sample.blocks.is_soft:
            return {}
        counts = sample.counts
        factors = None if self.correct_priors else class_weights(self.class_weight, sample.classes, counts)
        counts = counts if factors is None else counts * factors
        return {"priors_": counts / counts.sum()}

    def _fit(self, sample: Sample, start: Array | None, offset: Any) -> Fit:
        if self.coded:
            if self.correct_priors and self.class_weight is not None and not assign(self, sample).whole:
                raise MismatchError(
                    "correct_priors moves the intercepts of classes; the outputs of a coding have none such."
                )
            return fit_coded(self, sample, offset)
        if self.penalty in BIAS_REDUCED:
            if offset is not None:
                raise ParameterError(f"offset= has no effect with penalty={self.penalty!r}; leave out one of the two.")
            return self._firth(sample)
        strength, notes = self.check()
        objective, factors = self.objective(sample, strength, offset)
        if start is not None and len(start) != objective.n_parameters:
            start = None  # weights of other columns say nothing about these
        shift = self._prior_shift(sample.classes, factors)

        def attributes(found: tuple[Array, Array | None]) -> dict[str, Any]:
            return weights_state(_shifted(found[0], shift), found[1], sample.schema)

        if self.named_optimizer:
            return self._by_name(sample, objective, strength, start, shift, notes)
        if self.is_sparse(strength):
            require_memory(objective.blocks, "A penalty with a kink, or bounds on the weights,")
            sample.require_finite(self.estimator)
            from discriminant.optimize.path import solve_sparse

            level = 0.0 if np.isinf(strength.C) else 1.0 / (strength.C * objective.total)
            penalty = self._sparse_penalty(strength.l1_ratio)
            with reading(attributes):
                found = solve_sparse(objective, level, penalty, self.tol, start)
        else:
            with reading(attributes):
                found = minimize(objective, self.tol, start)
        self._require_finite(sample, found.weights, found.objective)
        return self._found(sample, objective, found, shift, notes)

    def objective(
        self, sample: Sample, strength: Strength, offset: Any = None
    ) -> tuple[PointwiseObjective, Array | None]:
        """J, and the factors of the classes."""
        return make_objective(sample, self.class_weight, self.fit_intercept, self.solver, strength.l2, offset)

    def plan(self, sample: Sample) -> Choice:
        """Which way ``fit`` would go, and why."""
        if self.coded:
            return plan_coded(self, sample)
        strength, _ = self.check()
        objective, _ = self.objective(sample, strength)
        if self.named_optimizer:
            called = self.optimizer if isinstance(self.optimizer, str) else type(self.optimizer).__name__
            return Choice(called, "it was asked for")
        if self.is_sparse(strength):
            from discriminant.optimize.path import SPARSE as choice
        else:
            choice = choose(shape_of(objective))
        if self.solver == "auto":
            return choice
        note = f"; solver={self.solver!r} is accepted as scikit-learn's name for the same optimum"
        if self.solver == "liblinear":
            note += " (here the intercept is not penalised)"
        return Choice(choice.method, choice.why + note)

    def _sparse_penalty(self, l1_ratio: float) -> SparsePenalty:
        """The penalty at λ = 1."""
        from discriminant.optimize.path import SparsePenalty

        lower, upper = read_bounds(self.bounds)
        factors = None if self.penalty_factors is None else as_numbers(self.penalty_factors, "penalty_factors")
        return SparsePenalty(l1_ratio, factors, lower, upper, read_groups(self.groups), bool(self.grouped))

    def _named_penalty(self, strength: Strength, total: float) -> ElasticNet | Ridge:
        """The penalty as an objective has it."""
        if self.bounds is not None or self.groups is not None:
            raise MismatchError("bounds and groups are known to the automatic method only; use optimizer='auto'.")
        factors = None if self.penalty_factors is None else as_numbers(self.penalty_factors, "penalty_factors")
        each = None if factors is None else tuple(factors.tolist())
        level, mix = 1.0 / (strength.C * total), float(strength.l1_ratio)
        return ElasticNet(level, mix, each) if mix else Ridge(level, each)

    def _prior_shift(self, classes: Array, factors: Array | None) -> Array | float:
        """What class weights have added to the intercepts, where it is to be taken back."""
        if factors is None or not self.correct_priors or not self.fit_intercept:
            return 0.0
        if (factors == 0).any():
            raise ParameterError("correct_priors needs class weights > 0: a class without weight has no prior.")
        return np.asarray(np.log(factors[1] / factors[0]) if len(classes) == 2 else np.log(factors))

    def _require_finite(self, sample: Sample, weights: Array, objective: float) -> None:
        if not (np.isfinite(weights).all() and np.isfinite(objective)):
            sample.refuse_overflow(self.estimator)

    def _found(
        self, sample: Sample, objective: PointwiseObjective, fit: Minimum, shift: Array | float, notes: list[Note]
    ) -> Fit:
        A = _shifted(fit.weights, shift)
        history = {name: list(values) for name, values in fit.history.items()}
        state = weights_state(A, fit.center, sample.schema) | {
            "_posterior": None, "n_iter_": np.array([fit.steps], dtype=np.int32),
            "certificate_": certify_fit(fit, self.tol, objective.penalty is not None), "history_": History(history),
        }  # fmt: skip
        separation: list[Note] = []
        free = self.penalty is None or np.isinf(self.C)
        if free and (fit.gap > 0.1 * abs(fit.objective) or self._saturated(state, sample)):
            from discriminant.methods.limit import handle_separation

            changed, separation = handle_separation(
                fit, objective, shift, sample.schema, state, self.bounds is not None
            )
            state, notes = state | changed, [*notes, *separation]
        proof = state["certificate_"]
        unsaid = not separation and not proof.converged and proof.separability is None
        if unsaid and proof.gap > WORTH_A_WORD * abs(proof.objective):
            notes = [*notes, Note(proof.status)]
        return Fit(self, state.get("limit_", state["discriminant_"]), state, tuple(notes))

    def _saturated(self, state: Mapping[str, Any], sample: Sample) -> bool:
        """Whether a fit with bounds is certain of some row, so that its weights may be on their way to infinity."""
        return self.bounds is not None and bool(np.abs(state["discriminant_"].scores(sample.X)).max() > SATURATED)

    def _by_name(
        self, sample: Sample, objective: PointwiseObjective, strength: Strength, start: Array | None,
        shift: Array | float, notes: list[Note],
    ) -> Fit:  # fmt: skip
        """As the textbooks run it: the named optimizer on the mean cross-entropy, from small weights.

        Gradient descent: w ← w + η (1/n) Σ (r − y) x from weights in (−0.01, 0.01) (Alpaydin, figures 10.6, 10.8).
        Newton: iteratively reweighted squares, with steps that are halved until J falls.
        """
        if objective.offset is not None:
            raise MismatchError("Offsets are known to the automatic method only; use optimizer='auto' with them.")
        if self.is_sparse(strength):
            objective = replace(objective, penalty=self._named_penalty(strength, objective.total))
        objective = objective.on_scale(self.scale)
        options = {"trace": bool(self.trace), "count_errors": bool(self.trace), "callback": self.callback}
        optimizer, choice = prepare_optimizer(self.optimizer, objective, **options)
        first = starting_weights("random", objective, self.random_state) if start is None else start
        if not objective.intercept:
            first[0] = 0.0
        with reading(lambda A: weights_state(_shifted(A, shift), None, sample.schema)):
            solution: Solution = optimizer.minimize(objective, first)
        self._require_finite(sample, solution.weights, solution.objective)
        A = _shifted(solution.weights, shift)
        state = weights_state(A, None, sample.schema) | {
            "n_iter_": np.array([max(solution.iterations, 1)], dtype=np.int32),
            "certificate_": solved_certificate(solution, str(choice)),
            "history_": solution.history if solution.history is not None else History(),
        }  # fmt: skip
        if not solution.converged:
            notes = [*notes, Note(solution.status)]
        return Fit(self, state["discriminant_"], state, tuple(notes))

    def _firth(self, sample: Sample) -> Fit:
        """Maximise ℓ + ½ ln|I|, which has a finite answer on separated data; C and l1_ratio take no part."""
        from discriminant.inference.firth import corrected, firth, standard_errors

        if not self.fit_intercept or self.class_weight is not None:
            raise ParameterError(f"penalty={self.penalty!r} is for fits with an intercept and without class_weight.")
        require_memory(sample.blocks, f"penalty={self.penalty!r}")
        sample.require_finite(self.estimator)
        K = len(sample.classes)
        if self.penalty == "jeffreys":
            model, theta, found = firth(sample.blocks, K)
            score, value, scaling = standard_errors(found.gradient, found, 1), found.value, model.scaling
            what = "Jeffreys' prior"
        else:
            optimum, score = corrected(sample.blocks, K, str(self.penalty))
            theta, value, scaling = optimum.theta, -optimum.value, optimum.scaling
            what = f"Jeffreys' prior, corrected ({str(self.penalty).upper()})"
        A, center = scaling.to_user(theta)
        if K > 2:  # a vector for each class, of which the first is the reference; they are made to sum to zero
            A = np.c_[np.zeros(len(A)), A]
            A -= A.mean(axis=1, keepdims=True)
        converged = score < 1e-6
        status = (
            f"{what}: the penalised likelihood is largest here; the score is {score:.1e} standard errors from 0."
            if converged
            else f"{what}: the score is still {score:.1e} standard errors from zero."
        )
        state = weights_state(A, center, sample.schema) | {
            "_posterior": None, "n_iter_": np.array([1], dtype=np.int32), "history_": History(),
            "certificate_": Certificate(status, converged, value / sample.total, gradient_norm=score),
        }  # fmt: skip
        return Fit(self, state["discriminant_"], state, () if converged else (Note(status),))

    def require_parts(self) -> None:
        """Refuse what is more than a ridge on x."""
        if self.coded:
            raise NotAvailableError(
                "partial_fit takes no basis and no coding: map the rows first, and use the softmax."
            )
        special = any(value is not None for value in (self.penalty_factors, self.bounds, self.groups))
        if self.l1_ratio or special or self.penalty in ("l1", "elasticnet", *BIAS_REDUCED):
            raise NotAvailableError(
                "partial_fit remembers rows to second order, which takes a plain ridge: l1_ratio=0."
            )
        require_known_weights(self.class_weight)

    def part(self, sample: Sample, held: Mapping[str, Any]) -> Fit:
        """Learn some rows on top of what is believed, and forget them: one part equals ``fit``, many come near."""
        from discriminant.optimize.laplace import LaplacePosterior

        strength, notes = self.check()
        classes, blocks = sample.classes, sample.blocks
        q = 1 if len(classes) == 2 else len(classes)
        if (blocks.n_features + 1) * q > EXACT_SIZE:
            raise ParameterError(
                f"partial_fit keeps a matrix of all weights, and {(blocks.n_features + 1) * q} are too many; "
                "use fit on rows from discriminant.scan, or select columns."
            )
        if blocks.is_soft:
            raise DataError("partial_fit takes labels, not a table of class probabilities.")
        if self.class_weight is not None:
            factors = class_weights(self.class_weight, classes, np.ones(len(classes)))
            blocks = blocks if factors is None else blocks.reweighted(factors)
        objective = logistic_objective(blocks, len(classes), 0.0, bool(self.fit_intercept))
        before = held.get("_posterior") or LaplacePosterior.prior(
            objective.n_features, q, strength.l2, objective.intercept
        )
        posterior = before.learn(objective)
        # A step that meets NaN is not taken, so that the weights do not show it: the rows themselves are looked at.
        sample.require_finite(self.estimator)
        A = posterior.mean - (posterior.mean.mean(axis=1, keepdims=True) if posterior.mean.shape[1] > 1 else 0.0)
        status = f"Learned {posterior.rows} rows in parts: earlier ones are remembered to second order."
        state = weights_state(A, None, sample.schema) | {
            "_posterior": posterior, "n_iter_": np.array([1], dtype=np.int32),
            "certificate_": Certificate(status, True), "history_": History(),
        }  # fmt: skip
        return Fit(self, state["discriminant_"], state, tuple(notes))

    def discriminant(self, state: Mapping[str, Any]) -> LinearDiscriminant | None:
        """What decides; None where it is the limit of a fit without a maximum."""
        return None if "limit_" in state else state.get("discriminant_")


def make_objective(
    sample: Sample, class_weight: Any, fit_intercept: bool, solver: str, l2: float = 0.0, offset: Any = None
) -> tuple[PointwiseObjective, Array | None]:
    """J of the rows, weighed by class, and the factors of the classes."""
    blocks, classes = sample.blocks, sample.classes
    require_few_classes(Logistic.estimator, blocks.n_rows, len(classes))
    if solver == "liblinear" and len(classes) > 2:
        raise ParameterError(
            "The 'liblinear' solver does not support multiclass classification (n_classes >= 3). Either use "
            "another solver or wrap the estimator in a OneVsRestClassifier to keep applying a one-versus-rest "
            "scheme. Only binary classification is supported."
        )
    factors = None
    if class_weight is not None:
        if blocks.is_soft:
            raise ParameterError("class_weight has no meaning for class probabilities; use sample_weight.")
        factors = class_weights(class_weight, classes, sample.counts)  # of files: a pass over all labels
    blocks = blocks if factors is None else blocks.reweighted(factors)
    ridge = l2 / float(blocks.total)
    return logistic_objective(blocks, len(classes), ridge, bool(fit_intercept), read_offset(offset, blocks)), factors


def _shifted(A: Array, shift: Array | float) -> Array:
    A = np.array(A)
    A[0] -= shift
    return A


def weights_state(A: Array, center: Array | None, schema: Schema) -> dict[str, Any]:
    """The attributes that hold these weights."""
    link = "sigmoid" if len(schema.classes) == 2 else "softmax"
    model = LinearDiscriminant(A, schema.classes, feature_names=schema.names, center=center, link=link)
    return editable_state(model, schema)


def certify_fit(fit: Minimum, tol: float, penalised: bool) -> Certificate:
    """The certificate of a logistic fit."""
    J = fit.objective
    # What is proved is proved of numbers that were rounded: their last digits count too.
    gap = max(fit.gap, 0.0) + max(fit.rounding, 8.0 * np.finfo(np.float64).eps * abs(J))
    met = gap <= tol * abs(J)
    if fit.separated:
        status = (
            "The classes are separated: every row lies on its own side of the boundary, so that without a penalty the "
            "likelihood has no maximum and the weights would grow for ever. They were stopped where the mean loss is "
            f"{J:.1g}."
        )
        return Certificate(
            status, False, J, 0.0, J, fit.gradient_norm, fit.passes, "separable", (str(fit.choice),), np.inf
        )
    if fit.stopped and not met:
        near = f"proved to be within {gap:.1e} of its minimum" if gap < np.inf else "the last value; no bound is proved"
        status = f"Stopped by a callback after {counted(fit.steps, 'step')}: J = {J:.10g} is {near}."
    elif met:
        status = f"Solved: J = {J:.10g} is proved to be within {gap:.1e} of its minimum."
    elif fit.gap < float("inf"):
        status = (
            f"Stopped where no step lowers J further: J = {J:.10g} is proved to be within {gap:.1e} of its minimum, "
            f"which is more than tol·|J| = {tol * abs(J):.1e}."
        )
    else:
        status = f"J = {J:.10g}; no bound could be proved."
        if not penalised:
            status += " Without a penalty the likelihood may have no maximum: ask discriminant.separability."
    notes = (str(fit.choice),)
    return Certificate(status, met, J, J - gap, gap, fit.gradient_norm, fit.passes, None, notes, fit.condition)


def read_offset(offset: Any, blocks: ArrayBlocks) -> Array | None:
    """Known parts of the scores, one (or K) for each row."""
    if offset is None:
        return None
    values = as_numbers(offset, "offset")
    if values.shape[:1] != (blocks.n_rows,) or not np.isfinite(values).all():
        raise DataError(f"offset must hold a finite number for each of the {blocks.n_rows} rows.")
    return values


def read_groups(groups: Any) -> tuple[tuple[int, ...], ...] | None:
    """Tuples of feature indices from None or sequences of them."""
    if groups is None:
        return None
    try:
        return tuple(tuple(index(j) for j in group) for group in groups)
    except TypeError:
        raise ParameterError(f"groups must hold sequences of feature indices; it was {groups!r}.") from None


def read_bounds(bounds: Any) -> tuple[Any, Any]:
    """(lower, upper) from None or a pair of numbers or arrays."""
    if bounds is None:
        return -np.inf, np.inf
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise ParameterError(f"bounds must be a pair (lower, upper) of numbers or arrays; it was {bounds!r}.")
    return as_numbers(bounds[0], "bounds"), as_numbers(bounds[1], "bounds")
