"""``to_sql``: a model as one SELECT, in the dialect of DuckDB, SQLite, PostgreSQL, BigQuery or T-SQL.

The query does what ``program`` does with a row, number by number (``cells``), in steps: each has a column for every
number that rests on the steps before and is asked for more than once.  A row with a NULL feature gets NULL answers, and
so does one with NaN or infinity; a model of a table reads the raw columns and fills what is missing as at the fit.
Sums are nested in halves: a thousand columns are ten levels deep and not a thousand.
Names are quoted and text is escaped by the dialect's rules: nothing in a column's or a class's name can end the string.
"""

from __future__ import annotations

import math
import os
import sqlite3
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from discriminant.arguments import MODEL, PATH, TEXT, checked, optional
from discriminant.data.preprocess import ColumnRule
from discriminant.data.roles import NUMBER
from discriminant.errors import DataError, ParameterError, names
from discriminant.io.cells import Cell, Cells, beneath, ordered, written
from discriminant.io.container import documented, write_whole
from discriminant.io.program import Program, category_rows, edge_inputs, program, require_agreement
from discriminant.protocols import Array

Columns = list[tuple[str, str]]  # (column, expression)
# Classes: the steps of the elimination are columns, of which engines have two thousand at most; an engine that writes
# each step into all its uses is lost sooner.
MOST_IN_SQL, MOST_WRITTEN_OUT = 12, 3
MOST_FEATURES = 800  # of a basis: with the table's own columns and the steps within those two thousand
LONGEST_NAME = 60  # bytes of a column's name: PostgreSQL cuts after 63 bytes


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
    string: str = "TEXT"
    nan: str = ""  # how to ask whether a number is NaN, where the engine has such
    once: str = ""  # asks that a step be worked out once, and not written into each of its uses
    rest: str = ""  # how the steps' own columns are left out: by a word, by carrying the row along, or its key

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
            if not -(2**63) <= value < 2**63:
                raise DataError(f"The label {value} has more than 64 bits, which SQL would round; use text.")
            return str(value)
        if isinstance(value, float):
            return self.number(value)
        if value is None:
            return "NULL"
        if not isinstance(value, str) or "\0" in value:
            raise DataError(f"The label {value!r} cannot be written in SQL; use text, numbers or booleans.")
        if self.name == "bigquery":
            escaped = value.replace("\\", "\\\\").replace("'", "\\'")
            return "'" + "".join(c if ord(c) >= 32 else f"\\x{ord(c):02x}" for c in escaped) + "'"
        if self.name == "postgresql" and "\\" in value:  # whatever standard_conforming_strings is set to
            return "E'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
        return ("N'" if self.name == "tsql" else "'") + value.replace("'", "''") + "'"

    def number(self, value: float) -> str:
        if not math.isfinite(value):
            raise DataError(f"The model holds the number {value}, which SQL cannot write.")
        return f"CAST({float(value)!r} AS {self.double})"

    def known(self, value: float) -> str:
        """The number; NULL where there is none."""
        return "NULL" if math.isnan(value) else self.number(value)

    def text(self, expression: str) -> str:
        return f"CAST({expression} AS {self.string})"

    def exact_text(self, text: str) -> str:
        """A text to compare byte by byte: not by a column's collation, nor, in T-SQL, without its last blanks."""
        if self.name == "tsql":
            return f"({text} + N'|') COLLATE Latin1_General_BIN2"
        return f"{text} COLLATE BINARY" if self.name == "sqlite" else text

    def exact_literal(self, value: str) -> str:
        return self.literal(value + "|" if self.name == "tsql" else value)

    def extreme(self, function: str, items: Sequence[str]) -> str:
        if len(items) == 1:
            return items[0]
        if self.name == "tsql":
            rows = ", ".join(f"({item})" for item in items)
            return f"(SELECT {'MAX' if function == 'greatest' else 'MIN'}(v) FROM (VALUES {rows}) AS m(v))"
        return f"{getattr(self, function)}({', '.join(items)})"

    @cached_property
    def words(self) -> dict[str, str | Callable[[list[str]], str]]:
        """How operations are said: NULL where one has no value, and no exponent that PostgreSQL calls an underflow."""
        one, zero, largest = map(self.number, (1.0, 0.0, sys.float_info.max))
        return {
            "add": "({} + {})", "subtract": "({} - {})", "multiply": "({} * {})", "divide": "({} / {})",
            "negative": "(-{})", "absolute": "ABS({})", "square": "POWER({}, 2)", "sqrt": "SQRT({})", "sin": "SIN({})",
            "exp": f"(CASE WHEN {{0}} < -700 THEN {zero} ELSE EXP({{0}}) END)",
            "log": f"(CASE WHEN {{0}} > 0 THEN {self.logarithm}({{0}}) END)",
            "log1p": f"{self.logarithm}({one} + {{}})",
            "greater": "{} > {}", "greater_equal": "{} >= {}", "equal": "{} = {}",
            "where": "(CASE WHEN {0} THEN {1} WHEN NOT ({0}) THEN {2} END)",
            "maximum": "(CASE WHEN {0} > {1} THEN {0} WHEN {0} <= {1} THEN {1} END)",
            "finite": f"CASE WHEN ABS({{0}}) <= {largest} THEN {{0}} END", "sum": lambda parts: f"({total(parts)})",
            "max": partial(self.extreme, "greatest"), "min": partial(self.extreme, "least"),
            "pick": lambda parts: f"CASE {' '.join(map('WHEN {} THEN {}'.format, parts[::2], parts[1::2]))} END",
        }  # fmt: skip

    def features(self, rule: ColumnRule) -> list[str]:
        """One expression over the raw column ``s.name`` for each feature."""
        raw = f"s.{self.identifier(rule.name)}"
        one, zero = self.number(1.0), self.number(0.0)
        if rule.role == NUMBER:
            value = f"CAST({raw} AS {self.double})"
            gone = f"{value} IS NULL" + (f" OR {self.nan.format(value)}" if self.nan else "")
            filled = f"(CASE WHEN {gone} THEN {self.known(rule.fill)} ELSE {value} END)"
            if rule.scale != 1.0:
                filled = f"(({filled} - {self.number(rule.fill)}) / {self.number(rule.scale)})"
            return [filled, f"CASE WHEN {gone} THEN {one} ELSE {zero} END"][: len(rule.features)]
        text = self.exact_text(f"TRIM({self.text(raw)})")  # blanks around a text are no part of it
        levels, rows = category_rows(rule)
        found = []
        for j in range(rows.shape[1]):
            empty = f"{raw} IS NULL OR {text} = {self.exact_literal('')}"
            parts = [f"WHEN {empty} THEN {self.known(rows[-1, j])}"]
            for value in np.unique(rows[:-2, j]):
                same = [level for level, own in zip(levels, rows[:-2, j], strict=True) if own == value]
                written = [text for level in same for text in _spellings(level, levels)]
                listed = ", ".join(map(self.exact_literal, written))
                parts.append(f"WHEN {text} IN ({listed}) THEN {self.number(value)}")
            found.append(f"CASE {' '.join(parts)} ELSE {self.known(rows[-2, j])} END")
        return found


