"""
Errors have costs
=================

To miss a malignant tumour is worse than to call back a healthy patient. Given what each error costs, the decision of
least expected cost is another threshold, and needs no other fit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from discriminant import LogisticRegression, MinimumRiskClassifier, datasets

cancer = datasets.load("breast_cancer")
X = (cancer.X - cancer.X.mean(axis=0)) / cancer.X.std(axis=0)
X_train, X_test, y_train, y_test = train_test_split(X, cancer.y, test_size=0.5, random_state=0)
prices = [1, 2, 5, 10, 20, 50, 100]
missed, false_alarms = [], []
for price in prices:
    costs = {("benign", "malignant"): float(price)}  # deciding benign where it is malignant
    careful = MinimumRiskClassifier(LogisticRegression(C=0.1), costs=costs).fit(X_train, y_train)
    answer = careful.predict(X_test)
    missed.append(np.sum((answer == "benign") & (y_test == "malignant")))
    false_alarms.append(np.sum((answer == "malignant") & (y_test == "benign")))

fig, ax = plt.subplots(figsize=(6.5, 4))
ax.semilogx(prices, missed, "o-", label="malignant, called benign")
ax.semilogx(prices, false_alarms, "s-", label="benign, called malignant")
ax.set(xlabel="how much worse a missed tumour is", ylabel=f"rows of {len(y_test)}")
ax.legend()
plt.show()
