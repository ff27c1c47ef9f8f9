"""One style for every picture: colours that colour-blind readers tell apart, a marker of its own for each class.

The colours are those of every picture (``shown.COLORS``); regions are their tints.  matplotlib is imported inside
functions only, so that nothing here costs anything before a picture is asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from discriminant.geometry import Hyperplane, box, clip
from discriminant.protocols import Array
from discriminant.shown import COLORS, color_and_marker

BLUE, ORANGE, GREEN, PURPLE, AMBER, SKY, BROWN, SLATE = COLORS
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
INK, GREY, PALE = "#222222", "#7A7A7A", "#DADADA"
STYLE = {
    "axes.edgecolor": "#555555",
    "axes.grid": False,
    "axes.labelcolor": INK,
    "axes.labelsize": 10,
    "axes.linewidth": 0.8,
    "axes.prop_cycle": None,  # filled in by ``style``
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.titlesize": 10.5,
    "figure.dpi": 110,
    "figure.facecolor": "white",
    "font.size": 9.5,
    "hatch.color": "#8A8A8A",
    "hatch.linewidth": 0.6,
    "legend.fontsize": 9,
    "legend.framealpha": 0.9,
    "legend.frameon": True,
    "legend.edgecolor": "#DDDDDD",
    "lines.linewidth": 1.8,
    "lines.markersize": 5.5,
    "text.color": INK,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
}
Function = TypeVar("Function", bound=Callable[..., Any])


def matplotlib() -> Any:
    """The library itself, or a sentence that says how to get it."""
    try:
        import matplotlib as found
    except ImportError:
        raise ImportError(
            "Pictures are drawn with matplotlib, which is not installed: pip install 'discriminant[plots]'."
        ) from None
    return found


def styled(function: Function) -> Function:
    """Whatever the function draws has this style; the settings of the user are as before afterwards."""

    @functools.wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        settings = matplotlib().rcParams
        from cycler import cycler

        style = {**STYLE, "axes.prop_cycle": cycler(color=COLORS)}
        before = {name: settings[name] for name in style}
        settings.update(style)
        try:
            return function(*args, **kwargs)
        finally:  # ours alone: a notebook makes itself interactive when a first figure loads its backend
            settings.update(before)

    return inner  # type: ignore[return-value]


def color(k: int) -> str:
    """The colour of class k; after eight they come again, with other markers."""
    return COLORS[color_and_marker(k)[0]]


def marker(k: int) -> str:
    """The marker of class k."""
    return MARKERS[color_and_marker(k)[1]]


def tint(shade: str, share: float = 0.8) -> str:
    """A colour mixed with white.

    >>> tint("#0072B2", 0.5)
    '#7fb8d8'
    """
    parts = [int(shade[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{int(part + (255 - part) * share):02x}" for part in parts)


def axes_for(ax: Any, size: tuple[float, float] = (5.2, 4.2), projection: str | None = None) -> tuple[Any, Any]:
    """(figure, axes): those given, or new ones of pyplot, as scikit-learn's displays do."""
    matplotlib()
    if ax is not None:
        return ax.figure, ax
    import matplotlib.pyplot as plt

    figure, made = plt.subplots(figsize=size, layout="constrained", subplot_kw={"projection": projection})
    return figure, made


def sheet(rows: int = 1, columns: int = 1, size: tuple[float, float] = (5.2, 4.2), **options: Any) -> tuple[Any, Array]:
    """(figure, axes (rows, columns)) that pyplot knows nothing of: no window, nothing to close."""
    matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="compressed")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def scatter(
    ax: Any, X: Array, y: Any, classes: Sequence[Any], *, size: float = 26.0, names: Sequence[str] | None = None
) -> None:
    """The rows of each class in its colour and with its marker; ``names`` for the legend (empty: none)."""
    labels = np.asarray(y)
    for k, label in enumerate(classes):
        rows = X[labels == label]
        text = str(label) if names is None else (names[k] if len(names) else None)
        ax.scatter(
            rows[:, 0], rows[:, 1], s=size, c=color(k), marker=marker(k), label=text, edgecolors="white",
            linewidths=0.5, zorder=3,
        )  # fmt: skip


def fill(ax: Any, polygon: Array, shade: str, **options: Any) -> None:
    """A convex area in the tint of a colour."""
    if len(polygon) >= 3:
        given = {"facecolor": tint(shade), "edgecolor": "none", "zorder": 0, **options}
        ax.fill(polygon[:, 0], polygon[:, 1], **given)


