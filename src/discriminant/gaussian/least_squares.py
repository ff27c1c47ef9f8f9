"""Least squares on class targets, in closed form from class moments; every target at once, every deletion too.

With targets t = b_n T_k for row n of class k (margins b_n, 1 unless given) the normal equations about the mean m are

    (S_T + αI) w = Σ_k β_k (m'_k − m) T_kᵗ,      w0 = t̄ − w·m,      t̄ = Σ_k (β_k/N) T_k,

where β_k and m'_k are the weight and the mean of class k with its rows weighted by their margins.  S_T + αI, with
S_T = S_W + S_B, is whitened like a covariance, to the accuracy of a QR decomposition, so that no system is left to
solve.  Without a penalty and with columns that depend on each other the answer is the pseudo-inverse's, a = Y†b with
Y = [1, X]: of all solutions the one with the smallest w0² + ‖w‖² in the units of X.

The leverage of a row is h = y·(YᵗY + αI₀)⁻¹y = (1 + ‖v‖²)/N with v = Wᵗ(x − m); its output when it is left out is
(z − h t)/(1 − h).  Where h = 1 the row alone spans a direction, and without it the pseudo-inverse has nothing there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discriminant.data import ArrayBlocks, make_blocks
from discriminant.data.rows import Rows
from discriminant.gaussian.moments import ClassMoments, class_moments, mapped_moments
from discriminant.gaussian.whiten import EPS, Again, Whitened, whiten_moments
from discriminant.protocols import Array

ALONE = 1e-10  # 1 − h below this: the row alone spans its direction
ROUNDING = 1e-11  # of ∇J by rounding in the Gram matrix: ε times the variance inflation factor


@dataclass(frozen=True)
class MarginMoments:
    """What margins b_n of rows add to the class moments; mergeable like them."""

    moments: ClassMoments  # of the same rows, weighted by their margins
    squares: Array  # (K,) Σ w b²

    @classmethod
    def of_ones(cls, moments: ClassMoments) -> MarginMoments:
        """The same for rows whose margins are all 1."""
        return cls(replace(moments, scatter=moments.squares(), diagonal=True), moments.weight)

    @classmethod
    def of_rows(cls, rows: Rows, codes: Array, n_classes: int, margin: Array, weight: Array | None) -> MarginMoments:
        """One more pass over the rows."""
        scaled = margin if weight is None else margin * weight
        moments = class_moments(make_blocks(rows, codes, scaled), n_classes, diagonal=True)
        return cls(moments, np.bincount(codes, scaled * margin, minlength=n_classes))

    def merge(self, other: MarginMoments) -> MarginMoments:
        return MarginMoments(self.moments.merge(other.moments), self.squares + other.squares)

    def moved(self, plain: ClassMoments) -> Array:
        """m'_k − m_k (K, d): how far the margins move each class's mean."""
        own = self.moments
        return np.asarray((own.origin - plain.origin) + (own.unit * own.means - plain.unit * plain.means))


@dataclass(frozen=True)
class NullSpace:
    """The weights that are zero on every row: [−n·m; n] for the directions n along which the columns do not vary."""

    slopes: Array  # (d, p) the directions n
    mean: Array  # (d,) m, relative to the origin
    origin: Array  # (d,)

    @cached_property
    def basis(self) -> tuple[Array, Array]:
        """(Q, R) of [−n·m; n]."""
        level = -(self.origin + self.mean) @ self.slopes
        Q, R = np.linalg.qr(np.vstack([level, self.slopes]))
        return Q, R

    def __bool__(self) -> bool:
        return bool(self.slopes.shape[1])

    def take_off(self, A: Array) -> Array:
        """The part of A (1 + d, q; intercepts at the origin in row 0) that is orthogonal to the null space at x = 0."""
        if not self:
            return A
        Q, R = self.basis
        plain = np.vstack([A[:1] - self.origin @ A[1:], A[1:]])
        excess = np.linalg.solve(R, Q.T @ plain)
        # Intercepts are moved at the origin, not at zero: at large offsets the difference of large terms never forms.
        return np.vstack([A[0] + (self.mean @ self.slopes) @ excess, A[1:] - self.slopes @ excess])


@dataclass(frozen=True)
class LeastSquares:
    """The solution for any targets T (K, q) of the classes that take part."""

    whitened: Whitened  # of (S_T + αI)/N
    total: float  # N
    centre: Array  # (r,) the mean in whitened coordinates
    loads: Array  # (K, r): class k's pull on the whitened weights for a target of one; 0 where it takes no part
    shares: Array  # (K,) β_k/N
    energy: Array  # (K,) Σ_{n∈k} w b²/N
    gradient: Array  # (r, K): what rounding left of ∇J for targets of one, in whitened coordinates
    null: NullSpace  # empty with a penalty
    penalised: bool

    @property
    def rank(self) -> int:
        return self.whitened.rank

    @property
    def passes(self) -> float:
        return float(self.whitened.passes)

    @property
    def condition(self) -> float:
        return self.whitened.condition

    @cached_property
    def slopes(self) -> Array:
        """(d, K): the weights for targets of one."""
        return np.asarray(self.whitened.matrix @ self.loads.T)

    def weights(self, targets: Array) -> Array:
        """A (1 + d, q), intercepts at the whitening's origin in row 0."""
        pull = self.loads.T @ targets
        A = np.vstack([self.shares @ targets - self.centre @ pull, self.slopes @ targets])
        return self.null.take_off(A)

    def optimality(self, targets: Array) -> tuple[float, float]:
        """(J, ‖∇J‖ in whitened coordinates) with J = Σw ½‖z−t‖²/N + α/2N ‖w‖²; J − min J = ½‖∇J‖²."""
        pull, mean = self.loads.T @ targets, self.shares @ targets
        spread = self.energy @ np.einsum("kq,kq->k", targets, targets) - mean @ mean
        return max(0.0, float(spread - (pull**2).sum())) / 2, float(np.linalg.norm(self.gradient @ targets))

    def leverages(self, values: Array) -> Array:
        """h (n,) of rows: how much each would count for its own output, for a weight of one."""
        v = self._centred(values)
        return np.asarray((1.0 + np.einsum("ij,ij->i", v, v)) / self.total)

    def deleted(self, values: Array, codes: Array, weight: Array, margin: Array) -> Array:
        """(n, K): each row's outputs, for targets of one, of the solution without it; times T they are its outputs.

        Rows with weight 0 took no part.
        """
        v = self._centred(values)
        leverage = weight * (1.0 + np.einsum("ij,ij->i", v, v)) / self.total
        outputs = v @ self.loads.T + self.shares
        slack = 1.0 - leverage
        alone = np.flatnonzero((slack < ALONE) & (not self.penalised))
        lonely = outputs[alone] - self._spanned(v[alone], leverage[alone] / weight[alone])
        outputs[np.arange(len(v)), codes] -= leverage * margin
        outputs /= np.where(slack < ALONE, 1.0, slack)[:, None]
        outputs[alone] = lonely
        return outputs

    def _centred(self, values: Array) -> Array:
        return np.asarray((values - self.whitened.origin) @ self.whitened.matrix - self.centre)

    def _spanned(self, v: Array, leverage: Array) -> Array:
        """(n, K): what the solution's part along g = (YᵗY)†y gives each row y that alone spans that direction."""
        if not len(v):
            return np.zeros((0, len(self.shares)))
        g = np.vstack([1.0 - v @ self.centre, self.whitened.matrix @ v.T])
        pairs = [self.null.take_off(g), self.weights(np.eye(len(self.shares)))]
        g, A = (np.vstack([a[:1] - self.null.origin @ a[1:], a[1:]]) for a in pairs)
        share = (g.T @ A) / np.einsum("ij,ij->j", g, g)[:, None]
        return np.asarray(share * (leverage * self.total)[:, None])


