"""What a pass over files costs, from 1e4 to 1e8 rows, and the model that fits it: ``python -m benchmarks.scale_curve``.

    seconds of the processor for a pass = a + rows · (b · bytes of a row + c · columns)

Files are written to a folder that is emptied again.  Seconds of the processor, summed over threads, are fitted: on a
shared machine they are what the work takes, and wall time is what others leave.  Results go to
``benchmarks/results/scale-curve.json``, the picture to ``docs/scale.svg``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.environments import ROOT

RESULTS = ROOT / "benchmarks" / "results" / "scale-curve.json"
PICTURE = ROOT / "docs" / "scale.svg"
STRETCH = 200_000
SHAPES = (("float32", 10), ("float64", 50))


def write(folder: Path, rows: int, kind: str, d: int) -> None:
    """Correlated normal columns, two classes that overlap."""
    folder.mkdir(parents=True, exist_ok=True)
    mix = (np.eye(d) + 0.3 * np.random.default_rng(0).normal(size=(d, d))).astype(np.float32)
    with open(folder / "X.npy", "wb") as X, open(folder / "y.npy", "wb") as y:
        for file, name, shape in ((X, np.dtype(kind).str, (rows, d)), (y, "|i1", (rows,))):
            np.lib.format.write_array_header_1_0(file, {"descr": name, "fortran_order": False, "shape": shape})
        for k in range(0, rows, STRETCH):
            rng = np.random.Generator(np.random.SFC64([k, d]))
            m = min(STRETCH, rows - k)
            values = rng.standard_normal((m, d), dtype=np.float32) @ mix
            noise = rng.standard_normal(m, dtype=np.float32)
            X.write(np.ascontiguousarray(values.astype(kind)).tobytes())
            y.write((values[:, 0] + values[:, 1] + noise > 0.3).astype(np.int8).tobytes())


def measure(folder: Path, rows: int, kind: str, d: int) -> list[dict[str, Any]]:
    """Moments (LDA) and logistic regression to 1e-6, each with its passes, wall and processor's seconds."""
    from discriminant import LinearDiscriminantAnalysis, LogisticRegression, scan

    told = []
    for name, model in (("LDA", LinearDiscriminantAnalysis()), ("logistic", LogisticRegression(tol=1e-6))):
        source = scan(folder / "X.npy", target=str(folder / "y.npy"), memory="1GB", hold=False)
        wall, used = time.perf_counter(), time.process_time()
        model.fit(source)
        told.append(
            {
                "method": name,
                "rows": rows,
                "columns": d,
                "type": kind,
                "passes": round(source.passes, 3),
                "wall": time.perf_counter() - wall,
                "cpu": time.process_time() - used,
                "converged": bool(model.certificate_.converged),
            }
        )
    return told


def fitted(found: list[dict[str, Any]], method: str) -> dict[str, float]:
    """a, b, c by least squares on relative errors, of the processor's seconds for a pass."""
    mine = [one for one in found if one["method"] == method]
    size = {"float32": 4, "float64": 8}
    rows = np.array([[1.0, o["rows"] * o["columns"] * size[o["type"]], o["rows"] * o["columns"]] for o in mine])
    cost = np.array([o["cpu"] / o["passes"] for o in mine])
    from scipy.optimize import nnls

    scale = rows.max(axis=0)
    solution, _ = nnls(rows / scale / cost[:, None], np.ones(len(cost)))
    a, b, c = (solution / scale).tolist()
    worst = float(np.abs(rows @ np.array([a, b, c]) / cost - 1).max())
    return {"a": a, "b": b, "c": c, "worst_relative_error": worst}


def picture(found: list[dict[str, Any]], models: dict[str, dict[str, float]]) -> str:
    """Processor's seconds a pass against rows, both axes in powers of ten; the lines are the model."""
    width, height, left, low = 640, 400, 70, 50
    xs, ys = (3.5, 8.5), (-3.0, 2.0)

    def at(n: float, t: float) -> tuple[float, float]:
        x = left + (np.log10(n) - xs[0]) / (xs[1] - xs[0]) * (width - left - 20)
        y = height - low - (np.log10(max(t, 1e-9)) - ys[0]) / (ys[1] - ys[0]) * (height - low - 20)
        return round(float(x), 1), round(float(y), 1)

    head = f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12"'
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" {head}>']
    out.append(f'<rect width="{width}" height="{height}" fill="white"/>')
    for p in range(4, 9):
        x, y = at(10.0**p, 10 ** ys[0])
        out.append(f'<path d="M{x} 20V{y}" stroke="#ddd"/><text x="{x}" y="{y + 18}" text-anchor="middle">1e{p}</text>')
    for p in range(-3, 3):
        x, y = at(10 ** xs[0], 10.0**p)
        out.append(f'<path d="M{x} {y}H{width - 20}" stroke="#ddd"/>')
        out.append(f'<text x="{x - 6}" y="{y + 4}" text-anchor="end">1e{p}</text>')
    out.append(f'<text x="{width / 2}" y="{height - 8}" text-anchor="middle">rows</text>')
    out.append(f'<text x="14" y="{height / 2}" transform="rotate(-90 14 {height / 2})" text-anchor="middle">'
               "processor seconds a pass</text>")  # fmt: skip
    colours = {("LDA", 10): "#1b6ca8", ("LDA", 50): "#0b3c5d", ("logistic", 10): "#d1603d", ("logistic", 50): "#7f2a12"}
    bytes_of = {10: 4, 50: 8}
    for k, ((method, d), colour) in enumerate(colours.items()):
        m = models[method]
        line = [at(n, m["a"] + n * d * (m["b"] * bytes_of[d] + m["c"])) for n in np.logspace(4, 8, 41)]
        out.append(f'<path d="M{" L".join(f"{x} {y}" for x, y in line)}" fill="none" stroke="{colour}"/>')
        for one in found:
            if (one["method"], one["columns"]) == (method, d):
                x, y = at(one["rows"], one["cpu"] / one["passes"])
                out.append(f'<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}"/>')
        out.append(f'<text x="{left + 20}" y="{40 + 16 * k}" fill="{colour}">{method}, {d} columns</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "scale-curve")
    parser.add_argument("--most", type=float, default=1e8, help="rows of the largest file with ten columns")
    given = parser.parse_args()
    found: list[dict[str, Any]] = []
    for kind, d in SHAPES:
        most = given.most if d == 10 else given.most / 20
        for rows in (int(n) for n in (1e4, 1e5, 1e6, 1e7, 1e8) if n <= most):
            write(given.folder, rows, kind, d)
            if rows == 10_000 and kind == "float32":
                measure(given.folder, rows, kind, d)  # the first fit loads libraries
            found += measure(given.folder, rows, kind, d)
            print(*(f"{o['method']} {rows:,}×{d}: {o['passes']} passes, {o['cpu']:.2f} s of the processor, "
                    f"{o['wall']:.2f} s" for o in found[-2:]), sep="\n", flush=True)  # fmt: skip
            shutil.rmtree(given.folder)
    models = {method: fitted(found, method) for method in ("LDA", "logistic")}
    RESULTS.write_text(json.dumps({"found": found, "models": models}, indent=1) + "\n")
    PICTURE.write_text(picture(found, models))
    print(json.dumps(models, indent=1))


if __name__ == "__main__":
    main()
