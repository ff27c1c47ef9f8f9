"""The report: one page that needs nothing else, in which everything from outside is escaped; its numbers are right."""

from __future__ import annotations

import base64
import hashlib
import re
import warnings
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from sklearn import metrics
from sklearn.calibration import calibration_curve
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score

import discriminant
from discriminant import datasets, shown
from discriminant.cli import main
from discriminant.errors import DataError
from discriminant.plots import theme
from discriminant.report import make_report
from discriminant.report.intervals import class_weights, information_errors
from discriminant.report.measures import (
    auc,
    average_precision,
    brier,
    calibration,
    log_loss,
    measure,
    precision_recall,
    roc,
    wilson,
)
from discriminant.report.svg import ticks
from discriminant.shown import page_file

EVIL = "<script>alert('x')</script>\"&"
VOID = {"meta", "wbr", "br", "link", "img", "input", "hr"}


class Checker(HTMLParser):
    """Tags balance, nothing is loaded, nothing runs but the page's own script."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text: list[str] = []
        self.scripts: list[str] = []
        self.policy = ""

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        self.policy = self.policy or dict(attributes).get("content", "") * (tag == "meta" and len(attributes) == 2)
        for name, value in attributes:
            assert not name.startswith("on"), name
            assert name not in ("src", "srcset"), (tag, value)
            assert name != "href" or value.startswith("#"), value
            assert "url(" not in (value or "")
        if tag not in VOID and not self.get_starttag_text().endswith("/>"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID and self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_data(self, data):
        (self.scripts if self.open[-1:] == ["script"] else self.text).append(data)


def checked(html: str) -> Checker:
    checker = Checker()
    checker.feed(html)
    assert checker.open == []
    assert not checker.seen & {"iframe", "object", "embed", "link", "form"}
    (script,) = checker.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert checker.policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert not re.search(r"https?://", html)
    return checker


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    own = rng.integers(0, 2, 400)
    score = np.round(rng.normal(size=400) + own, 1)  # with ties
    return score, own.astype(bool)


def test_measures_agree_with_scikit_learn(sample):
    score, own = sample
    p = 1 / (1 + np.exp(-score))
    both = np.column_stack([1 - p, p])
    assert auc(score, own) == pytest.approx(metrics.roc_auc_score(own, score), rel=1e-12)
    assert log_loss(both, own.astype(int)) == pytest.approx(metrics.log_loss(own, p), rel=1e-12)
    assert brier(both, own.astype(int)) == pytest.approx(2 * metrics.brier_score_loss(own, p), rel=1e-12)
    assert average_precision(score, own) == pytest.approx(metrics.average_precision_score(own, score), rel=1e-12)
    across, up, _ = metrics.roc_curve(own, score, drop_intermediate=False)
    np.testing.assert_allclose(roc(score, own), (across, up), atol=1e-12)
    precision, recall, _ = metrics.precision_recall_curve(own, score)
    mine = precision_recall(score, own)
    np.testing.assert_allclose(mine[0], recall[-2::-1], atol=1e-12)
    np.testing.assert_allclose(mine[1], precision[-2::-1], atol=1e-12)


def test_calibration_bins_hold_all_rows_once(sample):
    score, own = sample
    p = 1 / (1 + np.exp(-score))
    bins = calibration(p, own, 5)
    assert sum(one.count for one in bins) == len(p)
    assert sum(one.count * one.observed for one in bins) == pytest.approx(own.sum())
    assert all(a.predicted < b.predicted for a, b in pairwise(bins))
    seen, said = calibration_curve(own, p, n_bins=5, strategy="quantile")
    np.testing.assert_allclose([one.predicted for one in bins], said, atol=0.05)  # ties fall to one side or the other
    np.testing.assert_allclose([one.observed for one in bins], seen, atol=0.12)
    assert len(calibration(np.full(50, 0.5), np.arange(50) % 2 == 0)) == 1


def test_wilson_is_the_inverted_score_test():
    """At both ends |p̂ − p| = z √(p(1−p)/n)."""
    for hits, n in [(3, 50), (49, 50), (20, 100)]:
        for end in wilson(hits, n):
            assert abs(hits / n - end) == pytest.approx(1.959963984540054 * np.sqrt(end * (1 - end) / n), rel=1e-9)


def test_information_errors_are_those_of_the_textbook():
    """Without a penalty: the inverse Fisher information, by finite differences of the log-likelihood."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2)) * [1, 5] + [3, -2]
    y = (rng.random(300) < 1 / (1 + np.exp(-(X @ [1.0, 0.2] - 2)))).astype(int)
    model = discriminant.LogisticRegression(C=np.inf).fit(X, y)
    deviations = X.std(axis=0)
    errors = information_errors(model.discriminant_, X, np.inf, deviations)
    Y = np.column_stack([np.ones(300), X])
    theta = np.r_[model.intercept_, model.coef_[0]]

    def likelihood(t):
        z = Y @ t
        return float((y * z - np.logaddexp(0, z)).sum())

    h, H = 1e-4, np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            a, b = np.eye(3)[i] * h, np.eye(3)[j] * h
            H[i, j] = (
                likelihood(theta + a + b)
                - likelihood(theta + a - b)
                - likelihood(theta - a + b)
                + likelihood(theta - a - b)
            ) / (4 * h * h)
    expected = np.sqrt(np.diagonal(np.linalg.inv(-H)))[1:] * deviations
    np.testing.assert_allclose(errors[:, 0], expected, rtol=1e-3)  # finite differences
    np.testing.assert_allclose(class_weights(model.discriminant_, deviations)[:, 0], model.coef_[0] * deviations)


