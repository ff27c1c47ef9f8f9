"""``pool``: one table from the tables of several completed copies of the data (multiple imputation), by Rubin's rules.

    θ̄ = mean θ_i      Ū = mean of the covariances      B = covariance of the θ_i      T = Ū + (1 + 1/m) B

Tests are Student's t.  With λ = (1 + 1/m) B_jj/T_jj, the share of the variance that is due to what is missing, and ν
the degrees of freedom of the complete rows (Barnard and Rubin 1999):

    1/df = 1/df_m + 1/df_obs,      df_m = (m − 1)/λ²,      df_obs = (ν + 1)/(ν + 3) ν (1 − λ)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discriminant.arguments import SHARE, checked
from discriminant.errors import ParameterError
from discriminant.inference import documented
from discriminant.inference.summary import Summary, wald


@documented
@checked(level=SHARE)
def pool(tables: Sequence[Any], *, level: float = 0.95) -> Summary:
    """One table from the tables of the same model on several completed copies of the data, by Rubin's rules.

    Parameters
    ----------
    tables : sequence of Summary or of fitted models
        One for each imputation, two or more; of a model its ``summary()`` is taken.

    Raises
    ------
    ParameterError
        Where there are fewer than two tables, or they have other rows.

    See Also
    --------
    LogisticRegression.summary : The table of one fit.

    >>> X, y = iris.X[50:, 2:], iris.y[50:]
    >>> rng = np.random.default_rng(0)
    >>> models = []
    >>> for _ in range(5):  # the first ten petal lengths as if they had been drawn by an imputation
    ...     Z = X.copy()
    ...     Z[:10, 0] += rng.normal(0, 0.3, 10)
    ...     models.append(LogisticRegression(C=float("inf")).fit(Z, y))
    >>> table = pool(models)
    >>> table.terms, bool(table.extra["fmi"].max() < 0.2)
    (['(intercept)', 'x0', 'x1'], True)
    """
    found: list[Summary] = [table if isinstance(table, Summary) else table.summary() for table in tables]
    if len(found) < 2:
        raise ParameterError(f"tables has {len(found)} entries; pooling takes the tables of two or more imputations.")
    first, m = found[0], len(found)
    for i, table in enumerate(found):
        if (table.terms, table.outcomes) != (first.terms, first.outcomes):
            raise ParameterError(f"The table of imputation {i} has other terms or classes than the first.")
        if table.kinds["errors"] != "sampling":
            raise ParameterError("A table has no standard errors of sampling (its fit is penalised): fit with C=inf.")
    estimates = np.array([table.estimate for table in found])
    theta, within = estimates.mean(axis=0), np.mean([table.covariance for table in found], axis=0)
    between = (1 + 1 / m) * np.atleast_2d(np.cov(estimates, rowvar=False))
    total = within + between
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.diagonal(between) / np.diagonal(total)  # λ
        nu = first.statistics.get("df", np.inf)
        observed = (nu + 1) / (nu + 3) * nu * (1 - share) if np.isfinite(nu) else np.inf
        df = 1 / (share**2 / (m - 1) + 1 / np.asarray(observed))
        ratio = share / (1 - share)
        missing = (ratio + 2 / (df + 3)) / (1 + ratio)
    return Summary(
        first.terms, first.outcomes, theta, *wald(theta, total, level, df), total,
        {"n": first.statistics["n"], "imputations": m}, level,
        {**first.kinds, "covariance": f"{first.kinds['covariance']} covariance within, Rubin's total",
         "statistic": "t", "intervals": "t"},
        extra={"df": df, "fmi": missing},
    )  # fmt: skip
