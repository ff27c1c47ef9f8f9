"""Surveys, pooled imputations, nested models, robust covariances, splines, Firth's fit, FLIC and FLAC against R.

By its packages survey, mice, car, sandwich, nnet, brglm2 and logistf: statistics.R.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from discriminant import LogisticRegression, compare, pool
from discriminant.errors import DataError, ParameterError

REFERENCE = json.loads((Path(__file__).parent / "statistics.json").read_text())
COLUMNS = ("tobacco", "ldl", "typea", "age")


@pytest.fixture(scope="module")
def saheart(shared_data):
    with open(shared_data / "saheart" / "data.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    X = np.array([[float(row[name]) for name in COLUMNS] for row in rows])
    return X, np.array([int(row["chd"]) for row in rows]), np.array([row["famhist"] for row in rows])


def fit(X, y, weight=None, **options):
    return LogisticRegression(C=np.inf, **options).fit(X, y, sample_weight=weight)


def agrees(table, expected):
    """To eight digits; a p value has the digits of its statistic less those that the tail costs, z²."""
    for name, column in (("estimate", "estimate"), ("se", "standard_error"), ("t", "z"), ("p", "p")):
        if name in expected:
            np.testing.assert_allclose(getattr(table, column), expected[name], rtol=1e-8)


@pytest.fixture(scope="module")
def design(saheart):
    i = np.arange(1, len(saheart[0]) + 1)
    return (i * 7) % 23, 1.5 + (i * 13) % 5


@pytest.mark.parametrize("which", ["survey", "survey_weights", "survey_strata", "survey_clusters"])
def test_a_survey_with_strata_clusters_and_weights_is_svyglm(saheart, design, which):
    X, y, strata = saheart
    groups, weight = design
    known = {"groups": groups} if which in ("survey", "survey_clusters") else {}
    known |= {"strata": strata} if which in ("survey", "survey_strata") else {}
    table = fit(X, y, weight).summary(X, y, weight, covariance="survey", **known)
    agrees(table, REFERENCE[which])
    assert table.statistics["df"] == REFERENCE[which]["df"]
    np.testing.assert_allclose(np.c_[table.low, table.high], REFERENCE[which]["interval"], rtol=1e-8)
    assert "survey covariance" in str(table)
    assert " t " in str(table)


def test_the_scale_of_survey_weights_does_not_matter(saheart, design):
    X, y, strata = saheart
    groups, weight = design
    tables = [
        fit(X, y, w).summary(X, y, w, covariance="survey", groups=groups, strata=strata) for w in (weight, 1e3 * weight)
    ]
    np.testing.assert_allclose(tables[0].standard_error, tables[1].standard_error, rtol=1e-9)


def test_designs_that_show_no_variance_are_refused(saheart):
    X, y, strata = saheart
    model = fit(X, y)
    alone = np.where(np.arange(len(y)) == 3, "one", strata)
    with pytest.raises(DataError, match=r"one cluster only in the strata 'one'"):
        model.summary(X, y, covariance="survey", strata=alone)
    with pytest.raises(DataError, match="too few for 5 coefficients"):
        model.summary(X, y, covariance="survey", groups=np.arange(len(y)) % 4)
    with pytest.raises(ParameterError, match="strata"):
        model.summary(X, y, strata=strata)
    with pytest.raises(DataError, match="strata has 3 entries"):
        model.summary(X, y, covariance="survey", strata=strata[:3])


def test_groups_are_labels_of_any_kind(saheart, design):
    """What tells rows apart: words, categories, dates, measurements, a frame of one column."""
    pd = pytest.importorskip("pandas")
    X, y, _ = saheart
    model, groups = fit(X, y), design[0]
    expected = model.summary(covariance="cluster", groups=groups).standard_error
    words = groups.astype(str)
    kinds = [words, words.astype(object), groups + 0.5, pd.Timestamp("2020-01-01") + pd.to_timedelta(groups, "D")]
    for kind in [*kinds, pd.Series(words, dtype="category"), pd.DataFrame({"group": groups}), groups.tolist()]:
        found = model.summary(covariance="cluster", groups=kind).standard_error
        np.testing.assert_allclose(found, expected, rtol=1e-10)
    for absent in (np.where(groups == 3, np.nan, groups), pd.Series(np.where(groups == 3, None, words))):
        with pytest.raises(DataError, match="groups has no label in row 6"):
            model.summary(covariance="cluster", groups=absent)
    with pytest.raises(DataError, match=r"groups has the shape \(\)"):
        model.summary(covariance="cluster", groups="site")
    with pytest.raises(ParameterError, match="draws rows one by one"):
        model.summary(covariance="cluster", groups=groups, intervals="bootstrap")


def test_pooled_imputations_are_those_of_mice(saheart):
    X, y, _ = saheart
    chosen = (np.arange(1, len(y) + 1) * 11) % 6 == 0
    models = []
    for k in range(1, 6):
        Z = X.copy()
        Z[chosen, 1] += 1.5 * np.sin(np.arange(1, chosen.sum() + 1) * k)
        models.append(fit(Z, y))
    table, expected = pool(models), REFERENCE["pool"]
    agrees(table, expected)
    np.testing.assert_allclose(table.extra["df"], expected["df"], rtol=1e-8)
    np.testing.assert_allclose(table.extra["fmi"], expected["fmi"], rtol=1e-8)
    np.testing.assert_allclose(np.c_[table.low, table.high], np.c_[expected["low"], expected["high"]], rtol=1e-8)
    assert "fmi" in table.to_frame().columns
    with pytest.raises(ParameterError, match="two or more"):
        pool(models[:1])
    with pytest.raises(ParameterError, match="other terms"):
        pool([models[0], fit(X[:, :2], y)])


def test_nested_models_are_those_of_anova_and_linear_hypothesis(saheart):
    X, y, _ = saheart
    found = compare(fit(X[:, :2], y), fit(X, y), X, y)
    np.testing.assert_allclose(found.statistic, REFERENCE["nested"]["statistic"], rtol=1e-8)
    np.testing.assert_allclose(found.p, REFERENCE["nested"]["p"], rtol=1e-8)


@pytest.fixture(scope="module")
def terms(saheart):
    pd = pytest.importorskip("pandas")
    X, y, history = saheart
    place = np.arange(1, len(y) + 1) * 5 % 7 % 3
    site = np.array(["north", "south", "west"])[place]
    return pd.DataFrame({"tobacco": X[:, 0], "site": site, "famhist": history, "age": X[:, 3], "chd": y})


def test_whole_terms_are_tested_as_car_does(terms):
    """The model without the term, a formula each: likelihood ratio, Wald and score tests, AIC and BIC."""
    pytest.importorskip("formulaic")
    expected = REFERENCE["terms"]
    names = ["tobacco", "site", "famhist", "age"]

    def of(right):
        return LogisticRegression.from_formula(f"chd ~ {right}", terms, C=np.inf)

    whole = of(" + ".join(names))
    for j, name in enumerate(names):
        found = compare(of(" + ".join(other for other in names if other != name)), whole)
        assert (found.tests, found.df) == (["likelihood ratio", "Wald", "score"], expected["df"][j])
        three = [expected[key][j] for key in ("lr", "wald", "rao")]
        np.testing.assert_allclose(found.statistic, three, rtol=1e-8)
        np.testing.assert_allclose(found.p[0], expected["p"][j], rtol=1e-8)
    told = found.models["large"]
    measures = [told[key] for key in ("log-likelihood", "AIC", "BIC")]
    np.testing.assert_allclose(measures, [expected[key] for key in ("logLik", "AIC", "BIC")], rtol=1e-10)
    found = compare(whole, of("tobacco + site + famhist * age"))
    np.testing.assert_allclose([found.statistic[0], found.p[0]], expected["interaction"], rtol=1e-8)


def test_terms_of_an_interaction_are_tested_by_type_two(terms):
    """A term against the model without it and without the terms that hold it."""
    pytest.importorskip("formulaic")

    def of(right):
        return LogisticRegression.from_formula(f"chd ~ {right}", terms, C=np.inf)

    pairs = [
        ("site + famhist * age", "tobacco + site + famhist * age"),
        ("tobacco + famhist * age", "tobacco + site + famhist * age"),
        ("tobacco + site + age", "tobacco + site + famhist + age"),
        ("tobacco + site + famhist", "tobacco + site + famhist + age"),
        ("tobacco + site + famhist + age", "tobacco + site + famhist * age"),
    ]
    found = [compare(of(small), of(large)) for small, large in pairs]
    expected = REFERENCE["type2"]
    assert [test.df for test in found] == expected["df"]
    np.testing.assert_allclose([test.statistic[0] for test in found], expected["lr"], rtol=1e-8)
    np.testing.assert_allclose([test.p[0] for test in found], expected["p"], rtol=1e-8)


def test_terms_are_tested_by_type_three(terms):
    """A term against the model without it that keeps its interactions, in contrasts that sum to zero."""
    turned = np.where(terms.famhist == "Present", -1.0, 1.0)
    table = terms[["tobacco"]].assign(famhist=turned, age=terms.age, product=turned * terms.age)
    whole = fit(table, terms.chd)
    found = [compare(fit(table.drop(columns=name), terms.chd), whole) for name in table.columns]
    np.testing.assert_allclose([test.statistic[0] for test in found], REFERENCE["type3"]["lr"], rtol=1e-8)
    np.testing.assert_allclose([test.statistic[1] for test in found], REFERENCE["type3"]["wald"], rtol=1e-8)


@pytest.mark.parametrize("kind", ["HC0", "HC1", "cluster"])
def test_robust_covariances_are_those_of_sandwich(saheart, design, kind):
    X, y, _ = saheart
    known = {"groups": design[0]} if kind == "cluster" else {}
    agrees(fit(X, y).summary(covariance=kind, **known), REFERENCE["robust"][kind])


def test_splines_are_those_of_r(terms):
    pytest.importorskip("formulaic")
    table = LogisticRegression.from_formula("chd ~ bs(age, df=5) + tobacco", terms, C=np.inf).summary()
    agrees(table, REFERENCE["splines"])
    np.testing.assert_allclose(table.statistics["log-likelihood"], REFERENCE["splines"]["logLik"], rtol=1e-10)


def test_offsets_and_rows_that_count_several_times_are_those_of_glm(saheart):
    X, y, _ = saheart
    i = np.arange(1, len(y) + 1)
    exposure, count = np.log(1 + i % 4), 1 + i % 3
    model = LogisticRegression(C=np.inf).fit(X[:, :2], y, sample_weight=count, offset=exposure)
    table, expected = model.summary(), REFERENCE["offset"]
    agrees(table, expected)
    measures = [table.statistics[key] for key in ("log-likelihood", "deviance")]
    np.testing.assert_allclose(measures, [expected["logLik"], expected["deviance"]], rtol=1e-10)
    rows, times = np.repeat(X[:, :2], count, axis=0), np.repeat(y, count)
    longer = LogisticRegression(C=np.inf).fit(rows, times, offset=np.repeat(exposure, count)).summary()
    np.testing.assert_allclose(longer.standard_error, table.standard_error, rtol=1e-9)


def test_odds_ratios_and_their_intervals_are_those_of_confint(terms):
    pytest.importorskip("formulaic")
    table = LogisticRegression.from_formula("chd ~ tobacco + site + famhist + age", terms, C=np.inf).summary()
    columns, expected = table.columns(), REFERENCE["odds"]
    np.testing.assert_allclose(columns["odds ratio"], expected["ratio"], rtol=1e-8)
    np.testing.assert_allclose(np.c_[columns["OR 2.5%"], columns["OR 97.5%"]], expected["interval"], rtol=1e-8)
    np.testing.assert_allclose(table.covariance, expected["covariance"], rtol=1e-7)


@pytest.mark.parametrize("at", ["overall", "mean"])
def test_marginal_effects_have_the_errors_of_the_delta_method(saheart, at):
    X, y, _ = saheart
    found, expected = fit(X, y).marginal_effects(X, at=at), REFERENCE["effects"][at]
    np.testing.assert_allclose(found.estimate, expected["estimate"], rtol=1e-8)
    np.testing.assert_allclose(found.standard_error, expected["se"], rtol=1e-8)


@pytest.fixture(scope="module")
def through_origin(saheart):
    """A column for each level of the family's history, and no intercept."""
    X, y, history = saheart
    return np.column_stack([history == "Absent", history == "Present", X[:, 0], X[:, 3]]).astype(float), y


