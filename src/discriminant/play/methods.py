"""The methods on offer: parameters with bounds, codings for many classes, and the recipe that each choice means.

One table, ``METHODS``, drives the page's controls, the checks of what the page sends, the fit, and the Python text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from discriminant.errors import ParameterError, names
from discriminant.play.recipe import Recipe

MOST_VISITS = 100_000  # samples that a single-sample procedure may visit: it is replayed step by step
OWN = {"one-vs-rest": ("maximum", "unanimous"), "pairwise": ("votes", "sum", "unanimous")}
DECODERS = {
    "maximum": "largest output", "votes": "majority of votes", "sum": "largest sum",
    "unanimous": "unanimous, or reject",
}  # fmt: skip
CODINGS = {
    "one-vs-rest": "one against the rest", "one-vs-rest-k-1": "one against the rest, K − 1",
    "pairwise": "every pair", "machine": "linear machine (Kesler)", "softmax": "softmax",
    "one-of-k": "one of K targets", "fisher": "Fisher’s targets N/N₁",
}  # fmt: skip


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True)
class Parameter:
    """A control: a number on a scale, or a choice; ``when`` names the values of another control that show it."""

    name: str
    label: str
    default: Any
    low: float = 0.0
    high: float = 1.0
    scale: str = "linear"
    whole: bool = False
    choices: tuple[tuple[str, str], ...] = ()
    when: tuple[str, tuple[str, ...]] | None = None
    help: str = ""

    def check(self, value: Any) -> Any:
        """The value, or a sentence."""
        if self.choices:
            known = [key for key, _ in self.choices]
            if value not in known:
                raise ParameterError(f"The parameter {self.label!r} is {value!r}; choose among {names(known, 20)}.")
            return value
        if not is_number(value) or not self.low <= value <= self.high:
            raise ParameterError(
                f"The parameter {self.label!r} is {value!r}; it must be a number from {self.low:g} to {self.high:g}."
            )
        if self.whole and value != int(value):
            raise ParameterError(f"The parameter {self.label!r} is {value!r}; it must be a whole number.")
        return int(value) if self.whole else float(value)


@dataclass(frozen=True)
class Choice:
    """What was chosen for a fit: numbers of rows and classes, the coding and its decoder, the basis, parameters."""

    rows: int
    classes: int
    coding: str = "auto"
    decoder: str = "auto"
    basis: Recipe | None = None
    given: dict[str, Any] = field(default_factory=dict)

    def epochs(self) -> int:
        """The epochs asked for, as far as the step-by-step replay can bear them."""
        K = self.classes
        outputs = {"pairwise": K * (K - 1) // 2, "one-vs-rest": K, "one-vs-rest-k-1": K - 1}.get(
            self.coding, K * (K - 1)
        )
        most = MOST_VISITS // (self.rows * (outputs if K > 2 else 1))
        return max(1, min(int(self.given["epochs"]), most))

    def coded(self) -> dict[str, Any]:
        """The options ``coding`` and ``decoder`` where there are more than two classes."""
        if self.classes == 2 or self.coding == "auto":
            return {}
        return {"coding": self.coding, **({} if self.decoder == "auto" else {"decoder": self.decoder})}

    def scaled(self) -> dict[str, Any]:
        """The option ``scale``, where the books' sums are asked for."""
        return {"scale": "sum"} if self.given.get("scale") == "sum" else {}

    def on_features(self) -> dict[str, Any]:
        """The option ``basis``, for estimators that take one."""
        return {} if self.basis is None else {"basis": self.basis}

    def behind_basis(self, recipe: Recipe) -> Recipe:
        """A pipeline of basis and estimator, for estimators that take no basis themselves."""
        return recipe if self.basis is None else Recipe("make_pipeline", (self.basis, recipe))


@dataclass(frozen=True)
class Method:
    """A row of the table."""

    title: str
    about: str
    make: Callable[[Choice], Recipe]
    parameters: tuple[Parameter, ...] = ()
    codings: tuple[str, ...] = ()
    steps: bool = False  # whether it can be watched
    classes: int = 5


def _eta(low: float = 0.001, high: float = 10.0, default: float = 1.0, **more: Any) -> Parameter:
    return Parameter("eta", "step η", default, low, high, "log", help="Length of each correction.", **more)


def _choice(name: str, label: str, choices: dict[str, str], **more: Any) -> Parameter:
    return Parameter(name, label, next(iter(choices)), choices=tuple(choices.items()), **more)


