"""A model file given on the command line, opened or refused in a sentence."""

from __future__ import annotations

from pathlib import Path

from discriminant.errors import DataError
from discriminant.io.model_file import load_fit
from discriminant.io.table_model import TableModel


def open_model(path: str) -> TableModel:
    """The model with its preprocessing that ``fit --out`` wrote."""
    if not Path(path).is_file():
        raise DataError(f"There is no model file {path!r}; discriminant fit DATA --out {path} writes one.")
    model = load_fit(path)
    if not isinstance(model, TableModel):
        raise DataError(
            f"{path} holds a {type(model).__name__} without the names and kinds of its columns, so that it cannot read "
            "a table. Write it with discriminant fit DATA --out FILE, or use it from Python."
        )
    return model
