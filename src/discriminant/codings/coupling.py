"""Pairwise probabilities → class probabilities, by the second method of Wu, Lin and Weng (2004).

Given r_ij = P(class i | class i or j), the class probabilities p minimise Σ_i Σ_{j≠i} (r_ji p_i − r_ij p_j)² under
Σ p_i = 1.  That is one linear system with the matrix Q_ii = Σ_{s≠i} r_si², Q_ij = −r_ji r_ij, bordered by ones.
It is never singular: r_ij + r_ji = 1 leaves no direction in which all terms vanish and the sum stays the same.
"""

from __future__ import annotations

import numpy as np

from discriminant.arguments import COUNT, checked
from discriminant.docstrings import documented
from discriminant.errors import ParameterError
from discriminant.protocols import Array
from discriminant.thresholds import TABLE_BLOCK


@documented
@checked(n_classes=COUNT)
def pairs(n_classes: int) -> tuple[Array, Array]:
    """The pairs (i, j) with i < j, in the order of the pairwise outputs: 01, 02, …, 12, ….

    Parameters
    ----------
    n_classes : int
        K.

    Returns
    -------
    tuple of two ndarrays of shape (K(K−1)/2,)
        The first and the second class of each pair.

    >>> pairs(3)
    (array([0, 0, 1]), array([1, 2, 2]))
    """
    return np.triu_indices(n_classes, 1)


@documented
def couple_pairwise(r: Array) -> Array:
    """Pairwise probabilities → class probabilities, by the second method of Wu, Lin and Weng (2004).

    With r_ij = P(class i | class i or j), p minimises Σ_i Σ_{j≠i} (r_ji p_i − r_ij p_j)² under Σ p_i = 1.

    Parameters
    ----------
    r : array-like of shape (n, K(K−1)/2)
        Probabilities of the first class of each pair, in the order of ``pairs``.

    Returns
    -------
    ndarray of shape (n, K)
        Class probabilities that sum to one.

    Raises
    ------
    ParameterError
        Where the number of columns is no K(K−1)/2, or an entry lies outside [0, 1].

    >>> couple_pairwise(np.array([[0.5, 0.5, 0.5], [1.0, 1.0, 0.5]]))
    array([[0.33333333, 0.33333333, 0.33333333],
           [1.        , 0.        , 0.        ]])
    """
    r = np.asarray(r, dtype=np.float64)
    K = round((1 + np.sqrt(1 + 8 * r.shape[1])) / 2)
    if r.shape[1] != K * (K - 1) // 2 or K < 2:
        raise ParameterError(f"Pairwise probabilities come in K(K−1)/2 columns; {r.shape[1]} is not such a number.")
    if r.size and not (r.min() >= 0 and r.max() <= 1):
        raise ParameterError("Pairwise probabilities must lie between 0 and 1.")
    step = max(1, TABLE_BLOCK // (K + 1) ** 2)
    parts = [_couple(r[start : start + step], K) for start in range(0, len(r), step)]
    return np.vstack(parts) if parts else np.empty((0, K))


def _couple(r: Array, K: int) -> Array:
    first, second = pairs(K)
    beats = np.zeros((len(r), K, K))  # beats[:, i, j] = r_ij
    beats[:, first, second], beats[:, second, first] = r, 1 - r
    system = np.ones((len(r), K + 1, K + 1))
    system[:, :K, :K] = -beats * beats.transpose(0, 2, 1)
    diagonal = np.arange(K)
    system[:, diagonal, diagonal] = np.square(beats).sum(axis=1)
    system[:, K, K] = 0
    right = np.zeros((len(r), K + 1, 1))
    right[:, K] = 1
    p = np.maximum(np.linalg.solve(system, right)[:, :K, 0], 0)
    return np.asarray(p / p.sum(axis=1, keepdims=True))
