"""Codings: classes ↔ outputs.  A (K, q) matrix of targets with don't-care entries, and a decoder of scores.

>>> make_coding("one-vs-rest", 3).decide([[0.2, -1.0, 0.1]])
array([0])
"""

from __future__ import annotations

from discriminant.codings.coupling import couple_pairwise, pairs
from discriminant.codings.make import CODINGS, make_coding
from discriminant.codings.matrix import DECODERS, ClassCoding

__all__ = ["CODINGS", "DECODERS", "ClassCoding", "couple_pairwise", "make_coding", "pairs"]
