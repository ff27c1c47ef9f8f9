"""Functions of the distance to a centre: ‖x − c‖ and exp(−‖x − c‖²/2s²)  (Alpaydin 10.2; the lecture's "distances").

Two classes that no line separates, one around the other, are separated by a line in these features.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.bases.centres import place, squared_distances
from discriminant.bases.contract import basis
from discriminant.bases.expansion import Expansion, numerals, positive
from discriminant.protocols import Array


@basis
class Distances(Expansion):
    """‖x − c‖, the Euclidean distance to each centre.

    Two classes, one around the other, are separated by a line in these features (Alpaydin 10.2).

    Parameters
    ----------
    centres, placement, random_state

    Attributes
    ----------
    centres_ : ndarray of shape (m, d)
        Fewer than asked for where X has fewer different rows.
    n_features_in_, n_features_out_

    See Also
    --------
    Radial : Hills in place of cones.

    Examples
    --------
    >>> Distances(((0.0, 0.0), (3.0, 4.0))).fit_transform([[0.0, 0.0]]).tolist()
    [[0.0, 5.0]]
    """

    centres: Any = 2
    placement: str = "rows"
    random_state: Any = None

    def _learn(self, X: Any, y: Any) -> dict[str, Any]:
        return {"centres_": place(X, y, self.centres, self.placement, self.random_state, "Distances")}

    def _map(self, X: Any) -> Array:
        return np.asarray(np.sqrt(squared_distances(X, self.__dict__["centres_"])))

    def _names(self, x: list[str]) -> list[str]:
        return [f"|x-c{k}|" for k in range(1, len(self.__dict__["centres_"]) + 1)]


@basis
class Radial(Expansion):
    """exp(−‖x − c‖²/2s²): a Gaussian hill over each centre.

    A discriminant that is linear in these features is a radial basis function network with fixed centres (Alpaydin
    10.2, PRML 3.1).

    Parameters
    ----------
    centres
    width : float or None, default=None
        s.  None takes the mean distance from a centre to the nearest other one (the root mean square distance of the
        rows where there is only one centre).  Columns should be on one scale.
    placement, random_state

    Attributes
    ----------
    centres_ : ndarray of shape (m, d)
        The c; fewer than asked for where X has fewer different rows.
    width_ : float
        s.
    n_features_in_, n_features_out_

    See Also
    --------
    Distances : The distances themselves.
    Gaussian : Bumps along each column.

    Examples
    --------
    >>> Radial([[0.0, 0.0]], width=1.0).fit_transform([[0.0, 0.0], [3.0, 4.0]]).round(6).tolist()
    [[1.0], [4e-06]]
    """

    centres: Any = 10
    width: float | None = None
    placement: str = "rows"
    random_state: Any = None

    def _learn(self, X: Any, y: Any) -> dict[str, Any]:
        centres = place(X, y, self.centres, self.placement, self.random_state, "Radial")
        width = spacing(X, centres) if self.width is None else positive(self.width, "width", "Radial")
        return {"centres_": centres, "width_": width}

    def _map(self, X: Any) -> Array:
        exponent = squared_distances(X, self.__dict__["centres_"])
        exponent /= X.dtype.type(-2.0 * self.__dict__["width_"] ** 2)
        return np.asarray(np.exp(exponent, out=exponent))

    def _names(self, x: list[str]) -> list[str]:
        width = numerals([self.__dict__["width_"]])[0]
        return [f"exp(-|x-c{k}|²/2·{width}²)" for k in range(1, len(self.__dict__["centres_"]) + 1)]


def spacing(X: Array, centres: Array) -> float:
    """Mean distance from a centre to the nearest other; 1 where nothing differs."""
    if len(centres) > 1:
        between = squared_distances(centres, centres)
        np.fill_diagonal(between, np.inf)
        width = float(np.sqrt(between.min(axis=1)).mean())
    else:
        width = float(np.sqrt(squared_distances(X, centres).mean(dtype=np.float64)))
    return width if 0 < width < np.inf else 1.0
