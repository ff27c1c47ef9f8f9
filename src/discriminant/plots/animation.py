"""A fit as a film: the boundary moving over the rows while the errors fall, as GIF, MP4 or a page of HTML.

The page holds its pictures and a few lines of script; it needs no network.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from discriminant.errors import DataError, ParameterError
from discriminant.estimators.learner import Learner
from discriminant.geometry import Hyperplane
from discriminant.io.container import write_whole
from discriminant.model import LinearDiscriminant
from discriminant.optimize.history import history_of
from discriminant.plots.display import Display, display
from discriminant.plots.plane import plane_of
from discriminant.plots.theme import BLUE, GREY, INK, axes_for, color, fill, frame, line, scatter, sheet, styled
from discriminant.protocols import Array


@display
class TraceAnimation(Display):
    """The weights of each step of a traced fit, drawn over the rows.

    Each frame shows the boundary after a step, and the rows that it still has wrong.

    Parameters
    ----------
    weights : ndarray of shape (steps, 3, q)
        A at each step: intercept and two slopes.
    model : LinearDiscriminant
        What the weights mean (classes, coding, link).
    points : ndarray of shape (n, 2)
        The rows.
    steps : ndarray of shape (frames,)
        Which steps are shown.
    bounds : ndarray of shape (2, 2)
        The box.

    Attributes
    ----------
    errors : ndarray of shape (frames,)
        Misclassified rows in each frame.

    See Also
    --------
    HistoryDisplay : The same run as curves.

    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], [0, 0, 0, 1]
    >>> model = Perceptron(shuffle=False, tol=None, trace=True).fit(X, y)
    >>> film = plots.TraceAnimation.from_estimator(model, X, y)
    >>> len(film.steps), film.errors[-1]
    (6, np.int64(0))
    """

    weights: Array
    model: LinearDiscriminant
    points: Array
    labels: Any
    steps: Array
    bounds: Array
    axis_names: tuple[str, str] = ("$x_1$", "$x_2$")
    errors: Array = field(init=False)

    def __post_init__(self) -> None:
        wrong = [int((self._at(k).predict(self.points) != np.asarray(self.labels)).sum()) for k in self.steps]
        self.errors = np.array(wrong)

    @classmethod
    def from_estimator(cls, estimator: Learner, X: Any, y: Any, *, frames: int = 60, bounds: Any = None) -> Self:
        """The film of a fit with ``trace=True`` on two columns.

        Parameters
        ----------
        estimator : classifier
            Fitted with ``trace=True``.
        frames : int, default=60
            Pictures at most.

        Returns
        -------
        TraceAnimation
            The film.
        """
        history = history_of(estimator)
        weights = None if history is None else history.weights()
        if weights is None:
            raise DataError(
                f"{type(estimator).__name__} kept no weights of its steps: fit it with trace=True, or with an "
                "optimizer such as GradientDescent(trace=True)."
            )
        found = estimator.discriminant_
        if found.basis is not None or weights.shape[1] != 3:
            raise DataError("A film is drawn for two columns without a basis, where the boundary is a line.")
        if frames < 2:
            raise ParameterError(f"frames is {frames}; a film needs at least two pictures.")
        plane = plane_of(estimator, X, bounds=bounds)
        # Early steps move most: pictures lie closer there.
        last = len(weights) - 1
        wanted = np.round(last * np.linspace(0, 1, min(frames, last + 1)) ** (2 if last >= frames else 1))
        steps = np.unique(wanted.astype(int))
        return cls(weights, found, plane.points, y, steps, plane.bounds, plane.axis_names)

    def _at(self, step: int) -> LinearDiscriminant:
        return replace(self.model, weights=self.weights[step], center=None)

    @styled
    def plot(self, frame_number: int = -1, ax: Any = None) -> Self:
        """Draw one picture of the film.

        Parameters
        ----------
        frame_number : int, default=-1
            Which; the last unless asked otherwise.
        """
        self.figure_, self.ax_ = axes_for(ax)
        self._draw(self.ax_, range(len(self.steps))[frame_number])
        return self

    def save(self, path: Any, *, seconds: float | None = None, dpi: int = 80) -> Path:
        """Write the film; the ending says how: .gif, .mp4 (needs ffmpeg) or .html.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        Path
            The file.
        """
        target = Path(path)
        kind = target.suffix.lower()
        if kind not in (".gif", ".mp4", ".html"):
            raise ParameterError(f"{target.name!r} must end in .gif, .mp4 or .html.")
        pause = self._pause(seconds)
        if kind == ".mp4":
            self._save_mp4(target, pause, dpi)
        elif kind == ".gif":
            write_whole(target, _gif(self._pictures(dpi), pause))
        else:
            write_whole(target, self.to_html(seconds=seconds, dpi=dpi).encode())
        return target

    def to_html(self, *, seconds: float | None = None, dpi: int = 80) -> str:
        """The film as a page that needs no network.

        Returns
        -------
        str
            The page.
        """
        pictures = json.dumps([base64.b64encode(picture).decode() for picture in self._pictures(dpi)])
        captions, last = json.dumps([*map(self._caption, range(len(self.steps)))]), len(self.steps) - 1
        return _PAGE.format(last=last, pictures=pictures, captions=captions, pause=int(1000 * self._pause(seconds)))

    def _pause(self, seconds: float | None) -> float:
        return 0.2 if seconds is None else float(seconds) / len(self.steps)

    def _caption(self, number: int) -> str:
        return f"step {self.steps[number]}: {self.errors[number]} misclassified"

    @styled
    def _pictures(self, dpi: int) -> list[bytes]:
        figure, draw = self._page()
        found = []
        for number in range(len(self.steps)):
            draw(number)
            file = io.BytesIO()
            figure.savefig(file, format="png", dpi=dpi)
            found.append(file.getvalue())
        return found

    def _page(self) -> tuple[Any, Callable[[int], None]]:
        """(a figure, what draws a picture of the film on it: the boundary and, beside it, the errors)."""
        figure, ((left, right),) = sheet(1, 2, (8.6, 4.2), width_ratios=(1.35, 1))
        figure.set_layout_engine("constrained")

        def draw(number: int) -> None:
            left.clear()
            right.clear()
            self._draw(left, number)
            right.plot(self.steps, self.errors, color="#C9C9C9", linewidth=1.2)
            right.plot(self.steps[: number + 1], self.errors[: number + 1], color=BLUE)
            right.plot(self.steps[number], self.errors[number], "o", color=INK)
            right.set(xlabel="step", title="misclassified rows", ylim=(-0.3, max(float(self.errors.max()), 1) * 1.08))

        return figure, draw

    @styled
    def _save_mp4(self, target: Path, pause: float, dpi: int) -> None:
        from matplotlib.animation import FuncAnimation, writers

        if not writers.is_available("ffmpeg"):
            raise ParameterError("An .mp4 needs the program ffmpeg, which is not installed; write a .gif or .html.")
        film = FuncAnimation(*self._page(), frames=len(self.steps))
        film.save(str(target), writer="ffmpeg", fps=max(1, round(1 / pause)), dpi=dpi)

    def _draw(self, ax: Any, number: int) -> None:
        model = self._at(self.steps[number])
        try:
            for k, region in enumerate(model.regions(self.bounds)):
                fill(ax, region, color(k), edgecolor=INK, linewidth=1.4)
        except TypeError:  # votes and conjunctions have no such regions; their lines are drawn instead
            for a in model.weights.T:
                if a[1:].any():
                    line(ax, Hyperplane(a[1:], a[0]), self.bounds)
        scatter(ax, self.points, self.labels, self.model.classes.tolist(), size=30)
        frame(ax, self.bounds, names=self.axis_names)
        ax.set_title(self._caption(number), color=INK if self.errors[number] else GREY)


def _gif(pictures: list[bytes], pause: float) -> bytes:
    from PIL import Image

    frames = [Image.open(io.BytesIO(picture)).convert("RGB").quantize(128) for picture in pictures]
    file = io.BytesIO()
    pauses = [int(1000 * pause)] * (len(frames) - 1) + [max(1500, int(1000 * pause))]
    frames[0].save(file, format="GIF", save_all=True, append_images=frames[1:], duration=pauses, loop=0, optimize=True)
    return file.getvalue()


_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>A fit, step by step</title>
<style>body{{font:15px system-ui,sans-serif;margin:1.5rem;color:#222;max-width:52rem}}img{{max-width:100%}}
input{{width:60%;vertical-align:middle}}button{{font:inherit;padding:.2rem .8rem}}</style>
<img id="picture" alt="the boundary at a step of the fit">
<p><button id="play">pause</button> <input id="place" type="range" min="0" max="{last}" value="0"
aria-label="step"> <span id="caption"></span></p>
<script>
const pictures = {pictures}, captions = {captions}, pause = {pause};
const place = document.getElementById("place"), button = document.getElementById("play");
let running = true;
function show() {{
  document.getElementById("picture").src = "data:image/png;base64," + pictures[place.value];
  document.getElementById("caption").textContent = captions[place.value];
}}
function next() {{ if (running) {{ place.value = (+place.value + 1) % pictures.length; show(); }} }}
button.onclick = () => {{ running = !running; button.textContent = running ? "pause" : "play"; }};
place.oninput = () => {{ running = false; button.textContent = "play"; show(); }};
show(); setInterval(next, pause);
</script></html>
"""
