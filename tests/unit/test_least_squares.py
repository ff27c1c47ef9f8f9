"""Least squares on class targets: equal to the pseudo-inverse, to ridge regression and to honest refits."""

from __future__ import annotations

import pickle

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.linalg import hilbert
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator

from discriminant import LeastSquaresClassifier, codings, penalties
from discriminant.errors import CollinearityWarning, DataError, MismatchError, ParameterError
from discriminant.gaussian import sparse_least_squares
from discriminant.io import load, save

SETS = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}


@pytest.fixture(params=SETS, ids=list(SETS))
def data(request):
    return SETS[request.param](return_X_y=True)


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture
def weight():
    found = np.random.default_rng(0).uniform(0.0, 3.0, 150)
    found[:7] = 0.0
    return found


@pytest.fixture
def margin():
    return np.random.default_rng(1).uniform(0.2, 4.0, 150)


def _weights(model):
    return np.vstack([model.intercept_, model.coef_.T])


def _solve(X, T, alpha=0.0, weight=None):
    """The textbook's answer by dense linear algebra: Y†T, or the normal equations with a free intercept."""
    w = np.ones(len(X)) if weight is None else weight
    Y = np.column_stack([np.ones(len(X)), X])
    if alpha == 0:
        return np.linalg.pinv(Y * np.sqrt(w)[:, None]) @ (T * np.sqrt(w)[:, None])
    penalty = alpha * np.eye(Y.shape[1])
    penalty[0, 0] = 0.0
    return np.linalg.solve(Y.T @ (Y * w[:, None]) + penalty, Y.T @ (T * w[:, None]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("check", "estimator"),
    [
        (check, model)
        for made in (LeastSquaresClassifier(), LeastSquaresClassifier("pairwise", alpha=1.0))
        for model, check in estimator_checks_generator(made)
    ],
    ids=lambda value: getattr(getattr(value, "func", value), "__name__", ""),
)
def test_estimator_contract(check, estimator):
    check(estimator)


# Against other computations


@pytest.mark.parametrize("alpha", [1e-6, 0.1, 1.0, 100.0])
def test_equals_scikit_learns_ridge_classifier(data, alpha):
    """alpha has its meaning; K > 2 classes by the coding that it uses, +1 against −1."""
    X, y = data
    coding = "auto" if len(np.unique(y)) == 2 else "one-vs-rest"
    ours = LeastSquaresClassifier(coding, alpha=alpha).fit(X, y)
    theirs = RidgeClassifier(alpha=alpha, solver="svd").fit(X, y)
    np.testing.assert_allclose(ours.coef_, np.atleast_2d(theirs.coef_), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_one_of_k_is_half_of_one_against_the_rest(iris):
    one_of_k = LeastSquaresClassifier(alpha=0.5).fit(*iris)
    against = LeastSquaresClassifier("one-vs-rest", alpha=0.5).fit(*iris)
    np.testing.assert_allclose(2 * one_of_k.coef_, against.coef_, rtol=1e-12)
    np.testing.assert_array_equal(one_of_k.predict(iris[0]), against.predict(iris[0]))


def test_equals_linear_regression_on_indicators(data):
    X, y = data
    T = np.eye(len(np.unique(y)))[y]
    ours, theirs = LeastSquaresClassifier("one-of-k").fit(X, y), LinearRegression().fit(X, T)
    np.testing.assert_allclose(ours.discriminant_.scores(X), theirs.predict(X), atol=1e-8)


@pytest.mark.parametrize("alpha", [0.0, 0.7])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("with_margins", [False, True])
def test_equals_the_normal_equations(iris, weight, margin, alpha, weighted, with_margins):
    X, y = iris
    w, b = (weight if weighted else None), (margin if with_margins else None)
    model = LeastSquaresClassifier(alpha=alpha).fit(X, y, w, margin=b)
    T = np.eye(3)[y] * (1.0 if b is None else b[:, None])
    np.testing.assert_allclose(_weights(model), _solve(X, T, alpha, w), rtol=1e-9, atol=1e-11)


def test_alpha_is_lambda_times_the_total_weight(iris, weight):
    """∇{Σw ½(z−t)²/Σw + λ/2 ‖w‖²} = 0 at λ = alpha/Σw, with the package's own penalty."""
    X, y = iris
    model = LeastSquaresClassifier(alpha=2.5).fit(X, y, weight)
    A, Y, T = _weights(model), np.column_stack([np.ones(150), X]), np.eye(3)[y]
    loss = Y.T @ ((Y @ A - T) * weight[:, None]) / weight.sum()
    gradient = loss + penalties.Ridge(2.5 / weight.sum()).gradient(A)
    assert np.abs(gradient).max() < 1e-12


def test_outputs_with_classes_that_take_no_part(iris):
    """Pairwise: each output is the least-squares solution of its two classes alone."""
    X, y = iris
    model = LeastSquaresClassifier("pairwise", alpha=0.3).fit(X, y)
    for j, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = (y == a) | (y == b)
        T = np.where(y[rows] == a, 1.0, -1.0)[:, None]
        np.testing.assert_allclose(_weights(model)[:, [j]], _solve(X[rows], T, 0.3), rtol=1e-9)


@pytest.mark.parametrize(
    "coding",
    [
        np.array([[1.0, 0.5], [0.0, -1.0], [3.0, 2.0]]),
        codings.make_coding("one-vs-rest", 3),
        [[1, np.nan], [-1, 1], [0.5, -1]],
    ],
    ids=["matrix", "coding", "don't care"],
)
def test_any_targets(iris, coding):
    X, y = iris
    model = LeastSquaresClassifier(coding).fit(X, y)
    made = model.coding_
    for j in range(made.n_outputs):
        rows = made.care[y, j] > 0
        T = made.targets[y[rows], j][:, None]
        np.testing.assert_allclose(_weights(model)[:, [j]], _solve(X[rows], T), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), made.decide(model.discriminant_.scores(X)))


def test_decoder_can_be_chosen(iris):
    X, y = iris
    votes, total = (
        LeastSquaresClassifier("pairwise").fit(X, y),
        LeastSquaresClassifier("pairwise", decoder="sum").fit(X, y),
    )
    np.testing.assert_array_equal(votes.coef_, total.coef_)
    z = total.discriminant_.scores(X)
    np.testing.assert_array_equal(total.predict(X), (z @ np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1.0]]).T).argmax(1))
    assert votes.score(X, y) > total.score(X, y)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_more_columns_than_rows(alpha):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 80)) + 2, np.arange(30) % 3
    model = LeastSquaresClassifier(alpha=alpha)
    if alpha:
        model.fit(X, y)
    else:
        with pytest.warns(CollinearityWarning, match="80 columns and 30 rows"):
            model.fit(X, y)
    np.testing.assert_allclose(_weights(model), _solve(X, np.eye(3)[y], alpha), rtol=1e-7, atol=1e-10)


