"""What every basis φ has in common: check the rows, learn what is to be learned, map row by row, name the features.

A basis says three things and nothing else:

    _learn(X, y)   what is taken from the data (centres, widths, wiring), as a dictionary of attributes "…_"
    _map(X)        φ(X), shape (n, d̂); row i of the result depends on row i of X alone
    _names(x)      one readable name per feature, from the names x of the columns

The features never contain the constant: the one in front of φ belongs to the design, as its row 0 of weights.

A basis is a frozen dataclass, and the command line reaches one in milliseconds; scikit-learn's import alone takes
seconds.  So the contract of its transformers (parameters, cloning, tags, ``set_output``, "is it fitted?") is answered
here by duck typing: scikit-learn asks for a method, and only that method imports scikit-learn, which the asker has
loaded already.  What a basis learns in ``fit`` is written past the frozen fields, into ``__dict__``.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast, dataclass_transform

import numpy as np

from discriminant.arguments import RANDOM, Allowed, require
from discriminant.arrays import first_not_finite, is_sparse
from discriminant.bases.inputs import Fitted, Rows, read
from discriminant.docstrings import Entries
from discriminant.errors import DataError, MismatchError, ParameterError, names
from discriminant.protocols import Array

CONTAINERS = ("default", "pandas", "polars")
Class = TypeVar("Class", bound=type)
_ENTRIES = Entries("""
centres : int, "classes" or array-like of shape (m, d)
    How many (placed by ``placement``), the means of the classes of y, or the points themselves.
placement : {"rows", "means"}
    Rows of X, drawn far from each other with a seed, or the k-means that start from them.
random_state : None, int, Generator or RandomState
    Seed of what is drawn at random.
n_features_in_ : int
    d, the columns of X.
n_features_out_ : int
    d̂, the number of features.
X : array-like, sparse matrix or data frame of shape (n, d)
    The rows.
y : array-like of shape (n,) or None
    Labels, for the few bases that learn from classes.
→ directions : ndarray of shape (d, rank)
    Eigenvectors as columns.
→ fit : self
    The same basis, fitted.
→ fit_transform : ndarray, sparse matrix or data frame of shape (n, d̂)
    The features.
→ get_feature_names_out : ndarray of str of shape (d̂,)
    The names.
→ get_params : dict
    Parameters by name.
→ low_rank : QuadraticForm
    A new form.
→ on : Columns
    A new, unfitted basis.
→ quadratic_form : QuadraticForm
    The form.
→ resolve : basis or None
    The basis that is meant; None for the columns as they are.
→ set_output : self
    The same basis.
→ set_params : self
    The same basis.
→ transform : ndarray, sparse matrix or data frame of shape (n, d̂)
    The features.
