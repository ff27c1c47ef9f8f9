"""What the arguments of public functions may be: said beside the function, checked before it runs.

Estimators say the same of their parameters by scikit-learn's ``_parameter_constraints``; functions below them load no
scikit-learn.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar

import numpy as np

from discriminant.errors import ParameterError, names

Function = TypeVar("Function", bound=Callable[..., Any])


class Allowed(NamedTuple):
    """What a value may be, in words and as a test."""

    words: str
    holds: Callable[[Any], bool]


def number(low: float = -np.inf, high: float = np.inf, *, open_: str = "", whole: bool = False) -> Allowed:
    """A number from ``low`` to ``high``; ``open_`` names the ends that are left out: "low", "high" or "both"."""
    kind = Integral if whole else Real
    left, right = open_ in ("low", "both"), open_ in ("high", "both")

    def holds(value: Any) -> bool:
        if not isinstance(value, kind) or isinstance(value, bool | np.bool_):
            return False
        x: Any = value
        return bool((low < x if left else low <= x) and (x < high if right else x <= high))

    below = f"{'greater than' if left else 'at least'} {low:g}" if low > -np.inf else ""
    above = f"{'less than' if right else 'at most'} {high:g}" if high < np.inf else ""
    return Allowed(
        f"{'an integer' if whole else 'a number'} {' and '.join(filter(None, (below, above)))}".strip(), holds
    )


def among(*words: str) -> Allowed:
    """One of some words, as they are written."""
    return Allowed(f"one of {names(words, most=20)}", lambda value: isinstance(value, str) and value in words)


def optional(allowed: Allowed) -> Allowed:
    """That, or None."""
    return Allowed(f"{allowed.words}, or None", lambda value: value is None or allowed.holds(value))


def numbers(ndim: int, words: str) -> Allowed:
    """An array of numbers with so many dimensions."""

    def holds(value: Any) -> bool:
        if isinstance(value, str | bytes):
            return False
        try:
            return np.asarray(value, dtype=np.float64).ndim == ndim
        except (TypeError, ValueError):
            return False

    return Allowed(words, holds)


BOOLEAN = Allowed("True or False", lambda value: isinstance(value, bool | np.bool_))
CLASS_WEIGHT = Allowed(
    "a dict, 'balanced' or None",
    lambda value: value is None or isinstance(value, Mapping) or (isinstance(value, str) and value == "balanced"),
)
COUNT = number(1, whole=True)
MODEL = Allowed("a model", lambda value: value is not None and not isinstance(value, str | bytes | Real | list | tuple))
PATH = Allowed("a path, as text or os.PathLike", lambda value: isinstance(value, str | os.PathLike))
SEED = number(0, whole=True)
TEXT = Allowed("text that is not empty", lambda value: isinstance(value, str) and bool(value))


def checked(**allowed: Allowed) -> Callable[[Function], Function]:
    """Refuse arguments that are not what is allowed, in a sentence that names the argument and the value.

    >>> @checked(n=COUNT)
    ... def twice(n):
    ...     return 2 * n
    >>> twice(0)
    Traceback (most recent call last):
    ...
    discriminant.errors.ParameterError: The 'n' parameter of twice must be an integer at least 1. Got 0 instead.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        assert set(allowed) <= set(signature.parameters), f"{function.__name__} has no such argument"

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                if name in allowed and not allowed[name].holds(value):
                    raise ParameterError(
                        f"The {name!r} parameter of {function.__name__} must be {allowed[name].words}. Got {value!r} "
                        "instead."
                    )
            return function(*args, **kwargs)

        return run  # type: ignore[return-value]

    return decorate
