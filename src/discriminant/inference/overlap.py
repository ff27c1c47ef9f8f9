"""A quick proof, in floats with rounding counted, that rows overlap; ``separability`` decides what it leaves open.

    λ > 0,  Σ λ_i t_i y_i = 0,  t_i y_i of full rank    ⇒    no weights but a = 0 have t_i a·y_i ≥ 0 for all i

(Gordan, Stiemke).  The slopes of the logistic loss are such λ at its minimum, and before that the linear model of the
slopes that a Newton step rests on, λ' = λ − λ(1 − λ) Z Δ, has Zᵗλ' = 0 whatever the step: the first step that leaves
λ' positive is the proof, for rows with much noise the very first, from a = 0.
"""

from __future__ import annotations

import numpy as np

from discriminant.protocols import Array

STEPS = 8
LEAST_EIGENVALUE, MOST_VALUES = 1e-8, 1_000_000


def rows_overlap(Z: Array) -> bool:
    """Whether the rows of Z, t_i (1, x_i), are shown to overlap; False: not shown.

    >>> rows_overlap(np.array([[-1.0, 0.0], [-1.0, -2.0], [1.0, 1.0], [1.0, 3.0]]))
    True
    >>> rows_overlap(np.array([[-1.0, 0.0], [-1.0, -1.0], [1.0, 2.0], [1.0, 3.0]]))
    False
    """
    m, D = Z.shape
    length = np.sqrt(np.einsum("ij,ij->j", Z, Z))
    if m <= D or m * D > MOST_VALUES or not (length > 1e-100).all() or not np.isfinite(length).all():
        return False
    Z = Z / length
    gram = Z.T @ Z
    # A column of length one has Σ|z| ≤ √m, so that a sum of m products with λ' ≤ 1 is rounded by at most m√m ε, and the
    # columns themselves by as much: Zᵗλ' is known to this length.
    rounding = 2 * np.sqrt(D) * m**1.5 * np.finfo(float).eps
    try:
        np.linalg.cholesky(gram - 2 * LEAST_EIGENVALUE * np.eye(D))
        a = np.zeros(D)
        for _ in range(STEPS):
            z = Z @ a
            share = 1 / (1 + np.exp(np.minimum(z, 100.0)))
            weight = share * (1 - share)
            step = np.linalg.solve((Z * weight[:, None]).T @ Z if a.any() else gram / 4, share @ Z)
            found = share - weight * (Z @ step)
            # λ'' = λ' − Z(ZᵗZ)⁻¹Zᵗλ' is balanced without rounding, and within ‖Zᵗλ'‖/√(least eigenvalue) of λ'.
            off = np.linalg.norm(found @ Z) + rounding * found.max()
            if found.min() > off / np.sqrt(LEAST_EIGENVALUE):
                return True
            a = a + step
            if (Z @ a).min() > 0:  # separated
                return False
    except np.linalg.LinAlgError:
        return False
    return False
