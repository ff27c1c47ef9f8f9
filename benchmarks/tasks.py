"""The tasks: what is measured, at which size, and what the project promises for it.

A new task is one entry of ``TASKS``; a new problem is also one key in the adapters that can solve it.
"""

from __future__ import annotations

from benchmarks.task import Aim, Task
from benchmarks.tasks_logistic import LOGISTIC
from benchmarks.tasks_steps import STEPS

__all__ = ["TASKS", "Aim", "Task"]

_ALL: tuple[Task, ...] = (
    Task("lda-1e6x50", "LDA fit", "lda-fit", 1_000_000, 50, 3, Aim(10.0), (100_000, 50)),
    Task("lda-2e5x500", "LDA fit, wide", "lda-fit", 200_000, 500, 5, Aim(2.5), (20_000, 250)),
    Task("qda-5e5x50", "QDA fit", "qda-fit", 500_000, 50, 10, Aim(4.0), (50_000, 50)),
    Task(
        "ls-1e6x100",
        "Least-squares classifier, fit",
        "least-squares-fit",
        1_000_000,
        100,
        10,
        Aim(4.0, of="scikit-learn"),
        (100_000, 50),
        judge=("scikit-learn", "LinearRegression"),
    ),
    Task(
        "predict-1e6x50",
        "LDA predict",
        "lda-predict",
        1_000_000,
        50,
        3,
        Aim(reads_of_X=2.5),
        (200_000, 50),
        judge=("scikit-learn", "predict"),
    ),
    Task(
        "cold-iris",
        "Fresh process: import and first LDA fit on iris",
        "lda-cold-start",
        150,
        4,
        3,
        Aim(1.0),
        (150, 4),
        judge=("scikit-learn", "import and fit"),
    ),
    *LOGISTIC,
    *STEPS,
)
TASKS = {task.name: task for task in _ALL}
