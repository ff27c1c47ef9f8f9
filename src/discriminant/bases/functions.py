"""Functions of the user as a basis: φ(x) = (f₁(x), f₂(x), …)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from discriminant.arguments import Allowed
from discriminant.bases.expansion import Expansion, basis
from discriminant.errors import DataError, MismatchError, names
from discriminant.protocols import Array

Function = Callable[[Array], Any]
FUNCTIONS = Allowed(
    "callables, or a mapping of names to them",
    lambda given: callable(given) or (isinstance(given, Mapping | Sequence) and len(given) > 0),
)


@basis(functions=FUNCTIONS)
class Functions(Expansion):
    """f₁(X), f₂(X), …: each takes the rows (n, d) and gives one value per row (n,), or several (n, k).

    Any fixed nonlinear functions φ(x) (PRML 4.3.1).

    Parameters
    ----------
    functions : mapping of str to callable, sequence of callables, or callable, default=()
        Each takes the rows (n, d).  Without names a function's own name is used.  They must be defined in a module
        if the fitted model is to be pickled.

    See Also
    --------
    resolve : Makes one of a callable.

    Notes
    -----
    A function whose value for a row depends on other rows (a mean, a rank) is refused at ``fit``: a basis maps row by
    row, or a prediction would depend on which rows are predicted together.

    >>> area = Functions({"area": lambda X: X[:, 0] * X[:, 1]})
    >>> area.fit_transform([[2.0, 3.0], [1.0, 5.0]]).ravel().tolist()
    [6.0, 5.0]
    >>> Functions(np.tanh).fit([[0.0, 1.0]]).get_feature_names_out().tolist()
    ['tanh(x0)', 'tanh(x1)']
    """

    functions: Mapping[str, Function] | Sequence[Function] | Function = ()

    def _learn(self, X: Any, y: Any) -> dict[str, Any]:
        named = self._named()
        with np.errstate(all="ignore"):
            values = [evaluate(function, X, name) for name, function in named.items()]
            for (name, function), value in zip(named.items(), values, strict=True):
                _require_row_by_row(function, X, value, name)
        return {"functions_": named, "widths_": [value.shape[1] for value in values]}

    def _named(self) -> dict[str, Function]:
        given: Any = self.functions
        if isinstance(given, Mapping):
            named = {str(name): function for name, function in given.items()}
        else:
            named = {}
            for k, function in enumerate((given,) if callable(given) else tuple(given), start=1):
                name = getattr(function, "__name__", "<lambda>")
                name = f"f{k}" if name == "<lambda>" else name
                named[name if name not in named else f"{name}#{k}"] = function
        for name, function in named.items():
            if not callable(function):
                raise MismatchError(f"{name}={function!r} of Functions is not callable.")
        return named

    def _map(self, X: Any) -> Array:
        values = [evaluate(f, X, name) for name, f in self.functions_.items()]
        widths = [value.shape[1] for value in values]
        if widths != self.widths_:
            raise DataError(
                f"The functions {names(list(self.functions_))} gave {self.widths_} columns at "
                f"fit and give {widths} now: the number must not depend on the rows."
            )
        return np.concatenate(values, axis=1)

    def _names(self, x: list[str]) -> list[str]:
        named: list[str] = []
        for name, width in zip(self.functions_, self.widths_, strict=True):
            if width == 1:
                named.append(name if isinstance(self.functions, Mapping) or len(x) > 1 else f"{name}({x[0]})")
            elif width == len(x):
                named += [f"{name}({column})" for column in x]
            else:
                named += [f"{name}[{k}]" for k in range(width)]
        return named


def evaluate(function: Function, X: Array, name: str) -> Array:
    """f(X) as (n, k) in the precision of X."""
    value = np.asarray(function(X))
    if value.dtype.kind not in "fiub":
        raise MismatchError(f"Function {name!r} gave values of type {value.dtype}, and a feature is a real number.")
    if value.ndim == 1:
        value = value[:, None]
    if value.ndim != 2 or value.shape[0] != X.shape[0]:
        raise DataError(
            f"Function {name!r} gave shape {np.shape(value)} for {X.shape[0]} rows: it takes X (n, d) and must give "
            "one value per row, (n,) or (n, k)."
        )
    return value.astype(X.dtype, copy=False)


def _require_row_by_row(function: Function, X: Array, together: Array, name: str) -> None:
    for row in {0, X.shape[0] - 1}:
        alone = evaluate(function, X[row : row + 1], name)
        if alone.shape != (1, together.shape[1]) or not np.allclose(
            alone[0], together[row], rtol=1e-4 if X.dtype == np.float32 else 1e-8, atol=0.0, equal_nan=True
        ):
            raise DataError(
                f"Function {name!r} gives row {row} another value alone than among the other rows: a basis maps row by "
                "row. Learn what it takes from all rows (a mean, a scale) in a transformer before this one."
            )
