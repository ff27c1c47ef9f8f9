"""Fisher's discriminant: the directions along which the classes lie furthest apart for their spread.

two classes    w ∝ S_W⁻¹ (m_1 − m_0),  decide for class 1 where w·x exceeds a threshold
K classes      the leading eigenvectors of S_W⁻¹ S_B, at most K − 1;  decide for the nearest mean on those axes

No density is assumed for the direction; Gaussians are fitted to the projections, to place the threshold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from discriminant.data import ArrayBlocks
from discriminant.errors import ParameterError
from discriminant.gaussian.moments import ClassMoments
from discriminant.gaussian.projection import (
    Projection,
    fisher_projection,
    mean_projection,
    nearest_mean_weights,
    projected_variances,
    two_class_threshold,
    two_class_weights,
)
from discriminant.geometry.affine import AffineMap
from discriminant.methods.fit import Fit, Note, Sample, Schema, linear_state
from discriminant.methods.moments import (
    MomentMethod,
    class_priors,
    near_collinearity_notes,
    rank_notes,
    read_moments,
    whiten_within,
    wide_notes,
)
from discriminant.methods.parameters import method, parameter_list
from discriminant.model import LinearDiscriminant
from discriminant.protocols import Array, Certificate


@parameter_list
class FisherParameters:
    """Of ``FisherDiscriminant``."""

    threshold: str = "gaussian"
    direction: str = "fisher"
    priors: Any = None
    n_components: int | None = None
    tol: float | None = None
    _: KW_ONLY
    basis: Any = None


@method
class Fisher(FisherParameters, MomentMethod[ClassMoments]):
    """A projection and a decision on it."""

    estimator: ClassVar[str] = "FisherDiscriminant"
    optional: ClassVar[tuple[str, ...]] = ("threshold_", "score_threshold_", "projected_variances_")

    def moments(self, sample: Sample, *, in_parts: bool = False) -> ClassMoments:
        K = len(sample.classes)
        if K > 2 and self.threshold in ("equal-error", "mean"):
            raise ParameterError(
                f"threshold={self.threshold!r} parts two classes and there are {K}; use 'gaussian' or 'midpoint'."
            )
        own_variances = K == 2 and self.threshold in ("gaussian", "equal-error")
        wide = not in_parts and self.by_rows(sample)
        return read_moments(sample, self.estimator, by_class=own_variances, wide=wide)

    def learn(self, moments: ClassMoments, schema: Schema, sample: Sample | None = None) -> Fit:
        classes, notes = schema.classes, list[Note]()
        priors = class_priors(self.priors, moments, classes)
        projection, exact = self._project(moments, priors, schema, sample, notes)
        if not projection.matrix.shape[1]:
            notes.append(
                Note("The class means coincide: no direction tells the classes apart, and the priors alone decide.")
            )
        found: dict[str, Any] = {}
        if len(classes) == 2:
            blocks = None if exact or sample is None else sample.blocks
            A, found = self._two_class(projection, moments, priors, blocks, notes)
        else:
            A = nearest_mean_weights(
                projection, np.full_like(priors, 1 / len(priors)) if self.threshold == "midpoint" else priors
            )
        discriminant = LinearDiscriminant(
            A, classes, feature_names=schema.names, center=moments.origin, basis=schema.basis
        )
        axes = np.vstack([-projection.centre, projection.matrix])
        if "threshold_" in found:
            found["score_threshold_"] = -float(discriminant.intercept[0])
        state = linear_state(
            discriminant, schema, scalings_=projection.matrix, explained_variance_ratio_=projection.shares,
            projected_means_=projection.means - projection.centre, means_=moments.class_means,
            xbar_=moments.origin + moments.unit * (priors @ moments.means),
        ) | {
            "priors_": priors, "moments_": moments, **found,
            "_map": AffineMap(axes, projection.origin, schema.basis, feature_names=discriminant.feature_names),
            "_n_features_out": projection.matrix.shape[1],
            "criterion_": projection.criterion(moments.weight), "eigenvalues_": projection.ratios,
        }  # fmt: skip
        return Fit(self, discriminant, state, tuple(notes))

    def certify(self, state: Mapping[str, Any]) -> Certificate:
        """J is minus the criterion, whose largest value is the sum of all eigenvalues of S_W⁻¹ S_B."""
        moments: ClassMoments = state["moments_"]
        white = whiten_within(moments, moments.total, self.tol)
        status = (
            f"Closed form: the axes are eigenvectors of S_W⁻¹ S_B. Rank {white.rank} of {moments.n_features} columns."
        )
        J = -float(state["criterion_"])
        if self.direction != "fisher":
            status = "Closed form: the differences of the class means, which no criterion chose."
        return Certificate(status, True, J, J, 0.0, 0.0, float(white.passes), condition=white.condition)

    def _project(
        self, moments: ClassMoments, priors: Array, schema: Schema, sample: Sample | None, notes: list[Note]
    ) -> tuple[Projection, bool]:
        """The axes asked for, and whether the Gram matrices are good enough for the variances along them."""
        most = min(len(priors) - 1, moments.n_features)
        count = most if self.n_components is None else self.n_components
        if count > most:
            raise ParameterError(
                f"n_components must be a whole number from 1 to min(n_features, n_classes - 1) = {most}; "
                f"it is {count!r}."
            )
        if self.direction == "mean-difference":
            return mean_projection(moments, priors, count), False
        whitened = whiten_within(moments, moments.total, self.tol, sample)
        if moments.rows is not None:
            notes += wide_notes(moments, whitened.rank, "LinearDiscriminantAnalysis with shrinkage")
            return fisher_projection(whitened, priors, count), False
        notes += rank_notes(whitened, schema.names)
        notes += near_collinearity_notes(
            [whitened], moments, schema.names, "use LinearDiscriminantAnalysis with shrinkage"
        )
        return fisher_projection(whitened, priors, count), whitened.passes == 1

    def _two_class(
        self,
        projection: Projection,
        moments: ClassMoments,
        priors: Array,
        blocks: ArrayBlocks | None,
        notes: list[Note],
    ) -> tuple[Array, dict[str, Any]]:
        """(weights, what is known along the axis)."""
        if not projection.matrix.shape[1]:
            odds = np.log(priors[1] / priors[0]) if self.threshold in ("gaussian", "pooled") else 0.0
            return np.vstack([[odds], np.zeros((moments.n_features, 1))]), {}
        pooled, means, found = float(projection.spread[0, 0]), projection.means[:, 0], dict[str, Any]()
        variances = np.full(2, pooled)
        if moments.by_class:
            variances = projected_variances(moments, projection.matrix[:, 0], blocks)
            found["projected_variances_"] = variances
        threshold = two_class_threshold(self.threshold, means, variances, priors, pooled)
        if threshold is None:
            notes.append(
                Note(
                    "The Gaussians fitted to the projections do not cross: one class is the likelier everywhere. The "
                    "threshold is that of equal variances; threshold='midpoint' or other priors may suit better."
                )
            )
            threshold = two_class_threshold("pooled", means, variances, priors, pooled)
        assert threshold is not None
        found["threshold_"] = float(threshold - projection.centre[0])
        return two_class_weights(projection, threshold), found
