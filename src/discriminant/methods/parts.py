"""From parameters to parts that fit together: which criterion, which coding, which optimizer, and why.

The choices behind "auto" are two short tables, read from the top; ``plan`` hands out their reasons.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from discriminant.codings import ClassCoding, make_coding
from discriminant.criteria import (
    Kesler,
    Logistic,
    Margin,
    Pointwise,
    Quadratic,
    Relaxation,
    Softmax,
    Squared,
    ZeroOne,
    make_criterion,
)
from discriminant.errors import MismatchError, NotAvailableError, ParameterError, as_numbers, names, no_class
from discriminant.objective import PointwiseObjective
from discriminant.optimize import make_optimizer
from discriminant.optimize.choose import Choice
from discriminant.protocols import Array, Oracle

ONE_OUTPUT = ("one-vs-rest", "one-vs-rest-k-1", "pairwise", "two-class")  # for two classes they are the same


def fit_together(
    criterion: Any, coding: Any, n_classes: int, counts: Any, decoder: str | None = None
) -> tuple[Pointwise, ClassCoding]:
    """Criterion and coding, made for each other, or a sentence why they cannot be.

    >>> criterion, coding = fit_together("perceptron", "machine", 3, [1, 1, 1])
    >>> criterion, coding.name
    (Kesler(base=Perceptron(margin=0.0), over='all'), 'machine')
    """
    made = make_criterion(criterion)
    if isinstance(coding, str):
        name = coding.lower().replace("_", "-")
        if name == "auto":
            name = usual_coding(made, n_classes)
        made = _coupled_as(made, name)
        coding = "two-class" if n_classes == 2 and name in ONE_OUTPUT else name
    return made, make_coding(
        coding, n_classes, counts=counts, labels=made.labels, threshold=made.threshold, decoder=decoder
    )


def usual_coding(criterion: Pointwise, n_classes: int) -> str:
    """What "auto" means."""
    if isinstance(criterion, Softmax):
        return "reference" if criterion.reference else "softmax"
    if criterion.coupled:
        return "machine"
    if n_classes == 2:
        return "two-class"
    return "one-of-k" if isinstance(criterion, Squared) else "one-vs-rest"


def _coupled_as(criterion: Pointwise, coding: str) -> Pointwise:
    """The criterion whose outputs are coupled as the coding asks."""
    name = type(criterion).__name__
    if coding == "machine":
        return criterion if criterion.coupled else Kesler(criterion)
    if coding in ("softmax", "reference"):
        if isinstance(criterion, Logistic | Softmax):
            return Softmax(reference=coding == "reference")
        raise MismatchError(
            f"The coding {coding!r} goes with criterion Logistic or Softmax, not with {name}; use the coding "
            f"'machine', which makes one K-class criterion of any two-class one."
        )
    if criterion.coupled:
        raise MismatchError(
            f"Criterion {name} couples the outputs of all classes, and the coding {coding!r} makes them learn apart; "
            f"use the coding {'softmax' if isinstance(criterion, Softmax) else 'machine'!r}, or a two-class criterion "
            f"such as Logistic or Perceptron."
        )
    return criterion


def _few(objective: PointwiseObjective) -> bool:
    q = objective.n_outputs if objective.criterion.coupled else 1
    work = objective.blocks.n_rows * objective.n_parameters**2 * objective.n_outputs * q
    return objective.n_parameters * q <= 1_200 and work <= 4e9


def _margin(objective: PointwiseObjective) -> float:
    return float(objective.criterion.single.margin)


def _kinked(objective: PointwiseObjective) -> bool:
    penalty = objective.penalty
    return penalty is not None and not penalty.needs_information and Oracle.GRADIENT not in penalty.oracles


def _small_program(objective: PointwiseObjective) -> bool:
    rivals = objective.n_outputs - 1 if isinstance(objective.criterion, Kesler) else 1
    return Oracle.LINEAR in objective.oracles and objective.blocks.n_rows * objective.n_parameters * rivals <= 500_000


Rule = tuple[str, Callable[[PointwiseObjective], bool], str]

OPTIMIZERS: tuple[Rule, ...] = (
    (
        "closed-form",
        lambda J: Oracle.QUADRATIC in J.oracles and not J.criterion.coupled and J.n_parameters <= 2_500,
        "the criterion is quadratic, so that one linear system gives its minimum",
    ),
    (
        "linear-program",
        lambda J: _margin(J) > 0 and _small_program(J),
        "the criterion is piecewise linear with a margin and the rows are few: a linear program is exact",
    ),
    (
        "proximal-gradient",
        lambda J: _kinked(J) and Oracle.CURVATURE in J.criterion.oracles,
        "the penalty has a kink where a weight is zero, which proximal steps land on exactly",
    ),
    (
        "newton",
        lambda J: Oracle.CURVATURE in J.oracles and _few(J),
        "the criterion is smooth and the Hessian small: Newton steps with halving reach the last digits",
    ),
    (
        "lbfgs",
        lambda J: Oracle.CURVATURE in J.oracles,
        "the criterion is smooth: limited-memory quasi-Newton steps need gradients only",
    ),
    (
        "single-sample",
        lambda J: Oracle.MARGIN in J.oracles and Oracle.GRADIENT in J.oracles and J.coding is not None,
        "the criterion has slopes but no curvature, and is zero beyond a margin: correct sample by sample",
    ),
    (
        "gradient-descent",
        lambda J: Oracle.GRADIENT in J.oracles,
        "the criterion has slopes but no curvature: plain steps down the gradient",
    ),
    (
        "mixed-integer",
        lambda J: isinstance(J.criterion, ZeroOne) and J.blocks.n_rows <= 100,
        "the criterion counts errors and the rows are few: a mixed-integer program proves the least count",
    ),
    (
        "annealing",
        lambda J: Oracle.VALUE in J.oracles,
        "the criterion has values and nothing else: a cooled random search",
    ),
)


def choose_optimizer(objective: PointwiseObjective) -> Choice:
    """The first row of the table that applies."""
    for name, applies, why in OPTIMIZERS:
        if applies(objective):
            return Choice(name, why)
    raise MismatchError(f"No optimizer fits criterion {objective.criterion!r} with penalty {objective.penalty!r}.")


def prepare_optimizer(optimizer: Any, objective: PointwiseObjective, **options: Any) -> tuple[Any, Choice]:
    """The optimizer that a parameter means, with the options that it takes, and why it is used."""
    if isinstance(optimizer, str) and optimizer.lower() == "auto":
        choice = choose_optimizer(objective)
    else:
        called = optimizer if isinstance(optimizer, str) else type(optimizer).__name__
        choice = Choice(called, "it was asked for")
    made = make_optimizer(choice.method if isinstance(optimizer, str) else optimizer)
    if not dataclasses.is_dataclass(made):
        return made, choice
    fields = {field.name for field in dataclasses.fields(made)}
    known = {name: value for name, value in options.items() if name in fields and value}
    return dataclasses.replace(made, **known) if known else made, choice  # type: ignore[type-var]


def link_of(criterion: Pointwise, coding: ClassCoding) -> str | None:
    """How scores become posteriors: where the criterion is a likelihood and the decoder leaves the scores alone."""
    if isinstance(criterion, Softmax):
        return "softmax"
    if not isinstance(criterion, Logistic):
        return None
    plain = coding.decoder == "maximum" and coding.name in ("two-class", "one-vs-rest")
    return "pairs" if coding.name == "pairwise" else "sigmoid" if plain else None


def require_known_weights(class_weight: Any) -> None:
    """Refuse, for learning in parts, class weights that only all rows determine."""
    if isinstance(class_weight, str):
        raise NotAvailableError(
            f"class_weight '{class_weight}' is not supported for partial_fit, which does not see all rows at once; "
            "give the weights as a dictionary."
        )


def starting_weights(start: Any, objective: PointwiseObjective, random_state: Any) -> Array:
    """The (1+d̂, q) weights that a ``start`` parameter means."""
    shape = (objective.n_parameters, objective.n_outputs)
    base = objective.criterion.single
    if start is None and isinstance(base, Quadratic | Relaxation) and base.margin == 0:
        start = "random"  # zero weights lie exactly on every margin, where these criteria have no slope
    if start is None:
        return np.zeros(shape)
    if isinstance(start, str):
        from discriminant.bases.expansion import generator

        return generator(random_state).uniform(-0.01, 0.01, shape)
    weights = as_numbers(start, "start").copy()
    if weights.ndim == 1:
        weights = weights[:, None]
    if weights.shape != shape or not np.isfinite(weights).all():
        raise ParameterError(
            f"start has shape {np.shape(start)}; the weights have {shape[0]} rows (the intercept first) and {shape[1]} "
            f"columns, and must be finite."
        )
    return weights


def with_margin(criterion: Pointwise, margin: float | None) -> Pointwise:
    """The criterion with this margin b; as it is for None."""
    if margin is None:
        return criterion
    if isinstance(criterion, Kesler):
        return dataclasses.replace(criterion, base=with_margin(criterion.base, margin))
    if not isinstance(criterion, Margin):
        raise MismatchError(
            f"Criterion {type(criterion).__name__} has no margin; leave margin out, or use Perceptron, Quadratic, "
            f"Relaxation or Hinge."
        )
    return dataclasses.replace(criterion, margin=float(margin))  # type: ignore[type-var]


def class_weights(class_weight: Any, classes: Array, counts: Array | None) -> Array | None:
    """(K,) factors on the rows of each class, or None where they are all one; ``counts`` are weighted.

    Classes that a mapping does not name have the factor 1.  A key that is no class is refused then, as by scikit-learn:
    it is a class written wrongly.  Where all classes are named it is one that these rows (a fold) do not hold.
    """
    if class_weight is None or counts is None:
        return None
    if isinstance(class_weight, str):
        return np.asarray(counts.sum() / (len(classes) * counts))
    known = classes.tolist()
    strangers = [label for label in class_weight if label not in known]
    unnamed = [label for label in known if label not in class_weight]
    if strangers and unnamed:
        raise ParameterError(
            f"class_weight names {no_class(strangers)}. The classes, {names(unnamed)}, are not in "
            "class_weight; write them as y does."
        )
    factors = as_numbers([class_weight.get(label, 1.0) for label in known], "class_weight")
    if not (np.isfinite(factors).all() and (factors >= 0).all() and factors.any()):
        raise ParameterError(f"class_weight must hold finite numbers ≥ 0, not all of them 0; got {class_weight!r}.")
    return factors
