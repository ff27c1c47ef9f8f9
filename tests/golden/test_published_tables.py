"""Tables of the textbooks, in every digit that they print: estimates, standard errors, deviances.

Elements of Statistical Learning (tables 4.2, 4.3), Introduction to Statistical Learning (4.1 to 4.3 and the lab of
chapter 4), Hosmer and Lemeshow's birth weights (table 2.3, and the models of R's MASS), Stata's table of Greene's data.
"""

from __future__ import annotations

import numpy as np
import pytest

from discriminant import LogisticRegression

pd = pytest.importorskip("pandas")
pytest.importorskip("formulaic")
BIRTHS = "low ~ age + lwt + C(race) + smoke + ptd + ht + ui + C(visits)"
TABLES = [
    (
        "saheart", "chd ~ sbp + tobacco + ldl + famhist + obesity + alcohol + age", 3,
        [-4.130, 0.006, 0.080, 0.185, 0.939, -0.035, 0.001, 0.043],
        [0.964, 0.006, 0.026, 0.057, 0.225, 0.029, 0.004, 0.010],
    ),
    (
        "saheart", "chd ~ tobacco + ldl + famhist + age", 3,
        [-4.204, 0.081, 0.168, 0.924, 0.044], [0.498, 0.026, 0.054, 0.223, 0.010],
    ),
    ("default_islr", "default ~ balance", 4, [-10.6513, 0.0055], [0.3612, 0.0002]),
    ("default_islr", "default ~ student", 4, [-3.5041, 0.4049], [0.0707, 0.1150]),
    (
        "default_islr", "default ~ balance + I(income / 1000) + student", 4,
        [-10.8690, 0.0057, 0.0030, -0.6468], [0.4923, 0.0002, 0.0082, 0.2362],
    ),
    (
        "smarket", "Direction ~ Lag1 + Lag2 + Lag3 + Lag4 + Lag5 + Volume", 3,
        [-0.126, -0.073, -0.042, 0.011, 0.009, 0.010, 0.135], [0.241, 0.050, 0.050, 0.050, 0.050, 0.050, 0.158],
    ),
    (
        "birthwt", "low ~ age + lwt + C(race) + ftv", 3,
        [1.295, -0.024, -0.014, 1.004, 0.433, -0.049], [1.0714, 0.0337, 0.0065, 0.4979, 0.3622, 0.1672],
    ),
    (
        "spector", "GRADE ~ GPA + TUCE + PSI", 5,
        [-13.02135, 2.82611, 0.09516, 2.37869], [4.93132, 1.26294, 0.14155, 1.06456],
    ),
]  # fmt: skip


def table_of(shared_data, name):
    table = pd.read_csv(shared_data / name / "data.csv")
    if name == "birthwt":
        table = table.assign(ptd=(table.ptl > 0).astype(int), visits=table.ftv.clip(upper=2))
    return table


@pytest.mark.parametrize(("name", "formula", "digits", "estimate", "error"), TABLES)
def test_tables_of_textbooks(shared_data, name, formula, digits, estimate, error):
    table = LogisticRegression.from_formula(formula, table_of(shared_data, name), C=np.inf).summary()
    unit = 1.1 * 0.5 * 10.0**-digits  # they round, and one of them cuts
    np.testing.assert_allclose(table.estimate, estimate, rtol=0, atol=2 * unit)
    np.testing.assert_allclose(table.standard_error, error, rtol=0, atol=2 * unit)


@pytest.mark.parametrize(
    ("formula", "deviance"),
    [
        (BIRTHS, 195.4755),
        ("low ~ lwt + C(race) + smoke + ptd + ht + ui", 197.8516),
        (BIRTHS.replace(" C(race) +", "") + " + age:C(visits) + smoke:ui", 183.0734),
    ],
)
def test_deviances_of_birth_weights(shared_data, formula, deviance):
    model = LogisticRegression.from_formula(formula, table_of(shared_data, "birthwt"), C=np.inf)
    assert round(model.summary().statistics["deviance"], 4) == deviance


def test_the_table_of_seven_parties(shared_data):
    """Stata's table of the election study of 1996: the first party's estimates and errors, and both likelihoods."""
    formula = "PID ~ logpopul + selfLR + age + educ + income"
    table = LogisticRegression.from_formula(formula, table_of(shared_data, "anes96"), C=np.inf).summary()
    first = [-0.37340167, -0.01153598, 0.29771435, -0.024945, 0.08249144, 0.00519655]
    np.testing.assert_allclose(table.estimate[:6], first, atol=6e-9)
    errors = [0.6298376313, 0.0342823657, 0.093626795, 0.0065248584, 0.0735865799, 0.0176336937]
    np.testing.assert_allclose(table.standard_error[:6], errors, rtol=2e-8)
    assert round(table.statistics["log-likelihood"], 5) == -1461.92275
    assert round(table.statistics["null deviance"] / -2, 5) == -1750.34671
