"""Every estimator × every hostile case: the right answer or a sentence."""

from __future__ import annotations

import pytest

from contracts.hostile import Case
from contracts.hostile_merges import CASES
from contracts.judge import applies, judge, ours

ESTIMATORS = ours()
GROUPS = sorted({case.group for case in CASES})


def expected(name: str, case: Case) -> tuple[str, ...]:
    """The outcomes that the table allows."""
    kind = case.other.get(name, case.expect)
    return {"same": ("right",), "refused": ("refused",)}.get(kind, ("right", "told", "refused"))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_right_answer_or_a_sentence(name, group):
    make = ESTIMATORS[name]
    wrong = []
    for case in CASES:
        if case.group == group and applies(case, make):
            outcome = judge(name, make, case)
            if outcome.kind not in expected(name, case):
                wrong.append(f"{case.name}: {outcome.kind} ({outcome.detail})")
    assert not wrong, "\n".join(wrong)


def test_the_table_is_a_table():
    names = [(case.group, case.name) for case in CASES]
    assert len(set(names)) == len(names)
    assert len(CASES) > 150
    stranger = {name for case in CASES for name in {**case.other, **case.per_estimator}} - set(ESTIMATORS)
    assert not stranger - {"LogisticRegressionCV", "LinearSVC"}
