"""What the arguments of public functions may be: said beside the function, checked before it runs.

Estimators say the same of their parameters by scikit-learn's ``_parameter_constraints``; functions below them load no
scikit-learn.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import os
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar

import numpy as np

from discriminant.errors import ParameterError, names, require_unmasked

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
    what = "an integer" if whole else "a finite number" if right and not above else "a number"
    return Allowed(f"{what} {' and '.join(filter(None, (below, above)))}".strip(), holds)


def among(*words: str) -> Allowed:
    """One of some words, as they are written."""
    return Allowed(f"one of {names(words, most=20)}", lambda value: isinstance(value, str) and value in words)


def optional(allowed: Allowed) -> Allowed:
    """That, or None."""
    return Allowed(f"{allowed.words}, or None", lambda value: value is None or allowed.holds(value))


def either(first: Allowed, second: Allowed) -> Allowed:
    """The one or the other."""
    return Allowed(f"{first.words}, or {second.words}", lambda value: first.holds(value) or second.holds(value))


def some_numbers(words: str, holds: Callable[[Any], bool] = lambda values: True) -> Allowed:
    """An array of numbers of which ``holds`` is true."""

    def all_hold(value: Any) -> bool:
        try:
            require_unmasked(value, words)
            given = np.asarray(value)
            return given.dtype.kind in "fiubO" and bool(holds(given.astype(np.float64)))
        except (TypeError, ValueError):
            return False

    return Allowed(words, all_hold)


def numbers(ndim: int, words: str) -> Allowed:
    """An array of numbers with so many dimensions."""
    return some_numbers(words, lambda values: values.ndim == ndim)


BOOLEAN = Allowed("True or False", lambda value: isinstance(value, bool | np.bool_))
CALLABLE = Allowed("callable", callable)
CLASS_WEIGHT = Allowed(
    "a dict, 'balanced' or None",
    lambda value: value is None or isinstance(value, Mapping) or (isinstance(value, str) and value == "balanced"),
)
COUNT = number(1, whole=True)
FLOAT = Allowed("float32, float64 or None", lambda value: value is None or _is_float(value))
MODEL = Allowed("a model", lambda value: value is not None and not isinstance(value, str | bytes | Real | list | tuple))
FINITE = number(-np.inf, np.inf, open_="both")
NOT_NEGATIVE = number(0, np.inf, open_="high")
POSITIVE = number(0, np.inf, open_="both")
PATH = Allowed("a path, as text or os.PathLike", lambda value: isinstance(value, str | os.PathLike))
SEED = FROM_ZERO = number(0, whole=True)
NUMBERS = some_numbers(
    "a sequence of finite numbers, such as (1.0, 2.0)",
    lambda values: values.ndim == 1 and values.size > 0 and bool(np.isfinite(values).all()),
)
POINTS = some_numbers(
    "finite points, one in a row",
    lambda values: values.ndim == 2 and values.size > 0 and bool(np.isfinite(values).all()),
)
SHARE = number(0, 1, open_="both")
RANDOM = Allowed(
    "an integer at least 0, a generator of random numbers, or None",
    lambda value: value is None or SEED.holds(value) or isinstance(value, np.random.Generator | np.random.RandomState),
)
TEXT = Allowed("text that is not empty", lambda value: isinstance(value, str) and bool(value))


def _is_float(dtype: Any) -> bool:
    try:
        return np.dtype(dtype) in (np.float32, np.float64)
    except TypeError:
        return False


def checked(**allowed: Allowed) -> Callable[[Function], Function]:
    """Refuse arguments that are not what is allowed, in a sentence that names the argument and the value.

    Below ``@dataclass`` the arguments are its fields, looked at when it is made, with those of the classes above it.

    >>> @checked(n=COUNT)
    ... def twice(n):
    ...     return 2 * n
    >>> twice(0)
    Traceback (most recent call last):
    ...
    discriminant.errors.ParameterError: The 'n' parameter of twice must be an integer at least 1. Got 0 instead.
    """

    def decorate(function: Function) -> Function:
        if isinstance(function, type):
            return _with_checked_fields(function, allowed)  # type: ignore[no-any-return]
        every = inspect.signature(function).parameters
        assert set(allowed) <= set(every), f"{function.__name__} has no such argument"
        places = [name for name, one in every.items() if one.kind is not one.VAR_POSITIONAL]

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            for name, value in itertools.chain(zip(places, args, strict=False), kwargs.items()):
                if name in allowed:
                    require(function.__name__, name, value, allowed[name])
            return function(*args, **kwargs)

        return run  # type: ignore[return-value]

    return decorate


def _with_checked_fields(cls: Any, allowed: dict[str, Allowed]) -> Any:
    above = [base for base in cls.__mro__[1:] if "_allowed" in vars(base)]
    cls._allowed = {**(above[0]._allowed if above else {}), **allowed}
    own = vars(cls).get("__post_init__")
    if above and own is None:  # that of the class above looks at all that its heirs allow
        return cls

    def __post_init__(self: Any) -> None:
        for name, one in self._allowed.items():
            require(type(self).__name__, name, getattr(self, name), one)
        if own is not None:
            own(self)

    cls.__post_init__ = __post_init__
    return cls


def require(owner: str, name: str, value: Any, allowed: Allowed) -> None:
    """Refuse a value of a parameter that it may not be."""
    if not allowed.holds(value):
        raise ParameterError(f"The {name!r} parameter of {owner} must be {allowed.words}. Got {value!r} instead.")
