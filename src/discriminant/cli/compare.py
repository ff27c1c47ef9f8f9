"""Cross-validation of methods on the same folds, and the choice by the rule of one standard error.

    error of a method    the mean over folds of the share of rows decided wrongly
    its standard error   the folds' standard deviation / √folds
    the choice           the simplest method whose error is within one standard error of the least, among those whose
                         probabilities are better than the class frequencies, where there are such

Columns are decided and filled within each fold, from its training rows alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discriminant.cli.console import Console
from discriminant.cli.methods import Method, fit_method
from discriminant.cli.training import Training
from discriminant.errors import DataError, DiscriminantError, classes_are, names
from discriminant.io.table_model import classes_of, posteriors
from discriminant.protocols import Array
from discriminant.report.measures import log_loss

MOST_ROWS = 20_000  # of a comparison; a larger table is sampled


@dataclass
class Trial:
    """What the folds said of one method."""

    method: Method
    errors: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    seconds: float = 0.0
    refusal: str = ""
    predicted: Array | None = None  # out of fold, for each row of the comparison
    chances: Array | None = None

    @property
    def error(self) -> float:
        return float(np.mean(self.errors)) if self.errors and not self.refusal else float("nan")

    @property
    def standard_error(self) -> float:
        return float(np.std(self.errors, ddof=1) / np.sqrt(len(self.errors))) if len(self.errors) > 1 else float("nan")

    @property
    def log_loss(self) -> float:
        return float(np.mean(self.losses)) if self.losses else float("nan")

    def decided(self, classes: Array, costs: Array | None) -> Any:
        """The decisions out of fold; of least expected cost where there are costs and probabilities."""
        if costs is None or self.chances is None:
            return self.predicted
        return classes[(self.chances @ costs.T).argmin(axis=1)]


@dataclass(frozen=True)
class Comparison:
    """All trials, on which rows, and the choice."""

    trials: list[Trial]
    rows: Array  # row numbers that took part
    labels: Array
    classes: Array
    folds: int
    baseline: float  # the error of always naming the commonest class

    @property
    def usable(self) -> list[Trial]:
        return [trial for trial in self.trials if not trial.refusal]

    def trial(self, method: Method) -> Trial:
        return next(trial for trial in self.trials if trial.method.name == method.name)

    @property
    def best(self) -> Trial:
        return min(self.usable, key=lambda trial: (trial.error, trial.method.freedom))

    @property
    def base_loss(self) -> float:
        """The log loss of the class frequencies, whatever the row."""
        shares = np.unique(self.labels, return_counts=True)[1] / len(self.labels)
        return float(-(shares * np.log(shares)).sum())

    def is_overconfident(self, trial: Trial) -> bool:
        """Whether its probabilities are worse than the class frequencies."""
        return bool(trial.log_loss > self.base_loss)

    @property
    def chosen(self) -> Trial:
        limit = self.best.error + np.nan_to_num(self.best.standard_error)
        near = [t for t in self.usable if t.error <= limit + 1e-12]
        return min(near, key=lambda t: (self.is_overconfident(t), t.method.freedom, t.error))

    def warning(self, trial: Trial) -> str:
        """What to say of probabilities that are worse than the class frequencies."""
        return (
            f"Its probabilities are worse than the class frequencies alone (log loss {trial.log_loss:.3g} against "
            f"{self.base_loss:.3g}): go by its decisions, not by them."
        )

    def why(self) -> str:
        """The choice in a sentence, and a second one where nothing was learned."""
        best = self.best
        sentences = [self._reason()]
        if not best.error + np.nan_to_num(best.standard_error) < self.baseline:
            sentences.append("But no method is clearly better than always naming the commonest class.")
        if self.is_overconfident(self.chosen):
            sentences.append(self.warning(self.chosen))
        return " ".join(sentences)

    def _reason(self) -> str:
        best, chosen = self.best, self.chosen
        if len(self.usable) == 1:
            return f"{chosen.method.name} is the only method that could be fitted."
        if chosen is best:
            equal = [t.method.name for t in self.usable if t is not best and abs(t.error - best.error) < 1e-12]
            tie = f", together with {names(equal)}, and is the simplest of them" if equal else ""
            return f"{chosen.method.name} has the least error{tie}; nothing simpler is within one standard error."
        if self.is_overconfident(best) and not self.is_overconfident(chosen):
            return (
                f"{best.method.name} has the least error, {100 * best.error:.1f} %, but probabilities worse than the "
                f"class frequencies alone (log loss {best.log_loss:.3g} against {self.base_loss:.3g}); "
                f"{chosen.method.name} is within one standard error of it ({100 * best.standard_error:.1f} points)."
            )
        return (
            f"{best.method.name} has the least error, {100 * best.error:.1f} %, and {chosen.method.name} is within one "
            f"standard error of it ({100 * best.standard_error:.1f} points) and simpler: the difference may be chance."
        )


def cut_folds(labels: Array, folds: int, seed: int) -> Array:
    """A fold for each row, every class spread evenly over the folds."""
    rng = np.random.default_rng(seed)
    fold = np.empty(len(labels), dtype=np.int64)
    start = 0
    for label in np.unique(labels):
        mine = rng.permutation(np.flatnonzero(labels == label))
        fold[mine] = (start + np.arange(len(mine))) % folds
        start += len(mine)
    return fold


def compare(
    training: Training,
    methods: Sequence[Method],
    console: Console,
    *,
    folds: int,
    seed: int,
    most_rows: int = MOST_ROWS,
) -> Comparison:
    """Try the methods on the same folds."""
    rows = _sampled(training.labels, seed, most_rows)
    table, labels = training.table.take(rows) if len(rows) < training.n else training.table, training.labels[rows]
    weights = None if training.weights is None else training.weights[rows]
    classes, counts = np.unique(labels, return_counts=True)
    if counts.min() < 2:
        raise DataError(
            f"{classes_are(classes[counts < 2].tolist(), 'has', 'have')} one row only, which cannot be both "
            "learned and tested. Add rows, leave it out, or name a --model with --cv 0."
        )
    folds = int(min(folds, len(labels)))
    fold = cut_folds(labels, folds, seed)
    trials = [Trial(method) for method in methods]
    tried = 0
    for number in range(folds):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        known, new = table.take(train), table.take(test)
        plain = training.rules(known)
        for standardize in sorted({method.standardize for method in methods}):
            rules = training.standardized(plain, known) if standardize else plain
            X, X_test = rules.matrix(known)[0], rules.matrix(new)[0]
            for trial in trials:
                if trial.method.standardize != standardize:
                    continue
                console.progress(f"fold {number + 1} of {folds}: {trial.method.name}", tried, folds * len(trials))
                if not trial.refusal:
                    some = None if weights is None else weights[train]
                    given = (X, labels[train], some, rules.feature_names, training.offset)
                    _try(trial, given, X_test, labels, test, classes)
                tried += 1
    console.done()
    if all(trial.refusal for trial in trials):
        if len(trials) == 1:
            raise DataError(trials[0].refusal)
        raise DataError(f"No method could be fitted. {trials[0].method.name}: {trials[0].refusal}")
    return Comparison(trials, rows, labels, classes, folds, 1 - counts.max() / len(labels))


def _sampled(labels: Array, seed: int, most: int) -> Array:
    """All rows, or as many of each class as its share allows, two at least."""
    if len(labels) <= most:
        return np.arange(len(labels))
    rng = np.random.default_rng(seed)
    parts = []
    for label in np.unique(labels):
        mine = np.flatnonzero(labels == label)
        parts.append(rng.permutation(mine)[: max(2, round(len(mine) * most / len(labels)))])
    return np.sort(np.concatenate(parts))


def _try(trial: Trial, given: tuple[Any, ...], X_test: Array, labels: Array, test: Array, classes: Array) -> None:
    started = time.perf_counter()
    try:
        X, y, weights, features, offset = given
        model, _ = fit_method(trial.method, X, y, features, weights, offset)
        predicted = np.asarray(model.predict(X_test))
        chances = _chances(model, X_test, classes)
    except (DiscriminantError, ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
        trial.refusal = " ".join(str(error).split())
        return
    trial.seconds += time.perf_counter() - started
    trial.errors.append(float((predicted != labels[test]).mean()))
    if trial.predicted is None:
        trial.predicted = labels.copy()
        trial.chances = np.full((len(labels), len(classes)), np.nan) if chances is not None else None
    trial.predicted[test] = predicted
    if chances is not None and trial.chances is not None:
        trial.chances[test] = chances
        trial.losses.append(log_loss(chances, np.searchsorted(classes, labels[test])))


def _chances(model: Any, X: Array, classes: Array) -> Array | None:
    """Probabilities in the order of all classes; a class that the fold did not hold has none."""
    found = posteriors(model, X)
    if found is None:
        return None
    known = classes_of(model)
    if len(known) == len(classes):
        return found
    result = np.zeros((len(found), len(classes)))
    result[:, np.searchsorted(classes, known)] = found
    return result
