"""A scikit-learn pipeline that ends in one of our models, as a model of a table.

Steps that act on each column by itself give features that are sums over the raw columns,

    feature = constant + Σ_columns part(value),        part: slope · value, or a number for each level; one for missing,

and a discriminant of such features is one of the raw columns: its weights are those sums, weighted.  A basis makes
formulas (``io.formulas``) of such sums, which are then the basis of that discriminant.  So a pipeline is written to a
file, and exported, like every model of a table, without its own classes.
"""

from __future__ import annotations

import functools
import math
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discriminant.arrays import as_dense
from discriminant.data.preprocess import ColumnRule, Preprocess
from discriminant.data.roles import CATEGORY, NUMBER, OUT
from discriminant.data.tables import number_column
from discriminant.errors import DataError
from discriminant.io.formulas import Formula, Formulas, formulas, is_basis
from discriminant.io.table_model import TableModel
from discriminant.model import LinearDiscriminant, discriminant_of
from discriminant.protocols import Array

UNSEEN = "(never seen)"
KNOWN = (
    "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, SimpleImputer, OneHotEncoder, OrdinalEncoder, "
    "PolynomialFeatures, this package's bases, ColumnTransformer, FeatureUnion and Pipeline"
)


@dataclass(frozen=True)
class Raw:
    """A column as it is; ``fill``: what an imputer puts in place of a missing value."""

    name: str
    fill: Any = None


@dataclass(frozen=True)
class Part:
    """What a column adds: slope · value, or by level; NaN where the pipeline would refuse the value."""

    values: Array  # the slope, then what a missing value adds, a level never seen, and each level
    levels: tuple[str, ...] | None = None  # None: numbers
    fill: float | None = None  # the number that stands for a missing one

    def times(self, factor: float) -> Part:
        return replace(self, values=factor * self.values)

    def plus(self, other: Part) -> Part:
        if (self.levels is None) != (other.levels is None):
            raise DataError("A column is used as numbers and as categories at once, which a model file cannot hold.")
        places = [3 + (other.levels or ()).index(level) for level in self.levels or ()]  # encoders have their own order
        fill = other.fill if self.fill is None else self.fill
        return Part(self.values + other.values[[0, 1, 2, *places]], self.levels, fill)


@dataclass(frozen=True)
class Feature:
    """constant + Σ parts."""

    constant: float = 0.0
    parts: dict[str, Part] = field(default_factory=dict)

    def affine(self, factor: float, shift: float) -> Feature:
        parts = {name: part.times(factor) for name, part in self.parts.items()}
        return Feature(factor * self.constant + shift, parts)

    def plus(self, other: Feature) -> Feature:
        both = self.parts.keys() & other.parts.keys()
        parts = {**self.parts, **other.parts, **{name: self.parts[name].plus(other.parts[name]) for name in both}}
        return Feature(self.constant + other.constant, parts)


def is_pipeline(model: Any) -> bool:
    """Whether this is scikit-learn's Pipeline; asks without importing it."""
    return any(kind.__module__ == "sklearn.pipeline" and kind.__name__ == "Pipeline" for kind in type(model).__mro__)


def table_model(pipeline: Any) -> TableModel:
    """The same model on the raw columns."""
    final = pipeline.steps[-1][1]
    if "classes_" not in vars(final):
        raise DataError("This pipeline is not fitted yet, or its last step is no classifier: there is nothing to save.")
    linear = discriminant_of(final)
    if linear is None or vars(final).get("_encoding") is not None:
        raise DataError(
            f"The last step of this pipeline, {type(final).__name__}, is not one of this package's linear models on "
            "the features of the steps before it: save that step alone, or fit one that is."
        )
    steps = [(name, step) for name, step in pipeline.steps[:-1] if step is not None and step != "passthrough"]
    names = _raw_names([step for _, step in steps]) or list(linear.names)
    features: list[Any] = [Raw(name) for name in names]
    for name, step in steps:
        features = _apply(name, step, features)
    if linear.basis is not None:
        from ..estimators.features import FeatureMap

        basis = linear.basis.basis if isinstance(linear.basis, FeatureMap) else linear.basis
        features = _mapped(basis, features)
    return _assemble(linear, [_numeric(one) for one in features], names)


