"""Carrying a whole store elsewhere: every id, the key and every answer stay the same."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from backends import Backend
from failures import hooked, python, rust, throttled, told, typescript

from vlk2.app.check import check
from vlk2.app.export import export, move, take_in
from vlk2.bootstrap import Memory
from vlk2.domain.event import Event, EventKind
from vlk2.domain.moments import MINUTE
from vlk2.domain.states import State
from vlk2.errors import InvalidInput, NotAllowed, StoreIncompatible
from vlk2.settings import load


def lived(memory_of) -> list[Memory]:
    """Memories in which every kind of thing has happened."""
    ada, bob, eve = memory_of("ada"), memory_of("bob"), memory_of("eve", "shop", "rivals")
    for memory in (ada, bob, eve):
        for n in range(3):
            memory.record(told(rust(line=n + 1, file=f"f{n}")))
        memory.record(told(typescript(), command="npx tsc"))
        for n in range(4):
            memory.record(hooked(python("foo_bar", line=n), f"u{n}", command="python x.py"), source="hook")
        memory.record(told("nothing in particular: 😀 ␀", command="echo"))
    lesson = ada.time_travel([ada.record(told(throttled(3))).entry_id], "Not like that; the é key is gone.")
    ada.pin(lesson.constraint_id)
    constraint = bob.fetch_context().constraint_ids[0]
    bob.revoke(constraint, "a misdiagnosis")
    eve.forget(eve.record(told("error: cannot open zanzibar")).entry_id, "a name")
    ada.record(
        Event(
            EventKind.RESULT,
            client="claude-code",
            session="s1",
            worktree="/w",
            use_id="ok",
            tool="Bash",
            command="python x.py",
            text="fine",
            is_error=False,
            exit_code=0,
        )
    )
    for memory in (ada, bob, eve):
        memory.recall("E0277")
        memory.fetch_context()
    ada.clock.pass_time(2 * MINUTE)
    ada.run_cycle()
    for memory in (ada, bob):
        memory.record(told(python("late"), command="python late.py"))
    return [ada, bob, eve]


def filled(backend) -> None:
    """One row of each kind that only hooks, a broker or an administrator make."""
    timeline, run, entry, anchor = backend.rows(
        "SELECT e.timeline, e.run, e.pk, (SELECT MIN(entry) FROM anchors) FROM agent_timeline e WHERE kind = 'log' ORDER BY e.pk LIMIT 1"
    )[0]
    agent, team = backend.rows("SELECT MIN(pk), MIN(team) FROM agents")[0]
    failure = backend.rows("SELECT MIN(pk) FROM fingerprints")[0][0]
    fact = backend.rows("SELECT MIN(pk) FROM semantic_facts")[0][0]
    for statement in (
        f"INSERT INTO agent_tokens (id, agent, hash, scope, created_at) VALUES ('k_1', {agent}, 'h', 'admin', 1)",
        "INSERT INTO audit (at, actor, team, act, subject, detail) VALUES (1, 'ada', 'default', 'token', 'k_1', '')",
        f"INSERT INTO calls (run, use, batch, started_at) VALUES ({run}, 'u', 'b', 1)",
        f"INSERT INTO failure_stamps (timeline, seq, stamp) VALUES ({timeline}, 1, 'x')",
        f"INSERT INTO sayings (timeline, run, at, kind, anchor, count, call, said) VALUES ({timeline}, {run}, 1, 'advice', {anchor}, 3, '', 1)",
        f"INSERT INTO snapshots (timeline, mark, path, at, body) VALUES ({timeline}, 'm', 'a.py', 1, 'x = 1')",
        f"INSERT INTO fixes (anchor, at, kind, diff) VALUES ({anchor}, 1, 'source', '-a')",
        f"INSERT INTO cycle_pending (timeline, entry) VALUES ({timeline}, {entry}) ON CONFLICT DO NOTHING",
        f"INSERT INTO fact_pending (team, timeline, fingerprint, anchor, reason, ended, seq, at) "
        f"VALUES ({team}, {timeline}, {failure}, {anchor}, 'loop', '', 1, 1)",
        f"INSERT INTO fact_contradictions (fact, timeline, seq, at) VALUES ({fact}, {timeline}, 77, 1)",
    ):
        backend.execute(statement)


def rows_of(store) -> dict[str, list[dict]]:
    with store.archive(write=False) as archive:
        return {table: [row for page in archive.pages(table, 7) for row in page] for table in archive.tables}


def answers(memory: Memory, at: int) -> dict[str, object]:
    """What an agent gets to read, and what a person can look up, at a fixed time."""
    memory.clock.now = at
    found: dict[str, object] = {
        "context": memory.fetch_context("foo_bar").text,
        **{query: memory.recall(query, limit=20).text for query in ("E0277", "src/a.ts", "foo_bar", "é")},
    }
    for state in (State.PRESENT, State.PAST, State.FUTURE, State.PURGED):
        found[state] = [memory.story(entry.id) for entry in memory.list_state(state)]
    return found


@pytest.fixture
def target(request, tmp_path: Path, backend):
    """An empty store of the other kind."""
    if backend.kind == "postgres":
        other = Backend("sqlite", f"sqlite://{tmp_path / 'other' / 'memory.db'}")
    else:
        other = Backend("postgres", request.getfixturevalue("databases").clean())
    yield other
    for store in other.opened:
        store.close()


def twin(memory: Memory, address: str) -> Memory:
    """The same owner's memory in another store."""
    settings = load(
        store=address, team=memory.owner.team, agent=memory.owner.agent, project=memory.owner.project
    )
    return Memory(settings, memory.owner, counter=memory.counter, clock=memory.clock, actor=memory.actor)


