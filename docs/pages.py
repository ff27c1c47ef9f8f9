"""What the site adds to the Markdown files: a page for every public class, pages from outside docs/, and links.

``[[reference criteria]]`` becomes a table of the public classes of that module, each with a page of its own made from
its docstrings, and the functions below it; ``[[page CHANGELOG.md]]`` becomes that file of the repository.  Names of the
public API in backticks lead to where they are described.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.errors import ExtensionError

import discriminant

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
OUTSIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md", "benchmarks/README.md": "benchmarks.md"}
PAGE = re.compile(r"^\[\[page ([\w./]+)\]\]$", re.MULTILINE)
REFERENCE = re.compile(r"^\[\[reference ([\w.,\s]+)\]\]$", re.MULTILINE)
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)#])")
CODE = re.compile(r"(?:discriminant\.)?([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)(?:\(.*\))?", re.DOTALL)
MARK = re.compile(
    r"(``[^`]*``|:\w+:`[^`]*`)|(?<![A-Za-z0-9_.])([^\W\d_])([_^])(\{[^{}`]+\}|[A-Za-z0-9]{1,2})(?![A-Za-z0-9_^])|\|"
)
LOWER = str.maketrans("aehijklmnoprstuvx0123456789", "ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ₀₁₂₃₄₅₆₇₈₉")  # an index of an index
REQUEST = re.compile(r"set_\w+_request")  # made by scikit-learn


class Thing(NamedTuple):
    """A public class or function, where it is imported from, and the page of a class without its ending."""

    name: str
    module: str
    thing: Any
    page: str

    @property
    def is_class(self) -> bool:
        return inspect.isclass(self.thing)

    def rst(self) -> str:
        """A class's page: its docstring, its methods in a table, then each in full."""
        names = [name for name in dir(self.thing) if self._is_shown(name)]
        own = [name for name in names if self._home(name).startswith("discriminant")]
        also = ", ".join(f"``{name}``" for name in names if name not in own)
        title = f"{self.name}\n{'=' * len(self.name)}\n\n"
        head = f"{title}.. currentmodule:: {self.module}\n\n.. autoclass:: {self.name}\n"
        table = ".. rubric:: Methods and properties\n\n.. list-table::\n   :class: methods\n\n" if own else ""
        for name in own:
            link = f":py:obj:`{name} <{self.module}.{self.name}.{name}>`"
            table += f"   * - {link}\n     - {typeset(first_line(self._member(name)))}\n"
        last = f"\nAs everywhere in scikit-learn: {also}.\n" if also else ""
        members = f":members: {', '.join(own)}\n" if own else ""
        pages = ", ".join(f":doc:`/{page}`" for page in told_in(self.name, self.module))
        told = f"\nTold in: {pages}.\n" if pages else ""
        gallery = f"\n.. minigallery:: {self.module}.{self.name}\n   :add-heading: Examples with {self.name}\n"
        return head + textwrap.indent(f"{members}\n{table}{last}{told}", "   ") + gallery

    def _member(self, name: str) -> Any:
        member = inspect.getattr_static(self.thing, name)
        return getattr(member, "fn", member)  # available_if

    def _home(self, name: str) -> str:
        return next(base.__module__ for base in self.thing.__mro__ if name in vars(base))

    def _is_shown(self, name: str) -> bool:
        member = self._member(name)
        found = inspect.isroutine(member) or isinstance(member, property | functools.cached_property)
        return found and not name.startswith("_") and not REQUEST.fullmatch(name) and bool(inspect.getdoc(member))


def told_in(name: str, module: str) -> list[str]:
    """The pages of the guide that speak of a class, by its name or as ``package.Name``."""
    package = module.removeprefix("discriminant").lstrip(".")
    named = re.compile(
        rf"\b{package}\.{name}\b"
        if package in discriminant._PACKAGES
        else rf"(?<![\w.])`{name}\b|\bdiscriminant\.{name}\b"
    )
    return [
        f"guide/{path.stem}" for path in sorted((DOCS / "guide").glob("*.md")) if named.search(path.read_text("utf-8"))
    ]


def first_line(thing: Any) -> str:
    """What a thing is in a line."""
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def typeset(line: str) -> str:
    """A line of a docstring: w_i and e^{z} with a lower or upper index, a bar that means a modulus; code as it is."""

    def changed(found: re.Match[str]) -> str:
        code, letter, mark, index = found.groups()
        role = {"_": "sub", "^": "sup"}.get(mark)
        if code or not role:
            return code or r"\|"
        inner = re.sub(r"_(\w)", lambda one: one[1].translate(LOWER), index.strip("{}"))
        return rf"{letter}\ :{role}:`{inner}`\ "

    return MARK.sub(changed, line)


def homes(markdown: str) -> list[str]:
    """What the references of a page name."""
    return [name for one in REFERENCE.finditer(markdown) for name in re.split(r",\s+", one[1])]


