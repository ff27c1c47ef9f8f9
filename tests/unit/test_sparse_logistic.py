"""Sparse logistic regression: optimality by its own conditions, every storage and option, and gaps that are true."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csc_matrix, csr_array, lil_matrix

from discriminant import LogisticRegression, logistic_path
from discriminant.errors import DataError, MismatchError, ParameterError
from discriminant.kernels import coordinate


def data(n=200, d=30, K=2, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    truth = np.zeros((d, K))
    truth[:4] = rng.standard_normal((4, K)) * 2
    return X, (X @ truth + noise * rng.gumbel(size=(n, K))).argmax(axis=1)


def posteriors(X, path_or_model, index=None):
    coef = path_or_model.coefs[index] if index is not None else path_or_model.coef_
    intercept = path_or_model.intercepts[index] if index is not None else path_or_model.intercept_
    z = X @ coef.T + intercept
    if z.shape[1] == 1:
        return 1 / (1 + np.exp(-z))
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def targets(y, K):
    return (y[:, None] == 1).astype(float) if K == 2 else np.eye(K)[y]


def assert_optimal(X, y, K, coef, p, strength, mix, *, whole=False, factors=1.0, atol=2e-7):
    """The conditions of a minimum: R = Xᵗ(t − p)/n equals λ f (α sign a + (1−α) a), or is held below λ f α at zero."""
    R = (
        X.T @ (targets(y, K) - p) / len(X)
        - strength * (1 - mix) * np.broadcast_to(factors, X.shape[1])[:, None] * coef.T
    )
    level = strength * mix * np.broadcast_to(factors, X.shape[1])
    np.testing.assert_allclose((targets(y, K) - p).sum(axis=0) / len(X), 0, atol=1e-10)
    for j, a in enumerate(coef.T):
        if whole:
            size = np.linalg.norm(a)
            if size > 0:
                np.testing.assert_allclose(R[j], level[j] * a / size, atol=atol)
            else:
                assert np.linalg.norm(R[j]) <= level[j] + atol
            continue
        zero = a == 0
        np.testing.assert_allclose(R[j][~zero], level[j] * np.sign(a[~zero]), atol=atol)
        assert (np.abs(R[j][zero]) <= level[j] + atol).all()


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("mix", [1.0, 0.5])
def test_every_point_of_a_path_satisfies_the_conditions_of_a_minimum(K, mix):
    X, y = data(K=K)
    path = logistic_path(X, y, n_lambdas=15, ratio=0.02, l1_ratio=mix, tol=1e-13)
    assert path.certified.all()
    assert path.n_nonzero[0] == 0  # at λ_max nothing has entered
    assert path.n_nonzero[1] > 0  # and just below something has
    assert (np.diff(path.objectives) < 0).all()
    for i, strength in enumerate(path.lambdas):
        assert_optimal(X, y, K, path.coefs[i], posteriors(X, path, i), strength, mix)


def test_grouped_softmax_takes_a_feature_for_all_classes_or_for_none():
    X, y = data(K=4, n=300)
    path = logistic_path(X, y, n_lambdas=8, ratio=0.05, grouped=True, tol=1e-12)
    assert path.certified.all()
    live = (path.coefs[4] != 0).sum(axis=0)
    assert set(live) == {0, 4}
    for i in (2, 7):
        assert_optimal(X, y, 4, path.coefs[i], posteriors(X, path, i), path.lambdas[i], 1.0, whole=True)


def test_groups_of_features_enter_together():
    X, y = data(d=12)
    groups = ((0, 5, 7), (1, 2), (3, 4, 6, 8))
    model = LogisticRegression(C=0.05, l1_ratio=1, groups=groups).fit(X, y)
    assert model.certificate_.converged
    a, strength = model.coef_[0], 1 / (0.05 * len(y))
    R = X.T @ ((y == 1) - posteriors(X, model)[:, 0]) / len(y)
    for group in [*groups, (9,), (10,), (11,)]:
        part, level = a[list(group)], strength * len(group) ** 0.5
        assert (part == 0).all() or (part != 0).all()
        if part.any():
            np.testing.assert_allclose(R[list(group)], level * part / np.linalg.norm(part), atol=1e-8)
        else:
            assert np.linalg.norm(R[list(group)]) <= level + 1e-8


def test_bounds_agree_with_a_general_solver():
    X, y = data(d=8)
    strength = 0.01

    def J(b):
        z = b[0] + X @ b[1:]
        return np.mean(np.logaddexp(0, z) - y * z) + strength * b[1:].sum()  # a ≥ 0, so |a| = a

    best = minimize(J, np.zeros(9), method="L-BFGS-B", bounds=[(None, None)] + [(0, None)] * 8, tol=1e-15)
    model = LogisticRegression(C=1 / (strength * len(y)), l1_ratio=1, bounds=(0, np.inf)).fit(X, y)
    assert (model.coef_ >= 0).all()
    assert model.certificate_.objective <= best.fun + 1e-12
    np.testing.assert_allclose(model.coef_[0], best.x[1:], atol=1e-4)
    narrow = LogisticRegression(C=1e3, bounds=(-0.1, np.full(8, 0.2))).fit(X, y)
    assert narrow.coef_.max() == pytest.approx(0.2)
    assert narrow.coef_.min() == pytest.approx(-0.1)
    assert narrow.certificate_.converged


def test_penalty_factors_are_a_rescaling_of_columns():
    X, y = data()
    factors = np.linspace(0.5, 3, X.shape[1])
    model = LogisticRegression(C=0.1, l1_ratio=1, penalty_factors=factors).fit(X, y)
    scaled = LogisticRegression(C=0.1, l1_ratio=1).fit(X / factors, y)
    np.testing.assert_allclose(model.coef_, scaled.coef_ / factors, atol=1e-9)
    assert_optimal(X, y, 2, model.coef_, posteriors(X, model), 1 / (0.1 * len(y)), 1.0, factors=factors)


@pytest.mark.parametrize("K", [2, 3])
def test_a_factor_of_zero_leaves_a_feature_free_and_the_gap_still_closes(K):
    X, y = data(K=K, n=300)
    factors = np.ones(X.shape[1])
    factors[[3, 20]] = 0
    model = LogisticRegression(C=0.02, l1_ratio=1, penalty_factors=factors).fit(X, y)
    assert model.certificate_.converged
    assert (model.coef_[:, [3, 20]] != 0).all()
    if K == 2:
        assert_optimal(X, y, 2, model.coef_, posteriors(X, model), 1 / (0.02 * len(y)), 1.0, factors=factors)


def test_offsets_are_known_parts_of_the_scores():
    X, y = data()
    known = 0.7 * X[:, 0] - 0.3
    model = LogisticRegression(C=0.1, l1_ratio=1).fit(X, y, offset=known)
    p = 1 / (1 + np.exp(-(X @ model.coef_[0] + model.intercept_[0] + known)))
    assert_optimal(X, y, 2, model.coef_, p[:, None], 1 / (0.1 * len(y)), 1.0)
    assert model.certificate_.converged


def test_without_an_intercept():
    X, y = data()
    model = LogisticRegression(C=0.1, l1_ratio=1, fit_intercept=False).fit(X + 0.5, y)
    R = (X + 0.5).T @ ((y == 1) - posteriors(X + 0.5, model)[:, 0]) / len(y)
    assert model.intercept_[0] == 0
    assert np.abs(R).max() <= 1 / (0.1 * len(y)) + 1e-9
    assert model.certificate_.converged


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-4])
def test_the_gap_is_never_below_the_truth(K, tol):
    X, y = data(K=K, seed=3)
    exact = logistic_path(X, y, n_lambdas=6, ratio=0.05, tol=1e-12)
    rough = logistic_path(X, y, lambdas=exact.lambdas, tol=tol)
    assert (rough.objectives - exact.objectives <= rough.gaps + 1e-14).all()
    assert (rough.gaps <= tol * rough.objectives).all()


def test_every_storage_gives_one_answer():
    X, y = data(K=3)
    X[np.abs(X) < 0.8] = 0
    expected = logistic_path(X, y, n_lambdas=6, ratio=0.05)
    from pandas import DataFrame

    for other in (np.asfortranarray(X), csr_array(X), csc_matrix(X), DataFrame(X).add_prefix("x")):
        found = logistic_path(other, y, lambdas=expected.lambdas)
        np.testing.assert_allclose(found.coefs, expected.coefs, atol=1e-6)
        assert found.certified.all()
    single = LogisticRegression(C=0.1, l1_ratio=1).fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float32
    np.testing.assert_allclose(single.coef_, LogisticRegression(C=0.1, l1_ratio=1).fit(X, y).coef_, atol=1e-5)


def test_many_rows_of_few_columns_satisfy_the_conditions_of_a_minimum():
    X, y = data(n=25_000, d=10)  # so many that columns are not gathered
    path = logistic_path(X, y, n_lambdas=6, ratio=0.01, tol=1e-12)
    assert path.certified.all()
    for i in (1, 5):
        assert_optimal(X, y, 2, path.coefs[i], posteriors(X, path, i), path.lambdas[i], 1.0)


@pytest.mark.parametrize(("K", "grouped"), [(2, False), (4, False), (4, True)])
def test_fewer_rows_than_columns_satisfy_the_conditions_of_a_minimum_in_all_columns(K, grouped):
    X, y = data(n=100, d=400, K=K, seed=1)
    path = logistic_path(X, y, n_lambdas=6, ratio=0.2, tol=1e-12, grouped=grouped)
    assert path.certified.all()
    assert path.n_nonzero[-1] > 10
    for i, strength in enumerate(path.lambdas):
        assert_optimal(X, y, K, path.coefs[i], posteriors(X, path, i), strength, 1.0, whole=grouped, atol=1e-6)


def test_units_and_offsets_of_columns_cost_no_digits():
    X, y = data()
    expected = LogisticRegression(C=0.1, l1_ratio=1).fit(X, y)
    moved = LogisticRegression(C=0.1, l1_ratio=1).fit(X + 1e6, y)
    np.testing.assert_allclose(moved.coef_, expected.coef_, atol=1e-8)
    unit = 10.0 ** np.linspace(-6, 6, X.shape[1])
    scaled = LogisticRegression(C=0.1, l1_ratio=1, penalty_factors=unit).fit(X * unit, y)
    np.testing.assert_allclose(scaled.coef_ * unit, expected.coef_, atol=1e-8)


def test_collinear_columns_share_and_do_not_stall():
    X, y = data(d=10)
    X = np.hstack([X, X[:, :3], X[:, :3] + 1e-7 * X[:, 3:6]])
    for mix in (1.0, 0.5):
        model = LogisticRegression(C=1.0, l1_ratio=mix).fit(X, y)
        assert model.certificate_.converged
        assert_optimal(X, y, 2, model.coef_, posteriors(X, model), 1 / len(y), mix)


def test_soft_labels_and_weights():
    X, y = data(n=60, d=6)
    p = np.column_stack([np.where(y == 1, 0.25, 0.75), np.where(y == 1, 0.75, 0.25)])
    soft = LogisticRegression(C=1.0, l1_ratio=1).fit(X, p)
    doubled = LogisticRegression(C=1.0, l1_ratio=1).fit(
        np.vstack([X, X]), np.repeat([0, 1], len(X)), sample_weight=p.T.ravel()
    )
    np.testing.assert_allclose(soft.coef_, doubled.coef_, atol=1e-8)


def test_the_relaxed_path_is_the_unpenalised_fit_of_each_support():
    X, y = data(n=400, d=8, noise=3.0)
    path = logistic_path(X, y, n_lambdas=5, ratio=0.2, relax=True)
    support = path.coefs[2][0] != 0
    plain = LogisticRegression(C=np.inf).fit(X[:, support], y)
    np.testing.assert_allclose(path.relaxed.coefs[2][0][support], plain.coef_[0], rtol=1e-8)
    assert (path.relaxed.coefs[2][0][~support] == 0).all()
    half = path.blend(0.5)
    np.testing.assert_allclose(half.coefs, (path.coefs + path.relaxed.coefs) / 2)
    with pytest.raises(ParameterError, match="relax=True"):
        logistic_path(X, y, n_lambdas=2).blend(0.5)


def test_warm_start_and_plan():
    X, y = data()
    model = LogisticRegression(C=0.1, l1_ratio=1, warm_start=True).fit(X, y)
    first = model.coef_.copy()
    np.testing.assert_allclose(model.fit(X, y).coef_, first, atol=1e-10)
    assert model.plan(X, y).method == "coordinate-descent"


@pytest.mark.parametrize(
    "options",
    [{"l1_ratio": 1}, {"penalty": "jeffreys"}, {"bounds": (0, 1)}, {"coding": "pairwise"}, {"basis": "poly:2"}],
)
def test_partial_fit_is_there_where_it_can_be(options):
    assert hasattr(LogisticRegression(), "partial_fit")
    assert not hasattr(LogisticRegression(**options), "partial_fit")
    with pytest.raises(AttributeError) as refused:
        _ = LogisticRegression(**options).partial_fit
    assert "partial_fit" in str(refused.value)


def test_a_point_of_a_path_is_a_discriminant_and_draws():
    X, y = data(K=3)
    path = logistic_path(X, np.array(["a", "b", "c"])[y], n_lambdas=4, ratio=0.1)
    assert set(path.discriminant(3).predict(X)) <= {"a", "b", "c"}
    np.testing.assert_allclose(path.Cs * path.lambdas * len(y), 1)
    import matplotlib as mpl

    mpl.use("Agg")
    assert path.plot(output=1).get_ylabel() == "weight for b"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bounds": (0.1, 1)}, "lower ≤ 0 ≤ upper"),
        ({"bounds": 3}, "pair"),
        ({"penalty_factors": [1.0]}, "one for each feature"),
        ({"groups": ((0, 1), (1, 2))}, "disjoint"),
        ({"groups": ((0, 1),), "bounds": (0, np.inf)}, "not with groups"),
        ({"lambdas": [-1.0]}, "> 0"),
        ({"l1_ratio": 2.0}, "l1_ratio"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    X, y = data(n=30, d=4)
    with pytest.raises(ParameterError, match=message):
        logistic_path(X, y, **options)


def test_missing_values_are_named():
    X, y = data(n=30, d=4)
    X[3, 2] = np.nan
    with pytest.raises(DataError, match="2"):
        LogisticRegression(l1_ratio=1).fit(X, y)
    with pytest.raises(DataError):
        logistic_path(X, y)


def descents():
    """Each descent on a random model, as name → (call, starting weights)."""
    rng = np.random.default_rng(0)
    n, m, K = 60, 25, 4
    X = rng.standard_normal((n, m)) * (rng.random((n, m)) < 0.5)
    found = csc_matrix(X)
    dense = coordinate.Columns(np.ascontiguousarray(X.T), None, None)
    sparse = coordinate.Columns(found.data, found.indices.astype(np.int32), found.indptr.astype(np.int64))
    w, l2 = rng.random(n) / n, np.full(m, 0.003)
    low, high = np.full(m, -0.7), np.full(m, np.inf)
    g, G, a, A = (0.1 * rng.standard_normal(shape) for shape in ((m, 1), (m, K), (m, 1), (m, K)))
    about = w @ X / np.sqrt(w.sum())
    inner = X.T @ (w[:, None] * X) - np.outer(about, about)
    H, none = inner + np.diag(l2), np.empty((m, 0))
    p, s, rows = rng.dirichlet(np.ones(K), n), np.full(n, 1 / n), np.arange(m + 1)
    C, mean = np.diag(p.mean(axis=0)) - p.T @ p / n, X.mean(axis=0)
    M, W = X.T @ X / n - np.outer(mean, mean), 0.05 * rng.standard_normal((m * K, 2))
    V, square = -W, np.diagonal(M).copy()
    h = np.multiply.outer(square, np.diagonal(C)) - (V * W).sum(axis=1).reshape(m, K) + l2[:, None]
    starts = np.array([0, 3, 4, 10, 25])
    stop, free = coordinate.Stop(1e-13, 500, 10), np.full(m, -np.inf)
    whole = np.kron(M, C) + np.diag(np.repeat(l2, K)) - V @ W.T

    def tops(H, groups, K=1):
        return np.array([np.linalg.eigvalsh(H[i:j, i:j])[-1] for i, j in itertools.pairwise(K * groups)])

    def classes(groups, lower, joint, X=None, M=None):
        model = coordinate.Model(X, M, s, mean, square, C, V, W, h, l2, tops(whole, groups, K))
        levels = (np.full(len(groups) - 1, 0.02), lower, high, groups, joint)
        return lambda A: coordinate.descend(model, A, G, *levels, stop), A

    def one(groups, lower, joint, X=None):
        model = coordinate.Model.of_one(H, tops(H, groups))
        if X is not None:
            h = np.diagonal(H)[:, None].copy()
            model = coordinate.Model(X, None, w, about, np.diagonal(inner).copy(), *parts, h, l2, model.top)
        levels = (np.full(len(groups) - 1, 0.02), lower, high, groups, joint)
        return lambda a: coordinate.descend(model, a, g, *levels, stop), a

    parts = (np.ones((1, 1)), none, none)
    return {
        "classes": classes(rows, low, False, M=M),
        "classes along dense columns": classes(rows, low, False, X=dense),
        "classes along sparse columns": classes(rows, low, False, X=sparse),
        "groups of classes": classes(starts, free, True, M=M),
        "groups of classes along columns": classes(starts, free, True, X=sparse),
        "gram": one(rows, low, False),
        "dense columns": one(rows, low, False, X=dense),
        "sparse columns": one(rows, low, False, X=sparse),
        "groups": one(starts, free, True),
        "groups along columns": one(starts, free, True, X=dense),
    }


@pytest.mark.parametrize("name", list(descents()))
def test_compiled_descents_are_the_plain_ones(name, monkeypatch):
    call, start = descents()[name]
    found = []
    for body in (coordinate.load, lambda: None):
        monkeypatch.setattr(coordinate, "load", body)
        a = start.copy()
        assert call(a)
        found.append(a)
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)
    np.testing.assert_allclose(found[0] == 0, found[1] == 0)


def test_descents_along_columns_are_those_on_their_gram_matrix():
    weights = {}
    for name, (call, start) in descents().items():
        weights[name] = start.copy()
        call(weights[name])
    np.testing.assert_allclose(weights["dense columns"], weights["gram"], atol=1e-10)
    np.testing.assert_allclose(weights["sparse columns"], weights["dense columns"], atol=1e-10)
    for kind in ("dense", "sparse"):
        np.testing.assert_allclose(weights[f"classes along {kind} columns"], weights["classes"], atol=1e-10)
    np.testing.assert_allclose(weights["groups of classes along columns"], weights["groups of classes"], atol=1e-10)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.6])
@pytest.mark.parametrize("bounded", [False, True])
def test_many_sparse_columns_are_those_of_the_same_rows_written_out(l1_ratio, bounded):
    from scipy.sparse import random_array

    rng = np.random.default_rng(5)
    X = random_array((1500, 1200), density=0.03, rng=rng, format="csr")
    weights = np.where(rng.random(1200) < 0.2, rng.standard_normal(1200), 0.0)
    y = (X @ weights * 3 + rng.logistic(size=1500) > 0).astype(int)
    bounds = (0.0, np.inf) if bounded else None
    options = {"n_lambdas": 12, "ratio": 0.03, "l1_ratio": l1_ratio, "bounds": bounds, "tol": 1e-9}
    sparse = logistic_path(X, y, **options)
    dense = logistic_path(X.toarray(), y, **options)
    assert (np.asarray(sparse.coefs)[-1] != 0).sum() > 250
    np.testing.assert_allclose(sparse.objectives, dense.objectives, rtol=3e-9)
    np.testing.assert_allclose(sparse.coefs, dense.coefs, atol=1e-3)  # what a gap of 1e-9 leaves open
    assert (sparse.gaps <= 1e-9 * np.abs(sparse.objectives)).all()


def test_a_path_of_sparse_columns_far_from_zero_does_not_run_away():
    X, y = data(n=150, d=120)
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.3, X + np.linspace(-1e4, 1e4, 120), 0.0)
    path = logistic_path(csr_array(X), y, n_lambdas=8, ratio=0.05, tol=1e-8)
    assert path.certified.all()
    assert (np.diff(path.objectives) < 0).all()


def test_a_weight_without_a_penalty_inside_its_bounds_leaves_the_gap_proved():
    X, y = data(n=250, d=18)
    factors = np.ones(18)
    factors[0] = 0.0
    sign = np.sign(np.corrcoef(X[:, 0], y)[0, 1])
    path = logistic_path(X * sign, y, n_lambdas=6, ratio=0.1, penalty_factors=factors, bounds=(0, np.inf), tol=1e-9)
    assert path.certified.all()
    assert (path.coefs[:, 0, 0] > 0).all()


@pytest.mark.parametrize("storage", [np.asarray, csr_array, csc_matrix, lil_matrix])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_optimizers_by_name_know_the_kink(storage, intercept, l1_ratio):
    """The minimum is that of the automatic method, in every storage, with an intercept and without."""
    X = np.random.default_rng(0).poisson(0.7, (60, 4)).astype(float)
    y = (X @ [1.0, -1.0, 0.5, 0.0] > 0.3).astype(int)
    plain = LogisticRegression(l1_ratio=l1_ratio, fit_intercept=intercept).fit(X, y)
    for name, close in (("proximal-newton", 1e-5), ("proximal-gradient", 1e-3)):
        found = LogisticRegression(l1_ratio=l1_ratio, fit_intercept=intercept, optimizer=name).fit(storage(X), y)
        np.testing.assert_allclose(found.coef_, plain.coef_, atol=close)


def test_optimizers_by_name_that_do_not_know_a_penalty_say_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] + rng.logistic(size=60) > 0.1).astype(int)
    with pytest.raises(MismatchError):
        LogisticRegression(l1_ratio=1.0, optimizer="newton").fit(X, y)
    with pytest.raises(MismatchError, match="bounds and groups"):
        LogisticRegression(bounds=(0, np.inf), optimizer="proximal-newton").fit(X, y)
    free = LogisticRegression(penalty_factors=[0, 1, 1, 1], C=0.01, optimizer="newton").fit(X, y)
    plain = LogisticRegression(penalty_factors=[0, 1, 1, 1], C=0.01).fit(X, y)
    np.testing.assert_allclose(free.coef_, plain.coef_, rtol=1e-5)
