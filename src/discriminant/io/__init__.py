"""Models that outlive the process: one file format without code in it, and exports to other engines.

``save`` and ``load`` are all that most people need; ``container`` knows the bytes, ``encode`` the objects.
"""

import importlib
from typing import TYPE_CHECKING, Any

from discriminant.io.model_file import load, save
from discriminant.io.scorer import Scorer, scorer

if TYPE_CHECKING:
    from discriminant.io.c import to_c
    from discriminant.io.json_ import to_json
    from discriminant.io.onnx import to_onnx
    from discriminant.io.sql import to_sql

_EXPORTS = {"to_c": "c", "to_json": "json_", "to_onnx": "onnx", "to_sql": "sql"}  # loaded on first use

__all__ = ["Scorer", "load", "save", "scorer", "to_c", "to_json", "to_onnx", "to_sql"]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_EXPORTS[name]}"), name)
