"""``discriminant.scan``: files larger than memory; what they are told to be, what is refused in which sentence."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discriminant
from discriminant import LinearDiscriminantAnalysis, LogisticRegression, scan
from discriminant.data.file_blocks import Budget, Progress
from discriminant.data.file_labels import Labels
from discriminant.data.scan import Scan, bytes_of, open_files
from discriminant.errors import DataError, MismatchError, ParameterError

pa = pytest.importorskip("pyarrow", reason="columnar files are written by pyarrow")


def _rows(n: int = 600, d: int = 4, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)


def _parquet(path: Path, X: Any, y: Any, **more: Any) -> Path:
    from pyarrow import parquet

    columns = {**{f"x{j}": X[:, j] for j in range(X.shape[1])}, **more, "label": y}
    parquet.write_table(pa.table(columns), path, row_group_size=200)
    return path


def _npy(folder: Path, X: Any, y: Any) -> tuple[str, str]:
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return str(folder / "X.npy"), str(folder / "y.npy")


def _small(path: Any, target: Any, *, memory: int = 2_000_000_000, **budget: int) -> Scan:
    """A scan whose parts and sample are small beside its files."""
    return Scan(open_files(path, target, None, None), Budget(memory, **budget), False, Progress(None))


def test_what_is_known_beforehand(tmp_path: Path) -> None:
    X, y = _rows()
    rows = scan(_parquet(tmp_path / "t.parquet", X, y), target="label")
    assert rows.passes == 0
    assert rows.shape == (600, 4)
    assert rows.feature_names == ("x0", "x1", "x2", "x3")
    assert rows.passes == 0
    np.testing.assert_array_equal(rows.classes, [0, 1])
    assert 0 < rows.passes <= 0.25  # the label's column alone
    parts = list(rows)
    np.testing.assert_array_equal(np.concatenate([part for part, _ in parts]), X)
    np.testing.assert_array_equal(np.concatenate([labels for _, labels in parts]), y)
    assert "t.parquet" in repr(rows)


def test_columns_can_be_chosen(tmp_path: Path) -> None:
    X, y = _rows()
    path = _parquet(tmp_path / "t.parquet", X, y)
    model = LogisticRegression().fit(scan(path, target="label", columns=["x2", "x0"], hold=False))
    best = LogisticRegression().fit(X[:, [2, 0]], y)
    np.testing.assert_allclose(model.coef_, best.coef_, atol=1e-3)
    assert list(model.feature_names_in_) == ["x2", "x0"]
    X_path, y_path = _npy(tmp_path, X, y)
    model = LogisticRegression().fit(scan(X_path, target=y_path, columns=[2, 0], hold=False))
    np.testing.assert_allclose(model.coef_, best.coef_, atol=1e-3)


def test_small_data_are_read_once(tmp_path: Path) -> None:
    X, y = _rows()
    rows = scan(*_npy(tmp_path, X, y))
    LogisticRegression().fit(rows)
    assert rows.passes == pytest.approx(1.0)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_the_samples_proof_is_one(tmp_path: Path, n_classes: int, C: float) -> None:
    # The sample holds a part of the rows only, so that its optimum is not theirs, and its proof loses a factor.
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30_000, 5)) @ rng.normal(size=(5, 5))
    y = np.argmax(X @ rng.normal(size=(5, n_classes)) + rng.gumbel(size=(len(X), n_classes)), axis=1)
    rows = _small(*_npy(tmp_path, X, y), part=400_000, sample=200_000)  # 5,000 rows
    model = LogisticRegression(C=C, tol=1e-6).fit(rows)
    best = LogisticRegression(C=C, tol=1e-13).fit(X, y)
    assert len(rows.rows.sample.index) < 6_000
    assert model.certificate_.converged
    assert 0 <= model.certificate_.objective - best.certificate_.objective <= model.certificate_.gap
    assert model.certificate_.passes <= 6


def test_weights_of_rows_and_classes(tmp_path: Path) -> None:
    X, y = _rows(3_000)
    weight = np.random.default_rng(5).uniform(0.2, 3.0, len(y))
    paths = _npy(tmp_path, X, y)
    for options in ({"sample_weight": weight}, {}):
        for class_weight in (None, "balanced", {0: 0.5, 1: 3.0}):
            model = LogisticRegression(class_weight=class_weight, tol=1e-10).fit(scan(*paths, hold=False), **options)
            best = LogisticRegression(class_weight=class_weight, tol=1e-12).fit(X, y, **options)
            np.testing.assert_allclose(model.coef_, best.coef_, atol=2e-5)
    lda = LinearDiscriminantAnalysis().fit(scan(*paths, hold=False), sample_weight=weight)
    np.testing.assert_allclose(lda.coef_, LinearDiscriminantAnalysis().fit(X, y, weight).coef_, rtol=1e-8)


def test_a_rare_class_at_the_end_is_found(tmp_path: Path) -> None:
    X, y = _rows(9_000)
    y[-4:] = 2
    X[-4:] += 3.0
    rows = _small(*_npy(tmp_path, X, y), part=50_000, sample=40_000)
    model = LogisticRegression(tol=1e-7).fit(rows)
    assert model.certificate_.converged
    _, drawn = rows.training(None, None, None)[0].draw(500, 3)
    assert np.bincount(drawn.target)[2] == 4
    best = LogisticRegression(tol=1e-12).fit(X, y)
    assert model.certificate_.objective - best.certificate_.objective <= 1e-7


def test_text_columns_become_indicators(tmp_path: Path) -> None:
    X, y = _rows(900)
    place = np.array(["Rome", "Oslo", "Lima"])[np.random.default_rng(1).integers(0, 3, 900)]
    place[:400] = "Lima"
    path = _parquet(tmp_path / "t.parquet", X, y, place=place)
    rows = scan(path, target="label", hold=False)
    assert rows.feature_names == ("x0", "x1", "x2", "x3", "place=Oslo", "place=Rome")
    model = LogisticRegression(tol=1e-10).fit(rows)
    wide = np.column_stack([X, place == "Oslo", place == "Rome"])
    np.testing.assert_allclose(model.coef_, LogisticRegression(tol=1e-12).fit(wide, y).coef_, atol=1e-5)
    from pyarrow import csv, parquet

    csv.write_csv(parquet.read_table(path), tmp_path / "t.csv")
    again = LogisticRegression(tol=1e-10).fit(scan(tmp_path / "t.csv", target="label", hold=False))
    np.testing.assert_allclose(again.coef_, model.coef_, atol=1e-5)
    assert list(again.feature_names_in_) == list(model.feature_names_in_) == ["x0", "x1", "x2", "x3", "place"]
    assert again.discriminant_.names == rows.feature_names


def test_labels_of_text_and_truth(tmp_path: Path) -> None:
    X, y = _rows()
    words = np.array(["no", "yes"])[y]
    model = LogisticRegression().fit(scan(_parquet(tmp_path / "a.parquet", X, words), target="label", hold=False))
    assert model.classes_.tolist() == ["no", "yes"]
    rows = scan(_parquet(tmp_path / "b.parquet", X, y == 1), target="label", hold=False)
    model = LogisticRegression().fit(rows)
    assert np.mean(np.asarray(model.predict(rows)) == (y == 1)) == pytest.approx(model.score(rows))


@pytest.mark.parametrize("ending", [".npy", ".csv", ".parquet", ".arrow"])
def test_predictions_stream_to_files(tmp_path: Path, ending: str) -> None:
    X, y = _rows()
    rows = scan(_parquet(tmp_path / "t.parquet", X, y), target="label")
    model = LogisticRegression().fit(rows)
    streamed = model.predict_proba(rows)
    assert len(streamed) == 600
    expected = streamed.to_numpy()
    np.testing.assert_allclose(np.concatenate(list(streamed)), expected)
    out = model.predict_proba(rows, out=tmp_path / f"p{ending}")
    if ending == ".npy":
        found = np.load(out)
    elif ending == ".csv":
        found = np.loadtxt(out, delimiter=",", skiprows=1)
    else:
        from pyarrow import parquet

        table = parquet.read_table(out) if ending == ".parquet" else pa.ipc.open_file(out).read_all()
        found = np.column_stack([np.array(table.column(j).to_pylist()) for j in range(2)])
    np.testing.assert_allclose(found, expected)
    with pytest.raises(ParameterError, match=r"must end in \.npy"):
        model.predict(rows, out=tmp_path / "p.txt")
    with pytest.raises(ParameterError, match="a file of the scan itself"):
        model.predict(rows, out=tmp_path / "t.parquet")


def test_rows_without_labels_can_be_predicted(tmp_path: Path) -> None:
    X, y = _rows()
    path = _parquet(tmp_path / "t.parquet", X, y)
    model = LogisticRegression().fit(scan(path, target="label"))
    only = scan(path, columns=["x0", "x1", "x2", "x3"])
    np.testing.assert_array_equal(
        np.asarray(model.predict(only)), np.asarray(model.predict(scan(path, target="label")))
    )
    with pytest.raises(DataError, match="without a target"):
        LogisticRegression().fit(only)
    with pytest.raises(DataError, match=r"lacks 'x3'"):
        model.predict(scan(path, target="label", columns=["x0", "x1", "x2"]))


def test_progress_is_told(tmp_path: Path) -> None:
    X, y = _rows()
    heard: list[Any] = []
    rows = scan(*_npy(tmp_path, X, y), hold=False, progress=lambda **word: heard.append(word))
    LogisticRegression().fit(rows)
    assert heard
    assert heard[-1]["done"] == heard[-1]["rows"] == 600
    assert heard[-1]["rate"] > 0
    assert "rows/s" in heard[-1]["text"]


def test_sizes() -> None:
    assert bytes_of("2GB") == 2_000_000_000
    assert bytes_of("1 GiB") == 1 << 30
    assert bytes_of(5_000_000) == 5_000_000
    for wrong in ("much", -1, None, 1.5, True):
        with pytest.raises(ParameterError, match="memory must be a size"):
            bytes_of(wrong)  # type: ignore[arg-type]


def test_too_little_memory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="is too little: the process with its libraries takes"):
        scan(*_npy(tmp_path, *_rows()), memory="20MB")


def test_sentences_about_files(tmp_path: Path) -> None:
    X, y = _rows()
    path = _parquet(tmp_path / "a.parquet", X, y)
    with pytest.raises(DataError, match="There is no file"):
        scan(tmp_path / "b.parquet", target="label")
    with pytest.raises(DataError, match="No file matches"):
        scan(str(tmp_path / "*.orc"), target="label")
    with pytest.raises(DataError, match=r"no column 'labels'. Did you mean 'label'"):
        scan(path, target="labels")
    _parquet(tmp_path / "b.parquet", X[:, :3], y)
    with pytest.raises(DataError, match=r"b\.parquet lacks the column 'x3'"):
        scan(str(tmp_path / "*.parquet"), target="label")
    _parquet(tmp_path / "b.parquet", X[:, :3], y, x3=np.array(["a", "b", "c"] * 200))
    with pytest.raises(DataError, match=r"'x3' holds string in .*b\.parquet and double in .*a\.parquet"):
        scan(str(tmp_path / "*.parquet"), target="label")
    np.save(tmp_path / "b.npy", X)
    with pytest.raises(DataError, match="one scan reads one format"):
        scan([path, tmp_path / "b.npy"], target="label")
    (tmp_path / "cut.npy").write_bytes((tmp_path / "b.npy").read_bytes()[:-500])
    with pytest.raises(DataError, match=r"cut\.npy is cut short"):
        scan(tmp_path / "cut.npy")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="holds no files"):
        scan(tmp_path / "empty")


def test_sentences_about_values(tmp_path: Path) -> None:
    X, y = _rows()
    X[437, 2] = np.nan
    path = _parquet(tmp_path / "a.parquet", X, y)
    for method in (LogisticRegression, LinearDiscriminantAnalysis):
        with pytest.raises(DataError, match=r"contains NaN: column 'x2' in row 437 of .*a\.parquet"):
            method().fit(scan(path, target="label", hold=False))
    X, y = _rows()
    labels = [int(v) for v in y]
    labels[333] = None  # type: ignore[call-overload]
    with pytest.raises(DataError, match=r"label is missing in row 333 of .*b\.parquet"):
        LogisticRegression().fit(scan(_parquet(tmp_path / "b.parquet", X, labels), target="label"))
    with pytest.raises(DataError, match="one class only"):
        LogisticRegression().fit(scan(_parquet(tmp_path / "c.parquet", X, y * 0), target="label"))
    with pytest.raises(DataError, match=r"Unknown label type: continuous. The label in row 0 of"):
        LogisticRegression().fit(scan(_parquet(tmp_path / "d.parquet", X, X[:, 0]), target="label"))
    import datetime

    days = [datetime.date(2020, 1, 1)] * 600
    with pytest.raises(DataError, match=r"'day' of .*e\.parquet holds date32"):
        scan(_parquet(tmp_path / "e.parquet", X, y, day=days), target="label")
    lines = ["a,b,label", *(f"{a:.3f},{b:.3f},{c}" for a, b, c in zip(X[:, 0], X[:, 1], y, strict=True))]
    lines[500] = "much,1.0,0"
    (tmp_path / "f.csv").write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"Column 'a' of .*f\.csv cannot be read further down"):
        LogisticRegression().fit(scan(tmp_path / "f.csv", target="label"))
    (tmp_path / "g.svm").write_text("1 1:2.0 2:1\n0 1:x\n")
    with pytest.raises(DataError, match=r"g\.svm is not a libsvm file in line 2: '1:x' is no finite number"):
        LogisticRegression().fit(scan(tmp_path / "g.svm"))


def test_large_row_groups_are_read_in_stretches(tmp_path: Path) -> None:
    from pyarrow import parquet

    X, y = _rows(5_000)
    columns = {**{f"x{j}": X[:, j] for j in range(4)}, "label": y}
    parquet.write_table(pa.table(columns), tmp_path / "one.parquet")  # one row group
    rows = _small(tmp_path / "one.parquet", "label", part=20_000, sample=100_000)
    parts = [part for part, _ in rows]
    assert len(parts) > 5
    np.testing.assert_array_equal(np.vstack(parts), X)
    some = np.array([4_999, 3, 2_500, 2_501])
    np.testing.assert_array_equal(rows.rows.pick(some).raw, X[some])
    np.testing.assert_allclose(
        LinearDiscriminantAnalysis().fit(rows).coef_, LinearDiscriminantAnalysis().fit(X, y).coef_, rtol=1e-9
    )


def test_labels_spill_to_disk() -> None:
    labels = Labels(lambda part, row: f"{part}:{row}")
    values = np.random.default_rng(0).integers(5, 9, 1_000)
    for k in range(4):
        labels.add(k, values[250 * k : 250 * k + 250])
    classes, codes = labels.finish(999)
    assert isinstance(codes, np.memmap)
    np.testing.assert_array_equal(classes[codes[np.array([999, 3])]], values[[999, 3]])
    np.testing.assert_array_equal(classes[codes[300:450]], values[300:450])
    np.testing.assert_array_equal(np.asarray(codes), values - 5)


def test_a_fit_whose_labels_lie_on_disk_is_that_of_labels_in_memory(tmp_path: Path) -> None:
    X, y = _rows(3_000)
    rows = _small(*_npy(tmp_path, X, y), memory=16_000, part=20_000, sample=40_000)
    assert isinstance(rows.training(None, None, None)[0].target, np.memmap)
    for weights in (None, "balanced"):
        model = LogisticRegression(tol=1e-10, class_weight=weights).fit(rows)
        best = LogisticRegression(tol=1e-12, class_weight=weights).fit(X, y)
        np.testing.assert_allclose(model.coef_, best.coef_, atol=2e-5)
    assert model.score(rows) == best.score(X, y)


def test_a_file_that_shrinks_while_it_is_read_ends_the_fit_with_a_sentence(tmp_path: Path) -> None:
    X, y = _rows(5_000)
    paths = _npy(tmp_path, X, y)
    rows = _small(*paths, part=20_000, sample=100_000)
    assert rows.shape == (5_000, 4)
    with open(paths[0], "r+b") as file:
        file.truncate(100_000)
    with pytest.raises(DataError, match=r"X\.npy is cut short, or was changed while it was read"):
        LinearDiscriminantAnalysis().fit(rows)


@pytest.mark.parametrize("threads", ["1", "2", "3"])
def test_sums_have_the_same_bits_whatever_the_threads(tmp_path: Path, monkeypatch: Any, threads: str) -> None:
    X, y = _rows(8_000)
    blocks = _small(*_npy(tmp_path, X, y), part=20_000, sample=100_000).training(None, None, None)[0]
    monkeypatch.setenv("DISCRIMINANT_NUM_THREADS", threads)

    def adjoint(block: Any) -> Any:
        return block.design.adjoint(np.asarray(block.target, dtype=float)[:, None])

    parts = [adjoint(block) for block in blocks]
    assert len(parts) > 10
    np.testing.assert_array_equal(blocks.reduce(adjoint), sum(parts[1:], parts[0]))


def test_the_process_stays_under_its_limit(tmp_path: Path) -> None:
    """A file of 240 MB under a limit of 420 MB for everything, the libraries' 250 MB included; seen from outside."""
    program = f"""
        import sys, numpy as np
        rng = np.random.default_rng(0)
        with open({str(tmp_path / "X.npy")!r}, "wb") as X, open({str(tmp_path / "y.npy")!r}, "wb") as y:
            for file, kind, shape in ((X, "<f8", (600_000, 50)), (y, "|i1", (600_000,))):
                np.lib.format.write_array_header_1_0(file, {{"descr": kind, "fortran_order": False, "shape": shape}})
            for _ in range(60):
                block = rng.standard_normal((10_000, 50))
                X.write(block.tobytes())
                y.write((block[:, 0] + rng.standard_normal(10_000) > 0).astype(np.int8).tobytes())
        from discriminant import LogisticRegression, scan
        rows = scan({str(tmp_path / "X.npy")!r}, target={str(tmp_path / "y.npy")!r}, memory="420MB")
        model = LogisticRegression(tol=1e-6).fit(rows)
        assert model.certificate_.converged and model.certificate_.passes <= 6, model.certificate_
        print("ready", flush=True)
        sys.stdin.readline()
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline().strip() == "ready"
        status = Path(f"/proc/{child.pid}/status")
        if not status.exists():
            pytest.skip(reason="the peak of a process is read from /proc, which this system does not have")
        peak = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        child.stdin.write("\n")
        child.stdin.flush()
    assert peak * 1024 <= 420_000_000


@pytest.mark.parametrize(
    "model",
    [
        discriminant.LinearSVC(),
        discriminant.LogisticRegressionCV(),
        LogisticRegression(l1_ratio=1.0),
        LogisticRegression(penalty="jeffreys"),
        LinearDiscriminantAnalysis(covariance="robust"),
    ],
    ids=lambda model: str(model)[:40],
)
def test_what_needs_all_rows_says_so(model: Any, tmp_path: Path) -> None:
    with pytest.raises(MismatchError, match="needs all rows in memory"):
        model.fit(scan(*_npy(tmp_path, *_rows()), hold=False))


def test_the_public_name() -> None:
    assert discriminant.scan is scan
