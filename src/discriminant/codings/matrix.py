"""A coding: which targets the outputs have for each class, and how their scores name a class again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from discriminant.codings.decoders import (
    DECODERS,
    decode_nearest,
    decode_sum,
    decode_unanimous,
    decode_votes,
)
from discriminant.errors import ParameterError, names
from discriminant.protocols import Array


@dataclass(frozen=True, eq=False)
class ClassCoding:
    """A (K, q) matrix of targets with don't-care entries, and a decoder.

    Attributes
    ----------
    targets : (K, q)
        t_kj, what output j should answer for class k.
    care : (K, q) of 0 and 1
        0: the rows of class k take no part in output j.
    threshold : (q,)
        θ_j, the score at which output j is indifferent.
    speakers : (K, q) or None
        For the decoder "maximum": class k's score is speakers[k]·g.  None where no output speaks for a class.
    decoder : {"maximum", "sum", "votes", "unanimous", "nearest"}
    name : str
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

    @property
    def n_classes(self) -> int:
        return int(self.targets.shape[0])

    @property
    def n_outputs(self) -> int:
        return int(self.targets.shape[1])

    @cached_property
    def signs(self) -> Array:
        """(K, q): the side of output j on which class k lies: +1, −1, or 0 for don't care."""
        cared = self.care > 0
        high = np.where(cared, self.targets, -np.inf).max(axis=0)
        low = np.where(cared, self.targets, np.inf).min(axis=0)
        return np.where(cared, np.sign(self.targets - (low + high) / 2), 0.0)

    def decode(self, z: Array) -> Array:
        """(n, q) scores of outputs → (n, K) scores of classes; the greatest names the class."""
        z = np.asarray(z)
        if z.dtype.kind != "f":
            z = z.astype(np.float64)
        if self.decoder == "nearest":
            return decode_nearest(z, self.targets, self.care)
        g = z - self.threshold.astype(z.dtype)
        if self.decoder == "maximum":
            assert self.speakers is not None
            return np.asarray(g @ self.speakers.T.astype(z.dtype))
        if self.decoder == "sum":
            return decode_sum(g, self.signs)
        return decode_votes(g, self.signs) if self.decoder == "votes" else decode_unanimous(g, self.signs)

    def decide(self, z: Array, reject: int = -1) -> Array:
        """(n,) class codes: the greatest class score; with "unanimous", ``reject`` where not exactly one agrees.

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
        weights = self.signs if self.decoder == "sum" else self.speakers
        assert weights is not None
        return weights, -weights @ self.threshold

    def with_decoder(self, decoder: str) -> ClassCoding:
        """The same outputs, decoded another way."""
        return replace(self, decoder=decoder)

    def permuted(self, order: Array) -> ClassCoding:
        """The coding of the classes in another order: class ``order[k]`` comes k-th."""
        order = np.asarray(order)
        speakers = None if self.speakers is None else self.speakers[order]
        return replace(self, targets=self.targets[order], care=self.care[order], speakers=speakers)
