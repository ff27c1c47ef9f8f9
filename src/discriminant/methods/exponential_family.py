"""Classes whose columns are independent with densities of the exponential family: naive Bayes with linear log odds.

    g_k(x) = Σ_j θ_kj x_j − Σ_j b(θ_kj) + ln P_k

θ and b are functions of the class sums (``gaussian.exponential_family``), which one pass over the rows adds up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from discriminant.arrays import is_sparse
from discriminant.errors import DataError, ParameterError, capital, columns, names
from discriminant.gaussian.exponential_family import FAMILIES, ClassSumKernel, ClassSums, Natural, in_support, natural
from discriminant.methods.fit import Fit, Sample, Schema, linear_state
from discriminant.methods.moments import MomentMethod, class_priors, posterior_discriminant
from discriminant.methods.parameters import method, parameter_list
from discriminant.protocols import Array, Certificate

VALUES = {"bernoulli": "0 and 1"} | dict.fromkeys(("multinomial", "poisson", "exponential"), "numbers from 0 on")
REMEDIES = {"bernoulli": "make it 0 or 1 first (basis=discriminant.bases.Step(...))"} | dict.fromkeys(
    ("multinomial", "poisson", "exponential"), "give that column another family, or leave it out"
)


@parameter_list
class ExponentialFamilyParameters:
    """Of ``ExponentialFamilyClassifier``."""

    family: Any = "multinomial"
    smoothing: float = 1.0
    _: KW_ONLY
    priors: Any = None
    basis: Any = None


@method
class ExponentialFamily(ExponentialFamilyParameters, MomentMethod[ClassSums]):
    """A density of each column."""

    estimator: ClassVar[str] = "ExponentialFamilyClassifier"

    def fit(self, sample: Sample) -> Fit:
        """Learn from all rows at once; a class of one row will do, since no spread is learned."""
        return self.learn(self.moments(sample), sample.schema, sample)

    def moments(self, sample: Sample, *, in_parts: bool = False) -> ClassSums:
        families = self._families(sample.blocks.n_features, sample.schema.names)
        kernel = ClassSumKernel(len(sample.classes), tuple(_groups(families).items()))
        found: ClassSums = sample.blocks.reduce(kernel)
        if found.outside or not np.isfinite(found.sums).all():
            sample.require_finite(self.estimator)
            _refuse_outside(sample, families)
            raise DataError("The sums of X overflow: values above 1e300. Rescale the columns.")
        return found

    def enough(self, moments: ClassSums) -> bool:
        return bool((moments.weight > 0).all())

    def learn(self, moments: ClassSums, schema: Schema, sample: Sample | None = None) -> Fit:
        priors = class_priors(self.priors, moments, schema.classes)
        families = self._families(moments.n_features, schema.names)
        found = self._natural(moments, families)
        if found.edge.any():
            _refuse_certainty(found.edge, families, schema)
        A = np.vstack([np.log(priors) - found.partition.sum(axis=1), found.theta.T])
        discriminant = posterior_discriminant(A, schema)
        state = linear_state(discriminant, schema, means_=found.mean)
        return Fit(self, discriminant, state | {"priors_": priors, "moments_": moments, "families_": families})

    def certify(self, state: Mapping[str, Any]) -> Certificate:
        """J = −(1/N) Σ ln p(x, C) but for the part ln h(x) that all classes share, of the rows without those added."""
        moments: ClassSums = state["moments_"]
        found = self._natural(moments, state["families_"])
        fitted = (moments.sums * found.theta).sum() - moments.weight @ found.partition.sum(axis=1)
        J = -float(fitted + moments.weight @ np.log(state["priors_"])) / moments.total
        kinds = names(list(_groups(state["families_"])))
        status = f"Closed form: the weights are a function of the class sums ({kinds}), from one pass over the rows."
        return Certificate(status, True, J, J, 0.0, gradient_norm=0.0, passes=1.0)

    def _natural(self, moments: ClassSums, families: Array) -> Natural:
        """The densities of all columns, each group of one family together."""
        groups = _groups(families)
        smoothing = float(self.smoothing)
        parts = [natural(one, moments.sums[:, group], moments.weight, smoothing) for one, group in groups.items()]
        if len(parts) == 1:
            return parts[0]
        order = np.argsort(np.concatenate(list(groups.values())))
        return Natural(*(np.hstack(columns)[:, order] for columns in zip(*parts, strict=True)))

    def _families(self, d: int, known: Sequence[str] | None) -> Array:
        """(d,): the name of each column's density."""
        given = self.family
        if isinstance(given, str):
            return np.full(d, given)
        found = [str(one) for one in (_of_columns(given, d, known) if isinstance(given, Mapping) else given)]
        if len(found) != d:
            raise ParameterError(f"family has {len(found)} entries and there are {d} columns: one density for each.")
        wrong = [one for one in found if one not in FAMILIES]
        if wrong:
            raise ParameterError(f"family {wrong[0]!r} is not known; choose among {names(list(FAMILIES))}.")
        return np.array(found)


def _of_columns(given: Mapping[Any, Any], d: int, known: Sequence[str] | None) -> list[Any]:
    """A mapping from the names of columns, or their positions, as a list."""
    named = known is not None and any(isinstance(key, str) for key in given)
    labels: list[Any] = list(known) if known is not None and named else list(range(d))
    lacking = [j for j, label in enumerate(labels) if label not in given]
    strange = [key for key in given if key not in labels]
    if strange:
        raise ParameterError(f"family names the column {strange[0]!r}, and there is none.")
    if lacking:
        raise ParameterError(f"family names no density for {columns(lacking, known)}; give one for every column.")
    return [given[label] for label in labels]


def _groups(families: Array) -> dict[str, Any]:
    """The columns of each density that occurs."""
    found = [family for family in FAMILIES if (families == family).any()]
    return {family: slice(None) if len(found) == 1 else np.flatnonzero(families == family) for family in found}


def _refuse_outside(sample: Sample, families: Array) -> None:
    """Name the first column with a value that its density does not have."""
    for block in sample.blocks:
        values = block.design.values
        for j, family in enumerate(families):
            x = values[:, [j]].toarray().ravel() if is_sparse(values) else values[:, j]
            x = x if block.weight is None else x[block.weight > 0]
            if not in_support(family, x):
                odd = next(value for value in x.tolist() if not in_support(family, np.array([value])))
                where = columns([j], sample.schema.names)
                raise DataError(
                    f"Negative values in data passed to ExponentialFamilyClassifier: {where} holds {odd:g}, and the "
                    f"{family} density is one of {VALUES[family]}; {REMEDIES[family]}."
                    if odd < 0
                    else f"X has {odd:g} in {where}, and the {family} density is one of {VALUES[family]}; "
                    f"{REMEDIES[family]}."
                )


def _refuse_certainty(edge: Array, families: Array, schema: Schema) -> None:
    """A value that a class never has would decide alone, whatever all other columns say."""
    k, j = (int(i) for i in np.argwhere(edge)[0])
    always = "1 in every row" if edge[k, j] > 0 else "0 in every row"
    raise DataError(
        f"{capital(columns([j], schema.names))} is {always} of class {schema.classes[k]} and not of every class: "
        f"its {families[j]} density lies on the edge, with an infinite weight. Use smoothing > 0, or drop the column."
    )
