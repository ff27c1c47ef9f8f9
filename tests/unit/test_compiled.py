"""The compiled kernels: found where they were built, chosen by name, reported, and not needed."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import discriminant
from discriminant.kernels import compiled


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A fresh process, since the level is chosen once in each."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}
    )


@pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="there is no C compiler here")
def test_a_checkout_with_a_compiler_has_its_kernels() -> None:
    run = python("from discriminant.kernels import compiled; print(compiled.in_use())", DISCRIMINANT_KERNELS="")
    assert run.stdout.startswith("C, "), "the kernels are not built: run `python hatch_build.py`"


def test_no_kernel_is_loaded_by_the_import() -> None:
    run = python("import discriminant, sys; print(*[name for name in sys.modules if '_compiled_' in name])")
    assert run.stdout.strip() == ""


def test_the_environment_can_do_without() -> None:
    run = python("from discriminant.kernels import compiled; print(compiled.load())", DISCRIMINANT_KERNELS="none")
    assert run.stdout.strip() == "None"


@pytest.mark.parametrize("level", compiled.LEVELS)
def test_a_level_that_the_processor_has_can_be_asked_for(level: str) -> None:
    run = python("from discriminant.kernels import compiled; print(compiled.in_use())", DISCRIMINANT_KERNELS=level)
    assert run.stdout.strip() == f"C, {level}" or f"compiled for {level}" in run.stderr


def test_an_unknown_level_is_refused_in_a_sentence() -> None:
    run = python("from discriminant.kernels import compiled; compiled.load()", DISCRIMINANT_KERNELS="fastest")
    assert "DISCRIMINANT_KERNELS is 'fastest'; it must be none, baseline, avx2 or avx512." in run.stderr


def test_show_versions_names_the_package_and_the_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    discriminant.show_versions()
    lines = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    assert lines["discriminant"] == discriminant.__version__
    assert lines["kernels"] == compiled.in_use()
    assert {"python", "numpy", "scipy", "scikit-learn"} <= lines.keys()


@pytest.mark.parametrize(("level", "told"), [("none", "kernels: NumPy (not compiled)"), ("baseline", "baseline")])
def test_the_command_says_which_kernels_are_in_use(level: str, told: str) -> None:
    run = python("from discriminant.cli import main; main(['--version'])", DISCRIMINANT_KERNELS=level)
    assert discriminant.__version__ in run.stdout or "baseline" in run.stderr
    assert told in run.stdout + run.stderr


@pytest.fixture
def hatch_build() -> Any:
    path = Path(__file__).parents[2] / "hatch_build.py"
    if not path.exists():
        pytest.skip("these are not the tests of a checkout")
    spec = importlib.util.spec_from_file_location("hatch_build", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("compiler", "told"),
    [("/nowhere/cc", "there is no C compiler here"), ("false", "the kernels could not be compiled for baseline")],
)
def test_a_build_without_a_working_compiler_says_so_and_goes_on(
    compiler: str, told: str, hatch_build: Any, tmp_path: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", compiler)
    assert hatch_build.build(tmp_path) == []
    assert told in capsys.readouterr().err


def test_kernels_older_than_their_text_go(hatch_build: Any, tmp_path: Path, monkeypatch: Any) -> None:
    """Where they cannot be built again: better no kernels than those of another version."""
    stale = tmp_path / f"_compiled_baseline{hatch_build.SUFFIX}"
    stale.touch()
    os.utime(stale, (0, 0))
    monkeypatch.setenv("CC", "/nowhere/cc")
    hatch_build.build(tmp_path)
    assert not stale.exists()
