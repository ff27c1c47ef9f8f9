"""What the displays share: axes that they were drawn on, and entries of their docstrings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from discriminant.docstrings import Entries

documented = Entries("""
estimator : classifier or LinearDiscriminant
    Fitted.
X : array-like or data frame of shape (n, d)
    The rows.
y : array-like of shape (n,)
    The labels.
ax : matplotlib Axes or None
    Where to draw; None: new axes.
axis_names : sequence of two str
    The names of the axes.
bounds : sequence of four floats or None
    The box ((x₀, x₁), (y₀, y₁)); None: around the rows.
classes : sequence of K labels
    The classes, in the order of their colours.
labels : array-like of shape (n,)
    The labels of the rows.
**options : any
    Options of ``plot``.
→ Self : display
    The display, drawn.
ax_ : matplotlib Axes
    Where it was drawn.
figure_ : matplotlib Figure
    The figure of these axes.
""").documented


@dataclass(eq=False)
class Display:
    """Something that can be drawn, and knows where it was."""

    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)
