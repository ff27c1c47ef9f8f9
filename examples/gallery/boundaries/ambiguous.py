"""
Where one against the rest does not know
========================================

Three two-class machines, each for one class against the others, leave regions where none of them claims a point, or
two do. A machine of three scores that takes the largest has no such region.
"""

import matplotlib.pyplot as plt

from discriminant import LeastSquaresClassifier, LinearDiscriminantAnalysis, ambiguity, datasets
from discriminant.plots import DecisionRegionsDisplay

penguins = datasets.load("penguins", as_frame=True)
X, y = penguins.X[["bill_length_mm", "bill_depth_mm"]], penguins.y
machines = LeastSquaresClassifier(coding="one-vs-rest", decoder="unanimous").fit(X, y)
largest = LinearDiscriminantAnalysis().fit(X, y)

fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
for ax, model, name in zip(axes, (machines, largest), ("exactly one must claim it", "the largest score"), strict=True):
    DecisionRegionsDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(name, fontsize=10)
plt.tight_layout()
plt.show()

# %%
# How much of the plane that is, as exact polygons:
print(ambiguity(machines, ((30, 60), (13, 22))))
