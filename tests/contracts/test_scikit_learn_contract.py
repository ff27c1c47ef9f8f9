"""scikit-learn's own checks, on settings beside the defaults that change which methods there are or which data fit."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from discriminant import LinearDiscriminantAnalysis, LogisticRegression, MinimumRiskClassifier

SETTINGS = [
    LogisticRegression(l1_ratio=1),
    LogisticRegression(basis="quadratic"),
    LogisticRegression(coding="pairwise"),
    LogisticRegression(solver="liblinear"),
    LogisticRegression(optimizer="newton"),
    LinearDiscriminantAnalysis(form="diagonal"),
    LinearDiscriminantAnalysis(solver="eigen"),
    MinimumRiskClassifier(LogisticRegression()),
]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(SETTINGS)
def test_settings_keep_the_contract_of_scikit_learn(estimator, check):
    check(estimator)
