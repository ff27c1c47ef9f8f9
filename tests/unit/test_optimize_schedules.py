"""Step sizes: their formulas, and the conditions under which procedures converge."""

from __future__ import annotations

import numpy as np
import pytest

from discriminant.errors import ParameterError
from discriminant.optimize import Constant, Inverse, Power, check_conditions, make_schedule
from discriminant.optimize.schedules import table


def test_formulas():
    assert Constant(0.3)(7) == 0.3
    assert Inverse(2.0)(4) == 0.5
    assert Power(6.0, 0.5, delay=5.0)(4) == 2.0
    np.testing.assert_allclose(table(Power(6.0, 0.5, delay=5.0), 3, 3), 6 / np.sqrt([8, 9, 10]))
    np.testing.assert_allclose(table(lambda k: 1.0 / k, 3, 3), [1 / 3, 1 / 4, 1 / 5])
    np.testing.assert_allclose(table(Constant(2.0), 3, 3), 2.0)


@pytest.mark.parametrize(
    ("power", "perceptron", "stochastic"),
    [
        (0.0, True, False),
        (0.5, True, False),
        (0.75, True, True),
        (1.0, True, True),
        (1.5, False, False),
        (-1.0, True, False),
    ],
)
def test_conditions_of_powers(power, perceptron, stochastic):
    """Σk^−p = ∞ iff p ≤ 1, Σk^−2p < ∞ iff p > ½, and the ratio vanishes iff p ≤ 1; the same judged from values."""
    known = check_conditions(Power(1.0, power))
    judged = check_conditions(lambda k: float(k) ** -power)
    assert known.proved
    assert not judged.proved
    for conditions in (known, judged):
        assert conditions.perceptron == perceptron
        assert conditions.stochastic == stochastic


def test_conditions_in_words():
    assert check_conditions(Inverse(1.0)).sentence() == "All conditions on the steps hold."
    assert "keeps hovering" in check_conditions(1.0).sentence()
    assert "may stop short" in check_conditions(Power(1.0, 2.0)).sentence()
    text = check_conditions(lambda k: (-1.0) ** k / k).sentence()
    assert text.startswith("Some step is negative")
    assert "judged from the first million" in text


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.inf, np.nan])
def test_rates_must_be_positive(wrong):
    with pytest.raises(ParameterError, match="positive and finite"):
        make_schedule(wrong)


def test_what_is_no_schedule_is_refused():
    with pytest.raises(ParameterError, match="a function of k"):
        make_schedule("fast")
    with pytest.raises(ParameterError, match="greater than -1"):
        Power(1.0, 1.0, delay=-1.0)
