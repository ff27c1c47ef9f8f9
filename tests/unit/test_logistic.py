"""The logistic regression estimator: storage, parameters, certificates, and that a row sample never hurts."""

from __future__ import annotations

import json
import pickle
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as Theirs

from discriminant import LogisticRegression
from discriminant.data import make_blocks
from discriminant.data.scaling import choose_scaling
from discriminant.errors import DataError, DiscriminantWarning, ParameterError
from discriminant.objective import logistic_objective
from discriminant.optimize import sampled
from discriminant.optimize.automatic import minimize, written_out
from discriminant.optimize.choose import Shape, choose
from discriminant.optimize.newton import Trace, newton_to_gap


def data(n=200, d=5, K=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X @ rng.standard_normal((d, K)) + rng.gumbel(size=(n, K))).argmax(axis=1)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_same_optimum_as_scikit_learn(K, intercept, C):
    X, y = data(K=K)
    ours = LogisticRegression(C=C, fit_intercept=intercept).fit(X, y)
    theirs = Theirs(C=C, fit_intercept=intercept, solver="newton-cholesky", tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-7)
    assert ours.intercept_.shape == theirs.intercept_.shape
    assert ours.n_iter_.shape == (1,)


@pytest.mark.parametrize("K", [2, 3])
def test_any_storage_gives_one_answer(K, tmp_path):
    X, y = data(K=K)
    X = np.round(4 * X)
    expected = LogisticRegression().fit(X, y).coef_
    np.save(tmp_path / "X.npy", X)
    stores = {
        "fortran": np.asfortranarray(X),
        "int8": X.astype(np.int8),
        "memmap": np.load(tmp_path / "X.npy", mmap_mode="r"),
        "csr": sparse.csr_array(X),
        "csc": sparse.csc_matrix(X),
        "pandas": pd.DataFrame(X, columns=list("abcde")),
        "list": X.tolist(),
    }
    for name, store in stores.items():
        model = LogisticRegression().fit(store, y)
        np.testing.assert_allclose(model.coef_, expected, rtol=1e-10, err_msg=name)
        np.testing.assert_allclose(model.decision_function(store)[:3], model.decision_function(store)[:3])
    np.testing.assert_allclose(LogisticRegression().fit(X.astype(np.float32), y).coef_, expected, rtol=1e-5)


def test_big_float_sum_of_blocks_does_not_depend_on_the_cut():
    X, y = data(n=3000, d=80)
    one = minimize(logistic_objective(make_blocks(X, y), 2, 1e-3))
    cut = minimize(logistic_objective(make_blocks(X, y, block_rows=77), 2, 1e-3))
    np.testing.assert_allclose(one.weights, cut.weights, rtol=1e-10, atol=1e-13)


def test_parameters_are_refused_in_sentences():
    X, y = data()
    for name, value in {"C": -1, "tol": "a", "l1_ratio": 2.0, "solver": "x", "max_iter": -1, "C ": None}.items():
        if name.strip() != name:
            continue
        with pytest.raises(ParameterError, match=name):
            LogisticRegression(**{name: value}).fit(X, y)
    with pytest.raises(ParameterError, match="supports only 'l2' or None penalties"):
        LogisticRegression(l1_ratio=1, solver="lbfgs").fit(X, y)
    with pytest.raises(ParameterError, match="liblinear"):
        LogisticRegression(solver="liblinear").fit(*data(K=3))


def test_deprecations_of_scikit_learn_warn():
    X, y = data()
    with pytest.warns(FutureWarning, match="'penalty' was deprecated"):
        model = LogisticRegression(penalty=None).fit(X, y)
    np.testing.assert_allclose(model.coef_, LogisticRegression(C=np.inf).fit(X, y).coef_)
    with pytest.warns(FutureWarning, match="'n_jobs' has no effect"):
        LogisticRegression(n_jobs=2).fit(X, y)
    with pytest.warns(FutureWarning, match="l1_ratio=None"):
        LogisticRegression(l1_ratio=None).fit(X, y)


