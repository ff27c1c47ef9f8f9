"""What the figures share: how one is drawn, all of them on one page, and seeded Gaussian clouds with exact moments."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from discriminant.docstrings import Entries
from discriminant.figures.registry import REGISTRY, entry
from discriminant.plots.regions import DecisionRegionsDisplay
from discriminant.plots.theme import color, frame, matplotlib, sheet, styled, swatch
from discriminant.protocols import Array

_documented = Entries("""
data : what the function of the same name with ``_data`` makes, or None
    What to draw; None: that.
→ Any : matplotlib Figure
    The figure.
""").documented


def drawn(
    rows: int = 1, columns: int = 1, size: tuple[float, float] = (5.8, 5.0), **options: Any
) -> Callable[[Callable[..., None]], Callable[..., Any]]:
    """A figure from a function that draws data on the axes of a sheet: in the look of all, of its own ``_data``.

    What it shows is said in the table of figures, and in its docstring from there.
    """

    def decorate(draw: Any) -> Callable[..., Any]:
        said = REGISTRY[draw.__name__]

        def figure(data: Any = None) -> Any:
            page, axes = sheet(rows, columns, size, **options)
            draw(draw.__globals__[f"{draw.__name__}_data"]() if data is None else data, *axes.ravel())
            return page

        for name in ("__module__", "__name__", "__qualname__"):
            setattr(figure, name, getattr(draw, name))
        figure.__doc__ = f"{said.source}: {said.caption}\n\nWhere it is seen: {said.seen}"
        return _documented(styled(figure))

    return decorate


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
    for ax, one in zip(axes.ravel(), chosen, strict=False):
        page = io.BytesIO()
        one.draw().savefig(page, format="png", dpi=dpi)
        page.seek(0)
        ax.imshow(matplotlib().image.imread(page))
        ax.set_title(f"{one.name}\n{textwrap.fill(one.source, 42)}", fontsize=7.5)
        ax.set_axis_off()
    for ax in axes.ravel()[len(chosen) :]:
        ax.remove()
    return figure


def class_names(count: int = 3) -> list[str]:
    """C_1, C_2, … as the books write them."""
    return [f"$C_{k}$" for k in range(1, count + 1)]


def regions(
    ax: Any, model: Any, data: Any, bounds: Any, title: str | None = None, *, equal: bool = True, **options: Any
) -> None:
    """The regions of a model over the rows of the data, in a box."""
    named = {"names": class_names(len(model.classes_)), **options}
    DecisionRegionsDisplay.from_estimator(model, data.X, data.y, bounds=bounds, ax=ax, **named)
    frame(ax, bounds, equal=equal, title=title)


def reliefs(axes: Sequence[Any], titles: Sequence[str], heights: Sequence[str], view: tuple[int, int], K: int) -> None:
    """Titles, names and view of pictures in three dimensions side by side, and the colours of K classes below them."""
    for ax, title, height in zip(axes, titles, heights, strict=True):
        ax.view_init(*view)
        ax.set(xlabel="$x_1$", ylabel="$x_2$", zlabel=height)
        ax.set_title(title, loc="center")
    axes[0].figure.get_layout_engine().set(wspace=0.14)
    marks = [swatch(name, color(k)) for k, name in enumerate(class_names(K))]
    axes[0].figure.legend(handles=marks, loc="outside lower center", ncols=K)


def clouds(
    means: Sequence[Any], covariances: Any, sizes: int | Sequence[int], seed: int, *, exact: bool = False
) -> tuple[Array, Array]:
    """(X, y): a Gaussian cloud for each mean; ``exact`` gives each the very mean and covariance (divisor N) asked for.

    >>> X, y = clouds([(0, 0), (3, 1)], np.eye(2), 20, seed=0, exact=True)
    >>> X[y == 2].mean(axis=0).round(12).tolist()
    [3.0, 1.0]
    """
    rng = np.random.default_rng(seed)
    counts = [sizes] * len(means) if isinstance(sizes, int) else list(sizes)
    spreads = np.broadcast_to(np.asarray(covariances, dtype=np.float64), (len(means), 2, 2))
    parts = []
    for mean, spread, count in zip(means, spreads, counts, strict=True):
        Z = rng.standard_normal((count, 2))
        if exact:
            Z -= Z.mean(axis=0)
            Z = Z @ np.linalg.inv(np.linalg.cholesky(Z.T @ Z / count)).T
        parts.append(np.asarray(mean) + Z @ np.linalg.cholesky(spread).T)
    return np.vstack(parts), np.repeat(np.arange(1, len(means) + 1), counts)


def angle(a: Any, b: Any) -> float:
    """The angle between two directions, in degrees from 0 to 90.

    >>> round(angle([1, 0], [-1, 1]))
    45
    """
    one, other = np.asarray(a, dtype=np.float64).ravel(), np.asarray(b, dtype=np.float64).ravel()
    cosine = float(abs(one @ other) / (np.linalg.norm(one) * np.linalg.norm(other)))
    return float(np.degrees(np.arccos(min(cosine, 1.0))))
