"""What every test shares: one BLAS thread, a reproducible hypothesis, and the folder of real data sets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
collect_ignore = ["typing"]  # a page of code that type checkers read and nobody runs

# Nothing above loads NumPy, so its BLAS sees this.  Results must not depend on how many tests run side by side.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# The same examples on every run and machine; time limits would make a loaded machine a failing one.
settings.register_profile(
    "discriminant", deadline=None, derandomize=True, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("discriminant")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the working tree."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of larger real data sets with published results, which lies beside the repository."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(reason=f"the real data sets are not there: no folder {folder}")
    return folder
