"""Sections of probabilities: ROC, precision–recall and lift, the threshold, calibration, and the learning curve."""

from __future__ import annotations

import json
from html import escape

import numpy as np

from discriminant.errors import DiscriminantError
from discriminant.protocols import Array
from discriminant.report import svg
from discriminant.report.html import Cell, section, table
from discriminant.report.measures import auc, average_precision, calibration, calibration_error, precision_recall, roc
from discriminant.report.report_data import ReportData
from discriminant.thresholds import REPORT_WORK

MOST_CURVES = 6
STEPS = 200  # of the threshold from 0 to 1
FOLDS, SIZES = 5, 5  # of the learning curve


def _drawn_classes(report: ReportData) -> tuple[list[int], str]:
    """(classes whose curves are drawn, what was left out): of many those that are separated worst from the rest."""
    chances, own = report.measured.chances, report.measured.own
    assert chances is not None
    areas = {k: auc(chances[:, k], own == k) for k in range(len(report.classes))}
    known = sorted((k for k in areas if areas[k] == areas[k]), key=lambda k: areas[k])
    if len(report.classes) == 2:
        return [1] * bool(known), ""
    if len(known) <= MOST_CURVES:
        return sorted(known), ""
    rest, mean = [areas[k] for k in known[MOST_CURVES:]], np.mean([areas[k] for k in known])
    others = f"areas of the other {len(rest)} are {rest[0]:.4f} to {rest[-1]:.4f}"
    return sorted(known[:MOST_CURVES]), (
        f" Of {len(known)} classes the {MOST_CURVES} with the smallest areas are drawn; the "
        f"{others if len(rest) > 1 else f'area of the other is {rest[0]:.4f}'}, and the mean of all is {mean:.4f}."
    )


def curves(report: ReportData) -> str:
    """ROC, precision–recall and lift, of one class against the rest, with the areas."""
    chances = report.measured.chances
    which, left_out = ([], "") if chances is None else _drawn_classes(report)
    if chances is None or not which:
        return ""
    rows: list[list[Cell]] = []
    n, found = len(chances), {}
    for k in which:
        own = report.measured.own == k
        recall, precision = precision_recall(chances[:, k], own)
        share = own.mean()
        named = recall * own.sum() / np.maximum(precision * n, 1e-300)  # the share of rows that are named
        found[k] = (
            roc(chances[:, k], own),
            (recall, precision),
            (np.where(precision > 0, named, np.nan), precision / share),
        )
        area, mean = auc(chances[:, k], own), average_precision(chances[:, k], own)
        rows.append(
            [(f"{svg.mark(k, line=True)} {svg.words(report.names[k])}",), f"{area:.4f}", f"{mean:.4f}", f"{share:.4f}"]
        )
    top = max(float(lift.max()) for _, _, (_, lift) in found.values())
    panels = [
        ("ROC curve", "false positive rate", "true positive rate", 1.0),
        ("Precision and recall", "recall", "precision", 1.0),
        ("Lift", "share of rows, most likely first", "times the class's share", 1.05 * top),
    ]
    drawn = []
    for i, (title, x_label, y_label, high) in enumerate(panels):
        plane = svg.Plane(((0.0, 1.0), (0.0, high)), 330.0)
        parts = [plane.axes(x_label, y_label), *([plane.diagonal()] if i == 0 else [])]
        for k in which:
            x, y = found[k][i]
            known = ~np.isnan(x)
            parts.append(plane.line(x[known], y[known], svg.colour(k), dash=svg.dash(k)))
        drawn.append(f"<div><h3>{title}</h3>{svg.drawing(plane.height, title, parts)}</div>")
    body = f'<div class="several">{"".join(drawn)}</div>'
    body += table(["class", "AUC", "AP", "share"], rows)
    what = report.names[1] if len(report.classes) == 2 else "each class against the rest"
    text = f"For {escape(what)}, by {escape(report.how_measured)}.{left_out}"
    caption = "AUC: area under the ROC curve. AP: average precision. Share: of the class among the rows, AP by chance."
    return section("ROC, precision–recall and lift", text, body, caption)


def thresholds(report: ReportData) -> str:
    """A slider: recall, precision and cost where a class is decided from probability t on."""
    chances, own = report.measured.chances, report.measured.own
    which = [] if chances is None else _drawn_classes(report)[0]
    if chances is None or not which:
        return ""
    levels = np.arange(STEPS + 1) / STEPS
    counts = []
    for k in which:
        sides = [np.sort(chances[side, k]) for side in (own == k, own != k)]
        above = [(len(side) - np.searchsorted(side, levels - 1e-12)).tolist() for side in sides]
        counts.append([int((own == k).sum()), *above])
    two = len(report.classes) == 2
    miss, alarm = (
        (float(report.costs[0, 1]), float(report.costs[1, 0])) if two and report.costs is not None else (1.0, 1.0)
    )
    start = round(STEPS * alarm / (miss + alarm)) if miss + alarm > 0 else STEPS // 2  # where both sides cost the same
    plane = svg.Plane(((0.0, 1.0), (0.0, 1.0)), 250.0)
    frame = [plane.left, plane.right, plane.top, plane.height - plane.bottom]
    drawn = [plane.axes("threshold", "share"), f'<path data-is="line" stroke="{svg.INK}" stroke-dasharray="5 3"/>']
    names = ("recall", "precision", "cost")
    drawn += [f'<polyline data-is="{name}" class="{name}" fill="none" stroke-width="1.6"/>' for name in names]
    options = "".join(f'<option value="{i}">{escape(report.names[k])}</option>' for i, k in enumerate(which))
    chosen = f'<label>class <select data-is="class">{options}</select></label>' if len(which) > 1 else ""
    number = 'type="number" min="0" step="any"'
    heads = {
        "t": "threshold", "recall": "recall", "precision": "precision", "decided": "rows named", "misses": "misses",
        "alarms": "false alarms", "total": "cost", "best": "cheapest threshold (its cost)",
    }  # fmt: skip
    said = "".join(
        f'<div class="card"><b data-is="said-{key}">–</b><span>{head}</span></div>' for key, head in heads.items()
    )
    sent = escape(json.dumps(counts, separators=(",", ":")))
    legend = "".join(f'<span class="{name}">━ {name}</span>' for name in names)
    slider = f'data-is="at" type="range" min="0" max="{STEPS}" value="{start}"'
    body = (
        f'<div class="threshold" data-counts="{sent}" data-frame="{frame}">'
        f'{chosen}<label>cost of a miss <input data-is="miss" {number} value="{miss:g}"></label>'
        f'<label>cost of a false alarm <input data-is="alarm" {number} value="{alarm:g}"></label>'
        f'<label class="long">threshold <input {slider}></label>'
        f'<div class="cards">{said}</div>'
        f'<p class="legend">{legend}(cost: of its largest)</p>'
        f"{svg.drawing(plane.height, 'Recall, precision and cost at every threshold', drawn)}"
        "<noscript>The slider needs a script, which this viewer does not run.</noscript></div>"
    )
    what = report.names[1] if two else "A class"
    text = f"{escape(what)} is named where its probability is the threshold or more; by {escape(report.how_measured)}."
    return section("Threshold", text, body)


