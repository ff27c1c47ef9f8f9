"""What editors and type checkers see: every public name with its type, although names are loaded on first use."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import discriminant
from contracts.make_stubs import stubs

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "tests" / "typing" / "user_code.py"
SOURCES = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MYPYPATH": str(ROOT / "src")}


def test_stubs_are_in_step_with_the_tables_of_names():
    assert {path: path.read_text() for path in stubs()} == stubs(), (
        "python tests/contracts/make_stubs.py writes the stubs anew"
    )


def questions(tmp_path):
    page = tmp_path / "names.py"
    lines = [f"reveal_type(discriminant.{name})" for name in discriminant.__all__]
    page.write_text("\n".join(["import discriminant", *lines, ""]))
    return page


def ask(*command):
    return subprocess.run(
        [sys.executable, "-m", *map(str, command)], capture_output=True, text=True, cwd=ROOT, env=SOURCES, check=False
    )


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_page_of_user_code_and_every_public_name_have_types(checker, tmp_path):
    if importlib.util.find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    page = questions(tmp_path)
    options = {"mypy": ["--cache-dir", tmp_path], "pyright": ["--pythonpath", sys.executable]}[checker]
    said = ask(checker, *options, PAGE, page).stdout
    assert "error:" not in said, said
    seen = [line for line in said.splitlines() if re.search(r"Revealed type|Type of", line)]
    assert len(seen) == len(discriminant.__all__)
    assert not [line for line in seen if re.search(r'is "(Any|Unknown)"$', line)]
