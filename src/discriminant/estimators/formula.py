"""Formulas such as ``"y ~ age + C(site) + age:dose"``, by formulaic: a table's columns to those of the model.

What was learned at the fit (levels, knots, centres) is remembered and applied to every later table.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any

from discriminant.arrays import is_frame
from discriminant.errors import DataError, ParameterError, names
from discriminant.protocols import Array


@dataclass(frozen=True)
class ModelFormula:
    """The right side of a formula, as learned from a table."""

    text: str
    spec: Any  # formulaic's ModelSpec

    def columns(self, data: Any) -> Any:
        """The model's columns of a table, as a pandas data frame."""
        from formulaic.errors import DataMismatchWarning, FormulaicError

        frame = as_pandas(data)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", DataMismatchWarning)
                found = self.spec.get_model_matrix(frame, na_action="raise", output="pandas")
        except DataMismatchWarning as error:
            levels = re.search(r"\{.*\}", str(error))
            unknown = levels.group() if levels else error
            raise DataError(f"A column has levels that the fit of {self.text!r} did not know: {unknown}.") from error
        except (FormulaicError, ValueError) as error:
            raise DataError(f"The columns of {self.text!r} cannot be made of this table: {_last(error)}") from error
        return without_intercept(found)

    def labels(self, data: Any) -> Any:
        """The column left of the tilde."""
        frame, target = as_pandas(data), label_of(self.text)
        if target not in frame.columns:
            raise DataError(
                f"There is no column {target!r} for the labels; there are {names(frame.columns)}. Left of '~' stands "
                "the name of a column as it is: make labels of an expression first."
            )
        return frame[target]


def as_pandas(data: Any) -> Any:
    """A data frame of any library as pandas'."""
    if not is_frame(data):
        raise DataError("A formula names columns: data must be a data frame, of pandas, polars or pyarrow.")
    import narwhals

    return narwhals.from_native(data, eager_only=True).to_pandas()


def without_intercept(matrix: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(matrix).drop(columns="Intercept", errors="ignore")


def read_formula(formula: str, data: Any) -> tuple[ModelFormula, Any, Array, bool]:
    """(the right side, a frame of all rows, the places of those without missing values, whether with an intercept)."""
    try:
        from formulaic import Formula, ModelMatrices
        from formulaic.errors import FormulaicError
    except ImportError as error:
        raise ImportError("Formulas need formulaic: pip install 'discriminant[formula]'.") from error
    left, tilde, right = formula.partition("~")
    if not tilde or not left.strip() or not right.strip():
        raise ParameterError(f"formula is {formula!r}; write 'label ~ column + column', such as 'y ~ age + C(site)'.")
    frame = as_pandas(data)
    frame = frame.set_axis(range(len(frame)))  # rows by their places: names of rows may repeat
    labels = ModelFormula(formula, None).labels(frame)
    # "." stands for every other column, as in R.
    others = [f"`{name}`" for name in frame.columns if name != labels.name]
    right = re.sub(r"(?<![\w`.])\.(?![\w`])", "(" + " + ".join(others) + ")", right)
    try:
        matrix = Formula(right).get_model_matrix(frame, na_action="drop", output="pandas")
    except (FormulaicError, ValueError) as error:
        raise DataError(f"The formula {formula!r} cannot be used on this table: {_last(error)}") from error
    if isinstance(matrix, ModelMatrices):
        raise ParameterError(f"formula is {formula!r}; it has one '~', and nothing else that parts it in two.")
    if not len(without_intercept(matrix).columns):
        raise ParameterError(
            f"The formula {formula!r} has no column but the intercept; a summary's likelihood-ratio test is against "
            "that model."
        )
    rows = matrix.index.to_numpy()
    rows = rows[labels.notna().to_numpy()[rows]]
    return ModelFormula(formula, matrix.model_spec), frame, rows, "Intercept" in matrix.columns


def label_of(formula: str) -> str:
    """The name left of the tilde.

    >>> label_of("`is ill` ~ age")
    'is ill'
    """
    return formula.partition("~")[0].strip().strip("`")


def _last(error: BaseException) -> str:
    text = " ".join(re.sub(r"\x1b\[[\d;]*m", "", str(error)).split())
    return text if text.endswith(".") else f"{text}."
