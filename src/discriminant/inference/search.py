"""The search for a verdict: linear programs on a growing set of rows guess, exact arithmetic proves.

On each face V of the cone (at first the whole space) the search looks for weights that are positive on every row
that does not vanish on V.  A linear program over a few hundred rows proposes weights; one pass over all rows finds
those it gets most wrong; they join the program.  Either no row is wrong, and exact signs prove it; or the program's
multipliers name rows that cannot all be positive, and an exact solve proves that.  Then the face shrinks to where
these rows vanish, and the search goes on there, until weights are found or nothing is left.

    found on the whole space: separable.    found on a smaller face: quasi-separable.    nothing left: overlapping.

Where floats cannot decide (programs whose margin is below 1e-9), a dual simplex with as many bits as needed takes over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discriminant.inference.cone import OWN, KeslerCone, Pair, spread
from discriminant.inference.exact import Integers, independent_rows, nullspace
from discriminant.inference.faces import Face
from discriminant.inference.programs import DualSimplex, vertex, widest
from discriminant.protocols import Array

_TRUST = 1e-9  # a program's margin, rows of length one, above which its sign is believed
_NEW_ROWS = 300


@dataclass(frozen=True)
class Finding:
    """What the search ends with.  Multipliers are those of the rows a_{ik} themselves."""

    weights: Integers | None  # positive on all rows but those that vanish on the whole cone; None where all do
    circuit: dict[Pair, Fraction] | None  # the first few rows found that cannot all be on the right side
    multipliers: dict[Pair, Fraction]  # λ > 0, Σ λ a = 0, on rows that span those that vanish
    infinite: tuple[int, ...]  # columns on which some weights in the cone are not zero
    spanned: tuple[int, ...]  # columns that determine the vanishing rows, the others being relations of them there
    relations: dict[int, Integers]

    @property
    def separates(self) -> bool:
        """Whether the weights are positive on all rows."""
        return self.weights is not None and self.circuit is None


class Search:
    """One search: the cone, the rows of the programs, and where randomness comes from."""

    def __init__(self, cone: KeslerCone, seed: int = 0) -> None:
        self.cone = cone
        self.random = np.random.default_rng(seed)
        self.vanishing: dict[Pair, float] = {}  # what the last program took for vanishing rows, and its multipliers
        self.empty = cone.empty_rows  # nothing but zeros and no intercept: on the boundary whatever the weights
        self.working: dict[Pair, None] = dict.fromkeys(self._sample())

    def run(self) -> Finding:
        face, first = Face(self.cone), None
        if len(self.empty):
            rivals = [(int(i), k) for i in self.empty for k in range(self.cone.n_classes) if k != self.cone.codes[i]]
            face, first = Face(self.cone, multipliers=dict.fromkeys(rivals, Fraction(1))), {rivals[0]: Fraction(1)}
        while face.dimension:
            weights, circuit = self._strict(face)
            if weights is not None:
                return self.finding(weights, face, first)
            assert circuit is not None
            first = first or circuit
            face = self._shrink(face, circuit)
        return self.finding(None, face, first)

    def strictly_or_why(self) -> tuple[Integers | None, dict[tuple[int, int], float]]:
        """Weights that separate, or how much of the program's multipliers each pair of classes carries."""
        mass: dict[tuple[int, int], float] = {}
        return None if len(self.empty) else self._strict(Face(self.cone), guess=mass)[0], mass

    def finding(
        self, weights: Integers | None, face: Face | None = None, circuit: dict[Pair, Fraction] | None = None
    ) -> Finding:
        """What is known at the end, in terms of the rows and columns themselves."""
        cone, face = self.cone, face or Face(self.cone)
        infinite: tuple[int, ...] = ()
        if weights is not None:
            hit = None if face.basis is None else {j % cone.width for v in face.basis for j, x in enumerate(v) if x}
            infinite = tuple(j for i, j in enumerate(cone.keep) if hit is None or i + cone.intercept in hit)
        few = None if circuit is None else cone.true_multipliers(circuit)
        return Finding(weights, few, cone.true_multipliers(face.multipliers), infinite, cone.keep, {})

    def _sample(self) -> list[Pair]:
        """Some rows of each class against each rival, evenly spread."""
        count = max(200, (4 if self.cone.n_classes == 2 else 2) * self.cone.dimension)
        pairs: list[Pair] = []
        share = max(2, count // (self.cone.n_classes * (self.cone.n_classes - 1)))
        for own in range(self.cone.n_classes):
            rows = np.setdiff1d(np.flatnonzero(self.cone.codes == own), self.empty, assume_unique=True)
            if not len(rows):
                continue
            for rival in range(self.cone.n_classes):
                if rival != own:
                    pairs.extend((int(i), rival) for i in spread(rows, share))
        return pairs

    # -- one face ----------------------------------------------------------------------------------------------------
    def _strict(
        self, face: Face, guess: dict[tuple[int, int], float] | None = None
    ) -> tuple[Integers | None, dict[Pair, Fraction] | None]:
        """Weights positive on every pair that does not vanish on the face, or pairs that cannot all be.

        With ``guess`` the second is not proved: the weight of each pair of classes in the reason is noted there.
        """
        directions, lowest = face.directions, float("inf")
        self.working = dict.fromkeys(face.alive(list(self.working)) or self._some_alive(face))
        while True:
            pairs = list(self.working)
            rows = self.cone.float_rows(pairs) @ directions
            rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
            program = widest(rows)
            if not program.margin > _TRUST:
                break
            wrong = self._wrong(face, directions @ program.u)
            if wrong is None:
                return face.weights(directions @ program.u), None
            fresh = face.alive(wrong)
            if not fresh:
                break
            if program.margin < 0.8 * lowest:  # far rows leave, but only after progress: no round comes back
                lowest = program.margin
                near = np.argsort(program.slack, kind="stable")[: 3 * face.dimension + 50]
                self.working = dict.fromkeys(pairs[j] for j in near)
            self.working.update(dict.fromkeys(fresh))
        if guess is not None:
            for (i, k), value in zip(pairs, program.multipliers.tolist(), strict=True):
                classes = (min(int(self.cone.codes[i]), k), max(int(self.cone.codes[i]), k))
                guess[classes] = guess.get(classes, 0.0) + value
            return None, None
        vanishing = np.flatnonzero(program.vanishing)
        tight = [pairs[vanishing[j]] for j in np.flatnonzero(vertex(rows[vanishing]))]
        circuit = face.circuit(tight) if 0 < len(tight) <= face.dimension + 1 else None
        if circuit is None:
            return self._precise(face, tight)
        self.vanishing = {pairs[j]: float(program.multipliers[j]) for j in vanishing}
        return None, circuit

    def _some_alive(self, face: Face) -> list[Pair]:
        """A pair that does not vanish on the face: there is one as long as the face is not a point."""
        signs = self.cone.signs(face.anywhere)
        i, k = np.argwhere((signs != 0) & (signs != OWN))[0]
        return [(int(i), int(k))]

    def _wrong(self, face: Face, u: Array) -> list[Pair] | None:
        """Pairs that float weights u get wrong and the programs do not know yet; None if u's exact form is right."""
        fresh = self._worst(u)
        if fresh:
            return fresh
        wrong = self._not_positive(face, face.weights(u))
        return None if not wrong else [pair for pair in wrong if pair not in self.working][:_NEW_ROWS]

    def _worst(self, u: Array) -> list[Pair]:
        """The pairs that u gets most wrong, and as many close calls; none where u gets nothing wrong."""
        worst, rivals = self.cone.worst_rivals(u)
        worst[self.empty] = np.inf
        low = float(worst.min())
        if low >= -1e-9 * max(1.0, float(np.abs(u).max())):
            return []
        close = np.flatnonzero(worst < -low)
        if len(close) > _NEW_ROWS:
            close = close[np.argpartition(worst[close], _NEW_ROWS)[:_NEW_ROWS]]
        pairs = [(int(i), int(rivals[i])) for i in close]
        return [pair for pair in pairs if pair not in self.working]

    def _not_positive(self, face: Face, weights: Integers) -> list[Pair]:
        """Pairs with a·weights ≤ 0 that do not vanish on the face, by exact signs: the negative ones first."""
        signs = self.cone.signs(weights)
        signs[self.empty] = 1
        negative = [(int(i), int(k)) for i, k in np.argwhere(signs < 0)[: 10 * _NEW_ROWS]]
        if face.basis is None:
            zero = signs == 0
        else:
            mask = signs == 0
            zero = mask & (self.cone.exact_signs(mask, face.anywhere) != 0)
        return negative + [(int(i), int(k)) for i, k in np.argwhere(zero)[: 10 * _NEW_ROWS]]

    def _shrink(self, face: Face, circuit: dict[Pair, Fraction]) -> Face:
        """The smaller face on which the circuit vanishes, and with it as many pairs as one program can show to."""
        if len(circuit) - 1 < face.dimension:
            larger = self._larger(face, circuit)
            if larger is not None:
                return larger
        elif face.basis is None and not face.multipliers:  # it spans everything and is proved already
            return Face(self.cone, tuple(circuit)[:-1], circuit, ())
        smaller = face.extend(circuit)
        assert smaller is not None  # a circuit is proved already
        return smaller

    def _larger(self, face: Face, circuit: dict[Pair, Fraction]) -> Face | None:
        """The face on which all rows vanish that the last program's multipliers, once repaired, prove to."""
        pairs = list(self.vanishing)
        if len(pairs) <= len(circuit):
            return None
        length = np.linalg.norm(self.cone.float_rows(pairs) @ face.directions, axis=1)
        exponents = self.cone.exponents(pairs)
        return face.extend(
            {
                pair: Fraction(self.vanishing[pair] / float(size)) / Fraction(2) ** exponent
                for pair, size, exponent in zip(pairs, length, exponents, strict=True)
                if size > 0
            }
        )

    # -- beyond floats -----------------------------------------------------------------------------------------------
    def _precise(self, face: Face, hint: Sequence[Pair]) -> tuple[Integers | None, dict[Pair, Fraction] | None]:
        """The same answer as ``_strict``, by a dual simplex that doubles its bits until its answer is proved."""
        self.vanishing = {}
        pairs = list(dict.fromkeys([*hint, *self.working]))
        rows = face.restrict(self.cone.integer_rows(pairs))
        first = basis = self._spanning(face, pairs, rows)
        bits = 256
        while True:
            try:
                simplex = DualSimplex(rows, basis, bits, self.random)
            except ZeroDivisionError:  # singular to so few bits
                basis, bits = first, 2 * bits
                continue
            while not (stuck := simplex.run()):
                weights = face.combine(simplex.weights())
                wrong = self._not_positive(face, weights)
                if not wrong:
                    return weights, None
                fresh = [pair for pair in wrong if pair not in set(pairs)][:50]
                if not fresh:
                    break
                pairs += fresh
                self.working.update(dict.fromkeys(fresh))
                added = face.restrict(self.cone.integer_rows(fresh))
                rows += added
                simplex.extend(added)
            if stuck and (circuit := face.circuit([pairs[i] for i in stuck])):
                return None, circuit
            basis, bits = simplex.basis, 2 * bits

    def _spanning(self, face: Face, pairs: list[Pair], rows: list[Integers]) -> list[int]:
        """Indices of independent rows that span the face's dual; pairs and rows are added where some are missing."""
        while True:
            chosen, _ = independent_rows(rows)
            if len(chosen) == face.dimension:
                return chosen
            missing, _ = nullspace([rows[i] for i in chosen])
            signs = self.cone.signs(face.combine(missing[0]))
            i, k = (int(v) for v in np.argwhere((signs != 0) & (signs != OWN))[0])
            pairs.append((i, k))
            self.working[(i, k)] = None
            rows += face.restrict(self.cone.integer_rows([(i, k)]))
