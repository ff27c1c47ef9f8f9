"""One pass over the rows: the value of J and, where asked, its derivatives.

    z = Y A,    Σ s ℓ(t, z),    Yᵗ(s ℓ'),    Yᵗ diag(s ℓ'') Y,    Yᵗ(s ℓ'' ∘ Y V),    (Y∘Y)ᵗ(s ℓ''),
    Yᵗ diag(u s ℓ'²) Y with a factor u of each row,    Yᵗ(s ℓ') of each group of rows,

with s_ij = w_i c_ij / Σ_i w_i c_ij the share of row i in output j.  ``Evaluate`` is a request: frozen, picklable,
sent to the rows wherever they are (``Blocks.reduce``).  It has two bodies with the same answers: the compiled one
(``kernels/c/evaluate.c``), for rows in memory and the criteria that it knows, and the array body below, for every
criterion and where nothing is compiled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discriminant.arrays import as_dense
from discriminant.data.rows import AnyDesign, DenseDesign, SparseDesign
from discriminant.kernels import compiled
from discriminant.protocols import Array, Block, Evaluation, Need, Oracle
from discriminant.thresholds import BLAS_COLUMNS

if TYPE_CHECKING:  # methods by moments go through blocks of rows and need no criterion
    from discriminant.codings import ClassCoding
    from discriminant.criteria import Pointwise


Shares = tuple[Array, Array | None]
# As plain numbers: flags of an enum cost a microsecond each, and an evaluation of few rows ten.
_, GRADIENT, HESSIAN, PRODUCT, DIAGONAL, INTERCEPT, OUTER, GROUPS = map(int, Need)
FINEST, COARSE = 1e-15, 1e-3  # how far J may be off, relative: float64, and whatever a device multiplies fastest


class DeviceRequest(ABC):
    """A request with a second body, for rows on a device."""

    @abstractmethod
    def on_device(self, blocks: Any) -> Any:
        """The sum over all rows, as ``reduce`` hands it back; None: the rows are fetched for the first body."""


class TiledRequest(ABC):
    """A request whose compiled body walks its rows in tiles itself, so that parts of them may be large."""

    @property
    @abstractmethod
    def compiled(self) -> bool:
        """Whether the compiled body serves."""

    @abstractmethod
    def work(self, n_rows: int, n_values: int) -> float:
        """Its multiplications, about: how many parts of the rows are worth a thread."""

    @property
    def slot(self) -> int:
        """The numbers of a part's sum, which are set to zero and added."""
        return 1


@dataclass(frozen=True)
class Groups:
    """Which rows are summed together: a number below ``count`` for each row."""

    codes: Array  # (n,)
    count: int

    def of(self, block: Block) -> tuple[Array | None, Array]:
        """(the groups that have rows in the block, the place of each row's among them): None where all may have."""
        codes = self.codes[block.start : block.start + block.rows]
        if self.count <= 4 * block.rows:
            return None, codes.astype(np.int64, copy=False)
        present, place = np.unique(codes, return_inverse=True)
        return present, place


class GroupSums:
    """Sums of rows, group by group: parts that name their groups, until they hold more rows than there are groups."""

    def __init__(self, count: int, groups: Array | None, sums: Array) -> None:
        self.count, self._parts = count, [(groups, sums)]

    def __iadd__(self, other: GroupSums) -> GroupSums:
        self._parts += other._parts
        if sum(len(sums) for _, sums in self._parts) > 2 * self.count:
            self.total()
        return self

    def total(self) -> Array:
        """(count, q, 1+d), in the place of a part that has all groups."""
        whole = [sums for groups, sums in self._parts if groups is None]
        total = whole[0] if whole else np.zeros((self.count, *self._parts[0][1].shape[1:]))
        for groups, sums in self._parts:
            if sums is not total:
                total[slice(None) if groups is None else groups] += sums
        self._parts = [(None, total)]
        return total


