"""What every basis φ has in common: check the rows, learn what is to be learned, map row by row, name the features.

A basis says three things and nothing else:

    _learn(X, y)   what is taken from the data (centres, widths, wiring), as a dictionary of attributes "…_"
    _map(X)        φ(X), shape (n, d̂); row i of the result depends on row i of X alone
    _names(x)      one readable name per feature, from the names x of the columns

The features never contain the constant: the one in front of φ belongs to the design, as its row 0 of weights.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from discriminant.arguments import RANDOM
from discriminant.arrays import first_not_finite, is_sparse
from discriminant.bases.contract import Contract, documented
from discriminant.bases.inputs import Fitted, Rows, read
from discriminant.errors import DataError, ParameterError
from discriminant.protocols import Array


@documented
class Expansion(Contract):
    """Abstract: a basis as a transformer.  Concrete bases are frozen dataclasses with the three methods above."""

    def _learn(self, X: Any, y: Any) -> dict[str, Any]:
        raise NotImplementedError(f"{type(self).__name__} must say its _learn.")

    def _map(self, X: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must say its _map.")

    def _names(self, x: list[str]) -> list[str]:
        raise NotImplementedError(f"{type(self).__name__} must say its _names.")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what the basis takes from the data.

        Parameters
        ----------
        X, y
        """
        self._fit(X, y)
        return self

    def transform(self, X: Any) -> Any:
        """φ(X), in the precision of X.

        Parameters
        ----------
        X
        """
        self._require_fitted("transform")
        names = self.__dict__.get("feature_names_in_")
        fitted = Fitted(self.__dict__["n_features_in_"], None if names is None else list(names))
        rows = read(X, self._owner(), sparse=self.accepts_sparse, fitted=fitted)
        return self._wrap(self._features(rows), X, self.get_feature_names_out)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """The same as ``fit``, then ``transform`` of the same rows, with the checks done once.

        Parameters
        ----------
        X, y
        """
        rows = self._fit(X, y)
        return self._wrap(self._features(rows), X, self.get_feature_names_out)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """One name per feature, such as "sin(x0)" or "age·income".

        Parameters
        ----------
        input_features : sequence of d str or None, default=None
            The names of the columns; None: those of ``fit``, or x0, x1, ….
        """
        self._require_fitted("get_feature_names_out")
        return np.array(self._names(self._inputs(input_features)), dtype=object)

    @property
    def n_features_out_(self) -> int:
        """d̂, the number of features."""
        return len(self.get_feature_names_out())

    def __add__(self, other: Any) -> Any:
        """φ and ψ side by side: (φ + ψ)(x) = (φ(x), ψ(x))."""
        from discriminant.bases.combine import concatenate

        return concatenate(self, other)

    def __radd__(self, other: Any) -> Any:
        from discriminant.bases.combine import concatenate

        return concatenate(other, self)

    def on(self, *columns: str | int) -> Any:
        """This basis on some columns only: ``Log().on("income")``.

        Parameters
        ----------
        *columns : str or int
            Columns by name or position.
        """
        from discriminant.bases.combine import Columns

        return Columns(self, columns)

    def _fit(self, X: Any, y: Any) -> Rows:
        rows = read(X, self._owner(), sparse=self.accepts_sparse)
        self._fit_rows(rows, y)
        return rows

    def _fit_rows(self, rows: Rows, y: Any) -> None:
        """Learn from checked rows; where that fails, what was learned before is left as it was."""
        if self.needs_target and y is None:
            raise DataError(
                f"{self._owner()} requires y to be passed, but the target y is None: it learns from classes."
            )
        learned: dict[str, Any] = {"n_features_in_": int(rows.values.shape[1])}
        if rows.names is not None:
            learned["feature_names_in_"] = np.array(rows.names, dtype=object)
        learned |= self._learn_named(rows, y)
        for stale in [key for key in self.__dict__ if key.endswith("_") and not key.endswith("__")]:
            del self.__dict__[stale]
        self.__dict__.update(learned)

    def _learn_named(self, rows: Rows, y: Any) -> dict[str, Any]:
        """As ``_learn``, for the bases that need the columns' names while they learn."""
        return self._learn(rows.values, y)

    def _features(self, rows: Rows) -> Any:
        with np.errstate(all="ignore"):  # what overflows is said below, with its name
            features = self._map(rows.values)
            entries = features.data if is_sparse(features) else features
            finite = np.isfinite(entries.sum()) or np.isfinite(entries).all()
        if not finite:
            row, column, value = first_not_finite(features)
            raise DataError(
                f"Feature {str(self.get_feature_names_out()[column])!r} of {self._owner()} is {value:g} in row {row}: "
                f"the numbers of X leave the range of {features.dtype}. Rescale the columns first (for example with "
                "sklearn.preprocessing.StandardScaler)."
            )
        return features

    def _inputs(self, given: Any) -> list[str]:
        known, count = self.__dict__.get("feature_names_in_"), self.__dict__["n_features_in_"]
        if given is None:
            return list(known) if known is not None else [f"x{j}" for j in range(count)]
        names = [str(name) for name in given]
        if known is not None and names != list(known):
            raise DataError("input_features is not equal to feature_names_in_: leave it out, or pass those names.")
        if len(names) != count:
            raise DataError(
                f"input_features should have length equal to number of features ({count}), got {len(names)}."
            )
        return names

    def _require_fitted(self, method: str) -> None:
        if not self.__sklearn_is_fitted__():
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(
                f"This {self._owner()} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                f"'{method}'."
            )

    def _owner(self) -> str:
        return type(self).__name__


def numerals(values: Any) -> list[str]:
    """Short texts for numbers, long enough that different numbers have different texts.

    >>> numerals([0.5, 2.0, 1 / 3])
    ['0.5', '2', '0.3333']
    >>> numerals([2000.1, 2000.2])
    ['2000.1', '2000.2']
    """
    numbers = [float(value) for value in values]
    for places in range(4, 18):
        texts = [f"{number:.{places}g}" for number in numbers]
        if len(set(texts)) == len(set(numbers)):
            break
    return texts


def plus(number: float, text: str | None = None) -> str:
    """A signed term: "+1.5", "-2", and nothing for 0."""
    written = text if text is not None else f"{number:.4g}"
    return "" if number == 0 else written if written.startswith("-") else f"+{written}"


def generator(random_state: Any) -> np.random.Generator:
    """A generator from None, a seed, a Generator or scikit-learn's older RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    if RANDOM.holds(random_state):
        return np.random.default_rng(random_state)
    raise ParameterError(
        f"random_state={random_state!r} must be None, an integer at least 0, a numpy Generator or a numpy RandomState."
    )


def whole(number: Any, name: str, owner: str, least: int = 1) -> int:
    """A count that must be an integer of at least ``least``."""
    if isinstance(number, bool | np.bool_) or not isinstance(number, int | np.integer) or number < least:
        raise ParameterError(f"{name}={number!r} of {owner} must be an integer of at least {least}.")
    return int(number)


def finite(number: Any, name: str, owner: str) -> float:
    """A real number."""
    real = isinstance(number, int | float | np.integer | np.floating) and not isinstance(number, bool)
    if not real or not np.isfinite(number):
        raise ParameterError(f"{name}={number!r} of {owner} must be a finite number.")
    return float(number)


def positive(number: Any, name: str, owner: str) -> float:
    """A width or scale that must be a positive finite number."""
    if finite(number, name, owner) <= 0:
        raise ParameterError(f"{name}={number!r} of {owner} must be a positive number.")
    return float(number)
