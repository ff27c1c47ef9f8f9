"""What a certificate is made of, part by part, against the formulas written out over all rows in the widest float."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from scipy import sparse

from discriminant import LogisticRegression, certify
from discriminant.codings import make_coding
from discriminant.criteria import Logistic, Softmax, Squared
from discriminant.data import make_blocks
from discriminant.data.scaling import Scaling
from discriminant.errors import DataError, ParameterError
from discriminant.inference import certify as checking
from discriminant.objective import PointwiseObjective
from discriminant.optimize import certificate
from discriminant.optimize.certificate import (
    ProjectedDual,
    SampleProof,
    dual_gap,
    longest_row,
    loose_gap,
    proved,
    row_norm,
    row_norm_by_curvature,
    self_concordant_gap,
    share_of,
)
from discriminant.optimize.factor import Factor, Factors, factor_hessian, held_sum
from discriminant.optimize.state import State
from discriminant.penalties import Jeffreys, Ridge
from discriminant.protocols import Need

Wide = np.longdouble
rng = np.random.default_rng(9)
N, D = 50, 3
X = rng.normal(size=(N, D)) * [1.0, 4.0, 0.5] + [0.0, 3.0, 1.0]
CODES = rng.integers(0, 3, N)
WEIGHT = np.where(np.arange(N) % 9 == 0, 0.0, rng.uniform(0.3, 3.0, N))
SCALING = Scaling(np.array([0.0, 2.5, 0.75]), np.array([1.0, 4.0, 0.5]))


def problem(kind="two", *, ridge=0.1, intercept=True, weight=WEIGHT, scaling=SCALING, rows=X, codes=CODES):
    """Two classes, each class against the rest, or K classes that compete."""
    penalty = None if ridge is None else Ridge(ridge) if np.ndim(ridge) == 0 else Ridge(1.0, factors=tuple(ridge))
    scaling = scaling if scaling is None or not sparse.issparse(rows) else replace(scaling, center=None)
    if kind == "two":
        codes, criterion, coding = np.minimum(codes, 1), Logistic(), make_coding("two-class", 2, labels=(0, 1))
    elif kind == "rest":
        criterion, coding = Logistic(), make_coding("one-vs-rest", 3, labels=(0, 1))
    else:
        criterion, coding = Softmax(), make_coding("one-of-K", 3)
    blocks = make_blocks(rows, codes, weight)
    return PointwiseObjective(blocks, criterion, coding, penalty, intercept=intercept, scaling=scaling)


KINDS = ["two", "rest", "machine"]


class Plain:
    """J and its parts at A, over all rows, with A in the objective's units."""

    def __init__(self, objective, A):
        blocks = objective.blocks
        values = blocks.rows.design(0, blocks.n_rows).dense().astype(Wide)
        centre = 0.0 if objective.center is None else objective.center
        self.unit = objective.units.astype(Wide)
        ones = np.full((len(values), 1), Wide(objective.intercept))
        self.Y = np.hstack([ones, values - centre])
        self.a = A / self.unit  # weights of x − c
        w = np.ones(len(values)) if blocks.weight is None else blocks.weight
        self.s = (w / w.sum()).astype(Wide)[:, None]
        q = A.shape[1]
        self.t = (blocks.target[:, None] == (1 if q == 1 else np.arange(q))).astype(Wide)
        z = self.Y @ self.a
        self.coupled = objective.criterion.coupled
        if self.coupled:
            e = np.exp(z - z.max(axis=1, keepdims=True))
            self.p = e / e.sum(axis=1, keepdims=True)
            losses = -np.log((self.p * self.t).sum(axis=1, keepdims=True))
        else:
            self.p = 1 / (1 + np.exp(-z))
            losses = np.logaddexp(0, z) - self.t * z
        scale = 0.0 if objective.penalty is None else objective.penalty.scale(np.zeros((D + 1, 1)))
        self.ridge = np.broadcast_to(np.asarray(scale, dtype=Wide), (D, 1))
        self.J = (self.s * losses).sum() + (self.ridge * self.a[1:] ** 2).sum() / 2
        self.g = self.Y.T @ (self.s * (self.p - self.t))

    def bend(self, i, v):
        """∂²ℓ/∂z² of row i times v (q,)."""
        p = self.p[i]
        return p * (v - p @ v) if self.coupled else p * (1 - p) * v

    def hessian(self):
        """(qD, qD) in the objective's units, the ridge in it."""
        q, n = self.p.shape[1], self.Y.shape[1]
        bends = np.array([[self.bend(i, e) for e in np.eye(q)] for i in range(len(self.Y))])
        H = np.einsum("n,nab,ni,nj->aibj", self.s[:, 0], bends, self.Y, self.Y, optimize=True)
        for a in range(q):
            H[a, np.arange(1, n), a, np.arange(1, n)] += self.ridge[:, 0]
        scale = np.tile(self.unit[:, 0], q)
        return H.reshape(q * n, q * n) / scale / scale[:, None]