def test_a_store_moves_there_and_back_with_every_row_id_and_answer(memory_of, backend, target, tmp_path):
    memories = lived(memory_of)
    filled(backend)
    source, other = memories[0].store, target.open()
    before = rows_of(source)
    assert sorted(table for table, rows in before.items() if not rows) == []
    move(source, other)
    assert rows_of(other) == before
    assert other.digest("x") == source.digest("x")
    back = Backend("sqlite", f"sqlite://{tmp_path / 'back' / 'memory.db'}")
    move(other, back.open())
    assert rows_of(back.opened[0]) == before
    at = memories[0].clock.now + MINUTE
    for memory in memories:
        there, home = twin(memory, target.address), twin(memory, back.address)
        here = answers(memory, at)
        assert answers(there, at) == here
        assert answers(home, at) == here
        there.close()
        home.close()
    for store in back.opened:
        store.close()


def test_a_moved_store_goes_on_where_the_old_one_stood(memory_of, backend, target):
    memory = lived(memory_of)[0]
    move(memory.store, target.open())
    there = twin(memory, target.address)
    for n in range(3):
        made = there.record(told(typescript("Cents", line=n), command="npx tsc"))
    assert made.loop
    assert there.record(hooked(python("foo_bar", line=9), "u0", command="python x.py")).duplicate
    assert check(there.store).faults == ()
    there.close()


def test_an_export_is_taken_in_by_an_empty_store_of_any_kind(memory_of, backend, target):
    memory = lived(memory_of)[0]
    filled(backend)
    told_of: list[tuple[str, int]] = []
    lines = list(export(memory.store))
    carried = take_in(target.open(), lines, lambda table, rows: told_of.append((table, rows)))
    assert carried.total == len(lines) - 2 == sum(rows for _, rows in told_of)
    assert rows_of(target.opened[0]) == rows_of(memory.store)
    assert list(export(target.opened[0])) == lines


def test_a_large_table_is_carried_in_pages(memory_of, backend, target):
    memory = memory_of()
    for n in range(40):
        memory.record(told(f"error: number {n}", command=f"c{n}"))
    with memory.store.archive(write=False) as archive:
        sizes = [len(page) for page in archive.pages("agent_timeline", 16)]
    assert sizes == [16, 16, 9]  # and the constraint that they made


@pytest.mark.parametrize(
    "harm",
    ["", "{}\n", "not json\n", '{"vlk2":"export","format":1,"schema":1,"key":"zz","rows":{}}\n', "[1]\n"],
)
def test_what_is_no_export_is_refused_with_nothing_taken_in(backend, harm):
    store = backend.open()
    with pytest.raises(InvalidInput):
        take_in(store, harm.splitlines(keepends=True))
    assert check(store).entries == 0


