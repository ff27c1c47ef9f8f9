"""The whole path of sparse logistic regressions, from the λ at which every weight is zero down.

    J_λ(A) = Σ w ℓ / Σ w + λ Σ_j f_j [α|a_j| + ½(1 − α) a_j²]

Each point is proved: J_λ is within its ``gap`` of the minimum.  Friedman, Hastie & Tibshirani 2010.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discriminant.arguments import BOOLEAN, CLASS_WEIGHT, COUNT, checked, number, numbers, optional
from discriminant.data import require_finite
from discriminant.data.sources import require_memory
from discriminant.docstrings import documented
from discriminant.errors import ParameterError, as_numbers
from discriminant.estimators.logistic import LogisticRegression
from discriminant.methods.logistic import make_objective, read_bounds, read_groups
from discriminant.model import LinearDiscriminant
from discriminant.objective import PointwiseObjective
from discriminant.optimize.automatic import minimize
from discriminant.optimize.path import SparsePenalty, solve_path
from discriminant.protocols import Array
from discriminant.shown import Shown, data_frame


@documented
@dataclass(frozen=True, repr=False)
class LogisticPath(Shown):
    """Fits of sparse logistic regression along λ, strongest penalty first.

    Each point minimises J = Σ w ℓ / Σ w + λ [α‖w‖₁ + (1−α)/2 ‖w‖²] to a proved gap.

    Attributes
    ----------
    lambdas : ndarray of shape (L,)
        The grid, largest first.
    coefs : ndarray of shape (L, q, d)
        The weights at each λ; q = 1 for two classes, else K.
    intercepts : ndarray of shape (L, q)
        The intercepts at each λ.
    objectives : ndarray of shape (L,)
        J at each λ.
    gaps : ndarray of shape (L,)
        Proved: J − min J ≤ gap.
    classes : ndarray of shape (K,)
        The labels, sorted.
    lambda_max : float
        The least λ at which all weights are zero.
    total_weight : float
        Σw.
    tol : float
        The relative gap that was asked for.
    feature_names : tuple of d str or None
        The columns, where X has names.
    relaxed : LogisticPath or None
        The fits without a penalty on each support, where ``relax`` asked for them.

    See Also
    --------
    logistic_path : Computes one.

    >>> path = logistic_path(iris.X, iris.y, n_lambdas=20, ratio=0.01)
    >>> path.coefs.shape, path.discriminant(-1).predict(iris.X[:1]).tolist()
    ((20, 3, 4), ['setosa'])
    """

    lambdas: Array  # (L,)
    coefs: Array  # (L, q, d)
    intercepts: Array  # (L, q)
    objectives: Array  # (L,)
    gaps: Array  # (L,) proved: J − min J ≤ gap
    classes: Array
    lambda_max: float
    total_weight: float
    tol: float
    feature_names: tuple[str, ...] | None = None
    relaxed: LogisticPath | None = None

    def __len__(self) -> int:
        return len(self.lambdas)

    def _shown(self) -> tuple[str, dict[str, Any], list[str], list[str]]:
        table = {"lambda": self.lambdas, "C": self.Cs, "columns": self.n_nonzero}
        table |= {"objective": self.objectives, "gap": self.gaps}
        proved = int(self.certified.sum())
        said = "every J" if proved == len(self) else f"J at {proved} of them"
        below = [f"{said} is proved to be within {self.tol:.0e}·|J| of its minimum"] * bool(proved)
        return f"Path of {len(self)} penalties; to_frame() has the weights", table, [], below

    def to_frame(self) -> Any:
        """The path as a pandas data frame.

        Returns
        -------
        DataFrame
            A row for each λ: λ, C, how many columns have a weight, J, its proved gap, and every weight.

        >>> list(logistic_path(iris.X, iris.y == "virginica", n_lambdas=3).to_frame())[4:7]
        ['gap', '(intercept)', 'x0']
        """
        table = dict(self._shown()[1])
        labels = [""] if self.coefs.shape[1] == 1 else [f" of {label}" for label in self.classes]
        columns = self.feature_names or [f"x{j}" for j in range(self.coefs.shape[2])]
        for q, label in enumerate(labels):
            table[f"(intercept){label}"] = self.intercepts[:, q]
            table |= {f"{name}{label}": self.coefs[:, q, j] for j, name in enumerate(columns)}
        return data_frame(table)

    @property
    def Cs(self) -> Array:
        """scikit-learn's C of each point, 1/(λ Σw), of shape (L,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(1 / (self.lambdas * self.total_weight))

    @property
    def certified(self) -> Array:
        """Whether each point's gap is ≤ tol·|J|, of shape (L,)."""
        return np.asarray(self.gaps <= self.tol * np.abs(self.objectives))

    @property
    def n_nonzero(self) -> Array:
        """How many features have a weight in each point, of shape (L,)."""
        return np.asarray((self.coefs != 0).any(axis=1).sum(axis=1))

    def discriminant(self, index: int) -> LinearDiscriminant:
        """The discriminant at one point.

        Parameters
        ----------
        index : int
            Which point; negative numbers count from the end.

        Returns
        -------
        LinearDiscriminant
            Its weights and decision rule.

        >>> path = logistic_path(iris.X, iris.y, n_lambdas=10, ratio=0.01)
        >>> path.discriminant(-1).predict(iris.X[:1]).tolist()
        ['setosa']
        """
        A = np.vstack([self.intercepts[index], self.coefs[index].T])
        link = "sigmoid" if len(self.classes) == 2 else "softmax"
        return LinearDiscriminant(A, self.classes, feature_names=self.feature_names, link=link)

    def blend(self, gamma: float) -> LogisticPath:
        """The relaxed lasso: γ · the penalised weights + (1 − γ) · those refitted without a penalty on each support.

        Parameters
        ----------
        gamma : float
            γ in [0, 1].

        Returns
        -------
        LogisticPath
            A new path.

        Raises
        ------
        ParameterError
            Where the path was made without ``relax=True``.

        >>> path = logistic_path(iris.X, iris.y == "virginica", n_lambdas=5, ratio=0.1, relax=True)
        >>> path.blend(0.5).coefs.shape
        (5, 1, 4)
        """
        if self.relaxed is None:
            raise ParameterError("This path was not relaxed; ask for logistic_path(..., relax=True).")
        coefs = gamma * self.coefs + (1 - gamma) * self.relaxed.coefs
        intercepts = gamma * self.intercepts + (1 - gamma) * self.relaxed.intercepts
        unknown = np.full(len(self), np.nan)
        return replace(self, coefs=coefs, intercepts=intercepts, objectives=unknown, gaps=unknown)

    def plot(self, output: int = 0, ax: Any = None) -> Any:
        """Draw the weights of one output against λ.

        Parameters
        ----------
        output : int, default=0
            Which output.

        >>> path = logistic_path(iris.X, iris.y, n_lambdas=10, ratio=0.01)
        >>> from matplotlib.figure import Figure
        >>> path.plot(ax=Figure().subplots()).get_ylabel()
        'weight for setosa'
        """
        import discriminant  # pictures lie above this module, so they are asked for by their public name

        return discriminant.plots.CoefficientPathDisplay.from_path(self, output=output, ax=ax).ax_


