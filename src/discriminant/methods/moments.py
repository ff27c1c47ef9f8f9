"""What the methods in closed form share: a fit is a function of class moments, which add.

Moments of half of the rows and of the other half make those of all; so a model is learned in parts and merged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from discriminant.data import held_blas
from discriminant.decision.priors import check_priors
from discriminant.errors import CollinearityWarning, DataError, capital, classes_are, columns, counted
from discriminant.gaussian.covariance import Covariance, scatter_of
from discriminant.gaussian.moments import ClassMoments, class_moments, mapped_moments, row_moments
from discriminant.gaussian.row_space import is_wide
from discriminant.gaussian.whiten import Again, Whitened, whiten_moments
from discriminant.methods.fit import Fit, Note, Sample, Schema
from discriminant.model import LinearDiscriminant
from discriminant.protocols import Array, Certificate

if TYPE_CHECKING:  # a first fit does not wait for the optimizers, nor for densities, which it does not use
    from discriminant.gaussian.exponential_family import ClassSums
    from discriminant.optimize.choose import Choice

# Columns count as nearly collinear where rounding of the data alone, ε|x| against a spread s within the classes, moves
# their weights by more than a third of the digits: (ε|x|/s)·√VIF > ε^⅔, which is 4e-11 in float64 and 2e-5 in float32.
# Variance inflation factors measured within classes: 3 on iris, 2e3 on breast cancer, 9e6 for powers of x up to the
# sixth; 1e8, 1e10 and 1e12 for a column 2·income + noise of 1e-4, 1e-5 and 1e-6 of its spread.  Below VIF = 1/√ε it is
# the distance of a column from zero that costs digits more than the other columns.
LOST_DIGITS = 2 / 3
INFLATED = -1 / 2

Sums = TypeVar("Sums", ClassMoments, "ClassSums")  # what a fit is a function of


class MomentMethod(ABC, Generic[Sums]):
    """A method whose fit is a function of class moments."""

    estimator: ClassVar[str]
    optional: ClassVar[tuple[str, ...]] = ()  # attributes that some fits have and others do not

    def check(self) -> None:
        """Refuse parameters that do not go together."""

    @abstractmethod
    def moments(self, sample: Sample, *, in_parts: bool = False) -> Sums:
        """What the fit needs of the rows, added up in one pass; ``in_parts``: moments of other rows will be added."""

    @abstractmethod
    def learn(self, moments: Sums, schema: Schema, sample: Sample | None = None) -> Fit:
        """The fit that the moments give; ``sample``: the rows, where all of them are at hand for a second pass."""

    @abstractmethod
    def certify(self, state: Mapping[str, Any]) -> Certificate:
        """What is proved of a fit: a closed form needs no iterations, and what could fail is arithmetic."""

    def discriminant(self, state: Mapping[str, Any]) -> Any:
        """What decides, from the attributes of a fit; None where they do not determine it."""
        return state.get("discriminant_")

    def fit(self, sample: Sample) -> Fit:
        """Learn from all rows at once."""
        self.check()
        require_rows(sample)
        with held_blas(sample.blocks.n_features, rows_at_hand(sample.blocks)):
            return self.learn(self.moments(sample), sample.schema, sample)

    def require_parts(self) -> None:
        """Refuse to learn in parts, or to merge, what needs the rows themselves."""

    def part(self, sample: Sample, held: Mapping[str, Any]) -> Fit:
        """The fit of these rows and of those whose moments are ``held``; without weights as long as they are few."""
        moments = self.moments(sample, in_parts=True)
        moments = held["moments_"].merge(moments) if "moments_" in held else moments
        if self.enough(moments):
            return self.learn(moments, sample.schema)
        return Fit(self, None, {"classes_": sample.classes, "moments_": moments})

    def enough(self, moments: Sums) -> bool:
        """Whether rows that came in parts suffice for a first fit."""
        return bool((moments.weight > 0).all() and moments.count.sum() > moments.n_classes)

    def by_rows(self, sample: Sample) -> bool:
        """Whether the rows, fewer than the columns and in memory, stand for their scatter."""
        return sample.blocks.in_memory and is_wide(sample.blocks.n_rows, sample.blocks.n_features)

    def plan(self, sample: Sample) -> Choice:
        """Which way ``fit`` goes, and why."""
        from discriminant.optimize.choose import Choice

        n, d = sample.blocks.n_rows, sample.blocks.n_features
        if self.by_rows(sample):
            return Choice("inner products", f"{d} columns and {n} rows: an n × n matrix stands for the covariance")
        return Choice("moments", f"{n} rows and {d} columns: class sums in one pass, and a closed form of them")


def read_moments(
    sample: Sample, estimator: str, *, by_class: bool = False, diagonal: bool = False, wide: bool = False
) -> ClassMoments:
    """The class moments of the rows; ``wide``: with the rows in place of the scatter."""
    K = len(sample.classes)
    if wide:
        return finite(row_moments(sample.blocks, K, by_class=by_class), sample, estimator)
    return finite(class_moments(sample.blocks, K, by_class=by_class, diagonal=diagonal), sample, estimator)


def finite(moments: ClassMoments, sample: Sample, estimator: str) -> ClassMoments:
    """Sums that are not finite: name the column; large numbers that overflow are not the user's fault."""
    if not (np.isfinite(moments.means).all() and np.isfinite(moments.scatter).all()):
        sample.require_finite(estimator)
        raise DataError("The squares of X overflow even after scaling: values above 1e300. Rescale the columns.")
    return moments


