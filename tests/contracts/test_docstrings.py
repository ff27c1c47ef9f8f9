"""The docstrings of the public API are complete, in numpydoc's form.

Public is what ``discriminant.__all__`` and its sub-modules name, the classes of results that the reference has pages
for, and the methods and properties of those classes, inherited ones included (scikit-learn's own are documented there).
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import inspect
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

import discriminant
from discriminant.docstrings import Entries

HEADING = re.compile(r"^(?P<title>[A-Z][A-Za-z ]+)\n-{3,}$", re.MULTILINE)
ENTRY = re.compile(r"^(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*) : (?P<type>\S.*)$", re.MULTILINE)
REQUEST = re.compile(r"set_\w+_request")  # made by scikit-learn, with docstrings of its own
REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
RESULT = re.compile(r"\b[a-z_]+(?:\.[a-z_]+)+\.[A-Z]\w+")  # how a page of the reference names a class by its path


def sections(docstring: str) -> dict[str, str]:
    """The text below each heading; "" is what stands before the first."""
    found = list(HEADING.finditer(docstring))
    ends = [heading.start() for heading in found] + [len(docstring)]
    parts = {"": docstring[: ends[0]]}
    return parts | {h["title"]: docstring[h.end() : end].strip("\n") for h, end in zip(found, ends[1:], strict=True)}


def documented(section: str) -> dict[str, str]:
    """The names that a section of parameters or attributes gives, each with its type."""
    entries = ENTRY.finditer(section)
    return {name.lstrip("*"): entry["type"] for entry in entries for name in entry["names"].split(", ")}


def public_things() -> dict[str, Any]:
    """Name → class or function, each once, under the shortest name that it has."""
    named: dict[str, Any] = {f"{name}": getattr(discriminant, name) for name in discriminant._HOMES}
    for package in discriminant._PACKAGES:
        module = importlib.import_module(f"discriminant.{package}")
        named |= {f"{package}.{name}": getattr(module, name) for name in module.__all__}
    found: dict[Any, str] = {}
    for name, thing in named.items():
        if (inspect.isclass(thing) or inspect.isfunction(thing)) and _is_ours(thing):
            found.setdefault(thing, name)
    for page in sorted(REFERENCE.glob("*.md")):
        for path in RESULT.findall(page.read_text(encoding="utf-8")):
            module, name = path.rsplit(".", 1)
            found.setdefault(getattr(importlib.import_module(f"discriminant.{module}"), name), path)
    return {name: thing for thing, name in found.items()}


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that classes of this package give ``cls``."""
    for name in dir(cls):
        owner = next((base for base in cls.__mro__ if name in vars(base)), None)
        if name.startswith("_") or REQUEST.fullmatch(name) or owner is None or not _is_ours(owner):
            continue
        member = inspect.getattr_static(cls, name)
        if inspect.isfunction(member) or isinstance(
            member, (property, functools.cached_property, classmethod, staticmethod)
        ):
            yield name, member
        elif not _is_a_field(cls, name) and hasattr(type(member), "__get__") and callable(getattr(member, "fn", None)):
            yield name, member.fn  # available_if of scikit-learn


def _is_a_field(cls: type, name: str) -> bool:
    return dataclasses.is_dataclass(cls) and name in {field.name for field in dataclasses.fields(cls)}


def _is_ours(thing: Any) -> bool:
    return str(getattr(thing, "__module__", "")).split(".")[0] == "discriminant"


def _handed_back(thing: Any) -> Iterator[type]:
    functions = [thing] if inspect.isfunction(thing) else [_function(member) for _, member in members(thing)]
    for function in functions:
        try:
            hint = typing.get_type_hints(function).get("return")
        except (NameError, TypeError):  # a name that is imported for the type checker only
            continue
        for one in (hint, *typing.get_args(hint)):
            if inspect.isclass(one) and _is_ours(one) and not issubclass(one, Exception):
                yield one


def _function(member: Any) -> Any:
    if isinstance(member, property):
        return member.fget
    if isinstance(member, functools.cached_property):
        return member.func
    return getattr(member, "__func__", member)


THINGS = public_things()
CLASSES = {name: thing for name, thing in THINGS.items() if inspect.isclass(thing)}
ESTIMATORS = {name: thing for name, thing in CLASSES.items() if issubclass(thing, BaseEstimator)}


