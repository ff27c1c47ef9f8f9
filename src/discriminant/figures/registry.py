"""The table of figures: name, the file that draws it, the place in the books, and what it claims."""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass
from typing import Any

from discriminant.errors import ParameterError

# name | file | place in the books, then the claim on the next line
_TABLE = """
separating_line | boundaries | Alpaydin 10.1
    A line separates the examples of two classes; the sign of w0 says on which side the origin lies.
one_against_rest | many_classes | Alpaydin 10.3
    Each hyperplane separates one class from all others; the largest discriminant also decides where none or several
    are positive.
pairwise_separation | many_classes | Alpaydin 10.4
    A class that no line cuts off from the rest can still be told apart pair by pair.
ambiguous_regions | many_classes | Bishop 4.2
    Two-class discriminants put together leave regions to no class or to several; a machine of K leaves none.
convex_regions | many_classes | Bishop 4.3
    What lies between two points of a machine's region lies in the region: it is convex and connected.
perceptron_convergence | perceptrons | Bishop 4.7
    Each correction adds the misclassified sample to the weights; after a few no sample is misclassified.
"""


@dataclass(frozen=True)
class Entry:
    """One figure: its name, where it is drawn, its place in the books, its claim."""

    name: str
    module: str
    source: str
    caption: str

    def draw(self) -> Any:
        """The matplotlib Figure."""
        return getattr(self._load(), self.name)()

    def data(self) -> Any:
        """What the figure draws and claims, computed by the library's own fits."""
        return getattr(self._load(), f"{self.name}_data")()

    def _load(self) -> Any:
        return importlib.import_module(f"discriminant.figures.{self.module}")


def _read(table: str) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for text in table.strip().split("\n"):
        if text.startswith(" "):
            last = next(reversed(found.values()))
            caption = f"{last.caption} {text.strip()}".strip()
            found[last.name] = Entry(last.name, last.module, last.source, caption)
        else:
            name, module, source = (cell.strip() for cell in text.split("|"))
            found[name] = Entry(name, module, source, "")
    return found


REGISTRY = _read(_TABLE)


def entry(name: str) -> Entry:
    """The figure of this name, or of this place in the books; a wrong one is told the nearest.

    >>> entry("separating-line").source, entry("4.7").name
    ('Alpaydin 10.1', 'perceptron_convergence')
    """
    wanted = name.strip().lower().replace("-", "_")
    if wanted in REGISTRY:
        return REGISTRY[wanted]
    placed = [one for one in REGISTRY.values() if wanted in one.source.lower().replace(",", "").split()]
    if len(placed) == 1:
        return placed[0]
    near = difflib.get_close_matches(wanted, REGISTRY, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}?" if near else "discriminant figures --list shows them all."
    raise ParameterError(f"There is no figure {name!r}; {hint}")
