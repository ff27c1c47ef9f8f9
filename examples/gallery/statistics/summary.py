"""
A table of coefficients, and odds ratios
========================================

Without a penalty logistic regression is maximum likelihood, and the table is the one that R prints: estimates,
standard errors, tests, intervals, odds ratios.
"""

import matplotlib.pyplot as plt
import numpy as np

from discriminant import LogisticRegression, datasets

cancer = datasets.load("breast_cancer", as_frame=True)
columns = ["mean_texture", "mean_smoothness", "mean_concavity", "mean_symmetry"]
X = (cancer.X[columns] - cancer.X[columns].mean()) / cancer.X[columns].std()  # per standard deviation
model = LogisticRegression(C=np.inf).fit(X, cancer.y)
print(model.summary())

# %%
# In a notebook the table shows itself; ``to_frame()`` hands it on.  Here are the odds ratios with profile intervals,
# which need not be symmetric:
table = model.summary(intervals="profile").to_frame().iloc[1:]

fig, ax = plt.subplots(figsize=(6.5, 2.8))
ratio, low, high = (np.exp(table[name].to_numpy(float)) for name in ("estimate", "2.5%", "97.5%"))
ax.errorbar(ratio, columns, xerr=[ratio - low, high - ratio], fmt="o", capsize=3)
ax.axvline(1, color="grey", linestyle=":")
ax.set(xscale="log", xlabel="odds ratio of malignant, for one standard deviation")
plt.tight_layout()
plt.show()
