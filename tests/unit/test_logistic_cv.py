"""Cross-validated logistic regression: scikit-learn's choices and attributes, shared work, one standard error."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csr_array
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from discriminant import LogisticRegression, LogisticRegressionCV
from discriminant.errors import DataError, ParameterError
from discriminant.methods.logistic_folds import choose


def data(name):
    X, y = (load_iris if name == "iris" else load_breast_cancer)(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def many_rows(n=8000, d=6, K=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 3 + 100
    z = (X - 100) @ rng.standard_normal((d, K)) / 4 + rng.gumbel(size=(n, K))
    return X, z.argmax(axis=1)


def theirs(**options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return linear_model.LogisticRegressionCV(Cs=5, tol=1e-10, max_iter=20_000, **options)


def stacked(value):
    return np.stack(list(value.values())) if isinstance(value, dict) else value


@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scoring": "neg_log_loss"},
        {"refit": False},
        {"use_legacy_attributes": False, "l1_ratios": (0.0,)},
        {"fit_intercept": False, "cv": 3},
        {"class_weight": "balanced"},
    ],
    ids=str,
)
def test_it_is_scikit_learns(name, options):
    X, y = data(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = theirs(**options).fit(X, y)
    found = LogisticRegressionCV(Cs=5, **options).fit(X, y)
    np.testing.assert_allclose(found.C_, expected.C_)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-4 * np.abs(expected.coef_).max())
    np.testing.assert_allclose(stacked(found.scores_), stacked(expected.scores_), atol=2e-3)
    size = np.abs(stacked(expected.coefs_paths_)).max()
    np.testing.assert_allclose(stacked(found.coefs_paths_), stacked(expected.coefs_paths_), atol=1e-3 * size)
    assert found.n_iter_.shape == expected.n_iter_.shape
    np.testing.assert_array_equal(found.l1_ratio_, expected.l1_ratio_)
    assert type(found.scores_) is type(expected.scores_)
    assert found.Cs_.tolist() == expected.Cs_.tolist()
    assert (found.gaps_ < 3e-7).all()


def test_l1_ratios_form_a_grid():
    X, y = data("iris")
    found = LogisticRegressionCV(Cs=[0.1, 1.0], l1_ratios=(0.0, 0.5, 1.0), cv=3).fit(X, y)
    assert found.scores_[0].shape == (3, 2, 3)
    assert found.coefs_paths_[0].shape == (3, 2, 3, 5)
    train = np.arange(0, 150, 2)
    split = LogisticRegressionCV(Cs=[1.0], l1_ratios=(0.5,), cv=[(train, train)], use_legacy_attributes=False)
    single = LogisticRegression(C=1.0, l1_ratio=0.5).fit(X[train], y[train])
    paths = split.fit(X, y).coefs_paths_[0, 0, 0]
    assert paths.shape == (3, 5)
    np.testing.assert_allclose(paths[:, :4], single.coef_, atol=1e-3)


@pytest.mark.parametrize(("K", "l1_ratio"), [(2, 0.0), (3, 0.0), (2, 0.7)])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("storage", [np.asarray, csr_array])
def test_a_fold_is_the_fit_without_its_rows(K, l1_ratio, intercept, storage):
    X, y = many_rows(n=20_000, K=K)  # enough for folds of two classes to be solved together
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    Cs, splits = np.logspace(-3, 3, 4), list(KFold(4).split(X))
    model = LogisticRegressionCV(
        Cs=Cs, cv=splits, l1_ratios=(l1_ratio,), fit_intercept=intercept, use_legacy_attributes=False
    ).fit(storage(X), y)
    assert (model.gaps_ <= 3e-7).all()
    for f, level in ((0, 0), (2, 3)):
        train, test = splits[f]
        alone = LogisticRegression(C=Cs[level], l1_ratio=l1_ratio, fit_intercept=intercept).fit(X[train], y[train])
        found = model.coefs_paths_[f, 0, level]
        np.testing.assert_allclose(found[:, : X.shape[1]], alone.coef_, atol=2e-3 * np.abs(alone.coef_).max())
        assert model.scores_[f, 0, level] == pytest.approx(alone.score(X[test], y[test]), abs=2e-3)


def test_sample_weights_count_as_repetitions():
    X, y = data("iris")
    cv = [(np.arange(0, 150, 2), np.arange(1, 150, 2))]
    twice = np.repeat(np.arange(150), 1 + (np.arange(150) % 3 == 0))
    weight = 1.0 + (np.arange(150) % 3 == 0)
    where = [np.flatnonzero(np.isin(twice, part)) for part in cv[0]]
    weighted = LogisticRegressionCV(Cs=[0.1, 10], cv=cv).fit(X, y, sample_weight=weight)
    repeated = LogisticRegressionCV(Cs=[0.1, 10], cv=[tuple(where)]).fit(X[twice], y[twice])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7)
    np.testing.assert_allclose(stacked(weighted.scores_), stacked(repeated.scores_))


def test_the_one_standard_error_rule_takes_the_simplest_good_model():
    X, y = data("breast_cancer")
    options = {"Cs": np.logspace(-1.5, 0.5, 17), "l1_ratios": (1.0,), "scoring": "neg_log_loss", "cv": 5}
    best = LogisticRegressionCV(**options, use_legacy_attributes=False).fit(X, y)
    simple = LogisticRegressionCV(**options, use_legacy_attributes=False, rule="one-standard-error").fit(X, y)
    mean, error = best.scores_[:, 0].mean(axis=0), best.scores_[:, 0].std(axis=0, ddof=1) / 5**0.5
    top = mean.argmax()
    expected = best.Cs_[np.flatnonzero(mean >= mean[top] - error[top]).min()]
    assert simple.C_ == expected < best.C_
    assert (simple.coef_ != 0).sum() < (best.coef_ != 0).sum()


def test_a_class_that_a_fold_has_not_seen_gets_no_probability():
    X, y = data("iris")
    order = np.argsort(y, kind="stable")
    model = LogisticRegressionCV(Cs=[0.1, 1], cv=KFold(3)).fit(X[order], y[order])
    assert np.isfinite(stacked(model.coefs_paths_)).all()
    np.testing.assert_array_equal(stacked(model.scores_)[0], 0)  # each fold is tested on the class it never saw
    two = LogisticRegressionCV(Cs=[0.1], cv=[(np.arange(50), np.arange(50, 100))]).fit(X[order][:100], y[order][:100])
    assert two.scores_[1][0, 0] == 0


def test_other_splitters_storage_and_labels():
    X, y = data("iris")
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    dense = LogisticRegressionCV(Cs=3, cv=ShuffleSplit(3, random_state=0)).fit(X, names)
    sparse = LogisticRegressionCV(Cs=3, cv=ShuffleSplit(3, random_state=0)).fit(csr_array(X), names)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-6)
    assert list(dense.scores_) == list(names[[0, 50, 100]])
    assert dense.score(X, names) > 0.9
    judged = LogisticRegressionCV(Cs=3, scoring="neg_log_loss").fit(X, names)
    assert judged.score(X, names) < 0
    with pytest.raises(ParameterError, match="metadata_routing"):
        LogisticRegressionCV(cv=GroupKFold(3)).fit(X, names, groups=np.arange(150) % 5)


def test_it_draws():
    import matplotlib as mpl

    mpl.use("Agg")
    X, y = data("iris")
    for legacy in (True, False):
        model = LogisticRegressionCV(Cs=3, l1_ratios=(0.0, 1.0), use_legacy_attributes=legacy).fit(X, y)
        assert len(model.plot().containers) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"Cs": 0}, "Cs"),
        ({"Cs": [1.0, -1.0]}, "positive"),
        ({"l1_ratios": (2.0,)}, "between 0 and 1"),
        ({"l1_ratios": ()}, "between 0 and 1"),
        ({"l1_ratios": (1.0,), "solver": "lbfgs"}, "supports only 'l2'"),
        ({"rule": "median"}, "rule"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    X, y = data("iris")
    with pytest.raises(ParameterError, match=message):
        LogisticRegressionCV(**options).fit(X, y)


def test_probabilities_for_labels_are_refused():
    X, y = data("iris")
    with pytest.raises(DataError, match="columns"):
        LogisticRegressionCV().fit(X, np.eye(3)[y])


@pytest.mark.parametrize("refit", [True, False])
def test_plan_certificate_and_history_are_there_after_a_search_too(refit):
    X, y = data("iris")
    model = LogisticRegressionCV(Cs=3, refit=refit, use_legacy_attributes=False)
    assert model.plan(X, y).method == LogisticRegression().plan(X, y).method
    assert not hasattr(model, "n_features_in_")  # a plan is no fit
    model.fit(X, y)
    assert model.certificate_.converged
    assert ("mean of the weights of 5 folds" in model.certificate_.status) is not refit
    assert (len(model.history_) > 0) is refit


def test_a_summary_after_a_search_remembers_the_rows():
    X, y = data("iris")
    model = LogisticRegressionCV(Cs=[0.5], use_legacy_attributes=False).fit(X, y)
    alone = LogisticRegression(C=0.5).fit(X, y)
    np.testing.assert_allclose(model.summary().standard_error, alone.summary().standard_error, rtol=1e-8)


@pytest.mark.parametrize("kind", ["plain", "weights", "rare", "collinear", "uneven", "offset"])
def test_the_gap_of_every_fold_is_what_the_curvature_of_some_rows_proves(kind):
    """J at every fold's weights, computed apart, is no further above its minimum than the proof says."""
    rng = np.random.default_rng(3)
    X, y = many_rows(n=12_000, seed=3)
    weight = rng.uniform(0.2, 3.0, len(y)) if kind == "weights" else None
    if kind == "rare":
        y = (rng.random(len(y)) < 0.004).astype(int)
    if kind == "collinear":
        X = np.column_stack([X, X[:, 0] + 1e-4 * rng.standard_normal(len(X))])
    if kind == "offset":
        X = X + 1e6
    groups = (rng.random(len(y)) ** 3 * 40).astype(int)
    splits = list(GroupKFold(5).split(X, y, groups) if kind == "uneven" else KFold(5).split(X, y))
    Cs = np.logspace(-4, 4, 9)
    model = LogisticRegressionCV(Cs=Cs, cv=splits, use_legacy_attributes=False)
    model.fit(X, y, sample_weight=weight)
    w = np.ones(len(y)) if weight is None else weight
    for f, (train, _) in enumerate(splits):
        for level, C in enumerate(Cs):
            best = LogisticRegression(C=C, tol=1e-12).fit(X[train], y[train], sample_weight=w[train])
            total = w[train].sum()

            def J(coef, intercept, train=train, total=total, C=C):
                z = (X[train] - X.mean(axis=0)) @ coef + intercept + X.mean(axis=0) @ coef
                loss = np.logaddexp(0, np.where(y[train] == 1, -z, z))
                return (w[train] @ loss) / total + 0.5 * (coef @ coef) / (C * total)

            found = model.coefs_paths_[f, 0, level, 0]
            above = J(found[:-1], found[-1]) - J(best.coef_[0], best.intercept_[0])
            assert above <= model.gaps_[f, 0, level] + 1e-11
    assert model.gaps_.max() <= 3e-7


