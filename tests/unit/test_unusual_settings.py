"""Settings and data that meet seldom: an answer, or a refusal that says what to do."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import discriminant
from discriminant import (
    Adaline,
    Discriminant,
    LogisticRegression,
    Perceptron,
    QuadraticDiscriminantAnalysis,
)
from discriminant.errors import (
    CollinearityWarning,
    DataError,
    DiscriminantWarning,
    ParameterError,
    SingularCovarianceError,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
y = (X[:, 0] + 0.8 * rng.normal(size=80) > 0).astype(int)
three = np.digitize(X[:, 0] + 0.8 * rng.normal(size=80), [-0.5, 0.5])
separated = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("estimator", [Adaline, Perceptron])
@pytest.mark.parametrize("option", ["early_stopping", "average"])
def test_what_follows_single_samples_is_refused_in_batches(estimator: type, option: str) -> None:
    with pytest.raises(ParameterError, match=f"{option}=True belongs to mode='single-sample'"):
        estimator(mode="batch", **{option: True}).fit(X, y)


@pytest.mark.parametrize("rule", ["auto", "ledoit-wolf", "oas"])
def test_an_estimated_shrinkage_of_pooled_covariances_is_refused(rule: str) -> None:
    with pytest.raises(ParameterError, match=r"pooling=0\.5 mixes"):
        QuadraticDiscriminantAnalysis(shrinkage=rule, pooling=0.5).fit(X, y)


@pytest.mark.parametrize(
    "settings",
    [{}, {"pooling": 0.5}, {"pooling": 1.0}, {"pooling": 0.3, "reg_param": 0.0}, {"form": "diagonal"},
     {"covariance": "unbiased", "pooling": 0.5}],
)  # fmt: skip
def test_a_constant_column_changes_no_posterior(settings: dict) -> None:
    more = np.column_stack([X[:, :1], np.full(80, 7.0), X[:, 1:]])
    with pytest.warns(CollinearityWarning, match="Column 1: constant"):
        found = QuadraticDiscriminantAnalysis(**settings).fit(more, y).predict_proba(more)
    plain = QuadraticDiscriminantAnalysis(**settings).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(found, plain, rtol=1e-9, atol=1e-12)


def test_a_copied_column_changes_no_posterior_of_pooled_covariances() -> None:
    more = np.column_stack([X, 3 * X[:, 0] + 1])
    with pytest.warns(CollinearityWarning, match="collinear"):
        found = QuadraticDiscriminantAnalysis(pooling=0.5).fit(more, y).predict_proba(more)
    plain = QuadraticDiscriminantAnalysis(pooling=0.5).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(found, plain, rtol=1e-8, atol=1e-12)


def test_a_column_that_one_class_lacks_is_refused_with_what_can_be_done() -> None:
    lacking = X.copy()
    lacking[y == 0, 1] = 1.0
    with pytest.raises(SingularCovarianceError, match="Drop columns, or use shrinkage with form='full'"):
        QuadraticDiscriminantAnalysis(form="diagonal").fit(lacking, y)


@pytest.mark.parametrize(
    "model",
    [Perceptron(criterion="relaxation", fit_intercept=False),
     Perceptron(criterion="relaxation", fit_intercept=False, mode="batch"),
     Discriminant(criterion="relaxation", fit_intercept=False)],
)  # fmt: skip
def test_relaxation_through_the_origin_names_a_row_of_zeros(model: Perceptron) -> None:
    with_zero = X.copy()
    with_zero[3] = 0
    with pytest.raises(DataError, match="Row 3 is zero in every column"):
        model.fit(with_zero, separated)


@pytest.mark.parametrize("model", [LogisticRegression(), LogisticRegression(C=0.1, l1_ratio=1.0), Discriminant()])
def test_a_warm_start_on_other_columns_or_classes_is_a_fresh_one(model: LogisticRegression) -> None:
    model.set_params(warm_start=True)
    for rows, labels in ((X, y), (X[:, :2], y), (X, three), (X, three + 1)):
        warm, fresh = _quiet_fit(model, rows, labels), _quiet_fit(clone(model), rows, labels)
        np.testing.assert_array_equal(warm.coef_, fresh.coef_)


def _quiet_fit(model: LogisticRegression, rows: np.ndarray, labels: np.ndarray) -> LogisticRegression:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows, labels)


def test_leave_one_out_after_a_lasso_names_a_way_that_is_there() -> None:
    model = LogisticRegression(C=1.0, l1_ratio=1.0).fit(X, y)
    with pytest.raises(ParameterError, match=r"cross_val_predict with LeaveOneOut\(\)"):
        model.loo_score(X, y)
    with pytest.raises(ParameterError, match="intervals='bootstrap'"):
        model.summary(X, y)


@pytest.mark.parametrize("question", ["diagnostics", "loo_score", "loo_predict_proba"])
def test_questions_about_single_rows_of_a_separated_fit_are_refused(question: str) -> None:
    with pytest.warns(UserWarning, match="separa"):
        model = LogisticRegression(C=np.inf).fit(X, separated)
    with pytest.raises(ParameterError, match="likelihood has no finite maximum"):
        getattr(model, question)(X, separated)


@pytest.mark.parametrize("read", [discriminant.load, discriminant.scan])
def test_a_file_that_is_not_there_is_not_found(read: object, tmp_path: object) -> None:
    with pytest.raises(FileNotFoundError, match="There is no file") as refused:
        read(f"{tmp_path}/absent.csv")
    assert isinstance(refused.value, DataError)


@pytest.mark.parametrize("estimator", [Perceptron, Adaline, Discriminant, LogisticRegression], ids=lambda e: e.__name__)
@pytest.mark.parametrize("kind", ["strided", "read-only", "a column of a frame", "every second of a list"])
def test_weights_may_lie_anywhere_in_memory(estimator: type, kind: str) -> None:
    pd = pytest.importorskip("pandas")
    w = rng.uniform(0.5, 2, 80)
    still = w.copy()
    still.setflags(write=False)
    given = {"strided": np.repeat(w, 3)[::3], "read-only": still, "a column of a frame": pd.DataFrame({"w": w})["w"],
             "every second of a list": np.repeat(w, 2).tolist()[::2]}[kind]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, plain = (estimator().fit(X, separated, sample_weight=one) for one in (given, w))
    np.testing.assert_array_equal(found.coef_, plain.coef_)


@pytest.mark.parametrize("form", ["dok_array", "lil_matrix", "dia_array", "bsr_matrix"])
def test_whole_numbers_in_every_sparse_format(form: str) -> None:
    from scipy import sparse

    whole = np.rint(2 * X).astype(int)
    made = getattr(sparse, form)(whole)
    found, plain = LogisticRegression().fit(made, y), LogisticRegression().fit(whole, y)
    np.testing.assert_allclose(found.coef_, plain.coef_, rtol=1e-9)


def test_a_measure_of_regressions_does_not_judge_classes() -> None:
    labels = np.array(["ape", "bee"])[y]
    with pytest.raises(ParameterError, match=r"scoring cannot judge.*Choose a measure of classes"):
        discriminant.LogisticRegressionCV(scoring="neg_mean_squared_error").fit(X, labels)


def test_an_absolute_penalty_belongs_to_single_samples() -> None:
    with pytest.raises(ParameterError, match="belongs to mode='single-sample'"):
        Perceptron(penalty="l1", alpha=0.1, mode="batch").fit(X, y)


def test_a_robust_covariance_of_rows_that_repeat_is_refused() -> None:
    rows = np.where(np.arange(80)[:, None] % 5 > 0, 1.0, X[:, :1])
    with pytest.raises(DataError, match="finds no spread among half"):
        QuadraticDiscriminantAnalysis(covariance="robust").fit(rows, y)


def test_a_schedule_beyond_the_largest_number_is_said():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    settings = {"eta0": lambda k: 2.0**k, "max_iter": 2000, "tol": None}
    with pytest.warns(DiscriminantWarning) as said:
        model = Perceptron(mode="single-sample", **settings).fit(X, y)
    assert any("the weights overflow; take a shorter step" in str(one.message) for one in said)
    assert not model.certificate_.converged
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscriminantWarning)
        assert not Perceptron(mode="batch", **settings).fit(X, y).certificate_.converged
