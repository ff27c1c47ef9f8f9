"""The command line as people use it: commands, pipes, exit codes, sentences instead of tracebacks."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import discriminant
from discriminant.cli import main
from discriminant.data.files import read_table

HEAVY = {"sklearn", "pandas", "scipy.stats", "pyarrow", "polars", "matplotlib"}


@pytest.fixture
def run(capsys):
    """Run a command; (status, standard output, standard error)."""

    def command(*arguments: object) -> tuple[int, str, str]:
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = int(end.code or 0)
        out = capsys.readouterr()
        return status, out.out, out.err

    return command


@pytest.fixture(scope="module")
def penguins_model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "penguins.disc"
    assert main(["fit", "penguins", "--model", "lda", "--out", str(path), "--quiet"]) == 0
    return path


def penguin_rows():
    table = read_table("penguins", text_columns=["species"])
    return table.names, list(zip(*(column.texts() for column in table.columns), strict=True))


def write_csv(path, head, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    return path


# Start


def cpu_and_modules(*arguments: str) -> tuple[float, set[str]]:
    code = (
        "import sys, time\nfrom discriminant.cli import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "print('\\n@', time.process_time(), *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    words = done.stdout.rpartition("@")[2].split()
    return float(words[0]), set(words[1:])


def test_help_starts_at_once():
    """0.15 s of CPU; the least of three, since the machine may be busy."""
    tries = [cpu_and_modules("--help") for _ in range(3)]
    assert min(cpu for cpu, _ in tries) < 0.15
    assert not tries[0][1] & (HEAVY | {"numpy", "scipy"})


def test_lda_on_iris_needs_no_scikit_learn(tmp_path):
    """0.6 s of CPU, cross-validation and model file included."""
    tries = [cpu_and_modules("fit", "iris", "--model", "lda", "--out", str(tmp_path / "m")) for _ in range(3)]
    assert min(cpu for cpu, _ in tries) < 0.6
    assert not tries[0][1] & HEAVY
    assert not cpu_and_modules("predict", str(tmp_path / "m"), "iris")[1] & HEAVY


# fit


def test_auto_compares_chooses_and_explains(run):
    status, out, _ = run("fit", "penguins")
    assert status == 0
    for word in ("lda-shrunk", "logistic", "qda", "chosen:", "the same in Python", "standard error"):
        assert word in out


def test_one_standard_error_rule():
    """The simplest method whose error is within one standard error of the least error."""
    from discriminant.cli.compare import Comparison, Trial
    from discriminant.cli.methods import METHODS

    def trial(name, errors):
        return Trial(METHODS[name], errors)

    trials = [trial("lda", [0.11, 0.13]), trial("qda", [0.10, 0.12]), trial("logistic", [0.2, 0.2])]
    comparison = Comparison(trials, np.arange(4), np.array([0, 1]), np.array([0, 1]), 2, 0.5)
    assert comparison.best.method.name == "qda"
    assert comparison.chosen.method.name == "lda"  # 0.12 ≤ 0.11 + 0.01
    assert "commonest class" not in comparison.why()
    assert "no method is clearly better" in replace(comparison, baseline=0.115).why()
    trials[0].errors = [0.13, 0.13]
    assert comparison.chosen.method.name == "qda"


def test_folds_spread_every_class_evenly():
    from discriminant.cli.compare import cut_folds

    labels = np.repeat(["a", "b", "c"], [50, 23, 7])
    fold = cut_folds(labels, 5, 0)
    for label in "abc":
        counts = np.bincount(fold[labels == label], minlength=5)
        assert counts.max() - counts.min() <= 1
    assert np.ptp(np.bincount(fold)) <= 1


@pytest.mark.parametrize("model", ["lda", "logistic", "qda-pooled"])
def test_script_does_the_same(model, tmp_path, run):
    """The Python that is written makes a model with the same answers."""
    data = write_csv(tmp_path / "p.csv", *penguin_rows())
    status, _, err = run(
        "fit", data, "-t", "species", "-m", model, "--drop", "year", "-o", tmp_path / "m", "--script", tmp_path / "s.py"
    )
    assert status == 0, err
    first = discriminant.load(tmp_path / "m")
    text = (tmp_path / "s.py").read_text()
    assert "drop=['year']" in text
    done = subprocess.run([sys.executable, str(tmp_path / "s.py")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    table = first.read(data)
    np.testing.assert_allclose(
        discriminant.load(tmp_path / "m").predict_proba(table), first.predict_proba(table), atol=1e-9
    )


def test_wrong_target_suggests_the_nearest(run):
    status, _, err = run("fit", "penguins", "--target", "specis")
    assert status == 2
    assert "Did you mean 'species'?" in err
    assert "Traceback" not in err


def test_measurements_are_questioned(tmp_path, run):
    rng = np.random.default_rng(0)
    rows = [[f"{x:.6f}", f"{y:.6f}"] for x, y in rng.normal(size=(1000, 2))]
    data = write_csv(tmp_path / "d.csv", ["x", "price"], rows)
    status, _, err = run("fit", data, "--target", "price")
    assert status == 2
    assert "1,000 different numbers" in err
    assert "is it a measurement?" in err


def test_text_targets_are_questioned(tmp_path, run):
    data = write_csv(tmp_path / "d.csv", ["x", "name"], [[i, f"n{i}"] for i in range(40)])
    status, _, err = run("fit", data, "--target", "name")
    assert status == 2
    assert "40 different values" in err


def test_target_is_needed_and_columns_are_listed(tmp_path, run):
    data = write_csv(tmp_path / "d.csv", ["x", "y"], [[1, "a"], [2, "b"]])
    status, _, err = run("fit", data)
    assert status == 2
    assert "'x' and 'y'" in err


def test_labels_stay_apart_and_na_is_one(tmp_path, run):
    """'01', '1' and 'NA' are three classes."""
    rng = np.random.default_rng(1)
    rows = [[f"{rng.normal() + 4 * k:.4f}", label] for k, label in enumerate(["01", "1", "NA"]) for _ in range(20)]
    data = write_csv(tmp_path / "d.csv", ["x", "y"], rows)
    status, out, _ = run("fit", data, "--target", "y", "--model", "lda", "--json")
    assert status == 0
    assert json.loads(out)["classes"] == {"01": 20, "1": 20, "NA": 20}


def test_json_is_a_document(run):
    status, out, err = run("fit", "iris", "--model", "lda", "--json")
    found = json.loads(out)
    assert status == 0
    assert err == ""
    assert found["rows"] == 150
    assert 0 <= found["cross_validation"]["error"] < 0.1


@pytest.mark.parametrize("model", ["fisher", "least-squares", "perceptron", "linear-program", "machine"])
def test_methods_by_name(model, tmp_path, run):
    status, _, err = run("fit", "iris", "-m", model, "--out", tmp_path / "m", "-q")
    assert status == 0, err
    status, out, _ = run("evaluate", tmp_path / "m", "iris", "--json")
    assert json.loads(out)["accuracy"] > 0.7


def test_parameters_are_set_or_refused(run):
    assert run("fit", "iris", "-m", "logistic", "--set", "C=0.5", "--cv", 0, "-q")[0] == 0
    status, _, err = run("fit", "iris", "-m", "logistic", "--set", "D=0.5")
    assert status == 2
    assert "no parameter 'D'" in err
    assert run("fit", "iris", "-m", "logistic", "--set", "C=0")[2].startswith("discriminant: The 'C' parameter of")


@pytest.mark.parametrize(
    ("settings", "title"),
    [
        (["logistic", "--set", "C=inf"], "logistic regression, with C=inf"),
        (["lda-shrunk", "--set", "shrinkage=0.5"], "Gaussian classes, one covariance, with shrinkage=0.5"),
        (["qda", "--set", "pooling=0.25"], "Gaussian classes, a covariance each, with pooling=0.25"),
    ],
)
def test_the_model_that_was_fitted_is_named(settings, title, tmp_path, run):
    _, out, _ = run("fit", "penguins", "-m", *settings, "--cv", 0, "-o", tmp_path / "m")
    assert title in out
    assert "ridge" not in out
    assert title in run("summary", tmp_path / "m")[1]


def test_only_files_that_were_asked_for_are_written(tmp_path, run):
    status, out, _ = run("fit", "iris", "--models", "lda,logistic", "-o", tmp_path / "model.disc")
    assert status == 0
    assert os.listdir(tmp_path) == ["model.disc"]
    assert "the same in Python" in out


def test_labels_are_told_apart_by_more_than_blanks_and_case_is_noticed(tmp_path, run):
    rows = [[i % 7, ["Yes", "Yes ", "yes", "no"][i % 4]] for i in range(80)]
    status, out, err = run("fit", write_csv(tmp_path / "d.csv", ["x", "y"], rows), "-t", "y", "-m", "lda")
    assert status == 0
    assert "Yes 40 · no 20 · yes 20" in out
    assert "'y': spaces around 'Yes ' are taken away." in err
    assert "The classes 'Yes' and 'yes' differ only in case and are kept apart" in err


def test_reasons_and_lists_are_shown_whole(tmp_path, run):
    """A refusal stands in full below the table; a list of many classes says how many more there are."""
    from discriminant.cli.compare import Comparison, Trial
    from discriminant.cli.fit import _leaderboard
    from discriminant.cli.methods import METHODS

    reason = f"The covariance of the class 'a' is singular, {'for ' * 30}this reason."
    trials = [Trial(METHODS["lda"], [0.1, 0.2]), Trial(METHODS["qda"], refusal=reason)]
    shown = _leaderboard(Comparison(trials, np.arange(4), np.array([0, 1]), np.array([0, 1]), 2, 0.5))
    assert shown.splitlines()[-1] == f"  qda: {reason}"
    rows = [[i * i % 17, f"k{i % 12:02}"] for i in range(60)]
    status, out, _ = run("fit", write_csv(tmp_path / "d.csv", ["x", "y"], rows), "-t", "y", "-m", "lda")
    assert status == 0
    assert "k07 5 · and 4 more" in out
    rows = [[*np.random.default_rng(i).normal(size=40), "ab"[i > 25]] for i in range(50)]
    out = run("separable", write_csv(tmp_path / "d.csv", [*(f"c{j}" for j in range(40)), "y"], rows), "-t", "y")[1]
    assert re.search(r"estimate: (\w+, ){12}and \d+ more\n", out)
    assert "… and 10 columns more; --json shows them." in out


def test_outputs_are_whole_or_not_there(tmp_path, run, monkeypatch):
    """A failing write of the second output removes the first; the old file of a failing fit survives."""
    import discriminant.cli.fit as fit
    from discriminant.errors import DataError

    old = tmp_path / "old.disc"
    old.write_text("old")

    def refuse(path, data):
        raise DataError(f"{path} cannot be written: no space left.")

    monkeypatch.setattr(fit, "write_whole", refuse)
    status, _, err = run("fit", "iris", "-m", "lda", "-o", tmp_path / "m", "--script", tmp_path / "s.py")
    assert status == 2
    assert "no space left" in err
    assert sorted(os.listdir(tmp_path)) == ["old.disc"]
    status, _, err = run("fit", "iris", "-m", "lda", "-o", tmp_path / "no" / "m")
    assert status == 2
    assert "no folder" in err


# predict


def test_shuffled_columns_predict_the_same_and_a_missing_one_is_named(penguins_model, tmp_path, run):
    head, rows = penguin_rows()
    order = [6, 4, 2, 0, 7, 5, 3, 1]
    plain = write_csv(tmp_path / "plain.csv", head, rows)
    shuffled = write_csv(tmp_path / "shuffled.csv", [head[j] for j in order], [[row[j] for j in order] for row in rows])
    first, second = run("predict", penguins_model, plain, "-p"), run("predict", penguins_model, shuffled, "-p")
    assert first[0] == 0
    assert first[1] == second[1]
    lacking = write_csv(tmp_path / "lacking.csv", head[1:2] + head[3:], [row[1:2] + row[3:] for row in rows])
    status, out, err = run("predict", penguins_model, lacking)
    assert status == 2
    assert out == ""
    assert "lacks the column 'bill_length_mm'" in err


def test_predict_through_pipes(penguins_model, tmp_path):
    head, rows = penguin_rows()
    buffer = io.StringIO()
    csv.writer(buffer).writerows([head, *rows])
    command = [sys.executable, "-m", "discriminant.cli", "predict", str(penguins_model), "-", "--keep", "island", "-q"]
    done = subprocess.run(command, input=buffer.getvalue(), capture_output=True, text=True, check=True)
    found = list(csv.reader(io.StringIO(done.stdout)))
    assert found[0] == ["island", "prediction"]
    assert len(found) == 345
    truth = [row[0] for row in rows]
    assert sum(row[1] == label for row, label in zip(found[1:], truth, strict=True)) >= 341


def test_unseen_levels_are_said_and_handled(penguins_model, tmp_path, run):
    head, rows = penguin_rows()
    data = write_csv(tmp_path / "new.csv", head, [("", "Atlantis", *rows[0][2:])])
    status, out, err = run("predict", penguins_model, data, "-p")
    assert status == 0
    assert "'Atlantis' not seen at the fit" in err
    assert out.splitlines()[1].startswith("Adelie")


def test_words_in_a_column_of_numbers_are_refused(penguins_model, tmp_path, run):
    head, rows = penguin_rows()
    data = write_csv(tmp_path / "new.csv", head, [rows[0], (*rows[1][:2], "long", *rows[1][3:])])
    status, _, err = run("predict", penguins_model, data)
    assert status == 2
    assert "'bill_length_mm'" in err
    assert "row 2 of the data holds 'long'" in err


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_predict_to_files(penguins_model, tmp_path, run, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    out = tmp_path / f"answers.{suffix}"
    assert run("predict", penguins_model, "penguins", "-o", out, "-p", "-q")[0] == 0
    table = read_table(out)
    assert table.names == ["prediction", "P(Adelie)", "P(Chinstrap)", "P(Gentoo)"]
    assert table.n_rows == 344


def test_costs_move_decisions(tmp_path, run):
    model = tmp_path / "m"
    status, _, err = run("fit", "breast_cancer", "-m", "lda", "-o", model, "--cost", "malignant:benign=50", "--json")
    assert status == 0, err
    _, plain, _ = run("evaluate", model, "breast_cancer", "--json", "--cost", "malignant:benign=1")
    _, costly, _ = run("evaluate", model, "breast_cancer", "--json")
    first, second = json.loads(plain)["recall"]["malignant"], json.loads(costly)["recall"]["malignant"]
    assert second > first
    assert "mean_cost" in json.loads(costly)
    assert run("evaluate", model, "breast_cancer", "--cost", "bad:benign=3")[0] == 2


# evaluate, summary, separable, export


def test_gates_decide_the_exit_status(penguins_model, run):
    assert run("evaluate", penguins_model, "penguins", "--fail-under", "accuracy=0.9")[0] == 0
    status, out, _ = run("evaluate", penguins_model, "penguins", "--fail-under", "accuracy=0.9999")
    assert status == 1
    assert "not reached: accuracy=0.9999" in out
    assert run("evaluate", penguins_model, "penguins", "--fail-under", "beauty=1")[0] == 2


def test_gates_of_losses_and_of_the_recall_of_a_class(penguins_model, run):
    found = json.loads(run("evaluate", penguins_model, "penguins", "--json")[1])
    for name, value, better in [
        ("log_loss", found["log_loss"], 1e-6),
        ("brier", found["brier"], 1e-6),
        ("error", found["error"], 1e-6),
        ("recall:Adelie", found["recall"]["Adelie"], -1e-6),
    ]:
        assert run("evaluate", penguins_model, "penguins", "--fail-under", f"{name}={value + better}")[0] == 0
        status, out, _ = run("evaluate", penguins_model, "penguins", "--fail-under", f"{name}={value - better}")
        assert status == 1
        assert re.search(rf"not reached: {name}=\S+ \(it is {value:.4g}\)", out)
    status, _, err = run("evaluate", penguins_model, "penguins", "--fail-under", "recall:Emu=0.5")
    assert status == 2
    assert "'Adelie', 'Chinstrap' and 'Gentoo'" in err
    status, _, err = run("evaluate", penguins_model, "penguins", "--fail-under", "mean_cost=1")
    assert status == 2
    assert "no costs are given" in err


def test_summary_with_standard_errors_agrees_with_statsmodels(tmp_path, run):
    sm = pytest.importorskip("statsmodels.api", reason="the independent result")
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 2)).round(3)
    y = np.where(x @ [1.0, -0.5] + rng.logistic(size=200) > 0, "yes", "no")
    data = write_csv(tmp_path / "d.csv", ["age", "dose", "y"], [[*row, label] for row, label in zip(x, y, strict=True)])
    model = tmp_path / "m"
    assert run("fit", data, "-t", "y", "-m", "logistic", "--set", "C=inf", "--cv", 0, "-q", "-o", model)[0] == 0
    status, out, _ = run("summary", model, "--data", data, "--json")
    assert status == 0
    found = json.loads(out)["inference"]
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    other = sm.Logit(y == "yes", sm.add_constant(z)).fit(disp=0)
    assert found["term"] == ["(intercept)", "age", "dose"]
    np.testing.assert_allclose(found["estimate"], other.params, rtol=1e-6)
    np.testing.assert_allclose(found["std. error"], other.bse, rtol=1e-6)
    shown = run("summary", model, "--data", data)[1]
    assert "standard deviations of the training rows" in shown
    assert run("fit", data, "-t", "y", "-m", "perceptron", "--cv", 0, "-q", "-o", model)[0] == 0
    status, _, err = run("summary", model, "--data", data)
    assert status == 2
    assert "no standard errors" in err


@pytest.mark.parametrize("model", ["lda", "logistic", "qda-pooled", "least-squares"])
def test_weights_count_as_repetitions(model, tmp_path, run):
    """Whole weights give the model of a table in which rows stand so many times; the script gives it too."""
    rng = np.random.default_rng(5)
    rows = [[*(rng.normal(size=2) + (i % 2)).round(3), i // 2 % 4, "uv"[i % 2]] for i in range(80)]
    data = write_csv(tmp_path / "w.csv", ["a", "b", "w", "y"], rows)
    twice = write_csv(tmp_path / "t.csv", ["a", "b", "w", "y"], [row for row in rows for _ in range(row[2])])
    common = ("-t", "y", "-m", model, "--cv", 0)
    # The unit of a column is that of the rows as they stand, so a penalty would differ; without one it does not.
    free = ("--set", "C=inf") if model == "logistic" else ()
    script = ("--weights", "w", "--script", tmp_path / "s.py")
    status, _, err = run("fit", data, *common, *free, *script, "-o", tmp_path / "m")
    assert status == 0
    assert "'w' weighs the rows in the fit" in err
    assert "weights of the rows: w\n" in run("summary", tmp_path / "m")[1]
    assert run("fit", twice, *common, *free, "--drop", "w", "-o", tmp_path / "n", "-q")[0] == 0
    one, two = discriminant.load(tmp_path / "m"), discriminant.load(tmp_path / "n")
    table = one.read(data)
    np.testing.assert_allclose(one.decision_function(table), two.decision_function(table), atol=1e-6)
    done = subprocess.run([sys.executable, str(tmp_path / "s.py")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    again = discriminant.load(tmp_path / "m")
    np.testing.assert_allclose(again.decision_function(table), one.decision_function(table), atol=1e-9)


def test_weights_that_cannot_be_used(tmp_path, run):
    rows = [[i % 7, -1 if i == 3 else 2, "ab"[i % 2], "uv"[i % 2]] for i in range(40)]
    data = write_csv(tmp_path / "d.csv", ["x", "w", "c", "y"], rows)
    assert "missing or negative values" in run("fit", data, "-t", "y", "--weights", "w")[2]
    assert "no column of numbers" in run("fit", data, "-t", "y", "--weights", "c")[2]
    assert "no column 'v'" in run("fit", data, "-t", "y", "--weights", "v")[2]


def test_evaluate_agrees_with_scikit_learn(penguins_model, run):
    from sklearn import metrics

    _, out, _ = run("evaluate", penguins_model, "penguins", "--json")
    found = json.loads(out)
    model = discriminant.load(penguins_model)
    table = read_table("penguins", text_columns=["species"])
    y, p = table.labels("species")[0], model.predict_proba(table)
    assert found["confusion"] == metrics.confusion_matrix(y, model.predict(table)).tolist()
    assert found["log_loss"] == pytest.approx(metrics.log_loss(y, p), rel=1e-12)
    assert found["auc"] == pytest.approx(metrics.roc_auc_score(y, p, multi_class="ovr"), rel=1e-12)


def test_rows_that_a_model_rejects_are_counted_apart(run, tmp_path):
    model, page = tmp_path / "m.model", tmp_path / "page.html"
    fit = ("fit", "iris", "-m", "perceptron", "--set", "decoder=unanimous", "--set", "coding=one-vs-rest")
    assert run(*fit, "--out", model, "--report", page)[0] == 0
    assert "rows are rejected" in page.read_text(encoding="utf-8")
    status, out, err = run("evaluate", model, "iris", "--report", page)
    rejected = (discriminant.load(model).predict(read_table("iris")) == "reject").sum()
    assert (status, rejected > 0) == (0, True)
    assert f"  {150 - rejected} rows" in out
    assert f"{rejected} of 150 rows are rejected" in err


def test_summary_shows_weights_and_columns(penguins_model, run):
    status, out, _ = run("summary", penguins_model)
    assert status == 0
    for word in ("bill_length_mm", "island=Dream", "(intercept)", "Gentoo", "cross-validated error"):
        assert word in out
    found = json.loads(run("summary", penguins_model, "--json")[1])
    assert np.shape(found["weights"]) == (10, 3)


@pytest.mark.parametrize(("data", "verdict"), [("breast_cancer", "separable"), ("iris", "quasi-separable")])
def test_separable(data, verdict, run):
    status, out, _ = run("separable", data)
    assert status == 0
    assert out.strip().startswith(verdict + ":")
    assert "it holds" in out


def test_sql_reads_the_raw_table(penguins_model, tmp_path, run):
    duckdb = pytest.importorskip("duckdb", reason="the query is run in DuckDB")
    data = write_csv(tmp_path / "p.csv", *penguin_rows())
    status, query, _ = run("export", penguins_model, "--to", "sql")
    assert status == 0
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE data AS SELECT * FROM read_csv('{data}', nullstr='')")
        connection.execute("INSERT INTO data (island, bill_length_mm) VALUES ('Atlantis', 40), (NULL, NULL)")
        rows = connection.sql(query).fetchall()
    model = discriminant.load(penguins_model)
    table = read_table("penguins", text_columns=["species", "island", "sex"])
    expected = model.predict_proba(table)
    found = np.array([row[-4:-1] for row in rows], dtype=float)
    np.testing.assert_allclose(found[:344], expected, atol=1e-12)
    columns = {"bill_depth_mm": [np.nan], "flipper_length_mm": [np.nan], "body_mass_g": [np.nan], "year": [np.nan]}
    extra = model.predict_proba({"island": ["Atlantis"], "bill_length_mm": [40.0], "sex": [""], **columns})
    np.testing.assert_allclose(found[344], extra[0], atol=1e-12)


@pytest.mark.parametrize("form", ["c", "json"])
def test_exports_to_the_standard_output(penguins_model, run, form):
    status, out, _ = run("export", penguins_model, "--to", form)
    assert status == 0
    assert "island=Dream" in out


# Errors


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["ft"], "did you mean 'fit'?"),
        (["fit", "iris", "--model", "ldaa"], "did you mean 'lda'?"),
        (["fit", "nofile.csv", "-t", "y"], "no file 'nofile.csv'"),
        (["fit", "iris", "--drop", "petal"], "no column 'petal'"),
        (["fit", "iris", "--cv", "1", "-m", "lda"], "two folds at least"),
        (["predict", "nomodel", "iris"], "no model file"),
        (["export", "nomodel", "--to", "excel"], "is no"),
    ],
)
def test_errors_are_one_sentence(run, arguments, sentence):
    status, out, err = run(*arguments)
    assert status == 2
    assert out == ""
    assert sentence in err
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 1


def test_a_foreign_file_is_no_model(tmp_path, run):
    path = tmp_path / "m"
    path.write_bytes(b"PK\x03\x04 something else")
    status, _, err = run("predict", path, "iris")
    assert status == 2
    assert "not a model" in err


def test_control_characters_do_not_reach_the_terminal(tmp_path, run):
    rows = [[x, "a\x1b[31m" if x < 5 else "b"] for x in range(10)]
    data = write_csv(tmp_path / "d.csv", ["x", "y"], rows)
    status, out, _ = run("fit", data, "-t", "y", "-m", "lda", "--categorical", "x", "--cv", "0")
    assert status == 0
    assert "\x1b" not in out
    status, _, err = run("fit", data, "-t", "z\x1b[31m")
    assert status == 2
    assert "\x1b" not in err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell, run):
    status, out, _ = run("completion", shell)
    assert status == 0
    assert "separable" in out
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=out, text=True, check=True)


def test_libsvm_from_fit_to_predict(tmp_path, run):
    rng = np.random.default_rng(0)
    lines = []
    for i in range(60):
        label = 1 if i % 2 else -1
        lines.append(f"{label:+d} 1:{rng.normal() + 2 * label:.3f} {'' if i % 3 else '3:1.5'}")
    data = tmp_path / "d.svm"
    data.write_text("\n".join(lines))
    status, _, err = run("fit", data, "-m", "lda", "-o", tmp_path / "m", "-q")
    assert status == 0, err
    status, out, _ = run("evaluate", tmp_path / "m", data, "--json")
    assert json.loads(out)["accuracy"] > 0.9


def test_auto_spares_very_many_columns_a_covariance_for_each_class():
    from discriminant.cli.methods import METHODS, automatic

    assert "qda" in automatic(30, sparse=False)
    assert "qda" not in automatic(1000, sparse=False)
    assert set(automatic(100_000, sparse=True)) <= set(METHODS) - {"lda", "qda", "lda-shrunk", "qda-pooled"}


def test_tables_without_labels_are_refused(tmp_path, run, penguins_model):
    data = write_csv(tmp_path / "d.csv", ["x", "y"], [[1, ""], [2, ""]])
    status, _, err = run("fit", data, "-t", "y")
    assert status == 2
    assert "No row has a label in 'y'" in err
    head, rows = penguin_rows()
    data = write_csv(tmp_path / "p.csv", head, [("", *row[1:]) for row in rows])
    status, _, err = run("evaluate", penguins_model, data)
    assert status == 2
    assert "nothing to measure" in err
    status, _, err = run("evaluate", penguins_model, write_csv(tmp_path / "q.csv", head, [("Emperor", *rows[0][1:])]))
    assert status == 2
    assert "'Emperor' is not one that the model knows" in err


def test_many_classes_and_few_rows(tmp_path, run):
    rng = np.random.default_rng(0)
    rows = [[*rng.normal(size=3).round(4), f"k{i % 60}"] for i in range(240)]
    data = write_csv(tmp_path / "d.csv", ["a", "b", "c", "y"], rows)
    status, _, err = run("fit", data, "-t", "y", "-m", "lda", "--report", tmp_path / "r.html", "-q")
    assert status == 0, err
    data = write_csv(tmp_path / "e.csv", ["a", "b", "y"], [[1, 2, "u"], [2, 1, "v"], [3, 3, "u"]])
    status, _, err = run("fit", data, "-t", "y")
    assert status == 2
    assert "'v' has one row only" in err
    assert run("fit", data, "-t", "y", "-m", "lda", "-q")[0] == 0


def test_a_table_of_categories_alone(tmp_path, run):
    rng = np.random.default_rng(0)
    rows = [[rng.choice(list("abc")), rng.choice(list("xy")), "u" if i % 2 else "v"] for i in range(80)]
    data = write_csv(tmp_path / "d.csv", ["p", "q", "y"], rows)
    status, out, err = run("fit", data, "-t", "y", "--report", tmp_path / "r.html")
    assert status == 0, err
    assert "2 categories" in out


def test_script_decides_by_the_same_costs(tmp_path, run):
    """--cost goes into the Python that does the same: the two models decide alike, and unlike the one without costs."""
    out, text = tmp_path / "m.disc", tmp_path / "m.py"
    arguments = ("fit", "breast_cancer", "--model", "lda", "--cost", "malignant:benign=50", "--quiet", "--cv", "0")
    assert run(*arguments, "--out", out, "--script", text)[0] == 0
    written = discriminant.load(out)
    done = subprocess.run([sys.executable, str(text)], capture_output=True, text=True, check=True)
    again = discriminant.load(out)
    table = read_table("breast_cancer", text_columns=["diagnosis"])
    assert (written.predict(table) == again.predict(table)).all()
    assert f"{(again.predict(table) != table.labels('diagnosis')[0]).mean():.4f}" in done.stdout
    assert (replace(again, costs=None).predict(table) != again.predict(table)).sum() > 5


def test_costs_are_cross_validated(run):
    """With costs, the error and the mean cost of the folds are those of the decisions by cost."""
    status, out, _ = run("fit", "breast_cancer", "--model", "lda", "--cost", "malignant:benign=50", "--json")
    found = json.loads(out)["cross_validation"]
    plain = json.loads(run("fit", "breast_cancer", "--model", "lda", "--json")[1])["cross_validation"]
    assert status == 0
    assert 0 < found["mean_cost"] < 0.6
    assert found["error"] > plain["error"]


def test_files_without_names_from_fit_to_predict(tmp_path, run):
    """--no-header at the fit and at the prediction name the columns alike."""
    head, rows = penguin_rows()
    place = head.index("species")
    path, model = tmp_path / "bare.csv", tmp_path / "m.disc"
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows(rows)
    fitted = run("fit", path, "--no-header", "--target", f"column_{place + 1}", "--model", "lda", "--out", model, "-q",
                 "--script", tmp_path / "s.py")  # fmt: skip
    assert fitted[0] == 0
    status, out, _ = run("predict", model, path, "--no-header", "-q")
    assert status == 0
    assert len(out.splitlines()) == len(rows) + 1
    assert "0 errors" not in run("evaluate", model, path, "--no-header", "-q")[1].splitlines()[0]
    done = subprocess.run([sys.executable, str(tmp_path / "s.py")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "heavy"),
    [("lda", ("scipy", "sklearn", "numpy.ma")), ("logistic", ("sklearn", "pandas"))],
)
def test_a_plain_fit_loads_nothing_that_it_does_not_need(tmp_path, name, heavy):
    head, rows = penguin_rows()
    path = write_csv(tmp_path / "p.csv", head, rows)
    code = (
        "import sys; from discriminant.cli import main; "
        f"status = main(['fit', {str(path)!r}, '-t', 'species', '-m', {name!r}, '--cv', '0', '-q', '-o', "
        f"{str(tmp_path / 'm.disc')!r}]); "
        f"print('loaded', status, *[name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded 0"


def test_costs_and_reports_of_a_logistic_fit_do_not_depend_on_how_it_was_fitted(tmp_path, run):
    head, rows = penguin_rows()
    path = write_csv(tmp_path / "p.csv", head, rows)
    plain = ("fit", path, "-t", "species", "-m", "logistic", "--cv", 0, "--json", "--cost", "Adelie:Gentoo=5")
    alone, told = run(*plain), run(*plain, "--report", tmp_path / "r.html")
    assert alone[0] == told[0] == 0
    one, two = json.loads(alone[1]), json.loads(told[1])
    assert one["training_cost"] == pytest.approx(two["training_cost"], rel=1e-12)
    assert one["certificate"] == two["certificate"]
    assert one["training_error"] == two["training_error"]


def test_progress_shows_a_bar_and_the_time_left(monkeypatch, capsys):
    from discriminant.cli import console as module

    monkeypatch.setattr(module.Console, "_watched", lambda self: True)
    clock = iter([100.0, 100.0, 104.0])
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    console = module.Console()
    console.progress("fold 1 of 4", 0, 4)
    console.progress("fold 2 of 4", 1, 4)
    shown = capsys.readouterr().err
    assert "25 %, 12 s left" in shown
    assert "█████ " in shown


def test_notes_that_differ_by_numbers_are_said_once(run):
    from discriminant.cli.methods import _once

    notes = ["The covariance of class 3 has rank 4.", "The covariance of class 5 has rank 6.", "Another thing."]
    assert _once(notes) == [f"{notes[0]} (The same is true of 1 more.)", "Another thing."]


def test_separable_shows_the_weights_of_many_classes(run):
    status, out, _ = run("separable", "penguins", "-q")
    assert status == 0
    assert "every row scores highest for its own class" in out
    assert "bill_length_mm" in out


def test_columns_that_give_the_label_away_are_those_of_the_largest_area():
    """The quick look at medians misses no column whose area under the ROC curve is beyond the limit, ties included."""
    from sklearn.metrics import roc_auc_score

    from discriminant.cli.data_checks import LEAKING, data_checks, leaking_columns

    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b"], 150)
    shifts = np.linspace(-6, 6, 61)
    X = rng.normal(size=(300, 61)) + np.outer(labels == "b", shifts)
    X[:, ::4] = np.round(X[:, ::4])
    X[:, 1] = labels == "b"
    names = [f"x{j}" for j in range(61)]
    areas = [roc_auc_score(labels == "b", X[:, j]) for j in range(61)]
    expected = [names[j] for j, area in enumerate(areas) if max(area, 1 - area) > LEAKING]
    found = leaking_columns(X, labels, names, ["a", "b"])
    assert found == expected
    notes = [note for note in data_checks(X, labels, names, {"a": 150, "b": 150}) if "tell" in note]
    assert len(notes) == 1
    assert f"and {len(expected) - 5} more tell the classes apart" in notes[0]
    assert 10 < len(found) < 50


def test_standardised_numbers_have_deviation_one_at_any_scale():
    from discriminant.data.files import read_frame
    from discriminant.data.preprocess import Preprocess

    rng = np.random.default_rng(0)
    base = rng.normal(size=(60, 1)) + 3
    X = base * np.array([1e-250, 1e-120, 1.0, 1e120, 1e250])
    table = read_frame({f"x{j}": X[:, j] for j in range(5)} | {"y": np.arange(60) % 2})
    made = Preprocess.fit(table, "y", standardize=True).matrix(table)[0]
    np.testing.assert_allclose(made.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(made.std(axis=0), 1, rtol=1e-12)
