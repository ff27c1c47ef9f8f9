"""Functions of one column at a time: x, sin(ωx), log(x), 1(x > c), exp(−(x − c)²/2s²)  (Alpaydin 10.2).

Each feature is f(x_j; v): a column j and a value v (a frequency, a threshold, a centre with its width).  Fitting lists
the pairs (j, v); mapping picks the columns and applies f to all of them at once.  Where f(0) = 0 only the stored
entries of a sparse matrix are touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from discriminant.arrays import is_sparse
from discriminant.bases.expansion import Expansion, basis, finite, numerals, plus, positive, whole
from discriminant.bases.inputs import Rows
from discriminant.errors import DataError, ParameterError, columns
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
        source, value = self.__dict__["source_"], self.__dict__["value_"].astype(X.dtype, copy=False)
        if is_sparse(X):
            picked = X[:, source]
            picked.data = self._function(picked.data, value[picked.indices])
            picked.eliminate_zeros()
            return picked
        return self._function(X[:, source], value)

    def _names(self, x: list[str]) -> list[str]:
        texts = numerals(self.__dict__["value_"])
        return [self._name(x[j], text) for j, text in zip(self.__dict__["source_"], texts, strict=True)]


@basis
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


@basis
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
        finite(self.phase, "phase", "Sine")
        frequencies = given(self.frequencies, "frequencies", "Sine")
        return [frequencies] * X.shape[1]

    def _function(self, x: Array, value: Array) -> Array:
        return np.asarray(np.sin(x * value + x.dtype.type(self.phase)))

    def _name(self, column: str, value: str) -> str:
        return f"sin({'' if value == '1' else value + '·'}{column}{plus(self.phase)})"


@basis
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
        finite(self.offset, "offset", "Log")
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


@basis
class Step(Elementary):
    """1(x > c): one where a column exceeds a threshold, zero elsewhere.

    Additive in the columns: a discriminant on it is piecewise constant along each (Alpaydin 10.2).

    Parameters
    ----------
    thresholds : int or sequence of floats, default=1
        The c, the same for every column; or how many, which are then quantiles of each column (fewer where values
        repeat), so that each step has about the same number of rows between it and the next.  With given thresholds
        ≥ 0 sparse input is accepted: ``Step((0.0,))`` tells which words occur.

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
        return np.ndim(self.thresholds) == 1 and bool((given(self.thresholds, "thresholds", "Step") >= 0).all())

    def _values(self, X: Any) -> list[Array]:
        return along_columns(X, self.thresholds, "thresholds", "Step")

    def _function(self, x: Array, value: Array) -> Array:
        return (x > value).astype(x.dtype)

    def _name(self, column: str, value: str) -> str:
        return f"1({column}>{value})"


@basis
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
        return along_columns(X, self.centres, "centres", "Gaussian")

    def _learn(self, X: Any, y: Any) -> dict[str, Any]:
        learned = super()._learn(X, y)
        centres = [learned["value_"][learned["source_"] == j] for j in range(X.shape[1])]
        if self.width is not None:
            widths = np.full(X.shape[1], positive(self.width, "width", "Gaussian"))
        else:
            spreads = np.std(X, axis=0, dtype=np.float64)
            gaps = [np.ptp(c) / (len(c) - 1) if len(c) > 1 else s for c, s in zip(centres, spreads, strict=True)]
            widths = np.where(np.array(gaps) > 0, gaps, 1.0)  # of a constant column any will do
        return learned | {"width_": widths}

    def _function(self, x: Array, value: Array) -> Array:
        width = self.__dict__["width_"][self.__dict__["source_"]].astype(x.dtype, copy=False)
        return np.asarray(np.exp(-0.5 * ((x - value) / width) ** 2))

    def _names(self, x: list[str]) -> list[str]:
        source, widths = self.__dict__["source_"], numerals(self.__dict__["width_"])
        shifts = [plus(-c, t) for c, t in zip(self.__dict__["value_"], numerals(-self.__dict__["value_"]), strict=True)]
        named = []
        for j, shift in zip(source, shifts, strict=True):
            argument, width = x[j] + shift, widths[j]
            bracketed = f"({argument})" if any(sign in argument for sign in "+- ") else argument
            named.append(f"exp(-{bracketed}²/2{'' if width == '1' else f'·{width}²'})")
        return named


def given(values: Any, name: str, owner: str) -> Array:
    """A sequence of finite numbers, as float64."""
    array = np.asarray(values, dtype=object)
    if array.ndim == 0:
        raise ParameterError(f"{name}={values!r} of {owner} must be a sequence of numbers, such as ({values!r},).")
    try:
        numbers = array.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.full(0, np.nan)
    if numbers.ndim != 1 or not numbers.size or not np.isfinite(numbers).all():
        raise ParameterError(f"{name}={values!r} of {owner} must be a non-empty sequence of finite numbers.")
    return numbers


def along_columns(X: Any, values: int | Sequence[float], name: str, owner: str) -> list[Array]:
    """The given values for every column, or that many quantiles (i + ½)/m of each, without repetition."""
    if isinstance(values, int | np.integer):
        number = whole(values, name, owner)
        quantiles = np.quantile(X, (np.arange(number) + 0.5) / number, axis=0)
        return [np.unique(quantiles[:, j]).astype(np.float64) for j in range(X.shape[1])]
    return [given(values, name, owner)] * X.shape[1]
