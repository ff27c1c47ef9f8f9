"""Where maximum likelihood goes when it has no finite maximum: the limiting fit of separated data.

Along weights β + t·w, w in the cone of directions that err nowhere, the likelihood rises for ever.  In the limit

    rows strictly on their side under w are certain,
    the rows on its boundary keep a likelihood of their own, Σ_i log softmax over the classes that tie at row i,
    which has a finite maximum: the boundary rows overlap.

So the limiting probabilities are those of the boundary rows' fit where x ties, and 0 or 1 elsewhere; a coefficient is
finite exactly when no direction in the span of the cone moves it, and its estimate is that of the boundary rows.  No
number here depends on a tolerance of an optimizer that was stopped on its way to infinity.

The boundary rows' fit:   maximise  Σ_i w_i [z_{iy} − log Σ_{k ties} e^{z_ik}],     z = offset + features W,   W_0 = 0.
Weights along directions that no boundary row sees are held at zero: which ones is known exactly, so that what is left
has one maximum, and Newton's method finds it to the last digits without a decision about rank.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.data import as_rows, make_blocks, single_threaded_blas
from discriminant.data.rows import Rows
from discriminant.decision.posteriors import log_softmax
from discriminant.errors import counted
from discriminant.inference import documented
from discriminant.inference.cone import OWN, KeslerCone
from discriminant.inference.exact import Integers, nullspace
from discriminant.inference.likelihood import Likelihood, inverse, maximise
from discriminant.objective import logistic_objective
from discriminant.protocols import Array, Block
from discriminant.shown import Shown

IMPOSSIBLE = -1e30  # as good as −∞ for a score, but finite: e^z is zero, and zero times it too


def fit_boundary(
    cone: KeslerCone, rows: Array, ties: Array, weight: Array, offset: Array | None, free: Array
) -> tuple[Array, float, Array]:
    """(W (r, K), the maximum, the covariance ((K−1) r)² of W's columns but the first, zero where held) of these rows.

    ``ties`` (m, K) are the classes that a row may belong to: another's offset makes it impossible.  Only the weights
    ``free`` are fitted.  Features have their intercept among them.
    """
    K, r = cone.n_classes, cone.width
    known = np.zeros(ties.shape) if offset is None else np.array(offset, dtype=np.float64)
    known[~ties] = IMPOSSIBLE
    known = known[:, 1] - known[:, 0] if K == 2 else known
    blocks = make_blocks(cone.float_features(rows.tolist()), cone.codes[rows].astype(np.int32), weight)
    model = Likelihood(logistic_objective(blocks, K, intercept=False, offset=known))
    places = free + free // r + 1  # in θ, whose columns begin with an intercept that is nothing
    theta, found = maximise(model, np.zeros((r + 1, K - 1)), places)
    covariance = np.zeros(((K - 1) * r,) * 2)
    if len(free):
        assert found.hessian is not None
        covariance[np.ix_(free, free)] = inverse(found.hessian[np.ix_(places, places)])
    return np.hstack([np.zeros((r, 1)), theta[1:]]), -found.value, covariance


def free_weights(cone: KeslerCone, unseen: Array) -> Array:
    """The weights but those that are held: one for each direction that no row sees, (m, D) independent rows."""
    from scipy.linalg import qr

    if not len(unseen):
        return np.arange(cone.dimension)
    size = np.abs(unseen).max(axis=1, keepdims=True)
    kept = unseen / np.maximum(size, 1e-300)
    if cone.intercept:
        kept[:, :: cone.width] *= 1e-6  # intercepts are held where nothing else can be
    held = qr(kept, mode="r", pivoting=True)[1][: len(unseen)]
    return np.setdiff1d(np.arange(cone.dimension), held)


CERTAIN = 40.0  # a score from which on a float cannot distinguish a probability from one
MOST_PARAMETERS = 4_000
_CHUNK = 20_000
_TRIALS = 40


@documented
@dataclass(frozen=True, eq=False, repr=False)
class LimitingFit(Shown):
    """The limit of maximum likelihood estimates on separated data, and of the probabilities that they give.

    Along a separating direction the likelihood has no maximum; the rows on the boundary have a finite fit of their own.

    Attributes
    ----------
    classes
    coefficients : ndarray of shape (1 + d,), or (1 + d, K)
        With zeros for the first of K > 2 classes; ±inf where no finite estimate exists.
    finite : ndarray of shape (1 + d,), or (1 + d, K)
        The same with 0 for what is infinite: the fit of the boundary rows, up to what they leave open.
    covariance : ndarray
        Of ``finite``, classes outermost, given what is infinite; NaN in rows and columns of that.
    log_likelihood : float
        Its least upper bound.
    boundary : ndarray of int
        The rows that are not certain.
    table : ndarray of shape (1 + d, 1) or (1 + d, K)
        ±inf and finite weights as an estimator's ``coef_``, no class singled out.
    stand_in : ndarray of shape (1 + d, 1) or (1 + d, K)
        Finite weights, about ``center``, far out on the way to the limit.
    center : ndarray of shape (d,)
        Where the intercepts of ``stand_in`` are taken.
    undecided : tuple of int
        Rows of ``table`` (0 the intercept) that may be anything: the direction leaves them open.
    feature_names : tuple of str or None
        The columns, where a fit knows their names.

    See Also
    --------
    Separability.limiting_fit : Makes one.

    >>> result = separability([[0.0, 1.0], [0.0, 2.0], [0.0, 4.0], [1.0, 3.0], [1.0, 1.0]], [0, 1, 0, 1, 1])
    >>> fit = result.limiting_fit()
    >>> fit.coefficients.tolist()[1], fit.predict_proba([[1.0, 9.0]]).tolist()
    (inf, [[0.0, 1.0]])
    """

    classes: Array
    coefficients: Array  # (1+d,), or (1+d, K) with zeros for the first class; ±inf where no finite estimate exists
    finite: Array  # the same with 0 for what is infinite: the fit of the boundary rows, up to what they leave open
    covariance: Array  # of ``finite``, classes outermost, given what is infinite; NaN in rows and columns of that
    log_likelihood: float  # its least upper bound
    boundary: Array  # the rows that are not certain
    table: Array  # (1+d, 1) or (1+d, K): ±inf and finite weights as an estimator's ``coef_``, no class singled out
    stand_in: Array  # (1+d, 1) or (1+d, K): finite weights, about ``center``, that far out on the way to the limit
    center: Array  # (d,)
    undecided: tuple[int, ...]  # rows of ``table`` (0 the intercept) that may be anything: the direction leaves them
    _cone: KeslerCone = field(repr=False)  # without rows
    _weights: tuple[str, ...] = field(repr=False)  # integers, in hexadecimal
    _scores: Array = field(repr=False)  # (r, K): the boundary rows' fit in the cone's float coordinates
    feature_names: tuple[str, ...] | None = None

    def _shown(self) -> tuple[str, dict[str, Any], list[str], list[str]]:
        two = self.coefficients.ndim == 1
        labels = [f"for {self.classes[1]}"] if two else [str(label) for label in self.classes]
        columns = self.coefficients.reshape(len(self.coefficients), -1).T
        terms = ["(intercept)", *(self.feature_names or [f"x{j}" for j in range(len(self.coefficients) - 1)])]
        below = [f"log-likelihood at most {self.log_likelihood:.6g}; {counted(len(self.boundary), 'row')} undecided"]
        table = {"column": terms, **dict(zip(labels, columns, strict=True))}
        return "The limit of maximum likelihood", table, ["column"], below

    def predict_proba(self, X: Any) -> Array:
        """The limiting probabilities: exact ties under the direction are decided by the boundary rows' fit."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the limiting probabilities: −inf for classes that are out of the question."""
        return log_softmax(self.scores(X))

    def decision_function(self, X: Any) -> Array:
        """The log odds of two classes, (n,), or the scores (n, K); the infinite are a quarter of the largest float.

        So probabilities are 0 and 1, and measures of rank, which refuse infinities, still work.
        """
        z = self.scores(X)
        most = np.finfo(z.dtype).max / 4
        with np.errstate(invalid="ignore"):
            return np.asarray(np.clip(z[:, 1] - z[:, 0] if z.shape[1] == 2 else z, -most, most))

    def predict(self, X: Any) -> Array:
        """The class of the largest score."""
        return np.asarray(self.classes.take(self.scores(X).argmax(axis=1)))

    def scores(self, X: Any) -> Array:
        """The scores of the classes that tie at the top under the direction, and −inf for the others."""
        source = as_rows(X)
        n = source.shape[0]
        parts = [self._some(as_rows(source.design(i, min(i + _CHUNK, n)).raw)) for i in range(0, n, _CHUNK)]
        z = np.vstack(parts) if parts else np.zeros((0, len(self.classes)))
        return z.astype(np.float32 if source.dtype == np.float32 else np.float64, copy=False)

    def _some(self, source: Rows) -> Array:
        n = source.shape[0]
        cone = replace(self._cone, source=source, codes=np.zeros(n, dtype=np.intp))
        signs = np.empty((n, len(self.classes)), dtype=np.int8)
        rows, best = np.arange(n), self._likely(cone)
        while len(rows):  # the class that floats find best, unless exact signs name a better one
            found = replace(cone.take(rows), codes=best).signs(self._integers)
            signs[rows] = found
            wrong = (found < 0).any(axis=1)
            rows, best = rows[wrong], (found[wrong] < 0).argmax(axis=1)
        z = np.full(signs.shape, -np.inf)
        ties = (signs == 0) | (signs == OWN)
        open_rows = np.flatnonzero(ties.sum(axis=1) > 1)
        z[ties] = 0.0
        if len(open_rows):
            decided = cone.float_features(open_rows.tolist()) @ self._scores
            z[open_rows] = np.where(ties[open_rows], decided, -np.inf)
        return z

    def _likely(self, cone: KeslerCone) -> Array:
        u = cone.floats(self._integers)[0].reshape(cone.n_classes - 1, cone.width)
        z = cone.float_features(range(cone.n_rows)) @ np.vstack([np.zeros(cone.width), u]).T
        return np.asarray(z.argmax(axis=1))

    @cached_property
    def _integers(self) -> Integers:
        return [int(v, 16) for v in self._weights]


def limiting_fit(
    cone: KeslerCone,
    classes: Array,
    weights: Integers,
    spanning: list[tuple[int, int]],
    columns: tuple[int, ...],
    relations: dict[int, Integers],
    row_weight: Array | None = None,
    offset: Array | None = None,
    shift: Array | None = None,
) -> LimitingFit:
    """The limiting fit along ``weights``; ``spanning`` pairs, of these ``columns``, span the pairs on the boundary.

    ``offset``: known parts of the scores, (n,) or (n, K); ``shift`` (K,) is taken off the intercepts at the end.
    """
    signs = cone.signs(weights)
    weights = _rounded(cone, weights, signs)
    if spanning and cone.n_classes > 2:
        weights = _plainer(cone, weights, signs)
    ties = signs == 0
    rows = np.flatnonzero(ties.any(axis=1))
    inner = replace(cone, keep=columns) if spanning else cone
    basis = nullspace(inner.integer_rows(spanning))[0] if spanning else []
    K, scores, value, spread = cone.n_classes, np.zeros((cone.width, cone.n_classes)), 0.0, None
    if len(rows):
        at = {j: i + cone.intercept for i, j in enumerate(cone.keep)}
        places = [0] * inner.intercept + [at[j] for j in inner.keep]
        open_coordinates = np.array([inner.floats(vector)[0] for vector in basis]).reshape(-1, inner.dimension)
        known = None if offset is None else _two_columns(offset[rows], K)
        mass = np.ones(len(rows)) if row_weight is None else row_weight[rows]
        ties[rows, cone.codes[rows]] = True
        with single_threaded_blas():  # many small products
            free = free_weights(inner, open_coordinates)
            inside, value, spread = fit_boundary(inner, rows, ties[rows], mass, known, free)
        scores[places] = inside
    if shift is not None and cone.intercept:
        scores[0] -= shift
    moves = _moves(cone, inner, basis, relations, bool(spanning))
    two, estimate = K == 2, _over_columns(cone, scores)
    estimate = estimate - estimate[:, :1]
    direction = _directions(cone, weights)
    apart = moves != moves[:, :, :1]
    open_ended = apart.any(axis=0)
    finite = np.where(open_ended, 0.0, estimate)
    ends = np.array([-np.inf, np.nan, np.inf])[np.sign(direction) + 1]  # NaN: free to move either way
    infinite = np.where(open_ended, ends, finite)
    table, undecided = _table(estimate, direction, moves)
    stand_in = _stand_in(cone, weights, scores, signs)
    keep_empty = replace(cone, source=None, codes=np.zeros(0, dtype=np.int8))  # type: ignore[arg-type]
    return LimitingFit(
        classes,
        infinite[:, 1] if two else infinite,
        finite[:, 1] if two else finite,
        _covariance(inner, spread, ~open_ended[:, 1:]),
        value,
        rows,
        table[:, 1:] if two else table,
        stand_in[:, 1:] - stand_in[:, :1] if two else stand_in - stand_in.mean(axis=1, keepdims=True),
        np.array(cone.center),
        undecided,
        keep_empty,
        tuple(f"{v:x}" for v in weights),
        scores,
    )


def _rounded(cone: KeslerCone, weights: Integers, signs: Array) -> Integers:
    """The direction without what is rounding in it, where that changes no sign."""
    size = max(map(abs, weights))
    large = [v if abs(v) << 40 > size else 0 for v in weights]
    return large if large != weights and np.array_equal(cone.signs(large), signs) else weights


def _plainer(cone: KeslerCone, weights: Integers, signs: Array) -> Integers:
    """A direction with the same signs that tells fewer classes apart in each column, where a few trials find one."""
    machine = cone.machine(weights)
    trials = 0
    for i in range(cone.width):
        for k in range(cone.n_classes):
            own, others = machine[k][i], Counter(block[i] for block in machine)
            likely = max(others, key=lambda v: (others[v], v == 0))
            if own == likely or others[own] >= others[likely] > 1 or trials >= _TRIALS:
                continue
            trial = [list(block) for block in machine]
            trial[k][i] = likely
            flat = [a - b for block in trial[1:] for a, b in zip(block, trial[0], strict=True)]
            trials += 1
            if np.array_equal(cone.signs(flat), signs):
                machine = trial
    return [a - b for block in machine[1:] for a, b in zip(block, machine[0], strict=True)]


def _two_columns(offset: Array, K: int) -> Array:
    return offset if offset.ndim == 2 and offset.shape[1] == K else np.c_[np.zeros(len(offset)), offset.reshape(-1, 1)]


def _directions(cone: KeslerCone, weights: Integers) -> Array:
    """(1+d, K) signs and order of the direction's weights, as integers that compare exactly within a row."""
    result = np.zeros((cone.source.shape[1] + 1, cone.n_classes), dtype=object)
    for k, block in enumerate(cone.machine(weights)):
        for place, v in zip([0] * cone.intercept + [j + 1 for j in cone.keep], block, strict=True):
            result[place, k] = v
    ranks = np.zeros(result.shape, dtype=int)
    for i, row in enumerate(result):
        ranks[i] = [sum(v > u for u in set(row)) for v in row]
    return ranks - ranks[:, :1]


def _moves(
    cone: KeslerCone, inner: KeslerCone, basis: list[Integers], relations: dict[int, Integers], boundary: bool
) -> Array:
    """(m, 1+d, K): how each direction of the span of the cone moves each coefficient, exactly, up to a factor."""
    d, K = cone.source.shape[1], cone.n_classes
    if not boundary:  # nothing holds any coefficient that counts
        every = np.zeros((K - 1, d + 1, K), dtype=object)
        places = [0] * cone.intercept + [j + 1 for j in cone.keep]
        for k in range(1, K):
            every[k - 1, places, k] = 1
        return every
    found = np.zeros((len(basis) + len(relations) * (K - 1), d + 1, K), dtype=object)
    places = [0] * inner.intercept + [j + 1 for j in inner.keep]
    for move, vector in zip(found, basis, strict=False):
        for k, block in enumerate(inner.machine(vector)):
            move[places, k] = block
    related = ((vector, k) for vector in relations.values() for k in range(1, K))
    for move, (vector, k) in zip(found[len(basis) :], related, strict=True):
        move[:, k] = vector
    return found


def _table(estimate: Array, direction: Array, moves: Array) -> tuple[Array, tuple[int, ...]]:
    """(1+d, K): in each row the largest group of classes that go together is finite, the others ±inf against it."""
    table, undecided = np.array(estimate), []
    for i, row in enumerate(direction.tolist()):
        counts = Counter(row)
        base = max(row, key=lambda rank: (counts[rank], -row.index(rank)))
        members = [k for k, rank in enumerate(row) if rank == base]
        for k in members[1:]:
            if (moves[:, i, k] != moves[:, i, members[0]]).any():
                table[i, k] = table[i, members[0]]
                undecided.append(i)
        if len(row) > 2:
            table[i, members] -= table[i, members].mean()
        for k, rank in enumerate(row):
            if rank != base:
                table[i, k] = np.inf if rank > base else -np.inf
    return table, tuple(dict.fromkeys(undecided))


def _stand_in(cone: KeslerCone, weights: Integers, scores: Array, signs: Array) -> Array:
    """(1+d, K) about the centre: the boundary rows' fit and so much of the direction that certain rows look so."""
    u = cone.floats(weights)[0]
    least, most = [np.inf], [0.0]

    def kernel(block: Block, gap: Array, bound: Array) -> None:
        certain = signs[block.start : block.start + len(gap)] == 1
        least[0] = min(least[0], float(gap[certain].min(initial=np.inf)))

    cone.each_gap(u, kernel)
    for start in range(0, cone.n_rows if scores.any() else 0, _CHUNK):
        z = cone.float_features(range(start, min(start + _CHUNK, cone.n_rows))) @ scores
        most[0] = max(most[0], float((z.max(axis=1) - z.min(axis=1)).max()))
    length = (CERTAIN + most[0]) / max(least[0], 1e-200)
    along = np.vstack([np.zeros(cone.width), u.reshape(cone.n_classes - 1, cone.width)]).T
    whole = scores + (2.0 ** np.ceil(np.log2(length))) * along
    result = _over_columns(cone, whole)
    result[0] = whole[0] if cone.intercept else 0.0
    return result


def _over_columns(cone: KeslerCone, table: Array) -> Array:
    """(r, K) weights in float coordinates as (1+d, K) over the columns of X."""
    keep = list(cone.keep)
    result = np.zeros((cone.source.shape[1] + 1, table.shape[1]))
    slopes = table[cone.intercept :] * np.ldexp(1.0, -cone.exponent[keep])[:, None]
    result[np.array(keep, dtype=int) + 1] = slopes
    if cone.intercept:
        result[0] = table[0] - cone.center[keep] @ slopes
    return result


def _covariance(inner: KeslerCone, spread: Array | None, finite: Array) -> Array:
    """((K−1)(1+d))²: the covariance over the columns of X where estimates are finite, NaN elsewhere."""
    d, m = inner.source.shape[1], inner.n_classes - 1
    if spread is None or m * (d + 1) > MOST_PARAMETERS:
        return np.zeros((0, 0))
    T = _over_columns(inner, np.eye(inner.width))
    wide = np.kron(np.eye(m), T)
    result = np.asarray(wide @ spread @ wide.T)
    undetermined = ~finite.T.ravel()
    result[undetermined] = np.nan
    result[:, undetermined] = np.nan
    return result
