"""The body of ``data.evaluate`` for rows on a device: blocks of half a gigabyte, products by its units.

Sums over rows are float64 beyond one block, and so are weights and gradients.  An evaluation that may be coarse
multiplies float32 rows as float32, of K classes on the matrix units; the finest is float64 throughout.  Of K classes it
also keeps the scores, where there is room, as an *anchor*: later coarse evaluations are differences from it, which fast
products know well enough,

    z = z₀ + Y(A − A₀),   J = J₀ + Σ s ln(p₀_own / p_own),   ∇ = ∇₀ + Yᵗ s (p − p₀)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discriminant.criteria import Logistic
from discriminant.data.device import DeviceBlocks
from discriminant.data.device_library import Tensor
from discriminant.data.evaluate import DIAGONAL, FINEST, GRADIENT, GROUPS, HESSIAN, INTERCEPT, OUTER, PRODUCT, Evaluate
from discriminant.errors import MismatchError
from discriminant.protocols import Array, Evaluation
from discriminant.thresholds import BLOCK_VALUES

BATCH_ROWS = 8_192
TINY = {"float32": 1e-37, "float64": 1e-300}  # posteriors below this are read off the scores again
# Falls of J that rounding hides, relative to it: by matrix units, and by float32; near an anchor over √n, since
# roundings of rows average, and relative to its change since then.
NOISE, NEAR_NOISE = {"fast": 1e-5, "fine": 3e-7, "near": 1.4e-8}, 1e-6
ROOM = 0.4  # of the free memory that an anchor's scores may take


def evaluate(request: Evaluate, blocks: DeviceBlocks) -> Evaluation | None:
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


def _arithmetic(request: Evaluate, blocks: DeviceBlocks) -> str:
    return "float64" if request.accuracy <= FINEST else str(blocks.rows.arithmetic)


def pieces(
    blocks: DeviceBlocks, center: Array | None, dtype: str, width: int = 1
) -> Iterator[tuple[Tensor, Tensor, Tensor | None]]:
    """(x − c, class codes, weights or None), block by block."""
    rows, lib = blocks.rows, blocks.library
    middle = None if center is None else lib.put(center, dtype)
    most = BLOCK_VALUES // max(rows.shape[1], width) // (2 if dtype == "float64" else 1)
    for start, stop, piece in rows.pieces(max(1, most)):
        x = piece if rows.kind == dtype else lib.cast(piece, dtype)
        weight = None if blocks.weight is None else lib.cast(blocks.weight[start:stop], dtype)
        yield x if middle is None else x - middle, blocks.target[start:stop], weight


def gram(blocks: DeviceBlocks, center: Array | None) -> Array:
    """YᵗY w / Σw, (1+d, 1+d), on the matrix units: for a preconditioner."""
    lib, d, total = blocks.library, blocks.n_features, blocks.total
    G = lib.zeros((d + 1, d + 1))
    for x, _, weight in pieces(blocks, center, blocks.rows.arithmetic):
        scaled = x if weight is None else x * (weight**0.5)[:, None]
        sums = lib.total(x if weight is None else x * weight[:, None], 0) / total
        G[1:, 1:] += lib.inner(scaled, scaled, "fast") / total
        G[0, 1:] += sums
        G[1:, 0] += sums
    G[0, 0] = 1.0
    return np.asarray(lib.get(G))


def longest_row(blocks: DeviceBlocks, center: Array | None, scale: Array) -> float:
    """max_i ‖S (x_i − c_i)‖², S = diag(scale), rounded up."""
    lib, dtype = blocks.library, blocks.rows.arithmetic
    size = lib.put(scale, dtype)
    return 1.0001 * max(float(lib.xp.max(lib.total((x * size) ** 2, 1))) for x, _, _ in pieces(blocks, center, dtype))


def least_curvature(request: Evaluate, blocks: DeviceBlocks) -> float | None:
    """min_i s_i ℓ″_i of two classes over the rows that weigh something."""
    criterion, lib, least = request.criterion, blocks.library, np.inf
    if not isinstance(criterion, Logistic) or request.A.shape[1] > 1:
        return None
    A = lib.put(request.A, "float64")
    for x, _, weight in pieces(blocks, request.center, "float64"):
        curvature = criterion.curvature(x[:, 0], lib.product(x, A[1:, :], "fine", A[0, :])[:, 0], lib.xp)
        if weight is not None:
            curvature = lib.xp.where(weight > 0, curvature * weight, curvature + np.inf)
        least = min(least, float(lib.xp.min(curvature)))
    return float(least / request.totals[0])


def losses_along(request: Evaluate, blocks: DeviceBlocks, steps: Array) -> Array | None:
    """Σ s ℓ of two classes at A + e V for each step e."""
    criterion, lib, values = request.criterion, blocks.library, np.zeros(len(steps))
    if not isinstance(criterion, Logistic) or request.A.shape[1] > 1:
        return None
    dtype = _arithmetic(request, blocks)
    V = np.zeros_like(request.A) if request.V is None else request.V
    both = lib.put(np.hstack([request.A, V]), dtype)
    for x, codes, weight in pieces(blocks, request.center, dtype):
        z, t = lib.product(x, both[1:, :], "fine", both[0, :]), _targets(request, blocks, codes, dtype)
        for i, step in enumerate(steps.tolist()):
            loss = criterion.value_and_gradient(t, z[:, 0] + step * z[:, 1], lib.xp)[0]
            values[i] += float(lib.total(loss if weight is None else loss * weight))
    return np.asarray(values / request.totals[0])


def _targets(request: Evaluate, blocks: DeviceBlocks, codes: Tensor, dtype: str) -> Tensor:
    assert request.coding is not None
    lib = blocks.library
    return lib.take(lib.put(np.ascontiguousarray(request.coding.targets[:, 0]), dtype), codes)


def _two_classes(request: Evaluate, criterion: Logistic, blocks: DeviceBlocks) -> Evaluation:
    """One output: slopes and curvatures are two columns of one product; all sums come back together."""
    lib, d, need, dtype = blocks.library, blocks.n_features, int(request.need), _arithmetic(request, blocks)
    A, curved = lib.put(request.A, dtype), bool(need & (HESSIAN | INTERCEPT))
    total: Tensor = 0.0
    margin = np.inf
    for x, codes, weight in pieces(blocks, request.center, dtype):
        t, z = _targets(request, blocks, codes, dtype), lib.product(x, A[1:, :], "fine", A[0, :])[:, 0]
        value, slope = criterion.value_and_gradient(t, z, lib.xp)
        curvature = criterion.curvature(t, z, lib.xp) if curved else None
        margin = min(margin, float(lib.xp.min((2 * t - 1) * z)))
        columns = [slope] if curvature is None else [slope, curvature]
        each = lib.stack([column if weight is None else column * weight for column in columns])
        parts = [lib.total(value if weight is None else value * weight), lib.total(each, 0)]
        parts.append(lib.batches(x, each, BATCH_ROWS))
        if need & HESSIAN:
            scaled = x * (each[:, 1:] ** 0.5)
            parts.append(lib.inner(scaled, scaled, "fine"))
        total = total + lib.join([lib.xp.reshape(part, (-1,)) for part in parts])
    sums = lib.get(total) / request.totals[0]
    m = 1 + curved
    sides = np.vstack([sums[1 : 1 + m], sums[1 + m : 1 + m + m * d].reshape(d, m)])
    found = Evaluation(float(sums[0]), sides[:, :1].copy(), margin=margin)
    found.noise = 0.0 if dtype == "float64" else NOISE["fine"] * abs(found.value)
    found.intercept = sides[:, 1:].copy() if curved else None
    if need & HESSIAN:
        found.hessian = np.empty((1, d + 1, d + 1))
        found.hessian[0, 0], found.hessian[0, :, 0] = sides[:, 1], sides[:, 1]
        found.hessian[0, 1:, 1:] = sums[-d * d :].reshape(d, d)
    return found


class _Softmax:
    """K classes.  Gradients stay on the device where the weights lie there."""

    def __init__(self, request: Evaluate, blocks: DeviceBlocks) -> None:
        self.request, self.blocks, self.lib = request, blocks, blocks.library
        self.total, self.home, self.dtype = float(request.totals[0]), type(request.A), _arithmetic(request, blocks)
        self.A, self.need = self._there(request.A), int(request.need)

    def _there(self, values: Tensor) -> Tensor:
        return self.lib.put(values) if self.home is np.ndarray else values

    def _here(self, values: Tensor) -> Tensor:
        return self.lib.get(values) if self.home is np.ndarray else values

    def _pieces(self) -> Iterator[tuple[slice, Tensor, Tensor, Tensor]]:
        start = 0
        for x, codes, weight in pieces(self.blocks, self.request.center, self.dtype, int(self.A.shape[1])):
            yield slice(start, start + x.shape[0]), x, codes, weight
            start += x.shape[0]

    def _split(self, A: Tensor) -> tuple[Tensor, Tensor]:
        A = self.lib.cast(A, self.dtype)
        return A[1:, :], A[0, :]

    def evaluation(self) -> Evaluation:
        near = self.dtype == "float32" and self.blocks.anchor.A is not None and self.need & GRADIENT
        return self._near() if near else self._whole()

    def _found(self, loss: float, base: Tensor, slope: Tensor, margin: float = -np.inf) -> Evaluation:
        gradient = self.lib.join([self.lib.xp.reshape(base, (1, -1)), slope])
        return Evaluation(loss / self.total, self._here(gradient / self.total), margin=margin)

    def _whole(self) -> Evaluation:
        """From scores that are formed here, or kept from an evaluation at the same weights."""
        lib, xp, need, anchor, exact = self.lib, self.lib.xp, self.need, self.blocks.anchor, self.dtype == "float64"
        mode = "fast" if not exact and lib.fast_double and self._room() else "fine"
        slopes, level = self._split(self.A)
        V = None if self.request.V is None or not need & PRODUCT else self._split(self._there(self.request.V))
        flat = V is not None and not bool(xp.any(V[0] != 0))  # the same for every row
        known = exact and anchor.A is not None and bool(xp.all(anchor.A == self.A))
        keep = exact and not known and bool(need & GRADIENT) and self._room()
        if keep and anchor.scores is None:
            anchor.scores = lib.zeros((self.blocks.n_rows, int(self.A.shape[1])), "float32")
        value, least, total = 0.0, 1.0, [lib.zeros(self.A.shape)[0, :], lib.zeros(slopes.shape), 0.0, 0.0, 0.0]
        for rows, x, codes, weight in self._pieces():
            z = lib.cast(anchor.scores[rows, :], self.dtype) if known else lib.product(x, slopes, mode, level)
            if keep:
                anchor.scores[rows, :] = lib.cast(z, "float32")
            p = lib.posteriors(z)
            own = lib.own(p, codes)
            lowest = float(xp.min(own))
            small = lowest < TINY[self.dtype]
            loss = -lib.own(lib.log_posteriors(z), codes) if small else -xp.log(own)
            value, least = value + lib.total(loss if weight is None else loss * weight), min(least, lowest)
            if need & INTERCEPT:
                wp = p if weight is None else p * weight[:, None]
                total[2] = total[2] + (lib.diagonal(lib.total(wp, 0)) - lib.inner(p, wp, mode))
            if V is not None:
                v = V[1] if flat else lib.product(x, V[0], mode, V[1])
                r = p * (v - xp.sum(p * v, axis=1, keepdims=True))
                r = r if weight is None else lib.scale_rows(r, weight)
                total[3:] = total[3] + lib.total(r, 0), total[4] + lib.inner(x, r, mode)
            if need & GRADIENT:
                p = lib.lower_own(p, codes)
                p = p if weight is None else lib.scale_rows(p, weight)
                total[:2] = total[0] + lib.total(p, 0), total[1] + lib.inner(x, p, mode)
        base, slope, curve, *product = total
        # ln(p / (1 − p)) bounds how far the own score is above the best other one.
        margin = float(np.log(least / (1 - least))) if 0 < least < 1 else np.inf if least == 1 else -np.inf
        if keep:
            anchor.A, anchor.loss, anchor.base, anchor.slope = self.A, float(value), base, slope
        found = self._found(float(value), base, slope, margin)
        found.noise = 0.0 if exact else NOISE[mode] * abs(found.value)
        found.intercept = np.asarray(lib.get(curve)) / self.total if need & INTERCEPT else None
        found.product = None if V is None else self._found(0.0, *product).gradient
        return found

    def _room(self) -> bool:
        """Whether steps go on from here by float32, and the device has room for a score of every row and class."""
        blocks, wanted = self.blocks, 4 * self.blocks.n_rows * int(self.A.shape[1])
        useful = blocks.vectors and blocks.rows.arithmetic == "float32"
        return useful and (blocks.anchor.scores is not None or wanted < ROOM * self.lib.free_memory())

    def _near(self) -> Evaluation:
        """What it is at the anchor and a difference: fast products err in the difference only."""
        lib, xp, anchor, tiny = self.lib, self.lib.xp, self.blocks.anchor, TINY["float32"]
        slopes, level = self._split(self.A - anchor.A)
        value, base, slope = 0.0, anchor.base, anchor.slope
        for rows, x, codes, weight in self._pieces():
            z0 = anchor.scores[rows, :]
            p, p0 = lib.posteriors(lib.add_product(z0, x, slopes, level)), lib.posteriors(z0)
            own0, own = (xp.clip(lib.own(each, codes), tiny, None) for each in (p0, p))
            change = xp.log(own0) - xp.log(own)
            p -= p0
            if weight is not None:
                change, p = change * weight, lib.scale_rows(p, weight)
            value, base = value + lib.total(change), base + lib.total(p, 0)
            slope = slope + lib.inner(x, p, "fast")
        found = self._found(anchor.loss + float(value), base, slope)
        found.noise = (
            NOISE["near"] / self.blocks.n_rows**0.5 * abs(found.value) + NEAR_NOISE * abs(float(value)) / self.total
        )
        return found
