"""One look at a block: scores, losses, gradient and, where asked, curvature, while the rows are in the cache.

Two classes, one output, t in [0, 1]:        Σ w [ln(1+e^z) − tz],       Yᵗ w(σ − t),      Yᵗ diag(w σ(1−σ)) Y
K classes, K outputs, t on the simplex:      Σ w [ln Σ e^{z_k} − t·z],   Yᵗ w(p − t),      Yᵗ w(p_k δ_kl − p_k p_l) Y

Rows are measured from a centre c where offsets would cost digits: z = a₀ + (x − c)·a, with x − c exact when c is one
of the column's own values near its mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.data.threads import scratch
from discriminant.protocols import Array, Block

SMALL = 2.0**-6  # mean loss below which a rounding of 1 + e, or of 1 − p, would show in the sums
PRODUCT = 256  # 2^256 is far from overflow: the logarithm of a product of so many factors in (1, 2] is their sum's


@dataclass
class Look:
    """What is added over rows: weighted sums, and the worst margin seen."""

    value: float
    gradient: Array  # (1+d, q)
    hessian: Array | None = None  # (1+d, 1+d), or (q(1+d), q(1+d)) with outputs outermost
    bend: Array | None = None  # two classes: Yᵗ w σ', (1+d,); K classes: Σ w (p_k δ_kl − p_k p_l), (K, K)
    margin: float = np.inf  # least of (own score − best other score); −inf with soft targets

    def __iadd__(self, other: Look) -> Look:
        self.value += other.value
        self.gradient += other.gradient
        if self.hessian is not None:
            self.hessian += other.hessian
        if self.bend is not None:
            self.bend += other.bend
        self.margin = min(self.margin, other.margin)
        return self


@dataclass(frozen=True)
class Rows:
    """How a block becomes Y: the centre that is subtracted, and the offsets that are added to the scores."""

    center: Array | None = None  # (d,)
    offset: Array | None = None  # (n,) or (n, K)
    kept: Array | None = None  # (n, d): all rows x − c, of a small problem that is looked at many times

    def values(self, block: Block) -> Any:
        """The block's rows x − c, dense or sparse."""
        if self.kept is not None:
            return self.kept[block.start : block.start + block.rows]
        values = block.design.values
        if self.center is None:
            return values
        return np.subtract(values, self.center, out=scratch("centred", values.shape))

    def shift(self, block: Block) -> Array | None:
        return None if self.offset is None else self.offset[block.start : block.start + block.rows]


def adjoint(values: Any, G: Array) -> Array:
    """Yᵗ G for G (rows, q)."""
    out = np.empty((values.shape[1] + 1, G.shape[1]))
    out[0] = G.sum(axis=0)
    out[1:] = values.T @ G
    return out


def sandwich(values: Any, w: Array, single: bool = False) -> Array:
    """Yᵗ diag(w) Y, w ≥ 0, by a rank-k update of √w Y; ``single``: in float32, for a preconditioner."""
    d = values.shape[1]
    out = np.empty((d + 1, d + 1))
    out[0, 0] = w.sum()
    if hasattr(values, "toarray"):
        out[0, 1:] = values.T @ w
        weighted = values.multiply(w[:, None]).tocsr()
        out[1:, 1:] = (values.T @ weighted).toarray()
    else:
        root = np.sqrt(w)
        name, dtype = ("rooted32", np.float32) if single else ("rooted", np.float64)
        rows = np.multiply(values, root[:, None], out=scratch(name, values.shape, dtype), casting="same_kind")
        out[0, 1:] = root.astype(dtype) @ rows
        out[1:, 1:] = rows.T @ rows
    out[1:, 0] = out[0, 1:]
    return out


@dataclass(frozen=True)
class TwoClass:
    """The look for one sigmoid output."""

    A: Array  # (1+d, 1)
    rows: Rows
    hessian: bool = False
    bend: bool = False
    single: bool = False  # the Hessian in float32

    def __call__(self, block: Block) -> Look:
        values = self.rows.values(block)
        z = np.asarray(values @ self.A[1:, 0])
        z += self.A[0, 0]
        shift = self.rows.shift(block)
        if shift is not None:
            z += shift
        t = np.asarray(block.target, dtype=np.float64)
        tail = np.exp(-np.abs(z))
        above = 1 + tail
        value = log_sum(tail, block.weight) + weighted(np.maximum(z, 0) - t * z, block.weight)
        hard = np.where(z >= 0, 1 - t - t * tail, (1 - t) * tail - t) / above
        slope = hard if block.weight is None else hard * block.weight
        look = Look(value, adjoint(values, slope[:, None]), margin=margin_of(block, t, z))
        if self.hessian or self.bend:
            curve = tail / np.square(above)
            if block.weight is not None:
                curve *= block.weight
            if self.hessian:
                look.hessian = sandwich(values, curve, self.single)
                look.bend = look.hessian[0].copy()
            else:
                look.bend = adjoint(values, curve[:, None])[:, 0]
        return look


