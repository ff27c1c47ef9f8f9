"""
Where classes are not as frequent as they were
==============================================

A model learned where every third bird was a Chinstrap is used where hardly any is. Its posteriors move without a new
fit, and the new frequencies themselves can be estimated from birds that nobody has labelled.
"""

import matplotlib.pyplot as plt
import numpy as np

from discriminant import LinearDiscriminantAnalysis, datasets
from discriminant.decision import estimate_priors

penguins = datasets.load("penguins")
lda = LinearDiscriminantAnalysis().fit(penguins.X[::2], penguins.y[::2])
X, y = penguins.X[1::2], penguins.y[1::2]
rng = np.random.default_rng(0)
elsewhere = np.concatenate(
    [rng.choice(np.flatnonzero(y == name), size) for name, size in zip(lda.classes_, (40, 5, 155), strict=True)]
)
found = estimate_priors(lda.predict_log_proba(X[elsewhere]), lda.priors_)
truth = np.array([40, 5, 155]) / 200

fig, ax = plt.subplots(figsize=(6.5, 3.6))
places = np.arange(3)
for shift, values, name in (
    (-0.25, lda.priors_, "in the training rows"),
    (0, truth, "there"),
    (0.25, found, "estimated"),
):
    ax.bar(places + shift, values, 0.24, label=name)
ax.set_xticks(places, lda.classes_)
ax.set_ylabel("share")
ax.legend()
plt.show()

print("errors before and after:")
for priors in (None, found):
    print(int((lda.predict(X[elsewhere], priors=priors) != y[elsewhere]).sum()), "of", len(elsewhere))
