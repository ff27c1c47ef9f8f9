"""The frozen discriminant: its form, its decisions, its sentences."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import scipy.special

from discriminant.codings import make_coding
from discriminant.errors import DataError, MismatchError, ParameterError
from discriminant.geometry import polygon_area
from discriminant.model import LinearDiscriminant, label_array

RNG = np.random.default_rng(0)
W2, W3 = RNG.normal(size=(5, 1)), RNG.normal(size=(5, 3))
X = RNG.normal(size=(200, 4))
TWO = LinearDiscriminant(W2, ["no", "yes"], link="sigmoid")
THREE = LinearDiscriminant(W3, ["a", "b", "c"], link="softmax")


# Form


def test_scores_are_the_augmented_product():
    """z = a·y with y = (1, x)."""
    np.testing.assert_allclose(THREE.scores(X), np.column_stack([np.ones(200), X]) @ W3, rtol=1e-12)
    assert (THREE.n_features, THREE.n_classes, THREE.n_outputs) == (4, 3, 3)
    np.testing.assert_array_equal(THREE.coef, W3[1:].T)
    np.testing.assert_array_equal(THREE.intercept, W3[0])


def test_the_centre_is_part_of_the_form():
    center = RNG.normal(size=4)
    moved = LinearDiscriminant(W3, ["a", "b", "c"], center=center, link="softmax")
    np.testing.assert_allclose(moved.scores(X), W3[0] + (X - center) @ W3[1:], rtol=1e-12)
    np.testing.assert_allclose(moved.intercept, W3[0] - center @ W3[1:], rtol=1e-14)
    plain = LinearDiscriminant(np.vstack([moved.intercept, W3[1:]]), ["a", "b", "c"], link="softmax")
    np.testing.assert_allclose(moved.predict_proba(X), plain.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("link", [None, "softmax"])
def test_huge_offsets_do_not_cost_digits(link):
    """Columns at 10⁸ with spread 1: scores as right as those of the moved columns."""
    center = np.full(4, 2.0**27)
    far = LinearDiscriminant(W3, ["a", "b", "c"], center=center, link=link)
    near = LinearDiscriminant(W3, ["a", "b", "c"], link=link)
    exact = (X * 2**20).round() / 2**20  # so that x + c is exact
    np.testing.assert_allclose(far.scores(exact + center), near.scores(exact), rtol=1e-13, atol=1e-13)


def test_one_output_may_be_a_vector():
    assert LinearDiscriminant(W2[:, 0], ["no", "yes"], link="sigmoid") == TWO


def test_arrays_cannot_be_written():
    for array in (THREE.weights, THREE.classes, THREE.intercept, THREE.class_weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    with pytest.raises(FrozenInstanceError):
        THREE.link = None


def test_the_weights_given_stay_the_users():
    mine = np.array(W3)
    model = LinearDiscriminant(mine, [0, 1, 2])
    mine[0] = 0
    np.testing.assert_array_equal(model.weights, W3)


def test_discriminants_are_values():
    coding = make_coding("one-vs-rest", 3)
    model = LinearDiscriminant(W3, ["a", "b", "c"], coding, list("wxyz"), np.ones(4), "softmax")
    for twin in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
        assert twin == model
        assert hash(twin) == hash(model)
        assert not twin.weights.flags.writeable
    assert model != LinearDiscriminant(W3, ["a", "b", "c"], coding, list("wxyz"), None, "softmax")
    assert model != "a discriminant"
    assert repr(TWO) == "LinearDiscriminant(classes=['no', 'yes'], features=4, link='sigmoid')"


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"weights": np.ones((1, 2))}, DataError, "weights must be"),
        ({"weights": np.ones((2, 2, 2))}, DataError, "weights must be"),
        ({"weights": [[np.nan, 1], [1, 1]]}, DataError, "diverged"),
        ({"classes": "ab"}, DataError, "at least two different labels"),
        ({"classes": [1]}, DataError, "at least two different labels"),
        ({"classes": [1, 1]}, DataError, "at least two different labels"),
        ({"classes": [1, 2, 3]}, MismatchError, "2 outputs for 3 classes need a coding"),
        ({"coding": make_coding("one-vs-rest", 3)}, MismatchError, "codes 3 classes by 3 outputs"),
        ({"center": [1.0]}, DataError, "center has 1 entries"),
        ({"feature_names": ["a"]}, DataError, "feature_names has 1 entries"),
        ({"link": "probit"}, ParameterError, "link is 'probit'"),
    ],
)
def test_parts_that_do_not_fit_are_refused(arguments, error, sentence):
    with pytest.raises(error, match=sentence):
        LinearDiscriminant(**{"weights": np.ones((3, 2)), "classes": [0, 1], **arguments})


# Decisions


def test_two_classes_are_told_by_the_sign():
    z = TWO.scores(X)[:, 0]
    assert TWO.predict(X).tolist() == np.where(z > 0, "yes", "no").tolist()
    np.testing.assert_array_equal(TWO.decision_function(X), z)
    on_the_line = LinearDiscriminant([0.0, 1.0], ["no", "yes"])
    assert on_the_line.predict([[0.0]]).tolist() == ["no"]


def test_several_classes_by_the_largest_score():
    np.testing.assert_array_equal(THREE.predict(X), np.array(["a", "b", "c"])[THREE.scores(X).argmax(axis=1)])
    ties = LinearDiscriminant(np.zeros((3, 3)), [7, 8, 9])
    assert ties.predict(np.ones((2, 2))).tolist() == [7, 7]


def test_two_discriminants_for_two_classes_are_one():
    pair = LinearDiscriminant(W3[:, :2], [0, 1], link="softmax")
    one = LinearDiscriminant(W3[:, 1] - W3[:, 0], [0, 1], link="sigmoid")
    np.testing.assert_allclose(pair.decision_function(X), one.decision_function(X), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(pair.predict(X), one.predict(X))
    np.testing.assert_allclose(pair.predict_log_proba(X), one.predict_log_proba(X), rtol=1e-10)
    assert pair.boundary().offset == pytest.approx(one.boundary().offset)


@pytest.mark.parametrize(
    "given",
    [
        np.asfortranarray(X),
        X[:, ::-1][:, ::-1],
        scipy.sparse.csr_array(X),
        scipy.sparse.csr_matrix(X),
        scipy.sparse.csc_array(X),
        pd.DataFrame(X, columns=list("wxyz")),
        pl.DataFrame(X, schema=list("wxyz")),
        X.tolist(),
    ],
    ids=["fortran", "strided", "csr_array", "csr_matrix", "csc", "pandas", "polars", "list"],
)
@pytest.mark.parametrize("center", [None, np.arange(4.0)])
def test_storage_does_not_matter(given, center):
    model = LinearDiscriminant(W3, ["a", "b", "c"], center=center, link="softmax", feature_names=list("wxyz"))
    np.testing.assert_array_equal(model.predict(given), model.predict(X))
    np.testing.assert_allclose(model.predict_log_proba(given), model.predict_log_proba(X), rtol=1e-11)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint8, bool, np.float16])
def test_numbers_of_any_type_are_read_in_float64(dtype):
    values = (X * 3).round().astype(dtype)
    model = LinearDiscriminant(W3, ["a", "b", "c"], center=np.arange(4.0), link=None)
    expected = model.scores(values.astype(np.float64))
    assert model.scores(values).dtype == (np.float32 if dtype == np.float32 else np.float64)
    np.testing.assert_allclose(model.scores(values), expected, rtol=1e-6 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize(
    "classes", [["a", "b", "c"], [1, 2, 3], [0.0, 1.0, 2.0], np.array(["a", "b", "c"], dtype=object)]
)
def test_large_and_small_samples_are_decided_alike(classes):
    many = np.random.default_rng(1).normal(size=(150_000, 4))
    model = LinearDiscriminant(W3, classes, link="softmax")
    parts = [model.predict(part) for part in np.array_split(many, 40)]
    whole = model.predict(many)
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    assert whole.dtype == model.classes.dtype
    np.testing.assert_allclose(model.predict_proba(many)[-5:], model.predict_proba(many[-5:]), rtol=1e-12)


@pytest.mark.parametrize("storage", [np.asarray, np.float32, scipy.sparse.csr_array, pd.DataFrame])
@pytest.mark.parametrize("rows", [3, 200_000])
def test_missing_values_are_named(storage, rows):
    values = np.ones((rows, 4))
    values[rows - 1, 2] = np.nan
    with pytest.raises(DataError, match=f"Input X contains NaN: column 2 in row {rows - 1}"):
        THREE.predict(storage(values))
    named = LinearDiscriminant(W3, [0, 1, 2], feature_names=["w", "x", "y", "z"])
    values[rows - 1, 2] = -np.inf
    with pytest.raises(DataError, match="infinity: column 'y'"):
        named.scores(values)


def test_overflow_is_told_from_missing_values():
    with pytest.raises(DataError, match="its values are too large"):
        LinearDiscriminant([[0.0], [1e300]], [0, 1]).predict([[1e300]])


def test_wrong_width_and_names_are_told():
    with pytest.raises(DataError, match="X has 3 features, but this discriminant is expecting 4 features"):
        THREE.predict(X[:, :3])
    with pytest.raises(DataError, match="dimension"):
        THREE.predict(X[0])
    named = LinearDiscriminant(W3, [0, 1, 2], feature_names=list("wxyz"))
    frame = pd.DataFrame(X, columns=list("wxyz"))
    with pytest.raises(DataError, match="in another order"):
        named.predict(frame[["x", "w", "y", "z"]])
    with pytest.raises(DataError, match="'w' missing, 'v' not known"):
        named.predict(frame.rename(columns={"w": "v"}))


def test_no_rows_give_no_predictions():
    assert THREE.predict(np.empty((0, 4))).shape == (0,)
    assert THREE.predict_proba(np.empty((0, 4))).shape == (0, 3)


# Posteriors


def test_posteriors_agree_with_scipy():
    np.testing.assert_allclose(THREE.predict_proba(X), scipy.special.softmax(THREE.scores(X), axis=1), rtol=1e-12)
    p = scipy.special.expit(TWO.scores(X)[:, 0])
    np.testing.assert_allclose(TWO.predict_proba(X), np.column_stack([1 - p, p]), rtol=1e-12)
    rest = LinearDiscriminant(W3, ["a", "b", "c"], link="sigmoid")
    each = scipy.special.expit(rest.scores(X))
    np.testing.assert_allclose(rest.predict_proba(X), each / each.sum(axis=1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize("link", ["sigmoid", "softmax"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_log_posteriors_are_finite_at_scores_of_ten_thousand(link, dtype):
    for weights, classes in (([[0.0], [1.0]], [0, 1]), ([[0.0, 0, 0], [1.0, 0, -1.0]], [0, 1, 2])):
        model = LinearDiscriminant(weights, classes, link=link)
        log_p = model.predict_log_proba(np.array([[1e4], [-1e4]], dtype=dtype))
        assert np.isfinite(log_p).all()
        several = -2e4 if link == "softmax" else -1e4 - np.log(1.5)  # σ(∞) + σ(0) + σ(−∞) = 1.5
        assert log_p.min() == pytest.approx(-1e4 if len(classes) == 2 else several, rel=1e-7)
        assert log_p.dtype == dtype


def test_scores_without_a_link_are_no_probabilities():
    with pytest.raises(MismatchError, match="no link from scores to probabilities"):
        LinearDiscriminant(W2, [0, 1]).predict_proba(X)


def test_priors_move_the_intercepts():
    old, new = np.array([0.2, 0.3, 0.5]), np.array([0.5, 0.4, 0.1])
    moved = THREE.with_priors(new, training_priors=old).predict_proba(X)
    expected = THREE.predict_proba(X) * new / old
    np.testing.assert_allclose(moved, expected / expected.sum(axis=1, keepdims=True), rtol=1e-12)
    two = TWO.with_priors([0.9, 0.1], training_priors=[0.5, 0.5])
    assert two.intercept[0] == pytest.approx(TWO.intercept[0] + np.log(0.1 / 0.9))
    with pytest.raises(DataError, match="Priors must be positive"):
        THREE.with_priors([0.5, 0.5, 0.0], training_priors=old)
    with pytest.raises(MismatchError, match="softmax without a coding"):
        LinearDiscriminant(W3, [0, 1, 2], link="sigmoid").with_priors(new, training_priors=old)


# Codings


@pytest.mark.parametrize("name", ["one-vs-rest", "pairwise", "reference", "one-vs-rest-k-1", "one-of-k"])
@pytest.mark.parametrize("decoder", [None, "sum", "votes", "unanimous"])
def test_codings_decide_by_their_decoder(name, decoder):
    coding = make_coding(name, 4, decoder=decoder)
    weights = np.random.default_rng(3).normal(size=(5, coding.n_outputs))
    model = LinearDiscriminant(weights, list("abcd"), coding)
    expected = coding.decode(model.scores(X))
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), np.array(list("abcd"))[expected.argmax(axis=1)])
    if coding.linear_map() is None:
        with pytest.raises(MismatchError, match="no single boundary"):
            model.boundary(0, 1)
    else:
        plane = model.boundary("b", "d")
        np.testing.assert_allclose(plane.value(X), expected[:, 1] - expected[:, 3], rtol=1e-9, atol=1e-9)


@dataclass(frozen=True)
class Reversed:
    """A user's coding: the one output is positive for the first class, and indifferent at 2."""

    targets = np.array([[1.0], [-1.0]])
    care = np.ones((2, 1))
    threshold = np.array([2.0])

    def decode(self, z):
        return np.column_stack([z[:, 0] - 2, 2 - z[:, 0]])


