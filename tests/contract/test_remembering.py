"""What every store must hold: recording, constraints, revoking, pins, time travel."""

from __future__ import annotations

import pytest
from failures import hooked, python, rust, throttled, told, typescript

from vlk2.domain.event import Event, EventKind
from vlk2.domain.moments import HOUR, MINUTE
from vlk2.domain.observation import Outcome
from vlk2.domain.states import TRANSITIONS, Reason, State
from vlk2.errors import InvalidInput, NotAllowed, NotFound


def loop(memory, make=rust, **named):
    """Three repeats in three files; the answer to the third."""
    return [memory.record(told(make(line=n + 3, **named))) for n in range(3)][-1]


def states(memory):
    with memory.store.read(memory.owner, memory.clock()) as timeline:
        return timeline.count_states()


def test_three_repeats_become_one_constraint_in_the_answer_to_the_third(memory):
    first, second = (
        memory.record(told(rust(file="invoice", line=3))),
        memory.record(told(rust(file="report"))),
    )
    third = memory.record(told(rust(file="export", line=90)))
    assert (first.repeats, second.repeats, third.repeats) == (1, 2, 3)
    assert not first.loop
    assert not second.loop
    assert third.loop
    assert third.text.startswith("[SYSTEM ANCHOR] error[E0277] has repeated 3 times.")
    assert third.constraint.entry.id in third.text
    assert memory.fetch_context().constraint_ids == (third.constraint.entry.id,)


def test_the_evidence_of_a_loop_goes_to_past_in_the_same_transaction(memory):
    loop(memory)
    assert states(memory) == {State.PAST: 3, State.FUTURE: 1}


def test_a_constraint_is_shown_at_three_six_and_twelve_and_repeats_go_straight_to_past(memory):
    loop(memory)
    shown = [n for n in range(4, 14) if memory.record(told(rust(line=n))).show]
    assert shown == [6, 12]
    assert states(memory) == {State.PAST: 13, State.FUTURE: 1}


def test_a_fresh_window_begins_after_a_constraint(memory):
    made = loop(memory)
    again = memory.record(told(rust()))
    assert again.constraint.entry.id == made.constraint.entry.id
    assert len(memory.fetch_context().constraint_ids) == 1


def test_a_failure_with_other_symbols_is_another_failure(memory):
    for name in ("foo_bar", "baz_qux"):
        for n in range(2):
            memory.record(hooked(python(name), f"{name}{n}", command="python ledger/totals.py"))
    assert not memory.fetch_context().constraint_ids


def test_different_codes_never_add_up(memory):
    for n in range(2):
        assert not memory.record(told(rust(line=n + 1))).loop
        assert not memory.record(told(typescript(line=n + 1), command="tsc")).loop
    assert memory.record(told(rust(line=9))).loop


def test_two_projects_never_mix(memory_of):
    ledger, shop = memory_of(project="ledger"), memory_of(project="shop")
    for n in range(2):
        assert not ledger.record(told(rust(line=n + 1))).loop
        assert not shop.record(told(rust(line=n + 1))).loop
    made = ledger.record(told(rust(line=9)))
    assert made.loop
    assert shop.fetch_context().constraint_ids == ()
    with pytest.raises(NotFound):
        shop.revoke(made.constraint.entry.id, "not mine")
    with pytest.raises(NotFound):
        shop.forget(made.entry_id, "not mine")


def test_two_agents_and_two_teams_never_mix(memory_of):
    mine = memory_of("ada")
    made = loop(mine)
    for other in (memory_of("bob"), memory_of("ada", team="rivals")):
        assert other.fetch_context().constraint_ids == ()
        with pytest.raises(NotFound) as of_another:
            other.pin(made.entry_id)
        with pytest.raises(NotFound) as of_nobody:
            other.pin("e_aaaaaaaaaaaa")
        same = of_another.value.message.replace(made.entry_id, "ID")
        assert same == of_nobody.value.message.replace("e_aaaaaaaaaaaa", "ID")


def test_a_revoked_constraint_needs_twice_the_evidence(memory):
    made = loop(memory)
    revoked = memory.revoke(made.constraint.entry.id, "the trait is there, the cache was stale")
    assert (revoked.state, revoked.threshold) == ("PAST", 6)
    closed = [n for n in range(1, 8) if memory.record(told(rust(line=n))).loop]
    assert closed[0] == 6
    again = memory.revoke(memory.fetch_context().constraint_ids[0], "stale again")
    assert again.threshold == 12


