"""What an estimator's parameters say about targets: which coding, which margins; checked in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discriminant.codings import ClassCoding, make_coding
from discriminant.errors import DataError, ParameterError, as_numbers, names
from discriminant.protocols import Array

# Codings whose targets can be regressed on; the others couple the outputs.
CODINGS = ("auto", "two-class", "one-of-k", "one-vs-rest", "one-vs-rest-k-1", "pairwise", "fisher")


def class_coding(coding: Any, n_classes: int, counts: Array, decoder: str | None = None) -> ClassCoding:
    """The coding that regression on targets uses: by name, or from a (K, q) matrix of targets.

    >>> class_coding("auto", 3, np.ones(3)).name
    'one-of-k'
    """
    if isinstance(coding, str):
        name = coding.lower().replace("_", "-")
        coding = name if name != "auto" else "two-class" if n_classes == 2 else "one-of-k"
    return make_coding(coding, n_classes, counts=counts, decoder=decoder)


def needed_coding(coding: ClassCoding) -> ClassCoding | None:
    """The coding, or None where the outputs are class scores as they are."""
    usual = np.array([[-1.0], [1.0]]) if coding.n_outputs == 1 else np.eye(coding.n_classes)
    plain = coding.decoder == "maximum" and not coding.threshold.any()
    return None if plain and np.array_equal(np.asarray(coding.speakers), usual) else coding


def class_margins(margin: Any, classes: Array) -> Array:
    """b_k (K,), from one number, one for each class, or a mapping; 1 for None."""
    K, given = len(classes), 1.0 if margin is None else margin
    if isinstance(given, Mapping):
        missing = [label for label in classes.tolist() if label not in given]
        if missing:
            raise ParameterError(f"margin says nothing about class {names(missing)}; give one for every class.")
        given = [given[label] for label in classes.tolist()]
    margins = as_numbers(given, "margin")
    if margins.shape not in ((), (K,)):
        raise ParameterError(f"margin has shape {margins.shape}; give one number, or one for each of the {K} classes.")
    if not (np.isfinite(margins) & (margins > 0)).all():
        raise ParameterError(f"A margin must be a positive number; margin is {margin!r}.")
    return np.broadcast_to(margins, (K,))


def row_margins(margin: Any, n_rows: int) -> Array:
    """b_n (n,): a positive number for each row; 1 for None."""
    margins = np.asarray(1.0 if margin is None else margin, dtype=np.float64)
    if margins.shape not in ((), (n_rows,)):
        raise DataError(f"margin has shape {margins.shape}; it must hold one number for each of the {n_rows} rows.")
    margins = np.broadcast_to(margins, (n_rows,))
    bad = np.flatnonzero(~(np.isfinite(margins) & (margins > 0)))
    if len(bad):
        raise DataError(f"A margin must be a positive number; row {bad[0]} has {margins[bad[0]]:g}.")
    return margins