def _spellings(level: str, levels: Sequence[str]) -> list[str]:
    """A level as engines write it: 7 of a column of floats as '7.0', True as 'true' or, of bits, as '1'."""
    truth = {"true": "1", "false": "0"}.get(level.lower())
    others = [f"{level}.0"] if level.isdecimal() else [] if truth is None else [level.lower(), truth]
    return [level, *(other for other in dict.fromkeys(others) if other not in levels)]


DIALECTS = {
    "duckdb": Dialect(
        "duckdb", double="DOUBLE", string="VARCHAR", nan="ISNAN({})", once="MATERIALIZED ", rest="EXCLUDE"
    ),
    "sqlite": Dialect(
        "sqlite", double="REAL", greatest="MAX", least="MIN", booleans=("0", "1"), once="MATERIALIZED ", rest="key"
    ),
    "postgresql": Dialect("postgresql", nan="{} = CAST('NaN' AS DOUBLE PRECISION)", once="MATERIALIZED ", rest="row"),
    "bigquery": Dialect("bigquery", double="FLOAT64", string="STRING", nan="IS_NAN({})", rest="EXCEPT"),
    "tsql": Dialect(
        "tsql", ("[", "]"), "FLOAT", "LOG", booleans=("CAST(0 AS BIT)", "CAST(1 AS BIT)"), string="NVARCHAR(4000)"
    ),
}


