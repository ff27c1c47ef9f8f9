"""The package as a whole: its names, its light import, its sizes, its direction of imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import discriminant

SOURCE = Path(discriminant.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
HEAVY = {"pandas", "polars", "matplotlib", "dask", "torch", "pyarrow"}


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def loaded_after(code: str) -> set[str]:
    """The names in ``sys.modules`` of a fresh process that has run this code."""
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(run.stdout.split())


def test_public_names_are_sorted_and_unique() -> None:
    assert discriminant.__all__ == sorted(set(discriminant.__all__))


@pytest.mark.parametrize("name", discriminant.__all__)
def test_public_name_can_be_imported(name: str) -> None:
    assert getattr(discriminant, name) is not None
    assert name in dir(discriminant)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = discriminant.nothing


def test_import_loads_numpy_at_most() -> None:
    loaded = loaded_after("import discriminant")
    assert not loaded & (HEAVY | {"sklearn", "scipy"})


def test_lda_fit_on_arrays_loads_no_heavy_library() -> None:
    """scikit-learn is allowed, since estimators subclass it; pandas, which it loads where it finds it, is hidden."""
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "import numpy as np, discriminant as d\n"
        "rng = np.random.default_rng(0); X = rng.normal(size=(60, 3)); y = np.repeat([0, 1, 2], 20)\n"
        "d.LinearDiscriminantAnalysis().fit(X, y).predict_proba(X)"
    )
    loaded = loaded_after(code)
    assert loaded & HEAVY == {"pandas"}  # the name that hides it
    unused = ("bases", "criteria", "codings", "optimize", "objective", "inference")
    assert not {f"discriminant.{part}" for part in unused} & loaded  # it waits for nothing unused


def test_modules_below_the_estimators_load_no_scikit_learn() -> None:
    """Importing every module of the core loads no scikit-learn, pandas or scipy.stats, and none of the heavy ones."""
    above = {"estimators", "plots", "figures", "report", "io", "play", "cli", "kernels", "patch.py", "patch_folds.py"}
    core = [path for path in MODULES if not set(path.relative_to(SOURCE).parts) & above]
    loaded = loaded_after("\n".join(f"import {module_name(path)}" for path in core))
    assert not loaded & (HEAVY | {"sklearn", "scipy.stats"})


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_module_is_documented_and_short(path: Path) -> None:
    """A docstring that says what the module is for; short enough to be one idea (600 lines of code)."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    docstring = ast.get_docstring(tree)
    assert docstring, f"{path} has no docstring"
    assert len(docstring) > 20, f"{path} has a docstring that says nothing: {docstring!r}"
    code = {number for number, line in enumerate(text.splitlines(), 1) if line.strip()}
    code.difference_update(*map(docstring_lines, ast.walk(tree)))
    assert len(code) <= 600, f"{path} has more than 600 lines of code"


def docstring_lines(node: ast.AST) -> range:
    documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None
    return range(node.body[0].lineno, node.body[0].end_lineno + 1) if documented else range(0)


def test_the_conda_recipe_says_what_the_package_says():
    root = SOURCE.parents[1]
    recipe, project = root / "conda" / "meta.yaml", root / "pyproject.toml"
    if not recipe.exists():
        pytest.skip("the recipe is in a checkout only")
    text, about = recipe.read_text(), tomllib.loads(project.read_text())["project"]
    assert f'{{% set version = "{discriminant.__version__}" %}}' in text
    run = text.partition("  run:\n")[2].partition("  run_constrained:")[0]
    needs = [line.strip().removeprefix("- ").replace(" ", "") for line in run.splitlines()]
    assert needs == [f"python{about['requires-python']}", *about["dependencies"]]
    assert about["license"] in text
    assert about["description"] in text
    optional = [need for needs in about["optional-dependencies"].values() for need in needs]
    extras = {re.split(r"[\[>]", need)[0]: need for need in optional}
    constrained = text.partition("  run_constrained:\n")[2].partition("\n\n")[0]
    for line in constrained.splitlines():
        name, _, least = line.strip().removeprefix("- ").partition(" ")
        known = extras[name.removesuffix("-base").removesuffix("-core")]
        assert known.endswith(least), line
