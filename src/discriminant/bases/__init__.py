"""Bases φ: what turns a linear discriminant into a curved one.

Every basis is a frozen dataclass and a scikit-learn transformer: it goes into a ``Pipeline`` or into ``basis=``.

    Linear                  x                          Distances          |x−c|
    Polynomial              x, x², x·x′, …             Radial             exp(−|x−c|²/2s²)
    Sine                    sin(ωx)                    HalfPlane          1(a·x > c)
    Log                     log(x)                     Wiring             1(Σ ±x ≥ θ), the Mark I
    Step                    1(x > c)                   Functions          yours
    Gaussian                exp(−(x−c)²/2s²)           LowRankQuadratic   x, (v·x)²

``φ + ψ`` puts two side by side (``Concatenation``), ``φ.on("age")`` keeps to some columns (``Columns``).

scikit-learn is not imported here: the contract is kept by duck typing (``expansion.py``), and only ``Polynomial``
loads it, for the arithmetic, on first use.
"""

from discriminant.bases.combine import Columns, Concatenation
from discriminant.bases.elementary import Gaussian, Linear, Log, Sine, Step
from discriminant.bases.functions import Functions
from discriminant.bases.named import resolve
from discriminant.bases.polynomial import Polynomial
from discriminant.bases.quadratic import LowRankQuadratic, QuadraticForm, quadratic_form
from discriminant.bases.radial import Distances, Radial
from discriminant.bases.wiring import HalfPlane, Wiring

__all__ = [
    "Columns", "Concatenation", "Distances", "Functions", "Gaussian", "HalfPlane", "Linear", "Log",
    "LowRankQuadratic", "Polynomial", "QuadraticForm", "Radial", "Sine", "Step", "Wiring", "quadratic_form",
    "resolve",
]  # fmt: skip
