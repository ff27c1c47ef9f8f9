"""The optimizers by their names.

>>> make_optimizer("newton", iterations=5).iterations
5
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from discriminant import optimize
from discriminant.errors import ParameterError, names
from discriminant.protocols import Optimizer

_CLASSES = (
    "LBFGS", "Annealing", "ClosedForm", "ConjugateGradient", "DifferentialEvolution", "GradientDescent",
    "LinearProgram", "MixedInteger", "Newton", "ProximalGradient", "ProximalNewton", "SingleSample",
)  # fmt: skip
_NAMED = {re.sub("(?<=[a-z])(?=[A-Z])", "-", name).lower(): name for name in _CLASSES}


class _Optimizers(Mapping[str, type]):
    """The optimizers by their names, each loaded when it is asked for."""

    def __getitem__(self, name: str) -> type:
        return getattr(optimize, _NAMED[name])  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(_NAMED))

    def __len__(self) -> int:
        return len(_NAMED)


OPTIMIZERS = _Optimizers()


def make_optimizer(optimizer: Any, **options: Any) -> Any:
    """The optimizer of a name, with these options.

    Parameters
    ----------
    optimizer : str or optimizer
        A name of ``OPTIMIZERS``, in any case and with "_" or "-"; or an optimizer.
    **options : any
        Options of an optimizer given by name.

    Returns
    -------
    optimizer
        The optimizer of that name, or the one given as it is.

    Raises
    ------
    ParameterError
        Where there is no optimizer of that name; the sentence lists those there are.

    Examples
    --------
    >>> make_optimizer("lbfgs", memory=5).memory
    5
    """
    if not isinstance(optimizer, str):
        if isinstance(optimizer, Optimizer) and not isinstance(optimizer, type):
            return optimizer
        raise ParameterError(f"An optimizer is a name or has `needs` and `minimize`; {optimizer!r} is neither.")
    found = OPTIMIZERS.get(optimizer.lower().replace("_", "-"))
    if found is None:
        raise ParameterError(f"There is no optimizer {optimizer!r}; choose among {names(list(OPTIMIZERS), most=20)}.")
    return found(**options)
