"""A LazyFrame several times larger than the limit of memory: ``python -m benchmarks.lazy [--rows N] [--memory 500MB]``.

A Parquet file of 50 float64 columns is written part by part; then, in a process of its own, polars scans it lazily and
the query is fitted.  Printed: the file's size, the process's peak of resident memory, passes and processor's seconds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

FIT = """
import sys, time
import polars as pl
import discriminant
path, memory = sys.argv[1:]
rows = discriminant.scan(pl.scan_parquet(path), target="y", memory=memory)
for kind in (discriminant.LinearDiscriminantAnalysis, discriminant.LogisticRegression):
    began = time.process_time()
    model = kind(tol=1e-6).fit(rows) if kind is discriminant.LogisticRegression else kind().fit(rows)
    lines = open("/proc/self/status").read().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024
    print(f"{kind.__name__}: peak {peak / 1e6:,.0f} MB, {time.process_time() - began:.1f} processor's seconds")
print(f"{model.certificate_.status} Passes of both: {rows.passes:.1f}")
"""


def write(path: Path, n_rows: int, n_columns: int = 50) -> None:
    """Rows of two classes, a hundred thousand at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    rng, writer = np.random.default_rng(0), None
    for start in range(0, n_rows, 100_000):
        X = rng.standard_normal((min(100_000, n_rows - start), n_columns))
        y = (X[:, 0] + rng.logistic(size=len(X)) > 0).astype(np.int8)
        table = pa.table({f"x{j}": X[:, j] for j in range(n_columns)} | {"y": y})
        writer = writer or parquet.ParquetWriter(path, table.schema, compression="none")
        writer.write_table(table)
    assert writer is not None
    writer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--memory", default="500MB")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write(path, given.rows)
        print(f"file {os.path.getsize(path) / 1e6:,.0f} MB, limit {given.memory}")
        subprocess.run([sys.executable, "-c", FIT, str(path), given.memory], check=True)


if __name__ == "__main__":
    main()
