"""Docstrings in numpydoc's form, of which what is known elsewhere is not written out.

``documented`` completes the docstring of a function, or those of a class and its methods:

- parameters that a table of entries knows are described from it, with the defaults of the signature, in its order;
- what is returned is too, where the table has an entry ``→ name`` for the name of the function or its annotation, and
  what is raised (``name raises``);
- a line that only names entries (``classes_, coef_``) stands for what the table says of each;
- an example needs no heading, no import of what ``discriminant`` exports or of NumPy, and no loading of ``iris``;
- a method without a docstring has the one of the class above.

``help`` and the reference show the whole text.  What means something else in one place is written out there.  A package
whose entries are its own makes its own ``Entries``.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Iterator
from typing import Any, TypeVar

Thing = TypeVar("Thing")

NAMES = re.compile(r"^\*{0,2}\w+(?:, \*{0,2}\w+)*$(?!\n )", re.MULTILINE)  # a line that only names entries
HEADING = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}$\n?", re.MULTILINE)
EXAMPLE = re.compile(r"^>>> ", re.MULTILINE)
EMPTY = inspect.Parameter.empty
ENTRY = re.compile(r"\n(?=\S)")  # where the next one begins


class Entries:
    """A table of entries in numpydoc's form: a line ``name : type``, and indented lines below it."""

    def __init__(self, text: str) -> None:
        self.text = text

    @functools.cached_property
    def table(self) -> dict[str, str]:
        """Name → its entry."""
        return {entry.partition("\n")[0].partition(" : ")[0]: entry for entry in ENTRY.split(self.text.strip())}

    def documented(self, thing: Thing, attributes: str = "") -> Thing:
        """Complete the docstring of a function, or those of a class and of the methods that it defines itself.

        ``attributes``: names of entries, those that all classes of a kind have.
        """
        if inspect.isclass(thing):
            for name, member in vars(thing).items():
                wrapped = isinstance(member, classmethod | staticmethod)
                function = member.__func__ if wrapped else getattr(member, "fn", member)  # available_if
                if inspect.isfunction(function) and not name.startswith("_"):
                    above = (getattr(base, name).__doc__ for base in thing.__mro__[1:] if name in vars(base))
                    member.__doc__ = function.__doc__ = (
                        self._completed(function) if function.__doc__ else next(above, None)
                    )
        if thing.__doc__:
            thing.__doc__ = self._completed(thing, attributes)
        return thing

    def _completed(self, thing: Any, attributes: str = "") -> str:
        parts = _sections(inspect.cleandoc(thing.__doc__))
        if attributes:
            parts["Attributes"] = f"{parts.get('Attributes', '')}\n{attributes}".lstrip()
        made = inspect.unwrap(thing.__init__ if inspect.isclass(thing) else thing)
        parts["Parameters"] = self._parameters(_defaults(made), parts)
        if "Returns" not in parts and inspect.isfunction(thing):
            keys = f"→ {thing.__name__.removeprefix('loo_')}", f"→ {thing.__annotations__.get('return')}"
            parts["Returns"] = next((self.table[key] for key in keys if key in self.table), "").partition(" : ")[2]
            parts.setdefault("Raises", self.table.get(f"{thing.__name__} raises", "").partition(" : ")[2])
        if "Examples" in parts:
            parts["Examples"] = _with_imports(parts["Examples"], thing)
        for title in parts.keys() & {"Attributes", "Returns", "Raises"}:
            parts[title] = NAMES.sub(lambda line: self._entries(line[0]), parts[title])
        ordered = ("", "Parameters", "Attributes", "Returns", "Raises")
        titles = [*ordered, *(title for title in parts if title not in (*ordered, "Examples")), "Examples"]
        shown = [(title, parts[title]) for title in titles if parts.get(title)]
        return "\n\n".join(f"{title}\n{'-' * len(title)}\n{text}" if title else text for title, text in shown)

    def _parameters(self, defaults: dict[str, Any], parts: dict[str, str]) -> str:
        """The section of parameters in the order of the signature, with those that only the table describes."""
        entries: dict[str, str] = {}
        for entry in ENTRY.split(parts.get("Parameters", "")):
            names = entry.partition("\n")[0].partition(" : ")[0]
            entries |= dict.fromkeys(names.split(", "), "") if self._known(entry) else {names: entry}
        said = {*_named(parts.get("Attributes", "")), *_named("\n".join(entries))}
        shared = [name for name in defaults if name in self.table and (name not in said or entries.get(name) == "")]
        for name in shared:
            head, _, body = self.table[name].partition("\n")
            default = defaults[name]
            if default is not EMPTY:
                shown = default.__name__ if inspect.ismodule(default) else default
                head += f', default="{shown}"' if isinstance(default, str) else f", default={shown}"
            entries[name] = f"{head}\n{body}"
        places = {name: i for i, name in enumerate(defaults)}
        return "\n".join(sorted(filter(None, entries.values()), key=lambda one: places.get(next(_named(one)), 99)))

    def _entries(self, names: str) -> str:
        return "\n".join(self.table[name] for name in names.split(", ")) if self._known(names) else names

    def _known(self, names: str) -> bool:
        return all(name in self.table for name in names.split(", "))


