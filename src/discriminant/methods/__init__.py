"""The named methods: from a sample to a fit, with no estimator around them.

A *method* is a frozen dataclass of parameters, named and set by default as those of its estimator.  ``fit(sample)``
hands back a ``Fit``: what was found, what is proved of it, and the notes that the estimators warn of and the command
line prints.  No method keeps or changes anything.
"""

from __future__ import annotations

import importlib
from typing import Any

from discriminant.methods.fit import Fit, Note, Sample, Schema, make_sample

# Estimator → the module and the class of its method.
HOMES = {
    "Adaline": "adaline.LeastMeanSquares",
    "Discriminant": "general.General",
    "ExponentialFamilyClassifier": "exponential_family.ExponentialFamily",
    "FisherDiscriminant": "fisher.Fisher",
    "LeastSquaresClassifier": "least_squares.MinimumSquaredError",
    "LinearDiscriminantAnalysis": "gaussian.Linear",
    "LinearMachine": "machine.Machine",
    "LinearProgrammingClassifier": "linear_program.LinearProgramming",
    "LinearSVC": "svc.SupportVectors",
    "LogisticRegression": "logistic.Logistic",
    "MinimumErrorClassifier": "minimum_error.MinimumError",
    "Perceptron": "perceptron.ErrorCorrection",
    "QuadraticDiscriminantAnalysis": "quadratic.Quadratic",
    "SigmoidRegressionClassifier": "sigmoid.SigmoidRegression",
}

__all__ = ["HOMES", "Fit", "Note", "Sample", "Schema", "make_sample", "method_of"]


def method_of(estimator: str) -> Any:
    """The class of the method that an estimator of this name runs; only its own module is loaded."""
    module, _, name = HOMES[estimator].partition(".")
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)
