"""Kesler's construction, built: K classes as two-class samples that one can print (Duda, Hart and Stork 5.12.1).

A sample y of class i asks that (a_i − a_j)·y > 0 for every other class j.  With the weights of all classes in one
vector â = (a_1, …, a_K) that is â·η > 0 for

    η_ij = (0, …, y, …, −y, …, 0),        y in place i and −y in place j:

K − 1 samples of K(1 + d) numbers for each row.  Methods never build them (``criteria.Kesler``); this is for looking.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.arguments import BOOLEAN, checked
from discriminant.arrays import as_dense
from discriminant.data.check import labelled_rows
from discriminant.errors import DataError
from discriminant.inference import documented
from discriminant.protocols import Array

MOST_VALUES = 50_000_000
PRINTED = 12  # samples that are printed


@documented
@dataclass(frozen=True, eq=False)
class KeslerConstruction:
    """The two-class samples of a K-class problem; any two-class procedure on them learns a linear machine.

    (a_i − a_j)·y > 0 for a sample y of class i and each rival j is â·η_ij > 0 with the weights of all classes in one
    vector (Duda, Hart and Stork 5.12.1).

    Attributes
    ----------
    samples : ndarray of shape (n(K − 1), K·D)
        A row (… y … −y …) for each row of X and each rival class, D = 1 + d with an intercept.
    row, own, rival : ndarray of shape (n(K − 1),)
        Which row of X each comes from; its class's number, in whose place y stands; the other's, in whose −y stands.
    classes

    See Also
    --------
    discriminant.LinearMachine : Learns the same without building them.
    solution_region : The weights that satisfy all of them.

    >>> kesler_construction([[2.0], [5.0], [9.0]], ["a", "b", "c"])
    Kesler's construction: 6 samples of 3 × 2 weights
    row  asks    a       b       c
      0  a > b    1  2   -1 -2    0  0
      0  a > c    1  2    0  0   -1 -2
      1  b > a   -1 -5    1  5    0  0
      1  b > c    0  0    1  5   -1 -5
      2  c > a   -1 -9    0  0    1  9
      2  c > b    0  0   -1 -9    1  9
    """

    samples: Array
    row: Array
    own: Array
    rival: Array
    classes: Array

    def __repr__(self) -> str:
        K = len(self.classes)
        D = self.samples.shape[1] // K
        shown = self.samples[:PRINTED].reshape(-1, K, D)
        cells = [[[f"{value + 0.0:g}" for value in part] for part in parts] for parts in shown]
        width = max((len(text) for parts in cells for part in parts for text in part), default=1)
        columns = [[" ".join(text.rjust(width) for text in part) for part in parts] for parts in cells]
        labels = [str(label) for label in self.classes.tolist()]
        asks = [f"{labels[i]} > {labels[j]}" for i, j in zip(self.own[:PRINTED], self.rival[:PRINTED], strict=True)]
        size = max(len("asks"), *map(len, asks)) if asks else len("asks")
        part = D * (width + 1) - 1
        head = f"row  {'asks'.ljust(size)}   " + "   ".join(label.ljust(part) for label in labels)
        lines = [
            f"{self.row[k]:>3}  {ask.ljust(size)}   {'   '.join(columns[k])}".rstrip() for k, ask in enumerate(asks)
        ]
        more = [f"… and {len(self.samples) - PRINTED} more"] if len(self.samples) > PRINTED else []
        title = f"Kesler's construction: {len(self.samples)} samples of {K} × {D} weights"
        return "\n".join([title, head.rstrip(), *lines, *more])


@documented
@checked(fit_intercept=BOOLEAN)
def kesler_construction(X: Any, y: Any, *, fit_intercept: bool = True) -> KeslerConstruction:
    """K classes as two-class samples: y in the place of the own class, −y in that of a rival.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether each y has a 1 in front.

    Raises
    ------
    DataError
        Where there is one class only, or the samples would be too many to hold.

    See Also
    --------
    LinearMachine : Learns the same without building them.

    >>> built = kesler_construction([[2.0], [5.0], [9.0]], ["a", "b", "c"])
    >>> built.samples.shape, built.samples[0].tolist()
    ((6, 6), [1.0, 2.0, -1.0, -2.0, 0.0, 0.0])
    """
    rows, classes, codes = labelled_rows(X, y, "kesler_construction")
    K = len(classes)
    if K < 2:
        raise DataError(f"Kesler's construction sets classes against each other; y holds {K}.")
    n, d = rows.shape
    D = d + int(fit_intercept)
    if n * (K - 1) * K * D > MOST_VALUES:
        raise DataError(
            f"Kesler's construction of {n} rows and {K} classes has {n * (K - 1):,} samples of {K * D:,} numbers, too "
            "many to hold; LinearMachine learns the same without building them."
        )
    values = np.asarray(as_dense(rows.design(0, n).values), dtype=np.float64)
    Y = np.c_[np.ones(n), values] if fit_intercept else values
    row = np.repeat(np.arange(n), K - 1)
    own = np.asarray(codes)[row]
    rival = np.tile(np.arange(K - 1), n)
    rival = rival + (rival >= own)
    samples = np.zeros((len(row), K, D))
    each = np.arange(len(row))
    samples[each, own], samples[each, rival] = Y[row], -Y[row]
    return KeslerConstruction(samples.reshape(len(row), K * D), row, own, rival, classes)
