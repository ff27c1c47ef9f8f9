"""A coding: which targets the outputs have for each class, and how their scores name a class again.

With g_j = z_j − θ_j the score of output j above its threshold, and s_kj = +1, −1 or 0 as class k lies on the positive
side of output j, on its negative side, or takes no part in it:

    maximum     class k's own output                                       one output a class
    sum         Σ_j s_kj g_j                                               Alpaydin 10.10; pairwise, error-correcting
    votes       #{j : s_kj g_j > 0}, ties broken by the sum                majority
    unanimous   min_j s_kj g_j: positive where all outputs agree on k      conjunction; elsewhere a reject
    nearest     −½ Σ_j (z_j − t_kj)²                                       targets of several levels

The sum of raw pairwise scores lets one output that shouts drown the others: pairwise logistic on iris has 0.60 of the
flowers right by it and 0.99 by votes.  It is here because the textbook states it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from discriminant.docstrings import Entries
from discriminant.errors import ParameterError, names
from discriminant.protocols import Array

DECODERS = ("maximum", "sum", "votes", "unanimous", "nearest")
documented = Entries("""
z : ndarray of shape (n, q)
    Scores of the outputs.
decoder : {"maximum", "sum", "votes", "unanimous", "nearest"}
    How class scores follow from outputs.
→ ClassCoding : ClassCoding
    The coding.
→ decode : ndarray of shape (n, K)
    Class scores.
→ decide : ndarray of shape (n,)
    The position of the class with the greatest score.
→ linear_map : tuple (C, c) or None
    C of shape (K, q) and c of shape (K,); None where the decoder is not linear.
