"""The quadratic discriminant g(x) = xᵗWx + wᵗx + w₀ with few of W's eigenvectors  (Alpaydin 10.7.2, ex. 5–6).

W has d(d+1)/2 numbers, so its variance is high; keeping its r leading eigenvectors leaves r·d.  Two ways:

* after learning: ``quadratic_form`` reads W, w, w₀ off the weights of any discriminant on ``Polynomial(2)``, and
  ``QuadraticForm.low_rank(r)`` keeps the eigenvalues largest in size, the best W of rank r (Eckart–Young);
* before learning: ``LowRankQuadratic(r)`` finds the directions from class covariances and gives the features
  (x, (v₁·x)², …, (v_r·x)²) to any estimator, which then learns their weights.  With r = d the quadratic discriminant
  of Gaussian classes (QDA) is exactly linear in these features.

For Gaussian classes W_k = −½ Σ_k⁻¹ up to a matrix shared by all classes.  In coordinates where the pooled covariance
is the identity, Σ_k and W_k + ½I = −½(Σ_k⁻¹ − I) have the same eigenvectors v, so no Σ_k is inverted, and the
directions do not depend on the units of the columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.arguments import COUNT, FROM_ZERO, POINTS, checked, optional
from discriminant.bases.expansion import Expansion, basis, documented
from discriminant.bases.polynomial import Polynomial
from discriminant.errors import DataError, MismatchError, ParameterError
from discriminant.protocols import Array


@documented
@dataclass(frozen=True)
class QuadraticForm:
    """g(x) = xᵗWx + wᵗx + w₀, with W symmetric (d, d).

    The generalised linear discriminant of degree two, with its matrix written out (Alpaydin 10.2).

    Parameters
    ----------
    W : ndarray of shape (d, d)
        Symmetric.
    w : ndarray of shape (d,)
        The linear part.
    w0 : float
        The constant.

    See Also
    --------
    quadratic_form : Makes one from fitted weights.

    >>> form = QuadraticForm(np.diag([3.0, -1.0]), np.zeros(2), 0.0)
    >>> form.low_rank(1).W.tolist()
    [[3.0, 0.0], [0.0, 0.0]]
    """

    W: Array
    w: Array
    w0: float

    def __call__(self, X: Any) -> Array:
        """g of each row, shape (n,)."""
        X = np.asarray(X, dtype=np.float64)
        return np.asarray(np.einsum("ij,ij->i", X @ self.W, X) + X @ self.w + self.w0)

    @checked(rank=FROM_ZERO)
    def directions(self, rank: int) -> Array:
        """The eigenvectors of W with the largest |eigenvalue|.

        Parameters
        ----------
        rank : int
            How many.
        """
        if rank > len(self.w):
            raise ParameterError(f"rank={rank} is larger than the number of columns, {len(self.w)}.")
        values, vectors = np.linalg.eigh(self.W)
        return np.asarray(vectors[:, np.argsort(-np.abs(values), kind="stable")[:rank]])

    def low_rank(self, rank: int) -> QuadraticForm:
        """The same form with W replaced by its best approximation of this rank; rank 0 leaves the linear part.

        Parameters
        ----------
        rank : int
            The rank of the new W.
        """
        V = self.directions(rank)
        return QuadraticForm(V @ (V.T @ self.W @ V) @ V.T, self.w, self.w0)


@documented
def quadratic_form(polynomial: Polynomial, coef: Any, intercept: Any = 0.0) -> QuadraticForm:
    """W, w, w₀ of one output from its weights on a fitted ``Polynomial(2)``.

    A product x_i·x_j (i ≠ j) with weight c stands twice in xᵗWx, so W_ij = W_ji = c/2.

    Parameters
    ----------
    polynomial : Polynomial
        Fitted, of degree 2, with powers.
    coef : array-like of shape (d̂,)
        The weights of one output.
    intercept : float, default=0.0
        Its intercept.

    Raises
    ------
    MismatchError
        Where the basis is not fitted or of a higher degree.
    DataError
        Where the weights are not those of one output.

    >>> polynomial = Polynomial(2).fit([[1.0, 2.0]])
    >>> quadratic_form(polynomial, [0, 0, 1, 4, 3], -2.0).W.tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    if not isinstance(polynomial, Polynomial) or not polynomial.__sklearn_is_fitted__():
        raise MismatchError(f"quadratic_form needs a fitted Polynomial, got {polynomial!r}.")
    powers = polynomial.powers_
    if powers.sum(axis=1).max() > 2:
        raise MismatchError(f"quadratic_form needs degree 2 or less, and {polynomial!r} has a higher degree.")
    weights = np.asarray(coef, dtype=np.float64).ravel()
    if weights.shape != (len(powers),) or np.size(intercept) != 1:
        raise DataError(
            f"coef has shape {np.shape(coef)} and intercept {np.shape(intercept)}: one output has {len(powers)} "
            "weights and one intercept; pass those of one class, such as coef_[k], intercept_[k]."
        )
    d = powers.shape[1]
    W, w = np.zeros((d, d)), np.zeros(d)
    for weight, power in zip(weights, powers, strict=True):
        at = np.repeat(np.arange(d), power)
        if len(at) == 1:
            w[at[0]] += weight
        else:
            W[at[0], at[1]] += weight / 2
            W[at[1], at[0]] += weight / 2
    return QuadraticForm(W, w, float(np.ravel(intercept)[0]))


