"""Linear discrimination, whole: every linear classifier of the textbooks in one design.

``import discriminant`` is light: a public name loads its module on first use.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.2.0"

# Public name → the module that holds it.  One sorted table; ``__all__`` is its keys.
_HOMES = {
    "Adaline": "estimators.adaline",
    "Certificate": "protocols",
    "Discriminant": "estimators.general",
    "ExponentialFamilyClassifier": "estimators.exponential_family",
    "FisherDiscriminant": "estimators.fisher",
    "LeastSquaresClassifier": "estimators.least_squares",
    "LinearDiscriminant": "model",
    "LinearDiscriminantAnalysis": "estimators.linear",
    "LinearMachine": "estimators.linear_machine",
    "LinearProgrammingClassifier": "estimators.linear_programming",
    "LinearSVC": "estimators.svc",
    "LogisticRegression": "estimators.logistic",
    "LogisticRegressionCV": "estimators.logistic_cv",
    "MinimumErrorClassifier": "estimators.minimum_error",
    "MinimumRiskClassifier": "estimators.minimum_risk",
    "Perceptron": "estimators.perceptron",
    "QuadraticDiscriminantAnalysis": "estimators.quadratic",
    "Separability": "inference.separability",
    "SigmoidRegressionClassifier": "estimators.sigmoid_regression",
    "ambiguity": "inference.ambiguity",
    "certify": "inference.certify",
    "compare": "estimators.compare",
    "cover_probability": "inference.capacity",
    "load": "io",
    "logistic_path": "estimators.logistic_path",
    "on_device": "data.device",
    "patch_sklearn": "patch",
    "pool": "inference.imputations",
    "sample_size": "inference.capacity",
    "save": "io",
    "scan": "data.scan",
    "scorer": "io",
    "separability": "inference.separability",
    "shatters": "inference.capacity",
    "show_versions": "versions",
    "kesler_construction": "inference.kesler",
    "solution_region": "inference.solution_region",
    "to_c": "io",
    "to_json": "io",
    "to_onnx": "io",
    "to_sql": "io",
    "unpatch_sklearn": "patch",
    "vc_dimension": "inference.capacity",
}
_PACKAGES = (
    "bases",
    "codings",
    "criteria",
    "datasets",
    "decision",
    "figures",
    "geometry",
    "optimize",
    "penalties",
    "plots",
    "report",
)

__all__ = sorted([*_HOMES, *_PACKAGES, "__version__"])  # noqa: PLE0605 - the table above is the single source


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        if _HOMES[name].startswith("estimators"):
            # First, and from here: CPython maps and unmaps a piece of its stack at each call where imports are nested
            # deep, and scikit-learn's, which call much, then took 60 to 100 ms longer.
            import sklearn.base  # noqa: F401
        value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    elif name in _PACKAGES:
        value = importlib.import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module 'discriminant' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
