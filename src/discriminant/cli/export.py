"""``discriminant export``: a model as SQL, C, ONNX or JSON.

The SQL reads the raw columns: categories and missing values are dealt with in the query.  C, ONNX and JSON take the
encoded features, and the command says which they are.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from discriminant.cli.modelfile import open_model
from discriminant.cli.say import Voice
from discriminant.data.roles import CATEGORY, NUMBER, OUT
from discriminant.errors import DataError, ParameterError, names
from discriminant.io.c import to_c
from discriminant.io.container import write_whole
from discriminant.io.json_ import to_json
from discriminant.io.program import program
from discriminant.io.sql import DIALECTS, Dialect, to_sql
from discriminant.io.table_model import TableModel


def run(given: Any) -> int:
    """The command."""
    voice = Voice(given.json, given.quiet)
    model = open_model(given.model)
    if given.to == "onnx":
        data = _onnx(model, given.out)
    else:
        makers = {"sql": lambda: _sql(model, given), "c": lambda: to_c(model), "json": lambda: _json(model)}
        data = makers[given.to]().encode()
    if given.to in ("c", "onnx") and model.feature_names != [r.name for r in model.preprocess.rules if r.role != OUT]:
        voice.note(f"Its inputs are the encoded features {names(model.feature_names, 30)}.")
    if given.out == "-":
        sys.stdout.write(data.decode())
    else:
        write_whole(Path(given.out), data)
        voice.note(f"{given.to} written to {given.out}.")
    return 0


def _onnx(model: TableModel, out: str) -> bytes:
    if out == "-":
        raise ParameterError("ONNX is binary; name a file with --out FILE.onnx.")
    from discriminant.io.onnx import to_onnx

    try:
        found = to_onnx(model)
    except ImportError as error:
        raise DataError("ONNX needs the package onnx: pip install onnx.") from error
    return found if isinstance(found, bytes) else bytes(found.SerializeToString())


def _json(model: TableModel) -> str:
    document = json.loads(to_json(model))
    document["columns"] = [
        {"name": rule.name, "role": rule.role, "features": list(rule.features), "fill": rule.fill, "scale": rule.scale,
         "levels": list(rule.levels), "pooled": list(rule.pooled), "shares": list(rule.shares),
         "missing_is_a_level": rule.missing}
        for rule in model.preprocess.rules if rule.role != OUT
    ]  # fmt: skip
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _sql(model: TableModel, given: Any) -> str:
    """The export's query over a first step that encodes the raw columns."""
    if model.preprocess.sparse_width:
        raise DataError("A model of a libsvm file has no named columns that SQL could read; use --to c or json.")
    dialect = DIALECTS[given.dialect]
    taken = {rule.name.lower() for rule in model.preprocess.rules}
    prefix = "encoded_"
    while any(name.startswith(prefix) for name in taken):
        prefix += "_"
    # Encoded features have names of their own, so that the raw columns can stand beside them.
    found = program(model)
    inner = [f"{prefix}{j}" for j in range(len(found.features))]
    body = to_sql(replace(found, features=tuple(inner)), table=f"{prefix}rows", dialect=given.dialect)
    parts = [part for rule in model.preprocess.rules for part in _expressions(rule, dialect)]
    columns = ",\n    ".join(f"{part} AS {dialect.identifier(name)}" for name, part in zip(inner, parts, strict=True))
    source = ".".join(dialect.identifier(part) for part in given.table.split("."))
    first = f"{dialect.identifier(f'{prefix}rows')} AS (\n  SELECT r.*,\n    {columns}\n  FROM {source} AS r\n)"
    return body.replace("WITH ", f"WITH {first}, ", 1)


def _expressions(rule: Any, dialect: Dialect) -> list[str]:
    """One expression over the raw column for each encoded feature."""
    raw = f"r.{dialect.identifier(rule.name)}"
    one, zero = dialect.number(1.0), dialect.number(0.0)
    if rule.role == NUMBER:
        value = f"COALESCE(CAST({raw} AS {dialect.double}), {dialect.number(rule.fill)})"
        if rule.scale != 1.0:
            value = f"(({value} - {dialect.number(rule.fill)}) / {dialect.number(rule.scale)})"
        gone = f"CASE WHEN {raw} IS NULL THEN {one} ELSE {zero} END"
        return [value, gone] if rule.indicate else [value]
    if rule.role != CATEGORY:
        return []
    groups = [[level] for level in rule.levels[1:]] + [list(rule.pooled)] * bool(rule.pooled)
    known = ", ".join(dialect.literal(level) for level in [*rule.levels, *rule.pooled])
    found = []
    for group, share in zip([*groups, *[[]] * rule.missing], rule.shares, strict=True):
        blank = one if rule.missing and not group else zero if rule.missing else dialect.number(share)
        listed = ", ".join(dialect.literal(level) for level in group)
        hit = f"WHEN {raw} IN ({listed}) THEN {one} " if group else ""
        found.append(
            f"CASE WHEN {raw} IS NULL THEN {blank} {hit}WHEN {raw} IN ({known}) THEN {zero} "
            f"ELSE {dialect.number(share)} END"
        )
    return found
