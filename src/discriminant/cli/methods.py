"""The methods that the command line knows by name, and how one is fitted to a matrix."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import discriminant
from discriminant.data import as_rows
from discriminant.errors import DataError, ParameterError, names
from discriminant.methods import HOMES, make_sample, method_of
from discriminant.protocols import Array
from discriminant.thresholds import MANY_COLUMNS


@dataclass(frozen=True)
class Method:
    """A name, the estimator it stands for, and what to know of it."""

    name: str
    estimator: str
    title: str
    parameters: dict[str, Any] = field(default_factory=dict)
    standardize: bool = False  # whether the answer depends on units, so that columns are brought to one
    freedom: int = 1  # the order of simplicity, for the rule of one standard error
    asked: bool = False  # whether the user set parameters
    family: str = ""  # the title without what its own parameters say of it

    def python(self) -> str:
        """The expression that makes the estimator."""
        arguments = ", ".join(f"{key}={_literal(value)}" for key, value in self.parameters.items())
        return f"discriminant.{self.estimator}({arguments})"


def _literal(value: Any) -> str:
    return (
        f"float({str(value)!r})" if isinstance(value, float) and value in (float("inf"), float("-inf")) else repr(value)
    )


METHODS = {
    method.name: method
    for method in [
        Method("lda", "LinearDiscriminantAnalysis", "Gaussian classes, one covariance", freedom=2),
        Method("lda-shrunk", "LinearDiscriminantAnalysis", "Gaussian classes, one covariance, shrunken",
               {"shrinkage": "auto"}, freedom=1, family="Gaussian classes, one covariance"),
        Method("qda", "QuadraticDiscriminantAnalysis", "Gaussian classes, a covariance each", freedom=5),
        Method("qda-pooled", "QuadraticDiscriminantAnalysis", "Gaussian classes, covariances half pooled",
               {"pooling": 0.5}, freedom=4, family="Gaussian classes"),
        Method("logistic", "LogisticRegression", "logistic regression, ridge C=1", standardize=True, freedom=3,
               family="logistic regression"),
        Method("fisher", "FisherDiscriminant", "Fisher's axes and nearest means", freedom=2),
        Method("exponential-family", "ExponentialFamilyClassifier", "independent columns: counts, bits or durations",
               freedom=1),
        Method("least-squares", "LeastSquaresClassifier", "least squares on class targets", freedom=2),
        Method("perceptron", "Perceptron", "perceptron", standardize=True, freedom=3),
        Method("adaline", "Adaline", "adaline, the Widrow–Hoff rule", standardize=True, freedom=2),
        Method("svm", "LinearSVC", "support vector machine, linear", standardize=True, freedom=3),
        Method("sigmoid", "SigmoidRegressionClassifier", "squared error of sigmoids", standardize=True, freedom=3),
        Method("machine", "LinearMachine", "linear machine by Kesler's construction", standardize=True, freedom=3),
        Method("linear-program", "LinearProgrammingClassifier", "linear programming", standardize=True, freedom=3),
        Method("minimum-error", "MinimumErrorClassifier", "least number of errors", standardize=True, freedom=3),
    ]
}  # fmt: skip
AUTOMATIC = ("lda-shrunk", "lda", "logistic", "qda-pooled", "qda")
WIDE, SPARSE = ("lda-shrunk", "logistic"), ("logistic", "perceptron")


def automatic(n_columns: int, *, sparse: bool) -> tuple[str, ...]:
    """What ``auto`` compares: all families, or where there are very many columns those that bear them."""
    if sparse and n_columns > MANY_COLUMNS:
        return SPARSE
    return WIDE if n_columns > MANY_COLUMNS else AUTOMATIC


def method_named(name: str, settings: Sequence[str] = ()) -> Method:
    """The method of that name with parameters set as NAME=VALUE."""
    if name not in METHODS:
        from discriminant.data.tables import suggestion

        raise ParameterError(f"{name!r} is no method. {suggestion(name, list(METHODS), 'Choose among')}")
    method = METHODS[name]
    if not settings:
        return method
    given = dict(_setting(text) for text in settings)
    known = getattr(discriminant, method.estimator)().get_params(deep=False)
    wrong = [key for key in given if key not in known]
    if wrong:
        raise ParameterError(f"{method.estimator} has no parameter {names(wrong)}; it has {names(sorted(known), 30)}.")
    parameters = method.parameters | given
    listed = ", ".join(f"{key}={value}" for key, value in parameters.items())
    title = f"{method.family or method.title}, with {listed}"
    return replace(method, parameters=parameters, title=title, asked=True)


def _setting(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ParameterError(f"--set needs NAME=VALUE, such as C=0.1; {text!r} has no name or no value.")
    if value in ("inf", "-inf"):
        return key.strip(), float(value)
    try:
        return key.strip(), ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return key.strip(), value


def fit_method(
    method: Method, X: Any, labels: Array, feature_names: Sequence[str], weights: Array | None = None, offset: str = ""
) -> tuple[Any, list[str]]:
    """(what was fitted, notes): a fit; an estimator where the user set parameters, which it checks.

    ``offset``: the last column of X is a known part of the score, whose weight is one.
    """
    if offset:
        return _fit_offset(method, X, labels, feature_names, weights)
    if method.estimator in HOMES and not method.asked:
        sample = make_sample(as_rows(X), labels, weights, names=feature_names)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what overflows is found in the result
            fit = method_of(method.estimator)(**method.parameters).fit(sample)
        return fit, _once([note.text for note in fit.notes])
    model = getattr(discriminant, method.estimator)(**method.parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, labels, **({} if weights is None else {"sample_weight": weights}))
    return model, _once([_named(str(warning.message), feature_names) for warning in caught])


def _fit_offset(
    method: Method, X: Array, labels: Array, feature_names: Sequence[str], weights: Array | None
) -> tuple[Any, list[str]]:
    """The fit with the column of the offset in its discriminant: its predictions add it."""
    if method.estimator != "LogisticRegression":
        raise ParameterError(f"--offset is for logistic regression (--model logistic), not for {method.name}.")
    if len(set(labels.tolist())) != 2:
        raise ParameterError("--offset is a known part of the log odds of two classes, and there are more.")
    sample = make_sample(as_rows(X[:, :-1]), labels, weights, names=feature_names[:-1])
    fit = method_of(method.estimator)(**method.parameters).fit(sample, None, X[:, -1])
    found = fit.discriminant_
    if found is None or "limit_" in fit.state:
        raise DataError(
            "The classes are separated without a penalty: the weights are infinite beside an offset. Use C=1."
        )
    center = np.zeros(found.n_features) if found.center is None else found.center
    whole = replace(
        found, weights=np.vstack([found.weights, [[1.0]]]), center=np.append(center, 0.0), feature_names=feature_names
    )
    coef = np.array(whole.coef)
    state = {**fit.state, "discriminant_": whole, "coef_": coef, "_kept": (coef.copy(), fit.state["_kept"][1])}
    return replace(fit, discriminant=whole, state=state), _once([note.text for note in fit.notes])


def _once(notes: list[str]) -> list[str]:
    """Of notes that differ by numbers alone the first, and how many more there are."""
    import re

    kinds: dict[str, list[str]] = {}
    for note in notes:
        kinds.setdefault(re.sub(r"class \S+|\d[\d.,e+-]*", "#", note), []).append(note)
    return [first if not rest else f"{first} (The same is true of {len(rest)} more.)"
            for first, *rest in kinds.values()]  # fmt: skip


def _named(text: str, feature_names: Sequence[str]) -> str:
    """A warning in which columns have numbers, with names where it speaks of one column or a few."""
    import re

    def name(match: re.Match[str]) -> str:
        numbers = re.findall(r"\d+", match.group(2))
        shown = names([feature_names[int(j)] for j in numbers if int(j) < len(feature_names)])
        return f"{match.group(1)} {shown}"

    return re.sub(r"\b([Cc]olumns?) (\d+(?:(?:, | and )\d+)*)(?!\d| more)", name, text)
