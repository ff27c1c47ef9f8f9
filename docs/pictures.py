"""The figures of the guide: pictures in docs/pictures/figures, and under each in the pages its claim and its test.

``python docs/pictures.py`` draws them all again and writes the captions of the table of figures into the pages; with
``--captions`` it draws nothing.  A test asks whether every page says what the table says.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from discriminant.figures.registry import REGISTRY, Entry

DOCS = Path(__file__).resolve().parent
PICTURES = DOCS / "pictures" / "figures"
# An image of the guide, with the caption below it.
BLOCK = re.compile(r"^!\[[^\]]*\]\(\.\./pictures/figures/(\w+)\.png\)\n\n\*.*?\*$", re.MULTILINE | re.DOTALL)


def tests() -> dict[str, str]:
    """The test of each figure's claim, as docs/books.md has it."""
    page = (DOCS / "books.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `(\w+)` \| .* \| `(test_\w+)` in `test_figures\.py` \|$", page, re.MULTILINE))


def block(one: Entry) -> str:
    """The image and its caption: the claim, where it is seen, its place in the books, and its test."""
    claim, seen = (re.sub(r"[A-Za-z]+(?:_\w+)", r"`\g<0>`", text) for text in (one.caption, one.seen))
    return (
        f"![{one.caption}](../pictures/figures/{one.name}.png)\n\n"
        f"*{claim} Where it is seen: {seen} ({one.source}; `figures.{one.name}()`, tested by `{tests()[one.name]}`.)*"
    )


def captioned(page: str) -> str:
    """A page with every figure's block as the table has it."""
    return BLOCK.sub(lambda found: block(REGISTRY[found[1]]), page)


def gallery() -> str:
    """All of them, one below the other."""
    return "\n\n".join(f"## {one.name}\n\n{block(one)}" for one in REGISTRY.values()) + "\n"


def draw() -> None:
    """Every figure, the contact sheet and the picture of the first page, in 256 colours."""
    from discriminant.figures import contact_sheet

    PICTURES.mkdir(parents=True, exist_ok=True)
    for one in REGISTRY.values():
        _write(one.draw(), PICTURES / f"{one.name}.png", 90)
    _write(contact_sheet(), PICTURES.parent / "figures.png", 110)
    _write(home(), PICTURES.parent / "home.png", 110)


def home() -> object:
    """The picture of the first page: three species, straight boundaries, and where it is better not to decide."""
    import matplotlib.pyplot as plt

    from discriminant import LinearDiscriminantAnalysis, MinimumRiskClassifier, datasets
    from discriminant.plots import DecisionRegionsDisplay

    penguins = datasets.load("penguins", as_frame=True)
    X = penguins.X[["bill_length_mm", "bill_depth_mm"]]
    careful = MinimumRiskClassifier(LinearDiscriminantAnalysis(), reject_cost=0.1).fit(X, penguins.y)
    figure, ax = plt.subplots(figsize=(5.2, 3.9))
    DecisionRegionsDisplay.from_estimator(careful, X, penguins.y, ax=ax)
    ax.set(xlabel="bill length in mm", ylabel="bill depth in mm")
    return figure


def _write(figure: object, path: Path, dpi: int) -> None:
    from PIL import Image

    page = io.BytesIO()
    figure.savefig(page, format="png", dpi=dpi, bbox_inches="tight")  # type: ignore[attr-defined]
    few = Image.open(page).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def main() -> None:
    """Pictures, then pages."""
    if "--captions" not in sys.argv:
        draw()
    for path in sorted((DOCS / "guide").glob("*.md")):
        page = path.read_text(encoding="utf-8")
        if path.name == "figures.md":
            page = page[: page.index("## ")] + gallery()
        path.write_text(captioned(page), encoding="utf-8")


if __name__ == "__main__":
    main()
