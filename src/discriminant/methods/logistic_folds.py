"""Cross-validated logistic fits: every fold at every C and l1_ratio, with the work that folds share done once.

A fold is the same rows with weight zero on the held-out ones, so X is never copied.  Ridge fits of many rows go through
one pass for all folds (``optimize.folds``); L1 and elastic-net fits, and small ridge fits of two classes, walk along
λ in each fold; what is left is solved fold by fold from the neighbouring answer.  ``choose`` takes the point of the
grid by its scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.data import make_blocks, single_threaded_blas, workers
from discriminant.data.threads import ordered_map
from discriminant.kernels.compiled import load
from discriminant.objective import PointwiseObjective, logistic_objective
from discriminant.optimize import progress
from discriminant.optimize.automatic import minimize
from discriminant.optimize.folds import POINTS, extrapolate, held_out, solve_folds
from discriminant.optimize.path import LAST_DIGITS, SparsePenalty, solve_path
from discriminant.protocols import Array
from discriminant.thresholds import SERIAL_VALUES, SMALL_SET

FOLD_TOL = 3e-7  # of J: of 100,000 rows the log likelihood is within 0.02 of its maximum; scores need no more
NEVER = 37.0  # a class that a fold has not seen: its log odds lie so far below the others', probability e^-37


@dataclass(frozen=True)
class FoldFits:
    """Plain weights (F, L, 1+d, q) of the folds at each C, smallest first, with gaps and steps (F, L)."""

    weights: Array
    gaps: Array
    steps: Array


@dataclass(frozen=True)
class Folds:
    """The loss, and for each fold the weights of all rows when it is learnt from: zero where they are held out."""

    objective: PointwiseObjective
    weights: Array  # (F, n)

    def total(self, f: int) -> float:
        return float(self.weights[f].sum())

    def present(self, f: int) -> Array:
        """(K,) whether the fold has seen the class."""
        t = np.asarray(self.objective.blocks.target)
        if t.ndim == 2 or t.dtype.kind == "f":
            return np.ones(self.objective.n_classes, dtype=bool)
        return np.asarray(np.bincount(t, self.weights[f], minlength=self.objective.n_classes) > 0)

    def fit(self, Cs: Array, l1_ratio: float, tol: float) -> FoldFits:
        """All folds at all C, in any order."""
        order = np.argsort(Cs, kind="stable")
        # Of few rows one at a tie is a digit of the score.
        few = self.objective.blocks.n_values * self.objective.n_outputs <= LAST_DIGITS
        fits, back = self._ascending(Cs[order], l1_ratio, tol if few else max(tol, FOLD_TOL)), np.argsort(order)
        return FoldFits(fits.weights[:, back], fits.gaps[:, back], fits.steps[:, back])

    def accuracies(self, weights: Array, test: Array, weight: Array | None) -> Array:
        """(L,) shares of the rows ``test`` that plain weights (L, 1+d, q) name rightly, in one product."""
        L, D, q = weights.shape
        Z = np.asarray(
            self.objective.blocks.rows.pick(test).values @ weights[:, 1:].transpose(1, 0, 2).reshape(D - 1, L * q)
        ).reshape(-1, L, q)
        own = np.asarray(self.objective.blocks.target)[test][:, None]
        right = (Z[:, :, 0] > -weights[:, 0, 0]) == (own == 1) if q == 1 else (Z + weights[:, 0]).argmax(axis=2) == own
        return np.asarray(np.average(right, axis=0, weights=None if weight is None else weight[test]))

    def _ascending(self, Cs: Array, l1_ratio: float, tol: float) -> FoldFits:
        F, L = len(self.weights), len(Cs)
        d, q = self.objective.n_features, self.objective.n_outputs
        found = FoldFits(np.zeros((F, L, d + 1, q)), np.full((F, L), np.inf), np.zeros((F, L), dtype=np.int32))
        whole = [f for f in range(F) if self.present(f).all()]
        with single_threaded_blas():
            if l1_ratio == 0 and len(whole) == F and np.isfinite(Cs).all():
                self._together(Cs, tol, found)
            rest = [f for f in range(F) if not np.isfinite(found.gaps[f]).all()]
            threads = workers() if self.objective.blocks.n_values >= SERIAL_VALUES else 1
            for _ in ordered_map(lambda f: self._alone(f, Cs, l1_ratio, tol, found), rest, threads):
                progress.stepped(count=L)
        return found

    def _together(self, Cs: Array, tol: float, found: FoldFits) -> None:
        held = held_out(self.objective, self.weights)
        if held is None:
            return
        strengths = 1 / np.multiply.outer(self.weights.sum(axis=1), Cs)
        path = solve_folds(self.objective, self.weights, held, strengths, tol)
        found.weights[:] = path.weights[:, :, :, None]
        found.gaps[:], found.steps[:] = path.gaps, path.passes

    @progress.watched(None)
    def _alone(self, f: int, Cs: Array, l1_ratio: float, tol: float, found: FoldFits) -> None:
        present = self.present(f)
        own = self._own(f, present)
        if own is None:  # one class only: nothing to tell apart
            found.weights[f, :, 0] = _absent(np.zeros((1, 1)), present)[0]
            found.gaps[f] = 0.0
            return
        quick = own.n_classes == 2 and own.blocks.n_values <= SMALL_SET and np.isfinite(Cs).all() and load() is not None
        alone = self._sparse if l1_ratio > 0 or quick else self._ridge
        for level, A, gap, steps in alone(own, Cs, l1_ratio, tol):
            found.weights[f, level] = A if present.all() else _absent(A, present)
            found.gaps[f, level], found.steps[f, level] = gap, steps

    def _own(self, f: int, present: Array) -> PointwiseObjective | None:
        """The fold's own loss, over the classes that it has seen."""
        count = int(present.sum())
        if count < 2:
            return None
        blocks = self.objective.blocks
        target = blocks.target
        if not present.all():
            code = np.cumsum(present) - 1
            target = np.maximum(code[np.asarray(target)], 0)  # rows of an unseen class have weight zero here
        offset = self.objective.offset
        if offset is not None and offset.ndim == 2:
            offset = offset[:, present] if count > 2 else offset[:, present][:, 1] - offset[:, present][:, 0]
        blocks = make_blocks(blocks.rows, target, self.weights[f], blocks.block_rows).remembering()
        return logistic_objective(blocks, count, 0.0, self.objective.intercept, offset)

    @staticmethod
    def _ridge(objective: PointwiseObjective, Cs: Array, l1_ratio: float, tol: float) -> Any:
        found: list[Array] = []
        for level, C in enumerate(Cs):
            ridge, start = 0.0 if np.isinf(C) else 1.0 / (C * objective.total), found[-1] if found else None
            if level >= POINTS and np.isfinite(C):  # along log C the answers go on as they went
                before = np.stack([A.ravel() for A in found[-POINTS:]])
                start = extrapolate(np.log(Cs[level - POINTS : level]), before, np.log(C)).reshape(found[-1].shape)
            fit = minimize(objective.with_ridge(ridge), tol, start, digits=False)
            found.append(_plain(fit.weights, fit.center))
            yield level, found[-1], fit.gap, fit.steps

    @staticmethod
    def _sparse(objective: PointwiseObjective, Cs: Array, l1_ratio: float, tol: float) -> Any:
        strengths = np.array([0.0 if np.isinf(C) else 1.0 / (C * objective.total) for C in Cs])
        tol = tol if l1_ratio else max(1e-4 * tol, 1e-13)  # a ridge's last digits cost a step
        path = solve_path(objective, SparsePenalty(l1_ratio), strengths, tol=tol)
        yield from zip(range(len(Cs)), path.plain(), path.gaps, path.steps, strict=True)


