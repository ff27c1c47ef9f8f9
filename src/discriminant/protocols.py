"""The nouns of the package: what each part is and what it promises to the others.

A *discriminant* is a basis φ, weights A and a decision rule.  *Learning* minimises a criterion

    J(A) = Σ_i w_i ℓ(t_i, z_i) / Σ_i w_i  +  λ Ω(A),        z = Y A,   Y = [1, φ(X)],

with an optimizer, over targets t given by a class coding, over rows that come in blocks.  A named method is one
choice of each part.  The other way to A, the generative one, goes from class moments to a closed form.

Letters, the same everywhere: X (n, d) inputs; Y (n, 1+d̂) features with the leading one; A (1+d̂, q) weights with the
intercept in row 0; z (n, q) scores; t (n, q) targets; w (n,) row weights; K classes; q outputs.

The parts themselves are frozen dataclasses with a base class each: ``criteria.Pointwise``, ``penalties.WeightPenalty``,
``codings.ClassCoding``, ``bases.Expansion``, ``data.rows.Design``, ``data.ArrayBlocks`` and
``objective.PointwiseObjective``.  Here is what passes between them, and what they ask of a user's own objects.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Dtype = np.dtype[Any]
Result = TypeVar("Result")


class Oracle(enum.Flag):
    """What a criterion can be asked, and what an optimizer needs to ask; declared, never probed."""

    VALUE = enum.auto()
    GRADIENT = enum.auto()
    CURVATURE = enum.auto()
    QUADRATIC = enum.auto()  # ℓ is quadratic in z, so that one Newton step is exact
    MARGIN = enum.auto()  # ℓ is zero where t·z ≥ b: "separated" has a meaning
    CONJUGATE = enum.auto()  # ℓ*(u) is known, so that a dual bound exists
    LINEAR = enum.auto()  # ℓ is piecewise linear in z, so that a linear program minimises J


class Need(enum.IntFlag):
    """What an evaluation of J is asked for.  The numbers are those of ``kernels/c/evaluate.c``."""

    VALUE = 1
    GRADIENT = 2
    HESSIAN = 4
    PRODUCT = 8  # the Hessian times a direction
    DIAGONAL = 16  # of the Hessian
    INTERCEPT = 32  # the intercepts' rows of the Hessian, which dual bounds ask for
    OUTER = 64  # outer products of the rows' slopes
    GROUPS = 128  # the gradient, group by group of the rows


@dataclass
class Evaluation:
    """What one pass over the rows finds at A: sums, so that those of two parts of the rows add."""

    value: float
    gradient: Array  # (1+d, q)
    hessian: Array | None = None  # (q, 1+d, 1+d); coupled: (q(1+d), q(1+d)), outputs outermost
    product: Array | None = None  # (1+d, q)
    diagonal: Array | None = None  # (1+d, q)
    intercept: Array | None = None  # (1+d, q): Yᵗ(s ℓ''); coupled: (q, q), Σ s ∂²ℓ
    outer: Array | None = None  # as the Hessian: Σ u s ℓ'ℓ'ᵗ in place of Σ s ℓ''
    groups: Any = None  # Yᵗ(s ℓ') of each group of rows
    mass: Array | None = None  # (q,): Σ s ℓ''; not of coupled outputs
    margin: float = float("inf")  # the least score on a row's own side; −inf where a target has none
    noise: float = 0.0  # how far the value may be off by rounding

    def __iadd__(self, other: Evaluation) -> Evaluation:
        self.value += other.value
        self.noise += other.noise
        self.gradient += other.gradient
        for name in ("hessian", "product", "diagonal", "intercept", "outer", "groups", "mass"):
            mine, more = getattr(self, name), getattr(other, name)
            if mine is not None:
                mine += more
        self.margin = min(self.margin, other.margin)
        return self


class Predictor(Protocol):
    """A fitted model, of this package or another, that decides on rows."""

    def predict(self, X: Any) -> Any: ...


class Probabilistic(Predictor, Protocol):
    """One that has posteriors too."""

    def predict_proba(self, X: Any) -> Any: ...


class Projects(Protocol):
    """A fitted transformer of rows to few coordinates, linear in them: X @ ``scalings_``, but for the origin."""

    @property
    def classes_(self) -> Any: ...
    @property
    def scalings_(self) -> Any: ...
    def transform(self, X: Any) -> Any: ...


class FindsCovariance(Protocol):
    """What finds a covariance in rows, as scikit-learn's covariance estimators do: ``covariance_``."""

    def fit(self, X: Any) -> Any: ...


