"""How good decisions and probabilities are: error with its interval, confusion, log loss, Brier score, ROC, PR,
calibration.

    log loss    −(1/n) Σ ln p(own class)             Brier   (1/n) Σ_i Σ_k (p_ik − t_ik)²
    AUC         P(score of a positive > score of a negative) + ½ P(equal)
    Wilson      {p : |p̂ − p| ≤ z √(p(1−p)/n)}, which stays inside [0, 1] and is right for small n and for no errors
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.errors import DataError, classes_are, names
from discriminant.protocols import Array

Z = 1.959963984540054  # the 97.5 % point of the normal distribution


def wilson(hits: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a share of which ``hits`` of ``n`` were seen.

    >>> [round(end, 3) for end in wilson(0, 10)]
    [0.0, 0.278]
    """
    if n == 0:
        return 0.0, 1.0
    share = hits / n
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * float(np.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n)))
    return 0.0 if hits <= 0 else max(0.0, middle - half), 1.0 if hits >= n else min(1.0, middle + half)


def confusion(own: Array, decided: Array, n_classes: int) -> Array:
    """(K, K) counts: the true class in rows, the decided one in columns."""
    flat = np.asarray(own, dtype=np.int64) * n_classes + np.asarray(decided, dtype=np.int64)
    return np.bincount(flat, minlength=n_classes * n_classes).reshape(n_classes, n_classes)


def log_loss(chances: Array, own: Array) -> float:
    """−(1/n) Σ ln p(own class); probabilities of zero count as 1e-15."""
    return float(-np.log(np.maximum(chances[np.arange(len(own)), own], 1e-15)).mean())


def brier(chances: Array, own: Array) -> float:
    """(1/n) Σ_i Σ_k (p_ik − t_ik)²: 0 perfect, 2 perfectly wrong."""
    target = np.zeros_like(chances)
    target[np.arange(len(own)), own] = 1.0
    return float(((chances - target) ** 2).sum(axis=1).mean())


def _named(score: Array, positive: Array) -> tuple[Array, Array]:
    """(positive rows, all rows) at or above each threshold, the most certain first; ties are taken together."""
    order = np.argsort(-score, kind="stable")
    last = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)
    return np.cumsum(positive[order].astype(np.float64))[last], last + 1


def roc(score: Array, positive: Array) -> tuple[Array, Array]:
    """(false positive rate, true positive rate) at every threshold, from (0, 0) to (1, 1)."""
    up, rows = _named(score, positive)
    across = rows - up
    return np.append(0.0, across / max(across[-1], 1.0)), np.append(0.0, up / max(up[-1], 1.0))


def auc(score: Array, positive: Array) -> float:
    """The area under the ROC curve; NaN where there is one class only.

    >>> auc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    0.75
    """
    if positive.all() or not positive.any():
        return float("nan")
    across, up = roc(score, positive)
    return float((np.diff(across) * (up[1:] + up[:-1]) / 2).sum())


def precision_recall(score: Array, positive: Array) -> tuple[Array, Array]:
    """(recall, precision) at every threshold, most certain first."""
    up, rows = _named(score, positive)
    return up / max(up[-1], 1.0), up / rows


def average_precision(score: Array, positive: Array) -> float:
    """Σ (Rᵢ − Rᵢ₋₁) Pᵢ over the thresholds: the area under precision over recall, in steps."""
    recall, precision = precision_recall(score, positive)
    return float((np.diff(recall, prepend=0.0) * precision).sum())


@dataclass(frozen=True)
class CalibrationBin:
    """Rows whose probability was about ``predicted``, and how often the class then was what it was said to be."""

    predicted: float
    observed: float
    low: float
    high: float
    count: int


