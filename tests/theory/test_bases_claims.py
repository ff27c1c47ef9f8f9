"""What the textbooks claim of generalised discriminants g(x) = Σ a_j φ_j(x): rows B1–B5 of the contract."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.base import ClassifierMixin, clone
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import discriminant
from discriminant.bases import (
    Distances,
    Functions,
    Gaussian,
    HalfPlane,
    Linear,
    Log,
    LowRankQuadratic,
    Polynomial,
    QuadraticForm,
    Radial,
    Sine,
    Step,
    Wiring,
    quadratic_form,
    resolve,
)


def separable(features: np.ndarray, labels: np.ndarray) -> bool:
    """Whether some a has t·(a·y) ≥ 1 for all rows: a linear program, independent of the package."""
    t = np.where(labels == labels.max(), 1.0, -1.0)
    scale = np.abs(features).max(axis=0)
    Y = np.c_[np.ones(len(features)), features / np.where(scale > 0, scale, 1.0)]
    return linprog(np.zeros(Y.shape[1]), A_ub=-t[:, None] * Y, b_ub=-np.ones(len(Y)), bounds=(None, None)).status == 0


def machine(features: np.ndarray, labels: np.ndarray, epochs: int = 20_000) -> np.ndarray:
    """A linear machine (q weight vectors, largest score wins) by the fixed-increment rule, transcribed."""
    Y = np.c_[np.ones(len(features)), features]
    A = np.zeros((Y.shape[1], labels.max() + 1))
    for _ in range(epochs):
        clean = True
        for y, k in zip(Y, labels, strict=True):
            best = int(np.argmax(y @ A))
            if best != k:
                A[:, k] += y
                A[:, best] -= y
                clean = False
        if clean:
            break
    return A


def ring(n: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A disc of radius 1 inside a ring from 1.3 to 2."""
    rng = np.random.default_rng(seed)
    labels, angle = np.arange(n) % 2, rng.uniform(0, 2 * np.pi, n)
    radius = np.where(labels == 0, rng.uniform(0, 1, n), rng.uniform(1.3, 2, n))
    return np.c_[radius * np.cos(angle), radius * np.sin(angle)], labels


# ---- B1: quadratic and polynomial discriminants


def test_a_quadratic_in_x_is_linear_in_the_products():
    """g(x) = w₀ + Σ w_i x_i + Σ Σ w_ij x_i x_j = a·φ(x)  for any w."""
    rng = np.random.default_rng(0)
    X, w0, w, W = rng.normal(size=(30, 3)), 0.3, rng.normal(size=3), rng.normal(size=(3, 3))
    g = w0 + X @ w + np.einsum("ni,ij,nj->n", X, W, X)
    products = Polynomial(2).fit(X)
    a = np.concatenate([w, [W[i, j] + (i != j) * W[j, i] for i in range(3) for j in range(i, 3)]])
    np.testing.assert_allclose(products.transform(X) @ a + w0, g, rtol=1e-12, atol=1e-12)


def test_the_example_of_one_variable():
    """g(x) = a₁ + a₂x + a₃x² with a = (−1, 1, 2) is positive for x < −1 and for x > ½."""
    x = np.linspace(-3, 3, 601)[:, None]
    g = -1 + Polynomial(2).fit_transform(x) @ [1.0, 2.0]
    decided = np.abs(g) > 1e-9
    np.testing.assert_array_equal((g > 0)[decided], ((x < -1) | (x > 0.5)).ravel()[decided])


@given(st.integers(1, 5), st.integers(1, 4))
def test_the_number_of_products_is_a_binomial(d, degree):
    """d̂ = C(d + degree, degree) − 1: the price of a higher order."""
    from math import comb

    basis = Polynomial(degree).fit(np.ones((1, d)))
    assert basis.n_features_out_ == comb(d + degree, degree) - 1
    assert basis.powers_.sum(axis=1).max() == degree


# ---- B2: the basis functions of the book, and where they are not zero (exercise 1)

GRID = np.stack(np.meshgrid(np.linspace(-4, 4, 81), np.linspace(0.1, 4, 40)), axis=-1).reshape(-1, 2)


