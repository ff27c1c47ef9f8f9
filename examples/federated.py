"""Fitting where rows may not leave their site: sums travel, rows do not.  ``python examples/federated.py``.

Each site answers two kinds of question with sums over its own rows, and the coordinator adds them up:

    moments     counts, means and scatter of each class, once          → linear discriminants, by ``merge``
    evaluate    Σ ℓ, its gradient and its Hessian at weights A, a pass → logistic regression, by Newton's method

Both answers are those of the pooled rows.  ``fit_logistic`` asks nothing of a site but a function from a request to a
result, so that the same lines run on processes, on Ray and on Spark (``ask`` below).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant import LinearDiscriminantAnalysis
from discriminant.data import make_blocks
from discriminant.objective import logistic_objective
from discriminant.optimize import Newton
from discriminant.protocols import Evaluation, Need, Oracle

Array = np.ndarray
FULL = Need.VALUE | Need.GRADIENT | Need.HESSIAN


# At a site -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Site:
    """Rows that stay where they are; ``classes`` are agreed upon beforehand, in order."""

    X: Array
    y: Array
    classes: Sequence[Any]

    def moments(self) -> LinearDiscriminantAnalysis:
        """A model that holds class counts, means and scatter of this site: K (1 + d) + d² numbers."""
        return LinearDiscriminantAnalysis().partial_fit(self.X, self.y, classes=self.classes)

    def evaluate(self, A: Array, need: Need) -> Evaluation:
        """Σ ℓ over the rows, and what else is needed of it: 1 + (1 + d) q + ((1 + d) q)² numbers at most."""
        blocks = make_blocks(self.X, np.searchsorted(self.classes, self.y))
        found = logistic_objective(blocks, len(self.classes)).evaluate(A, need)
        n, H = len(self.X), found.hessian
        return Evaluation(found.value * n, found.gradient * n, None if H is None else H * n)


# At the coordinator --------------------------------------------------------------------------------------------------
Ask = Callable[[Callable[[Site], Any]], list[Any]]  # a function of each site, run there: its results, in order


def fit_lda(ask: Ask) -> LinearDiscriminantAnalysis:
    """The discriminants of all rows, from the moments of each site."""
    first, *rest = ask(Site.moments)
    for other in rest:
        first.merge(other)
    return first


@dataclass(frozen=True)
class Question:
    """What travels to a site: the weights, and what is needed there."""

    A: Array
    need: Need

    def __call__(self, site: Site) -> Evaluation:
        return site.evaluate(self.A, self.need)


@dataclass(frozen=True)
class Federation:
    """J(A) = Σ over sites + ½‖w‖²/C, as an objective that every optimizer of ``discriminant.optimize`` minimises."""

    ask: Ask
    C: float

    oracles: ClassVar[Oracle] = Oracle.VALUE | Oracle.GRADIENT | Oracle.CURVATURE

    def evaluate(self, A: Array, need: Need = FULL) -> Evaluation:
        first, *rest = self.ask(Question(A, need))
        total = copy.deepcopy(first)  # what came from elsewhere may be read-only
        for part in rest:
            total += part
        w = A.copy()
        w[0] = 0.0  # the intercept goes free
        total.value += float((w * w).sum()) / (2 * self.C)
        total.gradient = total.gradient + w / self.C
        if total.hessian is not None:
            ridge = np.tile(np.r_[0.0, np.full(len(A) - 1, 1 / self.C)], A.shape[1])
            H = total.hessian if total.hessian.ndim == 2 else total.hessian[0]
            total.hessian = H + np.diag(ridge)
        return total

    def along(self, A: Array, D: Array, steps: Array) -> Array:
        """J(A + s D) for each step s."""
        return np.array([self.evaluate(A + s * D, Need.VALUE).value for s in steps])


def fit_logistic(ask: Ask, n_features: int, n_classes: int, C: float = 1.0) -> Array:
    """(1 + d, q): the weights of logistic regression on all rows, intercepts first; a pass over the sites a step."""
    q = 1 if n_classes == 2 else n_classes
    return np.asarray(Newton().minimize(Federation(ask, C), np.zeros((1 + n_features, q))).weights)


def main() -> None:
    """Three hospitals, one model."""
    from discriminant import LogisticRegression, datasets

    cancer = datasets.load("breast_cancer")
    X, y = cancer.X[:, :5], cancer.y
    classes = sorted(set(y.tolist()))
    parts = np.array_split(np.random.default_rng(0).permutation(len(y)), 3)
    sites = [Site(X[part], y[part], classes) for part in parts]

    def ask(function: Callable[[Site], Any]) -> list[Any]:
        return [function(site) for site in sites]  # here one after the other; below, elsewhere

    lda, A = fit_lda(ask), fit_logistic(ask, X.shape[1], len(classes))
    pooled, plain = LinearDiscriminantAnalysis().fit(X, y), LogisticRegression().fit(X, y)
    print(f"linear discriminant: weights differ by {np.abs(lda.coef_ - pooled.coef_).max():.1e}")
    print(f"logistic regression: weights differ by {np.abs(A[1:, 0] - plain.coef_[0]).max():.1e}")


if __name__ == "__main__":
    main()
