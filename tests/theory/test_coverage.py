"""The page that says what of the books is where: every row has its section of the guide and its test; none is lost."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from discriminant.figures.registry import REGISTRY

ROOT = Path(__file__).resolve().parents[2]
GUIDE = sorted((ROOT / "docs/guide").glob("*.md"))
PICTURES = ROOT / "docs/pictures/figures"
PAGE = (ROOT / "docs/books.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"\w+",
    """
    G1 G2 G3 G4 G5  B1 B2 B3 B4 B5  M1 M2 M3 M4 M5  P1 P2 P3 P4 P5 P6 P7 P8  L1 L2 L3 L4 L5  LP1 LP2  F1 F2 F3
    D1 D2 D3 D4 D5  R1 R2 R3 R4 R5 R6  S1 S2  O1 O2 O3 O4 O5  T1
""",
)


def test_every_topic_of_the_books_has_a_row():
    assert re.findall(r"^\| ([A-Z]+\d) \|", PAGE, re.MULTILINE) == ROWS


@pytest.mark.parametrize("line", [line for line in PAGE.splitlines() if "` in `" in line], ids=lambda line: line[:40])
def test_every_test_that_the_page_names_is_there(line):
    name, file = re.findall(r"`(test_\w+)` in `(test_\w+\.py)`", line)[0]
    assert f"def {name}(" in (ROOT / "tests/theory" / file).read_text(encoding="utf-8")


def test_every_section_that_the_page_names_is_a_heading_of_the_guide():
    for heading, page in re.findall(r"\[([^\]]+)\]\((guide/\w+\.md)\)", PAGE):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert heading == "All figures" or re.search(rf"^#+ {re.escape(heading)}$", text, re.MULTILINE), (heading, page)


def test_every_figure_is_on_the_page_with_its_place():
    for name, entry in REGISTRY.items():
        assert f"| `{name}` | {entry.source} |" in PAGE, name


def captions():
    """docs/pictures.py, which is a script."""
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "docs/pictures.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_every_figure_is_in_the_guide_under_the_claim_its_table_makes():
    """Where this fails: python docs/pictures.py --captions, or without --captions to draw the pictures again too."""
    script = captions()
    for path in GUIDE:
        page = path.read_text(encoding="utf-8")
        assert page == script.captioned(page), path.name
        assert len(script.BLOCK.findall(page)) == page.count("](../pictures/figures/"), path.name
    assert (ROOT / "docs/guide/figures.md").read_text(encoding="utf-8").endswith(script.gallery())


def test_every_picture_is_there_and_small():
    assert {path.stem for path in PICTURES.glob("*.png")} == set(REGISTRY)
    assert max(path.stat().st_size for path in PICTURES.glob("*.png")) < 150_000
    assert sum(path.stat().st_size for path in PICTURES.parent.rglob("*.png")) < 2_500_000


def test_the_words_of_the_books_can_be_searched_for():
    guide = "\n".join(path.read_text(encoding="utf-8") for path in GUIDE).lower()
    words = (
        "early stopping", "irls", "working response", "working weights", "cross-entropy", "map", "quadratic logistic",
        "potential functions", "error-correcting output codes", "reference class", "extreme rays", "saturat",
        "total error may rise", "kesler", "widrow", "relaxation", "exponential family",
    )  # fmt: skip
    assert [word for word in words if word not in guide] == []
