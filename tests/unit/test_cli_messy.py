"""The command line on messy files: every note once, in plain words, as recorded in ``messy_files.txt``.

``python tests/unit/test_cli_messy.py`` records it anew; read the difference before it is kept.
"""

from __future__ import annotations

import contextlib
import datetime
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import discriminant
from discriminant.cli import main

RECORD = Path(__file__).with_name("messy_files.txt")
N = 60
TARGETS = {"names.csv": "column_3", "adult.data": "column_4", "umlaut.csv": "Kündigung"}  # others: y
X = [(7 * i % 60) / 4 + 5 * (i % 2) for i in range(N)]
Y = ["no", "yes"] * (N // 2)


def table(separator: str = ",", **columns: list) -> str:
    rows = [separator.join(columns), *(separator.join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    return "\n".join(rows) + "\n"


def workbook() -> bytes:
    """Dates, a formula that failed, money as text, an empty column and a second sheet; b"" without openpyxl."""
    try:
        import openpyxl
    except ImportError:
        return b""
    book, file = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["x", "rate", None, "joined", "price", "y"])
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        day = datetime.date(2024, 1, 1 + i % 28)
        book.active.append([x, "#DIV/0!" if i == 7 else i * i % 19, None, day, f"€ {x:.2f}", y])
    book.create_sheet("2023")
    book.save(file)
    return file.getvalue()


def quoted(values: list) -> list[str]:
    return [f'"{value}"' for value in values]


def messy() -> dict[str, tuple[bytes, list[str]]]:
    """Files by name, each with the options it is fitted with."""
    dear = quoted([f"${1000 * x + 500:,.2f}" for x in X])
    share = [f"{i * i % 19} %" for i in range(N)]
    spaced = [label + " " * (i % 5 == 0) if i % 7 else label.upper() for i, label in enumerate(Y)]
    never = {f"p{j}": [j] * N for j in range(67)}
    holes = {f"h{j}": ["" if (i + j) % 11 == 0 else x for i, x in enumerate(X)] for j in range(5)}
    comma = [str(x).replace(".", ",") for x in X]
    days = [f"2024-0{1 + i % 9}-1{i % 10}" for i in range(N)]
    odd = [-999 if i % 10 == 0 else "unknown" if i % 10 == 1 else x for i, x in enumerate(X)]
    ids = [9 * i + i % 2 for i in range(N)]
    town = ["Zürich" if i % 3 else "Genève" for i in range(N)]
    remarks = [f"the {i}th remark of a person who wrote much more than was asked" for i in range(N)]
    lines = "".join(json.dumps({"x": x, "y": y, "tags": ["a"]}) + "\n" for x, y in zip(X, Y, strict=True))
    mixed = [json.dumps({"x": x if i % 4 else str(x), "m": {"a": x}, "y": y} | ({"late": x} if i % 5 else {})) + "\n"
             for i, (x, y) in enumerate(zip(X, Y, strict=True))]  # fmt: skip
    slips = ["ask" if i == 17 else f"{x + i / 1000:.3f}" for i, x in enumerate(X)]
    doses = [f"{1 + i % 11} {'mg' if i % 4 else 'g'}" for i in range(N)]
    rebate = [f"{i % 29},{i % 10} %" for i in range(N)]
    money = [f"{1234.5 + 1000 * x:,.2f}" for x in X]
    umlaut = table(";", Umsatz=[text.translate(str.maketrans(".,", ",.")) for text in money],
                   Quote=[f"{i * i % 190 / 10:.1f}%".replace(".", ",") for i in range(N)],
                   Kündigung=[{"yes": "ja", "no": "nein"}[y] for y in Y])  # fmt: skip
    spelt = [
        [(y, y.title(), f"{y.upper()} ")[i // 2 % 3] for i, y in enumerate(column)] for column in (Y, [*Y[1:], Y[0]])
    ]
    gaps = "".join(f"{row}\n" + "\n" * (i % 10 == 9) for i, row in enumerate(table(x=X, z=X[::-1], y=Y).splitlines()))
    words = ("?", ".", "NULL", "n/a", "-", "#N/A")
    unknown = {f"h{j}": [word if i % 9 == j else x for i, x in enumerate(X)] for j, word in enumerate(words)}
    adult = "".join(f"{x}, {('Private', 'State-gov', '?')[i % 3]}, {i % 5}, {'>50K' if y == 'yes' else '<=50K'}.\n"
                    for i, (x, y) in enumerate(zip(X, Y, strict=True)))  # fmt: skip
    balance = [f"({10 * x:.2f})" if i % 3 == 0 else f"{10 * x:.2f}" for i, x in enumerate(X)]
    accounts = table(balance=balance, fee=[f"CHF {i * i % 37}.-" for i in range(N)],
                     swiss=[text.replace(",", "'") for text in money], y=Y)  # fmt: skip
    places = table(heat=[f"{i * i % 37 / 2}°C" for i in range(N)], north=[f"{47 + x / 99:.4f}N" for x in X],
                   stay=[f"{i % 5}h {i}m" for i in range(N)], age=["18-24", "25-34", "35+", "?"] * (N // 4),
                   phone=[f"+41 79 {i:03d} {7 * i % 100:02d}" for i in range(N)],
                   mail=[f"u{i}@x.org" for i in range(N)], y=Y)  # fmt: skip
    nested = "".join(json.dumps({"user": {"age": x}, "ok": i % 7 < 3, "y": y}) + "\n"
                     for i, (x, y) in enumerate(zip(X, Y, strict=True)))  # fmt: skip
    export = table(";", Preis=[f"{price} €" for price in comma], Rabatt=rebate, y=Y)
    texts: dict[str, tuple[bytes, list[str]]] = {
        "money.csv": (table(price=dear, share=share, y=Y).encode(), []),
        "labels.csv": (table(x=X, y=spaced).encode(), []),
        "constants.csv": (table(x=X, **never, y=Y).encode(), []),
        "holes.csv": (table(**holes, y=Y).encode(), []),
        "german.csv": (table(";", x=comma, y=Y).encode(), []),
        "dates.csv": (
            table(x=X, patient_id=ids, seen=days, remark=remarks, y=Y).encode(),
            [],
        ),
        "calendar.csv": (
            table(x=X, seen=days, day=[f"{1 + 3 * i % 28}/02/2023" for i in range(N)], y=Y).encode(),
            ["--dates", "all"],
        ),
        "codes.csv": (table(x=odd, y=Y).encode(), ["--na=-999,unknown"]),
        "latin.csv": (table(x=X, town=town, y=Y).encode("latin1"), ["--encoding", "latin1"]),
        "events.jsonl": (lines.encode(), []),
        "slips.csv": (table(x=slips, y=Y).encode(), []),
        "units.csv": (
            table(height=[f"{150 + x:.1f} cm" for x in X], dose=doses, y=Y).encode(),
            [],
        ),
        "totals.csv": ((table(customer=[37 * i % 101 for i in range(N)], x=X, y=Y) + "Total,450,\n").encode(), []),
        "export.csv": (export.replace("\n", ";\r\n").encode("utf-8-sig"), []),
        "rows.jsonl": ("".join(mixed).encode(), []),
        "separator.csv": (f"sep=;\r\n{table(';', x=comma, y=Y)}".encode(), []),
        "titled.csv": (f"Sales of 2024\n\n{table(x=X, y=Y)}".encode(), []),
        "repeated.csv": (table(x=[*X[:30], "x", *X[30:]], y=[*Y[:30], "y", *Y[30:]]).encode(), []),
        "spaces.dat": (table("  ", x=X, y=Y).encode(), []),
        "windows.csv": (table(x=X, price=["3 €"] * N, y=Y).encode("cp1252"), []),
        "noise.csv": (bytes(i * i % 251 for i in range(999)), []),
        "blank.csv": (table(x=X, y=["NA" if i % 9 == 0 else y for i, y in enumerate(Y)]).encode(), []),
        "leak.csv": (table(x=X, code=["D" if y == "yes" else "H" for y in Y], y=Y).encode(), []),
        "twice.csv": (table(x=X, y=Y).replace("x,y", "y,y", 1).encode(), []),
        "ragged.csv": (table(x=X, y=Y).replace("no", "no,no", 1).encode(), []),
        "letter.csv": (table(x=X, remark=[f'"{word}\nand more"' for word in remarks], y=Y).encode(), []),
        "same.csv": (table(x=X, y=["yes"] * N).encode(), []),
        "head.csv": (b"x,y\n", []),
        "umlaut.csv": (umlaut.encode("cp1252"), ["--encoding", "cp1252"]),
        "excel.txt": (table("\t", x=X, town=town, y=Y).replace("\n", "\r\n").encode("utf-16"), []),
        "index.csv": ("".join(f"{i or ''},{row}\n" for i, row in enumerate(table(x=X, y=Y).splitlines())).encode(), []),
        "yes.csv": (table(age=X, smoker=spelt[1], y=spelt[0]).encode(), []),
        "gaps.csv": (f"{gaps}\n,,\n,,\n".encode(), []),
        "unknown.csv": (table(**unknown, y=Y).encode(), []),
        "adult.data": (adult.encode(), []),
        "accounts.csv": (accounts.encode(), []),
        "places.csv": (places.encode(), []),
        "remarks.csv": (f"# exported by LabTool 3.1\n# lengths in mm\n{table(x=X, y=Y)}".encode(), []),
        "mac.csv": (table(x=X, y=Y).replace("\n", "\r").encode(), []),
        "sums.csv": (f"{table(area=['north', 'south', 'west'] * 20, x=X, y=Y)}Total,450,30 yes\n".encode(), []),
        "signs.csv": (
            table(";", x=[t if i % 2 else t.replace(",", ".") for i, t in enumerate(comma)], y=Y).encode(),
            [],
        ),
        "measured.csv": (table(x=X, y=[f"{3.7 * x + i / 7:.3f}" for i, x in enumerate(X)]).encode(), []),
        "packed.csv.gz": (gzip.compress(table(x=X, y=Y).encode(), mtime=0), []),
        "list.json": (json.dumps([{"x": x, "y": y} for x, y in zip(X, Y, strict=True)]).encode(), []),
        "nested.jsonl": (nested.encode(), []),
        "sheet.xlsx": (workbook(), []),
        "names.csv": (table(x=X, count=[i % 5 for i in range(N)], y=Y).partition("\n")[2].encode(), []),
    }
    return {name: given for name, given in texts.items() if given[0]}


def transcript(folder: Path) -> str:
    parts = []
    for name, (data, options) in messy().items():
        (folder / name).write_bytes(data)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            target = TARGETS.get(name, "y")
            status = main(["fit", str(folder / name), "-t", target, "-m", "lda", "--cv", "0", *options])
        shown = "".join(
            line for line in (err.getvalue() + out.getvalue()).splitlines(keepends=True) if "training error" not in line
        )
        command = " ".join(["$ discriminant fit", name, f"-t {target} -m lda --cv 0", *options])
        parts.append(f"{command}\n{shown}[{status}]\n")
    return "\n".join(parts)


def test_messy_files(tmp_path):
    found = transcript(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(messy())  # no file that was not asked for
    record = RECORD.read_text(encoding="utf-8").split("\n$ ")
    kept = [part for part in record if part.removeprefix("$ ").split()[2] in messy()]
    assert found == "\n$ ".join(kept)
    for part in found.split("$ discriminant"):
        notes = [line for line in part.splitlines() if line.startswith("note: ")]
        assert len(set(notes)) == len(notes)
        assert all(note.endswith(".") for note in notes)


@pytest.mark.parametrize("name", [name for name in messy() if name != "totals.csv"])  # its last row has no answer
def test_what_is_fitted_is_read_by_every_other_command(name, tmp_path, capsys):
    data, options = messy()[name]
    path, model, target = str(tmp_path / name), str(tmp_path / "m"), TARGETS.get(name, "y")
    Path(path).write_bytes(data)
    if main(["fit", path, "-t", target, "-m", "lda", "-o", model, "-q", *options]):
        return  # refused, in the sentence that the transcript holds
    capsys.readouterr()
    reading = options if "--encoding" in options else []
    for command in (
        ["summary", model, "--data", path, *reading],
        ["evaluate", model, path, *reading],
        ["predict", model, path, "--proba", *reading],
        *(["export", model, "--to", form] for form in ("sql", "c", "json")),
    ):
        assert main(command) == 0, command
        said = capsys.readouterr()
        assert said.out
        assert all(line.startswith("note: ") and line.endswith(".") for line in said.err.splitlines())
        assert len(set(said.err.splitlines())) == len(said.err.splitlines())


def test_values_that_mean_missing_are_remembered(tmp_path, capsys):
    data, options = messy()["codes.csv"]
    path, model, script = tmp_path / "codes.csv", tmp_path / "m", tmp_path / "s.py"
    path.write_bytes(data)
    fit = [
        "fit",
        str(path),
        "-t",
        "y",
        "-m",
        "lda",
        "--cv",
        "0",
        "-q",
        "-o",
        str(model),
        "--script",
        str(script),
        *options,
    ]
    assert main(fit) == 0
    capsys.readouterr()
    assert main(["predict", str(model), str(path), "-p"]) == 0
    said = capsys.readouterr()
    assert "'x': 12 missing values" in said.err
    loaded = discriminant.load(model)
    plain = [np.nan if i % 10 < 2 else x for i, x in enumerate(X)]
    np.testing.assert_array_equal(loaded.predict_proba(loaded.read(path)), loaded.predict_proba({"x": plain}))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    again = discriminant.load(model)
    np.testing.assert_allclose(again.predict_proba({"x": plain}), loaded.predict_proba({"x": plain}), atol=1e-12)


def test_encodings_are_told_and_refused(tmp_path, capsys):
    path = tmp_path / "latin.csv"
    path.write_bytes(messy()["latin.csv"][0])
    assert main(["fit", str(path), "-t", "y"]) == 2
    assert "--encoding latin1" in capsys.readouterr().err
    assert main(["fit", str(path), "-t", "y", "--encoding", "latin99"]) == 2
    assert "'latin99' is no encoding" in capsys.readouterr().err
    assert main(["fit", str(path), "-t", "y", "--encoding", "utf-8"]) == 2
    assert "is not text in utf-8" in capsys.readouterr().err


def test_dates_are_days_in_every_spelling_and_file(tmp_path, capsys):
    pa = pytest.importorskip("pyarrow", reason="typed dates need it")
    from pyarrow import parquet

    days = [datetime.date(2023, 1, 1) + datetime.timedelta(days=(37 * i) % 400) for i in range(N)]
    spellings = {"iso": "%Y-%m-%d", "day": "%d.%m.%Y", "month": "%m/%d/%y", "name": "%d %b %Y", "whole": "%Y%m%d"}
    answers = {}
    for kind, how in spellings.items():
        path, model = tmp_path / f"{kind}.csv", tmp_path / f"{kind}.model"
        path.write_text(table(x=X, date=[day.strftime(how) for day in days], y=Y))
        assert main(["fit", str(path), "-t", "y", "-m", "lda", "--cv", "0", "--dates", "date", "-o", str(model)]) == 0
        assert "'date': dates, counted in days since 1970-01-01." in capsys.readouterr().err
        loaded = discriminant.load(model)
        answers[kind] = loaded.predict_proba(loaded.read(path))
        assert loaded.feature_names == ["x", "date"]
    typed = tmp_path / "typed.parquet"
    parquet.write_table(pa.table({"x": X, "date": days, "y": Y}), typed)
    model = tmp_path / "typed.model"
    assert main(["fit", str(typed), "-t", "y", "-m", "lda", "--cv", "0", "--dates", "all", "-q", "-o", str(model)]) == 0
    answers["typed"] = discriminant.load(model).predict_proba(discriminant.load(model).read(typed))
    numbers = [(day - datetime.date(1970, 1, 1)).days for day in days]
    plain = discriminant.LinearDiscriminantAnalysis().fit(np.c_[X, numbers], Y).predict_proba(np.c_[X, numbers])
    for found in answers.values():
        np.testing.assert_allclose(found, plain, atol=1e-9)
    unclear = tmp_path / "unclear.csv"
    unclear.write_text(table(x=X, date=[f"{1 + i % 12}/{1 + i % 11}/2023" for i in range(N)], y=Y))
    assert main(["fit", str(unclear), "-t", "y", "-m", "lda", "--dates", "date"]) == 2
    assert "does not tell days from months" in capsys.readouterr().err


def test_dates_that_cannot_be_read_as_one_kind_are_shown(tmp_path, capsys):
    ways = ["2024-01-31", "31/01/2024", "31 Jan 2024"]
    slip = [*ways[:1] * 2, "soon"]
    for dates, said in ((ways, "dates written in several ways: "), (slip, "none that can be read: 'soon'")):
        (tmp_path / "d.csv").write_text(table(x=X, seen=[dates[i % 3] for i in range(N)], y=Y))
        assert main(["fit", str(tmp_path / "d.csv"), "-t", "y", "-m", "lda", "--dates", "seen"]) == 2
        assert said in capsys.readouterr().err


def test_a_line_of_totals_says_nothing_of_the_columns(tmp_path, capsys):
    """It has no label: what is no number there does not make text of the column, in any form of file."""
    openpyxl = pytest.importorskip("openpyxl", reason="workbooks need openpyxl")
    numbers = [37 * i % 101 + i / 100 for i in range(N)]
    rows = [["customer", "x", "y"], *map(list, zip(numbers, X, Y, strict=True)), ["Total", 450, None]]
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "d.xlsx")
    lines = [",".join("" if value is None else str(value) for value in row) for row in rows]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    for name in ("d.xlsx", "d.csv"):
        path, model = str(tmp_path / name), str(tmp_path / "m")
        assert main(["fit", path, "-t", "y", "-m", "lda", "--cv", "0", "-o", model]) == 0
        assert "60 rows; 2 numbers; 2 classes" in capsys.readouterr().out
        assert main(["evaluate", model, path]) == 0
        assert capsys.readouterr().out.startswith("  60 rows")
        assert main(["predict", model, path]) == 2
        assert "row 61 of the data holds 'Total'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("first", "names"),
    [("1.25,3,yes", False), ("7,3,no", False), ("1100.5,1102.5,kind", True), ("2019,2020,y", True), ("x,z,no", True)],
)
def test_a_first_line_that_recurs_below_is_data(first, names, tmp_path):
    from discriminant.data.files import read_table

    path = tmp_path / "d.csv"
    path.write_text(f"{first}\n" + "".join(f"{x},{i % 5},{y}\n" for i, (x, y) in enumerate(zip(X, Y, strict=True))))
    found = read_table(path)
    assert (found.n_rows == N) == names
    assert (found.names == first.split(",")) == names


def test_an_offset_has_a_weight_of_one_in_the_fit_and_in_predictions(tmp_path, capsys):
    import statsmodels.api as sm

    rng = np.random.default_rng(0)
    x, exposure = rng.normal(size=200), rng.uniform(-2, 2, 200)
    y = np.where(rng.logistic(size=200) < x + exposure, "yes", "no")
    path, model = tmp_path / "d.csv", tmp_path / "m"
    path.write_text(table(x=x.tolist(), exposure=exposure.tolist(), y=y.tolist()))
    fit = ["fit", str(path), "-t", "y", "-m", "logistic", "--set", "C=inf", "--offset", "exposure", "-o", str(model)]
    assert main(fit) == 0
    assert "'exposure' is added to the log odds with a weight of one" in capsys.readouterr().err
    design = sm.add_constant((x - x.mean()) / x.std())
    theirs = sm.GLM((y == "yes") * 1.0, design, sm.families.Binomial(), offset=exposure).fit(tol=1e-14)
    loaded = discriminant.load(model)
    np.testing.assert_allclose(loaded.predict_proba(loaded.read(path))[:, 1], theirs.fittedvalues, atol=1e-10)
    assert main(["summary", str(model), "--data", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["inference"]
    np.testing.assert_allclose(told["std. error"], theirs.bse, rtol=1e-6)
    assert main([*fit[:4], "-m", "lda", "--offset", "exposure"]) == 2
    assert "--offset goes with --model logistic" in capsys.readouterr().err


def test_probabilities_worse_than_the_class_frequencies_are_said_and_passed_over(tmp_path, capsys):
    rng = np.random.default_rng(3)
    noise, path = rng.normal(size=(60, 30)), tmp_path / "noise.csv"
    columns = {f"g{j}": noise[:, j].tolist() for j in range(30)}
    path.write_text(table(**columns, y=np.array(Y)[rng.permutation(60)].tolist()))
    assert main(["fit", str(path), "-t", "y", "-q"]) == 0
    assert "probabilities are worse than the class frequencies alone" in capsys.readouterr().out
    from discriminant.cli.compare import Comparison, Trial
    from discriminant.cli.methods import METHODS

    labels = np.array(["a", "b"] * 20)
    sure = Trial(METHODS["lda-shrunk"], [0.30, 0.34], [5.0, 5.0])
    calm = Trial(METHODS["logistic"], [0.32, 0.34], [0.6, 0.6])
    found = Comparison([sure, calm], np.arange(40), labels, np.array(["a", "b"]), 2, 0.5)
    assert found.chosen is calm
    assert "but probabilities worse than the class frequencies alone" in found.why()


def test_a_scan_reads_dressed_numbers(tmp_path):
    pytest.importorskip("pyarrow", reason="a scan of text needs it")
    path = tmp_path / "money.csv"
    path.write_bytes(messy()["money.csv"][0])
    rows = discriminant.scan(path, target="y")
    assert rows.feature_names == ("price", "share")
    assert "numbers with separators" in rows.notes[0]
    values = np.c_[[1000 * x + 500 for x in X], [i * i % 19 for i in range(N)]]
    np.testing.assert_allclose(rows.whole(), values, atol=0.005)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, *lines[1:] * 9, '"£3.00",7 %,no']) + "\n")
    with pytest.raises(discriminant.errors.DataError, match=r"'price'.*another unit"):
        discriminant.LogisticRegression().fit(discriminant.scan(path, target="y"))


def test_json_lines_that_are_none(tmp_path, capsys):
    path = tmp_path / "d.jsonl"
    path.write_text('{"x": 1, "y": "a"}\n{"x": \n')
    assert main(["fit", str(path), "-t", "y"]) == 2
    assert "d.jsonl does not hold one JSON object to a line" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["csv", "jsonl", "xlsx"])
def test_columns_without_any_value_are_filled_at_prediction(form, tmp_path, capsys):
    pytest.importorskip("openpyxl" if form == "xlsx" else "csv", reason=f"{form} needs it")
    path, model = tmp_path / f"new.{form}", tmp_path / "m"
    (tmp_path / "d.csv").write_text(table(x=X, z=X[::-1], y=Y))
    assert main(["fit", str(tmp_path / "d.csv"), "-t", "y", "-m", "lda", "--cv", "0", "-q", "-o", str(model)]) == 0
    if form == "xlsx":
        import openpyxl

        book = openpyxl.Workbook()
        for row in [["x", "z"], [3, None], [4, None]]:
            book.active.append(row)
        book.save(path)
    else:
        path.write_text("x,z\n3,\n4,\n" if form == "csv" else '{"x": 3, "z": null}\n{"x": 4, "z": null}\n')
    capsys.readouterr()
    assert main(["predict", str(model), str(path)]) == 0
    assert "'z': 2 missing values, filled with the mean" in capsys.readouterr().err


def test_workbooks(tmp_path, capsys, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl", reason="workbooks need openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["x", "count", "seen", "town", "y"])
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        day = datetime.date(2024, 1, 1 + i % 28)
        book.active.append([None if i == 3 else x, i % 5, day, "Bern" if i % 3 else None, y])
    book.create_sheet("more")
    path, model = tmp_path / "d.xlsx", tmp_path / "m"
    book.save(path)
    assert main(["fit", str(path), "-t", "y", "-m", "lda", "--cv", "0", "-o", str(model)]) == 0
    said = capsys.readouterr()
    assert "The first sheet of d.xlsx, 'Sheet', is read; 'more' not." in said.err
    assert "'seen' is left out: it holds dates." in said.err
    assert "2 numbers, 1 category, 1 left out" in said.out
    assert main(["evaluate", str(model), str(path), "-q"]) == 0
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    capsys.readouterr()
    assert main(["predict", str(model), str(path)]) == 2
    assert "pip install openpyxl" in capsys.readouterr().err


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        RECORD.write_text(transcript(Path(place)), encoding="utf-8")
    os.write(1, RECORD.read_bytes())
