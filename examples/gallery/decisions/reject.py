"""
Not deciding
============

Where no class is likely enough, the cheapest act may be to ask somebody. The more rows are handed on, the fewer
errors are left among the others.
"""

import matplotlib.pyplot as plt
import numpy as np

from discriminant import LinearDiscriminantAnalysis, MinimumRiskClassifier, datasets
from discriminant.decision import error_reject_curve
from discriminant.plots import DecisionRegionsDisplay

penguins = datasets.load("penguins", as_frame=True)
X, y = penguins.X[["bill_length_mm", "bill_depth_mm"]], penguins.y
careful = MinimumRiskClassifier(LinearDiscriminantAnalysis(), reject_cost=0.1).fit(X, y)

fig, axes = plt.subplots(1, 2, figsize=(9.5, 4))
DecisionRegionsDisplay.from_estimator(careful, X, y, ax=axes[0])
axes[0].set_title("hatched: rejected, at a tenth of an error's cost", fontsize=10)

lda = LinearDiscriminantAnalysis().fit(X, y)
codes = np.searchsorted(lda.classes_, y)
_, rejected, error = error_reject_curve(lda.loo_predict_proba(X, y), codes)
axes[1].step(100 * rejected, 100 * error, where="post")
axes[1].set(xlabel="rejected, per cent of the rows", ylabel="errors, per cent of the others", xlim=(0, 40))
plt.tight_layout()
plt.show()
