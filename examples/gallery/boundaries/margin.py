"""
A wide margin
=============

A linear support vector machine puts its line as far from both classes as it can. The smaller ``C``, the more rows may
lie inside of the margin, and the wider it is. Rows on its edge or inside are ringed: they alone decide.
"""

import matplotlib.pyplot as plt
import numpy as np

from discriminant import LinearSVC, datasets
from discriminant.plots import DecisionRegionsDisplay

iris = datasets.load("iris", as_frame=True)
rows = iris.y != "setosa"
X, y = iris.X.loc[rows, ["petal_length", "petal_width"]], iris.y[rows]

fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
for ax, C in zip(axes, (0.1, 10.0), strict=True):
    model = LinearSVC(C=C, loss="hinge", penalize_intercept=False).fit(X, y)
    DecisionRegionsDisplay.from_estimator(model, X, y, ax=ax)
    (w,), (b,) = model.coef_, model.intercept_
    heights = np.array([0.9, 2.6])
    for level in (-1, 1):
        ax.plot((level - b - w[1] * heights) / w[0], heights, "k--", linewidth=0.8)
    inside = X[np.abs(model.decision_function(X)) <= 1 + 1e-6]
    ax.plot(inside.iloc[:, 0], inside.iloc[:, 1], "ko", markersize=9, fillstyle="none", linewidth=0.6)
    ax.set_title(f"C = {C:g}: {len(inside)} rows in the margin, {(model.predict(X) != y).sum()} errors", fontsize=10)
plt.tight_layout()
plt.show()

# %%
# The fit ends with a proof of how near it is to the least possible objective.
print(model.certificate_.status)
