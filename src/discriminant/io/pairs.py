"""Pairwise probabilities → class probabilities in the words of each export.

    r_ij = σ(z_ij),  r_ji = 1 − r_ij;   Q_ii = Σ_{s≠i} r_si²,  Q_ij = −r_ji r_ij;   minimise pᵗQp under Σ p = 1

(Wu, Lin and Weng's second method, see ``codings.coupling``).  With p_m = 1 − Σ_{i<m} p_i, m = K − 1, that is the
positive definite system H p = b of m unknowns, H_ij = Q_ij − Q_im − Q_mj + Q_mm, b_i = Q_mm − Q_im, which elimination
solves without exchanging rows.  What rounding leaves below zero is zero, and the sum is brought to one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from discriminant.codings import pairs
from discriminant.errors import DataError

# Classes: the steps of the elimination are columns, of which engines have two thousand at most; an engine that writes
# each step into all its uses is lost sooner.
MOST_IN_SQL, MOST_WRITTEN_OUT = 12, 3

C_SOURCE = """static void to_chances(const double *z, double *p)
{
    double r[K][K], q[K][K], h[K][K + 1], sum = 0;
    int i, j, s, at = 0;
    for (i = 0; i < K; i++) for (j = i + 1; j < K; j++, at++) {
        double e = exp(-fabs(z[at]));
        r[i][j] = z[at] < 0 ? e / (1 + e) : 1 / (1 + e);
        r[j][i] = 1 - r[i][j];
    }
    for (i = 0; i < K; i++) {
        q[i][i] = 0;
        for (j = 0; j < K; j++) if (j != i) { q[i][j] = -r[j][i] * r[i][j]; q[i][i] += r[j][i] * r[j][i]; }
    }
    for (i = 0; i < K - 1; i++) {
        for (j = 0; j < K - 1; j++) h[i][j] = q[i][j] - q[i][K - 1] - q[K - 1][j] + q[K - 1][K - 1];
        h[i][K - 1] = q[K - 1][K - 1] - q[i][K - 1];
    }
    for (s = 0; s < K - 1; s++) for (i = s + 1; i < K - 1; i++) {
        double f = h[i][s] / h[s][s];
        for (j = s; j < K; j++) h[i][j] -= f * h[s][j];
    }
    p[K - 1] = 1;
    for (i = K - 2; i >= 0; i--) {
        p[i] = h[i][K - 1];
        for (j = i + 1; j < K - 1; j++) p[i] -= h[i][j] * p[j];
        p[i] /= h[i][i];
        p[K - 1] -= p[i];
    }
    for (i = 0; i < K; i++) { p[i] = (p[i] > 0 ? p[i] : 0) * exp(prior_shift[i]); sum += p[i]; }
    for (i = 0; i < K; i++) p[i] /= sum;
}

