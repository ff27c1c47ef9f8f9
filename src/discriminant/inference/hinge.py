"""Weights that err on few rows, or on none, by L-BFGS on the squared hinge: a quick guess, nothing proved.

    J(W) = Σ_i Σ_{k ≠ y_i} max(0, 1 − (w_y − w_k)·ỹ_i)² / n

over Kesler's rows, which for two classes is the squared hinge of the textbooks.
"""

from __future__ import annotations

import numpy as np

from discriminant.codings import make_coding
from discriminant.criteria import Kesler, SquaredHinge
from discriminant.data import make_blocks
from discriminant.data.scaling import Scaling
from discriminant.inference.cone import KeslerCone
from discriminant.objective import PointwiseObjective
from discriminant.optimize.iterative import Step
from discriminant.optimize.lbfgs import LBFGS
from discriminant.optimize.progress import watched
from discriminant.protocols import Array

STEPS = 300
PATIENCE = 20  # steps without a tenth fewer errors


def separating(cone: KeslerCone, guess: Array | None = None) -> Array | None:
    """Float weights of the cone whose exact form separates every row, or None, which says nothing.

    ``guess``: weights (1+d, K) over the columns of X that are tried first.
    """

    def separates(u: Array) -> bool:
        return bool((cone.signs(cone.exact(u)) > 0).all())

    if guess is not None and np.isfinite(guess).all():
        first = guess[:1] + cone.center @ guess[1:]
        W = np.ldexp(guess[1:], cone.exponent[:, None])[list(cone.keep)]
        u = flat(np.vstack([first, W]) if cone.intercept else W)
        if separates(u):
            return u
    u, wrong = _fewest_wrong(cone, PATIENCE)
    return u if not wrong and separates(u) else None


def few_errors(cone: KeslerCone) -> Array:
    """The rows that the best of these weights do not put strictly on their side, by exact signs."""
    u, _ = _fewest_wrong(cone, STEPS)
    return np.flatnonzero((cone.signs(cone.exact(u)) <= 0).any(axis=1))


def flat(W: Array) -> Array:
    """(r, K) weights, or (r, 1) of two classes, as those of the cone: the classes after the first, less the first."""
    return np.asarray((W if W.shape[1] == 1 else W[:, 1:] - W[:, :1]).T.ravel())


def _fewest_wrong(cone: KeslerCone, patience: int) -> tuple[Array, int]:
    """The weights of the step with the fewest rows not strictly on their side, and how many these are."""
    J = _objective(cone)
    best, least, left = np.zeros(cone.dimension), cone.n_rows + 1, patience

    def count(step: Step) -> bool:
        nonlocal best, least, left
        wrong = J.errors(step.weights)
        left = patience if wrong < 0.9 * least else left - 1
        if wrong < least:
            best, least = flat(step.weights[1 - cone.intercept :]), wrong
        return not wrong or not left

    with watched(None):
        LBFGS(tolerance=0.0, iterations=STEPS, callback=count).minimize(J, np.zeros((J.n_parameters, J.n_outputs)))
    return best, least


def _objective(cone: KeslerCone) -> PointwiseObjective:
    """J over the cone's columns in float coordinates."""
    keep, K = np.array(cone.keep, dtype=np.intp), cone.n_classes
    few = len(keep) < cone.source.shape[1]
    rows = cone.source.design(0, cone.n_rows).values[:, keep] if few else cone.source
    center = cone.center[keep]
    scaling = Scaling(center if center.any() else None, np.ldexp(1.0, cone.exponent[keep]))
    criterion = SquaredHinge() if K == 2 else Kesler(SquaredHinge())
    coding = make_coding("two-class" if K == 2 else "machine", K, labels=criterion.labels)
    blocks = make_blocks(rows, np.asarray(cone.codes, dtype=np.int32))
    return PointwiseObjective(blocks, criterion, coding, None, None, bool(cone.intercept), scaling)