def test_sine_is_zero_at_multiples_of_pi_only():
    multiples = np.arange(-3, 4)[:, None] * np.pi
    np.testing.assert_allclose(Sine().fit_transform(multiples), 0, atol=1e-15)
    assert (Sine().fit_transform(multiples + 0.5) != 0).all()


def test_gaussians_are_positive_everywhere_and_largest_at_their_centre():
    one = Gaussian((1.0,), width=2.0).fit_transform(GRID)[:, 0]
    radial = Radial([[1.0, 2.0]], width=2.0).fit_transform(GRID)[:, 0]
    for values, centre in ((one, GRID[:, 0] == GRID[np.argmin(np.abs(GRID[:, 0] - 1)), 0]), (radial, None)):
        assert (values > 0).all()
        assert (values <= 1).all()
        if centre is not None:
            np.testing.assert_allclose(values[centre], values.max())
    np.testing.assert_allclose(GRID[radial.argmax()], [1.0, 2.0], atol=0.05)


def test_log_is_zero_at_one_only():
    column = GRID[:, 1:]
    np.testing.assert_array_equal(Log().fit_transform(column) == 0, column == 1)


def test_step_and_half_plane_are_one_beyond_their_boundary():
    np.testing.assert_array_equal(Step((0.5,)).on(0).fit_transform(GRID)[:, 0], GRID[:, 0] > 0.5)
    plane = HalfPlane([[2.0, -1.0]], (0.35,)).fit_transform(GRID)[:, 0]
    np.testing.assert_array_equal(plane, 2 * GRID[:, 0] - GRID[:, 1] > 0.35)


def test_half_planes_and_functions_of_the_user_solve_exclusive_or():
    X, labels = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])
    assert not separable(X, labels)
    assert separable(HalfPlane([[1, 1], [1, 1]], (0.5, 1.5)).fit_transform(X), labels)
    assert separable((Linear() + Functions({"product": lambda X: X[:, 0] * X[:, 1]})).fit_transform(X), labels)


# ---- B3: distances to centres; random wiring


@pytest.mark.parametrize(
    "basis",
    [
        Distances([[0.0, 0.0]]),
        Distances(12, random_state=0),
        Radial([[0.0, 0.0]], width=1.0),
        Radial(8, placement="means", random_state=0),
        Polynomial(2),
    ],
    ids=repr,
)
def test_a_disc_in_a_ring_is_not_separable_in_x_and_is_in_the_features(basis):
    X, labels = ring()
    assert not separable(X, labels)
    assert separable(basis.fit_transform(X), labels)


def test_two_crosses_make_the_lectures_classes_separable():
    """Two groups of one class on either side of the other: φ = distances to two points, a line divides φ.

    The crosses lie in the middle class, so that ‖x − c₁‖ + ‖x − c₂‖ = c is an ellipse around it.
    """
    rng = np.random.default_rng(0)
    groups = [rng.normal(centre, 0.25, size=(40, 2)) for centre in ((-1.5, -1.0), (1.5, 1.0), (0.0, 0.0))]
    X, labels = np.concatenate(groups), np.repeat([0, 0, 1], 40)
    assert not separable(X, labels)
    assert separable(Distances([[-0.4, -0.3], [0.4, 0.3]]).fit_transform(X), labels)


def test_wiring_at_random_separates_patterns_that_their_pixels_do_not():
    """Parity of two blocks of the retina: no weights on pixels tell it, weights on random units do."""
    rng = np.random.default_rng(0)
    signs = rng.integers(2, size=(60, 2))
    left = np.repeat(signs[:, :1], 8, axis=1)
    X = np.c_[left, np.repeat(signs[:, 1:], 8, axis=1)].astype(float)
    labels = signs.sum(axis=1) % 2
    assert not separable(X, labels)
    assert separable(Wiring(units=100, connections=8, random_state=0).fit_transform(X), labels)


# ---- B4: the quadratic discriminant and its low-rank form


