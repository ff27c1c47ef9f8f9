"""
One page about a model
======================

``report`` writes a page that needs nothing else: what the model is, what it is worth on these rows, where it errs,
which columns matter. It opens from the disk, prints, and can be mailed.
"""

import matplotlib.pyplot as plt

from discriminant import LinearDiscriminantAnalysis, datasets
from discriminant.plots import DiscriminantAxesDisplay

penguins = datasets.load("penguins", as_frame=True)
lda = LinearDiscriminantAnalysis().fit(penguins.X[::2], penguins.y[::2])
page = lda.report(penguins.X[1::2], penguins.y[1::2], title="Penguins")
print(f"{len(page.html) / 1000:.0f} kB of HTML, no network")

# %%
# ``page.save("report.html")`` writes it; in a notebook it shows itself.  One of its pictures, by itself:
fig, ax = plt.subplots(figsize=(6.5, 4.2))
DiscriminantAxesDisplay.from_estimator(lda, penguins.X, penguins.y, ax=ax)
plt.show()
