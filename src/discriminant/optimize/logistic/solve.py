"""argmin J by the method of the table, with what is proved about the answer.

Everything here is in inner coordinates until the last line, which hands back weights in the user's units with the
intercept at the centre.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace

import numpy as np

from discriminant.data import make_blocks, single_threaded_blas, workers
from discriminant.data.device import DeviceBlocks
from discriminant.data.rows import SparseRows
from discriminant.optimize.choose import Choice, Shape, choose
from discriminant.optimize.logistic import large
from discriminant.optimize.logistic.device import solve_on_device
from discriminant.optimize.logistic.newton import Point, Trace, newton
from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.optimize.logistic.refine import refine
from discriminant.optimize.logistic.row_space import from_row_space, to_row_space
from discriminant.optimize.logistic.streamed import streamed
from discriminant.protocols import Array

PIN_FROM = 60_000  # values·outputs: below, products are too small for BLAS to spread them over threads
CONDITION_COLUMNS = 300
FEW_VALUES, MANY_VALUES = 100_000, 8_000_000  # n·d up to which sparse rows are written out: always; if HARDLY_SPARSE
HARDLY_SPARSE = 0.2
COLUMNS = ("k", "J", "gradient", "step", "decrement", "passes")


@dataclass(frozen=True)
class LogisticFit:
    """The answer: weights (1+d, q) in the user's units with the intercept at ``center``, and what is known of them."""

    weights: Array
    center: Array | None
    choice: Choice
    objective: float
    gap: float  # proved: J(weights) − min J ≤ gap; inf where nothing is proved
    gradient_norm: float  # ‖∇J‖ in inner units, in which every column has spread one
    passes: float
    separated: bool  # without a ridge: every row lies on its own side, so J has no minimum
    history: dict[str, Array] = field(default_factory=dict)
    rounding: float = 0.0  # how far J as it was summed may be from J
    condition: float = float("nan")  # of the Hessian with a unit diagonal, or of that of some rows

    @property
    def steps(self) -> int:
        return len(self.history.get("k", ()))


def shape_of(problem: LogisticProblem) -> Shape:
    """What the choice of a method depends on."""
    streamed = hasattr(type(problem.blocks), "sample_rows")  # not of the blocks: to answer they would read it
    return Shape(problem.n_rows, problem.n_features, problem.n_outputs, problem.sparse, problem.values, streamed)


def solve_logistic(problem: LogisticProblem, tol: float = 1e-8, start: Array | None = None) -> LogisticFit:
    """Minimise J until gap ≤ tol·|J|; where Newton steps are cheap, to the last digits.

    ``start``: weights (1+d, q) in the user's units with a plain intercept (at zero).
    """
    if isinstance(problem.blocks, DeviceBlocks):
        return LogisticFit(**solve_on_device(problem, tol, start))
    problem = written_out(problem)
    choice = choose(shape_of(problem))
    dense = problem.n_rows * problem.n_features if choice.method == "newton-in-row-space" else problem.values
    # One pin for the whole fit: to set and release it for each look would cost as much as a look.
    hold = dense * problem.n_outputs >= PIN_FROM and workers() > 1
    with single_threaded_blas() if hold else contextlib.nullcontext():
        return _solve(problem.with_units(), choice, tol, start)


def written_out(problem: LogisticProblem) -> LogisticProblem:
    """Sparse rows that are few, or hardly sparse, with their zeros: products of dense blocks are far cheaper."""
    rows = problem.blocks.rows
    size = problem.n_rows * problem.n_features
    if not isinstance(rows, SparseRows) or not problem.blocks.in_memory:
        return problem
    if size > FEW_VALUES and not (size <= MANY_VALUES and problem.values >= HARDLY_SPARSE * size):
        return problem
    return replace(problem, blocks=make_blocks(rows.X.toarray(), problem.blocks.target, problem.blocks.weight))


