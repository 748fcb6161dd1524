"""Recall: what is found, in which order, why, and that being found keeps a memory alive."""

from __future__ import annotations

import pytest
from failures import python, rust, typescript
from lives import World, state_of

from vlk2.domain.moments import DAY
from vlk2.domain.recalling import index_text, query_tokens
from vlk2.tokens import ExactCounter


@pytest.fixture
def world() -> World:
    return World()


def archived(world, memory, *texts):
    """Entries that have gone stale, with their ids."""
    ids = [world.tells(memory, text, command="run it").entry_id for text in texts]
    world.cycle(memory)
    world.pass_time(9 * DAY)
    world.cycle(memory)
    return ids


def test_each_hit_says_why_it_was_found_and_what_it_is_worth(world):
    ada = world.memory()
    (entry_id,) = archived(world, ada, python("foo_bar"))
    told = ada.recall("foo_bar in ledger/totals.py")
    assert told.ids == (entry_id,)
    assert "Found by `foo_bar`, `foo`, `bar`" in told.text
    assert "importance 0." in told.text


def test_of_equal_matches_the_more_important_comes_first(world):
    ada = world.memory()
    old, new = archived(world, ada, python("foo_bar", line=1), python("foo_bar", line=2))
    assert ada.recall("foo_bar").ids == (new, old)
    with world.store.write(ada.owner, world.clock()) as timeline:
        timeline.note_use([old, old, old], world.clock(), shown=False)
    world.cycle(ada)
    assert ada.recall("foo_bar").ids == (old, new)


def test_a_recall_is_a_use_and_keeps_an_entry_from_being_forgotten(world):
    ada = world.memory()
    used, unused = archived(world, ada, python("foo_bar"), python("baz_qux"))
    for _ in range(8):
        world.pass_time(6 * DAY)
        ada.recall("foo_bar")
        world.cycle(ada)
    assert world.inside(ada, lambda t: state_of(t, used)) == "PAST"
    assert world.inside(ada, lambda t: state_of(t, unused)) == "PURGED"
    at = world.inside(ada, lambda t: (t.entry(used).at, t.moves(t.entry(used))[0].at))
    assert at[0] == at[1]  # its own time is as it was


def test_a_constraint_that_ended_is_found_with_how_it_ended(world):
    ada = world.memory()
    made = [world.fails(ada, rust(line=n)) for n in range(3)][-1].constraint
    world.edits(ada, "src/lib.rs")
    world.succeeds(ada)
    told = ada.recall("E0277", limit=10)
    assert made.entry.id in told.ids
    assert "a constraint that no longer stands" in told.text
    assert "What had changed before: source." in told.text


def test_a_revoked_lesson_is_found_by_its_words(world):
    ada = world.memory()
    entry_id = world.tells(ada, typescript()).entry_id
    lesson = ada.time_travel([entry_id], "Vendoring the loader never links here")
    ada.revoke(lesson.constraint_id, "it links with the new toolchain")
    told = ada.recall("vendoring loader")
    assert lesson.constraint_id in told.ids
    assert "it links with the new toolchain" in told.text


def test_facts_leave_room_for_entries_and_the_limit_holds(world):
    ada = world.memory()
    for name in ("load", "save", "merge", "split"):
        for n in range(3):
            world.fails(ada, python(name, line=n), f"python {name}.py")
    world.cycle(ada)
    told = ada.recall("NameError", limit=4)
    assert len(told.ids) == 4
    assert sum(i.startswith("f_") for i in told.ids) == 2


def test_what_is_recalled_stays_within_its_tokens():
    exact = ExactCounter()
    world = World(exact)
    ada = world.memory()
    archived(world, ada, *(python("foo_bar", line=n) + "字" * 3_000 + str(n) for n in range(30)))
    told = ada.recall("foo_bar", limit=50)
    assert told.ids
    assert exact.count(told.text) <= 4_000


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("at src/a.ts line 3", "src/a.ts"),
        ("at src/a.ts line 3", "a.ts"),
        ("error[E0277]: no", "e0277"),
        ("call foo_bar(1)", "foo_bar"),
        ("call foo_bar(1)", "bar"),
        ("std::vec::Vec", "std::vec"),
        ("C:\\work\\Ledger.cs", "ledger.cs"),
        ("Überlauf in Straße", "ÜBERLAUF"),
    ],
)
def test_a_query_finds_the_codes_paths_and_names_of_a_text(text, query):
    assert set(query_tokens(query)) & set(index_text(text).split(" "))


def test_a_query_has_at_most_24_tokens_and_a_token_at_most_64_characters():
    tokens = query_tokens(" ".join(f"w{n}" for n in range(100)) + " " + "x" * 500)
    assert len(tokens) == 24
    assert all(len(token) <= 64 for token in index_text("y" * 900 + " z").split(" "))
