"""Least squares and ridge in closed form: (Yᵗ W Y + λ) A = Yᵗ W T, from the rows or from their moments.

Normal equations square the condition of Y, and so lose twice the digits that a QR factorisation loses.  The cure is a
pass for the residual: with A₀ from the normal equations, the correction −H⁺∇J(A₀) is solved from the same matrix and
added, until it no longer shrinks.  That brings the accuracy of QR back up to conditions of about 1e7, for one or two
passes over the data (corrected semi-normal equations, Björck 1987).

Rank-deficient rows have many solutions; the shortest is taken, a = Y† b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.arguments import FROM_ZERO, checked
from discriminant.optimize.history import History
from discriminant.optimize.iterative import NOT_A_NUMBER, documented, starting_weights
from discriminant.optimize.needs import require
from discriminant.optimize.solve import newton_step, symmetric_solve
from discriminant.protocols import Array, Oracle, Solution


@documented
@dataclass(frozen=True)
@checked(refinements=FROM_ZERO)
class ClosedForm:
    """The minimum of a quadratic criterion, from its Hessian and gradient at zero, with the residual corrected.

    Two passes, and one more for each refinement.

    Parameters
    ----------
    refinements : int, default=4
        At most so many corrections by a pass for the residual; 0 leaves the normal equations as they are.

    See Also
    --------
    least_squares_from_moments : The same from moments.

    >>> model = Discriminant(criterion="squared", optimizer=ClosedForm()).fit(iris.X, iris.y)
    >>> model.n_iter_, model.certificate_.converged
    (1, True)
    """

    refinements: int = 4
    needs: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE | Oracle.QUADRATIC

    def minimize(self, objective: Any, start: Array) -> Solution:
        """The minimum of a quadratic J; the shortest where there are many.

        Raises
        ------
        MismatchError
            Where J is not quadratic.
        """
        require(self, objective)
        A = np.zeros_like(starting_weights(objective, start))  # from zero, so that the shortest solution is found
        history = History()
        J, G = objective.value_and_gradient(A)
        if not np.isfinite(J):
            return Solution(A, NOT_A_NUMBER, False, 1, 0, float(J), float("nan"), history)
        H = objective.hessian(A)
        passes, before = 2, np.inf
        history.record(k=0, objective=J, gradient_norm=float(np.linalg.norm(G)), step=0.0)
        for k in range(self.refinements + 1):
            change = newton_step(H, G)
            # Size in scores rather than weights, so that columns of different units count alike.
            size = abs(float((G * change).sum()))
            if k and not size < before / 4:
                break
            A, before = A + change, size
            J, G = objective.value_and_gradient(A)
            passes += 1
            history.record(k=k + 1, objective=J, gradient_norm=float(np.linalg.norm(G)), step=1.0)
        norm = float(np.linalg.norm(G))
        corrections = len(history) - 2
        status = f"Solved in closed form, with {corrections} correction{'s' * (corrections != 1)} of the residual."
        return Solution(A, status, True, passes, 1, float(J), norm, history)


@documented
@dataclass(frozen=True)
class LeastSquares:
    """What ``least_squares_from_moments`` finds.

    Where the rank is less than d and there is no ridge, the shortest weights of many.

    Attributes
    ----------
    weights : ndarray of shape (1 + d, q)
        The weights, intercepts in row 0.
    rank : int
        The rank of the centred rows.
    null_space : ndarray of shape (d, d − rank)
        A basis of the directions in which the rows are flat.

    See Also
    --------
    least_squares_from_moments : Returns one.

    >>> found = least_squares_from_moments(np.eye(1), np.ones((1, 1)), np.zeros(1), np.zeros(1))
    >>> found.weights.ravel(), found.rank
    (array([0., 1.]), 1)
    """

    weights: Array
    rank: int
    null_space: Array


@documented
def least_squares_from_moments(
    scatter: Array, cross: Array, mean: Array, target_mean: Array, ridge: float | Array = 0.0
) -> LeastSquares:
    """The ridge solution from centred moments: (S + λ) W = C, intercepts t̄ − Wᵗm.

    With λ = 0 and directions in which the rows are flat, the shortest augmented vector is taken: A = Y† T.

    Parameters
    ----------
    scatter : ndarray of shape (d, d)
        S = Σw(x−m)(x−m)ᵗ/Σw.
    cross : ndarray of shape (d, q)
        C = Σw(x−m)(t−t̄)ᵗ/Σw.
    mean : ndarray of shape (d,)
        m.
    target_mean : ndarray of shape (q,)
        t̄.
    ridge : float or ndarray of shape (d,), default=0.0
        λ of J = Σw·½(z−t)²/Σw + λ/2 ‖W‖², the intercept free.

    Returns
    -------
    LeastSquares
        Weights, rank and null space.

    >>> x, t = np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0])
    >>> S, C = np.cov(x, bias=True).reshape(1, 1), np.cov(x, t, bias=True)[:1, 1:]
    >>> least_squares_from_moments(S, C, np.array([1.0]), np.array([3.0])).weights.ravel()
    array([1., 2.])
    """
    penalty = np.broadcast_to(np.asarray(ridge, dtype=np.float64), scatter.shape[:1])
    solved = symmetric_solve(scatter + np.diag(penalty), cross)
    slopes, null = solved.x, solved.null_space
    intercept = target_mean - mean @ slopes
    if null.shape[1]:
        # Moving by c along the flat directions moves the intercept by −(m·N)c: take the shortest of both together.
        lean = mean @ null
        shift = np.outer(lean / (1 + lean @ lean), intercept)
        slopes, intercept = slopes + null @ shift, intercept - lean @ shift
    return LeastSquares(np.vstack([intercept[None], slopes]), solved.rank, null)