def test_a_column_that_tells_the_classes_is_used(iris):
    """Constant within the classes, and still the best column there is: S_T, not S_W, is inverted."""
    X, y = iris
    model = LeastSquaresClassifier().fit(np.column_stack([X, y == 1]), y)
    np.testing.assert_allclose(model.decision_function(np.column_stack([X, y == 1]))[:, 1], y == 1, atol=1e-10)


@pytest.mark.parametrize("options", [{}, {"alpha": 1.5}, {"coding": "fisher"}], ids=str)
def test_the_certificate_holds_the_minimum(iris, weight, margin, options):
    """J by its definition on the rows; what rounding left of the gradient is nothing."""
    X, y = iris
    model = LeastSquaresClassifier(**options).fit(X, y, weight, margin=margin)
    residual = model.discriminant_.scores(X) - model.targets_[y] * margin[:, None]
    J = (weight[:, None] * residual**2).sum() / 2 + options.get("alpha", 0.0) / 2 * (model.coef_**2).sum()
    certificate = model.certificate_
    assert certificate.objective == pytest.approx(J / weight.sum(), rel=1e-12)
    assert certificate.converged
    assert certificate.gradient_norm < 1e-12
    assert 0 <= certificate.gap < 1e-24
    assert "rank 4 of 4" in certificate.status


def test_the_certificate_adds_the_outputs_of_a_coding_with_gaps(iris):
    X, y = iris
    model = LeastSquaresClassifier("pairwise").fit(X, y)
    part = model.coding_.care[y] * (model.discriminant_.scores(X) - model.targets_[y])
    assert model.certificate_.objective == pytest.approx((part**2).sum() / 2 / len(y), rel=1e-12)


# Leave-one-out


