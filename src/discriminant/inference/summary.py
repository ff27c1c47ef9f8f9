"""The statistician's table of a logistic fit: estimates, standard errors, tests, intervals, and measures of fit.

    Wald                 z = θ̂ / se,  θ̂ ± z_α se,          se² = diag of the covariance, I⁻¹ or a robust one
    likelihood ratio     2 (ℓ(θ̂) − ℓ(θ̂ with θ_j = 0)) ~ χ²₁
    profile interval     {t : 2 (ℓ(θ̂) − max_{θ_j = t} ℓ) ≤ χ²₁,α}

A penalised fit is not a maximum of the likelihood.  Its intervals are those of the Laplace approximation to the
posterior whose logarithm it maximises (a Gaussian prior on the weights), and are called so; p-values are not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from discriminant.data.scaling import Scaling
from discriminant.errors import DataError, ParameterError, names, printable
from discriminant.inference import documented
from discriminant.inference.likelihood import Likelihood, Optimum, inverse, to_raw, undetermined
from discriminant.inference.robust import Robust
from discriminant.protocols import Array, Need
from discriminant.shown import Shown, aligned, html_table, wrapped

if TYPE_CHECKING:
    from discriminant.inference.limit import LimitingFit

COVARIANCES = ("model", "HC0", "HC1", "cluster", "survey")
TEXT = ("outcome", "term")  # columns of words, on the left
INTERVALS = ("wald", "profile", "bootstrap")
FAR = (
    1e-2  # standard errors from the optimum, from which on there are none, unless tol lets a fit of many rows end there
)
PENALISED = (
    "This fit is penalised, so that it is not a maximum of the likelihood: the intervals are those of the Laplace "
    "approximation to the posterior under a Gaussian prior on the weights, and p-values are not given."
)

UNDETERMINED = (
    "The rows do not determine the weights of {names} one by one, since some of these columns are constant or sums of "
    "others: their standard errors are infinite, and their estimates one choice among many. Leave out columns, or use "
    "a penalty."
)


class Centred(NamedTuple):
    """Weights of x − c relative to the first class: at a column of 10⁸ ± 1 raw intercepts are all rounding."""

    center: Array  # (d,)
    theta: Array  # (K−1, 1+d), intercepts first, zero where there are none
    covariance: Array  # ((K−1)(1+d))², classes outermost


@documented
@dataclass(frozen=True, eq=False, repr=False)
class Summary(Shown):
    """A table with a row for each coefficient, and what is known of the fit as a whole.

    ``print(summary)`` shows it; ``to_frame`` gives a data frame.

    Attributes
    ----------
    terms : list of str
        The column that each coefficient belongs to.
    outcomes : list of str
        The class that each row is about, relative to the first, or to the reference asked for.
    estimate : ndarray of shape (m,)
        The coefficients.
    standard_error : ndarray of shape (m,)
        Their standard errors; after a ridge, posterior standard deviations.
    z : ndarray of shape (m,)
        The test statistics (z, or Student's t of least squares).
    p : ndarray of shape (m,)
        Their two-sided p values.
    low, high : ndarray of shape (m,)
        The ends of the intervals.
    covariance : ndarray of shape (m, m)
        Of the estimates, in this order.
    statistics : dict of str to float
        Measures of the whole fit, such as the log-likelihood.
    level
    kinds : dict of str to str
        Which covariance, tests and intervals.
    notes
    extra : dict of str to ndarray
        Further columns, such as degrees of freedom of their own.
    centred : Centred or None
        The weights of columns about a centre, which effects and intervals of predictions are made of.

    See Also
    --------
    discriminant.LogisticRegression.summary : Computes one.

    >>> X, y = iris.X[50:], iris.y[50:]
    >>> summary = LogisticRegression(C=float("inf")).fit(X, y).summary(X, y)
    >>> summary.terms[0], summary.estimate.shape, summary.covariance.shape
    ('(intercept)', (5,), (5, 5))
    """

    terms: list[str]
    outcomes: list[str]  # of each row: the class that it is about
    estimate: Array
    standard_error: Array
    z: Array
    p: Array
    low: Array
    high: Array
    covariance: Array  # of the estimates, in this order
    statistics: dict[str, float]
    level: float
    kinds: dict[str, str]  # which covariance, tests and intervals
    notes: tuple[str, ...] = field(default=())
    extra: dict[str, Array] = field(default_factory=dict)
    centred: Centred | None = None

    @property
    def odds_ratio(self) -> Array:
        """e^θ, of shape (m,): the factor on the odds for one more unit of the column."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(self.estimate))

    def columns(self) -> dict[str, Any]:
        """The table, column by column."""
        many = len(set(self.outcomes)) > 1
        bounds = (f"{50 * (1 - self.level):g}%", f"{50 * (1 + self.level):g}%")
        table: dict[str, Any] = {"outcome": self.outcomes} if many else {}
        spread = "posterior sd" if self.kinds["errors"] == "posterior" else "std. error"
        table |= {"term": self.terms, "estimate": self.estimate, spread: self.standard_error}
        if self.kinds["errors"] == "sampling":
            table |= {self.kinds.get("statistic", "z"): self.z, "p": self.p}
        table |= {bounds[0]: self.low, bounds[1]: self.high, **self.extra}
        if not self.kinds.get("odds", "yes"):
            return table
        with np.errstate(over="ignore"):
            ends = {f"OR {name}": np.exp(end) for name, end in zip(bounds, (self.low, self.high), strict=True)}
        return table | {"odds ratio": self.odds_ratio, **ends}

    def to_frame(self, backend: str = "pandas") -> Any:
        """The table as a data frame of pandas or polars; pandas' has the lines below the table in its ``attrs``.

        Parameters
        ----------
        backend : {"pandas", "polars"}, default="pandas"
            Which library's.

        Raises
        ------
        ParameterError
            Where the library is another.
        """
        if backend not in ("pandas", "polars"):
            raise ParameterError(f"backend is {backend!r}; choose 'pandas' or 'polars'.")
        import importlib

        frame = importlib.import_module(backend).DataFrame(self.columns())
        if backend == "pandas":
            frame.attrs |= {"statistics": dict(self.statistics), "about": self._about()[1:]}
        return frame

    def _cells(self) -> dict[str, list[str]]:
        """The table as text."""
        return {name: [_cell(name, value) for value in values] for name, values in self.columns().items()}

    def _about(self) -> list[str]:
        """What stands below the table: measures of the fit, then what errors, tests and intervals are of."""
        tail = ", ".join(f"{name} {value:.6g}" for name, value in self.statistics.items())
        said = {name: kind.replace("wald", "Wald") for name, kind in self.kinds.items()}
        tests = f"{said['tests']} tests, " if "tests" in said else ""
        about = f"{said['covariance']} covariance, {tests}{said['intervals']} intervals at {self.level:g}"
        if self.kinds.get("tests") == "likelihood-ratio":
            about += "; z is the signed root of the likelihood-ratio statistic"
        if "reference" in self.kinds and len(set(self.outcomes)) > 1:
            about += f"; relative to {self.kinds['reference']}"
        if len(set(self.outcomes)) == 1:
            about += f"; positive estimates speak for {self.outcomes[0]!r}"
        return [tail, about, *self.notes]

    def to_markdown(self) -> str:
        """The table in Markdown."""
        rows = [[text.replace("|", "\\|") for text in row] for row in self._lines()]
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        lines.insert(1, "|" + "|".join("---" if name in TEXT else "---:" for name in rows[0]) + "|")
        return "\n".join([*lines, "", *self._about()])

    def to_latex(self) -> str:
        """The table in LaTeX, with the rules of the package booktabs; below it, what is known of the fit."""
        rows = [[_latex(text) for text in row] for row in self._lines()]
        head, *body = [" & ".join(row) + r" \\" for row in rows]
        columns = "".join("l" if name in TEXT else "r" for name in self.columns())
        top, middle, bottom = (rf"\{name}rule" for name in ("top", "mid", "bottom"))
        wide = rf"\multicolumn{{{len(columns)}}}{{p{{0.95\linewidth}}}}"
        below = [rf"{wide}{{\footnotesize {_latex(line)}}} \\" for line in self._about()]
        lines = [rf"\begin{{tabular}}{{{columns}}}", top, head, middle, *body, bottom, *below, r"\end{tabular}"]
        return "\n".join(lines)

    def to_html(self) -> str:
        """The table in HTML, whole; notebooks show a long one by its ends."""
        return html_table(self._cells(), "", self._about(), TEXT)

    def _lines(self) -> list[list[str]]:
        """Row by row, headings first."""
        cells = self._cells()
        return [list(cells), *map(list, zip(*cells.values(), strict=True))]

    def __str__(self) -> str:
        return "\n".join([*aligned(self._cells(), TEXT, rule=True), "", *wrapped(self._about())])

    def _shown(self) -> tuple[str, dict[str, list[str]], tuple[str, ...], list[str]]:
        return "", self._cells(), TEXT, self._about()


def _latex(text: str) -> str:
    """Text with LaTeX's own characters escaped."""
    for mark in "\\&%$#_{}":
        text = text.replace(mark, r"\textbackslash " if mark == "\\" else f"\\{mark}")
    for sign, written in {"χ²": r"$\chi^2$", "R²": "$R^2$", "²": "$^2$", "±": r"$\pm$", "–": "--"}.items():
        text = text.replace(sign, written)
    return text


def _cell(name: str, value: Any) -> str:
    if isinstance(value, str):
        return printable(value)
    if name == "p":
        return (
            "–" if value != value else "<1e-16" if value < 1e-16 else f"{value:.3g}" if value < 1e-3 else f"{value:.4f}"
        )
    if value != value:
        return "–"
    return f"{value:.5g}"


def wald(
    estimate: Array, covariance: Array, level: float, df: Any = np.inf, unknown: Array | None = None
) -> tuple[Array, Array, Array, Array, Array]:
    """(standard errors, θ/se, p, low, high): Student's t with ``df`` degrees of freedom, normal where infinite.

    Estimates that are ``unknown`` are not determined by the rows; those that are infinite have no interval.
    """
    from scipy.special import ndtr, ndtri, stdtr, stdtrit

    error = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = estimate / error
    if unknown is not None:
        error[unknown], z[unknown] = np.inf, np.nan
    normal, known = np.isinf(df), np.where(np.isinf(df), 1.0, df)
    p = 2 * np.where(normal, ndtr(-np.abs(z)), stdtr(known, -np.abs(z)))
    quantile = np.where(normal, ndtri(0.5 + level / 2), stdtrit(known, 0.5 + level / 2))
    middle = np.where(np.isinf(estimate), np.nan, estimate)
    return error, z, p, middle - quantile * error, middle + quantile * error


def tabled(
    features: Sequence[Any],
    outcomes: Sequence[Any] | Array,
    estimate: Array,
    covariance: Array,
    statistics: dict[str, float],
    level: float,
    kinds: dict[str, str],
    notes: Sequence[str] = (),
    df: float = np.inf,
    unknown: Array | None = None,
) -> Summary:
    """For each outcome a row of the intercept and one of each feature; what is of a posterior has no p-values."""
    error, z, p, low, high = wald(estimate, covariance, level, df, unknown)
    if kinds["errors"] == "posterior":
        p = np.full_like(p, np.nan)
    terms = ["(intercept)", *map(str, features)]
    return Summary(
        terms * len(outcomes), [str(label) for label in outcomes for _ in terms], estimate, error, z, p, low, high,
        covariance, statistics, level, kinds, tuple(notes),
    )  # fmt: skip


def against(theta: Array, reference: int) -> Array:
    """Weights of each class but the reference, relative to it, of those of each but the first, relative to that."""
    full = np.vstack([np.zeros(theta.shape[1]), theta])
    return np.delete(full - full[reference], reference, axis=0)


def relative(table: Summary, classes: Sequence[Any], reference: int) -> Summary:
    """A table of weights relative to the first class with another as the reference: Wald tests and intervals."""
    K = len(classes)
    width = len(table.estimate) // (K - 1)
    estimate = against(table.estimate.reshape(K - 1, width), reference).ravel()
    R = against(np.eye(K - 1), reference)
    blocks = table.covariance.reshape(K - 1, width, K - 1, width)
    covariance = np.einsum("ab,bicj,dc->aidj", R, blocks, R).reshape(table.covariance.shape)
    df = table.statistics["df"] if "clusters" in table.statistics else np.inf  # of a survey
    unknown = np.tile(np.isinf(table.standard_error).reshape(K - 1, width).any(axis=0), K - 1)
    kinds = {**table.kinds, "reference": str(classes[reference])}
    others = np.delete(np.asarray(classes, dtype=object), reference).tolist()
    features = table.terms[1:width]
    return tabled(
        features, others, estimate, covariance, table.statistics, table.level, kinds, table.notes, df, unknown
    )


def slopes_only(table: Summary, width: int) -> Summary:
    """The table of a fit without intercepts: their rows, one in ``width``, left out."""
    kept = np.arange(len(table.terms)) % width > 0
    names = ("estimate", "standard_error", "z", "p", "low", "high")
    return replace(
        table, terms=list(compress(table.terms, kept)), outcomes=list(compress(table.outcomes, kept)),
        covariance=table.covariance[np.ix_(kept, kept)], **{name: getattr(table, name)[kept] for name in names},
    )  # fmt: skip


def place_of(reference: Any, classes: Sequence[Any]) -> int:
    """The position of the reference class among the classes; the first where it is None."""
    known = [str(label) for label in classes]
    if reference is not None and str(reference) not in known:
        raise ParameterError(f"reference is {reference!r}; choose among the classes {names(known, most=20)}.")
    return 0 if reference is None else known.index(str(reference))


@dataclass(frozen=True)
class Request:
    """What is wanted of a summary."""

    covariance: str = "model"
    intervals: str = "wald"
    tests: str = "wald"  # or "likelihood-ratio"
    level: float = 0.95
    groups: Any = None
    strata: Any = None

    @property
    def needs_rows(self) -> bool:
        """Whether sums over the rows at the optimum are not enough."""
        return (self.covariance, self.intervals, self.tests) != ("model", "wald", "wald")

    @property
    def holds_weights(self) -> bool:
        """Whether weights are held one by one, each against a maximum of its own."""
        return self.intervals == "profile" or self.tests == "likelihood-ratio"

    def check(self) -> None:
        for name, options in (
            ("covariance", COVARIANCES),
            ("intervals", INTERVALS),
            ("tests", ("wald", "likelihood-ratio")),
        ):
            if getattr(self, name) not in options:
                raise ParameterError(f"{name} is {getattr(self, name)!r}; choose among {names(options)}.")
        survey = self.covariance == "survey"
        if not survey and (self.covariance == "cluster") != (self.groups is not None):
            raise ParameterError("covariance='cluster' and groups (a label for each row) go together.")
        if self.strata is not None and not survey:
            raise ParameterError("strata (a label for each row) go with covariance='survey'.")
        if survey and (self.intervals, self.tests) != ("wald", "wald"):
            raise ParameterError(
                "Weights of a survey have no likelihood: covariance='survey' takes 'wald' tests and intervals."
            )
        if self.intervals == "bootstrap" and self.covariance != "model":
            raise ParameterError(
                "intervals='bootstrap' draws rows one by one and has a covariance of its own: leave covariance out, or "
                "take intervals='wald'."
            )


def summarise(
    optimum: Optimum,
    classes: Sequence[Any],
    feature_names: Sequence[str],
    request: Request,
    ridge: float = 0.0,
    model: Likelihood | None = None,
    far: float = FAR,
    robust: Robust | None = None,
) -> Summary:
    """The table of a fit; ``ridge``: ½ ridge ‖w‖² on the summed losses; ``model``: its rows, where they are needed.

    ``far``: standard errors from the optimum at which it is refused; ``robust``: the covariance, unless the model's.
    """
    penalty = ridge_curvature(optimum.scaling, optimum.n_classes, ridge)
    notes = list(_check_optimum(optimum, penalty, far, kept=model is None))
    bread = inverse(optimum.information + penalty)
    covariance, design = bread, dict[str, float]()
    if robust is not None:
        covariance, design = robust.covariance(optimum, bread)
    if not optimum.intercept:
        covariance[:: len(optimum.theta)] = covariance[:, :: len(optimum.theta)] = 0.0
    centred = _centred(optimum, covariance)
    M = np.kron(np.eye(optimum.n_classes - 1), to_raw(optimum.scaling))
    raw = optimum.raw
    raw_covariance = M @ covariance @ M.T
    unknown = None
    if ridge:
        notes.append(PENALISED)
    elif undetermined(optimum).any():
        unknown = undetermined(optimum)
        columns = np.array(["(intercept)", *feature_names], dtype=object)
        which = columns[unknown.reshape(-1, len(columns)).any(axis=0)].tolist()
        notes.append(UNDETERMINED.format(names=names(which)))
    kinds = {
        "reference": str(classes[0]),
        "errors": "posterior" if ridge else "sampling",
        "covariance": request.covariance if not ridge else "Laplace posterior",
        "intervals": request.intervals if not ridge else "posterior",
    }
    if not ridge:
        kinds["tests"] = request.tests
    if design:
        kinds["statistic"] = "t"
    table = tabled(
        feature_names, classes[1:], raw, raw_covariance, design or _statistics(optimum, tested=not ridge),
        request.level, kinds, notes, design.get("df", np.inf), unknown,
    )  # fmt: skip
    found: dict[str, Any] = {"centred": centred}
    if model is not None and request.holds_weights and not ridge and unknown is None:
        from discriminant.inference.profile import likelihood_ratio_tests, profile_intervals

        best = -model.evaluate(optimum.theta, Need.VALUE).value
        if request.tests == "likelihood-ratio":
            found["z"], found["p"] = likelihood_ratio_tests(model, optimum.theta, best)
        if request.intervals == "profile":
            found["low"], found["high"] = profile_intervals(
                model, optimum.theta, best, request.level, table.standard_error
            )
    return replace(table, **found)


def _centred(optimum: Optimum, covariance: Array) -> Centred:
    units = replace(optimum.scaling, center=None)
    M = np.kron(np.eye(optimum.n_classes - 1), to_raw(units))
    center = np.zeros(len(units.unit)) if optimum.scaling.center is None else optimum.scaling.center
    return Centred(center, (to_raw(units) @ optimum.theta).T, M @ covariance @ M.T)


def summarise_limit(limit: LimitingFit, optimum: Optimum, feature_names: Sequence[str], request: Request) -> Summary:
    """The table of a fit whose likelihood has no finite maximum: what is infinite is said to be, the rest is given."""
    d, m = len(limit.center), len(limit.classes) - 1
    estimate = limit.coefficients if m == 1 else limit.coefficients[:, 1:].T.ravel()
    covariance = np.full((m * (d + 1),) * 2, np.nan) if not limit.covariance.size else limit.covariance
    value, total, null = limit.log_likelihood, optimum.total, optimum.null
    statistics = {"n": total, "log-likelihood": value, "deviance": 0.0 - 2 * value, "null deviance": 0.0 - 2 * null}
    statistics |= {"df": total - optimum.n_parameters, "McFadden R²": 1 - value / null}
    note = (
        "The classes are separated: estimates of ±inf have neither standard errors nor tests, and the log-likelihood "
        "is its least upper bound. Finite estimates and their errors are those of the rows that separation leaves "
        "undecided. penalty='jeffreys' gives finite estimates and profile intervals for all."
    )
    kinds = {"errors": "sampling", "covariance": "model", "tests": "wald", "intervals": "wald"}
    kinds["reference"] = str(limit.classes[0])
    unknown = ~np.isfinite(estimate)
    return tabled(
        feature_names,
        limit.classes[1:],
        estimate,
        covariance,
        statistics,
        request.level,
        kinds,
        (note,),
        unknown=unknown,
    )


def ridge_curvature(scaling: Scaling, n_classes: int, ridge: float) -> Array:
    """½ ridge ‖w‖² in the scaled coordinates; over softmax weights of K classes it is that of the contrasts."""
    D, m = len(scaling.unit) + 1, n_classes - 1
    if not ridge:
        return np.zeros((m * D, m * D))
    own = np.concatenate([[0.0], ridge / scaling.unit**2])
    # The K penalised vectors sum to zero at the optimum; over the contrasts v_k = w_k − w_0 their squares make
    # vᵗ (I − 11ᵗ/K) v.  Two classes with one vector: I.
    mix = np.eye(m) - 1.0 / n_classes if m > 1 else np.eye(1)
    return np.asarray(np.kron(mix, np.diag(own)))


def _check_optimum(optimum: Optimum, penalty: Array, far: float, kept: bool) -> list[str]:
    """Refuse rows to which the model was not fitted: their score is not zero.  ``kept``: they are those of the fit."""
    g = optimum.score.T.ravel() - penalty @ optimum.theta.T.ravel()
    size = np.sqrt(np.maximum(np.diagonal(optimum.information), 1e-300))
    worst = float(np.abs(g / size).max())
    if worst > far and kept:
        raise DataError(
            f"The fit ended {worst:.1g} standard errors from the optimum, where there are no standard errors yet: fit "
            "with a smaller tol, or with optimizer='auto'."
        )
    if worst > far:
        raise DataError(
            f"The model is not the optimum for these rows (the score is {worst:.1g} standard errors from zero): give "
            "summary the X, y, weights and offset of the fit."
        )
    if worst > 1e-5:
        return [f"The fit is {worst:.1e} standard errors from the optimum; fit with a smaller tol for more digits."]
    return []


def information_criteria(value: float, parameters: int, n: float) -> dict[str, float]:
    """Akaike's and the Bayesian, of a log-likelihood of n rows."""
    return {"AIC": -2 * value + 2 * parameters, "BIC": -2 * value + parameters * float(np.log(n))}


def _statistics(optimum: Optimum, tested: bool) -> dict[str, float]:
    """Measures of the whole fit; ``tested``: with the likelihood-ratio test against intercepts alone."""
    from scipy.special import chdtrc

    n, k, value = optimum.total, optimum.n_parameters, optimum.value
    df = k - (optimum.n_classes - 1) * optimum.intercept
    ratio = max(2 * (value - optimum.null), 0.0)
    whole = {f"LR χ²({df})": ratio, "LR p": float(chdtrc(df, ratio))} if tested and df else {}
    return {
        "n": n,
        "log-likelihood": value,
        "deviance": 0.0 - 2 * value,  # of separated classes 0, not −0
        "null deviance": 0.0 - 2 * optimum.null,
        "df": n - k,
        **whole,
        **information_criteria(value, k, n),
        "McFadden R²": 1 - value / optimum.null,
    }
