"""
More columns than rows
======================

Forty rows, up to four hundred columns, of which five matter. A covariance cannot be estimated from so little; shrunk
towards a sphere, by an amount that the data tell, it serves.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from discriminant import LinearDiscriminantAnalysis

rng = np.random.default_rng(0)


def accuracy(model, d, trials=8):
    """On 500 new rows, averaged over some draws."""
    found = []
    for _ in range(trials):
        y = np.arange(540) % 2
        X = rng.normal(size=(540, d)) + np.outer(y, np.arange(d) < 5)
        found.append(model.fit(X[:40], y[:40]).score(X[40:], y[40:]))
    return np.mean(found)


columns = [5, 10, 20, 38, 60, 100, 200, 400]
models = {
    "plain": LinearDiscriminantAnalysis(),
    'shrinkage="auto"': LinearDiscriminantAnalysis(shrinkage="auto"),
    'form="diagonal"': LinearDiscriminantAnalysis(form="diagonal"),
}
fig, ax = plt.subplots(figsize=(6.5, 4))
with warnings.catch_warnings(action="ignore"):  # that there are fewer rows than columns is said, of course
    for name, model in models.items():
        ax.semilogx(columns, [accuracy(model, d) for d in columns], "o-", label=name)
ax.axvline(40, color="grey", linestyle=":")
ax.text(42, 0.93, "as many columns as rows", fontsize=8)
ax.set(xlabel="columns", ylabel="accuracy on new rows", ylim=(0.5, 0.96))
ax.legend()
plt.show()