def test_bad_data_are_refused_by_name():
    X, y = data()
    X[3, 1] = np.nan
    with pytest.raises(DataError, match="column 'b' in row 3"):
        LogisticRegression().fit(pd.DataFrame(X, columns=list("abcde")), y)
    with pytest.raises(DataError, match="one class only"):
        LogisticRegression().fit(X[:, 2:], np.zeros(len(y)))
    with pytest.raises(DataError, match="class probabilities"):
        LogisticRegression().fit(X[:, 2:], np.full((len(y), 2), 0.7))


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = data()
    model = LogisticRegression().fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(DataError):
        model.fit(np.full_like(X, np.nan), y)
    np.testing.assert_array_equal(model.coef_, before)


def test_warm_start_takes_fewer_steps_and_ends_at_the_same_place():
    X, y = data(n=500)
    model = LogisticRegression(warm_start=True).fit(X, y)
    first, coef = int(model.n_iter_[0]), model.coef_
    model.fit(X, y)
    assert model.n_iter_[0] < first
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-12)


def test_offset_moves_the_intercept_and_is_a_known_score():
    X, y = data()
    plain = LogisticRegression().fit(X, y)
    moved = LogisticRegression().fit(X, y, offset=np.full(len(y), 2.0))
    np.testing.assert_allclose(moved.intercept_, plain.intercept_ - 2, rtol=1e-9)
    np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-9)
    with pytest.raises(DataError, match="offset"):
        LogisticRegression().fit(X, y, offset=np.zeros(3))


def test_class_weights_match_sample_weights():
    X, y = data(K=3)
    by_class = LogisticRegression(class_weight={0: 1.0, 1: 3.0, 2: 0.5}).fit(X, y)
    by_row = LogisticRegression().fit(X, y, np.array([1.0, 3.0, 0.5])[y])
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, rtol=1e-12)
    balanced = LogisticRegression(class_weight="balanced").fit(X, y)
    theirs = Theirs(class_weight="balanced", solver="newton-cholesky", tol=1e-10).fit(X, y)
    np.testing.assert_allclose(balanced.coef_, theirs.coef_, rtol=1e-7, atol=1e-12)


def test_collinear_columns_without_a_penalty_give_the_shortest_weights():
    X, y = data(n=300)
    doubled = LogisticRegression(C=np.inf).fit(np.column_stack([X, X[:, 0]]), y)
    plain = LogisticRegression(C=np.inf).fit(X, y)
    np.testing.assert_allclose(doubled.coef_[0, [0, 5]], plain.coef_[0, 0] / 2, rtol=1e-8)
    np.testing.assert_allclose(doubled.coef_[0, 1:5], plain.coef_[0, 1:], rtol=1e-8)


def test_constant_columns_carry_no_weight():
    X, y = data()
    model = LogisticRegression(C=np.inf).fit(np.column_stack([X, np.full(len(y), 7.3)]), y)
    assert model.coef_[0, 5] == 0
    np.testing.assert_allclose(model.coef_[0, :5], LogisticRegression(C=np.inf).fit(X, y).coef_[0], rtol=1e-9)


def test_coefficients_that_the_user_sets_are_used():
    X, y = data()
    model = LogisticRegression().fit(X, y)
    model.coef_[:] = 0
    model.intercept_[:] = 1
    np.testing.assert_array_equal(model.decision_function(X[:3]), 1)
    model.coef_ = np.ones((1, 5))
    np.testing.assert_allclose(model.decision_function(X), X.sum(axis=1) + 1)
    again = LogisticRegression().fit(X, y)
    dense = again.decision_function(X)
    np.testing.assert_allclose(again.sparsify().decision_function(X), dense)
    np.testing.assert_allclose(again.densify().decision_function(X), dense)


def test_certificate_history_and_plan_tell_what_happened():
    X, y = data()
    model = LogisticRegression().fit(X, y)
    certificate = model.certificate_
    assert certificate.converged
    assert certificate.bound <= certificate.objective
    assert certificate.passes > 0
    assert (np.diff(model.history_["objective"]) <= 1e-15).all()
    assert "newton" in str(model.plan(X, y))
    assert "scikit-learn's name" in LogisticRegression(solver="lbfgs").plan(X, y).why
    assert not hasattr(LogisticRegression(), "classes_")


def test_model_survives_a_pickle_and_a_clone():
    X, y = data(K=3)
    model = LogisticRegression(C=2).fit(X, y)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    assert clone(model).C == 2


def test_log_probabilities_are_finite_in_the_far_tail():
    X, y = data()
    model = LogisticRegression().fit(X, y)
    far = model.predict_log_proba(X * 1e4)
    assert np.isfinite(far).all()
    assert far.min() < -1000


