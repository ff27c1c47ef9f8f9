"""``to_sql``: a model as one SELECT, in the dialect of DuckDB, SQLite, PostgreSQL, BigQuery or T-SQL.

The query has a step for each line of ``program``: scores, class scores, probabilities, decision.  A row with a NULL
feature gets NULL answers, and so does one with NaN or infinity; a model of a table reads the raw columns and fills what
is missing as at the fit.  Sums are nested in halves: a thousand columns are ten levels deep and not a thousand.
Names are quoted and text is escaped by the dialect's rules: nothing in a column's or a class's name can end the string.
"""

from __future__ import annotations

import math
import os
import sqlite3
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from discriminant.arguments import MODEL, PATH, TEXT, checked, optional
from discriminant.codings import pairs
from discriminant.data.preprocess import ColumnRule
from discriminant.data.roles import NUMBER
from discriminant.errors import DataError, ParameterError, names
from discriminant.io.container import documented, write_whole
from discriminant.io.formulas import printed
from discriminant.io.program import Program, category_rows, edge_inputs, program, require_agreement
from discriminant.protocols import Array

Columns = list[tuple[str, str]]  # (column, expression)
Steps = list[tuple[str, Columns]]  # (name of the step, its columns)
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
    start = source = ".".join(dialect.identifier(part) for part in table.split("."))
    key = dialect.identifier(f"{prefix}row")
    first = {"key": f"s._rowid_ AS {key}", "row": f"s AS {key}"}.get(dialect.rest, "s.*")  # how a row is known again
    kept, lines, scratch = first, [], []
    steps: Steps = []
    if found.columns:
        inner = tuple(f"{prefix}x{j}" for j in range(len(found.features)))
        parts = [part for rule in found.columns for part in dialect.features(rule)]
        steps.append(("x", list(zip(map(dialect.identifier, inner), parts, strict=True))))
        found = replace(found, features=inner)
    writer = _Writer(found, dialect, prefix)
    if found.basis:
        steps += writer.features()
    steps += [("z", writer.scores()), ("y", writer.finite()), ("g", writer.classes()), *writer.exponents()]
    steps.append(("p", writer.chances()))
    for name, columns in steps:
        if columns:
            own = dialect.identifier(f"{writer.prefix}step_{name}")
            body = ",\n    ".join(f"{expression} AS {column}" for column, expression in columns)
            lines.append(f"{own} AS {once}(\n  SELECT {kept},\n    {body}\n  FROM {source} AS s\n)")
            source, kept = own, "s.*"
            scratch += [column for column, _ in columns] * (name != "p")
    chances = [f"s.{column}" for column, _ in writer.chances()]
    rows = {
        "key": ["r.*", *chances],
        "row": [f"(s.{key}).*", *chances],
        "": ["s.*"],
    }.get(dialect.rest, [f"s.* {dialect.rest} ({', '.join(scratch)})"])
    joined = f"\nJOIN {start} AS r ON r._rowid_ = s.{key}" if dialect.rest == "key" else ""
    answer = ",\n    ".join([*rows, f"{writer.decision()} AS prediction"])
    return f"WITH {', '.join(lines)}\nSELECT {answer}\nFROM {source} AS s{joined}\n"


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


