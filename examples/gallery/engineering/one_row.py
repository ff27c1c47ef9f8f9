"""
One row at a time, in microseconds
==================================

A service that scores a request cannot wait for a data frame. ``scorer`` is the model without its estimator: one row
in, probabilities out.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression as Theirs

from discriminant import LogisticRegression, datasets

cancer = datasets.load("breast_cancer")
X = (cancer.X - cancer.X.mean(axis=0)) / cancer.X.std(axis=0)
ours, theirs = LogisticRegression().fit(X, cancer.y), Theirs().fit(X, cancer.y)
score = ours.scorer()
row = X[0]
print(score(row), score.decide(row))


def microseconds(call, repeat=300):
    """The median time of a call."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e6 * np.median(times)


calls = {
    "scikit-learn, predict_proba": lambda: theirs.predict_proba(row[None]),
    "here, predict_proba": lambda: ours.predict_proba(row[None]),
    "here, scorer": lambda: score(row),
}
fig, ax = plt.subplots(figsize=(6.5, 2.6))
bars = ax.barh(list(calls), [microseconds(call) for call in calls.values()])
ax.bar_label(bars, fmt="%.0f µs", padding=3)
ax.set(xlabel="microseconds for one row", xscale="log")
ax.margins(x=0.2)
plt.tight_layout()
plt.show()
