"""Models that outlive the process: one file format without code in it, and exports to other engines.

``save`` and ``load`` are all that most people need; ``container`` knows the bytes, ``encode`` the objects.
"""

from discriminant.io.c import to_c
from discriminant.io.json_ import to_json
from discriminant.io.model_file import load, save
from discriminant.io.onnx import to_onnx
from discriminant.io.scorer import Scorer, scorer
from discriminant.io.sql import to_sql

__all__ = ["Scorer", "load", "save", "scorer", "to_c", "to_json", "to_onnx", "to_sql"]
