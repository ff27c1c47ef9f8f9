"""Ten thousand mutated model files, each of which ``load`` must refuse: ``python tests/fuzz/ten_thousand.py``.

Prints, as JSON, how many of each kind there were and what came of them, the seconds, and the megabytes by which the
process grew.  Files lie in memory (/dev/shm) where the system has such.  *Signed*: the checksum was made right after
the change, as a forger would; these changes are such that no model can be read from them.
"""

from __future__ import annotations

import collections
import copy
import gzip
import io
import json
import pickle
import resource
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from fuzz.mutate import mutate
from fuzz.run import FIXTURES, outcome

COUNT = 10_000
Rng = np.random.Generator
HUGE = (-1, 2**31, 2**32, 2**62, 2**63, 2**64, 10**30, 1.5, "4", None, True, [], {}, float("inf"), "∞")
NAMES = ("os.system", "builtins.eval", "io.encode.Decoder", "__class__", "", "model", "..", "LinearSVC\0",
         "data.files.read_table", "model.LinearDiscriminant.__init__", "estimators", "a" * 10_000)  # fmt: skip


def bit(data: bytes, rng: Rng) -> bytes:
    at = int(rng.integers(len(data)))
    return data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))]) + data[at + 1 :]


def byte(data: bytes, rng: Rng) -> bytes:
    at = int(rng.integers(len(data)))
    return data[:at] + bytes([(data[at] + int(rng.integers(1, 256))) % 256]) + data[at + 1 :]


def cut(data: bytes, rng: Rng) -> bytes:
    return data[: int(rng.integers(len(data)))]


def insert(data: bytes, rng: Rng) -> bytes:
    at = int(rng.integers(len(data) + 1))
    return data[:at] + rng.bytes(int(rng.integers(1, 40))) + data[at:]


def remove(data: bytes, rng: Rng) -> bytes:
    at = int(rng.integers(len(data)))
    return data[:at] + data[at + int(rng.integers(1, 40)) :]


def length(data: bytes, rng: Rng) -> bytes:
    """Another length of the header: by a little, to beyond the file, to beyond the machine."""
    true = int.from_bytes(data[:8], "little")
    near = true + int(rng.choice([-8, -1, 1, 8, 64]))
    other = [near, len(data), 2**31, 2**40, 2**63, 2**64 - 1, 0, 1][int(rng.integers(8))]
    return other.to_bytes(8, "little") + data[8:]


def parts(data: bytes) -> tuple[dict[str, Any], bytes]:
    n = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + n]), data[8 + n :]


def whole(header: dict[str, Any], body: bytes, *, signed: bool) -> bytes:
    from discriminant.io.container import _checksum, _header

    table = {name: entry for name, entry in header.items() if name != "__metadata__"}
    if signed:
        header["__metadata__"]["checksum"] = _checksum(header["__metadata__"], table, body)
    raw = _header(header)
    return len(raw).to_bytes(8, "little") + raw + body


def shapes(data: bytes, rng: Rng) -> bytes:
    """An array that claims another shape, type or place; signed."""
    header, body = parts(data)
    name = str(rng.choice([key for key in header if key != "__metadata__"]))
    entry = header[name]
    kind, value = int(rng.integers(5)), copy.copy(HUGE[int(rng.integers(len(HUGE)))])
    if kind == 0:
        entry["shape"] = [*entry["shape"], value]
    elif kind == 1:
        entry["data_offsets"] = [entry["data_offsets"][0], value]
    elif kind == 2:
        entry["shape"] = [2**21, 2**21, 2**22] if rng.random() < 0.5 else [3] * int(rng.integers(30, 200))
    elif kind == 3:
        entry["dtype"] = str(rng.choice(["O", "|O", "F128", "V8", "M8", "f8,i4", "", "object", "U4000000000"]))
    else:
        entry[str(rng.choice(["extra", "shape "]))] = value
    return whole(header, body, signed=True)


def document(data: bytes, rng: Rng) -> bytes:
    """A document that names what it may not, nests without end, or is not one; signed."""
    header, body = parts(data)
    metadata = header["__metadata__"]
    text = json.loads(metadata["document"])
    name = str(rng.choice(NAMES))
    kind = int(rng.integers(8))
    if kind == 0:
        text["model"]["class"] = name
    elif kind == 1:
        text["model"]["parameters"][name] = 1
    elif kind == 2:
        text["model"]["state"][str(rng.choice(["fit", "__class__", "__dict__", "predict", "a b", ""]))] = 1
    elif kind == 3:
        text["model"] = {"$": "object", "class": name, "fields": {}}
    elif kind == 4:
        text["model"] = {"$": name, "items": []}
    elif kind == 5:
        del text[str(rng.choice(["model", "probe"]))]
    elif kind == 6:
        depth = int(rng.choice([70, 500, 5000, 60_000]))
        metadata["document"] = '{"model":' + '{"$":"tuple","items":[' * depth + "]}" * depth + ',"probe":{}}'
        return whole(header, body, signed=True)
    else:
        text["model"]["state"]["classes_"] = {"$": "strings", "dtype": "<U500000000", "shape": [2**40], "items": ["a"]}
    metadata["document"] = json.dumps(text)
    return whole(header, body, signed=True)


