"""The benchmark harness: it runs at tiny size, tells equal answers from different ones, never counts a wrong one."""

from __future__ import annotations

import doctest
import importlib.util
import json
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the benchmarks are no part of the installed package

from benchmarks import adapters, agree, data, designs, measure, report, run  # noqa: E402
from benchmarks import task as task_module  # noqa: E402
from benchmarks.adapters import limits, numpy_, sklearn_  # noqa: E402
from benchmarks.agree import Verdict, cheapest_within, compare  # noqa: E402
from benchmarks.bench import Bench, Sample  # noqa: E402
from benchmarks.contract import BY_HAND, LIMIT, OURS, PEER, Prepared  # noqa: E402
from benchmarks.measure import Options, Outcome, Row  # noqa: E402
from benchmarks.places import PROMISES  # noqa: E402
from benchmarks.task import Aim, Task  # noqa: E402
from benchmarks.worker import Worker  # noqa: E402

TINY = replace(PROMISES["lda-1e6x50"], name="tiny", n=600, d=4)
HASTY = Options(repeat=2, threads=1, memory=False, quiet=0.0, patience=0.0)
LANDED = all(
    importlib.util.find_spec(f"discriminant.estimators.{name}") for name in ("linear", "quadratic", "least_squares")
)


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Data of the tests lie apart from those of real runs; workers are told through the environment."""
    patch = pytest.MonkeyPatch()
    patch.setenv(data.DATA_FOLDER, str(tmp_path_factory.mktemp("data")))
    yield
    patch.undo()


class Local:
    """A worker without a process: the same commands, answered by a ``Bench`` here, failures as sentences."""

    def __init__(self, adapter: Any) -> None:
        self.bench = Bench(adapter)

    def call(self, command: str, *arguments: Any) -> Any:
        try:
            return getattr(self.bench, command)(*arguments)
        except ValueError as error:
            raise RuntimeError(f"ValueError: {error}") from error


def adapter(name: str, role: str, build: Any, problem: str = "lda-fit", package: str = "numpy") -> Any:
    return SimpleNamespace(NAME=name, ROLE=role, PACKAGE=package, METHODS={problem: {"m": build}}, REFUSALS={})


def shrunken(rows: Any) -> Prepared:
    """A contender that is quick and solves another problem."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5).fit(rows.X, rows.y)
    return Prepared(lambda: model, lambda m: {"posterior": m.predict_proba(rows.probe)})


