"""How a memory lives: constraints that stop holding, misdiagnoses, what a team shares, what ends a loop."""

from __future__ import annotations

import json

import pytest
from failures import python, rust, throttled, typescript
from lives import World, state_of

from vlk2.domain.moments import DAY, HOUR, MINUTE
from vlk2.domain.states import Reason, State
from vlk2.errors import NotAllowed, NotFound


@pytest.fixture
def world() -> World:
    return World()


def loop(world, memory, make=rust, **more):
    return [world.fails(memory, make(line=n + 3), **more) for n in range(3)][-1].constraint


def the_key(timeline):
    """The key of the one failure that the team has a fact of."""
    (pattern,) = timeline.patterns(5)
    return pattern.fingerprint.key


def test_the_story_of_a_stale_constraint(world):
    ada, bob, eve = world.memory("ada"), world.memory("bob"), world.memory("eve")
    made = loop(world, ada)
    world.cycle(ada)
    assert "What the team learned" in world.fails(bob, rust()).text
    (before,) = world.inside(ada, lambda t: t.patterns(5))

    ended = world.succeeds(ada)  # its cause is fixed
    assert ended.retired == (made.entry.id,)
    assert ada.fetch_context().constraint_ids == ()

    told = bob.recall("E0277").text  # no cycle between, and by another agent
    assert "For it: looped once for 1 agent" in told
    assert "Against it: 1 of that loop ended" in told
    (after,) = world.inside(ada, lambda t: t.patterns(5))
    assert (before.confidence, after.confidence) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    old, new = world.inside(ada, lambda t: t.beliefs(the_key(t)))
    assert (old.id, old.successor, old.valid_to is not None) == (before.id, new.id, True)
    assert (new.id, new.valid_to) == (after.id, None)

    assert world.fails(eve, rust()).learned is None  # the third party is not warned
    assert "What the team learned" not in eve.fetch_context().text


def test_a_third_party_is_not_warned_although_nobody_rewrote_the_fact(world):
    """The success stands in another timeline, and neither a cycle nor a recall has looked at it."""
    ada, eve = world.memory("ada"), world.memory("eve")
    loop(world, ada)
    world.cycle(ada)
    world.succeeds(ada)
    assert world.fails(eve, rust()).learned is None
    assert "team learned" not in eve.fetch_context().text


def test_recall_tells_the_truth_while_another_worker_holds_the_lease_of_the_team(world):
    ada = world.memory("ada")
    loop(world, ada)
    world.cycle(ada)
    world.succeeds(ada)
    now = world.clock()
    assert world.store.take_lease("team:default", "somebody", now=now, until=now + HOUR)
    assert "Against it: 1 of that loop ended" in ada.recall("E0277").text
    assert world.inside(ada, lambda t: t.patterns(5))[0].successes == 0


def test_one_success_does_not_refute_a_law(world):
    agents = [world.memory(f"agent{n}") for n in range(4)]
    for agent in agents:
        loop(world, agent)
    world.cycle(agents[0])
    world.succeeds(agents[0])
    warned = world.fails(world.memory("newcomer"), rust()).learned
    assert warned is not None
    assert (warned.loops, warned.successes, warned.others) == (4, 1, 3)
    assert warned.confidence == pytest.approx(4 / 6)


def test_an_agent_whose_own_loop_ended_is_not_warned_of_it_by_the_loops_of_others(world):
    agents = [world.memory(f"agent{n}") for n in range(4)]
    for agent in agents:
        loop(world, agent)
    world.succeeds(agents[0])
    assert world.fails(agents[0], rust()).learned is None


def test_the_story_of_a_misdiagnosis(world):
    ada = world.memory("ada")
    first = loop(world, ada)
    ada.revoke(first.entry.id, "the cache was stale, not the code")
    quiet = [world.fails(ada, rust(line=n)) for n in range(5)]
    assert not any(done.loop for done in quiet)
    again = world.fails(ada, rust(line=9))
    assert again.loop
    assert again.closed.repeats == 6
    story = ada.explain(again.constraint.entry.id)
    assert "6 occurrences" in story.text
    old = ada.explain(first.entry.id).text
    assert "withdrawn as a misdiagnosis" in old
    assert "the cache was stale" in old


def test_a_revocation_speaks_against_the_fact(world):
    ada = world.memory("ada")
    made = loop(world, ada)
    world.cycle(ada)
    ada.revoke(made.entry.id, "a misdiagnosis")
    ada.recall("E0277")
    assert world.inside(ada, lambda t: t.patterns(5))[0].confidence == pytest.approx(1 / 3)
    against = world.inside(ada, lambda t: t.contradictions(the_key(t)))
    assert [c.resolution.partition(";")[0] for c in against] == ["revoked"]


