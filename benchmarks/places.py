"""The table of places: which problem on which columns at which sizes.  A new place is one word.

A line is a problem (``task.PROBLEMS``), a kind of columns (``designs.py``) and shapes n×d[×K][/non-zeros][@C], the most
telling first: a run that has little time takes the first of every problem, then the next ones.  ``PROMISES`` names the
places at which the project has promised a speed.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest

from benchmarks.task import Aim, Task

TABLE = """
ridge            independent      1e3x100 2e4x50 1e5x10 200x10 5e3x20 5e4x100 100x4 3e5x30 1e6x50 2e4x1e3 2e5x500
ridge            independent      500x2e3 1e3x1e3 100x1e4 1e3x10x2@1e-6 1e3x20@1e6 2e4x50@1e-4 500x2e3@100
ridge            correlated       1e4x50 1e3x200 2e5x20 2e5x500
ridge            ill-conditioned  2e4x50 2e5x100 1e6x50
ridge            units            5e3x20 2e5x50
ridge            dummies          1e4x100 1e5x60
ridge            pixels           2e3x784
ridge            sparse           1e4x1e4/50 2e5x1e5/100
ridge            real             breast_cancer saheart default_islr sms_spam smarket birthwt
ridge            independent      1e3x50x10 1e5x10x3 5e3x50x100 500x1e3x10 1.5e4x16x26 2e4x20x1000 2e5x100x20
ridge            correlated       2e3x50x5 2e5x100x20
ridge            units            5e3x10x4
ridge            pixels           2e3x784x10
ridge            sparse           5e3x5e3x5/30
ridge            real             digits iris vowel anes96 penguins fashion_mnist:5000 fashion_mnist
none             independent      1e3x10 1e5x20 1e3x5x3
none             correlated       1e4x20
none             units            5e3x10
none             real             default_islr saheart anes96
l1               few-causes       500x2e3@0.1 1e3x100 200x1e4 5e3x500@0.05 500x2e3 1e5x50 2e4x500@0.01
l1               few-causes       1e3x100x5 5e3x50x10@0.1
l1               correlated       2e3x200
l1               units            5e3x20
l1               sparse-few       1e4x1e4/50 5e4x2e4/50@0.1
l1               real             breast_cancer sms_spam saheart
elastic          few-causes       1e3x1e3@0.1 2e4x100 500x2e3@0.1
group            few-causes       1e3x200@0.1 5e3x500@0.05
l1-path          few-causes       5e3x500 500x2e3 1e4x5e3 1e3x100
l1-path          correlated       1e3x100
l1-path          sparse-few       5e3x5e3/50 2e4x5e4/100
elastic-path     few-causes       1e3x500
group-path       few-causes       1e3x500
svc              independent      500x10 5e3x50 1e5x20 60x2e3 2e3x20x5 1e3x1e3
svc              sparse           1e4x1e4/50
svc              real             breast_cancer iris sms_spam
cv               independent      1e3x20 1e4x20 1e5x50 1e3x10x3
cv               real             breast_cancer
lda              classes          500x10 5e3x50x5 1e5x20x3 1e4x784x10 60x2e3 1e6x50x3 2e5x500x5 1e5x20x100
lda              pixels           1e4x784x10
lda              units            1e4x20x3
lda              real             iris digits vowel
lda-auto         classes          60x2e3 500x10 5e3x50x5 1e5x20x3 100x500x5 1e4x784x10
lda-shrunk       classes          500x10 200x1e3 1e5x20x3
qda              own-spreads      500x10 5e3x50x5 1e5x20x3 1e4x200x4 5e5x50x10
qda              real             iris vowel
least-squares    classes          500x3e3 500x10 5e3x50x5 60x2e3 1e5x20x3 1e6x100x10@inf
least-squares    pixels           1e4x784x10
least-squares    sparse           1e4x2e3/50
bernoulli        dummies          1e4x100x3 200x20
multinomial      counts           1e4x5e3x5/50 1e3x20x3
multinomial      real             sms_spam
predict          independent      1x50 1e3x50 1e6x50 1e3x50x10 1x4x3 1e6x20x10
predict-lda      classes          1e3x50x3 1e6x50x3 1x50x3
predict-qda      own-spreads      1e3x20x3 1x20x3 1e6x20x3
"""
STEPS = """
perceptron-epoch plane            1e6x50 2e5x1e5/100
perceptron-fit   plane            1e6x50
lms-epoch        plane            1e6x50
cold             real             iris
default          real             breast_cancer
"""


def _lines(table: str) -> list[list[Task]]:
    entries = [line.split() for line in table.strip().splitlines()]
    return [[Task.read(word, columns, shape) for shape in shapes] for word, columns, *shapes in entries]


def _telling(lines: list[list[Task]]) -> list[Task]:
    """One place of each problem, then in proportion to how many it has; of its lines the first entries first."""
    own: dict[str, list[Task]] = {}
    for turn in zip_longest(*lines):
        for task in turn:
            if task is not None:
                own.setdefault(task.word, []).append(task)
    order = [(i / len(tasks), task) for tasks in own.values() for i, task in enumerate(tasks)]
    return [task for _, task in sorted(order, key=lambda entry: entry[0])]


PLACES: dict[str, Task] = {task.name: task for task in _telling(_lines(TABLE))}
"""The map, the most telling places first."""
_OTHERS = {task.name: task for line in _lines(STEPS) for task in line}
# The name under which a promise is kept, where it was made, what it is, seconds of patience with peers.
_PROMISES = (
    ("lda-1e6x50", "lda classes 1e6x50x3", Aim(10.0), 3.0),
    ("lda-2e5x500", "lda classes 2e5x500x5", Aim(2.5), 3.0),
    ("qda-5e5x50", "qda own-spreads 5e5x50x10", Aim(4.0), 3.0),
    ("ls-1e6x100", "least-squares classes 1e6x100x10@inf", Aim(4.0, of="scikit-learn"), 3.0),
    ("predict-1e6x50", "predict-lda classes 1e6x50x3", Aim(reads_of_X=2.5), 3.0),
    ("cold-iris", "cold iris", Aim(1.0), 3.0),
    ("logistic-1e6x50", "ridge independent 1e6x50", Aim(4.0, 10.0), 3.0),
    ("logistic-ill-2e5x100", "ridge ill-conditioned 2e5x100", Aim(5.0), 3.0),
    ("logistic-ill-1e6x50", "ridge ill-conditioned 1e6x50", Aim(15.0), 3.0),
    ("logistic-unscaled-2e5x50", "ridge units 2e5x50", Aim(3.0), 2.0),
    ("logistic-2e5x500", "ridge independent 2e5x500", Aim(1.0), 3.0),
    ("logistic-correlated-2e5x500", "ridge correlated 2e5x500", Aim(10.0), 10.0),
    ("softmax-2e5x100x20", "ridge independent 2e5x100x20", Aim(3.0), 8.0),
    ("softmax-correlated-2e5x100x20", "ridge correlated 2e5x100x20", Aim(20.0), 26.0),
    ("softmax-fashion", "ridge fashion_mnist", Aim(4.0), 15.0),
    ("logistic-sparse-2e5x1e5", "ridge sparse 2e5x1e5/100", Aim(2.5), 4.0),
    ("l1-path-1e4x5000", "l1-path few-causes 1e4x5e3", Aim(1.5), 15.0),
    ("l1-path-sparse-2e4x5e4", "l1-path sparse-few 2e4x5e4/100", Aim(1.5), 15.0),
    ("logistic-cv-1e5x50", "cv independent 1e5x50", Aim(10.0), 3.0),
    ("logistic-breast-cancer", "default breast_cancer", Aim(seconds=0.005), 3.0),
    ("logistic-one-row", "predict independent 1x50", Aim(seconds=40e-6), 3.0),
    ("perceptron-1e6x50", "perceptron-epoch plane 1e6x50", Aim(3.0), 3.0),
    ("perceptron-10-epochs", "perceptron-fit plane 1e6x50", Aim(2.5), 3.0),
    ("lms-1e6x50", "lms-epoch plane 1e6x50", Aim(3.0), 3.0),
    ("perceptron-sparse", "perceptron-epoch plane 2e5x1e5/100", Aim(1.0), 3.0),
)
PROMISES: dict[str, Task] = {
    name: replace((PLACES | _OTHERS)[place], name=name, aim=aim, cap=cap) for name, place, aim, cap in _PROMISES
}
