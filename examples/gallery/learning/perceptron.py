"""
The perceptron, correction by correction
========================================

Each misclassified sample is added to the weights. Where a hyperplane separates the classes this ends, and the fit
says after how many corrections and how many the theorem would have allowed.
"""

import matplotlib.pyplot as plt

from discriminant import Perceptron, datasets
from discriminant.plots import TraceAnimation

iris = datasets.load("iris")
X, y = iris.X[:, :2] - iris.X[:, :2].mean(axis=0), iris.y == "setosa"
perceptron = Perceptron(random_state=1, trace=True).fit(X, y)
print(perceptron.certificate_.status)

film = TraceAnimation.from_estimator(perceptron, X, y)
frames = [0, 1, len(film.weights) // 2, len(film.weights) - 1]
fig, axes = plt.subplots(1, 4, figsize=(11, 3), sharey=True)
for ax, number in zip(axes, frames, strict=True):
    film.plot(number, ax=ax)
plt.tight_layout()
plt.show()

# %%
# ``film.save("perceptron.gif")`` writes all of it as a film.
