"""Tables from files: what is in them is read, what is not a table is refused, and both CSV readers agree."""

from __future__ import annotations

import datetime
import gzip
import io

import numpy as np
import pytest

from discriminant.data import files
from discriminant.data.csv_text import Layout, is_numeric
from discriminant.data.files import read_csv, read_frame, read_table
from discriminant.data.tables import suggestion
from discriminant.errors import DataError

FAST = {"standard library": 1 << 40, "pyarrow": 0}


@pytest.fixture(params=list(FAST))
def reader(request):
    """Each claim holds for both readers."""
    if request.param == "pyarrow":
        pytest.importorskip("pyarrow", reason="the fast reader needs pyarrow")
    fast = FAST[request.param]
    return lambda text, **options: read_csv(
        text if isinstance(text, bytes) else text.encode(), "t.csv", fast_bytes=fast, **options
    )


def values(table, name):
    return table.column(name).values.tolist()


def labels(table, name):
    return table.labels(name)[0].tolist()


def test_numbers_text_and_missing(reader):
    table = reader("a,b,c\n1,x,2.5\n2,,NA\n-3e2,y,\n")
    assert [column.kind for column in table.columns] == ["number", "text", "number"]
    assert values(table, "a") == [1.0, 2.0, -300.0]
    assert table.column("b").texts() == ["x", "", "y"]
    np.testing.assert_array_equal(table.column("c").values, [2.5, np.nan, np.nan])


def test_labels_that_look_like_numbers_stay_apart(reader):
    """'01', '1' and '1.0' are three labels."""
    table = reader("x,y\n1,01\n2,1\n3,1.0\n4,01\n", text_columns=["y"])
    assert labels(table, "y") == ["01", "1", "1.0", "01"]


def test_na_is_a_label(reader):
    table = reader("x,y\n1,NA\n2,None\n3,NA\n4,\n", text_columns=["y"])
    found, rows = table.labels("y")
    assert found.tolist() == ["NA", "None", "NA"]
    assert rows.tolist() == [0, 1, 2]


@pytest.mark.parametrize("text", ["a,b\n1,2\n3\n", "a,b\n1,2\n3,4,5\n"])
def test_short_and_long_rows_are_refused_by_line(reader, text):
    with pytest.raises(DataError, match="line 3"):
        reader(text)


@pytest.mark.parametrize("word", ["1e400", "-1e999", "inf", "-Infinity"])
def test_no_number_becomes_infinite(reader, word):
    with pytest.raises(DataError, match=r"Column 'b'.*row 2"):
        reader(f"a,b\n1,2\n3,{word}\n")


@pytest.mark.parametrize("separator", [";", "\t", "|", ","])
def test_separators_are_recognised(reader, separator):
    table = reader("a,b,c\n1,x,3\n2,y,4\n".replace(",", separator))
    assert table.names == ["a", "b", "c"]
    assert values(table, "c") == [3.0, 4.0]


def test_decimal_comma(reader):
    table = reader("a;b\n1,5;x\n2,25;y\n")
    assert values(table, "a") == [1.5, 2.25]


def test_a_column_that_turns_to_text_late(reader):
    rows = [f"{i},{i}" for i in range(3000)]
    table = reader("a,b\n" + "\n".join(rows) + "\n7,word\n")
    assert table.column("a").kind == "number"
    assert table.column("b").texts()[-1] == "word"


def test_quotes_newlines_and_marks(reader):
    table = reader('\ufeff"a","b ""q"""\r\n"1","two\r\nlines"\r\n"2","x,y"\r\n'.encode())
    assert table.names == ["a", 'b "q"']
    assert table.column('b "q"').texts() == ["two\r\nlines", "x,y"]


def test_signs_and_blanks_around_numbers(reader):
    assert values(reader("a,b\n+1, 2\n .5 ,3.\n"), "a") == [1.0, 0.5]


def test_words_python_takes_for_numbers_are_text(reader):
    table = reader("a,b\n1_000,1\n2,2\n")
    assert table.column("a").kind == "text"


