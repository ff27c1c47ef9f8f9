"""The bundled data sets are the published ones: shapes, class counts, moments, and what they say of themselves."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from discriminant import datasets

# Counts as published with each set; the means of the first column are R's, to the digits R prints.
PUBLISHED = {
    "breast_cancer": (30, {"benign": 357, "malignant": 212}, "mean_radius", 14.12729),
    "iris": (4, {"setosa": 50, "versicolor": 50, "virginica": 50}, "sepal_length", 5.843333),
    "penguins": (4, {"Adelie": 151, "Chinstrap": 68, "Gentoo": 123}, "bill_length_mm", 43.92193),
}


@pytest.mark.parametrize("name", datasets.available())
def test_data_set_is_the_published_one(name: str) -> None:
    data = datasets.load(name)
    width, counts, first, mean = PUBLISHED[name]
    labels, sizes = np.unique(data.y, return_counts=True)
    assert data.X.dtype == np.float64
    assert data.X.shape == (sum(counts.values()), width) == (len(data.y), len(data.feature_names))
    assert dict(zip(labels.tolist(), sizes.tolist(), strict=True)) == counts
    assert data.classes == tuple(counts)
    assert data.feature_names[0] == first
    assert np.isfinite(data.X).all()
    np.testing.assert_allclose(data.X[:, 0].mean(), mean, rtol=5e-7)


@pytest.mark.parametrize(("name", "loader"), [("iris", "load_iris"), ("breast_cancer", "load_breast_cancer")])
def test_values_equal_scikit_learns_copy(name: str, loader: str) -> None:
    import sklearn.datasets

    theirs = getattr(sklearn.datasets, loader)()
    np.testing.assert_array_equal(datasets.load(name).X, theirs.data)
    np.testing.assert_array_equal(datasets.load(name).y, theirs.target_names[theirs.target])


@pytest.mark.parametrize("name", datasets.available())
def test_file_equals_the_reference_copy(name: str, shared_data: Path) -> None:
    ours = resources.files("discriminant.datasets").joinpath(f"{name}.csv").read_bytes()
    assert ours == (shared_data / name / "data.csv").read_bytes()
    assert len(ours) < 1_000_000


@pytest.mark.parametrize("name", datasets.available())
def test_description_names_source_and_licence(name: str) -> None:
    description = datasets.load(name).description
    assert "Source:" in description
    assert "Licence:" in description


def test_rows_left_out_are_said() -> None:
    description = datasets.load("penguins").description
    assert "2 of 344 rows lack measurements" in description
    assert "island, sex, year" in description
    assert "left out" not in datasets.load("iris").description


def test_frames_carry_the_names() -> None:
    data, plain = datasets.load("penguins", as_frame=True), datasets.load("penguins")
    assert tuple(data.X.columns) == data.feature_names
    assert data.y.name == "species"
    np.testing.assert_array_equal(data.X.to_numpy(), plain.X)
    np.testing.assert_array_equal(data.y.to_numpy(), plain.y)


def test_each_call_gives_new_arrays_in_a_frozen_record() -> None:
    first = datasets.load("iris")
    first.X[:] = 0
    assert datasets.load("iris").X[0, 0] == 5.1
    with pytest.raises(FrozenInstanceError):
        first.name = "other"  # type: ignore[misc]


def test_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no bundled data set 'irish'; there are 'breast_cancer', 'iris', 'penguins'"):
        datasets.load("irish")


def test_loading_needs_neither_scikit_learn_nor_pandas() -> None:
    code = (
        "import sys\nfrom discriminant import datasets\ndatasets.load('penguins')\n"
        "assert not {'sklearn', 'pandas', 'scipy'} & set(sys.modules)\n"
        "sys.modules['pandas'] = None\n"
        "try:\n    datasets.load('iris', as_frame=True)\nexcept ImportError as error:\n    print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("as_frame=True needs pandas, which is not installed")
