"""A model file given on the command line, opened or refused in a sentence; and costs, IS:DECIDED=COST."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from discriminant.decision.risk import check_costs
from discriminant.errors import DataError, ParameterError, names
from discriminant.io.model_file import load_fit
from discriminant.io.table_model import TableModel
from discriminant.protocols import Array


def open_model(path: str, costs: Sequence[str] = ()) -> TableModel:
    """The model with its preprocessing that ``fit --out`` wrote; ``costs``: to decide by."""
    if not Path(path).is_file():
        raise DataError(f"There is no model file {path!r}; discriminant fit DATA --out {path} writes one.")
    model = load_fit(path)
    if not isinstance(model, TableModel):
        raise DataError(
            f"{path} holds a {type(model).__name__} without the names and kinds of its columns, so that it cannot read "
            "a table. Write it with discriminant fit DATA --out FILE, or use it from Python."
        )
    found = read_costs(costs, model.classes_)
    return model if found is None else replace(model, costs=found)


def read_costs(texts: Sequence[str], classes: Array) -> Array | None:
    """costs[decided, true], 1 for errors that are not named; None where no costs are given."""
    if not texts:
        return None
    by_text = {str(label): label for label in classes.tolist()}
    found = {(a, k): float(a != k) for a in by_text.values() for k in by_text.values()}
    for text in texts:
        pair, equals, amount = text.rpartition("=")
        own, decided = _pair(pair, by_text, text)
        try:
            cost = float(amount)
        except ValueError:
            raise ParameterError(f"--cost {text!r}: {amount!r} is no number.") from None
        if not equals or not 0 <= cost < float("inf"):
            raise ParameterError(f"--cost {text!r}: a cost is a number that is not negative, after '='.")
        found[by_text[decided], by_text[own]] = cost
    return check_costs(found, classes)[0]


def _pair(pair: str, known: dict[str, object], text: str) -> tuple[str, str]:
    """Labels may hold colons themselves: the cut is where both sides are classes."""
    for at, character in enumerate(pair):
        if character == ":" and pair[:at] in known and pair[at + 1 :] in known:
            return pair[:at], pair[at + 1 :]
    raise ParameterError(f"--cost needs IS:DECIDED=COST with the classes {names(list(known), 12)}; {text!r} is none.")
