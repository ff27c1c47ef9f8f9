"""Tables for discriminants in closed form: least squares (t-tests) and Gaussian classes with one covariance (Wald).

Least squares of targets t on Y = [1, x], with u the coordinates in which YᵗY + αI₀ is N·I:

    model    Cov(a) = σ² (YᵗY)⁻¹,  σ² = RSS/(N − rank)
    HC0…HC3  (YᵗY)⁻¹ (Σ w ω e² y yᵗ) (YᵗY)⁻¹,  ω = 1, N/(N − rank), 1/(1 − h), 1/(1 − h)²

Gaussian classes: β_k = Σ⁻¹(m_k − m_0) and β_k0 = −½(m_k + m_0)·β_k + ln P_k/P_0 are smooth functions of means, which
vary by Σ/N_k, of the pooled scatter, which is Wishart with ν degrees of freedom, and of the class frequencies:

    Cov(β_k, β_l) = Σ⁻¹ (δ_kl/N_k + 1/N_0) + (β_kᵗΣβ_l Σ⁻¹ + β_l β_kᵗ)/ν          (delta method; Efron 1975 for K = 2)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discriminant.errors import DataError
from discriminant.inference.summary import Summary, tabled
from discriminant.protocols import Array

Names = tuple[Sequence[str], Array]  # of columns and outputs


@dataclass(frozen=True)
class Ols:
    """A least-squares fit in coordinates where its normal matrix is N·I: u = [1, Mᵗ…], raw = M a."""

    M: Array  # (1+d, 1+r): raw weights from those on u
    total: float
    rank: int  # 1 + r
    rss: Array  # (q,)
    tss: Array  # (q,)
    ridge: float


def ols_summary(
    fit: Ols, weights: Array, named: Names, level: float, kind: str, meat: Array | None,
    notes: Sequence[str],
) -> Summary:  # fmt: skip
    """The table of raw weights (1+d, q), ``named`` (columns, outputs).

    ``meat`` (q, 1+r, 1+r): Σ w ω e² u uᵗ of each output, for HC covariances.
    """
    from scipy.linalg import block_diag

    df = fit.total - fit.rank
    if df <= 0:
        raise DataError(f"{fit.total:g} rows for {fit.rank} weights leave nothing to estimate errors from.")
    sigma2 = fit.rss / df
    blocks = []
    for j in range(weights.shape[1]):
        inner = np.eye(fit.rank) * sigma2[j] / fit.total if meat is None else meat[j] / fit.total**2
        blocks.append(fit.M @ inner @ fit.M.T)
    covariance = block_diag(*blocks)
    r2 = 1 - float(fit.rss.sum() / fit.tss.sum())
    statistics = {"n": fit.total, "df": df, "RSS": float(fit.rss.sum()), "R²": r2}
    if len(sigma2) == 1 and fit.rank > 1 and not fit.ridge:
        from scipy.special import fdtrc

        F = (fit.tss[0] - fit.rss[0]) / (fit.rank - 1) / sigma2[0]
        statistics |= {
            "residual sd": float(np.sqrt(sigma2[0])),
            "F": float(F),
            "p(F)": float(fdtrc(fit.rank - 1, df, F)),
        }
    errors = "posterior" if fit.ridge else "sampling"
    kinds = {"errors": errors, "covariance": kind, "intervals": "t", "statistic": "t", "odds": ""}
    kinds |= {} if fit.ridge else {"tests": "t"}
    notes = list(notes)
    if fit.ridge:
        notes.append(
            "This fit is penalised: the intervals are those of the posterior under a Gaussian prior on the weights "
            "with the residual variance taken as known, and p-values are not given."
        )
    elif kind == "model":
        notes.append(
            "Targets that stand for classes have unequal variances: covariance='HC1' or 'HC3' does not assume equal "
            "ones."
        )
    return tabled(*named, weights.T.ravel(), covariance, statistics, level, kinds, notes, df)


@dataclass(frozen=True)
class GaussianFit:
    """Class means in coordinates where the covariance is I, with what is known of how it was estimated."""

    W: Array  # (d, r)
    means: Array  # (K, r)
    origin: Array  # (d,)
    counts: Array  # (K,)
    freedom: float  # ν of the pooled covariance
    given_priors: bool


def gaussian_covariance(fit: GaussianFit) -> Array:
    """Covariance of (β_k0, β_k) for k = 1 … K−1 in the units of X, by the delta method."""
    K, r = fit.means.shape
    b = fit.means[1:] - fit.means[0]
    middle = (fit.means[1:] + fit.means[0]) / 2
    D = 1 + r
    total = np.zeros(((K - 1) * D, (K - 1) * D))
    for k in range(K - 1):
        for m in range(K - 1):
            total[k * D : (k + 1) * D, m * D : (m + 1) * D] = _pair(fit, b, middle, k, m)
    M = np.zeros((1 + len(fit.W), D))
    M[0, 0], M[0, 1:], M[1:, 1:] = 1.0, -(fit.origin @ fit.W), fit.W
    wide = np.kron(np.eye(K - 1), M)
    return np.asarray(wide @ total @ wide.T)


def _pair(fit: GaussianFit, b: Array, middle: Array, k: int, m: int) -> Array:
    """Covariance of (b_k0, b_k) with (b_m0, b_m) in whitened coordinates, Σ = I.

    From dμ: db = dμ_k − dμ_0 and db_0 = −(dμ_k + dμ_0)·b_k/2 − middle_k·db; from dS: db = −dS b_k, db_0 = −middle_k·db.
    """
    first, own = 1 / fit.counts[0], (1 / fit.counts[k + 1] if k == m else 0.0)
    r = len(b[k])
    slopes = np.eye(r) * (first + own + float(b[k] @ b[m]) / fit.freedom) + np.outer(b[m], b[k]) / fit.freedom
    out = np.empty((1 + r, 1 + r))
    out[1:, 1:] = slopes
    # −(dμ_k + dμ_0)·b/2 against dμ_m − dμ_0: own parts add, those of the first class come with a minus.
    left = (own - first) / 2 * b[k]
    right = (own - first) / 2 * b[m]
    out[0, 1:] = -(middle[k] @ slopes) - left
    out[1:, 0] = -(slopes @ middle[m]) - right
    tests = float(b[k] @ b[m]) * (own + first) / 4
    cross = float(left @ middle[m]) + float(middle[k] @ right)
    out[0, 0] = tests + float(middle[k] @ slopes @ middle[m]) + cross
    if not fit.given_priors:
        out[0, 0] += first + own
    return out


def gaussian_summary(
    fit: GaussianFit, weights: Array, named: Names, level: float, notes: Sequence[str],
    slopes_only: bool,
) -> Summary:  # fmt: skip
    """The table of contrasts with the first class, (1+d, K−1); ``slopes_only``: the intercept has errors of its own."""
    if not fit.freedom > fit.W.shape[1] + 1:
        raise DataError(
            f"{fit.counts.sum():g} rows in {len(fit.counts)} classes do not determine a covariance of {fit.W.shape[1]} "
            "columns: there are no standard errors. Use fewer columns."
        )
    covariance = gaussian_covariance(fit)
    if slopes_only:
        places = np.arange(weights.shape[1]) * len(weights)
        covariance[places] = np.nan
        covariance[:, places] = np.nan
    statistics = {"n": float(fit.counts.sum()), "df": float(fit.freedom)}
    if len(fit.counts) == 2:
        D2 = float(np.square(fit.means[1] - fit.means[0]).sum())
        statistics |= {"Mahalanobis distance²": D2}
    kinds = {"errors": "sampling", "covariance": "Gaussian model", "tests": "wald", "intervals": "wald"}
    return tabled(*named, weights.T.ravel(), covariance, statistics, level, kinds, notes)
