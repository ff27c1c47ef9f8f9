"""A search with and without ``patch_sklearn``: ``python -m benchmarks.grid [--rows 50000] [--times 3] [--n-jobs 1]``.

Logistic regression over twenty C, five folds, by ``GridSearchCV``: scikit-learn alone and with the one line more, in
processes of their own and in turn.  Printed: wall and processor's seconds of both, medians, and what the line gains;
with ``--n-jobs`` by the clock alone, since scikit-learn's workers have processor's seconds of their own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from statistics import median

SEARCH = """
import sys, json, time, warnings
import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
line, rows, n_jobs, kind = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
if kind == "classification":
    X, y = make_classification(n_samples=rows, n_features=50, n_informative=20, random_state=0)
else:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 50))
    y = (X @ rng.standard_normal(50) / 4 + rng.logistic(size=rows) > 0).astype(int)
exec(line)
from sklearn.linear_model import LogisticRegression
model, name = LogisticRegression(), "C"
if kind == "pipeline":
    X = X * np.logspace(-2, 2, 50) + 3
    model, name = make_pipeline(StandardScaler(), model), "logisticregression__C"
wall, own = time.perf_counter(), time.process_time()
search = GridSearchCV(model, {name: np.logspace(-4, 4, 20)}, cv=5, n_jobs=n_jobs).fit(X, y)
print(json.dumps([time.perf_counter() - wall, time.process_time() - own, search.best_score_]))
"""
LINES = {"scikit-learn": "", "and one line": "import discriminant; discriminant.patch_sklearn()"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", default=["normal", "classification", "pipeline"])
    given = parser.parse_args()
    for kind in given.kinds:
        found: dict[str, list[list[float]]] = {name: [] for name in LINES}
        for _ in range(given.times):
            for name, line in LINES.items():
                command = [sys.executable, "-c", SEARCH, line, str(given.rows), str(given.n_jobs), kind]
                run = subprocess.run(command, check=True, capture_output=True, text=True)
                found[name].append(json.loads(run.stdout))
        plain, ours = ([median(column) for column in zip(*runs, strict=True)] for runs in found.values())
        clocks = [("wall", 0), ("processor", 1)] if given.n_jobs == 1 else [("wall", 0)]
        gains = [f"{name} {plain[k]:.2f} → {ours[k]:.2f} s, {plain[k] / ours[k]:.1f}×" for name, k in clocks]
        print(f"{kind:15} {'; '.join([*gains, f'best score {plain[2]:.5f} → {ours[2]:.5f}'])}", flush=True)


if __name__ == "__main__":
    main()
