"""Covariances of a fit that hold where its model does not: I⁻¹ M I⁻¹ with the variance M of the sum of scores.

    HC0, HC1    M = Σ w s sᵗ over rows, times 1 or n/(n − k)
    cluster     M = Σ_c s_c s_cᵗ G/(G − 1) (n − 1)/(n − k),  the scores of a cluster's rows summed, G clusters
    survey      M = Σ_h n_h/(n_h − 1) Σ_c (s_hc − s̄_h)(s_hc − s̄_h)ᵗ,  clusters c of strata h

What M is made of comes from the evaluation that gives the information: outer products of the rows' scores where a row
is a cluster, sums of the scores of each cluster else.  That of strata is Σ_h f_h (Σ_c s_hc s_hcᵗ − S_h S_hᵗ/n_h) with
f_h = n_h/(n_h − 1) and the sum S_h of the stratum's scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from discriminant.criteria import Squared
from discriminant.data import ArrayBlocks, encode_labels, make_blocks
from discriminant.data.evaluate import Evaluate, Groups
from discriminant.data.labels import missing_places
from discriminant.errors import DataError, names
from discriminant.inference.likelihood import Asked, Optimum
from discriminant.protocols import Array, Need


@dataclass(frozen=True)
class Robust:
    """A covariance: what it asks of the rows, and the M of their sums with what is known of a survey's design."""

    asked: Asked
    meat: Callable[[Optimum], tuple[Array, dict[str, float]]]

    def covariance(self, optimum: Optimum, bread: Array) -> tuple[Array, dict[str, float]]:
        """(covariance of θ, what is known of the design of a survey)."""
        meat, design = self.meat(optimum)
        return np.asarray(bread @ meat @ bread), design


def _each_row(corrected: bool, optimum: Optimum) -> tuple[Array, dict[str, float]]:
    n, k = optimum.total, optimum.n_parameters
    assert optimum.outer is not None
    return optimum.outer * (n / (n - k) if corrected else 1.0), {}


def _clusters(optimum: Optimum) -> tuple[Array, dict[str, float]]:
    scores = optimum.groups
    assert scores is not None
    n, k, count = optimum.total, optimum.n_parameters, len(scores)
    if count < 2:
        raise DataError("groups names one cluster only; a clustered covariance needs at least two.")
    return _sums(scores, Need.OUTER)[0] * (count / (count - 1) * (n - 1) / (n - k)), {}


def _survey(
    labels: Array, counts: Array, within: Array | None, n_rows: int, optimum: Optimum
) -> tuple[Array, dict[str, float]]:
    """Clusters drawn from strata, of which there are ``counts``: ``within`` is that of each; None: of single rows."""
    clusters, k = int(counts.sum()), optimum.n_parameters
    if (counts < 2).any():
        raise DataError(
            f"There is one cluster only in the strata {names(labels[counts < 2].astype(str).tolist())}, which shows no "
            "variance: merge them with others."
        )
    df = clusters - len(counts) + 1 - k
    if df < 1:
        raise DataError(
            f"{clusters} clusters in {len(counts)} strata are too few for {k} coefficients: no degree of freedom "
            "is left for their tests."
        )
    outer, sums = optimum.outer, optimum.groups  # of single rows and of their strata
    if within is not None and sums is not None:
        factor = (counts / (counts - 1))[within]
        outer, sums = _sums(sums, Need.OUTER | Need.GROUPS, factor, Groups(within, len(counts)))
    assert sums is not None
    design: dict[str, float] = {"n": n_rows, "strata": len(counts), "clusters": clusters, "df": df}
    return outer - (sums.T / (counts - 1)) @ sums, design


def _sums(scores: Array, need: Need, factor: Array | None = None, groups: Groups | None = None) -> tuple[Any, Any]:
    """(Σ f s sᵗ, the sums of groups) over the scores of clusters: of ½(z − 1)² at z = 0, whose slopes are −1."""
    blocks, A = make_blocks(scores, np.ones((len(scores), 1))), np.zeros((1 + scores.shape[1], 1))
    found = blocks.reduce(Evaluate(Squared(), None, np.ones(1), A, need, factor=factor, groups=groups))
    assert found.outer is not None
    return found.outer[0, 1:, 1:], None if groups is None else -found.groups.total()[:, 0, 1:]


def robust(covariance: str, groups: Any, strata: Any, blocks: ArrayBlocks) -> Robust | None:
    """The covariance of this name, of rows with these groups and strata; None: the model's."""
    if covariance == "model":
        return None
    if covariance == "cluster":
        return Robust(Asked(Need.GROUPS, groups=_grouped(groups, "groups", blocks.n_rows)[1]), _clusters)
    if covariance != "survey":
        return Robust(Asked(Need.OUTER), partial(_each_row, covariance == "HC1"))
    n = blocks.n_rows
    labels, stratum = _grouped(np.zeros(n, dtype=int) if strata is None else strata, "strata", n)
    if groups is None:
        counts = np.bincount(stratum.codes, minlength=stratum.count)
        factor = (counts / np.maximum(counts - 1, 1))[stratum.codes]
        factor = factor if blocks.weight is None else factor * blocks.weight
        return Robust(Asked(Need.OUTER | Need.GROUPS, factor, stratum), partial(_survey, labels, counts, None, n))
    _, clusters = _grouped(groups, "groups", n)
    within = np.zeros(clusters.count, dtype=np.int64)
    if strata is not None:  # clusters of the same name in two strata are two
        width = clusters.count
        pairs, clusters = _grouped(stratum.codes * width + clusters.codes, "groups", n)
        within = pairs // width
    counts = np.bincount(within, minlength=stratum.count)
    return Robust(Asked(Need.GROUPS, groups=clusters), partial(_survey, labels, counts, within, n))


def _grouped(given: Any, name: str, n_rows: int) -> tuple[Array, Groups]:
    """(the labels, the group of each row): labels of any kind that tells rows apart, dates and measurements too."""
    if hasattr(given, "factorize"):  # of pandas: words and categories by their hashes, in a tenth of the time
        codes, labels = given.factorize()
        missing = np.flatnonzero(codes < 0)
    else:
        values = np.asarray(given)
        values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values  # a frame of one column
        if values.ndim != 1:
            raise DataError(f"{name} has the shape {values.shape}; it takes one label for each row.")
        missing = np.array(missing_places(values)) if values.dtype == object else np.flatnonzero(values != values)
        encode = partial(np.unique, return_inverse=True) if values.dtype.kind in "fmM" else encode_labels
        labels, codes = (values, values) if len(missing) else encode(values)
    if len(missing):
        raise DataError(f"{name} has no label in row {missing[0]}: leave such rows out of the fit.")
    if len(codes) != n_rows:
        raise DataError(f"{name} has {len(codes)} entries and X has {n_rows} rows.")
    return labels, Groups(codes.astype(np.int64), len(labels))
