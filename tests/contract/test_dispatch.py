"""What every store must hold of dispatching: which timelines a tick leases, and what becomes of lost leases."""

from __future__ import annotations

import threading

import pytest
from failures import rust, told

from vlk2.app.dispatch import dispatch, last_tick, reconcile, relieve
from vlk2.app.enforce_budget import enforce_budget
from vlk2.app.tick import Dropped, Failed, consolidate_leased, enforce_leased
from vlk2.bootstrap import mint
from vlk2.domain.moments import HOUR, MINUTE, SECOND
from vlk2.domain.states import Reason
from vlk2.errors import NotAllowed, StoreFault, StoreUnavailable
from vlk2.ports import Backlog, Owner

PERIOD = 30 * SECOND


def tick(memory, worker="dispatcher", **more):
    return dispatch(memory.store, worker=worker, now=memory.clock(), period=PERIOD, **more)


def another_tick(memory, **more):
    """A tick of the next period, whatever the store's clock says."""
    now = memory.clock()
    memory.store.drop_lease(
        "cycle", "dispatcher", memory.store.take_lease("cycle", "x", now=now, until=now) or 0
    )
    return memory.store.lease_due("dispatcher", now=now, until=now + HOUR, most=more.get("most", 200))


def work(memory, lease):
    return consolidate_leased(
        memory.store,
        lease,
        clock=memory.clock,
        budget=memory.settings.token_budget,
        counter=memory.counter,
        mint=mint,
    )


def relieved(memory, lease):
    return enforce_leased(
        memory.store,
        lease,
        clock=memory.clock,
        budget=memory.settings.token_budget,
        counter=memory.counter,
    )


def filled(memory, entries=12):
    for n in range(entries):
        memory.record(told(f"the words of note {chr(97 + n)} are many: " + "word " * 100))


def many_timelines(backend, owner, number):
    """So many timelines of one agent with nothing to do, written beneath the port: it makes them one by one."""
    statement = (
        "INSERT INTO timelines (id, team, agent, project, created_at) "
        f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {number}) "
        f"SELECT 'l_' || i, t.team, t.agent, 'project ' || i, 0 FROM n, timelines t WHERE t.project = '{owner.project}'"
    )
    if backend.kind == "sqlite":
        import sqlite3

        with sqlite3.connect(backend.address.removeprefix("sqlite://")) as connection:
            connection.execute(statement)
    else:
        import psycopg

        with psycopg.connect(backend.address) as connection:
            connection.execute(statement)
            connection.execute("ANALYZE timelines")


def test_of_ten_thousand_timelines_a_tick_leases_exactly_those_that_changed(memory, backend):
    with memory.store.write(memory.owner, memory.clock()):
        pass
    many_timelines(backend, memory.owner, 10_000)
    changed = set(range(50, 10_001, 100))
    for n in changed:
        with memory.store.write(Owner("default", "ada", f"project {n}"), memory.clock()) as timeline:
            timeline.touch(memory.clock())
    leases = tick(memory)
    assert {lease.timeline_id for lease in leases} == {f"l_{n}" for n in changed}
    assert memory.store.backlog(memory.clock()).leased == len(changed) == 100