@pytest.mark.parametrize("K", [2, 3])
def test_rows_in_parts_come_near_to_all_rows_at_once(K):
    """One part: the exact fit.  Twenty parts: well within a standard error."""
    X, y = data(n=4000, K=K)
    whole = LogisticRegression().fit(X, y)
    one = LogisticRegression().partial_fit(X, y, classes=np.arange(K))
    np.testing.assert_allclose(one.coef_, whole.coef_, rtol=1e-8)
    parts = LogisticRegression()
    for part in np.split(np.arange(4000), 20):
        parts.partial_fit(X[part], y[part], classes=np.arange(K))
    assert np.abs(parts.coef_ - whole.coef_).max() < 0.04  # a standard error is 0.06
    with pytest.raises(DataError, match="first call"):
        LogisticRegression().partial_fit(X, y)


def test_quasi_separated_classes_without_a_penalty_are_named():
    X, y = data(n=300)
    X = np.column_stack([X, np.isin(np.arange(300), np.flatnonzero(y == 1)[:20])])
    with pytest.warns(UserWarning, match=r"quasi-separable.*column 5"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert not model.certificate_.converged
    assert model.certificate_.separability.verdict == "quasi-separable"


def test_the_table_covers_every_shape():
    assert choose(Shape(100, 2000, 1)).method == "newton-in-row-space"
    assert choose(Shape(10**6, 4, 1)).method in ("newton", "sampled-newton")
    assert choose(Shape(200_000, 100, 20)).method == "gram-quasi-newton"
    assert choose(Shape(200_000, 100_000, 1, True, 20_000_000)).method == "diagonal-quasi-newton"


# Large problems, made small: the methods of the table by name

LARGE = {"heavy": 1, "rare dummy": 2, "sorted": 3, "plain": 4, "unscaled": 5, "offset": 6}


def large(kind, n=60_000, d=20):
    rng = np.random.default_rng(LARGE[kind])
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d) / np.sqrt(d)
    if kind == "heavy":
        X[:, :5] = rng.standard_t(1.5, (n, 5))
    if kind == "rare dummy":
        X[:, 0] = 0
        X[rng.choice(n, 10, replace=False), 0] = 1
        X[:, 1] = rng.random(n) < 1e-4
    y = (X @ w + rng.logistic(size=n) > 0).astype(int)
    if kind == "sorted":
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    if kind == "unscaled":
        X = X * 10.0 ** rng.uniform(-4, 4, d)
    if kind == "offset":
        X = X + 10.0 ** rng.uniform(-1, 6, d)
    return X, y


def scaled(objective):
    return objective.scaled(choose_scaling(objective.blocks, objective.intercept))


@pytest.mark.parametrize("kind", LARGE)
def test_the_row_sample_never_hurts(kind):
    """The same optimum as exact Newton steps on all rows, in few passes, whatever the sample saw."""
    X, y = large(kind)
    objective = scaled(logistic_objective(make_blocks(X, y.astype(np.uint8)), 2, 1 / len(y)))
    trace, zero = Trace(), np.zeros((X.shape[1] + 1, 1))
    state = sampled.by_sampled_hessian(objective, zero, trace, 1e-8)
    exact = newton_to_gap(objective, zero, Trace(), 1e-12, to_the_end=True)
    assert state.gap <= 1e-8 * state.found.value
    assert state.found.value - exact.found.value <= state.gap + 1e-15 * state.found.value  # the rounding of J itself
    assert trace.passes <= 16


def test_a_class_of_three_rows_is_in_the_sample():
    X, y = large("plain")
    y = np.where(y == 1, 2, 0)
    y[[10, 500, 40_000]] = 1
    index, rows = make_blocks(X, y.astype(np.uint8)).draw(2_000, 3)
    weight = np.asarray(rows.weight)
    assert (y[index] == 1).sum() == 3
    np.testing.assert_allclose([weight[y[index] == k].sum() for k in range(3)], np.bincount(y), rtol=1e-12)