def least_squares(
    moments: ClassMoments,
    *,
    alpha: float = 0.0,
    blocks: ArrayBlocks | None = None,
    margins: MarginMoments | None = None,
    members: Array | None = None,
) -> LeastSquares:
    """Solve for all targets at once.

    ``alpha``: the penalty α‖w‖² beside Σ w (z − t)².  ``blocks``: the rows, read again where the Gram matrix alone does
    not keep the digits.  ``members`` (K,) of bool: the classes that take part; needs moments by class unless it is all
    of them.
    """
    margins = MarginMoments.of_ones(moments) if margins is None else margins
    if alpha > 0:  # in units below one the penalty would overflow; above one it may vanish beside the scatter
        moments = moments._seen_from(moments.origin, np.maximum(moments.unit, 1.0))
    K, unit = moments.n_classes, moments.unit
    sub = np.arange(K) if members is None else np.flatnonzero(members)
    weight, means = moments.weight[sub], moments.means[sub]
    N = float(weight.sum())
    within = moments.pooled().scatter if len(sub) == K else moments.scatter[sub].sum(axis=0)
    scatter = within + _between(weight, means) + np.diag(alpha / unit / unit)
    total = replace(moments, weight=weight, count=moments.count[sub], means=means, scatter=scatter)
    again = None if blocks is None else _reread(blocks, moments, sub, alpha)
    whitened = whiten_moments(total, N, again=again)
    centre, mean = weight @ whitened.means / N, weight @ means / N
    moved = margins.moved(moments)[sub]  # m'_k − m_k, in the units of X
    loads, shares, energy = np.zeros((K, whitened.rank)), np.zeros(K), np.zeros(K)
    shares[sub], energy[sub] = margins.moments.weight[sub] / N, margins.squares[sub] / N
    loads[sub] = shares[sub, None] * (whitened.means + moved @ whitened.matrix - centre)
    W, slopes = whitened.matrix * unit[:, None], whitened.matrix @ loads.T
    B = slopes * unit[:, None]
    if again is None or EPS * whitened.inflation.max(initial=0.0) < ROUNDING:
        pulls = shares[sub, None] * (means - mean + moved / unit)
        gradient = W.T @ ((scatter / N) @ B)
        gradient[:, sub] -= W.T @ pulls.T
    else:  # the scatter's own rounding, times W on both sides, would hide what is left: it is read off the rows
        second, seen = again(np.hstack([W, B]))
        seen, gradient = seen[:, : whitened.rank], second[: whitened.rank, whitened.rank :]
        gradient[:, sub] -= (shares[sub, None] * (seen - weight @ seen / N + moved @ whitened.matrix)).T
        whitened = replace(whitened, passes=whitened.passes + 1)
    null = NullSpace(_flat_directions(whitened, empty=alpha > 0), unit * mean, moments.origin)
    return LeastSquares(whitened, N, centre, loads, shares, energy, gradient, null, alpha > 0)


