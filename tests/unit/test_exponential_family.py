"""ExponentialFamilyClassifier: the densities written out, scikit-learn's naive Bayes, every storage, and sentences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

import discriminant
from discriminant import ExponentialFamilyClassifier, scan
from discriminant.data import make_blocks
from discriminant.errors import DataError, MismatchError, ParameterError
from discriminant.gaussian.exponential_family import ClassSumKernel

FAMILIES = ["bernoulli", "multinomial", "poisson", "exponential"]


def sample(family: str, K: int = 3, n: int = 240, d: int = 6, seed: int = 0) -> tuple[Any, Any]:
    """Rows of the family, with classes that differ."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    means = rng.gamma(4.0, 0.5, size=(K, d))[y]
    if family == "bernoulli":
        return (rng.random((n, d)) < means / (means + 2)).astype(float), y
    if family == "exponential":
        return rng.exponential(means), y
    return rng.poisson(3 * means).astype(float), y


def same(a: Any, b: Any, X: Any, rtol: float = 1e-12) -> None:
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=rtol, atol=1e-12)
    np.testing.assert_allclose(a.predict_log_proba(X), b.predict_log_proba(X), rtol=rtol, atol=1e-12)


# The densities


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("family", FAMILIES)
def test_posteriors_are_those_of_the_densities_written_out(family: str, K: int) -> None:
    """P(C_k|x) ∝ P_k Π_j p(x_j|C_k), by SciPy's densities at the maximum of the likelihood."""
    X, y = sample(family, K, n=600)
    model = ExponentialFamilyClassifier(family, smoothing=0).fit(X, y)
    mean = np.stack([X[y == k].mean(axis=0) for k in range(K)])
    joint = np.log(np.bincount(y) / len(y)) + np.zeros((len(X), K))
    for k in range(K):
        if family == "bernoulli":
            joint[:, k] += stats.bernoulli.logpmf(X.astype(int), mean[k]).sum(axis=1)
        elif family == "multinomial":
            joint[:, k] += stats.multinomial.logpmf(X.astype(int), X.sum(axis=1).astype(int), mean[k] / mean[k].sum())
        elif family == "poisson":
            joint[:, k] += stats.poisson.logpmf(X.astype(int), mean[k]).sum(axis=1)
        else:
            joint[:, k] += stats.expon.logpdf(X, scale=mean[k]).sum(axis=1)
    expected = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(X), expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(model.predict(X), joint.argmax(axis=1))


@pytest.mark.parametrize("smoothing", [1.0, 0.3])
@pytest.mark.parametrize("K", [2, 5])
@pytest.mark.parametrize(("family", "peer"), [("bernoulli", BernoulliNB), ("multinomial", MultinomialNB)])
def test_log_probabilities_are_those_of_scikit_learn(family: str, peer: Any, K: int, smoothing: float) -> None:
    X, y = sample(family, K)
    weight = np.random.default_rng(1).random(len(y))
    for w in (None, weight):
        ours = ExponentialFamilyClassifier(family, smoothing).fit(X, y, sample_weight=w)
        theirs = peer(alpha=smoothing).fit(X, y, sample_weight=w)
        np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-12, atol=1e-12)
    given = np.arange(1, K + 1) / np.arange(1, K + 1).sum()
    ours = ExponentialFamilyClassifier(family, smoothing, priors=given).fit(X, y)
    theirs = peer(alpha=smoothing, class_prior=given).fit(X, y)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        ExponentialFamilyClassifier(family, smoothing).fit(X, y).predict_log_proba(X, priors=given),
        theirs.predict_log_proba(X), rtol=1e-12, atol=1e-12,
    )  # fmt: skip


def test_smoothing_adds_rows_at_the_mean_of_all() -> None:
    """Poisson and exponential: (S_k + a m) / (W_k + a), the same whatever the unit of x."""
    X, y = sample("exponential")
    a = 2.5
    expected = np.stack([(X[y == k].sum(axis=0) + a * X.mean(axis=0)) / ((y == k).sum() + a) for k in range(3)])
    for family in ("poisson", "exponential"):
        model = ExponentialFamilyClassifier(family, smoothing=a).fit(X, y)
        np.testing.assert_allclose(model.means_, expected, rtol=1e-13)
    other = ExponentialFamilyClassifier("exponential", smoothing=a).fit(1e6 * X, y)
    np.testing.assert_allclose(other.predict_proba(1e6 * X), model.predict_proba(X), rtol=1e-10)


