"""What happened, step by step, as columns: k, J, ‖∇J‖, step, errors, and the weights where they were asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discriminant.errors import ParameterError, names
from discriminant.protocols import Array
from discriminant.shown import Shown, cell, shortened

EMPTY = "the fit went by a closed form, or kept no record of its steps"


@dataclass(repr=False)
class History(Shown):
    """What happened at each step: columns that grow together, one record a step.

    The usual columns are ``k``, ``objective``, ``gradient_norm``, ``step`` and, with ``trace``, ``errors`` and
    ``weights``; ``history["objective"]`` is a column as an array.  Record k = 0 is the start.  It prints as a short
    table.  Where the weights are kept, the errors are counted when somebody looks at them.

    Parameters
    ----------
    columns : dict of str to list, default={}
        The columns by name.
    objective : PointwiseObjective or None, default=None
        Whose rows the errors are counted over.

    See Also
    --------
    discriminant.plots.HistoryDisplay : Draws columns.

    Examples
    --------
    >>> history = History()
    >>> history.record(k=0, objective=1.0)
    >>> history.record(k=1, objective=0.5)
    >>> history["objective"]
    array([1. , 0.5])
    >>> history
    History of 2 records
    k  objective
    0          1
    1        0.5
    """

    columns: dict[str, Any] = field(default_factory=dict)
    objective: Any = None

    def _shown(self) -> tuple[str, dict[str, list[str]], list[str], list[str]]:
        if not len(self):
            return f"{type(self).__name__} without records: {EMPTY}", {}, [], []
        rows = shortened(range(len(self)))
        flat = self._flat(np.array([row for row in rows if row is not None]))
        known = {
            name: column for name, column in flat.items() if column.dtype.kind != "f" or not np.isnan(column).all()
        }
        table = {name: list(map(cell, column)) for name, column in known.items()}
        if None in rows:
            for column in table.values():
                column.insert(rows.index(None), "…")
        return f"{type(self).__name__} of {len(self)} record{'s' * (len(self) > 1)}", table, [], []

    def record(self, **values: Any) -> None:
        """Add one record; weights are copied, since optimizers go on changing theirs.

        Parameters
        ----------
        **values : any
            The value of each column.
        """
        if self.columns and values.keys() != self.columns.keys():
            raise ParameterError(f"A record of this history has {names(list(self.columns), most=20)}.")
        for name, value in values.items():
            self.columns.setdefault(name, []).append(value.copy() if isinstance(value, np.ndarray) else value)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> Array:
        if name not in self:
            raise ParameterError(
                f"This history has no column {name!r}; it has {names(list(self.columns), most=20)}."
                + (" The weights are kept with trace=True." if name == "weights" else "")
            )
        return self._at(name)

    def _at(self, name: str, index: Array | None = None) -> Array:
        """A column, at some records or at all."""
        column = self.columns[name]
        if name == "errors" and len(column) and column[0] is None:  # left to be counted now
            weights = self.columns["weights"]
            chosen = weights if index is None else [weights[i] for i in index]
            counts = [self.objective.errors(A) for A in chosen]
            if index is None:
                self.columns["errors"] = counts
            return np.array(counts)
        column = np.asarray(column)
        return column if index is None else column[index]

    def _flat(self, index: Array | None = None) -> dict[str, Array]:
        """Every column at some records or at all, the weights as columns a0, a1, …."""
        flat: dict[str, Array] = {}
        for name in self.columns if len(self) else ():
            column = self._at(name, index)
            if column.ndim == 1:
                flat[name] = column
                continue
            column = column.reshape(len(column), column.shape[1], -1)
            for i, j in np.ndindex(column.shape[1:]):
                flat[f"a{i}" if column.shape[2] == 1 else f"a{i}_{j}"] = column[:, i, j]
        return flat

    def weights(self) -> Array | None:
        """The weights of each record: ``history["weights"]``, or None.

        Returns
        -------
        ndarray of shape (steps + 1, 1 + d, q) or None
            The start first; None where they were not kept.
        """
        return self["weights"] if "weights" in self else None  # noqa: SIM401  # a history is no mapping

    def to_frame(self, backend: str = "pandas") -> Any:
        """A data frame with one row a record; weights become columns a0, a1, ….

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default="pandas"
            Which library's.

        Returns
        -------
        data frame
            The history.
        """
        import narwhals.stable.v2 as nw

        return nw.from_dict(self._flat(), backend=backend).to_native()  # type: ignore[arg-type]

    def plot(self, column: str = "objective", ax: Any = None) -> Any:
        """Draw a column against the step.

        Parameters
        ----------
        column : str, default="objective"
            Which column.
        ax : matplotlib Axes or None, default=None
            Where to draw; None: new axes.

        Returns
        -------
        matplotlib Axes
            The axes.
        """
        import discriminant  # pictures lie above this module, so they are asked for by their public name

        return discriminant.plots.HistoryDisplay.from_history(self, column, ax=ax).ax_


def history_of(estimator: object) -> History | None:
    """The history of a fitted estimator of any package; None where it has none of ours."""
    found = getattr(estimator, "history_", None)
    return found if isinstance(found, History) else None
