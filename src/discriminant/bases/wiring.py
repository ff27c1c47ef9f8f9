"""Threshold units: 1(a·x > c), with given or random normals, and the Mark I's random wiring (Bishop 4.1.7).

The Mark I perceptron (1958) looked at a 20 × 20 retina through association units.  A patch board joined each unit to
some retina points chosen at random, half of the joints exciting and half inhibiting; a unit fired where the sum of its
inputs reached a threshold.  That is a half-plane 1(a·x ≥ θ) whose normal a has entries −1, 0 and 1.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from discriminant.arguments import COUNT, FINITE, NUMBERS, POINTS, RANDOM, among, either, optional
from discriminant.arrays import is_sparse
from discriminant.bases.expansion import Expansion, basis, generator, numerals, plus
from discriminant.errors import ParameterError
from discriminant.protocols import Array

THRESHOLD = either(FINITE, among("median"))
SPELLED_OUT = 3  # with more columns than this, "a3·x" stands for the sum


@basis(normals=either(COUNT, POINTS), thresholds=optional(NUMBERS), random_state=RANDOM)
class HalfPlane(Expansion):
    """1(a·x > c): one on one side of a hyperplane, zero on the other.

    Threshold units with fixed weights: a first layer that is not learned (Alpaydin 10.2).

    Parameters
    ----------
    normals : int or array of shape (m, d), default=10
        The a; or how many, which then point in random directions (uniform after scaling columns to unit spread).
    thresholds : sequence of m floats, or None, default=None
        The c.  None lets each hyperplane pass midway between two random rows of X, so that it cuts the data.

    Attributes
    ----------
    normals_ : ndarray of shape (m, d)
        The a.
    thresholds_ : ndarray of shape (m,)
        The c.

    See Also
    --------
    Wiring : The Mark I's random ones.
    Step : Thresholds along a column.

    >>> HalfPlane([[2.0, -1.0]], (3.0,)).fit([[0.0, 0.0]]).get_feature_names_out().tolist()
    ['1(2·x0-x1>3)']
    """

    normals: Any = 10
    thresholds: Any = None
    random_state: Any = None

    accepts_sparse: ClassVar[bool] = True

    def _learn(self, X: Any, y: Any) -> dict[str, Any]:
        rng = generator(self.random_state)
        if isinstance(self.normals, int | np.integer):
            normals = rng.standard_normal((self.normals, X.shape[1])) / _spread(X)
        else:
            normals = np.array(self.normals, dtype=np.float64)
            if normals.shape[1] != X.shape[1]:
                raise ParameterError(
                    f"The normals of HalfPlane have {normals.shape[1]} entries and X has {X.shape[1]} columns."
                )
        if self.thresholds is None:
            n, m = X.shape[0], len(normals)
            one = rng.integers(n, size=m)
            other = (one + rng.integers(1, max(n, 2), size=m)) % n
            thresholds = (_row_products(X[one], normals) + _row_products(X[other], normals)) / 2
        else:
            thresholds = np.asarray(self.thresholds, dtype=np.float64)
        if len(thresholds) != len(normals):
            raise ParameterError(
                f"HalfPlane has {len(normals)} normals and {len(thresholds)} thresholds: one threshold each is needed."
            )
        return {"normals_": normals, "thresholds_": thresholds}

    def _map(self, X: Any) -> Array:
        sums = np.asarray(X @ self.normals_.T.astype(X.dtype, copy=False))
        return np.asarray(sums > self.thresholds_.astype(X.dtype, copy=False), dtype=X.dtype)

    def _names(self, x: list[str]) -> list[str]:
        normals, thresholds = self.normals_, self.thresholds_
        named = [f"1({_combination(a, x)}>{text})" for a, text in zip(normals, numerals(thresholds), strict=True)]
        if len(x) > SPELLED_OUT or len(set(named)) < len(named):  # or the same normal up to four digits
            return [f"1(a{k}·x>c{k})" for k in range(1, len(normals) + 1)]
        return named


def _spread(X: Any) -> Array:
    """Standard deviation of each column (1 where it is zero), without densifying sparse X."""
    if is_sparse(X):
        mean, squares = (np.asarray(M.mean(axis=0), dtype=np.float64).ravel() for M in (X, X.multiply(X)))
        variance = squares - mean**2
    else:
        variance = X.var(axis=0, dtype=np.float64)
    return np.asarray(np.sqrt(np.where(variance > 0, variance, 1.0)))


def _row_products(rows: Any, normals: Array) -> Array:
    """a_k · x_k for matching rows."""
    products = rows.multiply(normals).sum(axis=1) if is_sparse(rows) else (rows * normals).sum(axis=1)
    return np.asarray(products, dtype=np.float64).ravel()


def _combination(a: Array, x: list[str]) -> str:
    """a·x as text: "2·x0-x1"."""
    terms = []
    for weight, column in zip(a, x, strict=True):
        text = f"{weight:.4g}"
        terms.append(plus(weight, {"1": "", "-1": "-"}.get(text, f"{text}·") + column))
    return "".join(terms).removeprefix("+") or "0"


@basis(units=COUNT, connections=COUNT, threshold=THRESHOLD, random_state=RANDOM)
class Wiring(Expansion):
    """1(a·x ≥ θ) with a of −1, 0, 1 at random: the association units of the Mark I.

    A unit fires where the sum of its exciting less its inhibiting points is at least θ; only the weights behind the
    units are learned (PRML 4.1.7).

    Parameters
    ----------
    units : int, default=512
        Association units; the Mark I had 512.
    connections : int, default=40
        Retina points wired to each unit, without repetition (at most all of them); half excite (+1), half inhibit
        (−1), the odd one at random.  The Mark I allowed 40.
    threshold : float or "median", default=1.0
        θ, the same for all units; "median" lets each unit fire for the upper half of the rows of ``fit``: θ lies
        midway between the two middle sums, where rounding cannot decide.

    Attributes
    ----------
    wiring_ : ndarray of shape (d, units), int8
        Column k holds the joints of unit k.
    thresholds_ : ndarray of shape (units,)
        θ of each unit.

    See Also
    --------
    discriminant.Perceptron : What learns on these features.
    HalfPlane : Any normals.

    >>> Wiring(units=3, connections=2, random_state=0).fit([[0.0, 1.0, 1.0, 0.0]]).wiring_.sum(axis=0).tolist()
    [0, 0, 0]
    """

    units: int = 512
    connections: int = 40
    threshold: float | str = 1.0
    random_state: Any = None

    accepts_sparse: ClassVar[bool] = True

    def _learn(self, X: Any, y: Any) -> dict[str, Any]:
        wiring = self._solder(X.shape[1])
        if isinstance(self.threshold, str):
            sums = np.sort(np.asarray(X @ wiring.astype(X.dtype), dtype=np.float64), axis=0)
            thresholds = (sums[max(len(sums) // 2 - 1, 0)] + sums[len(sums) // 2]) / 2
        else:
            thresholds = np.full(wiring.shape[1], float(self.threshold))
        return {"wiring_": wiring, "thresholds_": thresholds}

    def _solder(self, points: int) -> Array:
        """Random joints: for each unit some points without repetition, with signs +1 and −1 in turn."""
        rng, joints = generator(self.random_state), min(self.connections, points)
        wiring = np.zeros((points, self.units), dtype=np.int8)
        for k in range(self.units):
            at = rng.permutation(points)[:joints]
            wiring[at, k] = np.where((np.arange(joints) + rng.integers(2)) % 2, 1, -1)
        return wiring

    def _map(self, X: Any) -> Array:
        sums = np.asarray(X @ self.wiring_.astype(X.dtype))
        return np.asarray(sums >= self.thresholds_.astype(X.dtype, copy=False), dtype=X.dtype)

    def _names(self, x: list[str]) -> list[str]:
        return [f"unit{k}" for k in range(1, self.wiring_.shape[1] + 1)]
