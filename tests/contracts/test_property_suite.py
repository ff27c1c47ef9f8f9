"""Any estimator, settings, storage, labels and weights: the answer of the plain float64 array, or a sentence.

The configurations are those of ``draw.py``, by number; ``make nightly`` draws ten thousand others.
"""

from __future__ import annotations

import pytest

from contracts.draw import FIXED, GOOD, STORAGES, configuration, judge, run
from discriminant.io.encode import known_estimators

COUNT, PART = 480, 40


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("first", range(0, COUNT, PART))
def test_the_answer_of_the_plain_array_or_a_sentence(first):
    faults = []
    outcomes = run(range(first, first + PART), faults.append)
    assert not faults, "\n".join(faults)
    assert outcomes["right"] + outcomes["told"] > PART / 2, outcomes


def test_the_draws_reach_every_estimator_parameter_and_storage():
    drawn = [configuration(number) for number in range(COUNT)]
    kinds = known_estimators()
    assert {one.name for one in drawn} == set(kinds)
    forms = {one.words[1].split()[0] for one in drawn}
    assert {"array", "pandas", "polars", "pyarrow", "LazyFrame"} <= forms
    assert len({form for form in forms if form.endswith(("_array", "_matrix"))}) == 14
    assert len(STORAGES) > 4
    settings = {(one.name, name) for one in drawn for name in one.settings}
    possible = {(name, parameter) for name, kind in kinds.items() for parameter in kind._parameter_constraints
                if parameter not in FIXED}  # fmt: skip
    assert len(settings & possible) > 0.8 * len(possible)


def test_one_number_is_one_configuration():
    first, second = configuration(7), configuration(7)
    assert str(first) == str(second)
    assert judge(first) == judge(second)
    assert judge(first)[0] in GOOD
