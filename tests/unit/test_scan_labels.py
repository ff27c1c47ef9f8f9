"""Labels of a scan that wait for the first pass: the answer is that of all labels at once, whatever the sample saw."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discriminant import LogisticRegression, scan
from discriminant.data import scan_sample
from discriminant.data.scan_awaited import Awaited
from discriminant.data.sources import SAMPLE_FIRST
from discriminant.errors import DataError
from discriminant.optimize.logistic import streamed

ROWS, SAMPLE = 90_000, 4_000


@pytest.fixture(autouse=True)
def _small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples of 4,000 rows, so that 90,000 are many."""
    monkeypatch.setattr(scan_sample, "SAMPLE_ROWS", SAMPLE)


def _rows(seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 3))
    return X, (rng.random(ROWS) < 1 / (1 + np.exp(-X[:, 0] - 0.5))).astype(np.int64)


def _files(folder: Path, X: Any, y: Any) -> Any:
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return scan(folder / "X.npy", target=str(folder / "y.npy"), hold=False)


def _unsampled(folder: Path, X: Any, y: Any) -> Any:
    """Rows far into the file that the sample does not hold."""
    found = _files(folder, X, y)
    assert found.guess() is not None
    return np.setdiff1d(np.arange(ROWS // 2, ROWS), found._coming.index)[1000:1040]


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


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each sample that is drawn: whether the labels of all rows were still unknown."""
    seen: list[bool] = []
    plain = streamed.drawn

    def watched(problem: Any, *args: Any) -> Any:
        seen.append(problem.blocks.scan._labels is None)
        return plain(problem, *args)

    monkeypatch.setattr(streamed, "drawn", watched)
    return seen


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
def test_the_sample_is_solved_before_all_labels_are_looked_at(kind: str, tmp_path: Path, waited: list[bool]) -> None:
    X, codes = _rows()
    y = LABELS[kind](codes)
    rows = _files(tmp_path, X, y)
    expected = np.where(y == "10", 10, 9) if kind == "text of numbers" else y  # as in other files of text
    _agrees(rows, X, expected)
    assert waited[:2] == [True, True]  # two samples
    assert not waited[-1]  # and the last one again, with weights by all labels
    assert rows.passes < 4.2


def test_three_classes(tmp_path: Path, waited: list[bool]) -> None:
    X, y = _rows()
    y = y + (X[:, 1] > 1)
    _agrees(_files(tmp_path, X, y), X, y)
    assert waited[0]


def test_a_class_that_the_sample_does_not_see(tmp_path: Path, waited: list[bool]) -> None:
    X, y = _rows()
    y[_unsampled(tmp_path, X, y)] = 2
    rows = _files(tmp_path, X, y)
    model = _agrees(rows, X, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert waited[0]  # it began with two classes
    assert not waited[-1]
    assert np.bincount(rows.sample.codes)[2] == 40  # all rows of the third have come to the sample


def test_a_class_between_that_the_sample_does_not_see(tmp_path: Path) -> None:
    """Codes of the classes after it change."""
    X, y = _rows()
    y *= 2
    y[_unsampled(tmp_path, X, y)] = 1
    assert _agrees(_files(tmp_path, X, y), X, y).classes_.tolist() == [0, 1, 2]


def test_a_rare_class_that_the_sample_sees(tmp_path: Path, waited: list[bool]) -> None:
    """Fewer rows of it than a sample should have: all labels are looked at, and its rows are taken from all over."""
    X, y = _rows()
    rare = np.random.default_rng(1).random(ROWS) < 0.004
    y[rare] = 2
    rows = _files(tmp_path, X, y)
    _agrees(rows, X, y)
    assert not any(waited)
    assert np.bincount(rows.sample.codes)[2] >= min(scan_sample.SAMPLE_CLASS_ROWS, rare.sum())


@pytest.mark.parametrize("ones", [ROWS // 3, 40])
def test_a_sorted_file(ones: int, tmp_path: Path) -> None:
    """The last rows are of one class; of 40 the sample may see none at all."""
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
@pytest.mark.parametrize("sampled", [True, False])
def test_a_bad_label_is_told_with_its_row(value: float, sentence: str, sampled: bool, tmp_path: Path) -> None:
    """The first of two: the sample may know of the second only."""
    X, y = _rows()
    good = y.astype(np.float64)
    found = _files(tmp_path, X, good)
    assert found.guess() is not None
    held = np.sort(found._coming.index)
    row = int(_unsampled(tmp_path, X, good)[0])
    good[row] = value
    if sampled:
        good[held[held > row][0]] = np.nan
    model = LogisticRegression()
    with pytest.raises(DataError, match=sentence.format(row=row)):
        model.fit(_files(tmp_path, X, good))
    assert not hasattr(model, "classes_")


def test_labels_in_a_column_and_in_several_files(tmp_path: Path, waited: list[bool]) -> None:
    X, y = _rows()
    both = np.column_stack([X[:, :1], y, X[:, 1:]])
    np.save(tmp_path / "both.npy", both)
    rows = scan(tmp_path / "both.npy", target=1, hold=False)
    _agrees(rows, X, y)
    assert waited[0]
    np.testing.assert_array_equal(rows.sample.codes, y[rows.sample.index])
    cut, at = 30_000, len(waited)
    names = [str(tmp_path / name) for name in ("a.npy", "b.npy", "ya.npy", "yb.npy")]
    for name, part in zip(names, (X[:cut], X[cut:], y[:cut].astype(np.int8), y[cut:].astype(np.int32)), strict=True):
        np.save(name, part)
    rows = scan(names[:2], target=names[2:], hold=False)
    _agrees(rows, X, y)
    assert waited[at]
    np.testing.assert_array_equal(rows.sample.raw, X[rows.sample.index])
    np.testing.assert_array_equal(rows.sample.codes, y[rows.sample.index])


def test_weights_stand_for_all_rows(tmp_path: Path) -> None:
    """Σ w = n while labels wait, and Σ w over a class = its rows once they are known."""
    X, y = _rows()
    token = SAMPLE_FIRST.set(True)
    try:
        blocks, _ = _files(tmp_path, X, y).training(None, None, None)
    finally:
        SAMPLE_FIRST.reset(token)
    assert isinstance(blocks.target, Awaited)
    assert blocks.target.pending
    for count in (200, blocks.early_rows, blocks.sample_rows):
        index, block = blocks.draw(count, 2)
        np.testing.assert_array_equal(block.design.values, X[index])
        np.testing.assert_array_equal(block.target, y[index])
        np.testing.assert_allclose(block.weight.sum(), ROWS)
    assert blocks.target.pending
    early = np.sort(blocks.draw(blocks.early_rows, 2)[0])
    assert early[0] < ROWS / 4  # from all over the file
    assert early[-1] > ROWS * 3 / 4
    assert blocks.settle()
    assert not blocks.settle()
    _, block = blocks.draw(blocks.sample_rows, 2)
    np.testing.assert_allclose(np.bincount(block.target, block.weight), np.bincount(y))
    np.testing.assert_array_equal(np.asarray(blocks.target), y)


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
    again = _agrees(rows, X, y)
    np.testing.assert_allclose(first.coef_, again.coef_, atol=1e-4)
    other = (X[:, 2] + np.random.default_rng(2).normal(size=ROWS) > 0).astype(int)
    other[-3:] = 2  # hardly in any sample
    model = LogisticRegression(tol=1e-12).fit(rows, other)
    plain = LogisticRegression(tol=1e-12).fit(X, other)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-4)
    assert np.bincount(rows.sample.codes)[2] == 3


def test_a_named_optimizer_gets_the_codes_when_it_asks(tmp_path: Path) -> None:
    """A class that the sample does not see is found by the first pass itself, and the fit begins again."""
    X, y = _rows()
    y[_unsampled(tmp_path, X, y)] = 2
    rows = _files(tmp_path, X, y)
    model = LogisticRegression(optimizer="newton").fit(rows)
    plain = LogisticRegression(optimizer="newton").fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-6)


def test_rows_are_picked_from_several_files_in_any_order(tmp_path: Path) -> None:
    X, _ = _rows()
    X = X[:1000]
    np.save(tmp_path / "1.npy", X[:300])
    np.save(tmp_path / "2.npy", X[300:])
    index = np.array([999, 0, 1, 2, 299, 300, 301, 7, 500])
    rows = scan([tmp_path / "1.npy", tmp_path / "2.npy"])
    np.testing.assert_array_equal(rows.parts.rows(index), X[index])
    assert rows.passes == pytest.approx(9 / 1000, rel=1e-3)
    some = scan([tmp_path / "1.npy", tmp_path / "2.npy"], columns=[2, 0])
    np.testing.assert_array_equal(some.parts.rows(index), X[index][:, [2, 0]])
    np.save(tmp_path / "single.npy", X.astype(np.float16))
    half = scan(tmp_path / "single.npy")
    np.testing.assert_array_equal(half.parts.rows(index), X[index].astype(np.float16).astype(np.float64))
