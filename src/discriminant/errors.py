"""Exceptions and warnings whose texts are sentences: what was given, what was needed, what to do.

All of them inherit from the built-in type that scikit-learn raises in the same place, so that code written against
scikit-learn keeps catching them.
"""

from __future__ import annotations

import sys
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

import numpy as np

# Packages that call a fit on behalf of the line that a warning is for: a pipeline's step, a grid search's fold.
BETWEEN = ("discriminant", "sklearn", "joblib")


def printable(text: str) -> str:
    """Text from outside as one line that steers no terminal: names in a table, labels in a file.

    >>> printable("age\x1b[31m\\n")
    'age\\\\x1b[31m '
    """
    return "".join(map(_shown, text)) if not text.isprintable() else text


def _shown(ch: str) -> str:
    if ch in "\n\t\r":
        return " "
    steers = unicodedata.category(ch) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    return ch.encode("unicode_escape").decode() if steers else ch


def _lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


class DiscriminantError(Exception):
    """Root of the exceptions that this package raises on purpose."""

    def __str__(self) -> str:
        return _lines(super().__str__())  # a message names columns and classes as they stand in the data


class DataError(DiscriminantError, ValueError):
    """The data cannot be used: the message names the column, class or row."""


class MissingFileError(DataError, FileNotFoundError):
    """There is no such file."""


class ParameterError(DiscriminantError, ValueError):
    """A parameter's value, or a combination of parameters, is refused."""


class NotAvailableError(ParameterError, AttributeError, NotImplementedError):
    """A method that is not there with these parameters: ``hasattr`` says False."""


class MismatchError(DiscriminantError, TypeError):
    """Two parts do not fit together: the message names both and the way out."""


class ClusterError(DiscriminantError, ConnectionError):
    """The cluster that holds the rows is lost or gave them up: the message says what can be done."""


class SingularCovarianceError(DiscriminantError, np.linalg.LinAlgError):
    """A class has no density because its covariance is not full rank."""


class DiscriminantWarning(UserWarning):
    """Root of the warnings that this package emits."""


class ScaleWarning(DiscriminantWarning):
    """Columns lie so far from zero, or vary by so much or little, that steps in their units lose them."""


class CollinearityWarning(DiscriminantWarning):
    """Some columns carry nothing that the others do not; the message names them."""


_raised: ContextVar[bool] = ContextVar("whether this package's warnings are raised", default=False)


@contextmanager
def warnings_raised() -> Iterator[None]:
    """In this thread this package's warnings are exceptions; filters of ``warnings`` belong to every thread."""
    token = _raised.set(True)
    try:
        yield
    finally:
        _raised.reset(token)


def warn(text: str, category: type[Warning] = DiscriminantWarning) -> None:
    """Warn of what happens at the caller's line: the first one outside this package and those between."""
    if _raised.get() and issubclass(category, DiscriminantWarning):
        raise category(_lines(text))
    frame: FrameType = sys._getframe(1)
    depth = 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in BETWEEN:
        frame, depth = frame.f_back, depth + 1
    warnings.warn(_lines(text), category, stacklevel=depth)


def require_unmasked(values: Any, name: str) -> None:
    """Refuse masked entries, which NumPy's conversions would bring to light as if they were data."""
    plain = type(values) is np.ndarray or not isinstance(values, np.ndarray)  # then ``numpy.ma`` need not be loaded
    if not plain and isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise DataError(
            f"{name} has {int(np.ma.getmaskarray(values).sum())} masked entries, which are missing values. Drop those "
            "rows, or fill them first."
        )


def as_numbers(values: Any, name: str) -> np.ndarray:
    """The values of a parameter as float64, or a sentence that names the parameter."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must hold numbers, as many in each row; it is {values!r}.") from None


def names(items: Sequence[Any], most: int = 5) -> str:
    """A readable list: at most ``most`` items, then "and 37 more".

    >>> names(["a", "b"])
    "'a' and 'b'"
    >>> names(range(9), most=3)
    '0, 1, 2 and 6 more'
    """
    shown = [repr(str(item)) if isinstance(item, str | np.str_) else str(item) for item in list(items)[:most]]
    rest = len(items) - len(shown)
    if rest:
        return ", ".join(shown) + f" and {rest} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1] if shown else "none"


def capital(text: str) -> str:
    """The text as the beginning of a sentence; what follows keeps its letters, as column names and Σ must.

    >>> capital("column 'Age'")
    "Column 'Age'"
    """
    return text[:1].upper() + text[1:]


def counted(count: int, what: str) -> str:
    """A number with its noun.

    >>> counted(1, "row"), counted(1234, "row"), counted(2, "pass")
    ('1 row', '1,234 rows', '2 passes')
    """
    plural = what[:-1] + "ies" if what.endswith("y") else what + ("es" if what.endswith("s") else "s")
    return f"{count:,} {what if count == 1 else plural}"


def classes_are(labels: Sequence[Any], one: str, many: str) -> str:
    """The beginning of a sentence about some classes, with the verb in its number.

    >>> classes_are(["a"], "is", "are"), classes_are(["a", "b"], "is", "are")
    ("The class 'a' is", "The classes 'a' and 'b' are")
    """
    return f"The class {names(labels)} {one}" if len(labels) == 1 else f"The classes {names(labels)} {many}"


def no_class(labels: Sequence[Any]) -> str:
    """Labels that no class has, in their number.

    >>> no_class(["c"]), no_class(["c", "d"])
    ("'c', which is no class", "'c' and 'd', which are no classes")
    """
    return f"{names(labels)}, which {'is no class' if len(labels) == 1 else 'are no classes'}"


def not_finite(value: float, where: str, asker: str) -> DataError:
    """The refusal of a NaN or an infinity in X."""
    kind = "NaN" if value != value else "infinity"
    return DataError(
        f"Input X contains {kind}: {where}. {asker} does not accept missing or infinite values; drop those rows, or "
        "fill them first (for example with sklearn.impute.SimpleImputer)."
    )


def columns(indices: Sequence[int], feature_names: Sequence[str] | None, most: int = 5) -> str:
    """The columns with these indices, by name where names are known: "column 'age'", "columns 0, 3 and 2 more"."""
    shown = [feature_names[i] for i in indices] if feature_names is not None else [int(i) for i in indices]
    return ("column " if len(shown) == 1 else "columns ") + names(shown, most)
