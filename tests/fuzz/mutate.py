"""Mutations of files: bits, bytes, cuts, copies, numbers, words of the format; and model files signed again."""

from __future__ import annotations

import json
import re

import numpy as np

TOKENS = [
    b"\0", b"\xff\xff\xff\xff\xff\xff\xff\x7f", b"-1", b"1e400", b"nan", b"NaN", b"inf", b"null", b"{}", b"[", b'"',
    b"'", b",", b";", b"\t", b"\r", b"\n", b"\xef\xbb\xbf", b"\xff\xfe", b"999999999999999999999", b"0x10", b"1_000",
    b"\\u0000", b"__class__", b"..", b"%s", b"\xf0\x9f\x98\x80", b"1:2:3", b"0:1", b"-1:1", b"PK\x03\x04", b"\x1f\x8b",
    b"\x80\x04",
]  # fmt: skip


def mutate(data: bytes, rng: np.random.Generator) -> bytes:
    """Another file than ``data``, by one to four mutations."""
    changed = data
    while changed == data:
        for _ in range(int(rng.integers(1, 5))):
            changed = _once(changed, rng)
    return changed


def _once(data: bytes, rng: np.random.Generator) -> bytes:
    if not data:
        return TOKENS[int(rng.integers(len(TOKENS)))]
    at, end = sorted(int(i) for i in rng.integers(0, len(data) + 1, 2))
    kind = int(rng.integers(9))
    if kind == 0:  # a bit
        place = min(at, len(data) - 1)
        return data[:place] + bytes([data[place] ^ (1 << int(rng.integers(8)))]) + data[place + 1 :]
    if kind == 1:  # a few bytes
        return data[:at] + rng.bytes(int(rng.integers(1, 9))) + data[at + 4 :]
    if kind == 2:
        return data[:at]
    if kind == 3:  # a part less
        return data[:at] + data[end:]
    if kind == 4:  # a part twice
        return data[:end] + data[at:end] + data[end:]
    if kind == 5:
        return data[:at] + TOKENS[int(rng.integers(len(TOKENS)))] + data[at:]
    if kind == 6:  # a number
        numbers = list(re.finditer(rb"\d+", data[: 1 << 16]))
        if numbers:
            hit = numbers[int(rng.integers(len(numbers)))]
            other = [b"0", b"-1", b"1", b"4294967296", b"18446744073709551616", b"2"][int(rng.integers(6))]
            return data[: hit.start()] + other + data[hit.end() :]
        return data[:at]
    if kind == 7:  # the length in front
        return int(rng.integers(0, 2**62)).to_bytes(8, "little") + data[8:]
    return data[end:] + data[at:end] + data[:at]


def sign_again(data: bytes, rng: np.random.Generator) -> bytes:
    """A model file whose document or arrays were changed and whose checksum is right again: a forger's work."""
    from discriminant.io.container import _checksum, _header

    length = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    metadata = header["__metadata__"]
    if rng.random() < 0.7:
        metadata["document"] = mutate(metadata["document"].encode(), rng).decode("utf-8", "replace")
    else:
        body = bytes(mutate(body, rng)).ljust(len(body), b"\1")[: len(body)]
    table = {name: entry for name, entry in header.items() if name != "__metadata__"}
    metadata["checksum"] = _checksum(metadata, table, body)
    raw = _header({"__metadata__": metadata, **table})
    return len(raw).to_bytes(8, "little") + raw + body