def test_a_fit_without_an_intercept_is_that_of_glm(through_origin, design):
    X, y = through_origin
    expected, model = REFERENCE["origin"], fit(X, y, fit_intercept=False)
    table = model.summary()
    agrees(table, expected)
    assert table.terms == ["x0", "x1", "x2", "x3"]
    measures = [table.statistics[key] for key in ("null deviance", "AIC", "BIC")]
    np.testing.assert_allclose(measures, [expected[key] for key in ("null", "AIC", "BIC")], rtol=1e-10)
    groups, weight = design
    for kind, known in (("HC1", {}), ("cluster", {"groups": groups})):
        np.testing.assert_allclose(model.summary(covariance=kind, **known).standard_error, expected[kind], rtol=1e-8)
    survey = fit(X, y, weight, fit_intercept=False).summary(covariance="survey", groups=groups)
    np.testing.assert_allclose(survey.standard_error, expected["survey"], rtol=1e-8)
    rows = model.diagnostics()
    np.testing.assert_allclose(rows.leverage[:20], expected["leverage"], rtol=1e-8)
    np.testing.assert_allclose(rows.cook[:20], expected["cook"], rtol=1e-8)


def test_a_fit_without_an_intercept_is_the_same_in_other_columns(saheart, through_origin):
    """Two levels without an intercept, or an intercept and one of them: the same effects, profiles and classes."""
    X, y = through_origin
    fewer = X[:, 1:].copy()
    free, plain = fit(X, y, fit_intercept=False), fit(fewer, y)
    effects, others = free.marginal_effects(), plain.marginal_effects()
    np.testing.assert_allclose(effects.estimate[2:], others.estimate[1:], rtol=1e-9)
    np.testing.assert_allclose(effects.standard_error[2:], others.standard_error[1:], rtol=1e-9)
    tables = [model.summary(intervals="profile") for model in (free, plain)]
    for name in ("low", "high", "z"):
        np.testing.assert_allclose(getattr(tables[0], name)[2:], getattr(tables[1], name)[2:], rtol=1e-8)
    known = [model.probability_interval(rows, model.summary()) for model, rows in ((free, X), (plain, fewer))]
    np.testing.assert_allclose(*known, rtol=1e-8)
    kind = np.where(np.arange(len(y)) % 4, y, 2)
    tables = [fit(X, kind, fit_intercept=False).summary(reference=1), fit(fewer, kind).summary(reference=1)]
    kept = np.array([term not in ("x0", "x1") for term in tables[0].terms])
    assert kept.tolist() == [term not in ("(intercept)", "x0") for term in tables[1].terms]
    for name in ("estimate", "standard_error", "p"):
        np.testing.assert_allclose(*(getattr(table, name)[kept] for table in tables), rtol=1e-8)
    boot = fit(X, y, fit_intercept=False).summary(intervals="bootstrap", draws=20)
    assert boot.terms == ["x0", "x1", "x2", "x3"]
    assert free.marginal_effects(summary=boot).standard_error.shape == (4,)


