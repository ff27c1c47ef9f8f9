"""Which method fits a smooth criterion with a ridge: one table, read from the top, and the reason in words.

The costs that decide: a pass over the rows costs about n·d·q; with the exact Hessian n·d²·q²/2, and d³q³/3 to solve.
A row sample of a few thousand gives a start within a few per mille of the optimum and a Hessian within a few per cent,
for next to nothing; what follows is counted in passes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from discriminant.thresholds import (
    BLAS_COLUMNS,
    BLAS_PRODUCT,
    COUPLED_PARAMETERS,
    EXACT_WORK_COUPLED,
    FACTOR_COLUMNS,
    FALL,
    FEW_ROWS,
    LOSS,
    NEWTON_WORTH,
    ONE_CALL_VALUES,
    ONE_CALL_WORK,
    PAIR_PRODUCT,
    PASS_VALUE,
    ROW_CLASS,
    ROW_VALUE,
    SAMPLE_ROWS,
    SAMPLE_ROWS_PER_COLUMN,
    SAMPLE_SHARE,
    SAMPLE_WORTH,
    SINGLE_PRODUCT,
    STEP,
)

EXACT_SIZE = COUPLED_PARAMETERS


@dataclass(frozen=True)
class Shape:
    """What the choice depends on."""

    n: int
    d: int
    q: int
    sparse: bool = False
    values: int = 0  # numbers in a pass; 0: n·d
    streamed: bool = False  # a pass reads from a disk, and is dearer than any arithmetic on it
    penalised: bool = True
    coupled: bool | None = None  # None: where there are several outputs
    device: bool = False  # rows lie on an accelerator

    @property
    def competing(self) -> bool:
        return self.q > 1 if self.coupled is None else self.coupled

    @property
    def parameters(self) -> int:
        return (self.d + 1) * self.q

    @property
    def hessian_work(self) -> float:
        """Multiplications of an exact Hessian."""
        width = (self.values or self.n * self.d) / max(self.n, 1) + 1.0
        pairs = self.q * (self.q + 1) / 2 if self.competing else self.q
        return self.n * pairs * width * max(width, 8.0) / 2

    @property
    def exact_pays(self) -> bool:
        """Whether the exact Hessian is cheap enough to be formed in every step."""
        if self.competing:
            cheap = self.newton_worth <= NEWTON_WORTH if self.penalised else self.hessian_work <= EXACT_WORK_COUPLED
            return self.newton_possible and cheap
        small = self.n * self.d <= ONE_CALL_VALUES and self.hessian_work <= ONE_CALL_WORK
        return small and self.d < BLAS_COLUMNS

    @property
    def newton_possible(self) -> bool:
        """Whether the Hessian of all outputs together may be formed and factored again and again."""
        return self.parameters <= COUPLED_PARAMETERS // 4

    @property
    def newton_worth(self) -> float:
        """So many limited-memory steps of competing outputs cost as much as the six Hessians or so of Newton's way."""
        if self.streamed or self.device or not (self.competing and self.newton_possible):
            return float("inf")
        return 6 * self.hessian_work * PAIR_PRODUCT / self.step

    @property
    def step(self) -> float:
        """Nanoseconds of a limited-memory step."""
        return (self.values or self.n * self.d) * self.q * PASS_VALUE + self.n * self.q * LOSS + STEP

    @property
    def proof_steps(self) -> float:
        """So many of them cost as much as a proof by all outputs' Hessian, its factor and inverse."""
        return (self.hessian_work * PAIR_PRODUCT + self.parameters**3 * BLAS_PRODUCT) / self.step

    @property
    def block_steps(self) -> float:
        """So many cost as much as a Hessian of one output and its factor."""
        return (self.n * self.d**2 / 2 * PAIR_PRODUCT + self.d**3 / 6 * BLAS_PRODUCT) / self.step

    @property
    def gram_steps(self) -> float:
        """So many cost as much as the columns' Gram matrix."""
        return self.n * self.d**2 / 2 * BLAS_PRODUCT / self.step

    @property
    def projection_rows(self) -> int:
        """Rows for a proof with a projection: of more it costs more, of fewer it is looser, as their number is."""
        row = self.projection_steps(1) - self.projection_steps(0)
        return int(min(max(4 / (FALL * row), 4 * (self.d + 1)), self.n))

    def projection_steps(self, rows: int) -> float:
        """So many steps cost as much as that proof."""
        row = self.d**2 / 2 * SINGLE_PRODUCT + self.d * ROW_VALUE + self.q * ROW_CLASS
        return (rows * row + self.d**3 / 3 * BLAS_PRODUCT + 3 * STEP) / (self.step / 2)

    @property
    def sample_pays(self) -> bool:
        """Whether a row sample's Hessians, of all outputs together, cost less than the dozen passes that they spare."""
        share = sample_rows(self.n, self.d) / self.n
        return self.n >= 40 * self.parameters and share * self.newton_worth <= SAMPLE_WORTH

    @property
    def few_rows(self) -> bool:
        """Whether a row sample that knows the Hessian would be a large part of all rows."""
        few = self.n < max(FEW_ROWS, 4 * SAMPLE_ROWS_PER_COLUMN * self.d)
        return few and not (self.sparse and self.values < 0.05 * self.n * self.d)

    @property
    def row_space_pays(self) -> bool:
        """Fewer rows than columns, which are written out: sparse rows lose their zeros."""
        small = self.n * self.d <= 30_000_000 and self.n <= 3_000
        dense = not self.sparse or self.n * self.n * self.d <= 3e8
        return self.penalised and self.n < self.d and small and dense


