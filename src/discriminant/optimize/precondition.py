"""Approximate inverses of the Hessian that make limited-memory steps short of Newton's by little.

*Two classes*: the Hessian of a row sample, factored.  A column that the sample hardly knows (a rare dummy, a heavy
tail) is corrected to its curvature over all rows.
*K classes*: (Gram/K + ridge)⁻¹ for each of them, the Hessian at A = 0, which undoes the correlations of the columns
(Böhning 1992: ∇² ≼ ½ (I − 11ᵗ/K) ⊗ Gram).  Where posteriors differ much, each class's own block of the Hessian.
*Wide or sparse*: the diagonal, and for an intercept its coupling to every column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from discriminant.arrays import in_memory
from discriminant.criteria import Logistic, Squared
from discriminant.data.evaluate import COARSE, centred
from discriminant.objective import PointwiseObjective
from discriminant.optimize.factor import Factor, Factors, cholesky, held_sum, unit_diagonal
from discriminant.protocols import Array, Evaluation, Need

Solve = Callable[[Array], Array]  # G (1+d, q) → P⁻¹ G
KNOWN = 100.0  # effective number of sample rows that a column's curvature must rest on
SUPPORT_ROWS = 2_000  # of the sample, that this is read from


def from_hessian(H: Array, n_outputs: int, correction: Array | None = None) -> Solve:
    """H⁻¹ as an objective gives H: (q, 1+d, 1+d), or of all outputs together.

    ``correction``: (1+d, q), full over sample curvature of each weight.
    """
    if H.ndim == 2:
        whole = cholesky(held_sum(corrected(H, None if correction is None else correction.T.ravel()), n_outputs))
        return Factors((whole,), coupled=True).solve
    each = [None] * len(H) if correction is None else correction.T
    factors = [cholesky(corrected(block, one)) for block, one in zip(H, each, strict=True)]

    def solve(G: Array) -> Array:
        return np.stack([f.solve(np.ascontiguousarray(G[:, k])) for k, f in enumerate(factors)], axis=1)

    return solve


def corrected(H: Array, correction: Array | None) -> Array:
    """H with its diagonal brought to what all rows say, correlations kept."""
    if correction is None:
        return H
    dead = np.diagonal(H) <= 0
    root = np.sqrt(np.where(np.isfinite(correction), correction, 1.0))
    H = H * root * root[:, None]
    H[dead, dead] = np.where(correction[dead] > 0, correction[dead], 1.0)
    return H


def from_gram(sample: PointwiseObjective) -> Factor:
    """K classes at A = 0: every posterior is 1/K, and the Hessian is (1/K)(I − 11ᵗ/K) ⊗ Gram, of the sample's rows."""
    return cholesky(_of_null_model(sample))


def from_gram_there(objective: PointwiseObjective) -> Solve:
    """The same for vectors that lie on a device, by the matrix's inverse."""
    blocks, library = objective.blocks, objective.blocks.library
    H, scale = unit_diagonal(_of_null_model(objective))
    # What matrix units cannot see must not count as a direction without curvature.
    np.fill_diagonal(H, 1 + (1e-4 if blocks.accuracy == COARSE else 1e-12))
    inverse, scale = library.inverse(library.put(H)), library.put(scale)
    inverse = inverse * scale * scale[:, None]
    return lambda G: library.product(inverse, G, "fine")


def _of_null_model(sample: PointwiseObjective) -> Array:
    H = gram(sample) / sample.n_outputs
    np.einsum("ii->i", H)[...] += in_memory(sample.damping)[:, 0]
    if not sample.intercept:
        H[0], H[:, 0], H[0, 0] = 0.0, 0.0, 1.0
    return H


def from_classes(objective: PointwiseObjective, A: Array) -> Solve:
    """K classes at A: each class's own block of the Hessian, Yᵗ diag(s p (1 − p)) Y and the ridge."""
    z = objective.scores(A)
    z = z if objective.offset is None else z + objective.offset
    p = np.clip(objective.criterion.probability(z), 1e-300, 1 - 1e-16)  # type: ignore[attr-defined]
    blocks = replace(objective.blocks, target=np.zeros_like(p))
    each = PointwiseObjective(
        blocks, Logistic(), None, objective.penalty, np.log(p / (1 - p)), objective.intercept, objective.scaling
    )
    H = each.evaluate(np.zeros_like(A), Need.HESSIAN).hessian
    assert H is not None
    return from_hessian(H, objective.n_outputs)


def gram(objective: PointwiseObjective) -> Array:
    """YᵗWY / Σw, (1+d, 1+d), in the objective's units: the Hessian of a squared error."""
    if objective.blocks.on_device:
        units = in_memory(objective.units)
        return objective.blocks.gram(objective.center) / (units * units.T)  # type: ignore[no-any-return]
    blocks = replace(objective.blocks, target=np.zeros((objective.n_rows, 1)))
    squared = PointwiseObjective(blocks, Squared(), scaling=objective.scaling)
    H = squared.evaluate(np.zeros((objective.n_parameters, 1)), Need.HESSIAN).hessian
    assert H is not None
    return np.array(H[0])


def from_diagonal(objective: PointwiseObjective, A: Array) -> tuple[Solve, Evaluation]:
    """The diagonal of the Hessian at A, and the evaluation that it comes from; one output: with the intercept's row.

        H ≈ [m, mμᵗ; mμ, D + mμμᵗ],     m = Σ sσ',  μ the curvature-weighted means,  D the variances around them.

    Without the coupling, columns of one sign (counts, tf-idf) make the intercept and the rest fight each other.
    """
    one = A.shape[1] == 1 and objective.intercept
    found = objective.evaluate(A, Need.VALUE | Need.GRADIENT | Need.DIAGONAL | (Need.INTERCEPT if one else Need.VALUE))
    assert found.diagonal is not None
    diagonal = np.where(found.diagonal > 0, found.diagonal, 1.0)
    if not one:
        return lambda G: np.asarray(G / diagonal), found
    assert found.intercept is not None
    mass = max(float(found.intercept[0, 0]), 1e-300)
    mean = found.intercept[1:] / (mass * objective.units[1:])
    spread = np.maximum(diagonal[1:] - mass * np.square(mean), 1e-3 * diagonal[1:])
    spread = np.maximum(spread, objective.damping[1:])

    def solve(G: Array) -> Array:
        out = np.empty_like(G)
        out[1:] = (G[1:] - mean * G[0]) / spread
        out[0] = G[0] / mass - (mean * out[1:]).sum(axis=0)
        return out

    return solve, found


def little_known(sample: PointwiseObjective) -> bool:
    """Whether some column's curvature rests on few sample rows: (Σ w y²)² / Σ w² y⁴, by some of them, evenly spread."""
    n, weight = sample.n_rows, sample.blocks.weight
    some = np.arange(0, n, max(n // SUPPORT_ROWS, 1))
    squares = centred(sample.blocks.rows.pick(some), sample.center).squared()
    w = np.ones((len(some), 1)) if weight is None else np.asarray(weight)[some][:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        support = np.square(squares.adjoint(w)[1:]) / squares.squared().adjoint(np.square(w))[1:]
    return bool((~(support * (n / len(some)) >= KNOWN)).any())
