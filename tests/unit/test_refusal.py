"""Rule 7: a call is refused only where everything it asks for is known to hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vlk2.domain.observation import Act
from vlk2.domain.refusal import AboutToRun, Advise, Allow, Enforce, Refuse, decide, shown_at

MINUTE = 60 * 1_000_000
HOPELESS = AboutToRun(
    is_shell=True,
    failures=3,
    since=(Act.READ, Act.READ),
    stamps_equal=True,
    branch_equal=True,
    last_failure=1_000 * MINUTE,
    now=1_003 * MINUTE,
)


def test_the_third_identical_failure_with_nothing_but_reading_since_is_refused():
    decision = decide(HOPELESS, Enforce.REFUSE)
    assert isinstance(decision, Refuse)
    assert decision.count == 3
    assert "3 times" in decision.reason


@pytest.mark.parametrize(
    "what",
    [
        pytest.param({"is_shell": False}, id="only shell calls"),
        pytest.param({"failures": 2}, id="only after three failures"),
        pytest.param({"since": (Act.READ, Act.EDIT)}, id="an edit since"),
        pytest.param({"since": (Act.RUN,)}, id="a run since"),
        pytest.param({"since": (Act.OTHER,)}, id="an unknown tool since"),
        pytest.param({"changed": True}, id="something may have changed"),
        pytest.param({"prompted": True}, id="the user spoke"),
        pytest.param({"stamps_equal": False}, id="a stamp differs"),
        pytest.param({"stamps_equal": None}, id="stamps are unknown"),
        pytest.param({"branch_equal": False}, id="learned on another branch"),
        pytest.param({"branch_equal": None}, id="learned on an unknown branch"),
        pytest.param({"transient": True}, id="waiting may cure it"),
        pytest.param({"wildcard": True}, id="a wildcard never refuses"),
        pytest.param({"shared": True}, id="a shared pattern never refuses"),
        pytest.param({"own_words": True}, id="a lesson never refuses"),
        pytest.param({"contradicted": True}, id="a contradicted constraint never refuses"),
        pytest.param({"now": 1_011 * MINUTE}, id="more than ten minutes ago"),
        pytest.param({"now": 0}, id="the time is unknown"),
        pytest.param({"now": 999 * MINUTE}, id="a clock that runs backwards"),
        pytest.param({"refused_at": (3,)}, id="it was refused at this count"),
        pytest.param({"threshold": 6}, id="a revoked constraint needs twice the evidence"),
    ],
)
def test_one_missing_need_makes_a_refusal_advice(what: dict[str, object]):
    decision = decide(replace(HOPELESS, **what), Enforce.REFUSE)
    assert isinstance(decision, Advise)
    assert decision.reason


def test_ten_minutes_sharp_is_still_recent():
    assert isinstance(decide(replace(HOPELESS, now=1_010 * MINUTE), Enforce.REFUSE), Refuse)


def test_a_refused_call_passes_next_time_and_is_refused_again_when_its_count_has_doubled():
    overridden = replace(HOPELESS, refused_at=(3,))
    refused = [
        count
        for count in range(3, 13)
        if isinstance(decide(replace(overridden, failures=count), Enforce.REFUSE), Refuse)
    ]
    assert refused[0] == 6
    again = decide(replace(HOPELESS, failures=7, refused_at=(3, 6)), Enforce.REFUSE)
    assert isinstance(again, Advise)


def test_advise_never_refuses_and_off_says_nothing():
    assert isinstance(decide(HOPELESS, Enforce.ADVISE), Advise)
    assert isinstance(decide(HOPELESS, Enforce.OFF), Allow)


def test_a_call_that_never_failed_is_allowed_in_silence():
    assert isinstance(decide(replace(HOPELESS, failures=0), Enforce.REFUSE), Allow)


def test_a_constraint_is_shown_at_its_threshold_and_whenever_its_count_has_doubled():
    assert [count for count in range(1, 50) if shown_at(count, 3) == count] == [3, 6, 12, 24, 48]
    assert [count for count in range(1, 50) if shown_at(count, 6) == count] == [6, 12, 24, 48]
    assert shown_at(2, 3) == 0
    assert shown_at(11, 3) == 6
