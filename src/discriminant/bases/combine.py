"""Bases side by side, (φ + ψ)(x) = (φ(x), ψ(x)), and a basis on chosen columns, φ(x_S).

``Log().on("income") + Polynomial(2).on("age", "height") + Linear()`` is one basis.  Any transformer of scikit-learn
that names its features can be a part.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from discriminant.arguments import Allowed
from discriminant.arrays import is_sparse
from discriminant.bases.expansion import Expansion, basis, is_basis
from discriminant.bases.inputs import Rows
from discriminant.errors import DataError, MismatchError, ParameterError, names
from discriminant.protocols import Array

PARTS = Allowed("a list or tuple of bases", lambda parts: isinstance(parts, list | tuple) and len(parts) > 0)
COLUMNS = Allowed(
    "names or positions of columns, as in Sine().on('age') or Sine().on(0)",
    lambda columns: isinstance(columns, int | np.integer | str | Sequence | np.ndarray) and np.size(columns) > 0,
)


@basis(parts=PARTS)
class Concatenation(Expansion):
    """(φ₁(x), φ₂(x), …): the features of all parts; written ``φ₁ + φ₂ + …``.

    In a search a part is named in lower case: ``polynomial__degree``; ``sine-2__phase`` for the second of two.
    Features of the same name get the number of their part: "unit1#1", "unit1#2".

    Parameters
    ----------
    parts : sequence of bases, default=()
        The φ_i, ours or scikit-learn's transformers.

    Attributes
    ----------
    parts_ : tuple
        The fitted parts; those given stay unfitted.

    See Also
    --------
    Columns : A basis on some columns.
    resolve : The same from a text, such as "log@income + linear".

    >>> from discriminant.bases import Linear, Sine
    >>> (Linear() + Sine()).fit([[0.0, 1.0]]).get_feature_names_out().tolist()
    ['x0', 'x1', 'sin(x0)', 'sin(x1)']
    """

    parts: Sequence[Any] = ()

    @property
    def accepts_sparse(self) -> bool:  # type: ignore[override]
        """Whether every part takes sparse rows."""
        return all(takes_sparse(part) for part in self._listed())

    @property
    def needs_target(self) -> bool:  # type: ignore[override]
        """Whether some part learns from y."""
        return any(wants_target(part) for part in self._listed())

    def _listed(self) -> Sequence[Any]:
        return self.parts if isinstance(self.parts, list | tuple) else ()

    def _nested(self) -> dict[str, Any]:
        kinds = [type(part).__name__.lower() for part in self._listed()]
        total, seen, nested = Counter(kinds), Counter[str](), {}
        for kind, part in zip(kinds, self._listed(), strict=True):
            seen[kind] += 1
            nested[kind if total[kind] == 1 else f"{kind}-{seen[kind]}"] = part
        return {name: part for name, part in nested.items() if hasattr(part, "get_params")}

    def __repr__(self) -> str:
        return " + ".join(map(repr, self._listed())) if self._listed() else super().__repr__()

    def _learn_named(self, rows: Rows, y: Any) -> dict[str, Any]:
        for part in self.parts:
            _require_basis(part)
        return {"parts_": tuple(fit_part(part, rows, y) for part in self.parts)}

    def _map(self, X: Any) -> Any:
        return side_by_side([map_part(part, X) for part in self.parts_], X.dtype)

    def _names(self, x: list[str]) -> list[str]:
        lists = [name_part(part, x) for part in self.parts_]
        total = Counter(name for some in lists for name in some)
        return [name if total[name] == 1 else f"{name}#{k}" for k, some in enumerate(lists, start=1) for name in some]


@basis(columns=COLUMNS)
class Columns(Expansion):
    """φ(x_S): a basis on some columns, by name or position; written ``φ.on("age", "height")``.

    The other columns are left out; add them with ``+ Linear()``.  A generalised linear discriminant on chosen
    attributes (Duda, Hart and Stork 5.3).

    Parameters
    ----------
    basis : basis, default=None
        φ, ours or a transformer of scikit-learn.
    columns : sequence of str or int, default=()
        The columns S, by name or position.

    Attributes
    ----------
    indices_ : ndarray of int
        The positions of the columns.
    basis_ : basis
        The fitted basis; the one given stays unfitted.

    See Also
    --------
    Concatenation : Several bases side by side.

    >>> from discriminant.bases import Sine
    >>> Sine().on(1).fit([[0.0, 1.0, 2.0]]).get_feature_names_out().tolist()
    ['sin(x1)']
    """

    basis: Any = None
    columns: Sequence[str | int] = ()

    @property
    def accepts_sparse(self) -> bool:  # type: ignore[override]
        """Whether the basis takes sparse rows."""
        return takes_sparse(self.basis)

    @property
    def needs_target(self) -> bool:  # type: ignore[override]
        """Whether the basis learns from y."""
        return wants_target(self.basis)

    def __repr__(self) -> str:
        if not isinstance(self.basis, Expansion) or not isinstance(self.columns, tuple):
            return super().__repr__()
        inner = f"({self.basis!r})" if isinstance(self.basis, Concatenation) else repr(self.basis)
        return f"{inner}.on({', '.join(map(repr, self.columns))})"

    def _learn_named(self, rows: Rows, y: Any) -> dict[str, Any]:
        _require_basis(self.basis)
        indices = self._indices(rows.names, rows.values.shape[1])
        chosen = Rows(rows.values[:, indices], None if rows.names is None else [rows.names[j] for j in indices])
        return {"indices_": np.array(indices), "basis_": fit_part(self.basis, chosen, y)}

    def _indices(self, known: list[str] | None, d: int) -> list[int]:
        wanted = [self.columns] if isinstance(self.columns, str | int | np.integer) else list(self.columns)
        return [_position(column, known, d) for column in wanted]

    def _map(self, X: Any) -> Any:
        return side_by_side([map_part(self.basis_, X[:, self.indices_])], X.dtype)

    def _names(self, x: list[str]) -> list[str]:
        return name_part(self.basis_, [x[j] for j in self.indices_])


def concatenate(*parts: Any) -> Concatenation:
    """The parts side by side, nested concatenations opened up."""
    flat: list[Any] = []
    for part in parts:
        _require_basis(part)
        flat += part.parts if isinstance(part, Concatenation) else [part]
    return Concatenation(tuple(flat))


def _require_basis(part: Any) -> None:
    if not is_basis(part):
        hint = f": write {part.__name__}()" if isinstance(part, type) else ""
        raise MismatchError(
            f"{part!r} cannot be part of a basis{hint}; a part has fit, transform and get_feature_names_out."
        )


def _position(column: Any, known: list[str] | None, d: int) -> int:
    if isinstance(column, str):
        if known is None:
            raise DataError(f"Column {column!r} was asked for and X has no column names: give positions, or a frame.")
        if column not in known:
            raise DataError(f"X has no column {column!r}; its columns are {names(known)}.")
        return known.index(column)
    if isinstance(column, bool | np.bool_) or not isinstance(column, int | np.integer):
        raise ParameterError(f"Column {column!r} of columns= must be a name or a position.")
    if not -d <= column < d:
        raise DataError(f"Column {column} was asked for and X has {d} columns.")
    return int(column) % d


def takes_sparse(part: Any) -> bool:
    """Whether a part accepts sparse rows: ours say so, scikit-learn's have a tag."""
    return (
        part.accepts_sparse if isinstance(part, Expansion) else bool(is_basis(part) and _tags(part).input_tags.sparse)
    )


