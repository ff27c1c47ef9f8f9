"""What came of a hostile case: right, told, refused; or silently wrong, internal error, foreign warning, hang."""

from __future__ import annotations

import re
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from contracts.hostile import PENALISED, STEPPING, Case, Given
from discriminant import optimize
from discriminant.errors import DiscriminantWarning
from discriminant.io.encode import known_estimators

LIMIT = 40  # seconds of the processor's time for a case; kernels may have to be compiled first
GOOD = ("right", "told", "refused")
SENTENCES = (ValueError, TypeError, NotImplementedError, np.linalg.LinAlgError)

# Parameters that keep slow methods short; what they promise does not depend on them.
SPECS: dict[str, dict[str, Any]] = {
    "MinimumErrorClassifier": {"seconds": 0.05, "rounds": 1, "max_iter": 20},
    "LinearMachine": {"optimizer": optimize.SingleSample(epochs=10)},
    "Perceptron": {"max_iter": 10},
    "Adaline": {"max_iter": 20},
    "LogisticRegressionCV": {"Cs": [0.1, 1.0], "cv": 2},
}


def ours() -> dict[str, Callable[..., Any]]:
    """Every public estimator of columns with any sign, as a constructor that takes further parameters.

    ``ExponentialFamilyClassifier``, whose densities have no negative values, has the laws on counts of its own.
    """
    return {name: lambda kind=kind, name=name, **more: kind(**{**SPECS.get(name, {}), **more})
            for name, kind in known_estimators().items() if name != "ExponentialFamilyClassifier"}  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    kind: str
    detail: str = ""

    @property
    def good(self) -> bool:
        return self.kind in GOOD


@dataclass(frozen=True)
class Answer:
    """What a fitted model says of the rows it is asked about."""

    classes: list[Any]
    codes: Any  # positions in ``classes``
    chances: Any  # (n, K) or None
    finite: bool


class TooLong(BaseException):
    """The case ran past its limit."""


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Seconds of the processor's time, and five times as many of the clock's: others may use the machine too."""

    def stop(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop), signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(5 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        signal.signal(signal.SIGPROF, before[0])
        signal.signal(signal.SIGALRM, before[1])


def ask(make: Callable[..., Any], given: Given, parameters: dict[str, Any]) -> Answer:
    """Fit and predict."""
    model = make(**parameters)
    if given.weight is None:
        model.fit(given.X, given.y)
    else:
        model.fit(given.X, given.y, sample_weight=given.weight)
    rows = given.X if given.ask is None else given.ask
    labels = np.asarray(model.predict(rows))
    classes = np.asarray(model.classes_).tolist()
    position = {label: k for k, label in enumerate(classes)}
    codes = np.array([position.get(label, -1) for label in labels.tolist()])
    chances = np.asarray(model.predict_proba(rows)) if hasattr(model, "predict_proba") else None
    numbers = [codes >= 0, getattr(model, "coef_", 0.0)]
    if chances is not None:
        numbers += [chances, np.abs(chances.sum(axis=1) - 1) < 1e-6]
    finite = all(np.isfinite(part).all() for part in numbers) and bool(np.all(codes >= 0))
    return Answer(classes, codes, chances, finite and all(np.all(part) for part in numbers if part is not None
                  and np.asarray(part).dtype == bool))  # fmt: skip


def applies(case: Case, make: Callable[..., Any]) -> bool:
    """Whether the estimator has the parameters that the case sets, and takes weights where there are some."""
    model = make()
    if case.group == "weights" and not has_fit_parameter(model, "sample_weight"):
        return False
    return all(name in model.get_params(deep=False) for name in case.parameters)


def judge(name: str, make: Callable[..., Any], case: Case, *, own: bool = True, tolerance: float = 0.0) -> Outcome:
    """Run one case; ``own``: our warnings are ours and our sentences must match what the case says."""
    parameters = {**case.parameters, **case.per_estimator.get(name, {})}
    given = case.given()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            with time_limit(LIMIT):
                answer = ask(make, given, parameters)
        except TooLong:
            return Outcome("hang", f"more than {LIMIT} s")
        except SENTENCES as error:
            return _refusal(case, error, own, heard)
        except (Exception, SystemExit) as error:
            return Outcome("internal error", f"{type(error).__name__}: {str(error)[:120]}")
    foreign = [w for w in heard if not _is_own(w, own, case)]
    if foreign:
        return Outcome("foreign warning", f"{foreign[0].category.__name__}: {str(foreign[0].message)[:120]}")
    return _compare(
        name,
        make,
        case,
        answer,
        [w for w in heard if w not in foreign],
        max(tolerance, case.tolerance),
        not own and case.debatable,
    )


def _refusal(case: Case, error: Exception, own: bool, heard: list[Any]) -> Outcome:
    text = str(error)
    detail = f"{type(error).__name__}: {text[:160]}"
    if own:
        foreign = [w for w in heard if not issubclass(w.category, DiscriminantWarning)]
        if foreign:
            return Outcome("foreign warning", f"{foreign[0].category.__name__}: {str(foreign[0].message)[:120]}")
        if len(text.split()) < 4 or (case.expect == "refused" and not re.search(case.says, text, re.DOTALL)):
            return Outcome("internal error", detail)
    internal = ("broadcast", "cannot unpack", "NoneType", "unsupported operand", "linprog", "ufunc", "subscriptable")
    if any(word in text for word in internal):
        return Outcome("internal error", detail)
    return Outcome("refused", detail)


def _is_own(warning: Any, own: bool, case: Case) -> bool:
    if case.warning and re.search(case.warning, str(warning.message)):
        return True
    if own:
        return issubclass(warning.category, DiscriminantWarning)
    return not issubclass(warning.category, RuntimeWarning) and "scipy" not in str(warning.category)


def _compare(
    name: str, make: Any, case: Case, answer: Answer, heard: list[Any], tolerance: float, forgiving: bool
) -> Outcome:
    told = Outcome("told", str(heard[0].message)[:160]) if heard else None
    if not answer.finite:
        return told or Outcome("silently wrong", "labels or probabilities that are none")
    expect = case.other.get(name, case.expect)
    if expect == "refused":
        return Outcome("right") if forgiving else Outcome("silently wrong", "an answer where there is none")
    if case.labels is not None and answer.classes != case.labels:
        return Outcome("silently wrong", f"classes {answer.classes[:3]}")
    if expect == "answer" or case.benign is None:
        return Outcome("right")
    truth = _truth(name, make, case.benign(), {**case.parameters, **case.per_estimator.get(name, {})})
    if truth.chances is not None and answer.chances is not None:
        worst = float(np.abs(truth.chances - answer.chances).max())
        same = worst <= tolerance
        text = f"probabilities differ by {worst:.1e}"
    else:
        share = float((truth.codes != answer.codes).mean())
        same, text = share <= max(0.02, tolerance), f"{share:.0%} of the labels differ"
    return Outcome("right") if same else told or Outcome("silently wrong", text)


def _truth(name: str, make: Any, benign: Given, parameters: dict[str, Any]) -> Answer:
    """The answer to the harmless equivalent, worked out once."""
    key = (name, str(type(make())), id(benign), str(parameters))
    if key not in _TRUTHS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _TRUTHS[key] = benign, ask(make, benign, parameters)
    return _TRUTHS[key][1]


_TRUTHS: dict[Any, tuple[Given, Answer]] = {}  # the data are kept, so that an id stands for one object

__all__ = ["GOOD", "PENALISED", "STEPPING", "Answer", "Outcome", "applies", "ask", "judge", "ours", "time_limit"]
