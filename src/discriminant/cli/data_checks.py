"""What a careful colleague would ask about a table before believing a good result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discriminant.arrays import is_sparse
from discriminant.data.labels import distinct
from discriminant.errors import counted, names
from discriminant.protocols import Array
from discriminant.report.measures import auc

MOST_ROWS = 5_000
LEAKING = 0.995  # the area under the ROC curve of one column alone that is too good to be taken for granted
LOPSIDED = 0.9


def data_checks(X: Any, labels: Array, feature_names: Sequence[str], counts: Mapping[Any, int]) -> list[str]:
    """Sentences on columns that give the label away, on lopsided classes and on few rows."""
    n, d = X.shape
    notes = []
    common, most = max(counts.items(), key=lambda item: item[1])
    if most > LOPSIDED * n:
        notes.append(
            f"{100 * most / n:.1f} % of the rows are {common}: a small error says little. Look at how many of the "
            "others are found, and give the errors their costs with --cost."
        )
    if n < 5 * d:
        notes.append(
            f"There are {n:,} rows for {counted(d, 'feature')}: weights are uncertain; lda-shrunk or logistic bear "
            "that best."
        )
    if len(counts) == 2 and not is_sparse(X):
        leaking = leaking_columns(X, labels, feature_names, list(counts))
        if len(leaking) == 1:
            notes.append(
                f"{leaking[0]!r} alone tells the classes apart almost perfectly: is it known before the label is? "
                "If not, leave it out with --drop."
            )
        elif leaking:
            notes.append(
                f"{names(leaking)} tell the classes apart almost perfectly, each alone: are they known before the "
                "label is? If not, leave them out with --drop."
            )
    return notes


def leaking_columns(X: Array, labels: Array, feature_names: Sequence[str], classes: list[Any]) -> list[str]:
    """The features that tell two classes apart alone, on some rows."""
    rows = distinct(np.linspace(0, len(X) - 1, min(len(X), MOST_ROWS)).astype(int))
    positive = labels[rows] == classes[1]
    if positive.all() or not positive.any() or min(positive.sum(), (~positive).sum()) < 10:
        return []
    sample = X[rows]
    middle = np.median(sample[positive], axis=0)
    rest = sample[~positive]
    # An area above t leaves at most 2(1 − t) of the one class beyond the median of the other: few columns do.
    wrong = np.minimum((rest > middle).mean(axis=0), (rest < middle).mean(axis=0))
    areas = {int(j): auc(sample[:, j], positive) for j in np.flatnonzero(wrong <= 2 * (1 - LEAKING))}
    return [feature_names[j] for j, area in areas.items() if max(area, 1 - area) > LEAKING]
