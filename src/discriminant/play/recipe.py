"""An estimator as data: one description that is built for the fit and written out as Python for the reader.

A recipe is a name of this package with its arguments, which may be recipes themselves.  Because the object and the
text come from the same description, the Python that the page hands out does what the page did.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_OUTSIDE = {"make_pipeline": "sklearn.pipeline"}  # names that are not ours, and where they live


@dataclass(frozen=True)
class Recipe:
    """``name(*parts, **options)``; a dotted name, such as ``bases.Polynomial``, lies in a folder of the package.

    >>> Recipe("Perceptron", options={"basis": Recipe("bases.Polynomial", (2,)), "tol": None}).source()
    'Perceptron(basis=bases.Polynomial(2), tol=None)'
    """

    name: str
    parts: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    def build(self) -> Any:
        """The object."""
        made = [part.build() if isinstance(part, Recipe) else part for part in self.parts]
        options = {key: value.build() if isinstance(value, Recipe) else value for key, value in self.options.items()}
        return self._find()(*made, **options)

    def _find(self) -> Any:
        if self.name in _OUTSIDE:
            return getattr(importlib.import_module(_OUTSIDE[self.name]), self.name)
        found: Any = importlib.import_module("discriminant")
        for step in self.name.split("."):
            found = getattr(found, step)
        return found

    def source(self) -> str:
        """The Python that builds it."""
        given = [_written(part) for part in self.parts]
        given += [f"{key}={_written(value)}" for key, value in self.options.items()]
        return f"{self.name}({', '.join(given)})"

    def imports(self) -> list[str]:
        """The lines that import what the source names."""
        ours, outside = set(), []
        for name in self._names():
            if name in _OUTSIDE:
                outside.append(f"from {_OUTSIDE[name]} import {name}")
            else:
                ours.add(name.partition(".")[0])
        return [*sorted(set(outside)), f"from discriminant import {', '.join(sorted(ours))}"]

    def _names(self) -> Iterator[str]:
        yield self.name
        for value in (*self.parts, *self.options.values()):
            if isinstance(value, Recipe):
                yield from value._names()


def _written(value: Any) -> str:
    return value.source() if isinstance(value, Recipe) else repr(value)