def few_rows():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 3)).round(2)
    return X, (X @ [1.0, -1.0, 0.3] + rng.standard_normal(60) > 0).astype(int)


class NotAnArray:
    """Rows that are an array only when asked."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


@pytest.mark.parametrize(
    "store", [sp.dia_array, sp.bsr_array, sp.coo_matrix, sp.csc_matrix, NotAnArray, np.asfortranarray]
)
def test_a_scorer_sees_the_rows_in_any_storage(store):
    X, y = few_rows()
    options = {"Cs": [0.01, 1.0], "cv": 3, "scoring": "neg_log_loss", "use_legacy_attributes": False}
    plain = LogisticRegressionCV(**options).fit(X, y)
    other = LogisticRegressionCV(**options).fit(store(X), y)
    np.testing.assert_allclose(other.scores_, plain.scores_, rtol=1e-6)


@pytest.mark.parametrize(
    "scoring", [None, "accuracy", "f1", "roc_auc", "neg_log_loss", "neg_brier_score", "balanced_accuracy"]
)
def test_labels_of_any_type_choose_the_same_C(scoring):
    X, y = few_rows()
    options = {"Cs": [1e-3, 0.1, 10.0], "cv": 3, "scoring": scoring, "use_legacy_attributes": False}
    plain = LogisticRegressionCV(**options).fit(X, y)
    for labels in (y.astype(object), y.astype(np.int8), y.astype(bool), y.astype(bool).astype(object)):
        other = LogisticRegressionCV(**options).fit(X, labels)
        np.testing.assert_array_equal(other.scores_, plain.scores_)
        assert plain.C_ == other.C_


def test_folds_without_a_score_are_left_out_and_no_score_at_all_is_refused():
    X, y = few_rows()
    cv = [
        (np.arange(20, 60), np.arange(20)),
        (np.arange(40), np.arange(40, 60)),
        (np.r_[:20, 40:60], np.arange(20, 40)),
    ]

    def some(model, X, y):
        return np.nan if X[0, 0] == few_rows()[0][0, 0] else model.score(X, y)

    for rule in ("best", "one-standard-error"):
        options = {"Cs": [0.01, 1.0], "rule": rule, "use_legacy_attributes": False}
        some_fit = LogisticRegressionCV(cv=cv, scoring=some, **options).fit(X, y)
        assert some_fit.C_ == LogisticRegressionCV(cv=cv[1:], scoring=some, **options).fit(X, y).C_
        with pytest.raises(DataError, match="scoring"):
            LogisticRegressionCV(cv=cv, scoring=lambda model, X, y: np.nan, **options).fit(X, y)
    with pytest.raises(DataError, match="scoring"):
        LogisticRegressionCV(Cs=2, cv=cv, scoring=lambda model, X, y: np.nan, refit=False).fit(X, y)


@pytest.mark.parametrize("estimator", [LogisticRegression, LogisticRegressionCV])
def test_the_tags_say_that_liblinear_is_for_two_classes(estimator):
    assert get_tags(estimator()).classifier_tags.multi_class
    assert not get_tags(estimator(solver="liblinear")).classifier_tags.multi_class


def test_the_one_standard_error_rule_stands_infinite_scores():
    """A score of −∞ has no standard error; the best point is then all that is near."""
    scores = np.array([[[-np.inf, -np.inf]], [[-np.inf, -1.0]]])
    paths = np.zeros((2, 1, 2, 3, 1))
    C, ratio, average = choose(scores, paths, np.array([1.0, 10.0]), [0.0], True, "one-standard-error")
    assert (C, ratio, average) == (1.0, 0.0, None)


@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_labels_that_are_objects_are_split_as_the_numbers_that_they_are(scoring):
    X, y = load_breast_cancer(return_X_y=True)
    settings = {"Cs": [0.01, 1.0], "scoring": scoring, "use_legacy_attributes": False}
    order = np.argsort(y, kind="stable")  # folds that are not stratified would hold one class each
    X, y = StandardScaler().fit_transform(X)[order][::4], y[order][::4]
    plain = LogisticRegressionCV(**settings).fit(X, y)
    objects = LogisticRegressionCV(**settings).fit(X, y.astype(object))
    np.testing.assert_allclose(objects.scores_, plain.scores_, atol=1e-12)
    assert objects.C_ == plain.C_