def faults(function: Any, docstring: str | None) -> Iterator[str]:
    """What the docstring of a function or method lacks."""
    if not docstring:
        yield "has no docstring"
        return
    parts = sections(docstring)
    yield from _faults_of_the_summary(docstring)
    signature = inspect.signature(function)
    parameters = {name: p for name, p in signature.parameters.items() if name not in ("self", "cls")}
    known = documented(parts.get("Parameters", ""))
    yield from (f"does not document the parameter {name} with a type" for name in parameters if name not in known)
    yield from (f"documents the parameter {name}, which it does not have" for name in known if name not in parameters)
    if sum(entry["names"].count(",") + 1 for entry in ENTRY.finditer(parts.get("Parameters", ""))) > len(known):
        yield "documents a parameter twice"
    yield from _faults_of_defaults(parameters, known)
    if signature.return_annotation not in (None, "None", "NoReturn") and not {"Returns", "Yields"} & set(parts):
        yield "does not document what it returns"


def _faults_of_defaults(parameters: Any, known: dict[str, str]) -> Iterator[str]:
    """A default is part of the type, ``float, default=0.1``, and is the one of the signature."""
    for name, parameter in parameters.items():
        said = known.get(name, "")
        if parameter.default is parameter.empty or not said or "optional" in said or "deprecated" in said:
            continue
        given = said.partition("default=")[2]
        if not given:
            yield f"does not give the default of {name}"
        elif given != str(parameter.default) and given.strip('"') != parameter.default and not _same(given, parameter):
            yield f"gives the default of {name} as {given}; it is {parameter.default!r}"


def _same(given: str, parameter: Any) -> bool:
    if given.endswith(("()", "{}", "[]")):  # made anew at every call
        return True
    if inspect.ismodule(parameter.default):
        return bool(given == parameter.default.__name__)
    try:
        return bool(ast.literal_eval(given) == parameter.default)
    except (ValueError, SyntaxError):
        return False


def _faults_of_the_summary(docstring: str) -> Iterator[str]:
    first, *rest = docstring.strip().splitlines()
    if rest and rest[0].strip():
        yield f"has no one-line summary: {first!r} goes on in the next line"
    if not first.rstrip().endswith((".", "!", "?", "…", ":")):
        yield f"has a summary that is no sentence: {first!r}"


def faults_of_a_class(cls: type) -> Iterator[str]:
    docstring = inspect.getdoc(cls) if "__doc__" in vars(cls) else None
    if not docstring:
        yield "has no docstring"
        return
    parts = sections(docstring)
    yield from _faults_of_the_summary(docstring)
    known = documented(parts.get("Parameters", "")) | documented(parts.get("Attributes", ""))
    made = inspect.signature(cls).parameters if cls.__init__ is not object.__init__ else {}  # type: ignore[misc]
    names = [] if inspect.isabstract(cls) else [name for name in made if not name.startswith("_")]
    yield from (f"does not document {name} with a type" for name in names if name not in known)
    yield from _faults_of_defaults(made, documented(parts.get("Parameters", "")))
    if "\n\n" not in parts[""].strip():
        yield "has no extended summary: its formula, and its place in the theory"
    yield from (f"has no section {title}" for title in ("See Also", "Examples") if title not in parts)
    for name, member in members(cls):
        function = _function(member)
        said = member.__doc__ if isinstance(member, functools.cached_property) else inspect.getdoc(getattr(cls, name))
        if isinstance(member, (property, functools.cached_property)):
            if not said and name not in known:
                yield f".{name} is neither described nor listed among the attributes"
        else:
            yield from (f".{name} {fault}" for fault in faults(function, said))
            if issubclass(cls, BaseEstimator) and ">>>" not in (said or ">>>"):
                yield f".{name} has no example"


@pytest.mark.parametrize("name", [name for name in THINGS if name not in CLASSES])
def test_public_functions_document_their_parameters_and_what_they_return(name: str) -> None:
    docstring = inspect.getdoc(THINGS[name]) or ""
    assert not list(faults(THINGS[name], docstring))
    assert "Examples" in sections(docstring) or name.startswith("figures."), "figures are drawn on the site"


