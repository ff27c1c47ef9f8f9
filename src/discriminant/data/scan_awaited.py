"""Labels that wait: a row sample's classes are taken for all, until the first pass needs every row's.

A look at all labels takes longer than a sample takes to be solved.  If it then shows a class that the sample did not
know, ``LabelsMisjudged`` tells whoever fits to begin again, with all labels known.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from discriminant.data.labels import code_type
from discriminant.data.sources import LabelsMisjudged
from discriminant.protocols import Array


class Awaited:
    """The class codes of all rows of a scan, looked at when they are first asked for."""

    def __init__(self, scan: Any, classes: Array) -> None:
        self.scan, self.classes = scan, classes
        self.dtype = np.dtype(code_type(len(classes)))
        self._codes: Any = None
        self._lock = threading.Lock()  # several threads may ask at once

    @property
    def pending(self) -> bool:
        """Whether the labels have not been looked at yet."""
        return self._codes is None

    def known(self) -> Any:
        """The column of codes itself."""
        if self._codes is None:
            with self._lock:
                found, codes = self.scan.labels()
                if found.dtype != self.classes.dtype or found.tolist() != self.classes.tolist():
                    self.scan.reconsider()
                    raise LabelsMisjudged
                self._codes = codes
        return self._codes

    def __len__(self) -> int:
        return int(self.scan.n_rows)

    def __getitem__(self, rows: Any) -> Array:
        return np.asarray(self.known()[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.known(), dtype=dtype)
