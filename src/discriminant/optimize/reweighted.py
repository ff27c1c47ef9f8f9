"""A trace of Newton's method on the logistic criterion, seen as iteratively reweighted least squares.

R = diag y(1 − y)      z = Φw − R⁻¹(y − t)      w_new = (ΦᵗRΦ)⁻¹ΦᵗR z           (PRML 4.99 and 4.103)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discriminant.optimize.history import History
from discriminant.protocols import Array, Need

WORKED_OUT = ("working_response", "working_weights")


@dataclass(repr=False)
class Reweighted(History):
    """A history whose ``working_response`` z and ``working_weights`` R are worked out of the rows when asked for.

    Each has shape (steps + 1, n, q): of a record, what the next step is the least-squares fit of.

    Parameters
    ----------
    columns : dict of str to list, default={}
        The columns by name.
    objective : PointwiseObjective or None, default=None
        Whose rows they are.

    See Also
    --------
    Newton : Writes one where ``trace`` is set.

    Examples
    --------
    >>> from discriminant import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> history = LogisticRegression(C=10.0, optimizer="newton", trace=True).fit(X, y).history_
    >>> history["working_response"].shape[1:], history["working_weights"][0].ravel().round(2)
    ((4, 1), array([0.25, 0.25, 0.25, 0.25]))
    """

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (name in WORKED_OUT and super().__contains__("weights"))

    def _at(self, name: str, index: Array | None = None) -> Array:
        if name not in WORKED_OUT:
            return super()._at(name, index)
        found = [self._working(np.asarray(A)) for A in super()._at("weights", index)]
        return np.array([pair[WORKED_OUT.index(name)] for pair in found])

    def _working(self, A: Array) -> tuple[Array, Array]:
        """z and R at weights A."""
        rows = self.objective.blocks
        _, t, _, z, _ = self.objective.request(A, Need.VALUE).parts(rows.block(0, rows.n_rows))
        R = self.objective.criterion.curvature(t, z)
        with np.errstate(divide="ignore", invalid="ignore"):  # a saturated row has weight 0 and no response
            return z - self.objective.criterion.gradient(t, z) / R, R
