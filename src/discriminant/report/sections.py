"""The sections of the report, each a function from the report's data to a piece of HTML, or to nothing."""

from __future__ import annotations

from html import escape

import numpy as np

from discriminant.data.roles import CATEGORY, NUMBER
from discriminant.data.tables import Table
from discriminant.report import svg
from discriminant.report.html import cards, confusion_table, heat_table, listed, section, table
from discriminant.report.intervals import class_weights, weight_errors
from discriminant.report.measures import Z, calibration, precision_recall, roc, wilson
from discriminant.report.picture import picture
from discriminant.report.report_data import ReportData

MOST_FEATURES = 20
MOST_OPEN = 15  # columns; a longer list is folded


def headline(report: ReportData) -> str:
    """The large figures."""
    found = report.measured.summary()
    low, high = found["error_interval"]
    items = [
        (f"{100 * found['error']:.1f} %", f"error by {report.how_measured}; 95 %: {100 * low:.1f} to {100 * high:.1f}"),
        (f"{len(report.labels):,}", "rows"),
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
    return section("Notes", "What was noticed on the way.", listed(list(report.notes)), kind="warn")


def data(report: ReportData) -> str:
    """The columns: what each is taken for, what is missing, how it is distributed."""
    if report.table is None or report.rules is None or report.rules.sparse_width:
        return section("Data", "", _balance(report))
    rows: list[list[object]] = []
    for rule in report.rules.rules[:200]:
        column = report.table.column(rule.name)
        lost = int(column.missing.sum())
        share = f"{lost:,} ({100 * lost / max(len(column), 1):.1f} %)" if lost else "–"
        if rule.role == NUMBER:
            values = column.values[~np.isnan(column.values)]
            low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
            about = f"{low:.4g} to {high:.4g}, mean {rule.fill:.4g}"
            with np.errstate(over="ignore"):
                wide = np.isfinite(high - low) and high > low
            drawn = svg.spark(np.histogram(values, 22)[0]) if wide else ""
        elif rule.role == CATEGORY:
            about = f"{len(rule.levels) + len(rule.pooled)} levels: {', '.join(rule.levels[:5])}"
            about += " …" if len(rule.levels) > 5 else ""
            drawn = svg.spark(np.sort(column.counts)[::-1][:22], "#7a3fa0")
        else:
            about, drawn = rule.why, ""
        rows.append([rule.name, rule.role, share, about, (drawn,)])
    body = table(["column", "taken as", "missing", "values", ""], rows)
    if len(rows) > MOST_OPEN:
        body = f"<details><summary>{len(rows)} columns</summary>{body}</details>"
    return section("Data", _missing(report.table), _balance(report) + "<h3>Columns</h3>" + body)


def _missing(found: Table) -> str:
    """What is missing, over all columns."""
    gone = [column.missing for column in found.columns]
    total, rows = sum(int(one.sum()) for one in gone), int(np.logical_or.reduce(gone).sum()) if gone else 0
    if not total:
        return "Nothing is missing."
    return f"{total:,} values are missing, in {rows:,} of {found.n_rows:,} rows."


def _balance(report: ReportData) -> str:
    counts = np.bincount(report.codes, minlength=len(report.classes))
    shown = np.argsort(-counts, kind="stable")[:15]
    rows = [[report.names[k], f"{counts[k]:,}", f"{100 * counts[k] / counts.sum():.1f} %"] for k in shown]
    return "<h3>Classes</h3>" + table(["class", "rows", "share"], rows)


def tried(report: ReportData) -> str:
    if len(report.tried) < 2:
        return ""
    usable = [t for t in report.tried if not t.refusal]
    best = min(usable, key=lambda t: t.error)
    spreads = [float(np.nan_to_num(t.standard_error)) for t in usable]
    chosen = next((i for i, t in enumerate(usable) if t.chosen), -1)
    limit = best.error + float(np.nan_to_num(best.standard_error))
    drawn = svg.error_bars([t.name for t in usable], [t.error for t in usable], spreads, chosen, limit)
    rows = [
        [t.name, t.title, "–" if t.refusal else f"{100 * t.error:.1f} % ± {100 * t.standard_error:.1f}",
         "–" if t.log_loss != t.log_loss else f"{t.log_loss:.3f}", t.refusal]
        for t in report.tried
    ]  # fmt: skip
    marked = next((i for i, t in enumerate(report.tried) if t.chosen), -1)
    body = drawn + table(["method", "what it is", "error", "log loss", "remark"], rows, bold=marked)
    caption = "The band is one standard error above the least error; the simplest method inside it is chosen."
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
        low = None if errors is None else values - Z * errors[order, 0]
        high = None if errors is None else values + Z * errors[order, 0]
        body = svg.bars(names, values.tolist(), low, high)
        said += f" of {escape(report.names[1])}, against {escape(report.names[0])}."
    else:
        body = heat_table(names, report.names, weights[order], None if errors is None else errors[order])
        said += " of each class, against the mean of the classes."
    rest = len(report.feature_names) - len(order)
    caption = "The largest first" + (f"; {rest} smaller ones are not shown." if rest > 0 else ".")
    if errors is not None:
        kind = "Whiskers are 95 % intervals" if weights.shape[1] == 1 else "Small numbers are 95 % intervals"
        caption += f" {kind}, {how}."
    return section("Weights", said, body, caption)


def contributions(report: ReportData) -> str:
    """What moves the scores over all rows, and why one row is decided as it is."""
    linear, X = report.linear, report.dense
    if linear is None or X is None or len(X) < 2:
        return ""
    weights = class_weights(linear, X.std(axis=0))
    spread = np.sqrt((weights**2).mean(axis=1))
    order = np.argsort(-spread, kind="stable")[:12]
    total = float(spread.sum()) or 1.0
    body = "<h3>Over all rows</h3>" + svg.bars(
        [report.feature_names[j] for j in order], (100 * spread[order] / total).tolist(), unit=" %"
    )
    body += _one_row(report, X)
    text = "The share of each feature in what moves the scores: |weight| × standard deviation."
    return section("Contributions", text, body)


def _one_row(report: ReportData, X: np.ndarray) -> str:
    """The least certain row, explained."""
    chances = report.measured.chances
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
    if chances is not None and len(chances) == len(X) and np.isfinite(chances[row]).all():
        said += f" The probabilities are {chances[row, first]:.2f} and {chances[row, second]:.2f}."
    mean = float(scores.mean(axis=0)[first] - scores.mean(axis=0)[second])
    named = ["(an average row)", *(f"{report.feature_names[j]} = {report.raw(row, j):.6g}" for j in order)]
    drawn = svg.bars(named, [mean, *parts[order].tolist()])
    caption = f"Right: speaks for {a}; left: for {b}. The bars of all features add up to the difference of the scores."
    return f"<h3>One row</h3><p>{escape(said)}</p>{drawn}<figcaption>{escape(caption)}</figcaption>"


def decisions(report: ReportData) -> str:
    """Confusion, precision and recall, cost."""
    found = report.measured.summary()
    counts = np.asarray(found["confusion"])
    names = report.names
    if len(names) <= 20:
        body = confusion_table(counts, names)
    else:
        body = f"<p>{len(names)} classes: the table of pairs is left out.</p>"
    recall, precision = list(found["recall"].values()), list(found["precision"].values())
    rows = []
    for k, name in enumerate(names[:60]):
        low, high = wilson(float(counts[k, k]), int(counts[k].sum()))
        interval = f"{100 * low:.1f} to {100 * high:.1f} %"
        rows.append([name, f"{int(counts[k].sum()):,}", _percent(recall[k]), interval, _percent(precision[k])])
    head = ["class", "rows", "found (recall)", "95 % interval", "right when named (precision)"]
    body += "<h3>Each class</h3>" + table(head, rows)
    if report.costs is not None:
        body += "<h3>Costs</h3>" + _costs(report, counts)
    return section(
        "Decisions", f"By {escape(report.how_measured)}: {found['errors']:,} errors in {found['rows']:,} rows.", body
    )


def _percent(share: float) -> str:
    return "–" if share != share else f"{100 * share:.1f} %"


def _costs(report: ReportData, counts: np.ndarray) -> str:
    assert report.costs is not None
    names = report.names
    rows = []
    for k, own in enumerate(names):
        for j, decided in enumerate(names):
            if j != k and (counts[k, j] or report.costs[j, k] != 1):
                cost = float(report.costs[j, k])
                rows.append([own, decided, f"{cost:g}", f"{counts[k, j]:,}", f"{cost * counts[k, j]:,g}"])
    total = float((report.costs.T * counts).sum())
    rows.append(["all", "", "", f"{counts.sum():,}", f"{total:,g}"])
    return table(["is", "decided", "cost each", "rows", "cost"], rows)


def curves(report: ReportData) -> str:
    """ROC and precision–recall, of one class against the rest."""
    chances = report.measured.chances
    if chances is None:
        return ""
    shown = [1] if len(report.classes) == 2 else list(range(min(len(report.classes), 6)))
    ends = ((0.0, 1.0), (0.0, 1.0))
    first, second = svg.Plane(ends, 480.0, 420.0), svg.Plane(ends, 480.0, 420.0)
    diagonal = first.line(np.array([0.0, 1.0]), np.array([0.0, 1.0]), svg.LINE, wide=1, dash="5 4")
    left = [first.axes("false positive rate", "true positive rate"), diagonal]
    right = [second.axes("recall", "precision")]
    for place, k in enumerate(shown):
        own = report.measured.own == k
        if own.all() or not own.any():
            continue
        left.append(first.line(*roc(chances[:, k], own), svg.colour(k)))
        right.append(second.line(*precision_recall(chances[:, k], own), svg.colour(k)))
        # Below the diagonal, and in the lower left, both pictures have room.
        style = f'style="fill:{svg.colour(k)}"'
        left.append(svg.text(first.width - 20, 340 - 19 * place, f"● {report.names[k]}", anchor="end", extra=style))
    body = f'<div class="two"><div>{svg.drawing(480, 420, "ROC curve", left)}</div>'
    body += f"<div>{svg.drawing(480, 420, 'Precision and recall', right)}</div></div>"
    what = report.names[1] if len(report.classes) == 2 else "each class against the rest"
    return section("ROC and precision–recall", f"For {escape(what)}, by {escape(report.how_measured)}.", body)


def reliability(report: ReportData) -> str:
    """How often what is said to be p per cent likely happens."""
    chances = report.measured.chances
    if chances is None or len(chances) < 20:
        return ""
    own = report.measured.own
    if len(report.classes) == 2:
        chance, happened, what = chances[:, 1], own == 1, f"the probability of {report.names[1]}"
    else:
        top = chances.argmax(axis=1)
        chance, happened, what = chances.max(axis=1), top == own, "the probability of the likeliest class"
    bins = calibration(chance, happened)
    plane = svg.Plane(((0.0, 1.0), (0.0, 1.0)), 560.0, 420.0)
    parts = [plane.axes(f"predicted: {what}", "observed share")]
    parts.append(plane.line(np.array([0.0, 1.0]), np.array([0.0, 1.0]), svg.LINE, wide=1, dash="5 4"))
    for one in bins:
        (x, low), (_, high), (_, y) = (
            plane(one.predicted, one.low),
            plane(one.predicted, one.high),
            plane(0, one.observed),
        )
        parts.append(f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="{svg.colour(1)}" stroke-width="1.6"/>')
        note = f"{one.count} rows: said {one.predicted:.3f}, seen {one.observed:.3f}"
        inside = f"<title>{escape(note)}</title>"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{svg.colour(1)}">{inside}</circle>')
    found = report.measured.summary()
    gap = sum(one.count * abs(one.predicted - one.observed) for one in bins) / len(chance)
    text = (
        f"Log loss {found['log_loss']:.4f}, Brier score {found['brier']:.4f}; what is predicted and what happens "
        f"differ by {100 * gap:.1f} points on average over {len(bins)} groups of rows."
    )
    caption = "Points on the diagonal mean what they say; bars are 95 % intervals."
    drawn = svg.drawing(560, 420, "Calibration curve", parts)
    return section("Calibration", text, f'<div style="max-width:40rem">{drawn}</div>', caption)


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
    "Weights": coefficients, "Contributions": contributions, "Calibration": reliability,
    "ROC and precision–recall": curves, "Separability": separability, "Certificate": proof,
    "The same in Python": program,
}  # fmt: skip
