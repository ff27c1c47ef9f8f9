"""The file that does not fit: rows with correlated columns of very different units, written quickly and in parallel.

    x = s ∘ (e + 1.5 F f) + c,      e ~ N(0, I₅₀),  f ~ N(0, I₅),      P(y = 1|x) = σ(½ w·(e + 1.5 F f) + 0.3)

Every stretch of 100,000 rows has a seed of its own, so that the file does not depend on who writes what.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS = 50
STRETCH = 100_000


def parameters() -> dict[str, Any]:
    """Loadings, scales, offsets and weights of the population."""
    rng = np.random.default_rng(1)
    F = rng.normal(size=(5, COLUMNS)).astype(np.float32)
    scale = 10.0 ** rng.uniform(-2, 2, size=COLUMNS)
    return {
        "F": F,
        "scale": scale,
        "offset": rng.normal(size=COLUMNS) * scale,
        "w": (0.175 * rng.normal(size=COLUMNS)).astype(np.float32),
    }


def stretch(number: int, rows: int) -> tuple[Any, Any]:
    """(X, y) of one stretch."""
    p = parameters()
    rng = np.random.Generator(np.random.SFC64([2, number]))
    Z = rng.standard_normal((rows, COLUMNS), dtype=np.float32)
    Z += (1.5 * rng.standard_normal((rows, 5), dtype=np.float32)) @ p["F"]
    y = rng.random(rows, dtype=np.float32) < 1 / (1 + np.exp(-(Z @ p["w"]) - np.float32(0.3)))
    return Z * p["scale"] + p["offset"], y.astype(np.int8)


def write(folder: Path, rows: int) -> tuple[Path, Path]:
    """``X.npy`` (float64) and ``y.npy`` (int8) with so many rows; left alone where they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "X.npy", folder / "y.npy"
    done = folder / f"rows-{rows}"
    if done.exists():
        return paths
    with open(paths[0], "wb") as X, open(paths[1], "wb") as y, ThreadPoolExecutor(2) as pool:
        for file, kind, shape in ((X, "<f8", (rows, COLUMNS)), (y, "|i1", (rows,))):
            np.lib.format.write_array_header_1_0(file, {"descr": kind, "fortran_order": False, "shape": shape})
        jobs = [(k, min(STRETCH, rows - k * STRETCH)) for k in range(-(-rows // STRETCH))]
        ahead = [pool.submit(stretch, *job) for job in jobs[:3]]
        for k in range(len(jobs)):
            values, labels = ahead.pop(0).result()
            if k + 3 < len(jobs):
                ahead.append(pool.submit(stretch, *jobs[k + 3]))
            X.write(memoryview(np.ascontiguousarray(values)).cast("B"))
            y.write(memoryview(labels).cast("B"))
    done.touch()
    return paths


def standard(X: Any) -> tuple[Any, Any]:
    """Means and deviations of the columns, by the first 100,000 rows: peers that step in units get standard ones."""
    head = np.asarray(X[:100_000])
    return head.mean(axis=0), head.std(axis=0)