""")
documented = _ENTRIES.documented


@dataclass_transform(frozen_default=True, eq_default=False)
def basis(**allowed: Allowed) -> Callable[[Class], Class]:
    """A frozen dataclass that is equal to itself only, since what it has learned is no field of it.

    Its parameters are checked at ``fit``, since scikit-learn's searches set them one by one.  Attributes that start
    with "_" can be set: a scikit-learn pipeline writes its bookkeeping on its steps.
    """

    def decorate(cls: Class) -> Class:
        made: Any = dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls)
        made.__setattr__, made.__delattr__ = _private(object.__setattr__), _private(object.__delattr__)
        made._allowed = allowed
        return cast(Class, _ENTRIES.documented(made, "n_features_in_, n_features_out_"))

    return decorate


def _private(change: Callable[..., None]) -> Callable[..., None]:
    """The change of an attribute, of private ones alone."""

    def changed(self: Any, name: str, *value: Any) -> None:
        if not name.startswith("_"):
            raise dataclasses.FrozenInstanceError(
                f"cannot change {name!r} of a {type(self).__name__}: use set_params({name}=...), or make a new one."
            )
        change(self, name, *value)

    return changed


def is_basis(part: Any) -> bool:
    """Whether ``part`` can serve as a basis: an object, not a class, with fit, transform and names of its features."""
    methods = ("fit", "transform", "get_feature_names_out")
    return not isinstance(part, type) and all(callable(getattr(part, method, None)) for method in methods)


@documented
class Expansion:
    """Abstract: a basis as a transformer.  Concrete bases are frozen dataclasses with the three methods above."""

    accepts_sparse: ClassVar[bool] = False
    needs_target: ClassVar[bool] = False
    _allowed: ClassVar[dict[str, Allowed]] = {}  # what the parameters may be

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What was learned, written past the frozen fields."""

    def _learn(self, X: Any, y: Any) -> dict[str, Any]:
        raise NotImplementedError(f"{type(self).__name__} must say its _learn.")

    def _map(self, X: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must say its _map.")

    def _names(self, x: list[str]) -> list[str]:
        raise NotImplementedError(f"{type(self).__name__} must say its _names.")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what the basis takes from the data."""
        self._fit(X, y)
        return self

    def transform(self, X: Any) -> Any:
        """φ(X), in the precision of X."""
        self._require_fitted("transform")
        names = self.__dict__.get("feature_names_in_")
        fitted = Fitted(self.n_features_in_, None if names is None else list(names))
        rows = read(X, self._owner(), sparse=self.accepts_sparse, fitted=fitted)
        return self._wrap(self._features(rows), X)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """The same as ``fit``, then ``transform`` of the same rows, with the checks done once."""
        rows = self._fit(X, y)
        return self._wrap(self._features(rows), X)

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
        for name, allowed in self._allowed.items():
            require(self._owner(), name, getattr(self, name), allowed)
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
        known, count = self.__dict__.get("feature_names_in_"), self.n_features_in_
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

    def _field_names(self) -> list[str]:
        return [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]

    def _nested(self) -> dict[str, Any]:
        """Parts that have parameters of their own, by the prefix that reaches them."""
        values = {name: getattr(self, name) for name in self._field_names()}
        return {name: part for name, part in values.items() if is_basis(part) and hasattr(part, "get_params")}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, as scikit-learn's estimators give them.

        Parameters
        ----------
        deep : bool, default=True
            Also those of the parts, as ``part__parameter``.
        """
        params = {name: getattr(self, name) for name in self._field_names()}
        if deep:
            for prefix, part in self._nested().items():
                params |= {f"{prefix}__{name}": value for name, value in part.get_params(deep=True).items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Change parameters in place, as scikit-learn's searches do; what was learned before stays until ``fit``.

        Parameters
        ----------
        **params : any
            New values by name.
        """
        for key in sorted(params, key=lambda key: "__" in key):  # a replaced part first, then its own parameters
            prefix, nested, rest = key.partition("__")
            if nested and prefix in (parts := self._nested()):
                parts[prefix].set_params(**{rest: params[key]})
            elif nested or key not in self._field_names():
                known = names(sorted(self.get_params(deep=True)), most=30)
                raise ParameterError(
                    f"Invalid parameter {key!r} for estimator {self!r}. Valid parameters are: {known}."
                )
            else:
                self.__dict__[key] = params[key]
        return self

    def __repr__(self) -> str:
        changed = []
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            same = type(value) is type(field.default) and not isinstance(value, np.ndarray) and value == field.default
            if not same:
                changed.append(f"{field.name}={np.array_repr(value) if isinstance(value, np.ndarray) else repr(value)}")
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_clone__(self) -> Self:
        from sklearn.base import clone

        fresh = type(self)(**{name: clone(value, safe=False) for name, value in self.get_params(deep=False).items()})
        if "_container" in self.__dict__:
            fresh.__dict__["_container"] = self.__dict__["_container"]
        return fresh

    def __sklearn_is_fitted__(self) -> bool:
        return "n_features_in_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=self.needs_target),
            transformer_tags=TransformerTags(preserves_dtype=["float64", "float32"]),
            input_tags=InputTags(sparse=self.accepts_sparse),
        )

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose the container that ``transform`` returns.

        Parameters
        ----------
        transform : {"default", "pandas", "polars", None}, default=None
            Arrays or data frames; None changes nothing.
        """
        if transform is None:
            return self
        if transform not in CONTAINERS:
            raise ParameterError(f"set_output(transform={transform!r}): it must be one of {names(CONTAINERS)}.")
        self.__dict__["_container"] = transform
        return self

    def _wrap(self, features: Any, X: Any) -> Any:
        """Features in the container that was asked for, here or by ``sklearn.set_config``; pandas keeps its index."""
        container = self.__dict__.get("_container")
        if container is None and "sklearn" in sys.modules:  # not loaded: nobody can have set its configuration
            from sklearn import get_config

            container = get_config()["transform_output"]
        if container in (None, "default"):
            return features
        if not isinstance(features, np.ndarray):
            raise MismatchError(
                f"{self!r} gives sparse features for sparse input, and a {container} frame is dense: pass X.toarray(), "
                "or call set_output(transform='default')."
            )
        if container == "polars":
            import polars

            return polars.DataFrame(features, schema=list(self.get_feature_names_out()), orient="row")
        import pandas

        index = getattr(X, "index", None)
        index = index if isinstance(index, pandas.Index) else None
        return pandas.DataFrame(features, columns=list(self.get_feature_names_out()), index=index)


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
