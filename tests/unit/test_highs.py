"""HiGHS behind one caller: it prints nothing, from any thread, and what it found is judged by our own count."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import discriminant
from discriminant import (
    Discriminant,
    LinearProgrammingClassifier,
    MinimumErrorClassifier,
    ambiguity,
    solution_region,
)
from discriminant.optimize import LinearProgram, MixedInteger, highs

pytestmark = pytest.mark.filterwarnings("ignore::discriminant.errors.DiscriminantWarning")


def overlapping(seed: int, n: int = 23, d: int = 3, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = range(n_classes)
    return rng.standard_normal((n, d)), y


def printing() -> tuple[np.ndarray, np.ndarray]:
    """Rows of which HiGHS 1.12, asked in this process, prints a line for each solution that it repairs."""
    rng = np.random.default_rng(16)
    n, d, K = int(rng.integers(4, 40)), int(rng.integers(1, 5)), int(rng.integers(2, 4))
    X = rng.standard_normal((n, d))
    y = rng.integers(0, K, n)
    y[:K] = range(K)
    return X, y


def test_no_program_prints_anything_from_any_thread(capfd: pytest.CaptureFixture[str]) -> None:
    X, y = printing()
    fits = [
        lambda: Discriminant(criterion="zero-one", optimizer=MixedInteger(seconds=2)).fit(X, y),
        lambda: MinimumErrorClassifier(optimizer="mixed-integer").fit(*overlapping(1, n=14)),
        lambda: MinimumErrorClassifier(optimizer="witnesses", seconds=0.2).fit(*overlapping(2, n=14)),
        lambda: MinimumErrorClassifier(optimizer="mixed-integer").fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1]),
        lambda: LinearProgrammingClassifier().fit(*overlapping(3, n_classes=3)),
        lambda: LinearProgrammingClassifier().fit(np.zeros((6, 2)), [0, 1, 0, 1, 0, 1]),
        lambda: Discriminant(criterion="hinge", penalty="lasso", optimizer=LinearProgram()).fit(*overlapping(4)),
        lambda: solution_region([[0.0, 1.0], [1.0, 0.0], [-1.0, -2.0], [-2.0, 0.0]], [1, 1, 0, 0]),
        lambda: ambiguity(
            discriminant.LeastSquaresClassifier(coding="one-vs-rest").fit(*overlapping(5, n_classes=3)), [(-1, 1)] * 3
        ),
    ]
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(fit) for fit in fits]:
            done.result()
    seen = capfd.readouterr()
    assert (seen.out, seen.err) == ("", "")


def test_where_there_are_no_processes_the_answer_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = overlapping(1)
    there = Discriminant(criterion="zero-one", optimizer=MixedInteger()).fit(X, y)

    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError("emscripten does not support processes.")

    monkeypatch.setattr(subprocess, "run", refuse)
    here = Discriminant(criterion="zero-one", optimizer=MixedInteger()).fit(X, y)
    np.testing.assert_array_equal(there.coef_, here.coef_)


@pytest.mark.parametrize("seed", [3, 24])
def test_at_margins_of_the_solvers_tolerance_nothing_false_is_proved(seed: int) -> None:
    """HiGHS's own tolerance of 1e-6 lets whole rows pass here, and its "optimum" is none."""
    X, y = overlapping(seed, n=26)
    fine = Discriminant(criterion="zero-one", optimizer=MixedInteger(margin=1e-6)).fit(X, y)
    exact = MinimumErrorClassifier(optimizer="witnesses", rounds=500).fit(X, y)
    assert exact.certificate_.converged
    errors = round(fine.certificate_.objective * len(y))
    assert errors >= exact.n_errors_
    assert fine.certificate_.converged == fine.certificate_.status.startswith("Proved")
    if fine.certificate_.converged:
        assert errors == exact.n_errors_


def test_highs_has_one_caller() -> None:
    source = Path(discriminant.__file__).parent
    callers = [
        file.name
        for file in source.rglob("*.py")
        if any(f"import {name}" in (text := file.read_text("utf-8")) for name in ("linprog", "milp"))
        or "linprog(" in text
        or "milp(" in text
    ]
    assert callers == [Path(highs.__file__).name]
