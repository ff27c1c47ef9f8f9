"""Linear discriminants of a database table, pushed down and by fetching rows: ``python -m benchmarks.database``.

By default a DuckDB table of ten million rows, six columns and three classes is made in a temporary folder; ``--postgres
URL`` makes a table ``discriminant_rows`` there instead (``--rows 1000000``) and drops it again.  Both ways are taken in
turn; printed: medians by the clock and in this process's seconds, and how far apart the weights lie.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import discriminant

# a class in the scales of a table that somebody keeps: large means, small spreads
MAKE = """CREATE TABLE discriminant_rows AS
SELECT 1000 + y + random() + random() AS x0, random() - y AS x1, 100 * random() AS x2, x0_ + random() AS x3,
       1e-3 * (x0_ + random()) AS x4, random() AS x5, y
FROM (SELECT CAST(floor(3 * random()) AS INTEGER) AS y, random() AS x0_ FROM {numbers} AS numbers) AS drawn"""
QUERY = "SELECT * FROM discriminant_rows"


def fetched(connection: Any, duckdb: bool) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """(X, y) of all rows, by the quickest way that the driver has."""
    cursor = connection.cursor()
    cursor.execute(QUERY)
    if duckdb:
        *X, y = cursor.fetchnumpy().values()
        return np.column_stack(X), np.asarray(y)
    rows = np.array(cursor.fetchall(), dtype=np.float64)
    return rows[:, :-1], rows[:, -1].astype(int)


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    wall, own = time.perf_counter(), time.process_time()
    found = work()
    return time.perf_counter() - wall, time.process_time() - own, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument(
        "--postgres", metavar="URL", help="for psycopg; others than DuckDB count rows in their own process"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.postgres:
            import psycopg

            connection, numbers = psycopg.connect(given.postgres), f"generate_series(1, {given.rows})"
        else:
            import duckdb

            connection, numbers = duckdb.connect(Path(folder) / "rows.duckdb"), f"range({given.rows})"
        connection.execute(MAKE.format(numbers=numbers))
        if given.postgres:
            connection.execute("ANALYZE discriminant_rows")
        compare(connection, not given.postgres, given.times)
        connection.execute("DROP TABLE discriminant_rows")
        connection.close()


def compare(connection: Any, duckdb: bool, times: int) -> None:
    """Both ways in turn."""

    def pushed() -> Any:
        return discriminant.LinearDiscriminantAnalysis().fit(discriminant.scan(QUERY, "y", connection=connection))

    pushed()  # imports
    runs: list[list[float]] = []
    for _ in range(times):
        wall, own, model = timed(pushed)
        fetch_wall, fetch_own, rows = timed(lambda: fetched(connection, duckdb))
        fit_wall, fit_own, plain = timed(partial(discriminant.LinearDiscriminantAnalysis().fit, *rows))
        runs.append([wall, own, fetch_wall, fetch_own, fit_wall, fit_own])
    walls = [median(column) for column in zip(*runs, strict=True)]
    print("by the clock (and this process's seconds)")
    for name, k in (("pushed down", 0), ("fetching", 2), ("fit of what was fetched", 4)):
        print(f"  {name:24} {walls[k]:6.2f} s ({walls[k + 1]:.2f})")
    apart = np.abs(model.coef_ - plain.coef_).max(axis=1) / np.abs(plain.coef_).max(axis=1)
    print(f"weights differ by {apart.max():.1e} of the largest")


if __name__ == "__main__":
    main()
