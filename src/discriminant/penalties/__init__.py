"""Penalties λΩ(A) on the weights below the intercept: ridge, lasso, elastic net, groups, Jeffreys' prior.

>>> make_penalty("lasso", 0.1)
Lasso(strength=0.1, mix=1.0, factors=None)
"""

from __future__ import annotations

from discriminant.errors import ParameterError, names
from discriminant.penalties.group import Group
from discriminant.penalties.jeffreys import Jeffreys
from discriminant.penalties.lasso import ElasticNet, Lasso
from discriminant.penalties.ridge import Ridge
from discriminant.penalties.weight import WeightPenalty, soft_threshold, strength_from_C

PENALTIES: dict[str, type[WeightPenalty]] = {
    "elastic-net": ElasticNet,
    "elasticnet": ElasticNet,
    "firth": Jeffreys,
    "group": Group,
    "jeffreys": Jeffreys,
    "l1": Lasso,
    "l2": Ridge,
    "lasso": Lasso,
    "ridge": Ridge,
}


def make_penalty(penalty: str | WeightPenalty | None, strength: float = 1.0) -> WeightPenalty | None:
    """The penalty of that name and strength; a penalty, or None for no penalty, is handed back as it is."""
    if penalty is None or isinstance(penalty, WeightPenalty):
        return penalty
    if not isinstance(penalty, str) or penalty.lower().replace("_", "-") not in PENALTIES:
        raise ParameterError(f"There is no penalty {penalty!r}; choose among {names(sorted(PENALTIES), most=20)}.")
    found = PENALTIES[penalty.lower().replace("_", "-")]
    return found(strength=strength)  # type: ignore[call-arg]


__all__ = [
    "PENALTIES",
    "ElasticNet",
    "Group",
    "Jeffreys",
    "Lasso",
    "Ridge",
    "WeightPenalty",
    "make_penalty",
    "soft_threshold",
    "strength_from_C",
]
