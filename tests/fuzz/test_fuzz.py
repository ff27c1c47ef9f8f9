"""The loaders under mutated files, time-boxed; ``python tests/fuzz/run.py`` is the long run."""

from __future__ import annotations

import importlib.util
import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from discriminant.io import load
from fuzz.run import FIXTURES, commands, model_files, tables


@pytest.fixture(scope="module", autouse=True)
def everything_is_loaded():
    """Modules that the first load brings in are no part of the growth; and the unmutated files are accepted."""
    for path in FIXTURES.glob("model-v*.discriminant"):
        load(path)


def grown_since(before: int) -> float:
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def test_every_mutated_model_file_is_refused():
    assert len(list(FIXTURES.glob("model-v1-*.discriminant"))) >= 5
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = model_files(100, seconds=6.0, seed=int(np.random.default_rng().integers(2**31)))  # others on every run
    assert set(found) == {"refused"}
    assert grown_since(before) < 100


def test_ten_thousand_mutated_model_files_are_refused():
    """In a process of its own, so that its memory is its own: ``python tests/fuzz/ten_thousand.py``."""
    script = Path(__file__).with_name("ten_thousand.py")
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=600, check=True)
    told = json.loads(run.stdout)
    assert told["mutants"] == told["refused"] == 10_000, told["kinds"]
    assert told["accepted"] == told["unmutated"] >= 15
    assert told["grown_MB"] < 100
    assert told["slowest"] < 5


def test_a_forged_model_file_is_refused_or_is_a_model():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert set(model_files(300, seconds=6.0, signed=True)) <= {"refused", "read"}
    assert grown_since(before) < 100


@pytest.mark.skipif(importlib.util.find_spec("discriminant.data.files") is None, reason="there is no reader of tables")
def test_every_mutated_table_is_read_or_refused():
    found = tables(800, seconds=5.0)
    assert set(found) <= {"refused", "read"}, found
    assert len(found) == 2


@pytest.mark.skipif(importlib.util.find_spec("discriminant.cli") is None, reason="there is no command line")
def test_every_command_line_ends_in_a_sentence():
    found = commands(60, seconds=6.0)
    assert set(found) <= {"refused", "read"}, found
