"""All figures on one page, small, each under its name and its place in the books."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from typing import Any

from discriminant.figures.registry import REGISTRY, entry
from discriminant.plots.theme import matplotlib, sheet, styled


@styled
def contact_sheet(names: Sequence[str] | None = None, *, columns: int = 5, dpi: int = 70) -> Any:
    """Draw figures side by side, to see them at a glance.

    Parameters
    ----------
    names : sequence of str or None, default=None
        Which figures; None: all of them.
    columns : int, default=5
        Figures in a row.
    dpi : int, default=70
        How fine each is drawn.

    Returns
    -------
    matplotlib Figure
        The sheet.

    Examples
    --------
    >>> from discriminant import figures
    >>> len(figures.contact_sheet(["sigmoid_curve"], columns=1).get_axes())
    1
    """
    chosen = [entry(name) for name in (REGISTRY if names is None else names)]
    rows = -(-len(chosen) // columns)
    figure, axes = sheet(rows, columns, (3.4 * columns, 2.4 * rows))
    read = matplotlib().image.imread
    for ax, one in zip(axes.ravel(), chosen, strict=False):
        page = io.BytesIO()
        one.draw().savefig(page, format="png", dpi=dpi)
        page.seek(0)
        ax.imshow(read(page))
        place = textwrap.fill(one.source, 42)
        ax.set_title(f"{one.name}\n{place}", fontsize=7.5)
    for ax in axes.ravel():
        ax.set_axis_off()
    for ax in axes.ravel()[len(chosen) :]:
        ax.remove()
    return figure
