"""A class coding for the methods that have a solver of their own: logistic regression and the support vector machine.

    for each output j of the coding a two-class fit of the rows that take part in it:
    one-versus-rest K fits, its K−1 form one fewer, pairwise K(K−1)/2 on the rows of two classes, any matrix its columns

Each fit goes to the method's own solver and brings its own proof; the decoder makes one decision of them.
"""

from __future__ import annotations

import dataclasses
from abc import ABC
from typing import Any, ClassVar

import numpy as np

from discriminant.codings import ClassCoding, make_coding
from discriminant.criteria import Pointwise, Softmax, make_criterion
from discriminant.data import as_rows
from discriminant.data.rows import FrameRows
from discriminant.errors import MismatchError
from discriminant.methods.fit import Fit, Note, Sample, Schema, editable_state, make_sample
from discriminant.methods.parameters import CodedParameters
from discriminant.methods.parts import class_weights, fit_together, link_of
from discriminant.model import LinearDiscriminant
from discriminant.optimize import progress
from discriminant.optimize.choose import Choice
from discriminant.optimize.history import History
from discriminant.optimize.progress import reading
from discriminant.protocols import Array, Certificate


class Codable(CodedParameters, ABC):
    """A method that solves two classes, or all of them together; a frozen dataclass of parameters."""

    estimator: ClassVar[str]
    coupled: ClassVar[str]  # the coding of all classes together
    together: ClassVar[dict[str, Any]]  # the parameters by which the method takes K classes at once
    two_class: ClassVar[str]  # the criterion

    @property
    def coded(self) -> bool:
        """Whether a basis, a coding or a decoder was asked for that the method's own solver does not know."""
        return is_coded(self)


def is_coded(model: Any) -> bool:
    """``coded`` of a method, or of an estimator with its parameters."""
    asked = not (isinstance(model.coding, str) and model.coding.lower() == "auto")
    return asked or model.basis is not None or model.decoder is not None


@dataclasses.dataclass(frozen=True)
class Assignment:
    """Which two-class problems the rows are to be split into."""

    method: Codable
    sample: Sample
    criterion: Pointwise
    coding: ClassCoding
    weight: Array | None

    @property
    def whole(self) -> bool:
        """Whether the method solves it as it is: two classes, or K together."""
        return self.coding.name in ("two-class", "softmax", "machine")

    @property
    def part(self) -> Any:
        """The method that fits the rows as they are, or each output."""
        bare: dict[str, Any] = {"basis": None, "coding": "auto", "decoder": None, "reject_label": None}
        if not self.whole:
            bare["class_weight"] = None  # the weights of the rows hold it
        elif len(self.sample.classes) > 2:
            bare |= self.method.together
        return dataclasses.replace(self.method, **bare)  # type: ignore[type-var]

    def all_rows(self) -> Sample:
        """The rows as they are, where they may be picked."""
        schema = dataclasses.replace(self.sample.schema, basis=None)
        return dataclasses.replace(self.sample, schema=schema)

    def output(self, j: int) -> Sample:
        """The rows of output j, with labels 0 and 1."""
        side = self.coding.signs[np.asarray(self.sample.codes), j]
        taking_part, labels = np.flatnonzero(side), (side > 0).astype(np.uint8)
        rows: Any = self.sample.X
        if isinstance(rows, FrameRows):
            rows = as_rows(rows.columns(np.arange(rows.shape[1])))
        names, weight = self.sample.schema.names, self.weight
        if len(taking_part) == len(side):
            return make_sample(rows, labels, weight, names=names)
        weight = None if weight is None else weight[taking_part]
        return make_sample(as_rows(rows.pick(taking_part).raw), labels[taking_part], weight, names=names)


def assign(method: Codable, sample: Sample) -> Assignment:
    """Split the classes as the coding says."""
    criterion, coding = _parts(method, len(sample.classes), sample.counts)
    factors = class_weights(method.class_weight, sample.classes, sample.counts)
    weight = sample.weight
    if factors is not None and coding.name not in ("two-class", "softmax", "machine"):
        weight = factors[sample.codes] if weight is None else factors[sample.codes] * weight
    return Assignment(method, sample, criterion, coding, weight)