def refusing(_: Any) -> Prepared:
    raise ValueError("column 3 is not to my taste")


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Measure a task with these adapters, in this process."""

    def measure_with(task: Task, *contenders: Any) -> Outcome:
        table = {str(i): contender for i, contender in enumerate(contenders)}
        monkeypatch.setattr(measure, "load", table.__getitem__)
        workers: Any = {file: Local(contender) for file, contender in table.items()}
        return measure.measure(task, workers, HASTY)

    return measure_with


@pytest.mark.parametrize("module", [agree, report, task_module], ids=lambda module: module.__name__)
def test_examples_in_the_harness_print_what_they_say(module: Any) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_every_problem_of_a_task_is_solved_by_us_and_by_a_peer_and_has_a_limit() -> None:
    ours = adapters.load("discriminant_")
    for task in PROMISES.values():
        assert ours.METHODS[task.problem]
        assert sklearn_.METHODS[task.problem]
        assert limits.METHODS[task.problem]
        if not task.levels:
            judge, method = task.what.judge
            assert judge == sklearn_.NAME
            assert method in sklearn_.METHODS[task.problem]


def test_each_adapter_has_a_method_or_a_sentence_for_each_problem() -> None:
    for file in adapters.FILES:
        module = adapters.load(file)
        for problem in {task.problem for task in PROMISES.values()}:
            assert (problem in module.METHODS) != (problem in module.REFUSALS), (file, problem)


def test_data_are_the_same_for_the_same_seed_and_differ_for_another() -> None:
    first, second, other = (designs.make_rows(replace(TINY, seed=seed))[0] for seed in (1, 1, 2))
    assert (first == second).all()
    assert not (first == other).any()


def test_peers_and_recipes_give_the_same_answers_at_tiny_size(measured: Any) -> None:
    for name in ("lda-1e6x50", "qda-5e5x50", "ls-1e6x100", "predict-1e6x50"):
        outcome = measured(replace(PROMISES[name], n=900, d=5), sklearn_, numpy_, limits)
        assert not [row.failure for row in outcome.rows if row.failure]
        assert [
            row.verdict.sentence for row in outcome.rows if row.role in (PEER, BY_HAND) and not row.verdict.same
        ] == []
        assert all(len(row.times) == HASTY.repeat for row in outcome.rows)


@pytest.mark.skipif(not LANDED, reason="the estimators are not in the package yet")
def test_our_estimators_give_the_peers_answers_at_tiny_size(measured: Any) -> None:
    ours = adapters.load("discriminant_")
    for name in ("lda-1e6x50", "qda-5e5x50", "ls-1e6x100", "predict-1e6x50"):
        outcome = measured(replace(PROMISES[name], n=900, d=5), ours, sklearn_)
        assert outcome.ours is not None, [row.failure or row.verdict.sentence for row in outcome.rows]


def test_a_contender_that_solves_another_problem_is_named_and_never_counts(measured: Any) -> None:
    outcome = measured(TINY, adapter("quick", PEER, shrunken), sklearn_)
    row = outcome.rows[0]
    assert row.verdict.sentence.startswith("DIFFERS")
    assert row.median < min(other.median for other in outcome.rows[1:])
    assert outcome.best(PEER) is not row
    assert "DIFFERS" in report.section(outcome, machine())


def test_our_own_wrong_answer_is_a_shortfall_whatever_its_speed(measured: Any) -> None:
    outcome = measured(replace(TINY, aim=Aim(0.0)), adapter("discriminant", OURS, shrunken), sklearn_)
    assert outcome.ours is None
    assert "DIFFERS" in outcome.shortfalls()[0]


def test_a_contender_that_fails_keeps_its_sentence_and_the_others_run(measured: Any) -> None:
    outcome = measured(TINY, adapter("fussy", PEER, refusing), sklearn_)
    assert "column 3 is not to my taste" in outcome.rows[0].failure
    assert outcome.best(PEER) is not None


def test_a_peer_that_takes_its_process_down_is_a_sentence_and_the_next_call_has_a_new_process() -> None:
    with Worker("limits", 1) as worker:
        worker.call("load", TINY)
        first = worker.process
        threading.Timer(0.2, first.kill).start()
        with pytest.raises(RuntimeError, match="process of limits ended with code -9 during load"):
            worker.call("load", replace(TINY, n=5_000_000, d=20))
        with pytest.raises(RuntimeError, match="no task is loaded"):
            worker.call("warm", "one read of X")
        worker.call("load", TINY)
        assert worker.call("warm", "one read of X").wall > 0
        assert worker.process.pid != first.pid


def test_a_missing_package_is_left_out_in_a_sentence(measured: Any) -> None:
    outcome = measured(TINY, adapter("ghost", PEER, shrunken, package="no-such-distribution"), sklearn_)
    assert outcome.skipped == ["ghost is not installed: left out."]
    assert "ghost" not in {row.adapter for row in outcome.rows}


def test_different_data_in_two_processes_stop_the_run() -> None:
    workers: Any = {name: SimpleNamespace(call=lambda *_, value=i: value) for i, name in enumerate("ab")}
    rows = [Row("a", "a", PEER, "m"), Row("b", "b", PEER, "m")]
    with pytest.raises(RuntimeError, match="did not make the same data"):
        measure.same_data(TINY, workers, rows)


@pytest.mark.parametrize(
    ("answer", "same"),
    [
        ({"scores": np.array([1.0, 2.0])}, True),
        ({"scores": np.array([1.0, 2.0 + 1e-9])}, True),
        ({"scores": np.array([1.0, 2.0 + 1e-6])}, False),
        ({"scores": np.array([1.0, np.nan])}, False),
        ({"scores": np.array([[1.0], [2.0]])}, False),
        ({"posterior": np.array([1.0, 2.0])}, False),
        ({}, False),
    ],
)
def test_answers_agree_only_within_the_tolerance(answer: Any, same: bool) -> None:
    assert compare(answer, {"scores": np.array([1.0, 2.0])}, 1e-8).same is same


def test_labels_agree_up_to_a_few_points_on_a_boundary() -> None:
    judge = np.zeros(1_000_000, dtype=int)
    one, many = judge.copy(), judge.copy()
    one[:1], many[:100] = 1, 1
    assert compare({"labels": one}, {"labels": judge}, 1e-8).same
    assert not compare({"labels": many}, {"labels": judge}, 1e-8).same


def test_peak_memory_is_that_of_the_call_and_not_of_the_data() -> None:
    """A call that fills 64 MiB and gives it back has a peak of 64 MiB, whatever lay there before."""
    script = """