def test_sparse_wide_rows_reach_the_dense_optimum():
    rng = np.random.default_rng(1)
    X = sparse.random_array((3000, 400), density=0.03, rng=rng, format="csr")
    y = (X @ rng.standard_normal(400) + 0.3 * rng.logistic(size=3000) > 0).astype(np.uint8)
    for K in (2, 3):
        codes = y if K == 2 else (y + (rng.random(3000) < 0.3)).astype(np.uint8)
        objective = scaled(logistic_objective(make_blocks(X, codes), K, 1 / 3000))
        zero = np.zeros((401, objective.n_outputs))
        state = sampled.by_diagonal(objective, zero, Trace(), 1e-9)
        assert state.gap <= 1e-9 * state.found.value
        theirs = Theirs(solver="newton-cg", tol=1e-9, max_iter=500).fit(X, codes)
        ours = (state.A / objective.units)[1:].T
        np.testing.assert_allclose(ours - ours.mean(axis=0) * (K > 2), theirs.coef_, atol=2e-3)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_fit_takes_a_tenth_of_the_memory_of_the_rows(order):
    """No copy of X, whatever its order: 64 MB of rows, a tenth of them, and a constant for the sample."""

    rng = np.random.default_rng(0)
    X = np.asarray(rng.standard_normal((400_000, 20)), order=order)
    y = (X[:, 0] + rng.logistic(size=400_000) > 0).astype(np.uint8)
    LogisticRegression().fit(X, y)  # what is compiled on first use is not the fit's
    tracemalloc.start()
    LogisticRegression().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * X.nbytes + 4e6


SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


