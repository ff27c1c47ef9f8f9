"""The laws of designs and blocks: one linear map whatever the storage, one sum whatever the cut."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from discriminant.criteria import Logistic
from discriminant.data import ArrayBlocks, make_blocks
from discriminant.data.rows import Design

rng = np.random.default_rng(0)
X = rng.integers(-3, 4, (37, 5)) * (rng.random((37, 5)) < 0.6).astype(float)
NAMES = [f"x{j}" for j in range(5)]

STORAGES = {
    "C order": lambda: X,
    "Fortran order": lambda: np.asfortranarray(X),
    "float32": lambda: X.astype(np.float32),
    "int8": lambda: X.astype(np.int8),
    "strided": lambda: np.repeat(X, 2, axis=1)[:, ::2],
    "csr matrix": lambda: sp.csr_matrix(X),
    "csr array, 64-bit": lambda: _wide(sp.csr_array(X)),
    "csc matrix": lambda: sp.csc_matrix(X),
    "csr float32": lambda: sp.csr_matrix(X.astype(np.float32)),
    "pandas": lambda: pd.DataFrame(X, columns=NAMES),
    "polars": lambda: pl.DataFrame(X, schema=NAMES),
}
storages = pytest.mark.parametrize("storage", list(STORAGES))


def _wide(matrix):
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def whole(storage):
    """All rows as one design."""
    (block,) = make_blocks(STORAGES[storage](), block_rows=len(X))
    return block.design


@storages
def test_design_meets_the_protocol(storage):
    design = whole(storage)
    assert isinstance(design, Design)
    assert design.shape == (37, 6)


@storages
def test_adjoint_is_the_adjoint_of_scores(storage):
    """⟨YA, G⟩ = ⟨A, YᵗG⟩."""
    design, A, G = whole(storage), rng.standard_normal((6, 3)), rng.standard_normal((37, 3))
    assert (design.scores(A) * G).sum() == pytest.approx((A * design.adjoint(G)).sum(), rel=1e-12)


@storages
def test_every_storage_is_the_same_map(storage):
    Y = np.hstack([np.ones((37, 1)), X])
    design, A, G, w = whole(storage), rng.standard_normal((6, 2)), rng.standard_normal((37, 2)), rng.random(37)
    np.testing.assert_allclose(design.scores(A), Y @ A, atol=1e-12)
    np.testing.assert_allclose(design.adjoint(G), Y.T @ G, atol=1e-12)
    np.testing.assert_allclose(design.sandwich(w), Y.T @ (Y * w[:, None]), atol=1e-12)
    np.testing.assert_allclose(design.squared_norms(), np.square(Y[:, 1:]).sum(axis=1), rtol=1e-14)


class Sums:
    """A kernel of the kinds that are used: a number, an array, and a class count, in one tuple."""

    def __call__(self, block):
        z = block.design.scores(np.full((6, 1), 0.1))
        loss = Logistic().value(block.target[:, None], z)
        weight = np.ones(block.rows) if block.weight is None else block.weight
        return (
            float(weight @ loss[:, 0]),
            block.design.adjoint(weight[:, None] * z),
            np.bincount(block.target, weight, 2),
        )


@storages
@pytest.mark.parametrize("block_rows", [1, 2, 7, 36, 37, 1000])
def test_any_partition_gives_one_answer(storage, block_rows):
    target, weight = rng.integers(2, size=37), rng.random(37)
    expected = make_blocks(X, target, weight).reduce(Sums())
    blocks = make_blocks(STORAGES[storage](), target, weight, block_rows)
    assert isinstance(blocks, ArrayBlocks)
    for found, wanted in zip(blocks.reduce(Sums()), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_any_order_of_rows_gives_one_answer(seed):
    order = np.random.default_rng(seed).permutation(37)
    target, weight = rng.integers(2, size=37), rng.random(37)
    expected = make_blocks(X, target, weight).reduce(Sums())
    found = make_blocks(X[order], target[order], weight[order], 5).reduce(Sums())
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_blocks_can_be_walked_again_and_cover_every_row_once():
    blocks = make_blocks(X, np.arange(37), block_rows=8)
    for _ in range(2):
        starts = [(block.start, block.rows) for block in blocks]
        assert starts == [(0, 8), (8, 8), (16, 8), (24, 8), (32, 5)]
        np.testing.assert_array_equal(np.concatenate([block.target for block in blocks]), np.arange(37))


def test_the_bits_do_not_depend_on_the_number_of_threads(monkeypatch):
    big, target = np.random.default_rng(1).standard_normal((60_000, 8)), np.zeros(60_000, dtype=int)

    def answer(threads):
        monkeypatch.setenv("DISCRIMINANT_NUM_THREADS", str(threads))
        kernel = Product()
        return make_blocks(big, target).reduce(kernel)

    np.testing.assert_array_equal(answer(1), answer(3))


class Product:
    def __call__(self, block):
        return block.design.adjoint(block.design.scores(np.full((9, 1), 0.3)))
