"""Interpreters of peers that cannot share this package's environment: ``python -m benchmarks.environments`` makes them.

They lie in ``.bench-venvs/`` at the root and are not under version control.  An adapter that needs one names it in
``ENVIRONMENT``; where it is not there, the adapter runs in the present environment and, if its package is missing,
the run says so.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".bench-venvs"
# Environment → what pip installs there; apart, since adelie wants NumPy 1, and since none may change our versions.
PACKAGES = {
    "peers": (
        "glum",
        "skglm",
        "celer",
        "snapml",
        "python-glmnet",
        "abess",
        "vowpalwabbit",
        "liblinear-official",
        "dask-ml",
    ),
    "adelie": ("adelie",),
}
COMMON = ("numpy", "scipy", "scikit-learn", "threadpoolctl")


def interpreter(adapter: Any) -> str:
    """The interpreter for this adapter."""
    name = adapter.__dict__.get("ENVIRONMENT", "") if isinstance(adapter, ModuleType) else ""
    python = FOLDER / name / "bin" / "python"
    return str(python) if name and python.exists() else sys.executable


def main() -> None:
    """Make every environment that is not there; a package that does not install is named and left out."""
    for name, packages in PACKAGES.items():
        python = FOLDER / name / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(FOLDER / name)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        for package in packages:
            done = subprocess.run([*pip, package, *COMMON], capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{package} does not install into {name}: {done.stderr.strip().splitlines()[-1]}")


if __name__ == "__main__":
    main()
