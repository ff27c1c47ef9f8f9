"""The act of least expected cost.

With costs λ(α_a|C_k), an (acts × K) matrix, the risk of act a at x and the rule of least risk are

    R(α_a|x) = Σ_k λ(α_a|C_k) P(C_k|x),          α(x) = argmin_a R(α_a|x),

which is a discriminant rule with g_a = −R(α_a|x).  With 0–1 costs it is the rule of the largest posterior.  The acts
need not be classes: "ask a physician" is a row of costs like any other.  Duda, Hart & Stork 2.2; Elkan 2001.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discriminant.arguments import COUNT, checked, numbers, some_numbers
from discriminant.arrays import axis_labels
from discriminant.decision.posteriors import documented
from discriminant.errors import ParameterError, as_numbers, names, no_class
from discriminant.protocols import Array

MOST_CLASSES = 10_000


COSTS = some_numbers("a table of finite numbers, acts × classes", lambda c: c.ndim == 2 and np.isfinite(c).all())
POSTERIORS = numbers(2, "a table of numbers, rows × classes")


@documented
@checked(n_classes=COUNT)
def zero_one_costs(n_classes: int) -> Array:
    """λ(α_a|C_k) = 1 for a ≠ k, else 0: every error costs the same.

    Parameters
    ----------
    n_classes : int
        K.

    Returns
    -------
    ndarray of shape (K, K)
        λ(α_a|C_k).

    Raises
    ------
    ParameterError
        Where the table would not fit into memory.

    >>> zero_one_costs(2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    if n_classes > MOST_CLASSES:
        raise ParameterError(
            f"A cost for each decision and each of {n_classes} classes is a table of {n_classes**2 / 2**27:.0f} GB. "
            "Without costs the largest probability decides: use the classifier itself, or merge rare classes."
        )
    return 1.0 - np.eye(n_classes)


@documented
def check_costs(
    costs: Any, classes: Sequence[Any] | Array, actions: Sequence[Any] | None = None
) -> tuple[Array, list[Any]]:
    """Costs as an (acts × K) float64 matrix, and the label of each of its rows.

    ``costs`` is a matrix with a row for each act and a column for each class; or a mapping {act: {class: cost}}; or a
    mapping {(act, class): cost}, where pairs that are left out cost 0 if the act names the class and 1 if it names
    another.

    Parameters
    ----------
    costs : array-like of shape (acts, K), data frame or mapping
        λ(α_a|C_k).  A data frame is read by its labels, where its columns are named after the classes.
    actions : sequence of labels or None, default=None
        The acts; None: those of the mapping, or the classes.

    Returns
    -------
    tuple (costs, actions)
        The matrix of shape (acts, K) and the list of acts.

    Raises
    ------
    ParameterError
        Where a cost is missing, infinite or names no class.

    >>> matrix, acts = check_costs({("ill", "well"): 1, ("well", "ill"): 50}, ["ill", "well"])
    >>> matrix.tolist(), acts
    ([[0.0, 1.0], [50.0, 0.0]], ['ill', 'well'])
    """
    known = [label.item() if isinstance(label, np.generic) else label for label in classes]
    columns = axis_labels(costs, "columns")
    if columns is not None:
        acts = axis_labels(costs, "index") or (known if actions is None else list(actions))
        costs = {act: dict(zip(columns, row, strict=True)) for act, row in zip(acts, np.asarray(costs), strict=False)}
    if isinstance(costs, Mapping):
        rows = _nested(costs, known)
        acts = list(rows) if actions is None else list(actions)
        if set(acts) != set(rows):
            raise ParameterError(f"costs has rows for {names(list(rows))}, and actions names {names(acts)}.")
        matrix = as_numbers([[rows[act][label] for label in known] for act in acts], "costs")
    else:
        matrix = as_numbers(costs, "costs").copy()
        acts = known if actions is None else list(actions)
    if matrix.shape != (len(acts), len(known)):
        raise ParameterError(
            f"costs has shape {matrix.shape}, and needs a row for each of the {len(acts)} acts ({names(acts)}) and a "
            f"column for each of the {len(known)} classes ({names(known)}). Name further acts with actions=."
        )
    twice = [act for k, act in enumerate(acts) if act in acts[:k]]
    if twice:
        raise ParameterError(f"actions names {names(twice)} twice; each act has one row of costs.")
    if not np.isfinite(matrix).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(matrix))[0])
        raise ParameterError(
            f"The cost of act {acts[row]!r} for class {known[column]!r} is {matrix[row, column]}; costs are finite."
        )
    return matrix, acts


