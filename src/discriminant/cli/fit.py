"""``discriminant fit``: learn from a table, compare methods, say how good the result is, and write it down."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sized
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discriminant.cli.console import Console, bold, percent, table
from discriminant.cli.data_checks import data_checks
from discriminant.cli.methods import Method, automatic, fit_method, method_named
from discriminant.cli.training import Training, listed, read_costs, read_training
from discriminant.data.roles import CATEGORY, NUMBER, OUT
from discriminant.errors import DataError, ParameterError, counted
from discriminant.io.container import write_whole
from discriminant.io.model_file import save
from discriminant.io.table_model import TableModel, classes_of, posteriors
from discriminant.methods import Fit
from discriminant.protocols import Array
from discriminant.report.measures import wilson
from discriminant.thresholds import QUICK_VALUES

if TYPE_CHECKING:
    from discriminant.cli.compare import Comparison, Trial

FOLDS = 5


@dataclass(frozen=True, eq=False)
class Fitted:
    """All that a fit found."""

    training: Training
    method: Method
    model: TableModel
    X: Any
    comparison: Comparison | None
    training_errors: int


def run(given: Namespace) -> int:
    """The command."""
    console = Console(given.json, given.quiet)
    _check_outputs(given)
    training = read_training(given, console)
    fitted = learn(given, training, console)
    written = _write(given, fitted, console)
    _show(given, fitted, console, written)
    return 0


def learn(given: Namespace, training: Training, console: Console) -> Fitted:
    """Compare where that is asked for, then fit the choice to all rows."""
    methods = _methods(given, training)
    rules = training.rules()  # of all rows first: what cannot be read is found in them, and not in those of a fold
    comparison = _compare(given, training, methods, console)
    method = methods[0] if comparison is None or len(methods) == 1 else comparison.chosen.method
    console.progress(f"fitting {method.name} to {counted(training.n, 'row')}")
    rules = training.standardized(rules) if method.standardize else rules
    console.note(*rules.notes)
    X = rules.matrix(training.table)[0]
    inner, notes = fit_method(method, X, training.labels, rules.feature_names, training.weights, training.offset)
    console.note(*notes)
    console.note(*data_checks(X, training.labels, rules.feature_names, training.counts))
    console.done()
    costs = read_costs(given.costs, classes_of(inner))
    if costs is not None and posteriors(inner, X[:1]) is None:
        raise ParameterError(f"Costs need probabilities, and {method.name} has none; use --model lda or logistic.")
    model = TableModel(rules, inner, training.target, method.name, {}, costs)
    decided = model.decide(X)
    wrong = int((decided != training.labels).sum())
    model.facts.update(_facts(training, method, inner, comparison, wrong))
    if costs is not None:
        model.facts["training_cost"] = _mean_cost(costs, model.classes_, decided, training.labels)
        if comparison is not None and (trial := comparison.trial(method)).chances is not None:
            careful = trial.decided(model.classes_, costs)
            error = float((careful != comparison.labels).mean())
            cost = _mean_cost(costs, model.classes_, careful, comparison.labels)
            model.facts["cross_validation"] |= {"mean_cost": cost, "error": error}
    return Fitted(training, method, model, X, comparison, wrong)


def _mean_cost(costs: Array, classes: Array, decided: Array, labels: Array) -> float:
    return float(costs[np.searchsorted(classes, decided), np.searchsorted(classes, labels)].mean())


def _methods(given: Namespace, training: Training) -> list[Method]:
    if given.offset and (given.model != "logistic" or given.script):
        raise ParameterError("--offset goes with --model logistic, and without --script, which knows no offsets.")
    if given.model != "auto":
        return [method_named(given.model, given.parameters)]
    if given.parameters:
        raise ParameterError("--set needs a method to set parameters of; name one with --model.")
    sparse = training.table.sparse
    width = len(training.table.columns) if sparse is None else int(sparse.shape[1])
    return [method_named(name) for name in listed(given.models) or automatic(width, sparse=sparse is not None)]


def _compare(given: Namespace, training: Training, methods: list[Method], console: Console) -> Comparison | None:
    folds = FOLDS if given.cv is None else given.cv
    if folds == 1:
        raise ParameterError("--cv is 1; it needs two folds at least, or 0 for no cross-validation.")
    if len(methods) > 1 and not folds:
        raise ParameterError("Without cross-validation (--cv 0) there is nothing to choose by; name one --model.")
    width = len(training.table.columns) if training.table.sparse is None else 100
    small = training.n * width <= QUICK_VALUES
    if not folds or (len(methods) == 1 and given.cv is None and not small and not given.report):
        return None
    if len(methods) == 1 and given.cv is None and min(training.counts.values()) < 2:
        console.note("A class has one row only, so that there is no cross-validation.")
        return None
    from discriminant.cli.compare import MOST_ROWS, compare

    if training.n > MOST_ROWS:
        console.note(f"The cross-validation uses {MOST_ROWS:,} of {training.n:,} rows; the model is fitted to all.")
    return compare(training, methods, console, folds=folds, seed=given.seed)


def _facts(training: Training, method: Method, inner: Any, comparison: Comparison | None, wrong: int) -> dict[str, Any]:
    proof = inner.certificate if isinstance(inner, Fit) else inner.certificate_
    found: dict[str, Any] = {
        "source": training.table.source, "rows": training.n, "title": method.title, "python": method.python(),
        "classes": {str(label): count for label, count in training.counts.items()},
        "training_error": wrong / training.n, "certificate": str(proof),
    }  # fmt: skip
    columns = {"weights": training.weighted, "offset": training.offset}
    found |= {what: column for what, column in columns.items() if column}
    if comparison is not None:
        trial = comparison.trial(method)
        found["cross_validation"] = {
            "error": trial.error, "standard_error": trial.standard_error, "folds": comparison.folds,
            "rows": len(comparison.rows), "log_loss": trial.log_loss, "base_log_loss": comparison.base_loss,
        }  # fmt: skip
    return found


def _check_outputs(given: Namespace) -> None:
    """Say before the work that an output cannot be written."""
    for path in (given.out, given.report, given.script):
        folder = Path(path).parent if path else Path()
        if not folder.is_dir():
            raise DataError(f"{path} cannot be written: there is no folder {str(folder)!r}.")
        if not os.access(folder, os.W_OK):
            raise DataError(f"{path} cannot be written: the folder {str(folder)!r} does not allow it.")
        if path and Path(path).is_dir():
            raise DataError(f"{path} cannot be written: it is a folder.")


def _write(given: Namespace, fitted: Fitted, console: Console) -> list[str]:
    """Everything is made first and written last, each file whole; what fails leaves nothing new behind."""
    contents: dict[str, bytes] = {}
    if given.script:
        contents[given.script] = script(given, fitted.training, fitted.method, fitted.model.costs).encode()
    if given.report:
        from discriminant.cli.reports import fit_report

        console.progress("writing the report")
        contents[given.report] = fit_report(given, fitted, console.notes).encode()
    made: list[Path] = []
    outputs = [given.out] * bool(given.out) + list(contents)
    try:
        for name in outputs:
            target = Path(name)
            if not target.exists():
                made.append(target)
            if name == given.out:
                save(fitted.model, target, X=fitted.X)
            else:
                write_whole(target, contents[name])
    except BaseException:
        for target in made:
            target.unlink(missing_ok=True)
        raise
    console.done()
    return outputs


def _show(given: Namespace, fitted: Fitted, console: Console, written: list[str]) -> None:
    model, training = fitted.model, fitted.training
    console.document({**model.facts, "model": fitted.method.name, "target": training.target,
                    "columns": roles(model), "compared": compared(fitted.comparison), "written": written})  # fmt: skip
    console.show(overview(fitted))
    comparison = fitted.comparison
    if comparison is not None and len(comparison.trials) > 1:
        console.show()
        console.show(_leaderboard(comparison))
        console.show(f"\n  {bold(comparison.chosen.method.name)} chosen: {comparison.why()}")
    elif comparison is not None:
        trial = comparison.trials[0]
        found = model.facts["cross_validation"]  # of the decisions by cost, where there are costs
        error = f"{percent(found['error'])} ± {percent(trial.standard_error)} ({comparison.folds} folds)"
        console.show(f"  cross-validated error {error}, always the commonest class {percent(comparison.baseline)}")
        if comparison.is_overconfident(trial):
            console.show(f"  {comparison.warning(trial)}")
    low, high = wilson(fitted.training_errors, training.n)
    share = f"{fitted.training_errors:,} of {training.n:,}; 95 % interval {percent(low)} to {percent(high)}"
    console.show(f"  training error {percent(fitted.training_errors / training.n)} ({share})")
    if "training_cost" in model.facts:
        mean_cost = model.facts.get("cross_validation", {}).get("mean_cost")
        folds = "" if mean_cost is None else f", {mean_cost:.4g} (cross-validated)"
        console.show(f"  mean cost of a decision {model.facts['training_cost']:.4g} (training rows){folds}")
    if given.model == "auto":
        console.show("\n  the same in Python:\n")
        console.show(script(given, training, fitted.method, model.costs))
    if written:
        console.show(f"  written: {', '.join(written)}")
    elif given.model == "auto":
        console.show("  nothing was written; add --out FILE for the model, --report FILE.html for the report.")


def overview(fitted: Fitted) -> str:
    """The table and the method in two lines."""
    training, model = fitted.training, fitted.model
    if training.table.sparse is not None:
        columns = counted(model.preprocess.sparse_width, "sparse feature")
    else:
        kinds = roles(model)
        parts = [counted(len(kinds[kind]), word) for kind, word in ((NUMBER, "number"), (CATEGORY, "category"))
                 if kinds[kind]]  # fmt: skip
        parts += [f"{len(kinds[OUT])} left out"] * bool(kinds[OUT])
        columns = ", ".join(parts)
    shown = sorted(model.facts["classes"].items(), key=lambda item: -item[1])
    classes = " · ".join(f"{label} {count:,}" for label, count in shown[:8]) + and_more(shown, 8, " · ")
    rows = f"{training.table.source}: {counted(training.n, 'row')}"
    line = f"  {rows}; {columns}; {counted(len(shown), 'class')} ({classes})"
    return f"{line}\n  {bold(fitted.method.name)}: {fitted.method.title}"


def and_more(items: Sized, most: int, before: str) -> str:
    return f"{before}and {len(items) - most:,} more" if len(items) > most else ""


def roles(model: TableModel) -> dict[str, list[str]]:
    """The columns by what they are for."""
    found: dict[str, list[str]] = {NUMBER: [], CATEGORY: [], OUT: []}
    for rule in model.preprocess.rules:
        found[rule.role].append(rule.name)
    return found


def compared(comparison: Comparison | None) -> list[dict[str, Any]]:
    """The trials as plain values."""
    if comparison is None:
        return []
    return [
        {"model": t.method.name, "error": t.error, "standard_error": t.standard_error, "log_loss": t.log_loss,
         "seconds": t.seconds, "refusal": t.refusal, "chosen": t is comparison.chosen}
        for t in comparison.trials
    ]  # fmt: skip


def _leaderboard(comparison: Comparison) -> str:
    rows = []
    for t in comparison.trials:
        if t.refusal:
            rows.append([t.method.name, t.method.title, "–", "–", "–", "could not be fitted, see below"])
            continue
        loss = "–" if t.log_loss != t.log_loss else f"{t.log_loss:.3f}"
        spread = f"± {percent(t.standard_error)}"
        rows.append([t.method.name, t.method.title, percent(t.error), spread, loss, _bar(t, comparison)])
    rows.append(["(none)", "always the commonest class", percent(comparison.baseline), "", "", ""])
    head = ["model", "what it is", "error", "", "log loss", f"error bars of {comparison.folds} folds"]
    shown = table(head, rows, mark=comparison.trials.index(comparison.chosen))
    return "\n".join([shown, *(f"  {t.method.name}: {t.refusal}" for t in comparison.trials if t.refusal)])


def _bar(trial: Trial, comparison: Comparison) -> str:
    """An error bar on a common scale: ├──●──┤."""
    cells = 24
    spreads = [float(np.nan_to_num(t.standard_error)) for t in comparison.usable]
    low = min(t.error - s for t, s in zip(comparison.usable, spreads, strict=True))
    high = max(t.error + s for t, s in zip(comparison.usable, spreads, strict=True))

    def at(value: float) -> int:
        return round((value - low) / max(high - low, 1e-9) * (cells - 1))

    error, spread = trial.error, float(np.nan_to_num(trial.standard_error))
    line = [" "] * cells
    for j in range(at(error - spread), at(error + spread) + 1):
        line[j] = "─"
    line[at(error - spread)], line[at(error + spread)], line[at(error)] = "├", "┤", "●"
    return "".join(line)


def script(given: Namespace, training: Training, method: Method, costs: Array | None = None) -> str:
    """A program that reads the table, decides on its columns, fits the method and, where ``out`` is given, saves it."""
    na, text_columns = training.columns["na"], [*training.columns["categorical"], training.target]
    options = [f"{name}={list(value)!r}" for name, value in training.columns.items() if value]
    if method.standardize and training.table.sparse is None:
        options.append("standardize=True")
    extra = "".join(f", {option}" for option in options)
    header = ", header=False" if given.no_header else ""
    header += f", encoding={given.encoding!r}" if given.encoding else ""
    missing = f".without({na!r}, {text_columns!r})" if na else ""
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
