"""What is said to the user: at the line that caused it, and in text that steers no terminal."""

from __future__ import annotations

import ast
import pathlib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import discriminant
from discriminant import (
    Adaline,
    Discriminant,
    FisherDiscriminant,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LinearMachine,
    LogisticRegression,
    Perceptron,
    QuadraticDiscriminantAnalysis,
    SigmoidRegressionClassifier,
    separability,
)
from discriminant.decision import check_priors
from discriminant.errors import DataError
from discriminant.optimize import Constant

RED = "\x1b[31m"


def _overlapping(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


def _with(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    X, y = _overlapping()
    return np.column_stack([X, column]), y


X, y = _overlapping()
TWICE = _with(X[:, 0] * 2)
CONSTANT = _with(np.ones(len(X)))
FAR = _with(1e9 + X[:, 0])
WIDE = np.random.default_rng(0).normal(size=(9, 99))
SEPARATED = X, (X[:, 0] > 0).astype(int)

WARNED = {
    "a constant column": lambda: LinearDiscriminantAnalysis().fit(*CONSTANT),
    "collinear columns": lambda: LinearDiscriminantAnalysis().fit(*TWICE),
    "collinear columns of classes": lambda: QuadraticDiscriminantAnalysis().fit(*TWICE),
    "collinear columns of least squares": lambda: LeastSquaresClassifier().fit(*TWICE),
    "collinear columns of Fisher's": lambda: FisherDiscriminant().fit(*TWICE),
    "more columns than rows": lambda: LinearDiscriminantAnalysis().fit(WIDE, y[:9]),
    "in parts": lambda: LinearDiscriminantAnalysis().partial_fit(*CONSTANT, classes=[0, 1]),
    "no maximum of the likelihood": lambda: LogisticRegression(C=np.inf).fit(*SEPARATED),
    "a deprecated parameter": lambda: LogisticRegression(penalty="l2").fit(X, y),
    "columns far from zero": lambda: Perceptron(max_iter=3).fit(*FAR),
    "steps that do not settle": lambda: Adaline(Constant(0.01), max_iter=5).fit(X, y),
    "large integers": lambda: LinearDiscriminantAnalysis().fit(np.r_[[[2**60]], np.arange(59)[:, None]], y),
    "priors": lambda: check_priors([1.0, 2.0], [0, 1]),
    "priors of a fit": lambda: LinearDiscriminantAnalysis(priors=[1.0, 2.0]).fit(X, y),
    "not converged": lambda: Discriminant(optimizer=discriminant.optimize.LBFGS(iterations=1)).fit(X, y),
    "a step of a pipeline": lambda: make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()).fit(*TWICE),
}  # fmt: skip


@pytest.mark.parametrize("what", WARNED)
def test_a_warning_points_at_the_line_of_the_caller(what: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        WARNED[what]()
    assert caught
    assert {Path(one.filename).name for one in caught} == {Path(__file__).name}, [str(one.message) for one in caught]


def test_warnings_leave_the_package_by_one_door() -> None:
    """``errors.warn`` finds the caller's line; a count of frames written by hand is wrong for the next caller."""
    package = Path(discriminant.__file__).parent
    calls = [
        (path.relative_to(package).as_posix(), node.lineno)
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "warn" and getattr(node.value, "id", "") == "warnings"
    ]
    assert [file for file, _ in calls] == ["errors.py"]


def _frame() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=[f"age{RED}", f"income\u202e{RED}"])
    frame[f"twice{RED}"] = 2 * frame.iloc[:, 0]
    labels = np.where(frame.iloc[:, 0] + rng.normal(size=60) > 0, f"yes{RED}", f"no\x07{RED}")
    return frame, pd.Series(labels)


def _texts(estimator: object, frame: pd.DataFrame, labels: pd.Series) -> list[str]:
    """All that a fit and its user can print of it: warnings, the certificate, the table, a refusal, the object."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(frame, labels)
        said = [str(estimator.certificate_), str(getattr(estimator, "discriminant_", ""))]
        if hasattr(estimator, "summary") and not isinstance(estimator, QuadraticDiscriminantAnalysis | LinearMachine):
            independent = frame.iloc[:, :2]
            said.append(str(type(estimator)().fit(independent, labels).summary(independent, labels)))
    broken = frame.copy()
    broken.iloc[3, 1] = np.nan
    for bad in (broken, frame.iloc[:, ::-1]):
        with pytest.raises(ValueError) as refused:
            estimator.predict(bad)
        if isinstance(refused.value, DataError):  # the order of the columns is told by scikit-learn
            said.append(str(refused.value))
    return [*said, *(str(one.message) for one in caught)]


@pytest.mark.parametrize(
    "kind",
    [LogisticRegression, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, LeastSquaresClassifier,
     FisherDiscriminant, Perceptron, LinearMachine],
)  # fmt: skip
def test_names_in_the_data_steer_no_terminal(kind: type) -> None:
    said = _texts(kind(), *_frame())
    assert any("income" in text for text in said)
    for text in said:
        assert not set(text) & set("\x1b\x07\u202e"), text


def test_a_class_without_rows_enough_is_named_without_its_escapes() -> None:
    frame, labels = _frame()
    labels[:] = f"no{RED}"
    labels[0] = f"yes{RED}"
    with pytest.raises(DataError, match=r"yes\\x1b\[31m") as refused:
        QuadraticDiscriminantAnalysis().fit(frame, labels)
    assert "\x1b" not in str(refused.value)


def test_a_verdict_steers_no_terminal() -> None:
    frame, labels = _frame()
    frame.iloc[:, 1] = (labels == labels[0]) * 1.0
    assert "\x1b" not in str(separability(frame, labels))


def test_a_start_on_which_the_criterion_is_flat_is_no_end() -> None:
    """σ(z) = 0 to the last digit on every row: ∇J = 0, and J is far from its minimum."""
    for start in ([-800.0, 0.0, 0.0, 0.0], [-50.0, 0.0, 0.0, 0.0]):
        with pytest.warns(UserWarning, match="saturated on the wrong side"):
            model = SigmoidRegressionClassifier(start=np.array(start)).fit(X, y)
        assert not model.certificate_.converged
    assert SigmoidRegressionClassifier().fit(X, y).certificate_.converged


def test_a_perceptron_that_used_up_its_epochs_says_so() -> None:
    with pytest.warns(UserWarning, match="Not converged"):
        Perceptron(tol=None, max_iter=5).fit(X, y)


def test_a_rise_of_the_criterion_is_not_called_a_fall() -> None:
    with pytest.warns(UserWarning, match="J went from 0 to"):
        Perceptron(mode="batch", max_iter=50).fit(X, y)


def test_numbers_and_nouns_agree() -> None:
    one = Perceptron().fit([[-1.0], [1.0]], [0, 1]).certificate_.status
    assert "1 corrections" not in one
    assert "1 epochs" not in one
    assert "1 pass over" in str(LinearDiscriminantAnalysis().fit(X, y).certificate_)
    model = LinearDiscriminantAnalysis().fit(X, y)
    with pytest.raises(DataError, match="The classes 'c' and 'd' are not among those that the model knows"):
        discriminant.plots.DiscriminantAxesDisplay.from_estimator(model, X, ["c", "d"] * 30)


def test_greek_letters_and_names_keep_their_case() -> None:
    with pytest.warns(UserWarning, match="Ση²"):
        Perceptron(eta0=discriminant.optimize.Power(rate=1.0, power=2.0)).fit(*SEPARATED)
    frame = pd.DataFrame(X, columns=["Age", "bmi", "BMI"]).assign(BMI=1.0)
    with pytest.warns(UserWarning, match="Column 'BMI': constant"):
        LinearDiscriminantAnalysis().fit(frame, y)
    frame = pd.DataFrame({"Age": [0, 0, 1, 1], "BMI": [0, 1, 0, 1]})
    with pytest.raises(DataError, match="Column 'Age' is 0 in every row"):
        discriminant.ExponentialFamilyClassifier("bernoulli", smoothing=0.0).fit(frame, [0, 0, 1, 1])
    sources = pathlib.Path(discriminant.__file__).parent.rglob("*.py")
    assert not [path.name for path in sources if ".capitalize()" in path.read_text(encoding="utf-8")]