def test_duplicate_names_are_refused(reader):
    with pytest.raises(DataError, match="several columns named 'a'"):
        reader("a,a\n1,2\n")


def test_a_first_line_of_data_gets_names(reader):
    table = reader("5.1,3.5,0\n4.9,3.0,1\n")
    assert table.names == ["column_1", "column_2", "column_3"]
    assert table.n_rows == 2
    assert "looks like data" in table.notes[0]


def test_blank_lines_are_no_rows(reader):
    assert reader("\na,b\n\n1,2\n\n3,4\n\n").n_rows == 2


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is empty"),
        (b"  \n \n", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,b\n1,\xff\xfe2\n", "UTF-8 .line 2"),
        (b"a,b\n1,\x002\n", "zero byte in line 2"),
        (b'a,b\n1,"open\n', "quotation mark in line 2 that is never closed"),
        (b'a,b\n1,"x"y\n', "quotation mark within a field in line 2"),
    ],
)
def test_what_is_no_table_is_refused_in_a_sentence(reader, data, sentence):
    with pytest.raises(DataError, match=sentence):
        reader(data)


def test_utf16_with_a_mark():
    assert read_csv("a,b\n1,ü\n2,é\n".encode("utf-16"), "t").column("b").texts() == ["ü", "é"]


@pytest.mark.parametrize("start", [b"PK\x03\x04", b"\x80\x04\x95", b"%PDF-1.4", b"SQLite format 3\x00"])
def test_foreign_files_are_named(start, tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(start + b"rest")
    with pytest.raises(DataError, match=r"data\.csv is "):
        read_table(path)


def test_gzip_by_content(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n3,4\n"))
    assert read_table(path).n_rows == 2
    path.write_bytes(gzip.compress(b"a,b\n1,2\n3,4\n")[:-6])
    with pytest.raises(DataError, match="damaged"):
        read_table(path)


def test_missing_file_suggests(tmp_path):
    (tmp_path / "train.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"train\.csv"):
        read_table(tmp_path / "trian.csv")
    with pytest.raises(DataError, match="penguins"):
        read_table("pengiuns")


def test_bundled_sets_have_all_their_columns():
    table = read_table("penguins", text_columns=["species"])
    assert table.n_rows == 344
    assert table.column("sex").levels == ("female", "male")
    assert int(table.column("sex").missing.sum()) == 11


def test_parquet_and_arrow_keep_types(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    import datetime

    import pyarrow.parquet as parquet

    table = pa.table(
        {
            "n": [1, 2, None],
            "x": [0.5, None, 2.0],
            "b": [True, False, True],
            "s": ["01", None, "1"],
            "c": pa.array(["u", "v", "u"]).dictionary_encode(),
            "d": [datetime.date(2020, 1, 1)] * 3,
            "l": [[1], [2], [3]],
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    for name in ("t.parquet", "t.arrow"):
        found = read_table(tmp_path / name)
        kinds = {column.name: column.kind for column in found.columns}
        assert kinds == {
            "n": "number", "x": "number", "b": "number", "s": "text", "c": "text", "d": "date", "l": "other",
        }  # fmt: skip
        assert found.labels("n")[0].dtype == np.int64
        assert found.labels("b")[0].tolist() == [True, False, True]
        assert found.column("s").texts() == ["01", "", "1"]
        assert found.column("c").texts() == ["u", "v", "u"]
    (tmp_path / "t.parquet").write_bytes((tmp_path / "t.parquet").read_bytes()[:-20])
    with pytest.raises(DataError, match="damaged"):
        read_table(tmp_path / "t.parquet")


def test_libsvm(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("+1 1:0.5 3:2 # note\n-1 2:1\n1 qid:3 1:4\n")
    table = read_table(path)
    assert table.labels("label")[0].tolist() == [1, -1, 1]
    np.testing.assert_array_equal(table.sparse.toarray(), [[0.5, 0, 2], [0, 1, 0], [4, 0, 0]])
    path.write_text("+1 1:0.5 3:2\n-1 2:1 1:3\n")
    with pytest.raises(DataError, match="line 2: the indices do not rise"):
        read_table(path)
    path.write_text("+1 1:0.5 3:2\n-1 2:1e999\n")
    with pytest.raises(DataError, match="no finite number"):
        read_table(path)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "mapping"])
def test_frames_become_tables(library):
    data = {"x": [1.5, 2.5, 3.5], "s": ["a", "b", "a"], "k": [1, 2, 3]}
    if library != "mapping":
        module = pytest.importorskip(library, reason=f"{library} is not installed")
        frame = module.table(data) if library == "pyarrow" else module.DataFrame(data)
    table = read_frame(data if library == "mapping" else frame)
    assert table.column("x").values.tolist() == [1.5, 2.5, 3.5]
    assert table.column("s").texts() == ["a", "b", "a"]
    assert table.labels("k")[0].tolist() == [1, 2, 3]


def test_suggestions():
    assert suggestion("Speces", ["species", "sex"], "") == "Did you mean 'species'?"
    assert suggestion("zzz", ["species", "sex"], "Columns:") == "Columns: 'species' and 'sex'."


def test_readers_agree_on_random_tables():
    """Both readers give the same columns, whatever stands in the fields."""
    pytest.importorskip("pyarrow", reason="the fast reader needs pyarrow")
    import csv

    rng = np.random.default_rng(0)
    fields = ["1", "2.5", "-3e-4", "", "NA", "x", "01", "a b", 'q"', "1,5", "é", " 7 ", "nan", "1e5", "null", "x\ny"]
    for _ in range(60):
        rows, width = int(rng.integers(1, 12)), int(rng.integers(2, 5))
        buffer = io.StringIO()
        writer = csv.writer(buffer, delimiter=str(rng.choice([",", ";", "\t"])))
        writer.writerow([f"c{j}" for j in range(width)])
        pools = [rng.choice(fields, size=int(rng.integers(1, 4))) for _ in range(width)]
        writer.writerows([[str(rng.choice(pool)) for pool in pools] for _ in range(rows)])
        data = buffer.getvalue().encode()
        answers = []
        for fast in FAST.values():
            try:
                table = read_csv(data, "t", text_columns=["c0"], fast_bytes=fast)
                answers.append([(c.name, c.kind, c.texts()) for c in table.columns])
            except DataError as error:
                answers.append([("error", str(error), [])])
        assert answers[0] == answers[1], data


@pytest.mark.parametrize("line", ["\n", "\r\n"])
def test_a_file_of_several_blocks_keeps_the_order_of_its_rows(reader, line):
    """Blank lines, missing numbers, levels and words that a later block is the first to hold change no row's place."""
    n = 90_000  # several of the blocks that pyarrow's threads take
    rows = [f"{i}.5,{'' if i % 3 else i},{'uvw'[i // 30_000]},{i}{line * (i % 4 == 0)}" for i in range(n)]
    table = reader(line.join(["a,b,c,d", *rows, "1,2,w,word"]) + line * 3, text_columns=["c"])
    assert table.n_rows == n + 1
    assert table.column("a").values.tolist() == [*(i + 0.5 for i in range(n)), 1]
    assert table.column("a").values.sum() == sum(i + 0.5 for i in range(n)) + 1
    np.testing.assert_array_equal(table.column("b").values[:-1], [np.nan if i % 3 else i for i in range(n)])
    assert table.column("c").counts.tolist() == [30_000, 30_000, 30_001]
    assert table.column("c").texts()[29_999:30_001] == ["u", "v"]
    assert table.column("d").texts() == [*map(str, range(n)), "word"]


def test_words_and_numbers_of_the_first_rows_are_told_apart():
    def numeric(*texts, decimal="."):
        return is_numeric(Layout(",", decimal, ("a",), True, tuple((text,) for text in texts)), 0)

    assert numeric("1", " -2.5e3 ", ".5", "7.")
    assert numeric("1", "NA", "")
    assert numeric("1,5", "2", decimal=",")
    assert not numeric("1.5", decimal=",")
    assert not numeric("1", "x")
    assert not numeric("1\x002", "3"), "a zero byte in a field is no end of it"
    assert not numeric(*["12345678901234567890"] * 200, "x"), "no time is lost on ways to match what does not"


def test_mutated_tables_are_read_or_refused():
    """Whatever is done to a table's bytes, the answer is a table or a sentence, and the same from both readers."""
    pytest.importorskip("pyarrow", reason="the fast reader needs pyarrow")
    import random
    from importlib import resources

    plain = resources.files("discriminant.datasets").joinpath("penguins.csv").read_bytes()[:3000]
    scraps = [
        b",",
        b";",
        b"\n",
        b'"',
        b"NA",
        b"1e400",
        b"\x00",
        b"\xff",
        b"inf",
        b"\r",
        b"1e-320",
        b"\xef\xbb\xbf",
        b":",
    ]
    rnd = random.Random(0)
    for _ in range(150):
        data = bytearray(plain)
        for _ in range(rnd.randint(1, 5)):
            at = rnd.randrange(len(data))
            if rnd.random() < 0.6:
                data[at : at + rnd.randint(0, 2)] = rnd.choice(scraps)
            else:
                del data[at : at + rnd.randint(1, 40)]
        answers = []
        for fast in FAST.values():
            try:
                table = read_csv(bytes(data), "t", text_columns=["species"], fast_bytes=fast)
                answers.append([(c.name, c.kind, c.texts()) for c in table.columns])
            except DataError as error:
                answers.append(type(error).__name__ + " " + str(error)[:20])
        assert answers[0] == answers[1], bytes(data)


def wide(columns, rows, length):
    """Lines of a table whose names are so long."""
    names = [f"{j}".rjust(length, "n") for j in range(columns)]
    lines = [",".join([*names, "label"])]
    lines += [",".join([*(str((i * j) % 10) for j in range(columns)), "ab"[i % 2]]) for i in range(rows)]
    return names, "\n".join(lines) + "\n"


@pytest.mark.parametrize("change", [str, lambda text: text.replace("\n", "\r\n"), lambda text: text.replace(",", ";")])
def test_a_line_of_names_may_be_longer_than_any_head(reader, change):
    names, text = wide(1_500, 40, 200)
    assert text.index("\n") > files.HEAD
    table = reader("\ufeff" + change(text), text_columns=["label"])
    assert [column.name for column in table.columns] == [*names, "label"]
    assert values(table, names[7]) == [(7 * i) % 10 for i in range(40)]
    assert labels(table, "label") == list("ab" * 20)


def test_lines_longer_than_any_head_are_scanned(tmp_path):
    pytest.importorskip("pyarrow")
    from discriminant import scan

    _, text = wide(20_000, 6, 16)
    assert text.index("\n") > files.HEAD
    (tmp_path / "genes.csv").write_text(text)
    ((X, y),) = scan(tmp_path / "genes.csv", target="label")
    assert X.shape == (6, 20_000)
    assert X[5, 7] == 5
    assert y.tolist() == list("ababab")
    lines = [" ".join([str(i % 2), *(f"{j + 1}:{(i * j) % 10 + 0.5}" for j in range(40_000))]) for i in range(6)]
    (tmp_path / "genes").write_text("\n".join(lines))
    ((X, y),) = scan(tmp_path / "genes")
    assert X.shape == (6, 40_000)
    assert y.tolist() == [0, 1] * 3


@pytest.mark.parametrize(
    ("texts", "decimal", "numbers"),
    [
        (["1,191", "990", "1,234,567.5"], ".", [1191, 990, 1234567.5]),
        (["1.191,50", "7,5"], ",", [1191.5, 7.5]),
        (["$12.50", "-$3", "$ 1,000", "0"], ".", [12.5, -3, 1000, 0]),
        (["12 EUR", "7.5 EUR", "NA"], ".", [12, 7.5, np.nan]),
        (["7 %", "12.5%", "\u22123 %"], ".", [7, 12.5, -3]),
        (["(1,191)", "20"], ".", [-1191, 20]),
        (["12\u00a0345", "1'000"], ".", [12345, 1000]),
        (["170 cm", "81.5cm", "-"], ".", [170, 81.5, np.nan]),
        (["36,6 °C", "1.037,2 °C"], ",", [36.6, 1037.2]),
        (["CHF 1'250.-", "CHF 5.\u2013"], ".", [1250, 5]),
        (["5,- €", "1.250,50 €"], ",", [5, 1250.5]),
        (["5-", "7"], ".", None),
        (["12 m", "7"], ".", None),
        (["12 m", "7 cm"], ".", None),
        (["12B", "7B"], ".", None),
        (["12 %", "0.12"], ".", None),
        (["$5", "€5"], ".", None),
        (["1,19", "2,5"], ".", None),
        (["1,191,22"], ".", None),
        (["12 34"], ".", None),
        (["$"], ".", None),
        (["$5$"], ".", None),
        (["NA"], ".", None),
        (["-(5)"], ".", None),
    ],
)
def test_dressed_numbers(texts, decimal, numbers):
    from discriminant.data.tables import formatted_numbers

    found = formatted_numbers(texts, decimal)
    if numbers is None:
        assert found is None
    else:
        np.testing.assert_array_equal(found, numbers)


def test_dressed_numbers_are_read_and_said(reader):
    table = reader('price,share,y\n"$1,191",7 %,a\n$20,8 %,b\n')
    assert table.column("price").values.tolist() == [1191, 20]
    assert table.column("share").values.tolist() == [7, 8]
    assert table.notes == (
        "Numbers with separators, units or brackets, such as '$1,191', are read as numbers: 'price' and 'share'.",
    )


def test_commas_that_may_be_thousands_or_decimals(reader):
    assert reader("a;b\n1,191;2.5\n1,500;3.5\n").column("a").values.tolist() == [1191, 1500]
    assert reader("a;b\n1,191;x\n0,500;y\n").column("a").values.tolist() == [1.191, 0.5]
    table = reader("a;b\n1,191;x\n1,500;y\n")
    assert table.column("a").values.tolist() == [1.191, 1.5]
    assert "'1,191' is read with a decimal comma" in table.notes[0]
    assert reader("a;b\n€ 1.191,50;x\n€ 7,00;y\n").column("a").values.tolist() == [1191.5, 7]


def test_text_that_is_nearly_a_number_is_told_with_its_reason():
    from discriminant.data.preprocess import Preprocess

    rows = [f'"$1,{i:03}",{"ab"[i % 2]}' for i in range(100)]
    rows[7] = "ask,a"
    with pytest.raises(DataError, match=r"holds numbers except for 'ask' \(first in row 8"):
        Preprocess.fit(read_csv(b"p,y\n" + "\n".join(rows).encode(), "d", text_columns=["y"]), "y")
    rows[7] = "€ 5,a"
    with pytest.raises(DataError, match="numbers in several units"):
        Preprocess.fit(read_csv(b"p,y\n" + "\n".join(rows).encode(), "d", text_columns=["y"]), "y")


def test_values_of_pandas_that_are_missing_are_so_in_tables():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pd.DataFrame(
        {
            "truth": pd.array([True, None, False], dtype="boolean"),
            "text": pd.array(["a", None, "b"], dtype="string"),
            "numbers": pd.Series([1, None, 2.5], dtype=object),
            "dates": pd.Series([datetime.date(1970, 1, 2), None, datetime.date(1970, 1, 3)], dtype=object),
            "lists": pd.Series([[1], None, [2]], dtype=object),
        }
    )
    table = read_frame(frame)
    assert [column.kind for column in table.columns] == ["number", "text", "number", "date", "other"]
    assert all(column.missing.tolist() == [False, True, False] for column in table.columns)
    assert table.column("truth").texts() == ["True", "", "False"]
    np.testing.assert_array_equal(table.column("dates").days, [1, np.nan, 2])
