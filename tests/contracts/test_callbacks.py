"""scikit-learn's callbacks: every estimator takes them, tells its steps, ends where they say, and is the same fit."""

from __future__ import annotations

import io
import warnings
from collections import Counter

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import discriminant
from contracts.test_scikit_learn_contract import DEFAULTS, SETTINGS
from discriminant import (
    Adaline,
    Discriminant,
    LinearDiscriminantAnalysis,
    LinearMachine,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    MinimumErrorClassifier,
    MinimumRiskClassifier,
    Perceptron,
    SigmoidRegressionClassifier,
)

try:
    from sklearn.callback import ProgressBar, ScoringMonitor
except ImportError:
    ProgressBar = None

new_enough = pytest.mark.skipif(ProgressBar is None, reason="callbacks came with scikit-learn 1.9")

rng = np.random.default_rng(0)
X = np.abs(rng.normal(size=(120, 4)))
THREE = (X[:, 0] + 0.5 * rng.normal(size=120) > 0.6).astype(int) + (X[:, 1] + 0.3 * rng.normal(size=120) > 0.9)
TWO = (THREE > 0).astype(int)


class Notes:
    """What a callback was told."""

    def __init__(self, stop_after: float = np.inf) -> None:
        self.stop_after, self.tasks, self.begun, self.models, self.ends = stop_after, [], [], [], [0, 0]

    def setup(self, estimator, context):
        self.ends[0] += 1

    def teardown(self, estimator, context):
        self.ends[1] += 1

    def on_fit_task_begin(self, estimator, context, *, X, y):
        assert len(X) == len(y)
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.tasks.append(context.task_name)
        if fitted_estimator is not None:
            self.models.append(fitted_estimator)
        return len(self.tasks) >= self.stop_after

    @property
    def counts(self):
        return Counter(self.tasks)


class Everywhere(Notes):
    """The same, handed on to what an estimator holds."""

    max_propagation_depth = None

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)


def fitted(model, y, *callbacks):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(model)
        return (model.set_callbacks(*callbacks) if callbacks else model).fit(X, y)


@new_enough
@pytest.mark.parametrize("model", DEFAULTS + SETTINGS, ids=repr)
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_a_watched_fit_is_the_same_and_tells_all_tasks(model, y):
    if getattr(model, "solver", "") == "liblinear" and y is THREE:
        pytest.skip("liblinear is for two classes")
    notes = Notes()
    watched, plain = fitted(model, y, notes), fitted(model, y)
    np.testing.assert_array_equal(watched.predict(X), plain.predict(X))
    if hasattr(plain, "coef_"):
        np.testing.assert_allclose(watched.coef_, plain.coef_, rtol=1e-7)  # some start at random
    assert notes.ends == [1, 1]
    assert sorted(notes.begun) == sorted(notes.tasks)
    assert notes.begun[0] == notes.tasks[-1] == "fit"
    assert notes.models[-1].predict(X).tolist() == plain.predict(X).tolist()  # of the whole fit
    assert not {"_callback_fit_ctx", "_skl_callbacks_to_teardown"} & set(vars(watched))


@new_enough
@pytest.mark.parametrize(
    ("model", "step"),
    [
        (LogisticRegression(), "step"),
        (LogisticRegression(C=np.inf), "step"),
        (LogisticRegression(optimizer="lbfgs"), "step"),
        (Discriminant(), "step"),
        (LinearMachine("logistic", penalty="ridge"), "step"),
        (SigmoidRegressionClassifier(), "step"),
        (MinimumErrorClassifier(max_iter=30, rounds=3), "step"),
        (LinearSVC(multi_class="crammer_singer"), "step"),
        (Perceptron(), "epoch"),
        (Perceptron(mode="batch", max_iter=50), "epoch"),
        (Perceptron(average=True), "epoch"),
        (Adaline(), "epoch"),
    ],
    ids=repr,
)
def test_steps_are_those_of_n_iter_and_the_last_is_the_fit(model, step):
    notes = Notes()
    model = fitted(model, THREE, notes)
    assert notes.counts == {step: np.max(model.n_iter_), "fit": 1}
    last = notes.models[-2]  # the last but that of the whole fit
    np.testing.assert_array_equal(last.predict(X), model.predict(X))
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(last.predict_proba(X), model.predict_proba(X), atol=1e-6)


@new_enough
@pytest.mark.parametrize("shape", [(300, 3, 2), (60, 200, 2), (60, 200, 4), (3000, 60, 5)], ids=str)
def test_the_weights_on_the_way_are_in_the_units_of_the_rows(shape):
    n, d, K = shape
    draw = np.random.default_rng(1)
    rows = draw.normal(size=(n, d)) * draw.uniform(0.1, 10, size=d) + draw.normal(size=d)
    labels = draw.integers(K, size=n)
    notes = Notes()
    model = LogisticRegression().set_callbacks(notes).fit(rows, labels)
    losses = [
        -np.mean(one.predict_log_proba(rows)[np.arange(n), labels]) + np.square(one.coef_).sum() / (2 * n)
        for one in notes.models
    ]
    assert losses[0] > losses[-1]
    assert losses[-2] == pytest.approx(model.certificate_.objective, rel=1e-5)