@dataclass(frozen=True)
class Evaluate(TiledRequest, DeviceRequest):
    """J's sums over rows at A, as far as the rows know them: no penalty, no units.

    Parameters
    ----------
    criterion : Pointwise
    coding : ClassCoding or None
        None: the rows carry targets (q) instead of class codes.
    totals : (q,)
        The weight of the rows that take part in each output.
    A : (1+d, q)
    need : Need
    V : (1+d, q), optional
        The direction of ``Need.PRODUCT``.
    center : (d,), optional
        Rows are measured from here: Y = [1, x − c].
    offset : (n,) or (n, q), optional
        Known parts of the scores.
    shares : optional
        What ``shares_of`` says, where it is known.
    factor: (n,), optional
        A factor u of each row in ``Need.OUTER``.
    groups: Groups, optional
        Those of ``Need.GROUPS``.
    intercept: bool
        False: the intercepts of A are zero, and what is found of them means nothing.
    accuracy: float
        How far J may be off, relative to it.  A device multiplies accordingly, and says in ``Evaluation.noise`` what
        came of it.
    """

    criterion: Pointwise
    coding: ClassCoding | None
    totals: Array
    A: Array
    need: Need = Need.VALUE | Need.GRADIENT
    V: Array | None = None
    center: Array | None = None
    offset: Array | None = None
    shares: Shares | None = None
    factor: Array | None = None
    groups: Groups | None = None
    intercept: bool = True
    accuracy: float = FINEST

    def __call__(self, block: Block) -> Evaluation:
        weight = self.weight(block)
        block = block if weight is block.weight else replace(block, weight=weight)
        rows = compiled_rows(block.design) if self.compiled else None
        return self._arrays(block) if rows is None else self._compiled(rows, block)

    def on_device(self, blocks: Any) -> Evaluation | None:
        from discriminant.data.device_evaluate import evaluate

        return evaluate(self, blocks)

    @property
    def compiled(self) -> bool:
        """Whether the compiled body serves: it knows the criterion, and is there."""
        if self.criterion.kind is None or compiled.load() is None:
            return False
        several = self.A.shape[1] > 1 and int(self.need) & (HESSIAN | OUTER)
        return not (several and Oracle.QUADRATIC in self.criterion.oracles)

    def work(self, n_rows: int, n_values: int) -> float:
        """Multiplications of the compiled body, about: scores and slopes, losses, and the Hessian."""
        q = int(self.A.shape[1])
        plain = 30.0 * n_rows * q + 2.0 * q * n_values * (3 if self.groups else 1)
        pairs = q * (q + 1) / 2 if self.criterion.coupled else q
        return plain + self._matrices * pairs * n_values * (n_values / max(n_rows, 1) + 1) / 2

    @property
    def slot(self) -> int:
        """Hessian, outer products and groups, where they are asked for."""
        D, q = map(int, self.A.shape)
        groups = 0 if self.groups is None else self.groups.count
        return q * D * (1 + groups) + self._matrices * (q * q if self.criterion.coupled else q) * D * D

    @property
    def _matrices(self) -> int:
        """How many of the Hessian's size are asked for."""
        return bool(int(self.need) & HESSIAN) + bool(int(self.need) & OUTER)

    def shift(self, block: Block) -> Array | None:
        """(rows, 1) or (rows, q): the offsets of the block's rows."""
        if self.offset is None:
            return None
        return np.asarray(self.offset[block.start : block.start + block.rows]).reshape(block.rows, -1)

    def weight(self, block: Block) -> Array | None:
        """w, over c‖y‖² where the criterion says so (relaxation), y = (0, x) without an intercept."""
        weight = None if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        if not self.criterion.over_norm:
            return weight
        size = self.criterion.over_norm * (float(self.intercept) + block.design.squared_norms())
        return np.asarray((1.0 if weight is None else weight) / size)

    # The compiled body

    def inputs(self, block: Block) -> tuple[Any, ...]:
        """What compiled passes take beside X: (codes or None, targets, shares, weight, offset)."""
        shares, targets = self.shares or shares_of(self.criterion, self.coding, self.totals)
        codes, offset = None, self.shift(block)
        if targets is None:
            targets = np.ascontiguousarray(block.target, dtype=np.float64)
        else:
            codes = np.asarray(block.target)
            codes = np.ascontiguousarray(codes, dtype=np.uint8 if codes.dtype == np.uint8 else np.int64)
        if offset is not None:
            offset = np.ascontiguousarray(offset, dtype=np.float64)
        weight = None if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        return codes, targets, shares, weight, offset

    def _compiled(self, rows: Any, block: Block) -> Evaluation:
        D, q = self.A.shape
        coupled, need = self.criterion.coupled, int(self.need)
        head, gradient = np.zeros(2 + q), np.zeros((q, D))
        head[1] = np.inf
        hessian, outer = (
            np.zeros((q * D, q * D) if coupled else (q, D, D)) if need & kind else None for kind in (HESSIAN, OUTER)
        )
        product = np.zeros((q, D)) if need & PRODUCT else None
        diagonal = np.zeros((q, D)) if need & DIAGONAL else None
        intercept = np.zeros((q, q) if coupled else (q, D)) if need & INTERCEPT else None
        factor, present, group, sums = self._row_by_row(block)
        blas = None
        if self._matrices and not coupled and self.criterion.convex and D > BLAS_COLUMNS and type(rows) is not tuple:
            from scipy.linalg import cython_blas

            blas = cython_blas.__pyx_capi__["dsyrk"]
        module = compiled.load()
        assert module is not None
        module.evaluate(
            self.criterion.kind, need | GRADIENT, float(self.criterion.margin),
            self.criterion.labels, rows, self.center, np.ascontiguousarray(self.A.T),
            None if self.V is None else np.ascontiguousarray(self.V.T), *self.inputs(block),
            factor, group, blas, (head, gradient, hessian, product, diagonal, intercept, outer, sums),
        )  # fmt: skip
        return Evaluation(
            float(head[0]),
            gradient.T,
            hessian,
            None if product is None else product.T,
            None if diagonal is None else diagonal.T,
            intercept if intercept is None or coupled else intercept.T,
            outer,
            None if sums is None or self.groups is None else GroupSums(self.groups.count, present, sums),
            None if coupled else head[2:],
            float(head[1]),
        )

    def _row_by_row(self, block: Block) -> tuple[Array | None, Array | None, Array | None, Array | None]:
        """(factors of the block's rows, the groups that occur, each row's place among them, room for their sums)."""
        factor = None if self.factor is None else self.factor[block.start : block.start + block.rows]
        if self.groups is None:
            return factor, None, None, None
        present, group = self.groups.of(block)
        count = self.groups.count if present is None else len(present)
        return factor, present, group, np.zeros((count, *self.A.T.shape))

    # The array body

    def _arrays(self, block: Block) -> Evaluation:
        criterion, need = self.criterion, self.need
        design, t, share, z, v = self.parts(block)
        with np.errstate(over="ignore", invalid="ignore"):  # a step too far is the optimizer's to notice
            value, slope = criterion.value_and_gradient(t, z)
            found = Evaluation(_sum(share, value), design.adjoint(share * slope), margin=self._margin(t, z, share))
            if need & (Need.OUTER | Need.GROUPS):
                self._robust(found, block, design, slope, share)
            if not need & (Need.HESSIAN | Need.DIAGONAL | Need.INTERCEPT | Need.PRODUCT):
                return found
            if need & Need.PRODUCT and v is not None:
                found.product = np.asarray(design.adjoint(share * criterion.curvature_product(t, z, v)))
            if not need & (Need.HESSIAN | Need.DIAGONAL | Need.INTERCEPT):
                return found
            if need & Need.HESSIAN and self._one_for_all(share):
                found.hessian = np.asarray(design.sandwich(np.broadcast_to(share[:, 0], block.rows)))[None]
            curvature = criterion.curvature(t, z)
            if criterion.coupled:
                self._coupled(found, design, curvature * share[:, :, None])
            else:
                self._separate(found, design, curvature * share)
        return found

    def parts(self, block: Block) -> tuple[AnyDesign, Array, Array, Array, Array | None]:
        """(the centred design, t (rows, q), s that broadcasts to it, z (rows, q), YV or None)."""
        t, share = self.targets(block, block.weight)
        design = centred(block.design, self.center)
        q = self.A.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            both = design.scores(self.A if self.V is None else np.hstack([self.A, self.V]))
        z, v = both[:, :q], None if self.V is None else both[:, q:]
        shift = self.shift(block)
        return design, t, share, z if shift is None else z + shift, v

    def targets(self, block: Block, weight: Array | None) -> tuple[Array, Array]:
        """t (rows, q) and s, which broadcasts to it: (1, 1) or (1, q) where the rows weigh the same."""
        assert block.target is not None
        totals = self.totals[:1] if self.criterion.coupled else self.totals
        care = None
        if self.coding is None:
            t = np.asarray(block.target)
        else:
            t = self.coding.targets[block.target]
            care = None if self.coding.care.all() else self.coding.care[block.target]
        share = 1 / (totals[:1] if care is None else totals)[None, :]
        if care is not None and not self.criterion.coupled:
            share = share * care
        return t, share if weight is None else share * weight[:, None]

    def _one_for_all(self, share: Array) -> bool:
        """Whether one matrix is the Hessian of every output: ℓ'' = 1, and the rows share alike."""
        return Oracle.QUADRATIC in self.criterion.oracles and not self.criterion.coupled and share.shape[1] == 1

    def _separate(self, found: Evaluation, design: AnyDesign, curvature: Array) -> None:
        if self.need & Need.HESSIAN and found.hessian is None:
            found.hessian = np.stack([design.sandwich(column) for column in curvature.T])
        if self.need & Need.DIAGONAL:
            found.diagonal = design.squared().adjoint(curvature)
        if self.need & Need.INTERCEPT:
            found.intercept = np.asarray(design.adjoint(curvature))
        found.mass = curvature.sum(axis=0)

    def _robust(self, found: Evaluation, block: Block, design: AnyDesign, slope: Array, share: Array) -> None:
        """Outer products of the rows' slopes, and their sums by groups."""
        factor, present, group, sums = self._row_by_row(block)
        if self.need & Need.OUTER:
            part = share if factor is None else share * factor[:, None]
            if self.criterion.coupled:
                found.outer = _blocks(design, slope[:, :, None] * slope[:, None] * part[:, :, None])
            else:
                found.outer = np.stack([design.sandwich(column) for column in (slope**2 * part).T])
        if self.groups is None or sums is None:
            return
        from scipy.sparse import csr_array

        for k, each in enumerate((share * slope).T):  # output by output, so that no row's whole slope is written out
            rows = csr_array((each, (group, np.arange(block.rows))), (len(sums), block.rows))
            sums[:, k, 0], sums[:, k, 1:] = rows.sum(axis=1), as_dense(rows @ design.values)
        found.groups = GroupSums(self.groups.count, present, sums)

    def _coupled(self, found: Evaluation, design: AnyDesign, curvature: Array) -> None:
        if self.need & Need.INTERCEPT:
            found.intercept = curvature.sum(axis=0)
        if self.need & Need.DIAGONAL:
            found.diagonal = design.squared().adjoint(np.einsum("nkk->nk", curvature))
        if self.need & Need.HESSIAN:
            found.hessian = _blocks(design, curvature)

    def _margin(self, t: Array, z: Array, share: Array) -> float:
        """The least score on its own side; for competing outputs own score − best other."""
        if self.criterion.coupled:
            own = t.argmax(axis=1)[:, None]
            if self.coding is None or z.shape[1] < 2:
                return -np.inf
            mine = np.take_along_axis(z, own, axis=1)
            rivals = z.copy()
            np.put_along_axis(rivals, own, -np.inf, axis=1)
            sides = mine - rivals.max(axis=1, keepdims=True)
            share = share[:, :1]
        else:
            low, high = self.criterion.labels
            sides = np.where(t == high, z, np.where(t == low, -z, -np.inf))
        return float(np.where(share > 0, sides, np.inf).min(initial=np.inf))


