"""
Do probabilities mean what they say?
====================================

Of all rows that are given 70 per cent, about 70 in a hundred should belong. Gaussian classes whose columns are taken
as independent count the same evidence many times where columns are correlated, and are far too sure; logistic
regression is not.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import cross_val_predict

from discriminant import LinearDiscriminantAnalysis, LogisticRegression, datasets
from discriminant.plots import CalibrationDisplay

cancer = datasets.load("breast_cancer")
X = cancer.X[:, 1:10]  # nine means of each tumour
models = {
    "independent columns": LinearDiscriminantAnalysis(form="diagonal"),
    "logistic": LogisticRegression(C=1e4),
}
fig, axes = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    posteriors = cross_val_predict(model, X, cancer.y, cv=5, method="predict_proba")
    shown = CalibrationDisplay.from_predictions(cancer.y, posteriors, classes=["benign", "malignant"], ax=ax)
    ax.set_title(f"{name}: mean distance from the diagonal {shown.error('malignant'):.3f}", fontsize=10)
plt.tight_layout()
plt.show()