def probe(data: bytes, rng: Rng) -> bytes:
    """A model whose answers are not those that it came with; signed."""
    header, body = parts(data)
    text = json.loads(header["__metadata__"]["document"])
    kept = dict(text["probe"]["items"])
    entry = header[kept[str(rng.choice([key for key in kept if key != "X"]))]["name"]]
    first, last = entry["data_offsets"]
    values = np.frombuffer(body[first:last], dtype="<f8").copy()
    values[int(rng.integers(len(values)))] += float(rng.choice([1e-3, 1.0, np.nan, 1e300]))
    return whole(header, body[:first] + values.tobytes() + body[last:], signed=True)


def versions(data: bytes, rng: Rng) -> bytes:
    header, body = parts(data)
    key = str(rng.choice(["version", "format", "checksum"]))
    value = str(rng.choice(["2", "999", "-1", "", "1.0", "١", "pickle", "9" * 5000]))
    header["__metadata__"][key] = value
    return whole(header, body, signed=key != "checksum")


def foreign(data: bytes, rng: Rng) -> bytes:
    """Pickles, archives, other formats, and the file itself inside them."""
    kind = int(rng.integers(9))
    size = int(rng.integers(1, 1000))
    if kind == 0:
        return pickle.dumps({"model": data}, protocol=int(rng.integers(6)))
    if kind == 1:
        return b"cos\nsystem\n(S'exit 1'\ntR." * size
    if kind == 2:
        return gzip.compress(data + rng.bytes(size))
    if kind == 3:
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
            target.writestr("document", bytes(1_000_000))
        return archive.getvalue() + rng.bytes(size)
    if kind == 4:
        array = io.BytesIO()
        np.save(array, np.zeros(size))
        return array.getvalue()
    if kind == 5:  # a safetensors file of someone else
        raw = json.dumps(
            {"__metadata__": {"format": "pt"}, "w": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}
        )
        return len(raw).to_bytes(8, "little") + raw.encode() + bytes(8 * size)
    if kind == 6:
        return rng.bytes(size)
    if kind == 7:
        return b"\x89HDF\r\n\x1a\n" + data
    return str(rng.choice(["", "\n", "<html>", "{}", "a,b\n1,2\n", "\0" * size])).encode()


def bombs(data: bytes, rng: Rng) -> list[bytes]:
    """Headers of many megabytes of JSON, in front of which nothing is wrong."""
    start = b'{"__metadata__":{"format":"discriminant-model","version":"1","document":"{}","checksum":"0"},"a":'
    piece = [b"[],", b"{},", b'{"a":[]},', b"0,", b"[[[[[["][int(rng.integers(5))]
    block = piece * (1_000_000 // len(piece))
    chunks = [start + b"[", *[block] * int(rng.integers(2, 60)), b"0]}"]  # one block, many times: cheap for us
    return [sum(len(chunk) for chunk in chunks).to_bytes(8, "little"), *chunks]


KINDS: dict[str, tuple[Callable[[bytes, Rng], Any], int]] = {
    "a bit flipped": (bit, 2500), "a byte changed": (byte, 1000), "cut short": (cut, 1200),
    "bytes inserted": (insert, 1000),
    "bytes removed": (remove, 800), "another length": (length, 400), "several at once": (mutate, 1000),
    "shapes, signed": (shapes, 600), "documents, signed": (document, 400), "answers, signed": (probe, 280),
    "versions, signed": (versions, 300), "foreign": (foreign, 500), "bombs": (bombs, 20),
}  # fmt: skip


def mutants(seeds: list[bytes], seed: int) -> Iterator[tuple[str, list[bytes]]]:
    for place, (kind, (change, count)) in enumerate(KINDS.items()):
        for i in range(count):
            rng = np.random.default_rng([seed, place, i])
            data = seeds[i % len(seeds)]
            changed = change(data, rng)
            while changed == data:
                changed = change(data, rng)
            yield kind, changed if isinstance(changed, list) else [changed]


def run(seed: int = 0) -> dict[str, Any]:
    """What came of the mutants, and of the files that they were made of."""
    from discriminant.io import load

    paths = sorted(FIXTURES.glob("model-v*.discriminant"))
    for path in paths:
        load(path)  # what is loaded once is loaded before a clock runs
    accepted = sum(outcome(lambda path=path: load(path)) == "read" for path in paths)
    seeds = [path.read_bytes() for path in paths]
    found: dict[str, collections.Counter[str]] = {kind: collections.Counter() for kind in KINDS}
    shm = "/dev/shm" if Path("/dev/shm").is_dir() else None
    before, start, slowest = _memory(), time.process_time(), 0.0
    with tempfile.TemporaryDirectory(dir=shm) as folder:
        path = Path(folder) / "mutant"
        for kind, chunks in mutants(seeds, seed):
            with open(path, "wb") as file:
                file.writelines(chunks)
            since = time.process_time()
            found[kind][outcome(lambda: load(path))] += 1
            slowest = max(slowest, time.process_time() - since)
    total = sum(found.values(), collections.Counter())
    return {
        "kinds": {kind: dict(told) for kind, told in found.items()},
        "mutants": sum(total.values()), "refused": total["refused"], "unmutated": len(paths), "accepted": accepted,
        "seconds": round(time.process_time() - start, 1), "slowest": round(slowest, 3),
        "grown_MB": round(_memory() - before, 1),
    }  # fmt: skip


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    print(json.dumps(run(int(sys.argv[1]) if len(sys.argv) > 1 else 0), indent=1))
