"""What the displays share: axes that they were drawn on, and entries of their docstrings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform

from discriminant.docstrings import Entries
from discriminant.errors import ParameterError

Class = TypeVar("Class", bound=type)
_ENTRIES = Entries("""
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
bins : int
    How many, of the histogram or of equal counts.
bounds : sequence of four floats or None
    The box ((x₀, x₁), (y₀, y₁)); None: around the rows.
classes : sequence of K labels
    The classes, in the order of their colours.
labels : array-like of shape (n,)
    The labels of the rows, where there are rows.
at : array-like of shape (d,) or None
    Where the other columns are held; None: their means.
chosen : float or None
    A λ to mark.
columns : str or sequence of str
    Which columns.
dpi : int
    Dots per inch.
entries : two pairs of int, or None
    Which two entries of A are drawn; None: the first two that are free.
fit_intercept : bool
    Whether there is an intercept.
kind : {"contour", "surface"}
    How.
margin : float
    b ≥ 0.
resolution : int
    Points along an edge of the grid.
features : sequence of two str or int, or None
    Which two columns to draw, by name or position; None: the two that say most of what the model says.
output : int
    Of which class, where there are more than two.
points : ndarray of shape (n, 2) or None
    Rows to draw.
seconds : float or None
    How long it plays; None: a fifth of a second to each picture.
**options : any
    Options of ``plot``.
→ Self : display
    The display, drawn.
ax_ : matplotlib Axes
    Where it was drawn.
figure_ : matplotlib Figure
    The figure of these axes.
""")


def require_one_of(name: str, value: str, *known: str) -> None:
    """Refuse a word that an option does not know."""
    if value not in known:
        *rest, last = map(repr, known)
        raise ParameterError(f"{name} is {value!r}; it must be {', '.join(rest)} or {last}.")


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def display(cls: Class) -> Class:
    """A display: a dataclass of what it holds, with its docstrings completed."""
    dataclass(eq=False, repr=False)(cls)  # in place
    return _ENTRIES.documented(cls, "ax_, figure_")


@dataclass(eq=False, repr=False)
class Display:
    """Something that can be drawn, and knows where it was."""

    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    def __repr__(self) -> str:
        return f"{type(self).__name__}, drawn on ax_ of figure_" if self.ax_ is not None else type(self).__name__
