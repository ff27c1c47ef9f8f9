"""
Straight and curved: LDA and QDA
================================

Gaussian classes that share a covariance have straight boundaries; with a covariance each, boundaries are quadratic.
Here are three species of penguins by two measurements, decided both ways.
"""

import matplotlib.pyplot as plt

from discriminant import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, datasets
from discriminant.plots import DecisionRegionsDisplay

penguins = datasets.load("penguins", as_frame=True)
X, y = penguins.X[["bill_length_mm", "flipper_length_mm"]], penguins.y

fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
for ax, model in zip(axes, (LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()), strict=True):
    model.fit(X, y)
    DecisionRegionsDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(f"{type(model).__name__}\nleave-one-out accuracy {model.loo_score(X, y):.3f}", fontsize=10)
plt.tight_layout()
plt.show()

# %%
# Leave-one-out is in closed form for both: 342 refits would give the same number, later.
