"""
Rows that are not to be trusted
===============================

A handful of wrong rows turns least squares, hardly logistic regression, and a robust covariance not at all.
"""

import matplotlib.pyplot as plt
import numpy as np

from discriminant import LeastSquaresClassifier, LinearDiscriminantAnalysis, LogisticRegression

rng = np.random.default_rng(3)
y = np.arange(120) % 2
X = rng.normal(size=(120, 2)) * [1.0, 1.5] + np.outer(y, [3.0, 0.0])
X_bad, y_bad = np.vstack([X, rng.normal([12.0, -14.0], 0.7, size=(8, 2))]), np.r_[y, np.ones(8, int)]
models = {
    "least squares": LeastSquaresClassifier(),
    "robust LDA": LinearDiscriminantAnalysis(covariance="robust"),
    "logistic": LogisticRegression(),
}

fig, axes = plt.subplots(1, 2, figsize=(9.5, 4), sharey=True)
for ax, (rows, labels), name in zip(axes, ((X, y), (X_bad, y_bad)), ("clean", "with eight rows far away"), strict=True):
    for k, mark in enumerate("os"):
        ax.plot(*rows[labels == k].T, mark, alpha=0.4, color=f"C{k}")
    for (label, model), style in zip(models.items(), ("-", "--", ":"), strict=True):
        model.fit(rows, labels)
        (w,), (b,) = model.coef_, model.intercept_
        heights = np.array([-16.0, 6.0])
        ax.plot(-(b + w[1] * heights) / w[0], heights, "k" + style, label=label)
    ax.set(xlim=(-4, 14), title=name)
axes[0].legend()
plt.tight_layout()
plt.show()
