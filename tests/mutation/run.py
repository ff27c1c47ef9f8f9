"""Mutation testing: ``python tests/mutation/run.py geometry decision`` (``make mutation`` for all, at low priority).

For each mutant of a module (``mutants.py``) the tests that execute its lines run until one fails: then it is killed.
Tests are collected once.  Each mutant gets a process of its own by fork, in which the code of the living functions is
exchanged, so that nothing is imported or collected again; a mutant costs what its tests cost.  One that does not end in
time is killed too.  Survivors are compared with ``survivors.toml``, where each is explained; the figures go to
``ledger.json``, from which the page on reliability is made; ``first`` there is how many were neither killed nor
explained when the sample was drawn, before tests were written for them.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import defaultdict
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
SOURCE = TESTS.parent / "src" / "discriminant"
sys.path.insert(0, str(TESTS))
from mutation.mutants import Mutant, mutants, mutated  # noqa: E402 - the path is set first

# Parts and the tests that know them; only those that execute a changed line are run.
PARTS: dict[str, tuple[str, ...]] = {
    "geometry": (
        "unit/test_parts_in_numbers.py", "unit/test_geometry.py", "theory/test_geometry_claims.py",
        "unit/test_model.py", "unit/test_shown.py",
    ),
    "decision": (
        "unit/test_parts_in_numbers.py", "unit/test_decision.py", "theory/test_decision_claims.py",
        "unit/test_minimum_risk.py", "unit/test_ambiguity.py", "unit/test_scorer.py",
    ),
    "codings": (
        "unit/test_parts_in_numbers.py", "unit/test_codings.py", "contracts/test_codings_laws.py", "unit/test_coded.py",
        "unit/test_discriminant_estimator.py",
    ),
    "penalties": (
        "unit/test_parts_in_numbers.py", "unit/test_penalties.py", "contracts/test_penalties_laws.py",
    ),
    "criteria": (
        "unit/test_parts_in_numbers.py", "unit/test_criteria.py", "contracts/test_criteria_laws.py",
        "contracts/test_evaluation_laws.py", "unit/test_objective.py",
    ),
    "optimize/certificate.py": ("unit/test_certificate_in_numbers.py",),
    "inference/certify.py": ("unit/test_certificate_in_numbers.py",),
    "inference/proofs.py": ("unit/test_separability.py",),
    "gaussian": (
        "unit/test_gaussian_in_numbers.py", "unit/test_moments_in_numbers.py", "unit/test_exponential_family.py",
    ),
}  # fmt: skip
# Slower tests of what is built on the parts, for those that survive the quick ones.
WIDER: dict[str, tuple[str, ...]] = {
    "geometry": ("unit/test_lda.py", "unit/test_logistic.py", "unit/test_plots.py", "unit/test_solution_region.py"),
    "decision": (
        "unit/test_lda.py", "unit/test_qda.py", "unit/test_fisher.py", "unit/test_model_file.py",
        "contracts/test_round_trips.py", "unit/test_exports.py",
    ),
    "codings": (
        "contracts/test_optimizers_laws.py", "unit/test_perceptron.py", "unit/test_adaline.py",
        "unit/test_least_squares.py", "theory/test_steps_claims.py", "unit/test_logistic.py",
    ),
    "penalties": (
        "unit/test_sparse_logistic.py", "contracts/test_optimizers_laws.py", "golden/test_glmnet_reference.py",
        "golden/test_firth_reference.py",
        "unit/test_linear_svc.py", "unit/test_working_set.py",
    ),
    "criteria": (
        "contracts/test_optimizers_laws.py", "unit/test_compiled_sweeps.py", "unit/test_perceptron.py",
        "unit/test_optimize_single_sample.py", "unit/test_named_steps.py", "unit/test_optimize_programs.py",
        "unit/test_linear_svc.py", "theory/test_steps_claims.py", "unit/test_optimize_newton_like.py",
    ),
    "optimize/certificate.py": (
        "unit/test_certify.py", "theory/test_certificates_claims.py", "unit/test_tiny_losses.py",
        "unit/test_logistic.py", "contracts/test_certificates.py", "contracts/test_optimizers_laws.py",
    ),
    "inference/certify.py": (
        "unit/test_certify.py", "theory/test_certificates_claims.py", "contracts/test_certificates.py",
    ),
    "inference/proofs.py": ("theory/test_separability_claims.py",),
    "gaussian": (
        "unit/test_lda.py", "unit/test_qda.py", "unit/test_fisher.py", "unit/test_least_squares.py",
        "unit/test_gaussian_digits.py", "unit/test_row_space.py", "unit/test_push_down.py",
        "theory/test_gaussian_claims.py", "theory/test_least_squares_claims.py", "theory/test_fisher_claims.py",
        "unit/test_logistic_deletions.py", "golden/test_gaussian_reference.py", "unit/test_near_collinearity.py",
        "contracts/test_invariances.py",
    ),
}  # fmt: skip
TESTING = 25.0  # seconds of tests for a mutant at most, the quickest first
SLOWEST = 6.0  # seconds: tests above are not asked
MEMORY = 8 << 30
LEDGER = HERE / "ledger.json"
Key = tuple[str, int]


class Loop:
    """A pytest plugin that runs mutants instead of tests."""

    def __init__(self, given: argparse.Namespace, again: dict[str, Any]) -> None:
        self.part, self.sample, self.seed, self.only = given.parts[0], given.sample, given.seed, given.only
        self.most, self.again, self.reasons = given.seconds, again, explained()
        self.found: dict[str, Any] = {}
        self.failed = False

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.failed |= bool(report.failed)

    def pytest_runtestloop(self, session: Any) -> bool:
        items = session.items
        root = SOURCE / self.part
        files = [root] if root.is_file() else sorted(root.glob("*.py"))
        told = in_child(lambda: self.baseline(items, {str(path) for path in files}), 3600)
        if told is None:
            raise SystemExit("the tests did not run")
        for name in told["modules"]:  # what tests load is loaded here once
            try:
                importlib.import_module(name)
            except Exception:
                continue
        seconds = [test["seconds"] for test in told["tests"]]
        bad = [items[i].nodeid for i, test in enumerate(told["tests"]) if test["failed"]]
        if bad:
            print("fail without a mutant:", *bad, file=sys.stderr)
        usable = [i for i, test in enumerate(told["tests"]) if not test["failed"] and test["seconds"] < SLOWEST]
        lines: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
        for i in usable:
            for path, numbers in told["tests"][i]["lines"].items():
                for number in numbers:
                    lines[path][number].add(i)
        functions = living({str(path) for path in files})
        gc.collect()
        gc.freeze()  # a collection in a child would touch, and so copy, all that the tests have loaded
        for path in files:
            lines[str(path)][0] = set(usable)  # what a class or module says of itself, every test may notice
            self.module(path, items, seconds, lines[str(path)], functions[str(path)])
        return True

    def baseline(self, items: list[Any], files: set[str]) -> dict[str, Any]:
        """What each test costs, and the lines of the part that it executes."""
        seen: dict[str, set[int]] = defaultdict(set)

        def inside(frame: Any, event: str, _: Any) -> Any:
            if event == "line":
                seen[frame.f_code.co_filename].add(frame.f_lineno)
            return inside

        def enter(frame: Any, _event: str, _: Any) -> Any:
            return inside if frame.f_code.co_filename in files else None

        tests = []
        for item in items:
            seen.clear()
            self.failed = False
            threading.settrace(enter)
            sys.settrace(enter)
            start = time.process_time()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            spent = time.process_time() - start
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
            tests.append({"seconds": spent, "failed": self.failed, "lines": {k: sorted(v) for k, v in seen.items()}})
        modules = [name for name in sys.modules if not name.startswith(("_pytest", "__"))]
        return {"tests": tests, "modules": modules}

    def module(
        self, path: Path, items: list[Any], seconds: list[float], lines: dict[int, set[int]],
        functions: dict[Key, list[FunctionType]],
    ) -> None:  # fmt: skip
        source = path.read_text()
        every = mutants(source)
        chosen = every
        if self.only:
            chosen = [m for m in every if self.only in f"{m.function} {m.text}"]
        elif self.sample and len(every) > self.sample:
            chosen = sorted(random.Random(self.seed).sample(every, self.sample), key=lambda m: (m.line, m.number))
        name = path.relative_to(SOURCE).as_posix()
        before = self.again.get(name)
        kept: list[Any] = []
        if before is not None:  # those that are explained stay; code that is gone has no mutants
            there = {(m.function, m.text) for m in every}
            old = [one for one in before["survived"] if (one["function"], one["change"]) in there]
            kept = [one for one in old if (name, one["function"], one["change"]) in self.reasons]
            left = {(one["function"], one["change"]) for one in old if one not in kept}
            chosen = [m for m in every if (m.function, m.text) in left]
        module = next((m for m in sys.modules.values() if getattr(m, "__file__", None) == str(path)), None)
        kills: dict[int, int] = defaultdict(int)
        survived, killed, slow, start = kept, 0, 0, time.monotonic()
        for mutant in chosen:
            touching = set().union(*(lines.get(n, set()) for n in range(mutant.first, mutant.last + 1)))
            if mutant.level != "body":
                touching = lines[0]
            order = sorted(touching, key=lambda i: seconds[i] / (1 + kills[i]))
            asked, total = [], 0.0
            for i in order:
                if total > self.most:
                    break
                asked.append(i)
                total += seconds[i]
            outcome: Any = "not executed"
            if asked and module is not None:
                outcome = in_child(
                    lambda mutant=mutant, asked=asked: self.one(module, functions, source, path, mutant, items, asked),
                    10 + 6 * total,
                )
            if isinstance(outcome, int):
                kills[outcome] += 1
                killed += 1
            elif outcome is None:
                slow += 1
            else:
                survived.append({"function": mutant.function, "change": mutant.text, "line": mutant.line,
                                 "tests": len(asked), "outcome": outcome})  # fmt: skip
        total_now, killed_now = len(chosen), killed
        if before is not None:
            total_now, slow = before["mutants"] - len(before["survived"]) + len(old), slow + before["timeout"]
            killed_now = total_now - slow - len(survived)
        self.found[name] = {"possible": len(every), "mutants": total_now, "killed": killed_now, "timeout": slow,
                            "survived": survived}  # fmt: skip
        print(f"{name}: {len(chosen)} of {len(every)} mutants, {killed} killed, {slow} ended by time, {len(survived)} "
              f"survived, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)  # fmt: skip

    def one(
        self, module: ModuleType, functions: dict[Key, list[FunctionType]], source: str, path: Path, mutant: Mutant,
        items: list[Any], asked: list[int],
    ) -> int | str:  # fmt: skip
        """The number of the test that fails, or why there is none."""
        try:
            done = install(module, functions, source, path, mutant)
        except Exception:
            return asked[0]  # a class or constant that cannot even be made
        if not done:
            return "not installed"
        for i in asked:
            self.failed = False
            items[i].config.hook.pytest_runtest_protocol(item=items[i], nextitem=None)
            if self.failed:
                return i
        return "survived"


def in_child(work: Any, limit: float) -> Any:
    """What ``work`` returns in a forked process; None after ``limit`` seconds of its processor, or when it dies."""
    with tempfile.TemporaryFile() as file:
        child = os.fork()
        if child == 0:
            try:
                silence = os.open(os.devnull, os.O_WRONLY)
                os.dup2(silence, 1)
                os.dup2(silence, 2)
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
                resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
                file.write(json.dumps(work()).encode())
                file.flush()
            except BaseException as error:
                file.write(json.dumps(f"broke: {type(error).__name__}: {error}").encode())
                file.flush()
            finally:
                os._exit(0)
        end = time.monotonic() + 6 * limit
        while os.waitpid(child, os.WNOHANG)[0] == 0:
            if time.monotonic() > end:  # it waits for something that does not come
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                break
            time.sleep(0.002)
        file.seek(0)
        text = file.read()
    return json.loads(text) if text else None


def living(paths: set[str]) -> dict[str, dict[Key, list[FunctionType]]]:
    """The functions of modules that exist, by name and first line: closures, cached and decorated ones among them."""
    found: dict[str, dict[Key, list[FunctionType]]] = {path: defaultdict(list) for path in paths}
    for thing in gc.get_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename in found:
            code = thing.__code__
            found[code.co_filename][code.co_qualname, code.co_firstlineno].append(thing)
    return found


def install(
    module: ModuleType, functions: dict[Key, list[FunctionType]], source: str, path: Path, mutant: Mutant
) -> bool:
    """Exchange code, default values, or an attribute and what was made of it."""
    tree, statement = mutated(source, mutant)
    if mutant.level == "body":
        done = False
        for code in codes(compile(tree, str(path), "exec", dont_inherit=True)):
            for function in functions.get((code.co_qualname, code.co_firstlineno), ()):
                if function.__code__ != code:
                    function.__code__ = code
                    done = True
        return done
    if mutant.level == "default":
        assert isinstance(statement, ast.FunctionDef)
        done = False
        for (name, _), same in functions.items():
            for function in same if name == mutant.function else ():
                made = evaluate_defaults(statement, module, path)
                function.__defaults__, function.__kwdefaults__ = made
                done = True
        return done
    assert isinstance(statement, ast.Assign | ast.AnnAssign)
    target = statement.target if isinstance(statement, ast.AnnAssign) else statement.targets[0]
    if not isinstance(target, ast.Name) or statement.value is None:
        return False
    owner: Any = module
    for part in mutant.function.split(".") if mutant.function else ():
        owner = getattr(owner, part)
    value = eval(compile(ast.Expression(statement.value), str(path), "eval"), vars(module), dict(vars(owner)))
    if owner is module:
        old = getattr(module, target.id)
        for other in list(sys.modules.values()):
            if getattr(other, "__name__", "").startswith("discriminant") and vars(other).get(target.id, value) is old:
                setattr(other, target.id, value)
        return True
    assign_field(owner, target.id, value)
    return True


def evaluate_defaults(statement: ast.FunctionDef, module: ModuleType, path: Path) -> tuple[Any, Any]:
    """(``__defaults__``, ``__kwdefaults__``)."""

    def value(node: ast.expr) -> Any:
        return eval(compile(ast.Expression(node), str(path), "eval"), vars(module))

    names = [argument.arg for argument in statement.args.kwonlyargs]
    named = {
        name: value(node) for name, node in zip(names, statement.args.kw_defaults, strict=True) if node is not None
    }
    return tuple(value(node) for node in statement.args.defaults) or None, named or None


def assign_field(owner: Any, name: str, value: Any) -> None:
    """A class attribute; where it is a field of a dataclass, also the default of the constructors made of it."""
    old = vars(owner).get(name)
    for kind in [owner, *descendants(owner)]:
        if kind is owner or vars(kind).get(name) is old:
            setattr(kind, name, value)
        field = getattr(kind, "__dataclass_fields__", {}).get(name)
        init = vars(kind).get("__init__")
        if field is None or init is None or field.default is not old:
            continue
        code = init.__code__
        names = list(code.co_varnames[: code.co_argcount])
        if name in names and init.__defaults__:
            place = names.index(name) - len(names)
            init.__defaults__ = (*init.__defaults__[:place], value, *init.__defaults__[place:][1:])
        if init.__kwdefaults__ and name in init.__kwdefaults__:
            init.__kwdefaults__ = {**init.__kwdefaults__, name: value}


def descendants(kind: Any) -> list[Any]:
    return [below for child in type.__subclasses__(kind) for below in (child, *descendants(child))]


def codes(code: CodeType) -> list[CodeType]:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return [part for child in inner for part in (child, *codes(child))]


def explained() -> dict[tuple[str, str, str], str]:
    """(module, function, change) → why no test can tell."""
    with open(HERE / "survivors.toml", "rb") as file:
        return {
            (module, entry["in"], change): entry["why"]
            for module, entries in tomllib.load(file).items()
            for entry in entries
            for change in entry["changes"]
        }


def one_part(given: argparse.Namespace) -> None:
    loop = Loop(given, json.loads(LEDGER.read_text()) if given.again else {})
    os.chdir(TESTS.parent)
    tests = (*PARTS[loop.part], *(WIDER[loop.part] if given.wider else ()))
    arguments = ["-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:faulthandler",
                 *(str(TESTS / name) for name in tests if (TESTS / name).exists())]  # fmt: skip
    pytest.main(arguments, plugins=[loop])
    Path(given.one).write_text(json.dumps(loop.found))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all where none is named")
    parser.add_argument(
        "--sample", type=int, default=0, help="mutants of a module at most, drawn by the seed; 0 is all"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="mutants whose function and change contain this text")
    parser.add_argument("--again", action="store_true", help="the survivors of the last run that are not explained")
    parser.add_argument("--seconds", type=float, default=TESTING, help="of tests for a mutant at most, quickest first")
    parser.add_argument("--wider", action="store_true", help="with slower tests too")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one_part(given)
        return 0
    print(f"seed {given.seed}, sample {given.sample or 'all'}", file=sys.stderr)
    reasons, open_ones = explained(), 0
    for part in given.parts or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "found.json"
            command = [sys.executable, __file__, part, "--one", str(out), "--sample", str(given.sample),
                       "--seed", str(given.seed), "--only", given.only, "--seconds", str(given.seconds)]  # fmt: skip
            command += ["--again"] * given.again + ["--wider"] * given.wider
            subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
            found = json.loads(out.read_text())
        ledger = json.loads(LEDGER.read_text()) if LEDGER.exists() else {}
        for name, entry in found.items():
            unexplained = [one for one in entry["survived"] if (name, one["function"], one["change"]) not in reasons]
            for one in unexplained:
                print(f"  {name}:{one['line']} {one['function']}: {one['change']} "
                      f"({one['outcome']}, {one['tests']} tests)", flush=True)  # fmt: skip
            open_ones += len(unexplained)
            entry |= {key: ledger[name][key] for key in ("seed", "first")} if given.again else {
                "seed": given.seed, "first": len(unexplained)}  # fmt: skip
        if not given.only:
            ledger = {k: v for k, v in ledger.items() if not k.startswith(part)} | found
            LEDGER.write_text(json.dumps(dict(sorted(ledger.items())), indent=1, ensure_ascii=False) + "\n")
    return int(open_ones > 0)


if __name__ == "__main__":
    sys.exit(main())
