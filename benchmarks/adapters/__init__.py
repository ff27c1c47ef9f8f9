"""One file per contender; a new peer is one file here and one line in ``FILES``.

The order is the order of the table's rows within a role.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import cast

from benchmarks.contract import Adapter

FILES = (
    *(
        "discriminant_",
        "sklearn_",
        "intelex",
        "liblinear_",
        "glum_",
        "skglm_",
        "celer_",
        "adelie_",
        "snapml_",
        "glmnet_",
    ),
    *("statsmodels_", "abess_", "vowpal_", "numpy_", "limits"),
)


def load(file: str) -> Adapter:
    """The adapter module of this file name; it may import nothing heavy before one of its builders runs."""
    return cast("Adapter", importlib.import_module(f"benchmarks.adapters.{file}"))


def version(adapter: Adapter) -> str | None:
    """The installed version of the adapter's package, "" when it needs none, None when it is not installed."""
    if not adapter.PACKAGE:
        return ""
    try:
        return importlib.metadata.version(adapter.PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return None
