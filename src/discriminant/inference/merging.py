"""Many classes: two that overlap on their own are one to a linear machine, and the search goes on with fewer.

If the classes j and k alone overlap, and their rows span all columns, then (w_j − w_k)·ỹ ≥ 0 on one and ≤ 0 on the
other forces w_j = w_k: every machine that makes no error gives both the same weights.  So they are merged, and with
each merger the machine has r fewer weights to look for.  Once all classes are one, the data overlap.

What is found for the merged classes is proved for the classes as they were: the multipliers of a row against a merged
rival leave a remainder e_j ⊗ v − e_k ⊗ v within a group, and the rows of the overlapping pair, which span all columns,
make up for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from discriminant.inference.cone import KeslerCone, Pair, spread
from discriminant.inference.exact import independent_rows, over_common_denominator
from discriminant.inference.faces import combination
from discriminant.inference.hinge import separating
from discriminant.inference.search import Finding, Search
from discriminant.thresholds import DESCENT_FROM, FIRST_PAIRS, MERGE_FROM

_ROWS_EACH = 20  # rows of a class, for each column, that are looked at for an overlap


def find_machine(cone: KeslerCone, seed: int) -> Finding:
    """What ``Search`` finds, merging classes on the way where there are more than two."""
    if cone.n_classes == 2 or cone.dimension < MERGE_FROM:
        return Search(cone, seed).run()
    search, merger = Search(cone, seed), Merger(cone, seed)
    close = merger.close()
    merger.try_pairs(close[:FIRST_PAIRS], patience=FIRST_PAIRS)
    if not merger.edges:  # nothing speaks against a machine yet: look for one
        u = separating(cone) if cone.dimension > DESCENT_FROM else None
        if u is not None:
            return search.finding(cone.exact(u))
        weights, mass = search.strictly_or_why()
        if weights is not None:
            return search.finding(weights)
        close = [*sorted(mass, key=lambda pair: -mass[pair]), *close]
    merger.try_pairs(close, patience=cone.n_classes)
    if not merger.edges:
        return search.run()
    merged, order = merger.merged()
    if merged is None:
        return merger.whole()
    return merger.lift(find_machine(merged, seed + 1), order)


@dataclass
class Merger:
    """Classes and the overlapping pairs of them found so far: a forest."""

    cone: KeslerCone
    seed: int
    edges: dict[tuple[int, int], dict[Pair, Fraction]] = field(default_factory=dict)  # (j, k) → multipliers
    tested: set[tuple[int, int]] = field(default_factory=set)

    def group(self) -> list[int]:
        """For each class the smallest class of its tree."""
        root = list(range(self.cone.n_classes))
        for _ in root:
            for j, k in self.edges:
                root[j] = root[k] = min(root[j], root[k])
        return root

    def try_pairs(self, pairs: Sequence[tuple[int, int]], patience: int) -> None:
        """Test pairs for overlap, in this order, until as many in a row as ``patience`` do not."""
        misses = 0
        for j, k in pairs:
            root = self.group()
            if (j, k) in self.tested or root[j] == root[k]:
                continue
            self.tested.add((j, k))
            found = self._overlap(j, k)
            misses = 0 if found else misses + 1
            if found:
                self.edges[j, k] = found
            if misses > patience or len(self.edges) == self.cone.n_classes - 1:
                return

    def close(self) -> list[tuple[int, int]]:
        """All pairs of classes, the nearest means first, in units of the spread of some rows."""
        rows = [np.flatnonzero(self.cone.codes == k)[:200] for k in range(self.cone.n_classes)]
        features = [self.cone.float_features(part.tolist()) for part in rows]
        spread = np.sqrt(np.mean([f.var(axis=0) for f in features], axis=0)) + 1e-300
        means = np.array([f.mean(axis=0) for f in features]) / spread
        pairs = [(j, k) for j in range(len(means)) for k in range(j)]
        return sorted(((k, j) for j, k in pairs), key=lambda p: float(np.sum((means[p[0]] - means[p[1]]) ** 2)))

    def _overlap(self, j: int, k: int) -> dict[Pair, Fraction] | None:
        """Multipliers that prove that some rows of two classes overlap and span all columns, or None."""
        count = _ROWS_EACH * self.cone.width
        rows = np.concatenate([spread(np.flatnonzero(self.cone.codes == c), count) for c in (j, k)])
        part = self.cone.take(rows)
        pair = replace(part, codes=(part.codes == k).astype(np.int8), n_classes=2)
        features = [m for m, _ in pair.integer_features(range(min(len(rows), 4 * pair.width)))]
        if len(independent_rows(features)[0]) < pair.width:
            features = [m for m, _ in pair.integer_features(range(len(rows)))]
            if len(independent_rows(features)[0]) < pair.width:
                return None
        found = Search(pair, self.seed).run()
        if found.weights is not None:
            return None
        rival = {0: k, 1: j}
        return {(int(rows[i]), rival[int(pair.codes[i])]): value for (i, _), value in found.multipliers.items()}

    def merged(self) -> tuple[KeslerCone | None, list[int]]:
        """The cone of the merged classes, and for each class its number there; None where all are one."""
        root = self.group()
        numbers = {old: new for new, old in enumerate(sorted(set(root)))}
        order = [numbers[r] for r in root]
        if len(numbers) == 1:
            return None, order
        codes = np.array(order)[np.asarray(self.cone.codes, dtype=np.intp)]
        return replace(self.cone, codes=codes, n_classes=len(numbers)), order

    def whole(self) -> Finding:
        """All classes are one: the pairs' multipliers together span everything."""
        together = {pair: value for edge in self.edges.values() for pair, value in edge.items()}
        first = min(self.edges.values(), key=len)
        return Finding(None, dict(first), together, (), self.cone.keep, {})

    def lift(self, found: Finding, order: list[int]) -> Finding:
        """A finding about merged classes as one about the classes themselves."""
        width, weights = self.cone.width, None
        if found.weights is not None:
            blocks = [[0] * width]
            blocks += [found.weights[k * width : (k + 1) * width] for k in range(len(found.weights) // width)]
            weights = [v for k in range(1, self.cone.n_classes) for v in blocks[order[k]]]
        total = self.whole().multipliers
        if found.multipliers:
            own = {(i, order.index(k)): value for (i, k), value in found.multipliers.items()}
            total = self._balanced(own, total)
        first = min(self.edges.values(), key=len)
        return Finding(weights, dict(first), total, found.infinite, self.cone.keep, {})

    def _balanced(self, own: dict[Pair, Fraction], total: dict[Pair, Fraction]) -> dict[Pair, Fraction]:
        """Multipliers that contain ``own`` and vanish in sum, those of the edges raised as far as it takes."""
        left = self.cone.balance(own)
        change: dict[Pair, Fraction] = {}
        degree = {k: sum(k in edge for edge in self.edges) for k in range(self.cone.n_classes)}
        pending = dict(self.edges)
        while pending:  # leaves first: what a leaf is left with is handed on to its neighbour
            leaf = next(k for k, count in degree.items() if count == 1)
            edge = next(pair for pair in pending if leaf in pair)
            other = edge[0] + edge[1] - leaf
            for pair, value in self._absorb(pending.pop(edge), leaf, left[leaf]).items():
                change[pair] = change.get(pair, Fraction(0)) + value
            left[other] = [a + b for a, b in zip(left[other], left[leaf], strict=True)]
            left[leaf] = [Fraction(0)] * self.cone.width
            degree[leaf], degree[other] = 0, degree[other] - 1
        lift = max([Fraction(1), *(1 - value / total[pair] for pair, value in change.items())])
        result = {pair: lift * value for pair, value in total.items()}
        for part in (change, own):
            for pair, value in part.items():
                result[pair] = result.get(pair, Fraction(0)) + value
        return result

    def _absorb(self, edge: Mapping[Pair, Fraction], leaf: int, rest: list[Fraction]) -> dict[Pair, Fraction]:
        """Multipliers, of any sign, on an edge's rows that take ``rest`` off the leaf and give it to its neighbour."""
        pairs = list(edge)
        features = self.cone.integer_features(i for i, _ in pairs)
        chosen, pivots = independent_rows([m for m, _ in features])
        base = [[_sign(self.cone, pairs[i], leaf) * v for v in features[i][0]] for i in chosen]
        whole = over_common_denominator([*rest, Fraction(1)])
        x = combination(base, pivots, [(whole[:-1], Fraction(1, whole[-1]))])
        assert x is not None  # the edge's rows span all columns
        return {pairs[i]: v * Fraction(2) ** features[i][1] for i, v in zip(chosen, x, strict=True)}


def _sign(cone: KeslerCone, pair: Pair, leaf: int) -> int:
    return 1 if int(cone.codes[pair[0]]) == leaf else -1
