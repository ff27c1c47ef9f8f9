"""What the package does, on the penguins of the Palmer Archipelago: ``make demo``.

Fits the linear methods on four measurements of 342 birds, compares them on rows they were not fitted on, shows the
discriminant axes, explains the decision about one bird, weighs costs and the right to reject, and writes it all to
``demo-output/report.html``.
"""

from __future__ import annotations

import argparse
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import demo_page as html
import numpy as np

import discriminant
from discriminant import datasets

# The methods to compare: public name, what to call it, options.
METHODS: list[tuple[str, str, dict[str, Any]]] = [
    ("LinearDiscriminantAnalysis", "LDA (one covariance)", {}),
    ("QuadraticDiscriminantAnalysis", "QDA (one covariance per class)", {}),
    ("FisherDiscriminant", "Fisher's discriminant", {}),
    ("LeastSquaresClassifier", "Least squares, one of K", {}),
    ("LogisticRegression", "Logistic (softmax)", {}),
    ("Perceptron", "Perceptron, one versus rest *", {"random_state": 0, "average": True}),
]
SCALED = {"Perceptron"}  # its corrections grow with the units of a column, so it sees standardised ones
# What decisions may cost: a sentence, and the options of MinimumRiskClassifier that say the same.
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("an error costs 1, no decision 0.1", {"reject_cost": 0.1}),
    ("a Chinstrap taken for an Adelie costs 20, other errors 1", {"costs": {("Adelie", "Chinstrap"): 20.0}}),
]


@dataclass(frozen=True)
class Result:
    """How one method did on rows it had not seen; NaN where the method has no such figure."""

    label: str
    resubstitution: float
    accuracy: float
    log_loss: float
    leave_one_out: float
    seconds: float

    def cells(self) -> list[str]:
        figures = [self.resubstitution, self.accuracy, self.leave_one_out]
        shown = ["–" if np.isnan(value) else f"{100 * value:.2f} %" for value in figures]
        return [
            self.label,
            *shown,
            "–" if np.isnan(self.log_loss) else f"{self.log_loss:.4f}",
            f"{1e3 * self.seconds:.1f}",
        ]


ACTS = ["costs", "rule", "no decision", "errors", "cost"]
JUDGED = (
    "Ten folds and leave-one-out judge rows that the model was not fitted to. Leave-one-out is in closed form,\n"
    "without fitting once for every row. Log loss is over the ten folds; lower is better. * on standardised columns."
)
PICTURE = (
    "The coloured polygons are where each species is decided: intersections of half-planes, hence convex. A ring marks "
    "a bird that is taken for another species when the model is learned without it."
)
HEAD = ["method", "fitted rows", "10-fold", "leave-one-out", "log loss", "fit, ms"]


