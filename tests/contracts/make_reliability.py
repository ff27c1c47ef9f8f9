"""Write docs/reliability.md: ``python tests/contracts/make_reliability.py``.

Every hostile case against every estimator of ours and, beside them, scikit-learn's, each in a process of its own; then
the mutated files.  The figures of ``make nightly ARGS=--record`` and ``make mutation`` are read from where those left
them; ``make_reliability.py --figures`` renews these two sections alone.
"""

from __future__ import annotations

import collections
import json
import multiprocessing
import os
import platform
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # threads do not survive the parting of processes
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402 - its BLAS must see the lines above

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from contracts.hostile import Case, X, Y  # noqa: E402 - the path is set first
from contracts.hostile_merges import CASES  # noqa: E402
from contracts.judge import Outcome, applies, judge, ours  # noqa: E402

SIGNS = {"right": "✓", "told": "!", "refused": "–", "silently wrong": "✗", "internal error": "E"}
SIGNS |= {"foreign warning": "W", "hang": "H", "crash": "C"}
BAD = ("silently wrong", "internal error", "foreign warning", "hang", "crash")
HANGS = 60  # seconds
ISOLATED = multiprocessing.get_context("fork")


def theirs() -> dict[str, Callable[..., Any]]:
    """scikit-learn's classes of the same methods."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression, Perceptron
    from sklearn.svm import LinearSVC

    kinds = (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, LogisticRegression, Perceptron, LinearSVC)
    return {kind.__name__: kind for kind in kinds}


def _work(pipe: Any, name: str, own: bool, case: Case) -> None:
    make = (ours() if own else theirs())[name]
    # Theirs are stopped by coarser tolerances, which is no fault: 5 % of probability or of the labels.
    outcome = judge(name, make, case, own=own, tolerance=0.0 if own else 0.05)
    pipe.send((outcome.kind, outcome.detail))


def isolated(name: str, own: bool, case: Case) -> Outcome:
    """The outcome of a case in a process of its own, which may crash or hang."""
    here, there = ISOLATED.Pipe(duplex=False)
    child = ISOLATED.Process(target=_work, args=(there, name, own, case), daemon=True)
    child.start()
    there.close()
    try:
        outcome = Outcome(*here.recv()) if here.poll(HANGS) else Outcome("hang", f"more than {HANGS} s")
    except EOFError:
        outcome = Outcome("crash", "the process ended")
    child.kill()
    child.join()
    return outcome


def run(names: dict[str, Callable[..., Any]], own: bool) -> dict[str, dict[str, Outcome]]:
    found: dict[str, dict[str, Outcome]] = {}
    for name, make in names.items():
        with warnings.catch_warnings():  # what is loaded once is loaded before the processes part
            warnings.simplefilter("ignore")
            make().fit(X, Y)
        found[name] = {_key(case): isolated(name, own, case) for case in CASES if applies(case, make)}
        print(name, dict(collections.Counter(o.kind for o in found[name].values())), file=sys.stderr, flush=True)
    return found


def _key(case: Case) -> str:
    return case.name if case.name.startswith(case.group) else f"{case.group}: {case.name}"


def summary(found: dict[str, dict[str, Outcome]]) -> list[str]:
    lines = ["| estimator | cases | right | told | refused | " + " | ".join(BAD) + " |", "|---" * (5 + len(BAD)) + "|"]
    total: collections.Counter[str] = collections.Counter()
    for name, outcomes in found.items():
        counts = collections.Counter(outcome.kind for outcome in outcomes.values())
        total += counts
        lines.append(_row(name, counts))
    return [*lines, _row("**all**", total)]


def _row(name: str, counts: collections.Counter[str]) -> str:
    numbers = [sum(counts.values()), *(counts[kind] for kind in ("right", "told", "refused", *BAD))]
    return f"| {name} | " + " | ".join(str(number) for number in numbers) + " |"


def table(mine: dict[str, dict[str, Outcome]], other: dict[str, dict[str, Outcome]]) -> list[str]:
    heads = [*(_short(name) for name in mine), *(f"sk {_short(name)}" for name in other)]
    lines = ["| case | " + " | ".join(heads) + " |", "|---" * (1 + len(heads)) + "|"]
    for case in CASES:
        cells = [outcomes.get(_key(case)) for outcomes in (*mine.values(), *other.values())]
        signs = [SIGNS[cell.kind] if cell is not None else " " for cell in cells]
        lines.append(f"| {_key(case)} | ".replace("_", "\\_") + " | ".join(signs) + " |")
    return lines


def _short(name: str) -> str:
    known = {"LinearDiscriminantAnalysis": "LDA", "QuadraticDiscriminantAnalysis": "QDA"}
    return known.get(name, name.replace("Classifier", "").replace("Regression", "Reg").replace("Discriminant", "Discr"))


def faults(found: dict[str, dict[str, Outcome]]) -> list[str]:
    lines = []
    for name, outcomes in found.items():
        for key, outcome in outcomes.items():
            if not outcome.good:
                detail = outcome.detail.replace("|", "/").replace("\n", " ")
                lines.append(f"| {name} | {key} | {outcome.kind} | {detail[:110]} |")
    return ["| estimator | case | outcome | |", "|---|---|---|---|", *lines] if lines else ["None."]


def fuzzed() -> list[str]:
    run = subprocess.run([sys.executable, str(ROOT / "tests/fuzz/run.py"), "--count", "10000"], capture_output=True,
                         text=True, check=True)  # fmt: skip
    lines = ["| files | refused | read | anything else | seconds | memory grown by |", "|---|---|---|---|---|---|"]
    for kind, told in json.loads(run.stdout).items():
        outcomes = dict(told["outcomes"])
        refused, read = outcomes.pop("refused", 0), outcomes.pop("read", 0)
        rest = sum(outcomes.values())
        lines.append(f"| {kind} | {refused} | {read} | {rest} | {told['seconds']} | {told['grown_MB']} MB |")
    return lines


def drawn() -> list[str]:
    """The last figures of the property suite."""
    told = json.loads((ROOT / "tests/contracts/drawn.json").read_text())
    outcomes = dict(told["outcomes"])
    kinds = {kind: outcomes.pop(kind, 0) for kind in ("right", "told", "refused")}
    return ["| seed | configurations | right | told | refused | anything else |", "|---|---|---|---|---|---|",
            f"| {told['seed']} | {told['count']} | " + " | ".join(str(n) for n in kinds.values())
            + f" | {sum(outcomes.values())} |", *(["", told["notes"]] if "notes" in told else [])]  # fmt: skip


def mutants() -> list[str]:
    """The ledger: each module, then each survivor and why no test can tell it from the original."""
    from mutation.run import PARTS, explained

    ledger, reasons = json.loads((ROOT / "tests/mutation/ledger.json").read_text()), explained()
    columns = "mutants | of | killed | ended by time | survived | of these explained | open at first |"
    modules, survivors = [f"| module | {columns}", "|---" * 8 + "|"], []
    sums: dict[str, Any] = {part: np.zeros(7, dtype=int) for part in (*PARTS, "all")}
    for module, entry in ledger.items():
        if not entry["mutants"]:
            continue
        why = [reasons.get((module, one["function"], one["change"]), "") for one in entry["survived"]]
        row = [entry["mutants"], entry["possible"], entry["killed"], entry["timeout"], len(why), sum(map(bool, why)),
               entry["first"]]  # fmt: skip
        for part in (next(part for part in PARTS if module.startswith(part)), "all"):
            sums[part] += row
        modules.append(f"| `{module}` | " + " | ".join(map(str, row)) + " |")
        for one, reason in zip(entry["survived"], why, strict=True):
            change = one["change"].replace("|", "\\|")
            survivors.append(f"| `{module}` {one['function']} | `{change[:110]}` | {reason or '**open**'} |")
    parts = [f"| part | {columns} killed or explained | when drawn |", "|---" * 10 + "|"]
    for part, row in sums.items():
        now, first = (100 * (1 - left / row[0]) for left in (row[4] - row[5], row[6]))
        parts.append(f"| `{part}` | " + " | ".join(map(str, row)) + f" | {now:.1f} % | {first:.1f} % |")
    return [*parts, "", *modules, "", "| where | change | why no test tells |", "|---|---|---|", *survivors]


def renew(text: str) -> str:
    """The page with the sections of figures made anew, in front of every case's table."""
    made = "\n\n".join(
        ["## Drawn configurations", DRAWN, "\n".join(drawn()), "## Mutants", MUTANTS, "\n".join(mutants())]
    )
    start = text.find("## Drawn configurations")
    end = text.index("## Every case")
    return text[: start if start >= 0 else end] + made + "\n\n" + text[end:]


