"""What every store must hold of the cycle: budget, leases, parking, facts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from failures import hooked, python, rust, told, typescript

from vlk2.app.consolidate import consolidate
from vlk2.app.tick import consolidate_leased
from vlk2.bootstrap import mint
from vlk2.domain.moments import DAY, HOUR, MINUTE
from vlk2.domain.states import Reason, State
from vlk2.errors import NotAllowed, Vlk2Error


def cycle(memory):
    """What a tick does, without its named lease: that one is measured by the server's clock."""
    memory.clock.pass_time(MINUTE)
    done = [
        consolidate_leased(
            memory.store,
            lease,
            clock=memory.clock,
            budget=memory.settings.token_budget,
            counter=memory.counter,
            mint=mint,
        )
        for lease in held(memory)
    ]
    return [one for one in done if one and (one.moved or one.cycle.scanned)]


def due(memory, most=50):
    """Leases what is due; its leases run out at once, so that a test need not wait."""
    now = memory.clock()
    return memory.store.lease_due("worker", now=now, until=now, most=most)


def held(memory, most=50):
    now = memory.clock()
    return memory.store.lease_due("worker", now=now, until=now + HOUR, most=most)


def run(memory, lease):
    return consolidate(
        memory.store,
        lease,
        clock=memory.clock,
        budget=memory.settings.token_budget,
        counter=memory.counter,
    )


def test_the_cycle_brings_the_context_within_the_budget_least_important_first(memory_of):
    memory = memory_of(token_budget=600)
    ids = [
        memory.record(told(python(f"name_{n}", file=f"a{n}.py"), command=f"python a{n}.py")).entry_id
        for n in range(20)
    ]
    assert memory.fetch_context().tokens <= 600
    (done,) = cycle(memory)
    assert done.cycle.tokens <= 600
    left = {entry_id for entry_id, reason in done.moved if reason == Reason.BUDGET}
    assert left
    assert ids[0] in left
    assert ids[-1] not in left
    with memory.store.read(memory.owner, memory.clock()) as timeline:
        live = timeline.in_state(State.PRESENT, 50) + timeline.in_state(State.FUTURE, 50)
        assert timeline.tokens == sum(entry.tokens for entry in live) <= 600


def test_a_second_cycle_finds_nothing_to_do(memory):
    for n in range(4):
        memory.record(told(rust(line=n + 1)))
    assert cycle(memory)
    assert cycle(memory) == []


def test_a_consolidation_run_twice_moves_nothing_twice(memory_of, backend):
    memory = memory_of(token_budget=600)
    for n in range(12):
        memory.record(told(python(f"name_{n}"), command=f"python {n}"))
    (lease,) = held(memory)
    run(memory, lease)
    moves = backend.rows("SELECT COUNT(*) FROM transitions")
    run(memory, lease)
    assert backend.rows("SELECT COUNT(*) FROM transitions") == moves


def test_a_leased_timeline_is_not_leased_again_before_its_lease_ends(memory):
    memory.record(told(rust()))
    assert len(held(memory)) == 1
    assert held(memory) == []


def test_an_expired_lease_can_be_taken_and_the_late_worker_is_refused(memory):
    memory.record(told(rust()))
    (late,) = due(memory)
    (taken,) = held(memory)
    assert taken.timeline_id == late.timeline_id
    assert taken.version > late.version
    with pytest.raises(NotAllowed):
        run(memory, late)
    assert run(memory, taken).cycle.owner == "worker"


def test_recording_goes_on_while_a_timeline_is_leased(memory):
    memory.record(told(rust()))
    (lease,) = held(memory)
    assert memory.record(told(rust(line=9))).repeats == 2
    assert run(memory, lease).cycle.scanned >= 1


def test_a_lease_names_only_what_changed_or_came_due(memory_of):
    memories = [memory_of(project=f"p{n}") for n in range(6)]
    for memory in memories:
        memory.record(told(rust()))
    for lease in held(memories[0]):
        run(memories[0], lease)
    assert held(memories[0]) == []
    memories[3].record(told(rust(line=4)))
    assert [memories[0].store.owner_of(lease.timeline_id) for lease in held(memories[0])] == [
        memories[3].owner
    ]


