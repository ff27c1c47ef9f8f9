"""Logistic and softmax regression, stated by their parts and minimised on the one road (``optimize.automatic``)."""

from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.optimize.logistic.solve import LogisticFit, solve_logistic

__all__ = ["LogisticFit", "LogisticProblem", "solve_logistic"]