@pytest.mark.parametrize("name", CLASSES)
def test_public_classes_and_their_methods_are_documented_with_types_and_an_example(name: str) -> None:
    assert not list(faults_of_a_class(CLASSES[name]))


def test_every_class_that_a_public_function_returns_has_a_page() -> None:
    returned = {result for name in discriminant._HOMES for result in _handed_back(getattr(discriminant, name))}
    assert not returned - set(CLASSES.values())


@pytest.mark.filterwarnings("ignore::discriminant.errors.DiscriminantWarning")  # what the fit is worth matters not
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_fitted_attribute_is_documented(name: str, n_classes: int) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=60)
    X = pd.DataFrame(rng.standard_normal((60, 2)) + 3.0 * np.eye(3)[y][:, :2], columns=["length", "width"])
    X -= X.min()  # some densities have no negative values
    model = ESTIMATORS[name]().fit(X, y)
    properties = {name for name, member in members(type(model)) if isinstance(member, property)}
    fitted = {name for name in {*vars(model), *properties} if name.endswith("_") and not name.startswith("_")}
    known = documented(sections(inspect.getdoc(type(model)) or "").get("Attributes", ""))
    assert not sorted(fitted - known.keys())


def test_what_a_docstring_lacks_is_found() -> None:
    def half(x: float, part: float = 0.5, whole: float = 1.0) -> float:
        """Half of x.

        Parameters
        ----------
        x : float
            A number.
        whole : float, default=2.0
            Another.
        part
            How much.
        """
        return x * part * whole

    assert list(faults(half, inspect.getdoc(half))) == [
        "does not document the parameter part with a type",
        "gives the default of whole as 2.0; it is 1.0",
        "does not document what it returns",
    ]
    assert list(faults(half, "Half of x")) != list(faults(half, "Half of x."))
    assert list(faults(half, None)) == ["has no docstring"]


def test_a_line_of_names_stands_for_their_entries_with_the_defaults_of_the_signature() -> None:
    entries = Entries(
        """
    x : float
        A number.
    part : float
        How much.
    """.replace("\n    ", "\n")
    )

    class Half:
        def half(self, x: float, part: float = 0.5) -> float:
            """Half of x.

            Parameters
            ----------
            x, part

            Returns
            -------
            number
            """
            return x * part

    class Less(Half):
        def half(self, x: float, part: float = 0.25) -> float:
            return x * part

    entries.documented(Half)
    entries.documented(Less)
    text = inspect.getdoc(Half.half) or ""
    assert documented(sections(text)["Parameters"]) == {"x": "float", "part": "float, default=0.5"}
    assert sections(text)["Returns"] == "number"
    assert Less.half.__doc__ == Half.half.__doc__


def test_what_the_signature_and_the_table_say_need_not_be_written() -> None:
    entries = Entries("""
x : ndarray of shape (n,)
    Numbers.
→ half : ndarray of shape (n,)
    Half of each.
→ Self : self
    The same.
""")

    class Halves:
        def half(self, x: Any, part: float = 0.5) -> Any:
            """Half of x.

            Parameters
            ----------
            part : float, default=0.5
                How much.

            >>> np.array([iris.X.shape[0]]) / 2
            array([75.])
            """
            return x * part

        def keep(self, x: Any = None) -> Self:
            """Nothing happens."""
            return self

    entries.documented(Halves)
    parts = sections(inspect.getdoc(Halves.half) or "")
    assert list(parts) == ["", "Parameters", "Returns", "Examples"]
    assert list(documented(parts["Parameters"]).items()) == [
        ("x", "ndarray of shape (n,)"),
        ("part", "float, default=0.5"),
    ]
    assert parts["Returns"].startswith("ndarray of shape (n,)\n    Half")
    assert parts["Examples"].splitlines()[:3] == [
        ">>> import numpy as np",
        ">>> from discriminant import datasets",
        '>>> iris = datasets.load("iris")',
    ]
    assert not list(faults(Halves.half, inspect.getdoc(Halves.half)))
    parts = sections(inspect.getdoc(Halves.keep) or "")
    assert documented(parts["Parameters"]) == {"x": "ndarray of shape (n,), default=None"}
    assert parts["Returns"] == "self\n    The same."
