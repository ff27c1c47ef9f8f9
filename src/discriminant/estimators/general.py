"""``Discriminant``: any basis, criterion, penalty, coding and optimizer that fit together.  The method you invent."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from discriminant.bases.expansion import generator
from discriminant.codings import ClassCoding
from discriminant.criteria import Pointwise, Quadratic, Relaxation
from discriminant.errors import ParameterError, as_numbers
from discriminant.estimators.discriminative import DiscriminativeClassifier, Reading
from discriminant.estimators.parameters import (
    BASIS,
    BOOLEAN,
    CALLBACK,
    CLASS_WEIGHT,
    DECODER,
    LABEL,
    RANDOM_STATE,
    START,
)
from discriminant.estimators.parts import CODING, CRITERION, OPTIMIZER, PENALTY, fit_together
from discriminant.objective import PointwiseObjective
from discriminant.penalties import WeightPenalty, make_penalty
from discriminant.protocols import Array


class Discriminant(DiscriminativeClassifier):
    """argmin J for any parts that fit together; parts that do not are refused in a sentence.

    Parameters
    ----------
    basis : None, text, function or transformer
        φ: "quadratic", "rbf:50", a basis of ``discriminant.bases`` or a transformer of scikit-learn.
    criterion : str or criterion
        ℓ(t, z): "logistic", "softmax", "squared", "sigmoid-squared", "perceptron", "quadratic", "relaxation", "hinge",
        "squared-hinge", "kesler", "zero-one", or an instance of ``discriminant.criteria``.
    penalty : None, str or penalty
        λΩ(A): "ridge", "lasso", "elastic-net", "group", "jeffreys" (λ = 1), or an instance of
        ``discriminant.penalties``, such as ``Ridge(0.01)``.
    coding : str, (K, q) matrix or coding
        "auto", "one-vs-rest", "one-vs-rest-k-1", "pairwise", "machine" (Kesler's construction), "softmax".
    optimizer : str or optimizer
        "auto", or an optimizer of ``discriminant.optimize`` by name or as an instance.
    decoder : {"maximum", "sum", "votes", "unanimous"}, optional
        How outputs name a class; the coding's own way unless given.  "sum" of raw pairwise scores is the textbook's
        and weak: pairwise logistic on iris has 0.60 of the flowers right by it and 0.99 by votes.
    reject_label : label, optional
        What ``predict`` says with "unanimous" where not exactly one class is claimed: −1 or "reject" unless given.
    class_weight : dict, "balanced" or None
    fit_intercept : bool
        False: hyperplanes through the origin.
    start : None, "random" or (1+d̂, q) array
        Where descent begins: zeros; uniform in (−0.01, 0.01), as in Alpaydin's figures 10.6 and 10.8; or these weights.
    random_state : int, Generator or None
        Of the random start.
    warm_start : bool
        Start from the previous solution.
    trace : bool
        Keep weights and errors of every step in ``history_``.
    callback : callable, optional
        Told each step; stops the run by answering True.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_
        As scikit-learn's; a row of ``coef_`` for each output, a column for each feature of φ.
    discriminant_ : LinearDiscriminant
    certificate_ : Certificate
    history_ : History
    coding_, criterion_
        The parts as they were used.

    Examples
    --------
    >>> from discriminant import Discriminant, datasets
    >>> iris = datasets.load("iris")
    >>> model = Discriminant(criterion="hinge", coding="pairwise").fit(iris.X, iris.y)
    >>> round(model.score(iris.X, iris.y), 2), model.plan(iris.X, iris.y).method
    (0.99, 'linear-program')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "basis": BASIS,
        "criterion": CRITERION,
        "penalty": PENALTY,
        "coding": CODING,
        "optimizer": OPTIMIZER,
        "decoder": DECODER,
        "reject_label": LABEL,
        "class_weight": CLASS_WEIGHT,
        "fit_intercept": BOOLEAN,
        "start": START,
        "random_state": RANDOM_STATE,
        "warm_start": BOOLEAN,
        "trace": BOOLEAN,
        "callback": CALLBACK,
    }

    def __init__(
        self,
        basis: Any = None,
        criterion: Any = "logistic",
        penalty: Any = None,
        coding: Any = "auto",
        optimizer: Any = "auto",
        *,
        decoder: str | None = None,
        reject_label: Any = None,
        class_weight: Any = None,
        fit_intercept: bool = True,
        start: Any = None,
        random_state: Any = 0,
        warm_start: bool = False,
        trace: bool = False,
        callback: Any = None,
    ) -> None:
        self.basis = basis
        self.criterion = criterion
        self.penalty = penalty
        self.coding = coding
        self.optimizer = optimizer
        self.decoder = decoder
        self.reject_label = reject_label
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.start = start
        self.random_state = random_state
        self.warm_start = warm_start
        self.trace = trace
        self.callback = callback

    def _choose(self, reading: Reading) -> tuple[Pointwise, ClassCoding | None, WeightPenalty | None, Any]:
        parts = fit_together(self.criterion, self.coding, len(reading.classes), reading.counts, self.decoder)
        return *parts, make_penalty(self.penalty), self.optimizer

    def _starting_weights(self, objective: PointwiseObjective) -> Array:
        return starting_weights(self.start, objective, self.random_state)


def starting_weights(start: Any, objective: PointwiseObjective, random_state: Any) -> Array:
    """The (1+d̂, q) weights that a ``start`` parameter means."""
    shape = (objective.n_parameters, objective.n_outputs)
    base: Any = getattr(objective.criterion, "base", objective.criterion)
    if start is None and isinstance(base, Quadratic | Relaxation) and base.margin == 0:
        start = "random"  # zero weights lie exactly on every margin, where these criteria have no slope
    if start is None:
        return np.zeros(shape)
    if isinstance(start, str):
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
