"""Firth's bias-reduced logistic regression: the likelihood times Jeffreys' prior, finite on separated data.

    ℓ*(θ) = ℓ(θ) + ½ ln|I(θ)|
    ∂/∂θ_cj ½ ln|I| = ½ Σ_i w_i y_ij Σ_ab κ_abc Q_ab,      Q_ab = y_iᵗ (I⁻¹)_ab y_i

where κ_abc = δ_abc p_a − δ_ab p_a p_c − δ_bc p_b p_a − δ_ac p_c p_b + 2 p_a p_b p_c are the third cumulants of one draw
among the classes.  For two classes that is Firth's score Σ (t − p + h(½ − p)) y with the leverages h.
Firth (1993); Heinze and Schemper (2002); Kosmidis and Firth (2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discriminant.inference.likelihood import Kernel, Likelihood, Look, invert_scaled, likelihood
from discriminant.protocols import Array, Block


@dataclass(frozen=True)
class PriorKernel:
    """One block's part of the gradient of ½ ln|I|, given I⁻¹."""

    kernel: Kernel
    inverse: Array

    def __call__(self, block: Block) -> Array:
        Y = self.kernel.features(block)
        p = self.kernel.parts(Y, np.asarray(block.target, dtype=np.intp))[1]
        w = np.ones(len(Y)) if block.weight is None else block.weight
        m, D = p.shape[1], Y.shape[1]
        Q = np.empty((len(Y), m, m))
        for a in range(m):
            for b in range(a, m):
                part = self.inverse[a * D : (a + 1) * D, b * D : (b + 1) * D]
                Q[:, a, b] = Q[:, b, a] = np.einsum("ij,jk,ik->i", Y, part, Y)
        own = np.einsum("iaa->ia", Q)
        across = np.einsum("iab,ib->ia", Q, p)  # Σ_b Q_ab p_b
        whole = np.einsum("ia,ia->i", across, p)
        spread = np.einsum("ia,ia->i", own, p)
        # Σ_ab κ_abc Q_ab, gathered by c.
        pull = p * (own - spread[:, None] - 2 * across + 2 * whole[:, None])
        return np.asarray(0.5 * (pull * w[:, None]).T @ Y)


@dataclass(frozen=True)
class JeffreysLikelihood(Likelihood):
    """ℓ + ½ ln|I|: everything that is done with a likelihood can be done with it."""

    settled: ClassVar[float] = 1e-24  # the steps use I alone, so that they converge linearly

    def look(self, theta: Array, *, information: bool = True, meat: bool = False) -> Look:
        look = super().look(theta, information=True, meat=meat)
        assert look.information is not None
        scale = np.sqrt(np.maximum(np.diagonal(look.information), 1e-300))
        sign, log_volume = np.linalg.slogdet(look.information / scale / scale[:, None])
        value = look.value + 0.5 * (float(log_volume) + 2 * float(np.log(scale).sum())) if sign > 0 else -np.inf
        kernel = PriorKernel(Kernel(theta, self.center, self.scale), invert_scaled(look.information))
        return Look(value, look.score + self.blocks.reduce(kernel), look.information, look.meat)

    def plain_value(self, theta: Array) -> float:
        """ℓ alone."""
        return super().look(theta, information=False).value


def firth(blocks: Any, n_classes: int) -> tuple[JeffreysLikelihood, Array, Look]:
    """(the penalised likelihood, its maximum θ, the look there) of rows with class codes."""
    plain = likelihood(blocks, n_classes)
    model = JeffreysLikelihood(plain.blocks, n_classes, plain.center, plain.scale)
    start = np.zeros((n_classes - 1, len(plain.center) + 1))
    theta, look = model.maximise(start)
    return model, theta, look
