"""The loaders under mutated files, time-boxed; ``python tests/fuzz/run.py`` is the long run."""

from __future__ import annotations

import importlib.util
import resource

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
    found = model_files(600, seconds=6.0)
    assert set(found) == {"refused"}
    assert sum(found.values()) >= 50
    assert grown_since(before) < 100


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
