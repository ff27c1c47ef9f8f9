"""Every parameter of every estimator: what makes no sense is refused by a ParameterError that names the parameter."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from sklearn.utils._param_validation import validate_parameter_constraints

import discriminant
from discriminant import bases, codings, criteria, decision, geometry, optimize, penalties
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
def test_defaults_are_allowed(estimator):
    """A fit checks what was given alone."""
    said = {name: p.default for name, p in inspect.signature(estimator).parameters.items() if p.default is not p.empty}
    validate_parameter_constraints(estimator._parameter_constraints, said, estimator.__name__)


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


# Parts and methods

CLASSES = Y + (X[:, 2] > np.median(X[:, 2]))
MODELS = {
    "logistic": discriminant.LogisticRegression(C=np.inf).fit(X, Y),
    "lda": discriminant.LinearDiscriminantAnalysis().fit(X, Y),
    "least squares": discriminant.LeastSquaresClassifier().fit(X, Y),
    "fisher": discriminant.FisherDiscriminant().fit(X, Y),
    "plane": TWO.discriminant_,
    "three": discriminant.LinearDiscriminantAnalysis().fit(X, CLASSES).discriminant_,
}
SUMMARY = MODELS["logistic"].summary()
BOX = ((-1, 1), (-1, 1))
P, EVEN = [[0.3, 0.7], [0.6, 0.4]], [0.5, 0.5]
TABLE, WRONG_TABLE = [[0, 1], [1, 0]], ["abc", 3, NAN, Nothing(), ["a", "b"], [[NAN, 1], [1, 0]]]
NOT_NEGATIVE_OR_INFINITE = [*NOT_A_NUMBER, -1e-9, np.inf]
NOT_FINITE = [*NOT_A_NUMBER, np.inf, -np.inf]
NOT_POSITIVE = [*NOT_NEGATIVE_OR_INFINITE, 0]
NOT_CALLABLE = [3, "x", NAN, Nothing()]
NOT_PRIORS = ["abc", NAN, Nothing(), [NAN, 0.5], [-1, 2], ["a", "b"], [0.5]]
NOT_NUMBERS = ["abc", Nothing(), ["a", "b"]]
LEVEL = [*NOT_A_SHARE, np.inf]
SEEDS = ["seven", 1.5, -1, NAN, Nothing(), [1]]
STEPS = [*NOT_POSITIVE, -1.0]
DRAWN = {"level": LEVEL, "draws": [*NOT_A_COUNT, 19], "random_state": [None, True, *SEEDS]}
WATCHED = {"trace": NOT_A_BOOLEAN, "count_errors": NOT_A_BOOLEAN, "callback": NOT_CALLABLE, "scale": [*NAME, "total"]}
SCALES = [3, NAN, "abc", Nothing(), [0.0, 1.0], [NAN, 1.0]]
FACTORS = [3, NAN, "abc", Nothing(), ("a",), (NAN, 1.0), (-1.0, 1.0)]
ITERATED = {**WATCHED, "iterations": NOT_FROM_ZERO}
TOLERANT = {**ITERATED, "tolerance": NOT_NEGATIVE_OR_INFINITE}
COEFFICIENTS = {"rate": STEPS, "power": NOT_FINITE, "delay": [*NOT_FINITE, -1]}
MARGINAL = {"margin": NOT_NEGATIVE_OR_INFINITE}
PENALISED = {"strength": NOT_NEGATIVE_OR_INFINITE, "factors": FACTORS}
DURATION = [*NOT_A_NUMBER, 0, -1.0]
RESULTS = {"BoundedSolution", "Conditions", "Corrections", "History", "Iterative", "LeastSquares", "Reweighted",
           "SequentialSolution", "Solved", "Step", "Margin", "Pointwise", "Probability", "WeightPenalty"}  # fmt: skip


def on_rows(made):
    """A basis says what is wrong when it learns."""
    return lambda **given: made(**given).fit(X, Y).transform(X)


# (what is called, what it takes that makes sense, of each parameter what makes none)
CALLS = {
    **{f"criteria.{name}": (getattr(criteria, name), {}, MARGINAL)
       for name in ("Hinge", "Perceptron", "Quadratic", "Relaxation", "SquaredHinge", "ZeroOne")},
    "criteria.Softmax": (criteria.Softmax, {}, {"reference": NOT_A_BOOLEAN}),
    "criteria.Kesler": (criteria.Kesler, {}, {"base": [None, 3, "hinge", Nothing()], "over": [*NAME, "every"]}),
    "criteria.make_criterion": (criteria.make_criterion, {"criterion": "hinge"}, {"criterion": WRONG["criterion"]}),
    "penalties.Ridge": (penalties.Ridge, {}, PENALISED),
    "penalties.Jeffreys": (penalties.Jeffreys, {}, PENALISED),
    "penalties.Lasso": (penalties.Lasso, {}, {**PENALISED, "mix": FRACTION}),
    "penalties.ElasticNet": (penalties.ElasticNet, {}, {**PENALISED, "mix": FRACTION}),
    "penalties.Group": (
        penalties.Group, {},
        {**PENALISED, "groups": ["abc", 3, NAN, Nothing(), ((0, 0),), ((),), ((-1,),), ((0.5,),), ("a",)]},
    ),
    "penalties.make_penalty": (
        penalties.make_penalty, {"penalty": "ridge"},
        {"penalty": [3, NAN, True, Nothing(), "", "l3"], "strength": NOT_NEGATIVE_OR_INFINITE},
    ),
    "penalties.strength_from_C": (
        penalties.strength_from_C, {"C": 1.0, "total_weight": 9.0}, {"C": POSITIVE, "total_weight": NOT_POSITIVE},
    ),
    "optimize.LBFGS": (
        optimize.LBFGS, {}, {**TOLERANT, "memory": [*NOT_A_COUNT, 0], "preconditioner": NOT_CALLABLE},
    ),
    "optimize.Annealing": (
        optimize.Annealing, {},
        {**ITERATED, "scales": SCALES, "random_state": SEEDS,
         "temperature": [3, "ab", NAN, Nothing(), (1.0,), (NAN, 1.0), (0.0, 1.0), (1.0, 0.0), (0.1, 0.2)]},
    ),
    "optimize.ClosedForm": (optimize.ClosedForm, {}, {"refinements": NOT_FROM_ZERO}),
    "optimize.ConjugateGradient": (optimize.ConjugateGradient, {}, TOLERANT),
    "optimize.ProximalGradient": (optimize.ProximalGradient, {}, TOLERANT),
    "optimize.ProximalNewton": (optimize.ProximalNewton, {}, {"tolerance": NOT_NEGATIVE_OR_INFINITE}),
    "optimize.Newton": (
        optimize.Newton, {}, {**TOLERANT, "threshold": NOT_NEGATIVE_OR_INFINITE, "halvings": NOT_FROM_ZERO},
    ),
    "optimize.DifferentialEvolution": (
        optimize.DifferentialEvolution, {},
        {**WATCHED, "iterations": [*NOT_A_COUNT, 0], "population": [*NOT_A_COUNT, 0], "scales": SCALES,
         "random_state": SEEDS},
    ),
    "optimize.GradientDescent": (
        optimize.GradientDescent, {},
        {**ITERATED, "step": STEPS, "rates": SCALES, "threshold": NOT_NEGATIVE_OR_INFINITE, "patience": NOT_FROM_ZERO},
    ),
    "optimize.LinearProgram": (optimize.LinearProgram, {}, {"seconds": DURATION}),
    "optimize.MixedInteger": (
        optimize.MixedInteger, {}, {"seconds": DURATION, "margin": NOT_POSITIVE, "most_rows": [*NOT_A_COUNT, 0]},
    ),
    "optimize.SingleSample": (
        optimize.SingleSample, {},
        {"step": STEPS, "order": [*NAME, "random"], "epochs": NOT_FROM_ZERO, "keep": [*NAME, "best"],
         "threshold": NOT_NEGATIVE_OR_INFINITE, "tolerance": NOT_NEGATIVE_OR_INFINITE,
         "improvement": NOT_NEGATIVE_OR_INFINITE[1:], "patience": NOT_FROM_ZERO, "random_state": SEEDS,
         "trace": NOT_A_BOOLEAN, "callback": NOT_CALLABLE, "evaluate": NOT_A_BOOLEAN, "engine": [*NAME, "c"]},
    ),
    **{f"optimize.{name}": (getattr(optimize, name), {}, COEFFICIENTS) for name in ("Constant", "Inverse", "Power")},
    "optimize.make_optimizer": (optimize.make_optimizer, {"optimizer": "newton"}, {"optimizer": WRONG["optimizer"]}),
    "optimize.make_schedule": (optimize.make_schedule, {"step": 1.0}, {"step": STEPS}),
    "optimize.check_conditions": (optimize.check_conditions, {"schedule": 1.0}, {"schedule": STEPS}),
    "bases.Polynomial": (
        on_rows(bases.Polynomial), {}, {"degree": [*NOT_A_COUNT, 0], "interaction_only": NOT_A_BOOLEAN},
    ),
    "bases.Gaussian": (
        on_rows(bases.Gaussian), {},
        {"centres": ["abc", NAN, True, Nothing(), 0, -1, 1.5, [], ["a"]], "width": ["1", True, NAN, Nothing(), 0, -1]},
    ),
    "bases.Radial": (on_rows(bases.Radial), {}, {"random_state": SEEDS, "placement": [*NAME, "row"]}),
    "bases.Wiring": (
        on_rows(bases.Wiring), {"units": 4, "connections": 2},
        {"units": [*NOT_A_COUNT, 0], "connections": [*NOT_A_COUNT, 0], "random_state": SEEDS},
    ),
    "bases.Sine": (on_rows(bases.Sine), {}, {"frequencies": ["abc", 3, NAN, Nothing(), ["a"]], "phase": NOT_FINITE}),
    "bases.Functions": (on_rows(bases.Functions), {"functions": np.sin}, {"functions": [3, NAN, Nothing()]}),
    "bases.Columns": (
        on_rows(bases.Columns), {"basis": bases.Sine(), "columns": (0,)},
        {"columns": [NAN, Nothing(), [NAN], [1.5], ()]},
    ),
    "codings.make_coding": (
        codings.make_coding, {"coding": "fisher", "classes": 3, "counts": [3, 4, 5]},
        {"coding": WRONG["coding"][:-1], "classes": [None, NAN, 0, 1.5, "abc", Nothing()],
         "labels": ["ab", 3, NAN, Nothing(), (1.0,), ("a", "b"), (NAN, 1.0), (1.0, 1.0)],
         "threshold": [*NOT_FINITE[1:]], "decoder": WRONG["decoder"],
         "counts": ["abc", 3, NAN, Nothing(), [1.0], [NAN] * 3, [-1, 1, 1]]},
    ),
    "codings.pairs": (codings.pairs, {"n_classes": 3}, {"n_classes": [*NOT_A_COUNT, 0]}),
    "decision.check_costs": (
        decision.check_costs, {"costs": TABLE, "classes": ["a", "b"]}, {"costs": WRONG_TABLE},
    ),
    "decision.check_priors": (decision.check_priors, {"priors": EVEN, "classes": ["a", "b"]}, {"priors": NOT_PRIORS}),
    "decision.prior_shift": (decision.prior_shift, {"old": EVEN, "new": EVEN}, {"old": NOT_PRIORS, "new": NOT_PRIORS}),
    "decision.estimate_priors": (
        decision.estimate_priors, {"log_posteriors": np.log(P), "old": EVEN},
        {"log_posteriors": ["abc", Nothing(), 3, ["a"]], "old": NOT_PRIORS[:-1], "tol": NOT_NEGATIVE_OR_INFINITE,
         "max_iter": [*NOT_A_COUNT, 0]},
    ),
    "decision.chow_threshold": (
        decision.chow_threshold, {"reject_cost": 0.1},
        {"reject_cost": NOT_FINITE, "error_cost": [*NOT_FINITE, -1.0], "correct_cost": [*NOT_FINITE, 2.0]},
    ),
    "decision.expected_costs": (
        decision.expected_costs, {"posteriors": P, "costs": TABLE},
        {"posteriors": ["abc", 3, Nothing(), ["a"]], "costs": [*WRONG_TABLE, [[0, 1, 2]]]},
    ),
    "decision.cost_threshold": (decision.cost_threshold, {"costs": TABLE}, {"costs": WRONG_TABLE}),
    "decision.with_reject": (
        decision.with_reject, {"costs": TABLE, "reject_cost": 0.1}, {"costs": WRONG_TABLE, "reject_cost": NOT_FINITE},
    ),
    "decision.reject_interval": (
        decision.reject_interval, {"costs": TABLE, "reject_cost": 0.1},
        {"costs": WRONG_TABLE, "reject_cost": NOT_FINITE},
    ),
    "decision.reject_by_posterior": (
        decision.reject_by_posterior, {"posteriors": P, "threshold": 0.9},
        {"posteriors": ["abc", 3, Nothing(), ["a"]], "threshold": NOT_FINITE},
    ),
    "decision.zero_one_costs": (decision.zero_one_costs, {"n_classes": 2}, {"n_classes": [*NOT_A_COUNT, 0]}),
    "geometry.box": (geometry.box, {"bounds": BOX}, {"bounds": NOT_NUMBERS}),
    "geometry.polygon_area": (
        geometry.polygon_area, {"polygon": [[0, 0], [1, 0], [0, 1]]}, {"polygon": [3, [[1.0]], *NOT_NUMBERS]},
    ),
    "geometry.Hyperplane": (
        geometry.Hyperplane, {"normal": [1.0, 2.0]},
        {"normal": NOT_NUMBERS, "intercept": ["a", Nothing(), [1, 2]], "center": NOT_NUMBERS},
    ),
    "geometry.decision_regions": (
        geometry.decision_regions, {"weights": np.zeros((3, 2)), "bounds": BOX},
        {"bounds": NOT_NUMBERS, "center": NOT_NUMBERS},
    ),
    "LinearDiscriminant.slice": (
        MODELS["three"].slice, {"features": [0, 1]},
        {"features": [3, NAN, Nothing(), [0, 9], [0, 1.5], ["a", "b"], "abc"], "at": NOT_NUMBERS},
    ),
    "LinearDiscriminant.scores": (
        MODELS["plane"].scores, {"X": X[:, :2]}, {"dtype": ["nonsense", 3, Nothing(), "int64", str]},
    ),
    "LinearDiscriminant.contributions": (MODELS["plane"].contributions, {"X": X[:, :2]}, {"reference": NOT_NUMBERS}),
    "LinearDiscriminant.regions": (MODELS["plane"].regions, {"bounds": BOX}, {"bounds": NOT_NUMBERS}),
    "LinearDiscriminant.with_priors": (
        MODELS["plane"].with_priors, {"priors": EVEN, "training_priors": EVEN},
        {"priors": NOT_PRIORS, "training_priors": NOT_PRIORS},
    ),
    "LogisticRegression.summary": (
        MODELS["logistic"].summary, {},
        {**DRAWN, "covariance": [*NAME, "HC9"], "intervals": [*NAME, "Wald"], "tests": [*NOT_A_WORD, "Wald"]},
    ),
    "LinearDiscriminantAnalysis.summary": (MODELS["lda"].summary, {}, {**DRAWN, "intervals": [*NAME, "profile"]}),
    "FisherDiscriminant.summary": (MODELS["fisher"].summary, {}, {**DRAWN, "intervals": [*NAME, "profile"]}),
    "LeastSquaresClassifier.summary": (
        MODELS["least squares"].summary, {}, {**DRAWN, "intervals": [*NAME, "profile"], "covariance": [*NAME, "HC9"]},
    ),
    "LogisticRegression.probability_interval": (
        MODELS["logistic"].probability_interval, {"X": X, "summary": SUMMARY}, {"summary": NOT_A_MODEL, "level": LEVEL},
    ),
    "LogisticRegression.boundary_interval": (
        MODELS["logistic"].boundary_interval, {"X": X, "column": 0, "summary": SUMMARY},
        {"column": [None, NAN, 1.5, Nothing()], "summary": NOT_A_MODEL, "level": LEVEL},
    ),
    "LogisticRegression.marginal_effects": (
        MODELS["logistic"].marginal_effects, {"X": X},
        {"at": [*NAME, "median"], "level": LEVEL, "summary": NOT_A_MODEL[1:]},
    ),
    "LogisticRegression.fit": (discriminant.LogisticRegression().fit, {"X": X, "y": Y}, {"offset": NOT_NUMBERS}),
    "Perceptron.fit": (discriminant.Perceptron().fit, {"X": X, "y": Y}, {"coef_init": NOT_NUMBERS}),
    "FisherDiscriminant.criterion": (
        MODELS["fisher"].criterion, {"directions": [1.0, 0.0, 0.0]}, {"directions": [*NOT_NUMBERS, NAN, [1.0]]},
    ),
    "Separability.removals": (discriminant.separability(X, Y).removals, {}, {"seconds": DURATION}),
    "pool": (discriminant.pool, {"tables": [SUMMARY, SUMMARY]}, {"level": LEVEL}),
}  # fmt: skip


def test_every_part_and_its_parameters_are_in_the_table():
    for package in (criteria, penalties, optimize):
        for name in package.__all__:
            part = getattr(package, name)
            if not inspect.isclass(part) or name in RESULTS or inspect.isabstract(part):
                continue
            parameters = set(inspect.signature(part).parameters)
            if parameters:
                assert set(CALLS[f"{package.__name__.rpartition('.')[2]}.{name}"][2]) == parameters, name


@pytest.mark.parametrize(("call", "name"), [(call, name) for call, (_, _, wrong) in CALLS.items() for name in wrong])
def test_parts_and_methods_refuse_what_means_nothing_by_name(call, name):
    function, right, wrong = CALLS[call]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function(**right)
        for value in wrong[name]:
            with pytest.raises(ParameterError) as refused:
                function(**{**right, name: value})
            assert name.lower().rstrip("s") in str(refused.value).lower(), (value, str(refused.value))
