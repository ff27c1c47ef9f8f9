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

from discriminant.arguments import NOT_NEGATIVE, checked
from discriminant.docstrings import Entries
from discriminant.errors import MismatchError
from discriminant.protocols import Array, Oracle

documented = Entries("""
t : ndarray of shape (n, q)
    Targets, in the criterion's own ``labels``.
z : ndarray of shape (n, q)
    Scores of the outputs.
u : ndarray of shape (n, q)
    Dual variables, one for each score.
margin : float
    b ≥ 0.
xp : module
    The library of the arrays: NumPy, or that of a device.
→ Array : ndarray of shape (n, q)
    A number for each row and output.
→ tuple[Array, Array] : tuple of two ndarrays
    Losses and their slopes.
→ value : ndarray of shape (n, q)
    The loss of each row and output; of shape (n, 1) where the outputs are coupled.
→ curvature : ndarray of shape (n, q), or (n, q, q) when the outputs are coupled
    The second derivatives by the scores of a row.
→ conjugate : ndarray of shape (n, q)
    Shaped as ``value``; +inf outside the domain of the conjugate.
→ curvature_root : ndarray of shape (n, m, q)
    A root for each row.
→ wrong : ndarray of bool
    Shaped as ``value``: True where the row is an error.
→ refusal : MismatchError
    Ready to be raised.
→ log_sum_exp : ndarray of shape (n, 1)
    The logarithm of the sum of powers.
""").documented


@documented
class Pointwise(ABC):
    """ℓ(t, z), row by row, with the facts that the other parts of the package may ask for.

    The abstract base of all criteria.  A criterion is a frozen dataclass with ``value`` and whatever further oracles it
    declares; what it does not declare it refuses with a sentence.

    Attributes
    ----------
    oracles : Oracle
        What the criterion can be asked for: value, gradient, curvature, conjugate and so on.
    kind : int or None
        Its number among the compiled formulas; None: the array body evaluates it.
    labels : tuple of two floats
        Targets of the negative and of the positive class.
    threshold : float or None
        The score of indifference; None: half way between the two targets.
    coupled : bool
        Whether a row has one loss for all of its outputs together.
    convex : bool
        Whether ℓ is convex in z.
    over_norm : float
        c, where each row's loss is divided by c‖y‖² (relaxation); 0 where it is not.
    recedes : bool
        Whether on separable data the infimum is approached only by weights that grow for ever.
    margin : float
        b, of the criteria that are zero where tz ≥ b; 0 of the others.
    third_known : bool
        Whether ``third`` is there, which Jeffreys' penalty asks for.

    See Also
    --------
    make_criterion : The criterion of a name.
    discriminant.Discriminant : Minimises any criterion over a linear discriminant.

    >>> from discriminant.criteria import Hinge, Pointwise
    >>> isinstance(Hinge(), Pointwise), Hinge().labels
    (True, (-1.0, 1.0))
    """

    oracles: ClassVar[Oracle]
    kind: ClassVar[int | None] = None  # its number in kernels/c/formulas.h; None: evaluated by the array body
    labels: ClassVar[tuple[float, float]] = (-1.0, 1.0)  # targets of the negative and the positive class
    threshold: ClassVar[float | None] = 0.0  # score of indifference; None: half way between the two targets
    coupled: ClassVar[bool] = False  # one loss a row for all outputs together
    free_sum: ClassVar[bool] = False  # adding the same number to all outputs of a row changes nothing
    convex: ClassVar[bool] = True
    over_norm: ClassVar[float] = 0.0  # c: each row's loss is divided by c‖y‖² (relaxation); 0: it is not
    recedes: ClassVar[bool] = False  # on separable data the infimum is reached only by weights that grow for ever
    margin: float = 0.0  # b of the criteria that have one
    third_known: ClassVar[bool] = False  # `third` is there (Jeffreys' penalty asks)

    @property
    def single(self) -> Pointwise:
        """The criterion of a single score: itself, or the one that Kesler's construction compares pairs with."""
        return self

    @abstractmethod
    def value(self, t: Array, z: Array) -> Array:
        """ℓ(t, z)."""

    def gradient(self, t: Array, z: Array) -> Array:
        """∂ℓ/∂z.

        Raises
        ------
        MismatchError
            Where the criterion has no gradient.
        """
        raise self.refusal("a gradient", "an optimizer that needs values only, such as Annealing or MixedInteger")

    def curvature(self, t: Array, z: Array) -> Array:
        """∂²ℓ/∂z².

        Raises
        ------
        MismatchError
            Where the criterion has no curvature.
        """
        raise self.refusal("a curvature", "an optimizer that needs gradients only, such as GradientDescent or LBFGS")

    def conjugate(self, t: Array, u: Array) -> Array:
        """ℓ*(u) = sup_z u·z − ℓ(t, z), the convex conjugate, from which dual bounds are made.

        Raises
        ------
        MismatchError
            Where the criterion has no conjugate.
        """
        raise self.refusal("a conjugate", "a criterion whose oracles include CONJUGATE")

    def third(self, t: Array, z: Array) -> Array:
        """∂³ℓ/∂z³, which Jeffreys' penalty asks for.

        Raises
        ------
        MismatchError
            Where it is not known.
        """
        raise self.refusal("a third derivative", "criterion Logistic")

    def value_and_gradient(self, t: Array, z: Array) -> tuple[Array, Array]:
        """ℓ and ∂ℓ/∂z in one call.

        A criterion that can share work between them overrides this.
        """
        return self.value(t, z), self.gradient(t, z)

    def curvature_product(self, t: Array, z: Array, v: Array) -> Array:
        """(∂²ℓ/∂z²) v, without an (n, q, q) array where the criterion can avoid one.

        Parameters
        ----------
        v : ndarray of shape (n, q)
            A direction in the space of scores.
        """
        second = self.curvature(t, z)
        return np.einsum("nij,nj->ni", second, v) if self.coupled else np.asarray(second * v)

    def curvature_root(self, t: Array, z: Array) -> Array:
        """R with RᵗR = ∂²ℓ/∂z² of each row, where the criterion is convex.

        Outputs that are not coupled: the diagonal matrix of √ℓ''.
        """
        return np.sqrt(self.curvature(t, z))[:, None, :] * np.eye(z.shape[1])

    def wrong(self, t: Array, z: Array) -> Array:
        """Which rows do not lie strictly on their target's side."""
        low, high = self.labels
        middle = (low + high) / 2
        threshold = middle if self.threshold is None else self.threshold
        return np.asarray((t - middle) * (z - threshold) <= 0)

    def check_targets(self, t: Array) -> None:
        """Refuse targets for which this criterion has no meaning; the default takes any finite number.

        Raises
        ------
        MismatchError
            Where a target has no meaning; the sentence says which and what to do.
        """
        if not np.isfinite(t).all():
            raise MismatchError(f"Criterion {type(self).__name__} was given a target that is not a finite number.")

    def refusal(self, missing: str, instead: str) -> MismatchError:
        """The error that says what this criterion cannot do, and what to use in its place.

        Parameters
        ----------
        missing : str
            What was asked for, with its article.
        instead : str
            What to use.
        """
        return MismatchError(f"Criterion {type(self).__name__} has not {missing}; use {instead}.")