def weights(objective, size=0.3, seed=0):
    A = np.random.default_rng(seed).normal(size=(D + 1, objective.n_outputs)) * size * objective.units
    if not objective.intercept:
        A[0] = 0.0
    if objective.criterion.coupled:
        A -= A.mean(axis=1, keepdims=True)
    return A


def minimum(objective, A):
    """(min J, A there) by Newton's steps, halved where they overshoot, in the widest float."""
    A = A.astype(Wide)
    for _ in range(60):
        now = Plain(objective, A)
        g = (now.g + np.vstack([np.zeros((1, A.shape[1])), now.ridge * now.a[1:]])) / now.unit
        step = np.linalg.lstsq(now.hessian().astype(float), g.T.ravel().astype(float), rcond=1e-13)[0]
        step = step.reshape(A.shape[::-1]).T
        if (g * step).sum() < 1e-32:
            break
        length = 1.0
        while Plain(objective, A - length * step).J > now.J and length > 1e-9:
            length /= 2
        if length <= 1e-9:
            break
        A = A - length * step
    return now.J, A


@pytest.mark.parametrize("x", [1e-9, 1e-5, 0.99e-4, 1.01e-4, 1e-3, 0.1, 0.5, 0.9, 0.998])
@pytest.mark.parametrize("R", [1e-3, 1.0, 50.0])
def test_self_concordant_gaps(x, R):
    """((1 − x) ln(1 − x) + x)/R² in fifty digits: never below it, and above by next to nothing."""
    with mpmath.workdps(50):
        y = mpmath.mpf(x / R * R)
        exact = ((1 - y) * mpmath.log(1 - y) + y) / mpmath.mpf(R) ** 2
        found = self_concordant_gap(x / R, R)
        assert float(found / exact) == pytest.approx(1.0, abs=2e-8)
        assert found >= exact * (1 - mpmath.mpf(1e-11))
        if x < 1e-4:
            assert found >= exact * (1 - mpmath.mpf(3e-16))


def test_self_concordance_ends():
    assert self_concordant_gap(1.0, 0.9989) < np.inf
    assert self_concordant_gap(0.999, 1.0) == np.inf
    assert self_concordant_gap(2.0, 1.0) == np.inf
    assert self_concordant_gap(np.nan, 1.0) == np.inf
    assert self_concordant_gap(0.0, 5.0) == 0.0


