"""Products and powers: x, x², x₁x₂, … up to a degree  (Alpaydin 10.2; "polynomial discriminant function").

The arithmetic is scikit-learn's ``PolynomialFeatures``, loaded on first use; this file gives it readable names
("x0²", "x0·x1"), leaves out the constant, which the design has already, and keeps the contract of the other bases.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np

from discriminant.arguments import BOOLEAN, COUNT
from discriminant.bases.expansion import Expansion, basis
from discriminant.protocols import Array

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@basis(degree=COUNT, interaction_only=BOOLEAN)
class Polynomial(Expansion):
    """All products of columns with total degree 1 … ``degree``, in scikit-learn's order.

    With degree 2 the discriminant is xᵗWx + wᵗx + w₀, linear in its weights (Alpaydin 10.2, Duda, Hart and Stork 5.3).

    Parameters
    ----------
    degree : int, default=2
        Largest total degree; 2 gives the quadratic discriminant xᵗWx + wᵗx + w₀.
    interaction_only : bool, default=False
        Leave out powers: only products of different columns.

    Attributes
    ----------
    powers_ : ndarray of shape (d̂, d)
        Feature i is Π_j x_j ** powers_[i, j].

    See Also
    --------
    quadratic_form : W, w and w₀ from the weights on a polynomial of degree 2.

    >>> Polynomial(2).fit([[1.0, 2.0]]).get_feature_names_out().tolist()
    ['x0', 'x1', 'x0²', 'x0·x1', 'x1²']
    """

    degree: int = 2
    interaction_only: bool = False

    accepts_sparse: ClassVar[bool] = True

    def _learn(self, X: Any, y: Any) -> dict[str, Any]:
        return {"powers_": _products(int(self.degree), bool(self.interaction_only), X.shape[1]).powers_}

    def _map(self, X: Any) -> Any:
        powers = self.powers_  # and not the parameters, which may have been set anew since the fit
        return _products(int(powers.sum(axis=1).max()), bool(powers.max() <= 1), X.shape[1]).transform(X)

    def _names(self, x: list[str]) -> list[str]:
        return [monomial(x, powers) for powers in self.powers_]


@functools.lru_cache(maxsize=32)
def _products(degree: int, interaction_only: bool, d: int) -> Any:
    """scikit-learn's products of d columns; they depend on nothing else, and are no part of what is saved."""
    from sklearn.preprocessing import PolynomialFeatures

    products = PolynomialFeatures(degree, interaction_only=interaction_only, include_bias=False).fit(np.zeros((1, d)))
    # whatever the user has configured globally, the inner step hands out arrays
    return products.set_output(transform="default")


def monomial(x: list[str], powers: Array) -> str:
    """The product as text: "x0²·x1"."""
    return "·".join(
        x[j] + ("" if power == 1 else str(int(power)).translate(SUPERSCRIPTS))
        for j, power in enumerate(powers)
        if power
    )
