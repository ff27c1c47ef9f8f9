"""
Maximum likelihood on separated classes
=======================================

Where a hyperplane separates the classes, the likelihood grows for ever and has no maximum: weights go to infinity.
The fit says so instead of stopping somewhere; Firth's penalty has an answer, and so has a ridge.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from discriminant import LogisticRegression

x = np.array([[1.0], [1.5], [2.0], [2.5], [4.0], [4.5], [5.0], [6.0]])
y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    likelihood = LogisticRegression(C=np.inf).fit(x, y)
print(said[0].message)

grid = np.linspace(0, 7, 300)[:, None]
fig, ax = plt.subplots(figsize=(6.5, 4))
ax.plot(x, y, "ko")
for model, name in ((LogisticRegression(penalty="jeffreys"), "Firth"), (LogisticRegression(C=1.0), "ridge, C = 1")):
    ax.plot(grid, model.fit(x, y).predict_proba(grid)[:, 1], label=f"{name}: weight {model.coef_[0, 0]:.2f}")
ax.plot(grid, likelihood.predict_proba(grid)[:, 1], "k:", label=f"likelihood: weight {likelihood.coef_[0, 0]}")
ax.set(xlabel="x", ylabel="P(y = 1)")
ax.legend()
plt.show()
