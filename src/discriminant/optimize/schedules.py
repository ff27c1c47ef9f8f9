"""Step sizes η(k), k = 1, 2, …, and what is known of their sums.

Two sets of conditions decide whether a procedure that takes small steps for ever arrives:

    perceptron (Duda, Hart and Stork 5.5.2)    η ≥ 0,  Σ η = ∞,  Σ η² / (Σ η)² → 0
    stochastic approximation (LMS)             η ≥ 0,  Σ η = ∞,  Σ η² < ∞

For the powers η₁ k^−p they are known: Σ η = ∞ iff p ≤ 1; Σ η² < ∞ iff p > ½; the ratio vanishes iff p ≤ 1.
For a function of the user's own they are judged from its first million values, and the verdict says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.arguments import FINITE, POSITIVE, Allowed, checked, number
from discriminant.docstrings import Entries
from discriminant.errors import capital
from discriminant.protocols import Array

STEP = Allowed(
    "a positive and finite number, a schedule or a function of k = 1, 2, …",
    lambda value: callable(value) or POSITIVE.holds(value),
)


documented = Entries("""
rate : float
    The factor.
power : float
    How fast it fades; 0: not at all.
delay : float
    Added to k.
step : float, Schedule or callable
    A number becomes a constant schedule.
schedule : float, Schedule or callable
    η(k).
→ check_conditions : Conditions
    Which sums diverge, and what follows.
→ make_schedule : Schedule
    A function of k.
→ sentence : str
    A sentence.
""").documented


@documented
@dataclass(frozen=True)
@checked(rate=POSITIVE, power=FINITE, delay=number(-1, np.inf, open_="both"))
class Power:
    """η(k) = rate / (k + delay)^power: a learning rate that fades.

    Called with k, or with an array of them.

    See Also
    --------
    check_conditions : Under which procedures converge.

    >>> Power(1.0, power=0.5)(4)
    0.5
    """

    rate: float = 1.0
    power: float = 1.0
    delay: float = 0.0

    def __call__(self, k: Any) -> Any:
        return self.rate if self.power == 0 else self.rate / (k + self.delay) ** self.power


@documented
@dataclass(frozen=True)
class Constant(Power):
    """η(k) = rate.

    The fixed increments of the perceptron's convergence theorem.

    See Also
    --------
    Inverse : Steps that fade.

    >>> Constant(0.5)(7)
    0.5
    """

    power: float = 0.0


@documented
@dataclass(frozen=True)
class Inverse(Power):
    """η(k) = rate / (k + delay), the common choice for LMS.

    It meets the conditions of stochastic approximation: Σ η = ∞ and Σ η² < ∞.

    See Also
    --------
    Constant : Steps that do not fade.

    >>> Inverse(0.5)(2)
    0.25
    """

    power: float = 1.0


@documented
@dataclass(frozen=True)
class Conditions:
    """What is known of a schedule's sums, and what follows.

    The perceptron with margin converges where Σ η diverges and Σ η²/(Σ η)² vanishes; single-sample steps on a smooth
    criterion settle where Σ η diverges and Σ η² converges (Duda, Hart and Stork 5.5.2 and 5.8.4).

    Attributes
    ----------
    nonnegative : bool
        η(k) ≥ 0.
    sum_diverges : bool
        Σ η = ∞.
    squares_converge : bool
        Σ η² < ∞.
    ratio_vanishes : bool
        Σ η² / (Σ η)² → 0.
    proved : bool
        Known from the formula; else judged from many values.

    See Also
    --------
    check_conditions : Finds them.

    >>> check_conditions(Inverse(0.5)).stochastic
    True
    """

    nonnegative: bool
    sum_diverges: bool
    squares_converge: bool
    ratio_vanishes: bool
    proved: bool

    @property
    def perceptron(self) -> bool:
        """The perceptron with margin converges on separable data."""
        return self.nonnegative and self.sum_diverges and self.ratio_vanishes

    @property
    def stochastic(self) -> bool:
        """Single-sample steps on a smooth criterion settle at its minimum."""
        return self.nonnegative and self.sum_diverges and self.squares_converge

    def sentence(self) -> str:
        """The conditions that fail, in words."""
        broken = [
            text
            for holds, text in (
                (self.nonnegative, "some step is negative"),
                (self.sum_diverges, "the sum of steps is finite, so that it may stop short of a solution"),
                (self.squares_converge, "the sum of squared steps is infinite, so that it keeps hovering"),
                (self.ratio_vanishes, "Ση²/(Ση)² does not vanish"),
            )
            if not holds
        ]
        source = "" if self.proved else " (judged from the first million steps)"
        return ("All conditions on the steps hold" if not broken else capital("; ".join(broken))) + source + "."


Schedule = Power | Callable[[int], float]


@documented
@checked(step=STEP)
def make_schedule(step: float | Schedule) -> Schedule:
    """A number as a constant schedule; a schedule or a function of k as it is.

    Raises
    ------
    ParameterError
        Where it is neither a positive number nor callable.

    >>> make_schedule(0.5)(3)
    0.5
    """
    return step if callable(step) else Constant(float(step))


@documented
@checked(schedule=STEP)
def check_conditions(schedule: float | Schedule) -> Conditions:
    """Which of the convergence conditions the schedule obeys.

    >>> check_conditions(Inverse(0.5)).stochastic, check_conditions(1.0).stochastic, check_conditions(1.0).perceptron
    (True, False, True)
    """
    schedule = make_schedule(schedule)
    if isinstance(schedule, Power):
        p = schedule.power
        return Conditions(True, p <= 1, p > 0.5, p <= 1, proved=True)
    return _from_values(table(schedule, 1, 1_000_000))


def table(schedule: Schedule, first: int, count: int) -> Array:
    """η(first), …, η(first + count − 1); a function that takes arrays is called once."""
    k = np.arange(first, first + count)
    if isinstance(schedule, Power):
        return np.broadcast_to(np.asarray(schedule(k.astype(np.float64)), dtype=np.float64), k.shape)
    return np.fromiter((rate(schedule, int(i)) for i in k), dtype=np.float64, count=count)


def rate(schedule: Schedule, k: int) -> float:
    """η(k); infinite where a function's answer is beyond the largest float."""
    try:
        return float(schedule(k))
    except OverflowError:
        return np.inf


def _from_values(eta: Array) -> Conditions:
    """Compare the last two decades of each sum: the terms of a convergent one fade from decade to decade."""
    with np.errstate(all="ignore"):
        total, squares = np.cumsum(eta), np.cumsum(np.square(eta))
        ratio = np.nan_to_num(squares / np.square(total), nan=np.inf)
    diverges = _goes_on(total)
    return Conditions(
        nonnegative=bool((eta >= 0).all()),
        sum_diverges=diverges,
        squares_converge=not _goes_on(squares),
        ratio_vanishes=diverges and bool(ratio[-1] < 0.7 * ratio[len(eta) // 1000]),
        proved=False,
    )


def _goes_on(total: Array) -> bool:
    """Whether the last decade adds nine tenths or more of what the decade before it added."""
    n = len(total)
    if not np.isfinite(total[-1]):
        return True
    before, last = total[n // 10] - total[n // 100], total[-1] - total[n // 10]
    return bool(last > 0.9 * before and last > 0)
