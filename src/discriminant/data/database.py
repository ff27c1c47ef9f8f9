"""Sums over the rows of a database table, worked out by the database: the sums come back, the rows do not.

A fit in closed form asks its rows for class sums alone (a ``QueryRequest``).  Two queries answer it: a survey with the
count, mean, least and largest value of each column in each class, and the sums of squares and products of x − m_k,

    SELECT k, COUNT(*), SUM(r0), …, SUM(r0*r0), SUM(r0*r1), … FROM (SELECT k, x0 − m_k0 AS r0, … FROM rows) GROUP BY k

so that no digits are lost to large means.  Whatever else a method asks for, and tables with text, missing values or
very many columns, are read row by row as before (``queries``), by the first request that needs it.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discriminant.data.blocks import ArrayBlocks
from discriminant.data.labels import encode_labels
from discriminant.data.rows import DenseDesign, Rows
from discriminant.protocols import Array, Block
from discriminant.thresholds import QUERY_COLUMNS

NUMBERS = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "FLOAT", "DOUBLE", "DECIMAL"
)  # fmt: skip


class QueryRequest(ABC):
    """A kernel with a second body, for rows in a database."""

    @abstractmethod
    def on_query(self, table: QueryTable) -> Any:
        """The sum over all rows, as ``reduce`` hands it back; None: the rows must be read."""


@dataclass(frozen=True)
class Survey:
    """What one query gives of each class: (K,) counts, and (K, d) sums, means, least and largest values."""

    classes: Array
    count: Array
    sums: Array
    squares: Array
    means: Array
    low: Array
    high: Array


class QueryTable:
    """The columns of a query that hold numbers, and the one that holds labels.

    ``run``: from SQL over a table ``rows_`` to a list of tuples.
    """

    def __init__(self, run: Callable[[str], list[tuple[Any, ...]]], columns: Sequence[str], target: str) -> None:
        self.run, self.columns, self.target = run, tuple(columns), target

    @cached_property
    def survey(self) -> Survey | None:
        """None where a label or a value is missing, or labels are neither words nor numbers."""
        x = [f"CAST({_quoted(name)} AS FLOAT8)" for name in self.columns]
        asked = [f"COUNT({one}), SUM({one}), SUM({one}*{one}), MIN({one}), MAX({one})" for one in x]
        label = _quoted(self.target)
        found = self.run(f"SELECT {label}, COUNT(*), {', '.join(asked)} FROM rows_ GROUP BY {label}")
        if not found or any(_literal(row[0]) is None for row in found):
            return None
        counts = np.array([row[1] for row in found], dtype=np.float64)
        values = np.array([[np.nan if v is None else v for v in row[2:]] for row in found], dtype=np.float64)
        known, sums, squares, low, high = np.moveaxis(values.reshape(len(found), -1, 5), 2, 0)
        if (known != counts[:, None]).any():
            return None
        classes, codes = encode_labels(np.asarray([row[0] for row in found]))
        order = np.argsort(codes)
        means = np.where(low == high, low, sums / counts[:, None])  # a column that does not vary is its own mean
        return Survey(classes, counts[order], *(part[order] for part in (sums, squares, means, low, high)))

    def products(self, shift: Array, diagonal: bool) -> tuple[Array, Array]:
        """(Σ r (K, d), Σ r rᵗ (K, d, d) or its diagonals (K, d)) of r = x − s_k."""
        assert self.survey is not None
        K, d = shift.shape
        pairs = [(i, j) for i in range(d) for j in range(i, i + 1 if diagonal else d)]
        head = ", ".join(["k", "label", *(f"s{j}" for j in range(d))])
        values = ", ".join(
            f"({', '.join([str(k), str(_literal(label)), *(_number(s) for s in shift[k])])})"
            for k, label in enumerate(self.survey.classes.tolist())
        )
        rest = ", ".join(f"CAST({_quoted(name)} AS FLOAT8) - s{j} AS r{j}" for j, name in enumerate(self.columns))
        asked = ", ".join([f"SUM(r{j})" for j in range(d)] + [f"SUM(r{i}*r{j})" for i, j in pairs])
        found = self.run(
            f"WITH shift_({head}) AS (VALUES {values}) SELECT k, {asked} FROM (SELECT k, {rest} FROM rows_ "
            f"JOIN shift_ ON {_quoted(self.target)} = label) AS residuals_ GROUP BY k"
        )
        sums, flat = np.zeros((K, d)), np.zeros((K, len(pairs)))
        for k, *row in found:
            sums[int(k)], flat[int(k)] = row[:d], row[d:]
        if diagonal:
            return sums, flat
        gram = np.zeros((K, d, d))
        i, j = np.array(pairs).T
        gram[:, i, j] = gram[:, j, i] = flat
        return sums, gram


class QueryBlocks:
    """What a fit in closed form asks: sums, by the database where it can; else of ``opened``, which reads the rows."""

    in_memory: ClassVar[bool] = False
    elsewhere: ClassVar[bool] = False
    is_sparse: ClassVar[bool] = False
    is_soft: ClassVar[bool] = False
    rounding: ClassVar[float] = 1.0
    target: ClassVar[None] = None
    weight: ClassVar[None] = None

    def __init__(self, table: QueryTable, survey: Survey, opened: Callable[[], ArrayBlocks]) -> None:
        self.table, self.survey, self._opened = table, survey, opened

    @cached_property
    def _read(self) -> ArrayBlocks:
        return self._opened()

    @property
    def rows(self) -> Rows:
        return self._read.rows

    def __iter__(self) -> Iterator[Block]:
        return iter(self._read)

    @property
    def n_rows(self) -> int:
        return int(self.survey.count.sum())

    @property
    def n_features(self) -> int:
        return len(self.table.columns)

    def counts(self, n_classes: int) -> Array:
        """(K,): the rows of each class."""
        return self.survey.count.copy()

    def sample(self, n_rows: int, n_classes: int) -> Block:
        """A row for each class, its mean: what sums are taken about."""
        return Block(DenseDesign(self.survey.means), 0, np.arange(len(self.survey.means)), None)

    def reduce(self, kernel: Any) -> Any:
        """Σ over all rows."""
        found = kernel.on_query(self.table) if isinstance(kernel, QueryRequest) else None
        return self._read.reduce(kernel) if found is None else found


def find_table(query: Any, target: Any, columns: Sequence[Any] | None, connection: Any) -> QueryTable | None:
    """A query as a table that a database adds up; None where its rows must be read."""
    if not isinstance(target, str):
        return None
    if isinstance(query, str) and type(connection).__name__ == "DuckDBPyConnection":
        query = connection.sql(query)  # whose other cursors do not see what is registered with it
    if type(query).__name__ == "DuckDBPyRelation":
        known = dict(zip(query.columns, map(str, query.types), strict=True))

        def run(sql: str) -> list[tuple[Any, ...]]:
            return query.query("rows_", sql).fetchall()  # type: ignore[no-any-return]
    elif isinstance(query, str) and connection is not None:

        def run(sql: str) -> list[tuple[Any, ...]]:
            return _fetched(query, sql, connection)[1]

        names, rows = _fetched(query, "SELECT * FROM rows_ LIMIT 100", connection)
        kinds = [{type(row[j]).__name__ for row in rows} for j in range(len(names))]  # all that such a cursor says
        plain = [bool(rows) and kind <= {"int", "float", "Decimal"} for kind in kinds]
        known = {name: "DOUBLE" if numeric else "" for name, numeric in zip(names, plain, strict=True)}
    else:
        return None
    wanted = [name for name in known if name != target] if columns is None else list(columns)
    numbers = all(known.get(name, "").startswith(NUMBERS) for name in wanted)
    if target not in known or not wanted or not numbers or len(wanted) > QUERY_COLUMNS or target in wanted:
        return None
    return QueryTable(run, wanted, target)


def _fetched(query: str, sql: str, connection: Any) -> tuple[list[str], list[tuple[Any, ...]]]:
    """(names of columns, rows) of SQL over ``rows_``, which stands for the query."""
    query, more = query.strip().rstrip(";"), sql.removeprefix("WITH ")
    with contextlib.closing(connection.cursor()) as cursor:
        cursor.execute(f"WITH rows_ AS ({query}){',' if more != sql else ''} {more}")
        return [column[0] for column in cursor.description], cursor.fetchall()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(label: Any) -> str | None:
    """A label in SQL; None where it has no plain form."""
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    if isinstance(label, str):
        return None if "\0" in label else "'" + label.replace("'", "''") + "'"
    return repr(label) if isinstance(label, int) or (isinstance(label, float) and label.is_integer()) else None


def _number(value: float) -> str:
    return f"CAST({float(value)!r} AS FLOAT8)"
