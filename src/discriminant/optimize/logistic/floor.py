"""The curvature of some rows is a floor under that of all: it proves a gap without a penalty and without a look.

The Hessian is a sum over rows of matrices ≥ 0, so that with at least the share f of every class in a sample whose
Hessian is P, ∇²J ≥ f P, and by self-concordance (``bounds``), which holds in any metric below the Hessian's,

    ν² ≤ gᵗ P⁻¹ g / f,        R² ≤ max_i ‖y_i‖² in P⁻¹ / f.

What that loses, 1/f, a look wins back many times.  Where K(1+d) is too many to factor, one matrix for all classes stays
below P, since Σ_k p_k (v_k − Σ_l p_l v_l)² ≥ min_k p_k ‖v‖² for Σ_k v_k = 0:

    P ≥ I ⊗ M,        M = Σ_i s_i min_k p_ik y_i y_iᵗ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discriminant.optimize.choose import EXACT_SIZE
from discriminant.optimize.logistic.bounds import self_concordant_gap
from discriminant.optimize.logistic.factor import make_factor
from discriminant.optimize.logistic.lengths import Longest
from discriminant.optimize.logistic.looks import Look, ManyClass, sandwich
from discriminant.optimize.logistic.newton import regular
from discriminant.optimize.logistic.problem import LogisticProblem
from discriminant.optimize.logistic.sample import picked
from discriminant.protocols import Array, Block

EPS = float(np.finfo(np.float64).eps)
WORK = 3.0e9  # multiplications that a proof may take: some looks
ROWS_PER_PARAMETER = 20
MOST_COLUMNS = 4_000
LATE = 1e-4  # squared decrement, relative to the target, at which a dual bound should long have been enough


@dataclass
class SampleProof:
    """A bound of the gap by self-concordance, from the Hessian of the sample's rows alone: no look at the others."""

    sample: LogisticProblem
    share: float  # f
    longest: Callable[[Array], float]  # a bound of max_i ‖S y_i‖² for the scales (1+d,) on S's diagonal
    again: float = np.inf  # the square of a decrement that promises more than the last attempt proved

    def __call__(self, A: Array, look: Look, decrement: float, wanted: float) -> float:
        """The gap that is proved at A; infinite where it is not worth the arithmetic."""
        if not decrement**2 <= min(2 * self.share * wanted, self.again):
            return float("inf")
        gap = self._gap(A, look)
        # A gap falls as ν²; where x = νR ≥ 1 nothing was proved, and ν must be smaller by more than a step.
        self.again = decrement**2 * (0.7 * wanted / gap if np.isfinite(gap) else 0.01)
        return gap

    def _gap(self, A: Array, look: Look) -> float:
        q, D = A.shape[1], len(A)
        coupled = _coupled(self.sample)
        H = regular(self.sample, self.sample.look(A, hessian=True)) if coupled else _below(self.sample, A)
        factor = make_factor(H)
        g = look.gradient.T.ravel() if coupled else look.gradient
        square = max(float(np.vdot(g, factor.solve(g))), 0.0) / self.share
        # The least eigenvalue itself where it is cheap: a trace bounds it up to p times worse, and R decides whether a
        # proof succeeds.
        if len(H) <= EXACT_SIZE:
            least = float(np.linalg.eigvalsh(H * factor.scale * factor.scale[:, None])[0])
        else:
            least = 1 / factor.root_norm()
        if not least > EPS * len(H):
            return float("inf")
        reach = 1.01 * self.longest(factor.scale.reshape(-1, D).max(axis=0)) / least * (1 if q == 1 else 2) / self.share
        return self_concordant_gap(float(np.sqrt(square)), float(np.sqrt(reach)))


def sample_proof(problem: LogisticProblem) -> SampleProof:
    """The proof from rows in memory, as many as are worth their arithmetic."""
    q, D = problem.n_outputs, problem.n_features + 1
    width, work = (q * D, q * (q + 1) / 2 * D * D) if _coupled(problem) else (D, float(D * D))
    rows = problem.n_rows if problem.sparse else max(WORK / work, ROWS_PER_PARAMETER * width)
    sample = problem if rows >= problem.n_rows else picked(problem, int(rows))

    def longest(scale: Array) -> float:
        lengths = Longest(problem.rows, scale / problem.units[:, 0], problem.intercept)
        return float(problem.blocks.reduce(lengths).most)

    return SampleProof(sample, share_of(problem, sample), longest)


def _coupled(problem: LogisticProblem) -> bool:
    """Whether all classes are in one matrix."""
    return problem.n_outputs == 1 or problem.n_outputs * (problem.n_features + 1) <= EXACT_SIZE


def last_proof(problem: LogisticProblem) -> Callable[[Array, Look, float, float], float] | None:
    """The proof from rows in memory where the dual gives none: without a ridge, or with one too small to help."""
    if problem.n_features > MOST_COLUMNS:
        return None
    late = 1.0 if problem.ridge == 0 else LATE
    made: list[SampleProof] = []

    def prove(A: Array, look: Look, decrement: float, wanted: float) -> float:
        if not decrement**2 <= late * wanted:
            return float("inf")
        if not made:
            made.append(sample_proof(problem))
        return made[0](A, look, decrement, wanted)

    return prove


def share_of(problem: LogisticProblem, sample: LogisticProblem) -> float:
    """f: every class of the sample holds at least this share of the rows of its class."""
    target = np.asarray(sample.blocks.target)
    if target.dtype.kind in "iu":
        all_rows = problem.blocks.class_rows(problem.n_classes)
        seen = np.bincount(target, minlength=problem.n_classes)
        there = all_rows > 0
        share = float((seen[there] / all_rows[there]).min())
    else:
        share = sample.n_rows / problem.n_rows
    return share * min(1.0, sample.total / problem.total)


@dataclass(frozen=True)
class _Below:
    """Σ w_i min_k p_ik y_i y_iᵗ over a block."""

    look: ManyClass

    def __call__(self, block: Block) -> Array:
        values = self.look.rows.values(block)
        least = self.look.posteriors(block, values)[2].min(axis=0)
        return sandwich(values, least if block.weight is None else least * block.weight)


def _below(sample: LogisticProblem, A: Array) -> Array:
    """M in inner units; an intercept that is not there gets a pivot of one."""
    M = sample.blocks.reduce(_Below(ManyClass(A / sample.units, sample.rows)))
    M /= sample.total * sample.units * sample.units.T
    index = np.arange(len(M))
    M[index, index] += sample.damping[:, 0]
    if not sample.intercept:
        M[0], M[:, 0], M[0, 0] = 0.0, 0.0, 1.0
    return np.asarray(M)