@dataclass(frozen=True)
class ManyClass:
    """The look for K competing outputs; arrays are (K, rows), so that reductions over classes run along memory."""

    A: Array  # (1+d, K)
    rows: Rows
    hessian: bool = False
    bend: bool = False

    def __call__(self, block: Block) -> Look:
        values = self.rows.values(block)
        z, own, p, total, t = self.posteriors(block, values)
        value = weighted(np.log(total) - own, block.weight)
        margin = many_margin(z, own, block, t)
        G = p.copy() if self.hessian or self.bend else p
        if t is None:
            place = block.target, np.arange(block.rows)
            G[place] -= 1
            if value < SMALL * (block.rows if block.weight is None else block.weight.sum()):
                G[place] = 0.0
                G[place] = -G.sum(axis=0)
                value = weighted(own_loss(-G[place], total, own), block.weight)
        else:
            G -= t
        if block.weight is not None:
            G *= block.weight.astype(G.dtype)
        look = Look(value, np.empty((values.shape[1] + 1, len(G))), margin=margin)
        look.gradient[0] = G.sum(axis=1)
        look.gradient[1:] = values.T @ G.T if hasattr(values, "toarray") else (G @ values).T
        if self.hessian or self.bend:
            pw = p if block.weight is None else p * block.weight
            look.bend = -(pw @ p.T)
            np.fill_diagonal(look.bend, 0.0)
            np.fill_diagonal(look.bend, -look.bend.sum(axis=1))  # p(1 − p) = p Σ of the others: no digits cancel
        if self.hessian:
            look.hessian = coupled(values, p, pw)
        return look

    def posteriors(self, block: Block, values: Any) -> tuple[Array, Array, Array, Array, Array | None]:
        """Scores less their maximum z (K, m); t·z (m,); p; Σ e^z; soft targets or None."""
        A = self.A
        if hasattr(values, "toarray"):
            z = np.ascontiguousarray((values @ A[1:]).T)
        else:
            z = np.matmul(A[1:].T, values.T, out=scratch("scores", (A.shape[1], len(values))))
        z += A[0][:, None]
        shift = self.rows.shift(block)
        if shift is not None:
            z += shift.T
        z -= z.max(axis=0)
        p = np.exp(z, out=scratch("posteriors", z.shape))
        total = p.sum(axis=0)
        target = np.asarray(block.target)
        if target.ndim == 1:
            own, t = z[target, np.arange(len(target))], None
        else:
            t = target.T
            own = np.einsum("km,km->m", t, z)
        p /= total
        return z, own, p, total, t


@dataclass(frozen=True)
class Moved:
    """Yᵗ w (diag p − ppᵗ) δ over a block, (1+d, K): what a shift δ of the intercepts does to the gradient."""

    look: ManyClass
    delta: Array

    def __call__(self, block: Block) -> Array:
        values = self.look.rows.values(block)
        p = self.look.posteriors(block, values)[2]
        p *= self.delta[:, None] - self.delta @ p
        if block.weight is not None:
            p *= block.weight
        return adjoint(values, p.T)


@dataclass(frozen=True)
class ClassGrams:
    """Yᵗ diag(w p_k(1−p_k)) Y for each class, (K, 1+d, 1+d) in float32: the diagonal blocks of the Hessian."""

    look: ManyClass

    def __call__(self, block: Block) -> Array:
        values = self.look.rows.values(block)
        p = self.look.posteriors(block, values)[2]
        curve = p * (1 - p)
        if block.weight is not None:
            curve *= block.weight
        D = values.shape[1] + 1
        out = np.empty((len(p), D, D), dtype=np.float32)
        for k in range(len(p)):
            out[k] = sandwich(values, curve[k], single=True)
        return out