@given(st.integers(0, 2**16), st.integers(1, 6))
def test_leading_eigenvectors_are_the_best_approximation(seed, d):
    """‖W − W_r‖² = Σ_{i>r} λ_i², and no other rank-r matrix is nearer (Eckart–Young)."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(d, d))
    form = QuadraticForm(W + W.T, rng.normal(size=d), 0.5)
    sizes = np.sort(np.abs(np.linalg.eigvalsh(form.W)))[::-1]
    for rank in range(d + 1):
        low = form.low_rank(rank)
        assert np.linalg.matrix_rank(low.W) <= rank
        assert np.linalg.norm(form.W - low.W) == pytest.approx(np.sqrt((sizes[rank:] ** 2).sum()), abs=1e-10)
    np.testing.assert_allclose(form.low_rank(d).W, form.W, atol=1e-12)


def test_quadratic_logistic_is_a_quadratic_form_whose_rank_can_be_cut():
    """Classes that differ in spread along one direction only: W has one large eigenvalue, and one is enough."""
    rng = np.random.default_rng(0)
    v, y = np.array([3.0, 4.0]) / 5, np.arange(400) % 2
    X = rng.normal(size=(400, 2)) + (y * 3 * rng.choice([-1, 1], 400))[:, None] * v
    basis = Polynomial(2).fit(X)
    model = LogisticRegression(C=1.0).fit(basis.transform(X), y)
    form = quadratic_form(basis, model.coef_, model.intercept_)
    np.testing.assert_allclose(form(X), model.decision_function(basis.transform(X)), rtol=1e-10, atol=1e-10)
    assert abs(form.directions(1)[:, 0] @ v) > 0.98
    exact, low = np.mean((form(X) > 0) == y), np.mean((form.low_rank(1)(X) > 0) == y)
    assert low > exact - 0.03
    refit = LowRankQuadratic(directions=form.directions(1)).fit_transform(X)
    assert LogisticRegression().fit(refit, y).score(refit, y) > exact - 0.01


def gaussians(K: int, d: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    mixing = rng.normal(size=(K, d, d))
    return np.einsum("nd,nde->ne", rng.normal(size=(n, d)), mixing[y]) + rng.normal(size=(K, d))[y], y


@pytest.mark.parametrize("K", [2, 3, 4])
def test_at_full_rank_the_discriminant_of_gaussian_classes_is_linear_in_the_features(K):
    """QDA's log p(x|C_i)P_i − log p(x|C_j)P_j = a·φ(x) + a₀ exactly, with r = d."""
    X, y = gaussians(K, 4, 400, seed=K)
    qda = QuadraticDiscriminantAnalysis().fit(X, y)
    scores = np.log(qda.predict_proba(X) + 1e-300)
    ratio = scores[:, :-1] - scores[:, -1:]
    keep = (scores > -600).all(axis=1)
    Y = np.c_[np.ones(len(X)), LowRankQuadratic(4).fit_transform(X, y)][keep]
    fitted = Y @ np.linalg.lstsq(Y, ratio[keep], rcond=None)[0]
    np.testing.assert_allclose(fitted, ratio[keep], rtol=1e-7, atol=1e-7)


def test_the_leading_direction_is_the_one_along_which_classes_differ_in_spread():
    """One direction found exactly where the population's W has rank one, in any units of the columns."""
    rng = np.random.default_rng(0)
    d, n = 10, 20_000
    v, y = np.linalg.qr(rng.normal(size=(d, d)))[0][:, 0], np.arange(n) % 2
    X = rng.normal(size=(n, d))
    X += np.outer((1 + 2 * y) * (X @ v) - X @ v, v)
    found = LowRankQuadratic(1).fit(X, y).directions_[:, 0]
    assert abs(found @ v) / np.linalg.norm(found) > 0.999
    units = 10.0 ** rng.integers(-6, 7, size=d)
    rescaled = LowRankQuadratic(1).fit_transform(X * units, y)[:, -1]
    np.testing.assert_allclose(rescaled, LowRankQuadratic(1).fit_transform(X, y)[:, -1], rtol=1e-8)


