"""A table's raw columns in the words of each export: what ``data.preprocess`` does to them, done again.

    number     (v − fill) / scale;  missing: the fill, and 1 in a second feature where there is one
    category   a row of 0 and 1 for a known level, the frequencies of the fit for one not seen; missing: see the rule

Missing is NULL in SQL (and NaN, and an empty text), NaN or a NULL pointer in C, NaN or the empty text in ONNX.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discriminant.data.files import read_frame
from discriminant.data.preprocess import ColumnRule, Preprocess, indicator_table
from discriminant.data.roles import NUMBER
from discriminant.io.program import Program, edge_points
from discriminant.protocols import Array

UNSEEN = "a level that was never seen"


def category_rows(rule: ColumnRule) -> tuple[list[str], Array]:
    """(levels, (levels + 2, features)): the features of each level, of a level not seen, and of a missing value."""
    levels = [*rule.levels, *rule.pooled]
    rows, _ = indicator_table(rule, levels)
    return levels, np.insert(rows, len(levels), rule.shares, axis=0)


def edge_table(found: Program, count: int, dtype: str = "float64") -> tuple[dict[str, list[Any]], Array]:
    """(raw columns, the features made of them): edge points, levels known and unknown, and missing values."""
    rng = np.random.default_rng(1)
    X = edge_points(found, count)
    n, at = len(X), 0
    table: dict[str, list[Any]] = {}
    for rule in found.columns:
        if rule.role == NUMBER:
            values = X[:, at] if rule.scale == 1.0 else X[:, at] * rule.scale + rule.fill
            values = values.astype(dtype).astype(np.float64)
            table[rule.name] = np.where(rng.random(n) < 0.05, np.nan, values).tolist()
        else:
            choices = [*rule.levels, *rule.pooled, UNSEEN, ""]
            table[rule.name] = [choices[int(k)] for k in rng.integers(0, len(choices), n)]
        at += len(rule.features)
    return table, np.asarray(Preprocess(found.columns).matrix(read_frame(table))[0])


def sql_expressions(rule: ColumnRule, dialect: Any) -> list[str]:
    """One expression over the raw column ``r.name`` for each feature."""
    raw = f"r.{dialect.identifier(rule.name)}"
    one, zero = dialect.number(1.0), dialect.number(0.0)
    if rule.role == NUMBER:
        value = f"CAST({raw} AS {dialect.double})"
        gone = f"{value} IS NULL" + (f" OR {dialect.nan.format(value)}" if dialect.nan else "")
        filled = f"(CASE WHEN {gone} THEN {dialect.number(rule.fill)} ELSE {value} END)"
        if rule.scale != 1.0:
            filled = f"(({filled} - {dialect.number(rule.fill)}) / {dialect.number(rule.scale)})"
        return [filled, f"CASE WHEN {gone} THEN {one} ELSE {zero} END"][: len(rule.features)]
    text = dialect.exact_text(dialect.text(raw))
    levels, rows = category_rows(rule)
    found = []
    for j in range(rows.shape[1]):
        parts = [f"WHEN {raw} IS NULL OR {dialect.exact_text(f'TRIM({dialect.text(raw)})')} = "
                 f"{dialect.exact_literal('')} THEN {dialect.number(rows[-1, j])}"]  # fmt: skip
        for value in np.unique(rows[:-2, j]):
            same = [level for level, own in zip(levels, rows[:-2, j], strict=True) if own == value]
            listed = ", ".join(dialect.exact_literal(level) for level in same)
            parts.append(f"WHEN {text} IN ({listed}) THEN {dialect.number(value)}")
        found.append(f"CASE {' '.join(parts)} ELSE {dialect.number(rows[-2, j])} END")
    return found


def c_source(columns: Sequence[ColumnRule], name: str, text: Any, table: Any) -> str:
    """``NAME_encode``: numbers and texts of a raw row → x; and ``NAME_predict_row``, which also decides."""
    numbers = [rule for rule in columns if rule.role == NUMBER]
    words = [rule for rule in columns if rule.role != NUMBER]
    parts = ["\n/* Raw columns: numbers (NAN: missing) and texts (NULL or empty: missing), each in this order. */\n"]
    for kind, rules in (("number", numbers), ("text", words)):
        listed = ", ".join(text(rule.name) for rule in rules) or "0"
        parts.append(f"const char *const {name}_{kind}_columns[{max(len(rules), 1)}] = {{{listed}}};\n")
    body, at = [], 0
    for rule in columns:
        width = len(rule.features)
        if rule.role == NUMBER:
            i = numbers.index(rule)
            fill = float(rule.fill).hex()
            value = f"isnan(numbers[{i}]) ? {fill} : numbers[{i}]"
            if rule.scale != 1.0:
                value = f"(({value}) - {fill}) / {float(rule.scale).hex()}"
            body.append(f"    x[{at}] = {value};\n")
            if width == 2:
                body.append(f"    x[{at + 1}] = isnan(numbers[{i}]) ? 1 : 0;\n")
        else:
            i = words.index(rule)
            levels, rows = category_rows(rule)
            own = [item for item in levels if item != ""]
            parts.append(f"static const char *const levels_{i}[{max(len(own), 1)}] = "
                         f"{{{', '.join(text(item) for item in own) or '0'}}};\n")  # fmt: skip
            kept = np.vstack([rows[[levels.index(item) for item in own]], rows[-2:]]) if own else rows[-2:]
            parts.append(table(f"coded_{i}", kept))
            body.append(f"    choose(texts[{i}], levels_{i}, {len(own)}, coded_{i}, {width}, x + {at});\n")
        at += width
    parts += [
        _C_CHOOSE if words else "",
        f"void {name}_encode(const double *numbers, const char *const *texts, double *x)\n",
        "{\n    (void)numbers;\n    (void)texts;\n",
        *body,
        "}\n\n",
    ]
    parts.append(
        f"int {name}_predict_row(const double *numbers, const char *const *texts, double *scores, double *chances)\n"
        f"{{\n    double x[D];\n    {name}_encode(numbers, texts, x);\n"
        f"    return {name}_predict(x, scores, chances);\n}}\n"
    )
    return "".join(parts)


_C_CHOOSE = """static void choose(const char *given, const char *const *levels, int n, const double *rows, int width,
                   double *x)
{
    int i, j = 0;
    if (given == NULL || given[strspn(given, " \\t\\r\\n")] == 0) j = n + 1;
    else while (j < n && strcmp(given, levels[j])) j++;
    for (i = 0; i < width; i++) x[i] = rows[j * width + i];
}

