"""Do the contenders solve the same problem?  Their answers are compared on the same rows.

For real-valued answers the distance is max|a − b| / max(1, max|b|), for labels the share of rows that differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.contract import Answer

LABELS_APART = 1e-5  # share of rows: points that lie on a boundary to the last digits may fall on either side


@dataclass(frozen=True)
class Verdict:
    """How far an answer lies from the judge's, and whether that counts as the same problem solved."""

    same: bool
    sentence: str
    distance: float = float("nan")


def compare(answer: Answer, judge: Answer, tolerance: float) -> Verdict:
    """The verdict over every array that both give.

    >>> compare({"scores": np.array([1.0, 2.0])}, {"scores": np.array([1.0, 2.5])}, 1e-8)
    Verdict(same=False, sentence='DIFFERS: scores by 2.0e-01', distance=0.2)
    """
    shared = sorted(set(answer) & set(judge) - {"objective", "passes"})
    if not shared:
        return Verdict(False, "DIFFERS: nothing to compare")
    worst, words, same = 0.0, [], True
    for name in shared:
        a, b = np.asarray(answer[name]), np.asarray(judge[name])
        if a.shape != b.shape:
            return Verdict(False, f"DIFFERS: {name} of shape {a.shape}, not {b.shape}", float("inf"))
        if name == "labels":
            distance, limit = float(np.mean(a != b)), LABELS_APART
        else:
            distance, limit = float(np.max(np.abs(a - b))) / max(1.0, float(np.max(np.abs(b)))), tolerance
        worst = max(worst, distance)
        fits = bool(distance <= limit)  # False for nan too
        same = same and fits
        words.append(f"{name} equal" if distance == 0.0 else f"{name} {'to' if fits else 'by'} {distance:.1e}")
    return Verdict(same, ("" if same else "DIFFERS: ") + ", ".join(words), worst)


def gap(objective: float, best: float) -> float:
    """How far above the best objective, relative to it (absolute below one)."""
    return (objective - best) / max(1.0, abs(best))


def cheapest_within(
    times: Mapping[str, float], objectives: Mapping[str, float], wanted: float
) -> dict[str, tuple[str, float] | None]:
    """Of each method's efforts ("lbfgs @ 1e-4", "lbfgs @ 1e-8"), the quickest that comes within the wanted gap.

    >>> cheapest_within({"a @ 1": 1.0, "a @ 2": 2.0, "b": 9.0}, {"a @ 1": 1.1, "a @ 2": 1.0, "b": 1.2}, 1e-3)
    {'a': ('a @ 2', 2.0), 'b': None}
    """
    best = min(objectives.values())
    found: dict[str, tuple[str, float] | None] = {}
    for method, seconds in times.items():
        name = method.split(" @ ")[0]
        found.setdefault(name, None)
        held = found[name]
        if gap(objectives[method], best) <= wanted and (held is None or seconds < held[1]):
            found[name] = (method, seconds)
    return found
