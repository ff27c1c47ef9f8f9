"""
Rows that count more than once
==============================

A row of weight 3 is three rows: the same fit, whichever way it is written. A hundred thousand rows of which few
differ are best given as few rows with counts.
"""

import matplotlib.pyplot as plt
import numpy as np

from discriminant import LogisticRegression

rng = np.random.default_rng(0)
age = rng.integers(20, 80, 100_000)
ill = rng.random(100_000) < 1 / (1 + np.exp(-(age - 60) / 8))
rows, counts = np.unique(np.column_stack([age, ill]), axis=0, return_counts=True)
print(len(age), "rows are", len(rows), "different ones")

every = LogisticRegression(C=np.inf).fit(age[:, None], ill)
counted = LogisticRegression(C=np.inf).fit(rows[:, :1], rows[:, 1] == 1, sample_weight=counts)
print("difference of the weights:", abs(every.coef_[0, 0] - counted.coef_[0, 0]))
print(counted.summary())

grid = np.arange(20, 80)
share = [ill[age == a].mean() for a in grid]
fig, ax = plt.subplots(figsize=(6.5, 4))
ax.plot(grid, share, ".", label="share of the rows")
ax.plot(grid, counted.predict_proba(grid[:, None])[:, 1], label="fitted")
ax.set(xlabel="age", ylabel="P(ill)")
ax.legend()
plt.show()
