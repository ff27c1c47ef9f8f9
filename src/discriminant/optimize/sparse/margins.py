"""Two-class support vector machines, solved to a proved gap.

    P(w) = ½ wᵗ R w + Σ c_i ξ(y_i z_i),      ξ = max(0, 1 − m)  or  max(0, 1 − m)²,        z = Y w
    D(α) = Σ α − ½ (Ỹᵗα)ᵗ R⁻¹ (Ỹᵗα) [ − Σ α²/4c ],     0 ≤ α ≤ c  [0 ≤ α],     Ỹ = y·Y

Y carries the intercept as a last column.  R is 1 for every weight; for the intercept 1/scale² (LIBLINEAR's penalised
one), or 0: then it is free and Σ α y = 0.  Methods: Newton's on the rows inside the margin (squared hinge), an interior
point (hinge), dual coordinate descent where columns are too many for a matrix of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discriminant.optimize.choose import Choice
from discriminant.protocols import Array

ROW_SPACE = " in the span of the rows"
MOST_NEWTON = 200
MOST_INTERIOR = 120
MOST_COLUMNS = 1_200
GRAM_ROWS = 4_096
CHECK_EVERY = 10  # epochs of dual descent between looks at the gap


@dataclass(frozen=True)
class MarginProblem:
    """Rows X (n, d) dense or CSR in float64, y = ±1, costs c > 0; ``bias``: the intercept's constant, 0 for none."""

    X: Any
    y: Array
    c: Array
    squared: bool
    bias: float = 1.0
    free: bool = False  # the intercept is not penalised

    @property
    def sparse(self) -> bool:
        return hasattr(self.X, "indptr")

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    @property
    def R(self) -> Array:
        """(d+1,): 1 for the weights; the intercept's penalty (it never moves where there is none)."""
        return np.append(np.ones(self.d), 0.0 if self.free else 1.0)

    def scores(self, w: Array) -> Array:
        return np.asarray(self.X @ w[:-1] + self.bias * w[-1])

    def adjoint(self, v: Array) -> Array:
        return np.append(np.asarray(self.X.T @ v), self.bias * v.sum())

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

    def primal(self, w: Array, m: Array | None = None) -> float:
        slack = np.maximum(1 - (self.y * self.scores(w) if m is None else m), 0)
        loss = self.c @ (np.square(slack) if self.squared else slack)
        return float(0.5 * (self.R * w) @ w + loss)

    def dual(self, alpha: Array) -> float:
        """D(α); for a free intercept α must balance the classes."""
        v = self.adjoint(alpha * self.y)
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
    """Minimise P until the gap is ≤ tol·P, by the method that suits the shape."""
    method = choose_margin(problem.n, problem.d, problem.sparse, problem.squared).method
    if method.endswith(ROW_SPACE):
        return _in_row_space(problem, tol)
    if method == "dual coordinate descent":
        return dual_descent(problem, tol, seed, most)
    return newton(problem, tol) if problem.squared else interior(problem, tol)


def choose_margin(n: int, d: int, sparse: bool, squared: bool) -> Choice:
    """Which method solves a problem of this shape, and why."""
    exact = "newton" if squared else "interior point"
    if d <= MOST_COLUMNS:
        return Choice(exact, f"{d} columns: a matrix of them is small, and exact steps end at the last digits")
    if not sparse and n <= MOST_COLUMNS:
        return Choice(exact + ROW_SPACE, f"{d} columns and {n} rows: the weights lie in the span of the rows")
    return Choice("dual coordinate descent", f"{d} columns are too many for a matrix of them")


def _in_row_space(problem: MarginProblem, tol: float) -> MarginFit:
    """Fewer rows than columns: w lies in the rows' span, so the problem is one of n columns."""
    Q, triangle = np.linalg.qr(problem.X.T)
    inner = MarginProblem(triangle.T, problem.y, problem.c, problem.squared, problem.bias, problem.free)
    fit = newton(inner, tol) if problem.squared else interior(inner, tol)
    w = np.append(Q @ fit.w[:-1], fit.w[-1])
    return MarginFit(w, fit.objective, fit.gap, fit.steps, fit.alpha, fit.method + ROW_SPACE)


def solve_scaled(H: Array, g: Array) -> Array:
    """H⁻¹ g for H ≥ 0, scaled to a unit diagonal first."""
    size = np.sqrt(np.maximum(np.diagonal(H), 0))
    size[size == 0] = 1.0
    scaled = H / size / size[:, None]
    dead = np.diagonal(scaled) == 0
    scaled[dead, dead] = 1.0
    try:
        from scipy.linalg import cho_factor, cho_solve

        factor = cho_factor(scaled + 1e-15 * np.eye(len(H)), lower=True, overwrite_a=True, check_finite=False)
        return np.asarray(cho_solve(factor, g / size, check_finite=False) / size)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(scaled, g / size, rcond=1e-14)[0] / size)


def newton(problem: MarginProblem, tol: float) -> MarginFit:
    """Squared hinge: P is quadratic between changes of the rows inside the margin, so Newton's steps end exactly."""
    w = np.zeros(problem.d + 1)
    m = problem.y * problem.scores(w)
    P, best = problem.primal(w, m), None
    for step in range(MOST_NEWTON):
        alpha = 2 * problem.c * np.maximum(1 - m, 0)
        fit = _proved(problem, w, P, alpha, step, "newton")
        if best is None or fit.gap < best.gap:
            best = fit
        if best.gap <= 1e-14 * P:
            break
        g = problem.R * w - problem.adjoint(alpha * problem.y)
        H = problem.gram(np.where(m < 1, 2 * problem.c, 0.0))
        H[np.arange(len(w)), np.arange(len(w))] += problem.R
        p = -solve_scaled(H, g)
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


