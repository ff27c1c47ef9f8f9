"""J(A): a criterion, a coding and a penalty over rows in blocks, seen as one function of the weights.

    J(A) = Σ_j Σ_i s_ij ℓ(t_ij, z_ij) + λ Ω(A),     z = Y A,     s_ij = w_i c_ij / Σ_i w_i c_ij,

where c_ij = 1 if the class of row i takes part in output j and 0 if it does not.  With no don't-cares that is
Σwℓ/Σw + λΩ; with them (pairwise) each output is normalised by its own rows, so that it equals a fit on them alone.

    ∇J = Yᵗ (s ℓ') + λ∇Ω,        ∇²J = Yᵗ diag(s ℓ'') Y + λ∇²Ω,  one block an output, or q × q blocks when coupled.

Every question is one ``blocks.reduce`` of a picklable kernel whose results add, so that it runs unchanged wherever
blocks come from.  The kernels hand back what is already normalised: only sums travel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.codings import ClassCoding
from discriminant.criteria import Pointwise
from discriminant.data import ArrayBlocks, OriginRows, map_rows
from discriminant.errors import DataError, MismatchError
from discriminant.penalties import WeightPenalty
from discriminant.protocols import Array, Block, Oracle


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
    """

    blocks: Any
    criterion: Pointwise
    coding: ClassCoding | None = None
    penalty: WeightPenalty | None = None

    def __post_init__(self) -> None:
        _check_parts(self.criterion, self.coding, self.penalty)
        if self.criterion.over_norm and isinstance(getattr(self.blocks, "rows", None), OriginRows):
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

    @property
    def n_parameters(self) -> int:
        """1 + d, the rows of A."""
        return int(self.blocks.n_features) + 1

    @cached_property
    def n_outputs(self) -> int:
        """q, the columns of A."""
        if self.coding is not None:
            return self.coding.n_outputs
        return int(next(iter(self.blocks)).target.shape[1])

    @cached_property
    def totals(self) -> Array:
        """(q,): the weight of the rows that take part in each output."""
        total = np.asarray(self.blocks.reduce(_Totals(self.coding, self.n_outputs)))
        if not (total > 0).all():
            raise DataError(f"Output {int(np.argmin(total))} has no row with a positive weight to learn from.")
        return total

    def value(self, A: Array) -> float:
        """J(A)."""
        return float(self.along(A, np.zeros_like(A), np.zeros(1))[0])

    def value_and_gradient(self, A: Array) -> tuple[float, Array]:
        """J(A) and ∇J(A), in one pass (two with Jeffreys' penalty)."""
        value, gradient = self.loss_and_gradient(A)
        if self.penalty is None:
            return value, gradient
        if self.penalty.needs_information:
            more, slope = self._jeffreys(A)
            return value + more, gradient + slope
        return value + self.penalty.value(A), gradient + self.penalty.gradient(A)

    def loss_and_gradient(self, A: Array) -> tuple[float, Array]:
        """The part of J and ∇J that comes from the rows, without the penalty."""
        value, gradient = self.blocks.reduce(_ValueGradient(self._rows, A))
        return float(value), gradient

    def hessian(self, A: Array) -> Array:
        """∇²J: (q, 1+d, 1+d), a block an output, or (q(1+d), q(1+d)) with outputs outermost when they are coupled.

        Where all outputs have the same block it is stored once (a read-only view).

        With Jeffreys' penalty it is the Hessian of the loss alone (Fisher scoring).
        """
        D, q = self.n_parameters, self.n_outputs
        total = np.asarray(self.blocks.reduce(_Hessian(self._rows, A)))
        bend = None
        if self.penalty is not None and not self.penalty.needs_information:
            bend = self.penalty.curvature(A)
        if self.criterion.coupled:
            if bend is not None:
                total[np.arange(q * D), np.arange(q * D)] += bend.T.ravel()
            return total
        if bend is not None:
            if total.shape[0] < q and (bend != bend[:, :1]).any():
                total = np.repeat(total, q, axis=0)
            total[:, np.arange(D), np.arange(D)] += bend.T[: total.shape[0]]
        return np.broadcast_to(total, (q, D, D))  # least squares: one block serves every output

    def hessian_product(self, A: Array, V: Array) -> Array:
        """∇²J(A)·V, in one pass and without a matrix."""
        product = np.asarray(self.blocks.reduce(_Product(self._rows, A, V)))
        if self.penalty is not None and not self.penalty.needs_information:
            product += self.penalty.curvature(A) * V
        return product

    def along(self, A: Array, D: Array, steps: Array) -> Array:
        """J(A + s D) for each s, in one pass: the scores YA and YD are formed once."""
        steps = np.asarray(steps, dtype=np.float64)
        values = np.asarray(self.blocks.reduce(_Along(self._rows, A, D, steps)))
        if self.penalty is None:
            return values
        if self.penalty.needs_information:
            extra = [self._jeffreys_value(self._information(A + s * D)) for s in steps]
        else:
            extra = [self.penalty.value(A + s * D) for s in steps]
        return np.asarray(values + np.array(extra))

    def scores(self, A: Array) -> Array:
        """z = Y A, shape (n, q)."""
        if isinstance(self.blocks, ArrayBlocks):
            return map_rows(lambda design: design.scores(A), self.blocks.rows, A.shape[1])
        return np.vstack([block.design.scores(A) for block in self.blocks])

    def errors(self, A: Array) -> int:
        """How many rows are not given their class (or, with targets, not all their outputs' sides)."""
        return int(self.blocks.reduce(_Errors(self._rows, A)))

    def sides(self, A: Array) -> Array:
        """(2, q), or (2, 1) when coupled: rows that do not lie strictly on their output's side, and rows far inside it.

        A row with a soft target has no side, and counts among the first.  Far is a loss below 2e-9.
        """
        return np.asarray(self.blocks.reduce(_Sides(self._rows, A)))

    def has_no_minimum(self, A: Array) -> bool:
        """Whether A proves that J has no minimum: it separates the rows of an output, so that longer is better."""
        return self.may_lack_minimum and bool((self.sides(A)[0] == 0).any())

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
        rows, eye = self._rows, np.eye(D)
        Y, t, s = [], [], []
        for block in self.blocks:
            Y.append(block.design.scores(eye))
            target, share = rows.look(block)
            t.append(target)
            s.append(np.broadcast_to(share, target.shape))
        return np.vstack(Y), np.vstack(t), np.vstack(s)

    def without_penalty(self) -> PointwiseObjective:
        """The same loss alone."""
        bare = replace(self, penalty=None)
        bare.__dict__["totals"] = self.totals  # they do not depend on the penalty
        return bare

    @property
    def _rows(self) -> _Rows:
        return _Rows(self.criterion, self.coding, self.totals)

    def _information(self, A: Array) -> Array:
        """I_j = Yᵗ diag(w ℓ'') Y for each output, shape (q, 1+d, 1+d)."""
        return np.asarray(self.blocks.reduce(_Hessian(self._rows, A)) * self.totals[:, None, None])

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
        if not np.isfinite(value):
            raise DataError(
                "Jeffreys' penalty needs an information matrix of full rank, and some columns of the design carry "
                "nothing that the others do not; drop them, or use the penalty Ridge."
            )
        roots = np.stack([np.linalg.inv(np.linalg.cholesky(block)).T for block in information])
        slope = self.blocks.reduce(_JeffreysSlope(self._rows, A, roots))
        return value, -self.penalty.strength / 2 * slope