def test_few_eigenvectors_keep_the_variance_under_control():
    """Exercise 6: on small samples the low-rank form errs less than the full quadratic."""
    d, gains = 12, []
    v = np.ones(d) / np.sqrt(d)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = np.arange(4_200) % 2
        X = rng.normal(size=(len(y), d))
        X += np.outer(3 * y * (X @ v), v)
        train, test = slice(0, 200), slice(200, None)
        full, low = (
            make_pipeline(basis, LogisticRegression(C=1e4, max_iter=5_000))
            .fit(X[train], y[train])
            .score(X[test], y[test])
            for basis in (Polynomial(2), LowRankQuadratic(1))
        )
        gains.append(low - full)
    assert np.mean(gains) > 0.03
    assert np.min(gains) > -0.02


# ---- B5: an interval by a linear machine


@pytest.mark.parametrize(
    "basis",
    [Polynomial(2), Step((2.0, 4.0)), Distances([[3.0]]), Gaussian((3.0,), width=1.0), Radial([[3.0]], width=1.0)],
    ids=repr,
)
def test_the_class_between_two_and_four_is_learned_by_a_linear_machine(basis):
    """C₁ = {2 < x < 4}: no threshold on x tells it; a linear machine on φ(x) makes no error  (exercise 9)."""
    x = np.r_[np.linspace(0, 1.8, 20), np.linspace(2.2, 3.8, 20), np.linspace(4.2, 6, 20)][:, None]
    labels = ((x > 2) & (x < 4)).ravel().astype(int)
    assert not separable(x, labels)
    A = machine(basis.fit_transform(x), labels)
    decided = (np.c_[np.ones(len(x)), basis.transform(x)] @ A).argmax(axis=1)
    np.testing.assert_array_equal(decided, labels)


ESTIMATORS = [name for name, home in discriminant._HOMES.items() if home.startswith("estimators.")]


# What an estimator says about data that can be separated, or about a bound that it met, is not the question here.
@pytest.mark.filterwarnings("ignore::discriminant.errors.DiscriminantWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_works_on_the_features_as_on_the_columns(name):
    """Learning on φ(x) is learning: the pipeline equals the classifier on φ(X), and curves where x alone cannot."""
    classifier = getattr(discriminant, name)
    required = [p for p in inspect.signature(classifier).parameters.values() if p.default is p.empty and p.kind < 2]
    if required or not issubclass(classifier, ClassifierMixin):
        pytest.skip(reason=f"{name} is no classifier of its own: it wraps another one")
    if classifier().__sklearn_tags__().input_tags.positive_only:
        pytest.skip(reason=f"{name} has no density for features that are negative")
    X, labels = ring(n=60)
    labels = np.array(["inside", "around"])[labels]
    basis = Polynomial(2)
    pipeline = make_pipeline(clone(basis), classifier()).fit(X, labels)
    features = clone(basis).fit_transform(X)
    np.testing.assert_array_equal(pipeline.predict(X), classifier().fit(features, labels).predict(features))
    assert pipeline.score(X, labels) > 0.9
    assert pipeline[-1].n_features_in_ == 5


@pytest.mark.parametrize(
    "basis", ["quadratic", "rbf:8", Sine((1.0, 2.0)) + Step(3), Wiring(40, random_state=0)], ids=repr
)
def test_a_basis_inside_an_estimator_is_a_pipeline(basis):
    """Discriminant(basis=φ) and the pipeline φ → Discriminant learn the same weights."""
    X, labels = ring(n=200)
    labels = np.where(np.arange(200) % 10 == 0, 1 - labels, labels)  # some of each on the wrong side: a minimum exists
    inside = discriminant.Discriminant(basis=basis, penalty="ridge").fit(X, labels)
    outside = make_pipeline(resolve(basis), discriminant.Discriminant(penalty="ridge")).fit(X, labels)
    np.testing.assert_allclose(inside.coef_, outside[-1].coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(inside.predict(X), outside.predict(X))
    names = inside.discriminant_.feature_names
    assert list(names) == outside[0].get_feature_names_out().tolist()
