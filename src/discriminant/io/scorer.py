"""A fitted model as one small function: a row in, probabilities out, in a few microseconds.

    linear       g = x·W + b,            all centring, decoding and moved priors folded into W (d, K) and b
    two classes  P(C₁|x) = σ(w·x + b)
    quadratic    g_k = a_k − ½ Σ_r v²_kr,  v = x·[W_1 … W_K] − u

For a service that answers one row at a time: input is not looked over for names or types, and NaN or infinity is
refused because it shows in the scores.  The centre c is folded into b where that costs less than 10⁻¹², and subtracted
from each row where it would cost more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.arguments import MODEL, checked
from discriminant.decision.posteriors import log_sigmoid
from discriminant.errors import DataError, counted, names
from discriminant.io.container import documented
from discriminant.io.program import Program, program
from discriminant.protocols import Array

NEAR = 1e3  # Σ_j |c_j w_j| up to which folding the centre into the intercept loses less than 2e-13


@documented
@dataclass(frozen=True, eq=False, repr=False)
class Scorer:
    """A fitted model as one small function, for answering row by row in microseconds.

    ``scorer(row)`` gives probabilities (K,), ``scorer(rows)`` (n, K); class scores where a model has no probabilities.

    Attributes
    ----------
    program : Program
        What the exports are written from.

    See Also
    --------
    scorer : Makes one.

    >>> scorer = LinearDiscriminantAnalysis().fit(iris.X, iris.y).scorer()
    >>> scorer(iris.X[0]).round(3).tolist(), scorer.decide(iris.X[0])
    ([1.0, 0.0, 0.0], 'setosa')
    """

    program: Program
    _kind: str = "program"  # the long way; "softmax"; "pair": two in 2 µs, not 6; "sigmoid": σ(g_k) brought to sum one
    _weights: Array = field(default_factory=lambda: np.empty(0))  # (d, K), (d,) or, quadratic, (d, K·r)
    _intercept: Any = None
    _center: Array | None = None
    _shift: Array | float = 0.0  # of the priors, added to log σ

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        """The order of the probabilities."""
        return tuple(self.program.classes)

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        """What ``decide`` can return."""
        return tuple(self.program.labels)

    def __repr__(self) -> str:
        return f"Scorer of {counted(len(self.program.features), 'feature')} for {names(list(self.classes))}"

    def __call__(self, x: Any) -> Array:
        """Probabilities of a row (d,) or of rows (n, d); class scores where the model has no probabilities."""
        x = np.asarray(x, dtype=np.float64)
        if x.ndim != 1:
            return self._many(x)
        if self._center is not None:
            x = x - self._center
        if self._kind == "pair":
            with np.errstate(over="ignore", invalid="ignore"):  # reported in a sentence instead
                z = float(np.dot(x, self._weights)) + self._intercept
            if z - z != 0.0:
                self._refuse(x)
            small = math.exp(-abs(z))
            larger = 1.0 / (1.0 + small)
            return np.array((larger, small * larger) if z < 0 else (small * larger, larger))
        if self._kind != "program":
            with np.errstate(over="ignore", invalid="ignore"):  # reported in a sentence instead
                return self._one_softmax(x)
        return np.asarray(self._many(x[None] if self._center is None else (x + self._center)[None])[0])

    def decide(self, x: Any) -> Any:
        """The label (or the act of least cost) for one row.

        Parameters
        ----------
        x : array-like of shape (d,)
            One row.
        """
        if self.program.costs is not None:
            risk = self.program.costs @ self(x)
            return self.labels[int(risk.argmin())]
        if self.program.rejects:
            return self.labels[int(self.program.evaluate(np.asarray(x, dtype=np.float64)[None])[0][0])]
        if self._kind == "pair":  # one half exactly is the first class, as in predict
            p = self(x)
            return self.labels[int(p[1] > p[0])]
        return self.labels[int(self(x).argmax())]

    def _one_softmax(self, x: Array) -> Array:
        z = np.dot(x, self._weights)
        if self.program.quadratic is not None:
            z -= self._intercept[0]
            z *= z
            z = np.dot(z, self._intercept[1])
            z += self._intercept[2]
        else:
            z += self._intercept
        if np.dot(z, 0.0 * z) != 0.0:  # 0 · ∞ is no number
            self._refuse(x)
        if self._kind == "sigmoid":
            z = log_sigmoid(z) + self._shift
        z -= np.maximum.reduce(z)
        np.exp(z, out=z)
        z /= np.add.reduce(z)
        return np.asarray(z)

    def _many(self, X: Array) -> Array:
        if X.ndim != 2 or X.shape[1] != len(self.program.features):
            raise DataError(f"This scorer takes rows of {len(self.program.features)} numbers; got shape {X.shape}.")
        with np.errstate(invalid="ignore", over="ignore"):
            _, g, p = self.program.evaluate(X)
        if not np.isfinite(g).all() or (self.program.basis and not np.isfinite(X).all()):
            self._refuse(X)
        return g if p is None else p

    def _refuse(self, x: Array) -> None:
        bad = np.argwhere(~np.isfinite(np.atleast_2d(x)))
        if len(bad):
            name = self.program.features[int(bad[0][1])]
            raise DataError(f"The row holds NaN or infinity in column {name!r}; a score needs numbers.")
        raise DataError("The scores of this row are infinite although it is finite: its values are too large.")


@documented
@checked(model=MODEL)
def scorer(model: Any) -> Scorer:
    """A fitted model as one small function, for answering row by row.

    Raises
    ------
    DataError
        Where the model cannot be written as one function.

    >>> import numpy as np
    >>> score = scorer(LinearDiscriminant([0.0, 1.0], ["left", "right"], link="sigmoid"))
    >>> score([0.0]).tolist(), score.decide([3.0])
    ([0.5, 0.5], 'right')
    """
    found = program(model)
    if found.basis or found.decoder != "linear" or found.link in (None, "pairs"):
        return Scorer(found)
    shift = 0.0 if found.prior_shift is None else found.prior_shift
    if found.quadratic is not None:  # class scores already: the decoder is the unit matrix
        W, u, a = found.quadratic
        K, d, r = W.shape
        flat = np.ascontiguousarray(W.transpose(1, 0, 2).reshape(d, K * r))
        halves = -0.5 * np.repeat(np.eye(K), r, axis=0)  # Σ over the r squares of each class, times −½
        at, center = _fold(flat, u.reshape(-1), found.center, -1.0)
        return Scorer(found, "softmax", flat, (at, halves, a + shift), center)
    assert found.weights is not None
    D, s = found.decode
    weights, intercept = np.ascontiguousarray(found.weights[1:] @ D), found.weights[0] @ D + s
    if found.link == "sigmoid":
        return Scorer(found, "sigmoid", weights, *_fold(weights, intercept, found.center, 1.0), shift)
    intercept = intercept + shift
    if len(found.classes) == 2:
        slope = np.ascontiguousarray(weights[:, 1] - weights[:, 0])
        at, center = _fold(slope, intercept[1] - intercept[0], found.center, 1.0)
        return Scorer(found, "pair", slope, float(at), center)
    return Scorer(found, "softmax", weights, *_fold(weights, intercept, found.center, 1.0))


def _fold(weights: Array, intercept: Any, center: Array, sign: float) -> tuple[Any, Array | None]:
    """The intercept with the centre folded in, or as it is with the centre to subtract, where folding loses digits."""
    if not center.any():
        return intercept, None
    if float(np.max(np.abs(center) @ np.abs(weights))) > NEAR:
        return intercept, center
    exact = (center.astype(np.longdouble) @ weights.astype(np.longdouble)).astype(np.float64)
    return intercept - sign * exact, None