@pytest.mark.parametrize("scaling", [None, SCALING], ids=["", "scaled"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ridge", [0.1, (0.05, 0.3, 2.0)], ids=["ridge", "ridges"])
def test_dual_gaps(kind, ridge, scaling):
    """The formula; no less than J less the dual at the point it stands for, nor than J less its minimum."""
    objective = problem(kind, ridge=ridge, scaling=scaling)
    start = weights(objective)
    least, best = minimum(objective, start)
    for share in (1.0, 0.3, 1e-2, 1e-4):
        A = np.asarray(best + share * (start - best), dtype=float)
        now = Plain(objective, A)
        s, u = now.s, now.p - now.t
        g0 = (s * u).sum(axis=0)
        if kind == "machine":
            C = sum(s[i] * np.array([now.bend(i, e) for e in np.eye(3)]) for i in range(N)).astype(float)
            delta = np.linalg.pinv(C) @ g0.astype(float)
            moved = u - np.array([now.bend(i, delta) for i in range(N)])
            rest = 0.5 * delta @ g0 / (1 - delta.max() + delta.min())
        else:
            mass = (s * now.p * (1 - now.p)).sum(axis=0)
            delta = g0 / mass
            moved = u - now.p * (1 - now.p) * delta
            rest = (0.5 * mass * delta**2 / (1 - np.abs(delta)) ** 2).sum()
        assert np.abs((s * moved).sum(axis=0)).max() < 1e-12  # a dual point
        slopes = now.Y[:, 1:].T @ (s * moved)
        wanted = ((slopes + now.ridge * now.a[1:]) ** 2 / (2 * now.ridge)).sum() + rest
        reach = np.ptp(delta) if kind == "machine" else np.abs(delta).max()
        found = objective.evaluate(A, Need.VALUE | Need.GRADIENT | Need.INTERCEPT)
        gap = dual_gap(objective, A, found)
        if reach >= 1:
            assert gap == np.inf
            continue
        assert gap == pytest.approx(float(wanted), rel=1e-8)
        assert dual_gap(objective, A, replace(found, intercept=None)) == pytest.approx(gap, rel=1e-12)
        point = moved + now.t
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = -np.where(point > 0, point * np.log(point), 0.0)
            if kind != "machine":
                entropy -= np.where(point < 1, (1 - point) * np.log1p(-point), 0.0)
        dual = (s * entropy).sum() - (slopes**2 / (2 * now.ridge)).sum()
        assert now.J - dual <= gap * (1 + 1e-9)
        assert gap <= (now.J - dual) * (1 + 5 * reach) + 1e-15
        assert now.J - least <= gap * (1 + 1e-9)
        loose = ((now.g[1:] + now.ridge * now.a[1:]) ** 2 / (2 * now.ridge)).sum()
        assert loose_gap(objective, found) == pytest.approx(float(loose), rel=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_dual_gaps_without_an_intercept(kind):
    """Every gradient belongs to a dual point then."""
    objective = problem(kind, intercept=False)
    A = weights(objective)
    now = Plain(objective, A)
    wanted = ((now.g[1:] + now.ridge * now.a[1:]) ** 2 / (2 * now.ridge)).sum()
    found = objective.evaluate(A)
    assert dual_gap(objective, A, found) == loose_gap(objective, found) == pytest.approx(float(wanted), rel=1e-9)
    assert now.J - minimum(objective, A)[0] <= wanted


@pytest.mark.parametrize("kind", KINDS)
def test_where_there_is_no_dual_bound(kind):
    free = problem(kind, ridge=(0.1, 0.0, 0.1))
    A = weights(free)
    for objective in (free, problem(kind, ridge=None)):
        assert objective.ridge is None
        found = objective.evaluate(A, Need.VALUE | Need.GRADIENT | Need.INTERCEPT)
        assert dual_gap(objective, A, found) == loose_gap(objective, found) == np.inf
    objective = problem(kind)
    assert objective.ridge.tolist() == [[0.1]] * 3
    far = A.copy()
    far[0] = 60.0 if kind != "machine" else [60.0, -30.0, -30.0]  # a shift of more than one
    assert dual_gap(objective, far, objective.evaluate(far)) == np.inf
    gone = A * 0
    gone[0] = 800.0 if kind != "machine" else [800.0, -400.0, -400.0]  # no curvature at all
    assert dual_gap(objective, gone, objective.evaluate(gone)) == np.inf
    found = objective.evaluate(A, Need.VALUE | Need.GRADIENT | Need.INTERCEPT)
    for name in ("gradient", "intercept"):
        bad = np.array(getattr(found, name))
        bad.flat[0] = np.nan
        assert dual_gap(objective, A, replace(found, **{name: bad})) == np.inf


def test_jeffreys_has_no_ridge():
    objective = replace(problem(), penalty=Jeffreys())
    assert objective.ridge is None


# Self-concordance


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, np.float32], ids=["dense", "CSR", "single"])
def test_the_longest_row(form, intercept, compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(certificate.compiled, "load", lambda: None)
    scale = np.array([0.7, 2.0, 0.3, 5.0])
    for scaling in (None, SCALING):
        rows = X.astype(np.float32) if form is np.float32 else form(X)
        objective = problem(rows=rows, intercept=intercept, scaling=scaling)
        now = Plain(objective, np.zeros((D + 1, 1)))
        lengths = (np.square(now.Y / now.unit.T * scale)).sum(axis=1)
        assert longest_row(objective, scale) == pytest.approx(float(lengths.max()), rel=1e-6)
    lengths = certificate.RowLengths(None, scale, intercept)
    assert lengths.compiled is compiled
    assert lengths.work(10, 30) == 60.0
    whole = certificate.Most(1.0)
    whole += certificate.Most(3.0)
    whole += certificate.Most(2.0)
    assert whole.most == 3.0


def factored(objective, A, need=Need.VALUE | Need.GRADIENT | Need.HESSIAN | Need.INTERCEPT):
    found = objective.evaluate(A, need)
    factors = factor_hessian(found.hessian, A.shape[1], objective.criterion.free_sum)
    decrement = float(np.sqrt(np.vdot(found.gradient, factors.solve(found.gradient))))
    return State(A, found, decrement=decrement, factors=factors)


def true_row_norm(objective, A):
    """max over rows of √‖(y ⊗ c)‖²_{H⁻¹}, over outputs or over differences of two of them."""
    now = Plain(objective, A)
    H = now.hessian().astype(float)
    q = A.shape[1]
    Y = (now.Y / now.unit.T).astype(float)
    inverse = np.linalg.pinv(H, rcond=1e-12, hermitian=True)
    if not now.coupled:
        pairs = [np.eye(q)[k] for k in range(q)]
    else:
        pairs = [np.eye(q)[a] - np.eye(q)[b] for a in range(q) for b in range(a)]
    rows = np.array([[np.kron(c, y) for y in Y] for c in pairs]).reshape(-1, q * (D + 1))
    return float(np.sqrt(np.einsum("ij,jk,ik->i", rows, inverse, rows).max()))


@pytest.mark.parametrize("ridge", [None, 0.01, 1e3])
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_of_the_row_norm(kind, ridge):
    """No row is longer in the metric of the Hessian; each bound by its own formula."""
    objective = problem(kind, ridge=ridge)
    A = weights(objective)
    state, now = factored(objective, A), Plain(objective, A)
    longest = true_row_norm(objective, A)
    found = row_norm(objective, state.factors)
    assert found >= longest * (1 - 1e-9)
    Y = (now.Y / now.unit.T).astype(float)
    wanted = []
    for factor in state.factors.each:
        inverse = np.linalg.inv(factor.triangle @ factor.triangle.T)
        scale = factor.scale.reshape(-1, D + 1).max(axis=0)
        wanted.append(np.square(Y * scale).sum(axis=1).max() * np.trace(inverse) * (2 if kind == "machine" else 1))
    assert found == pytest.approx(np.sqrt(max(wanted)), rel=1e-9)
    there = now.s[:, 0] > 0
    if kind == "machine":
        curve = now.s[:, 0] * now.p.min(axis=1) / 2
    else:
        curve = (now.s * now.p * (1 - now.p)).min(axis=1)
    other = row_norm_by_curvature(objective, A)
    assert other == pytest.approx(float(np.sqrt(1 / curve[there].min())), rel=1e-9)
    assert other >= longest_of_weighted(objective, A) * (1 - 1e-9)


def longest_of_weighted(objective, A):
    """The row norm over the rows that count: the others move no loss."""
    keep = objective.blocks.weight > 0
    blocks = objective.blocks
    inner = make_blocks(blocks.rows.X[keep], blocks.target[keep], blocks.weight[keep])
    return true_row_norm(replace(objective, blocks=inner), A)


def test_a_row_without_curvature_has_no_row_norm():
    objective = problem(scaling=None)
    A = np.zeros((D + 1, 1))
    A[1] = 1e4
    assert row_norm_by_curvature(objective, A) == np.inf
    empty = problem(weight=np.where(np.arange(N) < 2, 1.0, 0.0), codes=np.arange(N) % 2)
    assert np.isfinite(row_norm_by_curvature(empty, np.zeros((D + 1, 1))))


@pytest.mark.parametrize("ridge", [None, 1e-3])
@pytest.mark.parametrize("kind", KINDS)
def test_proofs_are_the_best_of_the_bounds(kind, ridge):
    objective = problem(kind, ridge=ridge)
    start = weights(objective)
    least, best = minimum(objective, start)
    for share in (0.2, 1e-2, 1e-4, 1e-6):
        A = np.asarray(best + share * (start - best), dtype=float)
        state = factored(objective, A)
        dual = dual_gap(objective, A, state.found)
        R = row_norm(objective, state.factors)
        newton = self_concordant_gap(state.decrement, R)
        if state.factors.least <= certificate.WELL_CONDITIONED:
            newton = min(newton, self_concordant_gap(state.decrement, row_norm_by_curvature(objective, A)))
        found = proved(objective, state)
        if np.isfinite(newton) or np.isfinite(dual):
            assert found.gap <= min(newton, dual) * (1 + 1e-12) or found.gap <= 1e-12 * state.found.value
        assert float(Plain(objective, A).J - least) <= found.gap * (1 + 1e-9) + 1e-17
        bare = proved(objective, replace(state, factors=None))
        assert bare.gap == dual
        # Where the first bound is enough no other is tried.
        first = newton if kind == "machine" else dual
        easy = proved(objective, state, wanted=1e6)
        if np.isfinite(first):
            assert easy.gap == pytest.approx(first, rel=1e-9)
        assert proved(objective, replace(state, decrement=np.inf)).gap == dual
    if ridge is None:
        assert found.gap < 1e-9


def test_stale_factors_prove_nothing():
    """The Hessian of another point bounds nothing here: what is left is the dual, and nothing without a penalty."""
    for ridge in (None, 0.03):
        objective = problem(ridge=ridge)
        _, best = minimum(objective, weights(objective))
        state = factored(objective, np.asarray(best, dtype=float) + 1e-3)
        assert np.isfinite(proved(objective, state).gap)
        assert proved(objective, replace(state, stale=True)).gap == dual_gap(objective, state.A, state.found)


def test_collinear_columns_are_bounded_by_their_rows():
    """Where the trace of H⁻¹ says nothing, each row's own part of H does."""
    rows = np.column_stack([X[:, 0], X[:, 1], X[:, 0] + 1e-3 * X[:, 2]])
    objective = problem(ridge=None, rows=rows, scaling=None, weight=None)
    _, best = minimum(objective, weights(objective))
    state = factored(objective, np.asarray(best, dtype=float) + [[1e-4], [0], [0], [0]])
    assert state.factors.least < certificate.WELL_CONDITIONED
    R, own = row_norm(objective, state.factors), row_norm_by_curvature(objective, state.A)
    assert own < R / 10
    loose, tight = self_concordant_gap(state.decrement, R), self_concordant_gap(state.decrement, own)
    assert proved(objective, state).gap == pytest.approx(min(loose, tight), rel=1e-12)


def test_other_criteria_are_not_proved():
    objective = replace(problem(), criterion=Squared(), coding=make_coding("two-class", 2, labels=(0, 1)))
    state = State(weights(objective), objective.evaluate(weights(objective)))
    assert proved(objective, state) is state


# From some rows


def sample_bound(objective, sample, A, found, share, many):
    """(gᵗH⁻¹g with the sample's Hessian, or one below every class's block; the bound of R)."""
    now, q = Plain(sample, A), A.shape[1]
    if now.coupled and many:
        Y = now.Y / now.unit.T
        H = (Y * (now.s * now.p.min(axis=1, keepdims=True))).T @ Y
        H = H.astype(float) + np.diag(np.concatenate([[0.0], now.ridge[:, 0]]) / now.unit[:, 0] ** 2).astype(float)
        H[0, 0] += not objective.intercept
        square = float(np.vdot(found.gradient, np.linalg.solve(H, found.gradient)))
    else:
        H = now.hessian().astype(float)
        G = found.gradient.T.ravel()
        if not objective.intercept:
            index = np.arange(q) * (D + 1)
            H[index, index] = 1.0
        square = float(G @ np.linalg.pinv(H, rcond=1e-12, hermitian=True) @ G)
        H = held_sum(H, q) if now.coupled else H
    scale = 1 / np.sqrt(np.diagonal(H))
    trace = np.trace(np.linalg.inv(H * scale * scale[:, None]))
    longest = longest_row(objective, scale.reshape(-1, D + 1).max(axis=0))
    return square, float(np.sqrt(1.01 * longest * trace * (2 if now.coupled else 1) / share))


def test_a_sample_without_curvature_proves_nothing(monkeypatch):
    objective = problem()
    A = weights(objective)
    found = objective.evaluate(A)
    for root, proves in ((1e9, False), (2.5e7, False), (1e7, True)):  # 1/trace against ε·4
        made = Factors((Factor(np.ones(4), np.eye(4) * root, None, 4, 1.0),))
        monkeypatch.setattr(certificate, "factor_hessian", lambda *_, made=made: made)
        gap = SampleProof(objective, 1.0, lambda scale: 1e-60)._gap(A, replace(found, gradient=found.gradient * 1e-20))
        assert np.isfinite(gap) == proves


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["two", "machine"])
def test_a_proof_from_some_rows(kind, intercept, many, monkeypatch):
    """The bound with the sample's Hessian times its share; below every class's block where all are too many."""
    objective = problem(kind, intercept=intercept, ridge=0.02)
    if many:
        monkeypatch.setattr(certificate, "COUPLED_PARAMETERS", 1)
    start = weights(objective)
    least, best = minimum(objective, start)
    part = np.arange(0, N, 2)
    blocks = make_blocks(X[part], objective.blocks.target[part], WEIGHT[part])
    sample = replace(objective, blocks=blocks)
    share = share_of(objective, sample)
    proof = SampleProof(sample, share, lambda scale: longest_row(objective, scale))
    for away in 10.0 ** -np.arange(1.0, 7.0):  # the farthest point at which something is proved: there R counts
        A = np.asarray(best + away * (start - best), dtype=float)
        found = objective.evaluate(A)
        gap = proof._gap(A, found)
        if np.isfinite(gap):
            break
    square, R = sample_bound(objective, sample, A, found, share, many)
    wanted = self_concordant_gap(np.sqrt(square / share), R)
    assert wanted > square / share / 2 * 1.001
    assert gap == pytest.approx(wanted, rel=1e-6)
    assert float(Plain(objective, A).J - least) <= gap
    state = State(A, found, decrement=np.sqrt(square))
    assert proof(state, wanted=1.0) == gap
    assert proof.again == pytest.approx(square * 0.7 / gap)
    assert proof(replace(state, decrement=np.sqrt(1.01 * proof.again)), wanted=1e9) == np.inf
    fresh = SampleProof(sample, share, proof.longest)
    assert fresh.again == np.inf
    edge = square / (2 * share)
    assert fresh(state, wanted=edge * 0.999) == np.inf
    assert fresh(state, wanted=edge * 1.001) == gap
    assert fresh(replace(state, decrement=np.nan), wanted=1.0) == np.inf
    longer = 16 * share / (square * R**2)  # rows so long that νR = 4: nothing is proved, nor will be before ν ≤ 1/R
    wide = SampleProof(sample, share, lambda scale: longer * proof.longest(scale))
    assert wide(state, wanted=1.0) == np.inf
    assert wide.again == pytest.approx(square * (0.5 / 4) ** 2)


@pytest.mark.parametrize("ridge", [0.5, 1e-6, 1e-12])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", ["two", "machine"])
@pytest.mark.parametrize("some", [1, 2])
def test_a_dual_with_a_projection_bounds_the_gap(kind, intercept, ridge, some):
    """Tight where the plain dual bound is useless, from all rows or some of them; never below the truth."""
    objective = problem(kind, intercept=intercept, ridge=ridge)
    start = weights(objective)
    least, best = minimum(objective, start)
    part = np.arange(0, N, some)
    sample = replace(objective, blocks=make_blocks(X[part], objective.blocks.target[part], WEIGHT[part]))
    share = share_of(objective, sample)
    proof = ProjectedDual(sample, share, lambda scale: longest_row(objective, scale))
    tight = 0
    for away in 10.0 ** -np.arange(0.0, 7.0):
        A = np.asarray(best + away * (start - best), dtype=float)
        gap, true = proof._gap(A, objective.evaluate(A)), float(Plain(objective, A).J - least)
        assert gap >= true - 1e-16
        tight += gap <= 40 * some * true
    assert tight >= 4


def test_a_dual_with_a_projection_counts_a_sum_of_the_weights():
    """That the penalty alone lowers."""
    objective = problem("machine", ridge=1e-3)
    least, best = minimum(objective, weights(objective))
    proof = ProjectedDual(objective, 1.0, lambda scale: longest_row(objective, scale))
    for shift in (0.1, 1e-3):
        A = np.asarray(best, dtype=float) + shift * objective.units * np.arange(D + 1)[:, None]
        assert proof._gap(A, objective.evaluate(A)) >= float(Plain(objective, A).J - least) - 1e-15


def test_shares_of_a_sample():
    objective = problem("machine")
    every = objective.blocks
    part = np.concatenate(
        [np.flatnonzero(CODES == 0)[::2], np.flatnonzero(CODES == 1)[::3], np.flatnonzero(CODES == 2)]
    )
    sample = replace(objective, blocks=make_blocks(X[part], CODES[part], WEIGHT[part]))
    share = (CODES[part] == 1).sum() / (CODES == 1).sum()
    assert share_of(objective, sample) == pytest.approx(share * WEIGHT[part].sum() / WEIGHT.sum())
    heavy = replace(objective, blocks=make_blocks(X[part], CODES[part], WEIGHT[part] * 10))
    assert share_of(objective, heavy) == pytest.approx(share)
    soft = PointwiseObjective(make_blocks(X, np.eye(3)[CODES]), Softmax())
    some = PointwiseObjective(make_blocks(X[part], np.eye(3)[CODES[part]]), Softmax())
    assert share_of(soft, some) == pytest.approx((len(part) / N) ** 2)
    four = PointwiseObjective(every, Softmax(), make_coding("one-of-K", 4))
    assert share_of(four, replace(four, blocks=sample.blocks)) == pytest.approx(
        share * WEIGHT[part].sum() / WEIGHT.sum()
    )


# From scratch


def fitted(A, C=1.0, classes=None, **other):
    """A model that holds these weights (1 + d, q)."""
    labels = np.arange(max(A.shape[1], 2)) if classes is None else np.asarray(classes)
    return SimpleNamespace(coef_=A[1:].T, intercept_=A[0], classes_=labels, C=C, **other)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weights"])
@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("C", [2.0, np.inf])
def test_certify_is_its_formula(q, C, weight, monkeypatch):
    """Value, slope, dual bound at the best intercepts or self-concordance; in blocks, sparse or not."""
    monkeypatch.setattr(checking, "BLOCK", 13)
    codes = np.minimum(CODES, 1) if q == 1 else CODES
    w = np.ones(N) if weight is None else weight
    objective = problem("two" if q == 1 else "machine", ridge=None if np.isinf(C) else 1 / (C * w.sum()),
                        scaling=None, weight=w)  # fmt: skip
    start = weights(objective)
    least, best = minimum(objective, start)
    for share in (0.3, 1e-2, 1e-5):
        A = np.asarray(best + share * (start - best), dtype=float)
        now = Plain(objective, A)
        found = certify(fitted(A, C), X, codes, weight)
        assert found.objective == pytest.approx(float(now.J), rel=1e-15)
        slope = now.g + np.vstack([np.zeros((1, q)), now.ridge * now.a[1:]])
        assert found.gradient_norm == pytest.approx(float(np.sqrt((slope**2).sum())), rel=1e-9)
        if np.isinf(C):
            p = now.p if q == 3 else np.hstack([1 - now.p, now.p])
            m = p.shape[1] - 1
            H = np.zeros((m * (D + 1), m * (D + 1)))
            for i, y in enumerate(now.Y.astype(float)):
                own = p[i, 1:].astype(float)
                H += float(now.s[i, 0]) * np.kron(np.diag(own) - np.outer(own, own), np.outer(y, y))
            g = (slope if q == 1 else slope[:, 1:]).T.ravel().astype(float)
            nu = float(np.sqrt(g @ np.linalg.solve(H, g)))
            inverse = np.linalg.inv(H).reshape(m, D + 1, m, D + 1)
            R = max(np.sqrt(np.einsum("ij,jk,ik->i", now.Y, inverse[a, :, a], now.Y).max()) for a in range(m))
            wanted = self_concordant_gap(nu, float(R) * (1 if m == 1 else 2))
            scale = np.sqrt(np.diagonal(H))
            assert found.condition == pytest.approx(np.linalg.cond(H / scale / scale[:, None]), rel=1e-6)
            if np.isfinite(wanted):
                assert found.gap == pytest.approx(min(wanted, float(now.J)), rel=1e-6, abs=1e-16)
            else:
                assert found.gap == np.inf
            assert found.passes == 3
        else:
            free = Plain(objective, A)
            level = np.zeros(q)
            for _ in range(60):  # the intercepts at which Σ w (p − t) = 0
                B = A.copy()
                B[0] += level
                free = Plain(objective, B)
                C0 = sum(float(free.s[i, 0]) * np.array([free.bend(i, e) for e in np.eye(q)]) for i in range(N))
                level = level - np.linalg.lstsq(C0.astype(float), free.g[0].astype(float), rcond=1e-12)[0]
            p = free.p if q == 3 else np.hstack([1 - free.p, free.p])
            D_ = -(free.s[:, 0] @ (p * np.log(p)).sum(axis=1)) - ((free.g[1:] ** 2) / (2 * free.ridge)).sum()
            assert found.gap == pytest.approx(float(min(now.J - D_, now.J)), rel=1e-6, abs=1e-17)
            assert np.isnan(found.condition)
        assert found.converged == (found.gap <= 1e-6 * found.objective)
        assert found.converged == found.status.startswith("Solved")
        if np.isfinite(found.gap):
            assert found.objective - found.bound == pytest.approx(found.gap, rel=1e-6, abs=1e-15)
            assert found.bound <= least
            assert found.gap >= float(now.J - least)
            tight = certify(fitted(A, C), X, codes, weight, tol=found.gap / found.objective * 0.99)
            assert not tight.converged
        again = certify(fitted(A, C), sparse.csr_array(X), codes, weight)
        assert again.objective == found.objective
        assert again.gap == pytest.approx(found.gap, rel=1e-9)
    words = np.array(["x", "y", "z"])
    named = certify(fitted(A, C, classes=words[: max(q, 2)]), X, words[codes], weight)
    assert named.objective == found.objective
    turned = certify(fitted(-A, C, classes=[1, 0]), X, codes, weight) if q == 1 else named
    assert turned.objective == pytest.approx(found.objective, rel=1e-15)


def test_far_from_the_minimum_and_separated():
    A = np.array([[0.0], [5.0], [-3.0], [2.0]])
    found = certify(fitted(A, np.inf), X, np.minimum(CODES, 1))
    assert not found.converged
    assert "too far from the minimum" in found.status
    assert (found.gap, found.bound) == (np.inf, -np.inf)
    line = np.arange(6.0)[:, None]
    found = certify(fitted(np.array([[-25.0], [10.0]]), np.inf), line, [0, 0, 0, 1, 1, 1])
    assert "no minimum: the classes are separable" in found.status
    assert found.separability.verdict == "separable"
    far = fitted(np.array([[-np.inf], [np.inf]]), np.inf)
    found = certify(far, line, [0, 0, 0, 1, 1, 1])
    assert (found.objective, found.gap, found.bound, found.converged) == (0.0, 0.0, 0.0, False)
    assert found.condition == np.inf
    assert "its infimum, 0, is at infinity" in found.status
    found = certify(far, line, [0, 1, 0, 1, 0, 1])
    assert "overlap" in found.status
    assert (found.objective, found.converged) == (np.inf, False)
    quasi = certify(far, np.array([[0.0], [1.0], [1.0], [2.0]]), [0, 0, 1, 1], sample_weight=[1.0, 2.0, 3.0, 1.0])
    mixed = -(2 * np.log(2 / 5) + 3 * np.log(3 / 5)) / 7
    assert quasi.objective == pytest.approx(mixed, rel=1e-9)
    with pytest.raises(DataError, match="without weight"):
        certify(far, line, [0, 0, 0, 1, 1, 1], sample_weight=[0.0, 1, 1, 1, 1, 1])


@pytest.mark.parametrize("q", [1, 3])
def test_bounds_do_not_depend_on_the_intercept(q):
    """Its best value is found, however far away it is."""
    codes = np.minimum(CODES, 1) if q == 1 else CODES
    A = LogisticRegression(C=0.5).fit(X, codes)
    A = np.vstack([A.intercept_, A.coef_.T])
    plain = certify(fitted(A, 0.5), X, codes)
    for move in (0.5, 6.0, -9.0):
        moved = A.copy()
        moved[0, -1] += move
        found = certify(fitted(moved, 0.5), X, codes)
        assert found.bound == pytest.approx(plain.bound, rel=1e-9)
        assert found.objective > plain.objective


def test_exact_minima_and_huge_scores():
    even = certify(fitted(np.zeros((2, 1))), np.zeros((4, 1)), [0, 1, 0, 1])
    assert even.gap == pytest.approx(64 * float(np.finfo(Wide).eps) * np.log(2), rel=0.2, abs=0)
    line = np.array([[-1.0], [1.0], [0.5], [1.0]])
    found = certify(fitted(np.array([[0.0], [2e4]])), line, [0, 1, 0, 1])
    assert found.objective == pytest.approx((1e4 + 2e8) / 4, rel=1e-12)


def test_losses_of_nothing_have_gaps_of_nothing():
    """A bound is never below zero: no loss is."""
    line = np.array([[-1.0], [1.0]])
    model = fitted(np.array([[0.0], [40.0]]), 1e-9)
    found = certify(model, line, [0, 1])
    assert found.bound <= 0.0
    assert found.gap <= found.objective * (1 + 1e-11)
    assert found.objective == pytest.approx(1600 / 2 / 1e-9 / 2, rel=1e-12)


def test_models_that_cannot_be_certified():
    A = np.zeros((D + 1, 1))
    y = np.minimum(CODES, 1)
    for change, match in (
        ({"class_weight": "balanced"}, "class_weight"), ({"l1_ratio": 0.5}, "ridge"), ({"penalty": "l1"}, "ridge"),
        ({"penalty": "elasticnet"}, "ridge"), ({"fit_intercept": False}, "intercept"),
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=match):
            certify(fitted(A, **change), X, y)
    for change in ({"class_weight": None}, {"l1_ratio": None}, {"l1_ratio": 0.0}, {"penalty": "l2"},
                   {"fit_intercept": True}, {"penalty": "deprecated"}):  # fmt: skip
        certify(fitted(A, **change), X, y)
    plain, none = certify(fitted(A, C=np.inf), X, y), certify(fitted(A, C=1.0, penalty="none"), X, y)
    assert plain.gap == none.gap
    assert plain.gap != certify(fitted(A, C=1.0), X, y).gap
    for name in ("coef_", "intercept_", "classes_", "C"):
        model = fitted(A)
        delattr(model, name)
        with pytest.raises(DataError, match=f"has no {name}"):
            certify(model, X, y)
    with pytest.raises(DataError, match="2 columns and the model was fitted to 3"):
        certify(fitted(A), X[:, :2], y)
    with pytest.raises(DataError, match="not among the classes 0 and 1"):
        certify(fitted(A), X, CODES)
    with pytest.raises(DataError, match="classes_ has 1"):
        certify(fitted(A, classes=[0]), X, np.zeros(N, dtype=int))
    with pytest.raises(ParameterError):
        certify(fitted(A), X, y, tol=0.0)
    assert certify(fitted(A), X, y, tol=1e9).converged
    one = LogisticRegression().fit(X, y)
    assert certify(one, X, y).passes >= 4