def _between(weight: Array, means: Array) -> Array:
    centred = means - weight @ means / weight.sum()
    return np.asarray((centred * weight[:, None]).T @ centred)


def _reread(blocks: ArrayBlocks, moments: ClassMoments, sub: Array, alpha: float) -> Again:
    """The whitening's second pass over the rows: Wᵗ(S_T + αI)W / N and the class means in those coordinates."""
    weight = moments.weight[sub]

    def again(W: Array) -> tuple[Array, Array]:
        if len(sub) == moments.n_classes:
            within, means = mapped_moments(blocks, moments, W)
        else:
            parts = [mapped_moments(blocks, moments, W, only=int(k)) for k in sub]
            within = np.sum([scatter for scatter, _ in parts], axis=0)
            means = np.stack([found[k] for k, (_, found) in zip(sub, parts, strict=True)])
        second = within + _between(weight, means)
        if alpha > 0:
            second += alpha * ((W / moments.unit[:, None]).T @ (W / moments.unit[:, None]))
        return second / weight.sum(), means

    return again


def _flat_directions(whitened: Whitened, *, empty: bool) -> Array:
    """(d, p) directions of unit length, in the units of X, along which the rows do not vary."""
    d = len(whitened.deviation)
    if empty or whitened.full:
        return np.zeros((d, 0))
    live = np.where(whitened.deviation > 0, whitened.deviation, 1.0)
    slopes = np.hstack([whitened.null / live[:, None], np.eye(d)[:, whitened.constant]])
    return np.asarray(slopes / np.linalg.norm(slopes, axis=0))
