"""What every store must hold of recall and of forgetting."""

from __future__ import annotations

from dataclasses import replace

import pytest
from failures import hooked, python, rust, told, typescript

from vlk2.app.consolidate import consolidate
from vlk2.domain.moments import DAY
from vlk2.domain.states import State
from vlk2.errors import InvalidInput, NotAllowed, NotFound
from vlk2.ports import Owner


def entries(found):
    """The entries among what was recalled; facts of the team stand beside them."""
    return [one for one in found.ids if one.startswith("e_")]


@pytest.fixture
def archive(memory):
    """Three loops in PAST: rust E0277, TypeScript in src/a.ts, Python about foo_bar."""
    ids = {}
    for name, make, command in (
        ("rust", rust, "cargo check"),
        ("ts", typescript, "npx tsc --noEmit"),
        ("py", python, "python ledger/totals.py"),
    ):
        ids[name] = [memory.record(told(make(line=n + 1), command=command)).entry_id for n in range(3)]
    return ids


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("src/a.ts", "ts"),
        ("E0277", "rust"),
        ("e0277", "rust"),
        ("foo_bar", "py"),
        ("NameError", "py"),
        ("Invoice: Serialize", "rust"),
        ("TS2345 Price", "ts"),
        ("ledger/totals.py", "py"),
    ],
)
def test_recall_finds_codes_paths_and_names(memory, archive, query, found):
    ids = entries(memory.recall(query))
    assert ids
    assert ids[0] in archive[found]


@pytest.mark.parametrize("query", ["to_string", "invoice.rs", "serde_json::to_string"])
def test_the_end_of_a_qualified_name_or_path_is_enough(memory, archive, query):
    assert set(memory.recall(query, limit=10).ids) & set(archive["rust"])


def test_recall_says_when_nothing_matches(memory, archive):
    found = memory.recall("zebra")
    assert found.ids == ()
    assert "zebra" in found.text


@pytest.mark.parametrize("query", ["", "  ", "!!!", '"', "*"])
def test_a_query_without_a_word_is_refused(memory, query):
    with pytest.raises(InvalidInput):
        memory.recall(query)


@pytest.mark.parametrize(
    "query",
    [
        '"E0277',
        "E0277 OR",
        "NOT E0277",
        "E0277*",
        "tokens:E0277",
        "E0277 & !x | (y",
        "E0277:",
        "E0277 <-> \\",
        "(E0277",
        "E0277'; DROP TABLE teams; --",
        "E0277 \x00 \ud800",
        "E0277 %s %(x)s :pk",
    ],
)
def test_words_of_a_query_language_are_only_words(memory, archive, query):
    assert entries(memory.recall(query))[0] in archive["rust"]


def test_recall_looks_in_past_only_and_in_the_own_timeline_only(memory_of):
    ada, bob = memory_of("ada"), memory_of("bob")
    for n in range(3):
        ada.record(told(rust(line=n + 1)))
    present = bob.record(told(rust(line=5))).entry_id
    assert entries(bob.recall("E0277")) == []
    archived = ada.recall("E0277")
    assert archived.ids
    assert present not in archived.ids


def test_the_better_match_comes_first(memory):
    for text in ("error: alpha beta gamma", "error: alpha", "error: gamma delta"):
        entry_id = memory.record(told(text, command=text)).entry_id
        memory.time_travel([entry_id], f"not {text}")
    ids = entries(memory.recall("alpha beta gamma", limit=3))
    with memory.store.read(memory.owner, memory.clock()) as timeline:
        assert timeline.entry(ids[0]).headline == "error: alpha beta gamma"


def test_recall_shows_at_most_the_limit_and_refuses_an_absurd_one(memory, archive):
    assert len(memory.recall("error", limit=2).ids) <= 2
    for limit in (0, -1, 51):
        with pytest.raises(InvalidInput):
            memory.recall("error", limit=limit)


def test_two_recalls_at_once_index_each_text_once(memory_of, backend):
    from concurrent.futures import ThreadPoolExecutor

    memories = [memory_of(f"agent{n}") for n in range(4)]
    for memory in memories:
        for n in range(3):
            memory.record(told(rust(line=n + 1)))
            memory.record(told(f"error: number {n} of {memory.owner.agent}"))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda m: entries(m.recall("E0277")), memories))
    assert all(found)
    for memory in memories:
        memory.recall("E0277")
    assert backend.rows("SELECT COUNT(*) FROM recall_pending") == [(0,)]


# forgetting ----------------------------------------------------------------------------------------------

SECRET = "zanzibar_ledger_7741"


def archived(memory):
    """One PAST entry whose text holds the marker, searched once so that the index has it."""
    kept = memory.record(
        told(f"error: cannot open {SECRET} of the vault", command=f"open {SECRET}", place=f"{SECRET}.txt")
    )
    lesson = memory.time_travel([kept.entry_id], f"{SECRET} does not open like that")
    assert kept.entry_id in memory.recall(SECRET).ids
    memory.revoke(lesson.constraint_id, "done")
    return kept.entry_id


