"""Stubs of the packages whose names are loaded on first use, so that editors and type checkers see every one of them.

python tests/contracts/make_stubs.py        # writes __init__.pyi beside each __init__.py; a test compares them
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from pathlib import Path
from types import ModuleType

LAZY = ("discriminant", "discriminant.figures", "discriminant.optimize", "discriminant.plots")
HEAD = '"""Written by tests/contracts/make_stubs.py from the tables of __init__.py: change those."""\n'


def home_of(package: ModuleType, name: str) -> str | None:
    """The module to import a public name from; None for what is said in the stub itself."""
    if name.startswith("__"):
        return None
    if name in getattr(package, "_PACKAGES", ()):
        return package.__name__
    homes = getattr(package, "_HOMES", {})
    if name in homes:
        return f"{package.__name__}.{homes[name]}"
    registry = package.REGISTRY  # of figures
    if name.removesuffix("_data") in registry:
        return f"{package.__name__}.{registry[name.removesuffix('_data')].module}"
    return f"{package.__name__}.{'drawing' if name == 'contact_sheet' else 'registry'}"


def stub(package: ModuleType) -> str:
    """The text of ``__init__.pyi``."""
    names = list(package.__all__)
    if hasattr(package, "REGISTRY"):
        names += [f"{name}_data" for name in package.REGISTRY]
    held = defaultdict(list)
    for name in sorted(names):
        held[home_of(package, name)].append(name)
    lines = [HEAD]
    for home in sorted(key for key in held if key):
        lines += [f"from {home} import {name} as {name}" for name in held[home]]
    if hasattr(package, "_PACKAGES"):
        lines += ["", "_HOMES: dict[str, str]", *(f"{name}: str" for name in held[None])]
    return "\n".join([*lines, ""])


def stubs() -> dict[Path, str]:
    """Where each stub lies, and what it should say."""
    packages = [importlib.import_module(name) for name in LAZY]
    return {Path(str(package.__file__)).with_suffix(".pyi"): stub(package) for package in packages}


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text)
