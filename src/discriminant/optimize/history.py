"""What happened, step by step, as columns: k, J, ‖∇J‖, step, errors, and the weights where they were asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discriminant.errors import ParameterError, names
from discriminant.protocols import Array


@dataclass
class History:
    """What happened at each step: columns that grow together, one record a step.

    The usual columns are ``k``, ``objective``, ``gradient_norm``, ``step``, ``errors`` and, with ``trace``,
    ``weights``; ``history["objective"]`` is a column as an array.

    Parameters
    ----------
    columns : dict of str to list, default={}
        The columns by name.

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
    """

    columns: dict[str, Any] = field(default_factory=dict)

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
        if name not in self.columns:
            raise ParameterError(f"This history has no column {name!r}; it has {names(list(self.columns), most=20)}.")
        return np.asarray(self.columns[name])

    def weights(self) -> Array | None:
        """The weights after each step.

        Returns
        -------
        ndarray of shape (steps, 1 + d, q) or None
            None where they were not kept.
        """
        return np.asarray(self.columns["weights"]) if "weights" in self else None

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

        flat: dict[str, Array] = {}
        for name in self.columns if len(self) else ():
            column = self[name]
            if column.ndim == 1:
                flat[name] = column
                continue
            column = column.reshape(len(self), column.shape[1], -1)
            for i, j in np.ndindex(column.shape[1:]):
                flat[f"a{i}" if column.shape[2] == 1 else f"a{i}_{j}"] = column[:, i, j]
        return nw.from_dict(flat, backend=backend).to_native()  # type: ignore[arg-type]

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


def history_of(estimator: Any) -> History | None:
    """The history of a fitted estimator of any package; None where it has none of ours."""
    found = getattr(estimator, "history_", None)
    return found if isinstance(found, History) else None
