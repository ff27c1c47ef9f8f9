"""J(A): a criterion, a coding and a penalty over rows in blocks, seen as one function of the weights.

    J(A) = Σ_j Σ_i s_ij ℓ(t_ij, z_ij) + λ Ω(A),     z = Y A,     s_ij = w_i c_ij / Σ_i w_i c_ij,

where c_ij = 1 if the class of row i takes part in output j and 0 if it does not.  With no don't-cares that is
Σwℓ/Σw + λΩ; with them (pairwise) each output is normalised by its own rows, so that it equals a fit on them alone.

    ∇J = Yᵗ (s ℓ') + λ∇Ω,        ∇²J = Yᵗ diag(s ℓ'') Y + λ∇²Ω,  one block an output, or q × q blocks when coupled.

Every question is one ``blocks.reduce`` of a picklable request whose results add, so that it runs unchanged wherever
blocks come from (``data.evaluate``).  The requests hand back what is already normalised: only sums travel.

*Scaling.*  With a ``Scaling`` the weights are those of columns (x − c)/u: the units u are powers of two, so that the
change is exact; the penalty stays where the user put it, on the weights of x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from discriminant.arrays import in_memory
from discriminant.codings import ClassCoding, make_coding
from discriminant.criteria import Logistic, Margin, Pointwise, Softmax
from discriminant.data import ArrayBlocks, map_rows
from discriminant.data.device_library import library_of
from discriminant.data.evaluate import FINEST, DeviceRequest, Evaluate, Shares, centred, shares_of
from discriminant.data.scaling import Scaling
from discriminant.errors import DataError, MismatchError, ParameterError
from discriminant.penalties import Ridge, WeightPenalty
from discriminant.protocols import Array, Block, Evaluation, Need, Oracle

SCALES = ("mean", "sum")


@dataclass(frozen=True)
class PointwiseObjective:
    """J(A) over ``blocks``.

    Parameters
    ----------
    blocks : Blocks
        Rows whose target is a class code, with a coding, or a row of targets (q), without one.
    criterion : Pointwise
    coding : ClassCoding, optional
    penalty : WeightPenalty, optional
    offset : (n,) or (n, q), optional
        Known parts of the scores.
    intercept : bool
        False: y = (0, x), and the weight in row 0 stays zero.
    scaling : Scaling, optional
        The columns' centre and units.
    summed : bool
        J is Σw times as large: the sum over rows that the textbooks print, of the same minimum (``on_scale``).
    accuracy : float
        How far evaluations may be off, relative to J (``coarsest``, ``finest``).
    """

    blocks: Any
    criterion: Pointwise
    coding: ClassCoding | None = None
    penalty: WeightPenalty | None = None
    offset: Array | None = None
    intercept: bool = True
    scaling: Scaling | None = None
    summed: bool = False
    accuracy: float = FINEST

    def __post_init__(self) -> None:
        _check_parts(self.criterion, self.coding, self.penalty)
        if self.criterion.over_norm and not self.intercept:
            _require_lengths(self.blocks)

    @property
    def oracles(self) -> Oracle:
        """What J can be asked: what the criterion can, less what the penalty cannot."""
        known = self.criterion.oracles
        if self.penalty is None:
            return known
        for oracle in (Oracle.GRADIENT, Oracle.CURVATURE, Oracle.QUADRATIC, Oracle.CONJUGATE, Oracle.LINEAR):
            if oracle not in self.penalty.oracles:
                known &= ~oracle
        return known & ~Oracle.MARGIN  # with a penalty, to have separated the rows is not to be done

    @cached_property
    def n_rows(self) -> int:
        return int(self.blocks.n_rows)

    @cached_property
    def n_features(self) -> int:
        return int(self.blocks.n_features)

    @cached_property
    def n_parameters(self) -> int:
        """1 + d, the rows of A."""
        return int(self.blocks.n_features) + 1

    @cached_property
    def n_outputs(self) -> int:
        """q, the columns of A."""
        if self.coding is not None:
            return self.coding.n_outputs
        return int(next(iter(self.blocks)).target.shape[1])

    @property
    def n_classes(self) -> int:
        """K: of the coding, or of class probabilities, of which two classes have one output."""
        return self.coding.n_classes if self.coding is not None else max(self.n_outputs, 2)

    @cached_property
    def totals(self) -> Array:
        """(q,): what the loss of each output is divided by: the weight of the rows that take part; 1 for a sum."""
        if self.summed:
            return np.ones(self.n_outputs)
        if self.coding is None or self.coding.care.all():
            total = np.full(self.n_outputs, self.blocks.total)
        else:
            total = np.asarray(self.blocks.counts(self.coding.n_classes) @ self.coding.care)
        if not (total > 0).all():
            raise DataError(f"Output {int(np.argmin(total))} has no row with a positive weight to learn from.")
        return total

    @cached_property
    def shares(self) -> Shares:
        """The share of a row of weight one, class by class."""
        return shares_of(self.criterion, self.coding, self.totals)

    @cached_property
    def total(self) -> float:
        """Σ w over all rows."""
        return float(self.blocks.total)

    @cached_property
    def units(self) -> Array:
        """(1+d, 1): 1 for the intercept, then the columns' units."""
        return self.blocks.place(np.ones((self.n_parameters, 1)) if self.scaling is None else self.scaling.units)  # type: ignore[no-any-return]

    @property
    def center(self) -> Array | None:
        """(d,), or None where rows are taken as they are."""
        return None if self.scaling is None else self.scaling.center

    @cached_property
    def smooth_penalty(self) -> WeightPenalty | None:
        """The penalty, unless it is one of the information matrix."""
        return None if self.penalty is None or self.penalty.needs_information else self.penalty

    @cached_property
    def quadratic_penalty(self) -> bool:
        """Whether the penalty has the same curvature everywhere; none has none."""
        return self.smooth_penalty is None or Oracle.QUADRATIC in self.smooth_penalty.oracles

    @cached_property
    def damping(self) -> Array:
        """(1+d, q): the diagonal of λ∇²Ω in these units, of a penalty that has one everywhere (ridge)."""
        if self.smooth_penalty is None:
            return self.blocks.place(np.zeros((self.n_parameters, self.n_outputs)))  # type: ignore[no-any-return]
        curvature = self.smooth_penalty.curvature(np.zeros((self.n_parameters, self.n_outputs)))
        return self.blocks.place(curvature) / self.units**2  # type: ignore[no-any-return]

    @cached_property
    def damped(self) -> Array:
        """(1+d, q): 1 where the penalty has curvature, 0 where a weight is free."""
        return self.blocks.place((in_memory(self.damping) > 0).astype(np.float64))  # type: ignore[no-any-return]

    @cached_property
    def ridge(self) -> Array | None:
        """(d, 1): λ_j of each weight in the user's units; None where some weight is free: no dual point bounds it."""
        if self.penalty is None or self.penalty.needs_information:
            return None
        ridge = self.penalty.scale(np.zeros((self.n_parameters, 1)))
        return self.blocks.place(ridge) if (ridge > 0).all() else None

    # Evaluations

    def request(self, A: Array, need: Need, V: Array | None = None) -> Evaluate:
        """What the rows are asked for an evaluation at A."""
        A = A if self.scaling is None else A / self.units
        V = V if self.scaling is None or V is None else V / self.units
        if not self.intercept:
            A, V = _through_origin(A), None if V is None else _through_origin(V)
        return Evaluate(
            self.criterion, self.coding, self.totals, A, need, V, self.center, self.offset, self.shares,
            intercept=self.intercept, accuracy=self.accuracy,
        )  # fmt: skip

    def evaluate(self, A: Array, need: Need = Need.VALUE | Need.GRADIENT, V: Array | None = None) -> Evaluation:
        """J(A) and what else is asked for, in one pass.

        ``intercept`` and ``mass`` of what is handed back are sums over rows in the units of X: bounds ask for them so.
        With Jeffreys' penalty (one more pass) the Hessian is that of the loss alone: Fisher scoring.
        """
        found = self.finish(self.blocks.reduce(self.request(A, need, V)), A, V)
        if self.penalty is not None and self.penalty.needs_information:
            more, slope = self._jeffreys(A)
            found.value, found.gradient = found.value + more, found.gradient + slope
        return found

    def finish(self, found: Evaluation, A: Array, V: Array | None = None) -> Evaluation:
        """Sums over rows → J and its derivatives: in these units, with the penalty; no intercept stays where it is."""
        units, penalty = self.units, self.smooth_penalty
        found.gradient = found.gradient / units
        curvature = None
        if penalty is not None and self.quadratic_penalty:  # ½ Σ c a², and c is known beforehand
            curvature = self.damping
            slope = curvature * A
            found.value += 0.5 * float(library_of(A).dot(slope, A))
            found.gradient += slope
        elif penalty is not None:
            user = A / units
            found.value += penalty.value(user)
            found.gradient += penalty.gradient(user) / units
            curvature = penalty.curvature(user) / units**2 if Oracle.CURVATURE in penalty.oracles else None
        found.noise = max(found.noise, max(1e-14, 4e-16 * math.sqrt(self.n_rows)) * abs(found.value))
        if found.diagonal is not None:
            found.diagonal = found.diagonal / units**2 + (0.0 if curvature is None else curvature)
        if found.product is not None:
            found.product = found.product / units + (0.0 if curvature is None or V is None else curvature * V)
        if found.hessian is not None:
            found.hessian = self._hessian(found.hessian, curvature)
        if found.outer is not None:
            found.outer = self._hessian(found.outer, None)
        return found if self.intercept else self._pin(found)

    def _hessian(self, H: Array, curvature: Array | None) -> Array:
        D, q = self.n_parameters, self.n_outputs
        unit = self.units[:, 0]
        if self.scaling is not None:
            each = unit if H.ndim == 3 else np.tile(unit, q)
            H /= each
            H /= each[:, None]
        if curvature is None:
            return H if H.ndim == 2 or len(H) == q else np.broadcast_to(H, (q, D, D))
        if H.ndim == 2:
            H.ravel()[:: len(H) + 1] += curvature.T.ravel()
            return H
        if len(H) < q and (curvature != curvature[:, :1]).any():
            H = np.repeat(H, q, axis=0)
        H.reshape(len(H), -1)[:, :: D + 1] += curvature.T[: len(H)]
        return H if len(H) == q else np.broadcast_to(H, (q, D, D))  # least squares: one block serves every output

    def _pin(self, found: Evaluation) -> Evaluation:
        """No intercept: its gradient is nothing and its curvature one, so that it never moves."""
        found.gradient[0, :] = 0.0
        if found.product is not None:
            found.product[0, :] = 0.0
        if found.diagonal is not None:
            found.diagonal[0] = 1.0
        if found.hessian is not None:
            found.hessian = self._without_intercept(found.hessian, 1.0)
        if found.outer is not None:
            found.outer = self._without_intercept(found.outer, 0.0)
        return found

    def _without_intercept(self, matrix: Array, own: float) -> Array:
        """A matrix of all weights with nothing in the intercepts' rows and columns but ``own`` on the diagonal."""
        H = np.array(matrix)
        D, q = self.n_parameters, self.n_outputs
        view = H if H.ndim == 3 else H.reshape(q, D, q, D)
        view[:, 0] = view[..., 0] = 0.0
        for j in range(q):
            view[(j, 0, 0) if H.ndim == 3 else (j, 0, j, 0)] = own
        return H

    def value(self, A: Array) -> float:
        """J(A)."""
        return float(self.along(A, None, np.zeros(1))[0])

    def value_and_gradient(self, A: Array) -> tuple[float, Array]:
        """J(A) and ∇J(A), in one pass (two with Jeffreys' penalty)."""
        found = self.evaluate(A)
        return found.value, found.gradient

    def loss_and_gradient(self, A: Array) -> tuple[float, Array]:
        """The part of J and ∇J that comes from the rows, without the penalty."""
        return self.without_penalty().value_and_gradient(A)

    def hessian(self, A: Array) -> Array:
        """∇²J: (q, 1+d, 1+d), a block an output, or (q(1+d), q(1+d)) with outputs outermost when they are coupled.

        Where all outputs have the same block it is stored once (a read-only view).

        With Jeffreys' penalty it is the Hessian of the loss alone (Fisher scoring).
        """
        H = self.evaluate(A, Need.HESSIAN).hessian
        assert H is not None
        return H

    def curvature(self, A: Array) -> Array:
        """∇²J as ``hessian`` gives it, with nothing in the place of an intercept that is held at zero."""
        return self.hessian(A) if self.intercept else self._without_intercept(self.hessian(A), 0.0)

    def along(self, A: Array, D: Array | None, steps: Array) -> Array:
        """J(A + s D) for each s, in one pass: the scores YA and YD are formed once.  D of None: zero."""
        steps = np.asarray(steps, dtype=np.float64)
        values = np.asarray(self.blocks.reduce(_Along(self.request(A, Need.VALUE, D), steps)))
        if self.penalty is None:
            return values
        points = [A if D is None else A + s * D for s in steps]
        if self.penalty.needs_information:
            extra = [self._jeffreys_value(self._information(point)) for point in points]
        else:
            extra = [self.penalty.value(point / self.units) for point in points]
        return np.asarray(values + np.array(extra))

    def scores(self, A: Array) -> Array:
        """z = Y A, shape (n, q), without offsets."""
        A = A / self.units if self.intercept else _through_origin(A / self.units)
        if isinstance(self.blocks, ArrayBlocks):
            return map_rows(lambda design: centred(design, self.center).scores(A), self.blocks.rows, A.shape[1])
        return np.vstack([centred(block.design, self.center).scores(A) for block in self.blocks])

    def slopes(self, A: Array) -> Array:
        """s ℓ' of every row, (n, q): the dual point that belongs to A, of rows in memory."""
        request = self.request(A, Need.VALUE)
        _, t, share, z, _ = request.parts(self.blocks.block(0, self.n_rows))
        return np.asarray(share * self.criterion.gradient(t, z))

    def errors(self, A: Array) -> int:
        """How many rows are not given their class (or, with targets, not all their outputs' sides)."""
        return int(self.blocks.reduce(_Errors(self.request(A, Need.VALUE))))

    @property
    def least_at_zero(self) -> bool:
        """Whether weights of zero are a minimum whatever the rows: no row has to be beyond a margin."""
        criterion = self.criterion.single
        return isinstance(criterion, Margin) and criterion.margin == 0 and Oracle.GRADIENT in criterion.oracles

    def saturated(self, A: Array) -> bool:
        """Whether a criterion that is not convex is flat around A though J is not small: Σ s|ℓ′| next to nothing of it.

        Descent cannot leave such weights, and a gradient of zero there says nothing about a minimum.
        """
        if self.criterion.convex or Oracle.GRADIENT not in self.criterion.oracles:
            return False
        value, slopes = self.blocks.reduce(_Slopes(self.request(A, Need.VALUE)))
        return bool(slopes < np.finfo(np.float64).eps * value)

    def sides(self, A: Array) -> Array:
        """(2, q), or (2, 1) when coupled: rows that do not lie strictly on their output's side, and rows far inside it.

        A row with a soft target has no side, and counts among the first.  Far is a loss below 2e-9.
        """
        return np.asarray(self.blocks.reduce(_Sides(self.request(A, Need.VALUE))))

    @property
    def may_lack_minimum(self) -> bool:
        """Whether separable rows would leave J without a minimum: nothing holds the weights back."""
        return self.penalty is None and self.criterion.recedes

    def collect(self, most: int = 50_000_000) -> tuple[Array, Array, Array]:
        """(Y, t, s): all rows with the one in front, their targets and normalised weights, as dense arrays."""
        n, D = int(self.blocks.n_rows), self.n_parameters
        if n * D > most:
            raise DataError(
                f"This optimizer holds all rows at once, and {n} rows of {D} numbers are too many for that "
                f"(more than {most}); use one that reads them in blocks, such as LBFGS or SingleSample."
            )
        request, eye = self.request(np.eye(D)[:, : self.n_outputs], Need.VALUE), np.eye(D)
        Y, t, s = [], [], []
        for block in self.blocks:
            Y.append(centred(block.design, self.center).scores(eye) / self.units[:, 0])
            Y[-1][:, 0] = float(self.intercept)
            target, share = request.targets(block, request.weight(block))
            t.append(target)
            s.append(np.broadcast_to(share, target.shape))
        return np.vstack(Y), np.vstack(t), np.vstack(s)

    def hessian_root(self, A: Array) -> Array:
        """F with FᵗF = ∇²J(A), for few rows: (n·q + penalty rows, q(1+d)); a free sum of outputs gets curvature."""
        parts, D, q = [], self.n_parameters, self.n_outputs
        request, unit = self.request(A, Need.VALUE), self.units[:, 0]
        for block in self.blocks:
            design, t, share, z, _ = request.parts(replace(block, weight=request.weight(block)))
            Y = design.scores(np.eye(D)) / unit
            Y[:, 0] = float(self.intercept)
            share = np.broadcast_to(share, (len(t), share.shape[1]))  # one for all outputs, or one for each
            roots = self.criterion.curvature_root(t, z) * np.sqrt(share)[:, :, None]
            parts.append((roots[:, :, :, None] * Y[:, None, None, :]).reshape(-1, q * D))
        ridge = np.diag(np.sqrt(self.damping.T.ravel()))
        pinned = np.eye(q * D)[np.arange(q) * D] if not self.intercept else np.empty((0, q * D))
        F = np.vstack([*parts, ridge[np.diagonal(ridge) > 0], pinned])
        if not self.criterion.free_sum:
            return F
        size = np.sqrt(np.einsum("ij,ij->j", F, F)).reshape(q, D).max(axis=0)
        return np.vstack([F, np.tile(np.diag(size), q) / np.sqrt(q)])

    def without_penalty(self) -> PointwiseObjective:
        """The same loss alone."""
        return self._with(penalty=None)

    def with_ridge(self, strength: float) -> PointwiseObjective:
        """The same loss and ½ λ ‖a‖²."""
        return self._with(penalty=Ridge(strength) if strength > 0 else None)

    def on_scale(self, scale: str) -> PointwiseObjective:
        """J as a mean over the rows ("mean"), or as the textbooks' sum Σw J ("sum"), which has the same minimum."""
        if scale not in SCALES:
            raise ParameterError(f"scale is 'mean' or 'sum', the textbooks' sum over the rows; not {scale!r}.")
        if self.summed or scale == "mean":
            return self
        penalty = self.penalty
        if penalty is not None and not penalty.needs_information:  # Jeffreys' is divided by the totals itself
            if np.ptp(self.totals) > 0:
                raise MismatchError(
                    "Outputs that learn from rows of unlike weight have no common sum with a penalty: use scale='mean' "
                    f"with penalty {type(penalty).__name__}."
                )
            penalty = replace(penalty, strength=penalty.strength * float(self.totals[0]))  # type: ignore[type-var]
        return replace(self, penalty=penalty, summed=True)

    @property
    def coarsest(self) -> PointwiseObjective:
        """The same J, whose evaluations are as coarse as is quickest: a solver's first steps need no more."""
        blocks = self.blocks.to_fit(self.criterion.coupled)
        return self if blocks is self.blocks else self._with(blocks=blocks, accuracy=blocks.accuracy)

    @property
    def finest(self) -> PointwiseObjective:
        """The same J, whose evaluations are as exact as can be: what is proved is proved of these."""
        return self if self.accuracy == FINEST else self._with(accuracy=FINEST)

    def scaled(self, scaling: Scaling | None) -> PointwiseObjective:
        """The same J over the weights of columns with this centre and these units."""
        return self._with(scaling=scaling)

    def over(self, blocks: Any) -> PointwiseObjective:
        """The same J over the same rows, which these blocks add up in another way."""
        return self._with(blocks=blocks)

    def _with(self, **changes: Any) -> PointwiseObjective:
        """The same parts, checked already, with some in others' place on which totals and shares do not depend."""
        parts = {one: value for one, value in vars(self).items() if one in self.__dataclass_fields__}
        return _assembled(parts | {"totals": self.totals, "shares": self.shares} | changes)

    def _information(self, A: Array) -> Array:
        """I_j = Yᵗ diag(w ℓ'') Y for each output, shape (q, 1+d, 1+d)."""
        H = self.without_penalty().evaluate(A, Need.HESSIAN).hessian
        assert H is not None
        return np.asarray(H * self.totals[:, None, None])

    def _jeffreys_value(self, information: Array) -> float:
        assert self.penalty is not None
        sign, size = np.linalg.slogdet(information)
        # A singular information matrix has no density: no step should end there.
        volume = np.where(sign > 0, size, -np.inf)
        return float((-self.penalty.strength * volume / (2 * self.totals)).sum())

    def _jeffreys(self, A: Array) -> tuple[float, Array]:
        """Value and gradient of −τ/2 ln det I / Σw; see `penalties.jeffreys`."""
        assert self.penalty is not None
        information = self._information(A)
        value = self._jeffreys_value(information)
        try:
            roots = np.stack([np.linalg.inv(np.linalg.cholesky(block)).T for block in information])
        except np.linalg.LinAlgError:
            value = np.inf
        if not np.isfinite(value):
            raise DataError(
                "Jeffreys' penalty needs an information matrix of full rank, and some columns of the design carry "
                "nothing that the others do not; drop them, or use the penalty Ridge."
            )
        roots[:, 0, 0] *= self.intercept  # pinned, it has no leverage
        slope = self.blocks.reduce(_JeffreysSlope(self.request(A, Need.VALUE), roots))
        slope[0] *= self.intercept
        return value, -self.penalty.strength / 2 * slope


