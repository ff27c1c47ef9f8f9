"""scikit-learn's gallery under ``patch_sklearn``: each example twice, with and without, and what came out compared.

    python -m benchmarks.gallery FOLDER [name ...]     # FOLDER: the examples/ of scikit-learn's sources

Examples that name one of the patched classes and fetch nothing are run, each in a process of its own.  Compared are the
numbers that it prints and the pictures that it draws.  The table goes to standard output in Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

CLASSES = re.compile(
    r"\b(LogisticRegression(CV)?|(Linear|Quadratic)DiscriminantAnalysis|LinearSVC|RidgeClassifier|Perceptron)\b"
)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+\.?\d*(?:e[-+]?\d+)?(?![\w])")
RUN = """
import json, runpy, sys, warnings
warnings.simplefilter("ignore")
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
plt.show = lambda *args, **kwargs: None
example, patched, out = sys.argv[1:]
np.random.seed(0)
if patched == "1":
    import discriminant
    discriminant.patch_sklearn(verbose=True)
sys.argv = [example]
runpy.run_path(example, run_name="__main__")
for number in plt.get_fignums():
    figure = plt.figure(number)
    figure.canvas.draw()
    np.save(f"{out}/{number}.npy", np.asarray(figure.canvas.buffer_rgba()))
"""


def outcome(example: Path, patched: bool, seconds: float) -> tuple[list[float], list[np.ndarray], str, str]:
    """(numbers printed, pictures, standard error, what went wrong) of one run."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-c", RUN, str(example.resolve()), str(int(patched)), out]
        where = {**os.environ, "PYTHONHASHSEED": "0"}
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=seconds, cwd=out, env=where, check=False
            )
        except subprocess.TimeoutExpired:
            return [], [], "", f"longer than {seconds:g} s"
        pictures = [np.load(path) for path in sorted(Path(out).glob("*.npy"))]
    numbers = [float(word) for word in NUMBER.findall(done.stdout)]
    return numbers, pictures, done.stderr, done.stderr.strip().splitlines()[-1] if done.returncode else ""


def compare(example: Path, seconds: float) -> dict[str, object]:
    """One row of the table."""
    before, drawn, _, wrong = outcome(example, False, seconds)
    if wrong:
        return {"fault": f"without the patch: {wrong}"}
    after, redrawn, said, wrong = outcome(example, True, seconds)
    if wrong:
        return {"fault": f"under the patch: {wrong}"}
    row: dict[str, object] = {"here": said.count("fit by discriminant"), "there": said.count("fit by scikit-learn")}
    row["why"] = sorted(set(re.findall(r"by scikit-learn: (.*)", said)))
    row["numbers"], row["pictures"] = len(before), len(drawn)
    if len(before) != len(after) or len(drawn) != len(redrawn):
        return row | {"fault": "another number of figures"}
    a, b = np.asarray(before), np.asarray(after)
    row["differ"] = [[x, y] for x, y in zip(before, after, strict=True) if x != y]
    row["largest"] = float((np.abs(a - b) / np.maximum(np.abs(a), 1)).max(initial=0))
    changed = [
        float((x != y).any(axis=-1).mean()) if x.shape == y.shape else 1.0 for x, y in zip(drawn, redrawn, strict=True)
    ]
    return row | {"pixels": max(changed, default=0.0)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="parts of the names of examples; all without")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--json", type=Path, help="keep every figure that differs here")
    given = parser.parse_args()
    found = {path: path.read_text() for path in sorted(given.folder.rglob("*.py"))}
    chosen = [path for path, text in found.items() if CLASSES.search(text) and "fetch_" not in text]
    chosen = [path for path in chosen if not given.names or any(name in path.stem for name in given.names)]
    rows = {}
    print(
        "| example | fits here | by scikit-learn | numbers printed | of them differ | by at most | pixels that differ |"
    )
    print("|---|---|---|---|---|---|---|")
    for path in chosen:
        rows[path.stem] = row = compare(path, given.seconds)
        name = path.stem.removeprefix("plot_")
        if "fault" in row:
            print(f"| {name} | {row['fault']} | | | | | |", flush=True)
        else:
            figures = f"{row['numbers']} | {len(row['differ'])} | {row['largest']:.2g} | {row['pixels']:.2%}"  # type: ignore[arg-type]
            print(f"| {name} | {row['here']} | {row['there']} | {figures} |", flush=True)
        if given.json:
            given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