def test_at_most_so_many_timelines_are_leased_at_once(memory_of):
    memories = [memory_of(project=f"p{n}") for n in range(5)]
    for memory in memories:
        memory.record(told(rust()))
    assert [len(held(memories[0], most=2)) for _ in range(4)] == [2, 2, 1, 0]


def test_a_timeline_that_fails_five_times_is_parked_and_the_others_go_on(memory_of):
    poisoned, healthy = memory_of(project="poisoned"), memory_of(project="healthy")
    poisoned.record(told(rust()))
    healthy.record(told(rust()))
    store = poisoned.store
    failures = 0
    for _ in range(7):
        poisoned.clock.pass_time(2 * MINUTE)
        for lease in held(poisoned):
            if store.owner_of(lease.timeline_id) == poisoned.owner:
                failures += 1
                store.note_failure(lease, now=poisoned.clock(), retry_at=poisoned.clock(), most=5)
            else:
                run(healthy, lease)
        healthy.record(told(typescript(line=failures)))
    assert failures == 5
    assert [store.owner_of(lease.timeline_id) for lease in held(poisoned)] == [healthy.owner]
    assert poisoned.record(told(rust(line=7))).repeats == 2


def test_a_failure_noted_under_a_lost_lease_changes_nothing(memory):
    memory.record(told(rust()))
    (late,) = due(memory)
    (taken,) = held(memory)
    memory.store.note_failure(late, now=memory.clock(), retry_at=memory.clock(), most=1)
    assert run(memory, taken).cycle.scanned == 1


def test_a_success_after_failures_counts_them_anew(memory):
    memory.record(told(rust()))
    for round_ in range(3):
        for _ in range(4):
            memory.clock.pass_time(MINUTE)
            (lease,) = held(memory)
            memory.store.note_failure(lease, now=memory.clock(), retry_at=memory.clock(), most=5)
        memory.clock.pass_time(MINUTE)
        (lease,) = held(memory)
        run(memory, lease)
        memory.record(told(rust(line=round_ + 5)))
    assert len(held(memory)) == 1


def test_a_named_lease_has_one_holder_until_it_ends_or_is_given_back(memory):
    store, now = memory.store, memory.clock()
    first = store.take_lease("cycle", "a", now=now, until=now + HOUR)
    assert first is not None
    assert store.take_lease("cycle", "b", now=now, until=now + HOUR) is None
    store.drop_lease("cycle", "b", first)
    assert store.take_lease("cycle", "b", now=now, until=now + HOUR) is None
    store.drop_lease("cycle", "a", first)
    second = store.take_lease("cycle", "b", now=now, until=now)
    assert second is not None
    assert second > first
    store.drop_lease("cycle", "a", first)
    third = store.take_lease("cycle", "c", now=memory.clock(), until=memory.clock() + HOUR)
    assert third is not None
    assert third > second


def test_one_process_has_a_tick(memory_of):
    one, other = memory_of(), memory_of("bob")
    one.record(told(rust()))
    assert one.run_cycle() is not None
    assert other.run_cycle() is None


def test_what_the_budget_archived_comes_back_at_the_next_occurrence(memory_of):
    memory = memory_of(token_budget=500)
    for n in range(3):
        made = memory.record(told(rust(line=n + 1)))
    for n in range(3):
        for m in range(3):
            memory.record(told(python(f"n{n}", file=f"{n}{m}.py", line=m + 1), command=f"python {n}"))
    memory.clock.pass_time(20 * DAY)
    cycle(memory)
    with memory.store.read(memory.owner, memory.clock()) as timeline:
        assert timeline.entry(made.constraint.entry.id).state is State.PAST
        assert timeline.moves(made.constraint.entry)[-1].reason is Reason.BUDGET
    back = memory.record(told(rust(line=50)))
    assert back.constraint.entry.id == made.constraint.entry.id
    assert back.show
    assert back.repeats == 4


def test_what_is_stale_and_cited_by_nothing_is_forgotten_and_its_text_goes_after_the_grace(memory, backend):
    entry_id = memory.record(told(python("lonely_marker"), command="python x")).entry_id
    for days in (30, 30, 30):
        memory.clock.pass_time(days * DAY)
        cycle(memory)
    with memory.store.read(memory.owner, memory.clock()) as timeline:
        entry = timeline.entry(entry_id)
        assert entry.state is State.PURGED
    memory.clock.pass_time(15 * DAY)
    cycle(memory)
    with memory.store.read(memory.owner, memory.clock()) as timeline:
        assert timeline.entry(entry_id).content is None
    assert backend.rows("SELECT COUNT(*) FROM memory_contents") == [(0,)]