def calibration(chance: Array, happened: Array, most: int = 10) -> list[CalibrationBin]:
    """Bins with equally many rows, from the least to the largest probability; equal probabilities stay together."""
    order = np.argsort(chance, kind="stable")
    p, t = chance[order], happened[order]
    inner = np.linspace(0, len(p), min(most, max(len(p) // 10, 1)) + 1).astype(int)[1:-1]
    ends = np.unique(np.searchsorted(p, p[inner], side="left"))
    bins = []
    for rows in np.split(np.arange(len(p)), ends):
        if len(rows):
            low, high = wilson(float(t[rows].sum()), len(rows))
            bins.append(CalibrationBin(float(p[rows].mean()), float(t[rows].mean()), low, high, len(rows)))
    return bins


def _mean_of_known(values: Array) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def calibration_error(bins: list[CalibrationBin]) -> float:
    """The mean distance of observed from predicted, weighted by the rows of the bins."""
    return float(np.average([abs(one.observed - one.predicted) for one in bins], weights=[one.count for one in bins]))


@dataclass(frozen=True)
class Measured:
    """Decisions and, where there are any, probabilities held against the truth."""

    classes: Array
    own: Array  # (n,) codes of the true classes
    decided: Array  # (n,) codes of the decisions
    chances: Array | None  # (n, K)
    costs: Array | None = None  # (K decided, K true)

    @property
    def n(self) -> int:
        return len(self.own)

    @property
    def errors(self) -> int:
        return int((self.own != self.decided).sum())

    @property
    def counts(self) -> Array:
        return confusion(self.own, self.decided, len(self.classes))

    @property
    def baseline(self) -> tuple[float, float, float, float]:
        """(error, log loss, Brier score, mean cost) of what knows only how frequent the classes are."""
        share = np.bincount(self.own, minlength=len(self.classes)) / self.n
        chances = np.broadcast_to(share, (self.n, len(share)))
        cost = np.nan if self.costs is None else float((self.costs @ share).min())
        return 1 - float(share.max()), log_loss(chances, self.own), brier(chances, self.own), cost

    def summary(self) -> dict[str, Any]:
        """Every measure by name."""
        n, counts = self.n, self.counts
        low, high = wilson(self.errors, n)
        sizes, chosen, right = counts.sum(axis=1), counts.sum(axis=0), np.diagonal(counts)
        with np.errstate(invalid="ignore", divide="ignore"):
            recall, precision = right / sizes, right / chosen
        found: dict[str, Any] = {
            "rows": n, "errors": self.errors, "error": self.errors / n, "error_interval": [low, high],
            "accuracy": 1 - self.errors / n, "balanced_accuracy": _mean_of_known(recall),
            "recall": dict(zip(map(str, self.classes.tolist()), recall.tolist(), strict=True)),
            "precision": dict(zip(map(str, self.classes.tolist()), precision.tolist(), strict=True)),
            "confusion": counts.tolist(),
        }  # fmt: skip
        if self.chances is not None:
            found |= {"log_loss": log_loss(self.chances, self.own), "brier": brier(self.chances, self.own)}
            areas = [auc(self.chances[:, k], self.own == k) for k in range(len(self.classes))]
            found["auc"] = areas[1] if len(areas) == 2 else _mean_of_known(np.array(areas))
        if self.costs is not None:
            found["mean_cost"] = float(self.costs[self.decided, self.own].mean())
        return found


def require_known(labels: Array, classes: Array) -> None:
    """Refuse labels that are none of the classes."""
    unknown = sorted({str(label) for label in labels[~np.isin(labels, classes)].tolist()})
    if unknown:
        who = classes_are(unknown, "is not one", "are not among those")
        raise DataError(f"{who} that the model knows: {names(classes.tolist())}.")


def measure_decided(
    classes: Array, labels: Array, predicted: Array, chances: Array | None, costs: Array | None = None
) -> tuple[Measured, list[str]]:
    """(``measure`` of the rows on which the model decides, a note where it rejects some)."""
    decided = np.isin(predicted, classes)
    if len(labels) and not decided.any():
        raise DataError("The model decides on no row, so that there is nothing to measure.")
    notes = []
    if not decided.all():
        left = f"{int((~decided).sum()):,} of {len(labels):,} rows are rejected"
        notes.append(f"{left}; errors are counted on the others.")
    chances = None if chances is None else chances[decided]
    return measure(classes, labels[decided], predicted[decided], chances, costs), notes


def measure(
    classes: Array, labels: Array, predicted: Array, chances: Array | None, costs: Array | None = None
) -> Measured:
    """Labels and predictions as codes; every label must be a class that the model knows."""
    if not len(labels):
        raise DataError("No row has a label, so that there is nothing to measure against.")
    require_known(labels, classes)
    position = {label: k for k, label in enumerate(classes.tolist())}
    own = np.array([position[label] for label in labels.tolist()], dtype=np.int64)
    decided = np.array([position[label] for label in predicted.tolist()], dtype=np.int64)
    return Measured(classes, own, decided, chances, costs)
