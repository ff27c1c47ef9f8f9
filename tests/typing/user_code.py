"""A page of user code as an editor sees it: mypy and pyright must know every type here (`make lint`, and a test)."""

from __future__ import annotations

from typing import assert_type

import numpy as np

import discriminant
from discriminant import (
    LinearDiscriminant,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    LogisticRegressionCV,
    MinimumRiskClassifier,
    Perceptron,
    bases,
    criteria,
    datasets,
    optimize,
    penalties,
    plots,
    separability,
)

iris = datasets.load("iris")
X, y = iris.X, iris.y

lda = LinearDiscriminantAnalysis(shrinkage="auto").fit(X, y)
assert_type(lda, LinearDiscriminantAnalysis)
assert_type(lda.discriminant_, LinearDiscriminant)
accuracy: float = lda.loo_score(X, y)

model = LogisticRegression(C=0.5, l1_ratio=0.2, basis=bases.Polynomial(2)).fit(X, y, sample_weight=np.ones(len(y)))
assert_type(model, LogisticRegression)
assert_type(LogisticRegressionCV(Cs=[0.1, 1.0]).fit(X, y), LogisticRegressionCV)
assert_type(Perceptron(shuffle=False).fit(X, y), Perceptron)
assert_type(MinimumRiskClassifier(model, reject_cost=0.1).fit(X, y), MinimumRiskClassifier)
assert_type(model.certificate_, discriminant.Certificate)
assert_type(model.certificate_.gap, float)

weights: np.ndarray = model.coef_ + lda.coef_
offsets: np.ndarray = model.intercept_ + lda.intercept_
labels: np.ndarray = lda.predict(X)
posterior: np.ndarray = model.predict_proba(X)

verdict = separability(X, y == "setosa")
assert_type(verdict, discriminant.Separability)
assert_type(verdict.verdict, str)

assert_type(optimize.Newton(iterations=5), optimize.Newton)
assert_type(penalties.Ridge(0.1), penalties.Ridge)
assert_type(criteria.Logistic(), criteria.Logistic)
display = plots.DecisionRegionsDisplay.from_estimator(lda, X[:, :2])
assert_type(display, plots.DecisionRegionsDisplay)

discriminant.save(lda, "iris.disc")
discriminant.patch_sklearn(verbose=True)
discriminant.unpatch_sklearn()
assert_type(discriminant.__version__, str)
