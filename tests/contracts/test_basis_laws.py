"""The laws of a basis: rows do not mix, parameters stay, features have names, and scikit-learn's contract holds."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator

from contracts.basis_registry import BASES, name, sample
from discriminant.bases.expansion import is_basis
from discriminant.errors import DataError, MismatchError

pytestmark = pytest.mark.parametrize("basis", BASES, ids=name)

MORE_CHECKS = [
    "check_dataframe_column_names_consistency",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_inplace_ensure_writeable",
]


def params(basis):
    return {key: repr(value) for key, value in basis.get_params(deep=True).items()}


def test_basis_meets_the_protocol(basis):
    assert is_basis(basis)


def test_rows_do_not_mix(basis):
    """φ(X)_i = φ(x_i): alone, in any order and among any others."""
    X, y = sample()
    fitted = clone(basis).fit(X, y)
    together, order = fitted.transform(X), np.random.default_rng(1).permutation(len(X))
    np.testing.assert_allclose(fitted.transform(X[order]), together[order], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(np.vstack([fitted.transform(x[None]) for x in X]), together, rtol=1e-12, atol=1e-14)


def test_fit_transform_is_fit_then_transform(basis):
    X, y = sample()
    np.testing.assert_array_equal(clone(basis).fit_transform(X, y), clone(basis).fit(X, y).transform(X))


def test_fit_changes_no_parameter_and_no_input(basis):
    X, y = sample()
    fresh, before = clone(basis), X.copy()
    asked = params(fresh)
    fresh.fit(X, y).transform(X)
    assert params(fresh) == asked == params(basis)
    np.testing.assert_array_equal(X, before)


def test_parts_that_the_user_holds_stay_unfitted(basis):
    X, y = sample()
    fresh = clone(basis)
    fresh.fit(X, y)
    for part in [*getattr(fresh, "parts", ()), getattr(fresh, "basis", None)]:
        assert not hasattr(part, "n_features_in_")


def test_parameters_are_frozen_and_set_params_changes_them(basis):
    fresh = clone(basis)
    for field in dataclasses.fields(fresh):
        with pytest.raises(dataclasses.FrozenInstanceError, match=r"set_params|make a new"):
            setattr(fresh, field.name, None)
        with pytest.raises(dataclasses.FrozenInstanceError, match="set_params"):
            delattr(fresh, field.name)
        assert fresh.set_params(**{field.name: None}).get_params(deep=False)[field.name] is None
    with pytest.raises(ValueError, match="Invalid parameter 'nothing' for estimator"):
        clone(basis).set_params(nothing=1)


def test_pickle_and_deepcopy_keep_what_was_learned(basis):
    X, y = sample()
    fitted = clone(basis).fit(X, y)
    for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        np.testing.assert_array_equal(other.transform(X), fitted.transform(X))


def test_one_unique_name_per_feature(basis):
    X, y = sample()
    fitted = clone(basis).fit(X, y)
    names = fitted.get_feature_names_out()
    assert len(names) == fitted.transform(X).shape[1] == fitted.n_features_out_
    assert len(set(names)) == len(names)
    assert all(isinstance(text, str) and text for text in names)
    given = fitted.get_feature_names_out(["a", "b", "c", "d"])
    assert len(given) == len(names)
    with pytest.raises(ValueError, match="input_features should have length equal to number of features"):
        fitted.get_feature_names_out(["a"])


def test_names_of_a_frame_reach_the_features(basis):
    X, y = sample()
    frame = pd.DataFrame(X, columns=["age", "height", "income", "weight"])
    fitted = clone(basis).fit(frame, y)
    assert fitted.feature_names_in_.tolist() == list(frame.columns)
    plain = clone(basis).fit(X, y).get_feature_names_out(list(frame.columns))
    assert fitted.get_feature_names_out().tolist() == plain.tolist()
    # a frame is stored by columns, and a sum along another memory order rounds otherwise
    np.testing.assert_allclose(fitted.transform(frame), clone(basis).fit_transform(X, y), rtol=1e-10, atol=1e-13)


def test_float32_in_float32_out(basis):
    """The same features to single precision, except next to a threshold."""
    X, y = sample()
    X = X.astype(np.float32).astype(np.float64)
    single = clone(basis).fit_transform(X.astype(np.float32), y)
    double = clone(basis).fit_transform(X, y)
    assert (single.dtype, double.dtype) == (np.float32, np.float64)
    assert np.mean(np.isclose(single, double, rtol=2e-5, atol=2e-5)) > 0.99
    assert clone(basis).fit_transform(np.ceil(X).astype(np.int32), y).dtype == np.float64


def test_sparse_rows_give_the_dense_features_or_a_sentence(basis):
    X, y = sample()
    X[X < 0.7] = 0.0
    for make in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        if basis.accepts_sparse:
            features = clone(basis).fit(make(X), y).transform(make(X))
            dense = features.toarray() if sparse.issparse(features) else features
            # a seeded draw takes the same rows; a threshold midway between rows is not met exactly
            np.testing.assert_allclose(dense, clone(basis).fit(X, y).transform(X), rtol=1e-12, atol=1e-14)
        else:
            with pytest.raises(MismatchError, match=r"Sparse data was passed.*X\.toarray\(\)"):
                clone(basis).fit(make(X), y)


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_set_output_gives_named_frames(basis, container):
    X, y = sample()
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"row {i}" for i in range(len(X))])
    fitted = clone(basis).set_output(transform=container).fit(frame, y)
    features = clone(fitted).fit_transform(frame, y)  # the wish survives cloning
    assert type(features).__module__.split(".")[0] == container
    assert list(features.columns) == fitted.get_feature_names_out().tolist()
    np.testing.assert_allclose(features.to_numpy(), clone(basis).fit_transform(X, y), rtol=1e-10, atol=1e-13)
    if container == "pandas":
        assert features.index.equals(frame.index)


def test_missing_and_infinite_values_are_refused_by_column(basis):
    X, y = sample()
    frame = pd.DataFrame(X, columns=["age", "height", "income", "weight"])
    fitted = clone(basis).fit(frame, y)
    for value, kind in ((np.nan, "NaN"), (np.inf, "infinity")):
        frame.loc[7, "income"] = value
        for method in (fitted.transform, lambda X: clone(basis).fit(X, y)):
            with pytest.raises(DataError, match=f"Input X contains {kind}: column 'income' in row 7"):
                method(frame)


def test_unfitted_basis_says_so(basis):
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        clone(basis).transform(sample()[0])
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        clone(basis).get_feature_names_out()


def test_a_second_fit_forgets_the_first(basis):
    X, y = sample()
    fitted = clone(basis).fit(pd.DataFrame(X, columns=list("abcd")), y)
    fitted.fit(X[:, ::2], y)
    assert fitted.n_features_in_ == 2
    assert not hasattr(fitted, "feature_names_in_")
    np.testing.assert_array_equal(fitted.transform(X[:, ::2]), clone(basis).fit_transform(X[:, ::2], y))


def test_a_fit_that_fails_keeps_what_was_learned(basis):
    X, y = sample()
    fitted = clone(basis).fit(X, y)
    before = fitted.transform(X)
    with pytest.raises(DataError):
        fitted.fit(np.full_like(X, np.nan), y)
    np.testing.assert_array_equal(fitted.transform(X), before)


def test_pipeline_with_a_linear_classifier(basis):
    X, y = sample(n=90)
    model = make_pipeline(clone(basis), LogisticRegression(C=1e-2)).fit(X, y)
    assert model.score(X, y) > 0.33
    assert model[-1].coef_.shape[1] == len(model[0].get_feature_names_out())
    assert model[0].__class__.__name__ in model._repr_html_()


def test_scikit_learns_check_estimator_passes(basis):
    with warnings.catch_warnings():
        # by design: the contract is kept without inheriting from BaseEstimator, so that nothing loads scikit-learn
        warnings.filterwarnings("ignore", message=".*does not inherit from")
        results = check_estimator(clone(basis), on_skip=None, on_fail=None)
    assert {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"} == {}
    assert len(results) > 40


@pytest.mark.parametrize("check", MORE_CHECKS)
def test_scikit_learns_other_checks_pass(basis, check):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X (has|does not have valid) feature names")
        getattr(estimator_checks, check)(type(basis).__name__, clone(basis))