import numpy as np
from types import SimpleNamespace
from benchmarks.bench import Bench
from benchmarks.contract import Data, Prepared

def build(_):
    return Prepared(lambda: float(np.ones(8 * 2**20).sum()))

rows = np.zeros((100_000, 40))
greedy = SimpleNamespace(NAME="greedy", METHODS={"p": {"m": build}})
bench = Bench(greedy, SimpleNamespace(problem="p"), Data(rows, np.zeros(100_000, dtype=int), 2, rows[:1]))
print(bench.peak("m"))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert 60 * 2**20 < int(done.stdout) < 80 * 2**20


def test_calls_per_measurement_follow_the_time_taken_and_not_the_time_that_counts() -> None:
    """A reference line that extrapolates a rate to few rows is scaled by 1e-6; it is not called a million times."""
    calls: list[int] = []

    def call() -> None:
        calls.append(1)
        time.sleep(0.01)

    bench = Bench(adapter("rate", LIMIT, lambda _: Prepared(call, scale=1e-6)))
    bench.load(TINY)
    assert bench.warm("m").wall < 1e-6
    bench.sample("m")
    assert len(calls) == 3


def test_time_to_a_gap_takes_the_cheapest_effort_that_gets_there(measured: Any) -> None:
    """Objectives 1 + 1/k after k units of effort; the lowest found is the reference."""

    def effort(k: int) -> Any:
        return lambda _: Prepared(
            lambda: time.sleep(0.003 * 4**k), lambda _: {"objective": np.float64(1 + 10.0 ** (-3 * k))}
        )

    iterative = adapter("iterative", PEER, None)
    iterative.METHODS = {"lda-fit": {f"descent @ {k}": effort(k) for k in (1, 2, 3)}}
    outcome = measured(replace(TINY, gaps=(2e-3, 1e-5)), iterative)
    best = cheapest_within(
        {row.label: row.median for row in outcome.rows}, {row.label: row.objective or 0.0 for row in outcome.rows}, 1e-5
    )
    assert best["iterative descent"] is not None
    assert best["iterative descent"][0] == "iterative descent @ 2"
    assert [row.verdict.same for row in outcome.rows] == [False, True, True]
    assert "within 1e-05" in report.section(outcome, machine())


def test_ratio_is_of_medians_with_its_range_over_rounds() -> None:
    slow, quick = Row("a", "a", PEER, "m", [4.0, 6.0, None]), Row("b", "b", OURS, "m", [1.0, 2.0, 3.0])
    assert slow.over(quick) == (2.5, 3.0, 4.0)


def test_a_missed_promise_is_a_sentence() -> None:
    good = Verdict(True, "equal")
    rows = [
        Row("discriminant", "a", OURS, "m", [0.5], verdict=good),
        Row("peer", "b", PEER, "m", [1.0], verdict=good),
        Row("limit", "c", LIMIT, "one read of X", [0.1]),
    ]
    assert Outcome(replace(TINY, aim=Aim(2.0, 5.0)), rows, []).shortfalls() == []
    missed = Outcome(replace(TINY, aim=Aim(3.0, 4.0)), rows, []).shortfalls()
    assert missed == ["tiny: 2.00× peer m, promised 3×", "tiny: 5.00 reads of X, promised 4"]


def test_the_verdict_names_the_fastest_peer_and_the_next_package() -> None:
    good = Verdict(True, "equal")
    rows = [
        Row("discriminant", "a", OURS, "m", [1.0], verdict=good),
        Row("slow", "b", PEER, "m", [5.0], verdict=good),
        Row("quick", "c", PEER, "m", [2.0], verdict=good),
        Row("wrong", "d", PEER, "m", [0.1], verdict=Verdict(False, "DIFFERS")),
    ]
    sentence = report.verdict(Outcome(replace(TINY, aim=Aim(3.0)), rows, []))
    assert "2× the fastest peer (quick m). 5× the next package (slow m)." in sentence
    assert "Promise not kept." in sentence


