"""Two-class support vector machines, solved to a proved gap.

    P(w) = ½ wᵗ R w + Σ c_i ξ(y_i z_i),      ξ = max(0, 1 − m)  or  max(0, 1 − m)²,        z = Y w
    D(α) = Σ α − ½ (Ỹᵗα)ᵗ R⁻¹ (Ỹᵗα) [ − Σ α²/4c ],     0 ≤ α ≤ c  [0 ≤ α],     Ỹ = y·Y

Y carries the intercept as a last column.  R is 1 for every weight; for the intercept 1/scale² (LIBLINEAR's penalised
one), or 0: then it is free and Σ α y = 0.  Methods: Newton's on the rows inside the margin (squared hinge), an interior
point (hinge), dual coordinate descent where columns are too many for a matrix of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from discriminant.arrays import is_sparse
from discriminant.data.rows import as_design
from discriminant.kernels import compiled
from discriminant.optimize.choose import Choice
from discriminant.optimize.interior_point import Program, Step, interior_point, reduced, scaled_solver
from discriminant.optimize.progress import reading, stepped
from discriminant.protocols import Array
from discriminant.thresholds import (
    BLAS_PRODUCT,
    DENSE_VISIT,
    HINGE_ROW,
    HINGE_WORK,
    LAST_DIGITS_TOL,
    LEAST_EPOCHS,
    ROW_VISIT,
    SPARSE_PRODUCT,
    SPARSE_VISIT,
    SQUARED_ROW,
)

ROW_SPACE = " in the span of the rows"
MOST_NEWTON = 200
MOST_INTERIOR = 120
MOST_COLUMNS = 1_200
GRAM_ROWS = 4_096
DUAL = "dual coordinate descent"
CHECK_EVERY = 4  # epochs of the dual between gaps, up to five times so many where few rows move
CHECK_ROWS = 300  # the calls of a gap cost as much as an epoch of so many rows
LEAST_SHARE = 0.1  # of the visits that exact steps are worth, before gaps say whether the dual will need more


@dataclass(frozen=True)
class MarginProblem:
    """Rows X (n, d) dense or CSR in float64, y = ±1, costs c > 0; ``bias``: the intercept's constant, 0 for none."""

    X: Any
    y: Array
    c: Array
    squared: bool
    bias: float = 1.0
    free: bool = False  # the intercept is not penalised
    products: Array | None = None  # X Xᵗ, where rows are so few that systems are solved in n unknowns

    @property
    def sparse(self) -> bool:
        return is_sparse(self.X)

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    @property
    def values(self) -> int:
        return int(self.X.nnz if self.sparse else self.X.size)

    @cached_property
    def R(self) -> Array:
        """(d+1,): 1 for the weights; the intercept's penalty (it never moves where there is none)."""
        return np.append(np.ones(self.d), 0.0 if self.free else 1.0)

    def scores(self, w: Array) -> Array:
        return np.asarray(self.X @ w[:-1] + self.bias * w[-1])

    def adjoint(self, v: Array) -> Array:
        out = np.empty(self.d + 1)
        out[:-1], out[-1] = self.X.T @ v, self.bias * v.sum()
        return out

    def gram(self, h: Array) -> Array:
        """Yᵗ diag(h) Y."""
        d = self.d
        H = np.zeros((d + 1, d + 1))
        if self.sparse:
            weighted = self.X.multiply(h[:, None]).tocsr()
            H[:d, :d] = (self.X.T @ weighted).toarray()
        else:
            for start in range(0, self.n, GRAM_ROWS):
                part = slice(start, start + GRAM_ROWS)
                rows = self.X[part] * np.sqrt(h[part])[:, None]
                H[:d, :d] += rows.T @ rows
        H[:d, d] = H[d, :d] = self.bias * np.asarray(self.X.T @ h)
        H[d, d] = self.bias**2 * h.sum()
        return H

    def solver(self, h: Array) -> Step:
        """(r, load) ↦ (Δw, Δβ) with R Δw − Yᵗ Δβ = r and Y Δw + Δβ/h = load, over the rows with h > 0."""
        if self.products is not None:
            return self._row_solver(h, self.products)
        H = self.gram(h)
        H[np.arange(len(H)), np.arange(len(H))] += self.R
        return reduced(self.scores, self.adjoint, h, scaled_solver(H))

    def _row_solver(self, h: Array, products: Array) -> Step:
        """By F = X Xᵗ + diag(1/h) of these rows: a factor of so many unknowns, and no product of matrices.

        Δβ = F⁻¹ (load − X r_w) − bδ F⁻¹1 with the intercept's δ = (r_b + b 1ᵗF⁻¹(load − X r_w)) / (R_b + b² 1ᵗF⁻¹1).
        """
        within = h > 0
        every, b = bool(within.all()), self.bias
        X, F = (self.X, products) if every else (self.X[within], products[np.ix_(within, within)])
        inverse = scaled_solver(F, np.diagonal(F) + 1 / h[within])
        ones = inverse(np.ones(len(F)))
        curvature = self.R[-1] + b * b * float(ones.sum())

        def solve(r: Array, load: Array) -> tuple[Array, Array]:
            beta = inverse(load[within] - X @ r[:-1])
            last = (r[-1] + b * float(beta.sum())) / curvature if curvature > 0 else 0.0
            beta -= b * last * ones
            return np.append(r[:-1] + X.T @ beta, last), beta

        return solve

    def primal(self, w: Array, m: Array | None = None) -> float:
        slack = np.maximum(1 - (self.y * self.scores(w) if m is None else m), 0)
        loss = self.c @ (np.square(slack) if self.squared else slack)
        return float(0.5 * (self.R * w) @ w + loss)

    def dual(self, alpha: Array, v: Array | None = None) -> float:
        """D(α), with v = Ỹᵗα where it is known; for a free intercept α must balance the classes."""
        v = self.adjoint(alpha * self.y) if v is None else v
        value = alpha.sum() - 0.5 * float(self.R * v @ v)
        return float(value - (np.square(alpha) / (4 * self.c)).sum() if self.squared else value)

    def balanced(self, alpha: Array) -> Array:
        """α with Σ α y = 0: the heavier side is scaled down."""
        if not self.free or self.bias == 0:
            return alpha
        sums = [float(alpha[self.y == sign].sum()) for sign in (1.0, -1.0)]
        if min(sums) <= 0:
            return np.zeros_like(alpha)
        return np.asarray(alpha * np.where(self.y > 0, min(1.0, sums[1] / sums[0]), min(1.0, sums[0] / sums[1])))


