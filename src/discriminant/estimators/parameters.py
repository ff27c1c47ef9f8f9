"""The parameters of estimators: their names, defaults and what they may be, each in one place.

An estimator under ``parameters`` lists its parameters as the fields of a dataclass.  What they may be
(scikit-learn's ``_parameter_constraints``) is said in ``SHARED`` for those that many estimators have, and beside the
class for its own.  ``require_valid`` is asked before every fit and plan, and refuses all else in a sentence that names
the parameter, the value and what is allowed.  What depends on the data or on another parameter (the shape of
``priors``, the labels in ``class_weight``) is judged where both are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cache
from inspect import signature
from numbers import Integral, Real
from typing import Any, TypeVar, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    StrOptions,
    validate_parameter_constraints,
)

from discriminant.docstrings import documented
from discriminant.errors import ParameterError, names
from discriminant.methods.parameters import with_parameters

Class = TypeVar("Class", bound=type)


class RefusedParameterError(ParameterError, InvalidParameterError):  # type: ignore[misc]
    """A parameter that is not what it may be: this package's error, and scikit-learn's own."""


class Number(Interval):  # type: ignore[misc]
    """A number of a range.  True and False are none, though Python counts them among the integers."""

    def is_satisfied_by(self, val: Any) -> bool:
        return not isinstance(val, bool | np.bool_) and bool(super().is_satisfied_by(val))


class Among(StrOptions):  # type: ignore[misc]
    """One of some words, as they are written."""

    def __init__(self, *options: str) -> None:
        super().__init__(set(options))
        self._listed = options

    def __str__(self) -> str:
        return f"one of {names(self._listed, most=20)}" if len(self._listed) > 1 else repr(self._listed[0])


class Named(Among):
    """The name of a part, in which case and underscores do not count."""

    def is_satisfied_by(self, val: Any) -> bool:
        return isinstance(val, str) and val.lower().replace("_", "-") in self.options


POSITIVE = Number(Real, 0, None, closed="neither")
NOT_NEGATIVE = Number(Real, 0, None, closed="left")
FRACTION = Number(Real, 0, 1, closed="both")
COUNT = Number(Integral, 1, None, closed="left")
DURATION = Number(Real, 0, None, closed="right")  # seconds; infinity: no limit

BOOLEAN = ["boolean"]
PRIORS = [None, "array-like"]  # a mapping is one

SHARED: dict[str, Any] = {
    "average": BOOLEAN,
    "basis": [None, str, list, tuple, callable, HasMethods(["fit", "transform"])],
    "callback": [None, callable],
    "class_weight": [None, Among("balanced"), dict],
    "covariance": [Among("maximum-likelihood", "ml", "unbiased", "robust")],
    "covariance_estimator": [None, HasMethods("fit")],
    "decoder": [None, Among("maximum", "sum", "votes", "unanimous", "nearest")],
    "early_stopping": BOOLEAN,
    "fit_intercept": BOOLEAN,
    "form": [Among("full", "diagonal", "spherical")],
    "mode": [Among("single-sample", "batch")],
    "n_iter_no_change": [COUNT],
    "n_jobs": [None, Integral],
    "priors": PRIORS,
    "random_state": ["random_state", np.random.Generator],
    "reject_label": "no_validation",  # anything can be a label
    "scale": [Among("mean", "sum")],
    "shuffle": BOOLEAN,
    "start": [None, Among("random"), "array-like"],
    "store_covariance": BOOLEAN,
    "trace": BOOLEAN,
    "validation_fraction": [Number(Real, 0, 1, closed="neither")],
    "verbose": ["verbose"],
    "warm_start": BOOLEAN,
}


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def parameters(**own: Any) -> Callable[[Class], Class]:
    """An estimator whose parameters are its fields; ``own``: what those may be that are not in ``SHARED``.

    The dataclass writes the ``__init__`` that scikit-learn asks for: it stores each parameter as it is, and no more.
    """

    def complete(cls: Class) -> Class:
        dataclass(eq=False, repr=False, match_args=False)(with_parameters(cls))  # in place
        names = [one.name for one in fields(cls) if one.init]
        cls._parameter_constraints = {name: own[name] if name in own else SHARED[name] for name in names}  # type: ignore[attr-defined]
        # Only the __init__ was wanted.  A dataclass is its fields, and an estimator is also what it has learned: Dask
        # would take two models with the same parameters for one.  Nor are defaults meant for subclasses with others.
        del cls.__dataclass_fields__, cls.__dataclass_params__  # type: ignore[attr-defined]
        for name in names:
            if name in vars(cls):
                delattr(cls, name)
        return documented(cls, "n_features_in_, feature_names_in_")

    return complete


@cache
def _defaults(kind: type) -> dict[str, Any]:
    """The names of the parameters, and their defaults: to check all of them anew is a fifth of a fit of 200×10."""
    every = signature(kind).parameters.values()
    return {one.name: one.default for one in every if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}


def require_valid(estimator: BaseEstimator) -> None:
    """Refuse parameters that are not what the estimator's ``_parameter_constraints`` allow, as the defaults are."""
    kind: Any = type(estimator)
    given = {
        name: value for name, default in _defaults(kind).items() if (value := getattr(estimator, name)) is not default
    }
    try:
        validate_parameter_constraints(estimator._parameter_constraints, given, caller_name=kind.__name__)
    except InvalidParameterError as refused:
        raise RefusedParameterError(str(refused)) from None