@documented
@checked(margin=NOT_NEGATIVE)
class Margin(Pointwise):
    """ℓ = f(m) of the shortfall m = max(0, b − t·z), for t = ±1: the error-correcting criteria.

    A row at t·z = b counts as an error, as in the textbooks' ``a·y ≤ b``; so the perceptron's slope there is −t
    (Duda, Hart and Stork 5.4–5.6).

    Attributes
    ----------
    margin : float
        b ≥ 0.

    See Also
    --------
    Perceptron : f(m) = m.
    Quadratic : f(m) = m².
    Relaxation : f(m) = m²/2, divided by ‖y‖².

    >>> from discriminant.criteria import Hinge
    >>> Hinge().shortfall(np.array([[1.0]]), np.array([[0.25]]))
    array([[0.75]])
    """

    margin: float

    def shortfall(self, t: Array, z: Array) -> Array:
        """m = max(0, b − t·z), by how much a row misses the margin."""
        return np.maximum(self.margin - t * z, 0)

    def check_targets(self, t: Array) -> None:
        # Refuse targets other than −1 and +1.
        if not np.isin(t, (-1, 1)).all():
            raise MismatchError(
                f"Criterion {type(self).__name__} takes targets −1 and +1; it was given {t[abs(t) != 1].flat[0]:g}. "
                f"Make the coding with labels=(-1, 1)."
            )


@documented
class Probability(Pointwise):
    """A criterion whose targets are probabilities of the positive class: 0, 1 or, for soft labels, between.

    The base of ``Logistic``, ``Softmax`` and ``SigmoidSquared``.

    See Also
    --------
    Logistic : One sigmoid output.
    Softmax : K outputs that compete.

    >>> from discriminant.criteria import Logistic, Probability
    >>> isinstance(Logistic(), Probability), Logistic().labels
    (True, (0.0, 1.0))
    """

    labels: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def check_targets(self, t: Array) -> None:
        # Refuse targets that do not lie between 0 and 1.
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
