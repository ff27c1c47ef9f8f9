"""Single-sample tasks: one epoch over dense and sparse rows, the same samples in the same order, so equal updates.

What is timed is ``partial_fit``: an epoch and what must be checked before it.  A fit of ten epochs is measured beside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.contract import Data
from benchmarks.task import Aim, Task


@dataclass(frozen=True)
class StepsTask(Task):
    """Noisy labels of a random hyperplane; ``row_values`` non-zeros in each row of a sparse design."""

    row_values: int = 0

    def data(self) -> Data:
        """Rows in the memory order that every contender reads fastest."""
        rng = np.random.default_rng(self.seed)
        if not self.row_values:
            X = rng.standard_normal((self.n, self.d))
            y = (X[:, 0] - X[:, 1] + rng.standard_normal(self.n) > 0).astype(np.int64)
            return Data(X, y, 2, X[:5_000].copy())
        from scipy.sparse import csr_matrix

        width = self.row_values
        columns = np.sort(rng.integers(0, self.d, (self.n, width)), axis=1).astype(np.int32).ravel()
        starts = np.arange(0, self.n * width + 1, width, dtype=np.int32)
        S = csr_matrix((rng.standard_normal(self.n * width), columns, starts), shape=(self.n, self.d))
        S.sum_duplicates()
        noise = 5.0 * rng.standard_normal(self.n)
        y = (S @ rng.standard_normal(self.d) + noise > 0).astype(np.int64)
        return Data(S, y, 2, S[:5_000].copy())

    @property
    def bytes_of_X(self) -> int:
        return 12 * self.n * self.row_values if self.row_values else super().bytes_of_X

    def size(self) -> str:
        """n, d, K and, for sparse rows, their non-zeros."""
        return super().size() + (f", {self.row_values} non-zeros a row" if self.row_values else "")


_THEIRS = ("scikit-learn", "Perceptron")

STEPS: tuple[Task, ...] = (
    StepsTask(
        "perceptron-1e6x50", "Perceptron, one epoch", "perceptron-epoch", 1_000_000, 50, 2, Aim(3.0), (100_000, 50),
        judge=_THEIRS,
    ),
    StepsTask(
        "perceptron-10-epochs", "Perceptron, fit of ten epochs", "perceptron-fit", 1_000_000, 50, 2, Aim(2.5),
        (100_000, 50), judge=_THEIRS,
    ),
    StepsTask(
        "lms-1e6x50", "Widrow–Hoff (LMS), one epoch", "lms-epoch", 1_000_000, 50, 2, Aim(3.0), (100_000, 50),
        judge=("scikit-learn", "SGDClassifier"),
    ),
    StepsTask(
        "perceptron-sparse", "Perceptron on sparse rows, one epoch", "perceptron-epoch", 200_000, 100_000, 2, Aim(1.0),
        (50_000, 20_000), judge=_THEIRS, row_values=100,
    ),
)  # fmt: skip
