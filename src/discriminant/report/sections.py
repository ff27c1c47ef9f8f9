"""The sections of the report, each a function from the report's data to a piece of HTML, or to nothing."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from discriminant.data.roles import CATEGORY, NUMBER
from discriminant.io.table_model import posteriors
from discriminant.protocols import Array
from discriminant.report import svg
from discriminant.report.curves import curves, learning, reliability, thresholds
from discriminant.report.html import (
    Cell,
    bars,
    below,
    cards,
    confusion_table,
    estimate,
    folded,
    heat_table,
    marked,
    section,
    table,
)
from discriminant.report.intervals import class_weights, weight_errors
from discriminant.report.measures import Z, wilson
from discriminant.report.picture import picture
from discriminant.report.report_data import ReportData

MOST_FEATURES = 20
MOST_BESIDE = 5  # classes that stand beside each other in a table of weights
MOST_PAIRS = 12  # classes of which every pair of true and decided class is shown; of more the worst pairs, and a map


def headline(report: ReportData) -> str:
    """The large figures."""
    found = report.measured.summary()
    low, high = found["error_interval"]
    items = [
        (f"{100 * found['error']:.1f} %", f"error by {report.how_measured}; 95 %: {100 * low:.1f} to {100 * high:.1f}"),
        (f"{report.n_rows:,}", "rows" + ("" if report.n_rows == found["rows"] else f"; measured on {found['rows']:,}")),
        (f"{len(report.feature_names):,}", "features"),
        (f"{len(report.classes)}", "classes"),
    ]  # fmt: skip
    if "auc" in found and found["auc"] == found["auc"]:
        items.insert(
            1, (f"{found['auc']:.3f}", "area under the ROC curve" + ("" if len(report.classes) == 2 else ", mean"))
        )
    if "mean_cost" in found:
        items.insert(1, (f"{found['mean_cost']:.3g}", "mean cost of a decision"))
    return cards(items)


def warnings(report: ReportData) -> str:
    if not report.notes:
        return ""
    items = "".join(f"<li>{escape(note)}</li>" for note in report.notes)
    return section("Notes", "What was noticed on the way.", f"<ul>{items}</ul>", kind="warn")


def data(report: ReportData) -> str:
    """The columns: what each is taken for, what is missing, how it is distributed."""
    if report.table is None or report.rules is None or report.rules.sparse_width:
        return section("Data", "", _balance(report))
    rows: list[list[Cell]] = []
    for rule in report.rules.rules[:200]:
        column = report.table.column(rule.name)
        n_missing = int(column.missing.sum())
        share = f"{n_missing:,} ({100 * n_missing / max(len(column), 1):.1f} %)" if n_missing else "–"
        if rule.role == NUMBER:
            values = column.values[~np.isnan(column.values)]
            low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
            about = f"{low + 0.0:.4g} to {high + 0.0:.4g}, mean {rule.fill:.4g}"
            with np.errstate(over="ignore"):
                wide = np.isfinite(high - low) and high > low
            drawn = svg.spark(np.histogram(values, 22)[0]) if wide else ""
        elif rule.role == CATEGORY:
            about = f"{len(rule.levels) + len(rule.pooled)} levels: {', '.join(rule.levels[:5])}"
            about += " …" if len(rule.levels) > 5 else ""
            drawn = svg.spark(np.sort(column.counts)[::-1][:22])
        else:
            about, drawn = rule.why, ""
        rows.append([below(rule.name, rule.role), share, about, (drawn,)])
    body = folded(table(["column", "missing", "values", ""], rows), len(rows), "columns")
    gone = np.array([column.missing for column in report.table.columns])
    sentence = f"{gone.sum():,} values are missing, in {gone.any(axis=0).sum():,} of {report.table.n_rows:,} rows."
    body = _balance(report) + "<h3>Columns</h3>" + body
    return section("Data", sentence if gone.any() else "Nothing is missing.", body)


def _balance(report: ReportData) -> str:
    counts = report.class_counts
    shown = np.argsort(-counts, kind="stable")
    rows: list[list[Cell]] = [
        [marked(k, report.names[k]), f"{counts[k]:,}", f"{100 * counts[k] / counts.sum():.1f} %"] for k in shown
    ]
    return "<h3>Classes</h3>" + folded(table(["class", "rows", "share"], rows), len(rows), "classes")


def tried(report: ReportData) -> str:
    """The methods on the scale of their errors, and what naming the commonest class always would give."""
    if len(report.tried) < 2:
        return ""
    usable = [(t.error, float(np.nan_to_num(t.standard_error))) for t in report.tried if not t.refusal]
    low, high = min(e - spread for e, spread in usable), max(e + spread for e, spread in usable)
    ends = max(0.0, low - 0.1 * (high - low)), high + 0.1 * (high - low)  # points need no zero, and differ more without
    rows: list[list[Cell]] = []
    for t in report.tried:
        if t.refusal:
            rows.append([below(t.name, t.title), t.refusal, ('<td class="bar wide"></td>',), "–"])
            continue
        spread = float(np.nan_to_num(t.standard_error))
        fill = "var(--good)" if t.chosen else "var(--axis)"
        drawn = svg.scale(t.error, ends, t.error - spread, t.error + spread, fill=fill, bar=False)
        said = f"{100 * t.error:.1f} % ± {100 * spread:.1f}"
        loss = "–" if t.log_loss != t.log_loss else f"{t.log_loss:.3f}"
        rows.append([below(t.name, t.title), said, (f'<td class="bar wide">{drawn}</td>',), loss])
    error, log_loss = report.measured.baseline[:2]
    name = below("baseline", "always the commonest class")
    rows.append([name, f"{100 * error:.1f} %", ('<td class="bar wide"></td>',), f"{log_loss:.3f}"])
    chosen = next((i for i, t in enumerate(report.tried) if t.chosen), -1)
    body = table(["method", "error", ('<th class="wide"></th>',), "log loss"], rows, chosen=chosen)
    caption = "± is one standard error; the simplest method within one of the least error is chosen."
    return section("What was tried", escape(report.why), body, caption)


def projection(report: ReportData) -> str:
    found = picture(report)
    return "" if found is None else section("The classes", "", found[0], escape(found[1]))


def coefficients(report: ReportData) -> str:
    """Weights per standard deviation, with intervals where they can be had."""
    linear, X = report.linear, report.dense
    if linear is None or X is None:
        return ""
    deviations = X.std(axis=0)
    weights = class_weights(linear, deviations)
    errors, how = weight_errors(report, linear, X, deviations)
    order = np.argsort(-np.abs(weights).max(axis=1), kind="stable")[:MOST_FEATURES]
    names = [report.feature_names[j] for j in order]
    said = "What one standard deviation of a feature adds to the score"
    if weights.shape[1] == 1:
        values = weights[order, 0]
        spans = (None, None) if errors is None else (values - Z * errors[order, 0], values + Z * errors[order, 0])
        body = bars(names, values, *spans, fills=(svg.colour(0), svg.colour(1)))
        said += f" of {escape(report.names[1])}, against {escape(report.names[0])}."
    elif weights.shape[1] <= MOST_BESIDE:
        body = heat_table(names, report.names, weights[order], None if errors is None else errors[order])
        said += " of each class, against the mean of the classes."
    else:
        body = _strongest(report, names, weights[order], None if errors is None else errors[order])
        said += f" of a class, against the mean of the classes: the largest and the least of {len(report.names)}."
    rest = len(report.feature_names) - len(order)
    caption = "The largest first" + (f"; {rest} smaller ones are not shown." if rest > 0 else ".")
    if errors is not None:
        kind = "Whiskers are 95 % intervals" if weights.shape[1] == 1 else "Small numbers are 95 % intervals"
        caption += f" {kind}, {how}."
    return section("Weights", said, body, caption)


def _strongest(report: ReportData, names: list[str], weights: Array, errors: Array | None) -> str:
    """For each feature the classes whose scores it raises and lowers most."""
    rows: list[list[Cell]] = []
    for i, name in enumerate(names):
        cells: list[Cell] = []
        for k in (int(weights[i].argmax()), int(weights[i].argmin())):
            said = estimate(weights[i, k], None if errors is None else errors[i, k])
            cells.append((f"{marked(k, report.names[k])[0]} {said}",))
        rows.append([name, *cells])
    return table(["feature", "speaks for", "speaks against"], rows)


def contributions(report: ReportData) -> str:
    """What moves the scores over all rows, and why one row is decided as it is."""
    linear, X = report.linear, report.dense
    if linear is None or X is None or len(X) < 2:
        return ""
    weights = class_weights(linear, X.std(axis=0))
    spread = np.sqrt((weights**2).mean(axis=1))
    order = np.argsort(-spread, kind="stable")[:12]
    total = float(spread.sum()) or 1.0
    rest = len(spread) - len(order)
    body = "<h3>Over all rows</h3>" + bars(
        [report.feature_names[j] for j in order], 100 * spread[order] / total, unit=" %"
    )
    body += f"<figcaption>The other {rest} features share the rest.</figcaption>" if rest else ""
    body += _one_row(report, X)
    text = "The share of each feature in what moves the scores: |weight| × standard deviation."
    return section("Contributions", text, body)


def _one_row(report: ReportData, X: np.ndarray) -> str:
    """The least certain row, explained."""
    linear = report.linear
    if linear is None:
        return ""
    scores = (X - linear._center) @ linear.class_weights[1:] + linear.class_weights[0]
    ordered = np.sort(scores, axis=1)
    row = int((ordered[:, -1] - ordered[:, -2]).argmin())
    first, second = (int(k) for k in np.argsort(-scores[row])[:2])
    difference = linear.class_weights[1:, first] - linear.class_weights[1:, second]
    parts = difference * (X[row] - X.mean(axis=0))
    order = np.argsort(-np.abs(parts), kind="stable")[:10]
    a, b = report.names[first], report.names[second]
    own = report.names[int(report.codes[row])]
    said = f"Row {row + 1}, labelled {own}, is the least certain: {a} or {b}?"
    chances = posteriors(linear, X[[row]])  # of this fit, as the bars are, not of a fold's
    if chances is not None:
        said += f" The probabilities are {chances[0, first]:.2f} and {chances[0, second]:.2f}."
    mean = float(scores.mean(axis=0)[first] - scores.mean(axis=0)[second])
    named = ["(an average row)", *(f"{report.feature_names[j]} = {report.raw(row, j):.6g}" for j in order)]
    drawn = bars(named, np.r_[mean, parts[order]], fills=(svg.colour(second), svg.colour(first)))
    caption = f"Right: speaks for {a}; left: for {b}. The bars of all features add up to the difference of the scores."
    return f"<h3>One row</h3><p>{escape(said)}</p>{drawn}<figcaption>{escape(caption)}</figcaption>"


def decisions(report: ReportData) -> str:
    """The model beside the base rates; confusion, precision and recall, cost."""
    found = report.measured.summary()
    counts = np.asarray(found["confusion"])
    names, body = report.names, _beside_baseline(report, found)
    if len(names) <= MOST_PAIRS:
        body += confusion_table(counts, names)
    else:
        body += f"<h3>Map of {len(names)} classes</h3>{svg.heat(counts, names)}"
        said = "True classes from the top, decided ones from the left; the deeper, the larger the share."
        body += f"<figcaption>{said}</figcaption>"
    if len(names) > 3:
        body += _worst_pairs(counts, names)
    recall, precision = list(found["recall"].values()), list(found["precision"].values())
    rows: list[list[Cell]] = []
    for k, name in enumerate(names):
        low, high = wilson(float(counts[k, k]), int(counts[k].sum()))
        found_share = below(_percent(recall[k]), f"{100 * low:.1f} to {100 * high:.1f}")
        rows.append([marked(k, name), f"{int(counts[k].sum()):,}", found_share, _percent(precision[k])])
    each = table(["class", "rows", "recall", "precision"], rows)
    caption = (
        "Recall: the share of a class that is found, with its 95 % interval. Precision: the share of those so named "
        "that are right."
    )
    body += f"<h3>Each class</h3>{folded(each, len(names), 'classes')}<figcaption>{caption}</figcaption>"
    if report.costs is not None:
        body += "<h3>Costs</h3>" + _costs(report, counts)
    return section(
        "Decisions", f"By {escape(report.how_measured)}: {found['errors']:,} errors in {found['rows']:,} rows.", body
    )


def _beside_baseline(report: ReportData, found: dict[str, Any]) -> str:
    """The model, and what knows nothing but how frequent the classes are."""
    keys = [key for key in ("error", "log_loss", "brier", "mean_cost") if key in found]
    base = dict(zip(("error", "log_loss", "brier", "mean_cost"), report.measured.baseline, strict=True))
    commonest = report.names[int(np.bincount(report.measured.own).argmax())]
    rows = [
        [name, *(f"{100 * of[key]:.1f} %" if key == "error" else f"{of[key]:.4g}" for key in keys)]
        for name, of in (("this model", found), (f"baseline: always {commonest}", base))
    ]
    heads = {"error": "error", "log_loss": "log loss", "brier": "Brier score", "mean_cost": "mean cost"}
    said = "The baseline's probabilities are the shares of the classes." if len(keys) > 1 else ""
    return table(["", *(heads[key] for key in keys)], rows, chosen=0) + f"<figcaption>{said}</figcaption><br>"


def _worst_pairs(counts: Array, names: list[str], most: int = 10) -> str:
    """The errors that are made most often."""
    wrong = np.where(np.eye(len(names), dtype=bool), 0, counts)
    order = [divmod(int(at), len(names)) for at in np.argsort(-wrong, axis=None, kind="stable")[:most]]
    rows: list[list[Cell]] = [
        [marked(i, names[i]), marked(j, names[j]), f"{wrong[i, j]:,}", _percent(wrong[i, j] / counts[i].sum())]
        for i, j in order
        if wrong[i, j]
    ]
    if not rows:
        return ""
    sentence, others = int(sum(wrong[i, j] for i, j in order)), int((wrong > 0).sum()) - len(rows)
    rest = f" {others} other pairs hold the remaining {int(wrong.sum()) - sentence:,} errors." * (others > 0)
    return (
        f"<h3>Worst confusions</h3>{table(['is', 'decided as', 'rows', 'of its class'], rows)}"
        f"<figcaption>{sentence:,} of {int(wrong.sum()):,} errors.{rest}</figcaption>"
    )


def _percent(share: float) -> str:
    return "–" if share != share else f"{100 * share:.1f} %"


def _costs(report: ReportData, counts: np.ndarray) -> str:
    assert report.costs is not None
    rows = []
    for k, own in enumerate(report.names):
        for j, decided in enumerate(report.names):
            if j != k and (counts[k, j] or report.costs[j, k] != 1):
                cost = float(report.costs[j, k])
                rows.append([own, decided, f"{cost:g}", f"{counts[k, j]:,}", f"{cost * counts[k, j]:,g}"])
    total = float((report.costs.T * counts).sum())
    rows.append(["all", "", "", f"{counts.sum():,}", f"{total:,g}"])
    return table(["is", "decided", "cost each", "rows", "cost"], rows)


def separability(report: ReportData) -> str:
    found = report.extra.get("separability")
    if found is None:
        return ""
    body = table(list(found.head), list(found.rows)[:15]) if found.rows else ""
    rest = len(found.rows) - 15
    caption = found.caption + (f" {rest} more rows of this table are not shown." if rest > 0 else "")
    return section("Separability", f"<b>{escape(found.verdict)}</b>: {escape(found.sentence)}", body, caption)


def proof(report: ReportData) -> str:
    if not report.certificate:
        return ""
    body = "".join(f"<p>{escape(line)}</p>" for line in report.certificate.splitlines())
    return section("Certificate", "What the fit proves about itself.", body)


def program(report: ReportData) -> str:
    if not report.script:
        return ""
    return section("The same in Python", "", f"<pre>{escape(report.script)}</pre>")


SECTIONS = {
    "Notes": warnings, "The classes": projection, "Data": data, "What was tried": tried, "Decisions": decisions,
    "Threshold": thresholds, "ROC, precision–recall and lift": curves, "Calibration": reliability,
    "Weights": coefficients, "Contributions": contributions, "Learning curve": learning, "Separability": separability,
    "Certificate": proof, "The same in Python": program,
}  # fmt: skip
