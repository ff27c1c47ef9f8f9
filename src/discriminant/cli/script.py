"""The Python that does what ``fit`` did, to the same model."""

from __future__ import annotations

from argparse import Namespace

from discriminant.cli.methods import Method
from discriminant.cli.training import Training
from discriminant.protocols import Array


def script(given: Namespace, training: Training, method: Method, costs: Array | None = None) -> str:
    """A program that reads the table, decides on its columns, fits the method and, where ``out`` is given, saves it."""
    text_columns = [*training.categorical, training.target]
    listed = {"drop": training.drop, "categorical": training.categorical, "na": training.na, "dates": training.dates}
    options = [f"{name}={list(value)!r}" for name, value in listed.items() if value]
    if method.standardize and training.table.sparse is None:
        options.append("standardize=True")
    extra = "".join(f", {option}" for option in options)
    header = ", header=False" if given.no_header else ""
    header += f", encoding={given.encoding!r}" if given.encoding else ""
    missing = f".without({training.na!r}, {text_columns!r})" if training.na else ""
    weights = f", sample_weight=table.column({training.weighted!r}).values" if training.weighted else ""
    decide = "" if costs is None else f", costs=np.array({costs.tolist()!r})"
    lines = [
        *["import numpy as np\n"] * (costs is not None),
        "import discriminant",
        "from discriminant.data.files import read_table",
        "from discriminant.data.preprocess import Preprocess",
        "from discriminant.io.table_model import TableModel",
        "",
        f"table = read_table({given.data!r}, text_columns={text_columns!r}{header}){missing}",
        f"y, rows = table.labels({training.target!r})",
        "table = table.take(rows)",
        f"rules = Preprocess.fit(table, {training.target!r}{extra})",
        "X, notes = rules.matrix(table)",
        f"classifier = {method.python()}.fit(X, y{weights})",
        f"model = TableModel(rules, classifier, {training.target!r}, {method.name!r}{decide})",
        'print(f"training error {(model.predict(table) != y).mean():.4f}")',
    ]
    if given.out:
        lines.append(f"discriminant.save(model, {given.out!r})")
    return "\n".join(lines) + "\n"
