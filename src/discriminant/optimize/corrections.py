"""A trace of single-sample procedures: each correction as it was made, and what follows from it when somebody asks.

A correction is a row, an output and a size, a ← a + size·y: that is all a run writes down, so that tracing costs next
to nothing.  The weights after each, J there and the rows misclassified there are worked out when they are looked at.
So one can read off that a correction lowers the part of its own sample in the perceptron criterion while the total
error may rise (PRML 4.56).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discriminant.kernels import rules
from discriminant.kernels.sweeps import NONE, State
from discriminant.optimize.history import History
from discriminant.protocols import Array

WRITTEN = ("k", "sample", "output", "size")  # by the run; the other columns are worked out


@dataclass(repr=False)
class Corrections(History):
    """A history of single corrections: k, the sample, the output (or rival class), the size η δ w, and what it led to.

    Record k = 0 is the start, with sample and output −1.  ``objective`` (J over all rows), ``errors`` (rows
    misclassified) and ``weights`` after each correction are not stored but worked out when they are asked for.

    Parameters
    ----------
    columns : dict of str to list, default={}
        The columns by name.
    objective : PointwiseObjective or None, default=None
        Whose rows the samples are.
    start : ndarray of shape (1 + d, q), default=lambda()
        The weights before the first correction.
    epochs : History, default=History()
        The history by epochs.
    parts : list, default=[]
        What each sweep wrote down.

    See Also
    --------
    SingleSample : Writes one where ``trace`` is set.
    History : The history by epochs.

    Examples
    --------
    >>> from discriminant import Perceptron
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], [0, 0, 0, 1]
    >>> model = Perceptron(shuffle=False, tol=None, trace=True, scale="sum").fit(X, y)
    >>> model.history_
    Corrections of 6 records
    k  sample  output  size  objective  errors  a0  a1  a2
    0      -1      -1     0          0       4   0   0   0
    1       0       0    -1          1       1  -1   0   0
    2       3       0     1          4       3   0   2   2
    3       0       0    -1          2       2  -1   2   2
    4       1       0    -1          0       1  -2   1   2
    5       2       0    -1          0       0  -3   1   1
    """

    start: Array = field(default_factory=lambda: NONE)
    epochs: History = field(default_factory=History)
    parts: list[tuple[int, int, int, Array, Array]] = field(default_factory=list)

    def keep(self, state: State, start: int) -> None:
        """Take over what a sweep has written down.

        Parameters
        ----------
        state : State
            Of the sweep.
        start : int
            The first row of the sweep.
        """
        for j in range(1 if state.coupled else len(state.A)):
            first, last = int(state.tally[rules.ORIGIN, j]), int(state.tally[rules.STEPS, j])
            self.parts.append((first, start, j, state.seen[j, : last - first], state.sizes[j, : last - first]))

    def __contains__(self, name: object) -> bool:
        self._join()
        return super().__contains__(name)

    def __len__(self) -> int:
        self._join()
        return len(self.columns["k"])

    def _join(self) -> None:
        """Join the sweeps' records into columns, when somebody first looks at them."""
        if self.columns:
            return
        K = self.objective.n_outputs
        none = np.full(1, -1)
        rows: list[tuple[Array, ...]] = [(np.zeros(1, dtype=np.int64), none, none, np.zeros(1))]
        for first, start, j, seen, sizes in self.parts:
            k, seen = np.arange(first + 1, first + len(seen) + 1), seen.astype(np.int64)
            row, output = divmod(seen, K) if self.objective.criterion.coupled else (seen, np.full_like(seen, j))
            rows.append((k, row + start, output, sizes))
        for c, name in enumerate(WRITTEN):
            self.columns[name] = np.concatenate([part[c] for part in rows])
        self.columns |= {"objective": None, "errors": None, "weights": None}

    def _at(self, name: str, index: Array | None = None) -> Array:
        if name in WRITTEN:
            return super()._at(name, index)
        if name == "weights":
            return self._replayed(index)
        ask = self.objective.value if name == "objective" else self.objective.errors
        return np.array([ask(A) for A in self._replayed(index)])

    def _replayed(self, index: Array | None = None) -> Array:
        """The weights of some records, or of all."""
        A = np.array(self.start)
        rows, outputs, sizes = (self.columns[name] for name in WRITTEN[1:])
        wanted = np.ones(len(rows), dtype=bool)
        if index is not None:
            wanted[:] = False
            wanted[index] = True
        needed = {int(i): self._row(int(i)) for i in np.unique(rows[1:])}
        kept = [A.copy()] if wanted[0] else []
        for i, output, size, keep in zip(rows[1:], outputs[1:], sizes[1:], wanted[1:], strict=True):
            y, own = needed[int(i)]
            if self.objective.criterion.coupled:
                A[:, own] += size * y
                A[:, output] -= size * y
            else:
                A[:, output] += size * y
            if keep:
                kept.append(A.copy())
        return np.array(kept)

    def _row(self, i: int) -> tuple[Array, Any]:
        """y_i and its target."""
        block = self.objective.blocks.block(i, i + 1)
        return np.r_[float(self.objective.intercept), block.design.dense()[0]], block.target[0]