@dataclass(frozen=True)
class MarginFit:
    """w (d+1,), its last entry times ``bias`` being the intercept; P, the proved gap, steps, and α."""

    w: Array
    objective: float
    gap: float
    steps: int
    alpha: Array
    method: str


def solve_margin(problem: MarginProblem, tol: float, seed: int = 0, most: int = 20_000) -> MarginFit:
    """Minimise P until the gap is ≤ tol·P, by the method that suits the shape.

    How many epochs the dual takes is a matter of the data: it comes first, for as long as its gaps fall so fast that it
    will cost less than the exact steps.
    """
    method, exact = _method(problem.n, problem.d, problem.values, problem.sparse, problem.squared)
    if method.startswith(DUAL):
        goal = tol if tol > LAST_DIGITS_TOL or not exact else min(tol, 1e-10)
        fit = dual_descent(problem, goal, seed, most, exact or np.inf)
        if not exact or fit.gap <= goal * fit.objective:
            return fit
    if method.endswith(ROW_SPACE):
        return _in_row_space(problem, tol)
    return newton(problem, tol) if problem.squared else interior(problem, tol)


def choose_margin(n: int, d: int, values: int, sparse: bool, squared: bool) -> Choice:
    """Which method solves a problem of this shape, and why."""
    method, exact = _method(n, d, values, sparse, squared)
    if not exact:
        return Choice(method, f"{d} columns are too many for a matrix of them")
    why = (
        f"{d} columns and {n} rows: the weights lie in the span of the rows"
        if method.endswith(ROW_SPACE)
        else f"{d} columns: a matrix of them is small, and exact steps end at the last digits"
    )
    return Choice(method, why + ("; the dual first, as long as it costs less" if method.startswith(DUAL) else ""))


def _method(n: int, d: int, values: int, sparse: bool, squared: bool) -> tuple[str, float]:
    """Its name, and what exact steps would cost, in visits of a row by the dual (0: there are none)."""
    spanned, steps = not sparse and n < min(d, MOST_COLUMNS), 6 if squared else 10
    if d > MOST_COLUMNS and not spanned:
        return DUAL, 0.0
    work = steps * n * (SQUARED_ROW if squared else HINGE_ROW)
    if spanned:
        work += BLAS_PRODUCT * n * n * (d + steps * n / 3)
    elif sparse:
        work += steps * (SPARSE_PRODUCT * values * values / n + BLAS_PRODUCT * d**3 / 3)
    else:
        work += steps * BLAS_PRODUCT * n * d * d
    visits = work / (ROW_VISIT + (SPARSE_VISIT if sparse else DENSE_VISIT) * values / n)
    name = ("newton" if squared else "interior point") + (ROW_SPACE if spanned else "")
    tried = visits > LEAST_EPOCHS * (n + CHECK_ROWS) and compiled.load() is not None
    return (f"{DUAL}, else {name}" if tried else name), visits


