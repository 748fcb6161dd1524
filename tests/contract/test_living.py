"""What every store must hold of erasing, restoring, explaining, and of facts that newer evidence contradicts."""

from __future__ import annotations

from dataclasses import replace

from failures import hooked, python, rust, throttled, told

from vlk2.app.erase import Selection
from vlk2.app.tick import consolidate_leased
from vlk2.bootstrap import mint
from vlk2.domain.moments import DAY, MINUTE
from vlk2.domain.states import State

NAME = "Wilhelmina_Quux"


def cycle(memory):
    """What a tick does, without its named lease: that one is measured by the server's clock."""
    memory.clock.pass_time(MINUTE)
    now = memory.clock()
    for lease in memory.store.lease_due("test", now=now, until=now + MINUTE, most=50):
        consolidate_leased(
            memory.store,
            lease,
            clock=memory.clock,
            budget=memory.settings.token_budget,
            counter=memory.counter,
            mint=mint,
        )


def loop(memory, make=rust, command="cargo check", **named):
    return [
        memory.record(
            hooked(make(line=n + 3, **named), f"{memory.owner.agent}{n}{command}", command), source="hook"
        )
        for n in range(3)
    ][-1]


def succeed(memory, command="cargo check"):
    event = hooked("", f"ok {memory.clock()}", command, is_error=False, exit_code=0)
    return memory.record(replace(event, text="ok"), source="hook")


def test_an_erased_match_is_nowhere_in_the_store_and_another_teams_text_stays(memory_of, backend):
    ada, bob, rival = memory_of("ada"), memory_of("bob", "shop"), memory_of("eve", team="rivals")
    for memory in (ada, bob):
        loop(memory, python, f"python pay.py {NAME}", name=NAME)
        cycle(memory)
        memory.recall(NAME)
    other = rival.record(told(python("Somebody_Else"), "python z.py"))
    assert backend.holds(NAME)
    done = ada.erase(Selection(match=NAME), "asked for")
    assert done.entries == 8
    assert done.constraints == 2
    assert not backend.holds(NAME)
    assert not backend.holds(NAME.lower())
    assert backend.holds("Somebody_Else")
    assert rival.fetch_context().entry_ids == (other.entry_id,)
    assert ada.erase(Selection(match=NAME), "again").entries == 0


def test_a_forgotten_symbol_is_gone_with_its_log(memory, backend):
    entry_id = memory.record(told(python(NAME), "python pay.py")).entry_id
    memory.recall(NAME)
    memory.forget(entry_id, "holds a name")
    assert not backend.holds(NAME)


def test_an_entry_that_the_cycle_forgot_is_restored_within_its_grace(memory):
    entry_id = memory.record(told(python(NAME), "python pay.py")).entry_id
    for days in (0, 5, 20):
        memory.clock.pass_time(days * DAY)
        cycle(memory)
    assert memory.status().states == {State.PURGED: 1}
    assert memory.restore(entry_id).state == "PAST"
    assert memory.recall(NAME).ids == (entry_id,)


def test_a_success_rewrites_the_fact_before_the_next_recall_by_anybody(memory_of, backend):
    ada, bob, eve = memory_of("ada"), memory_of("bob"), memory_of("eve")
    made = loop(ada)
    cycle(ada)
    assert bob.record(told(rust(), "cargo check")).learned is not None
    succeed(ada)
    assert "Against it: 1 of that loop ended" in bob.recall("E0277").text
    rows = backend.rows(
        "SELECT loops, successes, valid_to IS NULL, successor IS NULL FROM semantic_facts ORDER BY pk"
    )
    assert [tuple(map(int, row)) for row in rows] == [(1, 0, 0, 0), (1, 1, 1, 1)]
    assert backend.rows("SELECT COUNT(*) FROM fact_pending") == [(0,)]
    assert eve.record(told(rust(), "cargo check")).learned is None
    story = ada.explain(made.constraint.entry.id)
    assert len(story.parts["beliefs"]) == 2
    assert len(story.parts["contradictions"]) == 1
    assert story.parts["transitions"][-1]["reason"] == "retired"


def test_an_incident_counts_agents_of_the_team_and_no_others(memory_of):
    def stuck(memory):
        return [
            memory.record(
                hooked(throttled(n), f"{memory.owner.agent}{n}", "curl https://api.example.test"),
                source="hook",
            )
            for n in range(3)
        ][-1]

    for agent in ("a", "b", "c"):
        stuck(memory_of(agent))
    late, rival = memory_of("late"), memory_of("late", team="rivals")
    event = hooked(throttled(9), "x", "curl https://api.example.test")
    assert late.record(event, source="hook").learned.agents == 3
    assert rival.record(event, source="hook").learned is None


def test_a_rehearsal_leaves_no_trace(memory):
    entry_id = memory.record(told(python(), "python a.py")).entry_id
    cycle(memory)
    memory.clock.pass_time(5 * DAY)
    (rehearsed,) = memory.rehearse_cycle()
    assert rehearsed.moved == ((entry_id, "stale"),)
    assert memory.status().states == {State.PRESENT: 1}


def test_a_fix_is_kept_with_its_constraint(memory):
    class Disk:
        body = "a\nb\n"

        def text(self, path: str) -> str | None:
            return self.body

        def masked(self, text: str) -> str:
            return text

    disk = Disk()
    for n in range(3):
        event = hooked(rust(line=n), f"u{n}", place="src/invoice.rs")
        made = memory.record(event, source="hook", files=disk)
    disk.body = "a\nc\n"
    ok = replace(hooked("", "u9", is_error=False, exit_code=0), text="ok")
    assert memory.record(ok, source="hook", files=disk).retired == (made.constraint.entry.id,)
    assert memory.show_fix(made.constraint.entry.id).diff.split("\n")[-2:] == ["-b", "+c"]
