"""scikit-learn's own class names, fitted by this package: for scripts that one does not want to edit.

    discriminant.patch_sklearn()                                 # before the script's own imports
    from sklearn.linear_model import LogisticRegression          # fits here where the answer is promised to be the same

Each class below is a subclass of scikit-learn's: parameters, checks, predictions, ``clone`` and ``isinstance`` are
scikit-learn's own, and so is the fit wherever the setting is not one whose answer is reproduced.
"""

from __future__ import annotations

import sys
from abc import ABCMeta
from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import sklearn
from scipy.sparse import issparse
from sklearn import discriminant_analysis, get_config, linear_model, svm
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils import get_tags
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.fixes import parse_version

import discriminant
from discriminant.arguments import BOOLEAN, checked
from discriminant.errors import warn, warnings_raised
from discriminant.patch_folds import find_fold, share_folds

FEW = 50  # steps, of scikit-learn's default of 100, below which a limit is meant to end the fit early
WORDS = {True: "discriminant", False: "scikit-learn"}
EARLIER = parse_version(sklearn.__version__).__lt__
OLD_PENALTY = EARLIER(parse_version("1.8"))  # penalty= is not deprecated, and n_jobs= has an effect
# Up to 1.9.0 solver "svd" divides scatters by N − K and N_k − 1, the other solvers and later versions by N and N_k.
SVD_COVARIANCE = "unbiased" if EARLIER(parse_version("1.9.1")) else "maximum-likelihood"


class Twin(ABCMeta):
    """The type of a class that stands in scikit-learn's place: instances of the original count as its own."""

    _original: type

    def __instancecheck__(cls, instance: Any) -> bool:
        return super().__instancecheck__(instance) or ("_original" in vars(cls) and isinstance(instance, cls._original))

    def __subclasscheck__(cls, subclass: type) -> bool:
        return super().__subclasscheck__(subclass) or ("_original" in vars(cls) and issubclass(subclass, cls._original))


class Unlike(Exception):
    """Why scikit-learn's own fit is taken."""