def test_nested_models_without_an_intercept_are_those_of_anova(saheart):
    X, y, _ = saheart
    X = X[:, [3, 0, 1]]
    small, large, whole = fit(X[:, :2], y, fit_intercept=False), fit(X, y, fit_intercept=False), fit(X, y)
    np.testing.assert_allclose(compare(small, large).statistic, REFERENCE["origin"]["columns"], rtol=1e-8)
    found = compare(large, whole)
    np.testing.assert_allclose(found.statistic, REFERENCE["origin"]["intercept"], rtol=1e-8)
    assert (found.df, found.added) == (1, ["(intercept)"])
    with pytest.raises(ParameterError, match="lacks the intercept"):
        compare(fit(X[:, :1], y), large)


def test_nested_models_of_weighed_rows_with_offsets_are_those_of_anova(saheart):
    X, y, _ = saheart
    i = np.arange(1, len(y) + 1)
    given = {"sample_weight": 1 + i % 3, "offset": np.log(1 + i % 4)}
    X = X[:, [0, 1, 3]]
    small, large = (LogisticRegression(C=np.inf).fit(rows, y, **given) for rows in (X[:, :1], X))
    np.testing.assert_allclose(compare(small, large).statistic, REFERENCE["weighed"]["statistic"], rtol=1e-8)