def test_a_success_on_another_branch_retires_nothing(world):
    ada = world.memory("ada")
    made = loop(world, ada, stamps=json.dumps({"branch": "main", "head": "a1"}))
    assert world.succeeds(ada, stamps=json.dumps({"branch": "spike", "head": "b2"})).retired == ()
    assert ada.fetch_context().constraint_ids == (made.entry.id,)
    after = world.succeeds(ada, stamps=json.dumps({"branch": "main", "head": "c3"}))
    assert after.retired == (made.entry.id,)


@pytest.mark.parametrize(
    ("edited", "before", "after", "kind"),
    [
        ("src/lib.rs", {}, {}, "source"),
        ("Cargo.toml", {}, {}, "dependency"),
        ("tests/ledger.rs", {}, {}, "test"),
        ("config/app.yaml", {}, {}, "config"),
        (
            "",
            {"branch": "m", "locks": "Cargo.lock:1"},
            {"branch": "m", "locks": "Cargo.lock:2"},
            "dependency",
        ),
        ("", {"branch": "m", "toolchain": "rust:1"}, {"branch": "m", "toolchain": "rust:2"}, "environment"),
        ("", {}, {}, "environment"),
    ],
)
def test_what_ended_a_loop_is_told_by_what_changed(world, edited, before, after, kind):
    ada = world.memory("ada")
    made = loop(world, ada, stamps=json.dumps(before))
    if edited:
        world.edits(ada, edited)
    world.succeeds(ada, stamps=json.dumps(after))
    ada.recall("E0277")
    world.cycle(ada)
    (pattern,) = world.inside(ada, lambda t: t.patterns(5))
    assert pattern.ended == kind
    assert f"what changed: {kind}" in ada.explain(made.entry.id).text


def test_an_edit_before_the_last_failure_did_not_end_it(world):
    ada = world.memory("ada")
    loop(world, ada)
    world.edits(ada, "src/lib.rs")
    world.fails(ada, rust(line=30))
    world.succeeds(ada)
    world.cycle(ada)
    assert world.inside(ada, lambda t: t.patterns(5))[0].ended == "environment"


def test_the_next_constraint_of_a_failure_says_that_it_once_ended_and_when(world):
    ada = world.memory("ada")
    loop(world, ada)
    world.edits(ada, "src/lib.rs")
    world.succeeds(ada)
    world.pass_time(3 * DAY)
    again = [world.fails(ada, rust(line=n)) for n in range(3)][-1]
    assert again.loop
    assert "It once ended, 2024-10-04" in again.text
    assert "cargo check" in again.text.partition("It once ended")[2]
    assert "What had changed before: source." in again.text


def test_a_pinned_constraint_that_is_contradicted_stays_and_says_so(world):
    ada = world.memory("ada")
    made = loop(world, ada)
    ada.pin(made.entry.id)
    assert world.succeeds(ada).retired == ()
    shown = ada.fetch_context()
    assert shown.constraint_ids == (made.entry.id,)
    assert "Contradicted: a success of" in shown.text
    assert "Do not retry" not in shown.text
    back = world.fails(ada, rust(line=40)).constraint
    assert back.entry.id == made.entry.id
    assert "It once ended" in ada.fetch_context().text
    assert "Contradicted" not in ada.fetch_context().text


class Disk:
    """Files of a workspace that a test holds."""

    def __init__(self, **files: str) -> None:
        self.files = {name.replace("__", "/").replace("_rs", ".rs"): text for name, text in files.items()}

    def text(self, path: str) -> str | None:
        return self.files.get(path)

    def masked(self, text: str) -> str:
        return text.replace("hunter2", "***")


def test_the_fix_trail_keeps_what_had_changed_since_the_first_failure(world):
    ada = world.memory("ada")
    disk = Disk(src__lib_rs="fn total() {}\nlet password = 1;\n")
    made = None
    for n in range(3):
        made = world.fails(ada, rust(line=n), files=disk).constraint
        disk.files["src/lib.rs"] = f"fn total() {{}}\nlet password = {n + 2};\n"
        world.edits(ada, "src/lib.rs", f"password = {n + 1};", f"password = {n + 2};", files=disk)
    disk.files["src/lib.rs"] = "#[derive(Serialize)]\nfn total() {}\nlet password = 4;\n"
    world.edits(ada, "src/lib.rs", "fn total", "#[derive(Serialize)]\nfn total", files=disk)
    ended = world.succeeds(ada, files=disk)
    assert ended.retired == (made.entry.id,)
    fix = ada.show_fix(made.entry.id)
    assert fix.kind == "source"
    assert "+#[derive(Serialize)]" in fix.diff
    assert "-let password = 1;" in fix.diff  # since the first failure, not since the last
    assert "+let password = 4;" in fix.diff
    again = [world.fails(ada, rust(line=n), files=disk) for n in range(3)][-1]
    assert f"`vlk2 show-fix {made.entry.id}`" in again.text
    assert ada.show_fix(again.constraint.entry.id).diff == fix.diff


