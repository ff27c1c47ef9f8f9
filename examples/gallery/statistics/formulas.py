"""
Formulas, and the comparison of models
======================================

Does the texture of a tumour say more where its outline is rough? Two models by formula, and the tests of what the
larger one has more, by the likelihood ratio and by Wald.
"""

import matplotlib.pyplot as plt
import numpy as np

from discriminant import LogisticRegression, compare, datasets

cancer = datasets.load("breast_cancer", as_frame=True)
table = cancer.X.assign(diagnosis=cancer.y)
small = LogisticRegression.from_formula("diagnosis ~ mean_texture + mean_smoothness", table, C=np.inf)
large = LogisticRegression.from_formula("diagnosis ~ mean_texture * mean_smoothness", table, C=np.inf)
print(compare(small, large))

# %%
# Predictions take tables with the same columns; the formula makes the products, or splines, or levels.
fig, ax = plt.subplots(figsize=(6.5, 4))
for smoothness, color in ((0.08, "C0"), (0.115, "C1")):
    grid = table.iloc[[0] * 200].assign(mean_texture=np.linspace(10, 32, 200), mean_smoothness=smoothness)
    for model, style, name in ((small, "--", "without"), (large, "-", "with the product")):
        label = f"smoothness {smoothness}, {name}"
        ax.plot(grid["mean_texture"], model.predict_proba(grid)[:, 1], style, color=color, label=label)
ax.set(xlabel="mean texture", ylabel="P(malignant)", ylim=(0, 1))
ax.legend(fontsize=8)
plt.show()
