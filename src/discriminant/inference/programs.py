"""The two linear programs behind a verdict, in floats (HiGHS): what they answer is a guess to be proved elsewhere.

For rows f_i of unit length:

    widest:  max t   subject to  f_i·u ≥ t,  −1 ≤ u ≤ 1.
             t > 0 finds a separating u; t = 0 has multipliers λ ≥ 0, Σ λ_i f_i = 0, on at most D + 1 rows (Gordan).
    split:   min Σ ξ_i   subject to  f_i·u + ξ_i ≥ 1,  f_i·u ≥ 0,  0 ≤ ξ ≤ 1.
             ξ_i = 0 where some u ≥ 0 on all rows is positive on row i, ξ_i = 1 where none is; its multipliers are
             positive on all rows of the second kind at once (Stiemke).
"""

from __future__ import annotations

import numpy as np

from discriminant.protocols import Array

_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "presolve": False}


def widest(rows: Array) -> tuple[Array, float, Array]:
    """(u, t, λ) of the program ``widest``; t is NaN where the solver gave up.

    >>> u, t, multipliers = widest(np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2))
    >>> float(u[1]), round(t, 6)
    (1.0, 0.707107)
    """
    from scipy.optimize import linprog

    m, v = rows.shape
    cost = np.zeros(v + 1)
    cost[-1] = -1.0
    bounds = [(-1.0, 1.0)] * v + [(None, 1.0)]
    system = np.hstack([-rows, np.ones((m, 1))])
    answer = linprog(cost, A_ub=system, b_ub=np.zeros(m), bounds=bounds, method="highs", options=_OPTIONS)
    if answer.x is None:
        return np.zeros(v), float("nan"), np.zeros(m)
    return answer.x[:-1], float(answer.x[-1]), np.maximum(-answer.ineqlin.marginals, 0.0)


def split(rows: Array) -> Array:
    """The multipliers λ of the program ``split``: zero on rows that some u ≥ 0 makes positive, at least 1 on the rest.

    >>> split(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])).round(6).tolist()
    [1.0, 1.0, 0.0]
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    m, v = rows.shape
    left = csr_array(-rows)
    system = vstack([hstack([left, -eye_array(m)]), hstack([left, csr_array((m, m))])]).tocsr()
    cost = np.concatenate([np.zeros(v), np.ones(m)])
    bounds = [(None, None)] * v + [(0.0, 1.0)] * m
    right = np.concatenate([-np.ones(m), np.zeros(m)])
    answer = linprog(cost, A_ub=system, b_ub=right, bounds=bounds, method="highs", options=_OPTIONS)
    if answer.x is None:
        return np.zeros(m)
    marginals = -np.asarray(answer.ineqlin.marginals)
    return np.where(answer.x[v:] > 0.5, np.maximum(marginals[:m] + marginals[m:], 0.0), 0.0)