def _in_row_space(problem: MarginProblem, tol: float) -> MarginFit:
    """Fewer rows than columns: w lies in the rows' span, so the problem is one of n columns.

    With X Xᵗ = L Lᵗ the rows of L are those of X in an orthonormal basis, XᵗL⁻ᵗ.  It squares the condition of X: where
    it proves no gap of w itself, the basis is that of a QR decomposition, at four times the price.
    """
    solve = newton if problem.squared else interior
    X, method = problem.X, ("newton" if problem.squared else "interior point") + ROW_SPACE
    products = X @ X.T
    try:
        L = np.linalg.cholesky(products)
    except np.linalg.LinAlgError:
        L = None
    if L is not None and np.diagonal(L).min() > 1e-4 * np.diagonal(L).max():

        def outer(v: Array) -> Array:
            return np.append(X.T @ np.linalg.solve(L.T, v[:-1]), v[-1])

        with reading(outer):
            fit = solve(replace(problem, X=L, products=products), tol)
        w = outer(fit.w)
        found = _proved(problem, w, problem.primal(w), fit.alpha, fit.steps, method)
        if found.gap <= tol * found.objective:
            return found
    Q, triangle = np.linalg.qr(X.T)

    def inner(v: Array) -> Array:
        return np.append(Q @ v[:-1], v[-1])

    with reading(inner):
        fit = solve(replace(problem, X=triangle.T), tol)
    return MarginFit(inner(fit.w), fit.objective, fit.gap, fit.steps, fit.alpha, method)


def newton(problem: MarginProblem, tol: float) -> MarginFit:
    """Squared hinge: P is quadratic between changes of the rows inside the margin, so Newton's steps end exactly."""
    w = np.zeros(problem.d + 1)
    m = problem.y * problem.scores(w)
    P, best, goal = problem.primal(w, m), None, tol if tol > LAST_DIGITS_TOL else 1e-14
    for step in range(MOST_NEWTON):
        alpha = 2 * problem.c * np.maximum(1 - m, 0)
        v = problem.adjoint(alpha * problem.y)
        fit = _proved(problem, w, P, alpha, step, "newton", v)
        if best is None or fit.gap < best.gap:
            best = fit
        if stepped(w) or best.gap <= goal * P:
            break
        g = problem.R * w - v
        p, _ = problem.solver(np.where(m < 1, 2 * problem.c, 0.0))(-g, np.zeros(problem.n))
        slope, moved = float(g @ p), problem.y * problem.scores(p)
        if not slope < 0:
            break
        t, value = _line(problem, w, p, m, moved, P, slope)
        if t == 0:
            break
        w, m = w + t * p, m + t * moved
        if fit.gap <= tol * P and value >= P * (1 - 1e-15):
            break
        P = value
    assert best is not None  # the loop has run
    return best


def _line(
    problem: MarginProblem, w: Array, p: Array, m: Array, moved: Array, P: float, slope: float
) -> tuple[float, float]:
    t = 1.0
    for _ in range(50):
        value = problem.primal(w + t * p, m + t * moved)
        if value <= P + 1e-4 * t * slope + 1e-15 * abs(P):
            return t, value
        t *= 0.5
    return 0.0, P


def _proved(
    problem: MarginProblem, w: Array, P: float, alpha: Array, steps: int, method: str, v: Array | None = None
) -> MarginFit:
    """``v``: Ỹᵗα where it is known."""
    balanced = problem.balanced(alpha)
    gap = max(P - problem.dual(balanced, v if balanced is alpha else None), 0.0)
    return MarginFit(w, P, gap, steps, alpha, method)


@dataclass(frozen=True)
class _Margins:
    """The constraints y_i z_i ≥ 1 as a linear map."""

    problem: MarginProblem

    def dot(self, x: Array) -> Array:
        return self.problem.y * self.problem.scores(x)

    def adjoint(self, y: Array) -> Array:
        return self.problem.adjoint(y * self.problem.y)

    def solver(self, P: Array, weight: Array) -> Step:
        solve, y = self.problem.solver(weight), self.problem.y

        def signed(r: Array, load: Array) -> tuple[Array, Array]:
            dx, beta = solve(r, y * load)
            return dx, y * beta

        return signed


def interior(problem: MarginProblem, tol: float) -> MarginFit:
    """Hinge: an interior point, each step of which is one system of d+1 columns."""
    best = Best(tol)
    most = HINGE_WORK / (1 if problem.products is None else 8)  # there a factor of n unknowns is all that is left
    if not problem.sparse and problem.n * (problem.d + 1) ** 2 <= most:
        _compiled_interior(problem, best)
        if best.fit is not None and best.fit.gap <= tol * best.fit.objective:
            return cast(MarginFit, best.fit)
    w = np.zeros(problem.d + 1)
    program = Program(problem.R, w, _Margins(problem), np.ones(problem.n), problem.c)
    for step, point in enumerate(interior_point(program, program.start(w, 0.5 * problem.c))):
        fit = _proved(problem, point.x, problem.primal(point.x), point.y, step, "interior point")
        if stepped(point.x) or best.enough(fit):
            break
    found: MarginFit = best.fit
    return found