def test_nothing_is_decided_while_others_use_the_machine() -> None:
    rows = [Row("discriminant", "a", OURS, "m", [0.5], verdict=Verdict(True, "equal"))]
    quiet, busy = (Outcome(replace(TINY, aim=Aim(0.0)), rows, [], share) for share in (0.01, 0.5))
    assert quiet.decided
    assert not busy.decided
    assert "Promise kept" in report.verdict(quiet)
    assert "Undecided" in report.verdict(busy)


def test_a_measurement_that_others_disturbed_is_taken_again_and_the_least_disturbed_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The share that others took decides which of the attempts counts; how long it took does not."""
    attempts = iter([Sample(1.0, 0.1), Sample(3.0, 3.0), Sample(2.0, 0.1)])
    clock, busy = iter([0.0, 1.0, 10.0, 13.0]), iter([0.0, 2.0, 10.0, 13.0])
    monkeypatch.setattr(measure, "busy_seconds", lambda: next(busy))
    monkeypatch.setattr(measure.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(measure.Neighbours, "settle", lambda *_: None)
    worker: Any = SimpleNamespace(call=lambda *_: next(attempts))
    neighbours = measure.Neighbours()
    assert measure.undisturbed(Row("a", "a", PEER, "m"), worker, HASTY, neighbours).wall == 3.0
    assert neighbours.share == pytest.approx(0.0, abs=1e-6)


def test_sections_are_pasted_between_their_markers_in_task_order(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text("before\n<!-- results: end -->\nafter\n")
    order = ("one", "two", "three")
    for name, text in (("three", "c\n"), ("one", "a\n"), ("two", "b\n"), ("two", r"B \1" + "\n")):
        report.paste(page, name, text, order)
    text = page.read_text()
    assert [text.index(part) for part in ("before", "a\n", r"B \1", "c\n", "after")] == sorted(
        text.index(part) for part in ("before", "a\n", r"B \1", "c\n", "after")
    )
    assert text.count("two: begin") == 1
    (tmp_path / "bare.md").write_text("nothing\n")
    with pytest.raises(ValueError, match="results: end"):
        report.paste(tmp_path / "bare.md", "one", "a\n", order)


def machine() -> dict[str, object]:
    return {"date": "today", "processor": "abacus", "threads": 1, "cores": 1, "python": "3"}


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The command on one tiny task, through real worker processes."""
    monkeypatch.setattr(run, "PROMISES", {"tiny": TINY})
    common = ["--quick", "--repeat", "1", "--threads", "1", "--patience", "0", "--results", str(tmp_path)]
    return lambda *more: (run.main([*common, *more]), tmp_path)


def test_the_command_writes_table_json_and_picture(command: Any, capsys: pytest.CaptureFixture[str]) -> None:
    status, folder = command("--adapter", "sklearn_", "--adapter", "numpy_", "--adapter", "limits")
    assert status == 1  # ours did not take part, so nothing of ours counts
    result = json.loads((folder / "quick-tiny.json").read_text())
    by_label = {row["label"]: row for row in result["rows"]}
    assert by_label["scikit-learn lsqr"]["verdict"]["same"] is True
    assert by_label["scikit-learn svd"]["peak"] is None  # the quick form looks at our memory only
    assert "| scikit-learn lsqr |" in capsys.readouterr().out
    assert (folder / "quick-speed.png").stat().st_size > 1_000


@pytest.mark.skipif(not LANDED, reason="the estimators are not in the package yet")
def test_the_command_ends_well_when_our_answer_is_right(command: Any) -> None:
    status, folder = command("--adapter", "discriminant_", "--adapter", "sklearn_", "--no-memory")
    assert status == 0
    assert json.loads((folder / "quick-tiny.json").read_text())["rows"][0]["verdict"]["same"] is True


def test_slow_contenders_take_part_in_fewer_rounds_and_hopeless_ones_in_one() -> None:
    rows = [Row("a", "a", PEER, str(first), first=first) for first in (0.8, 6.0, 20.0)]
    assert [measure.rounds_for(row, rows, Options(repeat=7)) for row in rows] == [7, 3, 1]