def _nested(costs: Mapping[Any, Any], known: list[Any]) -> dict[Any, dict[Any, Any]]:
    """{act: {class: cost}} with every entry filled, from either kind of mapping; the classes first, in their order."""
    pairs: dict[Any, dict[Any, Any]] = {}
    for key, value in costs.items():
        if isinstance(value, Mapping):
            pairs.setdefault(key, {}).update(value)
        elif isinstance(key, tuple) and len(key) == 2:
            pairs.setdefault(key[0], {})[key[1]] = value
        else:
            raise ParameterError(
                f"costs has the entry {key!r}: {value!r}; write {{act: {{class: cost}}}} or {{(act, class): cost}}."
            )
    for act, row in pairs.items():
        unknown = [label for label in row if label not in known]
        if unknown:
            raise ParameterError(f"costs names {no_class(unknown)}; the classes are {names(known)}.")
        missing = [label for label in known if label not in row]
        if act not in known and missing:
            raise ParameterError(
                f"costs says nothing about act {act!r} where the class is {names(missing)}; an act that is no class "
                "needs a cost for every class."
            )
    acts = [*known, *(act for act in pairs if act not in known)]
    return {act: {label: float(act != label) for label in known} | pairs.get(act, {}) for act in acts}


@documented
@checked(posteriors=POSTERIORS, costs=COSTS)
def expected_costs(posteriors: Any, costs: Any) -> Array:
    """R(α_a|x) = Σ_k λ(α_a|C_k) P(C_k|x), the risk of each act.

    Returns
    -------
    ndarray of shape (n, acts)
        The expected cost of each act at each row.

    Raises
    ------
    ParameterError
        Where the shapes do not fit.

    >>> expected_costs([[0.25, 0.75]], [[0, 1], [50, 0]]).tolist()
    [[0.75, 12.5]]
    """
    values, matrix = np.asarray(posteriors), np.asarray(costs, dtype=np.float64)
    if values.ndim != 2 or matrix.ndim != 2 or values.shape[1] != matrix.shape[1]:
        raise ParameterError(
            f"Posteriors of shape {values.shape} and costs of shape {matrix.shape} do not fit: "
            "posteriors are (rows, classes), costs are (acts, classes)."
        )
    return np.asarray(values @ matrix.T)


@documented
def bayes_actions(posteriors: Any, costs: Any = None) -> Array:
    """The act of least risk in each row, the first of several; without costs, the largest posterior.

    Parameters
    ----------
    costs : array-like of shape (acts, K) or None, default=None
        λ(α_a|C_k); None: 0–1 costs.

    Returns
    -------
    ndarray of shape (n,)
        The index of the act.

    >>> bayes_actions([[0.25, 0.75]], [[0, 1], [50, 0]]).tolist()
    [0]
    """
    if costs is None:
        return np.asarray(np.asarray(posteriors).argmax(axis=1))
    return np.asarray(expected_costs(posteriors, costs).argmin(axis=1))


@documented
@checked(costs=COSTS)
def cost_threshold(costs: Any) -> float:
    """The threshold t with: act 1 is the cheaper of two iff P(C₁|x) > t.

        t = (λ₁₀ − λ₀₀) / ((λ₁₀ − λ₀₀) + (λ₀₁ − λ₁₁)),        λ_ak = λ(α_a|C_k)

    Parameters
    ----------
    costs : array-like of shape (2, 2)
        λ(α_a|C_k).

    Returns
    -------
    float
        t.

    Raises
    ------
    ParameterError
        Where the costs make the wrong act the cheaper one.

    >>> cost_threshold([[0, 9], [1, 0]])
    0.1
    """
    matrix = np.asarray(costs, dtype=np.float64)
    if matrix.shape != (2, 2):
        raise ParameterError(f"A threshold belongs to two acts and two classes; costs has shape {matrix.shape}.")
    false_alarm, miss = float(matrix[1, 0] - matrix[0, 0]), float(matrix[0, 1] - matrix[1, 1])
    if false_alarm + miss <= 0:
        raise ParameterError(
            "These costs make the wrong act the cheaper one: λ₁₀ + λ₀₁ must exceed λ₀₀ + λ₁₁. "
            "costs[a, k] is the cost of act a where the class is k; are rows and columns exchanged?"
        )
    return false_alarm / (false_alarm + miss)
