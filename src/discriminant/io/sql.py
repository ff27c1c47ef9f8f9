"""``to_sql``: a model as one SELECT, in the dialect of DuckDB, SQLite, PostgreSQL, BigQuery or T-SQL.

The query has a step for each line of ``program``: scores, class scores, probabilities, decision.  A row with a NULL
feature gets NULL answers.  Sums are nested in halves: a thousand columns are ten levels deep and not a thousand.
Names are quoted and text is escaped by the dialect's rules: nothing in a column's or a class's name can end the string.
"""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discriminant.errors import DataError, ParameterError, names
from discriminant.io.container import write_whole
from discriminant.io.program import Program, edge_points, program
from discriminant.io.verify import require_agreement
from discriminant.protocols import Array


@dataclass(frozen=True)
class Dialect:
    """How one engine writes names, text, numbers and extremes."""

    name: str
    quote: tuple[str, str] = ('"', '"')
    double: str = "DOUBLE PRECISION"
    logarithm: str = "LN"
    greatest: str = "GREATEST"
    least: str = "LEAST"
    booleans: tuple[str, str] = ("FALSE", "TRUE")

    def identifier(self, name: str) -> str:
        if not name or any(ord(c) < 32 for c in name):
            raise DataError(
                f"The column name {name!r} cannot be written in SQL: it is empty or holds control characters."
            )
        if self.name == "bigquery":
            if "`" in name or "\\" in name:
                raise DataError(f"BigQuery has no way to write the column name {name!r}.")
            return f"`{name}`"
        return self.quote[0] + name.replace(self.quote[1], self.quote[1] * 2) + self.quote[1]

    def literal(self, value: Any) -> str:
        if isinstance(value, bool):
            return self.booleans[value]
        if isinstance(value, int):
            return str(value)
        if isinstance(value, float):
            return self.number(value)
        if value is None:
            return "NULL"
        if not isinstance(value, str) or "\0" in value:
            raise DataError(f"The label {value!r} cannot be written in SQL; use text, numbers or booleans.")
        if self.name == "bigquery":
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
        return ("N'" if self.name == "tsql" else "'") + value.replace("'", "''") + "'"

    def number(self, value: float) -> str:
        if not math.isfinite(value):
            raise DataError(f"The model holds the number {value}, which SQL cannot write.")
        return f"CAST({float(value)!r} AS {self.double})"

    def extreme(self, function: str, items: Sequence[str]) -> str:
        if len(items) == 1:
            return items[0]
        if self.name == "tsql":
            rows = ", ".join(f"({item})" for item in items)
            return f"(SELECT {'MAX' if function == 'greatest' else 'MIN'}(v) FROM (VALUES {rows}) AS m(v))"
        return f"{getattr(self, function)}({', '.join(items)})"


DIALECTS = {
    "duckdb": Dialect("duckdb", double="DOUBLE"),
    "sqlite": Dialect("sqlite", double="REAL", greatest="MAX", least="MIN", booleans=("0", "1")),
    "postgresql": Dialect("postgresql"),
    "bigquery": Dialect("bigquery", double="FLOAT64"),
    "tsql": Dialect("tsql", ("[", "]"), "FLOAT", "LOG", booleans=("CAST(0 AS BIT)", "CAST(1 AS BIT)")),
}


def to_sql(
    model: Any, path: str | os.PathLike[str] | None = None, *, table: str = "data", dialect: str = "duckdb"
) -> str:
    """The SELECT that adds a prediction and probabilities to the rows of ``table``.

    Columns are found by the model's feature names.  Run in SQLite, and in DuckDB where that is installed, before it is
    handed out; where sqlglot is installed it also reads the text in the dialect asked for.
    """
    if dialect not in DIALECTS:
        raise ParameterError(f"dialect is {dialect!r}; choose among {names(sorted(DIALECTS))}.")
    found = program(model)
    text = select(found, table, DIALECTS[dialect])
    _try(found, dialect, text)
    if path is not None:
        write_whole(Path(path), text.encode())
    return text


def select(found: Program, table: str, dialect: Dialect) -> str:
    """The text of the query."""
    writer = _Writer(found, dialect, _free_prefix(found))
    steps = [("z", writer.scores()), ("g", writer.classes()), ("e", writer.exponents()), ("p", writer.chances())]
    source = ".".join(dialect.identifier(part) for part in table.split("."))
    lines = []
    for name, columns in steps:
        if columns:
            own = dialect.identifier(f"{writer.prefix}step_{name}")
            body = ",\n    ".join(f"{expression} AS {column}" for column, expression in columns)
            lines.append(f"{own} AS (\n  SELECT s.*,\n    {body}\n  FROM {source} AS s\n)")
            source = own
    return f"WITH {', '.join(lines)}\nSELECT s.*,\n    {writer.decision()} AS prediction\nFROM {source} AS s\n"