def coupled(values: Any, p: Array, pw: Array) -> Array:
    """Σ_i w (p_k δ_kl − p_k p_l) y yᵗ as (K(1+d), K(1+d)): K(K−1)/2 sandwiches, p_k(1 − p_k) being Σ_{l≠k} p_k p_l."""
    K, D = len(p), values.shape[1] + 1
    H = np.zeros((K, D, K, D))
    for k in range(K):
        for m in range(k):
            part = sandwich(values, pw[k] * p[m])
            H[k, :, k] += part
            H[m, :, m] += part
            H[k, :, m] = -part
            H[m, :, k] = -part
    return H.reshape(K * D, K * D)


@dataclass(frozen=True)
class Along:
    """Σ w ℓ at A + s D for several steps s, from one product each with A and D."""

    A: Array
    D: Array
    steps: Array
    rows: Rows

    def __call__(self, block: Block) -> Array:
        values = self.rows.values(block)
        q = self.A.shape[1]
        both = np.asarray(values @ np.hstack([self.A[1:], self.D[1:]]))
        z, v = both[:, :q] + self.A[0], both[:, q:] + self.D[0]
        shift = self.rows.shift(block)
        if shift is not None:
            z += shift.reshape(len(z), -1)
        return np.array([losses(block, z + s * v) for s in self.steps])


def losses(block: Block, z: Array) -> float:
    """Σ w ℓ of one block's scores (m, q)."""
    target = np.asarray(block.target)
    if z.shape[1] == 1:
        z = z[:, 0]
        return log_sum(np.exp(-np.abs(z)), block.weight) + weighted(np.maximum(z, 0) - target * z, block.weight)
    z = z - z.max(axis=1, keepdims=True)
    p = np.exp(z)
    total = p.sum(axis=1)
    if target.ndim > 1:
        return weighted(np.log(total) - np.einsum("mk,mk->m", target, z), block.weight)
    place = np.arange(len(z)), target
    p[place] = 0.0
    return weighted(own_loss(p.sum(axis=1) / total, total, z[place]), block.weight)


def own_loss(others: Array, total: Array, own: Array) -> Array:
    """−ln p of the own class: from the posteriors of the others where they are few, else ln Σ e^z − z."""
    return np.where(others < 0.5, -np.log1p(-np.minimum(others, 0.5)), np.log(total) - own)


def weighted(value: Array, weight: Array | None) -> float:
    return float(value.sum() if weight is None else value @ weight)


def log_sum(tail: Array, weight: Array | None) -> float:
    """Σ w ln(1 + e) for e in [0, 1]: without weights from products, one logarithm for many factors.

    But where most e are small, so that 1 + e has lost their digits, each by itself.
    """
    if weight is not None:
        return float(np.log1p(tail) @ weight)
    if tail.sum() < SMALL * len(tail):
        return float(np.log1p(tail).sum())
    above = 1 + tail
    whole = len(above) // PRODUCT * PRODUCT
    rest = float(np.log(above[whole:]).sum())
    if not whole:
        return rest
    return rest + float(np.log(np.multiply.reduce(above[:whole].reshape(PRODUCT, -1), axis=0)).sum())


def hard_margin(block: Block, least: float) -> float:
    """The least signed score, or −inf where a target is soft and has no side."""
    target = np.asarray(block.target)
    return -np.inf if target.dtype.kind == "f" and ((target != 0) & (target != 1)).any() else least


def margin_of(block: Block, t: Array, z: Array) -> float:
    """The least score on the side of its own label; −inf where a target is soft or a row lies on the boundary."""
    signed = (2 * t - 1) * z
    if block.weight is not None:
        signed = signed[block.weight > 0]
    return hard_margin(block, float(signed.min()) if len(signed) else np.inf)


def many_margin(z: Array, own: Array, block: Block, t: Array | None) -> float:
    """The least of own score − best other score; z (K, m) has its maximum at zero."""
    if t is not None:
        return -np.inf
    live = None if block.weight is None else block.weight > 0
    least = own.min() if live is None else own.min(where=live, initial=0.0)
    # Where the own score is not the maximum the margin is negative already: the exact value is not needed.
    if least < 0:
        return float(least)
    second = np.partition(z, -2, axis=0)[-2]
    second = second if live is None else second[live]
    return float(-second.max()) if len(second) else np.inf
