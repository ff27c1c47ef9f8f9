"""Separability of rows that are read from elsewhere: a sample first, whose overlap proves that of all rows.

Rows that no hyperplane separates stay so when more are added.  So where a sample overlaps in every column, its d + 2
rows are the witness for the files, and one pass over a sample is the whole cost.  Else all rows are searched.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discriminant.inference.separability import OVERLAPPING, Separability, _validate, decide

SAMPLE_ROWS = 20_000


def of_source(opened: Any, y: Any, fit_intercept: bool, hyperplane: str, random_state: int) -> Separability:
    """The verdict on the rows of a source."""
    blocks, classes = opened.training(y, None, None)
    codes = blocks.codes()
    _validate(blocks.rows, codes, classes)
    if not blocks.in_memory:
        index, drawn = blocks.draw(min(SAMPLE_ROWS, blocks.n_rows), len(classes))
        some = replace(drawn.design, raw=drawn.design.raw)
        found = _of_sample(some, np.asarray(drawn.target), classes, opened, fit_intercept, hyperplane, random_state)
        if found.verdict == OVERLAPPING and not found.aliased:
            return _of_all(found, index, blocks, codes)
    return decide(blocks.rows, codes, classes, opened.feature_names, fit_intercept, hyperplane, random_state)


def _of_sample(design: Any, codes: Any, classes: Any, opened: Any, *options: Any) -> Separability:
    from discriminant.data import as_rows

    return decide(as_rows(design.raw), codes, classes, opened.feature_names, *options)


def _of_all(found: Separability, index: Any, blocks: Any, codes: Any) -> Separability:
    """The same verdict and witness, told of all rows."""
    assert found.witness is not None
    cone = replace(found._cone, source=blocks.rows, codes=codes, _integers={})
    note = f"Proved by rows of a sample of {len(index):,}: rows that overlap stay so when more are added."
    return replace(
        found,
        witness=replace(found.witness, rows=np.asarray(index)[found.witness.rows]),
        shape=blocks.rows.shape,
        multipliers={(int(index[i]), k): value for (i, k), value in found.multipliers.items()},
        notes=(*found.notes, note),
        _cone=cone,
    )
