"""A fitted estimator without its class: what a model file will hold of it, made before the class is loaded.

An estimator's class loads scikit-learn, which takes longer than most fits.  The command line fits through the core and
writes what the estimator would have written; from the file it comes back as the estimator itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discriminant.model import LinearDiscriminant
from discriminant.protocols import Array


@dataclass(frozen=True, eq=False)
class StandIn:
    """The estimator of that public name, with parameters and fitted attributes; it decides by its discriminant."""

    estimator: str
    parameters: Mapping[str, Any]
    discriminant_: LinearDiscriminant
    state: Mapping[str, Any] = field(
        default_factory=dict
    )  # by the names of its attributes, the discriminant among them

    @property
    def classes_(self) -> Array:
        return self.discriminant_.classes

    @property
    def certificate_(self) -> Any:
        return self.state.get("certificate_")

    @property
    def n_features_in_(self) -> int:
        return self.discriminant_.n_features

    def predict(self, X: Any) -> Array:
        """The class of each row."""
        return self.discriminant_.predict(X)

    def predict_proba(self, X: Any) -> Array:
        """P(C_k|x), (n, K)."""
        return self.discriminant_.predict_proba(X)

    def decision_function(self, X: Any) -> Array:
        """Log odds (n,) of two classes; scores (n, K) of more."""
        return self.discriminant_.decision_function(X)