def logistic_objective(
    blocks: Any, n_classes: int, ridge: float = 0.0, intercept: bool = True, offset: Array | None = None
) -> PointwiseObjective:
    """J(A) = Σ w ℓ / Σ w + ½ λ ‖a‖² with the logistic criterion for two classes and the softmax for more.

    The rows' targets are class codes, or class probabilities: (n,) of the second of two classes, or (n, K).
    """
    soft = blocks.is_soft
    criterion = Logistic() if n_classes == 2 else Softmax()
    coding = None if soft else _class_coding(n_classes)
    if soft and blocks.target.ndim == 1:
        blocks = replace(blocks, target=blocks.target[:, None])
    penalty = Ridge(ridge) if ridge > 0 else None
    return _assembled({"blocks": blocks, "criterion": criterion, "coding": coding, "penalty": penalty,
                       "offset": offset, "intercept": intercept})  # fmt: skip


def _assembled(parts: dict[str, Any]) -> PointwiseObjective:
    """An objective of parts that are known to fit."""
    objective = object.__new__(PointwiseObjective)
    vars(objective).update(parts)
    return objective


@lru_cache(maxsize=4)
def _class_coding(n_classes: int) -> ClassCoding:
    return make_coding("two-class" if n_classes == 2 else "softmax", n_classes, labels=(0, 1), threshold=0.0)


