"""Our logistic regression: its default tolerance, the two that the tasks ask for, proved, and what peers are given: the
loosest tolerance that comes within the gap, whatever is proved there."""

from __future__ import annotations

from typing import Any

from benchmarks.adapters.sklearn_logistic import cross_validation, default, probabilities, read
from benchmarks.contract import Builder, Data, Methods, Prepared
from benchmarks.effort import LABELS
from benchmarks.objective import FREE, answer, worst_gap


def _passes(model: Any) -> float | None:
    """Reads of X that the fit counted, the sample's not included."""
    found = model.history_.columns.get("passes")
    return float(found[-1]) if found else None


def _fit(tol: float) -> Builder:
    def build(data: Data) -> Prepared:
        from discriminant import LogisticRegression

        C = data.extra["C"]
        return Prepared(
            lambda: LogisticRegression(C=C, tol=tol).fit(data.X, data.y),
            lambda m: answer(data, *read(m), FREE, _passes(m)),
        )

    return build


def _loosest(gap: float) -> Builder:
    """Timed as the peers are: at the cheapest setting that comes within the gap, found before the clock runs."""

    def build(data: Data) -> Prepared:
        from discriminant import LogisticRegression

        C = data.extra["C"]
        for tol in TOLERANCES:
            model = LogisticRegression(C=C, tol=tol).fit(data.X, data.y)
            if worst_gap(data, *read(model), FREE) <= gap:
                break
        return _fit(tol)(data)

    return build


def _path(tol: float) -> Builder:
    """A path, or one sparse fit where there is one λ."""

    def build(data: Data) -> Prepared:
        from discriminant import LogisticRegression, logistic_path

        known = data.extra
        options = {"l1_ratio": known["l1_ratio"], "groups": known["groups"], "tol": tol}
        if len(known["lambdas"]) == 1:
            return Prepared(
                lambda: LogisticRegression(C=known["C"], **options).fit(data.X, data.y),
                lambda m: answer(data, *read(m), FREE, _passes(m)),
            )
        return Prepared(
            lambda: logistic_path(data.X, data.y, lambdas=known["lambdas"], **options),
            lambda path: answer(data, path.coefs.transpose(0, 2, 1), path.intercepts),
        )

    return build


def _support_vectors(tol: float) -> Builder:
    def build(data: Data) -> Prepared:
        from discriminant import LinearSVC

        C = data.extra["C"]
        return Prepared(lambda: LinearSVC(C=C, tol=tol).fit(data.X, data.y), lambda m: answer(data, *read(m)))

    return build


def _loosest_path(gap: float) -> Builder:
    """The same for a path; each of its points is proved to the tolerance that is asked for."""

    def build(data: Data) -> Prepared:
        for tol in PATH_TOLERANCES:
            made = _path(tol)(data)
            if float(made.answer(made.call())["objective"]) - 1.0 <= gap:
                break
        return made

    return build


def _model() -> Any:
    from discriminant import LogisticRegression

    return LogisticRegression


def _cv() -> Any:
    from discriminant import LogisticRegressionCV

    return LogisticRegressionCV


TOLERANCES = (1.0, 0.3, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
_FITS = (
    {"default": _fit(1e-8)}
    | {f"auto @ {label}": _loosest(gap) for gap, label in LABELS.items()}
    | {f"proved @ {label}": _fit(gap) for gap, label in LABELS.items()}
)
PATH_TOLERANCES = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6)
_PATHS = (
    {"default": _path(1e-8)}
    | {f"auto @ {label}": _loosest_path(gap) for gap, label in LABELS.items()}
    | {f"proved @ {label}": _path(gap) for gap, label in LABELS.items()}
)
METHODS: Methods = {
    "logistic-l2": _FITS,
    "softmax-l2": _FITS,
    "logistic-sparse": _FITS,
    "logistic-l1-path": _PATHS,
    "logistic-l1-path-sparse": _PATHS,
    "logistic-cv": {"default": cross_validation(_cv)},
    "logistic-default": {"default": default(_model)},
    "logistic-predict": {"predict_proba": probabilities(_model)},
    "softmax-l1": _PATHS,
    "elastic-path": _PATHS,
    "group-path": _PATHS,
    "svc": {"default": _support_vectors(1e-6)}
    | {f"proved @ {label}": _support_vectors(gap) for gap, label in LABELS.items()},
}
