"""``score`` of every classifier: the share of rows by weight, whatever the labels are; rows too few to decide."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score

from discriminant import (
    FisherDiscriminant,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
    SigmoidRegressionClassifier,
    datasets,
)
from discriminant.errors import DataError

IRIS = datasets.load("iris")
CODES = np.unique(IRIS.y, return_inverse=True)[1]


@pytest.mark.parametrize("weight", [None, np.arange(150.0)])
@pytest.mark.parametrize("labels", [IRIS.y, CODES, CODES.astype(np.float64), IRIS.y.astype(object)], ids=str)
def test_the_score_is_scikit_learns_accuracy(labels, weight):
    model = LinearDiscriminantAnalysis().fit(IRIS.X, labels)
    expected = accuracy_score(labels.astype(str), model.predict(IRIS.X).astype(str), sample_weight=weight)
    assert model.score(IRIS.X, labels.tolist(), weight) == pytest.approx(expected, rel=1e-12)


def test_labels_that_a_fit_takes_a_score_takes():
    """Whole numbers in an array of objects, as tables of mixed columns hold them; reject labels of another kind."""
    labels = CODES.astype(object)
    model = LogisticRegression().fit(IRIS.X, labels)
    assert model.score(IRIS.X, labels) == np.mean(model.predict(IRIS.X) == CODES)
    for reject in (-1, ("no", "class")):
        model = LeastSquaresClassifier(coding="one-vs-rest", decoder="unanimous", reject_label=reject)
        model.fit(IRIS.X, IRIS.y)
        assert model.score(IRIS.X, IRIS.y) == np.mean(
            [a == b for a, b in zip(model.predict(IRIS.X), IRIS.y, strict=True)]
        )


def test_many_labels_are_right_where_all_are():
    held = np.eye(3, dtype=int)[CODES]
    model = SigmoidRegressionClassifier().fit(IRIS.X, held)
    assert model.score(IRIS.X, held) == accuracy_score(held, model.predict(IRIS.X))
    with pytest.raises(DataError, match=r"y has shape \(150, 2\), and the fit was of 3 labels"):
        model.score(IRIS.X, held[:, :2])


def test_labels_that_cannot_be_equal_are_refused():
    model = LinearDiscriminantAnalysis().fit(IRIS.X, IRIS.y)
    with pytest.raises(DataError, match="numbers and text are never equal"):
        model.score(IRIS.X, CODES)
    with pytest.raises(DataError, match="X has 150 rows and y has 3"):
        model.score(IRIS.X, IRIS.y[:3])
    assert model.score(IRIS.X[:3], ["unknown"] * 3) == 0  # a fold may hold a class that the others lack


@pytest.mark.parametrize(
    "kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, FisherDiscriminant, LeastSquaresClassifier]
)
def test_parts_too_small_to_decide_say_so(kind):
    model = kind().partial_fit(IRIS.X[:1], IRIS.y[:1], classes=IRIS.classes)
    with pytest.raises(NotFittedError, match=r"1 of class 'setosa', 0 of class 'versicolor'.*partial_fit"):
        model.predict(IRIS.X)
    whole = kind().fit(IRIS.X, IRIS.y)
    assert model.merge(whole).score(IRIS.X, IRIS.y) > 0.8
