"""
The hill that is gone down
==========================

A criterion is a function of the weights. The perceptron's is a funnel of planes with a flat floor where every sample
is right; the logistic one is smooth, and on classes that can be separated its floor lies at infinity.
"""

import matplotlib.pyplot as plt
import numpy as np

from discriminant.plots import CriterionSurfaceDisplay

X = np.array([[2.0, 1.0], [1.0, 2.5], [-1.0, 0.5], [-2.0, -1.5]])
y = np.array([1, 1, 0, 0])

fig, axes = plt.subplots(1, 2, figsize=(9, 4))
for ax, criterion in zip(axes, ("perceptron", "logistic"), strict=True):
    CriterionSurfaceDisplay.from_data(X, y, criterion, fit_intercept=False, bounds=((-1, 3), (-1, 3)), ax=ax)
    ax.set_title(criterion, fontsize=10)
plt.tight_layout()
plt.show()