def _parts(method: Codable, K: int, counts: Array) -> tuple[Pointwise, ClassCoding]:
    """Criterion and coding; what the method solves for all classes together keeps the coding's name only."""
    coding, decoder = method.coding, method.decoder
    name = coding.lower().replace("_", "-") if isinstance(coding, str) else ""
    if name == "auto" and decoder is not None and decoder != "maximum":
        name = coding = "one-vs-rest"  # the decoders differ on outputs of their own only
    if name == "auto" and method.coupled != "softmax":
        name = coding = "one-vs-rest"
    if name in ("auto", method.coupled, "machine"):
        if decoder not in (None, "maximum"):
            raise MismatchError(
                f"The decoder {decoder!r} is for outputs that learn apart; with coding={coding!r} the largest score "
                "decides. Use coding='one-vs-rest' or 'pairwise'."
            )
        made = make_criterion(method.two_class)
        if K == 2:
            return made, make_coding("two-class", 2, labels=made.labels, threshold=made.threshold)
        return (Softmax() if method.coupled == "softmax" else made), make_coding(method.coupled, K)
    return fit_together(method.two_class, coding, K, counts, decoder)


def fit_coded(method: Codable, sample: Sample, offset: Any = None) -> Fit:
    """Fit with a basis or a coding."""
    task = assign(method, sample)
    part = task.part
    if task.whole:
        with reading(None):
            fits = [part.fit(task.all_rows()) if offset is None else part.fit(task.all_rows(), offset=offset)]
    else:
        if offset is not None:
            raise MismatchError(f"An offset belongs to classes, not to the outputs of coding={method.coding!r}.")
        fits = []
        for j in range(task.coding.n_outputs):
            with reading(None), progress.task("output"):
                fits.append(part.fit(task.output(j)))
    return _joined(task, fits)


def _joined(task: Assignment, fits: list[Fit]) -> Fit:
    schema: Schema = task.sample.schema
    A, center = _weights([fit.state["discriminant_"] for fit in fits])
    coding = None if task.whole else task.coding
    link = link_of(task.criterion, task.coding)
    discriminant = LinearDiscriminant(
        A, schema.classes, coding=coding, feature_names=schema.names, center=center, link=link, basis=schema.basis
    )
    steps = [fit.state["n_iter_"] for fit in fits]
    state = editable_state(discriminant, schema) | {
        "coding_": task.coding, "criterion_": task.criterion,
        "n_iter_": steps[0] if len(fits) == 1 else np.max([np.max(step) for step in steps]),
        "certificate_": _together([fit.certificate for fit in fits]),
        "history_": fits[0].state.get("history_", History()) if len(fits) == 1 else History(),
    }  # fmt: skip
    notes: list[Note] = [note for fit in fits for note in fit.notes]
    return Fit(task.method, discriminant, state, tuple(notes))


def _weights(parts: list[LinearDiscriminant]) -> tuple[Array, Array | None]:
    """The weights of all outputs about the centre of the first."""
    center = parts[0].center
    columns = []
    for part in parts:
        A = np.array(part.weights)
        own = 0.0 if part.center is None else part.center
        common = 0.0 if center is None else center
        if np.any(np.asarray(own) != common):
            A[0] += np.asarray(common - own) @ A[1:]  # b + (x − c)W = b + (c₀ − c)W + (x − c₀)W
        columns.append(A)
    return np.hstack(columns), center


def _together(proofs: list[Certificate]) -> Certificate:
    """One certificate of all outputs: sums of objectives and bounds, and the worst of what is no sum."""
    if len(proofs) == 1:
        return proofs[0]
    worst = max(proofs, key=lambda proof: (not proof.converged, proof.gap / max(abs(proof.objective), 1e-300)))
    return dataclasses.replace(
        worst,
        status=f"{len(proofs)} outputs, each fitted by itself; the worst: {worst.status}",
        converged=all(proof.converged for proof in proofs),
        objective=float(sum(proof.objective for proof in proofs)),
        bound=float(sum(proof.bound for proof in proofs)),
        gap=float(sum(proof.gap for proof in proofs)),
        gradient_norm=float(max(proof.gradient_norm for proof in proofs)),
        passes=float(sum(proof.passes for proof in proofs)),
    )


def plan_coded(method: Codable, sample: Sample) -> Choice:
    """Which way the outputs would be fitted, and why."""
    task = assign(method, sample)
    choice: Choice = task.part.plan(task.all_rows() if task.whole else task.output(0))
    if task.whole:
        return choice
    return Choice(choice.method, f"{choice.why}; so for each of {task.coding.n_outputs} outputs")
