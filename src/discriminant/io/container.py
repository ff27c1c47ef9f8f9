"""The bytes of a model file: a JSON header and raw arrays, in the safetensors layout, with a checksum over all of it.

    8 bytes    N, the length of the header, little-endian
    N bytes    JSON: {"__metadata__": {...}, "<name>": {"dtype", "shape", "data_offsets"}, ...}
    the rest   the arrays, little-endian, one after the other

``__metadata__`` holds strings only: ``format``, ``version``, ``document`` (JSON, see ``encode``) and ``checksum``, the
SHA-256 of everything else.  Any safetensors reader can list the arrays.  A file is read only after its sizes have been
found to agree with each other, so that a forged header cannot make us allocate what the file does not hold.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from discriminant.docstrings import Entries
from discriminant.errors import DataError, MissingFileError
from discriminant.protocols import Array

FORMAT = "discriminant-model"
VERSION = 1
# What a reader may be asked to take apart: JSON grows thirtyfold in memory, so that its length and its parts are
# bounded, by more where the arrays beside it are large too.
LARGEST_HEADER, MOST_PARTS = 8 << 20, 250_000
_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
_NAMES = {np.dtype(code): name for name, code in _TYPES.items()}
_BEGINNING = b'{"__metadata__":{"format":"discriminant-model","version":"'  # of every header that ``pack`` writes

documented = Entries("""
model : estimator or LinearDiscriminant
    Fitted.
path : path or None
    Where to write; None: nowhere.
→ decide : label
    The class, or the act of least cost.
→ load : estimator, LinearDiscriminant or TableModel
    The fitted model.
→ save : Path
    Where it was written.
→ scorer : Scorer
    A callable for single rows and batches.
→ to_c : str
    The source.
→ to_json : str
    The document.
→ to_onnx : bytes
    The graph.
→ to_sql : str
    The query.
