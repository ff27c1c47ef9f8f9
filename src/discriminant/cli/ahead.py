"""Reading ahead: a large file is read and taken apart on threads of its own while the rest of the program is loaded.

Three things at once: the system copies the file while NumPy and pyarrow load, and pyarrow, outside the interpreter's
lock, takes it apart while everything else does.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

from discriminant.file_bytes import read_whole

LEAST_BYTES = 4_000_000


def read_ahead(given: Any) -> None:
    """Begin to read the training table of a command where its file is large; ``given.reading`` ends the wait."""
    given.reading = None
    data = getattr(given, "data", None)
    if given.command not in ("fit", "separable") or not data or not os.path.isfile(data):
        return
    if os.path.getsize(data) < LEAST_BYTES:
        return
    content = _begin(lambda: read_whole(data))
    # What reads a table is loaded here and not by the second thread: two threads that load modules wait for each
    # other, and this is what all the rest waits for.
    from discriminant.cli.reading import read_raw

    with contextlib.suppress(ImportError):
        import pyarrow.csv  # noqa: F401
    given.reading = _begin(lambda: read_raw(given, content()))


def _begin(work: Callable[[], Any]) -> Callable[[], Any]:
    """Start the work; what is handed back waits for it, and raises what it raised."""
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(1)
    future = pool.submit(work)
    pool.shutdown(wait=False)
    return future.result
