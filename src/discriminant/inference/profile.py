"""Likelihood-ratio tests and profile-likelihood intervals: one parameter is held, the others follow.

    f(t) = 2 (ℓ(θ̂) − max_{θ_j = t} ℓ(θ)),      f'(t) = −2 ∂ℓ/∂θ_j at that maximum

so that Newton's method finds the ends {f = χ²₁,α} with one constrained fit a step, started from the Wald interval.
Parameters are those of the raw columns: the intercept's profile is that of the raw intercept.
"""

from __future__ import annotations

import numpy as np

from discriminant.inference.likelihood import Likelihood, maximise, raw_weights
from discriminant.protocols import Array


def likelihood_ratio_tests(model: Likelihood, theta: Array, best: float) -> tuple[Array, Array]:
    """(signed root of the statistic, p) of each parameter against zero; ``best``: ℓ(θ)."""
    from scipy.special import chdtrc

    statistic = np.array([max(2 * (best - _held(model, theta, j, 0.0)[0]), 0.0) for j in range(theta.size)])
    return np.sign(raw_weights(model.scaling, theta)) * np.sqrt(statistic), np.asarray(chdtrc(1, statistic))


def profile_intervals(model: Likelihood, theta: Array, best: float, level: float, error: Array) -> tuple[Array, Array]:
    """The ends of each parameter's profile interval; ±inf where the likelihood never falls that far."""
    from scipy.special import chdtri

    target = float(chdtri(1, 1 - level))
    raw = raw_weights(model.scaling, theta)
    ends = np.empty((2, theta.size))
    for j in range(theta.size):
        for side, sign in enumerate((-1.0, 1.0)):
            ends[side, j] = _end(model, theta, best, j, raw[j], sign * error[j], target)
    return ends[0], ends[1]


def _end(model: Likelihood, theta: Array, best: float, j: int, centre: float, error: float, target: float) -> float:
    t = float(centre + np.sqrt(target) * error)
    start = theta
    for _ in range(50):
        value, start, slope = _held(model, start, j, t)
        f = 2 * (best - value) - target
        if abs(f) < 1e-10 * target:
            break
        if slope == 0.0 or abs(t - centre) > 1e6 * abs(error):
            return float(np.copysign(np.inf, error))
        # Newton on the signed root √f̃, which is almost straight: fewer steps than on f itself.
        root = np.sqrt(max(f + target, 1e-300))
        step = (np.sqrt(target) - root) / (-slope / root)
        t = centre + float(np.clip((t + step - centre) / (t - centre), 0.2, 5.0)) * (t - centre)
    return t


def _held(model: Likelihood, theta: Array, j: int, t: float) -> tuple[float, Array, float]:
    """(max ℓ with raw parameter j at t, where, ∂ℓ/∂(raw j) there).

    A raw slope is a scaled one over its unit: hold that.  The raw intercept is a combination; an origin at zero
    makes it a parameter of its own.
    """
    D = len(theta)
    k, i = divmod(j, D)
    scaling = model.scaling
    unit = 1.0 if i == 0 else float(scaling.unit[i - 1])
    shift = np.zeros(theta.shape[1])
    if i == 0 and scaling.center is not None:
        model, shift = model.uncentred(), (scaling.center / scaling.unit) @ theta[1:]
    held = theta.copy()
    held[0] -= shift
    held[i, k] = t * unit
    found, there = maximise(model, held, np.delete(np.arange(theta.size), j))
    if shift.any() and scaling.center is not None:
        found[0] += (scaling.center / scaling.unit) @ found[1:]
    return -there.value, found, -float(there.gradient[i, k]) * unit
