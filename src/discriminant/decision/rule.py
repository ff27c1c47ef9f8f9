"""The decision rule of a discriminant: from q outputs z to K class scores, a label, posteriors.

    class scores   g = decode(z); without a coding g = z, and one output stands for two classes as g = ∓(z − θ)/2
    decision       argmax_k g_k, the first of equals; one output: the second class iff z > θ (0 without a coding)
    posteriors     "softmax": e^{g_k} / Σ_j e^{g_j};  "sigmoid": σ(g_k), brought to sum one; one output: σ(∓(z − θ));
                   "pairs": σ(z) of every pair of classes, coupled (Wu, Lin and Weng 2004)

For one output softmax and sigmoid are the same (Alpaydin 10.7, exercise 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.decision.posteriors import (
    log_sigmoid,
    log_sigmoid_pair,
    log_softmax,
    logsumexp,
    sigmoid_pair,
    softmax,
)
from discriminant.decision.reject import without_single_winner
from discriminant.docstrings import Entries
from discriminant.errors import DataError, MismatchError, ParameterError, names
from discriminant.protocols import Array
from discriminant.thresholds import COMPARED_COLUMNS, COMPARED_ROWS

LINKS = (None, "sigmoid", "softmax", "pairs")


def largest(g: Array) -> Array:
    """The column of the largest entry of each row, the first of equals; g is finite.

    >>> largest(np.array([[1.0, 3.0, 3.0], [2.0, 1.0, 0.0]])).tolist()
    [1, 0]
    """
    if not 2 <= g.shape[1] <= COMPARED_COLUMNS or len(g) < COMPARED_ROWS:
        return np.asarray(g.argmax(axis=1))
    best = g[:, 0]
    codes: Array = np.asarray(g[:, 1] > best).view(np.uint8)
    for k in range(2, g.shape[1]):
        best = np.maximum(best, g[:, k - 1])
        # A later winner has the larger number, so that the maximum of numbers is the last winner.
        np.maximum(codes, (g[:, k] > best).view(np.uint8) * np.uint8(k), out=codes)
    return codes


documented = Entries("""
z : ndarray of shape (n, q)
    Scores of the outputs.
