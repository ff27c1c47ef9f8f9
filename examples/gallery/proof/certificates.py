"""
Did it converge?  A fit that proves it
======================================

Every fit ends with a certificate: the objective, a lower bound that no weights can beat, and the gap between. The
same is worked out for models of scikit-learn, from their weights alone.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression as Theirs

from discriminant import LogisticRegression, certify, datasets

cancer = datasets.load("breast_cancer")
X = (cancer.X - cancer.X.mean(axis=0)) / cancer.X.std(axis=0)
ours = LogisticRegression().fit(X, cancer.y)
print(ours.certificate_.status)

tolerances = [1.0, 0.3, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5]
proofs = [certify(Theirs(tol=tol).fit(X, cancer.y), X, cancer.y) for tol in tolerances]
gaps = [proof.gap / abs(proof.objective) for proof in proofs]

fig, ax = plt.subplots(figsize=(6.5, 4))
ax.loglog(tolerances, gaps, "o-", label="scikit-learn's, at its tolerance")
ax.axhline(max(ours.certificate_.gap / ours.certificate_.objective, 1e-16), color="C1", label="ours, as it comes")
ax.set(xlabel="tol", ylabel="proved relative gap", title="How far from the optimum a fit can be at most")
ax.legend()
plt.show()
