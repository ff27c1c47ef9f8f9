"""More columns than rows: whiten through the n × n matrix of inner products instead of the d × d scatter.

With the standardised residuals B (n, d), Σ = BᵗB/N has the non-zero eigenvalues of BBᵗ/N = U Λ Uᵗ, and

    W = Bᵗ U Λ⁻¹ / √N          whitens it:  Wᵗ Σ W = I.

X is walked in blocks of columns, so that nothing larger than W and a block is held.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from discriminant.gaussian.moments import ClassMoments
from discriminant.gaussian.whiten import EPS, Whitened
from discriminant.protocols import Array

LEAST_COLUMNS = 1_000  # below this the scatter itself is small
BLOCK_VALUES = 2_000_000


def is_wide(n_rows: int, n_features: int) -> bool:
    """Whether the way through inner products is the shorter one."""
    return n_features > max(n_rows, LEAST_COLUMNS)


def whiten_wide(sample: Any, moments: ClassMoments, divisor: float, tol: float | None = None) -> Whitened:
    """Whiten Σ = S_W / divisor without forming it; ``moments`` hold the squares only."""
    deviation = np.sqrt(moments.squares() / divisor)
    offset = np.abs(moments.origin / moments.unit + moments.means).max(axis=0)
    live = deviation > moments.precision * offset
    n = sample.blocks.n_rows
    G = np.zeros((n, n))
    for _, B in _residuals(sample, moments, deviation, live):
        G += B @ B.T
    values, vectors = np.linalg.eigh(G / divisor)
    keep = values > max(8 * EPS * n * values[-1], 0.0 if tol is None else tol**2)
    turn = vectors[:, keep] / (values[keep] * np.sqrt(divisor))
    matrix = np.zeros((moments.n_features, int(keep.sum())))
    for columns, B in _residuals(sample, moments, deviation, live):
        matrix[columns] = (B.T @ turn) / deviation[columns][:, None]
    scale = np.where(live, deviation * moments.unit, 0.0)
    log_determinant = float(np.log(values[keep]).sum())
    return Whitened(
        matrix / moments.unit[:, None], moments.means @ matrix, moments.origin, log_determinant, scale,
        np.zeros((moments.n_features, 0)),
    )  # fmt: skip


def _residuals(sample: Any, moments: ClassMoments, deviation: Array, live: Array) -> Iterator[tuple[Array, Array]]:
    """(columns, √w (x − m_k)/s) for blocks of live columns."""
    rows = sample.blocks.rows
    n = sample.blocks.n_rows
    means = moments.class_means
    root = 1.0 if sample.weight is None else np.sqrt(sample.weight)[:, None]
    everywhere = np.flatnonzero(live)
    for columns in np.array_split(everywhere, max(1, n * len(everywhere) // BLOCK_VALUES)):
        values = rows.columns(columns)
        centred = (values - means[:, columns][sample.codes]) / (deviation * moments.unit)[columns]
        yield columns, centred * root
