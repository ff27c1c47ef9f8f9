"""The fit on a device: limited-memory steps preconditioned by the Gram matrix, fast products first, fine ones last.

    P = (1/K) YᵗY/N + λI,     p = −B g,   B from γP⁻¹ and the last pairs by the two-loop recursion

For K classes ∇² ≼ ½(I − 11ᵗ/K) ⊗ YᵗY/N (Böhning 1992) and equals (1/K)(I − 11ᵗ/K) ⊗ YᵗY/N at A = 0, so one (1+d)²
matrix undoes the correlations of the columns for every class; nothing of the size (Kd)² is ever formed.  Two classes
take Newton steps.  All vectors are float64; only the evaluations have fewer bits.  Where J no longer falls by what fast
products can see, one evaluation in float64 becomes an anchor, and the next ones add differences from it, which fast
products know well enough; without room or float64 units for that the evaluations become fine.  The end is proved by the
dual bound of ``optimize.certificate``, from an evaluation in float64 or a fine one.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discriminant.data.scaling import choose_scaling
from discriminant.errors import MismatchError
from discriminant.optimize.certificate import self_concordant_gap
from discriminant.optimize.choose import Choice
from discriminant.optimize.device_evaluation import DeviceEvaluation, DeviceProblem
from discriminant.optimize.factor import cholesky
from discriminant.optimize.logistic import LogisticProblem
from discriminant.optimize.newton import SEPARATED_LOSS
from discriminant.optimize.progress import reading, stepped
from discriminant.protocols import Array

PAIRS = 40
MOST_STEPS = 3_000  # a guard against a loop, not a setting
SUFFICIENT = 1e-4
FAST_FLOOR = 3e-5  # relative to J: decrease of a step below which fast products no longer tell up from down
FAR = 0.2  # of the gradient at the last anchor, below which a new one is worth its float64
PATIENCE = 4  # steps in a row that gain nothing before the arithmetic is said to be at its end
NOISE = {  # of J, relative
    ("fast", "float32"): 1e-5,
    ("fine", "float32"): 3e-7,
    ("near", "float32"): 1e-9,
    ("fine", "float64"): 1e-15,
}

WHY = Choice(
    "device-quasi-newton",
    "rows on a device: steps preconditioned by the Gram matrix, fast products first and fine ones to finish",
)


@dataclass
class Memory:
    """Pairs of steps and gradient changes over P⁻¹, on the device."""

    inverse: Any  # P⁻¹ (1+d, 1+d)
    lib: Any
    scale: Any = 1.0
    pairs: deque[tuple[Any, Any, Any, Any]] = field(default_factory=lambda: deque(maxlen=PAIRS))  # s, y, ρs, ρy

    def direction(self, g: Any) -> Any:
        """−B g by the two-loop recursion."""
        lib, shares = self.lib, []
        for _, y, s_rho, _ in reversed(self.pairs):
            share = lib.dot(s_rho, g)
            g = lib.add_scaled(g, y, -share)
            shares.append(share)
        p = lib.product(self.inverse, g, "fine") * self.scale
        for (s, _, _, y_rho), share in zip(self.pairs, reversed(shares), strict=True):
            p = lib.add_scaled(p, s, share - lib.dot(y_rho, p))
        # No softmax depends on Σ_k A_k: no step is taken along it.
        return (lib.xp.mean(p, axis=1, keepdims=True) if p.shape[1] > 1 else 0.0) - p

    def learn(self, s: Any, y: Any) -> None:
        product = float(self.lib.dot(s, y))
        if product > 0:
            self.pairs.append((s, y, s / product, y / product))
            if s.shape[1] > 1:
                self.scale = product / float(self.lib.dot(y, self.lib.product(self.inverse, y, "fine")))


@dataclass
class DeviceState:
    """Where the steps stand."""

    A: Any
    found: DeviceEvaluation
    mode: str
    records: list[tuple[float, ...]] = field(default_factory=list)
    gap: float = np.inf
    separated: bool = False
    stopped: bool = False  # by a callback
    sure: bool = False  # the evaluation at hand was taken in float64
    anchored: float = np.inf  # ‖∇J‖ at the last anchor


def solve_on_device(problem: LogisticProblem, tol: float, start: Array | None) -> dict[str, Any]:
    """Weights (1+d, q) at a centre, and what is known of them: the fields of a ``Minimum``."""
    if problem.offset is not None:
        raise MismatchError(
            "Known parts of the scores (offset) are taken for rows in memory, not for those on a device."
        )
    center = choose_scaling(problem.blocks, problem.intercept).center
    device = DeviceProblem(problem, center)
    A = np.zeros((device.d + 1, device.q))
    if start is not None:
        A = np.array(start, dtype=np.float64)
        A[0] += 0.0 if center is None else center @ A[1:]
    mode = "fast" if device.lib.accelerated and device.dtype == "float32" and device.q > 1 else "fine"
    A = device.lib.put(A)
    state = DeviceState(A, device.evaluate(A, mode), mode)

    def told(A: Any) -> Array:
        weights = device.lib.get(A)
        return np.asarray(weights - weights.mean(axis=1, keepdims=True) if device.q > 1 else weights)

    with reading(lambda A: (told(A), center)):
        (_newton if device.q == 1 else _quasi_newton)(device, state, tol)
    weights = told(state.A)
    columns = ("k", "objective", "gradient_norm", "step", "decrement", "passes")
    table = np.array(state.records, dtype=np.float64).reshape(-1, len(columns))
    return {
        "weights": np.asarray(weights),
        "center": center,
        "choice": WHY,
        "objective": state.found.value,
        "gap": state.gap,
        "gradient_norm": _norm(device, state.found.gradient),
        "passes": device.passes,
        "separated": state.separated,
        "stopped": state.stopped,
        "history": {name: table[:, j].tolist() for j, name in enumerate(columns)},
    }


def _norm(device: DeviceProblem, g: Any) -> float:
    return float(device.lib.dot(g, g) ** 0.5)


def _quasi_newton(device: DeviceProblem, state: DeviceState, tol: float) -> None:
    memory = Memory(_preconditioner(device), device.lib)
    idle, best = 0, np.inf
    for _ in range(MOST_STEPS):
        found = state.found
        p = memory.direction(found.gradient)
        slope = float(device.lib.dot(found.gradient, p))
        if _record(device, state, -slope):
            _stop(device, state)
            return
        if _finished(device, state, tol * abs(found.value)):
            return
        if state.found is not found:  # the proof has taken a better evaluation
            continue
        size = _norm(device, found.gradient)
        idle, best = (0, size) if size < 0.99 * best else (idle + 1, best)
        coarse = state.mode == "fast" and -slope < FAST_FLOOR * abs(found.value)
        lost = idle >= PATIENCE * (1 if state.mode == "fast" else 3)
        if not coarse and not lost and _advance(device, state, p, slope, memory):
            continue
        if state.mode == "fine" or (state.mode == "near" and size > FAR * state.anchored):
            _stop(device, state)
            return
        _refine(device, state)
        idle, best = 0, np.inf


def _refine(device: DeviceProblem, state: DeviceState) -> None:
    """A finer evaluation at the same weights: an anchor where there can be one."""
    state.mode = "near" if state.mode == "near" or device.can_anchor() else "fine"
    if state.mode == "near":
        state.found, state.sure = device.anchor(state.A), True
        state.anchored = _norm(device, state.found.gradient)
    else:
        state.found = device.evaluate(state.A, "fine")


def _advance(device: DeviceProblem, state: DeviceState, p: Any, slope: float, memory: Memory | None) -> bool:
    """The unit step where J falls enough, else a shorter one; False where none does."""
    found, step, two = state.found, 1.0, device.q == 1
    slack = NOISE[state.mode, device.dtype] * abs(found.value)
    for _ in range(12):
        A = state.A + step * p
        new = device.near(A) if state.mode == "near" else device.evaluate(A, state.mode, hessian=two, intercept=two)
        if new.value <= found.value + SUFFICIENT * step * slope + slack:
            if memory is not None:
                memory.learn(A - state.A, new.gradient - found.gradient)
            state.A, state.found, state.sure = A, new, False
            return True
        curved = 2 * (new.value - found.value - step * slope)
        better = -slope * step**2 / curved if np.isfinite(curved) and curved > 0 else 0.0
        step = float(np.clip(better, 0.1 * step, 0.5 * step))
    return False


def _preconditioner(device: DeviceProblem) -> Any:
    """P⁻¹ for P = YᵗY/(N K) + λI, with a unit diagonal while it is inverted."""
    lib, K = device.lib, device.q
    G = lib.get(device.gram()) / K
    if not device.problem.intercept:
        G[0], G[:, 0], G[0, 0] = 0.0, 0.0, 1.0
    index = np.arange(1, len(G))
    G[index, index] += device.problem.ridge
    scale = 1 / np.sqrt(np.where(np.diagonal(G) > 0, np.diagonal(G), 1.0))
    G = G * scale * scale[:, None]
    # What matrix units cannot see must not count as a direction without curvature.
    blur = 1e-4 if device.dtype == "float32" else 1e-12
    np.fill_diagonal(G, 1 + blur)
    inverse = lib.inverse(lib.put(G))
    scale = lib.put(scale)
    return inverse * scale * scale[:, None]


def _finished(device: DeviceProblem, state: DeviceState, target: float) -> bool:
    """Whether the gap is proved to be small enough; tried only where the proof will be."""
    problem, found = device.problem, state.found
    if problem.ridge == 0:
        state.separated = found.least > (0.5 if device.q > 1 else 0.0) and found.value < SEPARATED_LOSS
        return state.separated
    slopes = found.gradient[1:, :]
    loose = float(device.lib.dot(slopes, slopes)) / (2 * problem.ridge)
    if loose > 0.9 * target:
        return False
    if state.mode != "fine" and not state.sure:  # the proof is made of fine numbers
        _refine(device, state)
        return _finished(device, state, target)
    state.gap = min(state.gap, _dual_gap(device, state, loose))
    return state.gap <= target


def _dual_gap(device: DeviceProblem, state: DeviceState, loose: float) -> float:
    """The duality gap; the intercepts' part of the gradient is taken off by a shift of the dual point."""
    lib, problem = device.lib, device.problem
    if not problem.intercept:
        return loose
    found = state.found
    if found.intercept is None:
        found = replace(found, intercept=device.evaluate(state.A, "fast", intercept=True).intercept)
    g = lib.get(found.gradient)
    if device.q == 1:
        intercept = lib.get(found.intercept)[:, 0]
        delta = float(g[0, 0]) / float(intercept[0]) if intercept[0] > 0 else np.inf
        if not abs(delta) < 1:
            return float("inf")
        left = g[1:, 0] - delta * intercept[1:]
        return float(left @ left / (2 * problem.ridge) + 0.5 * intercept[0] * delta**2 / (1 - abs(delta)) ** 2)
    shift = _shift(lib.get(found.intercept), g[0])
    reach = float(shift.max() - shift.min())
    if not reach < 1:
        return float("inf")
    left = g[1:] - lib.get(device.moved(state.A, lib.put(shift)))
    return float(np.square(left).sum() / (2 * problem.ridge) + 0.5 * abs(float(shift @ g[0])) / (1 - reach))


