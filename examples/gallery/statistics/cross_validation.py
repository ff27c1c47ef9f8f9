"""
The strength of the penalty by cross-validation
===============================================

Folds share their work, so that a path over ten folds costs little more than ten fits. The rule of one standard error
takes the simplest model that is no worse than chance would have it.
"""

import matplotlib.pyplot as plt
import numpy as np

from discriminant import LogisticRegressionCV, datasets

cancer = datasets.load("breast_cancer", as_frame=True)
X = (cancer.X - cancer.X.mean()) / cancer.X.std()
model = LogisticRegressionCV(
    Cs=np.logspace(-3, 1, 20), cv=5, l1_ratios=[1.0], scoring="neg_log_loss", rule="one-standard-error"
).fit(X, cancer.y)
print("C:", float(np.ravel(model.C_)[0]), " columns used:", int((model.coef_ != 0).sum()))

fig, ax = plt.subplots(figsize=(6.5, 4))
model.plot(ax=ax)
plt.show()
