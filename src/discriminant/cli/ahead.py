"""Reading ahead: a large file is read on a thread of its own while the rest of the program is loaded.

The system and pyarrow read outside the interpreter's lock, so that loading modules, a tenth of a second, costs nothing
beside it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

LEAST_BYTES = 4_000_000


def read_ahead(given: Any) -> None:
    """Begin to read the training table of a command where its file is large; ``given.reading`` ends the wait."""
    given.reading = None
    data = getattr(given, "data", None)
    if given.command not in ("fit", "separable") or not data or not os.path.isfile(data):
        return
    if os.path.getsize(data) < LEAST_BYTES:
        return
    given.reading = _begin(lambda: _read(given))


def _read(given: Any) -> Any:
    from discriminant.file_bytes import read_whole

    data = read_whole(given.data)
    from discriminant.cli.training import read_raw

    return read_raw(given, data)


def _begin(work: Callable[[], Any]) -> Callable[[], Any]:
    """Start the work; what is handed back waits for it, and raises what it raised."""
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(1)
    future = pool.submit(work)
    pool.shutdown(wait=False)
    return future.result