class Patched(metaclass=Twin):
    """``fit``: ours where the answer is the same, else the original's."""

    _original: ClassVar[Any]
    _kept: ClassVar[tuple[str, ...]] = ("classes_", "coef_", "intercept_")
    _verbose: ClassVar[bool] = False
    coef_: Any
    intercept_: Any

    def _unlike(self) -> Iterator[tuple[bool, str]]:
        """(whether, why) for every setting whose answer is not promised."""
        raise AssertionError("each class says its own")

    def _ours(self) -> Any:
        """This package's estimator of the same setting."""
        raise AssertionError("each class says its own")

    @classmethod
    @cache  # clones and searches ask hundreds of times
    def _get_param_names(cls) -> Any:
        return super()._get_param_names()  # type: ignore[misc]

    def _get_doc_link(self) -> str:
        return str(self._original()._get_doc_link())

    def _take(self, fitted: Any, X: Any) -> None:
        """Keep what scikit-learn's fit would have left behind."""
        for name in ("n_features_in_", *self._kept):
            setattr(self, name, getattr(fitted, name))
        vars(self).pop("feature_names_in_", None)
        named = getattr(fitted, "feature_names_in_", None)
        if named is not None:
            self.feature_names_in_ = named

    def _route(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        me: Any = self
        me._validate_params()
        try:
            for unlike, why in self._unlike():
                if unlike:
                    raise Unlike(why)
            if get_config()["array_api_dispatch"]:
                raise Unlike("array_api_dispatch is on")
            sparse = get_tags(self).input_tags.sparse or isinstance(self, svm.LinearSVC)  # 1.6.0 does not say so
            if issparse(X) and not sparse:
                raise Unlike("scikit-learn takes no sparse rows there")
            self._fit_here(X, y, sample_weight)
        except Unlike as why:
            self._say(False, str(why))
        except Exception as error:  # scikit-learn's own words for whatever is wrong with the data
            self._say(False, f"{type(error).__name__} here")
        else:
            self._say(True, "the same answer")
            return self
        if "sample_weight" in me._get_metadata_request().fit.requests:
            me._original.fit(self, X, y, sample_weight=sample_weight)
        else:
            me._original.fit(self, X, y)
        return self

    def _fit_here(self, X: Any, y: Any, sample_weight: Any) -> None:
        with warnings_raised():  # what we would warn of, scikit-learn does in its way
            model = self._ours()
            fitted = model.fit(X, y) if sample_weight is None else model.fit(X, y, sample_weight=sample_weight)
        self._take(fitted, X)

    def _say(self, here: bool, why: str) -> None:
        if Patched._verbose:
            print(f"discriminant: {type(self).__name__}.fit by {WORDS[here]}: {why}", file=sys.stderr)


class Weighted(Patched):
    """With row weights."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows and labels, as scikit-learn's fit of the same name does."""
        return self._route(X, y, sample_weight)


class Unweighted(Patched):
    """Without row weights."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from rows and labels, as scikit-learn's fit of the same name does."""
        return self._route(X, y)


def tighter(tol: float) -> float:
    """A proved gap that lies well inside what scikit-learn's tolerance on the gradient leaves."""
    return float(min(1e-8, 1e-4 * tol))


def ratio_of(model: Any) -> Any:
    """The share of L1 in the penalty of scikit-learn's LogisticRegression, in the words of any of its versions."""
    return {"l1": 1.0, "l2": 0.0, None: 0.0}.get(model.penalty, model.l1_ratio)


def same_penalty(model: Any, l1_ratios: Any) -> Iterator[tuple[bool, str]]:
    """What a logistic model of scikit-learn's may ask that has another answer here."""
    liblinear, sparse = model.solver == "liblinear", any(ratio for ratio in l1_ratios)
    yield model.penalty != "deprecated" and not OLD_PENALTY, "penalty= is deprecated, and scikit-learn says so"
    yield vars(model).get("multi_class", "deprecated") != "deprecated", "multi_class= is deprecated"
    yield liblinear and model.fit_intercept, "liblinear penalises the intercept"
    several = ("saga", "newton-cd", "newton-cd-gram", "liblinear")
    yield sparse and model.solver not in several, f"solver {model.solver!r} takes no l1_ratio"
    yield liblinear and any(0 < ratio < 1 for ratio in l1_ratios if ratio), "liblinear takes no elastic net"
    yield bool(model.verbose), "verbose= prints scikit-learn's own steps"
    yield model.max_iter < FEW, f"max_iter={model.max_iter} is to stop early"
    yield bool(vars(model).get("_skl_callbacks")), "callbacks follow scikit-learn's own steps"
    yield model.dual and not liblinear, "dual= is liblinear's"


class LogisticRegression(Weighted, linear_model.LogisticRegression):
    """scikit-learn's class, fitted here where the answer is the same."""

    _original = linear_model.LogisticRegression

    def _unlike(self) -> Iterator[tuple[bool, str]]:
        yield self.warm_start, "warm_start= goes on from where scikit-learn stopped"
        unused = self.penalty is None and self.C != 1, self.penalty != "elasticnet" and self.l1_ratio is not None
        yield OLD_PENALTY and any(unused), "C or l1_ratio has no effect, of which scikit-learn warns"
        yield from same_penalty(self, (ratio_of(self),))

    def _ours(self) -> Any:
        if self.n_jobs is not None and not OLD_PENALTY:
            warn(f"'n_jobs' has no effect in scikit-learn from 1.8 on; leave out n_jobs={self.n_jobs}.", FutureWarning)
        return discriminant.LogisticRegression(
            C=np.inf if self.penalty is None else self.C,
            l1_ratio=ratio_of(self),
            tol=tighter(self.tol),
            fit_intercept=self.fit_intercept,
            class_weight=self.class_weight,
            solver=self.solver,
        )

    def _fit_here(self, X: Any, y: Any, sample_weight: Any) -> None:
        _, fold = find_fold(X)
        if fold is None or fold.y is not y or sample_weight is not None or self.class_weight is not None:
            super()._fit_here(X, y, sample_weight)
            return
        model = self._ours()
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if fold.sample is None:
                fold.sample = model._sample(X, y, None)
                fold.sample.blocks.remembering()
            fit = model._method().fit(fold.sample)
        if fit.notes:
            raise Unlike(fit.notes[0].text)
        self._take(SimpleNamespace(n_features_in_=X.shape[1], **fit.state), X)

    def _take(self, fitted: Any, X: Any) -> None:
        if not np.isfinite(fitted.coef_).all():
            raise Unlike("separated classes without a penalty: the weights have no end")
        super()._take(fitted, X)
        if len(self.classes_) > 2 and self.solver == "liblinear":
            raise Unlike("liblinear has two classes")
        kind = np.float64 if self.solver == "liblinear" else fitted.coef_.dtype
        self.coef_, self.intercept_ = self.coef_.astype(kind), self.intercept_.astype(kind)
        if not self.fit_intercept and self.solver == "liblinear":
            self.intercept_ = 0.0
        self.n_iter_ = np.asarray(fitted.n_iter_, dtype=np.int32)


class LogisticRegressionCV(Weighted, linear_model.LogisticRegressionCV):
    """scikit-learn's class, fitted here where the answer is the same."""

    _original = linear_model.LogisticRegressionCV
    _kept = (
        "classes_",
        "C_",
        "Cs_",
        "coef_",
        "coefs_paths_",
        "intercept_",
        "l1_ratio_",
        "l1_ratios_",
        "n_iter_",
        "scores_",
    )

    def _unlike(self) -> Iterator[tuple[bool, str]]:
        missing = [name for name in ("l1_ratios", "scoring", "use_legacy_attributes") if self._is("warn", name)]
        yield bool(missing), f"{', '.join(missing)} not given, of which scikit-learn warns"
        unlike = self.penalty not in ("deprecated", "l2") or (self.penalty == "l2" and self.l1_ratios is not None)
        yield OLD_PENALTY and unlike, "penalty= and l1_ratios= give attributes of another form"
        yield from same_penalty(self, () if self.l1_ratios is None else self.l1_ratios)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Learn from rows and labels, as scikit-learn's fit of the same name does."""
        if params:
            self._say(False, "arguments that are routed")
            return self._original.fit(self, X, y, sample_weight, **params)  # type: ignore[no-any-return]
        return self._route(X, y, sample_weight)

    def _is(self, word: str, name: str) -> bool:
        value = self.get_params(deep=False).get(name)
        return isinstance(value, str) and value == word

    def _ours(self) -> Any:
        given = {**self.get_params(deep=False), "penalty": "deprecated", "tol": tighter(self.tol)}
        given.pop("multi_class", None)
        return discriminant.LogisticRegressionCV(**{**given, "n_jobs": None, "verbose": 0})


class LinearDiscriminantAnalysis(Unweighted, discriminant_analysis.LinearDiscriminantAnalysis):
    """scikit-learn's class, fitted here where the answer is the same."""

    _original = discriminant_analysis.LinearDiscriminantAnalysis
    _kept = ("classes_", "coef_", "intercept_", "means_", "priors_")

    def _unlike(self) -> Iterator[tuple[bool, str]]:
        yield self.covariance_estimator is not None, "covariance_estimator= is scikit-learn's own"
        shrunk = self.shrinkage is not None
        yield shrunk and self.solver == "svd", "solver 'svd' takes no shrinkage"
        yield (
            shrunk and self.solver == "eigen",
            "solver 'eigen' with shrinkage projects by a total covariance of its own",
        )
        unlike = self.solver == "svd" and self.store_covariance and SVD_COVARIANCE == "unbiased"
        yield unlike, "covariance_ there has another divisor than the weights"

    def _ours(self) -> Any:
        given = {**self.get_params(deep=False), "store_covariance": True}
        if self.solver == "svd":
            return discriminant.LinearDiscriminantAnalysis(**given, covariance=SVD_COVARIANCE)
        return discriminant.LinearDiscriminantAnalysis(**{**given, "tol": None})

    def _take(self, fitted: Any, X: Any) -> None:
        most = min(len(fitted.classes_) - 1, fitted.n_features_in_)
        if self.n_components is not None and self.n_components > most:
            raise Unlike("n_components is larger than there are")
        super()._take(fitted, X)
        self._n_features_out = self._max_components = most if self.n_components is None else self.n_components
        if self.solver != "svd" or self.store_covariance:
            self.covariance_ = fitted.covariance_
        if self.solver == "svd":
            self.xbar_ = fitted.xbar_
        if self.solver != "lsqr":
            self.scalings_ = fitted.scalings_
            self.explained_variance_ratio_ = fitted.explained_variance_ratio_


class QuadraticDiscriminantAnalysis(Unweighted, discriminant_analysis.QuadraticDiscriminantAnalysis):
    """scikit-learn's class, fitted here where the answer is the same."""

    _original = discriminant_analysis.QuadraticDiscriminantAnalysis
    _kept = ("classes_", "means_", "priors_", "rotations_", "scalings_")

    def _unlike(self) -> Iterator[tuple[bool, str]]:
        asked = self._given()
        yield asked["covariance_estimator"] is not None, "covariance_estimator= is scikit-learn's own"
        yield asked["shrinkage"] is not None and asked["solver"] == "svd", "solver 'svd' takes no shrinkage"

    def _given(self) -> dict[str, Any]:
        return {"solver": "svd", "shrinkage": None, "covariance_estimator": None, **self.get_params(deep=False)}

    def _ours(self) -> Any:
        given = self._given()
        return discriminant.QuadraticDiscriminantAnalysis(
            **given, covariance=SVD_COVARIANCE if given["solver"] == "svd" else "maximum-likelihood"
        )

    def _take(self, fitted: Any, X: Any) -> None:
        super()._take(fitted, X)
        if self.store_covariance:
            self.covariance_ = fitted.covariance_


class LinearSVC(Weighted, svm.LinearSVC):
    """scikit-learn's class, fitted here where the answer is the same."""

    _original = svm.LinearSVC

    def _unlike(self) -> Iterator[tuple[bool, str]]:
        yield self.multi_class != "ovr", "multi_class='crammer_singer' is liblinear's own"
        yield bool(self.verbose), "verbose= prints liblinear's own steps"
        hinge, lasso = self.loss == "hinge", self.penalty == "l1"
        yield hinge and (lasso or self.dual is False), "liblinear does not solve that in this form"
        yield lasso and self.dual is True, "liblinear does not solve that in this form"

    def _ours(self) -> Any:
        return discriminant.LinearSVC(**{**self.get_params(deep=False), "tol": tighter(self.tol)})

    def _take(self, fitted: Any, X: Any) -> None:
        super()._take(fitted, X)
        self.coef_ = self.coef_.astype(np.float64)
        self.intercept_ = self.intercept_.astype(np.float64) if self.fit_intercept else 0.0
        self.n_iter_ = int(np.max(fitted.n_iter_))


class RidgeClassifier(Weighted, linear_model.RidgeClassifier):
    """scikit-learn's class, fitted here where the answer is the same."""

    _original = linear_model.RidgeClassifier
    _kept = ("coef_", "intercept_")

    def _unlike(self) -> Iterator[tuple[bool, str]]:
        yield not np.isscalar(self.alpha), "one alpha for each output"
        yield not self.fit_intercept, "without an intercept"
        yield self.positive, "positive= bounds the weights"

    def _ours(self) -> Any:
        return discriminant.LeastSquaresClassifier(alpha=float(self.alpha))

    def _fit_here(self, X: Any, y: Any, sample_weight: Any) -> None:
        if self.class_weight is not None:
            each = compute_sample_weight(self.class_weight, y)
            sample_weight = each if sample_weight is None else each * np.asarray(sample_weight)
        super()._fit_here(X, y, sample_weight)

    def _take(self, fitted: Any, X: Any) -> None:
        self._label_binarizer = LabelBinarizer(pos_label=1, neg_label=-1).fit(fitted.classes_)
        super()._take(fitted, X)
        if not hasattr(type(self), "classes_"):  # in older versions read off the binarizer
            self.classes_ = fitted.classes_
        if len(fitted.classes_) > 2:  # of targets 1 and −1, not 1 and 0
            self.coef_, self.intercept_ = 2 * self.coef_, 2 * self.intercept_ - 1
        else:
            self.coef_ = self.coef_[0]
        self.n_iter_, self.solver_ = None, "cholesky"


class Perceptron(Patched, linear_model.Perceptron):
    """scikit-learn's class, fitted here where the answer is the same to the bit."""

    _original = linear_model.Perceptron
    _kept = ("classes_", "coef_", "intercept_", "n_iter_")

    def _unlike(self) -> Iterator[tuple[bool, str]]:
        yield self.shuffle, "the order of shuffled rows is scikit-learn's own"
        yield self.penalty is not None, "a penalty is applied in steps of scikit-learn's own"
        yield self.early_stopping, "the rows that are held out are drawn by scikit-learn"
        yield self.warm_start, "warm_start= goes on from scikit-learn's own state"
        yield bool(self.verbose), "verbose= prints scikit-learn's own steps"

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows and labels, as scikit-learn's fit of the same name does."""
        if coef_init is not None or intercept_init is not None:
            self._say(False, "weights to start from")
            return self._original.fit(self, X, y, coef_init, intercept_init, sample_weight)  # type: ignore[no-any-return]
        return self._route(X, y, sample_weight)

    def _ours(self) -> Any:
        return discriminant.Perceptron(**self.get_params(deep=False))

    def _take(self, fitted: Any, X: Any) -> None:
        if len(fitted.classes_) > 2:
            raise Unlike("each of several outputs stops by itself there")
        super()._take(fitted, X)
        self.t_ = 1.0 + self.n_iter_ * len(X)


PLACES = {
    linear_model: (LogisticRegression, LogisticRegressionCV, Perceptron, RidgeClassifier),
    discriminant_analysis: (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis),
    svm: (LinearSVC,),
}


@checked(verbose=BOOLEAN)
def patch_sklearn(*, verbose: bool = False) -> None:
    """Let scripts that import scikit-learn's linear classifiers fit with this package.

    From now on ``sklearn.linear_model.LogisticRegression``, ``LogisticRegressionCV``, ``Perceptron`` and
    ``RidgeClassifier``, ``sklearn.discriminant_analysis.LinearDiscriminantAnalysis`` and
    ``QuadraticDiscriminantAnalysis`` and ``sklearn.svm.LinearSVC`` name subclasses of these classes.  Their ``fit`` is
    done here where the setting has one answer, which is then the same or nearer to the optimum, and by scikit-learn
    where it has not or where there would be a warning or an error.  Names that were imported before stay as they are.

    Parameters
    ----------
    verbose : bool, default=False
        Say on standard error, for each call of ``fit``, where it went and why.

    See Also
    --------
    unpatch_sklearn : Gives the names back.

    Examples
    --------
    >>> import discriminant
    >>> discriminant.patch_sklearn()
    >>> from sklearn.linear_model import LogisticRegression
    >>> iris = discriminant.datasets.load("iris")
    >>> round(LogisticRegression().fit(iris.X, iris.y).score(iris.X, iris.y), 2)
    0.97
    >>> discriminant.unpatch_sklearn()
    """
    Patched._verbose = verbose
    share_folds()
    for module, classes in PLACES.items():
        for kind in classes:
            setattr(module, kind.__name__, kind)


def unpatch_sklearn() -> None:
    """Give scikit-learn's names back to its own classes.

    See Also
    --------
    patch_sklearn : Takes them.

    Examples
    --------
    >>> import discriminant, sklearn.linear_model
    >>> discriminant.patch_sklearn()
    >>> discriminant.unpatch_sklearn()
    >>> sklearn.linear_model.LogisticRegression.__module__
    'sklearn.linear_model._logistic'
    """
    share_folds(False)
    for module, classes in PLACES.items():
        for kind in classes:
            setattr(module, kind.__name__, kind._original)
