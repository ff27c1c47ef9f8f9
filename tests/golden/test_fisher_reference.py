"""Fisher's discriminant and least squares against published numbers and R's, to the printed digits."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from discriminant import FisherDiscriminant, LeastSquaresClassifier, datasets

# Fisher 1936, p. 182: S λ = d for setosa and versicolor, in the arithmetic of a desk calculator; then R 4.2.2's.
FISHER_1936 = [-0.0311511, -0.1839075, 0.2221044, 0.3147370]
FISHER_EXACT = [-0.03115071658986966, -0.18390774860285589, 0.22210402745956648, 0.3147363769660255]


@pytest.fixture(scope="module")
def two_irises() -> tuple[np.ndarray, np.ndarray]:
    iris = datasets.load("iris")
    rows = iris.y != "virginica"
    return iris.X[rows], iris.y[rows]


def test_the_discriminant_of_1936(two_irises):
    """S λ = d: coef_ is N λ, since Σ = S_W/N."""
    X, y = two_irises
    fisher = FisherDiscriminant().fit(X, y)
    found = fisher.coef_[0] / len(X)
    np.testing.assert_allclose(found, FISHER_EXACT, rtol=1e-13)
    # Fisher's own last digits are off by up to two in the sixth place.
    np.testing.assert_allclose(found, FISHER_1936, rtol=2e-5)
    np.testing.assert_allclose(found / found[0], [1, 5.9037, -7.1299, -10.1036], atol=2e-4)


def test_the_scatter_matrix_of_1936(two_irises):
    X, y = two_irises
    fisher = FisherDiscriminant().fit(X, y)
    first_row = [19.1434, 9.0356, 9.7634, 3.2394]
    np.testing.assert_allclose(fisher.within_scatter_[0], first_row, rtol=1e-13)
    assert fisher.score(X, y) == 1.0


def test_iris_axes_are_those_of_mass_lda():
    """MASS::lda scales with the unbiased covariance: ours times √((N − K)/N), up to sign."""
    iris = datasets.load("iris")
    fisher = FisherDiscriminant().fit(iris.X, iris.y)
    scaling = np.array(
        [
            [0.8293776422660063, -0.024102148876972013],
            [1.5344730677000136, -2.164521234658435],
            [-2.201211655561774, 0.93192121002937522],
            [-2.8104603088431039, -2.8391878529827248],
        ]
    )
    np.testing.assert_allclose(np.abs(fisher.scalings_ * np.sqrt(147 / 150)), np.abs(scaling), rtol=1e-11)
    np.testing.assert_allclose(
        fisher.explained_variance_ratio_, [0.99121260496536723, 0.0087873950346328052], rtol=1e-11
    )
    wrong = fisher.predict(iris.X) != iris.y
    assert wrong.sum() == 3


def _vowel(folder: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    with (folder / "vowel" / "data.csv").open() as file:
        rows = list(csv.DictReader(file))
    parts = {}
    for split in ("train", "test"):
        chosen = [row for row in rows if row["split"] == split]
        X = np.array([[float(row[f"x.{j}"]) for j in range(1, 11)] for row in chosen])
        parts[split] = X, np.array([int(row["y"]) for row in chosen])
    return parts


def test_vowel_reduced_rank_errors(shared_data):
    """ESL figure 4.10: 2 of 10 axes have the best test error, 0.49; every rank as MASS::lda has it."""
    reference = json.loads((shared_data / "reference" / "vowel.json").read_text())["reduced_rank_lda"]["data"]
    vowel = _vowel(shared_data)
    for rank, train, test in reference:
        fisher = FisherDiscriminant(n_components=int(rank)).fit(*vowel["train"])
        assert 1 - fisher.score(*vowel["train"]) == pytest.approx(train, abs=1e-12), rank
        assert 1 - fisher.score(*vowel["test"]) == pytest.approx(test, abs=1e-12), rank


def test_vowel_indicator_regression(shared_data):
    """ESL table 4.1: linear regression of indicators, 0.48 in training and 0.67 in test; R's coefficients."""
    reference = json.loads((shared_data / "reference" / "vowel.json").read_text())["linear_regression_indicator"]
    vowel = _vowel(shared_data)
    model = LeastSquaresClassifier().fit(*vowel["train"])
    coefficients = np.array(reference["coef"]["data"])
    np.testing.assert_allclose(np.vstack([model.intercept_, model.coef_.T]), coefficients, rtol=1e-9, atol=1e-13)
    assert 1 - model.score(*vowel["train"]) == pytest.approx(0.4773, abs=5e-5)
    assert 1 - model.score(*vowel["test"]) == pytest.approx(0.6667, abs=5e-5)
