"""Which method fits a logistic regression: one table, read from the top, and the reason in words.

The costs that decide: a look at the rows costs about n·d·q; with the exact Hessian n·d²·q²/2, and d³q³/3 to solve.
A row sample of a few thousand gives a start within a few per mille of the optimum and a Hessian within a few per cent,
for next to nothing; what follows is counted in looks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

EXACT_SIZE = 1_200  # parameters up to which the exact Hessian is factored
EXACT_WORK = 2.0e8  # multiplications of one exact Hessian that are not worth avoiding
EXACT_WORK_MANY = 1.0e9  # the same for K classes, where other methods take more looks
LEAST_WIDTH = 64.0  # columns below which weighing the rows is what a pair of classes costs
SPARSE_ROW_SPACE = 3.0e8  # n²d up to which sparse rows are written out to be orthogonalised
FACTOR_COLUMNS = 2_500  # columns up to which a d × d matrix is held and factored


@dataclass(frozen=True)
class Shape:
    """What the choice depends on."""

    n: int
    d: int
    q: int
    sparse: bool = False
    values: int = 0  # numbers in a pass; 0: n·d
    streamed: bool = False  # a pass reads from a disk, and is dearer than any arithmetic on it

    @property
    def parameters(self) -> int:
        return (self.d + 1) * self.q

    @property
    def row_space_pays(self) -> bool:
        """Sparse rows lose their zeros there, so theirs must be a small problem."""
        return not self.sparse or self.n * self.n * self.d <= SPARSE_ROW_SPACE

    @property
    def hessian_work(self) -> float:
        """Multiplications of an exact Hessian; each pair of classes weighs all rows, however few the columns are."""
        pairs = self.q * (self.q + 1) / 2
        return self.n * pairs * (self.d + 1.0) * max(self.d + 1.0, LEAST_WIDTH if self.q > 1 else 1.0)


@dataclass(frozen=True)
class Choice:
    """A method and why: what ``plan`` returns.

    Attributes
    ----------
    method : str
        The name of the method.
    why : str
        The reason, as a phrase.

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
        "streamed-quasi-newton",
        lambda s: s.streamed and s.d <= FACTOR_COLUMNS,
        "the rows are read from files: a large row sample's optimum and curvature first, then as few looks as it takes",
    ),
    (
        "newton-in-row-space",
        lambda s: s.n < s.d and s.n * s.q <= 1_500 and s.n * s.d <= 30_000_000 and s.row_space_pays,
        "fewer rows than columns, so the {n} rows span the weights; exact Newton steps there, to the last digits",
    ),
    (
        "newton",
        lambda s: s.parameters <= EXACT_SIZE and s.hessian_work <= (EXACT_WORK if s.q == 1 else EXACT_WORK_MANY),
        "{p} parameters and {n} rows: an exact Hessian costs next to nothing, so Newton steps to the last digits",
    ),
    (
        "sampled-newton",
        lambda s: s.q == 1 and s.d <= 8,
        "so few columns that the exact Hessian costs no more than reading the rows; Newton from a row sample's optimum",
    ),
    (
        "sampled-quasi-newton",
        lambda s: s.d <= FACTOR_COLUMNS and not (s.sparse and s.values < 0.05 * s.n * s.d),
        "many rows: start from a row sample's optimum, precondition by the sample's curvature, then a few looks",
    ),
    (
        "diagonal-quasi-newton",
        lambda s: True,
        "{d} columns: a d × d matrix is too much, so limited-memory steps preconditioned by the curvature's diagonal",
    ),
)


def choose(shape: Shape) -> Choice:
    """The first row of the table that applies.

    >>> choose(Shape(150, 4, 3)).method, choose(Shape(10**6, 50, 1)).method
    ('newton', 'sampled-quasi-newton')
    """
    for method, applies, why in TABLE:
        if applies(shape):
            return Choice(method, why.format(n=f"{shape.n:,}", d=f"{shape.d:,}", p=f"{shape.parameters:,}"))
    raise AssertionError("the last row of the table applies to everything")