AS_FORMULAIC = {
    "bs(age, knots = c(30, 50), degree = 3) + tobacco": "bs(age, knots=[30, 50], degree=3) + tobacco",
    "relevel(site, 'south') * famhist + age": "C(site, contr.treatment('south')) * famhist + age",
    "(tobacco + age + famhist)^2": "(tobacco + age + famhist)**2",
}


@pytest.mark.parametrize("right", list(REFERENCE["formulas"]))
def test_formulas_are_those_of_r(terms, right):
    """Splines and polynomials of other degrees and knots, other contrasts and references, interactions."""
    pytest.importorskip("formulaic")
    expected = REFERENCE["formulas"][right]
    model = LogisticRegression.from_formula(f"chd ~ {AS_FORMULAIC.get(right, right)}", terms, C=np.inf)
    table = model.summary()
    order = np.lexsort([np.round(table.estimate, 9)]), np.lexsort([np.round(expected["estimate"], 9)])
    for name, column in (("estimate", "estimate"), ("se", "standard_error"), ("t", "z"), ("p", "p")):
        np.testing.assert_allclose(getattr(table, column)[order[0]], np.array(expected[name])[order[1]], rtol=1e-8)
    np.testing.assert_allclose(table.statistics["log-likelihood"], expected["logLik"], rtol=1e-10)
    np.testing.assert_allclose(model.predict_proba(terms[:20])[:, 1], expected["fitted"], rtol=1e-8)