def test_what_is_forgotten_is_gone_from_file_log_and_index(memory, backend):
    entry_id = archived(memory)
    assert backend.holds(SECRET)
    done = memory.forget(entry_id, "a customer's name")
    assert (done.entry_id, done.state) == (entry_id, "PURGED")
    assert memory.recall(SECRET).ids == ()
    assert not backend.holds(SECRET)


def test_a_tombstone_stays_with_digest_reason_and_date(memory, backend):
    entry_id = archived(memory)
    memory.forget(entry_id, "a customer's name")
    ((entry, digest, reason),) = backend.rows("SELECT entry, digest, reason FROM tombstones")
    assert (entry, reason) == (entry_id, "a customer's name")
    assert len(digest) == 32


def test_a_forgotten_text_that_comes_again_is_stored_anew(memory):
    text = f"error: cannot open {SECRET} of the vault"
    first = memory.record(told(text)).entry_id
    memory.forget(first, "mistake")
    second = memory.record(told(text)).entry_id
    with memory.store.read(memory.owner, memory.clock()) as timeline:
        assert timeline.body(timeline.entry(second).content) == text
        assert timeline.entry(first).content is None


def test_a_text_that_another_agent_holds_stays_for_that_agent_only(memory_of, backend):
    ada, bob = memory_of("ada"), memory_of("bob")
    text = f"error: cannot open {SECRET} of the vault"
    mine, theirs = ada.record(told(text)).entry_id, bob.record(told(text)).entry_id
    done = ada.forget(mine, "mine only")
    assert "another timeline holds the same text" in done.text
    with bob.store.read(bob.owner, bob.clock()) as timeline:
        assert timeline.body(timeline.entry(theirs).content) == text
    bob.forget(theirs, "mine too")
    assert not backend.holds(SECRET)


def test_a_text_that_another_team_holds_stays_for_that_team(memory_of):
    ada, rival = memory_of("ada"), memory_of("eve", team="rivals")
    text = f"error: cannot open {SECRET} of the vault"
    mine, theirs = ada.record(told(text)).entry_id, rival.record(told(text)).entry_id
    ada.forget(mine, "mine only")
    with rival.store.read(rival.owner, rival.clock()) as timeline:
        assert timeline.body(timeline.entry(theirs).content) == text
    again = ada.record(told(text)).entry_id
    with ada.store.read(ada.owner, ada.clock()) as timeline:
        assert timeline.body(timeline.entry(again).content) == text


def test_entries_with_the_same_text_go_along(memory):
    text = f"note {SECRET}"
    ids = [memory.record(told(text)).entry_id for _ in range(2)]
    assert memory.forget(ids[0], "mistake").along == 1
    with pytest.raises(NotAllowed):
        memory.forget(ids[1], "again")


def test_a_constraint_and_what_it_rests_on_are_forgotten_only_once_revoked(memory):
    for n in range(3):
        made = memory.record(told(rust(line=n + 1)))
    for entry_id in (made.constraint.entry.id, made.entry_id):
        with pytest.raises(NotAllowed) as refused:
            memory.forget(entry_id, "away with it")
        assert "revoke" in refused.value.message
    memory.revoke(made.constraint.entry.id, "wrong")
    assert memory.forget(made.entry_id, "away with it").state == "PURGED"


@pytest.mark.parametrize("entry_id", ["e_aaaaaaaaaaaa", "", "é" * 40, "e_\x00", "\ud800", "x" * 5_000])
def test_an_id_that_is_none_reads_as_not_found(memory, entry_id):
    memory.record(told(rust()))
    for act in (lambda: memory.forget(entry_id, "x"), lambda: memory.pin(entry_id)):
        with pytest.raises(NotFound):
            act()


@pytest.mark.parametrize(
    "field", ["client", "session", "subagent", "worktree", "use_id", "batch", "tool", "input", "command"]
)
def test_no_field_of_an_event_can_break_the_store(memory, field):
    odd = "a\x00b \ud83d c"
    event = replace(hooked(rust(), "u1"), **{field: odd})
    first = memory.record(event)
    assert first.entry_id
    assert not first.duplicate
    assert memory.record(event).duplicate


def test_owners_with_odd_names_have_a_memory(memory):
    memory.owner = Owner("t\x00", "ad\udce9 \x00", "/home/\udcff/ledger")
    odd = memory
    odd.record(told(rust()))
    assert odd.record(told(rust(line=2))).repeats == 2


def test_a_purged_text_is_kept_for_the_grace(memory):
    """The cycle's forgetting, unlike `forget`, leaves the text for 14 days."""
    entry_id = memory.record(told(python("lonely"), command="python x")).entry_id
    for days in (30, 30, 13):
        memory.clock.pass_time(days * DAY)
        for lease in memory.store.lease_due("worker", now=memory.clock(), until=memory.clock(), most=9):
            consolidate(memory.store, lease, clock=memory.clock, budget=8_000, counter=memory.counter)
    with memory.store.read(memory.owner, memory.clock()) as timeline:
        entry = timeline.entry(entry_id)
        assert entry.state is State.PURGED
        assert timeline.body(entry.content)


def test_the_cycle_takes_into_the_index_what_recording_left(memory, archive):
    assert memory.run_cycle()
    with memory.store.write(memory.owner, memory.clock()) as timeline:
        assert timeline.take_pending(10) == []