def _raw_names(steps: list[Any]) -> list[str]:
    """The columns that the first of these steps was fitted to; none where no step says so."""
    for step in steps:
        inner = vars(step).get("transformer_list" if type(step).__name__ == "FeatureUnion" else "steps")
        if inner is not None and (found := _raw_names([part for _, part in inner if not isinstance(part, str)])):
            return found
        named, width = (vars(step).get(name) for name in ("feature_names_in_", "n_features_in_"))
        if width is not None:
            return [f"x{j}" for j in range(width)] if named is None else [str(name) for name in named]
    return []


def _numeric(one: Any) -> Any:
    """A feature: a sum over columns, or a formula whose leaves ("x", …) are such sums."""
    if not isinstance(one, Raw):
        return one
    if isinstance(one.fill, str):
        raise DataError(f"Column {one.name!r} holds text that no step turns into numbers.")
    fill = None if one.fill is None else float(one.fill)
    values = np.array([1.0, math.nan if fill is None else fill, math.nan])
    return Feature(0.0, {one.name: Part(values, fill=fill)})


def _apply(name: str, step: Any, features: list[Any]) -> list[Any]:
    """The features after a fitted step."""
    kind = type(step).__name__ if type(step).__module__.startswith("sklearn.") else ""
    if step == "passthrough":
        return features
    if kind == "Pipeline":
        for inner, part in step.steps:
            features = features if part is None else _apply(f"{name}__{inner}", part, features)
        return features
    if kind == "FunctionTransformer" and step.func is None:
        return features
    if kind == "FeatureUnion":
        return [
            one for own, part in step.transformer_list if part != "drop" for one in _apply(own, part, features)
        ]  # fmt: skip
    if kind == "ColumnTransformer":
        places = step._transformer_to_input_indices
        return [
            one
            for own, part, _ in step.transformers_
            if part != "drop" and len(places[own])
            for one in _apply(own, part, [features[int(j)] for j in places[own]])
        ]
    if is_basis(step):
        return _mapped(step, features)
    d = len(features)
    match kind:
        case "StandardScaler":
            scale = np.ones(d) if step.scale_ is None else step.scale_
            shift = -step.mean_ / scale if step.with_mean else np.zeros(d)
            return _scaled(features, 1 / scale, shift)
        case "MinMaxScaler" if not step.clip:
            return _scaled(features, step.scale_, step.min_)
        case "MaxAbsScaler" if not step.get_params().get("clip", False):
            return _scaled(features, 1 / step.scale_, np.zeros(d))
        case "RobustScaler":
            scale = np.ones(d) if step.scale_ is None else step.scale_
            return _scaled(features, 1 / scale, np.zeros(d) if step.center_ is None else -step.center_ / scale)
        case "SimpleImputer" if step.missing_values is None or step.missing_values != step.missing_values:
            return _imputed(step, features)
        case "OneHotEncoder" | "OrdinalEncoder":
            return _encoded(name, step, features)
    raise DataError(
        f"The step {name!r} of the pipeline, {type(step).__name__}{' with these settings' if kind in KNOWN else ''}, "
        f"cannot be written as numbers of each column. Known steps are {KNOWN}; save the last step alone, or do that "
        "step before the pipeline."
    )


def _scaled(features: list[Any], factors: Array, shifts: Array) -> list[Any]:
    each = zip(map(_numeric, features), factors.tolist(), shifts.tolist(), strict=True)
    return [
        one.affine(factor, shift) if isinstance(one, Feature) else ("-", ("/", one, 1 / factor), -shift)
        for one, factor, shift in each
    ]


