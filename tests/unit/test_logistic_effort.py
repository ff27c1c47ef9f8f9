"""What a tolerance costs: loose ones less than tight ones, and nearly certain rows no hundreds of steps."""

from __future__ import annotations

import numpy as np
import pytest

from discriminant import LogisticRegression, LogisticRegressionCV
from discriminant.data import make_blocks
from discriminant.data.scaling import choose_scaling
from discriminant.objective import PointwiseObjective, logistic_objective
from discriminant.optimize import precondition, refine, sampled
from discriminant.optimize.certificate import ProjectedDual
from discriminant.protocols import Need


def classes(n: int, d: int, K: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of classes drawn from a softmax model."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = (X @ rng.standard_normal((d, K)) * 2 / np.sqrt(d) + rng.gumbel(size=(n, K))).argmax(axis=1)
    y[:K] = np.arange(K)
    return X, y


def indicators(n: int, factors: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Columns that are collinear: the indicators of each factor sum to one."""
    rng = np.random.default_rng(seed)
    X = np.hstack([np.eye(4)[rng.integers(0, 4, n)] for _ in range(factors)])
    return X, (X @ rng.standard_normal(4 * factors) + rng.logistic(size=n) > 0).astype(np.int64)


def softmax(X: np.ndarray, y: np.ndarray, C: float, **more) -> PointwiseObjective:
    objective = logistic_objective(make_blocks(X, y), int(y.max()) + 1, 1 / (C * len(X)), **more)
    return objective.scaled(choose_scaling(objective.blocks, objective.intercept))


def test_digits_beyond_the_machines_are_for_those_who_ask_for_all(monkeypatch):
    X, y = indicators(2_000, 8)

    def refused(*_: object) -> None:
        raise AssertionError("extended precision at a loose tolerance")

    exact = LogisticRegression(C=1e6).fit(X, y)
    monkeypatch.setattr(refine, "_Extended", refused)
    for tol in (1e-4, 1e-6):
        model = LogisticRegression(C=1e6, tol=tol).fit(X, y)
        J, best = model.certificate_.objective, exact.certificate_.objective
        assert model.certificate_.converged
        assert J - best <= tol * J
    with pytest.raises(AssertionError, match="extended"):
        LogisticRegression(C=1e6).fit(X, y)


def test_what_is_proved_once_is_not_proved_again(monkeypatch):
    """A fit that goes on after its proof falls below the same bound."""
    proofs = []
    prove = ProjectedDual._gap

    def counted(self, A, found):
        gap = prove(self, A, found)
        proofs.append(gap / found.value)
        return gap

    monkeypatch.setattr(ProjectedDual, "_gap", counted)
    X, y = classes(600, 30, 12)
    model = LogisticRegression(C=1e6, tol=1e-6).fit(X, y)
    assert model.certificate_.converged
    assert sum(gap <= 1e-6 for gap in proofs) == 1
    exact = LogisticRegression(C=1e6).fit(X, y)
    assert model.certificate_.bound <= exact.certificate_.objective * (1 + 1e-14)


def test_nearly_certain_rows_do_not_take_hundreds_of_steps():
    """Each class's own curvature takes the place of a common one: 60 steps where there were 170."""
    X, y = classes(600, 8, 60)
    model = LogisticRegression(C=1e4, tol=1e-6).fit(X, y)
    assert model.certificate_.converged
    assert model.n_iter_[0] <= 90


def test_no_row_has_a_number_for_each_of_too_many_classes(monkeypatch):
    """The classes' own Hessians hold the posteriors of all rows."""
    monkeypatch.setattr(sampled, "KEPT_VALUES", 35_999)
    monkeypatch.setattr(precondition, "from_classes", None)
    X, y = classes(600, 8, 60)
    model = LogisticRegression(C=1e4, tol=1e-4).fit(X, y)
    assert model.certificate_.converged


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("offset", [True, False])
def test_each_class_has_its_own_block_of_the_hessian(intercept, offset):
    X, y = classes(80, 3, 4)
    rng = np.random.default_rng(1)
    shift = rng.standard_normal((80, 4)) if offset else None
    objective = softmax(X, y, 10.0, intercept=intercept, offset=shift)
    A = rng.standard_normal((4, 4))
    A[0] *= intercept
    H = objective.evaluate(A, Need.HESSIAN).hessian
    assert H is not None
    G = rng.standard_normal((4, 4))
    solved = precondition.from_classes(objective, A)(G)
    for k in range(4):
        block = H[4 * k : 4 * k + 4, 4 * k : 4 * k + 4]
        part = slice(None) if intercept else slice(1, None)
        np.testing.assert_allclose(block[part, part] @ solved[part, k], G[part, k], rtol=1e-9)


def test_folds_of_many_classes_end_where_they_are_proved():
    """A search over C goes on from the answers before, and no fold is carried to the last digits."""
    X, y = classes(500, 30, 6)
    found = LogisticRegressionCV(Cs=10, cv=3, use_legacy_attributes=False, l1_ratios=(0.0,)).fit(X, y)
    assert np.mean(found.n_iter_) <= 14
    alone = LogisticRegression(C=found.C_, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(found.coef_, alone.coef_, atol=1e-5 * np.abs(alone.coef_).max())


def test_the_first_step_from_the_null_model_is_long():
    """The Newton step itself falls short, as 1 / (1 − ν²) of it does not."""
    X, y = classes(1_000, 100, 2)
    certificate = LogisticRegression(tol=1e-4).fit(X, y).certificate_
    assert certificate.converged
    assert certificate.passes <= 5
