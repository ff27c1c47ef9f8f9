"""The nouns of the harness: the data of a task, a prepared contender, an adapter.

An adapter is a module.  It holds

    NAME      what the table calls it
    ROLE      OURS, PEER, BY_HAND (a recipe written here on a peer's arithmetic) or LIMIT (what the hardware allows)
    PACKAGE   the distribution whose version the table gives, or ""
    METHODS   problem → {method → builder}; a builder turns the data into a ``Prepared``
    REFUSALS  problem → a sentence that says why this peer has no method for it

Everything in ``Prepared.call`` is timed, everything before and after is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
# What a contender found: arrays by name ("posterior", "scores", "labels", "digits"), compared across contenders;
# for tasks with gaps also "objective", and "passes" where it is known.
Answer = dict[str, Array]

OURS, PEER, BY_HAND, LIMIT = "ours", "peer", "by hand", "limit"

# What a peer may raise on data that it cannot handle; the row then carries the sentence and the run goes on.
FAILURES = (
    *(ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, MemoryError, NameError, OSError),
    *(RuntimeError, SyntaxError, TypeError, ValueError),
)


@dataclass(frozen=True)
class Data:
    """The rows of one task, the same in every process that makes them from the same seed."""

    X: Array  # (n, d)
    y: Array  # (n,) class codes
    n_classes: int
    probe: Array  # the first few thousand rows: where the answers are compared
    path: str = ""  # for tasks whose data lie in a file
    extra: Mapping[str, Any] = field(default_factory=dict)

    def head(self, rows: int) -> Data:
        """The same data cut to their first rows: to load a contender's libraries before its memory is measured."""
        return Data(
            self.X[:rows].copy(), self.y[:rows].copy(), self.n_classes, self.probe[:rows], self.path, self.extra
        )

    def one_hot(self) -> Array:
        """(n, K) targets of 0 and 1; of two classes (n,), those of the second."""
        return np.eye(self.n_classes)[self.y] if self.n_classes > 2 else self.y.astype(np.float64)


def no_answer(_: Any) -> Answer:
    """For reference lines, which solve no problem."""
    return {}


@dataclass(frozen=True)
class Prepared:
    """One contender on one task: the timed call, and how to read its answer afterwards."""

    call: Callable[[], Any]
    answer: Callable[[Any], Answer] = no_answer
    scale: float = 1.0  # time that counts = time taken × scale (reference lines that extrapolate a rate)


Builder = Callable[[Data], Prepared]
Methods = Mapping[str, Mapping[str, Builder]]


class Adapter(Protocol):
    """The names that an adapter module must hold."""

    NAME: str
    ROLE: str
    PACKAGE: str
    METHODS: Methods
    REFUSALS: Mapping[str, str]
