"""
Weights of a survey
===================

A sample that was drawn with unequal probabilities, in clusters within strata: weights make the estimates those of the
population, and the design makes the standard errors right. The numbers are those of R's ``svyglm``.
"""

import matplotlib.pyplot as plt
import numpy as np

from discriminant import LogisticRegression

rng = np.random.default_rng(0)
stratum = np.repeat([0, 1, 2], 120)
cluster = np.arange(360) // 12
shared = rng.normal(size=30)[cluster]  # what rows of one cluster have in common
x = rng.normal(size=360) + 0.5 * stratum
y = (0.8 * x + shared - 0.5 + rng.logistic(size=360) > 0).astype(int)
weight = np.array([1.0, 4.0, 10.0])[stratum]  # how many people each row stands for

model = LogisticRegression(C=np.inf).fit(x[:, None], y, sample_weight=weight)
design = model.summary(covariance="survey", groups=cluster, strata=stratum)
naive = model.summary()
print(design)

fig, ax = plt.subplots(figsize=(6.5, 2.6))
for place, (table, name) in enumerate(((naive, "as if weights were counts"), (design, "by the design"))):
    frame = table.to_frame()
    ax.errorbar(frame["estimate"][1], place, xerr=1.96 * frame["std. error"][1], fmt="o", capsize=4)
    ax.text(frame["estimate"][1], place + 0.15, name, ha="center")
ax.set(yticks=[], ylim=(-0.5, 1.6), xlabel="coefficient of x, with its interval")
plt.tight_layout()
plt.show()
