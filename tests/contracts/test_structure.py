"""What keeps the parts apart: no type told by its attributes, no state that steers a fit, no import upwards by name."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import discriminant

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "discriminant"
MODULES = sorted(SOURCE.rglob("*.py"))

# Attributes that data and objects of other packages are told by.  An attribute of our own types has no place here: they
# have base classes (Rows, Source, Pointwise, WeightPenalty, …) to ask with isinstance.
ARRAYS = {"columns", "column_names", "dtype", "dtypes", "index", "kind", "nbytes", "nnz", "shape", "tocsr", "to_numpy"}
LIBRARIES = {
    "narwhals, pandas, polars": {"cat", "collect", "factorize", "sparse"},
    "Dask": {"chunks", "npartitions", "todense", "status", "__self__"},
    "torch, CuPy": {"detach", "device", "fp32_precision", "_compile_kernel", "__array_namespace__"},
    "the standard library": {
        "sched_getaffinity",
        "register_at_fork",
        "CREATE_NO_WINDOW",
        "strerror",
        "__name__",
    },
}
SKLEARN = {  # the interface of its estimators, which users' own and other packages' have too
    "get_params", "set_output", "get_feature_names_out", "fn", "_score_func", "_kwargs",
    "predict", "predict_proba", "predict_log_proba", "decision_function", "transform",
    "classes_", "classes", "coef_", "covariance_", "feature_names_in_", "scalings_", "explained_variance_ratio_",
    "class_log_prior_", "C", "C_", "l1_ratio", "l1_ratio_", "class_weight", "fit_intercept",
    "penalty",
}  # fmt: skip
FOREIGN = ARRAYS | SKLEARN | set().union(*LIBRARIES.values())
# The two questions that ask a model of any package for something of ours, once each.
ASKED_ONCE = {("model.py", "discriminant_"), ("optimize/history.py", "history_"), ("report/page.py", "certificate_"),
              ("report/page.py", "costs_")}  # fmt: skip


def name(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def attribute_tests(path: Path) -> Iterator[tuple[int, str]]:
    """(line, attribute) of every ``hasattr`` and every ``getattr`` with a default; "" where the name is no literal."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            asks = node.func.id == "hasattr" or (node.func.id == "getattr" and len(node.args) == 3)
            if asks:
                asked = node.args[1]
                yield node.lineno, asked.value if isinstance(asked, ast.Constant) else ""


DYNAMIC = {  # attributes by the name that a table or a caller gives: of classifiers, and of what a model file names
    "bases/expansion.py", "estimators/minimum_risk.py", "inference/certify.py", "io/encode.py", "io/model_file.py",
    "plots/regions.py",
}  # fmt: skip


def test_own_types_are_told_by_their_classes_not_by_attributes() -> None:
    found = [
        f"{name(path)}:{line} {attribute}"
        for path in MODULES
        for line, attribute in attribute_tests(path)
        if attribute not in FOREIGN
        and (name(path), attribute) not in ASKED_ONCE
        and not (attribute == "" and name(path) in DYNAMIC)
    ]
    assert not found, "an attribute of ours is asked for by name: give the type a base class and use isinstance"


def test_what_the_lists_of_foreign_attributes_allow_is_asked_for() -> None:
    asked = {attribute for path in MODULES for _, attribute in attribute_tests(path)}
    assert not FOREIGN - asked, "no longer asked for: take it off the list"
    assert not {path for path in DYNAMIC if "" not in {a for _, a in attribute_tests(SOURCE / path)}}


def test_nothing_steers_a_fit_from_outside() -> None:
    """No module state that changes but the pools of threads, on which no bit of a result depends, and no ContextVar.

    Three exceptions.  Whether this package's warnings are raised in this thread, on which no result depends.  Who
    watches a fit: only an estimator's own callbacks are set there, and only they may end a run.  And the folds
    of a search under ``patch_sklearn``, which is scikit-learn's to run: copies of rows, whose fits are the same to the
    bit in whatever order they come.
    """
    for path in MODULES:
        for node in ast.walk(tree(path)):
            where = f"{name(path)}, line {getattr(node, 'lineno', 0)}"
            context = isinstance(node, ast.Name) and node.id == "ContextVar"
            assert not context or name(path) in ("errors.py", "optimize/progress.py", "patch_folds.py"), where
            assert not isinstance(node, ast.Global) or name(path) == "data/threads.py", where


def layers() -> dict[str, int]:
    """Package → its height, by the contract of import-linter."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (found,) = (c["layers"] for c in settings["tool"]["importlinter"]["contracts"] if c["type"] == "layers")
    return {part.strip("() "): -i for i, line in enumerate(found) for part in line.split(":")}


HEIGHTS = layers()
# Methods that show or export a model, with the public name that they ask for above them.
SHOWN = {
    "estimators/classifier.py": {"scorer", "report"},
    "estimators/logistic_path.py": {"plots"},
    "model.py": {"scorer"},
    "optimize/history.py": {"plots"},
}


def upward_names(path: Path) -> Iterator[str]:
    """Modules above this one that a string names, and public names of theirs that are asked of the whole package."""
    own = HEIGHTS.get(name(path).partition("/")[0].removesuffix(".py"))
    if own is None:  # the package itself, and its entry point
        return
    homes = {public: home.partition(".")[0] for public, home in discriminant._HOMES.items()}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Constant) and re.fullmatch(r"discriminant(\.\w+)+(:\w+)?", str(node.value)):
            above = re.split(r"[.:]", str(node.value))[1]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "discriminant":
            above = node.attr
        else:
            continue
        if HEIGHTS.get(homes.get(above, above), own) > own:
            yield above


def test_no_module_names_one_above_it() -> None:
    """Imports by a string, and attributes of the whole package, obey the layers as import statements do."""
    found = {name(path): upward for path in MODULES if (upward := set(upward_names(path)))}
    assert found == SHOWN


def test_no_function_takes_an_estimator_of_any_type() -> None:
    """What a function asks of an estimator is said by its type: a class of ours, a protocol, or nothing (object)."""
    found = [
        f"{name(path)}:{node.lineno}"
        for path in MODULES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.arg)
        and node.arg == "estimator"
        and ast.unparse(node.annotation or ast.Name("Any")) == "Any"
    ]
    assert not found