def _solve(problem: LogisticProblem, choice: Choice, tol: float, start: Array | None) -> LogisticFit:
    trace = Trace()
    if choice.method == "newton-in-row-space":
        return _in_row_space(problem, choice, trace, tol)
    A = inner_start(problem, start)
    if choice.method == "streamed-quasi-newton":
        point = streamed(problem, A, trace, tol)
    elif choice.method == "sampled-newton":
        point = large.sampled_newton(problem, A, trace, tol)
    elif choice.method == "sampled-quasi-newton":
        solver = large.two_class if problem.n_outputs == 1 else large.many_class
        point = solver(problem, A, trace, tol)
    elif choice.method == "diagonal-quasi-newton":
        point = large.wide(problem, A, trace, tol)
    else:
        point = newton(problem, A, trace, tol)
    point, wide = refine(problem, point, trace)
    return finish(problem, point, wide, choice, trace)


def inner_start(problem: LogisticProblem, start: Array | None) -> Array:
    """User weights with a plain intercept → inner coordinates; zeros where there are none."""
    if start is None:
        return problem.start()
    A = np.array(start, dtype=np.float64)
    if problem.center is not None:
        A[0] += problem.center @ A[1:]
    return np.asarray(A * problem.units)


def _in_row_space(problem: LogisticProblem, choice: Choice, trace: Trace, tol: float) -> LogisticFit:
    inner, Q = to_row_space(problem)
    point = newton(inner, inner.start(), trace, tol)
    A = from_row_space(problem, Q, point.A / inner.units) * problem.units
    return finish(problem, replace(point, A=A), A, choice, trace)


def finish(problem: LogisticProblem, point: Point, wide: Array, choice: Choice, trace: Trace) -> LogisticFit:
    """Back to the user's units; softmax weights are centred over the classes, on which no posterior depends."""
    A = wide / problem.units
    if problem.n_outputs > 1:
        A = A - A.mean(axis=1, keepdims=True)
    table = np.array(trace.records, dtype=np.float64).reshape(-1, len(COLUMNS))
    return LogisticFit(
        np.asarray(A, dtype=np.float64),
        problem.center,
        choice,
        float(point.look.value),
        float(point.gap),
        float(np.linalg.norm(point.look.gradient)),
        getattr(problem.blocks, "passes", trace.passes),  # of files: as often as they were read
        point.separated,
        {name: table[:, j] for j, name in enumerate(COLUMNS)},
        # A compiled look takes logarithms of products of 1 + e, which round a loss to a unit of one.
        rounding_of(float(point.look.value), point.A) + problem.fused * float(np.finfo(np.float64).eps),
        condition_of(problem, point),
    )


def condition_of(problem: LogisticProblem, point: Point) -> float:
    """The condition number of the Hessian at hand with a unit diagonal; where there was none, of some rows' columns."""
    if point.factor is not None:
        return 1.0 / max(point.factor.least, 1e-300)
    n, d = problem.n_rows, problem.n_features
    if d > CONDITION_COLUMNS or problem.sparse:
        return float("nan")
    index = np.linspace(0, n - 1, min(n, max(1_000, 4 * d))).astype(np.intp)
    values = problem.blocks.rows.pick(index).values
    values = values - (0.0 if problem.center is None else problem.center)
    Y = values if not problem.intercept else np.hstack([np.ones((len(values), 1)), values])
    size = np.sqrt(np.einsum("ij,ij->j", Y, Y))
    singular = np.linalg.svd(np.linalg.qr(Y / np.where(size > 0, size, 1.0), mode="r"), compute_uv=False)
    return float(min((singular[0] / max(singular[-1], 1e-300)) ** 2, 1e300))


def rounding_of(J: float, A: Array) -> float:
    """An estimate of what rounding may change in J at inner A: some units of J, more where scores are large sums.

    A score is off by ε Σ_j |x_j a_j|, and a loss by that times its slope, which is less than the loss.
    """
    reach = float(np.abs(A).max(axis=1).sum())
    return float(np.finfo(np.float64).eps) * abs(J) * (8.0 + 4.0 * reach)
