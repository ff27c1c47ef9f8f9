"""What the figures share: their look and docstrings, and samples: seeded Gaussian clouds, with exact moments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from discriminant.docstrings import Entries
from discriminant.plots.theme import styled
from discriminant.protocols import Array

Function = TypeVar("Function", bound=Callable[..., Any])

documented = Entries("""
data : what the function of the same name with ``_data`` makes, or None
    What to draw; None: that.
→ Any : matplotlib Figure
    The figure.
""").documented


def drawn(function: Function) -> Function:
    """A figure in the look of all, with its docstring completed."""
    return documented(styled(function))


def clouds(
    means: Sequence[Any], covariances: Any, sizes: int | Sequence[int], seed: int, *, exact: bool = False
) -> tuple[Array, Array]:
    """(X, y): a Gaussian cloud for each mean; ``exact`` gives each the very mean and covariance (divisor N) asked for.

    >>> X, y = clouds([(0, 0), (3, 1)], np.eye(2), 20, seed=0, exact=True)
    >>> X[y == 2].mean(axis=0).round(12).tolist()
    [3.0, 1.0]
    """
    rng = np.random.default_rng(seed)
    counts = [sizes] * len(means) if isinstance(sizes, int) else list(sizes)
    spreads = np.broadcast_to(np.asarray(covariances, dtype=np.float64), (len(means), 2, 2))
    parts = []
    for mean, spread, count in zip(means, spreads, counts, strict=True):
        Z = rng.standard_normal((count, 2))
        if exact:
            Z -= Z.mean(axis=0)
            Z = Z @ np.linalg.inv(np.linalg.cholesky(Z.T @ Z / count)).T
        parts.append(np.asarray(mean) + Z @ np.linalg.cholesky(spread).T)
    return np.vstack(parts), np.repeat(np.arange(1, len(means) + 1), counts)


def angle(a: Any, b: Any) -> float:
    """The angle between two directions, in degrees from 0 to 90.

    >>> round(angle([1, 0], [-1, 1]))
    45
    """
    one, other = np.asarray(a, dtype=np.float64).ravel(), np.asarray(b, dtype=np.float64).ravel()
    cosine = float(abs(one @ other) / (np.linalg.norm(one) * np.linalg.norm(other)))
    return float(np.degrees(np.arccos(min(cosine, 1.0))))