def test_a_constraint_is_revoked_once(memory):
    made = loop(memory)
    memory.revoke(made.constraint.entry.id, "wrong")
    with pytest.raises(NotAllowed):
        memory.revoke(made.constraint.entry.id, "wrong")


def test_pins_that_alone_would_pass_the_budget_are_refused_with_the_figures(memory_of):
    memory = memory_of(token_budget=2_000)
    ids = [memory.record(told(f"warning {n}: " + "word " * 100)).entry_id for n in range(4)]
    pinned: list[str] = []

    def pin_all() -> None:
        for entry_id in ids:
            memory.pin(entry_id)
            pinned.append(entry_id)

    with pytest.raises(NotAllowed) as refused:
        pin_all()
    assert 0 < len(pinned) < 4
    assert "2000" in refused.value.message
    memory.pin(ids[0], pinned=False)
    memory.pin(ids[len(pinned)])


def test_time_travel_archives_the_entries_and_keeps_the_lesson(memory):
    ids = [memory.record(told(typescript(line=n), command="tsc")).entry_id for n in range(2)]
    done = memory.time_travel(ids, "Casting to Price hides the error; the loader returns text.")
    assert done.archived == tuple(ids)
    assert states(memory) == {State.PAST: 2, State.FUTURE: 1}
    shown = memory.fetch_context()
    assert shown.constraint_ids == (done.constraint_id,)
    assert "the loader returns text" in shown.text


def test_time_travel_with_one_unknown_id_changes_nothing(memory):
    known = memory.record(told(rust())).entry_id
    with pytest.raises(NotFound):
        memory.time_travel([known, "e_aaaaaaaaaaaa"], "nothing of this")
    assert states(memory) == {State.PRESENT: 1}


def test_a_lesson_has_at_most_five_hundred_characters(memory):
    known = memory.record(told(rust())).entry_id
    with pytest.raises(InvalidInput):
        memory.time_travel([known], "x" * 501)


def test_a_success_of_the_same_command_retires_the_constraint(memory):
    for n in range(3):
        made = memory.record(hooked(rust(line=n + 1), f"u{n}"))
    assert made.loop
    ok = Event(
        EventKind.RESULT,
        client="claude-code",
        session="s1",
        worktree="/w",
        use_id="u9",
        tool="Bash",
        command="cargo check",
        text="Finished",
        is_error=False,
        exit_code=0,
    )
    ended = memory.record(ok)
    assert ended.outcome is Outcome.SUCCESS
    assert ended.retired == (made.constraint.entry.id,)
    assert memory.fetch_context().constraint_ids == ()


def test_a_second_report_of_one_event_adds_nothing(memory):
    first = memory.record(hooked(rust(), "u1"))
    again = memory.record(hooked(rust(), "u1"))
    assert again.duplicate
    assert again.entry_id == first.entry_id
    assert states(memory) == {State.PRESENT: 1}


def test_a_record_of_what_a_hook_has_just_recorded_is_not_counted_twice(memory):
    first = memory.record(hooked(rust(), "u1"), source="hook")
    told_too = memory.record(told(rust()))
    assert told_too.duplicate
    assert told_too.entry_id == first.entry_id
    memory.clock.pass_time(11 * MINUTE)
    memory.record(hooked(rust(line=40), "u2"), source="hook")
    memory.clock.pass_time(11 * MINUTE)
    assert not memory.record(told(rust(line=41))).duplicate


def test_a_transient_constraint_lapses_after_half_an_hour(memory):
    for n in range(3):
        made = memory.record(told(throttled(n), command="curl https://api.example.test"))
    assert made.loop
    assert made.constraint.expires_at
    memory.clock.pass_time(HOUR)
    assert memory.fetch_context().constraint_ids == ()
    assert not memory.record(told(rust())).loop
    assert states(memory).get(State.FUTURE) is None


def test_a_run_goes_on_from_the_run_of_its_worktree_that_had_ended(memory):
    for n in range(2):
        memory.record(hooked(rust(line=n + 1), f"a{n}", session="monday"))
    memory.clock.pass_time(31 * MINUTE)
    assert memory.record(hooked(rust(line=7), "b1", session="tuesday")).loop


def test_runs_that_overlap_share_constraints_and_never_counts(memory):
    for n in range(2):
        memory.record(hooked(rust(line=n + 1), f"a{n}", session="left"))
        assert not memory.record(hooked(rust(line=n + 1), f"b{n}", session="right")).loop
    made = memory.record(hooked(rust(line=7), "a7", session="left"))
    assert made.loop
    assert memory.record(hooked(rust(line=8), "b8", session="right")).constraint.entry.id == (
        made.constraint.entry.id
    )


