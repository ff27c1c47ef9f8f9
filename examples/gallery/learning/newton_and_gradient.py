"""
Newton's method and gradient descent
====================================

Both go down the same hill. Gradient descent goes at right angles to the contours; Newton's method knows the curvature
and needs a handful of steps.
"""

import matplotlib.pyplot as plt

from discriminant import Discriminant, datasets, optimize, penalties

cancer = datasets.load("breast_cancer")
X = (cancer.X - cancer.X.mean(axis=0)) / cancer.X.std(axis=0)
ways = {
    "Newton": optimize.Newton(),
    "conjugate gradients": optimize.ConjugateGradient(),
    "L-BFGS": optimize.LBFGS(),
    "gradient descent": optimize.GradientDescent(step=0.3, iterations=4000, threshold=1e-8),
}

fig, ax = plt.subplots(figsize=(6.5, 4))
for name, optimizer in ways.items():
    model = Discriminant(criterion="logistic", penalty=penalties.Ridge(0.1), optimizer=optimizer).fit(X, cancer.y)
    steps = model.history_["gradient_norm"]
    ax.semilogy(steps, label=f"{name}, {len(steps)} records")
ax.set(xlabel="iteration", ylabel="norm of the gradient", xlim=(0, 60), title="569 tumours, 30 measurements")
ax.legend()
plt.show()
