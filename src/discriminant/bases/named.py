"""Bases by text, for the command line and for ``basis=``: "quadratic", "poly:3", "rbf:50", "log@income + linear".

term   = name [":" number] ["@" column {"," column}]
text   = term {"+" term}
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discriminant.bases.combine import concatenate
from discriminant.bases.elementary import Gaussian, Linear, Log, Sine, Step
from discriminant.bases.expansion import documented, is_basis
from discriminant.bases.functions import Functions
from discriminant.bases.polynomial import Polynomial
from discriminant.bases.quadratic import LowRankQuadratic
from discriminant.bases.radial import Distances, Radial
from discriminant.bases.wiring import HalfPlane, Wiring
from discriminant.errors import MismatchError, ParameterError, names

# name → what its number means when none is given, and the basis made of the number
NAMED: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "linear": (1, lambda _: Linear()),
    "quadratic": (2, lambda _: Polynomial(2)),
    "low-rank": (2, lambda number: LowRankQuadratic(number)),
    "poly": (2, lambda number: Polynomial(number)),
    "polynomial": (2, lambda number: Polynomial(number)),
    "interactions": (2, lambda number: Polynomial(number, interaction_only=True)),
    "sine": (1, lambda number: Sine(tuple(float(k) for k in range(1, number + 1)))),
    "log": (0, lambda number: Log(float(number))),
    "step": (1, lambda number: Step(number)),
    "gaussian": (5, lambda number: Gaussian(number)),
    "rbf": (10, lambda number: Radial(number, random_state=0)),
    "radial": (10, lambda number: Radial(number, random_state=0)),
    "distances": (2, lambda number: Distances(number, random_state=0)),
    "half-plane": (10, lambda number: HalfPlane(number, random_state=0)),
    "wiring": (512, lambda number: Wiring(number, random_state=0)),
}


@documented
def resolve(basis: Any) -> Any:
    """The basis that a parameter means: None, a text, a function, a sequence of bases, or a basis itself.

    Parameters
    ----------
    basis : None, str, callable, sequence or basis
        What a parameter ``basis=`` was given.

    Raises
    ------
    MismatchError
        Where it is none of these.
    ParameterError
        Where a text names no basis.

    >>> resolve("poly:3")
    Polynomial(degree=3)
    >>> resolve("log@income + linear")
    Log().on('income') + Linear()
    >>> resolve(None) is None
    True
    """
    if basis is None or is_basis(basis):
        return basis
    if isinstance(basis, str):
        terms = [_term(term.strip(), basis) for term in basis.split("+")]
        return terms[0] if len(terms) == 1 else concatenate(*terms)
    if isinstance(basis, list | tuple):
        return concatenate(*(resolve(part) for part in basis))
    if callable(basis) and not isinstance(basis, type):
        return Functions(basis)
    hint = f" Write {basis.__name__}()." if isinstance(basis, type) else ""
    raise MismatchError(
        f"basis={basis!r} is neither a text such as 'quadratic', nor a function, nor a transformer with fit, transform "
        f"and get_feature_names_out.{hint}"
    )


def _term(term: str, text: str) -> Any:
    """The basis of a term of the text; see the grammar at the top of this file."""
    head, _, columns = term.partition("@")
    name, colon, number = (piece.strip() for piece in head.partition(":"))
    if name not in NAMED:
        raise ParameterError(f"Basis {text!r}: {name!r} is not a basis; there are {names(sorted(NAMED), most=20)}.")
    default, make = NAMED[name]
    if colon and name in ("linear", "quadratic"):
        raise ParameterError(f"Basis {text!r}: {name!r} takes no number.")
    try:
        value = default if not colon else float(number) if name == "log" else int(number)
    except ValueError:
        raise ParameterError(f"Basis {text!r}: {number!r} after {name!r} must be a number.") from None
    basis = make(value)
    chosen = [column.strip() for column in columns.split(",") if column.strip()]
    return basis.on(*(int(c) if c.isdigit() else c for c in chosen)) if chosen else basis