@dataclass(frozen=True)
class Block:
    """Some consecutive rows: the design, and what belongs to each row."""

    design: Any  # a Design
    start: int  # index of the first row in the whole
    target: Array | None = None  # class codes (rows,) or targets (rows, q)
    weight: Array | None = None  # (rows,) or None for all ones

    @property
    def rows(self) -> int:
        return int(self.design.shape[0])


@runtime_checkable
class Evaluates(Protocol):
    """An objective that finds its value and derivatives in one pass."""

    def evaluate(self, A: Array, need: Need) -> Evaluation:
        """J(A) and what else is asked for."""


@runtime_checkable
class Optimizer(Protocol):
    """argmin J, knowing an objective and nothing else."""

    needs: ClassVar[Oracle]

    def minimize(self, objective: Any, start: Array) -> Solution: ...


@dataclass(frozen=True)
class Solution:
    """What an optimizer returns: values, and a status that is a sentence.

    Attributes
    ----------
    weights : ndarray of shape (1 + d, q)
        A, intercepts in row 0.
    status : str
        How the run ended, as a sentence.
    converged : bool
        Whether the end is the minimum.
    passes : float
        Passes over the rows.
    iterations : int
        Steps.
    objective : float
        J at the weights.
    gradient_norm : float
        ‖∇J‖ at the weights; NaN where it was not computed.
    history : History or None
        One record a step.
    notes : tuple of str
        What else should be known.
    bound : float
        A proved lower bound of J; −inf where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> Solution(np.zeros((2, 1)), "Solved.", True).converged
    True
    """

    weights: Array
    status: str
    converged: bool
    passes: float = 0.0
    iterations: int = 0
    objective: float = float("nan")
    gradient_norm: float = float("nan")
    history: Any = field(default=None, repr=False)
    notes: tuple[str, ...] = field(default=())
    bound: float = float("-inf")


@dataclass(frozen=True)
class Certificate:
    """What a fit proves about itself: J, a lower bound of its minimum, and what else is known of it.

    ``converged`` means gap ≤ tol·|J|, or, where no bound exists, that the status sentence says why the end is one.
    Its text, ``print(model.certificate_)``, says all of it.

    Attributes
    ----------
    status : str
        What is proved, as a sentence.
    converged : bool
        Whether the fit is what was asked for.
    objective : float
        J of the fit.
    bound : float
        A proved lower bound of J over all weights; −inf where there is none.
    gap : float
        objective − bound: the fit is within it of the minimum.
    gradient_norm : float
        ‖∇J‖ at the fit; NaN where it was not computed.
    passes : float
        Passes over the rows that the fit took.
    separability : Separability, str or None
        Whether the classes are separable, where that was found out.
    notes : tuple of str
        What else should be known.
    condition : float
        Condition number of the matrix that was solved with, columns scaled; NaN where there was none.

    See Also
    --------
    certify : Proves the same for a fit of another package.

    Examples
    --------
    >>> from discriminant import LogisticRegression, datasets
    >>> iris = datasets.load("iris")
    >>> certificate = LogisticRegression().fit(iris.X, iris.y).certificate_
    >>> certificate.converged, 0 <= certificate.gap <= 1e-8 * certificate.objective
    (True, True)
    """

    status: str
    converged: bool
    objective: float = float("nan")
    bound: float = float("-inf")
    gap: float = float("inf")
    gradient_norm: float = float("nan")
    passes: float = 0.0
    separability: Any = None
    notes: tuple[str, ...] = field(default=())
    condition: float = float("nan")  # of the matrix that was solved with, columns scaled; NaN where there was none

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from discriminant.shown import paragraphs

        return paragraphs(str(self).splitlines())

    def __str__(self) -> str:
        lines = [self.status]
        if self.objective == self.objective:
            proved = f", lower bound {self.bound:.12g}, gap {self.gap:.2g}" if self.bound > float("-inf") else ""
            lines.append(f"objective {self.objective:.12g}{proved}")
        condition = float(f"{self.condition:.2g}")  # 380 and not 3.8e+02
        parts = [("gradient norm {:.2g}", self.gradient_norm), ("condition number {:g}", condition)]
        parts.insert(1, (f"{{:g}} pass{'es' * (self.passes != 1)} over the data", round(self.passes, 1)))
        lines.append(", ".join(text.format(value) for text, value in parts if value == value))
        said = self.separability
        verdict = said if said is None or isinstance(said, str) else said.verdict
        return "\n".join([*lines, *([f"the classes are {verdict}"] if verdict else []), *self.notes])