def inner_edges(ax: Any, polygon: Array, bounds: Any, **options: Any) -> None:
    """The edges of an area that do not lie on the box it was cut from: its boundaries, without the frame."""
    limits = np.asarray(bounds, dtype=np.float64).reshape(2, 2)
    for p, q in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        on_frame = np.isclose(p[:, None], limits) & np.isclose(q[:, None], limits)
        if not on_frame.any():  # in one direction for both neighbours, so that their dots fall together
            ends = np.array(sorted((tuple(p), tuple(q))))
            ax.plot(*ends.T, **{"color": INK, "zorder": 2, **options})


def swatch(label: str, shade: str, **options: Any) -> Any:
    """A patch for a legend."""
    matplotlib()
    from matplotlib.patches import Patch

    return Patch(**{"facecolor": shade, "edgecolor": "none", "label": label, **options})


def line(ax: Any, plane: Hyperplane, bounds: Any, **options: Any) -> None:
    """The part of a straight boundary in the plane within a box."""
    ends = plane.points(bounds)
    if len(ends):
        ax.plot(ends[:, 0], ends[:, 1], **{"color": INK, "zorder": 2, **options})


def halves(ax: Any, plane: Hyperplane, bounds: Any, **options: Any) -> None:
    """A straight boundary, and its two sides in the colours of the first two classes."""
    corners = box(bounds)
    fill(ax, clip(corners, plane.value(corners)), BLUE)
    fill(ax, clip(corners, -plane.value(corners)), ORANGE)
    line(ax, plane, bounds, **options)


def segment(ax: Any, start: Any, end: Any, shade: str, **options: Any) -> None:
    """The straight line from point to point."""
    ax.plot(*np.array([start, end]).T, **{"color": shade, **options})


def ring(ax: Any, points: Array, size: float, shade: str = INK, **options: Any) -> None:
    """A circle around each of some points."""
    given = {"linewidths": 1.2, "zorder": 5, **options}
    ax.scatter(*points.T, s=size, facecolors="none", edgecolors=shade, **given)


def histogram(ax: Any, values: Array, labels: Any, classes: Sequence[Any], bins: int) -> None:
    """The values of each class in its colour, over common bins."""
    edges = np.histogram_bin_edges(values[np.isfinite(values)], bins=bins)
    style = {"alpha": 0.65, "edgecolor": "white", "linewidth": 0.4}
    for k, label in enumerate(classes):
        ax.hist(values[np.asarray(labels) == label], bins=edges, color=color(k), label=str(label), **style)


def arrow(ax: Any, start: Any, end: Any, shade: str = INK, width: float = 1.6, **options: Any) -> None:
    """An arrow from point to point, in data coordinates."""
    style = {"arrowstyle": "-|>", "color": shade, "lw": width, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 12}
    ax.annotate("", xy=tuple(end), xytext=tuple(start), arrowprops={**style, **options}, zorder=5)


def frame(
    ax: Any, bounds: Any, *, equal: bool = False, names: Sequence[str] = ("$x_1$", "$x_2$"), title: str | None = None
) -> None:
    """Fix the limits to a box, name the axes and, where there is a title, the picture."""
    (x0, x1), (y0, y1) = np.asarray(bounds, dtype=np.float64).reshape(2, 2).tolist()
    ax.set(xlim=(x0, x1), ylim=(y0, y1), xlabel=names[0], ylabel=names[1])
    if equal:
        ax.set_aspect("equal")
    if title is not None:
        ax.set_title(title)


def around(X: Array, share: float = 0.12) -> Array:
    """A box (2, 2) around points in the plane, with a margin on each side."""
    low, high = X.min(axis=0), X.max(axis=0)
    room = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0)) * share
    return np.column_stack([low - room, high + room])


def spans(bounds: Any, resolution: int) -> Array:
    """(2, r): points along both edges of a box."""
    low, high = np.asarray(bounds, dtype=np.float64).reshape(2, 2).T
    return np.linspace(low, high, resolution, axis=1)


def mesh(bounds: Any, resolution: int) -> tuple[Array, Array, Array]:
    """(points (r², 2), across (r, r), up (r, r)): a grid over a box."""
    across, up = np.meshgrid(*spans(bounds, resolution))
    return np.column_stack([across.ravel(), up.ravel()]), across, up