def _left_out(model, X, y, weight=None, margin=None):
    scores = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        part = [None if v is None else v[rest] for v in (weight, margin)]
        scores.append(clone(model).fit(X[rest], y[rest], part[0], margin=part[1]).decision_function(X[i : i + 1])[0])
    return np.array(scores)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"alpha": 0.7},
        {"coding": "fisher"},
        {"coding": "fisher", "margin": [1.0, 2.0, 3.0]},
        {"coding": "pairwise"},
        {"coding": [[1.0, 0.5], [0.0, -1.0], [3.0, 2.0]], "alpha": 0.1},
    ],
    ids=str,
)
@pytest.mark.parametrize("extras", ["", "weights", "margins", "weights and margins"])
def test_leave_one_out_equals_leaving_one_out(iris, weight, margin, options, extras):
    X, y = iris[0][::3], iris[1][::3]
    if "margins" in extras and not isinstance(options.get("coding", ""), str):
        pytest.skip(reason="margins move the targets of a coding that is decided by the nearest target")
    w = weight[::3] if "weights" in extras else None
    b = margin[::3] if "margins" in extras else None
    model = LeastSquaresClassifier(**options).fit(X, y, w, margin=b)
    expected = _left_out(model, X, y, w, b)
    np.testing.assert_allclose(model.loo_decision_function(X, y, w, margin=b), expected, rtol=1e-8, atol=1e-10)
    chosen = expected.argmax(axis=1)
    np.testing.assert_array_equal(model.loo_predict(X, y, w, margin=b), chosen)
    hits = np.average(chosen == y, weights=w)
    assert model.loo_score(X, y, w, margin=b) == pytest.approx(hits, abs=1e-12)


@pytest.mark.parametrize("coding", ["auto", "fisher", "one-of-k"])
def test_leave_one_out_of_two_classes(iris, coding):
    X, y = iris[0][50::2], iris[1][50::2]
    model = LeastSquaresClassifier(coding).fit(X, y)
    np.testing.assert_allclose(model.loo_decision_function(X, y), _left_out(model, X, y), rtol=1e-9, atol=1e-11)


@pytest.mark.filterwarnings("ignore::discriminant.errors.CollinearityWarning")
@pytest.mark.parametrize("kind", ["wide", "one row spans a column", "dependent"])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_where_a_row_alone_spans_a_direction(iris, weight, kind, weighted):
    """h = 1: the pseudo-inverse without the row has nothing along its direction."""
    rng = np.random.default_rng(3)
    X, y = iris[0][::5], iris[1][::5]
    if kind == "wide":
        X = rng.standard_normal((30, 60)) + 1.0
    elif kind == "dependent":
        X = np.column_stack([X, X[:, 0] - X[:, 1], np.full(30, 2.0)])
    else:
        X = np.column_stack([X, np.arange(30) == 11])
    w = weight[::5] + 0.1 if weighted else None
    model = LeastSquaresClassifier().fit(X, y, w)
    expected = _left_out(model, X, y, w)
    np.testing.assert_allclose(model.loo_decision_function(X, y, w), expected, rtol=1e-8, atol=1e-10)


def test_leverages_are_the_diagonal_of_the_hat_matrix(iris):
    X, y = iris
    Y = np.column_stack([np.ones(150), X])
    hat = Y @ np.linalg.inv(Y.T @ Y + 0.4 * np.diag([0, 1, 1, 1, 1])) @ Y.T
    np.testing.assert_allclose(LeastSquaresClassifier(alpha=0.4).fit(X, y).leverages(X), np.diag(hat), rtol=1e-10)
    assert LeastSquaresClassifier().fit(X, y).leverages(X).sum() == pytest.approx(5.0)
    with pytest.raises(ParameterError, match="leverages of their own"):
        LeastSquaresClassifier("pairwise").fit(X, y).leverages(X)


def test_leave_one_out_takes_the_training_rows(iris):
    X, y = iris
    with pytest.raises(DataError, match="rows that the model was fitted to"):
        LeastSquaresClassifier().fit(X, y).loo_predict(X[:80], y[:80])


# Units, weights, storage


def test_rescaling_a_column_rescales_its_weight(data):
    X, y = data
    factor = 10.0 ** np.random.default_rng(0).uniform(-6, 6, X.shape[1])
    plain, scaled = LeastSquaresClassifier().fit(X, y), LeastSquaresClassifier().fit(X * factor, y)
    np.testing.assert_allclose(scaled.coef_ * factor, plain.coef_, rtol=1e-10, atol=1e-10 * np.abs(plain.coef_).max())
    np.testing.assert_array_equal(scaled.predict(X * factor), plain.predict(X))


