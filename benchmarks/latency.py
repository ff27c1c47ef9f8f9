"""Microseconds for the probabilities of one row: ``python -m benchmarks.latency``.

Four models, four ways to ask, all in one process and one run: this package's ``predict_proba``, its ``scorer()``, its
export in onnxruntime, and scikit-learn's ``predict_proba`` of its class of the same method on the same data.  Rounds of
the four take turns, so that what disturbs the machine disturbs all of them; the figure is the median over the rounds of
the mean over a round's calls, with the least round behind it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

COLUMNS = ("`predict_proba`", "`scorer()`", "ONNX", "scikit-learn")
CALLS = 100


def cases() -> dict[str, tuple[Any, Any, Any]]:
    """Name → (our model, scikit-learn's, one row); fitted on bundled data."""
    from sklearn import discriminant_analysis, linear_model

    import discriminant

    iris, cancer = (discriminant.datasets.load(name) for name in ("iris", "breast_cancer"))
    found = {}
    for title, name, home, data, more in (
        ("logistic, 2 classes, 30 columns", "LogisticRegression", linear_model, cancer, {"max_iter": 10_000}),
        ("softmax, 3 classes, 4 columns", "LogisticRegression", linear_model, iris, {"max_iter": 10_000}),
        ("LDA, 3 classes, 4 columns", "LinearDiscriminantAnalysis", discriminant_analysis, iris, {}),
        ("QDA, 3 classes, 4 columns", "QuadraticDiscriminantAnalysis", discriminant_analysis, iris, {}),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer = getattr(home, name)(**more).fit(data.X, data.y)
            ours = getattr(discriminant, name)().fit(data.X, data.y)
        found[title] = (ours, peer, np.ascontiguousarray(data.X[7:8]))
    return found


def calls(ours: Any, peer: Any, row: Any) -> list[Callable[[], Any] | None]:
    """The four ways, in the order of ``COLUMNS``; None where an engine is not there."""
    score, one = ours.scorer(), row[0].copy()
    return [lambda: ours.predict_proba(row), lambda: score(one), _onnx(ours, row), lambda: peer.predict_proba(row)]


def _onnx(model: Any, row: Any) -> Callable[[], Any] | None:
    try:
        import onnxruntime
    except ImportError:
        return None
    import discriminant

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(discriminant.to_onnx(model), options, providers=["CPUExecutionProvider"])
    given = {session.get_inputs()[0].name: row}
    return lambda: session.run(["probabilities"], given)


def measure(ways: list[Callable[[], Any] | None], rounds: int) -> list[tuple[float, float] | None]:
    """(median, least) microseconds of each way, their rounds taking turns."""
    times: list[list[float]] = [[] for _ in ways]
    for turn in range(rounds + 1):
        for kept, way in zip(times, ways, strict=True):
            if way is None:
                continue
            start = time.perf_counter()
            for _ in range(CALLS):
                way()
            if turn:  # the first round warms up
                kept.append((time.perf_counter() - start) / CALLS * 1e6)
    return [(statistics.median(kept), min(kept)) if kept else None for kept in times]


def table(rounds: int) -> tuple[list[str], dict[str, Any]]:
    """(lines of Markdown, the figures)."""
    lines = [f"| µs for one row | {' | '.join(COLUMNS)} | scikit-learn / ours |", "|---" * (len(COLUMNS) + 2) + "|"]
    figures: dict[str, Any] = {}
    for title, (ours, peer, row) in cases().items():
        found = measure(calls(ours, peer, row), rounds)
        figures[title] = dict(zip(COLUMNS, found, strict=True))
        cells = ["–" if item is None else f"{item[0]:.1f} ({item[1]:.1f})" for item in found]
        assert found[0] is not None
        assert found[3] is not None
        ratio = found[3][0] / found[0][0]
        lines.append(f"| {title} | {' | '.join(cells)} | {ratio:.1f}× |")
    return lines, figures


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=60)
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    lines, figures = table(given.rounds)
    print(json.dumps(figures, indent=1) if given.json else "\n".join(lines))


if __name__ == "__main__":
    main()