@pytest.mark.parametrize(
    "harm", ["cut", "row lost", "column lost", "unknown table", "not json in the middle"]
)
def test_a_damaged_export_is_refused_and_nothing_of_it_stays(memory_of, backend, target, harm):
    lines = list(export(lived(memory_of)[0].store))
    if harm == "cut":
        lines = lines[:-5]
    elif harm == "row lost":
        del lines[-3]
    elif harm == "column lost":
        row = json.loads(lines[9])
        row["row"].popitem()
        lines[9] = json.dumps(row)
    elif harm == "unknown table":
        lines[9] = json.dumps({"table": "passwords; DROP TABLE teams", "row": {}})
    else:
        lines[9] = "\x00\n"
    store = target.open()
    key = store.digest("x")
    with pytest.raises(InvalidInput):
        take_in(store, lines)
    assert all(not rows for rows in rows_of(store).values())
    assert store.digest("x") == key


def test_an_export_of_a_newer_version_is_refused(memory_of, target):
    lines = list(export(lived(memory_of)[0].store))
    head = json.loads(lines[0])
    lines[0] = json.dumps({**head, "schema": 99})
    with pytest.raises(StoreIncompatible):
        take_in(target.open(), lines)


def test_a_store_that_holds_a_memory_is_never_overwritten(memory_of, target):
    memory = lived(memory_of)[0]
    lines = list(export(memory.store))
    store = target.open()
    twin(memory_of("zoe"), target.address).record(told(rust()))
    before = rows_of(store)
    with pytest.raises(NotAllowed):
        take_in(store, lines)
    with pytest.raises(NotAllowed):
        move(memory.store, store)
    assert rows_of(store) == before


# checking ------------------------------------------------------------------------------------------------


def test_a_lived_store_has_no_faults(memory_of):
    memory = lived(memory_of)[0]
    found = check(memory.store)
    assert found.faults == ()
    assert found.entries > 10
    assert found.observations > 10


@pytest.mark.parametrize(
    ("harm", "word"),
    [
        ("UPDATE timelines SET token_sum = token_sum + 1", "token sum"),
        ("UPDATE agent_timeline SET state = 'PAST' WHERE state = 'PRESENT'", "last transition"),
        ("UPDATE timelines SET next_seq = 1", "observations beyond"),
        ("INSERT INTO memory_contents (digest, body) VALUES ('d', 'nobody holds this')", "no entry holds"),
    ],
)
def test_what_is_broken_is_counted_and_named(memory_of, backend, harm, word):
    memory = lived(memory_of)[0]
    backend.execute(harm)
    assert any(word in what and count for what, count in check(memory.store).faults)


# the commands --------------------------------------------------------------------------------------------


def vlk2(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "vlk2", "db", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
    )


def test_the_commands_carry_a_store_through_a_private_file(memory_of, backend, target, tmp_path):
    memory = lived(memory_of)[0]
    file = tmp_path / "out.jsonl"
    done = vlk2("export", str(file), "--json", VLK2_STORE=backend.address)
    assert done.returncode == 0, done.stderr
    lines = file.read_text(encoding="utf-8").splitlines()
    assert json.loads(done.stdout)["rows"] == len(lines) - 2
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = vlk2("export", str(file), VLK2_STORE=backend.address)
    assert again.returncode == 1
    assert "not overwritten" in again.stderr
    done = vlk2("import", str(file), "--json", VLK2_STORE=target.address)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == len(lines) - 2
    assert rows_of(target.open()) == rows_of(memory.store)
    done = vlk2("check", "--json", VLK2_STORE=target.address)
    assert (done.returncode, json.loads(done.stdout)["faults"]) == (0, [])


def test_the_move_command_says_how_to_go_on(memory_of, backend, target):
    memory = lived(memory_of)[0]
    done = vlk2("move", backend.address, target.address)
    assert done.returncode == 0, done.stderr
    assert "VLK2_STORE" in done.stdout
    assert rows_of(target.open()) == rows_of(memory.store)
    same = vlk2("move", backend.address, backend.address)
    assert same.returncode == 1


def test_upgrade_makes_a_store_and_check_makes_none(nothing_yet):
    missing = vlk2("check", VLK2_STORE=nothing_yet.address)
    assert missing.returncode == 1
    made = vlk2("upgrade", "--json", VLK2_STORE=nothing_yet.address)
    assert json.loads(made.stdout)["schema"] == 1
    assert vlk2("check", VLK2_STORE=nothing_yet.address).returncode == 0


def test_check_exits_with_one_where_something_is_broken(memory_of, backend):
    lived(memory_of)
    backend.execute("UPDATE timelines SET token_sum = token_sum + 1")
    found = vlk2("check", VLK2_STORE=backend.address)
    assert found.returncode == 1
    assert "token sum" in found.stdout