"""


def onnx_nodes(builder: Any, columns: Sequence[ColumnRule], inputs: Sequence[str], number: int) -> str:
    """The name of x (n, features) in the graph; ``inputs`` are the names of the raw columns there, each (n, 1)."""
    from onnx import TensorProto

    op, constant, parts = builder.op, builder.constant, []
    for rule, name in zip(columns, inputs, strict=True):
        if rule.role == NUMBER:
            value = name if number == TensorProto.DOUBLE else op("Cast", name, to=TensorProto.DOUBLE)
            gone = op("IsNaN", value)
            filled = op("Where", gone, constant(rule.fill), value)
            if rule.scale != 1.0:
                filled = op("Div", op("Sub", filled, constant(rule.fill)), constant(rule.scale))
            parts += [filled, op("Cast", gone, to=TensorProto.DOUBLE)][: len(rule.features)]
            continue
        levels, rows = category_rows(rule)
        keys = ["", *(level for level in levels if level != "")]
        places = [len(levels) + 1, *(j for j, level in enumerate(levels) if level != "")]
        code = op("LabelEncoder", name, domain="ai.onnx.ml", keys_strings=keys, values_int64s=places,
                  default_int64=len(levels))  # fmt: skip
        flat = op("Reshape", code, constant([-1], np.int64))
        parts.append(op("Gather", constant(rows), flat, axis=0))
    return str(parts[0] if len(parts) == 1 else op("Concat", *parts, axis=1))