def test_softmax_errors_are_the_spread_over_samples():
    """Centred weights of three classes: what the information says is what drawing rows again shows."""
    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal(size=(200, 2)) + 2 * np.array([np.cos(a), np.sin(a)]) for a in (0, 2.1, 4.2)])
    y = np.repeat([0, 1, 2], 200)
    model = discriminant.LogisticRegression(C=1.0).fit(X, y)
    errors = information_errors(model.discriminant_, X, 1.0, np.ones(2))
    spread = []
    for seed in range(30):
        rows = np.random.default_rng(seed).integers(0, 600, 600)
        fitted = discriminant.LogisticRegression(C=1.0).fit(X[rows], y[rows])
        spread.append(class_weights(fitted.discriminant_, np.ones(2)))
    np.testing.assert_allclose(errors, np.std(spread, axis=0), rtol=0.5)  # thirty samples say no more


@pytest.mark.filterwarnings("ignore:.*cannot be separated:discriminant.errors.DiscriminantWarning")
@pytest.mark.parametrize("name", ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis", "Perceptron"])
@pytest.mark.parametrize("data", ["iris", "breast_cancer"])
def test_report_of_any_classifier(name, data):
    found = datasets.load(data)
    model = getattr(discriminant, name)().fit(found.X, found.y)
    report = make_report(model, found.X, found.y, feature_names=found.feature_names)
    checker = checked(report.html)
    assert found.feature_names[0] in "".join(checker.text) or name != "LinearDiscriminantAnalysis"
    assert f"{len(found.y):,}" in checker.text
    assert "srcdoc=" in report._repr_html_()


def test_report_takes_frames(tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    iris = datasets.load("iris")
    X = pd.DataFrame(iris.X, columns=iris.feature_names)
    model = discriminant.LinearDiscriminantAnalysis().fit(X, iris.y)
    path = make_report(model, X, iris.y, title="Flowers").save(tmp_path / "r.html")
    assert "petal_length" in path.read_text()


def test_user_text_is_escaped(tmp_path):
    """Names of columns, classes, levels and files may hold anything."""
    import csv

    rng = np.random.default_rng(0)
    path = tmp_path / "a<b>&.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["x" + EVIL, "c" + EVIL, "z", "y" + EVIL])
        for i in range(90):
            k = i % 3
            level = ["u", "v" + EVIL][int(rng.random() < 0.4)]
            writer.writerow([rng.normal() + k, level, rng.normal() - 2 * k, f"class{k}{EVIL}"])
    report = tmp_path / "r.html"
    assert main(["fit", str(path), "-t", "y" + EVIL, "--report", str(report), "-q"]) == 0
    html = report.read_text()
    checker = checked(html)
    assert html.count("<script") == 1
    assert any(EVIL in text for text in checker.text)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["penguins"], ["What was tried", "Decisions", "Calibration", "ROC", "Separability", "Certificate", "Weights"]),
        (["iris", "-m", "qda", "--drop", "sepal_length,sepal_width"], ["petal_width", "Decisions"]),
        (["breast_cancer", "-m", "logistic", "--cost", "malignant:benign=9"], ["Costs", "mean cost", "intervals"]),
        (["iris", "-m", "perceptron", "--cv", "0"], ["the training rows"]),
    ],
)
def test_reports_of_the_command(arguments, words, tmp_path, capsys):
    report = tmp_path / "r.html"
    assert main(["fit", *arguments, "--report", str(report), "-q"]) == 0
    text = " ".join(checked(report.read_text()).text)
    for word in words:
        assert word in text, word
    assert report.stat().st_size < 400_000


