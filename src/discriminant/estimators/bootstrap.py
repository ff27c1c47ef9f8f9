"""The bootstrap of a classifier's weights: rows drawn with replacement, the estimator fitted again, percentiles taken.

It assumes nothing of the model but that rows are independent draws, so that it is the way to intervals for penalised
fits, shrunken covariances and whatever has no formula.  For penalised fits they are intervals of the penalised weights,
whose bias they do not take away.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from discriminant.data import encode_labels
from discriminant.errors import DataError
from discriminant.inference.summary import Summary
from discriminant.protocols import Array

NOTE = (
    "Bootstrap: {draws} fits on rows drawn with replacement; standard errors and percentile intervals are those of the "
    "weights that came out."
)


def bootstrap_summary(
    model: Any,
    read: Callable[[Any], Array],
    table: Summary,
    rows: Sequence[Any],
    draws: int,
    random_state: int,
) -> Summary:
    """``table`` with the errors and intervals of ``draws`` refits to the rows (X, y, sample_weight, and an offset).

    ``read`` a fitted model's estimates.
    """
    X, y, sample_weight, *offset = rows
    if X is None or y is None:
        raise DataError("The bootstrap needs the rows: call summary(X, y, intervals='bootstrap').")
    more = {} if not offset or offset[0] is None else {"offset": offset[0]}
    classes, codes = encode_labels(y)
    K, n = len(classes), len(codes)
    given = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    random = np.random.default_rng(random_state)
    found: list[Array] = []
    while len(found) < draws:
        counts = random.multinomial(n, np.full(n, 1.0 / n)) * given
        if (np.bincount(codes, counts, minlength=K) == 0).any():
            continue  # a sample without one of the classes has no fit
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is to be said of the data was said of the fit
            found.append(read(clone(model).fit(X, y, sample_weight=counts, **more)))
    sample = np.array(found)
    tail = (1 - table.level) / 2
    low, high = np.quantile(sample, [tail, 1 - tail], axis=0, method="inverted_cdf")
    with np.errstate(invalid="ignore", divide="ignore"):
        covariance = np.cov(sample, rowvar=False).reshape(sample.shape[1], -1)
        error = np.sqrt(np.diagonal(covariance))
        z = table.estimate / error
    notes = [NOTE.format(draws=draws)]
    infinite = int((~np.isfinite(sample)).any(axis=1).sum())
    if infinite:
        notes.append(
            f"In {infinite} of them the classes were separated, with infinite weights: no standard errors then."
        )
    kinds = {**table.kinds, "errors": "bootstrap", "covariance": "bootstrap", "intervals": "percentile"}
    return replace(
        table,
        standard_error=error,
        z=z,
        p=np.full(len(z), np.nan),
        low=low,
        high=high,
        covariance=covariance,
        kinds=kinds,
        notes=tuple(notes),
    )
