"""What a place is: one problem on one kind of columns at one size, and what the project promises there, if anything."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from benchmarks.contract import Data

GAPS = (1e-4, 1e-6)
QUICK_CAP = 0.4
MOST_QUICK = 300  # rows
PATHS = ("l1-path", "elastic-path", "group-path")
GROUP = 5  # columns in a group


@dataclass(frozen=True)
class Aim:
    """A promise: how many times the fastest peer's speed, within how many reads of X, or within how many seconds."""

    times_the_peer: float = 0.0
    reads_of_X: float = float("inf")
    seconds: float = float("inf")
    of: str = ""  # the package that the first is about, where it is not the fastest of all

    def sentence(self) -> str:
        """The promise in words."""
        words = [f"at least {self.times_the_peer:g}× {self.whose()}"] if self.times_the_peer else []
        if self.reads_of_X < float("inf"):
            words.append(f"within {self.reads_of_X:g} reads of X")
        if self.seconds < float("inf"):
            words.append(f"within {1e3 * self.seconds:g} ms")
        return " and ".join(words) or "no promise"

    def whose(self) -> str:
        """Whose speed is promised to be surpassed."""
        return f"{self.of}'s fastest" if self.of else "the fastest peer"


@dataclass(frozen=True)
class Problem:
    """What is solved: its title, how its answers are compared, and which methods of the adapters solve it."""

    title: str
    keys: tuple[str, str, str]  # in the adapters' METHODS: two classes, more of them, sparse rows
    gaps: tuple[float, ...] = ()  # with gaps: time until the objective is within each of the best one found
    judge: tuple[str, str] = ("", "")  # without gaps: whose answer the others are compared with
    tolerance: float = 1e-8  # without gaps: answers further apart are not the same problem solved
    l1_ratio: float = 0.0
    grouped: bool = False


def _same(key: str, title: str, judge: str, tolerance: float = 1e-8) -> Problem:
    return Problem(title, (key, key, key), (), ("scikit-learn", judge), tolerance)


_RIDGE = ("logistic-l2", "softmax-l2", "logistic-sparse")
_L1 = ("logistic-l1-path", "softmax-l1", "logistic-l1-path-sparse")
PROBLEMS: Mapping[str, Problem] = {
    "ridge": Problem("Logistic, ridge", _RIDGE, GAPS),
    "none": Problem("Logistic, no penalty", _RIDGE, GAPS),
    "l1": Problem("Logistic, L1, one fit", _L1, GAPS, l1_ratio=1.0),
    "l1-path": Problem("Logistic, L1, path of 100", _L1, GAPS, l1_ratio=1.0),
    "elastic": Problem("Logistic, elastic net, one fit", ("elastic-path",) * 3, GAPS, l1_ratio=0.5),
    "elastic-path": Problem("Logistic, elastic net, path of 100", ("elastic-path",) * 3, GAPS, l1_ratio=0.5),
    "group": Problem("Logistic, groups of 5, one fit", ("group-path",) * 3, GAPS, l1_ratio=1.0, grouped=True),
    "group-path": Problem("Logistic, groups of 5, path of 100", ("group-path",) * 3, GAPS, l1_ratio=1.0, grouped=True),
    "svc": Problem("Support vectors, squared hinge", ("svc",) * 3, GAPS),
    "default": Problem("Logistic, everybody's defaults", ("logistic-default",) * 3, GAPS),
    "cv": _same("logistic-cv", "Logistic, 10 folds × 20 C", "newton-cholesky", 1e-3),  # accuracies on the held-out rows
    "lda": _same("lda-fit", "LDA", "svd", 1e-6),
    "lda-auto": _same("lda-auto", "LDA, automatic shrinkage", "lsqr", 1e-6),
    "lda-shrunk": _same("lda-shrunk", "LDA, shrinkage ½", "lsqr", 1e-6),
    "qda": _same("qda-fit", "QDA", "svd", 1e-6),
    "least-squares": _same("least-squares-fit", "Least squares, α = 1/C", "RidgeClassifier svd", 1e-6),
    "bernoulli": _same("bernoulli", "Bernoulli columns", "BernoulliNB"),
    "multinomial": _same("multinomial", "Multinomial counts", "MultinomialNB"),
    # Each peer predicts with its own fit, some of which penalise the intercept.
    "predict": _same("logistic-predict", "predict_proba, logistic", "predict_proba", 1e-2),
    "predict-lda": _same("lda-predict", "predict, LDA", "predict"),
    "predict-qda": _same("qda-predict", "predict, QDA", "predict"),
    "cold": _same("lda-cold-start", "Fresh process: import and first LDA fit", "import and fit"),
    "perceptron-epoch": _same("perceptron-epoch", "Perceptron, one epoch", "Perceptron"),
    "perceptron-fit": _same("perceptron-fit", "Perceptron, fit of ten epochs", "Perceptron"),
    "lms-epoch": _same("lms-epoch", "Widrow–Hoff (LMS), one epoch", "SGDClassifier"),
}
# Of the bundled real sets: rows, columns (as they are coded here), classes.
REAL = {
    "iris": (150, 4, 3), "breast_cancer": (569, 30, 2), "digits": (1_797, 64, 10), "saheart": (462, 9, 2),
    "vowel": (528, 10, 11), "default_islr": (10_000, 3, 2), "smarket": (998, 6, 2), "penguins": (342, 4, 3),
    "anes96": (944, 7, 7), "birthwt": (189, 8, 2), "fashion_mnist": (60_000, 784, 10), "sms_spam": (5_574, 8_713, 2),
}  # fmt: skip
SHAPE = re.compile(r"(?P<n>[\d.e]+)x(?P<d>[\d.e]+)(x(?P<K>[\d.e]+))?(/(?P<values>\d+))?(@(?P<C>\S+))?$")