def _epochs(default: int = 100, most: int = 1000, label: str = "epochs at most", **more: Any) -> Parameter:
    return Parameter("epochs", label, default, 1, most, "log", True, **more)


MODE = _choice("mode", "samples", {"single-sample": "one at a time", "batch": "all at once"})
ORDER = _choice("order", "order", {"cyclic": "cyclic", "shuffled": "shuffled"}, when=("mode", ("single-sample",)))
FADING = _choice("fading", "fading η(k)", {"constant": "constant", "inverse": "η/k"})
_SCALES = {"mean": "as means", "sum": "as the books' sums"}
SCALE = _choice("scale", "J and η", _SCALES, help="A sum over n samples is n times their mean.")
SURE = Parameter("sure", "reject if less sure than", 0.0, 0.0, 0.99, help="0: every place is given to some class.")
STRENGTH = Parameter("C", "C (inverse penalty)", 1.0, 0.001, 1000.0, "log", help="Large: hardly any penalty.")


def _step(c: Choice) -> Any:
    eta = c.given["eta"]
    return Recipe("optimize.Inverse", (eta,)) if c.given.get("fading") == "inverse" else eta


def _correcting(c: Choice, name: str, options: dict[str, Any]) -> Recipe:
    """A rule that corrects the weights, sample by sample or by all samples at once."""
    options |= {"shuffle": c.given["order"] == "shuffled"} if c.given["mode"] == "single-sample" else {"mode": "batch"}
    options |= {"max_iter": c.epochs()}
    return Recipe(name, options=options | c.scaled() | c.coded() | c.on_features() | {"trace": True})


def _perceptron(c: Choice, criterion: str = "perceptron") -> Recipe:
    options: dict[str, Any] = {} if criterion == "perceptron" else {"criterion": criterion}
    options |= {"eta0": _step(c), "margin": c.given["margin"], "tol": None}
    keep, single = c.given.get("keep", "last"), c.given["mode"] == "single-sample"
    options |= {keep: True} if single and keep != "last" and c.coding != "machine" else {}
    return _correcting(c, "Perceptron", options)


def _adaline(c: Choice) -> Recipe:
    return _correcting(c, "Adaline", {"eta0": "auto" if c.given["steps"] == "auto" else _step(c)})


def _careful(c: Choice, name: str, options: dict[str, Any]) -> Recipe:
    """With a reject act where the likeliest class is not likely enough."""
    sure, recipe = c.given["sure"], c.behind_basis(Recipe(name, options=options))
    return recipe if not sure else Recipe("MinimumRiskClassifier", (recipe,), {"reject_cost": round(1 - sure, 6)})


SHRINKAGES = {"none": None, "auto": "auto", "half": 0.5}
_OPTIMIZERS = {"newton": "Newton", "lbfgs": "LBFGS", "conjugate-gradient": "ConjugateGradient"}


def _optimizer(c: Choice) -> Any:
    chosen = c.given["optimizer"]
    if chosen == "gradient-descent":
        steps = {"step": c.given["eta"], "iterations": c.given["epochs"], "trace": True}
        return Recipe("optimize.GradientDescent", options=steps | c.scaled())
    return Recipe(f"optimize.{_OPTIMIZERS[chosen]}", options={"trace": True}) if chosen in _OPTIMIZERS else "auto"


def _logistic(c: Choice) -> Recipe:
    optimizer = _optimizer(c)
    if c.classes == 2 or c.coding in ("auto", "softmax"):
        options: dict[str, Any] = {"C": c.given["C"], "optimizer": optimizer}
        options |= {} if optimizer == "auto" else {"random_state": 0}
        return _careful(c, "LogisticRegression", options)
    ridge = Recipe("penalties.Ridge", (1.0 / (c.given["C"] * c.rows),))
    options = {"criterion": "logistic", "penalty": ridge, "optimizer": optimizer}
    return Recipe("Discriminant", options=options | c.coded() | c.on_features() | {"trace": True})


def _svc(c: Choice) -> Recipe:
    options = {"C": c.given["C"], "loss": c.given["loss"], "max_iter": 10_000}
    if c.classes > 2 and c.coding == "machine":
        options = {"C": c.given["C"], "multi_class": "crammer_singer", "max_iter": 10_000}
    return c.behind_basis(Recipe("LinearSVC", options={**options, "random_state": 0}))


