"""Functions of one column at a time: x, sin(ωx), log(x), 1(x > c), exp(−(x − c)²/2s²)  (Alpaydin 10.2).

Each feature is f(x_j; v): a column j and a value v (a frequency, a threshold, a centre with its width).  Fitting lists
the pairs (j, v); mapping picks the columns and applies f to all of them at once.  Where f(0) = 0 only the stored
entries of a sparse matrix are touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from discriminant.arguments import COUNT, FINITE, NUMBERS, POSITIVE, either, optional
from discriminant.arrays import is_sparse
from discriminant.bases.expansion import Expansion, basis, numerals, plus
from discriminant.bases.inputs import Rows
from discriminant.errors import DataError, columns
from discriminant.protocols import Array


class Elementary(Expansion):
    """Abstract: features f(x_j; v), with ``source_`` the column j and ``value_`` the value v of each feature."""

    def _values(self, X: Any) -> list[Array]:
        """For each column, the values v that it is mapped with."""
        raise NotImplementedError(f"{type(self).__name__} must say its _values.")

    def _function(self, x: Array, value: Array) -> Array:
        raise NotImplementedError(f"{type(self).__name__} must say its _function.")

    def _name(self, column: str, value: str) -> str:
        raise NotImplementedError(f"{type(self).__name__} must say its _name.")

    def _learn(self, X: Any, y: Any) -> dict[str, Any]:
        values = self._values(X)
        source = np.repeat(np.arange(len(values)), [len(value) for value in values])
        return {"source_": source, "value_": np.concatenate(values)}

    def _map(self, X: Any) -> Any:
        source, value = self.source_, self.value_.astype(X.dtype, copy=False)
        if is_sparse(X):
            picked = X[:, source]
            picked.data = self._function(picked.data, value[picked.indices])
            picked.eliminate_zeros()
            return picked
        return self._function(X[:, source], value)

    def _names(self, x: list[str]) -> list[str]:
        texts = numerals(self.value_)
        return [self._name(x[j], text) for j, text in zip(self.source_, texts, strict=True)]


@basis()
class Linear(Expansion):
    """φ(x) = x: the columns as they are; useful as a term of a sum.

    A discriminant on it is a hyperplane in x.

    See Also
    --------
    Polynomial : Products of columns, too.

    >>> (Linear() + Sine()).fit([[0.0, 1.0]]).get_feature_names_out().tolist()
    ['x0', 'x1', 'sin(x0)', 'sin(x1)']
    """

    accepts_sparse: ClassVar[bool] = True

    def _learn(self, X: Any, y: Any) -> dict[str, Any]:
        return {}

    def _map(self, X: Any) -> Any:
        return X

    def _names(self, x: list[str]) -> list[str]:
        return x


@basis(frequencies=NUMBERS, phase=FINITE)
class Sine(Elementary):
    """sin(ωx + phase) for each column and each frequency ω; phase=π/2 gives the cosine.

    Additive in the columns, as all elementary bases (Alpaydin 10.2).

    Parameters
    ----------
    frequencies : sequence of floats, default=(1.0,)
        The ω, in radians per unit of x.
    phase : float, default=0.0
        Added to every angle.  With phase 0 a zero stays a zero, and sparse input is accepted.

    See Also
    --------
    Step : Thresholds in place of waves.

    >>> Sine((1, 2)).fit([[0.0]]).get_feature_names_out().tolist()
    ['sin(x0)', 'sin(2·x0)']
    """

    frequencies: Sequence[float] = (1.0,)
    phase: float = 0.0

    @property
    def accepts_sparse(self) -> bool:  # type: ignore[override]
        """Whether a zero stays a zero: only without a phase."""
        return self.phase == 0.0

    def _values(self, X: Any) -> list[Array]:
        return along_columns(X, self.frequencies)

    def _function(self, x: Array, value: Array) -> Array:
        return np.asarray(np.sin(x * value + x.dtype.type(self.phase)))

    def _name(self, column: str, value: str) -> str:
        return f"sin({'' if value == '1' else value + '·'}{column}{plus(self.phase)})"


@basis(offset=FINITE)
class Log(Elementary):
    """log(x + offset) of each column; refused, with the column's name, where x + offset is not positive.

    For columns that act by their ratios, such as incomes and concentrations (Alpaydin 10.2).

    Parameters
    ----------
    offset : float, default=0.0
        Added to x before the logarithm.

    See Also
    --------
    Functions : Any function of the rows.

    >>> Log(offset=1).fit([[0.0]]).get_feature_names_out().tolist()
    ['log(x0+1)']
    """

    offset: float = 0.0

    def _learn_named(self, rows: Rows, y: Any) -> dict[str, Any]:
        self._require_positive(rows.values, rows.names)
        return super()._learn_named(rows, y)

    def _values(self, X: Any) -> list[Array]:
        return [np.full(1, float(self.offset))] * X.shape[1]

    def _map(self, X: Any) -> Any:
        self._require_positive(X, self.__dict__.get("feature_names_in_"))
        return super()._map(X)

    def _require_positive(self, X: Array, names: Sequence[str] | None) -> None:
        least = X.min(axis=0)
        bad = np.flatnonzero(least + X.dtype.type(self.offset) <= 0)
        if bad.size:
            j = int(bad[0])
            raise DataError(
                f"Negative values in data passed to Log, or zeros: {columns([j], names)} holds {least[j]:g} in row "
                f"{int(X[:, j].argmin())}, and log(x+offset) with offset {self.offset:g} needs x > {-self.offset:g}. "
                f"Use Log(offset=...) above {-least[j]:g}, or choose the columns with Log().on(...)."
            )

    def _function(self, x: Array, value: Array) -> Array:
        return np.asarray(np.log(x + value))

    def _name(self, column: str, value: str) -> str:
        return f"log({column}{plus(self.offset, value)})"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


@basis(thresholds=either(COUNT, NUMBERS))
class Step(Elementary):
    """1(x > c): one where a column exceeds a threshold, zero elsewhere.

    Additive in the columns: a discriminant on it is piecewise constant along each (Alpaydin 10.2).

    Parameters
    ----------
    thresholds : int or sequence of floats, default=1
        The c, the same for every column; or how many, which are then quantiles of each column (fewer where values
        repeat), so that each step has about the same number of rows between it and the next.  With given thresholds
        ≥ 0 sparse input is accepted: ``Step((0.0,))`` says which words occur.

    See Also
    --------
    HalfPlane : Thresholds along any direction.

    >>> Step((0.5, 2.0)).fit_transform([[1.0], [3.0]]).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """

    thresholds: int | Sequence[float] = 1

    @property
    def accepts_sparse(self) -> bool:  # type: ignore[override]
        """Whether a zero stays a zero: with given thresholds of at least 0."""
        return NUMBERS.holds(self.thresholds) and bool((np.asarray(self.thresholds) >= 0).all())

    def _values(self, X: Any) -> list[Array]:
        return along_columns(X, self.thresholds)

    def _function(self, x: Array, value: Array) -> Array:
        return (x > value).astype(x.dtype)

    def _name(self, column: str, value: str) -> str:
        return f"1({column}>{value})"


@basis(centres=either(COUNT, NUMBERS), width=optional(POSITIVE))
class Gaussian(Elementary):
    """exp(−(x − c)²/2s²) for each column and each centre: a bump of width s  (the book's c is 2s²).

    Additive in the columns: the discriminant is a sum of smooth functions of one column each (Alpaydin 10.2, PRML 3.1).

    Parameters
    ----------
    centres : int or sequence of floats, default=5
        The centres, the same for every column; or how many, which are then quantiles of each column.
    width : float or None, default=None
        s.  None takes, in each column, the mean gap between neighbouring centres (the column's standard deviation
        where there is only one centre).

    See Also
    --------
    Radial : Bumps in all columns together.

    >>> Gaussian((0.0,), width=1.0).fit_transform([[0.0], [2.0]]).round(4).tolist()
    [[1.0], [0.1353]]
    """

    centres: int | Sequence[float] = 5
    width: float | None = None

    def _values(self, X: Any) -> list[Array]:
        return along_columns(X, self.centres)

    def _learn(self, X: Any, y: Any) -> dict[str, Any]:
        learned = super()._learn(X, y)
        centres = [learned["value_"][learned["source_"] == j] for j in range(X.shape[1])]
        if self.width is not None:
            widths = np.full(X.shape[1], float(self.width))
        else:
            spreads = np.std(X, axis=0, dtype=np.float64)
            gaps = [np.ptp(c) / (len(c) - 1) if len(c) > 1 else s for c, s in zip(centres, spreads, strict=True)]
            widths = np.where(np.array(gaps) > 0, gaps, 1.0)  # of a constant column any will do
        return learned | {"width_": widths}

    def _function(self, x: Array, value: Array) -> Array:
        width = self.width_[self.source_].astype(x.dtype, copy=False)
        return np.asarray(np.exp(-0.5 * ((x - value) / width) ** 2))

    def _names(self, x: list[str]) -> list[str]:
        source, widths = self.source_, numerals(self.width_)
        shifts = [plus(-c, t) for c, t in zip(self.value_, numerals(-self.value_), strict=True)]
        named = []
        for j, shift in zip(source, shifts, strict=True):
            argument, width = x[j] + shift, widths[j]
            bracketed = f"({argument})" if any(sign in argument for sign in "+- ") else argument
            named.append(f"exp(-{bracketed}²/2{'' if width == '1' else f'·{width}²'})")
        return named


def along_columns(X: Any, values: int | Sequence[float]) -> list[Array]:
    """The given values for every column, or that many quantiles (i + ½)/m of each, without repetition."""
    if isinstance(values, int | np.integer):
        quantiles = np.quantile(X, (np.arange(values) + 0.5) / values, axis=0)
        return [np.unique(quantiles[:, j]).astype(np.float64) for j in range(X.shape[1])]
    return [np.asarray(values, dtype=np.float64)] * X.shape[1]
