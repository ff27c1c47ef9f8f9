"""``discriminant summary``: what a model file holds, for people."""

from __future__ import annotations

import textwrap
from argparse import Namespace
from dataclasses import replace
from typing import Any

import numpy as np

from discriminant.cli.console import Console, bold, percent, table
from discriminant.cli.fit import and_more, roles
from discriminant.cli.training import open_model, read_data
from discriminant.data.roles import CATEGORY, NUMBER, THEY
from discriminant.errors import ParameterError, counted
from discriminant.io.model_file import about
from discriminant.io.table_model import TableModel

MOST = 15


def run(given: Namespace) -> int:
    """The command."""
    console = Console(given.json, given.quiet)
    model = open_model(given.model)
    origin = about(given.model)
    names, weights, outputs = weights_of(model)
    document = {"model": model.method, "target": model.target, "columns": roles(model), "written": origin["written"]}
    table_ = None if given.data is None else inference(given, console)
    if table_ is not None:
        document["inference"] = table_.columns()
    console.document({**model.facts, **document, "features": names, "outputs": outputs, "weights": weights})
    facts = model.facts
    title = f": {facts['title']}" if "title" in facts else ""
    console.show(f"  {bold(model.method)}{title}, for {model.target!r}; written {origin['written']}")
    if "classes" in facts:
        counts = " · ".join(f"{label} {count:,}" for label, count in list(facts["classes"].items())[:12])
        counts += and_more(facts["classes"], 12, " · ")
        console.show(f"  fitted to {facts['source']}, {counted(facts['rows'], 'row')}: {counts}")
    _errors(console, facts)
    kinds = roles(model)
    for kind, word in ((NUMBER, "numbers"), (CATEGORY, "categories")):
        if kinds[kind]:
            console.show(f"  {word}: {', '.join(kinds[kind][:20])}{and_more(kinds[kind], 20, ', ')}")
    for fact, word in (("weights", "weights of the rows"), ("offset", "added to the log odds")):
        if fact in facts:
            console.show(f"  {word}: {facts[fact]}")
    out: dict[str, list[str]] = {}
    for rule in model.preprocess.rules:
        if rule.why and rule.name != facts.get("weights"):
            out.setdefault(rule.why, []).append(rule.name)
    for why, left in out.items():
        reason = THEY.get(why, why) if len(left) > 1 else why
        console.show(f"  left out: {', '.join(left[:20])}{and_more(left, 20, ', ')} ({reason})")
    if weights is not None and table_ is None:
        console.show()
        console.show(weight_table(model, names, weights, outputs, everything=given.all))
    if table_ is not None:
        console.show("\n" + textwrap.indent(str(table_), "  "))
    if facts.get("certificate"):
        console.show("\n  " + facts["certificate"].replace("\n", "\n  "))
    return 0


def inference(given: Namespace, console: Console) -> Any:
    """The table with standard errors, of the model on the rows of --data."""
    from discriminant.io.model_file import load

    model = load(given.model)
    if "summary" not in dir(model.model):  # hidden where the fit has none
        raise ParameterError(f"{model.method} has no standard errors; logistic, lda and least-squares have.")
    table = read_data(given, model.preprocess.text_columns)
    labels, rows = model.labels_of(table)
    table = table.take(rows)
    X, notes = model.matrix(table)
    console.note(*table.notes, *notes)
    weighted = model.facts.get("weights")
    weights = None if weighted is None else table.column(weighted).values
    inner, known = model.model, {}
    if "offset" in model.facts:  # its column is the last, and has no error
        X, known = X[:, :-1], {"offset": X[:, -1]}
        inner = type(inner)(**inner.get_params()).fit(X, labels, sample_weight=weights, **known)
    found = inner.summary(X, labels, weights, **known)
    called = {f"x{j}": name for j, name in enumerate(model.feature_names)}
    scaled = any(rule.scale != 1.0 for rule in model.preprocess.rules)
    unit = ("Numbers count in standard deviations of the training rows.",) if scaled else ()
    return replace(found, terms=[called.get(term, term) for term in found.terms], notes=(*found.notes, *unit))


def _errors(console: Console, facts: dict[str, Any]) -> None:
    parts = []
    if "cross_validation" in facts:
        cv = facts["cross_validation"]
        parts.append(f"cross-validated error {percent(cv['error'])} ± {percent(cv['standard_error'])}")
    if "training_error" in facts:
        parts.append(f"training error {percent(facts['training_error'])}")
    if parts:
        console.show("  " + ", ".join(parts))


def weights_of(model: TableModel) -> tuple[list[str], Any, list[str]]:
    """(names, (1 + d, q) weights with the intercept at zero in row 0, names of the outputs), or None for weights."""
    linear = model.discriminant_
    if linear is None or linear.basis is not None or linear.n_features != len(model.feature_names):
        return model.feature_names, None, []
    labels = [str(label) for label in linear.classes.tolist()]
    weights = np.vstack([np.atleast_1d(linear.intercept), linear.coef.T])
    if weights.shape[1] == 1 and len(labels) == 2:
        return model.feature_names, weights, [labels[1]]
    outputs = labels if weights.shape[1] == len(labels) else [f"output {j + 1}" for j in range(weights.shape[1])]
    return model.feature_names, weights, outputs


def weight_table(model: TableModel, names: list[str], weights: Any, outputs: list[str], *, everything: bool) -> str:
    """The weights, the largest first where not all are shown."""
    order = np.arange(len(names))
    if not everything and len(names) > MOST:
        order = np.argsort(-np.abs(weights[1:]).max(axis=1), kind="stable")[:MOST]
    rows = [[names[j], *(f"{weight:+.4g}" for weight in weights[1 + j])] for j in order]
    rows.append(["(intercept)", *(f"{weight:+.4g}" for weight in weights[0])])
    scaled = any(rule.scale != 1.0 for rule in model.preprocess.rules)
    unit = "weight per standard deviation" if scaled else "weight"
    head = [f"{unit}, for →", *outputs]
    text = table(head, rows)
    rest = len(names) - len(order)
    return text + (f"\n  … and {counted(rest, 'feature')} more; --all shows them." if rest else "")