@basis(rank=COUNT, directions=optional(POINTS))
class LowRankQuadratic(Expansion):
    """(x, (v₁·(x−m))², …): the columns, and squares along the directions in which classes differ most in spread.

    A quadratic discriminant with few terms: of d(d + 1)/2 products only the squares along the leading eigenvectors of W
    are kept (Alpaydin 10.2).

    Parameters
    ----------
    rank : int, default=2
        Directions for each W: one W for two classes, one per class for more.  Capped at the rank of the data.
    directions : array-like of shape (d, r) or None, default=None
        The v themselves, for example ``quadratic_form(...).directions(r)``; then ``rank`` and y are not used.

    Attributes
    ----------
    directions_ : ndarray of shape (d, r) for two classes, (d, K·r) for K > 2
        Learned ones are scaled so that v·x has pooled variance 1.
    mean_ : ndarray of shape (d,)
        m, the mean of the rows.

    See Also
    --------
    Polynomial : All products.
    quadratic_form : W itself.

    Notes
    -----
    Which eigenvectors lead is judged with class variances drawn towards the pooled ones with the weight of d rows,
    so that a class of few rows does not put its noise first.

    >>> X, y = [[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-9.0, 0.0], [9.0, 0.0], [0.0, -1.0]], [0, 0, 0, 1, 1, 1]
    >>> basis = LowRankQuadratic(1).fit(X, y)
    >>> basis.get_feature_names_out().tolist()
    ['x0', 'x1', '(v1·(x-m))²']
    """

    rank: int = 2
    directions: Any = None

    @property
    def needs_target(self) -> bool:  # type: ignore[override]
        """Whether y is needed: unless the directions are given."""
        return self.directions is None

    accepts_sparse: ClassVar[bool] = False

    def _learn(self, X: Any, y: Any) -> dict[str, Any]:
        mean = X.mean(axis=0, dtype=np.float64)
        if self.directions is None:
            directions = leading_directions(X.astype(np.float64, copy=False), _codes(y, len(X)), self.rank)
        else:
            directions = np.asarray(self.directions, dtype=np.float64)
            if len(directions) != X.shape[1]:
                raise ParameterError(
                    f"directions of LowRankQuadratic have shape {directions.shape}: columns of length {X.shape[1]} are "
                    f"needed, shape ({X.shape[1]}, r)."
                )
        return {"mean_": mean, "directions_": directions}

    def _map(self, X: Any) -> Array:
        centred = X - self.mean_.astype(X.dtype, copy=False)
        along = centred @ self.directions_.astype(X.dtype, copy=False)
        return np.concatenate([X, along**2], axis=1)

    def _names(self, x: list[str]) -> list[str]:
        return [*x, *(f"(v{k}·(x-m))²" for k in range(1, self.directions_.shape[1] + 1))]


def _codes(y: Any, n: int) -> Array:
    labels, codes = np.unique(np.asarray(y), return_inverse=True)
    if codes.shape != (n,):
        raise DataError(f"y has shape {np.shape(y)} and X has {n} rows: one label per row is needed.")
    if labels.dtype.kind == "f" and not np.array_equal(labels, np.rint(labels)):
        raise DataError("Unknown label type: y holds fractions, and LowRankQuadratic needs one class label per row.")
    if len(labels) < 2:
        raise DataError(f"y holds one class only ({labels[0]!r}): LowRankQuadratic compares the spread of classes.")
    return np.asarray(codes)


def leading_directions(X: Array, codes: Array, rank: int) -> Array:
    """The v with the largest |eigenvalue| of each W, scaled to pooled variance 1: shape (d, r) or (d, K·r)."""
    counts = np.bincount(codes)
    means = np.stack([X[codes == k].mean(axis=0) for k in range(len(counts))])
    within = X - means[codes]
    whiten = _whitening(within)
    white = within @ whiten
    m = whiten.shape[1]
    spreads = [white[codes == k].T @ white[codes == k] / counts[k] for k in range(len(counts))]
    shrink = m / (counts + m)
    chosen = []
    for k in range(len(counts) == 2, len(counts)):  # of two classes W is that of their difference
        variance, vectors = np.linalg.eigh(spreads[k])
        sizes, other = 1 / _drawn(variance, shrink[k]), np.ones(m)
        if len(counts) == 2:
            other = 1 / _drawn(np.einsum("ij,ij->j", vectors, spreads[0] @ vectors), shrink[0])
        largest = np.argsort(-np.abs(sizes - other), kind="stable")[:rank]
        chosen.append(whiten @ vectors[:, largest])
    return np.concatenate(chosen, axis=1)


def _drawn(variance: Array, weight: float) -> Array:
    return np.asarray((1 - weight) * np.maximum(variance, 0.0) + weight)


def _whitening(within: Array) -> Array:
    """T (d, m) with Tᵗ Σ T = I for the pooled covariance Σ; directions without any variance are left out."""
    scale = np.abs(within).max(axis=0)
    scale[scale == 0] = 1.0
    triangle = np.linalg.qr(within / scale / np.sqrt(len(within)), mode="r")  # Σ = RᵗR, without squaring the rounding
    _, values, right = np.linalg.svd(triangle)
    right = right[: len(values)]
    kept = values > max(within.shape) * np.finfo(np.float64).eps * max(values[0], np.finfo(np.float64).tiny)
    if not kept.any():
        raise DataError("Within each class all rows are equal (n_samples=1 in each class?): there is no spread to use.")
    return np.asarray(right[kept].T / scale[:, None] / values[kept])