@documented
@checked(
    n_lambdas=COUNT,
    ratio=optional(number(0, 1, open_="low")),
    l1_ratio=number(0, 1),
    penalty_factors=optional(numbers(1, "an array with a number for each feature")),
    tol=number(0, np.inf, open_="both"),
    grouped=BOOLEAN,
    standardize=BOOLEAN,
    fit_intercept=BOOLEAN,
    relax=BOOLEAN,
    class_weight=CLASS_WEIGHT,
)
def logistic_path(
    X: Any,
    y: Any,
    *,
    lambdas: Any = None,
    n_lambdas: int = 100,
    ratio: float | None = None,
    l1_ratio: float = 1.0,
    penalty_factors: Any = None,
    bounds: Any = None,
    groups: Any = None,
    grouped: bool = False,
    standardize: bool = False,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    class_weight: Any = None,
    offset: Any = None,
    relax: bool = False,
    tol: float = 1e-8,
) -> LogisticPath:
    """Sparse logistic regressions along λ, each from the last one, each with a proved gap.

    J = Σ w ℓ / Σ w + λ [α‖w‖₁ + (1−α)/2 ‖w‖²]; λ is glmnet's, and 1/(λ Σw) scikit-learn's C.

    Parameters
    ----------
    lambdas : array-like or None, default=None
        The grid; None: ``n_lambdas`` values from λ_max to ratio·λ_max.
    n_lambdas : int, default=100
        How many values.
    ratio : float or None, default=None
        The smallest λ over the largest; None: 1e-4 where rows are more than columns, else 1e-2.
    l1_ratio : float, default=1.0
        α in (0, 1].
    standardize : bool, default=False
        Penalise the weights of columns brought to spread one (glmnet's default).
    offset : array-like of shape (n,) or (n, K), or None, default=None
        Known parts of the scores, with weight one.
    relax : bool, default=False
        Also refit every support without a penalty.
    tol : float, default=1e-08
        Each fit ends when J is proved to be within tol·|J| of its minimum.

    Returns
    -------
    LogisticPath
        The fits, strongest penalty first.

    See Also
    --------
    LogisticRegression : One fit, with ``l1_ratio`` and C.
    LogisticRegressionCV : The choice of C by cross-validation.

    >>> path = logistic_path(iris.X, iris.y, n_lambdas=20, ratio=0.01)
    >>> bool(path.certified.all()), int(path.n_nonzero[0]), int(path.n_nonzero[-1]) > 0
    (True, 0, True)
    """
    model = LogisticRegression(C=np.inf, fit_intercept=fit_intercept, class_weight=class_weight)
    sample = model._sample(X, y, sample_weight)
    objective, _ = make_objective(sample, class_weight, bool(fit_intercept), "auto", offset=offset)
    require_memory(objective.blocks, "logistic_path")
    require_finite(objective.blocks.rows, model._feature_names(), estimator="logistic_path")
    lower, upper = read_bounds(bounds)
    factors = None if penalty_factors is None else np.asarray(penalty_factors, dtype=np.float64)
    penalty = SparsePenalty(float(l1_ratio), factors, lower, upper, read_groups(groups), grouped, standardize)
    grid = None if lambdas is None else read_lambdas(lambdas)
    found = solve_path(objective, penalty, grid, count=int(n_lambdas), ratio=ratio, tol=tol)
    A = found.plain()
    names = model._feature_names()
    path = LogisticPath(
        found.strengths,
        A[:, 1:].transpose(0, 2, 1),
        A[:, 0],
        found.objectives,
        found.gaps,
        sample.classes,
        found.largest,
        objective.total,
        tol,
        None if names is None else tuple(names),
    )
    return replace(path, relaxed=_relaxed(path, objective, tol)) if relax else path


