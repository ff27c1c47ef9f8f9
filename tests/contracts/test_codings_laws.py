"""The laws of a coding: its own targets name each class, and the order of the classes does not matter."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from contracts.registry import CODINGS, coding_name
from discriminant.codings import ClassCoding

pytestmark = pytest.mark.parametrize("coding", CODINGS, ids=coding_name)


def own_scores(coding):
    """What the outputs say when each meets its target: silent (at the threshold) where the class does not care.

    Where targets live on another scale than scores (probabilities against a threshold of 0), the side is what counts.
    """
    middle = (coding.targets.min(axis=0) + coding.targets.max(axis=0)) / 2
    shift = 0.0 if coding.decoder == "nearest" else coding.threshold - middle
    if coding.speakers is not None and coding.n_outputs == coding.n_classes:
        shift = 0.0  # one output a class: only the order of the scores counts
    return np.where(coding.care > 0, coding.targets + shift, coding.threshold)


def test_coding_meets_the_protocol(coding):
    assert isinstance(coding, ClassCoding)
    assert coding.targets.shape == coding.care.shape == (coding.n_classes, coding.n_outputs)
    assert np.isin(coding.care, (0, 1)).all()
    assert np.isfinite(coding.targets).all()


def test_targets_name_their_own_class(coding):
    scores = coding.decode(own_scores(coding))
    assert scores.shape == (coding.n_classes, coding.n_classes)
    np.testing.assert_array_equal(scores.argmax(axis=1), np.arange(coding.n_classes))
    ranked = np.sort(scores, axis=1)
    assert (ranked[:, -1] > ranked[:, -2]).all()


def test_permuting_classes_permutes_scores(coding):
    rng = np.random.default_rng(0)
    z, order = rng.standard_normal((30, coding.n_outputs)), rng.permutation(coding.n_classes)
    np.testing.assert_allclose(coding.permuted(order).decode(z), coding.decode(z)[:, order], atol=1e-14)


def test_linear_map_is_the_decoder_where_it_is_linear(coding):
    z = np.random.default_rng(1).standard_normal((30, coding.n_outputs))
    found = coding.linear_map()
    assert (found is not None) == (coding.decoder in ("maximum", "sum"))
    if found is not None:
        np.testing.assert_allclose(z @ found[0].T + found[1], coding.decode(z), atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_kept_and_rows_do_not_mix(coding, dtype):
    z = np.random.default_rng(2).standard_normal((30, coding.n_outputs)).astype(dtype)
    scores = coding.decode(z)
    assert scores.dtype == dtype
    rows = np.vstack([coding.decode(z[i : i + 1]) for i in range(len(z))])
    np.testing.assert_allclose(rows, scores, rtol=1e-5, atol=1e-6)
    assert coding.decide(z).shape == (30,)


def test_coding_survives_pickling(coding):
    z = np.random.default_rng(3).standard_normal((5, coding.n_outputs))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(coding)).decode(z), coding.decode(z))


def test_only_unanimous_rejects(coding):
    z = np.random.default_rng(4).standard_normal((500, coding.n_outputs))
    rejected = (coding.decide(z) == -1).any()
    assert rejected == (coding.decoder == "unanimous")
