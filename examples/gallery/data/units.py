"""
Units do not matter
===================

Grams or tonnes, years since birth or seconds since 1970: a change of units must not change an answer. Columns 10¹²
apart in scale, far from zero, give the predictions of the tidy ones.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Theirs

from discriminant import LinearDiscriminantAnalysis, datasets

iris = datasets.load("iris")
tidy = LinearDiscriminantAnalysis().fit(iris.X, iris.y).predict_proba(iris.X)
offsets = 10.0 ** np.arange(0, 13)
ours, theirs = [], []
for offset in offsets:
    odd = iris.X * [1e-6, 1.0, 1e3, 1e6] + offset * np.array([1e-6, 1.0, 1e3, 1e6])
    for model, found in ((LinearDiscriminantAnalysis(), ours), (Theirs(), theirs)):
        found.append(np.abs(model.fit(odd, iris.y).predict_proba(odd) - tidy).max())

fig, ax = plt.subplots(figsize=(6.5, 4))
ax.loglog(offsets, np.maximum(ours, 1e-16), "o-", label="here")
ax.loglog(offsets, np.maximum(theirs, 1e-16), "s-", label="scikit-learn")
ax.loglog(offsets, 2e-16 * offsets, "k:", label="what rounding of the input allows, about")
ax.set(xlabel="distance of a column from zero, in spreads", ylabel="largest change of a probability")
ax.legend()
plt.show()
