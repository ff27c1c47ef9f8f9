"""
Can a hyperplane tell the classes apart?
========================================

The question has a yes or a no, and either can be proved: by a hyperplane with every row on its side, or by a few rows
of each class whose weighted means coincide, so that no hyperplane passes between them.
"""

import matplotlib.pyplot as plt
import numpy as np

from discriminant import datasets, separability

iris = datasets.load("iris")
X = iris.X[:, :2]
yes = separability(X, iris.y == "setosa")
no = separability(X[50:], iris.y[50:])
print(yes, no, sep="\n\n")

fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
left = iris.y == "setosa"
for rows, mark in ((left, "o"), (~left, "s")):
    axes[0].plot(*X[rows].T, mark, alpha=0.6)
line = np.linspace(4.3, 8, 2)
b, *w = yes.hyperplane  # the intercept first
axes[0].plot(line, -(b + w[0] * line) / w[1], "k")
axes[0].set_title("setosa against the rest: separable", fontsize=10)
for name, mark in (("versicolor", "o"), ("virginica", "s")):
    axes[1].plot(*X[iris.y == name].T, mark, alpha=0.35)
rows = 50 + np.asarray(no.witness.rows)
for name, color in (("versicolor", "C0"), ("virginica", "C1")):
    axes[1].plot(*X[rows[iris.y[rows] == name]].T, "*-", color=color, markersize=13, markeredgecolor="k")
axes[1].set_title("versicolor against virginica: the stars prove that no line can", fontsize=10)
axes[0].set_ylim(1.9, 4.6)
plt.tight_layout()
plt.show()

# %%
# Both proofs are checked from scratch, in fractions:
print(yes.check(), no.check())