def page() -> str:
    import sklearn

    from discriminant import __version__

    _strings = [case.given() for case in CASES if case.name == "labels: pandas strings"]  # loads pyarrow, slowly
    mine, other = run(ours(), True), run(theirs(), False)
    wrong = sum(not o.good for outcomes in mine.values() for o in outcomes.values())
    runs = sum(len(outcomes) for outcomes in mine.values())
    versions = f"scikit-learn {sklearn.__version__}, NumPy {np.__version__}, Python {platform.python_version()}"
    counted = f"{len(CASES)} hostile cases against {len(mine)} estimators are {runs} runs, of which {wrong} broke that."
    parts = [
        "# Reliability",
        MADE.format(version=__version__, versions=versions),
        PROMISE.format(counted=counted),
        "## This package", "\n".join(summary(mine)),
        "### What broke the promise", "\n".join(faults(mine)),
        "## The same cases given to scikit-learn's classes", LENIENT, "\n".join(summary(other)),
        "### What happened there", "\n".join(faults(other)),
        "## Mutated files", MUTATED, "\n".join(fuzzed()),
        "## Every case", LEGEND, "\n".join(table(mine, other)),
    ]  # fmt: skip
    return renew("\n\n".join(parts) + "\n")


MADE = "Made by `python tests/contracts/make_reliability.py` with discriminant {version}, {versions}."
PROMISE = """Either the right answer or a sentence: never a hang, a crash, a warning from a dependency or a silent wrong
number. {counted} The table of cases, with what is expected of each, is `tests/contracts/hostile.py`. *Right*: the
answer is that of a harmless equivalent that is fitted beside it (the columns in other units, the same rows in another
storage), or, where none is known, finite probabilities that sum to one and labels that exist. *Told*: an answer with a
warning of the package that says what is doubtful. *Refused*: a sentence that names the column, class or parameter."""
LENIENT = """Judged more leniently: any sentence will do, their own warnings count as told, and probabilities or labels
may be off by 5 %. Weights are given to those that take them."""
MUTATED = """`python tests/fuzz/run.py --count 10000`: files with changed bits, bytes, lengths, numbers and parts.
*Signed again*: the checksum was made right after the change, as a forger would; what is then still read is a model that
gives its own probe's answers (with a changed note, say). Tables and command lines may be read or refused, and nothing
else."""
DRAWN = """`make nightly`: estimators with settings that their own constraints allow, on rows, labels and weights in
drawn storages. *Right*: the answer is that of the same numbers in a plain float64 array. *Told*: likewise, with a
warning of the package; where that says that a fit has not settled, it may differ. *Refused*: a sentence. What goes
wrong is printed with the command that shows it again."""
MUTANTS = """`make mutation`: a small wrong change (a comparison, a sign, a constant, a connective, a condition, a value
returned) is made in a module, and the tests that execute it run until one fails. Those that survive are listed with the
reason why they are equivalent: `tests/mutation/survivors.toml`. Where a module has more (*of*) than were run, these
are a random sample. *Open at first* and *when drawn*: those that were neither killed nor explained when the sample was
drawn; tests were written or reasons given for them afterwards."""
LEGEND = """✓ right, ! told, – refused with a sentence, ✗ silently wrong, E internal error, W a warning from a
dependency, H hang, C crash; blank: the estimator has no such parameter or takes no weights."""


if __name__ == "__main__":
    target = ROOT / "docs" / "reliability.md"
    target.write_text(renew(target.read_text()) if "--figures" in sys.argv else page())
