"""Penalties λΩ(A) on the weights below the intercept: ridge, lasso, elastic net, groups, Jeffreys' prior.

>>> make_penalty("lasso", 0.1)
Lasso(strength=0.1, mix=1.0, factors=None)
"""

from __future__ import annotations

import inspect
import re

from discriminant.errors import ParameterError, names
from discriminant.penalties.group import Group
from discriminant.penalties.jeffreys import Jeffreys
from discriminant.penalties.lasso import ElasticNet, Lasso
from discriminant.penalties.ridge import Ridge
from discriminant.penalties.weight import WeightPenalty, documented, soft_threshold, strength_from_C

PENALTIES: dict[str, type[WeightPenalty]] = {  # every penalty that is imported above, by its name
    "-".join(re.findall("[A-Z][a-z]*", name)).lower(): kind
    for name, kind in sorted(vars().items())
    if isinstance(kind, type) and issubclass(kind, WeightPenalty) and not inspect.isabstract(kind)
} | {"elasticnet": ElasticNet, "firth": Jeffreys, "l1": Lasso, "l2": Ridge}


@documented
def make_penalty(penalty: str | WeightPenalty | None, strength: float = 1.0) -> WeightPenalty | None:
    """The penalty of a name and strength.

    Parameters
    ----------
    penalty : str, WeightPenalty or None
        A name of ``PENALTIES``, in any case; or a penalty, or None for no penalty.
    strength : float, default=1.0
        λ of a penalty given by name.

    Returns
    -------
    WeightPenalty or None
        The penalty of that name and strength, or what was given.

    Raises
    ------
    ParameterError
        Where there is no penalty of that name; the sentence lists those there are.

    >>> make_penalty("ridge", 0.5)
    Ridge(strength=0.5, factors=None)
    """
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
