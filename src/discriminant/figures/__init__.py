"""The books' figures, drawn from the library's own fits: one function each, which hands back a matplotlib Figure.

>>> from discriminant import figures
>>> figures.REGISTRY["ambiguous_regions"].source
'Bishop 4.2'

``figures.separating_line()`` draws; ``figures.separating_line_data()`` computes what is drawn, and what is claimed of
it.  ``discriminant figures --out DIR`` writes them all.
"""

from __future__ import annotations

import importlib
from typing import Any

from discriminant.figures.registry import REGISTRY, Entry, entry  # noqa: F401 - public, see __all__

__all__ = sorted([*REGISTRY, "REGISTRY", "Entry", "contact_sheet", "entry"])  # noqa: PLE0605 - the registry is the single source


def __getattr__(name: str) -> Any:
    if name == "contact_sheet":
        return importlib.import_module(f"{__name__}.drawing").contact_sheet
    found = REGISTRY.get(name.removesuffix("_data"))
    if found is None:
        raise AttributeError(f"module 'discriminant.figures' has no figure {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{found.module}"), name)


def __dir__() -> list[str]:
    return __all__