@pytest.mark.parametrize("options", [{}, {"alpha": 2.0}, {"coding": "fisher"}, {"coding": "pairwise"}], ids=str)
def test_an_integer_weight_is_a_repeated_row(data, options):
    X, y = data
    count = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = LeastSquaresClassifier(**options).fit(X, y, sample_weight=count)
    repeated = LeastSquaresClassifier(**options).fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("name", ["offset 1e7", "scales 1e16 apart", "Hilbert correlation", "all of it"])
@pytest.mark.parametrize("alpha", [0.0, 1e-3])
@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]], ids=str)
def test_weights_have_twelve_digits(name, alpha, order):
    rng = np.random.default_rng(7)
    y = np.arange(90) % 2
    Z = rng.standard_normal((90, 5)) + 0.6 * y[:, None] * np.arange(5)
    wide, correlated = 10.0 ** np.linspace(-8, 8, 5), Z @ np.linalg.cholesky(hilbert(5)).T
    X = {
        "offset 1e7": Z + 1e7,
        "scales 1e16 apart": Z * wide,
        "Hilbert correlation": correlated,
        "all of it": (correlated + 1e3) * wide,
    }[name][:, order]
    found = LeastSquaresClassifier(alpha=alpha).fit(X, y).coef_[0]
    with mpmath.workdps(60):
        rows = [[mpmath.mpf(float(v)) for v in row] for row in X]
        mean = [mpmath.fsum(column) / 90 for column in zip(*rows, strict=True)]
        left, right = mpmath.mpf(alpha) * mpmath.eye(5), mpmath.zeros(5, 1)
        for row, k in zip(rows, y, strict=True):
            r = mpmath.matrix([a - b for a, b in zip(row, mean, strict=True)])
            left += r * r.T
            right += r * (1 if k == 1 else -1)
        truth = mpmath.lu_solve(left, right)
        error = max(abs(mpmath.mpf(float(a)) / b - 1) for a, b in zip(found, truth, strict=True))
        assert error < 1e-12  # also of a column that the penalty holds near zero beside others 1e16 times larger


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_beyond_the_squares_of_floats(iris, scale):
    X, y = iris
    expected = LeastSquaresClassifier().fit(X, y)
    model = LeastSquaresClassifier().fit(X * scale, y)
    np.testing.assert_allclose(model.coef_ * scale, expected.coef_, rtol=1e-10)
    assert np.isfinite(LeastSquaresClassifier(alpha=1.0).fit(X * scale, y).coef_).all()


def test_storage_makes_no_difference(iris, weight):
    X, y = iris
    expected = LeastSquaresClassifier(alpha=0.1).fit(X, y, weight).decision_function(X)
    names = ["a", "b", "c", "d"]
    frames = [pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)]
    for stored in [np.asfortranarray(X), sparse.csr_array(X), sparse.csc_matrix(X), *frames]:
        model = LeastSquaresClassifier(alpha=0.1).fit(stored, y, weight)
        np.testing.assert_allclose(model.decision_function(stored), expected, rtol=1e-9, atol=1e-11)
        left_out = model.loo_decision_function(stored, y, weight)
        np.testing.assert_allclose(left_out, model.loo_decision_function(stored, y, weight), rtol=1e-12)
    assert model.discriminant_.feature_names == tuple(names)


def _sparse(n, d, K, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=8 / d, rng=rng, format="csr")
    return X, (X @ rng.standard_normal((d, K)) + 0.3 * rng.standard_normal((n, K))).argmax(axis=1)


@pytest.mark.parametrize("shape", [(900, 400, 2), (300, 500, 3), (400, 400, 4)])
@pytest.mark.parametrize("coding", ["auto", "pairwise", "fisher"])
@pytest.mark.parametrize("alpha", [1.0, 1e-4])
def test_sparse_rows_are_solved_by_steps_to_the_minimum(shape, coding, alpha):
    X, y = _sparse(*shape)
    weight = np.random.default_rng(1).integers(0, 3, len(y)) + 0.5
    thin, dense = (LeastSquaresClassifier(coding, alpha=alpha).fit(M, y, weight) for M in (X, X.toarray()))
    assert thin.plan(X, y).method == "conjugate gradients"
    assert "conjugate" in thin.certificate_.status
    assert thin.certificate_.converged
    scores = thin.decision_function(X)
    np.testing.assert_allclose(scores, dense.decision_function(X.toarray()), atol=1e-7)
    assert thin.certificate_.bound <= dense.certificate_.objective * (1 + 1e-12)
    np.testing.assert_allclose(thin.certificate_.objective, dense.certificate_.objective, rtol=1e-9)
    if coding == "auto":
        np.testing.assert_allclose(thin.leverages(X[:9]), dense.leverages(X[:9].toarray()), rtol=1e-8)