def compare(X: np.ndarray, y: np.ndarray) -> list[Result]:
    """Every method on the same ten folds."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    results = []
    for name, label, options in METHODS:
        model = getattr(discriminant, name)(**options)
        results.append(judge(label, make_pipeline(StandardScaler(), model) if name in SCALED else model, X, y))
    return results


def judge(label: str, model: Any, X: np.ndarray, y: np.ndarray) -> Result:
    """Accuracy on the fitted rows, by ten folds and, where it has a closed form, by leave-one-out."""
    from sklearn.metrics import log_loss
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    model.fit(X, y)  # once before the clock runs: the first fit loads modules
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    loss = float("nan")
    if hasattr(model, "predict_proba"):
        loss = log_loss(y, cross_val_predict(model, X, y, cv=folds, method="predict_proba"))
    return Result(
        label,
        resubstitution=model.score(X, y),
        accuracy=float(np.mean(cross_val_predict(model, X, y, cv=folds) == y)),
        log_loss=loss,
        leave_one_out=float(np.mean(model.loo_predict(X, y) == y)) if hasattr(model, "loo_predict") else float("nan"),
        seconds=seconds,
    )


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], text: int = 1) -> str:
    """A table in plain text: the first ``text`` columns to the left, the others to the right."""
    widths = [max(len(row[j]) for row in [head, *rows]) for j in range(len(head))]
    lines = [
        "  ".join(
            cell.ljust(w) if j < text else cell.rjust(w) for j, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in [head, ["─" * w for w in widths], *rows]
    ]
    return "\n".join(line.rstrip() for line in lines)


@dataclass(frozen=True)
class Explanation:
    """Why one row is taken for ``first`` and not for ``second``: g_first − g_second = baseline + Σ contributions."""

    row: int
    first: str
    second: str
    truth: str
    posteriors: np.ndarray
    contributions: np.ndarray  # (d,), measured from the mean row
    baseline: float

    @property
    def score(self) -> float:
        return float(self.baseline + self.contributions.sum())


def explain(model: Any, X: np.ndarray, y: np.ndarray) -> Explanation:
    """The row whose two likeliest classes are closest, and what each attribute says about them."""
    posteriors = model.predict_proba(X)
    ranked = np.argsort(-posteriors, axis=1)[:, :2]
    best, next_best = np.take_along_axis(posteriors, ranked, axis=1).T
    row = int(np.argmin(best - next_best))
    first, second = ranked[row]
    shares = model.discriminant_.contributions(X[row : row + 1], reference=X.mean(axis=0))
    return Explanation(
        row,
        str(model.classes_[first]),
        str(model.classes_[second]),
        str(y[row]),
        posteriors[row],
        shares.values[0, :, first] - shares.values[0, :, second],
        float(shares.baseline[first] - shares.baseline[second]),
    )


def weigh(X: np.ndarray, y: np.ndarray) -> list[list[str]]:
    """For each setting of costs, the most probable class beside the act of least expected cost, on ten folds."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    plain = cross_val_predict(discriminant.LinearDiscriminantAnalysis(), X, y, cv=folds)
    rows = []
    for sentence, options in SETTINGS:
        careful = discriminant.MinimumRiskClassifier(discriminant.LinearDiscriminantAnalysis(), **options).fit(X, y)
        decided = cross_val_predict(careful, X, y, cv=folds)
        for said, rule, acts in ((sentence, "most probable class", plain), ("", "least expected cost", decided)):
            cost = careful.costs_[_places(acts, careful.actions_), _places(y, careful.classes_)].mean()
            none = int(np.sum(~np.isin(acts, careful.classes_)))
            rows.append([said, rule, str(none), str(int(np.sum(acts != y)) - none), f"{cost:.4f}"])
    return rows


def _places(labels: np.ndarray, among: np.ndarray) -> np.ndarray:
    """The index of each label in ``among``."""
    order = np.argsort(among)
    return order[np.searchsorted(among, labels, sorter=order)]


def weights_on_axes(model: Any, data: Any) -> list[list[str]]:
    """The weight of each attribute on the axes, per within-class standard deviation, so that units do not matter."""
    residuals = data.X - model.means_[_places(data.y, model.classes_)]
    scaled = model.scalings_ * residuals.std(axis=0)[:, None]
    return [[name, *(f"{weight:+.2f}" for weight in row)] for name, row in zip(data.feature_names, scaled, strict=True)]


def because(why: Explanation, data: Any) -> tuple[str, list[list[str]]]:
    """A sentence on the posteriors, and the contributions as the rows of a table."""
    chances = ", ".join(f"{name} {p:.1%}" for name, p in zip(data.classes, why.posteriors, strict=True))
    mean = data.X.mean(axis=0)
    rows = [
        [name, f"{value:g}", f"{average:.1f}", f"{share:+.2f}"]
        for name, value, average, share in zip(
            data.feature_names, data.X[why.row], mean, why.contributions, strict=True
        )
    ]
    rows += [
        ["the mean bird itself", "", "", f"{why.baseline:+.2f}"],
        ["sum: the log odds", "", "", f"{why.score:+.2f}"],
    ]
    return f"It is {why.truth}; the posteriors are {chances}.", rows


@dataclass(frozen=True)
class ReportData:
    """Everything that the demo found, ready to be told in the terminal or on the page."""

    data: Any
    model: Any
    results: list[Result]
    axes: list[list[str]]
    why: Explanation
    acts: list[list[str]]


def tell(story: ReportData) -> None:
    """The story in the terminal."""

    def say(title: str, *lines: str) -> None:
        print(f"\n{title}", textwrap.indent("\n".join(lines), "  "), sep="\n")

    data, why, shares = story.data, story.why, story.model.explained_variance_ratio_
    sentence, rows = because(why, data)
    say("THE DATA", str(data), textwrap.fill(data.description, 100))
    say("HOW OFTEN EACH METHOD IS RIGHT", aligned(HEAD, [result.cells() for result in story.results]), "", JUDGED)
    say(
        "THE DISCRIMINANT AXES (weights per within-class standard deviation)",
        aligned(
            ["attribute", "axis 1", "axis 2"], [*story.axes, ["share of the separation", *(f"{s:.1%}" for s in shares)]]
        ),
    )
    say(
        f"THE HARDEST PENGUIN, ROW {why.row}: {why.first.upper()} OR {why.second.upper()}?",
        sentence,
        aligned(["attribute", "value", "mean", f"for {why.first}"], rows),
    )
    say("DECISIONS THAT WEIGH COSTS", aligned(ACTS, story.acts, text=2))


