"""Pictures of discriminants, as displays in scikit-learn's manner.

A display is made from an estimator, from data or from results (``from_estimator`` and its kin), holds what it draws,
and has ``plot(ax=...)``, ``ax_`` and ``figure_``.  matplotlib (the extra ``plots``) is loaded when one is made.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "CalibrationDisplay": "calibrations",
    "CoefficientPathDisplay": "paths",
    "ContributionsDisplay": "waterfall",
    "CriterionSurfaceDisplay": "surface",
    "DecisionRegionsDisplay": "regions",
    "DiscriminantAxesDisplay": "discriminant_axes",
    "HistoryDisplay": "history",
    "MarginDisplay": "margins",
    "PosteriorDisplay": "posteriors",
    "SolutionRegionDisplay": "solutions",
    "TraceAnimation": "animation",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - the table above is the single source


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'discriminant.plots' has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
