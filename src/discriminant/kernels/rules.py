"""Single-sample rules: what one sample with target t, score z = a·y and margin b adds to the weights, a ← a + η δ y.

    PERCEPTRON         δ = t                 where tz ≤ b
    RELAXATION         δ = t (b − tz)/‖y‖²   where tz ≤ b
    QUADRATIC          δ = 2t (b − tz)       where tz ≤ b
    SQUARED            δ = t − z             always (Widrow–Hoff, LMS)
    LOGISTIC           δ = t − σ(z)          always
    SIGMOID_SQUARED    δ = (t − σ) σ (1 − σ) always
    SOFTMAX            δ_k = t_k − p_k       always, all outputs together

Each δ is −∂ℓ/∂z of the criterion of that name, which the contract tests assert.  In the first three, η(k) counts
corrections; in the others, samples.  This file holds the numbers that name the rules, and the rules for Python;
`c/single_sample.c` has the same of both.
"""

from __future__ import annotations

import math

PERCEPTRON, RELAXATION, QUADRATIC, SQUARED, LOGISTIC, SIGMOID_SQUARED, SOFTMAX = range(7)
# The first three leave a sample beyond its margin alone: kind ≤ QUADRATIC.

# Rows of a run's counts: k of η(k); clean samples in a row; how many of them end the run; whether it has ended;
# samples seen; the longest run of clean samples so far (pocket); k when the present sweep began (trace); the one in
# front of x, 0 where there is no intercept.
STEPS, CLEAN, NEEDED, DONE, VISITS, RUN, ORIGIN, ONE = range(8)


def correction(kind: int, t: float, z: float, margin: float, norm: float) -> float:
    """δ for one sample; ``norm`` is ‖y‖², of use to the relaxation rule only.

    >>> correction(RELAXATION, 1.0, -1.0, 1.0, 4.0)
    0.5
    """
    if kind <= QUADRATIC:
        shortfall = margin - t * z
        if shortfall < 0:
            return 0.0
        if kind == PERCEPTRON:
            return t
        return t * shortfall / norm if kind == RELAXATION else 2 * t * shortfall
    if kind == SQUARED:
        return t - z
    if z >= 0:
        tail = math.exp(-z)
        p = 1 / (1 + tail)
    else:
        tail = math.exp(z)
        p = tail / (1 + tail)
    if kind == LOGISTIC:
        return t - p
    return (t - p) * tail / ((1 + tail) * (1 + tail))


def loss(kind: int, t: float, z: float, margin: float) -> float:
    """ℓ(t, z) for one sample; the relaxation rule's without the division by ‖y‖²."""
    if kind <= QUADRATIC:
        shortfall = max(margin - t * z, 0.0)
        if kind == PERCEPTRON:
            return shortfall
        return shortfall * shortfall / 2 if kind == RELAXATION else shortfall * shortfall
    if kind == SQUARED:
        return (t - z) * (t - z) / 2
    tail = math.exp(-abs(z))
    if kind == LOGISTIC:
        return max(z, 0.0) - t * z + math.log1p(tail)
    p = 1 / (1 + tail) if z >= 0 else tail / (1 + tail)
    return (t - p) * (t - p) / 2
