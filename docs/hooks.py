"""What the site adds to the Markdown files: pages from the rest of the repository.

Files outside docs/ that pages link to (contributing, changes, benchmarks) become pages of their own, and pages that
others may or may not have written yet join the navigation when they exist.

``[[reference criteria]]`` becomes a table of the public classes of that module, each with a page of its own made from
its docstrings, and the functions below it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = {  # file of the repository → (page, place in the navigation, title)
    "CONTRIBUTING.md": ("contributing.md", "How it works", "Working on it"),
    "CHANGELOG.md": ("changes.md", "How it works", "Changes"),
    "benchmarks/README.md": ("benchmarks.md", "How it works", "Benchmarks"),
}
OPTIONAL = {  # pages in docs/ that join the navigation when they exist
    "what_can_go_wrong.md": ("Learn", "What can go wrong"),
    "scale.md": ("Learn", "Large data"),
    "plots.md": ("Learn", "Plots"),
    "playground.md": ("Learn", "Playground"),
}
CLASS_PAGE = "heading_level: 1, inherited_members: true, members_order: alphabetical, summary: {functions: true}"
_REFERENCE = re.compile(r"^\[\[reference ([\w.,\s]+)\]\]$", re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)#])")


def on_config(config: Any) -> Any:
    """Add the pages that exist to the navigation."""
    places = [(page, tab, title) for name, (page, tab, title) in OUTSIDE.items() if (ROOT / name).exists()]
    places += [(page, tab, title) for page, (tab, title) in OPTIONAL.items() if (ROOT / "docs" / page).exists()]
    for page, tab, title in places:
        section = next(entry[tab] for entry in config.nav if tab in entry)
        if {title: page} not in section:
            section.append({title: page})
    reference = next(entry["Reference"] for entry in config.nav if "Reference" in entry)
    for entry in reference:
        ((title, page),) = entry.items()
        if isinstance(page, str):
            things = _things((ROOT / "docs" / page).read_text(encoding="utf-8"))
            entry[title] = [page, *({thing.name: thing.page} for thing in things if thing.page)]
    return config


class Thing(NamedTuple):
    """A public class or function: its name, the path to its source, its first line, and a class's page."""

    name: str
    path: str
    summary: str
    page: str | None

    def markdown(self) -> str:
        """The text of a class's page."""
        return f"::: {self.path}\n    options: {{{CLASS_PAGE}}}\n"


def on_files(files: Any, config: Any) -> Any:
    """Pages from outside docs/, and one for every class of the reference."""
    for name, (page, *_) in OUTSIDE.items():
        if (ROOT / name).exists():
            files.append(File.generated(config, page, content=(ROOT / name).read_text(encoding="utf-8")))
    for thing in {thing for file in files.documentation_pages() for thing in _things(file.content_string)}:
        if thing.page:
            files.append(File.generated(config, thing.page, content=thing.markdown()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links into the repository lead to pages, and references become tables."""
    source = _source_of(page.file.src_uri)
    up = "../" * page.file.src_uri.count("/")
    text = _LINK.sub(lambda link: _led(link[1], source, up), markdown)
    return _REFERENCE.sub(lambda found: _listed(found[0], up), text)


def _listed(reference: str, up: str) -> str:
    """A table of the classes, and the functions in full."""
    things = _things(reference)
    rows = [
        f"| [`{one.name}`]({up}{one.page}) | {one.summary.replace('|', chr(92) + '|')} |" for one in things if one.page
    ]
    table = "\n".join(["| | |", "|---|---|", *rows]) if rows else ""
    return "\n\n".join([table, *(f"::: {one.path}" for one in things if not one.page)])


def _things(markdown: str) -> list[Thing]:
    """The public classes and functions that the references of a page name: a module's, or one by its own path."""
    import importlib
    import inspect

    import discriminant

    found: dict[Any, Thing] = {}
    for home in [name for found in _REFERENCE.finditer(markdown) for name in re.split(r",\s+", found[1])]:
        if home in discriminant._PACKAGES:
            module = importlib.import_module(f"discriminant.{home}")
            things = {name: getattr(module, name) for name in module.__all__}
        elif "." in home:
            module_name, name = home.rsplit(".", 1)
            things = {name: getattr(importlib.import_module(f"discriminant.{module_name}"), name)}
        else:
            places = discriminant._HOMES.items()
            things = {name: getattr(discriminant, name) for name, place in places if place.split(".")[0] == home}
        folder = f"reference/{home}" if home in discriminant._PACKAGES else "reference"
        for name, thing in things.items():
            if inspect.isclass(thing) or inspect.isfunction(thing):
                page = f"{folder}/{name}.md" if inspect.isclass(thing) else None
                summary = (inspect.getdoc(thing) or "").partition("\n")[0]
                found.setdefault(thing, Thing(name, f"{thing.__module__}.{thing.__qualname__}", summary, page))
        if not things:
            raise PluginError(f"There is nothing public in {home}.")
    return list(found.values())


def _source_of(uri: str) -> Path:
    """The file in the repository that a page is made from."""
    for name, (page, *_) in OUTSIDE.items():
        if page == uri:
            return ROOT / name
    return ROOT / "docs" / uri


def _led(link: str, source: Path, up: str) -> str:
    """Where a link of a file in the repository leads on the site; to code and data there are no pages."""
    if "://" in link or link.startswith("mailto:"):
        return link
    target = (source.parent / link).resolve()
    if not target.is_relative_to(ROOT):
        raise PluginError(f"{source.name} links to {link}, which lies outside of the repository.")
    name = str(target.relative_to(ROOT))
    if name == "README.md":
        return f"{up}index.md"
    if name in OUTSIDE:
        return up + OUTSIDE[name][0]
    if name.startswith("docs/"):
        return up + name.removeprefix("docs/")
    return f"{up}architecture.md"
