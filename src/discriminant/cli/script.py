"""The Python that does what ``fit`` did, to the same model."""

from __future__ import annotations

from discriminant.cli.methods import Method
from discriminant.cli.training import Training


def script(source: str, training: Training, method: Method, out: str | None) -> str:
    """A program that reads the table, decides on its columns, fits the method and, where ``out`` is given, saves it."""
    text_columns = [*training.categorical, training.target]
    options = [f"{name}={list(value)!r}" for name, value in
               (("drop", training.drop), ("categorical", training.categorical)) if value]  # fmt: skip
    if method.standardize and training.table.sparse is None:
        options.append("standardize=True")
    extra = "".join(f", {option}" for option in options)
    lines = [
        "import discriminant",
        "from discriminant.data.files import read_table",
        "from discriminant.data.preprocess import Preprocess",
        "from discriminant.io.table_model import TableModel",
        "",
        f"table = read_table({source!r}, text_columns={text_columns!r})",
        f"y, rows = table.labels({training.target!r})",
        "table = table.take(rows)",
        f"rules = Preprocess.fit(table, {training.target!r}{extra})",
        "X, notes = rules.matrix(table)",
        f"classifier = {method.python()}.fit(X, y)",
        f"model = TableModel(rules, classifier, {training.target!r}, {method.name!r})",
        'print(f"training error {(model.predict(table) != y).mean():.4f}")',
    ]
    if out:
        lines.append(f"discriminant.save(model, {out!r})")
    return "\n".join(lines) + "\n"