def _sections(text: str) -> dict[str, str]:
    """Title → text; "" is what stands before the first, and an example may do without its heading."""
    intro, *rest = HEADING.split(text)
    parts = {"": intro.strip(), **{title: body.strip("\n") for title, body in zip(rest[::2], rest[1::2], strict=True)}}
    last, found = next(reversed(parts)), EXAMPLE.search(next(reversed(parts.values())))
    if found and last != "Examples":
        parts[last], parts["Examples"] = parts[last][: found.start()].rstrip(), parts[last][found.start() :]
    return parts


def _named(section: str) -> Iterator[str]:
    """The names that a section describes."""
    for entry in ENTRY.split(section):
        yield from entry.partition("\n")[0].partition(" : ")[0].split(", ")


def _defaults(function: Any) -> dict[str, Any]:
    """Name → default of the parameters; what ``inspect.signature`` would say in ten times the time."""
    if not inspect.isfunction(function):  # of a class without an __init__ of its own
        return {}
    code = function.__code__
    plain, more = code.co_varnames[: code.co_argcount], code.co_varnames[code.co_argcount :]
    names = dict.fromkeys([*plain, *more[: code.co_kwonlyargcount]], EMPTY)
    stars = [star for star, flag in (("*", inspect.CO_VARARGS), ("**", inspect.CO_VARKEYWORDS)) if code.co_flags & flag]
    rest = [f"{star}{name}" for star, name in zip(stars, more[code.co_kwonlyargcount :], strict=False)]
    values = function.__defaults__ or ()
    names |= dict(zip(plain[len(plain) - len(values) :], values, strict=True)) | (function.__kwdefaults__ or {})
    return {name: value for name, value in names.items() if name not in ("self", "cls")} | dict.fromkeys(rest, EMPTY)


def _with_imports(example: str, thing: Any) -> str:
    """An example with the lines that import and load what it uses."""
    lines = [] if "import numpy" in example or "np." not in example else [">>> import numpy as np"]
    data = "iris." in example and "iris = " not in example
    if "from discriminant import " not in example:
        package, here = sys.modules["discriminant"], {thing.__name__: thing}
        homes = package._HOMES | dict.fromkeys(package._PACKAGES, "")
        names = ["datasets"] if data else []
        for name in homes.keys() & re.findall(r"\w+", example):
            # Not what has the same name here: Perceptron is a criterion among the criteria.
            home = f"discriminant.{homes[name]}"
            found = here.get(name, vars(sys.modules[thing.__module__]).get(name))
            other = (inspect.isclass(found) or inspect.isfunction(found)) and not found.__module__.startswith(home)
            names += [name] if not other and re.search(rf"(?<![\w.\"']){name}[.(\[]", example) else []
        lines += [f">>> from discriminant import {', '.join(sorted({*names}))}"] if names else []
    return "\n".join([*lines, *(['>>> iris = datasets.load("iris")'] if data else []), example])