def learning(report: ReportData) -> str:
    """The error of fits to ever more of the rows."""
    found = _learning_curve(report)
    if len(found) < 2:
        return ""
    sizes, tested, spread, trained = (np.array(column) for column in zip(*found, strict=True))
    top = float(max((tested + spread).max(), trained.max())) * 108 or 1.0
    plane = svg.Plane(((0.0, 1.05 * float(sizes.max())), (0.0, top)), 250.0)
    parts = [plane.axes("rows learned from", "error, %"), plane.line(sizes, 100 * trained, svg.LINE, dash="4 3")]
    parts.append(plane.line(sizes, 100 * tested, "var(--good)"))
    for m, error, half in zip(sizes, tested, spread, strict=True):
        note = f"{m:.0f} rows: {100 * error:.1f} % ± {100 * half:.1f}"
        parts.append(
            plane.whisker(m, 100 * max(error - half, 0.0), 100 * (error + half), 100 * error, "var(--good)", note)
        )
    falling = tested[-2] - tested[-1] > spread[-1]
    text = "More rows would probably help." if falling else "More rows of this kind would hardly help."
    caption = (
        "Points: error on rows left out, over five folds, ± one standard error. Dashed: error on the rows learned from."
    )
    return section(
        "Learning curve", text, svg.drawing(plane.height, "Error over the number of rows learned from", parts), caption
    )


def _learning_curve(report: ReportData) -> list[tuple[float, float, float, float]]:
    """(rows, error on rows left out, its standard error, error on the rows learned from) for each size."""
    X, refit = report.dense, report.extra.get("refit")
    if X is None or refit is None or X.size * len(report.classes) > REPORT_WORK:
        return []
    # Rows by chance, but so that every class has its share in every beginning.
    chance, place = np.random.default_rng(0).permutation(len(X)), np.empty(len(X))
    for k in range(len(report.classes)):
        mine = chance[report.codes[chance] == k]
        place[mine] = (np.arange(len(mine)) + 0.5) / len(mine)
    order = np.argsort(place, kind="stable")
    least = 3 * len(X) / max(int(report.class_counts.min()), 1)  # rows for three of the rarest class
    most = (FOLDS - 1) * len(X) // FOLDS
    if not 2 * least < most:
        return []
    sizes = np.geomspace(max(least, most / 20), most, SIZES).astype(int)
    found = []
    for size in sizes.tolist():
        try:
            errors = np.array([_errors(report, X, refit, order, fold, size) for fold in range(FOLDS)])
        except (DiscriminantError, ArithmeticError, ValueError, np.linalg.LinAlgError):
            continue  # too few rows for this method
        (tested, trained), spread = errors.mean(axis=0), errors[:, 0].std(ddof=1) / np.sqrt(FOLDS)
        found.append((float(size), float(tested), float(spread), float(trained)))
    return found


def _errors(report: ReportData, X: Array, refit: object, order: Array, fold: int, size: int) -> tuple[float, float]:
    test = order[fold::FOLDS]
    train = np.delete(order, np.s_[fold::FOLDS])[:size]
    model = refit(X[train], report.labels[train])  # type: ignore[operator]
    wrong = [float((np.asarray(model.predict(X[rows])) != report.labels[rows]).mean()) for rows in (test, train)]
    return wrong[0], wrong[1]


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
    plane = svg.Plane(((0.0, 1.0), (0.0, 1.0)), 330.0)
    parts = [plane.axes(f"predicted: {what}", "observed share"), plane.diagonal()]
    for one in bins:
        note = f"{one.count} rows: said {one.predicted:.3f}, seen {one.observed:.3f}"
        parts.append(plane.whisker(one.predicted, one.low, one.high, one.observed, "var(--good)", note))
    found = report.measured.summary()
    text = (
        f"Log loss {found['log_loss']:.4f}, Brier score {found['brier']:.4f}; what is predicted and what happens "
        f"differ by {100 * calibration_error(bins):.1f} points on average over {len(bins)} groups of rows."
    )
    caption = "Points on the diagonal mean what they say; bars are 95 % intervals."
    return section("Calibration", text, svg.drawing(plane.height, "Calibration curve", parts), caption)