@dataclass(frozen=True)
class _Rows:
    """What each row asks for: its targets, and its share s of the sum.  Shared by all kernels."""

    criterion: Pointwise
    coding: ClassCoding | None
    totals: Array

    def look(self, block: Block) -> tuple[Array, Array]:
        """t (rows, q) and s, which broadcasts to it: (1, 1) or (1, q) where the rows weigh the same."""
        assert block.target is not None
        totals = self.totals[:1] if self.criterion.coupled else self.totals
        if self.coding is None:
            t, care = block.target, None
        else:
            t = self.coding.targets[block.target]
            care = None if self.coding.care.all() else self.coding.care[block.target]
        share = 1 / (totals[:1] if care is None else totals)[None, :]
        if care is not None and not self.criterion.coupled:
            share = share * care
        if block.weight is not None:
            share = share * block.weight[:, None]
        if self.criterion.over_norm:
            share = share / (self.criterion.over_norm * block.design.squared_norms())[:, None]
        return t, share


def _sum(share: Array, value: Array) -> float:
    """Σ s ℓ without an (n, q) product where all rows share alike."""
    if share.size == 1:
        return float(share.item() * value.sum())
    return float(np.einsum("ij,ij->", np.broadcast_to(share, value.shape), value))


@dataclass(frozen=True)
class _Totals:
    coding: ClassCoding | None
    n_outputs: int

    def __call__(self, block: Block) -> Array:
        if self.coding is None:
            total = block.rows if block.weight is None else float(block.weight.sum())
            return np.full(self.n_outputs, float(total))
        counts = np.bincount(block.target, block.weight, minlength=self.coding.n_classes)  # type: ignore[arg-type]
        return np.asarray(counts @ self.coding.care)