def report(story: ReportData) -> str:
    """The story as a page."""
    data, model, why = story.data, story.model, story.why
    left_out = model.loo_predict(data.X, data.y)
    codes, decided = _places(data.y, model.classes_), _places(left_out, model.classes_)
    counts = np.zeros((len(data.classes), len(data.classes)), dtype=int)
    np.add.at(counts, (codes, decided), 1)
    sentence, measured = because(why, data)
    table = [result.cells() for result in story.results]
    losses = [result.log_loss for result in story.results]
    best = [(int(np.nanargmin(losses)), 4)]
    for column, values in ((2, [r.accuracy for r in story.results]), (3, [r.leave_one_out for r in story.results])):
        best += [(i, column) for i, value in enumerate(values) if value == np.nanmax(values)]
    return html.page(
        "Which penguin is it?",
        data.description,
        html.section("How often each method is right", JUDGED, html.table(HEAD, table, best)),
        html.section("The species on the two discriminant axes", PICTURE, plane(story, codes, decided != codes)),
        '<div class="two"><div>',
        html.section(
            "What LDA takes each species for",
            "Every bird is judged by the model that was learned without it.",
            html.confusion(counts, data.classes),
        ),
        html.section(
            "What the axes are made of",
            "Weights per within-class standard deviation, so that units do not matter.",
            html.table(["attribute", "axis 1", "axis 2"], story.axes),
        ),
        "</div>",
        html.section(
            f"The hardest penguin: {why.first} or {why.second}?",
            f"{sentence} What each measurement says, as a share of the log odds of {why.first} against {why.second}:",
            html.bars(
                [*data.feature_names, "the mean bird itself"],
                [*why.contributions, why.baseline],
                (why.second, why.first),
                (html.COLOURS[data.classes.index(why.second)], html.COLOURS[data.classes.index(why.first)]),
            )
            + html.table(["attribute", "this bird", "mean bird"], [row[:3] for row in measured if row[1]]),
            f"The bars add up to the log odds, {why.score:+.2f}. Each compares the bird with the mean bird.",
        ),
        "</div>",
        html.section(
            "Decisions that weigh costs",
            "The most probable class is the best answer only when all errors cost the same and an answer is a must. "
            "Ten folds; the cost is per bird, on average.",
            html.table(ACTS, story.acts),
        ),
    )


def plane(story: ReportData, codes: np.ndarray, wrong: np.ndarray) -> str:
    """The rows on the discriminant axes.  For three classes the plane holds all that the model uses of a row."""
    data, model = story.data, story.model
    points = model.transform(data.X)
    flat = discriminant.LinearDiscriminantAnalysis().fit(points, data.y)
    low, high = points.min(axis=0) - 0.7, points.max(axis=0) + 0.7
    bounds = ((low[0], high[0]), (low[1], high[1]))
    labels = [
        f"discriminant axis {k + 1} ({share:.0%} of the separation)"
        for k, share in enumerate(flat.explained_variance_ratio_)
    ]
    regions = flat.discriminant_.regions(bounds)
    return html.scatter(
        points, codes, data.classes, regions, bounds, wrong=wrong, chosen=story.why.row, labels=(labels[0], labels[1])
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="folder of the page (%(default)s)")
    output = parser.parse_args().output
    data = datasets.load("penguins")
    model = discriminant.LinearDiscriminantAnalysis().fit(data.X, data.y)
    story = ReportData(
        data,
        model,
        compare(data.X, data.y),
        weights_on_axes(model, data),
        explain(model, data.X, data.y),
        weigh(data.X, data.y),
    )
    tell(story)
    output.mkdir(parents=True, exist_ok=True)
    path = output / "report.html"
    path.write_text(report(story), encoding="utf-8")
    print(f"\nThe same with pictures: {path.resolve().as_uri()}")


if __name__ == "__main__":
    main()
