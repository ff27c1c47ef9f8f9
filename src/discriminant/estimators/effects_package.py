"""A fitted logistic model for the package ``marginaleffects``: its predictions, comparisons, slopes and hypotheses.

That package asks a model for coefficients, their covariance, and predictions at other coefficients; its derivatives are
differences.  Where effects of columns are all that is wanted, ``marginal_effects`` has them exactly and without it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discriminant.decision.posteriors import softmax
from discriminant.errors import DataError
from discriminant.inference.summary import Summary
from discriminant.protocols import Array


def adapted(model: Any, data: Any, table: Summary) -> Any:
    """The model as ``marginaleffects.classes.ModelAbstract``, over the rows ``data`` (a data frame)."""
    columns = _columns(model)
    try:
        import polars as pl
        from marginaleffects.classes import ModelAbstract, ModelVault
    except ImportError as error:
        raise ImportError("This adapter is for the package marginaleffects: pip install marginaleffects.") from error
    import narwhals.stable.v2 as nw

    frame = nw.from_native(data, eager_only=True).select(columns).to_polars()
    texts = [name for name, kind in frame.schema.items() if kind in (pl.String, pl.Categorical)]
    rules = () if model._encoding is None else model._encoding.rules
    levels = {rule.name: list(rule.levels) for rule in rules if rule.levels}
    frame = frame.with_columns(
        pl.col(name).cast(pl.String).cast(pl.Enum(levels.get(name) or frame[name].cast(pl.String).unique().sort()))
        for name in texts
    )
    classes = [str(label) for label in model.classes_.tolist()]

    def design(rows: Any) -> Array:
        known = model._dense_rows(rows.select(columns))
        return np.column_stack([np.ones(len(known)), known])

    class Adapter(ModelAbstract):  # type: ignore[misc]
        """What marginaleffects asks of a model."""

        def get_exog(self, newdata: Any) -> Array:
            return design(newdata)

        def get_vcov(self, vcov: Any = True) -> Array | None:
            if isinstance(vcov, np.ndarray):
                return vcov
            if isinstance(vcov, str):
                return np.asarray(model.summary(covariance=vcov).covariance)
            return table.covariance if vcov else None

        def get_predict(self, params: Array, newdata: Any) -> Any:
            Y = newdata if isinstance(newdata, np.ndarray) else design(newdata)
            theta = np.asarray(params).reshape(len(classes) - 1, -1)
            p = softmax(np.column_stack([np.zeros(len(Y)), Y @ theta.T]))
            rows = np.arange(len(Y), dtype=np.int32)
            if len(classes) == 2:
                return pl.DataFrame({"rowid": rows, "estimate": p[:, 1]})
            named = [label for label in classes for _ in rows]
            return pl.DataFrame({"rowid": np.tile(rows, len(classes)), "group": named, "estimate": p.T.ravel()})

    vault = ModelVault(
        coef=table.estimate, coefnames=np.array(table.terms), formula=lambda rows: (None, design(rows)),
        modeldata=frame, package="discriminant", vcov=table.covariance, variable_names=["class", *columns],
    )  # fmt: skip
    return Adapter(model, vault)


def _columns(model: Any) -> list[str]:
    """The columns of the table that the model was fitted to: before formulas and categories."""
    if model._formula is not None:
        return sorted(map(str, model._formula.spec.required_variables))
    found = vars(model).get("feature_names_in_")
    if found is None:
        raise DataError("marginaleffects knows columns by their names: fit the model to a data frame.")
    return [str(name) for name in found]