@dataclass(frozen=True)
class _ValueGradient:
    rows: _Rows
    A: Array

    def __call__(self, block: Block) -> tuple[float, Array]:
        t, share = self.rows.look(block)
        with np.errstate(over="ignore", invalid="ignore"):  # a step too far is the optimizer's to notice
            value, slope = self.rows.criterion.value_and_gradient(t, block.design.scores(self.A))
            return _sum(share, value), block.design.adjoint(share * slope)


@dataclass(frozen=True)
class _Along:
    rows: _Rows
    A: Array
    D: Array
    steps: Array

    def __call__(self, block: Block) -> Array:
        t, share = self.rows.look(block)
        q = self.A.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            both = block.design.scores(np.hstack([self.A, self.D]) if self.D.any() else self.A)
            z, v = both[:, :q], both[:, q:] if both.shape[1] > q else 0.0
            return np.array([_sum(share, self.rows.criterion.value(t, z + s * v)) for s in self.steps])


@dataclass(frozen=True)
class _Hessian:
    rows: _Rows
    A: Array

    def __call__(self, block: Block) -> Array:
        t, share = self.rows.look(block)
        criterion, design = self.rows.criterion, block.design
        if Oracle.QUADRATIC in criterion.oracles and not criterion.coupled and share.shape[1] == 1:
            # ℓ'' = 1 in every output: one matrix serves all
            return np.asarray(design.sandwich(np.broadcast_to(share[:, 0], block.rows)))[None]
        bend = criterion.curvature(t, design.scores(self.A))
        if not criterion.coupled:
            bend = bend * share
            return np.stack([design.sandwich(bend[:, j]) for j in range(bend.shape[1])])
        q, D = bend.shape[1], design.shape[1]
        bend = bend * share[:, :, None]
        matrix = np.empty((q, D, q, D))
        for i in range(q):
            for j in range(i, q):
                matrix[i, :, j] = design.sandwich(bend[:, i, j])
                matrix[j, :, i] = matrix[i, :, j]
        return matrix.reshape(q * D, q * D)


@dataclass(frozen=True)
class _Product:
    rows: _Rows
    A: Array
    V: Array

    def __call__(self, block: Block) -> Array:
        t, share = self.rows.look(block)
        q = self.A.shape[1]
        both = block.design.scores(np.hstack([self.A, self.V]))
        bend = self.rows.criterion.curvature_product(t, both[:, :q], both[:, q:])
        return np.asarray(block.design.adjoint(share * bend))


@dataclass(frozen=True)
class _Errors:
    rows: _Rows
    A: Array

    def __call__(self, block: Block) -> int:
        z = block.design.scores(self.A)
        if self.rows.coding is None:
            return int(self.rows.criterion.wrong(np.asarray(block.target), z).any(axis=1).sum())
        return int((self.rows.coding.decide(z) != block.target).sum())


@dataclass(frozen=True)
class _Sides:
    rows: _Rows
    A: Array

    def __call__(self, block: Block) -> Array:
        z = block.design.scores(self.A)
        t, share = self.rows.look(block)
        criterion = self.rows.criterion
        soft = (t != criterion.labels[0]) & (t != criterion.labels[1])
        wrong = criterion.wrong(t, z) | (soft.any(axis=1, keepdims=True) if criterion.coupled else soft)
        part = np.broadcast_to(share, wrong.shape) > 0
        far = ~wrong & (criterion.value(t, z) < 2e-9)
        return np.stack([(wrong & part).sum(axis=0), (far & part).sum(axis=0)])


@dataclass(frozen=True)
class _JeffreysSlope:
    """Σ_i s_i ℓ'''(z_i) (y_i' I⁻¹ y_i) y_i for each output, with I⁻¹ = R Rᵗ."""

    rows: _Rows
    A: Array
    roots: Array

    def __call__(self, block: Block) -> Array:
        t, share = self.rows.look(block)
        third = share * self.rows.criterion.third(t, block.design.scores(self.A))
        reach = np.stack([np.square(block.design.scores(root)).sum(axis=1) for root in self.roots], axis=1)
        return np.asarray(block.design.adjoint(third * reach))


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
