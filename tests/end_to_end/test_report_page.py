"""The report in a real browser: it fits a phone, can be read there, and its slider tells the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from discriminant import LinearDiscriminantAnalysis, LogisticRegression, datasets

# The least size of the text that is seen, in pixels of the screen, that of drawings included.
SMALLEST = """() => Math.min(...[...document.querySelectorAll("body *")].filter((e) => e.checkVisibility()
  && !["SCRIPT", "title"].includes(e.tagName)
  && [...e.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim()))
  .map((e) => { const m = e.ownerSVGElement ? e.getScreenCTM() : null;
    return parseFloat(getComputedStyle(e).fontSize) * (m ? Math.hypot(m.a, m.b) : 1); }))"""


def opened(browser: Any, path: Path, width: int, scheme: str = "light") -> tuple[Any, list[str]]:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page, heard = context.new_page(), []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.goto(path.as_uri())
    return page, heard


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Reports of 2, 3 and 26 classes."""
    rng = np.random.default_rng(0)
    y = np.arange(1300) % 26
    X = rng.normal(size=(26, 6))[y] + 0.6 * rng.normal(size=(1300, 6))
    letters = np.array([f"letter {chr(65 + k)}" for k in range(26)])[y]
    sets = {k: (datasets.load(name).X, datasets.load(name).y) for k, name in ((2, "breast_cancer"), (3, "penguins"))}
    folder = tmp_path_factory.mktemp("reports")
    return {
        K: LinearDiscriminantAnalysis().fit(X, y).report(X, y).save(folder / f"{K}.html")
        for K, (X, y) in {**sets, 26: (X, letters)}.items()
    }


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("classes", [2, 3, 26])
def test_it_fits_the_screen_and_can_be_read(browser: Any, reports: dict[int, Path], classes: int, width: int) -> None:
    for scheme in ("light", "dark"):
        page, heard = opened(browser, reports[classes], width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(SMALLEST) >= 11
        light = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]")
        assert (int(light) > 128) == (scheme == "light")
        assert heard == []
        page.context.close()


def test_what_is_folded_is_printed(browser: Any, reports: dict[int, Path]) -> None:
    page, _ = opened(browser, reports[26], 800)
    assert page.locator("details[open]").count() == 0
    page.pdf()
    assert page.locator("details:not([open])").count() == 0
    page.context.close()


def test_the_slider_says_what_scikit_learn_says(browser: Any, tmp_path: Path) -> None:
    data = datasets.load("breast_cancer")
    X, own = data.X[:, :3], data.y == "malignant"
    model = LogisticRegression().fit(X, data.y)
    page, heard = opened(browser, model.report(X, data.y).save(tmp_path / "r.html"), 800)
    page.fill('[data-is="miss"]', "5")
    costs = {}
    for step in (0, 30, 100, 171, 200):
        page.locator('[data-is="at"]').fill(str(step))
        decided = model.predict_proba(X)[:, 1] >= step / 200
        said = {key: page.inner_text(f'[data-is="said-{key}"]') for key in ("recall", "precision", "misses", "total")}
        (_, alarms), (misses, _) = metrics.confusion_matrix(own, decided)
        assert said["recall"] == f"{100 * metrics.recall_score(own, decided):.1f} %"
        assert said["precision"] in (f"{100 * metrics.precision_score(own, decided, zero_division=0):.1f} %", "–")
        assert said["misses"] == str(misses)
        costs[step] = 5 * misses + alarms
        assert said["total"].replace(",", "") == str(costs[step])
    best = float(page.inner_text('[data-is="said-best"]').split("(")[1].rstrip(")").replace(",", ""))
    assert best <= min(costs.values())
    assert heard == []
    page.context.close()