def _blocks(design: AnyDesign, curvature: Array) -> Array:
    """Σ of the outer products of rows y times a matrix (rows, q, q) of each, (q(1+d), q(1+d))."""
    q, D = curvature.shape[1], design.shape[1]
    matrix = np.empty((q, D, q, D))
    for i in range(q):
        for j in range(i, q):
            matrix[i, :, j] = design.sandwich(curvature[:, i, j])
            matrix[j, :, i] = matrix[i, :, j]
    return matrix.reshape(q * D, q * D)


def shares_of(criterion: Pointwise, coding: ClassCoding | None, totals: Array) -> Shares:
    """(shares (K, q) or (1, q), targets (K, q) or None): the share of a row of weight one, class by class."""
    coupled = criterion.coupled
    totals = np.broadcast_to(totals[:1], totals.shape) if coupled else totals
    if coding is None:
        return np.ascontiguousarray(1 / totals[None, :]), None
    care = np.ones_like(coding.targets, dtype=np.float64) if coupled else coding.care / 1.0
    return np.ascontiguousarray(care / totals), np.ascontiguousarray(coding.targets, dtype=np.float64)


def centred(design: AnyDesign, center: Array | None) -> AnyDesign:
    """The design of x − c; sparse rows have no centre."""
    return design if center is None else DenseDesign(design.values - center)


def compiled_rows(design: AnyDesign) -> Any:
    """The rows as the compiled body takes them: floats of any strides, or CSR's arrays; None where it cannot."""
    if isinstance(design, SparseDesign):
        X = design.raw if design.raw.dtype.char in "df" else design.values
        return *(np.ascontiguousarray(part) for part in (X.data, X.indices, X.indptr)), X.shape[1]
    if isinstance(design, DenseDesign):
        raw = design.raw
        native = raw.dtype.isnative and raw.dtype.char in "df"
        return raw if native and type(raw) is np.ndarray else np.asarray(design.values)
    return None


def _sum(share: Array, value: Array) -> float:
    """Σ s ℓ without an (n, q) product where all rows share alike."""
    if share.size == 1:
        return float(share.item() * value.sum())
    return float(np.einsum("ij,ij->", np.broadcast_to(share, value.shape), value))
