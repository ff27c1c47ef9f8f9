"""What the classifiers with discriminant axes share: projections on the axes, and tests of the weights as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from discriminant.arguments import SEED, SHARE, among, checked, number
from discriminant.docstrings import documented
from discriminant.estimators.inferential import contrasts
from discriminant.estimators.moments import MomentClassifier
from discriminant.gaussian.moments import ClassMoments
from discriminant.geometry.affine import AffineMap
from discriminant.model import LinearDiscriminant
from discriminant.protocols import Array

if TYPE_CHECKING:  # loaded with the first table, not with the first fit
    from discriminant.inference.linear_summary import GaussianFit
    from discriminant.inference.summary import Summary


@documented
class ProjectingClassifier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MomentClassifier):
    """A classifier that Gaussian classes with one covariance lead to: axes, and Wald tests of the weights."""

    discriminant_: LinearDiscriminant
    moments_: ClassMoments
    _n_features_out: int

    @property
    def _axes(self) -> AffineMap:
        """x ↦ its coordinates on the axes."""
        raise NotImplementedError(f"{type(self).__name__} must say what its axes are.")

    def transform(self, X: Any) -> Array:
        """Coordinates on the discriminant axes, measured from the overall mean.

        >>> LinearDiscriminantAnalysis(n_components=1).fit(iris.X, iris.y).transform(iris.X).shape
        (150, 1)
        """
        rows = self._checked(X)
        return self._axes.apply(_itself, rows, self._n_features_out, self._dtype())

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """Learn from the rows, and project them.

        Parameters
        ----------
        **fit_params : dict
            More arguments of ``fit``.

        Returns
        -------
        ndarray of shape (n, m)
            The projections.

        >>> LinearDiscriminantAnalysis().fit_transform(iris.X, iris.y).shape
        (150, 2)
        """
        projected: Array = self.fit(X, y, **fit_params).transform(X)
        return projected

    # Inference

    _slopes_only = False  # whether the intercept has no errors

    def _gaussian_fit(self, by_formula: bool) -> tuple[GaussianFit, str]:
        """What the errors follow from, and a note on them; or a sentence why there are none (``by_formula``)."""
        raise NotImplementedError(f"{type(self).__name__} must say what its errors follow from.")

    @checked(intervals=among("wald", "bootstrap"), level=SHARE, draws=number(20, whole=True), random_state=SEED)
    def summary(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        intervals: str = "wald",
        level: float = 0.95,
        reference: Any = None,
        draws: int = 200,
        random_state: int = 0,
    ) -> Summary:
        """Weights of each class relative to a reference, with standard errors, Wald tests and intervals, as a table.

        Of Fisher's discriminant those of its one direction for two classes.  The class moments suffice; X, y and
        sample_weight are for intervals="bootstrap", which refits ``draws`` times and assumes nothing of the classes.

        Parameters
        ----------
        intervals : {"wald", "bootstrap"}, default="wald"
            By the delta method, or from refits on rows drawn with replacement.
        reference : label or None, default=None
            The reference class; None: the first.
        random_state : int, default=0
            Seed of the bootstrap.

        >>> table = LinearDiscriminantAnalysis().fit(iris.X, iris.y).summary(iris.X, iris.y)
        >>> table.estimate.shape, sorted(set(table.outcomes))
        ((10,), ['versicolor', 'virginica'])
        """
        from discriminant.inference.linear_summary import gaussian_summary
        from discriminant.inference.summary import against, place_of, relative

        check_is_fitted(self)
        K, first = len(self.classes_), place_of(reference, self.classes_.tolist())
        fit, note = self._gaussian_fit(by_formula=intervals != "bootstrap")
        theta = contrasts(self.discriminant_).reshape(K - 1, -1).T
        named = self.discriminant_.names, self.classes_[1:]
        table = gaussian_summary(fit, theta, named, level, [note], slopes_only=self._slopes_only)
        table = relative(table, self.classes_.tolist(), first) if first else table
        if intervals != "bootstrap":
            return table

        from discriminant.estimators.bootstrap import bootstrap_summary

        def read(model: Any) -> Array:
            return against(contrasts(model.discriminant_).reshape(K - 1, -1), first).ravel()

        return bootstrap_summary(self, read, table, (X, y, sample_weight), draws, random_state)


def _itself(z: Array) -> Array:
    return z
