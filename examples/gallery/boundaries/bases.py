"""
Linear in φ, curved in x
========================

What is linear in a basis φ(x) need not be linear in x. A ring around a disk cannot be cut off by a line, but by a
line in squares and products, or in bumps around some centres.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_circles

from discriminant import LogisticRegression, bases
from discriminant.plots import DecisionRegionsDisplay

X, y = make_circles(300, noise=0.15, factor=0.45, random_state=0)
choices = {"x itself": None, "all products of degree 2": bases.Polynomial(2), "12 bumps": bases.Radial(12)}

fig, axes = plt.subplots(1, 3, figsize=(10, 3.6), sharey=True)
for ax, (name, basis) in zip(axes, choices.items(), strict=True):
    model = LogisticRegression(C=10.0, basis=basis).fit(X, y)
    DecisionRegionsDisplay.from_estimator(model, X, y, ax=ax, resolution=150)
    ax.set_title(f"{name}: {model.score(X, y):.2f}", fontsize=10)
plt.tight_layout()
plt.show()