""").documented


@documented
@dataclass(frozen=True, eq=False)
class Rule:
    """How outputs decide: the classes, how outputs stand for them, and the link to posteriors.

    Class scores are g = decode(z), or z itself without a coding; the greatest names the class, the first of equals.
    One output z of two classes decides for the second iff z exceeds the threshold θ.

    Parameters
    ----------
    classes : ndarray of shape (K,)
        The labels.
    n_outputs : int
        q, the number of scores of a row.
    coding : ClassCoding or None, default=None
        How outputs stand for classes; None: one output a class, or one for two.
    link : {"softmax", "sigmoid", "pairs", None}, default=None
        How scores give posteriors; None: they do not.

    See Also
    --------
    discriminant.LinearDiscriminant : The map from rows to outputs, with its rule.

    >>> rule = Rule(np.array(["no", "yes"]), 1, link="sigmoid")
    >>> rule.labels(np.array([[-1.0], [2.0]])).tolist()
    ['no', 'yes']
    """

    classes: Array  # (K,)
    n_outputs: int
    coding: Any = None
    link: str | None = None

    def check(self) -> None:
        """Refuse outputs, classes and codings that do not fit together.

        Raises
        ------
        DataError
            Where there are fewer than two different classes.
        MismatchError
            Where the outputs do not stand for the classes.
        """
        if self.classes.ndim != 1 or len(set(self.classes.tolist())) != len(self.classes) or len(self.classes) < 2:
            raise DataError(f"classes must be at least two different labels; got {self.classes.tolist()}.")
        K, q = len(self.classes), self.n_outputs
        if self.link not in LINKS:
            raise ParameterError(f"link is {self.link!r}; it must be one of {names([str(link) for link in LINKS])}.")
        if self.coding is not None and np.shape(self.coding.targets) != (K, q):
            coded = np.shape(self.coding.targets)
            raise MismatchError(
                f"{type(self.coding).__name__} codes {coded[0]} classes by {coded[1]} outputs; "
                f"there are {K} classes and {q} outputs."
            )
        if self.coding is None and q != K and not self.one_output:
            raise MismatchError(f"{q} outputs for {K} classes need a coding that says how outputs stand for classes.")

    @cached_property
    def one_output(self) -> bool:
        """Whether one output stands for two classes."""
        return self.n_outputs == 1 and len(self.classes) == 2

    @cached_property
    def threshold(self) -> float:
        """θ, the score at which the one output of two classes is indifferent: 0 unless the coding says otherwise."""
        return 0.0 if self.coding is None else float(np.ravel(self.coding.threshold)[0])

    @cached_property
    def orientation(self) -> float:
        """−1 where the coding gives ``classes[0]`` the scores above the threshold of the one output."""
        if self.coding is None:
            return 1.0
        above = np.asarray(self.coding.decode(np.full((1, 1), self.threshold + 1.0)))[0]
        return 1.0 if above[1] > above[0] else -1.0

    def class_scores(self, z: Array) -> Array:
        """g, the score of each class.

        Returns
        -------
        ndarray of shape (n, K)
            The greatest names the class.
        """
        if self.one_output:
            half = self.decision_function(z)[:, None] / 2
            return np.hstack([-half, half])
        return z if self.coding is None else np.asarray(self.coding.decode(z))

    def decision_function(self, z: Array) -> Array:
        """g; for two classes their difference, positive for ``classes[1]``.

        Returns
        -------
        ndarray of shape (n, K), or (n,) for two classes
            Class scores.
        """
        if self.one_output:
            return z[:, 0] if self.coding is None else (z[:, 0] - self.threshold) * self.orientation
        g = self.class_scores(z)
        return np.asarray(g[:, 1] - g[:, 0]) if len(self.classes) == 2 else g

    def codes(self, z: Array) -> Array:
        """The position of the winning class, the first of equals.

        Returns
        -------
        ndarray of shape (n,)
            Positions among the classes.
        """
        if len(self.classes) == 2:
            return (self.decision_function(z) > 0).view(np.uint8)
        return largest(self.class_scores(z))

    def labels(self, z: Array) -> Array:
        """The label of the winning class.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        return self.classes.take(self.codes(z))

    def rejected(self, z: Array) -> Array:
        """True where no class discriminant is positive or several are.

        Returns
        -------
        ndarray of bool of shape (n,)
            True where no single class wins.
        """
        return without_single_winner(self.class_scores(z))

    def posteriors(self, z: Array) -> Array:
        """P(C_k|x), by the link.

        Returns
        -------
        ndarray of shape (n, K)
            Probabilities.
        """
        if self.one_output:
            return sigmoid_pair(self.decision_function(z))
        if self.link == "softmax":
            return softmax(self.class_scores(z))
        if self.link == "pairs":
            from discriminant.codings.coupling import couple_pairwise

            return couple_pairwise(np.exp(log_sigmoid(z)))
        return np.asarray(np.exp(self.log_posteriors(z)))

    def log_posteriors(self, z: Array) -> Array:
        """log P(C_k|x), finite wherever z is, but of pairs.

        Returns
        -------
        ndarray of shape (n, K)
            Logarithms of probabilities.
        """
        if self.one_output:
            return log_sigmoid_pair(self.decision_function(z))
        if self.link == "softmax":
            return log_softmax(self.class_scores(z))
        if self.link == "pairs":
            with np.errstate(divide="ignore"):  # a probability of 0 has the logarithm −inf
                return np.asarray(np.log(self.posteriors(z)))
        each = log_sigmoid(self.class_scores(z))
        return np.asarray(each - logsumexp(each, keepdims=True))

    @cached_property
    def linear_decoder(self) -> tuple[Array, Array] | None:
        """(D, s) with g = zD + s, where the rule decides by the largest of K linear functions; else None."""
        if self.one_output:
            half = np.array([-0.5, 0.5]) * self.orientation
            return half[None, :], -self.threshold * half
        if self.coding is None:
            return np.eye(self.n_outputs), np.zeros(self.n_outputs)
        found = self.coding.linear_map()
        return None if found is None else (np.asarray(found[0]).T, np.asarray(found[1]))

    def position(self, label: Any) -> int:
        """The position of a class: an integer is one already, anything else is searched for among the labels.

        Parameters
        ----------
        label : label or int
            A class or its position.

        Returns
        -------
        int
            The position.

        Raises
        ------
        ParameterError
            Where there is no such class.
        """
        label = label.item() if isinstance(label, np.generic) else label
        if type(label) is int:
            if 0 <= label < len(self.classes):
                return label
        else:
            for k, own in enumerate(self.classes.tolist()):
                if type(own) is type(label) and own == label:
                    return k
        raise ParameterError(
            f"{label!r} is no class: name two of {names(list(self.classes))}, or give their positions, "
            f"0 to {len(self.classes) - 1}."
        )

    def encode(self, y: Any) -> Array:
        """The position of each label in y.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels.

        Returns
        -------
        ndarray of shape (n,)
            Positions among the classes.

        Raises
        ------
        DataError
            Where a label is no class.
        """
        labels = np.asarray(y)
        codes = np.full(len(labels), -1)
        for k, label in enumerate(self.classes):
            codes[labels == label] = k
        if (codes < 0).any():
            stranger = labels[codes < 0].tolist()[0]
            raise DataError(f"y holds {stranger!r}, which is no class; the classes are {names(list(self.classes))}.")
        return codes

    def require_link(self) -> None:
        """Refuse posteriors where scores are not log odds.

        Raises
        ------
        MismatchError
            Where there is no link.
        """
        if self.link is None:
            raise MismatchError(
                "This discriminant has no link from scores to probabilities: its scores are not log odds. "
                "Use predict or distance, or calibrate it (sklearn.calibration.CalibratedClassifierCV)."
            )
