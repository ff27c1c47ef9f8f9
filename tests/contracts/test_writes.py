"""A write that is killed, denied or out of room leaves the old file whole."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import discriminant
from discriminant.errors import DataError

iris = discriminant.datasets.load("iris")
KILLED = """
import os, sys, signal
import discriminant
model = discriminant.load(sys.argv[1])
stage = sys.argv[2]
setattr(os, stage, lambda *args, **more: os.kill(os.getpid(), signal.SIGKILL))
discriminant.save(model, sys.argv[1], notes={"second": "yes"})
"""


@pytest.fixture
def saved(tmp_path):
    model = discriminant.LinearDiscriminantAnalysis().fit(iris.X, iris.y)
    return discriminant.save(model, tmp_path / "model"), model


@pytest.mark.skipif(os.name != "posix", reason="signals that cannot be caught are POSIX's")
@pytest.mark.parametrize("stage", ["fsync", "replace"])
def test_killed_at_any_stage(saved, stage):
    path, model = saved
    before = path.read_bytes()
    run = subprocess.run(
        [sys.executable, "-c", KILLED, str(path), stage], capture_output=True, timeout=120, check=False
    )
    assert run.returncode == -9
    assert path.read_bytes() == before
    np.testing.assert_array_equal(discriminant.load(path).coef_, model.coef_)


@pytest.mark.parametrize(
    ("stage", "error"),
    [("fsync", OSError(28, "No space left on device")), ("replace", PermissionError(13, "Permission denied")),
     ("fdopen", OSError(24, "Too many open files"))],
)  # fmt: skip
def test_refused_at_any_stage(saved, stage, error, monkeypatch):
    path, model = saved
    before = path.read_bytes()

    def fail(*_args, **_more):
        raise error

    monkeypatch.setattr(os, stage, fail)
    with pytest.raises(DataError, match="cannot be written"):
        discriminant.save(model, path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["model"]
