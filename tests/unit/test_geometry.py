"""Hyperplanes, polygons and contributions on cases whose answer is known."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from discriminant import geometry
from discriminant.errors import DataError
from discriminant.geometry import Contributions, Hyperplane, clip, decision_regions, polygon_area
from discriminant.geometry.affine import AffineMap
from discriminant.thresholds import PREDICT_BLOCK

UNIT = ((0.0, 1.0), (0.0, 1.0))


# Hyperplane


def test_a_line_of_the_textbook():
    line = Hyperplane([3.0, 4.0], -10.0)
    assert line.norm == 5
    np.testing.assert_allclose(line.unit_normal, [0.6, 0.8])
    assert line.offset == pytest.approx(-2)
    np.testing.assert_allclose(line.value([[1, 1], [2, 2]]), [-3, 4])
    assert line.side([[0, 0], [2, 1], [2, 2]]).tolist() == [-1, 0, 1]
    np.testing.assert_allclose(line.project([5.0, 5.0]), [5 - 5 * 0.6, 5 - 5 * 0.8])
    assert float(line.distance([5.0, 5.0])) == pytest.approx(5)
    assert "offset=-2" in repr(line)


def test_the_centre_moves_the_form_and_not_the_plane():
    plain = Hyperplane([1.0, -2.0, 0.5], 3.0)
    center = np.array([4.0, 5.0, -6.0])
    moved = Hyperplane(plain.normal, float(plain.value(center)), center)
    X = np.random.default_rng(0).normal(size=(10, 3))
    np.testing.assert_allclose(moved.distance(X), plain.distance(X), rtol=1e-12)
    np.testing.assert_allclose(moved.project(X), plain.project(X), rtol=1e-12, atol=1e-12)
    assert moved.offset == pytest.approx(plain.offset, rel=1e-14)
    assert abs(float(moved.value(moved.point))) < 1e-12


def test_far_from_the_origin_the_centre_keeps_the_digits():
    """At 10⁷ with spread 10⁻³ the distance is right to 12 digits; w₀ + w·x would have 2."""
    center = np.full(2, 1e7)
    plane = Hyperplane([1.0, 1.0], 0.0, center)
    x = center + np.array([[1.0, 2.0]]) * 2.0**-10
    assert float(plane.distance(x)[0]) == pytest.approx(3 * 2.0**-10 / np.sqrt(2), rel=1e-13)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_tiny_and_huge_weights_measure_the_same_distance(scale):
    assert float(Hyperplane([3 * scale, 4 * scale], -10 * scale).distance([6.0, 8.0])) == pytest.approx(8)
    assert Hyperplane([3 * scale, 4 * scale], -10 * scale).offset == pytest.approx(-2)


def test_negation_exchanges_the_sides():
    line = Hyperplane([1.0, 2.0], 3.0, [1.0, 0.0])
    X = np.random.default_rng(1).normal(size=(5, 2))
    np.testing.assert_array_equal((-line).distance(X), -line.distance(X))
    back = -line
    assert -back == line


def test_hyperplanes_are_values():
    line = Hyperplane([1.0, 2.0], 3.0)
    assert line == Hyperplane(np.array([1, 2]), 3)
    assert line != Hyperplane([1.0, 2.0], 4.0)
    assert line != "a line"
    assert hash(line) == hash(Hyperplane([1.0, 2.0], 3.0))
    for twin in (pickle.loads(pickle.dumps(line)), copy.deepcopy(line)):
        assert twin == line
        with pytest.raises(ValueError, match="read-only"):
            twin.normal[0] = 7


@pytest.mark.parametrize(
    ("normal", "intercept", "center", "sentence"),
    [
        ([0.0, 0.0], 1.0, None, "the same value everywhere"),
        ([[1.0, 2.0]], 0.0, None, "is a vector"),
        ([1.0, np.nan], 0.0, None, "finite"),
        ([1.0, 2.0], 0.0, [1.0], "centre has shape"),
    ],
)
def test_what_is_no_hyperplane_is_refused(normal, intercept, center, sentence):
    with pytest.raises(DataError, match=sentence):
        Hyperplane(normal, intercept, center)


def test_points_of_another_dimension_are_refused():
    with pytest.raises(DataError, match="lives in 2 dimensions"):
        Hyperplane([1.0, 2.0]).distance(np.ones((3, 3)))
    with pytest.raises(DataError, match="two dimensions"):
        Hyperplane([1.0, 2.0, 3.0]).points(UNIT)


def test_sparse_rows_have_distances_and_feet():
    X = scipy.sparse.random_array((6, 3), density=0.5, rng=0, format="csr")
    plane = Hyperplane([1.0, 2.0, 3.0], -1.0)
    np.testing.assert_allclose(plane.distance(X), plane.distance(X.toarray()))
    np.testing.assert_allclose(plane.project(X), plane.project(X.toarray()))


@pytest.mark.parametrize(
    ("normal", "intercept", "ends"),
    [
        ([1.0, 0.0], -0.25, [[0.25, 0], [0.25, 1]]),
        ([1.0, -1.0], 0.0, [[0, 0], [1, 1]]),  # through two corners
        ([0.0, 1.0], 0.0, [[0, 0], [1, 0]]),  # along an edge
        ([1.0, 1.0], -0.5, [[0.5, 0], [0, 0.5]]),
        ([1.0, 1.0], -5.0, []),
        ([1.0, 1.0], 0.0, []),  # touches one corner
    ],
)
def test_the_ends_of_a_line_in_a_box(normal, intercept, ends):
    found = Hyperplane(normal, intercept).points(UNIT)
    assert sorted(found.tolist()) == sorted(np.array(ends, dtype=float).reshape(-1, 2).tolist())


# Polygons


def test_boxes_are_given_by_axis():
    np.testing.assert_array_equal(geometry.box((0, 1, 5, 7)), geometry.box(((0, 1), (5, 7))))
    for wrong in ((0, 1), ((1, 0), (0, 1)), ((0, np.inf), (0, 1)), ((0, 0), (0, 1))):
        with pytest.raises(DataError, match="bounds must"):
            geometry.box(wrong)


def test_area_does_not_depend_on_the_place():
    triangle = np.array([[0.0, 0], [2, 0], [0, 1]])
    assert polygon_area(triangle + 2.0**40) == pytest.approx(1.0, rel=1e-6)
    assert polygon_area(triangle[::-1]) == -1
    assert polygon_area(triangle[:2]) == 0


@given(
    hnp.arrays(np.float64, (3,), elements=st.floats(-3, 3).map(lambda v: round(v, 3))),
    hnp.arrays(np.float64, (3,), elements=st.floats(-3, 3).map(lambda v: round(v, 3))),
)
def test_a_cut_divides_the_area(a, b):
    """area(P ∩ {g ≥ 0}) + area(P ∩ {g ≤ 0}) = area(P) for a convex P."""
    square = geometry.box(UNIT)
    first = clip(square, a[0] + square @ a[1:])
    whole = polygon_area(first)
    values = b[0] + first @ b[1:]
    parts = polygon_area(clip(first, values)) + polygon_area(clip(first, -values))
    expected = 2 * whole if len(first) and not values.any() else whole  # g = 0 on all of P: both sides keep it
    assert parts == pytest.approx(expected, abs=1e-12)


def test_equal_discriminants_go_to_the_first_class():
    weights = np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0], [2.0, 2.0, 0.0]])
    regions = decision_regions(weights, UNIT)
    assert [round(polygon_area(region), 12) for region in regions] == [0.75, 0.0, 0.25]
    assert regions[1].shape == (0, 2)
    everywhere = decision_regions(np.zeros((3, 4)), UNIT)
    assert [polygon_area(region) for region in everywhere] == [1.0, 0.0, 0.0, 0.0]


def test_a_constant_difference_gives_the_whole_box():
    weights = np.array([[0.0, 2.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    assert [polygon_area(region) for region in decision_regions(weights, UNIT)] == [0.0, 1.0, 0.0]


def test_lines_through_corners_leave_no_slivers():
    weights = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])  # x against y: the diagonal
    first, second = decision_regions(weights, UNIT)
    assert len(first) == len(second) == 3
    assert polygon_area(first) == polygon_area(second) == 0.5


# The affine map


BLOCK = PREDICT_BLOCK // 4  # rows of three columns


@pytest.mark.parametrize("rows", [1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 5])
@pytest.mark.parametrize("outputs", [1, 3])
def test_every_height_of_block_gives_the_same_scores(rows, outputs):
    rng = np.random.default_rng(2)
    A, c, X = rng.normal(size=(4, outputs)), rng.normal(size=3), rng.normal(size=(rows, 3))
    for absolute in (False, True):
        z = AffineMap(A, c, absolute=absolute).apply(lambda z: z, X, outputs)
        np.testing.assert_allclose(z, A[0] + (X - c) @ A[1:], rtol=1e-12, atol=1e-12)


# Contributions


def test_contributions_read_as_an_array():
    c = Contributions(np.array([[1.0, -3.0], [2.0, 0.5]]), np.float64(10.0), ("income", "debt"), ("no", "yes"))
    assert c.shape == (2, 2)
    assert len(c) == 2
    np.testing.assert_array_equal(np.asarray(c), c.values)
    np.testing.assert_array_equal(np.array(c, dtype=np.float32, copy=True), c.values.astype(np.float32))
    np.testing.assert_array_equal(c.scores, [8.0, 12.5])
    np.testing.assert_array_equal(c[0], [1.0, -3.0])
    assert list(c.row(0).items()) == [("debt", -3.0), ("income", 1.0)]
    np.testing.assert_allclose(c.importance(), [0.5, 1.75])
    assert "debt -3, income +1" in repr(c)


def test_contributions_to_several_scores_ask_for_the_class():
    c = Contributions(np.ones((1, 2, 3)), np.zeros(3), ("a", "b"), ("x", "y", "z"))
    assert c.row(0, "y") == {"a": 1.0, "b": 1.0}
    with pytest.raises(DataError, match="Say for which class"):
        c.row(0)
    with pytest.raises(DataError, match="at least two rows"):
        c.importance()
