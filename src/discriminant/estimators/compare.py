"""``compare``: two nested logistic models on the same rows, by the three classical tests and by information criteria.

    likelihood ratio    2 (ℓ_large − ℓ_small)
    Wald                θ₂ᵗ V₂₂⁻¹ θ₂         the weights that the small model lacks, at the large one
    score (Rao)         Uᵗ I⁻¹ U             score and information of the large model at the small one's weights

Under the small model each is χ² with as many degrees of freedom as it lacks weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.errors import DataError, ParameterError, names
from discriminant.estimators.inferential import Inferential
from discriminant.inference import documented
from discriminant.inference.likelihood import inverse
from discriminant.inference.summary import information_criteria
from discriminant.penalties.jeffreys import BIAS_REDUCED
from discriminant.protocols import Array
from discriminant.shown import Shown


@documented
@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """Tests of a small model against a larger one, and both models' information criteria.

    2 (ℓ_large − ℓ_small), the Wald statistic θ₂ᵗ V₂₂⁻¹ θ₂ and Rao's Uᵗ I⁻¹ U, each χ² under the small model.

    Attributes
    ----------
    tests : list of str
        "likelihood ratio", "Wald" and, where the rows are there, "score".
    statistic : ndarray of shape (m,)
        The statistics of the tests.
    df : int
        The weights that the small model lacks: the degrees of freedom.
    p : ndarray of shape (m,)
        The p values.
    added : list of str
        The columns that the large model has more.
    models : dict of str to dict
        For "small" and "large": the number of weights, log-likelihood, AIC and BIC.

    See Also
    --------
    compare : Makes one.

    >>> iris = datasets.load("iris", as_frame=True)
    >>> X, y = iris.X[50:], iris.y[50:]
    >>> large = LogisticRegression(C=float("inf")).fit(X, y)
    >>> found = compare(LogisticRegression(C=float("inf")).fit(X.iloc[:, 2:], y), large)
    >>> found.df, found.added
    (2, ['sepal_length', 'sepal_width'])
    """

    tests: list[str]
    statistic: Array
    df: int
    p: Array
    added: list[str]
    models: dict[str, dict[str, float]]

    def columns(self) -> dict[str, Any]:
        """The table of tests, column by column."""
        return {"test": self.tests, "statistic": self.statistic, "df": [self.df] * len(self.tests), "p": self.p}

    def _about(self) -> list[str]:
        about = [
            f"{which}: {found['parameters']:g} weights, log-likelihood {found['log-likelihood']:.6g}, "
            f"AIC {found['AIC']:.6g}, BIC {found['BIC']:.6g}"
            for which, found in self.models.items()
        ]
        return [*about, f"added: {', '.join(self.added)}"]

    def _shown(self) -> tuple[str, dict[str, Any], list[str], list[str]]:
        return "", self.columns(), ["test"], self._about()


@documented
def compare(
    small: Inferential,
    large: Inferential,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    *,
    offset: Any = None,
) -> Comparison:
    """Whether a larger model is needed: likelihood-ratio, Wald and score tests of two nested fits to the same rows.

    Parameters
    ----------
    small, large : LogisticRegression
        Fits without a penalty (``C=inf``); the columns of ``small`` are among those of ``large``, by name or,
        where they have none, as its first ones.
    X : array-like or data frame of shape (n, d), or None, default=None
        The rows of the large fit, for the score test; None: those of the fit, while they are still there.
    y : array-like of shape (n,) or None, default=None
        Their labels.
    sample_weight : array-like of shape (n,) or None, default=None
        Their weights.
    offset : array-like of shape (n,) or None, default=None
        Known parts of their scores.

    Returns
    -------
    Comparison
        A table of the tests.

    Raises
    ------
    ParameterError
        Where a fit is penalised, or the models are not nested.

    >>> iris = datasets.load("iris", as_frame=True)
    >>> X, y = iris.X[50:], iris.y[50:]
    >>> large = LogisticRegression(C=float("inf")).fit(X, y)
    >>> print(compare(LogisticRegression(C=float("inf")).fit(X.iloc[:, 2:], y), large, X, y))
    test              statistic  df        p
    likelihood ratio      8.665   2  0.01313
    ...
    """
    from scipy.special import chdtrc

    for name, model in (("small", small), ("large", large)):
        if not isinstance(model, Inferential):
            raise ParameterError(f"{name} is {model!r}; compare takes two fitted LogisticRegression models.")
    _require_comparable(small, large)
    kept, added = _nested(small, large)
    rows = (X, y, sample_weight, offset)
    whole = large.summary(X, y, sample_weight, offset=offset)
    m, D = len(large.classes_) - 1, 1 + large.discriminant_.n_features
    width = D - (not large.fit_intercept)
    places = np.array([k * width + j - (D - width) for k in range(m) for j in added])
    theta, V = whole.estimate[places], whole.covariance[np.ix_(places, places)]
    n, best = whole.statistics["n"], whole.statistics["log-likelihood"]
    tests = {"likelihood ratio": 0.0, "Wald": float(theta @ inverse(V) @ theta)}
    try:
        found = large._evaluated(*_padded(small, kept, D), *rows)
    except DataError:  # the rows are gone, and sums over them are left
        if X is not None:
            raise
        part = small.summary().statistics
        value, others = part["log-likelihood"], not np.isclose(part["n"], n, rtol=1e-12, atol=0.0)
    else:
        assert found.hessian is not None
        score = found.gradient.T.ravel()
        tests["score"] = float(score @ inverse(found.hessian) @ score)
        size = np.sqrt(np.maximum(np.diagonal(found.hessian), 1e-300))
        value, others = -found.value, bool((np.abs(score / size).reshape(m, D)[:, kept] > small._farthest(n)).any())
    if others:
        raise ParameterError(
            "The models were fitted to other rows: on those of the large one the small one's weights are no maximum."
        )
    tests["likelihood ratio"] = 2 * (best - value)
    statistic = np.array(list(tests.values()))
    labels = ["(intercept)", *(large._column_names() or [f"x{j}" for j in range(D - 1)])]
    models = {
        which: {"parameters": float(count), "log-likelihood": at, **information_criteria(at, count, n)}
        for which, count, at in (("small", m * len(kept), value), ("large", m * width, best))
    }
    df = len(places)
    return Comparison(
        list(tests),
        statistic,
        df,
        np.asarray(chdtrc(df, np.maximum(statistic, 0.0))),
        [labels[j] for j in added],
        models,
    )


def _require_comparable(small: Inferential, large: Inferential) -> None:
    for name, model in (("small", small), ("large", large)):
        model._require_likelihood()
        if model._ridge() or model.penalty in BIAS_REDUCED:
            raise ParameterError(
                f"The {name} model is penalised, so that its likelihood is not at a maximum and has no tests: fit both "
                "with C=inf."
            )
        if "limit_" in vars(model):
            raise ParameterError(
                f"The classes are separated by the columns of the {name} model, so that its likelihood has no maximum "
                "and no tests."
            )
    if list(small.classes_) != list(large.classes_):
        raise ParameterError(
            f"The models have other classes: {names(list(small.classes_))} and {names(list(large.classes_))}."
        )


def _padded(small: Inferential, kept: list[int], D: int) -> tuple[Array, Array | None]:
    """The small model as weights (D, q) of the large one's columns, and the point that these are measured from."""
    found = small.discriminant_
    columns = kept[-found.n_features :]
    A, center = np.zeros((D, found.n_outputs)), np.zeros(D)
    A[[0, *columns]] = found.weights
    if found.center is None:
        return A, None
    center[columns] = found.center
    return A, center[1:]


def _nested(small: Inferential, large: Inferential) -> tuple[list[int], list[int]]:
    """(places of the small model's weights among the large one's, the intercept's 0; those it lacks)."""
    mine, theirs = small._column_names(), large._column_names()
    if mine is None or theirs is None:
        mine, theirs = ([str(j) for j in range(model.discriminant_.n_features)] for model in (small, large))
    absent = [name for name in mine if name not in theirs]
    if absent:
        raise ParameterError(f"The models are not nested: the large one lacks {names(absent)} of the small one.")
    if small.fit_intercept and not large.fit_intercept:
        raise ParameterError("The models are not nested: the large one lacks the intercept of the small one.")
    kept = [0] * bool(small.fit_intercept) + [1 + theirs.index(name) for name in mine]
    added = [j for j in range(not large.fit_intercept, 1 + len(theirs)) if j not in kept]
    if not added:
        raise ParameterError("The models have the same columns: there is nothing to test.")
    return kept, added
