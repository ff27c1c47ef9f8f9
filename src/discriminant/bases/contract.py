"""scikit-learn's transformer contract, kept without importing scikit-learn.

A basis is a frozen dataclass, and the command line reaches one in milliseconds; scikit-learn's import alone takes
seconds.  So the contract (parameters, cloning, tags, ``set_output``, "is it fitted?") is answered here by duck typing:
scikit-learn asks for a method, and only that method imports scikit-learn, which the asker has loaded already.

What a basis learns in ``fit`` is written past the frozen fields, into ``__dict__``, under names that end in "_".
"""

from __future__ import annotations

import copy
import dataclasses
import sys
from typing import Any, ClassVar, Self, TypeVar, cast, dataclass_transform

import numpy as np

from discriminant.docstrings import Entries
from discriminant.errors import MismatchError, ParameterError, names
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
def basis(cls: Class) -> Class:
    """A frozen dataclass that is equal to itself only, since what it has learned is no field of it.

    Attributes that start with "_" can be set: a scikit-learn pipeline writes its bookkeeping on its steps.
    """
    made: Any = dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls)
    made.__setattr__, made.__delattr__ = _set, _delete
    return cast(Class, _ENTRIES.documented(made, "n_features_in_, n_features_out_"))


def _set(self: Any, name: str, value: Any) -> None:
    _require_private(self, name)
    object.__setattr__(self, name, value)


def _delete(self: Any, name: str) -> None:
    _require_private(self, name)
    object.__delattr__(self, name)


def _require_private(self: Any, name: str) -> None:
    if not name.startswith("_"):
        raise dataclasses.FrozenInstanceError(
            f"cannot change {name!r} of a {type(self).__name__}: use set_params({name}=...), or make a new one."
        )


def is_basis(part: Any) -> bool:
    """Whether ``part`` can serve as a basis: an object, not a class, with fit, transform and names of its features."""
    methods = ("fit", "transform", "get_feature_names_out")
    return not isinstance(part, type) and all(callable(getattr(part, method, None)) for method in methods)


@documented
class Contract:
    """Parameters, cloning, tags and output containers, for frozen dataclasses."""

    accepts_sparse: ClassVar[bool] = False
    needs_target: ClassVar[bool] = False

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
                raise ParameterError(
                    f"Invalid parameter {key!r} for estimator {self!r}. Valid parameters are: {self._known()}."
                )
            else:
                self.__dict__[key] = params[key]
        return self

    def _known(self) -> str:
        return names(sorted(self.get_params(deep=True)), most=30)

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

    def _wrap(self, features: Any, X: Any, feature_names: Any) -> Any:
        """Features in the container that was asked for, here or by ``sklearn.set_config``."""
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
        return frame(container, features, list(feature_names()), getattr(X, "index", None))


def frame(container: str, features: Array, columns: list[str], index: Any = None) -> Any:
    """Features as a pandas or polars frame with named columns; pandas keeps the index of a pandas input."""
    if container == "polars":
        import polars

        return polars.DataFrame(features, schema=columns, orient="row")
    import pandas

    return pandas.DataFrame(features, columns=columns, index=index if isinstance(index, pandas.Index) else None)


def fresh(part: Any) -> Any:
    """A copy of a basis that can be fitted without touching the one the user holds."""
    return copy.deepcopy(part)
