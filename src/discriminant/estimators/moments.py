"""What the classifiers learned from class moments share: input, learning in parts, merging.

Moments add, so that a model learned from half of the rows and one learned from the other half make the model of all.
With a basis they are the moments of φ(x), and all else is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from discriminant.docstrings import documented
from discriminant.errors import DataError, MismatchError, names
from discriminant.estimators.inputs import all_or_nothing
from discriminant.estimators.learner import LearnsInParts, PriorsAtPrediction
from discriminant.methods.fit import Sample, Schema
from discriminant.methods.moments import MomentMethod
from discriminant.protocols import Array, Block, Certificate

if TYPE_CHECKING:  # a first fit does not wait for the optimizers, which it does not use
    from discriminant.gaussian.exponential_family import ClassSums
    from discriminant.gaussian.moments import ClassMoments
    from discriminant.optimize.history import History

Outputs = Callable[[Array, Array, Array, slice], Array]  # (rows, codes, weights, their places) ↦ outputs


@documented
class MomentClassifier(LearnsInParts):
    """A classifier whose fit is a function of ``moments_``."""

    moments_: ClassMoments | ClassSums
    _asks_for_sums = True

    # What a fit by steps has too

    @property
    def n_iter_(self) -> int:
        """A closed form is one step."""
        check_is_fitted(self, "moments_")
        return 1

    @property
    def history_(self) -> History:
        """Empty: a closed form takes no steps that could be recorded."""
        from discriminant.optimize.history import History

        check_is_fitted(self, "moments_")
        return History()

    @property
    def certificate_(self) -> Certificate:
        """What is proved of a closed form: it needs no iterations, and what arithmetic left is reported."""
        check_is_fitted(self)
        return self._method().certify(vars(self))

    # Learning

    def _method(self) -> MomentMethod[Any]:
        return self._as(self._kind)  # type: ignore[no-any-return]

    def _most_steps(self) -> int | None:
        return 0

    @all_or_nothing
    def merge(self, other: Self) -> Self:
        """Add what another model learned from other rows; a.merge(b) and b.merge(a) are equal.

        Parameters
        ----------
        other : LinearDiscriminantAnalysis
            Fitted, with the same parameters and columns.

        >>> one = LinearDiscriminantAnalysis().fit(iris.X[::2], iris.y[::2])
        >>> one.merge(LinearDiscriminantAnalysis().fit(iris.X[1::2], iris.y[1::2])).moments_.weight
        array([50., 50., 50.])
        """
        method = self._method()
        method.require_parts()
        return self._hold(method.learn(self._merged(other), self._schema()))

    def _require_fitted(self) -> None:
        super()._require_fitted()
        if "coef_" not in vars(self) and "means_" not in vars(self):
            rows = dict(zip(self.classes_.tolist(), self.moments_.weight.tolist(), strict=True))
            few = ", ".join(f"{count:g} of class {label!r}" for label, count in rows.items())
            raise NotFittedError(
                f"The rows that {type(self).__name__} has met so far are too few to decide ({few}). Call partial_fit "
                "with more."
            )

    def _schema(self) -> Schema:
        """What is known of the rows of the fit."""
        return Schema(self.classes_, self._dtype(), self._feature_names(), self._basis)

    def _dtype(self) -> Any:
        held = vars(self).get("means_")  # none before the rows that came in parts are enough
        return np.dtype("float64" if held is None else str(held.dtype).rpartition(".")[2])  # of NumPy or of torch

    def _merged(self, other: Any) -> Any:
        check_is_fitted(self, "moments_")
        if type(other) is not type(self) or not _same(self.get_params(), other.get_params()):
            raise MismatchError(f"Only two fitted {type(self).__name__} with equal parameters can be merged.")
        check_is_fitted(other, "moments_")
        if not np.array_equal(self.classes_, other.classes_):
            raise DataError(
                f"The models know different classes: {names(list(self.classes_))} and {names(list(other.classes_))}."
            )
        if not _learned_alike(*(None if model._features is None else model._features.basis for model in (self, other))):
            raise MismatchError("The bases of the models learned different features; give both the same centres.")
        if self.n_features_in_ != other.n_features_in_ or self._feature_names() != other._feature_names():
            raise DataError("The models were fitted on different columns, so that their moments cannot be added.")
        mine: Any = self.moments_  # of one kind with the other's: so are the models
        return mine.merge(other.moments_)

    # Leave-one-out

    def _rows_of_fit(self, X: Any, y: Any, sample_weight: Any) -> Sample:
        """The training rows again; refused where their weights have another sum."""
        sample = self._sample(X, y, sample_weight, self.classes_)
        seen, given = self.moments_.total, sample.total
        if abs(seen - given) > 1e-6 * seen:
            raise DataError(
                f"The rows that the model was fitted to are needed: it saw a total weight of {seen:g}, and these rows "
                f"have {given:g}."
            )
        return sample


def without_each(sample: Sample, width: int, outputs: Outputs) -> Array:
    """(n, width): the outputs of each row under the model without it, block by block."""
    found = np.empty((sample.blocks.n_rows, width))

    def fill(block: Block) -> int:
        rows = slice(block.start, block.start + block.rows)
        weight = np.ones(block.rows) if block.weight is None else block.weight
        found[rows] = outputs(block.design.dense(), np.asarray(block.target, dtype=np.intp), weight, rows)
        return block.rows

    if sample.blocks.in_memory:
        sample.blocks.reduce(fill)
    else:  # elsewhere the blocks are brought here
        for block in sample.blocks:
            fill(block)
    return found


def _same(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether parameters are equal; lists and arrays by their entries."""
    return first.keys() == second.keys() and all(
        a is b
        or (type(a) is type(b) and hasattr(a, "get_params"))  # its own parameters stand beside it
        or np.array_equal(np.asarray(a), np.asarray(b))
        for a, b in zip(first.values(), second.values(), strict=True)
    )


def _learned_alike(a: Any, b: Any) -> bool:
    """Whether two fitted parts, with the parts inside them, have learned the same numbers."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_learned_alike, a, b))
    if not hasattr(a, "get_params"):
        return bool(np.array_equal(np.asarray(a), np.asarray(b)))
    known = [{name: value for name, value in vars(part).items() if name.endswith("_")} for part in (a, b)]
    alike = type(a) is type(b) and known[0].keys() == known[1].keys()
    return alike and all(_learned_alike(known[0][name], known[1][name]) for name in known[0])


class GenerativeClassifier(PriorsAtPrediction, MomentClassifier):
    """Posteriors from class densities, with priors at prediction time."""

    _wide = ("decision_function", "predict_proba", "predict_log_proba")
    priors_: Array
