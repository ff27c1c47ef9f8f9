"""What the reference adds to docstrings: shared entries, those that a method inherits, and links in See Also."""

from __future__ import annotations

import importlib
import inspect
import operator
import re
from collections.abc import Iterator
from typing import Any

import griffe

_SEE_ALSO = re.compile(r"(?<=^See Also\n--------\n)(?:.+ : .+(?:\n|$))+", re.MULTILINE)
_ENTRY = re.compile(r"^(?P<name>[\w.]+) : (?P<text>.+)$", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Completes the docstrings of the package after it is read."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        for one in _objects(pkg):
            if one.docstring is not None and (one.is_class or one.is_function):
                one.docstring.value = _completed(one)
        for cls in _classes(pkg):
            for name, member in cls.members.items():
                if member.is_alias or not (member.is_function or member.is_attribute):
                    continue
                if member.docstring is None and not name.startswith("_"):
                    member.docstring = _inherited(cls, name)
        for one in _objects(pkg):
            if one.docstring is not None and "See Also" in one.docstring.value:
                linked = _SEE_ALSO.sub(lambda found, home=one.module.path: _links(found[0], home), one.docstring.value)
                one.docstring.value = linked


def _completed(one: Any) -> str:
    """The docstring as ``help`` shows it: entries that classes share are filled in when the class is made."""
    owner, name = importlib.import_module(one.module.path), one.path.removeprefix(f"{one.module.path}.")
    try:
        return inspect.getdoc(operator.attrgetter(name)(owner)) or one.docstring.value
    except AttributeError:  # a property that the class itself does not have
        return str(one.docstring.value)


def _objects(one: Any) -> Iterator[Any]:
    yield one
    for member in one.members.values():
        if not member.is_alias:
            yield from _objects(member) if member.is_module or member.is_class else [member]


def _classes(pkg: Any) -> list[Any]:
    return [one for one in _objects(pkg) if one.is_class]


def _inherited(cls: Any, name: str) -> Any:
    """The docstring of the nearest base that has one, as ``help`` shows it."""
    for base in cls.mro():
        found = base.members.get(name)
        if found is not None and found.docstring is not None:
            return found.docstring
    return None


def _links(section: str, home: str) -> str:
    return _ENTRY.sub(lambda entry: f"- {_link(entry['name'], home)}: {entry['text']}", section)


def _link(name: str, home: str) -> str:
    thing = _found(name, home)
    if inspect.ismodule(thing):
        return f"`{name}`"
    return f"[`{name}`][{thing.__module__}.{thing.__qualname__}]"


def _found(name: str, home: str) -> Any:
    """What a name in See Also means: in full, in the package of the docstring, or at the top."""
    import discriminant

    first, *rest = name.removeprefix("discriminant.").split(".")
    package = home.split(".")[1] if home.count(".") else ""
    near = importlib.import_module(f"discriminant.{package}") if package in discriminant._PACKAGES else discriminant
    owner = discriminant if name.startswith("discriminant.") or first not in near.__all__ else near
    thing = getattr(owner, first)
    for part in rest:
        thing = getattr(thing, part)
    return thing
