"""scikit-learn-intelex: oneDAL behind scikit-learn's classes.

It has no discriminant analysis of its own (patched scikit-learn runs scikit-learn's), so only its regressions compete.
"""

from __future__ import annotations

from typing import Any

from benchmarks.contract import PEER, Data, Prepared

NAME, ROLE, PACKAGE = "scikit-learn-intelex", PEER, "scikit-learn-intelex"


def _regression(name: str, **options: Any) -> Any:
    """The targets are handed over ready-made: coding them is not timed."""

    def build(data: Data) -> Prepared:
        from sklearnex import linear_model  # type: ignore[import-untyped]

        T = data.one_hot()
        Model = getattr(linear_model, name)
        return Prepared(lambda: Model(**options).fit(data.X, T), lambda m: {"scores": m.predict(data.probe)})

    return build


METHODS = {
    "least-squares-fit": {
        "LinearRegression": _regression("LinearRegression"),
        "Ridge": _regression("Ridge", alpha=1e-12),
    },
}
_NO_LDA = "has no discriminant analysis of its own: patched scikit-learn runs scikit-learn's"
REFUSALS = {"lda-fit": _NO_LDA, "qda-fit": _NO_LDA, "lda-predict": _NO_LDA, "lda-cold-start": _NO_LDA}
