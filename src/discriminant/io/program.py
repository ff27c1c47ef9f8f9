"""What a fitted model computes, as data: the one description from which every export is written.

    centred    x − c
    scores     z = b + (x − c) W,       or, quadratic,  z_k = a_k − ½ ‖(x − c) W_k − u_k‖²
    classes    g = z D + s  (linear),   or votes, unanimous, nearest over the outputs
    chances    p = softmax(g + h)       or  σ(g_k) / Σ σ(g_j), times e^{h_k}, brought to sum one;  h: moved priors;
               pairs: the p with r_ij = σ(z_ij) ≈ p_i / (p_i + p_j), the solution of one linear system
    decision   argmax g;  with costs argmin_a Σ_k C_ak p_k;  with reject: the one positive g, else the reject label

Pairs (Wu, Lin and Weng's second method, see ``codings.coupling``):

    r_ij = σ(z_ij),  r_ji = 1 − r_ij;   Q_ii = Σ_{s≠i} r_si²,  Q_ij = −r_ji r_ij;   minimise pᵗQp under Σ p = 1

With p_m = 1 − Σ_{i<m} p_i, m = K − 1, that is the positive definite system H p = b of m unknowns,
H_ij = Q_ij − Q_im − Q_mj + Q_mm, b_i = Q_mm − Q_im, which elimination solves without exchanging rows.  What rounding
leaves below zero is zero, and the sum is brought to one.

A model with a basis also has ``basis``: the formulas φ(x) (``io.formulas``) that stand for x in all of this.

A model of a table also has ``columns``: what becomes of each raw column before x is there (``data.preprocess``).

    number     (v − fill) / scale;  missing: the fill, and 1 in a second feature where there is one
    category   a row of 0 and 1 for a known level, the frequencies of the fit for one not seen; missing: see the rule

A fill or frequencies of NaN stand for what the model refuses: NULL in SQL, −1 for the class in C, NaN scores elsewhere.

Missing is NULL in SQL (and NaN, and an empty text), NaN or a NULL pointer in C, NaN or the empty text in ONNX.

``evaluate`` is the reference: plain NumPy, against which each export is checked before it is handed out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discriminant.arrays import is_sparse
from discriminant.codings import pairs
from discriminant.data.files import read_frame
from discriminant.data.preprocess import ColumnRule, Preprocess, indicator_table
from discriminant.data.roles import NUMBER, OUT
from discriminant.decision.rule import Rule
from discriminant.errors import DataError
from discriminant.gaussian.quadratic import QuadraticDiscriminant
from discriminant.io.encode import is_estimator
from discriminant.io.formulas import Formula, anchors, evaluate, formulas, steady
from discriminant.io.pipelines import is_pipeline, table_model
from discriminant.io.table_model import TableModel
from discriminant.methods.fit import Fit, is_unanimous, reject_label
from discriminant.model import LinearDiscriminant, discriminant_of
from discriminant.protocols import Array

UNSEEN = "a level that was never seen"


@dataclass(frozen=True, eq=False)
class Program:
    """A classifier, spelled out."""

    features: tuple[str, ...]
    classes: list[Any]
    center: Array  # (d,), of φ(x) where there is a basis
    weights: Array | None  # (1 + d, q)
    quadratic: tuple[Array, Array, Array] | None = None  # W_k (K, d, r), u_k (K, r), a_k (K,)
    decoder: str = "linear"
    decode: tuple[Array, ...] = ()  # linear: D (q, K), s (K,); votes, unanimous: signs (K, q), θ (q,); nearest: t, care
    link: str | None = None
    prior_shift: Array | None = None  # h (K,)
    costs: Array | None = None  # (acts, K)
    actions: list[Any] | None = None
    rejects: bool = False  # "unanimous": not the largest g decides, but the only positive one
    reject: Any = None  # the label where not exactly one is
    columns: tuple[ColumnRule, ...] = ()  # of a table: how its raw columns become the features
    basis: tuple[Formula, ...] = ()  # φ: what is made of the features

    @property
    def labels(self) -> list[Any]:
        """What a decision can be: classes or acts, and the reject label where there is one."""
        labels = self.classes if self.actions is None else self.actions
        return [*labels, self.reject] if self.rejects and self.costs is None else labels

    def evaluate(self, X: Array) -> tuple[Array, Array, Array | None]:
        """(position in ``labels`` (n,), g (n, K), p (n, K) or None)."""
        return self.answers(np.asarray(X, dtype=np.float64))

    def answers(self, X: Array) -> tuple[Array, Array, Array | None]:
        """The same of float64; of arrays of a graph, which keep what is asked of them (``io.onnx``)."""
        z = self.outputs(X)
        g = self.class_scores(z)
        p = self.chances(z, g)
        return self.decide(g, p), g, p

    def outputs(self, X: Array) -> Array:
        """z (n, q)."""
        x = self.mapped(X) - self.center
        if self.quadratic is None:
            assert self.weights is not None
            return x @ self.weights[1:] + self.weights[0]  # type: ignore[no-any-return]
        W, u, a = self.quadratic
        K, d, r = W.shape
        v = x @ W.transpose(1, 0, 2).reshape(d, K * r) - u.ravel()
        return (v * v) @ (-0.5 * np.repeat(np.eye(K), r, axis=0)) + a  # type: ignore[no-any-return]

    def mapped(self, X: Array) -> Array:
        """φ(x); x itself where there is no basis."""
        return np.column_stack([evaluate(formula, X) for formula in self.basis]) if self.basis else X

    def class_scores(self, z: Array) -> Array:
        """g (n, K)."""
        first, second = self.decode
        if self.decoder == "linear":
            return z @ first + second
        if self.decoder == "nearest":
            gap = z[:, None, :] - first
            return (gap * gap * (-0.5 * second)).sum(axis=2)  # type: ignore[no-any-return]
        agreed = (z - second)[:, None, :] * first
        if self.decoder == "unanimous":
            return np.where(first != 0, agreed, np.inf).min(axis=2)  # type: ignore[no-any-return]
        total = agreed.sum(axis=2)
        return (agreed > 0).sum(axis=2) + total / (3 * (1 + np.abs(total)))  # type: ignore[no-any-return]

    def chances(self, z: Array, g: Array) -> Array | None:
        """p (n, K), where there is a link."""
        if self.link is None:
            return None
        if self.link == "pairs":
            p = self._coupled(np.exp(-np.logaddexp(0, -z)))
            p = p if self.prior_shift is None else p * np.exp(self.prior_shift)
        else:
            each = g if self.link == "softmax" else -np.logaddexp(0, -g)  # log σ(g)
            each = each if self.prior_shift is None else each + self.prior_shift
            p = np.exp(each - each.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]

    def _coupled(self, r: Array) -> Array:
        """The solution of H p = b, negative parts left out, by Gauss and Jordan: H stands beside b, (n, m, m + 1)."""
        K = len(self.classes)
        m, (first, second) = K - 1, pairs(K)
        at = np.arange(len(first))
        place, below = np.zeros((len(at), K, K)), np.zeros((K, K))
        place[at, first, second], place[at, second, first], below[second, first] = 1, -1, 1
        beats = (r @ place.reshape(-1, K * K)).reshape(-1, K, K) + below  # r_ij, and r_ji = 1 − r_ij
        losses = (beats * beats).sum(axis=1, keepdims=True)
        Q = losses * np.eye(K) - beats * beats.transpose(0, 2, 1)
        Z = np.vstack([np.eye(m), -np.ones(m)])  # p = e_m + Z p_{<m}
        reduced = Z.T @ Q
        H = np.concatenate([reduced @ Z, -(reduced @ np.eye(K)[:, m:])], axis=2)
        for s in range(m):  # column s is left with its diagonal alone
            others = H[:, :, [s]] * (np.arange(m) != s)[:, None]
            H = H - others / H[:, [s]][:, :, [s]] * H[:, [s]]
        p = H[:, :, m] / (H[:, :, np.arange(m)] * np.eye(m)).sum(axis=2)
        p = np.concatenate([p, 1 - p.sum(axis=1, keepdims=True)], axis=1)
        return np.maximum(p, 0)  # type: ignore[no-any-return]

    def decide(self, g: Array, p: Array | None) -> Array:
        """The position in ``labels`` (n,)."""
        if self.costs is not None:
            assert p is not None
            return (p @ self.costs.T).argmin(axis=1)  # type: ignore[no-any-return]
        if self.rejects:
            positive = np.where(g > 0, 1.0, 0.0)
            return np.where(positive.sum(axis=1) == 1, positive.argmax(axis=1), len(self.classes))
        return (g if self.prior_shift is None or p is None else p).argmax(axis=1)  # type: ignore[no-any-return]


def program(model: Any) -> Program:
    """The program of a fitted model, or a sentence that says why it has none."""
    kind = type(model).__name__
    if isinstance(model, Program):
        return model
    if is_pipeline(model):
        model = table_model(model)
    if isinstance(model, TableModel):
        columns = tuple(rule for rule in model.preprocess.rules if rule.role != OUT)
        if all(rule.role == NUMBER and np.isnan(rule.fill) for rule in columns):
            columns = ()  # the features as they are, as of any model
        found = replace(program(model.model), features=tuple(model.feature_names), columns=columns)
        return found if model.costs is None else replace(found, costs=model.costs, actions=found.classes)
    if isinstance(model, Fit):
        found = program(model.discriminant)
        linear = model.discriminant_
        if linear is None or not is_unanimous(linear.coding):
            return found
        return replace(found, rejects=True, reject=reject_label(model.method.reject_label, model.classes))
    if isinstance(model, LinearDiscriminant):
        return _linear(model)
    if isinstance(model, QuadraticDiscriminant):
        return _quadratic(model, tuple(f"x{j}" for j in range(model.n_features)))
    if not is_estimator(model) or "classes_" not in vars(model):
        raise DataError(f"This {kind} is not fitted yet, or is no model of this package: there is nothing to export.")
    if kind == "MinimumRiskClassifier":
        return _minimum_risk(model)
    if kind == "QuadraticDiscriminantAnalysis":
        curved = QuadraticDiscriminant(model._scores, model.classes_)
        found = _mapped(_quadratic(curved, _names(model, curved.n_features)), model._features)
        return replace(found, features=_names(model, len(found.features)), columns=_rules(model))
    linear = discriminant_of(model)
    if linear is None:
        raise DataError(f"A {kind} has no discriminant that could be exported.")
    if kind == "SigmoidRegressionClassifier":  # its outputs are σ(z), which are no log odds
        if model._multilabel:
            raise DataError(f"This {kind} answers several labels a row, and an export holds one decision a row.")
        linear = replace(linear, link="sigmoid")
    found = _linear(linear)
    if model._unanimous:
        found = replace(found, rejects=True, reject=model._reject_label())
    return replace(found, features=_names(model, len(found.features)), columns=_rules(model))


def _rules(model: Any) -> tuple[ColumnRule, ...]:
    """Of a frame with categories: how its columns become the features; what ``predict`` refuses has no answer."""
    if model._encoding is None:
        return ()
    unknown = (replace(rule, fill=np.nan, shares=(np.nan,) * len(rule.shares)) for rule in model._encoding.rules)
    return tuple(unknown)


def _names(model: Any, d: int) -> tuple[str, ...]:
    found = model._column_names()
    return tuple(f"x{j}" for j in range(d)) if found is None else tuple(str(name) for name in found)


def _quadratic(model: QuadraticDiscriminant, features: tuple[str, ...]) -> Program:
    scores, K = model.quadratic, len(model.classes)
    parts, decode = (scores.matrices, scores.means, scores.constants), (np.eye(K), np.zeros(K))
    return Program(features, model.classes.tolist(), scores.origin, None, parts, "linear", decode, model.link)


def _mapped(found: Program, basis: Any) -> Program:
    """The program on the features of a basis, once its formulas give what the basis itself does."""
    if basis is None:
        return found
    plain = basis.basis if type(basis).__name__ == "FeatureMap" else basis  # without what an estimator keeps with it
    d = int(vars(plain).get("n_features_in_", 0))
    found = replace(found, features=tuple(f"x{j}" for j in range(d)), basis=tuple(formulas(plain, range(d))))
    X = edge_points(found)
    features = basis.transform(X)
    gap = np.abs(found.mapped(X) - np.asarray(features.toarray() if is_sparse(features) else features))
    if not (gap <= 1e-12 * (1 + np.abs(found.mapped(X)) + np.abs(X).max(axis=1, keepdims=True))).all():
        raise DataError(f"The export was refused: formulas of the basis {basis!r} differ from it by {gap.max():.1e}.")
    return found


def _linear(model: LinearDiscriminant) -> Program:
    rule = Rule(model.classes, model.n_outputs, model.coding, model.link)
    center = np.zeros(model.n_features) if model.center is None else np.asarray(model.center)
    linear = rule.linear_decoder
    if linear is not None:
        decoder, decode = "linear", linear
    elif model.coding.decoder == "nearest":
        decoder, decode = "nearest", (model.coding.targets, model.coding.care)
    else:
        decoder, decode = model.coding.decoder, (model.coding.signs, model.coding.threshold)
    # ±½ z under the softmax is σ(z): one exponent for two classes.
    link = "softmax" if model.link is not None and rule.one_output else model.link
    found = Program(model.names, model.classes.tolist(), center, np.asarray(model.weights), None, decoder, decode, link)
    return _mapped(found, model.basis)


def _minimum_risk(model: Any) -> Program:
    base = program(model.estimator_)
    if base.link is None:
        raise DataError(
            f"{type(model.estimator_).__name__} has no probabilities that an export could weigh costs with."
        )
    shift = None
    if model.priors is not None:
        shift = np.log(model.priors_) - np.log(model.training_priors_)
    return replace(base, costs=np.asarray(model.costs_), actions=np.asarray(model.actions_).tolist(), prior_shift=shift)


def edge_points(found: Program, count: int = 400) -> Array:
    """Rows on which an export must agree: near and far from what the program knows, on boundaries, and at zero."""
    rng, d = np.random.default_rng(0), len(found.features)
    basis = found.basis or tuple(("x", j) for j in range(d))
    known: list[list[float]] = [[] for _ in range(d)]
    far = np.zeros(d)
    for formula, center, scale in zip(basis, found.center.tolist(), _typical_scale(found), strict=True):
        for j, value in anchors(formula, center):
            known[j].append(value)
            far[j] = max(far[j], scale * (formula[0] == "x"))
    far = np.maximum(far, [np.ptp(some) if some else 0.0 for some in known])
    base = np.array([[some[i % len(some)] if some else 0.0 for some in known] for i in range(4 * count)])
    steps = rng.normal(size=base.shape) * 10.0 ** rng.uniform(
        -6, 2 if found.quadratic is None and not found.basis else 1, size=(len(base), 1)
    )
    steps[count : 2 * count] = np.abs(steps[count : 2 * count])  # a logarithm takes none below its offset
    rows = np.vstack([base + steps * np.where(far > 0, far, 1.0), np.zeros((1, d)), base[:1]])

    def kept(rows: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(rows[np.logical_and.reduce([steady(formula, rows) for formula in basis])])

    rows = kept(rows)
    part = min(count // 8, len(rows) // 2)
    with np.errstate(all="ignore"):
        between = kept(_on_boundaries(found, rows[:part], rows[part : 2 * part]))
    rest = rows[np.linspace(0, len(rows) - 1, min(count, len(rows))).astype(int)]
    return np.vstack([rest, between])


def _on_boundaries(found: Program, one: Array, other: Array) -> Array:
    """Between two rows of unlike decision, where it changes, to the last bit; the first row where both agree."""
    first = found.evaluate(one)[0]
    for _ in range(60):
        middle = one + (other - one) / 2
        same = found.evaluate(middle)[0] == first
        one, other = np.where(same[:, None], middle, one), np.where(same[:, None], other, middle)
    return one


def _typical_scale(found: Program) -> Array:
    """A distance in each column at which scores change by about one."""
    if found.weights is not None:
        size = np.abs(found.weights[1:]).max(axis=1)
    else:
        assert found.quadratic is not None
        size = np.sqrt((found.quadratic[0] ** 2).sum(axis=2)).max(axis=0)
    return np.where(size > 0, 1.0 / np.where(size > 0, size, 1.0), 1.0)


def require_agreement(
    found: Program, X: Array, positions: Array, chances: Array | None, engine: str, tolerance: float
) -> None:
    """Refuse where the engine's probabilities, or its decisions away from ties, differ from the program's."""
    expected, g, p = found.evaluate(X)
    if p is not None and chances is not None:
        gap = np.abs(np.asarray(chances) - p).max(axis=1)
        worst = float(gap.max())
        if not (gap <= tolerance * _magnified(found, X)).all():
            raise DataError(f"The export was refused: in {engine} its probabilities differ by {worst:.1e}.")
    differ = np.asarray(positions) != expected
    magnified = tolerance * _magnified(found, X)[differ]
    if differ.any() and not tied(found, X[differ], g[differ], p if p is None else p[differ], magnified).all():
        raise DataError(f"The export was refused: in {engine} {int(differ.sum())} of {len(X)} decisions differ.")


def _magnified(found: Program, X: Array) -> Array:
    """By what rounding may exceed the tolerance in each row: features of a basis can be large and cancel each other."""
    if not found.basis:
        return np.ones(len(X))
    size = np.abs(found.mapped(X)) + np.abs(found.center)
    if found.weights is not None:
        return np.asarray(np.maximum(1.0, (size @ np.abs(found.weights[1:])).max(axis=1) / 300))
    assert found.quadratic is not None
    sums = np.einsum("nd,kdr->nkr", size, np.abs(found.quadratic[0])) + np.abs(found.quadratic[1])
    return np.asarray(np.maximum(1.0, (sums**2).sum(axis=2).max(axis=1) / 300))


def tied(found: Program, X: Array, g: Array, p: Array | None, tolerance: Any) -> Array:
    """Rows whose two best answers are so close that rounding decides."""
    values = g if found.costs is None or p is None else -(p @ found.costs.T)
    margin = 1e3 * tolerance * (1 + np.abs(values).max(axis=1))
    if found.rejects and found.costs is None:
        close = np.abs(values).min(axis=1) <= margin
    else:
        ordered = np.sort(values, axis=1)
        close = ordered[:, -1] - ordered[:, -2] <= margin
    if found.decoder == "votes":
        z = found.outputs(X) - found.decode[1]  # a vote is lost where an output is zero
        close |= np.abs(z).min(axis=1) <= 1e3 * tolerance * (1 + np.abs(z).max(axis=1))
    return np.asarray(close)


def category_rows(rule: ColumnRule) -> tuple[list[str], Array]:
    """(levels, (levels + 2, features)): the features of each level, of a level not seen, and of a missing value."""
    levels = [*rule.levels, *rule.pooled]
    rows, _ = indicator_table(rule, levels)
    return levels, np.insert(rows, len(levels), rule.shares, axis=0)


def edge_inputs(found: Program, count: int = 400, dtype: str = "float64") -> tuple[Array | dict[str, list[Any]], Array]:
    """(what an engine is given, the features made of it): edge points; of a table its raw columns, by name."""
    if found.columns:
        return edge_table(found, count, dtype)
    X = edge_points(found, count).astype(dtype)
    return X, X.astype(np.float64)


def edge_table(found: Program, count: int, dtype: str = "float64") -> tuple[dict[str, list[Any]], Array]:
    """(raw columns, the features made of them): edge points, levels known and unknown, and missing values."""
    rng = np.random.default_rng(1)
    X = edge_points(found, count)
    n, at = len(X), 0
    table: dict[str, list[Any]] = {}
    for rule in found.columns:
        if rule.role == NUMBER:
            values = X[:, at] if rule.scale == 1.0 else X[:, at] * rule.scale + rule.fill
            values = values.astype(dtype).astype(np.float64)
            gone = (rng.random(n) < 0.05) & np.isfinite(rule.fill)
            table[rule.name] = np.where(gone, np.nan, values).tolist()
        else:
            known = bool(np.isfinite(rule.shares).all())
            choices = [*rule.levels, *rule.pooled, *[UNSEEN] * known, *[""] * (known or rule.missing)]
            table[rule.name] = [choices[int(k)] for k in rng.integers(0, len(choices), n)]
        at += len(rule.features)
    return table, np.asarray(Preprocess(found.columns).matrix(read_frame(table))[0])