def choose(
    scores: Array, paths: Array, Cs: Array, ratios: list[float], refit: bool, rule: str
) -> tuple[float, float, Array | None]:
    """(C, l1_ratio, weights to take as they are, or None for a fit on all rows).

    From scores (F, ratios, Cs) that are numbers and plain weights (F, ratios, Cs, 1+d, q).
    """
    if refit:
        mean = scores.mean(axis=0)
        level, which = (int(i) for i in np.unravel_index(np.argmax(mean.T), mean.T.shape))
        if rule == "one-standard-error" and len(scores) > 1:
            with np.errstate(invalid="ignore"):  # scores may be infinite: then nothing is near but the best itself
                error = np.nan_to_num(scores[:, which, level].std(ddof=1)) / np.sqrt(len(scores))
            near = np.flatnonzero(mean[which] >= mean[which, level] - error)
            level = int(near[np.argmin(Cs[near])])
        return float(Cs[level]), float(ratios[which]), None
    flat = scores.transpose(0, 2, 1).reshape(len(scores), -1)
    levels, picks = np.unravel_index(flat.argmax(axis=1), (len(Cs), len(ratios)))
    average = np.mean([paths[f, picks[f], levels[f]] for f in range(len(scores))], axis=0)
    return float(Cs[levels].mean()), float(np.mean([ratios[pick] for pick in picks])), average


def _plain(A: Array, center: Array | None) -> Array:
    """Weights with the intercept at zero."""
    if center is None:
        return A
    out = A.copy()
    out[0] -= center @ A[1:]
    return out


def _absent(A: Array, present: Array) -> Array:
    """Weights of all classes from those of the present ones; an unseen class gets next to no probability."""
    K = len(present)
    if K == 2:
        out = np.zeros((len(A), 1))
        out[0] = NEVER if present[1] else -NEVER
        return out
    out = np.zeros((len(A), K))
    seen = np.flatnonzero(present)
    if len(seen) == 2 and A.shape[1] == 1:
        out[:, seen[0]], out[:, seen[1]] = -A[:, 0] / 2, A[:, 0] / 2
    elif len(seen) > 2:
        out[:, seen] = A
    out[0, ~present] = out[0, seen].min() - NEVER
    return out