def rows_at_hand(blocks: Any) -> int:
    """How many rows there are in memory; those of files and of other machines are read in threads, which hold BLAS."""
    return int(blocks.n_rows) if blocks.in_memory else 0


def require_rows(sample: Sample) -> None:
    """Refuse fewer rows than a spread within the classes needs."""
    n, K = sample.blocks.n_rows, len(sample.classes)
    if n <= K:
        raise DataError(
            f"The number of samples must be more than the number of classes. There are {n} rows and {K} classes."
        )


def require_every_class(moments: ClassMoments | ClassSums, classes: Array) -> None:
    """Refuse a class whose rows all have the weight zero."""
    if moments.total > 0 and (moments.weight == 0).any():
        empty = classes[moments.weight == 0]
        raise DataError(
            f"{classes_are(list(empty), 'has', 'have')} no rows with a positive weight, from which to learn."
        )


def class_priors(given: Any, moments: ClassMoments | ClassSums, classes: Array) -> Array:
    """The priors that were given, or the class frequencies."""
    require_every_class(moments, classes)
    if given is None:
        return moments.weight / moments.total
    priors = check_priors(given, classes)
    if (priors == 0).any():
        raise DataError(
            f"{classes_are(list(classes[priors == 0]), 'has', 'have')} prior 0; leave their rows out instead."
        )
    return priors


def posterior_discriminant(A: Array, schema: Schema, center: Array | None = None) -> LinearDiscriminant:
    """The discriminant of log posteriors A (1+d, K) up to what all classes share; of two classes of their log odds."""
    two = len(schema.classes) == 2
    return LinearDiscriminant(
        A[:, 1:] - A[:, :1] if two else A, schema.classes, feature_names=schema.names, center=center,
        link="sigmoid" if two else "softmax", basis=schema.basis,
    )  # fmt: skip


# What whitened covariances show