def test_a_loop_of_one_agent_becomes_a_fact_of_its_team_and_of_no_other(memory_of):
    ada, bob, rival = memory_of("ada"), memory_of("bob"), memory_of("eve", team="rivals")
    for n in range(3):
        ada.record(told(rust(line=n + 1)))
    cycle(ada)
    for other in (bob, rival):
        other.record(told(rust(line=8)))
    assert "1 agent" in bob.fetch_context().text
    assert "1 agent" not in rival.fetch_context().text
    assert any(i.startswith("f_") for i in bob.recall("E0277").ids)
    assert not any(i.startswith("f_") for i in rival.recall("E0277").ids)


def test_a_fact_counts_agents_once_and_a_revocation_against_it(memory_of, backend):
    ada, bob = memory_of("ada"), memory_of("bob")
    for memory in (ada, bob):
        for n in range(3):
            made = memory.record(told(rust(line=n + 1)))
        cycle(memory)
    facts = "SELECT loops, repeats, successes, agents FROM semantic_facts WHERE valid_to IS NULL"
    assert backend.rows(facts) == [(2, 6, 0, 2)]
    before = backend.rows("SELECT confidence FROM semantic_facts WHERE valid_to IS NULL")[0][0]
    bob.revoke(made.constraint.entry.id, "the cache")
    bob.recall("E0277")
    assert backend.rows(facts) == [(2, 6, 1, 2)]
    assert backend.rows("SELECT confidence FROM semantic_facts WHERE valid_to IS NULL")[0][0] < before
    assert backend.rows("SELECT COUNT(*) FROM fact_contradictions") == [(1,)]
    cycle(bob)
    assert backend.rows(facts) == [(2, 6, 1, 2)]


def test_a_hooked_session_of_many_failures_is_consolidated_in_one_cycle(memory):
    for n in range(40):
        memory.record(hooked(python(f"n{n % 7}", line=n), f"u{n}", command=f"python {n % 5}"))
    (done,) = cycle(memory)
    assert done.cycle.scanned >= 40
    with memory.store.read(memory.owner, memory.clock()) as timeline:
        assert timeline.last_cycle() == done.cycle
        assert timeline.uncounted() == []


def test_exact_counts_replace_upper_bounds_in_the_next_cycle(memory_of):
    class Bound:
        exact = False

        def count(self, text):
            return len(text.encode())

    rough, exact = memory_of(), memory_of()
    rough._counter = Bound()
    rough.record(told(rust()))
    with exact.store.read(exact.owner, exact.clock()) as timeline:
        before = timeline.tokens
    cycle(exact)
    with exact.store.read(exact.owner, exact.clock()) as timeline:
        assert 0 < timeline.tokens < before
        assert timeline.uncounted() == []


def test_a_cycle_that_fails_leaves_nothing_half_done(memory, backend):
    memory.record(told(rust()))
    (lease,) = held(memory)

    class Broken:
        exact = True

        def count(self, text):
            raise Vlk2Error("broken")

    rows = backend.rows("SELECT COUNT(*) FROM transitions")
    with memory.store.write(memory.owner, memory.clock()) as timeline:
        (entry,) = timeline.in_state(State.PRESENT, 5)
        timeline.set_tokens(entry, entry.tokens, counted=False)
    with pytest.raises(Vlk2Error):
        consolidate(memory.store, lease, clock=memory.clock, budget=8000, counter=Broken())
    assert backend.rows("SELECT COUNT(*) FROM cycles") == [(0,)]
    assert backend.rows("SELECT COUNT(*) FROM transitions") == rows
    assert run(memory, lease).cycle.scanned == 1


def test_the_lease_of_an_unknown_timeline_is_refused(memory):
    memory.record(told(rust()))
    (lease,) = held(memory)
    with pytest.raises(NotAllowed):
        run(memory, replace(lease, timeline_id=mint("l")))
    assert memory.store.owner_of(mint("l")) is None