def test_a_sparse_certificate_bounds_steps_that_stop_early(monkeypatch):
    X, y = _sparse(900, 400, 2)
    monkeypatch.setattr(sparse_least_squares, "LEFT", 1e-2)
    monkeypatch.setattr(sparse_least_squares, "PROVED", 1.0)
    rough = LeastSquaresClassifier(alpha=1.0).fit(X, y).certificate_
    least = LeastSquaresClassifier(alpha=1.0).fit(X.toarray(), y).certificate_.objective
    assert rough.bound < least < rough.objective


def test_sparse_rows_without_a_penalty_have_the_shortest_weights():
    X, y = _sparse(300, 900, 2)
    with pytest.warns(CollinearityWarning, match="rank"):
        model = LeastSquaresClassifier().fit(X, y)
    A = np.linalg.pinv(np.column_stack([np.ones(300), X.toarray()])) @ np.where(y, 1.0, -1.0)
    np.testing.assert_allclose(model.coef_[0], A[1:], atol=1e-8)
    assert model.certificate_.converged


def test_sparse_steps_that_do_not_arrive_leave_the_closed_form(monkeypatch):
    X, y = _sparse(900, 400, 2)
    exact = LeastSquaresClassifier(alpha=1.0).fit(X.toarray(), y)
    monkeypatch.setattr(sparse_least_squares, "conjugate_gradients", lambda product, right, *_: 0 * right)
    model = LeastSquaresClassifier(alpha=1.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-9, atol=1e-12)
    assert "closed form" in model.certificate_.status
    far = sparse.hstack([X, sparse.csr_array(1e6 + np.arange(900.0)[:, None])], format="csr")
    assert "closed form" in LeastSquaresClassifier(alpha=1.0).fit(far, y).certificate_.status


def test_a_sparse_fit_is_saved_with_what_its_leverages_need(tmp_path):
    X, y = _sparse(900, 400, 2)
    model = LeastSquaresClassifier(alpha=1.0).fit(X, y)
    back = load(save(model, tmp_path / "sparse.discriminant"))
    np.testing.assert_array_equal(back.decision_function(X), model.decision_function(X))
    np.testing.assert_allclose(back.leverages(X[:9]), model.leverages(X[:9]), rtol=1e-12)
    assert back.certificate_.gap == model.certificate_.gap


def test_sparse_fits_are_learned_on_in_parts():
    X, y = _sparse(900, 400, 2)
    model = pickle.loads(pickle.dumps(LeastSquaresClassifier(alpha=1.0).fit(X[::2], y[::2])))
    whole = LeastSquaresClassifier(alpha=1.0).fit(X.toarray(), y)
    np.testing.assert_allclose(model.partial_fit(X[1::2], y[1::2]).coef_, whole.coef_, rtol=1e-7, atol=1e-10)


def test_wide_sparse_data():
    X = sparse.random_array((400, 150), density=0.03, rng=np.random.default_rng(0), format="csr")
    y = np.arange(400) % 3
    model = LeastSquaresClassifier(alpha=0.5).fit(X, y)
    np.testing.assert_allclose(_weights(model), _solve(X.toarray(), np.eye(3)[y], 0.5), rtol=1e-8, atol=1e-11)


def test_float32_stays_float32(iris):
    X, y = iris
    small = X.astype(np.float32)
    model = LeastSquaresClassifier().fit(small, y)
    assert model.coef_.dtype == model.intercept_.dtype == model.decision_function(small).dtype == np.float32
    np.testing.assert_allclose(model.coef_, LeastSquaresClassifier().fit(X, y).coef_, rtol=1e-3)


# Learning in parts


@pytest.mark.parametrize("options", [{}, {"alpha": 0.2, "coding": "fisher"}, {"coding": "pairwise"}], ids=str)
@pytest.mark.parametrize("with_margins", [False, True])
def test_learning_in_parts_equals_learning_at_once(iris, weight, margin, options, with_margins):
    X, y = iris
    whole = LeastSquaresClassifier(**options).fit(X, y, weight, margin=margin if with_margins else None)
    parts = np.array_split(np.random.default_rng(2).permutation(150), 4)
    model = LeastSquaresClassifier(**options)
    for part in parts:
        own = margin[part] if with_margins else None
        model.partial_fit(X[part], y[part], classes=[0, 1, 2], sample_weight=weight[part], margin=own)
    np.testing.assert_allclose(_weights(model), _weights(whole), rtol=1e-8, atol=1e-10)
    left_out = model.loo_decision_function(X, y, weight, margin=margin if with_margins else None)
    expected = whole.loo_decision_function(X, y, weight, margin=margin if with_margins else None)
    np.testing.assert_allclose(left_out, expected, rtol=1e-7, atol=1e-9)