def _compiled_interior(problem: MarginProblem, best: Best) -> None:
    """The same, a call a step, for as long as it goes: rounding is left to who can solve by least squares."""
    if (module := compiled.load()) is None:
        return
    n, D = problem.n, problem.d + 1
    X, w, v = np.ascontiguousarray(problem.X), np.zeros(D), problem.adjoint(0.5 * problem.c * problem.y)
    point, work = np.ones((4, n)), np.empty(7 * n + 2 * D * D + 2 * D)
    point[0], point[3] = 0.5 * problem.c, 0.0
    for step in range(MOST_INTERIOR):
        P = problem.primal(w, point[3])
        if best.enough(_proved(problem, w.copy(), P, point[0].copy(), step, "interior point", v)) or stepped(w):
            break
        if not module.hinge_step(X, problem.y, problem.c, problem.bias, problem.R[-1], w, point, v, work):
            break


class Best:
    """The fit with the least gap so far, and whether it is time to stop: rounding ends what tol does not."""

    def __init__(self, tol: float) -> None:
        self.tol, self.idle = tol, 0
        self.fit: Any = None

    def enough(self, fit: Any) -> bool:
        """Take note of a fit."""
        self.idle = self.idle + 1 if self.fit is not None and fit.gap > 0.9 * self.fit.gap else 0
        if self.fit is None or fit.gap < self.fit.gap:
            self.fit = fit
        met = self.fit.gap <= self.tol * self.fit.objective
        goal = self.tol if self.tol > LAST_DIGITS_TOL else min(self.tol, 1e-10)
        exact = self.fit.gap <= goal * self.fit.objective
        return bool(exact or self.idle >= (4 if met else 15))


def dual_descent(
    problem: MarginProblem, tol: float, seed: int = 0, most: int = 20_000, visits: float = np.inf
) -> MarginFit:
    """One row at a time, for at most so many epochs and visits of rows, and while the gaps promise to do with these.

    Rows are left out whose α is at a bound and whose slope holds it there, all of which are asked again with each gap:
    the first after one epoch, which is all that weak costs need.  A free intercept is found by proximal steps: what is
    penalised is only its change since the last gap.
    """
    from discriminant.kernels import dual

    X: Any = problem.X if problem.sparse else np.ascontiguousarray(problem.X)
    n, c, y = problem.n, problem.c, problem.y
    squares = as_design(X).squared_norms()
    U = np.full(n, np.inf) if problem.squared else c
    D = 1 / (2 * c) if problem.squared else np.zeros(n)
    free = problem.free and problem.bias > 0
    bias = float(np.sqrt(squares.mean())) or 1.0 if free else problem.bias
    Q = squares + bias**2 + D
    alpha, w, rng, active = np.zeros(n), np.zeros(problem.d + 1), np.random.default_rng(seed), np.arange(n)
    shift, epochs, visited, best = 0.0, 0, 0.0, None
    while epochs < most:
        times = min(max(CHECK_EVERY * n // len(active), CHECK_EVERY), 5 * CHECK_EVERY, max(epochs, 1), most - epochs)
        _, made = dual.epochs(X, y, alpha, U, D, Q, w, bias, shift, rng.permutation(active), times)
        epochs, visited = epochs + times, visited + made + n
        v = w.copy()
        if free:
            shift += bias * w[-1]
            v[-1] = shift / problem.bias
        m = y * problem.scores(v)
        fit = _proved(problem, v, problem.primal(v, m), alpha.copy(), epochs, DUAL, None if free else v)
        if fit.gap <= tol * fit.objective and not free:
            w = problem.adjoint(alpha * y)  # it was kept up to date, and is computed for the proof
            fit = _proved(problem, v, fit.objective, fit.alpha, epochs, DUAL, w)
        best = fit if best is None or fit.gap < best.gap else best
        if stepped(v) or fit.gap <= tol * fit.objective:
            return fit
        if epochs >= CHECK_EVERY and visited > LEAST_SHARE * visits:
            digits = max(-np.log(best.gap / best.objective), 1e-3)  # so far; there will be about as many an epoch
            if -visited * np.log(max(tol, 1e-16)) / digits > visits:
                break
        slope, low, high = m - 1 + D * alpha, alpha <= 0, alpha >= U
        worst = np.abs(np.where(low, np.minimum(slope, 0), np.where(high, np.maximum(slope, 0), slope))).max()
        active = np.flatnonzero(~(low & (slope > worst) | high & (slope < -worst)))
        if not len(active):
            break
    assert best is not None  # the loop has run
    return _proved(problem, best.w, best.objective, best.alpha, best.steps, DUAL)