def test_one_density_for_each_column_is_the_sum_of_their_scores() -> None:
    parts = {family: sample(family, d=2)[0] for family in FAMILIES}
    y = sample("poisson")[1]
    X = np.hstack(list(parts.values()))
    families = np.repeat(FAMILIES, 2)
    mixed = ExponentialFamilyClassifier(families).fit(X, y)
    uniform = [1 / 3] * 3
    alone = [ExponentialFamilyClassifier(f, priors=uniform).fit(part, y).predict_log_proba(part)
             for f, part in parts.items()]  # fmt: skip
    joint = sum(alone) + np.log(mixed.priors_)
    expected = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    np.testing.assert_allclose(mixed.predict_log_proba(X), expected, rtol=1e-9, atol=1e-10)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    by_name = ExponentialFamilyClassifier(dict(zip(frame.columns, families, strict=True))).fit(frame, y)
    by_place = ExponentialFamilyClassifier(dict(enumerate(families))).fit(frame, y)
    for model in (by_name, by_place):
        np.testing.assert_allclose(model.coef_, mixed.coef_, rtol=1e-13)
    order = np.random.default_rng(0).permutation(8)
    shuffled = ExponentialFamilyClassifier(families[order]).fit(X[:, order], y)
    np.testing.assert_allclose(shuffled.coef_, mixed.coef_[:, order], rtol=1e-12)


# Storages, parts, files


@pytest.mark.parametrize("family", FAMILIES)
def test_what_holds_the_numbers_does_not_change_the_answer(family: str, tmp_path: Path) -> None:
    X, y = sample(family)
    X[:, 0] = 0.0
    X[::3, 0] = 1.0
    model = ExponentialFamilyClassifier(family).fit(X, y)
    for form in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array, np.asfortranarray, pd.DataFrame):
        rows = form(X)
        other = ExponentialFamilyClassifier(family).fit(rows, y)
        np.testing.assert_allclose(other.predict_log_proba(rows), model.predict_log_proba(X), rtol=1e-11)
    if family != "exponential":
        same(ExponentialFamilyClassifier(family).fit(X.astype(np.int8), y), model, X)
    frame = pd.DataFrame(X).add_prefix("x")
    single = ExponentialFamilyClassifier(family).fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float32
    frame.assign(label=y).to_parquet(tmp_path / "rows.parquet")
    read = ExponentialFamilyClassifier(family).fit(scan(tmp_path / "rows.parquet", target="label"))
    np.testing.assert_allclose(read.predict_log_proba(frame), model.predict_log_proba(X), rtol=1e-11)
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    same(ExponentialFamilyClassifier(family).fit(da.from_array(X, chunks=(70, -1)), y), model, X)


@pytest.mark.parametrize("family", FAMILIES)
def test_parts_and_merged_models_are_the_model_of_all_rows(family: str) -> None:
    X, y = sample(family)
    weight = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    whole = ExponentialFamilyClassifier(family).fit(X, y, sample_weight=weight)
    parts = ExponentialFamilyClassifier(family)
    for rows in np.array_split(np.arange(len(y)), 4):
        parts.partial_fit(X[rows], y[rows], classes=[0, 1, 2], sample_weight=weight[rows])
    same(parts, whole, X)
    a = ExponentialFamilyClassifier(family).fit(X[:100], y[:100], sample_weight=weight[:100])
    b = ExponentialFamilyClassifier(family).fit(X[100:], y[100:], sample_weight=weight[100:])
    same(a.merge(b), whole, X)
    repeated = np.repeat(np.arange(len(y)), weight.astype(int))
    same(ExponentialFamilyClassifier(family).fit(X[repeated], y[repeated]), whole, X)
    with pytest.raises(MismatchError, match="equal parameters"):
        a.merge(ExponentialFamilyClassifier(family, smoothing=2.0).fit(X, y))


def test_a_class_that_has_not_come_yet_waits() -> None:
    X, y = sample("poisson")
    model = ExponentialFamilyClassifier("poisson").partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    assert not hasattr(model, "coef_")
    assert hasattr(model.partial_fit(X[y == 2], y[y == 2]), "coef_")


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_blocks_of_rows_add(rows: int) -> None:
    X, y = sample("poisson", K=40)
    expected = np.stack([X[y == k].sum(axis=0) for k in range(40)])
    for form in (X, sparse.csr_array(X)):
        blocks = replace(make_blocks(form, y), block_rows=rows)
        found = blocks.reduce(ClassSumKernel(40, (("poisson", slice(None)),)))
        np.testing.assert_allclose(found.sums, expected, rtol=1e-13)
        assert found.outside == 0


