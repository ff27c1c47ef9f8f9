"""Rows may come from anywhere: each estimator, in each of its settings, learns from a source or says why not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import discriminant
from contracts.test_scikit_learn_contract import DEFAULTS, SETTINGS
from discriminant import LogisticRegression, MinimumErrorClassifier, MinimumRiskClassifier
from discriminant.errors import DiscriminantError

MORE = [
    LogisticRegression(optimizer="lbfgs", fit_intercept=False),
    MinimumRiskClassifier(priors=[0.5, 0.5]),
]
rng = np.random.default_rng(0)
X = np.abs(rng.standard_normal((240, 3)))
y = (X[:, 0] + 0.3 * rng.logistic(size=240) > 0.8).astype(np.int64)


def dask_array():
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    return da.from_array(X, chunks=(80, -1)), da.from_array(y, chunks=80)


def table():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    return pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y})


def stream():
    """An Arrow stream in place of X, which can be read once."""
    return table().drop_columns("y").to_reader(), y


def scan_of_a_stream():
    return (discriminant.scan(table().to_reader(), target="y"),)


@pytest.mark.parametrize("source", [dask_array, stream, scan_of_a_stream], ids=lambda make: make.__name__)
@pytest.mark.parametrize("model", [*DEFAULTS, *SETTINGS, *MORE], ids=str)
def test_an_estimator_learns_from_a_source_or_refuses_it_in_a_sentence(model, source):
    given, model = source(), clone(model)
    if isinstance(model, MinimumErrorClassifier):
        model.set_params(max_iter=3, rounds=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refusal = None
        try:
            model.fit(*given)
        except DiscriminantError as error:
            refusal = str(error)
        if refusal is not None:
            assert len(refusal.split()) > 3
            return
        assert np.asarray(model.predict(X)).shape == (240,)


def test_priors_need_frequencies_that_blocks_do_not_leave_behind(tmp_path):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    rows = discriminant.scan(tmp_path / "X.npy", target=str(tmp_path / "y.npy"), hold=False)
    model = MinimumRiskClassifier(LogisticRegression(), priors=[0.5, 0.5])
    with pytest.raises(DiscriminantError, match="training_priors="):
        model.fit(rows)
    model.set_params(training_priors=np.bincount(y) / len(y)).fit(rows)
    plain = MinimumRiskClassifier(LogisticRegression(), priors=[0.5, 0.5]).fit(X, y)
    # J is within 1e-8 of its minimum, and so probabilities within about its root.
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-3)


def test_programs_learn_from_few_rows_wherever_they_are():
    """The same program, and so the same answer."""
    for kind in (discriminant.LinearProgrammingClassifier, MinimumErrorClassifier):
        options = {"max_iter": 3, "rounds": 1} if kind is MinimumErrorClassifier else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            near, far = kind(**options).fit(X, y), kind(**options).fit(*dask_array())
        np.testing.assert_array_equal(np.asarray(far.predict(X)), near.predict(X))


def test_folds_of_a_source_are_those_of_its_rows():
    from_stream = discriminant.LogisticRegressionCV(Cs=3, cv=3).fit(*scan_of_a_stream())
    plain = discriminant.LogisticRegressionCV(Cs=3, cv=3).fit(X, y)
    np.testing.assert_allclose(from_stream.coef_, plain.coef_, rtol=1e-6)