def things(markdown: str) -> list[Thing]:
    """The public classes and functions that the references of a page name: a module's, or one by its own path."""
    found: dict[Any, Thing] = {}
    for home in homes(markdown):
        packages = discriminant._PACKAGES
        if home in packages:
            module = importlib.import_module(f"discriminant.{home}")
            names, place = list(module.__all__), module.__name__
        elif "." in home:
            path, name = home.rsplit(".", 1)
            names, place = [name], f"discriminant.{path}"
        else:
            table = discriminant._HOMES.items()
            names, place = [name for name, where in table if where.split(".")[0] == home], "discriminant"
        for name in names:
            thing = getattr(importlib.import_module(place), name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                page = f"reference/{home}/{name}" if home in packages else f"reference/{name}"
                found.setdefault(thing, Thing(name, place, thing, page))
        if not names:
            raise ExtensionError(f"There is nothing public in {home}.")
    return list(found.values())


@functools.cache
def everything() -> dict[str, Thing]:
    """Full name → what is described somewhere in the reference."""
    pages = (path.read_text(encoding="utf-8") for path in sorted((DOCS / "reference").glob("*.md")))
    return {f"{one.module}.{one.name}": one for page in pages for one in things(page)}


def write_classes(_: Any) -> None:
    """The pages of classes, as files that only a change of their text renews."""
    wanted = {DOCS / f"{one.page}.rst": one.rst() for one in everything().values() if one.is_class}
    for path in {*(DOCS / "reference").rglob("*.rst")} - {*wanted}:
        path.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def rewrite(app: Any, docname: str, content: list[str]) -> None:
    """The text of a page as Sphinx should read it."""
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".md":
        return
    source, text, up = path, content[0], "../" * docname.count("/")
    if found := PAGE.search(text):
        source = ROOT / found[1]
        text = PAGE.sub(source.read_text(encoding="utf-8").replace("\\", r"\\"), text)
    text = LINK.sub(lambda link: led(link[1], source, up), text)
    content[0] = REFERENCE.sub(lambda reference: listed(reference[0]), text)


def listed(reference: str) -> str:
    """A table of the classes, which are the pages below this one, and the functions in full."""
    found = things(reference)
    classes = [one for one in found if one.is_class]
    rows = "".join(
        f"   * - :py:obj:`{one.name} <{one.module}.{one.name}>`\n     - {typeset(first_line(one.thing))}\n"
        for one in classes
    )
    table = f"```{{eval-rst}}\n.. list-table::\n   :class: methods\n\n{rows}```" if classes else ""
    tree = "\n".join(["```{toctree}", ":hidden:", "", *(f"/{one.page}" for one in classes), "```"]) if classes else ""
    functions = [f".. autofunction:: {one.module}.{one.name}" for one in found if not one.is_class]
    full = "\n".join(["```{eval-rst}", *functions, "```"]) if functions else ""
    packages = [home for home in homes(reference) if home in discriminant._PACKAGES]
    modules = "\n".join(f"```{{py:module}} discriminant.{home}\n```" for home in packages)
    return "\n\n".join(filter(None, [modules, table, tree, full]))


def led(link: str, source: Path, up: str) -> str:
    """Where a link of a file in the repository leads on the site; to code and data there are no pages."""
    if "://" in link or link.startswith("mailto:"):
        return link
    target = (source.parent / link).resolve()
    if not target.is_relative_to(ROOT):
        raise ExtensionError(f"{source.name} links to {link}, which lies outside of the repository.")
    name = str(target.relative_to(ROOT))
    if name == "README.md":
        return f"{up}index.md"
    if name in OUTSIDE:
        return up + OUTSIDE[name]
    if not name.startswith("docs/"):
        return f"{up}architecture.md"
    page = name.removeprefix("docs/")
    return up + (page if target.exists() else page.replace(".md", ".rst"))


def escape(_: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """A docstring, up to its examples, as reStructuredText."""
    end = lines.index("Examples") if "Examples" in lines else len(lines)
    lines[:end] = [typeset(line) for line in lines[:end]]


def link_code(_: Any, doctree: nodes.document) -> None:
    """Public names in backticks become references: ``LogisticRegression(C=1)`` leads to its page."""
    for literal in list(doctree.findall(nodes.literal)):
        found = CODE.fullmatch(literal.astext())
        if found and not isinstance(literal.parent, pending_xref | nodes.reference | nodes.title):
            target = next(candidates(found[1]), None)
            if target and literal.get("classes", []) == []:
                link = pending_xref("", refdomain="py", reftype="obj", reftarget=target, refwarn=False)
                literal.replace_self(link)
                link += literal


def candidates(name: str, home: str = "discriminant") -> Iterator[str]:
    """The full names that a short one can mean: a public thing or a member of one, from its package or the top."""
    parts = name.removeprefix("discriminant.").split(".")
    packages = (home, *(f"discriminant.{one}" for one in discriminant._PACKAGES)) if home != "discriminant" else (home,)
    for place in dict.fromkeys(("discriminant", *packages)):
        for size in range(len(parts), 0, -1):
            full = ".".join([place, *parts[:size]])
            one = everything().get(full)
            if one and (size == len(parts) or hasattr(one.thing, parts[size])):
                yield ".".join([place, *parts])


def resolve(app: Any, env: Any, node: pending_xref, content: nodes.TextElement) -> nodes.Element | None:
    """A short name in a docstring, such as in See Also, means what its package or the top calls so."""
    if node.get("refdomain") != "py":
        return None
    domain = env.get_domain("py")
    for name in candidates(node["reftarget"], home=node.get("py:module") or "discriminant."):
        if name in domain.objects:
            return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", name, node, content)
    return None


def setup(app: Any) -> dict[str, bool]:
    """Connect the functions above to Sphinx."""
    app.connect("builder-inited", write_classes)
    app.connect("source-read", rewrite)
    app.connect("autodoc-process-docstring", escape, priority=400)  # before numpydoc
    app.connect("doctree-read", link_code)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