def test_the_rows_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from discriminant.data.blocks import ArrayBlocks

    passes = []
    reduce = ArrayBlocks.reduce
    monkeypatch.setattr(ArrayBlocks, "reduce", lambda self, kernel: (passes.append(kernel), reduce(self, kernel))[1])
    ExponentialFamilyClassifier("poisson").fit(*sample("poisson"))
    assert len(passes) == 1


@pytest.mark.parametrize("K", [2, 3])
def test_a_model_is_saved_exported_and_explained(K: int, tmp_path: Path) -> None:
    X, y = sample("poisson", K)
    model = ExponentialFamilyClassifier(["poisson"] * 6).fit(X, y)
    discriminant.save(model, tmp_path / "model", X=X)
    again = discriminant.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_log_proba(X), model.predict_log_proba(X))
    same(again.partial_fit(X, y), ExponentialFamilyClassifier(["poisson"] * 6).fit(np.r_[X, X], np.r_[y, y]), X)
    np.testing.assert_allclose(model.scorer()(X), model.predict_proba(X), rtol=1e-10)
    assert "CASE" in discriminant.to_sql(model, table="t")
    total = model.explain(X[:2], reference=np.zeros(6)).values.sum(axis=1)
    assert np.isfinite(total).all()
    assert "poisson" in model.certificate_.status
    assert model.plan(X, y).method == "moments"


def test_the_certificate_has_the_mean_joint_log_loss() -> None:
    """J = −(1/N) Σ ln p(x, C), here of Bernoulli columns, for which h = 1."""
    X, y = sample("bernoulli")
    model = ExponentialFamilyClassifier("bernoulli").fit(X, y)
    p = model.means_[y]
    joint = np.log(model.priors_[y]) + (X * np.log(p) + (1 - X) * np.log(1 - p)).sum(axis=1)
    assert model.certificate_.objective == pytest.approx(-joint.mean(), rel=1e-12)


# Edges


@pytest.mark.parametrize("family", FAMILIES)
def test_a_column_of_zeros_tells_nothing(family: str) -> None:
    X, y = sample(family)
    more = np.c_[X, np.zeros(len(y))]
    without = ExponentialFamilyClassifier(family, smoothing=0).fit(X, y)
    model = ExponentialFamilyClassifier(family, smoothing=0).fit(more, y)
    np.testing.assert_allclose(model.predict_log_proba(more), without.predict_log_proba(X), rtol=1e-11)


def test_certainty_without_smoothing_is_refused_by_column_and_class() -> None:
    X, y = sample("bernoulli")
    X[y == 1, 2] = 1.0
    with pytest.raises(DataError, match=r"Column 2 is 1 in every row of class 1.*smoothing > 0"):
        ExponentialFamilyClassifier("bernoulli", smoothing=0).fit(X, y)
    X, y = sample("poisson")
    X[y == 0, 3] = 0.0
    frame = pd.DataFrame(X, columns=list("abcdef"))
    with pytest.raises(DataError, match=r"olumn 'd' is 0 in every row of class 0.*smoothing > 0"):
        ExponentialFamilyClassifier("poisson", smoothing=0).fit(frame, y)
    ExponentialFamilyClassifier("poisson").fit(frame, y)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("family", "value"), [("poisson", -1.0), ("bernoulli", 2.0), ("bernoulli", 0.5),
                                               ("multinomial", -0.5), ("exponential", -3.0)])  # fmt: skip
def test_values_that_a_density_does_not_have_are_named(family: str, value: float, form: Any) -> None:
    X, y = sample(family)
    X[7, 4] = value
    with pytest.raises(DataError, match=f"column 4.*{family} density"):
        ExponentialFamilyClassifier(family).fit(form(X), y)
    weight = np.ones(len(y))
    weight[7] = 0.0  # what does not count does not matter
    ExponentialFamilyClassifier(family).fit(form(X), y, sample_weight=weight)


def test_a_missing_value_is_named() -> None:
    X, y = sample("poisson")
    X[7, 4] = np.nan
    with pytest.raises(DataError, match="NaN: column 4 in row 7"):
        ExponentialFamilyClassifier("poisson").fit(X, y)


def test_families_that_do_not_fit_the_columns_are_refused() -> None:
    X, y = sample("poisson")
    for family, text in (
        (["poisson"] * 5, "5 entries and there are 6 columns"),
        (["poisson"] * 5 + ["gamma"], "'gamma' is not known"),
        ({0: "poisson"}, "no density for columns 1, 2"),
        ({"z": "poisson"}, "names the column 'z'"),
    ):
        with pytest.raises(ParameterError, match=text):
            ExponentialFamilyClassifier(family).fit(X, y)
