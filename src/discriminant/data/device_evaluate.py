"""The body of ``data.evaluate`` for rows on a device: blocks of half a gigabyte, products by its units.

Scores and posteriors have the arithmetic's type; sums over rows are float64 beyond one block, and so are weights and
gradients.  Blocks say in which ``mode`` float32 is multiplied (``data.device_library``):

    "fast", "fine"    products on the matrix units, and in plain float32
    "anchor"          float64 throughout; the scores are kept for evaluations near to these weights
    "near"            differences from the anchor, which fast products know well enough:
                      z = z₀ + Y(A − A₀),   J = J₀ + Σ s ln(p₀_own / p_own),   ∇ = ∇₀ + Yᵗ s (p − p₀)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.criteria import Logistic
from discriminant.data.device import BLOCK_VALUES
from discriminant.data.evaluate import DIAGONAL, GRADIENT, GROUPS, HESSIAN, INTERCEPT, OUTER, PRODUCT, Evaluate
from discriminant.errors import MismatchError
from discriminant.protocols import Array, Evaluation

BATCH_ROWS = 8_192
TINY = {"float32": 1e-37, "float64": 1e-300}  # posteriors below this are read off the scores again
DOUBLE_ROWS = 65_536  # rows at a time in float64


@dataclass
class Anchor:
    """Weights at which the evaluation is known in float64, and the score of every row and class there."""

    scores: Any = None  # (n, K), float32
    A: Any = None
    loss: float = 0.0
    base: Any = None
    slope: Any = None


def evaluate(request: Evaluate, blocks: Any) -> Evaluation | None:
    """The sums over all rows, on the side where the request's weights lie; None for what only memory knows."""
    if request.offset is not None:
        raise MismatchError(
            "Known parts of the scores (offset) are taken for rows in memory, not for those on a device."
        )
    coding, need = request.coding, int(request.need)
    if coding is None or not coding.care.all() or need & (DIAGONAL | OUTER | GROUPS):
        return None
    if request.criterion.coupled:
        return None if need & HESSIAN or request.criterion.kind is None else _Softmax(request, blocks).evaluation()
    if isinstance(request.criterion, Logistic) and request.A.shape[1] == 1:
        return _two_classes(request, request.criterion, blocks)
    return None


