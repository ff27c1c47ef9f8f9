"""An estimator as data: one description that is built for the fit and written out as Python for the reader.

A recipe is a name of this package with its arguments, which may be recipes themselves.  Because the object and the
text come from the same description, the Python that the page hands out does what the page did.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from operator import attrgetter
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
        home = importlib.import_module(_OUTSIDE.get(self.name, "discriminant"))
        return attrgetter(self.name)(home)(*made, **options)

    def source(self) -> str:
        """The Python that builds it."""
        given = [_written(part) for part in self.parts]
        given += [f"{key}={_written(value)}" for key, value in self.options.items()]
        return f"{self.name}({', '.join(given)})"

    def imports(self, *more: str) -> list[str]:
        """The lines that import what the source names, and more of this package."""
        names = self._names()
        ours = sorted({name.partition(".")[0] for name in names - _OUTSIDE.keys()} | {*more})
        outside = [f"from {_OUTSIDE[name]} import {name}" for name in sorted(names & _OUTSIDE.keys())]
        return [*outside, "", f"from discriminant import {', '.join(ours)}"]

    def _names(self) -> set[str]:
        parts = [part for part in (*self.parts, *self.options.values()) if isinstance(part, Recipe)]
        return {self.name}.union(*(part._names() for part in parts))


def _written(value: Any) -> str:
    return value.source() if isinstance(value, Recipe) else repr(value)