def read_lambdas(lambdas: Any) -> Array:
    """The grid, largest first."""
    grid = np.sort(np.atleast_1d(as_numbers(lambdas, "lambdas")))[::-1]
    if grid.ndim != 1 or len(grid) == 0 or not (np.isfinite(grid).all() and (grid > 0).all()):
        raise ParameterError(f"lambdas must be finite numbers > 0; they were {lambdas!r}.")
    return grid


def _relaxed(path: LogisticPath, objective: PointwiseObjective, tol: float) -> LogisticPath:
    """Every support refitted without a penalty; points with the same support share the fit."""
    from discriminant.data import make_blocks

    coefs, intercepts = np.zeros_like(path.coefs), path.intercepts.copy()
    objectives, gaps = np.empty(len(path)), np.empty(len(path))
    known: dict[bytes, Any] = {}
    for i in range(len(path)):
        support = (path.coefs[i] != 0).any(axis=0)
        key = support.tobytes()
        if key not in known:
            values = objective.blocks.rows.columns(np.flatnonzero(support))
            blocks = make_blocks(values, objective.blocks.target, objective.blocks.weight)
            known[key] = minimize(objective.over(blocks), tol)
        fit = known[key]
        coefs[i][:, support] = fit.weights[1:].T
        intercepts[i] = fit.weights[0] - (0.0 if fit.center is None else fit.center @ fit.weights[1:])
        objectives[i], gaps[i] = fit.objective, fit.gap
    return replace(path, coefs=coefs, intercepts=intercepts, objectives=objectives, gaps=gaps)
