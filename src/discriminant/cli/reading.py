"""A command's table as it stands in its file."""

from __future__ import annotations

from typing import Any

from discriminant import datasets
from discriminant.data.files import read_table
from discriminant.data.tables import Table


def read_raw(given: Any) -> Table:
    """The table itself, with the columns as text that must stay so."""
    target = target_of(given)
    keep_text = [*listed(given.categorical), *[target] * bool(target)]
    return read_table(given.data, text_columns=keep_text, header=False if given.no_header else None)


def target_of(given: Any) -> str:
    """The label's column: as asked, or as it is called in a bundled set."""
    if given.target:
        return str(given.target)
    return datasets.target(given.data) if given.data in datasets.available() else ""


def listed(text: str) -> tuple[str, ...]:
    """The names in an option, separated by commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
