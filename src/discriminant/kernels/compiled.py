"""The kernels in C, where the installation has them: which of their instruction-set levels this processor can run.

The package is built with one extension per level (`hatch_build.py`), all of the same text and with the same answers.
Where there is none, callers run their NumPy body.  ``DISCRIMINANT_KERNELS`` in the environment, read at the first call,
chooses a level by name, or ``none``; nothing but tests needs it.
"""

from __future__ import annotations

import functools
import importlib
import os
from typing import Any

LEVELS = ("baseline", "avx2", "avx512")
ENVIRONMENT = "DISCRIMINANT_KERNELS"


@functools.cache
def load() -> Any | None:
    """The extension module to call, or None where the NumPy bodies must do."""
    wanted = os.environ.get(ENVIRONMENT, "")
    if wanted not in ("", "none", *LEVELS):
        raise ImportError(f"{ENVIRONMENT} is {wanted!r}; it must be none, {', '.join(LEVELS[:-1])} or {LEVELS[-1]}.")
    if wanted == "none":
        return None
    baseline = _level("baseline")
    best = baseline.best_level() if baseline else "baseline"
    if wanted and (baseline is None or LEVELS.index(wanted) > LEVELS.index(best)):
        raise ImportError(
            f"{ENVIRONMENT} asks for kernels compiled for {wanted}, which this installation or this processor does "
            "not have; unset it to take the best there is."
        )
    for level in LEVELS[LEVELS.index(wanted or best) :: -1]:
        module = _level(level)
        if module is not None:
            return module
    return None


def in_use() -> str:
    """The level in use, for people: ``'C, avx2'``, or ``'NumPy (not compiled)'``."""
    module = load()
    return "NumPy (not compiled)" if module is None else f"C, {module.__name__.rpartition('_')[2]}"


def _level(level: str) -> Any | None:
    try:
        return importlib.import_module(f"discriminant.kernels._compiled_{level}")
    except ImportError:  # not built, or built for another Python or machine
        return None
