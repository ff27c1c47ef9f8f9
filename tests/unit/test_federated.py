"""Rows that stay at their sites: the fits of examples/federated.py are those of the pooled rows."""

from __future__ import annotations

import importlib.util
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from discriminant import LinearDiscriminantAnalysis, LogisticRegression, datasets

EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))
import federated  # noqa: E402 - the examples are no package


@pytest.fixture(params=["two classes", "three classes"])
def problem(request):
    iris = datasets.load("iris")
    keep = slice(50, None) if request.param == "two classes" else slice(None)
    return iris.X[keep], iris.y[keep]


def sites(X, y, count=3):
    classes = sorted(set(y.tolist()))
    parts = np.array_split(np.random.default_rng(1).permutation(len(y)), count)
    return [federated.Site(X[part], y[part], classes) for part in parts]


def test_sums_of_sites_give_the_fits_of_the_pooled_rows(problem):
    X, y = problem
    every = sites(X, y)

    def ask(function):
        return [function(site) for site in every]

    K = len(every[0].classes)
    np.testing.assert_allclose(
        federated.fit_lda(ask).coef_, LinearDiscriminantAnalysis().fit(X, y).coef_, rtol=1e-9, atol=1e-9
    )
    A = federated.fit_logistic(ask, X.shape[1], K, C=2.0)
    plain = LogisticRegression(C=2.0, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(A[1:].T, plain.coef_, atol=1e-6)
    gap = A[0] - plain.intercept_  # of many classes intercepts are free up to a number that all share
    np.testing.assert_allclose(gap - gap.mean() * (K > 2), 0.0, atol=1e-5)


def test_what_travels_is_as_small_as_the_page_says():
    """A request holds weights, an answer sums of them: neither grows with the rows."""
    X, y = datasets.load("iris").X, datasets.load("iris").y
    few, many = (
        federated.Site(np.tile(X, (r, 1)), np.tile(y, r), ["setosa", "versicolor", "virginica"]) for r in (1, 50)
    )
    request = federated.Question(np.zeros((5, 3)), federated.FULL)
    sizes = [len(pickle.dumps(request(site))) for site in (few, many)]
    assert sizes[0] == sizes[1] < 8 * (1 + 15 + 15**2) + 2000
    assert len(pickle.dumps(request)) < 8 * 15 + 1000
    assert len(pickle.dumps(few.moments())) == pytest.approx(len(pickle.dumps(many.moments())), rel=0.05)


def test_sites_may_be_processes_of_their_own():
    iris = datasets.load("iris")
    every = sites(iris.X[50:], iris.y[50:], 2)
    with ProcessPoolExecutor(2, mp_context=get_context("forkserver"), initializer=_find_examples) as pool:

        def ask(function):
            return [future.result() for future in [pool.submit(function, site) for site in every]]

        A = federated.fit_logistic(ask, 4, 2)
    np.testing.assert_allclose(A[1:].T, LogisticRegression(tol=1e-12).fit(iris.X[50:], iris.y[50:]).coef_, atol=1e-7)


def _find_examples() -> None:
    sys.path.insert(0, str(EXAMPLES))


@pytest.mark.parametrize(("cluster", "package"), [("ray", "ray"), ("spark", "pyspark")])
def test_the_same_functions_run_on_clusters(cluster, package):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    done = subprocess.run(
        [sys.executable, "clusters.py", cluster], cwd=EXAMPLES, capture_output=True, text=True, timeout=300, check=True
    )
    differences = [float(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines() if "differ" in line]
    assert len(differences) == 2
    assert max(differences) < 1e-6