@pytest.mark.parametrize("moved", [1e4, 1e8])
def test_effects_and_intervals_do_not_depend_on_where_a_column_lies(saheart, moved):
    """An age in days since long ago: raw intercepts are then rounding, and their covariance even more."""
    X, y, _ = saheart
    far = X + [0, 0, 0, moved]
    here = fit(X, y), fit(X, np.where(np.arange(len(y)) % 4, y, 2))
    there = fit(far, y), fit(far, np.where(np.arange(len(y)) % 4, y, 2))
    for mine, other in zip(here, there, strict=True):
        for at in ("overall", "mean"):
            tables = mine.marginal_effects(X, at=at), other.marginal_effects(far, at=at)
            np.testing.assert_allclose(tables[1].estimate, tables[0].estimate, rtol=1e-6)
            np.testing.assert_allclose(tables[1].standard_error, tables[0].standard_error, rtol=1e-6)
        ends = mine.probability_interval(X, mine.summary()), other.probability_interval(far, other.summary())
        np.testing.assert_allclose(*ends, rtol=1e-6)
    ends = here[0].boundary_interval(X, 0, here[0].summary()), there[0].boundary_interval(far, 0, there[0].summary())
    np.testing.assert_allclose(*ends, rtol=1e-6)
    ends = here[0].boundary_interval(X, 3, here[0].summary()), there[0].boundary_interval(far, 3, there[0].summary())
    np.testing.assert_allclose(ends[0], ends[1] - moved, rtol=1e-6)


@pytest.mark.parametrize("reference", ["ill", "well"])
def test_tables_of_three_classes_are_those_of_multinom(saheart, shared_data, design, reference):
    X, y, _ = saheart
    with open(shared_data / "saheart" / "data.csv", newline="") as file:
        stout = np.array([float(row["adiposity"]) > 25 for row in csv.DictReader(file)])
    kind = np.where(y == 1, "ill", np.where(stout, "stout", "well"))
    X = X[:, [0, 1, 3]]
    model, expected = fit(X, kind), REFERENCE["multinomial"][reference]
    table = model.summary(reference=reference)
    agrees(table, expected)
    for name, known in (("HC0", {}), ("cluster", {"groups": design[0]})):
        robust = model.summary(covariance=name, reference=reference, **known)
        np.testing.assert_allclose(robust.standard_error, expected[name], rtol=1e-8)
    if reference == "ill":
        found = model.marginal_effects()
        np.testing.assert_allclose(found.estimate, expected["effects"], rtol=1e-8)
        np.testing.assert_allclose(found.standard_error, expected["errors"], rtol=1e-8)
    np.testing.assert_allclose(
        table.statistics["log-likelihood"], REFERENCE["multinomial"][reference]["logLik"], rtol=1e-10
    )