def test_report_of_an_evaluation(tmp_path, capsys):
    model, report = str(tmp_path / "m"), tmp_path / "r.html"
    assert main(["fit", "penguins", "-m", "lda", "-o", model, "-q"]) == 0
    assert main(["evaluate", model, "penguins", "--report", str(report), "-q"]) == 0
    assert "the rows of penguins" in " ".join(checked(report.read_text()).text)


def test_ticks_are_round_and_inside():
    for low, high in [(0.0, 1.0), (-3.2, 17.0), (1e-9, 3e-9), (1e8, 1.0001e8), (5.0, 5.0)]:
        found = ticks(low, high)
        assert 1 <= len(found) <= 12
        assert (found >= low - 1e-9 * abs(low)).all()
        assert (found <= high + 1e-9 * abs(high)).all()


ALL = [name for name in discriminant.__all__ if hasattr(getattr(discriminant, name), "fit")]


@pytest.mark.parametrize("name", ALL)
def test_every_classifier_reports_on_itself(name):
    """estimator.report(X, y): what was asked of a report is in it, for every classifier of the package."""
    data = datasets.load("iris")
    X, y = data.X[50:, 2:], data.y[50:]  # two classes that overlap, two features: quick for all
    kind = getattr(discriminant, name)
    model = kind(discriminant.LinearDiscriminantAnalysis()) if name == "MinimumRiskClassifier" else kind()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = model.fit(X, y).report(X, y, feature_names=data.feature_names[2:])
    text = " ".join(checked(report.html).text)
    for words in ("Data", "Nothing is missing", "petal_length", "Decisions", "overlapping", "The witness"):
        assert words in text, words
    if hasattr(model, "certificate_"):
        assert "Certificate" in text
    if hasattr(model, "predict_proba"):
        assert "Calibration" in text
        assert "ROC" in text
    assert "http" not in report.html.replace("http-equiv", "")  # nothing is asked of a network


def test_reports_count_rejected_rows_apart():
    data = datasets.load("penguins")
    model = discriminant.MinimumRiskClassifier(discriminant.LinearDiscriminantAnalysis(), reject_cost=0.1)
    model.fit(data.X, data.y)
    rejected = int((model.predict(data.X) == "reject").sum())
    text = " ".join(checked(model.report(data.X, data.y).html).text)
    assert f"{rejected} of 342 rows are rejected" in text