@documented
@checked(model=MODEL, path=optional(PATH), table=TEXT, dialect=TEXT)
def to_sql(
    model: Any, path: str | os.PathLike[str] | None = None, *, table: str = "data", dialect: str = "duckdb"
) -> str:
    """The SELECT that adds a prediction and the probability of each class to the rows of a table.

    The columns ``probability_CLASS`` and ``prediction`` come after the table's own.  What is worked out on the way is
    not among them, except in T-SQL, which cannot leave columns out.  SQLite finds rows by rowid, which views lack.
    Columns are found by the model's feature names; those of a model of a table are the raw ones.  Run in SQLite, and in
    DuckDB where that is installed, before it is returned; where sqlglot is installed it also reads the text in the
    dialect asked for.

    Parameters
    ----------
    table : str, default="data"
        The table to read.
    dialect : {"duckdb", "sqlite", "postgresql", "bigquery", ...}, default="duckdb"
        Whose SQL.

    Raises
    ------
    ParameterError
        Where the dialect is unknown; the sentence lists those there are.

    >>> query = to_sql(LinearDiscriminant([0.0, 1.0], ["left", "right"], feature_names=["x"]), table="points")
    >>> "points" in query
    True
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
    """The text of the query: the columns of the table, a probability for each class and the prediction."""
    prefix = _free_prefix(found)
    # SQLite writes every step into all its uses unless told not to; the others only suffer where steps are many.
    once = dialect.once if found.link == "pairs" or found.basis or dialect.name == "sqlite" else ""
    p, decided = _answers(found, dialect)
    steps, spelled = _steps([*p, decided], dialect, prefix)
    start = source = ".".join(dialect.identifier(part) for part in table.split("."))
    key = dialect.identifier(f"{prefix}row")
    first = {"key": f"s._rowid_ AS {key}", "row": f"s AS {key}"}.get(dialect.rest, "s.*")  # how a row is known again
    carried, lines = first, []
    for k, step in enumerate(steps):
        own = dialect.identifier(f"{prefix}step_{k}")
        body = ",\n    ".join(f"{expression} AS {column}" for column, expression in step)
        lines.append(f"{own} AS {once}(\n  SELECT {carried},\n    {body}\n  FROM {source} AS s\n)")
        source, carried = own, "s.*"
    scratch = ", ".join(column for step in steps for column, _ in step)
    rows = {"key": "r.*", "row": f"(s.{key}).*", "": "s.*"}.get(dialect.rest, f"s.* {dialect.rest} ({scratch})")
    joined = f"\nJOIN {start} AS r ON r._rowid_ = s.{key}" if dialect.rest == "key" else ""
    cases = " ".join(f"WHEN {k} THEN {dialect.literal(label)}" for k, label in enumerate(found.labels))
    titles = _probabilities(found, dialect, prefix)
    answers = [f"{spelled(chance)} AS {title}" for chance, title in zip(p, titles, strict=False)]
    answer = ",\n    ".join([rows, *answers, f"CASE {spelled(decided)} {cases} END AS prediction"])
    return f"WITH {', '.join(lines)}\nSELECT {answer}\nFROM {source} AS s{joined}\n"


def _answers(found: Program, dialect: Dialect) -> tuple[list[Cell], Cell]:
    """(the probability of each class, the position of the decision), as the program works them out."""
    most = MOST_IN_SQL if dialect.once else MOST_WRITTEN_OUT
    if found.link == "pairs" and len(found.classes) > most:
        raise DataError(
            f"Coupling the pairs of {len(found.classes)} classes is too long for a query; use to_c, or "
            "coding='softmax'."
        )
    if len(found.basis) > MOST_FEATURES:
        raise DataError(f"The {len(found.basis)} features of the basis are too many for a query; use to_c.")
    raw = [Cell("leaf", text, kept=True) for rule in found.columns for text in dialect.features(rule)]
    raw = raw or [Cell("leaf", f"CAST(s.{dialect.identifier(name)} AS {dialect.double})") for name in found.features]
    X = Cells([raw])
    z: Any = found.outputs(cast(Array, _finite(X) if found.basis else X))
    z = _finite(z)  # some engines count NaN as the largest number
    g = found.class_scores(z)
    p: Any = found.chances(z, g)
    decided: Any = found.decide(g, p)
    return [] if p is None else p.cells[0].tolist(), decided.cells[0]


def _finite(values: Cells) -> Cells:
    """The numbers, NULL where they are not finite; each has a name, since it is asked for twice."""
    for value in values.cells.flat:
        if isinstance(value, Cell):
            value.kept |= value.op != "leaf"
    return Cells(
        [[Cell("finite", value, kept=True) if isinstance(value, Cell) else value for value in values.cells[0]]]
    )


def _steps(roots: list[Cell], dialect: Dialect, prefix: str) -> tuple[list[Columns], Callable[[Cell], str]]:
    """(the columns of each step, each from those before; how a number is spelled by them)."""
    named = {cell: dialect.identifier(f"{prefix}{k}") for k, cell in enumerate(ordered(roots))}
    names = {cell: f"s.{name}" for cell, name in named.items()}
    depth: dict[Cell, int] = {}
    steps: list[Columns] = []
    for cell, name in named.items():
        depth[cell] = max((depth[one] for one in beneath(cell, names)), default=-1) + 1
        steps += [[]] * (depth[cell] == len(steps))
        steps[depth[cell]].append((name, written(cell, names, dialect.words, dialect.number, top=True)))
    return steps, lambda cell: written(cell, names, dialect.words, dialect.number)


def _free_prefix(found: Program) -> str:
    prefix = "discriminant_"
    taken = [*found.features, *(rule.name for rule in found.columns)]
    while any(name.lower().startswith(prefix) for name in taken):
        prefix += "_"
    return prefix


def total(terms: list[str], join: str = " + ") -> str:
    """t₁ + t₂ + …, nested in halves."""
    if len(terms) <= 2:
        return join.join(terms)
    half = len(terms) // 2
    return f"({total(terms[:half], join)}){join}({total(terms[half:], join)})"


def _probabilities(found: Program, dialect: Dialect, prefix: str) -> list[str]:
    """A column for each class, by its label; by its number where a label cannot be written or a name is taken."""
    labels = [f"probability_{label}" for label in found.classes]
    taken = {name.lower() for name in (*found.features, *(rule.name for rule in found.columns))}
    odd = len({name.lower() for name in labels} - taken) < len(labels) or any(
        len(name.encode()) > LONGEST_NAME or not name.isprintable() or set(name) & set("`\\") for name in labels
    )
    return [dialect.identifier(f"{prefix}probability_{k}" if odd else name) for k, name in enumerate(labels)]


def _try(found: Program, dialect: str, text: str) -> None:
    rows, X = edge_inputs(found, 100)
    for engine, run in {"SQLite": run_sqlite, "DuckDB": run_duckdb}.items():
        if (engine == "SQLite" or dialect == "duckdb") and (answer := run(found, rows)) is not None:
            require_agreement(found, X, *answer, engine, 1e-12)
    try:
        import sqlglot
    except ImportError:
        return
    try:
        statements = sqlglot.parse(text, read={"postgresql": "postgres"}.get(dialect, dialect))
    except sqlglot.errors.SqlglotError as error:
        raise DataError(f"The export was refused: it is not valid {dialect} ({str(error)[:120]}).") from error
    if len(statements) != 1:
        raise DataError(f"The export was refused: it is {len(statements)} statements in {dialect}, and not one.")


def _table(found: Program, X: Any, dialect: Dialect) -> tuple[str, list[list[Any]]]:
    """(the columns of a table with their types, its rows): features X (n, d), or raw columns by name."""
    if not isinstance(X, dict):
        columns = ", ".join(f"{dialect.identifier(name)} {dialect.double}" for name in found.features)
        return columns, [[i, *row] for i, row in enumerate(X.tolist())]
    kinds = {rule.name: dialect.double if rule.role == NUMBER else dialect.string for rule in found.columns}
    columns = ", ".join(f"{dialect.identifier(name)} {kinds[name]}" for name in X)
    plain = [[None if isinstance(v, float) and v != v else v for v in values] for values in X.values()]
    return columns, [[i, *row] for i, row in enumerate(zip(*plain, strict=True))]


def run_sqlite(found: Program, X: Any) -> tuple[Array, Array | None] | None:
    """(positions, chances) from SQLite; None where it was built without its mathematical functions."""
    connection = sqlite3.connect(":memory:")
    try:
        if found.link is not None or found.quadratic is not None or found.basis:
            try:
                connection.execute("SELECT EXP(1), LN(2), POWER(2, 2), SIN(1), SQRT(2)")
            except sqlite3.OperationalError:
                return None
        dialect = DIALECTS["sqlite"]
        columns, rows = _table(found, X, dialect)
        connection.execute(f"CREATE TABLE data (row_number INTEGER, {columns})")
        connection.executemany(f"INSERT INTO data VALUES ({', '.join('?' * len(rows[0]))})", rows)
        answer = connection.execute(select(found, "data", dialect) + " ORDER BY r.row_number").fetchall()
    finally:
        connection.close()
    return _read(found, answer)


def run_duckdb(found: Program, X: Any) -> tuple[Array, Array | None] | None:
    """(positions, chances) from DuckDB; None where it is not installed."""
    try:
        import duckdb
    except ImportError:
        return None
    dialect = DIALECTS["duckdb"]
    with duckdb.connect() as connection:
        columns, _ = _table(found, X, dialect)
        connection.execute(f"CREATE TABLE data (row_number INTEGER, {columns})")
        given = X.values() if isinstance(X, dict) else np.asarray(X).T
        arrays = [np.array(values, dtype=object if isinstance(values[0], str) else np.float64) for values in given]
        connection.register("given", {f"c{j}": part for j, part in enumerate([np.arange(len(arrays[0])), *arrays])})
        connection.execute("INSERT INTO data SELECT * FROM given")
        answer = connection.execute(select(found, "data", dialect) + " ORDER BY s.row_number").fetchall()
    return _read(found, answer)


def _read(found: Program, rows: list[tuple[Any, ...]]) -> tuple[Array, Array | None]:
    labels = [int(label) if isinstance(label, bool) else label for label in found.labels]
    positions = np.array([labels.index(row[-1]) for row in rows])
    K = len(found.classes)
    return positions, None if found.link is None else np.array([row[-1 - K : -1] for row in rows])