def test_text_that_no_database_likes_comes_back_normalised(memory):
    text = "error: nul \x00, lone \ud800, crlf\r\nand \x1b[31mred\x1b[0m, 😀 and é"
    entry_id = memory.record(told(text, command="make \x00 all")).entry_id
    with memory.store.read(memory.owner, memory.clock()) as timeline:
        entry = timeline.entry(entry_id)
        body = timeline.body(entry.content)
        head, tail, length = timeline.excerpt(entry.content, 7, 5)
    assert body == "error: nul ␀, lone �, crlf\nand red, 😀 and é"
    assert entry.command == "make ␀ all"
    assert (head, tail, length) == (body[:7], body[-5:], len(body))


def test_equal_texts_are_stored_once_however_often_they_come(memory_of, backend):
    for owner in (memory_of("ada"), memory_of("bob"), memory_of("ada", "shop")):
        for _ in range(2):
            owner.record(told(rust()))
    assert backend.rows("SELECT COUNT(*) FROM memory_contents") == [(1,)]
    assert backend.rows("SELECT COUNT(*) FROM fingerprints") == [(1,)]


def test_a_store_opened_again_has_the_same_key_and_the_same_memory(memory_of, backend):
    made = loop(memory_of())
    first, second = backend.open(), backend.open(migrate=False)
    assert first.digest("x") == second.digest("x") != first.digest("y")
    assert memory_of().fetch_context().constraint_ids == (made.constraint.entry.id,)


def test_an_error_in_the_middle_rolls_everything_back(memory):
    memory.record(told(rust()))

    def fail() -> None:
        with memory.store.write(memory.owner, memory.clock()) as timeline:
            (entry,) = timeline.in_state(State.PRESENT, 5)
            timeline.move(entry, State.PAST, Reason.STALE, actor="test", at=1)
            timeline.add_content("d" * 32, "half made")
            timeline.next_seq()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with memory.store.read(memory.owner, memory.clock()) as timeline:
        assert timeline.count_states() == {State.PRESENT: 1}
        assert timeline.last_seq() == 1
        assert len(timeline.moves(timeline.in_state(State.PRESENT, 5)[0])) == 1
    assert memory.record(told(rust(line=9))).repeats == 2


def test_transitions_outside_the_table_are_refused_and_leave_no_trace(memory):
    entry_id = memory.record(told(rust())).entry_id
    with memory.store.write(memory.owner, memory.clock()) as timeline:
        entry = timeline.entry(entry_id)
        for target in State:
            for reason in Reason:
                if reason not in TRANSITIONS.get((entry.state, target), ()):
                    with pytest.raises(NotAllowed):
                        timeline.move(entry, target, reason, actor="test", at=1)
        assert timeline.entry(entry_id).state is State.PRESENT
        assert [m.target for m in timeline.moves(entry)] == [State.PRESENT]


def test_every_move_stands_in_the_audit_trail_with_reason_and_actor(memory):
    made = loop(memory)
    memory.revoke(made.constraint.entry.id, "a misdiagnosis: the build cache")
    with memory.store.read(memory.owner, memory.clock()) as timeline:
        moves = timeline.moves(timeline.entry(made.constraint.entry.id))
        evidence = timeline.moves(timeline.entry(made.entry_id))
    assert [(m.source, m.target, m.reason) for m in moves] == [
        (State.NEW, State.FUTURE, Reason.LOOP),
        (State.FUTURE, State.PAST, Reason.REVOKED),
    ]
    assert moves[-1].detail == "a misdiagnosis: the build cache"
    assert moves[-1].actor == "agent ada"
    assert [(m.source, m.target) for m in evidence] == [
        (State.NEW, State.PRESENT),
        (State.PRESENT, State.PAST),
    ]


def test_one_live_constraint_for_a_timeline_and_a_failure(memory):
    """The database itself refuses a second one, whatever the program believes."""
    from dataclasses import replace

    from vlk2.errors import Vlk2Error

    made = loop(memory).constraint

    def add_another() -> None:
        with memory.store.write(memory.owner, memory.clock()) as timeline:
            pk = timeline.add_fingerprint(made.entry.fingerprint)
            timeline.add_entry(
                replace(made.entry, id="e_second"), fingerprint=pk, reason=Reason.LOOP, actor="test"
            )

    with pytest.raises(Vlk2Error):
        add_another()
    assert states(memory)[State.FUTURE] == 1
