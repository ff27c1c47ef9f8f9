"""A whole file in memory, by the standard library alone, so that reading can begin before anything else is loaded.

Large files go into memory of large pages where the system has them: fresh small pages cost more than the copy.
"""

from __future__ import annotations

import mmap
import os
from typing import TypeAlias

LARGE = 4_000_000
Bytes: TypeAlias = bytes | mmap.mmap


def read_whole(path: str | os.PathLike[str]) -> Bytes:
    """The bytes of a file; a large one as an anonymous map, which slices and searches as bytes do."""
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if size < LARGE:
            return file.read()
        room = _room(size)
        done = 0
        with memoryview(room) as view:
            while done < size and (count := file.readinto(view[done:])):
                done += count
        return room if done == size else room[:done]


def _room(size: int) -> mmap.mmap:
    if not hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size)
    # A shared map, the default, has small pages whatever is advised.
    room = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        room.madvise(mmap.MADV_HUGEPAGE)
    return room