def test_a_fix_is_masked_and_never_another_agents(world):
    ada, bob = world.memory("ada"), world.memory("bob")
    disk = Disk(src__lib_rs="let x = 2;\n")
    made = None
    for n in range(3):
        made = world.fails(ada, rust(line=n), files=disk).constraint
        world.edits(ada, "src/lib.rs", 'let key = "hunter2";', "let x = 2;", files=disk)
    world.succeeds(ada, files=disk)
    assert "hunter2" not in ada.show_fix(made.entry.id).diff
    assert "***" in ada.show_fix(made.entry.id).diff
    with pytest.raises(NotFound):
        bob.show_fix(made.entry.id)


def test_without_files_at_hand_there_is_no_fix_and_that_is_said(world):
    ada = world.memory("ada")
    made = loop(world, ada)
    world.succeeds(ada)
    with pytest.raises(NotFound) as told:
        ada.show_fix(made.entry.id)
    assert "no fix is kept" in told.value.message


def test_a_loop_of_one_agent_is_told_to_another_that_has_just_met_the_failure_and_only_then(world):
    ada, bob, rival = world.memory("ada"), world.memory("bob"), world.memory("eve", team="rivals")
    loop(world, ada)
    assert "team learned" not in bob.fetch_context().text
    first = world.fails(bob, rust(file="other", line=77))
    assert first.learned is not None
    assert "1 agent" in first.text
    assert "team learned" in bob.fetch_context().text
    assert world.fails(bob, rust(file="other", line=78)).learned is None  # said once
    assert world.fails(rival, rust()).learned is None


def test_what_is_told_of_another_agents_loop_holds_nothing_of_its_log_file_or_command(world):
    ada, bob = world.memory("ada"), world.memory("bob")
    for n in range(3):
        world.fails(ada, rust(file="secret_plan", line=n + 100), command="cargo check --features ada")
    told = world.fails(bob, rust(file="mine"), command="cargo build").text.partition("What the team learned")[
        2
    ]
    assert "E0277" in told
    for word in ("secret_plan", "features", "serde_json", "ada"):
        assert word not in told


def test_a_transient_failure_spreads_only_as_an_incident_of_three_agents_within_an_hour(world):
    agents = [world.memory(f"agent{n}") for n in range(4)]
    curl = "curl https://api.example.test"

    def stuck(agent):
        return [world.fails(agent, throttled(n), command=curl) for n in range(3)][-1]

    for agent in agents[:2]:
        assert stuck(agent).loop
    assert world.fails(agents[3], throttled(2), command=curl).learned is None
    stuck(agents[2])
    told = world.fails(world.memory("late"), throttled(2), command=curl)
    assert "holds up 3 agents" in told.text
    world.pass_time(2 * HOUR)
    assert world.fails(world.memory("later"), throttled(2), command=curl).learned is None


def test_transient_wildcard_and_lesson_constraints_make_no_fact(world):
    ada = world.memory("ada")
    for n in range(3):
        world.fails(ada, throttled(n), command="curl https://api.example.test")
    for name in ("A", "B", "C"):
        world.tells(ada, rust(trait=name))
    entry = world.tells(ada, typescript(), command="tsc").entry_id
    ada.time_travel([entry], "casting hides it")
    kinds = {c.entry.fingerprint.type for c in world.inside(ada, lambda t: t.constraints())}
    assert len(kinds) == 3
    world.cycle(ada)
    assert world.inside(ada, lambda t: t.patterns(5)) == []


def test_a_constraint_that_the_budget_archived_returns_at_the_next_occurrence_of_its_failure():
    world = World(token_budget=500)
    ada = world.memory("ada")
    first = loop(world, ada)
    for name in ("load", "save", "merge", "split"):
        world.pass_time(DAY)
        for n in range(3):
            world.fails(ada, python(name, line=n), command=f"python {name}.py")
    world.cycle(ada)
    assert world.inside(ada, lambda t: state_of(t, first.entry.id)) == "PAST"
    assert world.inside(ada, lambda t: t.tokens) <= 500
    back = world.fails(ada, rust(line=50))
    assert back.constraint.entry.id == first.entry.id
    assert back.show
    moves = world.inside(ada, lambda t: t.moves(t.entry(first.entry.id)))
    assert [m.reason for m in moves] == [Reason.LOOP, Reason.BUDGET, Reason.RETURNED]


