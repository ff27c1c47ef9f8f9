"""The map of speed: its table spans what it says, intervals decide, a run renews its places, the picture shows them."""

from __future__ import annotations

import doctest
import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the benchmarks are no part of the installed package

from benchmarks import adapters, data, map, map_picture  # noqa: E402
from benchmarks.contract import OURS, PEER  # noqa: E402
from benchmarks.map import Place, Runner, decided, keep  # noqa: E402
from benchmarks.places import PLACES  # noqa: E402
from benchmarks.task import PROBLEMS, REAL, Task  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Data of the tests lie apart from those of real runs; workers are told through the environment."""
    patch = pytest.MonkeyPatch()
    patch.setenv(data.DATA_FOLDER, str(tmp_path_factory.mktemp("data")))
    yield
    patch.undo()


def test_the_table_spans_sizes_classes_penalties_columns_and_problems() -> None:
    tasks = list(PLACES.values())
    assert len(tasks) >= 80
    assert {task.word for task in tasks} >= set(PROBLEMS) - {
        "cold", "default", "perceptron-epoch", "perceptron-fit", "lms-epoch",
    }  # fmt: skip
    assert min(task.n for task in tasks if not task.word.startswith("predict")) <= 100
    assert max(task.n for task in tasks) >= 1_000_000
    assert (min(task.d for task in tasks), max(task.d for task in tasks)) <= (4, 100_000)
    assert max(task.d for task in tasks if not task.row_values) >= 10_000
    assert max(task.n_classes for task in tasks) >= 1_000
    assert {1e-6, 1e-4, 1.0, 1e6} <= {task.C for task in tasks}
    kinds = {"independent", "correlated", "dummies", "units", "pixels", "sparse", *REAL}
    assert kinds <= {task.columns for task in tasks}
    assert {task.n for task in tasks if task.word == "predict"} >= {1, 1_000, 1_000_000}


def test_every_place_is_solved_by_us_and_by_a_peer() -> None:
    modules = [adapters.load(file) for file in adapters.FILES]
    for task in PLACES.values():
        roles = {module.ROLE for module in modules if module.METHODS.get(task.problem)}
        assert {OURS, PEER} <= roles, task.name


def test_the_first_places_are_of_different_problems_and_columns() -> None:
    first = list(PLACES.values())[:40]
    assert len({task.word for task in first}) >= 18


def test_a_word_that_is_no_shape_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'12' of ridge independent is no shape"):
        Task.read("ridge", "independent", "12")


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [([2.0] * 4, False), ([2.0] * 5, True), ([0.5] * 5, True), ([0.95, 1.05, 1.0, 0.99, 1.01], True)]
    + [([0.5, 2.0, 1.0, 0.9, 1.3], False)],
)
def test_a_ratio_is_decided_when_its_interval_is_clear_of_one_or_within_a_tenth(ratios: Any, verdict: bool) -> None:
    assert decided(ratios) is verdict
    assert doctest.testmod(map).failed == 0


def test_the_fastest_peer_counts_whatever_its_threads_and_an_easier_problem_counts_apart() -> None:
    place = Place(PLACES["ridge independent 200x10"], {})
    place.runners = [
        Runner("a", "proved @ 1e-6", "discriminant proved @ 1e-6", OURS, "1e-6", None, [1.0, 1.0]),
        Runner("a", "proved @ 1e-6", "discriminant proved @ 1e-6", OURS, "1e-6", 1, [1.5, 1.5]),
        Runner("b", "lbfgs @ 1e-6", "x lbfgs @ 1e-6", PEER, "1e-6", None, [4.0, 6.0]),
        Runner("b", "lbfgs @ 1e-6", "x lbfgs @ 1e-6", PEER, "1e-6", 1, [2.0, 3.0]),
        Runner("b", "dual @ 1e-6", "x dual, intercept penalised @ 1e-6", PEER, "1e-6", 1, [0.5, 0.5], True),
        Runner("b", "lbfgs @ 1e-4", "x lbfgs @ 1e-4", PEER, "1e-4", 1, [0.1, 0.1]),
    ]
    found = place.result()["levels"]["1e-6"]
    assert (found["ours"], found["one_thread"]) == (1.0, 1.5)
    assert (found["peer"]["threads"], found["peer"]["ratio"]) == (1, 2.5)
    assert found["easier"]["ratio"] == 0.5


def test_a_place_is_renewed_alone_and_in_the_order_of_the_table(tmp_path: Path) -> None:
    path, (first, second, *_) = tmp_path / "map.json", PLACES
    for name, date in ((second, "old"), (first, "old"), (second, "new")):
        keep(path, name, date=date)
    keep(path, second, fresh={"ours": {}})
    places = json.loads(path.read_text())["places"]
    assert list(places) == [first, second]
    assert places[second] == {"date": "new", "fresh": {"ours": {}}}


def test_a_quick_run_measures_and_draws(tmp_path: Path) -> None:
    results = tmp_path / "map.json"
    only = ["--only", "lda-shrunk classes", "--only", "svc independent"]
    assert map.main(["--quick", "--results", str(results), *only]) == 0
    assert map.main(["--quick", "--fresh", "--results", str(results), "--only", "lda-shrunk"]) == 0
    places = json.loads(results.read_text())["places"]
    assert len(places) == 2
    for found in places.values():
        assert found["levels"][list(found["levels"])[-1]]["peer"]["ratio"] > 0
    assert places["lda-shrunk classes 500x10"]["fresh"]["ours"]["first"] > 0
    assert (tmp_path / "speed_map.svg").stat().st_size > 5_000
    assert "lda-shrunk" in (tmp_path / "speed_places.md").read_text()


def test_the_published_map_is_of_the_table() -> None:
    if map.RESULTS.exists():
        places = json.loads(map.RESULTS.read_text())["places"]
        assert set(places) <= set(PLACES)
    assert map_picture.LEVELS == ("1e-4", "1e-6")
