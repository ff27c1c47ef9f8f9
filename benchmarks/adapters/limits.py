"""What the hardware allows: one read of X, the Gram matrix by plain BLAS, and the arithmetic at BLAS's best rate."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from benchmarks.adapters.refusals import LOGISTIC, STEPS
from benchmarks.cold import READ, python
from benchmarks.contract import LIMIT, Data, Prepared

NAME, ROLE, PACKAGE = "limit", LIMIT, "numpy"
CHUNK = 1 << 17  # numbers handed to one call: 1 MiB of float64, small enough that threads end together
SYRK_SHAPE = (4_096, 1_024)  # a shape at which BLAS reaches its peak


def _read(data: Data) -> Prepared:
    """x·x over slices of X on every allowed core, one BLAS thread each: as fast as memory delivers."""
    from threadpoolctl import ThreadpoolController

    flat = data.X.reshape(-1) if isinstance(data.X, np.ndarray) else data.X.data  # of sparse rows the values alone
    blas = ThreadpoolController().select(user_api="blas")  # made once: looking for the libraries takes milliseconds
    cores = len(os.sched_getaffinity(0))
    bounds = np.linspace(0, flat.size, cores + 1).astype(int)
    pool = ThreadPoolExecutor(cores)

    def part(i: int) -> float:
        return sum(
            float(np.dot(flat[a : min(a + CHUNK, bounds[i + 1])], flat[a : min(a + CHUNK, bounds[i + 1])]))
            for a in range(bounds[i], bounds[i + 1], CHUNK)
        )

    def call() -> float:
        with blas.limit(limits=1):
            return sum(pool.map(part, range(cores)))

    return Prepared(call)


def _gram(data: Data) -> Prepared:
    return Prepared(lambda: data.X.T @ data.X)


def _peak(data: Data) -> Prepared:
    """The time that the triangle of XᵗX would take at the rate of a shape that suits BLAS."""
    n, d = SYRK_SHAPE
    A = np.random.default_rng(0).normal(size=SYRK_SHAPE)
    rows, columns = data.X.shape
    return Prepared(lambda: A.T @ A, scale=rows * columns * (columns + 1) / (n * d * (d + 1)))


def _numpy_start(data: Data) -> Prepared:
    script = READ.format(path=data.path)
    return Prepared(lambda: python(script))


_FIT = {"one read of X": _read, "X.T @ X": _gram, "arithmetic of XᵗX at peak syrk": _peak}
METHODS = {
    "lda-fit": _FIT,
    "qda-fit": _FIT,
    "least-squares-fit": _FIT,
    "lda-predict": {"one read of X": _read},
    **{problem: {"one read of X": _read} for problem in (*LOGISTIC, *STEPS)},
    "lda-cold-start": {"start Python, import NumPy": _numpy_start},
}
REFUSALS: dict[str, str] = {}