ESTIMATORS = Entries("""
X : array-like, sparse matrix, data frame or source of shape (n, d)
    The rows; a source is a ``scan``, a Dask collection or an array on a device.  Categories and texts in a frame's
    columns become columns of zeros and ones, one for each level but the first.
y : array-like of shape (n,)
    The labels; None where the source holds them.
sample_weight : array-like of shape (n,) or None
    How often each row counts; None: once.
ax : matplotlib Axes or None
    Where to draw; None: new axes.
average : bool
    Return the average of the weights over all samples.
basis : None, str, callable or transformer
    φ(x) in place of x: "quadratic", "rbf:50", a basis of ``discriminant.bases``, a transformer of scikit-learn.
bounds : tuple (lower, upper) or None
    Bounds of the weights, numbers or arrays of shape (d,) with lower ≤ 0 ≤ upper, such as (0, inf).
callback : callable or None
    Called with each ``Step``; stops the run by returning True.
class_weight : dict, "balanced" or None
    Factors on the weights of the rows of each class; "balanced": inverse to the class frequencies.
classes : array-like of shape (K,) or None
    All labels; needed on the first call only.
coef_init : array-like of shape (q, d̂) or None
    The weights to begin with.
covariance_estimator : object with ``fit`` and ``covariance_``, or None
    A covariance estimator of scikit-learn's kind, fitted to each class.
decoder : {"maximum", "sum", "votes", "unanimous"} or None
    How outputs name a class; None: the coding's own way.
draws : int
    Refits of the bootstrap.
dual : bool
    Accepted and without effect: the answer does not depend on it.
early_stopping : bool
    End when held-out rows have not got better for ``n_iter_no_change`` epochs.
fit_intercept : bool
    Whether there is an intercept, which is never penalised; False: hyperplanes through the origin.
form : {"full", "diagonal", "spherical"}
    What is assumed of the covariance; diagonal: columns independent within the classes.
grouped : bool
    With an L1 penalty and more than two classes: a feature enters for all classes or for none.
groups : tuple of tuples of int or None
    With an L1 penalty: features that enter together, √|g| ‖w_g‖ in place of ‖w‖₁.
intercept_init : array-like of shape (q,) or None
    The intercepts to begin with.
intercept_scaling : float
    Accepted and without effect: the intercept is never penalised.
level : float
    Of the intervals.
max_iter : int
    Accepted and without effect: there is no limit.
margin : array-like of shape (n,) or None
    b_n > 0, a margin for each row; None: those of the classes.
mode : {"single-sample", "batch"}
    In batch mode η(k) is on the scale of J: of the mean, or of the textbooks' sum with ``scale="sum"``.
n_iter_no_change : int
    Epochs without improvement that end the run.
n_jobs : int or None
    Accepted and without effect.
offset : array-like of shape (n,) or (n, K), or None
    Known parts of the scores, where X is given and ``fit`` had them.
optimizer : str or optimizer
    "auto", or an optimizer of ``discriminant.optimize`` by name or as an instance.
penalty_factors : array-like of shape (d,) or None
    Factors on the penalty of each feature; 0: not penalised.
priors : array-like of shape (K,), mapping or None
    Class priors; None: in a fit the class frequencies, in a prediction those of the fit.
random_state : int, Generator, RandomState or None
    Seed of what is drawn at random.
reference : array-like of shape (d̂,) or None
    r, such as the mean row; None: the centre of the fit, or the origin.
reject_label : label or None
    What ``predict`` returns with the decoder "unanimous" where not exactly one class is claimed; None: −1 or
    "reject", as the labels are numbers or not.
scale : {"mean", "sum"}
    In which J, ‖∇J‖ and the steps η of all rows at once are counted: a mean over the rows, or the textbooks' sum.
shuffle : bool
    A new order in each epoch; False: cyclic, as in the textbooks.
start : None, "random" or array-like of shape (1 + d̂, q)
    Where descent begins: zeros; uniform in (−0.01, 0.01), as in Alpaydin's figures 10.6 and 10.8; or these weights.
summary : Summary or None
    What ``summary`` of this model returned, whose covariance is used; None: the default table.
tol : float or None
    Directions in which the standardised data's singular value is below it are dropped; None: below rounding.
trace : bool
    Keep the weights and errors of every step in ``history_``.
validation_fraction : float
    The share of rows that are held out.
verbose : int
    Accepted and without effect.
warm_start : bool
    Start from the previous solution.
certificate_ : Certificate
    What is proved of the fit: objective, lower bound, gap, and a status sentence; of a closed form what rounding left.
classes_ : ndarray of shape (K,)
    The labels, sorted.
coding_ : ClassCoding
    The coding as it was used.
coef_ : ndarray of shape (q, d̂)
    The weights: a row for each output (one for two classes, else usually K), a column for each feature of φ.
corrections_ : ndarray of shape (q,)
    How often each output was corrected.
criterion_ : Pointwise
    The criterion as it was used.
discriminant_ : LinearDiscriminant
    The basis, the weights and the decision rule as one value.
explained_variance_ratio_ : ndarray of shape (m,)
    The share of each axis in all between-class variance.
feature_names_in_ : ndarray of str of shape (d,)
    The names of the columns, where X has names that are all strings.
history_ : History
    One record for each iteration: objective, gradient norm, step; none where the fit is a closed form.
intercept_ : ndarray of shape (q,)
    The intercept of each output.
means_ : ndarray of shape (K, d)
    The class means.
moments_ : ClassMoments
    Counts, means and scatters of the classes: what ``partial_fit`` and ``merge`` add to.
n_features_in_ : int
    d, the columns of X.
n_iter_ : int
    Iterations of the optimizer: epochs where it goes sample by sample; 1 where the fit is a closed form.
priors_ : ndarray of shape (K,)
    The class priors.
t_ : int
    One more than the samples met, as in scikit-learn.
xbar_ : ndarray of shape (d,)
    The overall mean, weighted by the priors.
fit raises : DataError, ParameterError
→ Self : self
    The fitted estimator.
→ predict : ndarray of shape (n,)
    The label of each row.
→ predict_log_proba : ndarray of shape (n, K)
    Logarithms of probabilities, in the order of ``classes_``.
→ predict_proba : ndarray of shape (n, K)
    Probabilities that sum to one in each row, in the order of ``classes_``.
→ explain : Contributions
    An array of contributions with names.
→ get_metadata_routing : MetadataRouter
    scikit-learn's description of the routes.
→ plot : matplotlib Axes
    The axes.
→ score : float
    Between 0 and 1.
→ summary : Summary
    A table; X, y and sample_weight may be left out while the arrays handed to ``fit`` are still there.
→ transform : ndarray of shape (n, m)
    The projections.
DataError
    Where the rows cannot be learned from; the sentence names the column, class or row.
ParameterError
    Where a parameter makes no sense; the sentence names it.
""")
documented = ESTIMATORS.documented
