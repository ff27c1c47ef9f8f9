"""Tables of discriminants in closed form, intervals of predictions, the bootstrap: against others and simulation."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import sparse

from discriminant import (
    FisherDiscriminant,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    LogisticRegressionCV,
    QuadraticDiscriminantAnalysis,
    datasets,
)
from discriminant.errors import DataError, DiscriminantWarning, ParameterError
from discriminant.optimize import Newton


def gaussians(n=300, d=3, K=2, seed=0):
    random = np.random.default_rng(seed)
    y = random.integers(0, K, n)
    X = random.normal(size=(n, d)) @ random.normal(size=(d, d)) + y[:, None] * np.linspace(0.5, -0.5, d) + 10
    return X, y


@pytest.mark.parametrize("kind", ["model", "HC0", "HC1", "HC2", "HC3"])
def test_least_squares_is_that_of_statsmodels(kind):
    models = pytest.importorskip("statsmodels.api")
    X, y = gaussians()
    model = LeastSquaresClassifier().fit(X, y)
    table = model.summary(X, y, covariance=kind)
    cov = "nonrobust" if kind == "model" else kind
    theirs = models.OLS(2.0 * y - 1, models.add_constant(X)).fit(cov_type=cov, use_t=True)
    np.testing.assert_allclose(table.estimate, theirs.params, rtol=1e-8)
    np.testing.assert_allclose(table.standard_error, theirs.bse, rtol=1e-8)
    np.testing.assert_allclose(table.p, theirs.pvalues, rtol=1e-6, atol=1e-200)
    np.testing.assert_allclose(np.c_[table.low, table.high], theirs.conf_int(), rtol=1e-8)
    assert table.statistics["R²"] == pytest.approx(theirs.rsquared, rel=1e-9)
    if kind == "model":
        assert table.statistics["F"] == pytest.approx(theirs.fvalue, rel=1e-8)
        assert "unequal variances" in str(table)
    assert " t " in str(table).splitlines()[0]


def test_least_squares_of_many_classes_weights_and_ridge():
    models = pytest.importorskip("statsmodels.api")
    X, y = gaussians(K=3)
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    table = LeastSquaresClassifier().fit(X, y, weight).summary()
    R = np.repeat(np.arange(len(y)), weight)
    for k in range(3):
        theirs = models.OLS((y[R] == k) * 1.0, models.add_constant(X[R])).fit()
        np.testing.assert_allclose(table.standard_error[4 * k : 4 * k + 4], theirs.bse, rtol=1e-8)
    assert table.outcomes[::4] == ["0", "1", "2"]
    ridge = LeastSquaresClassifier(alpha=5.0).fit(X, y == 0)
    told = ridge.summary()
    assert "penalised" in str(told)
    assert np.isnan(told.p).all()
    Y = np.c_[np.ones(len(y)), X]
    e = np.where(y == 0, 1.0, -1.0) - ridge.decision_function(X)
    inverse = np.linalg.inv(Y.T @ Y + np.diag([0, 5.0, 5, 5]))
    np.testing.assert_allclose(told.standard_error**2, np.diag(inverse) * (e @ e) / (len(y) - 4), rtol=1e-8)
    with pytest.raises(DataError, match="rows"):
        LeastSquaresClassifier().fit(X, y).summary(covariance="HC3")
    with pytest.raises(ParameterError, match="every row takes part"):
        LeastSquaresClassifier(coding="pairwise").fit(X, y).summary()


@pytest.mark.parametrize("K", [2, 3])
def test_errors_of_gaussian_discriminants_are_those_of_repeated_samples(K):
    """What the formula says of one sample is what many samples of the same Gaussians show."""
    random = np.random.default_rng(5)
    d, n = 2, 400
    root, means = random.normal(size=(d, d)), random.normal(size=(K, d))
    found, formula = [], []
    for _ in range(600):
        y = random.integers(0, K, n)
        X = means[y] + random.normal(size=(n, d)) @ root + 3
        table = LinearDiscriminantAnalysis().fit(X, y).summary()
        found.append(table.estimate)
        formula.append(table.covariance)
    seen, said = np.cov(np.array(found).T), np.mean(formula, axis=0)
    scale = np.sqrt(np.diag(said))
    np.testing.assert_allclose(seen / scale / scale[:, None], said / scale / scale[:, None], atol=0.16)
    np.testing.assert_allclose(np.sqrt(np.diag(seen)), scale, rtol=0.1)


def test_gaussian_tables_say_what_they_assume():
    X, y = gaussians()
    lda = LinearDiscriminantAnalysis().fit(X, y)
    table = lda.summary()
    assert "Gaussian with one covariance" in str(table)
    np.testing.assert_allclose(table.estimate, np.r_[lda.intercept_, lda.coef_[0]], rtol=1e-12)
    fisher = FisherDiscriminant().fit(X, y).summary()
    np.testing.assert_allclose(fisher.standard_error[1:], table.standard_error[1:], rtol=1e-8)
    assert np.isnan(fisher.standard_error[0])
    given = LinearDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X, y).summary()
    less = table.standard_error[0] ** 2 - given.standard_error[0] ** 2
    counts = np.bincount(y)
    assert less == pytest.approx((1 / counts).sum(), rel=1e-8)  # the frequencies' own variance
    with pytest.raises(ParameterError, match="bootstrap"):
        LinearDiscriminantAnalysis(shrinkage=0.1).fit(X, y).summary()
    with pytest.raises(DataError, match="do not determine a covariance"):
        LinearDiscriminantAnalysis().fit(X[:4, :2], [0, 0, 1, 1]).summary()
    with pytest.raises(ParameterError, match="quadratic"):
        QuadraticDiscriminantAnalysis().fit(X, y).summary()
    with pytest.raises(ParameterError, match="LinearDiscriminantAnalysis"):
        FisherDiscriminant().fit(*gaussians(K=3)).summary()


def test_the_bootstrap_agrees_where_formulas_hold():
    X, y = gaussians(n=500)
    few, labels = np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1])
    near = LogisticRegression(C=np.inf).fit(few, labels).summary(intervals="bootstrap", draws=20)
    assert "the classes were separated" in str(near)
    X = np.random.default_rng(3).normal(size=X.shape) + 0.5 * y[:, None]
    logistic = LogisticRegression(C=np.inf).fit(X, y)
    plain, drawn = logistic.summary(), logistic.summary(intervals="bootstrap", draws=200)
    np.testing.assert_allclose(drawn.standard_error, plain.standard_error, rtol=0.25)
    assert "Bootstrap: 200 fits" in str(drawn)
    np.testing.assert_allclose(drawn.estimate, plain.estimate, rtol=1e-12)
    again = logistic.summary(intervals="bootstrap", draws=200)
    np.testing.assert_array_equal(again.low, drawn.low)
    lasso = LogisticRegression(C=0.1, l1_ratio=1.0, solver="auto").fit(X, y)
    with pytest.raises(ParameterError, match="bootstrap"):
        lasso.summary(X, y)
    assert (lasso.summary(X, y, intervals="bootstrap", draws=20).low <= lasso.coef_.min()).any()
    lda = LinearDiscriminantAnalysis(shrinkage=0.1).fit(X, y)
    np.testing.assert_allclose(
        lda.summary(X, y, intervals="bootstrap", draws=100).standard_error[1:], plain.standard_error[1:], rtol=0.4
    )
    least = LeastSquaresClassifier().fit(X, y)
    robust = least.summary(X, y, covariance="HC3").standard_error
    np.testing.assert_allclose(least.summary(X, y, intervals="bootstrap").standard_error, robust, rtol=0.25)
    with pytest.raises(ParameterError, match="at least 20"):
        logistic.summary(intervals="bootstrap", draws=3)
    with pytest.raises(DataError, match="rows"):
        lda.summary(intervals="bootstrap")


@pytest.mark.parametrize("make", [lambda: LogisticRegression(C=np.inf), LinearDiscriminantAnalysis])
@pytest.mark.parametrize("K", [2, 3])
def test_probability_intervals_are_the_delta_method(make, K):
    X, y = gaussians(K=K)
    model = make().fit(X, y)
    table = model.summary(X, y)
    found = model.probability_interval(X[:5], table)
    theta = table.estimate.reshape(K - 1, -1)

    def logits(flat):
        z = np.c_[np.zeros(5), np.c_[np.ones(5), X[:5]] @ flat.reshape(theta.shape).T]
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return np.log(p / (1 - p))

    step = 1e-6
    jacobian = np.stack(
        [(logits(theta.ravel() + step * e) - logits(theta.ravel() - step * e)) / (2 * step) for e in np.eye(theta.size)]
    )
    spread = np.sqrt(np.einsum("ijk,il,ljk->jk", jacobian, table.covariance, jacobian))
    ends = 1 / (1 + np.exp(-(logits(theta.ravel())[:, :, None] + 1.959964 * spread[:, :, None] * np.array([-1, 1]))))
    np.testing.assert_allclose(found, ends[:, 1] if K == 2 else ends, rtol=1e-4)
    if K == 2:
        inside = (found[:, 0] < model.predict_proba(X[:5])[:, 1]) & (model.predict_proba(X[:5])[:, 1] < found[:, 1])
        assert inside.all()


def test_boundary_intervals_are_fiellers():
    X, y = gaussians(n=600)
    model = LogisticRegression(C=np.inf).fit(X, y)
    table = model.summary()
    place, low, high = model.boundary_interval(X[:1], 0, table)[0]
    for end in (low, high):  # there the log odds are just told from zero
        x = np.r_[1.0, end, X[0, 1:]]
        assert (x @ table.estimate) ** 2 == pytest.approx(1.959964**2 * (x @ table.covariance @ x), rel=1e-4)
    assert low < place < high
    assert np.r_[1.0, place, X[0, 1:]] @ table.estimate == pytest.approx(0, abs=1e-9)
    noise = np.c_[X, np.random.default_rng(0).normal(size=len(X))]
    wider = LogisticRegression(C=np.inf).fit(noise, y)
    anywhere = wider.boundary_interval(noise[:1], 3, wider.summary())[0]
    assert anywhere[1:].tolist() == [-np.inf, np.inf]
    with pytest.raises(DataError, match="no column"):
        model.boundary_interval(X, 7, table)


def test_the_table_of_a_limit():
    """Infinite estimates are said to be; the rest are those of the rows that separation leaves undecided."""
    X, y = gaussians(n=200)
    X[:, 0] = 0
    X[:20, 0], y[:20] = 1, 1
    with pytest.warns(DiscriminantWarning, match="column 0"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    table = model.summary(X, y)
    part = LogisticRegression(C=np.inf).fit(X[20:, 1:], y[20:]).summary(X[20:, 1:], y[20:])
    assert table.estimate[1] == np.inf
    assert np.isinf(table.standard_error[1])
    assert np.isnan(table.p[1])
    np.testing.assert_allclose(table.estimate[[0, 2, 3]], part.estimate, rtol=1e-8)
    np.testing.assert_allclose(table.standard_error[[0, 2, 3]], part.standard_error, rtol=1e-7)
    assert table.statistics["deviance"] == pytest.approx(part.statistics["deviance"], rel=1e-10)
    assert "least upper bound" in str(table)
    assert "–" in str(table)
    with pytest.raises(DataError, match="have none either"):
        model.probability_interval(X, table)


@pytest.mark.parametrize("K", [2, 4])
def test_units_and_offsets_of_the_columns_cost_no_digits(K):
    X, y = gaussians(n=2000, K=K)
    unit, shift = np.array([2.0**-10, 1.0, 2.0**13]), np.array([0.0, 2.0**20, -3.0])
    plain = LogisticRegression(C=np.inf).fit(X, y).summary()
    moved = LogisticRegression(C=np.inf).fit(X * unit + shift, y).summary()
    slopes = np.tile([False, True, True, True], K - 1)
    error = moved.standard_error[slopes] * np.tile(unit, K - 1)
    np.testing.assert_allclose(error, plain.standard_error[slopes], rtol=1e-8)
    assert moved.statistics["deviance"] == pytest.approx(plain.statistics["deviance"], rel=1e-10)
    assert not moved.notes


def test_the_profile_of_a_jeffreys_intercept_is_that_of_its_own_likelihood():
    """At the ends of the interval the penalised likelihood has fallen by half the quantile."""
    from discriminant.data import make_blocks
    from discriminant.inference.firth import firth

    X, y = gaussians(n=40, d=1)
    X = X - X.mean()
    model = LogisticRegression(penalty="jeffreys").fit(X, y)
    table = model.summary(X, y, intervals="profile")
    likelihood, _, top = firth(make_blocks(X, y.astype(np.uint8)), 2)
    slopes = np.linspace(model.coef_[0, 0] - 2, model.coef_[0, 0] + 2, 801)
    best = min(likelihood.evaluate(likelihood.from_weights(np.array([[table.low[0]], [b]]))).value for b in slopes)
    assert 2 * (best - top.value) == pytest.approx(3.841459, rel=1e-4)


def fits():
    """(name, a function that fits on rows that nobody keeps, the same rows, labels and weights)."""
    X, y = gaussians(n=200)
    noise = X + np.random.default_rng(1).normal(size=X.shape) * 3
    weight = np.random.default_rng(2).integers(1, 4, len(y))
    cases = {
        "no penalty": (LogisticRegression(C=np.inf), {}),
        "ridge": (LogisticRegression(C=0.3), {}),
        "jeffreys": (LogisticRegression(penalty="jeffreys"), {}),
        "weights": (LogisticRegression(C=np.inf), {"sample_weight": weight}),
        "textbook": (LogisticRegression(C=np.inf, optimizer="newton"), {}),
        "search": (LogisticRegressionCV(Cs=[0.5], use_legacy_attributes=False), {}),
    }
    return [pytest.param(model, noise, y, more, id=name) for name, (model, more) in cases.items()]


@pytest.mark.parametrize(("model", "X", "y", "more"), fits())
def test_a_summary_needs_no_rows_that_the_caller_has_let_go(model, X, y, more):
    kept = {name: value.copy() for name, value in more.items()}
    model.fit(X.copy(), list(y), **kept)
    del kept
    table, again = model.summary(), model.summary(X, y, **more)
    np.testing.assert_allclose(table.standard_error, again.standard_error, rtol=1e-10)
    np.testing.assert_allclose(table.estimate, again.estimate, rtol=1e-12)
    assert table.statistics == pytest.approx(again.statistics, rel=1e-10)
    for options in ({"covariance": "HC1"}, {"intervals": "bootstrap"}, {"intervals": "profile"}):
        with pytest.raises(DataError, match=r"call summary\(X, y\)"):
            model.summary(**options)


@pytest.mark.parametrize("penalty", [{"C": np.inf}, {"C": 0.1}, {"penalty": "jeffreys"}])
@pytest.mark.parametrize("storage", [sparse.csr_array, sparse.csc_matrix, np.asfortranarray, np.ndarray.tolist])
def test_the_summary_does_not_depend_on_how_rows_are_stored(storage, penalty):
    X, y = gaussians(n=400)
    X = np.where(np.random.default_rng(2).random(X.shape) < 0.5, X, 0) + [0.0, 50.0, 0.0]
    plain = LogisticRegression(**penalty).fit(X, y).summary()
    model = LogisticRegression(**penalty).fit(storage(X), y)
    for table in (model.summary(), model.summary(storage(X), y)):
        np.testing.assert_allclose(table.standard_error, plain.standard_error, rtol=1e-8)
        assert table.statistics == pytest.approx(plain.statistics, rel=1e-10)


def test_sparse_rows_that_are_many_have_the_summary_of_dense_ones():
    random = np.random.default_rng(2)
    X = sparse.random_array((40_000, 150), density=0.02, rng=random, format="csr")
    y = (X[:, [0]].toarray()[:, 0] + random.logistic(size=40_000) > 0).astype(int)
    found = LogisticRegression(C=np.inf, tol=1e-13).fit(X, y).summary()  # a gap of 1e-13 leaves weights right to 3e-7
    plain = LogisticRegression(C=np.inf, tol=1e-13).fit(X.toarray(), y).summary()
    np.testing.assert_allclose(found.standard_error, plain.standard_error, rtol=1e-6)


def test_a_frame_of_chosen_columns_has_a_summary():
    pandas = pytest.importorskip("pandas")
    X, y = gaussians(n=200)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(y=np.where(y == 0, "no", "yes"))
    table = LogisticRegression(C=np.inf).fit(frame[["a", "c"]], frame["y"]).summary()
    assert table.terms == ["(intercept)", "a", "c"]
    assert table.outcomes == ["yes"] * 3
    again = LogisticRegression(C=np.inf).fit(X[:, [0, 2]], y).summary()
    np.testing.assert_allclose(table.standard_error, again.standard_error, rtol=1e-10)


def test_a_pickled_model_has_its_summary_and_not_its_rows():
    X, y = gaussians(n=20_000)
    model = LogisticRegression(C=np.inf).fit(X, y)
    text = pickle.dumps(model)
    assert len(text) < X.nbytes / 20
    assert str(pickle.loads(text).summary()) == str(model.summary())
    with pytest.raises(DataError, match=r"call summary\(X, y\)"):
        pickle.loads(text).summary(covariance="HC0")


def test_fewer_rows_than_columns_have_a_summary_too():
    X, y = np.random.default_rng(0).normal(size=(30, 60)), np.arange(30) % 2
    model = LogisticRegression().fit(X.copy(), y.copy())
    assert str(model.summary()) == str(model.summary(X, y))
    text = pickle.dumps(model)
    assert len(text) < X.nbytes
    with pytest.raises(DataError, match=r"call summary\(X, y\)"):
        pickle.loads(text).summary()


def test_weights_that_the_user_sets_have_no_summary_of_the_fit():
    X, y = gaussians()
    model = LogisticRegression(C=np.inf).fit(X.copy(), y)
    model.coef_ = model.coef_ * 2
    with pytest.raises(DataError, match=r"call summary\(X, y\)"):
        model.summary()


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize(("kind", "lost"), [("constant", [0, 4]), ("twice", [1, 4]), ("sum", [1, 2, 4])])
def test_weights_that_the_rows_do_not_determine_have_no_errors_and_the_others_keep_theirs(kind, lost, K):
    X, y = gaussians(K=K)
    X = X + np.random.default_rng(1).normal(size=X.shape) * 3
    extra = {"constant": np.full(len(y), 7.0), "twice": X[:, 0], "sum": X[:, 0] - 2 * X[:, 1]}[kind]
    table = LogisticRegression(C=np.inf).fit(np.c_[X, extra], y).summary()
    plain = LogisticRegression(C=np.inf).fit(X, y).summary()
    found, alone = table.standard_error.reshape(K - 1, 5), plain.standard_error.reshape(K - 1, 4)
    assert np.isinf(found[:, lost]).all()
    assert np.isnan(table.p.reshape(K - 1, 5)[:, lost]).all()
    rest = [j for j in range(4) if j not in lost]
    np.testing.assert_allclose(found[:, rest], alone[:, rest], rtol=1e-6)
    assert "x3" in table.notes[-1]
    assert ("x0" in table.notes[-1]) is (1 in lost)


def test_a_fit_that_stopped_early_says_so_instead_of_asking_for_rows():
    X, y = gaussians()
    X = X + np.random.default_rng(1).normal(size=X.shape) * 3
    with pytest.warns(DiscriminantWarning, match="Not converged"):
        model = LogisticRegression(C=np.inf, optimizer=Newton(iterations=1)).fit(X, y)
    with pytest.raises(DataError, match="smaller tol"):
        model.summary()


def test_rows_learned_after_the_fit_are_not_left_out_of_the_summary():
    X, y = gaussians()
    model = LogisticRegression().fit(X[:200].copy(), y[:200].copy()).partial_fit(X[200:], y[200:])
    with pytest.raises(DataError, match=r"call summary\(X, y\)"):
        model.summary()


@pytest.mark.parametrize("options", [{}, {"covariance": "HC1"}, {"intervals": "profile", "tests": "likelihood-ratio"}])
def test_the_summary_of_a_fit_with_an_offset_is_that_of_statsmodels(options):
    models = pytest.importorskip("statsmodels.api")
    X, y = gaussians()
    X = X + np.random.default_rng(1).normal(size=X.shape) * 3
    offset = np.random.default_rng(3).normal(size=len(y))
    model = LogisticRegression(C=np.inf).fit(X, y, offset=offset)
    table = model.summary(**options)
    kind = {"cov_type": options["covariance"]} if "covariance" in options else {}
    theirs = models.GLM(y, models.add_constant(X), models.families.Binomial(), offset=offset).fit(tol=1e-14, **kind)
    np.testing.assert_allclose(table.estimate, theirs.params, rtol=1e-7)
    if "intervals" in options:
        for low, estimate, high in zip(table.low, table.estimate, table.high, strict=True):
            assert low < estimate < high
    else:
        np.testing.assert_allclose(table.standard_error, theirs.bse, rtol=1e-2 if kind else 1e-7)
    assert table.statistics["deviance"] == pytest.approx(theirs.deviance, rel=1e-9)
    assert table.statistics["null deviance"] == pytest.approx(theirs.null_deviance, rel=1e-9)
    given = model.summary(X, y, offset=offset, **options)
    np.testing.assert_allclose(given.high, table.high, rtol=1e-8)
    with pytest.raises(DataError, match="offset of the fit"):
        model.summary(X, y)
    np.testing.assert_allclose(model.diagnostics(X, y, offset=offset).fitted, theirs.fittedvalues, rtol=1e-6)


def test_class_probabilities_have_the_summary_of_rows_split_by_them():
    X, y = gaussians(n=100)
    share = np.random.default_rng(0).uniform(size=len(y))
    soft = LogisticRegression(C=np.inf).fit(X, np.c_[1 - share, share]).summary()
    both = np.r_[np.zeros(len(y), int), np.ones(len(y), int)]
    split = LogisticRegression(C=np.inf).fit(np.r_[X, X], both, np.r_[1 - share, share]).summary()
    np.testing.assert_allclose(soft.standard_error, split.standard_error, rtol=1e-8)
    assert soft.statistics == pytest.approx(split.statistics, rel=1e-10)


def test_the_table_of_a_limit_needs_no_rows():
    X, y = np.arange(8.0)[:, None], np.arange(8) > 3
    with pytest.warns(DiscriminantWarning, match="separat"):
        model = LogisticRegression(C=np.inf).fit(X.copy(), y.copy())
    assert str(model.summary()) == str(model.summary(X, y))


@pytest.mark.parametrize("reference", [None, 0, 1, 2])
def test_a_reference_class_gives_the_table_of_mnlogit_with_that_class_first(reference):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3))
    z = X @ rng.normal(size=(3, 3))
    y = (z + rng.gumbel(size=z.shape)).argmax(axis=1)
    model, first = LogisticRegression(C=np.inf).fit(X, y), reference or 0
    order = [first, *(k for k in range(3) if k != first)]
    theirs = sm.MNLogit(np.argsort(order)[y], sm.add_constant(X)).fit(disp=0, method="newton", maxiter=99, tol=1e-15)
    for rows in ((), (X, y)):
        table = model.summary(*rows, reference=reference)
        np.testing.assert_allclose(table.estimate, np.ravel(theirs.params, order="F"), rtol=1e-9)
        np.testing.assert_allclose(table.standard_error, np.ravel(theirs.bse, order="F"), rtol=1e-8)
        np.testing.assert_allclose(table.covariance, theirs.cov_params(), rtol=1e-6, atol=1e-10)
        assert f"relative to {first}" in str(table)
        assert table.outcomes == [str(k) for k in order[1:] for _ in range(4)]
    exact = model.summary(X, y, reference=reference, tests="likelihood-ratio")
    np.testing.assert_allclose(exact.estimate, table.estimate, rtol=1e-12)
    drop = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, method="newton", maxiter=99, tol=1e-15).llf
    # The last weight of the last class is zero where its column has one weight for that class and the reference.
    from scipy.optimize import minimize

    def held(w):
        A = np.zeros((4, 3))
        A[:, order[1]], A[:3, order[2]] = w[:4], w[4:]
        s = sm.add_constant(X) @ A
        return float(np.logaddexp.reduce(s, axis=1).sum() - s[np.arange(400), y].sum())

    found = minimize(held, np.zeros(7), method="BFGS", options={"gtol": 1e-6})
    np.testing.assert_allclose(exact.z[-1] ** 2, 2 * (drop + found.fun), rtol=1e-6)


def test_reference_classes_of_other_tables():
    iris = datasets.load("iris")
    X, y = iris.X[:, :2], iris.y
    for model in (LinearDiscriminantAnalysis().fit(X, y), LogisticRegression().fit(X, y)):
        table, first = model.summary(reference="virginica"), model.summary()
        np.testing.assert_allclose(table.estimate[:3], -first.estimate[3:], rtol=1e-9)
        np.testing.assert_allclose(table.standard_error[:3], first.standard_error[3:], rtol=1e-9)
        for use in (lambda m=model, t=table: m.probability_interval(X, t), lambda m=model: m.summary(reference="rose")):
            with pytest.raises(ParameterError, match=r"first class|choose among"):
                use()
    with pytest.warns(UserWarning, match="separa"):
        model = LogisticRegression(C=np.inf).fit(X, y)
    with pytest.raises(ParameterError, match="separated"):
        model.summary(reference="virginica")


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("kind", ["dense", "sparse", "float32", "frame"])
@pytest.mark.parametrize("weighted", [False, True])
def test_robust_errors_are_made_of_the_outer_products_of_the_scores_of_rows(K, kind, weighted):
    """Σ w s sᵗ with s = (t − p) ⊗ y, row by row; a weight counts as repetitions of its row, and may be zero."""
    rng = np.random.default_rng(K)
    X = np.round(rng.normal(size=(300, 3)), 3).astype(np.float32).astype(float)
    y = (X @ rng.normal(size=(3, K)) + 2 * rng.gumbel(size=(300, K))).argmax(axis=1)
    w = rng.integers(0, 4, 300).astype(float) if weighted else np.ones(300)
    store = {
        "dense": lambda: X,
        "sparse": lambda: sparse.csr_array(X),
        "float32": lambda: X.astype(np.float32),
        "frame": lambda: pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c"]),
    }
    model = LogisticRegression(C=np.inf, tol=1e-12).fit(store[kind](), y, sample_weight=w)
    table = model.summary(store[kind](), y, w, covariance="HC0")
    p = model.predict_proba(store[kind]() if kind == "frame" else X)  # in float64: float32 rows have float32 posteriors
    residual = (np.eye(K)[y] - p)[:, 1:]
    Y = np.c_[np.ones(300), X]
    s = (residual[:, :, None] * Y[:, None, :]).reshape(300, -1)
    V = p[:, 1:, None] * (np.eye(K - 1) - p[:, None, 1:])
    bread = np.linalg.inv(np.einsum("i,iab,ij,ik->ajbk", w, V, Y, Y).reshape(s.shape[1], -1))
    expected = bread @ (s.T * w @ s) @ bread
    np.testing.assert_allclose(table.covariance, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("stratified", [False, True])
def test_survey_errors_are_made_of_the_scores_between_the_clusters_of_each_stratum(K, clustered, stratified):
    """Σ_h n_h/(n_h−1) Σ_c (s_hc − s̄_h)(s_hc − s̄_h)ᵗ of weighted scores, summed cluster by cluster."""
    rng = np.random.default_rng(K)
    n = 2_000
    U, unit = rng.normal(size=(n, 3)), np.array([1.0, 1e3, 1e-3])
    X = U * unit + [0.0, 0.0, 5.0]
    y = (U @ rng.normal(size=(3, K)) + 2 * rng.gumbel(size=(n, K))).argmax(axis=1)
    w, groups, strata = rng.random(n) + 0.1, rng.integers(300, size=n), rng.choice(["a", "b", "c"], size=n)
    model = LogisticRegression(C=np.inf, tol=1e-12).fit(X, y, w)
    given = {"groups": groups} if clustered else {}
    given |= {"strata": strata} if stratified else {}
    table = model.summary(X, y, w, covariance="survey", **given)
    Y, p = np.c_[np.ones(n), U], model.predict_proba(X)
    s = (((np.eye(K)[y] - p)[:, 1:] * w[:, None])[:, :, None] * Y[:, None, :]).reshape(n, -1)
    meat = np.zeros((s.shape[1],) * 2)
    for h in np.unique(strata) if stratified else [None]:
        inside = strata == h if stratified else np.ones(n, dtype=bool)
        named = np.unique(groups[inside]) if clustered else np.flatnonzero(inside)
        each = np.array([s[inside & (groups == c)].sum(axis=0) if clustered else s[c] for c in named])
        meat += np.cov(each.T) * len(each)
    V = p[:, 1:, None] * (np.eye(K - 1) - p[:, None, 1:])
    bread = np.linalg.inv(np.einsum("i,iab,ij,ik->ajbk", w, V, Y, Y).reshape(s.shape[1], -1))
    expected = np.sqrt(np.diagonal(bread @ meat @ bread)).reshape(K - 1, 4)[:, 1:] / unit
    np.testing.assert_allclose(table.standard_error.reshape(K - 1, 4)[:, 1:], expected, rtol=1e-8)


def test_robust_errors_after_the_table_are_those_before_it_and_notice_changed_rows():
    """The sums of the first table serve the second; the score of the rows is taken anew."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(5_000, 4))
    y = X[:, 0] + rng.logistic(size=5_000) > 0
    first, second = (LogisticRegression(C=np.inf).fit(X, y) for _ in range(2))
    second.summary()
    for more in ({"covariance": "HC1"}, {"covariance": "cluster", "groups": np.arange(5_000) % 40}):
        np.testing.assert_allclose(first.summary(X, y, **more).covariance, second.summary(**more).covariance, rtol=1e-9)
    X[:, 0] *= -1
    with pytest.raises(DataError, match="not the optimum for these rows"):
        second.summary(covariance="HC1")


def test_a_fit_of_many_rows_that_tol_ends_early_has_a_table_that_says_so():
    """A gap of 1e-4 of J leaves a fifth of a standard error, of 60,000 rows: a note, and no refusal."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60_000, 6))
    y = (X @ rng.normal(size=(6, 3)) * 0.5 + rng.gumbel(size=(60_000, 3))).argmax(axis=1)
    rough, fine = (LogisticRegression(C=np.inf, tol=tol).fit(X, y) for tol in (1e-4, 1e-8))
    (note,) = rough.summary().notes
    assert "standard errors from the optimum; fit with a smaller tol" in note
    apart = (rough.summary().estimate - fine.summary().estimate) / fine.summary().standard_error
    assert 1e-2 < np.abs(apart).max() < 0.5
    assert fine.summary().notes == ()
    with pytest.raises(DataError, match="not the optimum for these rows"):
        rough.summary(X[::-1], y)
