"""What became of a word, told from observations alone."""

from __future__ import annotations

from typing import Any

import pytest

from vlk2.domain.hindsight import SOON, ended_by_itself, repeats_after, succeeded_after_all
from vlk2.domain.observation import Act, Fingerprint, Key, Outcome, Seen

E0277 = Fingerprint("rust", "E0277", "1:rust:E0277:abc", ("Foo",), "cannot add", specific=True)
OTHER = Fingerprint("rust", "E0277", "1:rust:E0277:def", ("Bar",), "cannot add", specific=True)


def _seen(at: int, outcome: Outcome = Outcome.FAILURE, **more: Any) -> Seen:
    held: dict[str, Any] = {
        "seq": at,
        "at": at,
        "run": "1",
        "batch": "",
        "explicit": False,
        "act": Act.RUN,
        "tool": "Bash",
        "call": "call",
        "command": "command",
        "own_status": True,
        "outcome": outcome,
        "fingerprint": E0277 if outcome is Outcome.FAILURE else None,
        "failing": frozenset(),
        "result": "",
        "place": "",
    }
    return Seen(**{**held, **more})


def test_only_the_failures_of_the_key_after_the_word_count() -> None:
    window = [_seen(1), _seen(2), _seen(3, fingerprint=OTHER), _seen(4, Outcome.SUCCESS), _seen(5)]
    assert [seen.at for seen in repeats_after(window, E0277.key, 1)] == [2, 5]


def test_a_key_on_a_whole_type_holds_every_failure_of_the_type() -> None:
    window = [_seen(2), _seen(3, fingerprint=OTHER)]
    assert len(repeats_after(window, Key("1:rust:E0277:*", ()), 1)) == 2


@pytest.mark.parametrize(
    ("outcome", "wrong"), [(Outcome.SUCCESS, True), (Outcome.FAILURE, False), (Outcome.UNKNOWN, None)]
)
def test_a_refusal_is_wrong_where_its_call_succeeds_when_it_next_runs(
    outcome: Outcome, wrong: bool | None
) -> None:
    window = [
        _seen(1),
        _seen(3, Outcome.SUCCESS, call="another"),
        _seen(4, outcome),
        _seen(5, Outcome.SUCCESS),
    ]
    assert succeeded_after_all(window, "call", 2) is wrong


def test_a_call_that_never_ran_again_says_nothing_of_its_refusal() -> None:
    assert succeeded_after_all([_seen(1)], "call", 2) is None


def test_a_success_with_nothing_changed_before_it_speaks_against_the_constraint() -> None:
    window = [_seen(1), _seen(2, Outcome.SUCCESS, call="look", command="look"), _seen(3, Outcome.SUCCESS)]
    assert ended_by_itself(window, ("command",), 1) == window[2]


def test_a_success_after_a_change_is_how_a_constraint_should_end() -> None:
    edit = _seen(2, Outcome.SUCCESS, call="edit", command="", changes=True)
    assert ended_by_itself([_seen(1), edit, _seen(3, Outcome.SUCCESS)], ("command",), 1) is None


def test_a_success_through_a_pipe_or_long_after_says_nothing() -> None:
    assert ended_by_itself([_seen(2, Outcome.SUCCESS, own_status=False)], ("command",), 1) is None
    looks = [_seen(at, Outcome.SUCCESS, call="look", command="look") for at in range(2, 2 + SOON)]
    assert ended_by_itself([*looks, _seen(99, Outcome.SUCCESS)], ("command",), 1) is None
