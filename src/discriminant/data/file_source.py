"""What every file format answers: parts of consecutive rows, read one at a time.

A source cuts its files into parts of about the size that it is told and reads one at a time, only the columns that are
asked for.  Binary formats know their rows from the heads of the files.  Text is cut at line ends; how many rows it has
is known after the first pass, the survey, which parses all of it for labels, levels of text and a row sample together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from discriminant.data.arrow import arrow_codes, arrow_numbers, kind_of
from discriminant.data.file_columns import FileColumns, Levels
from discriminant.protocols import Array

LEAST_ROWS = 256  # of a part


@dataclass
class Part:
    """Some consecutive rows of one file."""

    file: int
    rows: int  # −1 where they are not known before they have been parsed
    place: Any  # for the source: a row, a row group, a range of bytes
    first: int = 0  # number of the first row in its file
    size: int = 0  # bytes of the file


@dataclass(frozen=True)
class Surveyed:
    """What the first pass finds in a part."""

    labels: Any  # an array, (codes, levels) of text, or None
    levels: dict[str, tuple[Array, list[str]]] = field(default_factory=dict)  # of text columns: (codes, levels)
    parsed: Any = None  # all of a part of text, of which ``take(index)`` keeps some rows


class FileSource(ABC):
    """What every format answers."""

    files: list[str]
    dtype: Any  # of the rows: float32 or float64
    target: Any = None  # None: rows without labels
    columns: FileColumns | None = None  # of formats with names
    is_sparse: ClassVar[bool] = False
    is_text: ClassVar[bool] = False
    entries: int = 0  # of sparse rows
    survey_share: float = 1.0  # of the bytes that a survey reads
    run_rows: int = 0  # rows that are best read together where single rows can be read; 0 where they cannot

    @property
    def names(self) -> tuple[str, ...] | None:
        return None if self.columns is None else self.columns.feature_names

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of features."""

    @abstractmethod
    def parts(self, size: int) -> list[Part]:
        """Parts of about ``size`` bytes of numbers."""

    @abstractmethod
    def survey(self, part: Part) -> Surveyed:
        """Labels and levels of text of a part; of text, all of it."""

    @abstractmethod
    def read(self, part: Part) -> Any:
        """The rows of a part: ``shape``, ``design(start, stop)`` and ``pick(rows)``, which copies."""

    def rows(self, parsed: Any) -> Any:
        """The same of what a survey kept, once all parts have been surveyed."""
        raise NotImplementedError(f"{type(self).__name__} keeps no rows of a survey.")

    def settle(self, levels: dict[str, Levels]) -> None:
        """All parts have been surveyed."""
        if self.columns is not None:
            for name, found in levels.items():
                self.columns.rules[name] = found.rule(name, self.columns.notes)


class ColumnSource(FileSource):
    """Files of named columns, read as Arrow tables."""

    columns: FileColumns

    @property
    def n_features(self) -> int:
        return self.columns.width

    @abstractmethod
    def table(self, part: Part, columns: Sequence[str]) -> Any:
        """These columns of a part, as an Arrow table."""

    def read(self, part: Part) -> Any:
        return self.rows(self.table(part, self.columns.names))

    def rows(self, parsed: Any) -> Any:
        return self.columns.rows(parsed)

    def survey(self, part: Part) -> Surveyed:
        wanted = [*(self.columns.names if self.is_text else self.columns.text), *[self.target] * self.has_target]
        table = self.table(part, wanted)
        labels = None
        if self.has_target:
            values = table.column(self.target)
            labels = arrow_codes(values) if kind_of(values.type) == "text" else arrow_numbers(values)
        levels = {name: arrow_codes(table.column(name)) for name in self.columns.text}
        return Surveyed(labels, levels, table if self.is_text else None)

    @property
    def has_target(self) -> bool:
        return self.target is not None
