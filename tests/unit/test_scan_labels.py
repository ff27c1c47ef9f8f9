"""Labels in files: whatever their kind, wherever they lie, and however rare, a scan's fit is that of the arrays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discriminant import LogisticRegression
from discriminant.data.file_blocks import Budget, Progress
from discriminant.data.scan import Scan, open_files
from discriminant.errors import DataError

ROWS, SAMPLE = 90_000, 4_000
BUDGET = Budget(memory=1 << 31, part=400_000, sample=1 << 20, sample_rows=SAMPLE)


def _scan(path: Any, target: Any = None, columns: Any = None) -> Scan:
    """Files that are large beside a sample of 4,000 rows."""
    return Scan(open_files(path, target, columns, None), BUDGET, False, Progress(None))


def _rows(seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 3))
    return X, (rng.random(ROWS) < 1 / (1 + np.exp(-X[:, 0] - 0.5))).astype(np.int64)


def _files(folder: Path, X: Any, y: Any) -> Scan:
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return _scan(folder / "X.npy", str(folder / "y.npy"))


def _unsampled(folder: Path, X: Any, y: Any) -> Any:
    """Rows far into the file that the sample does not hold."""
    sample = _files(folder, X, y).rows.sample
    return np.setdiff1d(np.arange(ROWS // 2, ROWS), sample.index)[1000:1040]


def _agrees(rows: Any, X: Any, y: Any, **options: Any) -> Any:
    """The fit of the files, which must be that of the arrays."""
    model = LogisticRegression(tol=1e-12, **options).fit(rows)
    plain = LogisticRegression(tol=1e-12, **options).fit(X, y)
    assert model.classes_.tolist() == plain.classes_.tolist()
    # A class of 40 rows in 90,000 has weights of little curvature: two gaps of 1e-12 leave them some 1e-5 apart.
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, plain.intercept_, atol=1e-4)
    assert model.certificate_.converged
    return model


LABELS: dict[str, Callable[[Any], Any]] = {
    "0 and 1": lambda y: y,
    "bytes": lambda y: y.astype(np.int8),
    "far apart": lambda y: np.where(y == 1, 10**12, -7),
    "whole floats": lambda y: y.astype(np.float64),
    "truth": lambda y: y == 1,
    "text": lambda y: np.where(y == 1, "yes", "no"),
    "text of numbers": lambda y: np.where(y == 1, "10", "9"),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind(kind: str, tmp_path: Path) -> None:
    X, codes = _rows()
    y = LABELS[kind](codes)
    rows = _files(tmp_path, X, y)
    expected = np.where(y == "10", 10, 9) if kind == "text of numbers" else y  # as in other files of text
    _agrees(rows, X, expected)
    assert rows.passes < 5.2  # four to five at this tolerance, and a part of one for the sample


def test_three_classes(tmp_path: Path) -> None:
    X, y = _rows()
    y = y + (X[:, 1] > 1)
    _agrees(_files(tmp_path, X, y), X, y)


@pytest.mark.parametrize("between", [False, True])
def test_a_class_that_an_even_sample_does_not_see(between: bool, tmp_path: Path) -> None:
    """Codes of the classes after it would change, were it found too late; all its rows come to the sample."""
    X, y = _rows()
    y = y * (1 + between)
    rare = 1 if between else 2
    y[_unsampled(tmp_path, X, y)] = rare
    rows = _files(tmp_path, X, y)
    assert _agrees(rows, X, y).classes_.tolist() == [0, 1, 2]
    _, drawn = rows.training(None, None, None)[0].draw(SAMPLE, 3)
    assert np.bincount(drawn.target)[rare] == 40


def test_a_rare_class_has_its_share_of_the_sample(tmp_path: Path) -> None:
    X, y = _rows()
    rare = np.random.default_rng(1).random(ROWS) < 0.004
    y[rare] = 2
    rows = _files(tmp_path, X, y)
    _agrees(rows, X, y)
    _, drawn = rows.training(None, None, None)[0].draw(SAMPLE, 3)
    assert np.bincount(drawn.target)[2] >= min(300, rare.sum())


@pytest.mark.parametrize("ones", [ROWS // 3, 40])
def test_a_sorted_file(ones: int, tmp_path: Path) -> None:
    """The last rows are of one class; of 40 an even sample may see none at all."""
    X, y = _rows()
    order = np.argsort(y, kind="stable")
    X = X[order]
    y = (np.arange(ROWS) >= ROWS - ones).astype(np.int64)
    X[:, 0] += y  # some signal
    _agrees(_files(tmp_path, X, y), X, y)


def test_one_class_is_refused_as_ever(tmp_path: Path) -> None:
    X, y = _rows()
    with pytest.raises(DataError, match="one class only"):
        LogisticRegression().fit(_files(tmp_path, X, np.zeros_like(y)))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [(np.nan, "The label is missing in row {row} of .*X.npy; drop"), (0.5, "The label in row {row} of .* is 0.5")],
)
def test_a_bad_label_is_told_with_its_row(value: float, sentence: str, tmp_path: Path) -> None:
    """The first of two."""
    X, y = _rows()
    bad = y.astype(np.float64)
    bad[[70_001, 80_000]] = value, np.nan
    model = LogisticRegression()
    with pytest.raises(DataError, match=sentence.format(row=70_001)):
        model.fit(_files(tmp_path, X, bad))
    assert not hasattr(model, "classes_")


def test_labels_in_a_column_and_in_several_files(tmp_path: Path) -> None:
    X, y = _rows()
    both = np.column_stack([X[:, :1], y, X[:, 1:]])
    np.save(tmp_path / "both.npy", both)
    _agrees(_scan(tmp_path / "both.npy", 1), X, y)
    cut = 30_000
    names = [str(tmp_path / name) for name in ("a.npy", "b.npy", "ya.npy", "yb.npy")]
    for name, part in zip(names, (X[:cut], X[cut:], y[:cut].astype(np.int8), y[cut:].astype(np.int32)), strict=True):
        np.save(name, part)
    rows = _scan(names[:2], names[2:])
    _agrees(rows, X, y)
    index, drawn = rows.training(None, None, None)[0].draw(SAMPLE, 2)
    np.testing.assert_array_equal(drawn.design.raw, X[index])
    np.testing.assert_array_equal(drawn.target, y[index])


def test_weights_of_a_sample_stand_for_all_rows(tmp_path: Path) -> None:
    """Σ w over a class = its rows, and rows come from all over the file."""
    X, y = _rows()
    blocks, _ = _files(tmp_path, X, y).training(None, None, None)
    for count in (200, 1_000, blocks.sample_rows):
        index, block = blocks.draw(count, 2)
        np.testing.assert_array_equal(block.design.values, X[index])
        np.testing.assert_array_equal(block.target, y[index])
        np.testing.assert_allclose(np.bincount(block.target, block.weight), np.bincount(y))
        assert index.min() < ROWS / 4
        assert index.max() > ROWS * 3 / 4


def test_weights_of_rows_and_classes(tmp_path: Path) -> None:
    X, y = _rows()
    _agrees(_files(tmp_path, X, y), X, y, class_weight="balanced")
    _agrees(_files(tmp_path, X, y), X, y, class_weight={0: 3.0, 1: 0.5})
    weight = np.random.default_rng(3).uniform(0.5, 2, ROWS)
    model = LogisticRegression(tol=1e-12).fit(_files(tmp_path, X, y), sample_weight=weight)
    plain = LogisticRegression(tol=1e-12).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-4)


def test_the_same_scan_again_and_with_other_labels(tmp_path: Path) -> None:
    X, y = _rows()
    rows = _files(tmp_path, X, y)
    first = _agrees(rows, X, y)
    np.testing.assert_array_equal(_agrees(rows, X, y).coef_, first.coef_)
    other = (X[:, 2] + np.random.default_rng(2).normal(size=ROWS) > 0).astype(int)
    other[-3:] = 2  # hardly in any even sample
    model = LogisticRegression(tol=1e-12).fit(rows, other)
    plain = LogisticRegression(tol=1e-12).fit(X, other)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-4)


def test_a_named_optimizer_reads_the_same_rows(tmp_path: Path) -> None:
    X, y = _rows()
    model = LogisticRegression(optimizer="newton").fit(_files(tmp_path, X, y))
    plain = LogisticRegression(optimizer="newton").fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-6)


def test_rows_are_picked_from_several_files_in_any_order(tmp_path: Path) -> None:
    X, _ = _rows()
    X = X[:1000]
    np.save(tmp_path / "1.npy", X[:300])
    np.save(tmp_path / "2.npy", X[300:])
    index = np.array([999, 0, 1, 2, 299, 300, 301, 7, 500])
    both = [tmp_path / "1.npy", tmp_path / "2.npy"]
    rows = _scan(both)
    np.testing.assert_array_equal(rows.rows.pick(index).raw, X[index])
    assert rows.passes == pytest.approx(9 / 1000, rel=1e-3)
    np.testing.assert_array_equal(_scan(both, columns=[2, 0]).rows.pick(index).raw, X[index][:, [2, 0]])
    np.save(tmp_path / "single.npy", X.astype(np.float16))
    half = _scan(tmp_path / "single.npy")
    np.testing.assert_array_equal(half.rows.pick(index).raw, X[index].astype(np.float16).astype(np.float64))