@dataclass(frozen=True)
class _Writer:
    found: Program
    dialect: Dialect
    prefix: str

    def column(self, kind: str, *index: int | str) -> str:
        return self.dialect.identifier(self.prefix + kind + "_".join(map(str, index)))

    def named(self, kind: str, expressions: Iterable[str]) -> Columns:
        """The columns of a step, in order."""
        return [(self.column(kind, k), expression) for k, expression in enumerate(expressions)]

    def read(self, kind: str, count: int) -> list[str]:
        """The columns of a step before."""
        return [f"s.{self.column(kind, k)}" for k in range(count)]

    def _affine(self, weights: Array, constant: float, inputs: list[str]) -> str:
        terms = [f"{self.dialect.number(w)} * {x}" for w, x in zip(weights, inputs, strict=True) if w != 0]
        return total([*terms, self.dialect.number(constant)])

    def _inputs(self) -> list[str]:
        count, quote, double = len(self.found.center), self.dialect.identifier, self.dialect.double
        own = [self.column("f", j) for j in range(count)] if self.found.basis else map(quote, self.found.features)
        pairs = zip(own, self.found.center, strict=True)
        return [f"(CAST(s.{name} AS {double}) - {self.dialect.number(c)})" for name, c in pairs]

    def features(self) -> Steps:
        """The steps to φ(x): the columns as numbers, NULL where they are not finite, then the formulas."""
        found, double, largest = self.found, self.dialect.double, self.dialect.number(sys.float_info.max)
        if len(found.basis) > MOST_FEATURES:
            raise DataError(f"The {len(found.basis)} features of the basis are too many for a query; use to_c.")
        given = [f"CAST(s.{self.dialect.identifier(name)} AS {double})" for name in found.features]
        raw = self.named("d", (f"CASE WHEN ABS({x}) <= {largest} THEN {x} END" for x in given))
        values = (printed(formula, self.words, self.dialect.number, total) for formula in found.basis)
        return [("d", raw), ("f", self.named("f", values))]

    @cached_property
    def words(self) -> dict[str, str]:
        """How formulas are said: NULL where one has no value, and no exponent that PostgreSQL calls an underflow."""
        one, zero = self.dialect.number(1.0), self.dialect.number(0.0)
        x = f"s.{self.column('d', '{0}')}"
        return {
            "x": x, "dot": f"{{1}} * ({x} - {{2}})", "-": "({} - {})", "/": "({} / {})",
            ">": f"(CASE WHEN {{0}} > {{1}} THEN {one} WHEN {{0}} <= {{1}} THEN {zero} END)",
            ">=": f"(CASE WHEN {{0}} >= {{1}} THEN {one} WHEN {{0}} < {{1}} THEN {zero} END)",
            "exp": f"(CASE WHEN {{0}} < -700 THEN {zero} ELSE EXP({{0}}) END)",
            "log": f"(CASE WHEN {{0}} > 0 THEN {self.dialect.logarithm}({{0}}) END)",
            "square": "POWER({}, 2)", "sqrt": "SQRT({})", "sin": "SIN({})",
        }  # fmt: skip

    def scores(self) -> Columns:
        inputs, found, number = self._inputs(), self.found, self.dialect.number
        if found.quadratic is None:
            assert found.weights is not None
            return self.named("z", (self._affine(column[1:], column[0], inputs) for column in found.weights.T))
        rows = []
        for W, u, a in zip(*found.quadratic, strict=True):
            squares = [f"POWER({self._affine(w, -c, inputs)}, 2)" for w, c in zip(W.T, u, strict=True)]
            rows.append(f"{number(a)} + {number(-0.5)} * ({total(squares)})")
        return self.named("z", rows)

    @property
    def q(self) -> int:
        return int(self.found.decode[0].shape[0 if self.found.decoder == "linear" else 1])

    def finite(self) -> Columns:
        """The scores, NULL where a row holds NaN or infinity: some engines count NaN as the largest number."""
        largest = self.dialect.number(sys.float_info.max)
        return self.named("y", (f"CASE WHEN ABS({z}) <= {largest} THEN {z} END" for z in self.read("z", self.q)))

    def classes(self) -> Columns:
        found, z = self.found, self.read("y", self.q)
        first, second = found.decode
        if found.decoder == "linear":
            return self.named("g", (self._affine(w, c, z) for w, c in zip(first.T, second, strict=True)))
        return self.named("g", (self._class(k, z) for k in range(len(found.classes))))

    def _class(self, k: int, z: list[str]) -> str:
        found, number = self.found, self.dialect.number
        first, second = found.decode
        if found.decoder == "nearest":
            squares = [f"POWER({z[j]} - {number(first[k, j])}, 2)" for j in np.flatnonzero(second[k] > 0)]
            return f"{number(-0.5)} * ({total(squares)})"
        agreed = [f"({number(first[k, j])} * ({z[j]} - {number(second[j])}))" for j in np.flatnonzero(first[k])]
        if found.decoder == "unanimous":
            return self.dialect.extreme("least", agreed)
        votes = total([f"(CASE WHEN {a} > 0 THEN 1 ELSE 0 END)" for a in agreed])
        return f"{votes} + ({total(agreed)}) / ({number(3.0)} * ({number(1.0)} + ABS({total(agreed)})))"

    def exponents(self) -> Steps:
        """The steps to what the probabilities are proportional to."""
        found, number = self.found, self.dialect.number
        if found.link is None:
            return []
        if found.link == "pairs":
            return self._pairs()
        each = self.read("g", len(found.classes))
        if found.link == "sigmoid":
            low, log = f"ELSE {number(0.0)} END", self.dialect.logarithm
            each = [f"((CASE WHEN {g} < 0 THEN {g} {low}) - {log}({number(1.0)} + {self._tail(g)}))" for g in each]
        if found.prior_shift is not None:
            each = [f"({g} + {number(h)})" for g, h in zip(each, found.prior_shift, strict=True)]
        top = self.dialect.extreme("greatest", each)
        # An exponent below −700 underflows, which PostgreSQL calls an error.
        terms = (f"(CASE WHEN {g} - {top} < -700 THEN {number(0.0)} ELSE EXP({g} - {top}) END)" for g in each)
        return [("e", self.named("e", terms))]

    def _tail(self, z: str) -> str:
        """e^−|z|."""
        return f"(CASE WHEN ABS({z}) > 700 THEN {self.dialect.number(0.0)} ELSE EXP(-ABS({z})) END)"

    def _pairs(self) -> Steps:
        """[(name of the step, [(column, expression)])] up to the unscaled p in the columns "e"."""
        z, K = self.read("y", self.q), len(self.found.classes)
        most = MOST_IN_SQL if self.dialect.once else MOST_WRITTEN_OUT
        if most < K:
            raise DataError(
                f"Coupling the pairs of {K} classes is too long for a query; use to_c, or coding='softmax'."
            )
        number = self.dialect.number
        one, zero, m = number(1.0), number(0.0), K - 1

        def own(kind: str, *index: int) -> str:
            return f"s.{self.column(kind, *index)}"

        small = map(self._tail, z)
        chance = [f"(CASE WHEN {v} < 0 THEN {e} / ({one} + {e}) ELSE {one} / ({one} + {e}) END)"
                  for v, e in zip(z, small, strict=True)]  # fmt: skip
        order = np.transpose(pairs(K)).tolist()
        steps: Steps = [("r", [(self.column("r", i, j), chance[at]) for at, (i, j) in enumerate(order)])]

        def r(i: int, j: int) -> str:
            return own("r", i, j) if i < j else f"({one} - {own('r', j, i)})"

        def q(i: int, j: int) -> str:
            if i != j:
                return f"(-({r(j, i)} * {r(i, j)}))"
            return f"({total([f'({r(s, i)} * {r(s, i)})' for s in range(K) if s != i])})"

        steps.append(("q", [(self.column("q", i, j), q(i, j)) for i in range(K) for j in range(i, K)]))

        def kept(i: int, j: int) -> str:
            return own("q", min(i, j), max(i, j))

        whole = [(self.column("h0_", i, j), f"{kept(i, j)} - {kept(i, m)} - {kept(m, j)} + {kept(m, m)}")
                 for i in range(m) for j in range(m)]  # fmt: skip
        whole += [(self.column("h0_", i, m), f"{kept(m, m)} - {kept(i, m)}") for i in range(m)]
        steps.append(("h0", whole))
        for s in range(m - 1):
            now, then = f"h{s}_", f"h{s + 1}_"
            columns = [(self.column(then, i, j),
                        f"{own(now, i, j)} - {own(now, i, s)} / {own(now, s, s)} * {own(now, s, j)}")
                       for i in range(s + 1, m) for j in range(s + 1, K)]  # fmt: skip
            steps.append((f"h{s + 1}", columns))
        for i in reversed(range(m)):
            rest = [f"{own(f'h{i}_', i, j)} * {own('u', j)}" for j in range(i + 1, m)]
            taken = f" - ({total(rest)})" if rest else ""
            steps.append((f"u{i}", [(self.column("u", i), f"({own(f'h{i}_', i, m)}{taken}) / {own(f'h{i}_', i, i)}")]))
        steps.append(("um", [(self.column("u", m), f"{one} - ({total([own('u', i) for i in range(m)])})")]))
        shift = np.zeros(K) if self.found.prior_shift is None else self.found.prior_shift
        ends = (f"(CASE WHEN {u} > 0 THEN {u} * {number(float(np.exp(h)))} WHEN {u} <= 0 THEN {zero} END)"
                for u, h in zip(self.read("u", K), shift, strict=True))  # fmt: skip
        return [*steps, ("e", self.named("e", ends))]

    def chances(self) -> Columns:
        if self.found.link is None:
            return []
        each = self.read("e", len(self.found.classes))
        return [(own, f"{e} / ({total(each)})") for own, e in zip(self.probabilities, each, strict=True)]

    @property
    def probabilities(self) -> list[str]:
        """A column for each class, by its label; by its number where a label cannot be written or a name is taken."""
        labels = [f"probability_{label}" for label in self.found.classes]
        taken = {name.lower() for name in (*self.found.features, *(rule.name for rule in self.found.columns))}
        odd = len({name.lower() for name in labels} - taken) < len(labels) or any(
            len(name.encode()) > LONGEST_NAME or not name.isprintable() or set(name) & set("`\\") for name in labels
        )
        return [
            self.dialect.identifier(f"{self.prefix}probability_{k}" if odd else name) for k, name in enumerate(labels)
        ]

    def decision(self) -> str:
        found = self.found
        K = len(found.classes)
        g = self.read("g", K)
        p = [f"s.{own}" for own in self.probabilities]
        labels = [self.dialect.literal(label) for label in found.labels]
        if found.costs is not None:
            risks = [f"({total([f'{self.dialect.number(c)} * {x}' for c, x in zip(row, p, strict=True)])})"
                     for row in found.costs]  # fmt: skip
            best = self.dialect.extreme("least", risks)
            pairs = zip(risks, labels, strict=True)
        elif found.rejects:
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
