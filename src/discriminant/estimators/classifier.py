"""What every estimator has beside its method: ``scorer``, and prediction for rows that are no array in memory.

A file, a Dask collection or a tensor on a device (``data.sources``) is handed to the same methods.  Where such a source
comes in, ``predict`` and its like are applied to its blocks, in the source's own way: files stream, Dask stays lazy.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn import get_config

import discriminant
from discriminant.arrays import in_memory, is_foreign
from discriminant.data import as_rows, encode_labels
from discriminant.data.check import check_weights
from discriminant.data.rows import Rows
from discriminant.data.sources import RowFunction, Source, find_source
from discriminant.docstrings import documented
from discriminant.errors import DataError, names
from discriminant.estimators.inputs import Available, Inputs, bring_home, read_labels
from discriminant.protocols import Array

if TYPE_CHECKING:  # loaded with the first explanation
    from discriminant.geometry.contributions import Contributions

APPLIED = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "outputs")


def documentation() -> str:
    """Where the documentation is: ``DISCRIMINANT_DOCS`` in the environment, else what the package's metadata say."""
    from importlib import metadata

    try:
        known = metadata.metadata("discriminant").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        known = []
    return os.environ.get("DISCRIMINANT_DOCS") or dict(line.split(", ", 1) for line in known).get("Documentation", "")


