"""What every estimator does with its input: rows, labels and weights checked once, in sentences, without a copy.

X keeps its storage: arrays of any order and type, sparse matrices and data frames go on to ``data`` as they are.
Missing values are not searched here; the sums show them (``data.check``).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from types import MethodType
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

import numpy as np
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from discriminant.arrays import is_frame, is_sparse
from discriminant.data.rows import HeldRows, require_rows, require_unique_names
from discriminant.data.sources import Source, find_source, is_query
from discriminant.docstrings import documented
from discriminant.errors import DataError, NotAvailableError, ScaleWarning, names, require_unmasked, warn
from discriminant.estimators.callbacks import Callbacks, fit_watched
from discriminant.estimators.parameters import require_valid
from discriminant.methods.fit import Fit, Sample, Schema, require_two
from discriminant.protocols import Array

if TYPE_CHECKING:  # loaded with the first category and the first formula
    from discriminant.data.preprocess import Preprocess
    from discriminant.estimators.formula import ModelFormula

Method = TypeVar("Method")
Function = TypeVar("Function", bound=Callable[..., Any])


class Available:
    """A method that is there where ``check`` raises no AttributeError; its sentence is what the caller sees.

    scikit-learn's ``available_if`` puts a sentence of its own in front.
    """

    def __init__(self, fn: Callable[..., Any], check: Callable[[Any], None]) -> None:
        self.fn, self.check = fn, check
        functools.update_wrapper(self, fn)  # type: ignore[arg-type]

    def __get__(self, model: Any, owner: Any = None) -> Any:
        if model is None:
            return self.fn
        self.check(model)
        return MethodType(self.fn, model)


def available_if(check: Callable[[Any], None]) -> Callable[[Callable[..., Any]], Any]:
    """Hide a method from ``hasattr`` where ``check(model)`` raises an AttributeError."""
    return lambda fn: Available(fn, check)


def not_defined(why: str) -> Any:
    """A method that a class has not: asking for it raises an AttributeError that says why, and what to use."""

    def refuse(model: Any) -> NoReturn:
        """Not defined: raises an AttributeError that says what to use."""
        raise NotAvailableError(why)

    return property(refuse)


def all_or_nothing(fit: Function) -> Function:
    """A fit that fails leaves the estimator as it was: never half of a new model on top of an old one.

    NumPy's floating-point warnings are held back: what overflows is found in the result and reported in a sentence that
    names the column, which they cannot do.  Parameters are checked before anything else.
    """

    @functools.wraps(fit)
    def whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        require_valid(self)
        before = dict(vars(self))
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                calls_back = fit.__name__ == "fit" and "_skl_callbacks" in before and "_callback_fit_ctx" not in before
                found = fit_watched(self, fit, *args, **kwargs) if calls_back else fit(self, *args, **kwargs)
            bring_home(self, args[0] if args else kwargs.get("X"))
            return found
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return whole  # type: ignore[return-value]


def bring_home(model: Any, X: Any) -> None:
    """What was learned, in the library and on the device of the rows that it was learned from, as scikit-learn has it.

    ``classes_`` stay where they are: labels may be text.  Estimators that do not declare it move their weights alone.
    """
    source = None if is_query(X) else find_source(X)
    if source is None:
        return
    every = get_tags(model).array_api_support
    for name, value in vars(model).items():
        if name.endswith("_") and name != "classes_" and (every or name in ("coef_", "intercept_")):
            if isinstance(value, np.ndarray):
                vars(model)[name] = source.native(value)
            elif isinstance(value, list) and value and all(isinstance(one, np.ndarray) for one in value):
                vars(model)[name] = [source.native(one) for one in value]


@documented
class Inputs(Callbacks):
    """How an estimator reads rows, labels and weights, and remembers the columns."""

    n_features_in_: int
    _formula: ModelFormula | None = None
    _encoding: Preprocess | None = None  # of a frame with categories
    _asks_for_sums = False  # of training rows, and for nothing else

    @classmethod
    def from_formula(cls, formula: str, data: Any, **parameters: Any) -> Self:
        """A model fitted by a formula to the columns of a table.

        Parameters
        ----------
        formula : str
            Such as ``"y ~ age + C(site) + age:dose"``, in formulaic's grammar: ``C(x, contr.treatment("b"))`` chooses
            the reference level, ``bs(x, df=4)`` a spline, ``.`` every other column, ``- 1`` no intercept.
        data : data frame
            Of pandas, polars or pyarrow.  Rows with missing values in the columns used are left out.
        **parameters : any
            Parameters of the estimator; also ``sample_weight`` and ``offset`` of its ``fit``, as names of columns or
            as arrays with a number for each row of ``data``.

        Returns
        -------
        estimator
            Fitted.  Its predictions take tables with the same columns; a level that the fit did not know is refused.
            Its clones keep the formula, with the levels and knots that were learned here.

        Raises
        ------
        DataError
            Where the formula names a column that is not there.

        >>> iris = datasets.load("iris", as_frame=True)
        >>> table = iris.X.assign(species=iris.y)[50:]
        >>> model = LogisticRegression.from_formula("species ~ petal_length * petal_width", table, C=float("inf"))
        >>> model.feature_names_in_.tolist()
        ['petal_length', 'petal_width', 'petal_length:petal_width']
        """
        from discriminant.estimators.formula import label_of, read_formula

        found, table, rows, intercept = read_formula(formula, data)
        kind: Any = cls
        of_rows = {"sample_weight", "offset"} & set(inspect.signature(kind.fit).parameters)
        given = {name: parameters.pop(name) for name in of_rows & set(parameters)}
        for name, values in given.items():
            if isinstance(values, str) and values not in table.columns:
                raise DataError(f"{name} is {values!r}, and there is no such column; there are {names(table.columns)}.")
            column = np.asarray(table[values] if isinstance(values, str) else values)
            given[name] = column[rows] if len(column) == len(table) else column
        if not intercept:
            parameters = {"fit_intercept": False, **parameters}
        model = kind(**parameters)
        model._formula = found
        used = table if len(rows) == len(table) else table.iloc[rows]
        model.fit(used, used[label_of(formula)], **given)
        return model  # type: ignore[no-any-return]

    def __sklearn_clone__(self) -> Self:
        """Unfitted, with the same parameters; the columns of a formula are made as they were."""
        copy: Self = super().__sklearn_clone__()  # type: ignore[misc]
        if self._formula is not None:
            copy._formula = self._formula
        return copy

    def _require_fitted(self) -> None:
        """Refuse what is not fitted; one look where scikit-learn's check inspects the whole class."""
        if "n_features_in_" not in vars(self):
            check_is_fitted(self)

    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        """X, checked for shape, type and feature names, in the storage in which it came.

        Held rows are a block of a source: the columns were checked with the source, and a block has no names.
        """
        if type(X) is not np.ndarray and isinstance(X, HeldRows):
            return X.X
        if self._formula is not None:
            X = self._formula.columns(X)
        known = vars(self)
        if reset:
            known.pop("_encoding", None)
        if self._encoding is not None and not is_frame(X):
            return self._require_encoded(X, self._encoding)
        if type(X) is np.ndarray and X.ndim == 2 and X.dtype == np.float64 and X.size:
            # What scikit-learn's check would hand back unseen; it takes five times as long as the prediction of a row.
            if reset:
                self.n_features_in_ = X.shape[1]
                known.pop("feature_names_in_", None)
            if known.get("n_features_in_") == X.shape[1] and "feature_names_in_" not in known:
                return X
        require_unmasked(X, "X")
        require_rows(X)
        if is_frame(X):
            require_unique_names(X)
            validate_data(self, X=X, reset=reset, skip_check_array=True)
            for count, what in zip(X.shape, ("row", "column"), strict=True):
                if count == 0:
                    raise DataError(f"The data frame has 0 {what}s; at least one is needed.")
            return self._encoded(X, learn=reset)
        accept = ("csr", "csc") if get_tags(self).input_tags.sparse else False
        kind = getattr(getattr(X, "dtype", None), "kind", "f")
        if kind in "mM":
            raise DataError(
                f"X holds {X.dtype} values: dates and durations are no numbers. Take a difference in days, say."
            )
        try:
            X = validate_data(self, X=X, reset=reset, accept_sparse=accept, dtype="numeric", ensure_all_finite=False)
        except TypeError as error:
            if "NAType" not in str(error):
                raise
            raise DataError("X contains missing values (pandas' NA); drop those rows, or fill them first.") from error
        if reset and kind in "iu":
            _warn_of_rounding(X)
        return X

    def _require_encoded(self, X: Any, rules: Preprocess) -> Array:
        """Rows whose categories are zeros and ones already."""
        if not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub"):
            raise DataError(
                f"{type(self).__name__} was fitted to a data frame with categories, whose columns it knows by name: X "
                f"must be a data frame with {names([rule.name for rule in rules.rules])}."
            )
        if X.shape[1] != len(rules.feature_names):
            raise DataError(
                f"X is an array of {X.shape[1]} columns, and {type(self).__name__} was fitted to a data frame with "
                f"categories, which are columns of zeros and ones in an array: {names(rules.feature_names, most=20)}."
            )
        return X

    def _encoded(self, X: Any, *, learn: bool) -> Any:
        """A frame with its categories as numbers; one that has none, or is for a basis to read, as it is."""
        from discriminant.data.categories import encode_frame, learn_categories

        if learn and vars(self).get("basis") is None and (found := learn_categories(X)) is not None:
            self._encoding = found
        return X if self._encoding is None else encode_frame(self._encoding.rules, X)

    def _source_sample(self, source: Source, y: Any, sample_weight: Any, classes: Array | None) -> Sample:
        """Training rows that lie in a file, a Dask collection or on a device."""
        new = classes is None or "n_features_in_" not in vars(self)
        source = source if new else self._require_columns(source)
        blocks, found = (source.summed if self._asks_for_sums else source.training)(y, sample_weight, classes)
        if new:
            self._note_columns(source)
        require_two(found)
        return Sample(blocks, blocks.target, blocks.weight, Schema(found, source.dtype, self._column_names()))

    def _column_names(self) -> list[str] | None:
        """The names of the columns of X, where it had names; of the columns that its categories became."""
        if self._encoding is not None:
            return self._encoding.feature_names
        found = vars(self).get("feature_names_in_")
        return None if found is None else [str(name) for name in found]

    def _note_columns(self, source: Source) -> None:
        """Remember number and names of the columns, as scikit-learn does."""
        vars(self).pop("_encoding", None)
        if source.encoding is not None:
            self._encoding = source.encoding
        self.n_features_in_ = source.shape[1] if self._encoding is None else len(self._encoding.rules)
        if source.column_names is not None:
            vars(self)["feature_names_in_"] = np.array(source.column_names, dtype=object)
        else:
            vars(self).pop("feature_names_in_", None)

    def _require_columns(self, source: Source) -> Source:
        """The source, its categories as the fit has them; refused where its columns are not those of the fit."""
        check_is_fitted(self)
        known, given = vars(self).get("feature_names_in_"), source.column_names
        if known is not None and given is not None and list(known) != list(given):
            absent, extra = [name for name in known if name not in given], [name for name in given if name not in known]
            why = (
                f"it lacks {names(absent)}" if absent else f"{names(extra)} is new" if extra else "their order differs"
            )
            raise DataError(f"The columns are not those that {type(self).__name__} was fitted with: {why}.")
        if self._encoding is not None:
            source = source.encoded(self._encoding)
        width = self.n_features_in_ if self._encoding is None else len(self._encoding.feature_names)
        if source.shape[1] != width:
            raise DataError(
                f"X has {source.shape[1]} features, but {type(self).__name__} is expecting {width} features as input."
            )
        return source

    @contextmanager
    def _unchanged(self) -> Iterator[None]:
        """Whatever is read or learned within, the estimator is afterwards as it was."""
        before = dict(self.__dict__)
        try:
            yield
        finally:
            self.__dict__.clear()
            self.__dict__.update(before)

    def _as(self, method: type[Method]) -> Method:
        """The method of this kind with the parameters as they stand."""
        return method(**{name: getattr(self, name) for name in _parameters(method)})  # type: ignore[arg-type]

    def _hold(self, fit: Fit) -> Self:
        """Hold what a method found under its attributes' names, and warn of its notes."""
        for stale in fit.method.optional:
            vars(self).pop(stale, None)
        vars(self).update(fit.state)
        for note in fit.notes:
            warn(*note)
        return self