@dataclass(frozen=True)
class _Along(DeviceRequest):
    """Σ s ℓ at A + e V for each step e."""

    request: Evaluate
    steps: Array

    def on_device(self, blocks: Any) -> Array | None:
        from discriminant.data.device_evaluate import losses_along

        return losses_along(self.request, blocks, self.steps)

    def __call__(self, block: Block) -> Array:
        request = self.request
        _, t, share, z, v = request.parts(replace(block, weight=request.weight(block)))
        with np.errstate(over="ignore", invalid="ignore"):
            values = [request.criterion.value(t, z if v is None else z + step * v) for step in self.steps]
        return np.array([(np.broadcast_to(share, value.shape) * value).sum() for value in values])


@dataclass(frozen=True)
class _Slopes:
    """Σ s ℓ and Σ s|ℓ′|."""

    request: Evaluate

    def __call__(self, block: Block) -> tuple[float, float]:
        _, t, share, z, _ = self.request.parts(block)
        value, slope = self.request.criterion.value_and_gradient(t, z)
        return float((share * value).sum()), float((share * np.abs(slope)).sum())


@dataclass(frozen=True)
class _Errors:
    request: Evaluate

    def __call__(self, block: Block) -> int:
        _, t, _, z, _ = self.request.parts(block)
        criterion, coding = self.request.criterion, self.request.coding
        # The textbooks' error-correcting procedures count a row on the boundary, a·y = 0, as misclassified.
        strict = Oracle.MARGIN in criterion.oracles and (criterion.coupled or z.shape[1] == 1)
        if coding is None or strict:
            return int(criterion.wrong(t, z).any(axis=1).sum())
        return int((coding.decide(z) != block.target).sum())


