"""Models that outlive the process: one file format without code in it, and exports to other engines.

``save`` and ``load`` are all that most people need; ``container`` knows the bytes, ``encode`` the objects.
"""

from discriminant.io.model_file import load, save

__all__ = ["load", "save"]