def wants_target(part: Any) -> bool:
    """Whether a part needs y to be fitted."""
    return (
        part.needs_target if isinstance(part, Expansion) else bool(is_basis(part) and _tags(part).target_tags.required)
    )


def _tags(part: Any) -> Any:
    from sklearn.utils import get_tags

    return get_tags(part)


def fit_part(part: Any, rows: Rows, y: Any) -> Any:
    """A fitted copy of a part, ours (with the columns' names) or scikit-learn's (on the array)."""
    fitted = copy.deepcopy(part)  # the user's own stays unfitted
    if isinstance(fitted, Expansion):
        fitted._fit_rows(rows, y)
        return fitted
    if hasattr(fitted, "set_output"):
        fitted.set_output(transform="default")
    return fitted.fit(rows.values, y)


def map_part(part: Any, X: Any) -> Any:
    """The features of a fitted part."""
    return part._map(X) if isinstance(part, Expansion) else part.transform(X)


def name_part(part: Any, x: list[str]) -> list[str]:
    """The names of a fitted part's features, from the names of its columns."""
    return part._names(x) if isinstance(part, Expansion) else [str(name) for name in part.get_feature_names_out(x)]


def side_by_side(blocks: list[Any], dtype: np.dtype[Any]) -> Array | Any:
    """One matrix of several with the same rows: sparse where one of them is, else dense."""
    if any(is_sparse(block) for block in blocks):
        from scipy import sparse

        return sparse.hstack(blocks, format="csr", dtype=dtype)
    dense = [np.asarray(block).astype(dtype, copy=False) for block in blocks]
    return dense[0] if len(dense) == 1 else np.concatenate(dense, axis=1)
