"""Solver file for benchopt's L1 logistic regression, ``benchmark_logreg_l1``: Σ ℓ + λ ‖w‖₁, no intercept."""

import warnings
from typing import ClassVar

import numpy as np
from benchopt import BaseSolver

from discriminant import LogisticRegression


class Solver(BaseSolver):
    """Each run is a fit from nothing at a smaller ``tol``; benchopt evaluates what it found."""

    name = "discriminant"
    sampling_strategy = "tolerance"
    requirements: ClassVar = ["pip::discriminant"]

    def set_objective(self, X, y, lmbd):
        self.X, self.y, self.lmbd = X, y, lmbd

    def warm_up(self):
        """Imports are not timed, as those of no solver are."""
        self.run(1e-2)

    def get_next(self, tolerance):
        """A point of the curve for each decade."""
        return min(tolerance, 1.0) / 10.0

    def run(self, tolerance):
        self.beta = np.zeros(self.X.shape[1])
        if tolerance < 1.0:  # the first point of a curve is the start
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a tolerance below the last digits is said to be so
                model = LogisticRegression(C=1.0 / self.lmbd, l1_ratio=1.0, tol=tolerance, fit_intercept=False)
                self.beta = model.fit(self.X, self.y).coef_.ravel()

    def get_result(self):
        return {"beta": self.beta}
