"""``compare`` and ``marginal_effects`` against statsmodels and against their definitions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from discriminant import LogisticRegression, compare
from discriminant.errors import DataError, ParameterError

NONE = float("inf")


def rows(n_classes: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(400, 4)) + 3.0
    y = ((X - 3.0) @ rng.normal(size=(4, n_classes)) + rng.gumbel(size=(400, n_classes))).argmax(axis=1)
    return pd.DataFrame(X, columns=list("abcd")), y


@pytest.mark.parametrize("n_classes", [2, 3])
def test_nested_models_are_compared_as_statsmodels_does(n_classes):
    X, y = rows(n_classes)
    large, small = LogisticRegression(C=NONE).fit(X, y), LogisticRegression(C=NONE).fit(X[["c", "a"]], y)
    found = compare(small, large)
    kind = sm.Logit if n_classes == 2 else sm.MNLogit
    big = kind(y, sm.add_constant(X)).fit(disp=0, method="newton", tol=1e-14, maxiter=100)
    little = kind(y, sm.add_constant(X[["a", "c"]])).fit(disp=0, method="newton", tol=1e-14, maxiter=100)
    m = n_classes - 1
    assert found.tests == ["likelihood ratio", "Wald", "score"]
    assert found.df == 2 * m
    assert found.added == ["b", "d"]
    assert found.statistic[0] == pytest.approx(2 * (big.llf - little.llf), rel=1e-8)
    theta, V = np.asarray(big.params).T.ravel(), np.asarray(big.cov_params())
    places = [k * 5 + j for k in range(m) for j in (2, 4)]
    assert found.statistic[1] == pytest.approx(
        theta[places] @ np.linalg.solve(V[np.ix_(places, places)], theta[places]), rel=1e-8
    )
    start = np.zeros((5, m))
    start[[0, 1, 3]] = np.asarray(little.params).reshape(3, m)
    model = kind(y, sm.add_constant(X))
    flat = start[:, 0] if m == 1 else start.ravel(order="F")
    score, H = np.asarray(model.score(flat)).ravel(), np.asarray(model.hessian(flat))
    assert found.statistic[2] == pytest.approx(score @ np.linalg.solve(-H, score), rel=1e-8)
    from scipy.stats import chi2

    np.testing.assert_allclose(found.p, chi2.sf(found.statistic, found.df), rtol=1e-10)
    assert found.models["large"]["AIC"] == pytest.approx(2 * 5 * m - 2 * big.llf, rel=1e-10)
    assert "likelihood ratio" in str(found)
    assert found.to_frame().shape == (3, 4)
    assert "<table>" in found._repr_html_()


def test_models_that_are_not_nested_or_not_at_a_maximum_are_refused():
    X, y = rows(2)
    large = LogisticRegression(C=NONE).fit(X, y)
    with pytest.raises(ParameterError, match="penalised"):
        compare(LogisticRegression().fit(X[["a"]], y), large)
    with pytest.raises(ParameterError, match="lacks 'e'"):
        compare(LogisticRegression(C=NONE).fit(X[["a"]].rename(columns={"a": "e"}), y), large)
    with pytest.raises(ParameterError, match="same columns"):
        compare(large, large)
    with pytest.raises(ParameterError, match="other rows"):
        compare(LogisticRegression(C=NONE).fit(X[["a"]][:300], y[:300]), large)
    with pytest.raises(ParameterError, match="other rows"):  # as many of them
        compare(LogisticRegression(C=NONE).fit(X[["a"]], np.roll(y, 7)), large)
    with pytest.warns(UserWarning, match="separated"):
        endless = LogisticRegression(C=NONE).fit(X, X["a"] > 3)
    with pytest.raises(ParameterError, match="separated by the columns of the large model"):
        compare(LogisticRegression(C=NONE).fit(X[["b"]], X["a"] > 3), endless)
    with pytest.raises(ParameterError, match="two fitted LogisticRegression"):
        compare("small", large)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_comparison_has_the_same_numbers_where_the_rows_are_gone(n_classes):
    """Sums over them are left: the likelihoods and the Wald test, and no score test."""
    X, y = rows(n_classes)
    far = X.to_numpy() + [1e4, 0.0, 0.0, 0.0]
    large, small = LogisticRegression(C=NONE).fit(far, y), LogisticRegression(C=NONE).fit(far[:, :2].copy(), y)
    whole = compare(small, large, far, y)
    near = compare(*(LogisticRegression(C=NONE).fit(X.iloc[:, :j], y) for j in (2, 4)), X, y)
    np.testing.assert_allclose(whole.statistic, near.statistic, rtol=1e-6)
    large.summary(), small.summary()
    del far
    assert compare(small, large).tests == ["likelihood ratio", "Wald"]
    np.testing.assert_allclose(compare(small, large).statistic, whole.statistic[:2], rtol=1e-7)
    for which, numbers in compare(small, large).models.items():
        assert numbers == pytest.approx(whole.models[which], rel=1e-9)


@pytest.mark.parametrize("at", ["overall", "mean"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_marginal_effects_are_those_of_statsmodels(n_classes, at):
    X, y = rows(n_classes)
    model = LogisticRegression(C=NONE).fit(X, y)
    found = model.marginal_effects(X, at=at)
    kind = sm.Logit if n_classes == 2 else sm.MNLogit
    theirs = kind(y, sm.add_constant(X)).fit(disp=0, method="newton", tol=1e-14, maxiter=100).get_margeff(at=at)
    np.testing.assert_allclose(found.estimate, np.asarray(theirs.margeff).T.ravel(), rtol=1e-7)
    np.testing.assert_allclose(found.standard_error, np.asarray(theirs.margeff_se).T.ravel(), rtol=1e-6)
    assert found.to_frame().shape[0] == len(found.estimate)
    assert "odds ratio" not in found.columns()


def test_weights_count_as_repeated_rows_and_blocks_do_not_matter():
    X, y = rows(2)
    model = LogisticRegression(C=NONE).fit(X, y)
    counts = np.arange(400) % 3
    weighted = model.marginal_effects(X, counts)
    repeated = model.marginal_effects(X.loc[np.repeat(X.index, counts)])
    np.testing.assert_allclose(weighted.estimate, repeated.estimate, rtol=1e-12)
    many = model.marginal_effects(pd.concat([X] * 200))
    np.testing.assert_allclose(many.estimate, model.marginal_effects(X).estimate, rtol=1e-10)


def test_effects_of_separated_classes_and_unknown_places_are_refused():
    X, y = rows(2)
    with pytest.raises(ParameterError, match=r"'at' parameter .* Got 'median'"):
        LogisticRegression(C=NONE).fit(X, y).marginal_effects(X, at="median")
    separated = np.arange(20.0)[:, None]
    with pytest.warns(UserWarning, match="separated"):
        model = LogisticRegression(C=NONE).fit(separated, separated[:, 0] > 9)
    with pytest.raises(DataError, match="infinite"):
        model.marginal_effects(separated)


def test_a_summary_is_text_markdown_latex_and_html_and_tests_the_whole_model():
    X, y = rows(2)
    table = LogisticRegression(C=NONE).fit(X.rename(columns={"a": "a_1|%"}), y).summary()
    big = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-14)
    assert table.statistics["LR χ²(4)"] == pytest.approx(big.llr, rel=1e-8)
    assert table.statistics["LR p"] == pytest.approx(big.llr_pvalue, rel=1e-6)
    assert "model covariance, Wald tests, Wald intervals" in str(table)
    assert table.to_markdown().splitlines()[1].startswith("|---|---:")
    assert "a_1\\|%" in table.to_markdown()
    assert r"a\_1|\%" in table.to_latex()
    assert table.to_latex().count(r" \\") == 8  # the head, five weights, two lines below
    assert "Wald intervals at 0.95" in table.to_latex()
    assert r"$\chi^2$" in table.to_latex()
    assert table.to_frame().attrs["about"] == [
        f"model covariance, Wald tests, Wald intervals at 0.95; positive estimates speak for {table.outcomes[0]!r}"
    ]
    np.testing.assert_allclose(table.columns()["OR 97.5%"], np.exp(table.high))
    assert "<table>" in table.to_html()


def stand_in(monkeypatch):
    """The part of marginaleffects 0.6 that an adapter meets."""
    import sys
    import types
    from dataclasses import dataclass

    @dataclass
    class ModelVault:
        coef: object
        coefnames: object
        formula: object
        modeldata: object
        package: str
        vcov: object
        variable_names: list

    class ModelAbstract:
        def __init__(self, model, vault):
            self.model, self.vault = model, vault

    package, classes = types.ModuleType("marginaleffects"), types.ModuleType("marginaleffects.classes")
    classes.ModelAbstract, classes.ModelVault, package.classes = ModelAbstract, ModelVault, classes
    monkeypatch.setitem(sys.modules, "marginaleffects", package)
    monkeypatch.setitem(sys.modules, "marginaleffects.classes", classes)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_adapter_for_marginaleffects_answers_as_the_model(n_classes, monkeypatch):
    """Predictions at the coefficients, the covariance, and by differences of both the errors of marginal effects."""
    pytest.importorskip("polars")
    stand_in(monkeypatch)
    X, y = rows(n_classes)
    X = X.assign(site=np.array(["n", "s", "w"])[np.arange(len(X)) * 7 % 3])
    model = LogisticRegression(C=NONE).fit(X, y)
    adapter = model.for_marginaleffects()
    coef, frame = adapter.vault.coef, adapter.vault.modeldata
    found = adapter.get_predict(coef, adapter.get_exog(frame))
    chances = model.predict_proba(X)
    expected = chances[:, 1] if n_classes == 2 else chances.T.ravel()
    np.testing.assert_allclose(found["estimate"].to_numpy(), expected, atol=1e-12)
    assert adapter.get_vcov(False) is None
    robust = adapter.get_vcov("HC1")
    np.testing.assert_allclose(robust, model.summary(X, y, covariance="HC1").covariance, rtol=1e-9)

    def slope(theta):
        up, down = (adapter.get_predict(theta, frame.with_columns(frame["a"] + h)) for h in (1e-4, -1e-4))
        change = (up["estimate"] - down["estimate"]).to_numpy() / 2e-4
        return change.reshape(-1, len(X)).mean(axis=1)

    effects = model.marginal_effects(X)
    mine = [k for k, term in enumerate(effects.terms) if term == "a"]
    np.testing.assert_allclose(slope(coef), effects.estimate[mine], rtol=1e-6)
    J = np.column_stack([(slope(coef + h) - slope(coef - h)) / 2e-4 for h in 1e-4 * np.eye(len(coef))])
    errors = np.sqrt(np.einsum("ij,jk,ik->i", J, adapter.get_vcov(), J))
    np.testing.assert_allclose(errors, effects.standard_error[mine], rtol=1e-5)


def test_marginaleffects_itself_takes_the_adapter():
    me = pytest.importorskip("marginaleffects")
    X, y = rows(2)
    model = LogisticRegression(C=NONE).fit(X, y)
    try:
        found = me.avg_slopes(model.for_marginaleffects())
    except Exception as error:
        pytest.skip(f"this release does not work with the polars that is installed: {error}")
    effects = model.marginal_effects(X)
    np.testing.assert_allclose(sorted(found["estimate"]), sorted(effects.estimate), rtol=1e-5)
    # Its errors are differences of differences, good to some thousandths.
    np.testing.assert_allclose(sorted(found["std_error"]), sorted(effects.standard_error), rtol=1e-2)
