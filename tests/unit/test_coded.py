"""Logistic regression and the linear SVC with a basis or a coding: each output is the method's own two-class fit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.preprocessing import PolynomialFeatures

import discriminant
from discriminant import LinearSVC, LogisticRegression
from discriminant.errors import DataError, MismatchError, ParameterError

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[y]


def test_one_versus_rest_equals_scikit_learns_wrapper():
    ours = LogisticRegression(coding="one-vs-rest").fit(X, NAMES)
    theirs = OneVsRestClassifier(TheirLogistic(tol=1e-10, max_iter=10_000, solver="newton-cholesky")).fit(X, NAMES)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)
    assert (ours.predict(X) == theirs.predict(X)).all()
    assert ours.certificate_.converged
    assert ours.coef_.shape == (3, 4)


def test_pairwise_outputs_are_trained_on_their_two_classes_only():
    ours = LogisticRegression(coding="pairwise").fit(X, y)
    theirs = OneVsOneClassifier(TheirLogistic(tol=1e-10, max_iter=10_000, solver="newton-cholesky")).fit(X, y)
    for j, single in enumerate(theirs.estimators_):
        np.testing.assert_allclose(-ours.coef_[j], single.coef_[0], atol=1e-6)  # first class of the pair positive
    assert (ours.predict(X) == theirs.predict(X)).all()
    p = ours.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), p)


@pytest.mark.parametrize("make", [LogisticRegression, LinearSVC])
@pytest.mark.parametrize(
    "coding", ["one-vs-rest", "one-vs-rest-k-1", "pairwise", "machine", [[1, 1], [1, -1], [-1, 0]]]
)
def test_saved_exported_and_pickled_models_decide_alike(make, coding, tmp_path):
    model = make(coding=coding).fit(X, NAMES)
    discriminant.save(model, tmp_path / "model")
    again = discriminant.load(tmp_path / "model")
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))
    assert discriminant.to_json(model)
    assert [model.scorer().decide(row) for row in X[::10]] == model.predict(X[::10]).tolist()
    assert (clone(model).fit(X, NAMES).predict(X) == model.predict(X)).all()


@pytest.mark.parametrize(("make", "offset"), [(LogisticRegression, 0.0), (LogisticRegression, 1e6), (LinearSVC, 0.0)])
def test_a_basis_in_the_model_is_the_basis_in_front_of_it(make, offset):
    features = PolynomialFeatures(2, include_bias=False)
    ours = make(basis="quadratic").fit(X + offset, NAMES)
    inner = make().fit(features.fit_transform(X + offset), NAMES)
    assert (ours.predict(X + offset) == inner.predict(features.transform(X + offset))).mean() > 0.99
    np.testing.assert_allclose(
        ours.decision_function(X + offset),
        inner.decision_function(features.transform(X + offset)),
        rtol=1e-3,
        atol=1e-3,
    )
    np.testing.assert_allclose(
        ours.discriminant_.decision_function(X + offset), ours.decision_function(X + offset), rtol=1e-3, atol=1e-3
    )
    assert ours.n_features_in_ == 4


def test_quadratic_logistic_learns_the_exclusive_or():
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10) * 2.0 - 1
    parity = (corners.prod(axis=1) > 0).astype(int)
    assert LogisticRegression().fit(corners, parity).score(corners, parity) < 0.8
    model = LogisticRegression(basis="quadratic").fit(corners, parity)
    assert model.score(corners, parity) == 1.0
    assert model.plan(corners, parity).method


def test_unanimous_outputs_may_reject_and_the_sum_is_weak():
    model = LogisticRegression(coding="one-vs-rest", decoder="unanimous", reject_label="none").fit(X, NAMES)
    claimed = (model.outputs(X) > 0).sum(axis=1)
    np.testing.assert_array_equal(model.predict(X) == "none", claimed != 1)
    right = {d: LogisticRegression(coding="pairwise", decoder=d).fit(X, y).score(X, y) for d in ("sum", "votes")}
    assert right["sum"] < 0.7 < 0.95 < right["votes"]


def test_frames_weights_and_class_weights_reach_every_output():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pd.DataFrame(X, columns=list("abcd"))
    weight = np.arange(150) % 3 + 1.0
    ours = LogisticRegression(coding="pairwise", class_weight={0: 2.0}).fit(frame, y, weight)
    plain = LogisticRegression(coding="pairwise").fit(X, y, weight * np.where(y == 0, 2.0, 1.0))
    np.testing.assert_allclose(ours.coef_, plain.coef_, rtol=1e-8)
    assert list(ours.feature_names_in_) == list("abcd")


def test_what_does_not_fit_together_is_said():
    with pytest.raises(MismatchError, match="decoder"):
        LogisticRegression(coding="softmax", decoder="votes").fit(X, y)
    with pytest.raises(MismatchError, match="softmax"):
        LinearSVC(coding="softmax").fit(X, y)
    with pytest.raises(MismatchError, match="offset"):
        LogisticRegression(coding="pairwise").fit(X, y, offset=np.zeros(150))
    with pytest.raises(MismatchError, match="correct_priors"):
        LogisticRegression(coding="pairwise", class_weight="balanced", correct_priors=True).fit(X, y)
    with pytest.raises(AttributeError, match="partial_fit"):
        LogisticRegression(coding="pairwise").partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ParameterError, match="likelihood"):
        LogisticRegression(coding="pairwise").fit(X, y).summary(X, y)
    with pytest.raises(DataError, match="labels"):
        LogisticRegression(coding="pairwise").fit(X, np.eye(3)[y])


def test_a_later_plain_fit_forgets_the_coding():
    model = LogisticRegression(coding="pairwise").fit(X, y)
    model.set_params(coding="auto").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), LogisticRegression().fit(X, y).predict_proba(X))
    assert not hasattr(model, "coding_")