def _mapped(basis: Any, features: list[Any]) -> list[Any]:
    """The features of a basis of features."""
    leaves = [("x", one) if isinstance(one, Feature) else one for one in map(_numeric, features)]
    found = [_over(formula, leaves) for formula in formulas(basis, range(len(leaves)))]
    return [one[1] if one[0] == "x" else one for one in found]


def _over(formula: Formula, leaves: list[Formula]) -> Formula:
    """A formula over columns as one over what stands in their place."""
    kind, *operands = formula
    if kind == "x":
        return leaves[operands[0]]
    if kind != "dot":
        return (kind, *(_over(part, leaves) if isinstance(part, tuple) else part for part in operands))
    total, curved = Feature(), []
    for j, w, m in zip(*operands, strict=True):
        if leaves[j][0] == "x":
            total = total.plus(leaves[j][1].affine(w, -w * m))
        elif w:
            curved.append(("/", ("-", leaves[j], m), 1 / w))
    return ("+", ("x", total), *curved) if curved else ("x", total)


def _imputed(step: Any, features: list[Any]) -> list[Any]:
    found: list[Any] = []
    for one, value in zip(features, step.statistics_.tolist(), strict=True):
        if not isinstance(one, Raw):
            raise DataError(
                "A SimpleImputer must stand before steps that scale or encode, for a model file to hold it."
            )
        if value != value and not step.keep_empty_features:
            continue  # nothing but missing values at the fit: the imputer leaves the column out
        found.append(replace(one, fill=value))
    if step.indicator_ is not None:
        gone = [features[int(j)].name for j in step.indicator_.features_]
        found += [Feature(0.0, {name: Part(np.array([0.0, 1.0, math.nan]), fill=0.0)}) for name in gone]
    return found


