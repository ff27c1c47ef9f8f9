"""What every criterion of this folder shares: what it declares about itself, and the oracles that follow from others.

A criterion is ℓ(t, z), a function of targets and scores and of nothing else: it never sees x, A, storage, classes or
the intercept.  Beside its oracles it declares a few facts that other parts ask for instead of asking for its name:
which targets it takes, where its decision boundary lies, whether its outputs are coupled, whether it is convex.

To add a criterion: subclass `Pointwise` as a frozen dataclass with ``value`` and whatever else it can answer, and add
one line to the registry of tests/contracts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from discriminant.errors import MismatchError
from discriminant.protocols import Array, Oracle


class Pointwise(ABC):
    """ℓ(t, z), row by row, with the facts that the other parts of the package may ask for."""

    oracles: ClassVar[Oracle]
    kind: ClassVar[int | None] = None  # its number in kernels/c/formulas.h; None: evaluated by the array body
    labels: ClassVar[tuple[float, float]] = (-1.0, 1.0)  # targets of the negative and the positive class
    threshold: ClassVar[float | None] = 0.0  # score of indifference; None: half way between the two targets
    coupled: ClassVar[bool] = False  # one loss a row for all outputs together
    convex: ClassVar[bool] = True
    over_norm: ClassVar[float] = 0.0  # c: each row's loss is divided by c‖y‖² (relaxation); 0: it is not
    recedes: ClassVar[bool] = False  # on separable data the infimum is reached only by weights that grow for ever
    third_known: ClassVar[bool] = False  # `third` is there (Jeffreys' penalty asks)

    @abstractmethod
    def value(self, t: Array, z: Array) -> Array:
        """ℓ(t, z), shape (n, q), or (n, 1) when the outputs are coupled."""

    def gradient(self, t: Array, z: Array) -> Array:
        """∂ℓ/∂z, shape (n, q)."""
        raise self.refusal("a gradient", "an optimizer that needs values only, such as Annealing or MixedInteger")

    def curvature(self, t: Array, z: Array) -> Array:
        """∂²ℓ/∂z², shape (n, q), or (n, q, q) when the outputs are coupled."""
        raise self.refusal("a curvature", "an optimizer that needs gradients only, such as GradientDescent or LBFGS")

    def conjugate(self, t: Array, u: Array) -> Array:
        """ℓ*(u) = sup_z u·z − ℓ(t, z), shaped as ``value``, +inf outside its domain."""
        raise self.refusal("a conjugate", "a criterion whose oracles include CONJUGATE")

    def third(self, t: Array, z: Array) -> Array:
        """∂³ℓ/∂z³, shape (n, q)."""
        raise self.refusal("a third derivative", "criterion Logistic")

    def value_and_gradient(self, t: Array, z: Array) -> tuple[Array, Array]:
        """Both at once; a criterion that can share work between them overrides this."""
        return self.value(t, z), self.gradient(t, z)

    def curvature_product(self, t: Array, z: Array, v: Array) -> Array:
        """(∂²ℓ/∂z²) v for v of shape (n, q), without an (n, q, q) array where the criterion can avoid one."""
        bend = self.curvature(t, z)
        return np.einsum("nij,nj->ni", bend, v) if self.coupled else np.asarray(bend * v)

    def wrong(self, t: Array, z: Array) -> Array:
        """Which rows do not lie strictly on their target's side, shaped as ``value``."""
        low, high = self.labels
        middle = (low + high) / 2
        threshold = middle if self.threshold is None else self.threshold
        return np.asarray((t - middle) * (z - threshold) <= 0)

    def check_targets(self, t: Array) -> None:
        """Refuse targets for which this criterion has no meaning; the default takes any finite number."""
        if not np.isfinite(t).all():
            raise MismatchError(f"Criterion {type(self).__name__} was given a target that is not a finite number.")

    def refusal(self, missing: str, instead: str) -> MismatchError:
        return MismatchError(f"Criterion {type(self).__name__} has not {missing}; use {instead}.")


class Margin(Pointwise):
    """ℓ = f(m) of the shortfall m = max(0, b − t·z), for t = ±1: the error-correcting criteria.

    A row at t·z = b counts as an error, as in the textbooks' ``a·y ≤ b``; so the perceptron's slope there is −t.
    """

    margin: float

    def shortfall(self, t: Array, z: Array) -> Array:
        """max(0, b − t·z)."""
        return np.maximum(self.margin - t * z, 0)

    def check_targets(self, t: Array) -> None:
        if not np.isin(t, (-1, 1)).all():
            raise MismatchError(
                f"Criterion {type(self).__name__} takes targets −1 and +1; it was given {_some(t, (-1, 1))}. "
                f"Make the coding with labels=(-1, 1)."
            )


class Probability(Pointwise):
    """A criterion whose targets are probabilities of the positive class: 0, 1 or, for soft labels, between."""

    labels: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def check_targets(self, t: Array) -> None:
        inside = (t >= 0) & (t <= 1)
        if not inside.all():
            raise MismatchError(
                f"Criterion {type(self).__name__} takes targets between 0 and 1; it was given {t[~inside].flat[0]:g}. "
                f"Make the coding with labels=(0, 1)."
            )


def outdone(t: Array, z: Array) -> Array:
    """(n, 1): rows in which some other output scores at least as high as that of the greatest target."""
    own = t.argmax(axis=1)[:, None]
    mine = np.take_along_axis(z, own, axis=1)
    rivals = z.copy()
    np.put_along_axis(rivals, own, -np.inf, axis=1)
    return np.asarray(rivals.max(axis=1, keepdims=True) >= mine)


def like(t: Array, z: Array) -> Array:
    """Targets in the dtype of the scores, so that float32 scores give float32 losses."""
    return np.asarray(t, dtype=z.dtype)


def _some(t: Array, allowed: tuple[float, ...]) -> str:
    return f"{t[~np.isin(t, allowed)].flat[0]:g}"