""").documented


class ModelFileError(DataError):
    """The file is not a model file, or not a whole one."""


def pack(document: str, arrays: dict[str, Array]) -> bytes:
    """The file's bytes."""
    table: dict[str, Any] = {}
    parts: list[bytes] = []
    at = 0
    for name, array in arrays.items():
        plain = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
        kind = _NAMES.get(plain.dtype)
        if kind is None:
            raise DataError(f"An array of type {array.dtype} cannot be kept in a model file.")
        data = plain.tobytes()
        table[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    body = b"".join(parts)
    if not _bearable(document.encode(), len(body)):
        raise DataError("The model has more names, or longer ones, than a model file can hold.")
    metadata = {"format": FORMAT, "version": str(VERSION), "document": document}
    metadata["checksum"] = _checksum(metadata, table, body)
    header = _header({"__metadata__": metadata, **table})
    return len(header).to_bytes(8, "little") + header + body


def _header(content: dict[str, Any]) -> bytes:
    """The one way to write a header: JSON without blanks, filled up to a multiple of eight bytes."""
    header = json.dumps(content, separators=(",", ":")).encode()
    return header + b" " * (-len(header) % 8)


def unpack(path: Path) -> tuple[str, dict[str, Array]]:
    """(document, arrays) of a file, or a sentence."""
    try:
        size = path.stat().st_size
        with open(path, "rb") as file:
            start = file.read(8)
            length = int.from_bytes(start, "little")
            if (
                len(start) < 8
                or not len(_BEGINNING) < length <= size - 8
                or length > 2 * LARGEST_HEADER + 4 * (size - 8 - length)
            ):
                raise ModelFileError(f"{path} is not a model of discriminant, or it is cut short.")
            if file.read(len(_BEGINNING)) != _BEGINNING:
                raise ModelFileError(f"{path} is not a model of discriminant.")
            raw = _BEGINNING + file.read(length - len(_BEGINNING))
            if len(raw) != length or not _bearable(raw, size - 8 - length):
                raise ModelFileError(f"{path} is not a model of discriminant, or it is cut short.")
            header, metadata = _parsed(path, raw)
            table = {name: entry for name, entry in header.items() if name != "__metadata__"}
            _check_table(path, table, size - 8 - length)
            body = file.read(size - 8 - length)
    except FileNotFoundError as error:
        raise MissingFileError(f"There is no file {path}.") from error
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.") from error
    # The header is compared byte by byte: a change that JSON would read over is a change.
    if raw != _header(header) or metadata.get("checksum") != _checksum(metadata, table, body):
        raise ModelFileError(f"{path} is damaged: its checksum does not agree with its content.")
    arrays = {}
    for name, entry in table.items():
        first, last = entry["data_offsets"]
        arrays[name] = np.frombuffer(body[first:last], dtype=_TYPES[entry["dtype"]]).reshape(entry["shape"])
    return metadata["document"], arrays


def _bearable(text: bytes, beside: int) -> bool:
    """Whether JSON may be taken apart without filling the memory; ``beside``: the bytes of the arrays."""
    parts = sum(text.count(sign) for sign in (b",", b"[", b"{"))
    return len(text) <= 2 * LARGEST_HEADER + 4 * beside and parts <= MOST_PARTS + beside // 8


def _parsed(path: Path, data: bytes) -> tuple[dict[str, Any], dict[str, str]]:
    """(header, its metadata), of a format and version that are known."""
    foreign = f"{path} is not a model of discriminant"
    try:
        header = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{foreign}: its header is not JSON.") from error
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    if not isinstance(metadata, dict):
        raise ModelFileError(f"{foreign}: its header names no format.")
    if not all(isinstance(value, str) for value in metadata.values()) or metadata.get("format") != FORMAT:
        raise ModelFileError(f"{foreign}.")
    version = metadata.get("version", "")
    if version not in [str(known) for known in range(1, VERSION + 1)]:
        raise ModelFileError(
            f"{path} has version {version[:20]!r} of the format and this package reads versions 1 to {VERSION}. "
            "Install a newer discriminant."
        )
    if "document" not in metadata:
        raise ModelFileError(f"{path} holds no model.")
    return header, metadata


def _check_table(path: Path, table: dict[str, Any], available: int) -> None:
    """Each array's offsets, shape and type agree, and together they fill the rest of the file exactly."""
    at = 0
    for name, entry in table.items():
        if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
            raise ModelFileError(f"{path} is damaged: the entry of array {name[:40]!r} is not one.")
        dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        numbers = [*shape, *offsets] if isinstance(shape, list) and isinstance(offsets, list) else [None]
        whole = all(type(number) is int and 0 <= number <= available for number in numbers)
        if dtype not in _TYPES or not whole or len(offsets) != 2 or len(shape) > 32 or offsets[0] != at:
            raise ModelFileError(f"{path} is damaged: the entry of array {name[:40]!r} makes no sense.")
        expected = np.dtype(_TYPES[dtype]).itemsize
        for number in shape:
            expected *= number
        if offsets[1] - offsets[0] != expected or offsets[1] > available:
            raise ModelFileError(f"{path} is damaged: array {name[:40]!r} has not the size that its shape says.")
        at = offsets[1]
    if at != available:
        raise ModelFileError(f"{path} is damaged: {available - at} bytes belong to no array, or are missing.")


def _checksum(metadata: dict[str, str], table: dict[str, Any], body: bytes) -> str:
    rest = {key: value for key, value in metadata.items() if key != "checksum"}
    digest = hashlib.sha256(json.dumps([rest, table], sort_keys=True, separators=(",", ":")).encode())
    digest.update(body)
    return digest.hexdigest()


def write_whole(path: Path, data: bytes) -> None:
    """Write all or nothing: to a temporary file beside it, to the disk, then renamed over the old one."""
    path = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:80]}.", suffix=".tmp", dir=path.parent)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
        if os.name == "posix":  # the new name, too
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise DataError(
            f"{path} cannot be written: {error.strerror or error}. The old file, if any, is whole."
        ) from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