""").documented


@documented
@dataclass(frozen=True, eq=False, repr=False)
class ClassCoding:
    """A (K, q) matrix of targets with don't-care entries, and a decoder of scores.

    Output j is asked for ``targets[k, j]`` on the rows of class k; the decoder turns the q scores of a row into K class
    scores again, of which the greatest names the class (Duda, Hart and Stork 5.12, PRML 4.1.2).

    Parameters
    ----------
    targets : ndarray of shape (K, q)
        t_kj, what output j should answer for class k.
    care : ndarray of shape (K, q)
        1, or 0 where the rows of class k take no part in output j.
    threshold : ndarray of shape (q,)
        θ_j, the score at which output j is indifferent.
    speakers : ndarray of shape (K, q) or None, default=None
        For the decoder "maximum": class k's score is speakers[k]·g.  None where no output speaks for a class.
    name : str, default="matrix"
        What the coding is called in sentences.

    See Also
    --------
    make_coding : A coding by name.

    >>> from discriminant.codings import make_coding
    >>> coding = make_coding("pairwise", 3)
    >>> coding.n_classes, coding.n_outputs, coding.decoder
    (3, 3, 'votes')
    >>> coding.decide([[0.2, 1.0, -0.5]])
    array([0])
    """

    targets: Array
    care: Array
    threshold: Array
    speakers: Array | None = None
    decoder: str = "maximum"
    name: str = field(default="matrix")

    def __post_init__(self) -> None:
        if self.decoder not in DECODERS:
            raise ParameterError(f"There is no decoder {self.decoder!r}; choose among {names(DECODERS)}.")
        if self.decoder == "maximum" and self.speakers is None:
            raise ParameterError(
                f"The decoder 'maximum' needs an output for each class, and the coding {self.name!r} has none; "
                f"use 'votes', 'sum' or 'unanimous'."
            )

    def __repr__(self) -> str:
        parts = f"{self.n_classes} classes, {self.n_outputs} output{'s' * (self.n_outputs > 1)}"
        return f"ClassCoding({self.name!r}: {parts}, decoder={self.decoder!r})"

    @property
    def n_classes(self) -> int:
        """K, the number of classes."""
        return int(self.targets.shape[0])

    @property
    def n_outputs(self) -> int:
        """q, the number of outputs."""
        return int(self.targets.shape[1])

    @cached_property
    def signs(self) -> Array:
        """(K, q): the side of output j on which class k lies: +1, −1, or 0 for don't care."""
        cared = self.care > 0
        high = np.where(cared, self.targets, -np.inf).max(axis=0)
        low = np.where(cared, self.targets, np.inf).min(axis=0)
        return np.where(cared, np.sign(self.targets - (low + high) / 2), 0.0)

    def decode(self, z: Array) -> Array:
        """Scores of outputs → scores of classes, of which the greatest names the class."""
        z = np.asarray(z)
        if z.dtype.kind != "f":
            z = z.astype(np.float64)
        if self.decoder == "nearest":
            return _nearest(z, self.targets, self.care)
        g = z - self.threshold.astype(z.dtype)
        if self.decoder == "votes":
            return _votes(g, self.signs)
        return (
            _unanimous(g, self.signs) if self.decoder == "unanimous" else np.asarray(g @ self._sums.T.astype(z.dtype))
        )

    def decide(self, z: Array, reject: int = -1) -> Array:
        """The class codes of rows; with "unanimous", ``reject`` where not exactly one class agrees.

        Parameters
        ----------
        reject : int, default=-1
            The code of a row that is rejected.

        >>> from discriminant.codings import make_coding
        >>> make_coding("one-vs-rest", 3, decoder="unanimous").decide(np.array([[1.0, -1, -1], [1, 1, -1]]))
        array([ 0, -1])
        """
        scores = self.decode(z)
        best = scores.argmax(axis=1)
        if self.decoder != "unanimous":
            return np.asarray(best)
        return np.where((scores > 0).sum(axis=1) == 1, best, reject)

    def linear_map(self) -> tuple[Array, Array] | None:
        """(C, c) such that class scores are C z + c, where the decoder is linear ("maximum", "sum"); else None.

        With it K discriminants follow from q: A Cᵗ, with c added to the intercepts.
        """
        if self.decoder not in ("maximum", "sum"):
            return None
        return self._sums, -self._sums @ self.threshold

    @property
    def _sums(self) -> Array:
        """C of the decoders that are linear."""
        return self.signs if self.decoder == "sum" or self.speakers is None else self.speakers

    def with_decoder(self, decoder: str) -> ClassCoding:
        """The same outputs, decoded another way."""
        return replace(self, decoder=decoder)

    def permuted(self, order: Array) -> ClassCoding:
        """The coding of the classes in another order: class ``order[k]`` comes k-th.

        Parameters
        ----------
        order : array-like of K ints
            The positions of the classes in their new order.
        """
        order = np.asarray(order)
        speakers = None if self.speakers is None else self.speakers[order]
        return replace(self, targets=self.targets[order], care=self.care[order], speakers=speakers)


def _votes(g: Array, signs: Array) -> Array:
    """Votes for each class, plus less than a third of a vote in the order of the sums to break ties."""
    total = g @ signs.T.astype(g.dtype)
    votes = np.sign(g) @ signs.T.astype(g.dtype)  # votes for less votes against …
    votes = (votes + np.abs(np.sign(g)) @ np.abs(signs).T.astype(g.dtype)) / 2  # … plus votes cast, halved
    return np.asarray(votes + total / (3 * (1 + np.abs(total))))


def _unanimous(g: Array, signs: Array) -> Array:
    """min_j s_kj g_j over the outputs that class k takes part in."""
    scores = np.empty((g.shape[0], signs.shape[0]), dtype=g.dtype)
    for k, row in enumerate(signs):
        part = np.flatnonzero(row)
        scores[:, k] = (g[:, part] * row[part].astype(g.dtype)).min(axis=1)
    return scores


def _nearest(z: Array, targets: Array, care: Array) -> Array:
    """−½ Σ_j (z_j − t_kj)² over the outputs that class k takes part in."""
    scores = np.empty((z.shape[0], targets.shape[0]), dtype=z.dtype)
    for k, row in enumerate(targets):
        part = care[k] > 0
        scores[:, k] = -np.square(z[:, part] - row[part].astype(z.dtype)).sum(axis=1) / 2
    return scores
