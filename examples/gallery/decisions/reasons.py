"""
Why this one?
=============

A linear score is a sum, so that its reasons can be read off: what each measurement adds, counted from the mean bird.
The parts add up to the score.
"""

import matplotlib.pyplot as plt

from discriminant import LinearDiscriminantAnalysis, datasets
from discriminant.plots import ContributionsDisplay

penguins = datasets.load("penguins", as_frame=True)
lda = LinearDiscriminantAnalysis().fit(penguins.X, penguins.y)
bird = penguins.X.iloc[72:73]
print(bird.to_string(index=False))
print(dict(zip(lda.classes_, lda.predict_proba(bird)[0].round(3).tolist(), strict=True)))

fig, ax = plt.subplots(figsize=(7, 3.4))
ContributionsDisplay.from_estimator(lda, bird, reference=penguins.X.mean().to_numpy(), target="Chinstrap", ax=ax)
plt.tight_layout()
plt.show()
