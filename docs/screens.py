"""Pictures of the pages: the report and the playground, as a browser shows them, into docs/pictures.

``python docs/screens.py`` needs Chromium and playwright (``pip install playwright``).
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from discriminant.cli import main as command
from discriminant.play.server import Playground

PICTURES = Path(__file__).resolve().parent / "pictures"
READY = 'body[data-busy="false"]:not([data-version="0"])'


def report(browser: Any, folder: Path) -> None:
    """The head of a report."""
    command(["fit", "penguins", "--report", str(folder / "report.html"), "--quiet"])
    page = browser.new_page(viewport={"width": 1040, "height": 1150})
    page.goto((folder / "report.html").as_uri())
    _write(page, "report")


def playground(browser: Any, url: str) -> None:
    """A perceptron that has separated two classes, on a desk and on a phone."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    for _ in range(3):  # the first fit of a process loads what fits need
        page.goto(url)
        page.wait_for_selector(READY)
    _write(page, "playground")
    phone = browser.new_page(
        viewport={"width": 390, "height": 844}, device_scale_factor=2, is_mobile=True, has_touch=True
    )
    phone.goto(url)
    phone.wait_for_selector(READY)
    _write(phone, "playground-phone")


def _write(page: Any, name: str) -> None:
    page.screenshot(path=PICTURES / f"{name}.png")
    page.close()


def main() -> None:
    """All of them."""
    from tempfile import TemporaryDirectory

    from playwright.sync_api import sync_playwright

    server = Playground()
    server.start()
    with sync_playwright() as play, TemporaryDirectory() as folder:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        report(browser, Path(folder))
        playground(browser, server.url)
        browser.close()
    server.shutdown()
    server.server_close()


if __name__ == "__main__":
    main()
