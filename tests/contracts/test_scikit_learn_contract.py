"""scikit-learn's own checks of every estimator, at its defaults and at settings that change what there is or what fits.

What does not hold is declared in docs/migration.md, with the reason; the table and the failures are the same.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import discriminant
from contracts.declared import expected_failures
from discriminant import (
    Adaline,
    Discriminant,
    ExponentialFamilyClassifier,
    FisherDiscriminant,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LinearMachine,
    LinearProgrammingClassifier,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    MinimumErrorClassifier,
    MinimumRiskClassifier,
    Perceptron,
    QuadraticDiscriminantAnalysis,
    SigmoidRegressionClassifier,
)
from discriminant.errors import NotAvailableError

DEFAULTS = [
    Adaline(),
    Discriminant(),
    ExponentialFamilyClassifier(),
    FisherDiscriminant(),
    LeastSquaresClassifier(),
    LinearDiscriminantAnalysis(),
    LinearMachine(),
    LinearProgrammingClassifier(),
    LinearSVC(),
    LogisticRegression(),
    LogisticRegressionCV(),
    MinimumErrorClassifier(max_iter=30, rounds=3),  # at its defaults the same, in a quarter of an hour
    MinimumRiskClassifier(),
    Perceptron(),
    QuadraticDiscriminantAnalysis(),
    SigmoidRegressionClassifier(),
]
SETTINGS = [
    LogisticRegression(l1_ratio=1),
    LogisticRegression(penalty="jeffreys"),
    LogisticRegression(C=np.inf),
    LogisticRegression(fit_intercept=False),
    LogisticRegression(class_weight="balanced"),
    LogisticRegression(basis="quadratic"),
    LogisticRegression(coding="pairwise"),
    LogisticRegression(solver="liblinear"),
    LogisticRegression(optimizer="newton"),
    LogisticRegressionCV(Cs=3, cv=3),
    LogisticRegressionCV(Cs=3, cv=3, l1_ratios=(0.5,), use_legacy_attributes=False),
    LinearDiscriminantAnalysis(solver="eigen"),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5),
    LinearDiscriminantAnalysis(shrinkage="oas"),
    LinearDiscriminantAnalysis(form="diagonal"),
    QuadraticDiscriminantAnalysis(pooling=0.5),
    QuadraticDiscriminantAnalysis(form="diagonal"),
    QuadraticDiscriminantAnalysis(shrinkage="auto"),
    LinearSVC(loss="hinge"),
    LinearSVC(penalty="l1"),
    LinearSVC(multi_class="crammer_singer"),
    LinearSVC(fit_intercept=False),
    LinearMachine(fit_intercept=False),
    LinearMachine("logistic", penalty="ridge"),
    Perceptron(fit_intercept=False),
    Perceptron(mode="batch"),
    Perceptron(early_stopping=True),
    Perceptron(average=True),
    Perceptron(penalty="l1"),
    Adaline(mode="batch"),
    Adaline(fit_intercept=False),
    Adaline(early_stopping=True),
    Discriminant(basis="quadratic", criterion="squared"),
    SigmoidRegressionClassifier(fit_intercept=False),
    ExponentialFamilyClassifier("poisson"),
    ExponentialFamilyClassifier("exponential"),
    MinimumRiskClassifier(LogisticRegression()),
]


def test_every_estimator_is_in_the_list():
    public = [getattr(discriminant, name) for name in discriminant.__all__]
    estimators = {one for one in public if inspect.isclass(one) and "fit" in dir(one)}
    assert estimators == {type(model) for model in DEFAULTS}


# Runs with float64, with float32 and with a memory map, and is declared for float32.
IN_SOME_FORMS = {"check_classifiers_train"}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(DEFAULTS + SETTINGS)
def test_the_contract_of_scikit_learn(estimator, check):
    name = check.func.__name__
    reason = expected_failures(estimator).get(name)
    if reason is None:
        check(estimator)
        return
    try:
        check(estimator)
    except Exception:
        pytest.xfail(reason)
    assert name in IN_SOME_FORMS, f"docs/migration.md declares {name}, which passes"


@pytest.mark.parametrize(
    ("model", "method", "why"),
    [
        (LogisticRegression(l1_ratio=1), "partial_fit", "plain ridge"),
        (LogisticRegression(class_weight="balanced"), "partial_fit", "all rows"),
        (Perceptron(class_weight="balanced"), "partial_fit", "all rows"),
        (Perceptron(mode="batch"), "partial_fit", "sample by sample"),
        (LinearDiscriminantAnalysis(shrinkage="auto"), "partial_fit", "all rows"),
        (QuadraticDiscriminantAnalysis(covariance="robust"), "partial_fit", "all rows"),
        (LinearDiscriminantAnalysis(solver="lsqr"), "transform", "lsqr"),
    ],
    ids=repr,
)
def test_methods_that_parameters_take_away_are_not_there_and_say_why(model, method, why):
    assert not hasattr(model, method)
    with pytest.raises(NotAvailableError, match=why):
        getattr(model, method)
    assert hasattr(type(model)(), method)
