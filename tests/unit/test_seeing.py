"""From a report to a row: what is kept of a call, and that nothing of its text is kept in clear."""

from __future__ import annotations

from dataclasses import fields, replace
from hashlib import blake2b

import pytest

from vlk2.domain.event import Event, EventKind
from vlk2.domain.observation import Act, Change, Diagnosis, Failing, Fingerprint, Outcome, Seen
from vlk2.domain.seeing import see

FAILED = Diagnosis(
    Outcome.FAILURE,
    Fingerprint("python", "KeyError", "1:python:KeyError:ab", ("price",), "KeyError: 'price'"),
    frozenset({Failing("KeyError", ("price",))}),
)
GOOD = Diagnosis(Outcome.SUCCESS)
RUN = Event(
    kind=EventKind.RESULT,
    tool="Bash",
    command="cd /srv/shop && TOKEN=hunter2 pytest tests --key hunter2 | tail -3",
    input='{"command": "cd /srv/shop && TOKEN=hunter2 pytest tests --key hunter2 | tail -3"}',
    text="KeyError: 'price' hunter2",
    batch="m1",
    at=7,
    worktree="/srv/shop",
)


def keyed(text: str) -> str:
    return blake2b(text.encode(), key=b"test", digest_size=8).hexdigest()


def seen(event: Event = RUN, diagnosis: Diagnosis = FAILED, root: str = "") -> Seen:
    return see(event, diagnosis, seq=3, run="r", digest=keyed, root=root)


def test_what_the_rule_needs_is_there():
    row = seen()
    assert (row.seq, row.at, row.run, row.batch, row.tool) == (3, 7, "r", "m1", "Bash")
    assert (row.act, row.change, row.changes) == (Act.RUN, Change.NONE, True)
    assert row.outcome is Outcome.FAILURE
    assert row.fingerprint == FAILED.fingerprint
    assert row.failing == FAILED.failing
    assert not row.own_status
    assert not row.complains


def test_nothing_that_the_call_says_is_kept_in_clear():
    row = seen()
    for one in fields(row):
        assert "hunter2" not in str(getattr(row, one.name))


def test_the_same_command_has_the_same_key_and_another_call_another_hash():
    plain = replace(RUN, command="pytest tests --key hunter2", input="")
    assert seen(plain).command == seen().command
    assert seen(plain).call != seen().call
    assert seen(plain).own_status


def test_equal_commands_in_two_packages_are_two_commands():
    assert seen(root="/srv/shop/web").command != seen(root="/srv/shop/api").command


def test_equal_calls_in_two_worktrees_are_two_calls():
    assert seen(replace(RUN, worktree="/srv/copy")).call != seen().call


@pytest.mark.parametrize("text", ["took 1.2s at 10:00:01, 0x7f01", "took 9.9s at 23:59:59, 0x7fff"])
def test_clocks_durations_and_addresses_make_no_other_result(text: str):
    assert (
        seen(replace(RUN, text=text)).result == seen(replace(RUN, text="took 3s at 11:11:11, 0xabc")).result
    )


def test_other_words_and_counts_make_another_result():
    assert seen(replace(RUN, text="3 passed")).result != seen(replace(RUN, text="4 passed")).result


def test_what_the_user_stopped_is_no_failure():
    row = seen(replace(RUN, interrupted=True))
    assert row.outcome is Outcome.UNKNOWN
    assert row.fingerprint is None
    assert not row.failing


def test_an_explicit_record_has_the_command_that_its_payload_names_and_keeps_its_place():
    record = Event(kind=EventKind.RESULT, text="KeyError: 'price'", explicit=True, place="src/cart.py")
    bare = seen(record)
    assert bare.explicit
    assert (bare.call, bare.command, bare.place) == ("", "", "src/cart.py")
    named = seen(replace(record, tool="Bash", command="pytest -q"))
    assert named.command == seen(replace(RUN, tool="Bash", command="pytest -q", input="")).command


def test_no_command_has_no_key():
    nothing = replace(RUN, command="", input="")
    assert (seen(nothing).call, seen(nothing).command) == ("", "")
    reply = replace(RUN, tool="", command="NO_ACTION(2 blocks): …", input="")
    assert (seen(reply).call, seen(reply).command) == ("", "")


def test_an_edit_by_its_path_alone_has_no_identity():
    path = replace(RUN, tool="Edit", command="src/cart.py", input="")
    whole = replace(path, input='{"file_path": "src/cart.py", "old_string": "a", "new_string": "b"}')
    assert seen(path, GOOD).call == ""
    assert seen(whole, GOOD).call != ""
    assert seen(path, GOOD).command == seen(whole, GOOD).command
    assert seen(path, GOOD).place == "src/cart.py"


@pytest.mark.parametrize(
    ("text", "complains"),
    [
        ("Traceback (most recent call last):\n  File …\nKeyError: 'price'", True),
        ("FAILURE: no such table", True),
        ("3 passed", False),
        ("0 failures", False),
        ("the text FAILED appears in a sentence", False),
    ],
)
def test_a_good_run_whose_output_shows_a_failure_complains(text: str, complains: bool):
    run = replace(RUN, command="python repro.py", input="", text=text)
    assert seen(run, GOOD).complains is complains
    assert not seen(replace(run, command="cat repro.log"), GOOD).complains
    assert not seen(run, FAILED).complains


@pytest.mark.parametrize(
    ("headline", "wanted"),
    [
        ("ValueError: bad price, as expected", True),
        ("raised expected ValueError", True),
        ("ValueError: unexpected error", False),
        ("SyntaxError: expected ':'", False),
        ("AssertionError: expected error: no", False),
    ],
)
def test_a_failure_that_says_it_was_expected_is_wanted(headline: str, wanted: bool):
    assert FAILED.fingerprint is not None
    diagnosis = replace(FAILED, fingerprint=replace(FAILED.fingerprint, headline=headline))
    assert seen(RUN, diagnosis).wanted is wanted


def test_a_pause_is_kept_in_microseconds():
    assert seen(replace(RUN, command="sleep 2 && gh run view 7", input=""), GOOD).pause == 2_000_000
