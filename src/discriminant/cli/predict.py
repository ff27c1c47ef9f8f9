"""``discriminant predict``: classes and probabilities for the rows of a table, to a file or down a pipe."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from discriminant.cli.console import Console, plain
from discriminant.cli.training import listed, open_model, read_data
from discriminant.data.tables import Column, text_column
from discriminant.errors import DataError, ParameterError, counted
from discriminant.io.container import write_whole
from discriminant.io.table_model import TableModel

CHUNK = 50_000


def run(given: Namespace) -> int:
    """The command."""
    console = Console(given.json, given.quiet)
    if given.out.endswith((".xlsx", ".xls", ".arrow", ".feather", ".json", ".jsonl")):
        raise ParameterError(f"--out {given.out}: predictions are written as CSV, .csv.gz or .parquet.")
    model = open_model(given.model, given.costs)
    wanted = listed(given.keep)
    table = read_data(given, [*model.preprocess.text_columns, *wanted])  # as text: an id keeps its zeros
    console.note(*table.notes)
    kept = list(table.columns) if given.keep == "all" else [table.column(name) for name in wanted]
    X, notes = model.matrix(table)
    console.note(*notes)
    answers = [*kept, *_answers(model, X, given.proba, {column.name for column in kept})]
    if given.json:
        names = [column.name for column in answers]
        rows = zip(*(_plain_values(column) for column in answers), strict=True)
        console.document({"predictions": [dict(zip(names, row, strict=True)) for row in rows]})
        return 0
    _write(given.out, answers)
    if given.out != "-":
        console.note(f"{counted(table.n_rows, 'prediction')} written to {given.out}.")
    return 0


def _answers(model: TableModel, X: Any, proba: bool, taken: set[str]) -> list[Column]:
    def free(name: str) -> str:
        while name in taken:
            name += "_"
        return name

    answers = [text_column(free("prediction"), map(str, model.decide(X).tolist()))]
    if proba:
        chances = model.chances(X)
        if chances is None:
            raise ParameterError(f"{model.method} gives no probabilities; fit one that does, such as lda or logistic.")
        labels = map(str, model.classes_.tolist())
        answers += [Column(free(f"P({label})"), "number", chances[:, k]) for k, label in enumerate(labels)]
    return answers


def _plain_values(column: Column) -> list[Any]:
    return list(plain(column.values)) if column.kind == "number" else column.texts()


def _write(out: str, columns: list[Column]) -> None:
    if out.endswith((".parquet", ".pq")):
        write_whole(Path(out), _parquet(columns))
    elif out == "-":
        for part in _csv(columns):
            sys.stdout.write(part)
    else:
        data = "".join(_csv(columns)).encode()
        write_whole(Path(out), gzip.compress(data, 6, mtime=0) if out.endswith(".gz") else data)


def _csv(columns: list[Column]) -> Iterator[str]:
    """The table as text, a stretch of rows at a time."""
    n = len(columns[0])
    for start in range(-1, n, CHUNK):
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        if start < 0:
            writer.writerow([column.name for column in columns])
        rows = np.arange(max(start, 0), min(start + CHUNK, n))
        writer.writerows(zip(*(column.take(rows).texts() for column in columns), strict=True))
        yield buffer.getvalue()


def _parquet(columns: list[Column]) -> bytes:
    try:
        import pyarrow as pa
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise DataError("Parquet needs pyarrow: pip install pyarrow, or write CSV.") from error
    table = pa.table({column.name: _plain_values(column) for column in columns})
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink)
    return bytes(sink.getvalue())
