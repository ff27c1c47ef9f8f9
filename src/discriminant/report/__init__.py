"""What a fit is worth, for people: measures of decisions and probabilities, and one self-contained HTML page.

``make_report(model, X, y)`` gives a page for any fitted classifier; the command line writes one with ``--report``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discriminant.report.page import Report, make_report

__all__ = ["Report", "make_report"]


def __getattr__(name: str) -> Any:
    # The measures alone are needed far more often than the page.
    if name in __all__:
        from discriminant.report import page

        return getattr(page, name)
    raise AttributeError(f"module 'discriminant.report' has no attribute {name!r}")
