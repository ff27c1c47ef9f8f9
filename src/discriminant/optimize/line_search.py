"""A step along a direction by slopes: bracket the sign change of d/ds J(A + sD), close in by secants.

It judges by slopes first and values second: near a minimum J no longer changes in floating point while its slope
still does.  Each trial is one pass over the data.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discriminant.protocols import Array

ROUNDING = 1e-12  # relative: smaller rises of J are rounding, not ascent


class Found(NamedTuple):
    """Where the search ended: the step (0 if nothing was gained), J and ∇J there, and the passes it took."""

    step: float
    value: float
    gradient: Array
    passes: int


def line_search(
    objective: Any,
    A: Array,
    D: Array,
    value: float,
    gradient: Array,
    *,
    first: float = 1.0,
    flat: float = 0.9,
    trials: int = 30,
) -> Found:
    """A step at which |slope| ≤ flat·|slope at 0| and J has not risen (the strong Wolfe conditions, with c1 = 1e-4)."""
    start = float((gradient * D).sum())
    low, low_slope, high, high_slope = 0.0, start, np.inf, 0.0
    best = Found(0.0, value, gradient, 0)
    if not start < 0:
        return best
    step = first
    slack = ROUNDING * abs(value)
    for trial in range(1, trials + 1):
        J, G = objective.value_and_gradient(A + step * D)
        finite = bool(np.isfinite(J) and np.isfinite(G).all())
        slope = float((G * D).sum()) if finite else np.inf
        falls = finite and value + 1e-4 * step * start + slack >= J
        if falls and best.value + slack >= J:
            best = Found(step, J, G, trial)
            if abs(slope) <= flat * abs(start):
                return best
        if falls and slope < 0:
            low, low_slope = step, slope
        else:
            high, high_slope = step, slope if falls else np.inf
        step = _next(low, low_slope, high, high_slope, start)
        if np.isfinite(high) and high - low <= 1e-14 * high:
            break
    return best._replace(passes=trial)


def _next(low: float, low_slope: float, high: float, high_slope: float, start: float) -> float:
    """The secant's zero of the slope, kept well inside the bracket; without a bracket, up to ten times as far."""
    if np.isinf(high):
        change = low_slope - start
        secant = low * start / -change if low > 0 and change > 0 else np.inf
        return float(np.clip(secant, 2 * low, 10 * low))
    width = high - low
    if np.isinf(high_slope):
        return low + width / 4
    secant = low - low_slope * width / (high_slope - low_slope)
    return float(np.clip(secant, low + width / 50, high - width / 50))
