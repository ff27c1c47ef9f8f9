"""
Fisher's directions
===================

Four measurements of 150 irises, seen along the two directions in which the species lie furthest apart for their
spread. Three classes have at most two such directions, and here the first one holds 99 per cent of the separation.
"""

import matplotlib.pyplot as plt

from discriminant import FisherDiscriminant, datasets
from discriminant.plots import DiscriminantAxesDisplay

iris = datasets.load("iris", as_frame=True)
fisher = FisherDiscriminant().fit(iris.X, iris.y)
print("share of each direction:", fisher.explained_variance_ratio_.round(4))

fig, ax = plt.subplots(figsize=(6.5, 4.5))
DiscriminantAxesDisplay.from_estimator(fisher, iris.X, iris.y, ax=ax)
ax.set_title("Irises along Fisher's directions")
plt.show()

# %%
# For two of the species the direction is the one that Fisher published in 1936: 1, 5.904, −7.130, −10.104.
two = iris.y != "virginica"
w = FisherDiscriminant().fit(iris.X[two], iris.y[two]).coef_[0]
print((w / w[0]).round(3))