def sample_rows(n: int, d: int) -> int:
    """Rows enough for a Hessian right to some per cent, few enough to cost less than a pass."""
    wanted = max(SAMPLE_ROWS, min(n // SAMPLE_SHARE, 8 * SAMPLE_ROWS), SAMPLE_ROWS_PER_COLUMN * d)
    return int(min(wanted, max(n // 4, 1_000)))


def hessian_steps(n: int, d: int) -> float:
    """So many limited-memory steps cost as much as the Hessian of n rows and d columns and its factor.

    Of fewer rows than columns it is the Gram matrix of the rows, and then the Hessian of n coordinates.
    """
    rows = n * n * d / 2 if n < d else 0.0
    columns = min(n, d)
    products = rows + n * columns**2 / 2 + columns**3 / 6
    return 2.0 + products * BLAS_PRODUCT / (n * d * PASS_VALUE + STEP)


@dataclass(frozen=True)
class Choice:
    """A method and why: what ``plan`` returns.

    Methods are chosen by a table of the problem's shape, which can be asked beforehand.

    Attributes
    ----------
    method : str
        The name of the method.
    why : str
        The reason, as a phrase.

    See Also
    --------
    discriminant.LogisticRegression.plan : Returns one.

    Examples
    --------
    >>> from discriminant import LogisticRegression, datasets
    >>> iris = datasets.load("iris")
    >>> LogisticRegression().plan(iris.X, iris.y).method
    'newton'
    """

    method: str
    why: str

    def __str__(self) -> str:
        return f"{self.method}: {self.why}"


Rule = tuple[str, Callable[[Shape], bool], str]

TABLE: tuple[Rule, ...] = (
    (
        "newton",
        lambda s: s.device and s.q == 1,
        "two classes on a device: value, slopes and Hessian from one pass, at the end in float64",
    ),
    (
        "gram-quasi-newton",
        lambda s: s.device,
        "rows on a device: steps preconditioned by the columns' Gram matrix, fast products before float64",
    ),
    (
        "newton-in-row-space",
        lambda s: s.row_space_pays and not s.streamed,
        "fewer rows than columns: gradients first; if they do not arrive, the {n:,} rows span the weights",
    ),
    (
        "newton",
        lambda s: s.exact_pays and not s.streamed,
        "{p:,} parameters and {n:,} rows: an exact Hessian costs next to nothing, so Newton steps to the last digits",
    ),
    (
        "hessian-quasi-newton",
        lambda s: not s.competing and s.d <= FACTOR_COLUMNS and s.few_rows and not s.streamed,
        "{n:,} rows and {d:,} columns: one exact Hessian, and then steps that need gradients only",
    ),
    (
        "sampled-newton",
        lambda s: s.q == 1 and s.d <= 12 and not s.streamed,
        "so few columns that the exact Hessian costs no more than reading the rows; Newton from a row sample's optimum",
    ),
    (
        "sampled-quasi-newton",
        lambda s: s.competing and (s.parameters <= COUPLED_PARAMETERS if s.streamed else s.sample_pays),
        "many rows and {p:,} parameters: a row sample's optimum and Hessian first, then as few passes as it takes",
    ),
    (
        "gram-quasi-newton",
        lambda s: s.competing and s.d <= min(s.n, FACTOR_COLUMNS) and not (s.sparse and s.values < 0.05 * s.n * s.d),
        "many weights of competing classes: limited-memory steps preconditioned by the columns' Gram matrix",
    ),
    (
        "sampled-quasi-newton",
        lambda s: s.d <= min(s.n, FACTOR_COLUMNS) and not (s.sparse and s.values < 0.05 * s.n * s.d),
        "many rows: start from a row sample's optimum, precondition by the sample's Hessian, then a few passes",
    ),
    (
        "diagonal-quasi-newton",
        lambda s: True,
        "{d:,} columns: a d × d matrix is too much, so limited-memory steps preconditioned by the Hessian's diagonal",
    ),
)


def choose(shape: Shape) -> Choice:
    """The first row of the table that applies.

    Parameters
    ----------
    shape : Shape
        Rows, columns and outputs of the problem.

    Returns
    -------
    Choice
        The method and why.

    Examples
    --------
    >>> choose(Shape(150, 4, 3)).method, choose(Shape(100, 10_000, 1)).method
    ('newton', 'newton-in-row-space')
    """
    for method, applies, why in TABLE:
        if applies(shape):
            return Choice(method, why.format(n=shape.n, d=shape.d, p=shape.parameters))
    raise AssertionError("the last row of the table applies to everything")
