"""An export is run once in a real engine before it is handed out, and refused where it answers otherwise."""

from __future__ import annotations

import numpy as np

from discriminant.errors import DataError
from discriminant.io.program import Program
from discriminant.protocols import Array


def require_agreement(
    found: Program, X: Array, positions: Array, chances: Array | None, engine: str, tolerance: float
) -> None:
    """Refuse where the engine's probabilities, or its decisions away from ties, differ from the program's."""
    expected, g, p = found.evaluate(X)
    if p is not None and chances is not None:
        worst = float(np.abs(np.asarray(chances) - p).max())
        if not worst <= tolerance:
            raise DataError(f"The export was refused: in {engine} its probabilities differ by {worst:.1e}.")
    differ = np.asarray(positions) != expected
    if differ.any() and not tied(found, X[differ], g[differ], p if p is None else p[differ], tolerance).all():
        raise DataError(f"The export was refused: in {engine} {int(differ.sum())} of {len(X)} decisions differ.")


def tied(found: Program, X: Array, g: Array, p: Array | None, tolerance: float) -> Array:
    """Rows whose two best answers are so close that rounding decides."""
    close = _close(found, g, p, tolerance)
    if found.decoder != "votes":
        return close
    z = found.outputs(X) - found.decode[1]  # a vote is lost where an output is zero
    return np.asarray(close | (np.abs(z).min(axis=1) <= 1e3 * tolerance * (1 + np.abs(z).max(axis=1))))


def _close(found: Program, g: Array, p: Array | None, tolerance: float) -> Array:
    if found.costs is not None and p is not None:
        values = -(p @ found.costs.T)
    else:
        values = g
    if found.rejects and found.costs is None:
        return np.asarray(np.abs(values).min(axis=1) <= 1e3 * tolerance * (1 + np.abs(values).max(axis=1)))
    ordered = np.sort(values, axis=1)
    return np.asarray(ordered[:, -1] - ordered[:, -2] <= 1e3 * tolerance * (1 + np.abs(values).max(axis=1)))