def _encoded(name: str, step: Any, features: list[Any]) -> list[Any]:
    """What the encoder itself answers for each level of each column, others held at their first."""
    if not all(isinstance(one, Raw) for one in features):
        raise DataError(f"The encoder {name!r} must see raw columns, for a model file to hold it.")
    first = [known[0] for known in step.categories_]

    def answer(j: int, value: Any) -> Array:
        row = np.array([*first[:j], value, *first[j + 1 :]], dtype=object)[None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names that the row has not, and of a level that was not seen
            out = step.transform(row)
        return np.asarray(as_dense(out), dtype=np.float64).ravel()

    def or_nan(j: int, value: Any) -> Array:
        try:
            return answer(j, value)
        except (ValueError, TypeError):
            return np.full(len(base), math.nan)  # the encoder refuses it

    base = answer(0, first[0])
    found = [Feature(float(value)) for value in base]
    for j, (one, known) in enumerate(zip(features, step.categories_, strict=True)):
        real = [value for value in known.tolist() if value is not None and value == value]
        texts = _texts(real)
        table = {text: answer(j, value) - base for text, value in zip(texts, real, strict=True)}
        odd = UNSEEN if any(isinstance(value, str) for value in real) else float(max(real, default=0.0)) + 1e9
        unseen = or_nan(j, odd) - base
        empty = next((value for value in known.tolist() if value is None or value != value), math.nan)
        missing = or_nan(j, empty if one.fill is None else one.fill) - base
        values = np.array([np.zeros(len(base)), missing, unseen, *table.values()])
        for k in np.flatnonzero(np.nan_to_num(values).any(axis=0)):  # the others are those of other columns
            found[k].parts[one.name] = Part(values[:, k], tuple(table))
    return found


def _texts(values: list[Any]) -> list[str]:
    """Levels as a table's columns write them."""
    if any(isinstance(value, str) for value in values):
        return [str(value).strip() for value in values]
    whole = "bool" if any(isinstance(value, bool) for value in values) else ""
    return number_column("", np.array(values, dtype=np.float64), whole).texts()


def _assemble(linear: LinearDiscriminant, features: list[Any], names: list[str]) -> TableModel:
    W = linear.weights
    if all(isinstance(one, Feature) for one in features):
        center = np.zeros(len(features)) if linear.center is None else linear.center
        rules, constants, rows = _on_columns(features, W[1:], names)
        preprocess = Preprocess(rules)
        A = np.vstack([W[0] - center @ W[1:] + constants, rows])
        straight = replace(linear, weights=A, center=None, feature_names=preprocess.feature_names)
        return TableModel(preprocess, straight, method="pipeline")
    leaves: list[Feature] = []
    tops = [_collected(("x", one) if isinstance(one, Feature) else one, leaves) for one in features]
    rules, constants, rows = _on_columns(leaves, np.eye(len(leaves)), names)
    sums = [_sum_formula(column, float(constant)) for column, constant in zip(rows.T, constants, strict=True)]
    basis = Formulas(tuple(_over(top, sums) for top in tops), len(rows))
    return TableModel(Preprocess(rules), replace(linear, basis=basis), method="pipeline")


def _collected(formula: Formula, leaves: list[Feature]) -> Formula:
    """The formula with positions for leaves, which are added to the list where they are not in it."""
    kind, *operands = formula
    if kind != "x":
        return (kind, *(_collected(part, leaves) if isinstance(part, tuple) else part for part in operands))
    own = operands[0]
    place = next((k for k, leaf in enumerate(leaves) if leaf is own), len(leaves))
    leaves += [own] * (place == len(leaves))
    return ("x", place)


def _sum_formula(weights: Array, constant: float) -> Formula:
    """Σ w_j x_j + constant."""
    used = np.flatnonzero(weights).tolist() or [0]
    w = tuple(float(weights[j]) for j in used)
    if len(used) == 1 and w[0]:
        m = -constant / w[0]
        return ("x", used[0]) if (w[0], m) == (1.0, 0.0) else ("dot", tuple(used), w, (m,))
    return ("-", ("dot", tuple(used), w, (0.0,) * len(used)), -constant)


def _on_columns(features: list[Feature], W: Array, names: list[str]) -> tuple[tuple[ColumnRule, ...], Array, Array]:
    """features @ W as (rules of the raw columns, constants (q,), weights of what the rules make of them).

    The rules are in the order of the columns, as those of an array are known by it alone.
    """
    constants = np.array([one.constant for one in features]) @ W
    rules, weights = [], []
    used = {name for one in features for name in one.parts}
    for name in names:
        if name not in used:
            rules.append(ColumnRule(name, OUT, "no step makes use of it"))
            continue
        own = [(one.parts[name], w) for one, w in zip(features, W, strict=True) if name in one.parts]
        total = functools.reduce(Part.plus, (replace(part, values=np.outer(part.values, w)) for part, w in own))
        rule, rows, constant = _rule(name, total)
        rules.append(rule)
        weights.append(rows)
        constants = constants + constant
    return tuple(rules), constants, np.vstack(weights)


def _rule(name: str, total: Part) -> tuple[ColumnRule, Array, Array]:
    """(the rule of a column, its weights (features, q), what goes to the intercepts (q,))."""
    slope, missing, unseen, *at = total.values
    if total.levels is None:
        fill = math.nan if total.fill is None or np.isnan(missing).any() else total.fill
        away = missing - slope * fill
        indicate = bool((np.abs(away) > 1e-12 * np.abs(missing)).any())
        rows = np.array([slope, away]) if indicate else slope[None]
        return ColumnRule(name, NUMBER, fill=fill, indicate=indicate), rows, np.zeros(len(slope))
    base, *others = at
    known, own = bool(np.isfinite(unseen).all()), bool(np.isfinite(missing).all())
    each = [*others, *[unseen] * known, *[missing] * own]
    width = len(each)
    shares = np.eye(width)[len(others)] if known else np.full(width, math.nan)
    rule = ColumnRule(
        name, CATEGORY, levels=total.levels, pooled=(UNSEEN,) if known else (), missing=own,
        shares=tuple(shares.tolist()),
    )  # fmt: skip
    return rule, np.array(each).reshape(width, -1) - base, base