def _proved(problem: MarginProblem, w: Array, P: float, alpha: Array, steps: int, method: str) -> MarginFit:
    gap = max(P - problem.dual(problem.balanced(alpha)), 0.0)
    return MarginFit(w, P, gap, steps, alpha, method)


def interior(problem: MarginProblem, tol: float) -> MarginFit:
    """Hinge: a primal-dual interior point with Mehrotra's corrector; each step is one system of d+1 columns."""
    y, U, R = problem.y, problem.c, problem.R
    n = problem.n
    w = np.zeros(problem.d + 1)
    alpha = 0.5 * U
    lam, mu = np.ones(n), np.ones(n)
    best: MarginFit | None = None
    idle = 0
    for step in range(MOST_INTERIOR):
        m = y * problem.scores(w)
        fit = _proved(problem, w, problem.primal(w, m), alpha, step, "interior point")
        idle = idle + 1 if best is not None and fit.gap > 0.9 * best.gap else 0
        if best is None or fit.gap < best.gap:
            best = fit
        if (
            best.gap <= min(tol, 1e-10) * best.objective
            or (idle >= 4 and best.gap <= tol * best.objective)
            or idle >= 15
        ):
            break
        w, alpha, lam, mu = _interior_step(problem, w, alpha, lam, mu, m, R)
    assert best is not None  # the loop has run
    return best


def _interior_step(
    problem: MarginProblem, w: Array, alpha: Array, lam: Array, mu: Array, m: Array, R: Array
) -> tuple[Array, Array, Array, Array]:
    y, room = problem.y, problem.c - alpha
    r1 = R * w - problem.adjoint(alpha * y)
    r2 = m - 1 - lam + mu
    weight = lam / alpha + mu / room
    H = problem.gram(1 / weight)
    H[np.arange(len(w)), np.arange(len(w))] += R

    def direction(c1: Array, c2: Array) -> tuple[Array, Array, Array, Array]:
        rho = -r2 + c1 / alpha - c2 / room
        dw = solve_scaled(H, -r1 + problem.adjoint(y * (rho / weight)))
        da = (rho - y * problem.scores(dw)) / weight
        return dw, da, (c1 - lam * da) / alpha, (c2 + mu * da) / room

    dw, da, dl, dm = direction(-alpha * lam, -room * mu)
    t = _longest(alpha, da, room, lam, dl, mu, dm)
    now = float(alpha @ lam + room @ mu)
    then = float((alpha + t * da) @ (lam + t * dl) + (room - t * da) @ (mu + t * dm))
    tau = (then / now) ** 3 * now / (2 * len(alpha))
    dw, da, dl, dm = direction(tau - alpha * lam - da * dl, tau - room * mu + da * dm)
    t = 0.99 * _longest(alpha, da, room, lam, dl, mu, dm)
    t = min(t, 1.0)
    return w + t * dw, alpha + t * da, lam + t * dl, mu + t * dm


def _longest(alpha: Array, da: Array, room: Array, lam: Array, dl: Array, mu: Array, dm: Array) -> float:
    """The longest step ≤ 1 that keeps α, U − α and their multipliers positive."""
    t = 1.0
    for value, change in ((alpha, da), (room, -da), (lam, dl), (mu, dm)):
        down = change < 0
        if down.any():
            t = min(t, float((-value[down] / change[down]).min()))
    return t


def dual_descent(problem: MarginProblem, tol: float, seed: int = 0, most: int = 20_000) -> MarginFit:
    """One row at a time; for columns too many for a matrix of them.

    A free intercept is found by proximal steps: what is penalised is only its change since the last look at the gap.
    """
    from discriminant.kernels.dual import dense_epoch, sparse_epoch

    X, c = problem.X, problem.c
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if problem.sparse else np.einsum("ij,ij->i", X, X)
    U = np.full(problem.n, np.inf) if problem.squared else c
    D = 1 / (2 * c) if problem.squared else np.zeros(problem.n)
    free = problem.free and problem.bias > 0
    bias = float(np.sqrt(squares.mean())) or 1.0 if free else problem.bias
    rows: Any = (X.data, X.indices, X.indptr) if problem.sparse else (X,)
    epoch_of: Any = sparse_epoch if problem.sparse else dense_epoch
    Q = squares + bias**2 + D
    alpha, w, order = np.zeros(problem.n), np.zeros(problem.d + 1), np.arange(problem.n)
    shift, best = 0.0, None
    for epoch in range(most):
        epoch_of(*rows, problem.y, alpha, U, D, Q, w, bias, shift, order, seed + epoch)
        if epoch % CHECK_EVERY != CHECK_EVERY - 1:
            continue
        v = w.copy()
        if free:
            shift += bias * w[-1]
            v[-1] = shift / problem.bias
        fit = _proved(problem, v, problem.primal(v), alpha.copy(), epoch + 1, "dual coordinate descent")
        if best is None or fit.gap < best.gap:
            best = fit
        if fit.gap <= tol * fit.objective:
            break
    assert best is not None  # the loop has run
    return best