def test_profile_intervals_come_with_likelihood_ratio_tests(saheart):
    X, y, _ = saheart
    table, expected = fit(X, y).summary(X, y, intervals="profile"), REFERENCE["profile"]
    np.testing.assert_allclose(table.z**2, expected["statistic"], rtol=1e-8)
    np.testing.assert_allclose(table.p, expected["p"], rtol=1e-8)
    np.testing.assert_allclose(np.c_[table.low, table.high], np.c_[expected["low"], expected["high"]], rtol=1e-8)
    assert "likelihood-ratio tests, profile intervals at 0.95" in str(table)
    assert fit(X, y).summary(X, y, intervals="profile", tests="wald").kinds["tests"] == "wald"


def test_firths_fit_has_the_tests_of_its_penalised_likelihood(saheart):
    X, y, _ = saheart
    few = np.arange(1, len(y) + 1) % 9 == 0
    table = fit(X[few], y[few], penalty="jeffreys").summary(X[few], y[few], intervals="profile")
    np.testing.assert_allclose(table.estimate, REFERENCE["firth"]["estimate"], rtol=1e-8)
    np.testing.assert_allclose(table.z**2, REFERENCE["firth"]["statistic"], rtol=1e-8)
    np.testing.assert_allclose(table.p, REFERENCE["firth"]["p"], rtol=1e-8)


def test_categories_and_interactions_are_those_of_glm(saheart):
    pd = pytest.importorskip("pandas")
    X, y, history = saheart
    frame = pd.DataFrame({"tobacco": X[:, 0], "famhist": history, "age": X[:, 3]})
    agrees(fit(frame, y).summary(), REFERENCE["category"])
    pytest.importorskip("formulaic")
    table = frame.assign(chd=y)
    model = LogisticRegression.from_formula("chd ~ tobacco + famhist * age", table, C=np.inf)
    agrees(model.summary(), REFERENCE["interaction"])


@pytest.fixture(scope="module")
def rare(saheart):
    X, y, _ = saheart
    chosen = np.arange(1, len(y) + 1) % 9 == 0
    X, y = X[chosen], y[chosen].copy()
    y[::2] = 0
    return X, y


def test_firths_fit_and_its_corrections_are_those_of_logistf(saheart, rare):
    X, y, _ = saheart
    chosen = np.arange(1, len(y) + 1) % 9 == 0
    expected = REFERENCE["logistf"]
    X, y = X[chosen], y[chosen]
    table = fit(X, y, penalty="jeffreys").summary(intervals="profile")
    for name in ("estimate", "low", "high", "p"):
        np.testing.assert_allclose(getattr(table, name), expected[name], rtol=1e-8)
    for name in ("flic", "flac"):
        np.testing.assert_allclose(fit(*rare, penalty=name).summary().estimate, expected[name], rtol=1e-8)


@pytest.mark.parametrize("kind", ["flic", "flac"])
def test_corrections_of_firths_fit(rare, kind):
    """Probabilities are right on average; weights and errors are those of explicit fits in R."""
    X, y = rare
    model = fit(X, y, penalty=kind)
    table = model.summary()
    agrees(table, REFERENCE[kind])
    np.testing.assert_allclose(np.r_[model.intercept_, model.coef_[0]], REFERENCE[kind]["estimate"], rtol=1e-8)
    assert abs(model.predict_proba(X)[:, 1].mean() - y.mean()) < 1e-9
    assert model.certificate_.converged
    again = model.summary(X, y)
    np.testing.assert_allclose(again.standard_error, table.standard_error, rtol=1e-9)
    with pytest.raises(ParameterError, match="wald"):
        model.summary(X, y, intervals="profile")


def test_flic_of_many_classes_is_right_on_average_and_flac_is_refused(rare):
    X, y = rare
    y = np.where(X[:, 3] > 50, 2, y)
    p = fit(X, y, penalty="flic").predict_proba(X)
    np.testing.assert_allclose(p.mean(axis=0), np.bincount(y) / len(y), rtol=1e-9)
    with pytest.raises(ParameterError, match="flac"):
        fit(X, y, penalty="flac")