TABLES = ["anes96", "birthwt", "breast_cancer", "default_islr", "digits", "iris", "penguins", "saheart", "smarket"]
TABLES += ["spector", "vowel"]


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data sets are not on this machine")
@pytest.mark.parametrize("name", TABLES)
def test_every_shared_data_set_is_certified_without_a_warning(name):
    target = {e["name"]: e["target"] for e in json.loads((SHARED / "manifest.json").read_text())}[name]
    frame = pd.read_csv(SHARED / name / "data.csv").dropna()
    X = pd.get_dummies(frame.drop(columns=[c for c in (target, "split") if c in frame]), dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression().fit(X.to_numpy(float), frame[target].to_numpy())
    assert model.certificate_.converged
    assert model.certificate_.gap < 1e-12


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data sets are not on this machine")
def test_words_of_messages_are_certified_without_a_warning():
    from sklearn.feature_extraction.text import TfidfVectorizer

    frame = pd.read_parquet(SHARED / "sms_spam" / "data.parquet")
    X = TfidfVectorizer().fit_transform(frame["text"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression().fit(X, frame["label"].to_numpy())
    assert model.certificate_.converged


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data sets are not on this machine")
def test_pictures_of_clothes_are_certified_without_a_warning():
    """Every 20th picture: 3,000 × 784 × 10, the way of the whole: classes' curvatures from the rows that carry them."""
    frame = pd.read_parquet(SHARED / "fashion_mnist" / "data.parquet").iloc[::20]
    X = frame[[f"p{j}" for j in range(784)]].to_numpy(np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(C=1e-4, tol=1e-4).fit(X, frame["label"].to_numpy())
    assert model.certificate_.converged
    assert model.plan(X, frame["label"].to_numpy()).method == "gram-quasi-newton"


# Parts that large problems rest on


def test_the_dual_gap_bounds_the_true_one_on_sparse_rows():
    """Along a descent, from the first step: J − min J ≤ the duality gap, with the intercept's part repaired."""
    from discriminant.optimize.certificate import dual_gap

    rng = np.random.default_rng(1)
    X = sparse.random(5_000, 800, 0.06, format="csr", random_state=0)
    y = (X @ rng.standard_normal(800) + 0.3 + rng.logistic(size=5_000) > 0).astype(np.uint8)
    least = minimize(logistic_objective(make_blocks(X.toarray(), y), 2, 1e-3), 1e-12).objective
    objective = scaled(logistic_objective(make_blocks(X, y), 2, 1e-3))
    A = np.zeros((801, 1))
    for _ in range(5):
        found = objective.evaluate(A)
        assert dual_gap(objective, A, found) >= found.value - least
        A = A - 0.5 * found.gradient
    fit = LogisticRegression(C=1 / (1e-3 * 5_000)).fit(X, y)
    assert fit.certificate_.converged
    assert fit.certificate_.objective == pytest.approx(least, rel=1e-7)


@pytest.mark.parametrize("order", ["C", "F", "float32", "integers"])
def test_a_sample_is_its_rows_with_weights_that_stand_for_all(order):
    rng = np.random.default_rng(2)
    X = np.round(rng.standard_normal((30_000, 9)) * 10.0 ** np.arange(-2, 7) + 100.0)
    forms = {"F": np.asfortranarray(X), "float32": X.astype(np.float32), "integers": X.astype(np.int64), "C": X}
    objective = logistic_objective(make_blocks(forms[order], rng.integers(0, 2, 30_000)), 2, 1.0)
    index, rows = objective.blocks.draw(2_000, 2)
    sample = sampled.drawn(objective, 2_000)
    np.testing.assert_array_equal(sample.blocks.rows.X, forms[order][index])
    np.testing.assert_array_equal(sample.blocks.weight, rows.weight)
    assert sample.total == pytest.approx(30_000)


def test_wide_sparse_rows_are_not_written_out():
    """1,000 × 20,000: orthogonalising the rows took seconds, looks at their non-zeros take milliseconds."""
    import time

    from scipy import sparse

    X = sparse.random(1_000, 20_000, 0.005, format="csr", random_state=0)
    y = np.random.default_rng(0).integers(0, 2, 1_000)
    LogisticRegression().fit(X, y)
    start = time.process_time()
    model = LogisticRegression().fit(X, y)
    assert time.process_time() - start < 0.6
    assert model.certificate_.converged


@pytest.mark.parametrize("kind", ["dense", "dense, many weights", "sparse", "two sparse"])
def test_without_a_penalty_large_fits_are_few_looks_and_proved(kind):
    rng = np.random.default_rng(3)
    n, d, K = {"dense": (60_000, 40, 4), "dense, many weights": (30_000, 60, 25)}.get(kind, (30_000, 400, 3))
    if "sparse" in kind:
        X = sparse.random(n, d, density=0.01, random_state=0, format="csr")
        X.data = rng.normal(size=X.nnz)
    else:
        X = rng.normal(size=(n, d))
    scores = X @ rng.normal(scale=0.3, size=(d, K)) + rng.gumbel(size=(n, K))
    y = scores.argmax(axis=1) > 0 if kind == "two sparse" else scores.argmax(axis=1)
    model = LogisticRegression(C=np.inf).fit(X, y)
    certificate = model.certificate_
    assert certificate.converged
    assert certificate.gap <= 1e-8 * certificate.objective
    assert certificate.passes < 40
    # A ridge of 1e-12 changes J by less than what was proved, and is solved with a bound from the dual instead.
    other = LogisticRegression(C=1e12 / n, tol=1e-10).fit(X, y).certificate_
    assert abs(other.objective - certificate.objective) <= 2e-8 * certificate.objective


def test_without_a_penalty_columns_too_many_to_judge_are_told_of():
    rng = np.random.default_rng(4)
    X = sparse.random(20_000, 4_500, density=0.01, random_state=1, format="csr")
    y = X @ rng.normal(size=4_500) + rng.logistic(size=20_000) > 0
    with pytest.warns(DiscriminantWarning, match="takes long, so that it was not asked"):
        LogisticRegression(C=np.inf).fit(X, y)


@pytest.mark.parametrize("K", [2, 4])
def test_sparse_rows_that_are_few_or_hardly_sparse_are_solved_written_out(K):
    rng = np.random.default_rng(6)
    X = sparse.random(500, 20, density=0.3, random_state=0, format="csr")
    y = (X @ rng.standard_normal((20, K)) + rng.gumbel(size=(500, K))).argmax(axis=1)
    assert not written_out(logistic_objective(make_blocks(X, y), K, 1e-3)).blocks.is_sparse
    wide = make_blocks(sparse.random(5_000, 200, density=0.01), np.zeros(5_000, dtype=int))
    assert written_out(logistic_objective(wide, 2)).blocks.is_sparse
    few, dense = LogisticRegression().fit(X, y), LogisticRegression().fit(X.toarray(), y)
    np.testing.assert_allclose(few.coef_, dense.coef_, rtol=1e-8, atol=1e-10)


def test_many_classes_of_few_columns_do_not_pay_for_pairs_of_classes():
    assert choose(Shape(20_000, 8, 30)).method == "gram-quasi-newton"
    assert choose(Shape(1_000_000, 3, 40)).method == "sampled-quasi-newton"  # whose pairs cost less than its passes
    assert choose(Shape(100_000, 3, 3)).method == "newton"