@dataclass(frozen=True)
class _Sides:
    request: Evaluate

    def __call__(self, block: Block) -> Array:
        _, t, share, z, _ = self.request.parts(block)
        criterion = self.request.criterion
        soft = (t != criterion.labels[0]) & (t != criterion.labels[1])
        wrong = criterion.wrong(t, z) | (soft.any(axis=1, keepdims=True) if criterion.coupled else soft)
        part = np.broadcast_to(share, wrong.shape) > 0
        far = ~wrong & (criterion.value(t, z) < 2e-9)
        return np.stack([(wrong & part).sum(axis=0), (far & part).sum(axis=0)])


@dataclass(frozen=True)
class _JeffreysSlope:
    """Σ_i s_i ℓ'''(z_i) (y_i' I⁻¹ y_i) y_i for each output, with I⁻¹ = R Rᵗ."""

    request: Evaluate
    roots: Array

    def __call__(self, block: Block) -> Array:
        design, t, share, z, _ = self.request.parts(block)
        third = share * self.request.criterion.third(t, z)
        leverage = np.stack([np.square(design.scores(root)).sum(axis=1) for root in self.roots], axis=1)
        return np.asarray(design.adjoint(third * leverage))


def _through_origin(A: Array) -> Array:
    """The weights without their intercepts."""
    if not (isinstance(A, np.ndarray) and A[0].any()):  # on a device they never move
        return A
    A = A.copy()
    A[0] = 0.0
    return A


