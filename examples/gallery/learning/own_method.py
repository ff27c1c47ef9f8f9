"""
A method of your own
====================

A named method is a choice of parts: basis, criterion, penalty, coding, optimizer. So is one without a name: here a
squared hinge with an elastic net.
"""

import matplotlib.pyplot as plt

from discriminant import Discriminant, datasets, penalties

cancer = datasets.load("breast_cancer", as_frame=True)
X = (cancer.X - cancer.X.mean()) / cancer.X.std()
own = Discriminant(criterion="squared-hinge", penalty=penalties.ElasticNet(0.05, mix=0.7)).fit(X, cancer.y)
print(own.certificate_.status)

weights = own.coef_[0]
kept = [(name, weight) for name, weight in zip(X.columns, weights, strict=True) if weight]
kept.sort(key=lambda pair: pair[1])
fig, ax = plt.subplots(figsize=(6.5, 4))
ax.barh([name for name, _ in kept], [weight for _, weight in kept])
ax.set_title(f"{len(kept)} of {len(weights)} weights are not zero; accuracy {own.score(X, cancer.y):.3f}", fontsize=10)
plt.tight_layout()
plt.show()