@documented
class Classifier(Inputs):
    """Adds ``scorer()`` and sources.  The compiler lies above the estimators, so it is asked for by its name."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in (*APPLIED, "partial_fit"):
            own = vars(cls).get(name)
            if own is None or isinstance(own, property):
                continue
            wrap = _learned if name == "partial_fit" else _applied
            if isinstance(own, Available):
                own.fn = wrap(own.fn)
            else:
                setattr(cls, name, wrap(own))

    def _get_doc_link(self) -> str:
        """The page of this class, to which scikit-learn's HTML of estimators links; empty where no address is known."""
        where = documentation() if type(self).__module__.startswith("discriminant.") else ""
        return where and f"{where.rstrip('/')}/reference/{type(self).__name__}.html"

    _wide: ClassVar[tuple[str, ...]] = ()  # what is answered in float64 for float32 rows, too

    # What a decision may be beside that of the discriminant: an export asks.
    @property
    def _unanimous(self) -> bool:
        """Whether a class is named only where all outputs that speak of it agree."""
        return False

    def _model(self) -> Any:
        """What decides: a discriminant; None where it is no one thing of ours."""
        return vars(self).get("discriminant_")

    def scorer(self) -> Any:
        """The fitted model as a function of one row, everything folded into one weight matrix.

        Returns
        -------
        Scorer
            A callable for single rows and batches, without checks of scikit-learn's kind.

        See Also
        --------
        discriminant.scorer : The function behind it.

        >>> model = LinearDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> model.scorer().decide(iris.X[0])
        'setosa'
        """
        return discriminant.scorer(self)

    def explain(self, X: Any, reference: Any = None) -> Contributions:
        """What each attribute adds to the scores of each row, w_j (φ_j(x) − r_j).

        Together with the score of the reference r the contributions add up to the score (Alpaydin 10.1).

        Raises
        ------
        AttributeError
            Where the fitted classifier has no linear discriminant.

        >>> model = LinearDiscriminantAnalysis().fit(iris.X, iris.y)
        >>> shares = model.explain(iris.X[:1], reference=iris.X.mean(axis=0))
        >>> list(shares.row(0, "setosa"))[0]
        'x2'
        """
        self._require_fitted()
        found = vars(self).get("discriminant_")
        if found is None:
            raise AttributeError(
                f"{type(self).__name__} has no weight for an attribute, so that a score is no sum of contributions. "
                "LinearDiscriminantAnalysis(basis='quadratic') has one for each attribute, square and product."
            )
        rows = as_rows(self._read_rows(X, reset=False))
        contributions: Contributions = found.contributions(rows.columns(np.arange(rows.shape[1])), reference)
        return contributions

    def report(self, X: Any, y: Any, *, title: str = "", feature_names: Any = None) -> Any:
        """One HTML page on what the fitted model is worth on these rows.

        In a notebook it shows itself; ``.save(path)`` writes it, ``.html`` is its text.

        Parameters
        ----------
        title : str, default=""
            The heading of the page.
        feature_names : sequence of d str or None, default=None
            Names of the columns; None: those of X or of the fit.

        Returns
        -------
        Report
            The page.

        See Also
        --------
        discriminant.report.make_report : The same for any fitted classifier.

        >>> model = LinearDiscriminantAnalysis().fit(iris.X[::2], iris.y[::2])
        >>> model.report(iris.X[1::2], iris.y[1::2], title="Iris").html[:15]
        '<!doctype html>'
        """
        return discriminant.report.make_report(self, X, y, title=title, feature_names=feature_names)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The accuracy: the share of rows, by weight, that are classified rightly.

        >>> round(LinearDiscriminantAnalysis().fit(iris.X, iris.y).score(iris.X, iris.y), 2)
        0.98
        """
        source = find_source(X)
        if source is not None:
            answer = Answer(type(self).predict, self)  # type: ignore[attr-defined]
            return float(self._require_columns(source).score(answer, y, sample_weight))
        right = self._right(self.predict(X), y)  # type: ignore[attr-defined]
        return float(np.average(right, weights=check_weights(sample_weight, len(right))))

    def _right(self, predicted: Array, y: Any) -> Array:
        """(n,): whether each row is predicted rightly."""
        seen, codes = encode_labels(read_labels(in_memory(y) if is_foreign(y) else y, len(predicted)))
        known = self.classes_  # type: ignore[attr-defined]
        if (seen.dtype.kind in "biuf") != (known.dtype.kind in "biuf"):
            raise DataError(
                f"y holds the labels {names(list(seen))}, and the classes are {names(list(known))}: numbers and text "
                "are never equal. Write y as it was written for fit."
            )
        return np.asarray(predicted == seen[codes])


def _applied(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, applied block by block where X is a source; ``out=``: where its results go."""

    @functools.wraps(method)
    def either(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        require_same_namespace(self, X, method.__name__)
        if type(X) is np.ndarray or (source := find_source(X)) is None:
            return method(self, X, *args, **kwargs)
        out = kwargs.pop("out", None)
        source = self._require_columns(source)
        return source.apply(Answer(method, self, args, kwargs), out)

    return either


def require_same_namespace(model: Any, X: Any, method: str) -> None:
    """Where scikit-learn dispatches on arrays, refuse rows of another library or device than those of the fit."""
    learned = vars(model).get("coef_", vars(model).get("means_"))
    if type(learned) is np.ndarray or not is_foreign(learned) or isinstance(X, Rows | Source):
        return
    apart = type(X) is not type(learned) or getattr(X, "device", None) != getattr(learned, "device", None)
    if apart and get_config()["array_api_dispatch"]:
        raise DataError(
            f"Inputs passed to {type(model).__name__}.{method}() must use the same namespace and the same device as "
            "those passed to fit(), while array_api_dispatch is on; without it they are converted."
        )


@dataclass(frozen=True, eq=False)
class Answer(RowFunction):
    """A method of an estimator as a function of the blocks of a source."""

    method: Callable[..., Any]
    estimator: Classifier
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    def __call__(self, X: Any, *more: Any, **keywords: Any) -> Any:
        rows = X if isinstance(X, Source) else as_rows(X)  # a source that is asked as a whole asks for its blocks
        return self.method(self.estimator, rows, *more, *self.args, **self.kwargs, **keywords)

    @property
    def classes(self) -> Any:
        return vars(self.estimator).get("classes_", ())

    def take_over(self, other: Answer) -> None:
        """Hold what a copy of the estimator has learned elsewhere."""
        vars(self.estimator).update(vars(other.estimator))

    def on_device(self, rows: Any, piece: Any) -> Any:
        from discriminant.estimators.device_predict import answer_on_device

        more = self.args or self.kwargs or vars(self.estimator).get("_features") is not None
        model, name = None if more else self.estimator._model(), self.method.__name__
        found = answer_on_device(name, model, rows, piece)
        return rows.library.cast(found, "float64") if found is not None and name in self.estimator._wide else found


def _learned(method: Callable[..., Any]) -> Callable[..., Any]:
    """``partial_fit`` of a source: its blocks, one after the other, every class known from the first."""

    @functools.wraps(method)
    def either(self: Any, X: Any, y: Any = None, *args: Any, **kwargs: Any) -> Any:
        source = find_source(X)
        if source is None:
            return method(self, X, y, *args, **kwargs)
        classes = kwargs.get("classes", args[0] if args else None)
        known = None if classes is None else np.unique(np.asarray(classes))
        if "n_features_in_" in vars(self):
            source = self._require_columns(source)
        else:
            self._note_columns(source)
        source.learn(Answer(method, self), y, kwargs.get("sample_weight"), known)
        bring_home(self, source)
        return self

    return either
