"""What the commands print: tables and sentences for people, JSON for machines, notes and progress beside them."""

from __future__ import annotations

import json
import math
import os
import re
import sys
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discriminant.errors import printable
from discriminant.shown import table_lines

LONGEST = 48  # characters of a cell
_OURS = re.compile(r"(\x1b\[[01]m|\n)")


@dataclass
class Console:
    """Where words go: results to the standard output, notes to the standard error."""

    json: bool = False
    quiet: bool = False
    notes: list[str] = field(default_factory=list)
    began: float = 0.0

    def note(self, *texts: str) -> None:
        """Remarks, each once; not under --quiet, and into the document under --json."""
        for clean in map(printable, texts):
            if clean not in self.notes:
                self.notes.append(clean)
                if not self.quiet and not self.json:
                    self.done()
                    print(f"note: {clean}", file=sys.stderr)

    def progress(self, text: str, done: int = 0, of: int = 0) -> None:
        """What is being done, on one line that is written over; only for people who watch.

        With ``of`` steps in all, a bar of those that are done and the time that the rest will take.
        """
        if not self._watched():
            return
        if done == 0:
            self.began = time.monotonic()
        bar = progress_bar(done, of, time.monotonic() - self.began) if of else ""
        print(
            f"\r\x1b[K{bar}{textwrap.shorten(printable(text), 70, placeholder=' …')}",
            end="",
            file=sys.stderr,
            flush=True,
        )

    def done(self) -> None:
        """Wipe the progress line."""
        if self._watched():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _watched(self) -> bool:
        return not self.json and not self.quiet and sys.stderr.isatty()

    def show(self, text: str = "") -> None:
        """A line of the result, for people."""
        if not self.json:
            self.done()
            # Our own bold marks and line ends pass; nothing else that steers a terminal does.
            print("".join(part if _OURS.fullmatch(part) else printable(part) for part in _OURS.split(text)))

    def document(self, content: dict[str, Any]) -> None:
        """The result, for machines."""
        if self.json:
            print(json.dumps(plain({**content, "notes": self.notes}), indent=1, ensure_ascii=False, allow_nan=False))


def progress_bar(done: int, of: int, seconds: float) -> str:
    """A bar, and how long the rest will take once that is known.

    >>> progress_bar(6, 24, 5.0)
    '[█████               ]  25 %, 15 s left  '
    """
    filled = 20 * done // of
    left = seconds / done * (of - done) if done else 0.0
    wait = f", {left:.0f} s left" if done and seconds > 1.0 else ""
    return f"[{'█' * filled}{' ' * (20 - filled)}] {100 * done // of:3d} %{wait}  "


def plain(value: Any) -> Any:
    """NumPy's values as JSON's; what is not finite becomes null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def bold(text: str) -> str:
    """Bold on a terminal that shows it."""
    wanted = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return f"\x1b[1m{text}\x1b[0m" if wanted else text


def table(head: Sequence[str], rows: Sequence[Sequence[str]], mark: int = -1) -> str:
    """A plain table; columns of numbers stand to the right; the row ``mark`` is pointed at.

    >>> print(table(["name", "error"], [["lda", "0.02"], ["logistic", "0.1"]], mark=0))
      name      error
      ───────────────
    ▸ lda        0.02
      logistic    0.1
    """
    cells = [[shortened(printable(cell)) for cell in row] for row in [head, *rows]]
    left = [not all(row[j][:1] in "0123456789+-−–.<" for row in cells[1:] if row[j]) for j in range(len(head))]
    first, rule, *rest = table_lines(cells, left, rule=True)
    marked = [bold(f"▸ {line}") if i == mark else f"  {line}" for i, line in enumerate(rest)]
    return "\n".join([f"  {first}", f"  {rule}", *marked])


def shortened(text: str) -> str:
    """A long name without its middle, cut between words.

    >>> shortened("the share of all the days of a year on which it rained in the north")
    'the share of all the … it rained in the north'
    """
    if len(text) <= LONGEST:
        return text
    words = re.findall(r"[^\s_\-./]*[\s_\-./]*", text)
    head = tail = ""
    while words and len(head + words[0]) <= LONGEST // 2:
        head += words.pop(0)
    while words and len(words[-1] + tail) <= LONGEST // 2:
        tail = words.pop() + tail
    return f"{head.rstrip()} … {tail}" if head and tail else text


def percent(value: float) -> str:
    """A share in per cent, with as many digits as matter."""
    return "–" if value != value else f"{100 * value:.1f} %" if value >= 0.001 or value == 0 else f"{100 * value:.2g} %"