def _machine(c: Choice) -> Recipe:
    optimizer = Recipe("optimize.GradientDescent", options={"step": c.given["eta"], "iterations": c.given["epochs"]})
    if c.given["mode"] == "single-sample" and c.given["criterion"] not in ("hinge", "squared-hinge"):
        optimizer = Recipe("optimize.SingleSample", options={"step": c.given["eta"], "epochs": c.epochs()})
    options = {"over": c.given["over"], "optimizer": optimizer}
    return Recipe("LinearMachine", (c.given["criterion"],), options | c.on_features() | {"trace": True})


_PAIRS = ("one-vs-rest", "pairwise", "machine")
_DESCENTS = {
    "gradient-descent": "gradient descent", "newton": "Newton (IRLS)", "lbfgs": "quasi-Newton",
    "conjugate-gradient": "conjugate gradient", "auto": "automatic",
}  # fmt: skip
_DESCENT = (
    _choice("optimizer", "optimizer", _DESCENTS),
    _eta(default=1.0, when=("optimizer", ("gradient-descent",))),
    _epochs(300, 2000, "steps at most", when=("optimizer", ("gradient-descent",))),
    _choice("scale", "J and η", _SCALES, when=("optimizer", ("gradient-descent",))),
)

METHODS: dict[str, Method] = {
    "perceptron": Method(
        "Perceptron", "a ← a + η y for each sample on the wrong side. Stops when the samples are separated.",
        _perceptron,
        (MODE, ORDER, _eta(), FADING, Parameter("margin", "margin b", 0.0, 0.0, 5.0), _epochs(),
         _choice("keep", "hand back", {"last": "last weights", "average": "average", "pocket": "pocket"},
                 when=("mode", ("single-sample",))), SCALE),
        _PAIRS, True,
    ),
    "relaxation": Method(
        "Relaxation", "Each sample within its margin moves the hyperplane the share η of the way to it; 0 < η < 2.",
        partial(_perceptron, criterion="relaxation"),
        (MODE, ORDER, _eta(0.05, 1.95, 1.0), Parameter("margin", "margin b", 1.0, 0.0, 5.0), _epochs(), SCALE),
        _PAIRS, True,
    ),
    "quadratic": Method(
        "Quadratic criterion", "Σ (b − a·y)² over the samples within their margin: smooth, and slow near the border.",
        partial(_perceptron, criterion="quadratic"),
        (MODE, ORDER, _eta(0.0005, 0.5, 0.02), Parameter("margin", "margin b", 1.0, 0.05, 5.0), _epochs(), SCALE),
        _PAIRS, True,
    ),
    "adaline": Method(
        "Adaline (LMS)", "Every sample corrects by its error t − a·y: Widrow and Hoff’s way to least squares.",
        _adaline,
        (MODE, ORDER, _choice("steps", "steps", {"auto": "automatic", "given": "given"}),
         _eta(0.0005, 1.0, 0.02, when=("steps", ("given",))),
         _choice("fading", "fading η(k)", {"constant": "constant", "inverse": "η/k"}, when=("steps", ("given",))),
         _epochs(30, 300), SCALE),
        ("one-vs-rest", "one-vs-rest-k-1", "pairwise"), True,
    ),
    "least-squares": Method(
        "Least squares", "a = Y†t in one step. Far points pull, and the middle of three classes is masked.",
        lambda c: c.behind_basis(
            Recipe("LeastSquaresClassifier", options=c.coded() | {k: v for k, v in c.given.items() if v})
        ),
        (Parameter("alpha", "ridge α", 0.0, 0.0, 100.0),),
        ("one-of-k", "one-vs-rest", "pairwise", "fisher"),
    ),
    "fisher": Method(
        "Fisher’s discriminant", "w ∝ S_W⁻¹(m₁ − m₂): the projection that separates means against the spread within.",
        lambda c: c.behind_basis(
            Recipe("FisherDiscriminant", options={name: c.given[name] for name in ("threshold", "direction")})
        ),
        (_choice("direction", "direction", {"fisher": "Fisher’s", "mean-difference": "difference of means"}),
         _choice("threshold", "threshold", {"gaussian": "Gaussians cross", "pooled": "equal variances",
                                            "midpoint": "midpoint"})),
    ),
    "lda": Method(
        "LDA", "Gaussian classes with one covariance: linear discriminants in closed form.",
        lambda c: _careful(c, "LinearDiscriminantAnalysis", {"shrinkage": SHRINKAGES[c.given["shrinkage"]]}),
        (_choice("shrinkage", "shrinkage", {"none": "none", "auto": "Ledoit–Wolf", "half": "one half"}), SURE),
    ),
    "qda": Method(
        "QDA", "Gaussian classes, each with its own covariance: quadratic boundaries.",
        lambda c: _careful(c, "QuadraticDiscriminantAnalysis", {"reg_param": c.given["reg_param"]}),
        (Parameter("reg_param", "regularisation", 0.0, 0.0, 1.0), SURE),
    ),
    "logistic": Method(
        "Logistic regression", "Minimises the cross-entropy of σ(a·y), or of a softmax, with a ridge 1/C.",
        _logistic, (*_DESCENT, STRENGTH, SURE), ("softmax", "one-vs-rest", "pairwise"), True,
    ),
    "sigmoid": Method(
        "Sigmoid regression", "½(t − σ(a·y))²: discrimination by regression, bounded and not convex.",
        lambda c: Recipe("SigmoidRegressionClassifier", options={
            "alpha": c.given["alpha"], "optimizer": _optimizer(c), **c.on_features(), "start": None, "trace": True,
        }),
        (*_DESCENT, Parameter("alpha", "ridge λ", 0.01, 0.0, 1.0)), (), True,
    ),
    "svc": Method(
        "Linear support vectors", "The widest street, with slack at a price C.",
        _svc, (_choice("loss", "loss", {"hinge": "hinge", "squared_hinge": "squared hinge"}), STRENGTH),
        ("one-vs-rest", "machine"),
    ),
    "program": Method(
        "Linear program", "t·a·y ≥ 1 for all samples, with the least total slack: HiGHS.",
        lambda c: Recipe("LinearProgrammingClassifier", options={
            "alpha": c.given["alpha"], "seconds": 5.0, **c.coded(), **c.on_features(),
        }),
        (Parameter("alpha", "lasso λ", 0.0, 0.0, 1.0),), ("machine", "one-vs-rest", "pairwise"),
    ),
    "minimum-error": Method(
        "Fewest errors", "The 0–1 count itself, by annealing and integer programming, with a proved bound.",
        lambda c: Recipe("MinimumErrorClassifier", options={"seconds": 1.5, "random_state": 0, **c.on_features()}),
        classes=2,
    ),
    "machine": Method(
        "Linear machine", "K discriminants compete: every rival of a sample’s class is a two-class problem (Kesler).",
        _machine,
        (_choice("criterion", "criterion", {"perceptron": "perceptron", "relaxation": "relaxation", "hinge": "hinge",
                                            "squared-hinge": "squared hinge", "logistic": "logistic"}),
         _choice("over", "rivals", {"all": "all", "worst": "the strongest"}), MODE, _eta(0.001, 2.0, 0.5), _epochs()),
        (), True,
    ),
}  # fmt: skip

