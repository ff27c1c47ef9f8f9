"""What may happen to a process: interrupts, threads, forks, pickles, any number of cores, 100,000 classes."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import discriminant
from contracts.hostile import NAN, X, Y
from contracts.judge import ours, time_limit

ESTIMATORS = ours()
PACKAGE = os.path.dirname(discriminant.__file__)
pytestmark = pytest.mark.filterwarnings("ignore::discriminant.errors.DiscriminantWarning")


def numbers(model):
    """What a fitted model answers, as bytes."""
    scores = model.predict_proba(X) if hasattr(model, "predict_proba") else model.decision_function(X)
    return np.ascontiguousarray(scores).tobytes()


class Interrupting:
    """Raises KeyboardInterrupt at the n-th call of a function of the package: a deterministic Ctrl-C."""

    def __init__(self, at: int) -> None:
        self.at, self.seen = at, 0

    def __call__(self, frame, event, _):
        code = frame.f_code  # not in a generator that is being closed, where nothing can be raised
        if event == "call" and code.co_filename.startswith(PACKAGE) and not code.co_name.startswith("<gen"):
            self.seen += 1
            if self.seen == self.at:
                raise KeyboardInterrupt

    def run(self, function):
        before = sys.gettrace()
        sys.settrace(self)
        try:
            return function()
        finally:
            sys.settrace(before)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_interrupted_fit_leaves_the_estimator_as_it_was(name):
    old = ESTIMATORS[name]().fit(X[:45], Y[:45])
    ESTIMATORS[name]().fit(X, Y)  # with what is worked out once in a process
    whole = Interrupting(0)
    whole.run(lambda: ESTIMATORS[name]().fit(X, Y))
    before, answer = dict(vars(old)), numbers(old)
    for share in (0.05, 0.3, 0.6, 0.9):
        at = max(2, int(share * whole.seen))  # 1 is the wrapper that puts things right, before it has begun
        fresh = ESTIMATORS[name]()
        with pytest.raises(KeyboardInterrupt):
            Interrupting(at).run(lambda: old.fit(X, Y))
        assert vars(old).keys() == before.keys()
        assert all(vars(old)[key] is before[key] for key in before)
        with pytest.raises(KeyboardInterrupt):
            Interrupting(at).run(lambda fresh=fresh: fresh.fit(X, Y))
        assert not [key for key in vars(fresh) if key.endswith("_")]
    assert numbers(old) == answer


def state(model):
    """The attributes, and the bytes of the arrays among them."""
    return dict(vars(model)), {k: v.tobytes() for k, v in vars(model).items() if isinstance(v, np.ndarray)}


def untouched(model, before):
    now = state(model)
    return (
        now[0].keys() == before[0].keys() and all(now[0][k] is v for k, v in before[0].items()) and now[1] == before[1]
    )


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if hasattr(ESTIMATORS[name](), "partial_fit")])
def test_an_interrupted_or_failed_partial_fit_leaves_the_estimator_as_it_was(name):
    model = ESTIMATORS[name]().partial_fit(X[:45], Y[:45], classes=[0, 1, 2])
    twin, whole = copy.deepcopy(model), Interrupting(0)
    whole.run(lambda: twin.partial_fit(X, Y))
    before, answer, score = state(model), numbers(model), model.scorer()
    said = score(X[0]).tobytes()
    for share in (0.1, 0.5, 0.8):
        with pytest.raises(KeyboardInterrupt):
            Interrupting(max(2, int(share * whole.seen))).run(lambda: model.partial_fit(X, Y))
        assert untouched(model, before)
    for bad, labels in ((np.where(X > 2, NAN, X), Y), (X[:, :2], Y), (X, Y + 7), (X[:7], Y)):
        with pytest.raises(ValueError):
            model.partial_fit(bad, labels)
        assert untouched(model, before)
    assert numbers(model) == answer
    assert score(X[0]).tobytes() == said


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if "warm_start" in ESTIMATORS[name]().get_params()])
def test_a_failed_fit_from_a_warm_start_leaves_the_estimator_as_it_was(name):
    model = ESTIMATORS[name](warm_start=True).fit(X[:45], Y[:45])
    before, answer = state(model), numbers(model)
    for bad in (np.where(X > 2, NAN, X), X[:, :0], X[:7]):
        with pytest.raises(ValueError):
            model.fit(bad, Y)
        assert untouched(model, before)
    with pytest.raises(KeyboardInterrupt):
        Interrupting(60).run(lambda: model.fit(X, Y))
    assert untouched(model, before)
    assert numbers(model) == answer


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_failed_fit_leaves_the_estimator_as_it_was(name):
    model = ESTIMATORS[name]().fit(X, Y)
    before, answer = dict(vars(model)), numbers(model)
    for bad in (np.where(X > 2, NAN, X), X[:, :0], X[:7]):
        with pytest.raises(ValueError):
            model.fit(bad, Y)
        assert all(vars(model)[key] is before[key] for key in before)
    assert numbers(model) == answer


@pytest.mark.parametrize("name", ESTIMATORS)
def test_eight_threads_at_once_give_the_bits_of_one(name):
    alone = [numbers(ESTIMATORS[name]().fit(X[k:], Y[k:])) for k in range(4)]
    start = threading.Barrier(8)

    def fit(k):
        start.wait()
        return numbers(ESTIMATORS[name]().fit(X[k % 4 :], Y[k % 4 :]))

    with warnings.catch_warnings(), ThreadPoolExecutor(8) as pool:
        warnings.simplefilter("ignore")  # of the package; filters are shared by all threads
        assert list(pool.map(fit, range(8))) == alone * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fit_after_fork_gives_the_bits_of_one_before():
    fits = {name: numbers(make().fit(X, Y)) for name, make in ESTIMATORS.items()}
    big = discriminant.LinearDiscriminantAnalysis().fit(np.tile(X, (4000, 1)), np.tile(Y, 4000))  # threads have run
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with time_limit(60):
                same = all(numbers(make().fit(X, Y)) == fits[name] for name, make in ESTIMATORS.items())
                again = discriminant.LinearDiscriminantAnalysis().fit(np.tile(X, (4000, 1)), np.tile(Y, 4000))
                status = 0 if same and np.array_equal(again.coef_, big.coef_) else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def test_pickles_cross_processes_with_every_bit(tmp_path):
    models = {name: make().fit(X, Y) for name, make in ESTIMATORS.items()}
    path = tmp_path / "models.pickle"
    path.write_bytes(pickle.dumps((X, models)))
    program = (
        "import pickle, sys, hashlib, numpy as np\n"
        "X, models = pickle.load(open(sys.argv[1], 'rb'))\n"
        "for name, model in sorted(models.items()):\n"
        "    s = model.predict_proba(X) if hasattr(model, 'predict_proba') else model.decision_function(X)\n"
        "    print(name, hashlib.sha256(np.ascontiguousarray(s).tobytes()).hexdigest())\n"
    )
    run = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, timeout=120, check=True)
    import hashlib

    expected = [f"{name} {hashlib.sha256(numbers(model)).hexdigest()}" for name, model in sorted(models.items())]
    assert run.stdout.splitlines() == expected


FAST = ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis", "FisherDiscriminant", "LeastSquaresClassifier",
        "LogisticRegression", "Discriminant", "SigmoidRegressionClassifier"]  # fmt: skip


@pytest.mark.parametrize("name", [name for name in FAST if name in ESTIMATORS])
def test_any_number_of_threads_gives_the_same_bits(name, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60_000)
    rows = rng.normal(size=(60_000, 8)) + np.eye(3, 8)[y]
    found = set()
    for threads in ("1", "2", "3", "7"):
        monkeypatch.setenv("DISCRIMINANT_NUM_THREADS", threads)
        model = ESTIMATORS[name]().fit(rows, y)
        found.add(model.predict(rows).tobytes() + numbers_of(model, rows[:1000]))
    assert len(found) == 1


def numbers_of(model, rows):
    return np.ascontiguousarray(model.decision_function(rows)).tobytes()


@pytest.mark.parametrize("name", ["LinearDiscriminantAnalysis", "FisherDiscriminant"])
def test_a_hundred_thousand_classes(name):
    """Classes on a line, two rows each: the nearest mean is right for every row."""
    classes = 100_000
    y = np.repeat(np.arange(classes), 2)
    rows = (y + np.tile([-0.1, 0.1], classes))[:, None].astype(float)
    with time_limit(60):
        model = ESTIMATORS[name](priors=None).fit(rows, y)
        assert len(model.classes_) == classes
        few = np.array([0, 77_777, 199_999])
        assert model.predict(rows[few]).tolist() == y[few].tolist()


@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - {"LinearDiscriminantAnalysis", "FisherDiscriminant"}))
def test_a_hundred_thousand_classes_are_refused_at_once(name):
    """Who would need a table of classes times classes, or a score for each row and class, says so before it begins."""
    y = np.repeat(np.arange(100_000), 2)
    rows = np.c_[y + np.tile([-0.1, 0.1], 100_000), np.cos(y)]
    with time_limit(60), pytest.raises(ValueError, match="100000"):
        ESTIMATORS[name]().fit(rows, y)


def test_many_classes_for_the_others():
    """As many classes as a machine of K outputs can bear is another number for each; 300 must not be too many."""
    y = np.repeat(np.arange(300), 2)
    rows = np.c_[np.cos(y), np.sin(y), y / 100.0]
    for name in ("LeastSquaresClassifier", "MinimumRiskClassifier"):
        with time_limit(60):
            model = ESTIMATORS[name]().fit(rows, y)
        assert len(model.classes_) == 300
        assert np.isfinite(model.decision_function(rows) if hasattr(model, "decision_function") else 0.0).all()
