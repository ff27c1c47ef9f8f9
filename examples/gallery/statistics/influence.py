"""
Which rows matter
=================

Leverages, residuals and Cook's distances of a logistic fit: which birds would change the answer if they were left
out?
"""

import matplotlib.pyplot as plt
import numpy as np

from discriminant import LogisticRegression, datasets

birds = datasets.load("penguins")
rows = birds.y != "Gentoo"
X, y = birds.X[rows][:, [1, 3]], birds.y[rows]
model = LogisticRegression(C=np.inf).fit(X, y)
found = model.diagnostics()
print(found)

cook = found.cook
worst = np.argsort(cook)[-5:]
fig, ax = plt.subplots(figsize=(6.5, 4))
ax.vlines(range(len(cook)), 0, cook)
for row in worst:
    ax.text(row, cook[row], str(row), ha="center", va="bottom", fontsize=8)
ax.set(xlabel="row", ylabel="Cook's distance", title="Adelie or Chinstrap, by bill depth and weight")
plt.show()