BASES: dict[str, str] = {
    "none": "none: straight lines", "quadratic": "quadratic", "cubic": "cubic", "product": "x, y and x·y",
    "rbf": "Gaussian hills", "distances": "distances to centres",
}  # fmt: skip
CENTRES = Parameter("centres", "centres", 12, 1, 40, whole=True)


def basis_recipe(name: str, centres: int) -> Recipe | None:
    """φ by the page's name for it; None for the inputs themselves."""
    made = {
        "quadratic": Recipe("bases.Polynomial", (2,)),
        "cubic": Recipe("bases.Polynomial", (3,)),
        "product": Recipe("bases.Polynomial", (2,), {"interaction_only": True}),
        "rbf": Recipe("bases.Radial", (centres,), {"random_state": 0}),
        "distances": Recipe("bases.Distances", (centres,), {"random_state": 0}),
    }
    return made.get(name)


def description() -> dict[str, Any]:
    """The table as the page reads it."""
    fields = ("title", "about", "codings", "steps", "classes")
    methods = [
        {"name": name, **{part: getattr(m, part) for part in fields}, "parameters": [asdict(p) for p in m.parameters]}
        for name, m in METHODS.items()
    ]
    return {
        "methods": methods, "bases": list(BASES.items()), "centres": asdict(CENTRES), "codings": CODINGS,
        "decoders": DECODERS, "decoders_of": OWN,
    }  # fmt: skip