def test_two_dispatchers_at_once_lease_each_timeline_once(memory_of, backend):
    memories = [memory_of(project=f"p{n}") for n in range(12)]
    for memory in memories:
        memory.record(told(rust()))
    now, taken = memories[0].clock(), []
    both = threading.Barrier(2)

    def lease(name):
        store = backend.open()
        both.wait(30)
        taken.extend(store.lease_due(name, now=now, until=now + HOUR, most=200))

    threads = [threading.Thread(target=lease, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len({lease.timeline_id for lease in taken}) == 12


def test_a_second_tick_of_the_period_leases_nothing(memory):
    memory.record(told(rust()))
    assert len(tick(memory)) == 1
    memory.record(told(rust(line=5)))
    assert tick(memory, worker="second beat") is None


def test_the_time_of_the_last_tick_is_known_to_all(memory):
    assert last_tick(memory.store, PERIOD) is None
    before = memory.store.lease_until("cycle")
    tick(memory)
    assert before is None
    assert last_tick(memory.store, PERIOD) == memory.store.lease_until("cycle") - PERIOD * 9 // 10


def test_no_more_is_leased_at_a_time_than_can_be_done_before_it_runs_out(memory_of):
    memories = [memory_of(project=f"p{n}") for n in range(7)]
    for memory in memories:
        memory.record(told(rust()))
    first = memories[0]
    assert len(tick(first, most=3)) == 3
    assert first.store.backlog(first.clock()).leased == 3
    first.store.drop_lease("cycle", "dispatcher", 1)
    assert len(tick(first, most=3)) == 3
    first.store.drop_lease("cycle", "dispatcher", 2)
    assert tick(first, most=3) == []
    assert first.store.backlog(first.clock()).leased == 6


def test_a_timeline_over_its_budget_is_leased_between_ticks_and_stays_due(memory_of):
    full, spare = memory_of(project="full", token_budget=500), memory_of(project="spare")
    tick(full)
    filled(full)
    spare.record(told(rust()))
    (lease,) = relieve(full.store, worker="w", now=full.clock(), budget=500)
    assert full.store.owner_of(lease.timeline_id) == full.owner
    moved = relieved(full, lease)
    assert moved
    assert {reason for _, reason in moved} == {"budget"}
    with full.store.read(full.owner, full.clock()) as timeline:
        assert timeline.tokens <= 500
        assert timeline.last_cycle() is None
        assert not timeline.leased
    assert relieve(full.store, worker="w", now=full.clock(), budget=500) == []
    assert full.store.backlog(full.clock()).due == 2


def test_nothing_is_relieved_when_the_tick_itself_is_due(memory_of):
    full = memory_of(token_budget=500)
    filled(full)
    assert relieve(full.store, worker="w", now=full.clock(), budget=500) == []


def test_a_budget_under_a_lease_that_another_has_is_dropped(memory_of):
    full = memory_of(token_budget=500)
    filled(full)
    now = full.clock()
    (late,) = full.store.lease_due("gone", now=now, until=now, most=5)
    (held,) = full.store.lease_due("here", now=now, until=now + HOUR, most=5)
    assert relieved(full, late) == Dropped()
    with pytest.raises(NotAllowed):
        enforce_budget(full.store, late, now=now, budget=500, counter=full.counter)
    assert relieved(full, held)


def test_a_budget_may_follow_the_cycle_under_the_same_lease(memory_of):
    full = memory_of(token_budget=500)
    filled(full)
    (lease,) = tick(full)
    work(full, lease)
    filled(full, 20)
    assert relieved(full, lease)
    assert full.record(told(rust())).repeats == 1


def test_a_cycle_that_ran_twice_under_one_lease_has_one_row(memory, backend):
    memory.record(told(rust()))
    (lease,) = tick(memory)
    assert work(memory, lease).cycle.scanned == 1
    assert work(memory, lease).moved == ()
    assert backend.rows("SELECT COUNT(*) FROM cycles") == [(1,)]


@pytest.mark.parametrize("fault", [ZeroDivisionError(), StoreFault("a value is out of range")])
def test_a_failure_gives_the_timeline_back_and_parks_it_at_the_fifth(memory, monkeypatch, fault):
    import vlk2.app.tick

    def poisonous(*_, **__):
        raise fault

    memory.record(told(rust()))
    real = vlk2.app.tick.consolidate
    monkeypatch.setattr(vlk2.app.tick, "consolidate", poisonous)
    for turn in range(1, 8):
        leases = another_tick(memory)
        assert len(leases) == (1 if turn <= 5 else 0)
        for lease in leases:
            assert isinstance(work(memory, lease), Failed)
        memory.clock.pass_time(2 * MINUTE)
    assert memory.store.backlog(memory.clock()) == Backlog(0, None, 0, 1)
    monkeypatch.setattr(vlk2.app.tick, "consolidate", real)
    assert memory.record(told(rust(line=4))).repeats == 2


def test_a_store_that_is_away_is_no_failure_of_the_timeline(memory, monkeypatch):
    import vlk2.app.tick

    def away(*_, **__):
        raise StoreUnavailable("the database is restarting")

    memory.record(told(rust()))
    (lease,) = tick(memory)
    real = vlk2.app.tick.consolidate
    monkeypatch.setattr(vlk2.app.tick, "consolidate", away)
    for _ in range(6):
        with pytest.raises(StoreUnavailable):
            work(memory, lease)
    monkeypatch.setattr(vlk2.app.tick, "consolidate", real)
    assert memory.store.backlog(memory.clock()).parked == 0
    assert work(memory, lease).cycle.scanned == 1


def test_a_statement_that_the_store_refuses_is_told_from_a_store_that_is_away(memory):
    entry_id = memory.record(told(rust())).entry_id
    with memory.store.read(memory.owner, memory.clock()) as timeline:
        again = timeline.entry(entry_id)
    with pytest.raises(StoreFault), memory.store.write(memory.owner, memory.clock()) as timeline:
        timeline.add_entry(again, fingerprint=None, reason=Reason.RECORDED, actor="test")
    assert memory.record(told(rust(line=4))).repeats == 2


def test_a_delivery_that_was_lost_with_its_worker_counts_and_the_fifth_parks_the_timeline(memory):
    memory.record(told(rust()))
    (lease,) = tick(memory)
    stands = [memory.store.note_lost(lease, now=memory.clock(), most=5) for _ in range(6)]
    assert stands == [True, True, True, True, False, False]
    assert memory.store.backlog(memory.clock()) == Backlog(0, None, 0, 1)
    assert another_tick(memory) == []


def test_a_delivery_that_comes_again_after_the_work_was_done_counts_for_nothing(memory):
    memory.record(told(rust()))
    (lease,) = tick(memory)
    work(memory, lease)
    assert not memory.store.note_lost(lease, now=memory.clock(), most=1)
    assert memory.store.backlog(memory.clock()).parked == 0


def test_a_success_clears_what_lost_deliveries_had_counted(memory):
    for turn in range(3):
        memory.record(told(rust(line=turn + 1)))
        (lease,) = another_tick(memory)
        for _ in range(4):
            assert memory.store.note_lost(lease, now=memory.clock(), most=5)
        work(memory, lease)
    assert memory.store.backlog(memory.clock()).parked == 0


def test_a_lease_that_ran_out_is_freed_and_one_that_has_not_is_left(memory_of):
    gone, here = memory_of(project="gone"), memory_of(project="here")
    gone.record(told(rust()))
    now = gone.clock()
    assert len(gone.store.lease_due("dead", now=now, until=now, most=5)) == 1
    assert reconcile(gone.store, now=gone.clock()).freed == 1
    with gone.store.read(gone.owner, gone.clock()) as timeline:
        assert not timeline.leased
    here.record(told(rust()))
    assert len(another_tick(here)) == 2
    done = reconcile(here.store, now=here.clock())
    assert (done.freed, done.parked, done.backlog.leased) == (0, 0, 2)


def test_the_backlog_says_what_waits_and_since_when(memory_of):
    first, second = memory_of(project="first"), memory_of(project="second")
    assert first.store.backlog(first.clock()) == Backlog(0, None, 0, 0)
    first.record(told(rust()))
    at = first.clock.now
    second.record(told(rust()))
    backlog = first.store.backlog(first.clock())
    assert (backlog.due, backlog.leased, backlog.parked) == (2, 0, 0)
    assert backlog.oldest_due_at <= at
    for lease in another_tick(first):
        work(first, lease)
    assert first.store.backlog(first.clock()).due == 0


def test_evidence_that_could_not_be_distilled_comes_again_at_the_next_tick(memory):
    for n in range(3):
        memory.record(told(rust(line=n + 1)))
    now = memory.clock()
    assert memory.store.take_lease("team:default", "another", now=now, until=now + HOUR)
    (lease,) = another_tick(memory)
    assert work(memory, lease).evidence
    with memory.store.read(memory.owner, memory.clock()) as timeline:
        assert timeline.patterns(5) == []
    memory.store.drop_lease("team:default", "another", 1)
    (lease,) = another_tick(memory)
    work(memory, lease)
    with memory.store.read(memory.owner, memory.clock()) as timeline:
        assert len(timeline.patterns(5)) == 1
