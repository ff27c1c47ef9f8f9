"""``ExponentialFamilyClassifier``: naive Bayes with linear log odds (``methods.exponential_family``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discriminant.estimators.moments import GenerativeClassifier
from discriminant.estimators.parameters import NOT_NEGATIVE, Among, parameters
from discriminant.gaussian.exponential_family import FAMILIES
from discriminant.methods.exponential_family import ExponentialFamily, ExponentialFamilyParameters


@parameters(family=[Among(*FAMILIES), "array-like", Mapping], smoothing=[NOT_NEGATIVE])
class ExponentialFamilyClassifier(ExponentialFamilyParameters, GenerativeClassifier):
    """Naive Bayes with Bernoulli, multinomial, Poisson or exponential columns: linear log odds in one pass.

    p(x|C_k) = Π_j h(x_j) exp(θ_kj x_j − b(θ_kj)), so that g_k(x) = Σ_j θ_kj x_j − Σ_j b(θ_kj) + ln P(C_k), with
    θ = ln p/(1 − p) for Bernoulli columns, ln p for multinomial, ln λ for Poisson and −1/μ for exponential ones (PRML
    4.2.4).  All comes from the class sums Σ w x.  "bernoulli" on zeros and ones and "multinomial" give the posteriors
    of scikit-learn's ``BernoulliNB`` and ``MultinomialNB``.

    Parameters
    ----------
    family : {"bernoulli", "multinomial", "poisson", "exponential"}, sequence or mapping, default="multinomial"
        The density of every column, or of each: a sequence of d names, or a mapping from the names of the columns (or
        their positions).  Multinomial columns share one total.  Bernoulli columns hold 0 and 1, the others numbers that
        are not negative.
    smoothing : float, default=1.0
        Rows added in thought: so many ones and as many zeros in each Bernoulli column, so many counts in each
        multinomial one, so many rows at the mean of all in Poisson and exponential ones.  0: maximum likelihood.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (K, d)
        θ: one row of differences for two classes, else one row for each class.
    intercept_ : ndarray of shape (1,) or (K,)
        −Σ_j b(θ_kj) + ln P_k.
    classes_, priors_
    means_ : ndarray of shape (K, d)
        The parameters p, λ or μ of the densities, smoothed.
    families_ : ndarray of str of shape (d,)
        The density of each column.
    discriminant_
    moments_ : ClassSums
        Weights and sums of the classes: what ``partial_fit`` and ``merge`` add to.
    certificate_, history_, n_iter_

    See Also
    --------
    LinearDiscriminantAnalysis : Gaussian classes with one covariance.
    LogisticRegression : The same posteriors without a model of the densities.

    >>> X = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]])
    >>> model = ExponentialFamilyClassifier("bernoulli").fit(X, ["spam", "spam", "ham", "ham"])
    >>> model.predict([[1, 0, 0]]).tolist(), model.coef_.round(3).tolist()
    (['spam'], [[2.197, 0.0, -1.099]])
    """

    _kind = ExponentialFamily

    def _follows_rows(self) -> bool:
        return False  # families_ are words

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.basis is None
        tags.classifier_tags.poor_score = True  # of data that are neither counts nor durations
        return tags

    def _count_parameters(self, K: int) -> int:
        """A parameter for each class and column (of the multinomial one fewer: they sum to 1), and K − 1 priors."""
        d = int(self.coef_.shape[1])
        return K * (d - int(self.family == "multinomial")) + (K - 1 if self.priors is None else 0)