def test_merging_rows_with_and_without_margins(iris, margin):
    """A row without a margin has the margin 1; the order of merging changes no bit."""
    X, y = iris
    half = np.random.default_rng(4).permutation(150)
    a, b = half[:70], half[70:]

    def fitted():
        first = LeastSquaresClassifier().fit(X[a], y[a])
        return first, LeastSquaresClassifier().fit(X[b], y[b], margin=margin[b])

    (first, second), (third, fourth) = fitted(), fitted()
    there, back = first.merge(second), fourth.merge(third)
    np.testing.assert_array_equal(there.coef_, back.coef_)
    own = margin.copy()
    own[a] = 1.0
    np.testing.assert_allclose(_weights(there), _solve(X, np.eye(3)[y] * own[:, None]), rtol=1e-9, atol=1e-11)
    with pytest.raises(MismatchError, match="equal parameters"):
        there.merge(LeastSquaresClassifier(alpha=1.0).fit(X, y))


def test_partial_fit_waits_for_every_class(iris):
    X, y = iris
    model = LeastSquaresClassifier().partial_fit(X[:50], y[:50], classes=[0, 1, 2])
    with pytest.raises(AttributeError):
        model.predict(X)
    model.partial_fit(X[50:], y[50:])
    np.testing.assert_allclose(model.coef_, LeastSquaresClassifier().fit(X, y).coef_, rtol=1e-9)


# Refusals


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"alpha": -1.0}, "'alpha' parameter"),
        ({"alpha": "big"}, "'alpha' parameter"),
        ({"alpha": np.inf}, "'alpha' parameter"),
        ({"coding": "softmax"}, "'coding' parameter"),
        ({"coding": "two-class"}, "for two classes and there are 3"),
        ({"coding": np.eye(2)}, "one row for each class"),
        ({"margin": -1}, "'margin' parameter"),
        ({"margin": [1, 2, -1]}, "positive number"),
        ({"margin": [1, 2]}, "one for each of the 3 classes"),
        ({"margin": {0: 1.0}}, "says nothing about class 1 and 2"),
        ({"margin": 2.0, "coding": [[0, 1], [1, 0], [2, 5]]}, "decides by them"),
        ({"coding": "pairwise", "decoder": "maximum"}, "needs an output for each class"),
    ],
    ids=str,
)
def test_bad_parameters_get_a_sentence(iris, options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        LeastSquaresClassifier(**options).fit(*iris)


@pytest.mark.parametrize("bad", [np.zeros(150), np.ones(3), np.full(150, np.nan)])
def test_bad_margins_of_rows_get_a_sentence(iris, bad):
    with pytest.raises(DataError, match="margin"):
        LeastSquaresClassifier().fit(*iris, margin=bad)


def test_a_failed_fit_leaves_the_old_model(iris):
    X, y = iris
    model = LeastSquaresClassifier().fit(X, y)
    before = pickle.dumps(model)
    broken = X.copy()
    broken[7, 2] = np.inf
    with pytest.raises(DataError, match="infinity: column 2 in row 7"):
        model.fit(broken, y)
    with pytest.raises(DataError, match="has no rows with a positive weight"):
        model.fit(X, y, sample_weight=(y > 0).astype(float))
    assert pickle.dumps(model) == before


def test_columns_that_depend_on_each_other_are_named_unless_a_penalty_decides(iris):
    X, y = iris
    frame = pd.DataFrame(np.column_stack([X, np.ones(150), X[:, 0] + X[:, 1]]), columns=[*"abcd", "one", "sum"])
    with pytest.warns(CollinearityWarning, match="'one' and 'sum'"):
        LeastSquaresClassifier().fit(frame, y)
    LeastSquaresClassifier(alpha=1e-3).fit(frame, y)


def test_probabilities_are_not_offered_and_it_says_what_to_use(iris):
    model = LeastSquaresClassifier().fit(*iris)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="not probabilities"):
        model.predict_proba(iris[0])
