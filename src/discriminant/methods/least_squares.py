"""Least squares for classification: scores z = w0 + w·x fitted to targets that stand for the classes.

    minimise Σ_n w_n ‖z_n − t_n‖² + α‖w‖²,      a = Y†b without a penalty, Y = [1, X]  (Duda and Hart 5.8, PRML 4.1.3)

It needs one pass of class moments, whatever the targets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discriminant.arrays import in_memory
from discriminant.codings import ClassCoding, make_coding
from discriminant.data import ArrayBlocks, held_blas
from discriminant.errors import DataError, ParameterError, as_numbers, names
from discriminant.gaussian.least_squares import LeastSquares, MarginMoments, least_squares
from discriminant.gaussian.moments import ClassMoments, unsummed_moments
from discriminant.gaussian.row_least_squares import RowLeastSquares, row_least_squares
from discriminant.gaussian.sparse_least_squares import SparseLeastSquares
from discriminant.methods.fit import Fit, Note, Sample, Schema, linear_state
from discriminant.methods.moments import (
    MomentMethod,
    collinear_note,
    finite,
    near_collinearity_notes,
    read_moments,
    require_every_class,
    rows_at_hand,
    wide_notes,
)
from discriminant.methods.parameters import method, parameter_list
from discriminant.model import LinearDiscriminant
from discriminant.protocols import Array, Certificate
from discriminant.thresholds import BLAS_PRODUCT, LEAST_STEPS, ROW_SPACE_COLUMNS, ROWS_PER_COLUMN, SPARSE_PASS

if TYPE_CHECKING:
    from discriminant.optimize.choose import Choice

Solved = LeastSquares | RowLeastSquares | SparseLeastSquares  # for any targets
Problem = tuple[Solved, Array, Array]  # with the classes that take part, and the outputs that it solves


@parameter_list
class LeastSquaresParameters:
    """Of ``LeastSquaresClassifier``."""

    coding: Any = "auto"
    alpha: float = 0.0
    margin: Any = None
    decoder: str | None = None
    _: KW_ONLY
    reject_label: Any = None
    basis: Any = None


@method
class MinimumSquaredError(LeastSquaresParameters, MomentMethod[ClassMoments]):
    """The linear discriminant a = Y†b."""

    estimator: ClassVar[str] = "LeastSquaresClassifier"

    def fit(self, sample: Sample, margin: Any = None) -> Fit:
        """Learn from all rows at once; ``margin``: b_n > 0 of each row."""
        with held_blas(sample.blocks.n_features, rows_at_hand(sample.blocks)):
            moments = self.moments(sample, in_parts=margin is not None)
            return self.learn(moments, sample.schema, sample, self.margins(sample, margin))

    def moments(self, sample: Sample, *, in_parts: bool = False) -> ClassMoments:
        K = len(sample.classes)
        coding = class_coding(self.coding, K, np.ones(K), self.decoder)
        wide = not in_parts and self.by_rows(sample)
        if not in_parts and self.steps(sample.blocks) >= LEAST_STEPS:
            found = unsummed_moments(sample.blocks, K, by_class=not coding.care.all())
            if found is not None:
                return finite(found, sample, self.estimator)
        return read_moments(sample, self.estimator, by_class=not coding.care.all(), wide=wide)

    def by_rows(self, sample: Sample) -> bool:
        """With a penalty also of hardly more rows than columns: an n × n system needs no inverse of a triangle."""
        blocks = sample.blocks
        few = ROW_SPACE_COLUMNS < blocks.n_rows <= ROWS_PER_COLUMN * blocks.n_features
        return super().by_rows(sample) or bool(self.alpha > 0 and few and blocks.in_memory and not blocks.is_sparse)

    def part(self, sample: Sample, held: Mapping[str, Any], margin: Any = None) -> Fit:
        moments, margins = self.moments(sample, in_parts=True), self.margins(sample, margin)
        if "moments_" in held:
            moments, margins = merged((held["moments_"], held["_margins"]), (moments, margins))
        if self.enough(moments):
            return self.learn(moments, sample.schema, None, margins)
        return Fit(self, None, {"classes_": sample.classes, "moments_": moments, "_margins": margins})

    def margins(self, sample: Sample, margin: Any) -> MarginMoments | None:
        """The moments of the rows weighted by their margins, where there are margins."""
        if margin is None and self.margin is None:
            return None
        K = len(sample.classes)
        if class_coding(self.coding, K, np.ones(K), self.decoder).decoder == "nearest":
            raise ParameterError(
                "A margin moves the targets, and the decoder 'nearest' decides by them: give one of both."
            )
        if margin is None:
            return None
        return MarginMoments.of_rows(
            sample.X, sample.blocks.codes(), K, row_margins(margin, sample.blocks.n_rows), sample.weight
        )

    def steps(self, blocks: ArrayBlocks) -> int:
        """Steps of conjugate gradients on sparse rows that cost as much as the sums of products and their factor."""
        n, d = blocks.n_rows, blocks.n_features
        if not (blocks.in_memory and blocks.is_sparse) or self.alpha == 0:  # steps would not give the rank
            return 0
        return int(BLAS_PRODUCT * min(n, d) ** 2 * max(n, d) / (SPARSE_PASS * max(blocks.n_values, 1)))

    def plan(self, sample: Sample) -> Choice:
        if self.steps(sample.blocks) < LEAST_STEPS:
            return super().plan(sample)
        from discriminant.optimize.choose import Choice

        return Choice("conjugate gradients", "sparse rows are fewer numbers than their sums of products")

    def enough(self, moments: ClassMoments) -> bool:
        return bool((moments.weight > 0).all())

    def learn(
        self, moments: ClassMoments, schema: Schema, sample: Sample | None = None, margins: MarginMoments | None = None
    ) -> Fit:
        classes, notes = schema.classes, list[Note]()
        require_every_class(moments, classes)
        coding = class_coding(self.coding, len(classes), moments.weight, self.decoder)
        targets = coding.targets * class_margins(self.margin, classes)[:, None]
        blocks = None if sample is None else sample.blocks
        A = np.empty((1 + moments.n_features, coding.n_outputs))
        problems: list[Problem] = []
        K, q = coding.care.shape
        alike = bool(coding.care.all())  # every class takes part in every output: np.unique would take 40 µs to see it
        patterns, which = (
            (np.ones((K, 1)), np.zeros(q)) if alike else np.unique(coding.care, axis=1, return_inverse=True)
        )
        for j, members in enumerate(patterns.T > 0):
            outputs = np.flatnonzero(which.ravel() == j)
            problem = self._problem(moments, blocks, margins, members)
            A[:, outputs] = problem.weights(targets[:, outputs])
            problems.append((problem, members, outputs))
        if moments.rows is not None:
            if not self.alpha:
                notes += wide_notes(moments, problems[0][0].rank, "a penalty (alpha)")
        elif not self.alpha:
            solved = [problem for problem, _, _ in problems if isinstance(problem, LeastSquares)]
            notes += _rank_notes(solved, schema)
            parts = [problem.whitened for problem in solved]
            notes += near_collinearity_notes(parts, moments, schema.names, "use a penalty (alpha)")
        discriminant = LinearDiscriminant(
            A, classes, coding=needed_coding(coding), feature_names=schema.names, center=moments.origin,
            basis=schema.basis,
        )  # fmt: skip
        state = linear_state(discriminant, schema) | {
            "moments_": moments, "_margins": margins, "_problems": problems, "coding_": coding, "targets_": targets
        }  # fmt: skip
        return Fit(self, discriminant, state, tuple(notes))

    def _problem(
        self, moments: ClassMoments, blocks: ArrayBlocks | None, margins: MarginMoments | None, members: Array
    ) -> Solved:
        if moments.unsummed is not None:
            return SparseLeastSquares(moments, members, float(self.alpha), self.steps(moments.unsummed.blocks))
        if moments.rows is not None:
            return row_least_squares(moments, float(self.alpha), members)
        return least_squares(moments, alpha=float(self.alpha), blocks=blocks, margins=margins, members=members)

    def certify(self, state: Mapping[str, Any]) -> Certificate:
        """How far rounding left the weights from the minimum of J = Σw ½‖z−t‖²/Σw + λ/2 ‖w‖²; a Certificate.

        J − min J = ½‖∇J‖² in whitened coordinates, in which ``gradient_norm`` is measured.
        """
        problems: list[Problem] = state["_problems"]
        moments, targets = state["moments_"], in_memory(state["targets_"])
        parts = [(p.total / moments.total, *p.optimality(targets[:, j])) for p, _, j in problems]
        objective = sum(share * J for share, J, _ in parts)
        gap = sum(share * norm**2 / 2 for share, _, norm in parts)
        rank = max(problem.rank for problem, _, _ in problems)
        converged = bool(gap <= 1e-9 * max(objective, 1e-9))
        of_rank = f"rank {rank} of {moments.n_features} columns"
        stepped = all(isinstance(problem, SparseLeastSquares) and problem.arrived for problem, _, _ in problems)
        status = f"Solved by conjugate gradients, {of_rank}." if stepped else f"Solved in closed form, {of_rank}."
        if not converged:
            status = f"Not solved: rounding leaves the closed form, {of_rank}, {gap:.1e} above the least J."
        return Certificate(
            status=status,
            converged=converged,
            objective=objective,
            bound=objective - gap,
            gap=gap,
            gradient_norm=max(norm for _, _, norm in parts),
            passes=max(problem.passes for problem, _, _ in problems),
            condition=max(problem.condition for problem, _, _ in problems),
        )


def _rank_notes(problems: list[LeastSquares], schema: Schema) -> list[Note]:
    """Name the columns that leave the weights undecided; a penalty decides them."""
    found: set[int] = set()
    for problem in problems:
        if problem.null:
            found |= {*problem.whitened.constant.tolist(), *problem.whitened.collinear.tolist()}
    if not found:
        return []
    p = max(problem.null.slopes.shape[1] for problem in problems)
    return [
        collinear_note(
            sorted(found),
            p,
            schema.names,
            "",
            " They are the smallest that fit; a penalty (alpha) would decide them too.",
        )
    ]


# What parameters say about targets


# Codings whose targets can be regressed on; the others couple the outputs.
CODINGS = ("auto", "two-class", "one-of-k", "one-vs-rest", "one-vs-rest-k-1", "pairwise", "fisher")


def class_coding(coding: Any, n_classes: int, counts: Array, decoder: str | None = None) -> ClassCoding:
    """The coding that regression on targets uses: by name, or from a (K, q) matrix of targets.

    >>> class_coding("auto", 3, np.ones(3)).name
    'one-of-k'
    """
    if isinstance(coding, str):
        name = coding.lower().replace("_", "-")
        coding = name if name != "auto" else "two-class" if n_classes == 2 else "one-of-k"
    return make_coding(coding, n_classes, counts=counts, decoder=decoder)


def needed_coding(coding: ClassCoding) -> ClassCoding | None:
    """The coding, or None where the outputs are class scores as they are."""
    usual = np.array([[-1.0], [1.0]]) if coding.n_outputs == 1 else np.eye(coding.n_classes)
    plain = coding.decoder == "maximum" and not coding.threshold.any()
    return None if plain and np.array_equal(np.asarray(coding.speakers), usual) else coding


def class_margins(margin: Any, classes: Array) -> Array:
    """b_k (K,), from one number, one for each class, or a mapping; 1 for None."""
    K, given = len(classes), 1.0 if margin is None else margin
    if isinstance(given, Mapping):
        missing = [label for label in classes.tolist() if label not in given]
        if missing:
            raise ParameterError(f"margin says nothing about class {names(missing)}; give one for every class.")
        given = [given[label] for label in classes.tolist()]
    margins = as_numbers(given, "margin")
    if margins.shape not in ((), (K,)):
        raise ParameterError(f"margin has shape {margins.shape}; give one number, or one for each of the {K} classes.")
    if not (np.isfinite(margins) & (margins > 0)).all():
        raise ParameterError(f"A margin must be a positive number; margin is {margin!r}.")
    return np.broadcast_to(margins, (K,))


def row_margins(margin: Any, n_rows: int) -> Array:
    """b_n (n,): a positive number for each row; 1 for None."""
    margins = as_numbers(1.0 if margin is None else margin, "margin")
    if margins.shape not in ((), (n_rows,)):
        raise DataError(f"margin has shape {margins.shape}; it must hold one number for each of the {n_rows} rows.")
    margins = np.broadcast_to(margins, (n_rows,))
    bad = np.flatnonzero(~(np.isfinite(margins) & (margins > 0)))
    if len(bad):
        raise DataError(f"A margin must be a positive number; row {bad[0]} has {margins[bad[0]]:g}.")
    return margins


def merged(
    first: tuple[ClassMoments, MarginMoments | None], second: tuple[ClassMoments, MarginMoments | None]
) -> tuple[ClassMoments, MarginMoments | None]:
    """Moments and margin moments of both; rows without margins have the margin 1."""
    moments = first[0].merge(second[0])
    if first[1] is None and second[1] is None:
        return moments, None
    a, b = (MarginMoments.of_ones(own) if margins is None else margins for own, margins in (first, second))
    return moments, a.merge(b)
