"""
The whole path of the lasso
===========================

From a penalty that lets nothing in to one that lets nearly everything in: at which strength each column enters. The
path is glmnet's, each fit of it with a proof.
"""

import matplotlib.pyplot as plt

from discriminant import datasets, logistic_path
from discriminant.plots import CoefficientPathDisplay

cancer = datasets.load("breast_cancer", as_frame=True)
X = (cancer.X - cancer.X.mean()) / cancer.X.std()
path = logistic_path(X, cancer.y, n_lambdas=60, ratio=1e-3)
print("columns at the strongest, a middle and the weakest penalty:", path.n_nonzero[[0, 30, 59]])
print("all fits are proved:", bool(path.certified.all()))

fig, ax = plt.subplots(figsize=(7.5, 4.5))
CoefficientPathDisplay.from_path(path, ax=ax)
plt.tight_layout()
plt.show()
