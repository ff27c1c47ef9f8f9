"""``discriminant export``: a model as SQL, C, ONNX or JSON.

Each reads the raw columns of the table: categories and missing values are dealt with in the query, the graph, the C
function or the document.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from discriminant.cli.console import Console
from discriminant.cli.training import open_model
from discriminant.data.roles import OUT
from discriminant.errors import DataError, ParameterError, names
from discriminant.io.c import to_c
from discriminant.io.container import write_whole
from discriminant.io.json_ import to_json
from discriminant.io.onnx import to_onnx
from discriminant.io.sql import to_sql


def run(given: Namespace) -> int:
    """The command."""
    console = Console(given.json, given.quiet)
    model = open_model(given.model)
    if given.to == "onnx":
        if given.out == "-":
            raise ParameterError("ONNX is binary; name a file with --out FILE.onnx.")
        data = to_onnx(model)
    elif given.to == "sql":
        if model.preprocess.sparse_width:
            raise DataError("A model of a libsvm file has no named columns that SQL could read; use --to c or json.")
        data = to_sql(model, table=given.table, dialect=given.dialect).encode()
    else:
        data = (to_c(model) if given.to == "c" else to_json(model) + "\n").encode()
    if given.to in ("c", "onnx"):
        columns = [rule.name for rule in model.preprocess.rules if rule.role != OUT]
        inputs = f"the columns {names(columns, 30)}" if columns else "the features of the file"
        console.note(f"Its inputs are {inputs}.")
    if given.out == "-":
        sys.stdout.write(data.decode())
    else:
        write_whole(Path(given.out), data)
        console.note(f"{given.to.upper()} written to {given.out}.")
    return 0
