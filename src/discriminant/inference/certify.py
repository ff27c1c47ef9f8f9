"""``certify``: a logistic fit checked from scratch, in the machine's widest float, without trusting who fitted it.

With a ridge λ every choice of probabilities p whose intercept condition Σ w (p − t) = 0 holds gives a lower bound,

    D = (1/W) Σ w H(p) − ‖g‖² / 2λ,      g = (1/W) Σ w (p − t) x,     H the entropy,

and p = softmax(z + δ) with δ chosen so that the condition holds is one.  Without a penalty the bound comes from the
Newton decrement ν and the longest row R in the metric of the Hessian: J − min J ≤ ((1−νR) ln(1−νR) + νR) / R².

It reads ``coef_``, ``intercept_``, ``classes_`` and ``C``, so that scikit-learn's fitted models can be certified too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from discriminant.arguments import MODEL, checked, number
from discriminant.arrays import as_dense, in_memory
from discriminant.data.check import check_weights, labelled_rows
from discriminant.data.labels import recode
from discriminant.data.rows import Rows
from discriminant.errors import DataError, ParameterError
from discriminant.inference import documented
from discriminant.inference.separability import Separability, separability
from discriminant.optimize.certificate import self_concordant_gap
from discriminant.protocols import Array, Certificate

BLOCK = 4_096
Wide = np.longdouble
ROUNDING = 64 * np.finfo(Wide).eps  # what the sums may have lost, relative to J


@documented
@checked(model=MODEL, tol=number(0, open_="low"))
def certify(model: Any, X: Any, y: Any, sample_weight: Any = None, *, tol: float = 1e-6) -> Certificate:
    """How good a fitted logistic regression is on the rows it was fitted to, with a bound that is proved here.

    Parameters
    ----------
    model : LogisticRegression
        Fitted, of this package or of scikit-learn, with a ridge or no penalty.
    sample_weight : array-like of shape (n,) or None, default=None
        How often each row counts; None: once.
    tol : float, default=1e-06
        ``converged`` means gap ≤ tol·|J|.

    Raises
    ------
    ParameterError
        Where the model is of another kind, has an L1 penalty or no intercept.
    DataError
        Where the rows are not those of the fit.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from discriminant import certify, datasets
    >>> iris = datasets.load("iris")
    >>> model = LogisticRegression(tol=1e-8, max_iter=1000).fit(iris.X, iris.y)
    >>> certify(model, iris.X, iris.y).converged
    True
    """
    ridge, A = _parts(model)
    rows, found, codes = labelled_rows(X, y, "certify")
    if rows.shape[1] != A.shape[0] - 1:
        raise DataError(f"X has {rows.shape[1]} columns and the model was fitted to {A.shape[0] - 1}.")
    codes = recode(found, codes, np.asarray(model.classes_))
    weight = check_weights(sample_weight, rows.shape[0])
    problem = _Problem(rows, codes, np.ones(len(codes)) if weight is None else weight, A.shape[1])
    if not np.isfinite(A).all():
        return _infinite(X, y, weight, problem.total)
    scale = Wide(ridge) / Wide(problem.total)
    loss, gradient = problem.loss_and_gradient(A)
    wide = loss + scale * np.square(A[1:].astype(Wide)).sum() / 2
    slope = gradient.copy()
    slope[1:] += scale * A[1:]
    norm = float(np.linalg.norm(slope.astype(np.float64)))
    below = wide - problem.dual_bound(A, scale) if ridge > 0 else Wide(problem.newton_bound(A, slope))
    J = float(wide)
    below = min(max(below, Wide(0)), wide) if np.isfinite(below) else below  # losses are never negative
    gap = float(below * (1 + 1e-12) + ROUNDING * abs(wide))
    bound = np.nextafter(J - gap, -np.inf) if np.isfinite(gap) else -np.inf
    verdict = None
    if not np.isfinite(bound):
        verdict = separability(X, y, hyperplane="any")
    met = gap <= tol * abs(J)
    status = _sentence(J, gap, tol, met, verdict)
    kept = None if verdict is None else verdict.without_data()
    return Certificate(status, met, J, float(bound), gap, norm, problem.passes, kept, condition=problem.condition)


def _infinite(X: Any, y: Any, weight: Array | None, total: float) -> Certificate:
    """Weights of ±inf are right where the classes are separated, and only there."""
    if weight is not None and not (weight > 0).all():
        raise DataError("To certify infinite weights leave out the rows without weight, which separate nothing.")
    verdict = separability(X, y)
    if verdict.verdict == "overlapping":
        return Certificate("The weights are infinite, but the classes overlap: J has a minimum.", False, np.inf)
    J = abs(verdict.limiting_fit(weight).log_likelihood) / total
    status = f"The classes are {verdict.verdict}: J has no minimum, and its infimum, {J:.12g}, is at infinity."
    return Certificate(status, False, J, J, 0.0, 0.0, 1.0, verdict.without_data(), condition=np.inf)


def _sentence(J: float, gap: float, tol: float, met: bool, verdict: Separability | None) -> str:
    if not np.isfinite(gap):
        if verdict is not None and verdict.verdict != "overlapping":
            return f"J = {J:.12g}, and it has no minimum: the classes are {verdict.verdict}."
        return f"J = {J:.12g}; it is too far from the minimum for a bound."
    word = "Solved" if met else "Not solved"
    return (
        f"{word}: J = {J:.12g} is within {gap:.2e} of its minimum, {gap / max(abs(J), 1e-300):.1e} of J (tol {tol:g})."
    )


def _parts(model: Any) -> tuple[float, Array]:
    """(½ ridge ‖w‖² on the summed losses, A (1 + d, q)) of a fitted model."""
    for name in ("coef_", "intercept_", "classes_", "C"):
        if not hasattr(model, name):
            raise DataError(
                f"certify reads coef_, intercept_, classes_ and C; this {type(model).__name__} has no {name}."
            )
    if getattr(model, "class_weight", None) is not None:
        raise ParameterError(
            "A fit with class_weight has other row weights; pass these as sample_weight to a plain fit."
        )
    l1 = getattr(model, "l1_ratio", 0.0) or 0.0
    old = getattr(model, "penalty", None)
    if l1 != 0 or old in ("l1", "elasticnet"):
        raise ParameterError("certify knows the ridge and no penalty; the L1 fits carry their own certificate.")
    coef = as_dense(model.coef_)
    expected, known = max(2, len(coef)), len(np.asarray(model.classes_))
    if known != expected:
        raise DataError(f"coef_ of shape {coef.shape} is of {expected} classes and classes_ has {known}.")
    intercept = np.broadcast_to(in_memory(model.intercept_).astype(np.float64), (len(coef),))
    if not getattr(model, "fit_intercept", True):
        raise ParameterError("certify is for fits with an intercept.")
    none = old == "none" or np.isinf(model.C)
    return 0.0 if none else 1.0 / float(model.C), np.vstack([intercept, coef.T]).astype(np.float64)


class _Problem:
    """The mean logistic loss of rows, block by block in wide floats; two classes as a softmax with z₀ = 0."""

    def __init__(self, rows: Rows, codes: Array, weight: Array, q: int) -> None:
        self.rows, self.codes, self.weight, self.q = rows, codes, weight.astype(Wide), q
        self.K = max(q, 2)
        self.total = float(weight.sum())
        self.passes, self.condition = 0.0, float("nan")

    def blocks(self, A: Array) -> Iterator[tuple[Array, Array, Array, Array]]:
        """(Y wide (m, 1+d), z (m, K), one-hot t (m, K), share w/W (m,)) of each block."""
        wide = A.astype(Wide)
        self.passes += 1
        for start in range(0, len(self.codes), BLOCK):
            stop = min(start + BLOCK, len(self.codes))
            values = as_dense(self.rows.design(start, stop).values)
            Y = np.ones((stop - start, values.shape[1] + 1), dtype=Wide)
            Y[:, 1:] = values
            z = Y @ wide
            if self.q == 1:
                z = np.concatenate([np.zeros_like(z), z], axis=1)
            t = np.zeros(z.shape, dtype=Wide)
            t[np.arange(len(t)), self.codes[start:stop]] = 1
            yield Y, z, t, self.weight[start:stop] / Wide(self.total)

    def loss_and_gradient(self, A: Array) -> tuple[Any, Array]:
        loss, gradient = Wide(0), np.zeros((A.shape[0], self.K), dtype=Wide)
        for Y, z, t, share in self.blocks(A):
            log_p = _log_softmax(z)
            loss -= share @ (log_p * t).sum(axis=1)
            gradient += Y.T @ ((np.exp(log_p) - t) * share[:, None])
        return loss, gradient[:, 1:] if self.q == 1 else gradient

    def dual_bound(self, A: Array, ridge: Any) -> Any:
        """D at p = softmax(z + δ), with δ found by Newton so that Σ w (p − t) = 0."""
        delta = np.zeros(self.K, dtype=Wide)
        for _ in range(100):
            slope, curve = self._intercepts(A, delta)
            if float(np.abs(slope).max()) < 1e-18:
                break
            step = np.linalg.lstsq(curve.astype(np.float64), -slope.astype(np.float64), rcond=None)[0]
            delta = delta + step.astype(Wide) / max(float(np.abs(step).max()), 1.0)
        entropy, g = Wide(0), np.zeros((A.shape[0], self.K), dtype=Wide)
        for Y, z, t, share in self.blocks(A):
            log_p = _log_softmax(z + delta)
            p = np.exp(log_p)
            entropy -= share @ (p * log_p).sum(axis=1)
            g += Y.T @ ((p - t) * share[:, None])
        left = g[1:, 1:] if self.q == 1 else g[1:]
        return entropy - np.square(left).sum() / (2 * ridge)

    def _intercepts(self, A: Array, delta: Array) -> tuple[Array, Array]:
        slope, curve = np.zeros(self.K, dtype=Wide), np.zeros((self.K, self.K), dtype=Wide)
        for _, z, t, share in self.blocks(A):
            p = np.exp(_log_softmax(z + delta))
            slope += share @ (p - t)
            weighted = p * share[:, None]
            curve += np.diag(weighted.sum(axis=0)) - p.T @ weighted
        return slope, curve

    def newton_bound(self, A: Array, slope: Array) -> float:
        """((1 − νR) ln(1 − νR) + νR) / R², or infinity; over the contrasts with the first class."""
        m, D = self.K - 1, A.shape[0]
        H = np.zeros((m * D, m * D), dtype=Wide)
        for Y, z, _, share in self.blocks(A):
            p = np.exp(_log_softmax(z))[:, 1:]
            for a in range(m):
                for b in range(m):
                    curve = share * (p[:, a] * ((a == b) - p[:, b]))
                    H[a * D : (a + 1) * D, b * D : (b + 1) * D] += (Y * curve[:, None]).T @ Y
        scale = np.sqrt(np.maximum(np.diagonal(H).astype(np.float64), 1e-300))
        R = (H / scale / scale[:, None]).astype(np.float64)
        values, vectors = np.linalg.eigh(R)
        if not values[0] > 1e-14 * values[-1]:
            return float("inf")
        self.condition = float(values[-1] / values[0])
        root = vectors / np.sqrt(values)
        g = (slope if self.q == 1 else slope[:, 1:]).T.ravel().astype(np.float64) / scale
        decrement = float(np.linalg.norm(root.T @ g))
        row_norm = 0.0
        for Y, _, _, _ in self.blocks(A):
            plain = Y.astype(np.float64)
            for a in range(m):
                part = plain / scale[a * D : (a + 1) * D] @ root[a * D : (a + 1) * D]
                row_norm = max(row_norm, float(np.sqrt(np.square(part).sum(axis=1)).max()))
        return self_concordant_gap(decrement, row_norm * (1 if m == 1 else 2))


def _log_softmax(z: Array) -> Array:
    shifted = z - z.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))
