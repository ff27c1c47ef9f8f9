"""Evaluations over rows on a device: value, gradient and what a certificate needs, blocks of half a gigabyte at a time.

    K classes:    z = a₀ + (x − c) A,   p = softmax(z),   ℓ = −ln p_own,    ∇ = Yᵗ w(p − t)
    two classes:  ℓ = ln(1+e^z) − tz,   ∇ = Yᵗ w(σ − t),  ∇² = Yᵗ diag(w σ(1−σ)) Y

Weights and gradients are float64; scores and posteriors have the arithmetic's type; sums over rows are float64 beyond
one block.  ``mode`` is that of the library's products: "fast" on the way, "fine" at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from discriminant.data.device import BLOCK_VALUES
from discriminant.optimize.logistic import LogisticProblem
from discriminant.protocols import Array

BATCH_ROWS = 8_192
TINY = {"float32": 1e-37, "float64": 1e-300}  # posteriors below this are read off the scores again
DOUBLE_ROWS = 65_536  # rows at a time in float64


@dataclass
class DeviceEvaluation:
    """Σ over rows, normalised and with the ridge; arrays on the device, (1+d, q)."""

    value: float
    gradient: Any
    least: float  # of the posteriors of the rows' own classes
    intercept: Any = None  # K classes: Σ w (p_k δ_kl − p_k p_l); two classes: Yᵗ w σ'
    hessian: Any = None  # two classes: (1+d, 1+d)


class DeviceProblem:
    """The problem's rows on their device."""

    def __init__(self, problem: LogisticProblem, center: Array | None) -> None:
        self.problem = problem
        self.blocks = cast(Any, problem.blocks)
        self.lib, self.rows = self.blocks.library, self.blocks.rows
        self.dtype = self.rows.arithmetic
        self.q, self.d = problem.n_outputs, problem.n_features
        self.center = None if center is None else self.lib.put(center, self.dtype)
        self.step = max(1, BLOCK_VALUES // max(self.d, self.q))
        self.damping = self.lib.put(np.concatenate([[0.0], np.full(self.d, problem.ridge)])[:, None])
        self.passes = 0.0
        self._scores: Any = None  # (n, K) at the anchor

    @cached_property
    def total(self) -> float:
        return self.problem.total

    def pieces(self) -> Iterator[tuple[Any, Any, Any]]:
        """(rows in the type of the arithmetic, class codes, weights or None)."""
        for start, stop, piece in self.rows.pieces(self.step):
            x = self.rows.working(piece)
            own = None if self.blocks.weight is None else self.blocks.weight[start:stop]
            yield (
                x if self.center is None else x - self.center,
                self.blocks.target[start:stop],
                None if own is None else self.lib.cast(own, self.dtype),
            )

    def _weights(self, A: Any, dtype: str = "") -> tuple[Any, Any]:
        A = self.lib.cast(A, dtype or self.dtype)
        return A[1:, :], A[0, :]

    def evaluate(self, A: Any, mode: str, *, intercept: bool = False, hessian: bool = False) -> DeviceEvaluation:
        """J and ∇J at A (1+d, q), float64 on the device."""
        self.passes += 1
        add = self._two if self.q == 1 else self._many
        parts: list[Any] = []
        slopes, level = self._weights(A)
        for x, codes, weight in self.pieces():
            part = add(x, codes, weight, slopes, level, mode, intercept, hessian)
            parts = list(part) if not parts else [_sum(a, b) for a, b in zip(parts, part, strict=True)]
        value, least, base, slope, curve, square = parts
        found = self._finish(A, float(value) / self.total, base, slope, float(least.value))
        if curve is not None:
            found.intercept = curve / self.total
        if square is not None:
            found.hessian = self._framed(square, curve)
        return found

    def _finish(self, A: Any, loss: float, base: Any, slope: Any, least: float) -> DeviceEvaluation:
        """Sums over rows → J and ∇J."""
        gradient = self.lib.join([base.reshape((1, -1)) if self.lib.name == "torch" else base[None, :], slope])
        gradient = gradient / self.total + self.damping * A
        if not self.problem.intercept:
            gradient[0, :] = 0.0
        ridge = 0.5 * float(self.lib.dot(self.damping * A, A))
        return DeviceEvaluation(loss + ridge, gradient, least)

    def _many(
        self, x: Any, codes: Any, weight: Any, slopes: Any, level: Any, mode: str, intercept: bool, hessian: bool
    ) -> tuple[Any, ...]:
        lib = self.lib
        z = lib.product(x, slopes, mode, level)
        p = lib.posteriors(z)
        own = lib.own(p, codes)
        lost = self._lost(z, own, codes)
        loss = -lib.xp.log(own) if lost is None else lost
        value = lib.total(loss if weight is None else loss * weight)
        least = Least(float(own.min()) if self.problem.ridge == 0 else 0.0)
        curve = None
        if intercept:
            wp = p if weight is None else p * weight[:, None]
            # matrix units give three digits of it: enough for a shift that only repairs rounding
            curve = -lib.inner(p, wp, "fast")
            curve = curve + lib.diagonal(lib.total(wp, 0))
        p = lib.lower_own(p, codes, 1.0)
        p = p if weight is None else lib.scale_rows(p, weight)
        return value, least, lib.total(p, 0), lib.inner(x, p, mode), curve, None

    # Near a point whose evaluation is known to the last digits

    def can_anchor(self) -> bool:
        """Whether the device has room for a score of every row and class, and multiplies float64 fast."""
        lib = self.lib
        wanted = 4 * self.problem.n_rows * self.q
        return bool(self.q > 1 and self.dtype == "float32" and lib.fast_double and wanted < 0.4 * lib.free_memory())

    def anchor(self, A: Any) -> DeviceEvaluation:
        """The evaluation at A in float64; its scores are kept in float32 for evaluations near to it."""
        lib, xp = self.lib, self.lib.xp
        self.passes += 1
        slopes, level = self._weights(A, "float64")
        if self._scores is None:
            self._scores = lib.zeros((self.problem.n_rows, self.q), "float32")
        value, base, slope, start = 0.0, 0.0, 0.0, 0
        for x, codes, weight in self.pieces():
            for i in range(0, len(x), DOUBLE_ROWS):
                part, code = lib.cast(x[i : i + DOUBLE_ROWS], "float64"), codes[i : i + DOUBLE_ROWS]
                z = lib.product(part, slopes, "fine", level)
                self._scores[start : start + len(part)] = z
                start += len(part)
                p = lib.posteriors(z)
                loss = -xp.log(lib.own(p, code).clamp(min=1e-300))
                p = lib.lower_own(p, code, 1.0)
                if weight is not None:
                    own = lib.cast(weight[i : i + DOUBLE_ROWS], "float64")
                    loss, p = loss * own, lib.scale_rows(p, own)
                value, base = value + lib.total(loss), base + lib.total(p, 0)
                slope = slope + lib.inner(part, p, "fine")
        self._loss, self._base, self._slope = float(value) / self.total, base, slope
        self._point = A
        return self._finish(A, self._loss, base, slope, 0.0)

    def near(self, A: Any) -> DeviceEvaluation:
        """J and ∇J at A as what they are at the anchor and a difference: fast products err in the difference only.

        z = z₀ + Y(A − A₀),     J = J₀ + Σ w ln(p₀_own / p_own),     ∇ = ∇₀ + Yᵗ w(p − p₀)
        """
        lib, xp = self.lib, self.lib.xp
        self.passes += 1
        slopes, level = self._weights(A - self._point)
        value, base, slope, start = 0.0, 0.0, 0.0, 0
        for x, codes, weight in self.pieces():
            z0 = self._scores[start : start + len(x)]
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
        loss = self._loss + float(value) / self.total
        return self._finish(A, loss, self._base + base, self._slope + slope, 0.0)

    def _lost(self, z: Any, own: Any, codes: Any) -> Any:
        """Losses by way of the scores, where some posterior is too small to take the logarithm of; else None."""
        lib = self.lib
        if float(lib.xp.min(own)) >= TINY[self.dtype]:
            return None
        return -lib.own(lib.log_posteriors(z), codes)

    def _two(
        self, x: Any, codes: Any, weight: Any, slopes: Any, level: Any, mode: str, intercept: bool, hessian: bool
    ) -> tuple[Any, ...]:
        lib, xp = self.lib, self.lib.xp
        z = lib.product(x, slopes, "fine", level)[:, 0]
        t = lib.cast(codes, self.dtype)
        signed = z - 2 * (t * z)  # −z for the rows of classes_[1]
        tail = xp.exp(-xp.abs(z))
        loss = lib.cast(xp.log1p(tail), "float64") + lib.cast(xp.where(signed > 0, signed, 0 * signed), "float64")
        small = tail / (1 + tail)
        slope = xp.where(z >= 0, 1 - small, small) - t
        exact = xp.where(signed > 0, slope, small * (1 - 2 * t))  # on the right side 1 − σ is small and known exactly
        value = lib.total(loss if weight is None else loss * weight)
        least = Least(-float(signed.max()) if self.problem.ridge == 0 else 0.0)
        weighted = exact if weight is None else exact * weight
        curve = square = None
        if intercept or hessian:
            c = small * (1 - small)
            c = c if weight is None else c * weight
            down = lib.batches(x, c[:, None], BATCH_ROWS)
            top = lib.total(c)
            curve = lib.join([top.reshape(1, 1) if lib.name == "torch" else lib.put(np.full((1, 1), float(top))), down])
            if hessian:
                scaled = x * (c**0.5)[:, None]
                square = lib.inner(scaled, scaled, mode)
        return (
            value,
            least,
            lib.total(weighted[:, None], 0),
            lib.batches(x, weighted[:, None], BATCH_ROWS),
            curve,
            square,
        )

    def _framed(self, square: Any, curve: Any) -> Any:
        """∇²J of two classes: the Gram matrix with the intercept's row and column."""
        lib = self.lib
        H = lib.zeros((self.d + 1, self.d + 1))
        H[1:, 1:] = square / self.total
        H[:, 0] = curve[:, 0] / self.total
        H[0, :] = curve[:, 0] / self.total
        return H + lib.diagonal(self.damping[:, 0])

    def gram(self) -> Any:
        """YᵗY w / Σw, (1+d, 1+d), on the matrix units: for a preconditioner."""
        lib = self.lib
        self.passes += 1
        total = self.total
        G = lib.zeros((self.d + 1, self.d + 1))
        for x, _, weight in self.pieces():
            scaled = x if weight is None else x * (weight**0.5)[:, None]
            sums = lib.total(x if weight is None else x * weight[:, None], 0) / total
            G[1:, 1:] += lib.inner(scaled, scaled, "fast") / total
            G[0, 1:] += sums
            G[1:, 0] += sums
        G[0, 0] = 1.0
        return G

    def moved(self, A: Any, delta: Any) -> Any:
        """Xᵗ w (diag p − ppᵗ) δ / Σw, (d, K): what a shift δ of the intercepts does to the gradient."""
        lib = self.lib
        self.passes += 1
        slopes, level = self._weights(A)
        delta = lib.cast(delta, self.dtype)
        result = lib.zeros((self.d, self.q))
        for x, _, weight in self.pieces():
            p = lib.posteriors(lib.product(x, slopes, "fast", level))
            mean = lib.product(p, delta[:, None], "fine")
            p = p * (delta[None, :] - mean)
            p = p if weight is None else lib.scale_rows(p, weight)
            result = result + lib.inner(x, p, "fast")
        return result / self.total

    def longest(self, scale: Any) -> float:
        """max_i ‖S y_i‖² over the rows, S = diag(scale) without the intercept's entry."""
        lib = self.lib
        self.passes += 1
        scale = lib.cast(scale, self.dtype)
        return max(float(lib.xp.max(lib.total((x * scale) ** 2, 1))) for x, _, _ in self.pieces())


@dataclass
class Least:
    """A number that is joined by the minimum."""

    value: float

    def __add__(self, other: Least) -> Least:
        return Least(min(self.value, other.value))


def _sum(first: Any, second: Any) -> Any:
    return None if first is None else first + second
