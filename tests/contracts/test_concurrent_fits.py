"""Fits side by side in threads, across forks, and broken off: the same bits, and nothing left running."""

from __future__ import annotations

import inspect
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.covariance import OAS

import discriminant
from discriminant import (
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MinimumErrorClassifier,
    QuadraticDiscriminantAnalysis,
)

ESTIMATORS = [
    value
    for name in discriminant.__all__
    if inspect.isclass(value := getattr(discriminant, name)) and hasattr(value, "fit")
]
rng = np.random.default_rng(0)
X = np.abs(rng.normal(size=(400, 5)))
Y = (X[:, 0] + 0.3 * rng.normal(size=400) > 0.6).astype(int)
pytestmark = pytest.mark.filterwarnings("ignore")


def made(kind, **options):
    return kind(max_iter=20, rounds=1, **options) if kind is MinimumErrorClassifier else kind(**options)


def bits(model):
    """What a model answers, to the bit."""
    name = "decision_function" if hasattr(model, "decision_function") else "predict_proba"
    return getattr(model, name)(X).tobytes()


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_eight_threads_at_once_find_what_one_finds(kind):
    alone = bits(made(kind).fit(X, Y))
    start = threading.Barrier(8, timeout=60)

    def fit(_):
        start.wait()
        return bits(made(kind).fit(X, Y))

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(fit, range(8))) == {alone}


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_threads_that_share_a_covariance_estimator_find_what_one_finds(kind):
    """A guest is a parameter: it is left as it was, and every fit has its own."""
    guest = OAS()
    options = {"solver": "eigen", "covariance_estimator": guest}
    alone = bits(kind(**options).fit(X, Y))
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: bits(kind(**options).fit(X, Y)), range(40))) == {alone}
    assert not hasattr(guest, "covariance_")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no forks")
@pytest.mark.parametrize("kind", [LogisticRegression, LinearDiscriminantAnalysis])
def test_a_fork_amid_fits_can_fit(kind):
    """The child has none of the parent's threads, and must not wait for them."""
    wide = np.tile(X, (100, 1)), np.tile(Y, 100)  # long enough for several threads
    expected, ended = bits(kind().fit(*wide)), threading.Event()

    def fit_on():
        while not ended.is_set():
            kind().fit(*wide)

    others = [threading.Thread(target=fit_on) for _ in range(2)]
    for one in others:
        one.start()
    try:
        for _ in range(3):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    signal.alarm(120)  # a child that waits for ever is ended, and so fails the test
                    code = 0 if bits(kind().fit(*wide)) == expected else 2
                finally:
                    os._exit(code)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        ended.set()
        for one in others:
            one.join()


def interrupting(after):
    """A callback that is interrupted from the keyboard at one of its calls."""
    calls = []

    def callback(step):
        calls.append(step)
        if len(calls) == after:
            raise KeyboardInterrupt
        return False

    return callback


# Of these the automatic choice takes no steps to be told of.
STEPS = {
    "Discriminant": {"optimizer": "lbfgs"},
    "LinearMachine": {"optimizer": "lbfgs", "criterion": "logistic"},
    "LogisticRegression": {"optimizer": "newton", "random_state": 0},
}
CALLED_BACK = [kind for kind in ESTIMATORS if "callback" in inspect.signature(kind).parameters]


@pytest.mark.parametrize("after", [1, 2])
@pytest.mark.parametrize("kind", CALLED_BACK, ids=lambda kind: kind.__name__)
def test_a_fit_that_is_broken_off_leaves_the_model_as_it_was(kind, after):
    options = STEPS.get(kind.__name__, {})
    model = made(kind, **options).fit(X, Y)
    before, running = bits(model), set(threading.enumerate())
    model.set_params(callback=interrupting(after))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[::-1] + 1, Y)
    assert bits(model) == before
    assert set(threading.enumerate()) <= running
    fresh = made(kind, **options, callback=interrupting(after))
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(X, Y)
    assert not [name for name in vars(fresh) if name.endswith("_")]
    assert bits(model.set_params(callback=None).fit(X, Y)) == before


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers")
def test_an_interrupt_amid_threads_leaves_no_pass_running():
    """Threads of a pass end with it: the next fit finds the pool idle, and the same bits."""
    wide = np.tile(X, (250, 1)), np.tile(Y, 250)
    expected = bits(LogisticRegression().fit(*wide))

    def interrupt(signum, frame):
        raise KeyboardInterrupt

    usual = signal.signal(signal.SIGALRM, interrupt)
    try:
        for seconds in (0.001, 0.003, 0.01):
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                while True:
                    LogisticRegression().fit(*wide)
            except KeyboardInterrupt:
                pass
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            busy = [one for one in threading.enumerate() if one.name.startswith("discriminant")]
            for _ in range(200):  # whoever is still in a block comes out of it
                frames = sys._current_frames()
                if all(_waits(frames.get(one.ident)) for one in busy):
                    break
                time.sleep(0.05)
            else:
                pytest.fail("a thread goes on with a fit that is over")
            assert bits(LogisticRegression().fit(*wide)) == expected
    finally:
        signal.signal(signal.SIGALRM, usual)


def _waits(frame):
    """Whether a thread of the pool waits for work."""
    return frame is None or os.path.basename(frame.f_code.co_filename) in (
        "thread.py",
        "threading.py",
        "threads.py",
        "queue.py",
    )
