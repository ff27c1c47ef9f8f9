"""A row sample that stands for all rows: evenly spaced, with every class, and weights that keep its sums unbiased.

Rows of a frequent class are thinned; rows of a rare one are all taken, so that three rows of a class, or a hundred
positives in a million, are seen whole (``Blocks.draw``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.optimize.logistic.problem import LogisticProblem


def sampled(problem: LogisticProblem, count: int, dtype: Any = np.float64) -> LogisticProblem:
    """The problem on a row sample, in inner units; its weights sum to about the total of all rows."""
    index, rows = problem.blocks.draw(count, problem.n_classes)
    return problem.of_sample(index, rows, dtype)
