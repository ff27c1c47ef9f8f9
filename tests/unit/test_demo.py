"""The demo runs from the repository as a person runs it, and what it prints and draws is what was computed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from discriminant import LinearDiscriminantAnalysis, datasets

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """What the demo prints, and the page it writes."""
    output = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / "demo.py"), "--output", str(output)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=output, encoding="utf-8")
    assert run.returncode == 0, run.stderr
    return run.stdout, (output / "report.html").read_text(encoding="utf-8")


def test_methods_are_compared_in_one_table(told: tuple[str, str]) -> None:
    rows = dict(re.findall(r"^  (\S.*?)  +([\d.]+ %.*)$", told[0], re.MULTILINE))
    assert {"LDA (one covariance)", "QDA (one covariance per class)", "Fisher's discriminant"} <= set(rows)
    # MASS::lda(CV = TRUE) and MASS::qda(CV = TRUE) in R make 5 and 4 errors on these 342 rows.
    assert rows["LDA (one covariance)"].split()[4] == f"{100 * (1 - 5 / 342):.2f}"
    assert rows["QDA (one covariance per class)"].split()[4] == f"{100 * (1 - 4 / 342):.2f}"


def test_contributions_add_up_to_the_log_odds(told: tuple[str, str]) -> None:
    block = told[0].split("THE HARDEST PENGUIN")[1].split("DECISIONS")[0]
    *shares, total = [float(value) for value in re.findall(r"([+-][\d.]+)$", block, re.MULTILINE)]
    assert len(shares) == 5
    assert abs(sum(shares) - total) < 0.03  # each is rounded to two digits
    likely = [float(value) / 100 for value in re.findall(r"([\d.]+)%", block)]
    assert abs(sum(likely) - 1) < 0.002


def test_weighing_costs_lowers_the_cost(told: tuple[str, str]) -> None:
    costs = [float(value) for value in re.findall(r"cost +\d+ +\d+ +([\d.]+)$", told[0], re.MULTILINE)]
    plain = [float(value) for value in re.findall(r"class +\d+ +\d+ +([\d.]+)$", told[0], re.MULTILINE)]
    assert len(costs) == len(plain) == 2
    assert all(careful < careless for careful, careless in zip(costs, plain, strict=True))


def test_page_stands_alone_and_its_drawings_are_well_formed(told: tuple[str, str]) -> None:
    page = told[1]
    assert not re.search(r"(src|href)=|https?://|@import|<script", page)
    drawings = [ElementTree.fromstring(drawing) for drawing in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]
    assert len(drawings) == 2
    for tag in ("section", "table", "tr", "td", "div", "figure", "p"):
        assert len(re.findall(rf"<{tag}[ >]", page)) == page.count(f"</{tag}>"), tag


def test_scatter_has_a_region_per_class_and_a_mark_per_row(told: tuple[str, str]) -> None:
    scatter = ElementTree.fromstring(re.findall(r"<svg.*?</svg>", told[1], re.DOTALL)[0])
    data = datasets.load("penguins")
    assert len(scatter.findall("polygon")) == 3
    marks = [mark for mark in scatter if mark.get("fill-opacity")]
    assert len(marks) == len(data.y) + 3  # and three in the legend
    rings = [mark for mark in scatter.findall("circle") if mark.get("fill") == "none"]
    left_out = LinearDiscriminantAnalysis().fit(data.X, data.y).loo_predict(data.X, data.y)
    assert len(rings) == (left_out != data.y).sum()
