"""The benchmark of inference on few rows: its data are of the kind they say, and both sides agree."""

from __future__ import annotations

import pytest
from benchmarks.inference import KINDS, by_programs, expected, main, measure_programs, measure_separability, rows_of


def test_verdicts_and_programs_agree():
    for line in measure_separability(3_000, 4, 1, KINDS):
        assert "right" in line
    for kind, line in zip(KINDS, measure_programs(1_000, 4, 1, KINDS), strict=True):
        assert line.count(expected(kind)) >= 2


def test_programs_tell_the_three_apart():
    assert by_programs(rows_of("overlapping", 100, 2)[0] * 0 + [1.0, 0.5]) == "separable"


def test_the_table_of_times(capsys, monkeypatch):
    pytest.importorskip("statsmodels")
    from benchmarks import inference

    monkeypatch.setattr(inference, "logistic_rows", lambda n, d, make=inference.logistic_rows: make(4_000, 5))
    monkeypatch.setattr(inference, "measure_summary", _small(inference.measure_summary))
    main(["summary", "--quick", "--repeat", "1"])
    out = capsys.readouterr().out
    assert "× the fit" in out
    assert "statsmodels" in out


def _small(measure):
    return lambda n, d, repeat, peer: measure(4_000, 5, repeat, peer)
