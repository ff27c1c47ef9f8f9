"""Methods that an estimator has with some parameters only: elsewhere they are not there, and a sentence says why."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any


class Available:
    """A method that is there where ``check`` raises no AttributeError; its sentence is what the caller sees.

    scikit-learn's ``available_if`` puts a sentence of its own in front.
    """

    def __init__(self, fn: Callable[..., Any], check: Callable[[Any], None]) -> None:
        self.fn, self.check = fn, check
        functools.update_wrapper(self, fn)  # type: ignore[arg-type]

    def __get__(self, model: Any, owner: Any = None) -> Any:
        if model is None:
            return self.fn
        self.check(model)
        return MethodType(self.fn, model)


def available_if(check: Callable[[Any], None]) -> Callable[[Callable[..., Any]], Any]:
    """Hide a method from ``hasattr`` where ``check(model)`` raises an AttributeError."""
    return lambda fn: Available(fn, check)