"""


def onnx_nodes(builder: Any, z: str, K: int, shift: Any) -> str:
    """The name of p (n, K) in the graph."""
    op, constant = builder.op, builder.constant
    first, second = pairs(K)
    place = np.zeros((len(first), K * K))
    at = np.arange(len(first))
    place[at, first * K + second], place[at, second * K + first] = 1.0, -1.0
    below = np.zeros((K, K))
    below[second, first] = 1.0
    e = op("Exp", op("Neg", op("Abs", z)))
    half = op("Div", constant(1.0), op("Add", e, constant(1.0)))
    r = op("Where", op("Less", z, constant(0.0)), op("Mul", e, half), half)
    r = op("Reshape", op("MatMul", r, constant(place)), constant([-1, K, K], np.int64))
    r = op("Add", r, constant(below[None]))
    other = op("Transpose", r, perm=[0, 2, 1])
    losses = op("ReduceSum", op("Mul", r, r), constant([1], np.int64), keepdims=1)
    Q = op("Sub", op("Mul", losses, constant(np.eye(K)[None])), op("Mul", r, other))
    m = K - 1
    Z = np.vstack([np.eye(m), -np.ones(m)])  # p = e_m + Z p_{<m}
    reduced = op("MatMul", constant(Z.T), Q)
    H = op("Concat", op("MatMul", reduced, constant(Z)), op("Neg", op("MatMul", reduced, constant(np.eye(K)[:, m:]))),
           axis=2)  # fmt: skip
    for s in range(m):  # Gauss and Jordan: column s is left with its diagonal alone
        row, column = (op("Gather", H, constant([s], np.int64), axis=axis) for axis in (1, 2))
        others = op("Mul", column, constant((np.arange(m) != s).astype(float)[None, :, None]))
        pivot = op("Gather", row, constant([s], np.int64), axis=2)
        H = op("Sub", H, op("Mul", op("Div", others, pivot), row))
    square = op("Gather", H, constant(np.arange(m), np.int64), axis=2)
    diagonal = op("ReduceSum", op("Mul", square, constant(np.eye(m)[None])), constant([2], np.int64), keepdims=0)
    right = op("ReduceSum", op("Gather", H, constant([m], np.int64), axis=2), constant([2], np.int64), keepdims=0)
    p = op("Div", right, diagonal)
    last = op("Sub", constant(1.0), op("ReduceSum", p, constant([1], np.int64), keepdims=1))
    p = op("Max", op("Concat", p, last, axis=1), constant(0.0))
    p = p if shift is None else op("Mul", p, constant(np.exp(shift)))
    return str(op("Div", p, op("ReduceSum", p, constant([1], np.int64), keepdims=1)))


Steps = list[tuple[str, list[tuple[str, str]]]]


def sql_steps(writer: Any, z: list[str], K: int, total: Callable[[list[str]], str]) -> Steps:
    """[(name of the step, [(column, expression)])] up to the unscaled p in the columns "e"."""
    most = MOST_IN_SQL if writer.dialect.once else MOST_WRITTEN_OUT
    if most < K:
        raise DataError(f"Coupling the pairs of {K} classes is too long for a query; use to_c, or coding='softmax'.")
    number: Callable[[float], str] = writer.dialect.number
    one, zero, m = number(1.0), number(0.0), K - 1

    def own(kind: str, *index: int) -> str:
        return f"s.{writer.column(kind, *index)}"

    small = [f"(CASE WHEN ABS({v}) > 700 THEN {zero} ELSE EXP(-ABS({v})) END)" for v in z]
    chance = [f"(CASE WHEN {v} < 0 THEN {e} / ({one} + {e}) ELSE {one} / ({one} + {e}) END)"
              for v, e in zip(z, small, strict=True)]  # fmt: skip
    order = np.transpose(pairs(K)).tolist()
    steps: Steps = [("r", [(writer.column("r", i, j), chance[at]) for at, (i, j) in enumerate(order)])]

    def r(i: int, j: int) -> str:
        return own("r", i, j) if i < j else f"({one} - {own('r', j, i)})"

    def q(i: int, j: int) -> str:
        if i != j:
            return f"(-({r(j, i)} * {r(i, j)}))"
        return f"({total([f'({r(s, i)} * {r(s, i)})' for s in range(K) if s != i])})"

    steps.append(("q", [(writer.column("q", i, j), q(i, j)) for i in range(K) for j in range(i, K)]))

    def kept(i: int, j: int) -> str:
        return own("q", min(i, j), max(i, j))

    whole = [(writer.column("h0_", i, j), f"{kept(i, j)} - {kept(i, m)} - {kept(m, j)} + {kept(m, m)}")
             for i in range(m) for j in range(m)]  # fmt: skip
    whole += [(writer.column("h0_", i, m), f"{kept(m, m)} - {kept(i, m)}") for i in range(m)]
    steps.append(("h0", whole))
    for s in range(m - 1):
        now, then = f"h{s}_", f"h{s + 1}_"
        columns = [(writer.column(then, i, j),
                    f"{own(now, i, j)} - {own(now, i, s)} / {own(now, s, s)} * {own(now, s, j)}")
                   for i in range(s + 1, m) for j in range(s + 1, K)]  # fmt: skip
        steps.append((f"h{s + 1}", columns))
    for i in reversed(range(m)):
        rest = [f"{own(f'h{i}_', i, j)} * {own('u', j)}" for j in range(i + 1, m)]
        taken = f" - ({total(rest)})" if rest else ""
        steps.append((f"u{i}", [(writer.column("u", i), f"({own(f'h{i}_', i, m)}{taken}) / {own(f'h{i}_', i, i)}")]))
    steps.append(("um", [(writer.column("u", m), f"{one} - ({total([own('u', i) for i in range(m)])})")]))
    shift = np.zeros(K) if writer.found.prior_shift is None else writer.found.prior_shift
    ends = [(writer.column("e", k), f"(CASE WHEN {own('u', k)} > 0 THEN {own('u', k)} * {number(float(np.exp(h)))} "
             f"WHEN {own('u', k)} <= 0 THEN {zero} END)") for k, h in enumerate(shift)]  # fmt: skip
    return [*steps, ("e", ends)]
