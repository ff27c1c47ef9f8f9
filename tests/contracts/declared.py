"""The tables of docs/migration.md: which of scikit-learn's checks and tests do not hold here, and why."""

from __future__ import annotations

import ast
import math
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "migration.md"


def rows_of(title: str) -> list[tuple[list[str], ...]]:
    """The rows of the table below a heading: of each cell what stands in backticks, of the last its text."""
    part = PAGE.read_text().partition(f"### {title}\n")[2].partition("\n#")[0]
    lines = [line for line in part.splitlines() if line.startswith("| `")]
    assert lines, f"no table below {title!r}"
    found = []
    for line in lines:
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        found.append((*(re.findall(r"`([^`]+)`", cell) for cell in cells[:-1]), [cells[-1].strip("| ")]))
    return found


def expected_failures(model: Any) -> dict[str, str]:
    """{check: reason} of an estimator: the lines whose class is its and whose parameters it has."""
    return {
        check: reason
        for models, checks, (reason,) in rows_of("Checks of scikit-learn")
        if any(_is(model, text) for text in models)
        for check in checks
    }


def _is(model: Any, text: str) -> bool:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Name)
    if type(model).__name__ != call.func.id:
        return False
    return all(getattr(model, str(one.arg)) == _value(one.value) for one in call.keywords)


def _value(node: ast.expr) -> Any:
    return math.inf if isinstance(node, ast.Name) and node.id == "inf" else ast.literal_eval(node)
