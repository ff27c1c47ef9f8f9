"""Covariances of a fit that hold where its model does not: I⁻¹ M I⁻¹ with the variance M of the sum of scores.

    HC0, HC1    M = Σ w s sᵗ over rows, times 1 or n/(n − k)
    cluster     M = Σ_c s_c s_cᵗ G/(G − 1) (n − 1)/(n − k),  the scores of a cluster's rows summed, G clusters
    survey      M = Σ_h n_h/(n_h − 1) Σ_c (s_hc − s̄_h)(s_hc − s̄_h)ᵗ,  clusters c of strata h

What M is made of comes from the evaluation that gives the information: outer products of the rows' scores where a row
is a cluster, sums of the scores of each cluster else.  Single rows of strata are Σ_h f_h (Σ_i s_i s_iᵗ − S_h S_hᵗ/n_h)
with f_h = n_h/(n_h − 1) and the sum S_h of the stratum's scores.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.data import encode_labels
from discriminant.data.evaluate import Groups
from discriminant.errors import DataError, names
from discriminant.inference.likelihood import Asked, Optimum
from discriminant.protocols import Array, Need


class Robust(ABC):
    """A covariance, and what it asks of the rows."""

    asked: Asked

    @abstractmethod
    def covariance(self, optimum: Optimum, bread: Array) -> tuple[Array, dict[str, float]]:
        """(covariance of θ, what is known of the design of a survey)."""


@dataclass(frozen=True)
class EachRow(Robust):
    """Rows of their own, HC0; ``corrected``: HC1."""

    asked: Asked
    corrected: bool

    def covariance(self, optimum: Optimum, bread: Array) -> tuple[Array, dict[str, float]]:
        n, k = optimum.total, len(bread)
        return np.asarray(bread @ optimum.outer @ bread * (n / (n - k) if self.corrected else 1.0)), {}


@dataclass(frozen=True)
class Clusters(Robust):
    """Rows that depend on each other within ``groups``."""

    asked: Asked

    def covariance(self, optimum: Optimum, bread: Array) -> tuple[Array, dict[str, float]]:
        scores = optimum.groups
        assert scores is not None
        n, k, count = optimum.total, len(bread), len(scores)
        if count < 2:
            raise DataError("groups names one cluster only; a clustered covariance needs at least two.")
        return np.asarray(bread @ (scores.T @ scores) @ bread * (count / (count - 1)) * ((n - 1) / (n - k))), {}


@dataclass(frozen=True)
class Survey(Robust):
    """Clusters drawn from strata: ``within`` is the stratum of each; single rows where it is None."""

    labels: Array  # of the strata
    counts: Array  # (H,): clusters of each stratum
    within: Array | None
    n_rows: int
    asked: Asked

    def covariance(self, optimum: Optimum, bread: Array) -> tuple[Array, dict[str, float]]:
        counts, clusters, k = self.counts, int(self.counts.sum()), len(bread)
        if (counts < 2).any():
            alone = [str(label) for label, count in zip(self.labels, counts, strict=True) if count < 2]
            raise DataError(
                f"There is one cluster only in the strata {names(alone)}, which shows no variance: merge them with "
                "others."
            )
        df = clusters - len(counts) + 1 - k
        if df < 1:
            raise DataError(
                f"{clusters} clusters in {len(counts)} strata are too few for {k} coefficients: no degree of freedom "
                "is left for their tests."
            )
        meat = self._of_rows(optimum) if self.within is None else self._of_clusters(optimum, self.within)
        design: dict[str, float] = {"n": self.n_rows, "strata": len(counts), "clusters": clusters, "df": df}
        return np.asarray(bread @ meat @ bread), design

    def _of_rows(self, optimum: Optimum) -> Array:
        sums = optimum.groups  # of the strata
        assert sums is not None
        return np.asarray(optimum.outer - (sums.T / (self.counts - 1)) @ sums)

    def _of_clusters(self, optimum: Optimum, within: Array) -> Array:
        scores = optimum.groups
        assert scores is not None
        starts = np.searchsorted(within, np.arange(len(self.counts)))  # clusters are in the order of their strata
        means = np.add.reduceat(scores, starts) / self.counts[:, None]
        spread = scores - means[within]
        spread *= np.sqrt(self.counts / (self.counts - 1))[within, None]
        return np.asarray(spread.T @ spread)


def robust(covariance: str, groups: Any, strata: Any, blocks: Any) -> Robust | None:
    """The covariance of this name, of rows with these groups and strata; None: the model's."""
    if covariance == "model":
        return None
    if covariance == "cluster":
        return Clusters(Asked(Need.GROUPS, groups=_grouped(groups)[1]))
    if covariance != "survey":
        return EachRow(Asked(Need.OUTER), covariance == "HC1")
    n = blocks.n_rows
    labels, stratum = _grouped(np.zeros(n, dtype=int) if strata is None else strata)
    if groups is None:
        counts = np.bincount(stratum.codes, minlength=stratum.count)
        factor = (counts / np.maximum(counts - 1, 1))[stratum.codes]
        factor = factor if blocks.weight is None else factor * blocks.weight
        return Survey(labels, counts, None, n, Asked(Need.OUTER | Need.GROUPS, factor, stratum))
    _, clusters = _grouped(groups)
    within = np.zeros(clusters.count, dtype=np.int64)
    if strata is not None:  # clusters of the same name in two strata are two
        width = clusters.count
        pairs, clusters = _grouped(stratum.codes * width + clusters.codes)
        within = pairs // width
    counts = np.bincount(within, minlength=stratum.count)
    return Survey(labels, counts, within, n, Asked(Need.GROUPS, groups=clusters))


def _grouped(given: Any) -> tuple[Array, Groups]:
    """(the labels, the group of each row)."""
    labels, codes = encode_labels(np.asarray(given))
    return labels, Groups(codes.astype(np.int64), len(labels))
