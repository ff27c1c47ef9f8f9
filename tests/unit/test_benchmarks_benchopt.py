"""Solver files for benchopt's suites: each tolerance is kept on the suite's own objective, without an intercept."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "benchopt"


@pytest.fixture
def solver(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The class of a solver file, with an empty base where benchopt is not installed."""
    stub = ModuleType("benchopt")
    stub.BaseSolver = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "benchopt", stub)

    def load(name: str) -> Any:
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.Solver()

    return load


@pytest.mark.parametrize("name", ["ridge", "lasso"])
def test_a_solver_file_comes_within_each_tolerance_of_the_suites_objective(solver: Any, name: str) -> None:
    """F(w) = Σ ln(1 + e^{−y x·w}) + λ Ω(w), Ω = ½ ‖w‖² or ‖w‖₁."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12))
    y = np.where(X[:, 0] - X[:, 1] + rng.logistic(size=80) > 0, 1, -1)
    strength = 1.0 if name == "ridge" else 0.1 * np.abs(X.T @ y).max() / 2

    def F(w: Any) -> float:
        penalty = 0.5 * w @ w if name == "ridge" else np.abs(w).sum()
        return float(np.logaddexp(0, -y * (X @ w)).sum() + strength * penalty)

    file = solver(name)
    file.set_objective(X, y, strength)
    file.warm_up()
    tolerance, values = 1e38, []
    for _ in range(12):
        file.run(tolerance)
        values.append((tolerance, F(file.get_result()["beta"])))
        tolerance = file.get_next(tolerance)
    assert values[0][1] == pytest.approx(80 * np.log(2))
    for asked, value in values[1:]:
        assert value <= (1 + asked) * values[-1][1] + 1e-12
