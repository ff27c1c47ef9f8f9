"""The parameters of a named method, written once: they are the fields of the method and those of its estimator.

A list of parameters is a class of annotations with defaults.  ``method`` makes a frozen dataclass of a class that
inherits from one, and ``parameters`` of the estimators an estimator.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def parameter_list(cls: Class) -> Class:
    """A class whose annotations, with their defaults, are parameters; it has no attributes of its own."""
    kinds = {name: KW_ONLY if kind == "KW_ONLY" else kind for name, kind in cls.__annotations__.items()}
    defaults = {name: vars(cls)[name] for name in kinds if name in vars(cls)}
    for name in defaults:
        delattr(cls, name)
    cls._listed = kinds, defaults  # type: ignore[attr-defined]
    return cls


def with_parameters(cls: Class) -> Class:
    """The class with the parameters of the lists above it written into it, for ``dataclass`` to find.

    Those of the nearest list come first; what it says of a parameter holds.  An estimator above, as
    ``LogisticRegression`` is of ``LogisticRegressionCV``, has parameters of its own: none come from there.
    """
    found: dict[str, Any] = {}
    for base in cls.__mro__[1:]:
        if "_parameter_constraints" in vars(base):
            break
        if "_listed" in vars(base):
            kinds, defaults = vars(base)["_listed"]
            for name, default in defaults.items():
                if name not in found:
                    setattr(cls, name, default)
            found = found | {name: kind for name, kind in kinds.items() if name not in found}
    cls.__annotations__ = found | vars(cls).get("__annotations__", {})
    return cls


@dataclass_transform(field_specifiers=(field,))
def method(cls: Class) -> Class:
    """A named method: a frozen dataclass of its parameters."""
    dataclass(frozen=True)(with_parameters(cls))  # in place
    return cls


@parameter_list
class CodedParameters:
    """Of methods whose outputs stand for classes by a coding."""

    _: KW_ONLY
    coding: Any = "auto"
    decoder: str | None = None
    reject_label: Any = None
    basis: Any = None
    class_weight: Any = None
    fit_intercept: bool = True


@parameter_list
class EpochParameters:
    """Of methods that may learn sample by sample, an epoch after the other."""

    _: KW_ONLY
    mode: str = "single-sample"
    max_iter: int = 1000
    shuffle: bool = True
    average: bool = False
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5


@parameter_list
class DescentParameters:
    """Of methods whose user may steer the course of the optimizer, and watch it."""

    _: KW_ONLY
    start: Any = None
    random_state: Any = 0
    warm_start: bool = False
    trace: bool = False
    callback: Any = None
    scale: str = "mean"
