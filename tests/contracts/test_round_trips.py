"""Pickle, joblib and skops give every estimator back with every bit; nothing of the package itself uses them."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import discriminant
from contracts.hostile import X, Y
from contracts.judge import ours

ESTIMATORS = ours()
pytestmark = pytest.mark.filterwarnings("ignore::discriminant.errors.DiscriminantWarning")


@pytest.fixture(scope="module")
def models():
    labels = np.array(["ape", "bee", "cat"])[Y]
    return {name: make().fit(X, labels) for name, make in ESTIMATORS.items()}


def same(model, again):
    assert type(again) is type(model)
    assert again.get_params().keys() == model.get_params().keys()
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(model, method):
            np.testing.assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(models, protocol):
    for model in models.values():
        same(model, pickle.loads(pickle.dumps(model, protocol)))
        same(model, copy.deepcopy(model))


def test_joblib(models, tmp_path):
    joblib = pytest.importorskip("joblib")
    for name, model in models.items():
        joblib.dump(model, tmp_path / name, compress=3)
        same(model, joblib.load(tmp_path / name))
        joblib.dump(model, tmp_path / f"{name}.raw")
        same(model, joblib.load(tmp_path / f"{name}.raw", mmap_mode="r"))  # its arrays cannot be written to


def test_skops(models):
    """Plain attributes only: skops loads them when told to trust this package's own classes and nothing else."""
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    for model in models.values():
        data = skops.dumps(model)
        wanted = skops.get_untrusted_types(data=data)
        assert all(kind.startswith("discriminant.") for kind in wanted), wanted
        same(model, skops.loads(data, trusted=wanted))


def test_nothing_of_ours_reads_or_writes_a_pickle():
    sources = Path(discriminant.__file__).parent.rglob("*.py")
    words = ("import pickle", "import joblib", "import skops", "import dill", "import marshal", "allow_pickle=True")
    found = [path.name for path in sources for word in words if word in path.read_text()]
    assert not [name for name in found if not name.startswith("dask")]  # whose own wire format is theirs


def test_load_runs_without_pickle_in_the_process(models, tmp_path):
    """``load`` works where unpickling is impossible."""
    path = discriminant.save(models["LinearDiscriminantAnalysis"], tmp_path / "model")
    program = (
        "import pickle, sys\n"
        "def no(*a, **k): raise RuntimeError('pickle was used')\n"
        "pickle.loads = pickle.load = pickle.Unpickler = no\n"
        "import discriminant; discriminant.load(sys.argv[1])\n"
    )
    run = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-400:]
    assert io.BytesIO(path.read_bytes()).read(8) != b"\x80"
