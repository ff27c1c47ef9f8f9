"""How much effort a method needs to come within a gap: found before the clock runs, so that each is timed at its best.

A method has rungs, settings from cheap to dear (iterations, tolerances).  The search climbs four rungs at a time until
F ≤ (1 + gap) F*, then halves its way down to the first rung that does.  It gives up when a single fit has taken
longer than the place's cap and is still not near enough.  What was found is kept beside the data.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.contract import Answer, Builder, Data, Prepared
from benchmarks.objective import FREE, PENALISED, answer, worst_gap

LABELS = {1e-4: "1e-4", 1e-6: "1e-6"}
NOTES = {FREE: "", PENALISED: ", intercept penalised"}
STRIDE = 4
Fit = Callable[[Any], Any]


class OutOfTime(RuntimeError):
    """Raised by a fit that looks at the clock itself."""


def deadline(data: Data, factor: float = 3.0) -> Callable[[], None]:
    """A function to call between the parts of a long fit: it ends one that has taken several times the cap."""
    end = time.process_time() + factor * data.extra["cap"]

    def check() -> None:
        if time.process_time() > end:
            raise OutOfTime(f"not done after {factor * data.extra['cap']:.0f} s at its least effort: given up")

    return check


@dataclass(frozen=True)
class Solver:
    """A peer's method: ``setup(data)`` prepares the data in the peer's form and gives ``fit(rung)``."""

    name: str
    rungs: Sequence[Any]
    setup: Callable[[Data], Fit]
    read: Callable[[Any], tuple[Any, Any]]  # result → weights and intercepts
    convention: str = FREE
    passes: Callable[[Any], float | None] = lambda _: None
    most_values: float = float("inf")  # values of X beyond which the method is not tried

    @property
    def label(self) -> str:
        return self.name + NOTES.get(self.convention, ", no intercept")


_ready: dict[str, tuple[Data, Fit]] = {}  # the last data in each solver's form
_tried: dict[tuple[str, int], tuple[float, float]] = {}  # solver, rung → gap and seconds on these data


def ready(solver: Solver, data: Data) -> Fit:
    """``solver.setup(data)``, once for the same data; warnings of the peers are not shown."""
    held = _ready.get(solver.label)
    if held is None or held[0] is not data:
        if any(other is not data for other, _ in _ready.values()):
            _ready.clear()
            _tried.clear()
        fit = solver.setup(data)

        def quiet(rung: Any) -> Any:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return fit(rung)

        _ready[solver.label] = held = (data, quiet)
    return held[1]


def _known(data: Data) -> dict[str, Any]:
    path = Path(data.path) / "efforts.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}


def _keep(data: Data, key: str, rung: int | str) -> None:
    (Path(data.path) / "efforts.json").write_text(json.dumps(_known(data) | {key: rung}))


def settle(solver: Solver, data: Data, wanted: float, adapter: str) -> int:
    """The cheapest rung that comes within the wanted gap; RuntimeError with a sentence where none does.

    Both are kept beside the data; that a method was given up, with the patience that it was given up for.
    """
    key = f"{adapter} {solver.label} @ {LABELS[wanted]}"
    lost = f"{key}, given up after {data.extra['cap']:g} s"
    known = _known(data)
    if key in known:
        return int(known[key])
    if lost in known:
        raise RuntimeError(known[lost])
    try:
        i = _search(solver, data, wanted)
    except RuntimeError as error:
        _keep(data, lost, str(error))
        raise
    _keep(data, key, i)
    return i


def _search(solver: Solver, data: Data, wanted: float) -> int:
    if data.X.shape[0] * data.X.shape[1] > solver.most_values:
        raise RuntimeError(f"not tried beyond {solver.most_values:.0e} values: too slow")
    fit = ready(solver, data)

    def trial(i: int) -> tuple[float, float]:
        place = (solver.label, i)
        if place not in _tried:
            if i == 0:
                fit(solver.rungs[0])  # compiles, loads
            start, spent = time.perf_counter(), time.process_time()
            result = fit(solver.rungs[i])
            # The processor's time, where it is less: on a shared machine the clock may run while the process waits.
            seconds = min(time.perf_counter() - start, time.process_time() - spent)
            _tried[place] = (worst_gap(data, *solver.read(result), solver.convention), seconds)
        return _tried[place]

    i, below, last = 0, -1, len(solver.rungs) - 1
    while not (found := trial(i))[0] <= wanted:  # also for nan
        if i == last or found[1] > data.extra["cap"]:
            raise RuntimeError(f"within {found[0]:.1e} after {found[1]:.1f} s: given up")
        below, i = i, min(i + STRIDE, last)
    while i - below > 1:
        middle = (below + i) // 2
        below, i = (below, middle) if trial(middle)[0] <= wanted else (middle, i)
    return i


def _builder(solver: Solver, wanted: float, adapter: str) -> Builder:
    def build(data: Data) -> Prepared:
        rung = solver.rungs[settle(solver, data, wanted, adapter)]
        fit = ready(solver, data)

        def read(result: Any) -> Answer:
            return answer(data, *solver.read(result), solver.convention, solver.passes(result))

        return Prepared(lambda: fit(rung), read)

    return build


def methods(adapter: str, *solvers: Solver) -> Mapping[str, Builder]:
    """Two methods for each solver, one for each gap."""
    return {f"{s.label} @ {LABELS[gap]}": _builder(s, gap, adapter) for s in solvers for gap in LABELS}


def counts(most: int, least: int = 1) -> tuple[int, ...]:
    """Numbers of iterations, each one more or a fifth more than the one before.

    >>> counts(20)
    (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20)
    """
    found = [least]
    while (following := max(found[-1] + 1, round(1.2 * found[-1]))) <= most:
        found.append(following)
    return tuple(found)


def tolerances(least: int, first: int = 1) -> tuple[float, ...]:
    """Tolerances by quarter decades, from 10^-first to 10^-least."""
    return tuple(10.0 ** (-k / 4) for k in range(4 * first, 4 * least + 1))