@new_enough
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        LogisticRegression(optimizer="gradient-descent"),
        Discriminant(),
        Perceptron(tol=None),
        Adaline(),
        LinearSVC(multi_class="crammer_singer"),
        SigmoidRegressionClassifier(),
    ],
    ids=repr,
)
def test_a_callback_ends_the_run(model):
    notes = Notes(stop_after=2)
    model = fitted(model, THREE, notes)
    assert len(notes.tasks) == 3  # two steps and the fit
    np.testing.assert_array_equal(model.predict(X), notes.models[-2].predict(X))
    assert not model.certificate_.converged
    assert "topped" in model.certificate_.status


@new_enough
@pytest.mark.parametrize(
    ("n", "d", "K"), [(4000, 60, 6), (2000, 100, 2), (300, 1000, 2), (500, 1000, 5), (60_000, 20, 5)]
)
def test_a_stop_is_honoured_at_every_stage_of_the_automatic_methods(n, d, K):
    draw = np.random.default_rng(2)
    rows = draw.normal(size=(n, d))
    labels = draw.integers(K, size=n)
    notes = Notes(stop_after=1)
    model = LogisticRegression(tol=1e-10).set_callbacks(notes)
    with pytest.warns(discriminant.errors.DiscriminantWarning, match="Stopped by a callback after 1 step"):
        model.fit(rows, labels)
    assert model.certificate_.status.startswith("Stopped by a callback after 1 step: J = ")
    assert notes.counts == {"step": 1, "fit": 1}


@new_enough
def test_cross_validation_tells_folds_and_penalties_then_the_last_fit():
    notes = Notes()
    model = LogisticRegressionCV(Cs=3, cv=4, l1_ratios=(0.0, 0.5), use_legacy_attributes=False, scoring="accuracy")
    model = fitted(model, TWO, notes)
    assert notes.counts["folds"] == notes.counts["refit"] == notes.counts["fit"] == 1
    assert notes.tasks[: 2 * 4 * 3 + 1] == ["step"] * (2 * 4 * 3) + ["folds"]
    many = np.random.default_rng(0).normal(size=(20_000, 10))  # all folds in one pass
    labels = (many[:, 0] + np.random.default_rng(1).normal(size=20_000) > 0).astype(int)
    notes = Notes()
    LogisticRegressionCV(Cs=3, cv=4, use_legacy_attributes=False, scoring="accuracy").set_callbacks(notes).fit(
        many, labels
    )
    assert notes.tasks[: 4 * 3 + 1] == ["step"] * (4 * 3) + ["folds"]


@new_enough
def test_outputs_of_a_coding_are_tasks_of_their_own():
    notes = Notes()
    fitted(LogisticRegression(coding="one-vs-rest"), THREE, notes)
    assert notes.counts["output"] == 3
    notes = Notes()
    fitted(LinearSVC(), THREE, notes)
    assert notes.counts == {"step": 3, "fit": 1}


@new_enough
def test_callbacks_are_handed_on_to_the_classifier_within():
    notes = Everywhere()
    model = fitted(MinimumRiskClassifier(LogisticRegression()), TWO, notes)
    assert notes.counts["fit"] == 2
    assert notes.counts["step"] == model.estimator_.n_iter_[0]
    alone = Notes()
    fitted(MinimumRiskClassifier(LogisticRegression().set_callbacks(alone)), TWO)
    assert alone.counts["step"] == model.estimator_.n_iter_[0]


@new_enough
def test_progress_bars_and_monitors_of_searches_and_pipelines(monkeypatch):
    pytest.importorskip("rich")
    out = io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchCV(pipe, {"logisticregression__C": [0.1, 1.0]}, cv=2)
    search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(X, TWO)
    assert "LogisticRegression - fit" in out.getvalue()
    for model in (Perceptron(), LinearDiscriminantAnalysis(), LogisticRegressionCV(Cs=2, cv=2)):
        out.truncate(0)
        fitted(model, TWO, ProgressBar())
        assert f"{type(model).__name__} - fit" in out.getvalue()
        assert "100%" in out.getvalue()
    monitor = ScoringMonitor(scoring="neg_log_loss")
    LogisticRegression().set_callbacks(monitor).fit(X, TWO)
    scores = monitor.get_logs(select="most_recent").data
    assert len(scores) > 3


@new_enough
def test_a_fit_that_fails_is_torn_down_and_leaves_the_callbacks_there():
    notes = Notes()
    model = LogisticRegression().set_callbacks(notes)
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, np.zeros(120))
    assert notes.ends == [1, 1]
    model.fit(X, TWO)
    assert notes.ends == [2, 2]
    assert model.set_callbacks().fit(X, TWO) is model
    assert notes.ends == [2, 2]


@new_enough
def test_models_with_callbacks_are_saved_without_them(tmp_path):
    model = LogisticRegression().set_callbacks(Notes()).fit(X, TWO)
    discriminant.save(model, tmp_path / "model")
    loaded = discriminant.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert "_skl_callbacks" not in vars(loaded)


@pytest.mark.skipif(ProgressBar is not None, reason="callbacks are there")
@pytest.mark.parametrize("model", DEFAULTS, ids=repr)
def test_before_scikit_learn_1_9_there_are_no_callbacks(model):
    assert not hasattr(model, "set_callbacks")
    with pytest.raises(AttributeError, match=r"scikit-learn 1\.9"):
        model.set_callbacks()
