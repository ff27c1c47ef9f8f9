"""``discriminant evaluate``: a model held against a table with labels; exit status 1 below a required quality."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import Any

from discriminant.cli import DONE, NOT_REACHED
from discriminant.cli.console import Console, percent, table
from discriminant.cli.training import open_model, read_data
from discriminant.errors import ParameterError, counted, names
from discriminant.report.measures import Measured, measure_decided

GATES = ("accuracy", "balanced_accuracy", "auc", "recall:CLASS")
COSTLY = ("error", "log_loss", "brier", "mean_cost")  # better when small: these must not be above the value


def run(given: Namespace) -> int:
    """The command."""
    console = Console(given.json, given.quiet)
    gates = [_gate(text) for text in given.fail_under]
    model = open_model(given.model, given.costs)
    if given.target:
        model = replace(model, target=given.target, preprocess=replace(model.preprocess, target=given.target))
    data = read_data(given, model.preprocess.text_columns)
    console.note(*data.notes)
    labels, rows = model.labels_of(data)
    if len(rows) < data.n_rows:
        console.note(f"{counted(data.n_rows - len(rows), 'row')} without a label left out.")
        data = data.take(rows)
    X, notes = model.matrix(data)
    console.note(*notes)
    result, rejected = measure_decided(model.classes_, labels, model.decide(X), model.chances(X), model.costs)
    console.note(*rejected)
    found = result.summary()
    missed = []
    for name, bound, text in gates:
        value = _value(found, name)
        if not (value <= bound if name in COSTLY else value >= bound):
            missed.append((text, value))
    if given.report:
        from discriminant.cli.reports import write_evaluation

        write_evaluation(given, model, data, X, labels, result, console.notes)
    console.document(
        {**found, "classes": model.classes_.tolist(), "model": model.method, "missed": [text for text, _ in missed]}
    )
    _show(console, result, found)
    for text, value in missed:
        console.show(f"  not reached: {text} (it is {value:.4g})")
    return NOT_REACHED if missed else DONE


def _gate(text: str) -> tuple[str, float, str]:
    name, equals, value = text.rpartition("=")
    if not equals or (name not in (*GATES, *COSTLY) and not name.startswith("recall:")):
        raise ParameterError(f"--fail-under needs NAME=VALUE with NAME {names([*GATES, *COSTLY], 10)}; got {text!r}.")
    try:
        bound = float(value)
    except ValueError:
        bound = float("nan")
    open_ended = name in COSTLY and name != "error"
    if not 0 <= bound <= (float("inf") if open_ended else 1):
        what = "number from 0 on" if open_ended else "share between 0 and 1"
        raise ParameterError(f"--fail-under {text!r}: {value!r} is no {what}.")
    return name, bound, text


def _value(found: dict[str, Any], name: str) -> float:
    """The measure of that name, or a sentence why there is none."""
    if name.startswith("recall:"):
        label = name.partition(":")[2]
        if label not in found["recall"]:
            raise ParameterError(f"--fail-under {name}: the classes are {names(list(found['recall']), 12)}.")
        return float(found["recall"][label])
    if name not in found:
        why = "no costs are given" if name == "mean_cost" else "the model gives no probabilities"
        raise ParameterError(f"There is no {name}, since {why}.")
    return float(found[name])


def _show(console: Console, result: Measured, found: dict[str, Any]) -> None:
    low, high = found["error_interval"]
    console.show(f"  {counted(result.n, 'row')}, {counted(result.errors, 'error')}: {percent(found['error'])} "
               f"(95 % interval {percent(low)} to {percent(high)})")  # fmt: skip
    if "log_loss" in found:
        area = f" · AUC {found['auc']:.4f}" if found["auc"] == found["auc"] else ""  # none of rows of one class
        console.show(f"  log loss {found['log_loss']:.4f} · Brier score {found['brier']:.4f}{area}")
    if "mean_cost" in found:
        console.show(f"  mean cost {found['mean_cost']:.4g}")
    labels = [str(label) for label in result.classes.tolist()]
    console.show()
    counts = found["confusion"]
    if len(labels) <= 12:
        rows = [[name, *(f"{count:,}" for count in counts[k]), percent(found["recall"][name])]
                for k, name in enumerate(labels)]  # fmt: skip
        rows.append(["precision", *(percent(found["precision"][name]) for name in labels), ""])
        console.show(table(["is ↓  decided →", *labels, "recall"], rows))
    else:
        rows = [[name, f"{sum(counts[k]):,}", percent(found["recall"][name]), percent(found["precision"][name])]
                for k, name in enumerate(labels)]  # fmt: skip
        console.show(table(["class", "rows", "recall", "precision"], rows))
