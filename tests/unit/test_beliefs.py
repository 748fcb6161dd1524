"""Claims about facts: how sure evidence makes, who is told, and on what ground it counts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlk2.domain.beliefs import (
    Evidence,
    Learned,
    confidence,
    pattern_of,
    pattern_text,
    seen_by,
    shareable,
    taken_in,
    unasked,
    warning,
)
from vlk2.domain.ending import edited_since, ended_by, kind_of_file
from vlk2.domain.grounds import compatible, moved
from vlk2.domain.observation import Act, Fingerprint, Outcome, Seen
from vlk2.domain.states import Reason

RUST = Fingerprint("rust", "E0277", "1:rust:E0277:abc", ("Ledger",), "", specific=True)


def evidence(pk, timeline, reason=Reason.LOOP, at=None, ended=""):
    return Evidence(pk, timeline, timeline, 1, pk, reason, ended, pk, at if at is not None else pk)


items = st.lists(
    st.builds(
        evidence,
        pk=st.integers(1, 10_000),
        timeline=st.integers(1, 5),
        reason=st.sampled_from([Reason.LOOP, Reason.LOOP, Reason.RETIRED, Reason.REVOKED]),
        at=st.integers(0, 1000),
        ended=st.sampled_from(["", "source", "dependency"]),
    ),
    max_size=30,
    unique_by=lambda e: e.pk,
)


def learned(*evidence):
    return Learned("f_x", RUST, 0, False, (), tuple(evidence))


def test_confidence_is_the_rule_of_succession():
    assert confidence(1, 0) == pytest.approx(2 / 3)
    assert confidence(1, 1) == pytest.approx(1 / 3)
    assert confidence(10, 1) == pytest.approx(10 / 12)


@given(loops=st.integers(0, 500), ended=st.integers(0, 500))
def test_confidence_rises_with_what_stands_and_falls_with_what_ended(loops, ended):
    assert 0 < confidence(loops, ended) < 1
    if ended < loops:
        assert confidence(loops + 1, ended) > confidence(loops, ended) > confidence(loops, ended + 1)


@given(given_items=items)
def test_the_order_of_arrival_does_not_matter_only_that_of_the_evidence(given_items):
    assert taken_in((), given_items) == taken_in((), given_items[::-1])


@given(given_items=items, cut=st.integers(0, 30))
def test_what_is_taken_in_at_once_or_in_two_parts_in_order_is_the_same(given_items, cut):
    ordered = sorted(given_items, key=lambda e: (e.at, e.pk))
    assert taken_in(taken_in((), ordered[:cut]), ordered[cut:]) == taken_in((), ordered)


@given(given_items=items)
def test_no_more_loops_end_than_there_were(given_items):
    for source in taken_in((), given_items):
        assert 0 <= source.successes <= source.loops


def test_one_loop_of_another_agent_warns_and_its_end_warns_no_more():
    one = evidence(1, timeline=1)
    assert warning(learned(one), asker=2) is not None
    assert warning(learned(one), asker=1) is None  # nobody is warned by its own loop
    assert warning(learned(one, evidence(2, 1, Reason.RETIRED)), asker=2) is None
    assert seen_by(learned(one, evidence(2, 1, Reason.RETIRED)), 2) is not None


def test_a_law_of_three_agents_survives_one_success_a_pair_does_not():
    loops = [evidence(n, timeline=n) for n in (1, 2, 3)]
    end = evidence(9, 1, Reason.RETIRED)
    assert warning(learned(*loops, end), asker=7) is not None
    assert warning(learned(*loops[:2], end), asker=7) is None


def test_unasked_only_after_loops_of_two_agents():
    one = seen_by(learned(evidence(1, 1)), 9)
    two = seen_by(learned(evidence(1, 1), evidence(2, 2)), 9)
    assert (unasked(one), unasked(two)) == (False, True)


def test_a_pattern_tells_what_is_for_it_and_what_is_against_it():
    sources = taken_in((), [evidence(1, 1), evidence(2, 2), evidence(3, 1, Reason.RETIRED, ended="source")])
    text = pattern_text(pattern_of("f_x", RUST, sources, repeats=9, pinned=False))
    assert "For it: looped twice for 2 agents (9 occurrences)" in text
    assert "Against it: 1 of those loops ended, by a change of source; 1 still stands." in text


@pytest.mark.parametrize(
    ("change", "shared"),
    [
        ({}, True),
        ({"signature": "1:rust:E0277:*"}, False),
        ({"transient": True}, False),
        ({"language": "call"}, False),
        ({"language": "agent"}, False),
    ],
)
def test_wildcards_transient_failures_repeated_calls_and_lessons_are_never_shared(change, shared):
    assert shareable(replace(RUST, **change)) is shared


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ({}, {}, True),
        ({"branch": "a", "head": "1"}, {"branch": "a", "head": "2"}, True),
        ({"branch": "a"}, {"branch": "b"}, False),
        ({"head": "1"}, {"head": "2"}, False),
        ({"branch": "a"}, {}, True),
        ({"branch": "a", "locks": "1"}, {"branch": "a", "locks": "2"}, True),
    ],
)
def test_another_branch_or_another_detached_commit_is_other_ground(before, after, same):
    assert compatible(json.dumps(before), json.dumps(after)) is same


def test_what_moved_is_what_both_sides_know_and_tell_differently():
    before = json.dumps({"branch": "a", "locks": "1", "toolchain": "t"})
    after = json.dumps({"branch": "a", "locks": "2", "head": "h"})
    assert moved(before, after) == {"locks"}
    assert moved("", "not json") == frozenset()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("Cargo.toml", "dependency"),
        ("web/package-lock.json", "dependency"),
        ("uv.lock", "dependency"),
        ("requirements-dev.txt", "dependency"),
        ("tests/test_ledger.py", "test"),
        ("src/ledger.test.ts", "test"),
        ("pkg/ledger_test.go", "test"),
        ("deploy/values.yaml", "config"),
        (".eslintrc", "config"),
        ("vite.config.ts", "config"),
        ("Makefile", "config"),
        ("src/ledger.rs", "source"),
        ("C:\\work\\src\\Ledger.cs", "source"),
    ],
)
def test_a_file_is_dependency_config_test_or_source(path, kind):
    assert kind_of_file(path) == kind


def test_of_several_changes_the_widest_is_named():
    assert ended_by(["src/a.rs", "Cargo.toml", "tests/a.rs"], ()) == "dependency"
    assert ended_by(["tests/a.rs", "src/a.rs"], ()) == "source"
    assert ended_by(["src/a.rs"], {"locks"}) == "dependency"
    assert ended_by([], {"head"}) == "source"
    assert ended_by([], {"toolchain"}) == "environment"
    assert ended_by([], ()) == "environment"


def test_only_edits_that_went_through_and_came_after_the_failure_count():
    def edit(seq, place, outcome=Outcome.SUCCESS, changes=True):
        return Seen(
            seq,
            seq,
            "1",
            "",
            False,
            Act.EDIT,
            "Edit",
            "",
            "",
            True,
            outcome,
            None,
            frozenset(),
            "",
            place,
            changes=changes,
        )

    window = [
        edit(1, "before.rs"),
        edit(3, "a.rs"),
        edit(4, "failed.rs", Outcome.FAILURE),
        edit(5, "looked.rs", changes=False),
        edit(6, "a.rs"),
    ]
    assert edited_since(window, after=2) == ("a.rs",)
