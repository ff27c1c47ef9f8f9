"""Every parameter of every estimator: what makes no sense is refused by a ParameterError that names the parameter."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

import discriminant
from discriminant.errors import ParameterError

ESTIMATORS = [
    value
    for name in discriminant.__all__
    if inspect.isclass(value := getattr(discriminant, name)) and hasattr(value, "fit")
]
rng = np.random.default_rng(0)
X = rng.standard_normal((60, 3))
Y = (X @ [1.0, -1.0, 0.5] + 0.5 * rng.standard_normal(60) > 0).astype(int)
X -= X.min()  # some densities have no negative values


class Nothing:
    """Of no use as any parameter."""


NAN = float("nan")
NOT_A_NUMBER = [None, "1", True, NAN, Nothing(), [1.0], "auto"]
NOT_A_COUNT = [*NOT_A_NUMBER, 1.5, -1]
NOT_A_BOOLEAN = [None, "False", "True", 0, 1, NAN, Nothing(), []]
NOT_A_WORD = [NAN, 1, True, Nothing(), "", "nonsense", ["l2"]]
FRACTION = [*NOT_A_NUMBER, -0.1, 1.1, np.inf]
POSITIVE = [*NOT_A_NUMBER, 0, 0.0, -1.0, -np.inf]
NOT_NEGATIVE = [*NOT_A_NUMBER, -1e-9, -np.inf, np.inf]
NAME = [None, *NOT_A_WORD]
ARRAY = ["abc", 3, NAN, True, Nothing(), ["a", "b"], [[1.0], [2.0, 3.0]]]

# By the parameter's name, wherever it occurs; near misses of words are those that a hurried user writes.
WRONG = {
    "C": POSITIVE,
    "Cs": [None, 0, -1, 1.5, True, NAN, "10", Nothing(), [], [0.0, 1.0], [NAN], ["a"], [[1.0]]],
    "actions": ["abc", 3, NAN, Nothing()],
    "alpha": NOT_NEGATIVE,
    "average": NOT_A_BOOLEAN,
    "basis": [3, True, NAN, Nothing(), "quadratics", "", "poly:x"],
    "bounds": [3, "abc", NAN, Nothing(), {}, (0,), (0, 1, 2), ("a", "b"), (NAN, 1.0), (1.0, 0.0)],
    "callback": [3, "abc", True, NAN, Nothing()],
    "class_weight": ["balance", "Balanced", "", [1, 2], (1.0, 2.0), 3, True, NAN, Nothing(), {7: 1.0, 0: 2.0},
                     {"0": 1.0, "1": 2.0}, {0: -1.0, 1: 1.0}, {0: NAN}, {0: "a"}, {0: None}, {0: 0, 1: 0}],
    "coding": [None, 3, True, NAN, Nothing(), "", "pairwize", "ovr", [1.0, 2.0], ["a", "b"], np.eye(3)],
    "correct_priors": NOT_A_BOOLEAN,
    "costs": ARRAY,
    "covariance": [*NAME, "mle", "Robust"],
    "covariance_estimator": [3, "ledoit-wolf", True, NAN, Nothing()],
    "criterion": [None, 3, True, NAN, Nothing(), "", "percepton", "logit"],
    "cv": ["five", 1, 0, -1, 2.5, NAN, Nothing()],
    "decoder": [*NOT_A_WORD, "vote", "Sum"],
    "direction": [*NAME, "fischer"],
    "dual": [None, "False", 0, 1, NAN, Nothing(), "Auto"],
    "early_stopping": NOT_A_BOOLEAN,
    "estimator": [3, "lda", True, NAN, Nothing()],
    "eta0": [None, "fast", True, NAN, Nothing(), 0, -1.0, np.inf, [1.0]],
    "family": [*NAME, "gaussian", "Poisson", ["poisson"], ["poisson"] * 4, ["a", "b", "c"], {0: "poisson"},
               {"x": "poisson", 0: "poisson", 1: "poisson", 2: "poisson"}, {0: "x", 1: "poisson", 2: "poisson"}],
    "fit_intercept": NOT_A_BOOLEAN,
    "form": [*NAME, "diag"],
    "grouped": NOT_A_BOOLEAN,
    "groups": ["abc", 3, NAN, Nothing(), [0, 1], [["a"]], [[0.5]]],
    "intercept_scaling": POSITIVE,
    "l1_ratio": [value for value in FRACTION if value is not None],
    "l1_ratios": ["abc", 3, NAN, True, Nothing(), [], [2.0], [-0.1], [NAN], ["a"], [None]],
    "loss": [*NAME, "squared-hinge", "Hinge"],
    "margin": [True, "1", NAN, Nothing(), -1.0, np.inf],
    "max_iter": NOT_A_COUNT,
    "mode": [*NAME, "single_sample"],
    "multi_class": [*NAME, "crammer-singer", "ovo"],
    "n_components": [value for value in [*NOT_A_COUNT, 0] if value is not None],
    "n_iter_no_change": [*NOT_A_COUNT, 0],
    "n_jobs": [1.5, "all", NAN, Nothing()],
    "optimizer": [None, 3, True, NAN, Nothing(), "", "newtons"],
    "over": [*NAME, "every"],
    "penalize_intercept": NOT_A_BOOLEAN,
    "penalty": [*NOT_A_WORD, "l3", "lass"],
    "penalty_factors": [*ARRAY, [1.0], [-1.0, 1.0, 1.0], [NAN, 1.0, 1.0]],
    "pocket": NOT_A_BOOLEAN,
    "pooling": FRACTION,
    "priors": [*ARRAY, [0.5], [-0.5, 1.5], [NAN, 1.0], {0: 0.5}, {0: 0.5, "1": 0.5}, {0: "a", 1: 0.5}],
    "random_state": ["seven", 1.5, -1, NAN, Nothing(), [1]],
    "refit": NOT_A_BOOLEAN,
    "reg_param": FRACTION,
    "reject_cost": ["high", True, NAN, Nothing(), np.inf, [1.0]],
    "rounds": [*NOT_A_COUNT, 0],
    "rule": [*NAME, "one_standard_error", "1se"],
    "scoring": [3, NAN, True, Nothing(), "", "acuracy"],
    "seconds": POSITIVE,
    "shrinkage": [value for value in FRACTION if value is not None and value != "auto"] + ["ledoit_wolf", "Auto"],
    "scale": ["total", None, 1],
    "shuffle": NOT_A_BOOLEAN,
    "smoothing": NOT_NEGATIVE,
    "solver": [*NAME, "newton_cg", "SVD"],
    "start": [3, NAN, True, Nothing(), "rand", ["a"], np.ones((9, 9)), [[NAN]] * 4],
    "store_covariance": NOT_A_BOOLEAN,
    "threshold": [True, NAN, Nothing(), "half", -1.0],
    "tol": [value for value in NOT_NEGATIVE if value is not None],
    "trace": NOT_A_BOOLEAN,
    "training_priors": [*ARRAY, [0.5], {0: 0.5}],
    "use_legacy_attributes": NOT_A_BOOLEAN,
    "validation_fraction": [*FRACTION, 0, 1],
    "verbose": ["loud", -1, 1.5, NAN, Nothing(), None],
    "warm_start": NOT_A_BOOLEAN,
}  # fmt: skip
# What another parameter must be for a value to take part.
BESIDE = {
    ("LogisticRegression", "penalty_factors"): {"l1_ratio": 0.5},
    ("LogisticRegression", "groups"): {"l1_ratio": 0.5},
    ("MinimumRiskClassifier", "actions"): {"costs": [[0, 1], [1, 0]]},
    ("MinimumRiskClassifier", "training_priors"): {"priors": [0.5, 0.5]},
}
ANY_LABEL = {"reject_label"}
CASES = [
    (estimator, name)
    for estimator in ESTIMATORS
    for name in inspect.signature(estimator).parameters
    if name not in ANY_LABEL
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)
def test_every_parameter_says_what_it_may_be(estimator):
    assert set(estimator._parameter_constraints) == set(inspect.signature(estimator).parameters)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)
def test_an_instance_has_its_parameters_and_not_those_of_the_class_above(estimator):
    """A search over penalties has no C of its own, say, and what asks for one must not find a default."""
    above = {name for base in estimator.__mro__[1:] for name in getattr(base, "_parameter_constraints", {})}
    foreign = (above & {"C", "l1_ratio"}) - set(inspect.signature(estimator).parameters)
    assert not [name for name in foreign if hasattr(estimator(), name)]


@pytest.mark.parametrize(("estimator", "name"), CASES, ids=lambda part: getattr(part, "__name__", part))
def test_values_that_mean_nothing_are_refused_by_name(estimator, name):
    for value in WRONG[name]:
        model = estimator(**{**BESIDE.get((estimator.__name__, name), {}), name: value})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(ParameterError) as refused:
                model.fit(X, Y)
        assert name.lower() in str(refused.value).lower(), (value, str(refused.value))
        assert not [attribute for attribute in vars(model) if attribute.endswith("_")], "a refused fit leaves nothing"


@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if hasattr(e, "plan")], ids=lambda e: e.__name__)
def test_a_plan_refuses_what_the_fit_refuses(estimator):
    for name in inspect.signature(estimator).parameters:
        if name not in ANY_LABEL:
            with pytest.raises(ParameterError, match=f"'{name}'"):
                estimator(**{name: Nothing()}).plan(X, Y)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)
def test_numpy_numbers_and_booleans_are_numbers_and_booleans(estimator):
    defaults = {name: part.default for name, part in inspect.signature(estimator).parameters.items()}
    made = {bool: np.bool_, int: np.int64, float: np.float64}
    given = {name: made[type(value)](value) for name, value in defaults.items() if type(value) in made}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(estimator(**given).fit(X, Y).predict(X), estimator().fit(X, Y).predict(X))


def test_weights_of_a_class_that_a_fold_does_not_hold_do_no_harm():
    weights = {0: 1.0, 1: 2.0, 2: 5.0}
    with_it = discriminant.LogisticRegression(class_weight=weights).fit(X, Y)
    without = discriminant.LogisticRegression(class_weight={0: 1.0, 1: 2.0}).fit(X, Y)
    np.testing.assert_array_equal(with_it.coef_, without.coef_)


# Functions

TWO = discriminant.LogisticRegression().fit(X[:, :2], Y)
NOT_A_MODEL = [None, 3, "lda", NAN, [1.0]]
NOT_A_PATH = [3, NAN, Nothing(), []]
NOT_A_SHARE = [*NOT_A_NUMBER, 0, 1.0, 1.5, -0.1]
NOT_FROM_ZERO = [None, "1", True, NAN, Nothing(), [1.0], 1.5, -1]
NO_BOUNDS = [None, 3, "abc", NAN, Nothing(), [], [(0, 1)], [(1, 0), (0, 1)], [(NAN, 1), (0, 1)], [("a", "b")] * 2]
EXPORT = {"model": NOT_A_MODEL, "path": NOT_A_PATH}
# What a call takes that makes sense, and of each parameter what makes none.
FUNCTIONS = {
    "ambiguity": ({"model": TWO, "bounds": [(-1, 1), (-1, 1)]}, {"model": NOT_A_MODEL, "bounds": NO_BOUNDS}),
    "certify": (
        {"model": TWO, "X": X[:, :2], "y": Y},
        {"model": NOT_A_MODEL, "tol": [None, "1", True, NAN, Nothing(), [1.0], -1.0, 0]},
    ),
    "cover_probability": ({"n": 5, "d": 3}, {"n": [*NOT_A_COUNT, 0], "d": NOT_FROM_ZERO}),
    "kesler_construction": ({"X": X, "y": Y}, {"fit_intercept": NOT_A_BOOLEAN}),
    "load": ({}, {"path": [None, *NOT_A_PATH]}),
    "logistic_path": (
        {"X": X, "y": Y},
        {"lambdas": ["abc", NAN, Nothing(), [], [-1.0], [NAN], ["a"], [[1.0]]], "n_lambdas": [*NOT_A_COUNT, 0],
         "ratio": ["1", True, NAN, Nothing(), [1.0], 0, 1.5, -0.1], "l1_ratio": FRACTION, "relax": NOT_A_BOOLEAN,
         "penalty_factors": WRONG["penalty_factors"], "bounds": WRONG["bounds"], "groups": WRONG["groups"],
         "grouped": NOT_A_BOOLEAN, "standardize": NOT_A_BOOLEAN, "fit_intercept": NOT_A_BOOLEAN,
         "class_weight": WRONG["class_weight"], "tol": [*NOT_NEGATIVE, 0]},
    ),
    "on_device": ({"X": X}, {"device": [None, 3, "", NAN, Nothing()]}),
    "patch_sklearn": ({}, {"verbose": NOT_A_BOOLEAN}),
    "sample_size": (
        {"d": 3, "epsilon": 0.1, "delta": 0.1},
        {"d": NOT_FROM_ZERO, "epsilon": NOT_A_SHARE, "delta": NOT_A_SHARE, "agnostic": NOT_A_BOOLEAN},
    ),
    "save": (
        {"model": TWO, "path": "model"},
        {"model": NOT_A_MODEL, "path": [None, *NOT_A_PATH], "notes": [3, "x", NAN, Nothing(), [1], {1: "a"}, {"a": 1}]},
    ),
    "scan": (
        {"path": "rows.csv"},
        {"path": [None, 3, NAN, True, []], "target": [["a", "b"], {}], "columns": ["abc", 3, NAN, Nothing(), []],
         "memory": [None, "lots", "2XB", -1, 0, NAN, True, Nothing(), "", [1]], "hold": ["False", 1, 0, NAN, Nothing()],
         "progress": ["loud", 3, Nothing(), NAN, None], "n_features": ["1", True, NAN, Nothing(), -1, 0, 1.5]},
    ),
    "scorer": ({}, {"model": NOT_A_MODEL}),
    "separability": (
        {"X": X, "y": Y},
        {"fit_intercept": NOT_A_BOOLEAN, "hyperplane": [*NAME, "wide", "Widest"],
         "random_state": [None, "seven", 1.5, -1, NAN, Nothing(), [1], True]},
    ),
    "shatters": (
        {}, {"points": [None, 3, "abc", NAN, Nothing(), [], [["a", "b"]], [[NAN, 1.0]], [[1.0], [1.0, 2.0]]]},
    ),
    "solution_region": (
        {"X": X[:, :2], "y": Y}, {"margin": [*NOT_A_NUMBER, -1.0, np.inf], "fit_intercept": NOT_A_BOOLEAN},
    ),
    "to_c": ({"model": TWO}, {**EXPORT, "name": [None, 3, "", "1a", "a b", NAN, Nothing()]}),
    "to_json": ({"model": TWO}, EXPORT),
    "to_onnx": ({"model": TWO}, {**EXPORT, "dtype": [None, "float16", "f", 3, NAN, Nothing(), ""]}),
    "to_sql": (
        {"model": TWO},
        {**EXPORT, "table": [None, 3, "", NAN, Nothing()], "dialect": [None, "sql", "", 3, NAN, Nothing()]},
    ),
    "vc_dimension": ({"model_or_d": 3}, {"model_or_d": NOT_FROM_ZERO, "fit_intercept": NOT_A_BOOLEAN}),
}  # fmt: skip
DATA = {"X", "y", "sample_weight", "offset", "connection"}  # DataErrors tell of those
PLAIN = {"show_versions", "unpatch_sklearn", "compare", "pool"}  # without parameters, or with data only


def test_every_public_function_and_parameter_is_in_the_table():
    public = {name: getattr(discriminant, name) for name in discriminant.__all__}
    assert {name for name, value in public.items() if inspect.isfunction(value)} - PLAIN == set(FUNCTIONS)
    for name, (_, wrong) in FUNCTIONS.items():
        assert set(inspect.signature(public[name]).parameters) - DATA == set(wrong), name


@pytest.mark.parametrize(
    ("function", "name"), [(f, name) for f, (_, wrong) in FUNCTIONS.items() for name in wrong], ids=str
)
def test_functions_refuse_what_means_nothing_by_name(function, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("a,b,y\n1,2,0\n3,5,1\n")
    right, wrong = FUNCTIONS[function]
    for value in wrong[name]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(ParameterError) as refused:
                getattr(discriminant, function)(**{**right, name: value})
        assert name.lower() in str(refused.value).lower(), (value, str(refused.value))
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"], "what is refused writes nothing"