def test_a_coding_may_turn_the_sign_and_move_the_threshold():
    model = LinearDiscriminant(W2, ["no", "yes"], Reversed(), link="sigmoid")
    z = model.scores(X)[:, 0]
    np.testing.assert_array_equal(model.predict(X) == "no", z > 2)
    np.testing.assert_allclose(model.decision_function(X), 2 - z)
    np.testing.assert_allclose(model.predict_proba(X)[:, 0], scipy.special.expit(z - 2))
    np.testing.assert_allclose(model.boundary().value(X), 2 - z, atol=1e-12)
    np.testing.assert_allclose(model.distance(X), (2 - z) / np.linalg.norm(W2[1:]), atol=1e-12)
    moved = model.with_priors([0.9, 0.1], training_priors=[0.5, 0.5])
    np.testing.assert_allclose(moved.decision_function(X), 2 - z + np.log(0.1 / 0.9), atol=1e-12)


def test_several_or_no_positive_discriminants_are_rejected():
    model = LinearDiscriminant([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    rows = [[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0]]
    assert model.predict_or_reject(rows, "?").tolist() == ["a", "b", "?", "?"]
    assert model.predict_or_reject(rows, "?").dtype.kind == "U"
    assert model.predict_or_reject(rows).tolist() == ["a", "b", None, None]
    assert TWO.predict_or_reject(X, "?").tolist() == TWO.predict(X).tolist()
    conjunction = LinearDiscriminant(np.ones((3, 3)), [0, 1, 2], make_coding("pairwise", 3, decoder="unanimous"))
    assert conjunction.predict_or_reject([[0.0, 0.0]], -1).tolist() == [0]


def test_labels_of_several_kinds_stay_what_they_are():
    assert label_array([1, 2, -1]).dtype.kind == "i"
    assert label_array(["a", "reject"]).dtype.kind == "U"
    assert label_array([1, "reject"]).tolist() == [1, "reject"]
    assert label_array([(1, 2), "x"]).tolist() == [(1, 2), "x"]


# Bases


@dataclass(frozen=True)
class Squares:
    """φ(x) = (x, x²)."""

    def transform(self, X):
        X = X.toarray() if scipy.sparse.issparse(X) else np.asarray(X)
        return np.hstack([X, X**2])


def test_a_basis_makes_the_interval_two_to_four_linear():
    """2 < x < 4 iff −(x − 3)² + 1 > 0: linear in (x, x²)."""
    model = LinearDiscriminant([[-8.0], [6.0], [-1.0]], ["out", "in"], basis=Squares())
    x = np.linspace(0, 6, 100_001)[:, None]
    assert ((model.predict(x) == "in") == ((x[:, 0] > 2) & (x[:, 0] < 4))).all()
    np.testing.assert_allclose(model.distance(x), (1 - (x[:, 0] - 3) ** 2) / np.sqrt(37), atol=1e-12)
    assert model.project(x[:2]).shape == (2, 2)
    assert model.contributions(x[:2]).shape == (2, 2)
    for ask in (lambda: model.regions(((0, 1), (0, 1))), lambda: model.slice([0])):
        with pytest.raises(MismatchError, match="curved in x"):
            ask()


# Geometry through the model


def test_boundaries_are_named_by_label_or_position():
    assert THREE.boundary("a", "c") == THREE.boundary(0, 2) == -THREE.boundary(2, 0)
    z = THREE.scores(X)
    np.testing.assert_allclose(THREE.boundary("a", "c").value(X), z[:, 0] - z[:, 2], rtol=1e-10, atol=1e-12)
    numbers = LinearDiscriminant(W2, [-1, 1])
    assert numbers.boundary() == numbers.boundary(1, 0)
    for i, j, sentence in [
        (0, 0, "both are 'a'"),
        ("d", "a", "'d' is no class"),
        (3, 0, "positions, 0 to 2"),
        (None, 1, "None"),
    ]:
        with pytest.raises(ParameterError, match=sentence):
            THREE.boundary(i, j)


def test_no_boundary_between_equal_discriminants():
    flat = LinearDiscriminant([[0.0, 1.0], [2.0, 2.0]], ["a", "b"])
    with pytest.raises(DataError, match="between 'b' and 'a' has the same value everywhere"):
        flat.boundary()
    constant = LinearDiscriminant([[0.0, 1.0, -2.0], [1.0, 2.0, 0.0]], ["a", "b", "c"])
    with pytest.raises(DataError, match="of class 'c' has the same value everywhere"):
        constant.distance([[1.0]])


def test_distances_of_several_classes():
    z, norms = THREE.scores(X), np.linalg.norm(W3[1:], axis=0)
    np.testing.assert_allclose(THREE.distance(X), z / norms, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(THREE.offset, W3[0] / norms)
    np.testing.assert_allclose(THREE.distance(X, "a", "b"), THREE.boundary("a", "b").distance(X), atol=1e-12)
    assert TWO.offset == pytest.approx(W2[0, 0] / np.linalg.norm(W2[1:]))


def test_margin_is_the_distance_to_the_nearest_boundary():
    codes = THREE.scores(X).argmax(axis=1)
    every = np.array(
        [[THREE.distance(X, i, j) if i != j else np.full(200, np.inf) for j in range(3)] for i in range(3)]
    )
    np.testing.assert_allclose(THREE.margin(X), every[codes, :, np.arange(200)].min(axis=1), rtol=1e-9)
    assert (THREE.margin(X) >= 0).all()
    wrong = np.array(["a", "b", "c"])[(codes + 1) % 3]
    assert (THREE.margin(X, wrong) <= 0).all()
    with pytest.raises(DataError, match="'d', which is no class"):
        THREE.margin(X[:1], ["d"])


def test_a_slice_holds_the_other_features():
    model = LinearDiscriminant(W3, ["a", "b", "c"], None, list("wxyz"), np.arange(4.0), "softmax")
    at = np.array([0.5, -1.0, 2.0, 3.0])
    plane = model.slice(["z", "w"], at)
    rows = np.tile(at, (7, 1))
    rows[:, [3, 0]] = X[:7, :2]
    np.testing.assert_allclose(plane.scores(X[:7, :2]), model.scores(rows), rtol=1e-12, atol=1e-12)
    assert plane.names == ("z", "w")
    assert model.slice([0, 1]).weights[0].tolist() == model.weights[0].tolist()
    assert sum(polygon_area(region) for region in plane.regions(((-1, 1), (-1, 1)))) == pytest.approx(4)
    with pytest.raises(DataError, match=r"slice\(features, at\)"):
        model.regions(((-1, 1), (-1, 1)))
    with pytest.raises(DataError, match="at must be a point"):
        model.slice([0], [1.0])


def test_contributions_add_up_to_the_score():
    center = np.arange(4.0)
    for model in (
        LinearDiscriminant(W2, ["no", "yes"], center=center),
        LinearDiscriminant(W3, ["a", "b", "c"], center=center),
    ):
        for reference in (None, np.full(4, 0.5)):
            parts = model.contributions(X, reference)
            np.testing.assert_allclose(parts.scores, model.decision_function(X), rtol=1e-12, atol=1e-12)
            zero = center if reference is None else reference
            assert not model.contributions(zero[None], reference).values.any()
    assert parts.feature_names == ("x0", "x1", "x2", "x3")
    np.testing.assert_allclose(parts.importance(), np.abs(W3[1:]) * X.std(axis=0)[:, None])
    np.testing.assert_allclose(model.contributions(scipy.sparse.csr_array(X)).values, model.contributions(X).values)
    with pytest.raises(DataError, match="expecting 4 features"):
        model.contributions(X[:, :2])
    with pytest.raises(DataError, match="reference must be a point"):
        model.contributions(X, [1.0])


@pytest.mark.parametrize("K", [3, 5, 8, 9])
@pytest.mark.parametrize("kind", ["dense", "float32", "sparse"])
def test_many_rows_are_decided_as_few_are(K, kind):
    """Many rows are decided by differences of scores: the same classes, ties of equal discriminants included."""
    rng = np.random.default_rng(K)
    A = rng.normal(size=(6, K))
    A[:, 2] = A[:, 0]  # two classes with one score: the first is named
    model = LinearDiscriminant(A, [f"c{k}" for k in range(K)], center=rng.normal(size=5))
    X = rng.normal(size=(30_000, 5)).astype(np.float32 if kind == "float32" else np.float64)
    X = scipy.sparse.csr_array(np.where(np.abs(X) > 1, X, 0)) if kind == "sparse" else X
    said = model.predict(X)
    assert (said == np.asarray(model.classes)[model.scores(X).argmax(axis=1)]).all()
    assert "c2" not in said
    assert (said[:50] == model.predict(X[:50])).all()