def _require_lengths(blocks: Any) -> None:
    """Refuse rows of zeros, by whose length a loss would be divided; with a one in front no row has length 0."""
    for block in blocks:
        zero = np.flatnonzero(block.design.squared_norms() == 0)
        if len(zero):
            raise DataError(
                f"Row {block.start + int(zero[0])} is zero in every column: without an intercept it lies on every "
                "hyperplane, and relaxation divides by its length. Leave it out, or use fit_intercept=True."
            )


def _check_parts(criterion: Pointwise, coding: ClassCoding | None, penalty: WeightPenalty | None) -> None:
    """Refuse parts that do not fit, in a sentence that names both."""
    if not isinstance(criterion, Pointwise):
        raise MismatchError(f"A criterion is an instance of discriminant.criteria.Pointwise; {criterion!r} is not.")
    name = type(criterion).__name__
    if coding is not None:
        if criterion.coupled and not coding.care.all():
            raise MismatchError(
                f"Criterion {name} couples its outputs and the coding {coding.name!r} has classes that take no part in "
                f"some of them; use a two-class criterion such as Logistic or Perceptron, or the coding 'softmax'."
            )
        criterion.check_targets(coding.targets if criterion.coupled else coding.targets[coding.care > 0][:, None])
    if penalty is not None and penalty.needs_information and not criterion.third_known:
        raise MismatchError(
            f"Penalty {type(penalty).__name__} needs the criterion's third derivative, which {name} does not give; "
            f"use criterion Logistic (with coding 'one-vs-rest' or 'pairwise' for many classes) or the penalty Ridge."
        )
