"""What a task is: one problem at one size, and what the project promises for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from benchmarks.contract import Data
from benchmarks.data import gaussian_classes, iris


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
class Task:
    """One problem at one size."""

    name: str
    title: str
    problem: str  # the key in the adapters' METHODS
    n: int
    d: int
    n_classes: int
    aim: Aim
    small: tuple[int, int]  # (n, d) of the quick form
    tolerance: float = 1e-8  # answers further apart than this are not the same problem solved
    gaps: tuple[float, ...] = ()  # with gaps: time until the objective is within each of the best one found
    judge: tuple[str, str] = ("scikit-learn", "svd")  # whose answer the others are compared with
    seed: int = 20261115

    def quick(self) -> Task:
        """The small form of the task, under the same name."""
        return replace(self, n=self.small[0], d=self.small[1])

    def data(self) -> Data:
        """The rows; the same in every process."""
        if self.problem == "lda-cold-start":
            return iris()
        return gaussian_classes(
            self.n, self.d, self.n_classes, seed=self.seed, own_spreads=self.problem.startswith("qda")
        )

    @property
    def bytes_of_X(self) -> int:
        return 8 * self.n * self.d

    def multiplications(self) -> float:
        """Multiply-adds of one triangle of XᵗX: the arithmetic that the closed forms cannot do without."""
        return self.n * self.d * (self.d + 1) / 2

    def size(self) -> str:
        """n, d and K as people write them."""
        return f"n = {self.n:,}, d = {self.d}, K = {self.n_classes}".replace(",000,000", "·10⁶")