def _free_prefix(found: Program) -> str:
    prefix = "discriminant_"
    while any(name.lower().startswith(prefix) for name in found.features):
        prefix += "_"
    return prefix


def total(terms: list[str], join: str = " + ") -> str:
    """t₁ + t₂ + …, nested in halves."""
    if len(terms) <= 2:
        return join.join(terms)
    half = len(terms) // 2
    return f"({total(terms[:half], join)}){join}({total(terms[half:], join)})"


@dataclass(frozen=True)
class _Writer:
    found: Program
    dialect: Dialect
    prefix: str

    def column(self, kind: str, *index: int) -> str:
        return self.dialect.identifier(self.prefix + kind + "_".join(str(i) for i in index))

    def _affine(self, weights: Array, constant: float, inputs: list[str]) -> str:
        terms = [f"{self.dialect.number(w)} * {x}" for w, x in zip(weights, inputs, strict=True) if w != 0]
        return total([*terms, self.dialect.number(constant)])

    def _inputs(self) -> list[str]:
        number, quote = self.dialect.number, self.dialect.identifier
        pairs = zip(self.found.features, self.found.center, strict=True)
        return [f"(CAST(s.{quote(name)} AS {self.dialect.double}) - {number(c)})" for name, c in pairs]

    def scores(self) -> list[tuple[str, str]]:
        inputs, found = self._inputs(), self.found
        if found.quadratic is None:
            assert found.weights is not None
            return [
                (self.column("z", j), self._affine(column[1:], column[0], inputs))
                for j, column in enumerate(found.weights.T)
            ]
        W, u, a = found.quadratic
        columns = []
        for k in range(len(a)):
            squares = [f"POWER({self._affine(W[k][:, r], -u[k, r], inputs)}, 2)" for r in range(W.shape[2])]
            half = f"{self.dialect.number(-0.5)} * ({total(squares)})"
            columns.append((self.column("z", k), f"{self.dialect.number(a[k])} + {half}"))
        return columns

    def classes(self) -> list[tuple[str, str]]:
        found, number = self.found, self.dialect.number
        q = found.decode[0].shape[0 if found.decoder == "linear" else 1]
        z = [f"s.{self.column('z', j)}" for j in range(q)]
        rows: list[str] = []
        for k in range(len(found.classes)):
            if found.decoder == "linear":
                rows.append(self._affine(found.decode[0][:, k], found.decode[1][k], z))
                continue
            first, second = found.decode
            if found.decoder == "nearest":
                part = [j for j in range(len(z)) if second[k, j] > 0]
                squares = [f"POWER({z[j]} - {number(first[k, j])}, 2)" for j in part]
                rows.append(f"{number(-0.5)} * ({total(squares)})")
                continue
            part = [j for j in range(len(z)) if first[k, j] != 0]
            agreed = [f"({number(first[k, j])} * ({z[j]} - {number(second[j])}))" for j in part]
            if found.decoder == "unanimous":
                rows.append(self.dialect.extreme("least", agreed))
            else:
                votes = total([f"(CASE WHEN {a} > 0 THEN 1 ELSE 0 END)" for a in agreed])
                rows.append(f"{votes} + ({total(agreed)}) / ({number(3.0)} * ({number(1.0)} + ABS({total(agreed)})))")
        return [(self.column("g", k), row) for k, row in enumerate(rows)]

    def exponents(self) -> list[tuple[str, str]]:
        found, number = self.found, self.dialect.number
        if found.link is None:
            return []
        each = [f"s.{self.column('g', k)}" for k in range(len(found.classes))]
        if found.link == "sigmoid":
            log = self.dialect.logarithm
            small = [f"(CASE WHEN ABS({g}) > 700 THEN {number(0.0)} ELSE EXP(-ABS({g})) END)" for g in each]
            each = [
                f"((CASE WHEN {g} < 0 THEN {g} ELSE {number(0.0)} END) - {log}({number(1.0)} + {e}))"
                for g, e in zip(each, small, strict=True)
            ]
        if found.prior_shift is not None:
            each = [f"({g} + {number(h)})" for g, h in zip(each, found.prior_shift, strict=True)]
        top = self.dialect.extreme("greatest", each)
        # An exponent below −700 underflows, which PostgreSQL calls an error.
        return [
            (self.column("e", k), f"(CASE WHEN {g} - {top} < -700 THEN {number(0.0)} ELSE EXP({g} - {top}) END)")
            for k, g in enumerate(each)
        ]

    def chances(self) -> list[tuple[str, str]]:
        if self.found.link is None:
            return []
        each = [f"s.{self.column('e', k)}" for k in range(len(self.found.classes))]
        label: Callable[[int], str] = lambda k: self.dialect.identifier(f"{self.prefix}probability_{k}")  # noqa: E731
        return [(label(k), f"{e} / ({total(each)})") for k, e in enumerate(each)]

    def decision(self) -> str:
        found = self.found
        K = len(found.classes)
        g = [f"s.{self.column('g', k)}" for k in range(K)]
        p = [f"s.{self.dialect.identifier(f'{self.prefix}probability_{k}')}" for k in range(K)]
        labels = [self.dialect.literal(label) for label in found.labels]
        if found.costs is not None:
            risks = [f"({total([f'{self.dialect.number(c)} * {x}' for c, x in zip(row, p, strict=True)])})"
                     for row in found.costs]  # fmt: skip
            best = self.dialect.extreme("least", risks)
            pairs = zip(risks, labels, strict=True)
        elif found.decoder == "unanimous":
            count = total([f"(CASE WHEN {score} > 0 THEN 1 ELSE 0 END)" for score in g])
            missing = total([f"(CASE WHEN {score} IS NULL THEN 1 ELSE 0 END)" for score in g])
            cases = " ".join(f"WHEN {score} > 0 THEN {label}" for score, label in zip(g, labels, strict=False))
            return f"CASE WHEN {missing} > 0 THEN NULL WHEN {count} <> 1 THEN {labels[K]} {cases} END"
        else:
            over = g if found.prior_shift is None or found.link is None else p
            best = self.dialect.extreme("greatest", over)
            pairs = zip(over, labels, strict=True)
        return "CASE " + " ".join(f"WHEN {value} = {best} THEN {label}" for value, label in pairs) + " END"


