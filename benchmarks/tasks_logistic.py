"""The logistic tasks: two-class, softmax, sparse, L1 paths, cross-validation, one row.

All contenders of a task minimise the same function,

    F(w, b) = Σ_i ℓ(y_i, x_i·w + b) + ½ ‖w‖² / C        (paths: Σ ℓ + n λ ‖w‖₁ for 100 λ),

with a free intercept.  What is measured is the time to F ≤ (1 + gap) F*, along a path at its worst point.  The data and
F* are made once, by ``prepare.py``, and read by every process from there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from benchmarks.contract import Data
from benchmarks.data_logistic import read
from benchmarks.task import Aim, Task

GAPS = (1e-3, 1e-6)
QUICK_CAP = 0.4


@dataclass(frozen=True)
class LogisticTask(Task):
    """A logistic problem on a design of ``data_logistic.py``."""

    design: str = "independent"
    cap: float = 3.0  # seconds: a method whose single fit takes longer and is not near enough is given up
    C: float = 1.0
    row_values: int = 0  # non-zeros in a row of a sparse design

    def quick(self) -> Task:
        """The small form, with less patience for methods that do not get there, and one gap."""
        return replace(self, n=self.small[0], d=self.small[1], cap=QUICK_CAP, gaps=self.gaps[-1:])

    def data(self) -> Data:
        """The rows; the same in every process, since one process writes them and all read them."""
        return read(self)

    @property
    def bytes_of_X(self) -> int:
        return 12 * self.n * self.row_values if self.row_values else super().bytes_of_X

    def size(self) -> str:
        """n, d, K and, for sparse rows, their non-zeros."""
        return super().size() + (f", {self.row_values} non-zeros a row" if self.row_values else "")


def _task(
    name: str,
    title: str,
    problem: str,
    shape: tuple[int, int, int],
    aim: Aim,
    small: tuple[int, int],
    *,
    design: str = "independent",
    cap: float = 3.0,
    row_values: int = 0,
) -> LogisticTask:
    n, d, n_classes = shape
    judge = ("scikit-learn", "lbfgs @ 1e-6" if "l1" not in problem else "saga @ 1e-6")
    return LogisticTask(
        name,
        title,
        problem,
        n,
        d,
        n_classes,
        aim,
        small,
        gaps=GAPS,
        judge=judge,
        design=design,
        cap=cap,
        row_values=row_values,
    )


_TWO, _SOFTMAX = "logistic-l2", "softmax-l2"
_MEASURED = (
    _task("logistic-1e6x50", "Two-class logistic", _TWO, (10**6, 50, 2), Aim(4.0, 10.0), (50_000, 30)),
    _task(
        "logistic-ill-2e5x100",
        "Two-class logistic, condition number 10⁶",
        _TWO,
        (200_000, 100, 2),
        Aim(5.0),
        (20_000, 30),
        design="ill-conditioned",
    ),
    _task(
        "logistic-ill-1e6x50",
        "Two-class logistic, condition number 10⁶",
        _TWO,
        (10**6, 50, 2),
        Aim(15.0),
        (40_000, 20),
        design="ill-conditioned",
    ),
    _task(
        "logistic-unscaled-2e5x50",
        "Two-class logistic, unscaled columns",
        _TWO,
        (200_000, 50, 2),
        Aim(3.0),
        (20_000, 30),
        design="unscaled",
        cap=2.0,
    ),
    _task("logistic-2e5x500", "Two-class logistic, wide", _TWO, (200_000, 500, 2), Aim(1.0), (10_000, 150)),
    _task(
        "logistic-correlated-2e5x500",
        "Two-class logistic, wide, correlated columns",
        _TWO,
        (200_000, 500, 2),
        Aim(10.0),
        (10_000, 150),
        design="correlated",
        cap=10.0,
    ),
    _task("softmax-2e5x100x20", "Softmax", _SOFTMAX, (200_000, 100, 20), Aim(3.0), (6_000, 20), cap=8.0),
    _task(
        "softmax-correlated-2e5x100x20",
        "Softmax, correlated columns",
        _SOFTMAX,
        (200_000, 100, 20),
        Aim(20.0),
        (6_000, 20),
        design="correlated",
        cap=26.0,
    ),
    _task(
        "softmax-fashion",
        "Softmax, Fashion-MNIST",
        _SOFTMAX,
        (60_000, 784, 10),
        Aim(4.0),
        (800, 784),
        design="fashion",
        cap=15.0,
    ),
    _task(
        "logistic-sparse-2e5x1e5",
        "Two-class logistic, sparse rows",
        "logistic-sparse",
        (200_000, 100_000, 2),
        Aim(2.5),
        (10_000, 5_000),
        design="sparse",
        cap=4.0,
        row_values=100,
    ),
    _task(
        "l1-path-1e4x5000",
        "L1 path, 100 λ down to λ_max / 10",
        "logistic-l1-path",
        (10_000, 5_000, 2),
        Aim(1.5),
        (500, 200),
        design="few-causes",
        cap=15.0,
    ),
    _task(
        "l1-path-sparse-2e4x5e4",
        "L1 path, sparse rows, 100 λ down to λ_max / 10",
        "logistic-l1-path-sparse",
        (20_000, 50_000, 2),
        Aim(1.5),
        (800, 600),
        design="sparse",
        cap=15.0,
        row_values=100,
    ),
)
_DEFAULTS = (
    LogisticTask(
        "logistic-cv-1e5x50",
        "Logistic regression, 10 folds × 20 C",
        "logistic-cv",
        100_000,
        50,
        2,
        Aim(10.0),
        (3_000, 10),
        tolerance=1e-3,  # accuracies on 10,000 held-out rows
        judge=("scikit-learn", "lbfgs"),
    ),
    LogisticTask(
        "logistic-breast-cancer",
        "Breast cancer as it comes, default settings",
        "logistic-default",
        569,
        30,
        2,
        Aim(seconds=0.005),
        (569, 30),
        gaps=GAPS,
        judge=("scikit-learn", "default"),
        design="breast-cancer",
    ),
    LogisticTask(
        "logistic-one-row",
        "predict_proba of one row",
        "logistic-one-row",
        5_000,
        50,
        2,
        Aim(seconds=40e-6),
        (5_000, 50),
        tolerance=1e-2,  # each peer predicts with its own fit, some of which penalise the intercept
        judge=("scikit-learn", "predict_proba"),
    ),
)
LOGISTIC = (*_MEASURED, *_DEFAULTS)
