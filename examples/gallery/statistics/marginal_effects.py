"""
Marginal effects
================

By how much does the probability change, on average over the rows, when a column grows by one standard deviation? With
standard errors; or at the mean row, which is another question with another answer.
"""

import matplotlib.pyplot as plt
import numpy as np

from discriminant import LogisticRegression, datasets

cancer = datasets.load("breast_cancer", as_frame=True)
columns = ["mean_texture", "mean_smoothness", "mean_concavity"]
X = (cancer.X[columns] - cancer.X[columns].mean()) / cancer.X[columns].std()
model = LogisticRegression(C=np.inf).fit(X, cancer.y)
average = model.marginal_effects()
print(average)

fig, ax = plt.subplots(figsize=(6.5, 2.8))
for shift, table, name in (
    (-0.1, average, "average over rows"),
    (0.1, model.marginal_effects(at="mean"), "at the mean"),
):
    frame = table.to_frame()
    ax.errorbar(
        frame["estimate"], np.arange(3) + shift, xerr=1.96 * frame["std. error"], fmt="o", capsize=3, label=name
    )
ax.axvline(0, color="grey", linestyle=":")
ax.set_yticks(range(3), columns)
ax.set_xlabel("change of P(malignant) for one standard deviation")
ax.legend()
plt.tight_layout()
plt.show()
