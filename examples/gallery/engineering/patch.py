"""
A script that need not be edited
================================

``patch_sklearn`` lets scikit-learn's own classes fit here where the setting has one answer; the classes stay scikit-
learn's. Below, the same lines run twice. For a whole script: ``python -m discriminant script.py``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

import discriminant

X, y = make_classification(2000, 40, n_informative=20, random_state=0)


def script():
    """What somebody wrote for scikit-learn."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=0.1).fit(X, y)
    return model, discriminant.certify(model, X, y)


theirs, before = script()
discriminant.patch_sklearn()
ours, after = script()
discriminant.unpatch_sklearn()
print("a class of scikit-learn still:", isinstance(ours, type(theirs)))
print("proved gap before:", f"{before.gap:.0e}", "after:", f"{after.gap:.0e}")

fig, ax = plt.subplots(figsize=(5, 4.4))
ax.plot(theirs.coef_[0], ours.coef_[0], "o")
ax.axline((0, 0), slope=1, color="grey", linewidth=0.8)
ax.set(xlabel="scikit-learn's weights", ylabel="weights under the patch")
ax.set_title(f"largest difference {np.abs(theirs.coef_ - ours.coef_).max():.0e}", fontsize=10)
plt.show()