def test_report_holds_hostile_names_as_text():
    """Names of features and classes, titles, and warnings are words, never markup."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = np.array([f"<img src=x onerror=alert({k})>&\"'" for k in range(3)])[np.arange(90) % 3]
    X[:, 0] += np.arange(90) % 3
    model = discriminant.LinearDiscriminantAnalysis().fit(X, y)
    names = ["<script>alert(1)</script>", 'a" onload="x', "</svg><b>"]
    report = model.report(X, y, feature_names=names, title="</title><script>1</script>")
    checker = checked(report.html)
    assert report.html.count("<script") == 1
    assert "<img" not in report.html
    assert names[0] in "".join(checker.text)
    assert "<script" not in report._repr_html_()


def test_what_cannot_be_reported_is_refused_in_a_sentence():
    data = datasets.load("iris")
    model = discriminant.LinearDiscriminantAnalysis().fit(data.X, data.y)
    with pytest.raises(DataError, match="150 rows and y has 149 labels"):
        model.report(data.X, data.y[:-1])
    with pytest.raises(DataError, match="one label a row"):
        model.report(data.X, np.column_stack([data.y, data.y]))
    with pytest.raises(DataError, match="4 columns and there are 2 names"):
        model.report(data.X, data.y, feature_names=["a", "b"])
    with pytest.raises(DataError, match="not one that the model knows"):
        model.report(data.X[:3], ["setosa", "rose", "setosa"])


def test_intervals_of_many_classes_stand_below_the_weights():
    data = datasets.load("iris")
    model = discriminant.LinearDiscriminantAnalysis().fit(data.X, data.y)
    text = " ".join(checked(model.report(data.X, data.y).html).text)
    assert "95 % intervals, from 100 refits" in text


def test_the_hyperplane_of_separable_classes_is_shown():
    data = datasets.load("iris")
    setosa = np.where(data.y == "setosa", "setosa", "other")
    model = discriminant.LinearDiscriminantAnalysis().fit(data.X, setosa)
    text = " ".join(checked(model.report(data.X, setosa, feature_names=data.feature_names).html).text)
    assert "separable" in text
    assert "Weights under which no row is on the wrong side" in text
    assert "weight for setosa" in text


def test_the_baseline_is_scikit_learns_dummy(sample):
    """What knows only how frequent the classes are: DummyClassifier(strategy="prior")."""
    _, own = sample
    X, costs = np.zeros((len(own), 1)), np.array([[0.0, 1.0], [3.0, 0.0]])
    dummy = DummyClassifier(strategy="prior").fit(X, own)
    found = measure(np.array([False, True]), own, dummy.predict(X), dummy.predict_proba(X), costs)
    summary = found.summary()
    assert found.baseline[:3] == pytest.approx([summary["error"], summary["log_loss"], summary["brier"]], rel=1e-12)
    always = [float(costs[k, own.astype(int)].mean()) for k in (0, 1)]
    assert found.baseline[3] == pytest.approx(min(always), rel=1e-12)


def test_rows_are_counted_as_those_of_the_fit(tmp_path, monkeypatch, capsys):
    """Cross-validation on a sample of the rows does not make the report tell of fewer."""
    monkeypatch.setattr("discriminant.cli.compare.compare.__kwdefaults__", {"most_rows": 200})
    report = tmp_path / "r.html"
    assert main(["fit", "breast_cancer", "-m", "lda", "--cv", "4", "--report", str(report), "-q"]) == 0
    text = " ".join(checked(report.read_text()).text)
    assert "569 rows; measured on 200" in text
    assert "357" in text  # benign rows of the fit
    assert re.search(r"\d+ errors in 200 rows", text)


@pytest.fixture(scope="module")
def letters():
    """26 classes in 8 dimensions, and a discriminant of them."""
    rng = np.random.default_rng(3)
    y = np.arange(2600) % 26
    X = rng.normal(size=(26, 8))[y] * 1.5 + rng.normal(size=(2600, 8))
    names = np.array([chr(65 + k) for k in range(26)])
    return X, names[y], discriminant.LinearDiscriminantAnalysis().fit(X, names[y])


def test_of_many_classes_the_worst_are_told_and_what_is_left_out(letters):
    X, y, model = letters
    predicted, chances = model.predict(X), model.predict_proba(X)
    text = " ".join(checked(model.report(X, y).html).text)
    counts = metrics.confusion_matrix(y, predicted)
    np.fill_diagonal(counts, 0)
    assert f"of {counts.sum()} errors" in text
    assert f"{(counts > 0).sum() - 10} other pairs hold the remaining" in text
    i, j = np.unravel_index(counts.argmax(), counts.shape)
    assert re.search(rf"Worst confusions .*? of its class +{chr(65 + i)} +{chr(65 + j)} +{counts.max()} ", text)
    areas = np.array([metrics.roc_auc_score(y == name, chances[:, k]) for k, name in enumerate(model.classes_)])
    rest = np.sort(areas)[6:]
    assert f"the other 20 are {rest[0]:.4f} to {rest[-1]:.4f}, and the mean of all is {areas.mean():.4f}" in text
    worst = model.classes_[areas.argmin()]
    own = metrics.average_precision_score(y == worst, chances[:, areas.argmin()])
    assert re.search(rf" {worst} +{areas.min():.4f} +{own:.4f} ", text)


def test_what_would_take_long_is_left_to_be_asked():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 20)), np.arange(4000) % 26
    text = " ".join(checked(discriminant.LinearDiscriminantAnalysis().fit(X, y).report(X, y).html).text)
    assert "not asked here" in text
    assert "discriminant.separability(X, y) finds it out" in text


def test_the_learning_curve_ends_at_the_cross_validated_error():
    """Its last point is learned from all rows but the fold: the error of any five stratified folds, about."""
    data = datasets.load("breast_cancer")
    model = discriminant.LinearDiscriminantAnalysis().fit(data.X, data.y)
    html = model.report(data.X, data.y).html
    found = re.findall(r"<title>(\d+) rows: ([\d.]+) % ± ([\d.]+)</title>", html)
    assert len(found) == 5
    rows, errors = [int(a) for a, _, _ in found], [float(b) for _, b, _ in found]
    assert rows == sorted(rows)
    assert rows[-1] == 455  # four fifths of 569
    expected = 100 * (1 - cross_val_score(model, data.X, data.y, cv=StratifiedKFold(5, shuffle=True, random_state=0)))
    assert errors[-1] == pytest.approx(expected.mean(), abs=1.5)  # other folds
    assert errors[0] > errors[-1]


def test_a_class_has_one_colour_in_every_picture():
    """Report, playground and plots take their colours from one place, and their markers come in one order."""
    data = datasets.load("penguins")
    html = discriminant.LinearDiscriminantAnalysis().fit(data.X, data.y).report(data.X, data.y).html
    for k, (light, dark) in enumerate(zip(shown.COLORS, shown.DARK_COLORS, strict=True)):
        assert theme.color(k) == light
        for style in (html, page_file("play/page", "style.css")):
            assert re.findall(rf"--c{k + 1}: (#\w+);", style) == [light, dark]
    marks = re.findall(r'<use href="#m(\d)" fill="var\(--c(\d)\)"/></svg> (\w+)', html)
    assert {("0", "1", "Adelie"), ("1", "2", "Chinstrap"), ("2", "3", "Gentoo")} == set(marks)
    assert [theme.marker(k) for k in range(3)] == ["o", "s", "^"]


def test_names_without_end_do_not_widen_a_page():
    """Words of cells may be broken after twelve letters, and the name of an axis ends where the axis does."""
    from discriminant.report import svg

    names = ["Supercalifragilisticexpialidocious" * 2, "a name that goes on and on, as questionnaires have them, " * 2]
    X = np.random.default_rng(0).normal(size=(200, 2)) + np.repeat([[0.0, 0], [2, 2]], 100, axis=0)
    y = np.repeat(names, 100)
    page = discriminant.LogisticRegression().fit(X, y).report(X, y).html
    cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", page)
    assert max(len(word) for cell in cells for word in re.split(r"<[^>]*>|\s", cell)) <= 15
    assert max(len(label) for label in re.findall(r"<text[^>]*>([^<]*)</text>", page)) <= svg.MOST_LETTERS


def test_the_bars_of_one_row_add_up_to_its_probabilities(tmp_path, capsys):
    """Both are of the fit itself, where what is measured is of the folds."""
    page = tmp_path / "r.html"
    assert main(["fit", "penguins", "-m", "lda", "--drop", "island", "--cv", "2", "--report", str(page), "-q"]) == 0
    row = page.read_text(encoding="utf-8").partition("<h3>One row</h3>")[2].partition("</figcaption>")[0]
    first, second = map(float, re.search(r"probabilities are ([\d.]+) and ([\d.]+)\.", row).groups())
    odds = sum(float(text) for text in re.findall(r">([+-][\d.e+-]+)</td>", row))
    np.testing.assert_allclose(first / (first + second), 1 / (1 + np.exp(-odds)), atol=0.02)