@functools.cache
def _parameters(method: Any) -> tuple[str, ...]:
    return tuple(one.name for one in fields(method))


def _warn_of_rounding(X: Any) -> None:
    """Warn of integers that float64 cannot hold: identifiers, times in nanoseconds."""
    values = X.data if is_sparse(X) else X
    if values.dtype.itemsize < 8 or not values.size:
        return
    extremes = int(values.min()), int(values.max())
    if max(abs(value) for value in extremes) > 2**53:
        warn(
            f"X holds integers as large as {max(extremes, key=abs)}; beyond 2**53 they are rounded. Subtract a "
            "constant first, or leave out columns that are identifiers.",
            ScaleWarning,
        )


def read_labels(y: Any, n_rows: int) -> Array:
    """y as a one-dimensional array with a label for every row."""
    require_unmasked(y, "y")
    if isinstance(y, list | tuple):
        # One by one; what is a list itself makes a second dimension, and is refused for it.
        y = np.array(y, dtype=object) if _loses_in_an_array(y) else y
    # Of a plain column it has nothing to say, and takes 60 of the 440 µs of a fit of 500×10.
    plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biufU"
    labels = y if plain else column_or_1d(y, warn=True)
    if len(labels) != n_rows:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows and y has {len(labels)}."
        )
    return np.asarray(labels)


def _loses_in_an_array(y: list[Any] | tuple[Any, ...]) -> bool:
    """Whether NumPy would make other labels of these: [1, "a"] strings, [True, 2] ones, "a\\0" the same as "a"."""
    kinds = set(map(type, y))
    if len(kinds) > 1:
        return True
    kind = next(iter(kinds), object)
    if issubclass(kind, str):
        return any(label.endswith("\0") for label in y)
    if issubclass(kind, bytes):
        return any(label.endswith(b"\0") for label in y)
    return kind is int and not -(2**63) <= min(y) <= max(y) < 2**63


def is_table(y: Any) -> bool:
    """Whether y has several columns: class probabilities, not labels."""
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, list | tuple) and len(y):
        shape = (len(y), len(y[0])) if isinstance(y[0], list | tuple | np.ndarray) else (len(y),)
    return shape is not None and len(shape) == 2 and shape[1] > 1
