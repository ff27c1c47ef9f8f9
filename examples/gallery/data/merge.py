"""
Rows that may not leave their house
===================================

Three hospitals fit their own rows and hand over sums, not patients. Merged, the sums are the model of all rows, to
eleven digits.
"""

import functools

import matplotlib.pyplot as plt
import numpy as np

from discriminant import LinearDiscriminantAnalysis, datasets

cancer = datasets.load("breast_cancer")
X, y = cancer.X[:, :10], cancer.y
hospital = np.random.default_rng(0).integers(0, 3, len(y))
models = [LinearDiscriminantAnalysis().fit(X[hospital == k], y[hospital == k]) for k in range(3)]
alone = [model.coef_[0].copy() for model in models]
merged = functools.reduce(lambda one, other: one.merge(other), models)
whole = LinearDiscriminantAnalysis().fit(X, y)
print("largest relative difference:", np.abs(merged.coef_ / whole.coef_ - 1).max())

fig, ax = plt.subplots(figsize=(7, 3.6))
spread = X.std(axis=0)
for k, weights in enumerate(alone):
    ax.plot(weights * spread, "o", alpha=0.6, label=f"hospital {k + 1} alone")
ax.plot(merged.coef_[0] * spread, "k_", markersize=16, label="merged")
ax.plot(whole.coef_[0] * spread, "k+", markersize=10, label="all rows in one place")
ax.set_xticks(range(10), [name.removeprefix("mean_") for name in cancer.feature_names[:10]], rotation=45, ha="right")
ax.set_ylabel("weight, per standard deviation")
ax.legend(fontsize=8)
plt.tight_layout()
plt.show()