def whitening_residual(whitened: Whitened, covariance: Covariance, unit: Array) -> float:
    """max |WᵗΣWp − p| / max |p| for p the class means and (1, …, 1): how well the whitening undoes the covariance."""
    probes = np.vstack([whitened.means, np.ones(whitened.matrix.shape[1])])
    W = whitened.matrix * unit[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        left = W.T @ covariance.product(W @ probes.T) - probes.T
        size = np.abs(probes).max(axis=1, initial=1e-300)
        return float((np.abs(left) / size).max(initial=0.0))


def whiten_within(
    moments: ClassMoments, divisor: float, tol: float | None = None, sample: Sample | None = None
) -> Whitened:
    """Whiten the covariance within the classes, S_W / divisor, in the form in which the moments hold it."""
    if moments.rows is not None:
        found: Whitened = (scatter_of(moments) * (1 / divisor)).whiten(moments, tol)
        return found
    pooled = moments.pooled()
    return whiten_moments(pooled, divisor, tol=tol, again=reread(sample, pooled, divisor))


def reread(sample: Sample | None, moments: ClassMoments, divisor: float, only: int | None = None) -> Again | None:
    """The whitening's second pass over the rows, where they are at hand: Wᵗ Σ W and the class means there."""
    if sample is None:
        return None

    def again(W: Array) -> tuple[Array, Array]:
        scatter, means = mapped_moments(sample.blocks, moments, W, only)
        return scatter / divisor, means if only is None else means[only : only + 1]

    return again


def rank_notes(whitened: Whitened, feature_names: Sequence[str] | None) -> list[Note]:
    """Name the columns that carry nothing, or nothing that the others do not."""
    found = []
    if len(whitened.constant):
        what = columns(whitened.constant.tolist(), feature_names)
        they = "it" if len(whitened.constant) == 1 else "them"
        text = f"{capital(what)}: constant within the classes, so that no weight is given to {they}."
        found.append(Note(text, CollinearityWarning))
    if len(whitened.collinear):
        p = whitened.null.shape[1]
        found.append(collinear_note(whitened.collinear.tolist(), p, feature_names, " within the classes"))
    return found


def collinear_note(found: list[int], p: int, feature_names: Sequence[str] | None, where: str, more: str = "") -> Note:
    """That p linear combinations of these columns do not vary."""
    what, count = columns(found, feature_names, most=8), counted(p, "linear combination")
    text = (
        f"Variables are collinear: {count} of {what} {'is' if p == 1 else 'are'} constant{where}. Their weights come "
        f"from the pseudo-inverse; predictions along the data are not affected.{more}"
    )
    return Note(text, CollinearityWarning)


def wide_notes(moments: ClassMoments, rank: int, remedy: str = "shrinkage") -> list[Note]:
    """That there are fewer rows than columns, where nothing but the pseudo-inverse decides."""
    n = int(moments.count.sum())
    text = (
        f"There are {moments.n_features:,} columns and {n:,} rows: their covariance has rank {rank:,} and its "
        f"pseudo-inverse is used. Consider {remedy} or fewer columns."
    )
    return [Note(text, CollinearityWarning)]


def near_collinearity_notes(
    parts: Sequence[Whitened],
    moments: ClassMoments,
    feature_names: Sequence[str] | None,
    remedy: str = "use shrinkage",
) -> list[Note]:
    """Name the columns that nearly follow from the others, so that little but noise decides their weights."""
    # No variance inflation factor is larger than tr R⁻¹, nor ‖R‖ smaller than √d.
    if max(one.spread for one in parts) * moments.n_features**0.5 < moments.precision**INFLATED:
        return []
    inflation = np.array([one.inflation for one in parts])
    spread = np.array([one.deviation for one in parts])
    far = np.abs(moments.class_means).max(axis=0) / np.where(spread > 0, spread, np.inf)
    moved = moments.precision * np.maximum(far, 1.0) * np.sqrt(inflation)  # the weights, by rounding of the data
    inexact = (moved > moments.precision**LOST_DIGITS) & (inflation > moments.precision**INFLATED)
    found = np.flatnonzero(inexact.any(axis=0))
    if not len(found):
        return []
    what = columns(found.tolist(), feature_names, most=8)
    condition = max(one.condition for one, some in zip(parts, inexact.any(axis=1), strict=True) if some)
    text = (
        f"Variables are nearly collinear: {what} follow from the other columns but for a share of "
        f"{1 / inflation.max():.1g} of the variance; the condition number of their correlation is {condition:.1g}. "
        "Noise of that size decides their weights, which are large and cancel one another: rounding of the data alone "
        f"moves them by about {moved[inexact].max():.0e} of themselves. Drop all but one of them, or {remedy}."
    )
    return [Note(text, CollinearityWarning)]