@dataclass(frozen=True)
class Task:
    """One place."""

    name: str
    word: str  # in PROBLEMS
    columns: str  # the kind of columns, in designs.py
    n: int
    d: int
    n_classes: int = 2
    row_values: int = 0  # non-zeros in a row of sparse columns
    C: float = 1.0
    cap: float = 1.0  # seconds: a method whose single fit takes longer and is not near enough is given up
    aim: Aim = field(default_factory=Aim)
    gaps: tuple[float, ...] | None = None
    seed: int = 20261115

    @staticmethod
    def read(word: str, columns: str, shape: str) -> Task:
        """The place of one entry of the table: n×d, ×K classes, /non-zeros a row, @C; a real set has a size already.

        >>> Task.read("ridge", "sparse", "1e4x2e3x5/20@0.1").size()
        'n = 10,000, d = 2000, K = 5, 20 non-zeros a row, C = 0.1'
        >>> Task.read("lda", "real", "iris").size()
        'iris, n = 150, d = 4, K = 3'
        """
        if columns == "real":
            kind, _, C = shape.partition("@")
            kind, _, rows = kind.partition(":")
            n, d, K = REAL[kind]
            values = 15 if kind == "sms_spam" else 0
            return Task(f"{word} {shape}", word, kind, int(rows or n), d, K, values, float(C or 1))
        found = SHAPE.match(shape)
        if found is None:
            raise ValueError(f"'{shape}' of {word} {columns} is no shape: write n×d, ×K, /non-zeros and @C")
        n, d, K, values = (int(float(found[part] or 0)) for part in ("n", "d", "K", "values"))
        C = float(found["C"] or (1.0 if word != "none" else "inf"))
        cap = min(1.5, max(0.25, n * (values or d) * max(1, K) / 1e7))  # some twenty times what ours takes
        return Task(f"{word} {columns} {shape}", word, columns, n, d, K or 2, values, C, cap)

    @property
    def what(self) -> Problem:
        return PROBLEMS[self.word]

    @property
    def problem(self) -> str:
        """The key in the adapters' METHODS."""
        two, many, sparse = self.what.keys
        return many if self.n_classes > 2 else sparse if self.row_values else two

    @property
    def title(self) -> str:
        return self.what.title

    @property
    def tolerance(self) -> float:
        """Of accuracies, at least four rows."""
        return max(self.what.tolerance, 4.0 / self.n if self.word == "cv" else 0.0)

    @property
    def levels(self) -> tuple[float, ...]:
        """The gaps to come within; none where answers are compared."""
        return self.what.gaps if self.gaps is None else self.gaps

    @property
    def rows(self) -> int:
        """Rows of X: where prediction is timed, enough of them to fit from."""
        return max(self.n, 5_000) if self.word.startswith("predict") else self.n

    def quick(self) -> Task:
        """The small form, under the same name, with less patience for methods that do not get there, and one gap."""
        d = self.d if self.columns in REAL else min(self.d, 100 if self.row_values else 10)
        values, K, gaps = min(self.row_values, 10), min(self.n_classes, 10), self.levels[-1:]
        return replace(self, n=min(self.n, MOST_QUICK), d=d, n_classes=K, row_values=values, cap=QUICK_CAP, gaps=gaps)

    def data(self) -> Data:
        """The rows; the same in every process, since one process writes them and all read them."""
        from benchmarks.data import read

        return read(self)

    @property
    def bytes_of_X(self) -> int:
        return 12 * self.rows * self.row_values if self.row_values else 8 * self.rows * self.d

    def size(self) -> str:
        """n, d and K as people write them, and what else there is to say."""
        text = f"n = {self.n:,}, d = {self.d}, K = {self.n_classes}".replace(",000,000", "·10⁶")
        text = f"{self.columns}, {text}" if self.columns in REAL else text
        text += f", {self.row_values} non-zeros a row" if self.row_values else ""
        return text + (f", C = {self.C:g}" if self.C not in (1.0, float("inf")) else "")