def pieces(blocks: Any, center: Array | None, width: int = 1) -> Iterator[tuple[Any, Any, Any]]:
    """(x − c in the type of the arithmetic, class codes, weights or None), block by block."""
    rows, lib = blocks.rows, blocks.library
    dtype = rows.arithmetic
    middle = None if center is None else lib.put(center, dtype)
    for start, stop, piece in rows.pieces(max(1, BLOCK_VALUES // max(rows.shape[1], width))):
        x = rows.working(piece)
        weight = None if blocks.weight is None else lib.cast(blocks.weight[start:stop], dtype)
        yield x if middle is None else x - middle, blocks.target[start:stop], weight


def gram(blocks: Any, center: Array | None) -> Array:
    """YᵗY w / Σw, (1+d, 1+d), on the matrix units: for a preconditioner."""
    lib, d, total = blocks.library, blocks.n_features, blocks.total
    G = lib.zeros((d + 1, d + 1))
    for x, _, weight in pieces(blocks, center):
        scaled = x if weight is None else x * (weight**0.5)[:, None]
        sums = lib.total(x if weight is None else x * weight[:, None], 0) / total
        G[1:, 1:] += lib.inner(scaled, scaled, "fast") / total
        G[0, 1:] += sums
        G[1:, 0] += sums
    G[0, 0] = 1.0
    return np.asarray(lib.get(G))


def longest_row(blocks: Any, center: Array | None, scale: Array) -> float:
    """max_i ‖S (x_i − c)‖², S = diag(scale)."""
    lib = blocks.library
    size = lib.put(scale, blocks.rows.arithmetic)
    return max(float(lib.xp.max(lib.total((x * size) ** 2, 1))) for x, _, _ in pieces(blocks, center))


def losses_along(request: Evaluate, blocks: Any, steps: Array) -> Array | None:
    """Σ s ℓ of two classes at A + e V for each step e."""
    criterion, lib, values = request.criterion, blocks.library, np.zeros(len(steps))
    if not isinstance(criterion, Logistic) or request.V is None:
        return None
    both = lib.put(np.hstack([request.A, request.V]), blocks.rows.arithmetic)
    for x, codes, weight in pieces(blocks, request.center):
        z, t = lib.product(x, both[1:, :], "fine", both[0, :]), _targets(request, blocks, codes)
        for i, step in enumerate(steps.tolist()):
            loss = criterion.value_and_gradient(t, z[:, 0] + step * z[:, 1], lib.xp)[0]
            values[i] += float(lib.total(loss if weight is None else loss * weight))
    return np.asarray(values / request.totals[0])


def _targets(request: Evaluate, blocks: Any, codes: Any) -> Any:
    assert request.coding is not None
    lib = blocks.library
    return lib.take(lib.put(np.ascontiguousarray(request.coding.targets[:, 0]), blocks.rows.arithmetic), codes)


def _two_classes(request: Evaluate, criterion: Logistic, blocks: Any) -> Evaluation:
    """One output: slopes and curvatures are two columns of one product; all sums come back together."""
    lib, d, need = blocks.library, blocks.n_features, int(request.need)
    A, curved = lib.put(request.A, blocks.rows.arithmetic), bool(need & (HESSIAN | INTERCEPT))
    total: Any = 0.0
    margin = np.inf
    for x, codes, weight in pieces(blocks, request.center):
        t, z = _targets(request, blocks, codes), lib.product(x, A[1:, :], "fine", A[0, :])[:, 0]
        value, slope = criterion.value_and_gradient(t, z, lib.xp)
        curvature = criterion.curvature(t, z, lib.xp) if curved else None
        margin = min(margin, float(lib.xp.min((2 * t - 1) * z)))
        columns = [slope] if curvature is None else [slope, curvature]
        each = lib.stack([column if weight is None else column * weight for column in columns])
        parts = [lib.total(value if weight is None else value * weight), lib.total(each, 0)]
        parts.append(lib.batches(x, each, BATCH_ROWS))
        if need & HESSIAN:
            scaled = x * (each[:, 1:] ** 0.5)
            parts.append(lib.inner(scaled, scaled, blocks.mode))
        total = total + lib.join([lib.xp.reshape(part, (-1,)) for part in parts])
    sums = lib.get(total) / request.totals[0]
    m = 1 + curved
    sides = np.vstack([sums[1 : 1 + m], sums[1 + m : 1 + m + m * d].reshape(d, m)])
    found = Evaluation(float(sums[0]), sides[:, :1].copy(), margin=margin)
    found.intercept = sides[:, 1:].copy() if curved else None
    if need & HESSIAN:
        found.hessian = np.empty((1, d + 1, d + 1))
        found.hessian[0, 0], found.hessian[0, :, 0] = sides[:, 1], sides[:, 1]
        found.hessian[0, 1:, 1:] = sums[-d * d :].reshape(d, d)
    return found


class _Softmax:
    """K classes.  Gradients stay on the device where the weights lie there."""

    def __init__(self, request: Evaluate, blocks: Any) -> None:
        self.request, self.blocks, self.lib = request, blocks, blocks.library
        self.dtype, self.total, self.home = blocks.rows.arithmetic, float(request.totals[0]), type(request.A)
        self.A = self._there(request.A)

    def _there(self, values: Any) -> Any:
        return self.lib.put(values) if self.home is np.ndarray else values

    def _here(self, values: Any) -> Any:
        return self.lib.get(values) if self.home is np.ndarray else values

    def _pieces(self) -> Iterator[tuple[Any, Any, Any]]:
        return pieces(self.blocks, self.request.center, int(self.request.A.shape[1]))

    def _split(self, A: Any, dtype: str = "") -> tuple[Any, Any]:
        A = self.lib.cast(A, dtype or self.dtype)
        return A[1:, :], A[0, :]

    def evaluation(self) -> Evaluation:
        mode = self.blocks.mode
        if mode not in ("anchor", "near"):
            return self._plain(mode)
        # Matrix units give three digits of what only repairs rounding.
        if not int(self.request.need) & GRADIENT:
            return self._plain("fast")
        return self._anchor() if mode == "anchor" else self._near()

    def _found(self, loss: float, base: Any, slope: Any, margin: float = -np.inf) -> Evaluation:
        gradient = self.lib.join([self.lib.xp.reshape(base, (1, -1)), slope])
        return Evaluation(loss / self.total, self._here(gradient / self.total), margin=margin)

    def _plain(self, mode: str) -> Evaluation:
        lib, need = self.lib, int(self.request.need)
        slopes, level = self._split(self.A)
        V = None if self.request.V is None or not need & PRODUCT else self._split(self._there(self.request.V))
        value, least, total = 0.0, 1.0, [0.0] * 5
        for x, codes, weight in self._pieces():
            z = lib.product(x, slopes, mode, level)
            p = lib.posteriors(z)
            own = lib.own(p, codes)
            lowest = float(lib.xp.min(own))
            small = lowest < TINY[self.dtype]
            loss = -lib.own(lib.log_posteriors(z), codes) if small else -lib.xp.log(own)
            value, least = value + lib.total(loss if weight is None else loss * weight), min(least, lowest)
            parts: list[Any] = [0.0] * 5
            if need & INTERCEPT:
                wp = p if weight is None else p * weight[:, None]
                parts[2] = lib.diagonal(lib.total(wp, 0)) - lib.inner(p, wp, "fast")
            if V is not None:
                v = lib.product(x, V[0], "fast", V[1])
                r = p * (v - lib.xp.sum(p * v, axis=1, keepdims=True))
                r = r if weight is None else lib.scale_rows(r, weight)
                parts[3:] = lib.total(r, 0), lib.inner(x, r, "fast")
            p = lib.lower_own(p, codes, 1.0)
            p = p if weight is None else lib.scale_rows(p, weight)
            parts[:2] = lib.total(p, 0), lib.inner(x, p, mode)
            total = [a + b for a, b in zip(total, parts, strict=True)]
        base, slope, curve, *product = total
        # ln(p / (1 − p)) bounds how far the own score is above the best other one.
        margin = float(np.log(least / (1 - least))) if 0 < least < 1 else np.inf if least == 1 else -np.inf
        found = self._found(float(value), base, slope, margin)
        found.intercept = np.asarray(lib.get(curve)) / self.total if need & INTERCEPT else None
        found.product = None if V is None else self._found(0.0, *product).gradient
        return found

    def _anchor(self) -> Evaluation:
        """In float64; the scores are kept in float32 for evaluations near to it."""
        lib, xp, anchor = self.lib, self.lib.xp, self.blocks.anchor
        slopes, level = self._split(self.A, "float64")
        if anchor.scores is None:
            anchor.scores = lib.zeros((self.blocks.n_rows, int(self.A.shape[1])), "float32")
        value, base, slope, start = 0.0, 0.0, 0.0, 0
        for x, codes, weight in self._pieces():
            for i in range(0, len(x), DOUBLE_ROWS):
                part, code = lib.cast(x[i : i + DOUBLE_ROWS], "float64"), codes[i : i + DOUBLE_ROWS]
                z = lib.product(part, slopes, "fine", level)
                anchor.scores[start : start + len(part)] = z
                start += len(part)
                p = lib.posteriors(z)
                loss = -xp.log(lib.own(p, code).clamp(min=1e-300))
                p = lib.lower_own(p, code, 1.0)
                if weight is not None:
                    own = lib.cast(weight[i : i + DOUBLE_ROWS], "float64")
                    loss, p = loss * own, lib.scale_rows(p, own)
                value, base = value + lib.total(loss), base + lib.total(p, 0)
                slope = slope + lib.inner(part, p, "fine")
        anchor.A, anchor.loss, anchor.base, anchor.slope = self.A, float(value), base, slope
        return self._found(anchor.loss, base, slope)

    def _near(self) -> Evaluation:
        """What it is at the anchor and a difference: fast products err in the difference only."""
        lib, xp, anchor = self.lib, self.lib.xp, self.blocks.anchor
        slopes, level = self._split(self.A - anchor.A)
        value, base, slope, start = 0.0, anchor.base, anchor.slope, 0
        for x, codes, weight in self._pieces():
            z0 = anchor.scores[start : start + len(x)]
            start += len(x)
            p = lib.posteriors(lib.add_product(z0, x, slopes, level))
            p0 = lib.posteriors(z0)
            tiny = TINY[self.dtype]
            change = xp.log(lib.own(p0, codes).clamp(min=tiny)) - xp.log(lib.own(p, codes).clamp(min=tiny))
            p -= p0
            if weight is not None:
                change, p = change * weight, lib.scale_rows(p, weight)
            value, base = value + lib.total(change), base + lib.total(p, 0)
            slope = slope + lib.inner(x, p, "fast")
        return self._found(anchor.loss + float(value), base, slope)