def _shift(intercept: Array, base: Array) -> Array:
    """δ (K,) with Σ w (diag p − ppᵗ) δ = g₀, of mean zero: no softmax depends on the sum of the scores."""
    level = np.trace(intercept) / len(intercept) ** 2
    try:
        delta = np.linalg.solve(intercept + level, base)
    except np.linalg.LinAlgError:  # a class that no row has any chance to belong to
        delta = np.linalg.lstsq(intercept, base, rcond=1e-12)[0]
    return np.asarray(delta - delta.mean())


def _stop(device: DeviceProblem, state: DeviceState) -> None:
    """The arithmetic is at its end: prove what can be proved."""
    if device.problem.ridge > 0 and not state.gap < np.inf:
        slopes = state.found.gradient[1:, :]
        loose = float(device.lib.dot(slopes, slopes)) / (2 * device.problem.ridge)
        state.gap = _dual_gap(device, state, loose)


def _newton(device: DeviceProblem, state: DeviceState, tol: float) -> None:
    """Two classes: Newton steps, the Hessian by one product more in each evaluation."""
    lib = device.lib
    state.found = device.evaluate(state.A, "fine", intercept=True, hessian=True)
    least = np.inf
    for _ in range(MOST_STEPS):
        H = lib.get(state.found.hessian)
        if not device.problem.intercept:
            H[0], H[:, 0], H[0, 0] = 0.0, 0.0, 1.0
        factor = cholesky(H)
        g = lib.get(state.found.gradient)
        p = -factor.solve(g)
        square = max(-float(g[:, 0] @ p[:, 0]), 0.0)
        if _record(device, state, square):
            _stop(device, state)
            return
        target = tol * abs(state.found.value)
        if _finished(device, state, target):
            return
        if square <= 0.5 * target and state.gap > target:
            longest = device.longest(lib.put(factor.scale[1:])) + (
                factor.scale[0] ** 2 if device.problem.intercept else 0
            )
            reach = float(np.sqrt(longest * factor.root_norm()))
            state.gap = min(state.gap, self_concordant_gap(square**0.5, reach))
            if state.gap <= target:
                return
        if not square < 0.9 * least and square < 1e-3 * abs(state.found.value):
            _stop(device, state)
            return
        least = min(least, square)
        if not _advance(device, state, lib.put(p), -square, None):
            _stop(device, state)
            return


def _record(device: DeviceProblem, state: DeviceState, square: float) -> bool:
    """Record where a step begins; whether the run shall end there."""
    size, decrement = _norm(device, state.found.gradient), max(square, 0.0) ** 0.5
    state.records.append((len(state.records), state.found.value, size, 1.0, decrement, device.passes))
    state.stopped = stepped(state.A)
    return state.stopped
