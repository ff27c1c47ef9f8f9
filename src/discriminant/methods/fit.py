"""What goes into a method and what comes out of it: a sample, and a fit."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

import numpy as np

from discriminant.data import ArrayBlocks, as_rows, encode_labels, make_blocks, require_finite
from discriminant.data.check import check_weights
from discriminant.errors import DataError, DiscriminantWarning, ParameterError, names
from discriminant.model import LinearDiscriminant
from discriminant.protocols import Array, Certificate, Solution


@dataclass(frozen=True)
class Schema:
    """What is known of rows beside their numbers."""

    classes: Array
    dtype: Any = np.float64  # of the results: float32 for float32 input, else float64
    names: Sequence[str] | None = None  # of the features
    basis: Any = None  # φ, fitted, where the rows are φ(x)


@dataclass(frozen=True)
class Sample:
    """Training rows with class codes and weights."""

    blocks: ArrayBlocks
    codes: Any  # (n,), or what stands for them in blocks that are not in memory
    weight: Array | None
    schema: Schema
    given: tuple[Any, Sequence[str] | None] | None = None  # X and the names of its columns, where the rows are φ(x)

    @property
    def classes(self) -> Array:
        return self.schema.classes

    @property
    def X(self) -> Any:
        return self.blocks.rows

    @property
    def dtype(self) -> Any:
        return self.schema.dtype

    @property
    def counts(self) -> Array:
        """(K,): the weight of each class."""
        return np.asarray(self.blocks.counts(len(self.classes)))

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.blocks.n_rows if self.weight is None else self.weight.sum())

    def require_finite(self, estimator: str) -> None:
        """Refuse NaN and infinity, by the column as the user knows it; of φ(x) where x itself is finite."""
        if self.given is not None:
            require_finite(as_rows(self.given[0]), self.given[1], estimator=estimator)
        require_finite(self.X, self.schema.names, estimator=estimator)

    def refuse_overflow(self, estimator: str) -> NoReturn:
        """Say why weights or scores are not finite."""
        self.require_finite(estimator)
        raise DataError("The scores overflow although X is finite: its values are too large. Rescale the columns.")


class Note(NamedTuple):
    """A sentence that a method has to say of its data: estimators warn of it, the command line prints it."""

    text: str
    category: type[Warning] = DiscriminantWarning


@dataclass(frozen=True, eq=False)
class Fit:
    """What a method found, under the names that the attributes of its estimator have.

    A model file holds a fit as the fitted estimator, and the command line reads it back as a fit: it decides by its
    discriminant, and scikit-learn need not be loaded for that.
    """

    method: Any
    discriminant: Any  # a LinearDiscriminant or a QuadraticDiscriminant
    state: Mapping[str, Any] = field(repr=False)
    notes: tuple[Note, ...] = ()

    @property
    def certificate(self) -> Certificate:
        """What is proved: found on the way, or worked out of a closed form when it is asked for."""
        found: Certificate | None = self.state.get("certificate_")
        return found if found is not None else self.method.certify(self.state)  # type: ignore[no-any-return]

    @property
    def parameters(self) -> dict[str, Any]:
        return {one.name: getattr(self.method, one.name) for one in dataclasses.fields(self.method)}

    @property
    def classes(self) -> Array:
        return np.asarray(self.discriminant.classes)

    @property
    def n_features(self) -> int:
        return int(self.discriminant.n_features)

    @property
    def discriminant_(self) -> LinearDiscriminant | None:
        """The linear discriminant, as an estimator has it; None where the boundaries are curved."""
        return self.discriminant if isinstance(self.discriminant, LinearDiscriminant) else None

    def predict(self, X: Any) -> Array:
        """The class of each row, or the reject label where the coding asks for one class and not one agrees."""
        linear = self.discriminant_
        if linear is not None and is_unanimous(linear.coding):
            return linear.predict_or_reject(X, reject_label(self.method.reject_label, self.classes))
        return np.asarray(self.discriminant.predict(X))

    def predict_proba(self, X: Any) -> Array:
        """P(C_k|x), (n, K)."""
        return np.asarray(self.discriminant.predict_proba(X))

    def decision_function(self, X: Any) -> Array:
        """Scores (n,) of two classes, positive for the second; (n, K) of more."""
        return np.asarray(self.discriminant.decision_function(X))


def is_unanimous(coding: Any) -> bool:
    """Whether the coding names a class only where exactly one is claimed by all outputs that speak of it."""
    return coding is not None and coding.decoder == "unanimous" and coding.n_outputs > 1


def reject_label(given: Any, classes: Array) -> Any:
    """What stands for no class: the label given, or −1 or "reject" as the labels are numbers or not."""
    label = given if given is not None else -1 if classes.dtype.kind in "iuf" else "reject"
    if label in classes.tolist():
        raise ParameterError(f"reject_label {label!r} is the label of a class; choose another.")
    return label


def make_sample(
    rows: Any, labels: Array, sample_weight: Any = None, *, classes: Array | None = None,
    names: Sequence[str] | None = None, basis: Any = None,
) -> Sample:  # fmt: skip
    """Rows in memory with their labels; ``classes``: the labels known already, of which these rows may hold a part."""
    found, codes = encode_labels(labels, classes)
    require_two(found)
    weight = check_weights(sample_weight, rows.shape[0], codes if classes is None else None)
    return Sample(make_blocks(rows, codes, weight), codes, weight, Schema(found, rows.dtype, names, basis))


def require_two(classes: Array) -> None:
    """Refuse labels that are all the same."""
    if len(classes) < 2:
        raise DataError(
            f"y holds one class only ({names(list(classes))}); a discriminant needs at least two classes to tell apart."
        )


def solved_certificate(solution: Solution, why: str, *, exact: bool = False) -> Certificate:
    """What is proved of the end of a run: no criterion is below zero, and an exact end is the minimum."""
    J = float(solution.objective)
    bound = J if exact else max(float(solution.bound), 0.0)
    return Certificate(
        solution.status, bool(solution.converged), J, bound, J - bound, float(solution.gradient_norm),
        float(solution.passes), notes=(why, *solution.notes),
    )  # fmt: skip


def linear_state(model: LinearDiscriminant, schema: Schema, **more: Array) -> dict[str, Any]:
    """The attributes of a fit that decides by these weights; ``more``: arrays beside them."""
    arrays = {"coef_": model.coef, "intercept_": model.intercept} | more
    return {"classes_": schema.classes, "discriminant_": model} | cast(arrays, schema.dtype)


def editable_state(model: LinearDiscriminant, schema: Schema, **more: Array) -> dict[str, Any]:
    """The same where users may set ``coef_`` and ``intercept_``: with copies of both, by which that is seen."""
    state = linear_state(model, schema, **more)
    return state | {"_kept": (state["coef_"].copy(), state["intercept_"].copy())}


def cast(values: Mapping[str, Any], dtype: Any) -> dict[str, Array]:
    """Arrays of a fit in the type of its results; those whose numbers it cannot hold stay as they are."""
    if dtype == np.float64:
        return {name: np.array(value, dtype=dtype) for name, value in values.items()}
    with np.errstate(over="ignore"):
        small = {name: np.array(value, dtype=dtype) for name, value in values.items()}
    return {name: small[name] if np.array_equal(np.isfinite(small[name]), np.isfinite(value)) else np.array(value)
            for name, value in values.items()}  # fmt: skip