def _try(found: Program, dialect: str, text: str) -> None:
    X = edge_points(found, 100)
    positions = run_sqlite(found, X)
    if positions is not None:
        require_agreement(found, X, positions[0], positions[1], "SQLite", 1e-12)
    if dialect == "duckdb":
        answer = run_duckdb(found, X)
        if answer is not None:
            require_agreement(found, X, answer[0], answer[1], "DuckDB", 1e-12)
    try:
        import sqlglot
    except ImportError:
        return
    try:
        sqlglot.parse_one(text, read={"postgresql": "postgres"}.get(dialect, dialect))
    except sqlglot.errors.ParseError as error:
        raise DataError(f"The export was refused: it is not valid {dialect} ({str(error)[:120]}).") from error


def run_sqlite(found: Program, X: Array) -> tuple[Array, Array | None] | None:
    """(positions, chances) from SQLite; None where it was built without its mathematical functions."""
    connection = sqlite3.connect(":memory:")
    try:
        if found.link is not None or found.quadratic is not None:
            try:
                connection.execute("SELECT EXP(1), LN(2), POWER(2, 2)")
            except sqlite3.OperationalError:
                return None
        dialect = DIALECTS["sqlite"]
        columns = ", ".join(f"{dialect.identifier(name)} REAL" for name in found.features)
        connection.execute(f"CREATE TABLE data (row_number INTEGER, {columns})")
        marks = ", ".join("?" for _ in range(X.shape[1] + 1))
        connection.executemany(f"INSERT INTO data VALUES ({marks})", [[i, *row] for i, row in enumerate(X.tolist())])
        rows = connection.execute(select(found, "data", dialect) + " ORDER BY s.row_number").fetchall()
    finally:
        connection.close()
    return _read(found, rows)


def run_duckdb(found: Program, X: Array) -> tuple[Array, Array | None] | None:
    """(positions, chances) from DuckDB; None where it is not installed."""
    try:
        import duckdb
    except ImportError:
        return None
    dialect = DIALECTS["duckdb"]
    with duckdb.connect() as connection:
        columns = ", ".join(f"{dialect.identifier(name)} DOUBLE" for name in found.features)
        connection.execute(f"CREATE TABLE data (row_number INTEGER, {columns})")
        marks = ", ".join("?" for _ in range(X.shape[1] + 1))
        connection.executemany(f"INSERT INTO data VALUES ({marks})", [[i, *row] for i, row in enumerate(X.tolist())])
        rows = connection.execute(select(found, "data", dialect) + " ORDER BY s.row_number").fetchall()
    return _read(found, rows)


def _read(found: Program, rows: list[tuple[Any, ...]]) -> tuple[Array, Array | None]:
    labels = [int(label) if isinstance(label, bool) else label for label in found.labels]
    positions = np.array([labels.index(row[-1]) for row in rows])
    K = len(found.classes)
    return positions, None if found.link is None else np.array([row[-1 - K : -1] for row in rows])
