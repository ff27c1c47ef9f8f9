"""The command line on messy files: every note once, in plain words, as recorded in ``messy_files.txt``.

``python tests/unit/test_cli_messy.py`` records it anew; read the difference before it is kept.
"""

from __future__ import annotations

import contextlib
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
X = [(7 * i % 60) / 4 + 5 * (i % 2) for i in range(N)]
Y = ["no", "yes"] * (N // 2)


def table(separator: str = ",", **columns: list) -> str:
    rows = [separator.join(columns), *(separator.join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    return "\n".join(rows) + "\n"


def quoted(values: list) -> list[str]:
    return [f'"{value}"' for value in values]


def messy() -> dict[str, tuple[bytes, list[str]]]:
    """Ten files by name, each with the options it is fitted with."""
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
    words = [f"the {i}th remark of a person who wrote much more than was asked" for i in range(N)]
    lines = "".join(json.dumps({"x": x, "y": y, "tags": ["a"]}) + "\n" for x, y in zip(X, Y, strict=True))
    slips = ["ask" if i == 17 else f"{x + i / 1000:.3f}" for i, x in enumerate(X)]
    texts: dict[str, tuple[bytes, list[str]]] = {
        "money.csv": (table(price=dear, share=share, y=Y).encode(), []),
        "labels.csv": (table(x=X, y=spaced).encode(), []),
        "constants.csv": (table(x=X, **never, y=Y).encode(), []),
        "holes.csv": (table(**holes, y=Y).encode(), []),
        "german.csv": (table(";", x=comma, y=Y).encode(), []),
        "dates.csv": (
            table(x=X, patient_id=ids, seen=days, remark=words, y=Y).encode(),
            [],
        ),
        "codes.csv": (table(x=odd, y=Y).encode(), ["--na=-999,unknown"]),
        "latin.csv": (table(x=X, town=town, y=Y).encode("latin1"), ["--encoding", "latin1"]),
        "events.jsonl": (lines.encode(), []),
        "slips.csv": (table(x=slips, y=Y).encode(), []),
    }
    return texts


def transcript(folder: Path) -> str:
    parts = []
    for name, (data, options) in messy().items():
        (folder / name).write_bytes(data)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(["fit", str(folder / name), "-t", "y", "-m", "lda", "--cv", "0", *options])
        shown = err.getvalue() + out.getvalue()
        parts.append(" ".join(["$ discriminant fit", name, "-t y -m lda --cv 0", *options]) + f"\n{shown}[{status}]\n")
    return "\n".join(parts)


def test_ten_messy_files(tmp_path):
    pytest.importorskip("pyarrow", reason="JSON lines need pyarrow")
    found = transcript(tmp_path)
    assert found == RECORD.read_text(encoding="utf-8")
    for part in found.split("$ discriminant"):
        notes = [line for line in part.splitlines() if line.startswith("note: ")]
        assert len(set(notes)) == len(notes)
        assert all(note.endswith(".") for note in notes)


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


def test_json_lines_that_are_none(tmp_path, capsys):
    pytest.importorskip("pyarrow", reason="JSON lines need pyarrow")
    path = tmp_path / "d.jsonl"
    path.write_text('{"x": 1, "y": "a"}\n{"x": \n')
    assert main(["fit", str(path), "-t", "y"]) == 2
    assert "d.jsonl does not hold one JSON object to a line" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["csv", "jsonl", "xlsx"])
def test_columns_without_any_value_are_filled_at_prediction(form, tmp_path, capsys):
    pytest.importorskip({"csv": "csv", "jsonl": "pyarrow", "xlsx": "openpyxl"}[form], reason=f"{form} needs it")
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
    import datetime

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