def test_an_entry_goes_stale_is_forgotten_can_be_restored_and_is_at_last_collected(world):
    ada = world.memory("ada")
    entry_id = world.tells(ada, python()).entry_id
    world.cycle(ada)
    world.pass_time(5 * DAY)
    world.cycle(ada)
    assert world.inside(ada, lambda t: state_of(t, entry_id)) == "PAST"
    world.pass_time(20 * DAY)
    world.cycle(ada)
    assert world.inside(ada, lambda t: state_of(t, entry_id)) == "PURGED"
    assert "kept for 14 days" in ada.explain(entry_id).text
    assert ada.restore(entry_id).state == "PAST"
    assert "foo_bar" in ada.recall("foo_bar").text
    with pytest.raises(NotAllowed):
        ada.restore(entry_id)
    for _ in range(3):  # forgotten once more, and then its grace passes
        world.pass_time(40 * DAY)
        world.cycle(ada)
    with pytest.raises(NotAllowed) as gone:
        ada.restore(entry_id)
    assert "grace of 14 days is over" in gone.value.message
    body = world.inside(ada, lambda t: t.entry(entry_id).content)
    assert body is None
    assert len(world.inside(ada, lambda t: t.tombstones(t.entry(entry_id)))) == 2


def test_what_is_pinned_or_cited_is_not_forgotten_however_old(world):
    ada = world.memory("ada")
    pinned = world.tells(ada, python()).entry_id
    ada.pin(pinned)
    made = loop(world, ada, session="s9")
    for _ in range(6):
        world.pass_time(60 * DAY)
        world.cycle(ada)
    assert world.inside(ada, lambda t: state_of(t, pinned)) == "PRESENT"
    evidence = world.inside(ada, lambda t: t.evidence_entries(made.entry))
    assert {entry.state for entry in evidence} == {State.PAST}
    with pytest.raises(NotAllowed):
        ada.forget(pinned, "no longer needed")


def test_the_cycle_leaves_a_row_with_what_it_moved_and_why(world):
    ada = world.memory("ada")
    entry_id = world.tells(ada, python()).entry_id
    world.cycle(ada)
    world.pass_time(5 * DAY)
    (done,) = world.cycle(ada)
    assert done.moved == ((entry_id, "stale"),)
    row = ada.status().last_cycle
    assert (row.scanned, row.archived, row.forgotten) == (1, 1, 0)
    assert json.loads(row.moved) == [[entry_id, "stale"]]
    assert row.ended_at >= row.started_at


def test_a_rehearsal_tells_what_would_move_and_changes_nothing(world):
    ada = world.memory("ada")
    entry_id = world.tells(ada, python()).entry_id
    world.cycle(ada)
    world.pass_time(5 * DAY)
    (told,) = ada.rehearse_cycle()
    assert told.moved == ((entry_id, "stale"),)
    assert world.inside(ada, lambda t: state_of(t, entry_id)) == "PRESENT"
    assert world.inside(ada, lambda t: len(t.moves(t.entry(entry_id)))) == 1
    (done,) = world.cycle(ada)
    assert done.moved == told.moved


def test_a_worker_whose_lease_was_taken_writes_nothing_back(world):
    from vlk2.app.consolidate import consolidate

    ada = world.memory("ada")
    world.tells(ada, python())
    now = world.clock()
    (stale,) = world.store.lease_due("first", now=now, until=now + 1, most=5)
    (fresh,) = world.store.lease_due("second", now=now + MINUTE, until=now + HOUR, most=5)
    with pytest.raises(NotAllowed):
        consolidate(world.store, stale, clock=world.clock, budget=8000, counter=ada.counter)
    assert ada.status().last_cycle is None
    consolidate(world.store, fresh, clock=world.clock, budget=8000, counter=ada.counter)
    assert ada.status().last_cycle.owner == "second"


def test_many_writes_make_one_run_of_the_cycle(world):
    ada = world.memory("ada")
    for n in range(20):
        world.tells(ada, python(f"name_{n}"))
    assert len(world.cycle(ada)) == 1
    assert ada.run_cycle() is None  # within the same period
    assert world.cycle(ada) == []  # nothing has moved since


def test_a_constraint_that_was_learned_on_another_branch_says_so_in_the_context(world):
    ada = world.memory("ada")
    loop(world, ada, stamps=json.dumps({"branch": "spike", "head": "a1"}))
    here = ada.fetch_context(stamps=lambda: json.dumps({"branch": "main", "head": "b2"}))
    assert "It was learned on `spike`." in here.text
    there = ada.fetch_context(stamps=lambda: json.dumps({"branch": "spike", "head": "a1"}))
    assert "It was learned on" not in there.text
