"""The hinge and its square: the perceptron and quadratic criteria at margin one, under the names of support vectors.

hinge          ℓ = max(0, 1 − tz)
squared hinge  ℓ = max(0, 1 − tz)²
"""

from __future__ import annotations

from dataclasses import dataclass

from discriminant.criteria.perceptron import Perceptron, Quadratic


@dataclass(frozen=True)
class Hinge(Perceptron):
    """ℓ = max(0, b − tz) with b = 1."""

    margin: float = 1.0


@dataclass(frozen=True)
class SquaredHinge(Quadratic):
    """ℓ = max(0, b − tz)² with b = 1."""

    margin: float = 1.0
