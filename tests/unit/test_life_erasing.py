"""What is forgotten or erased is found nowhere: not in the file, its log, its index."""

from __future__ import annotations

from pathlib import Path

import pytest
from failures import hooked, told
from lives import World

from vlk2.app.erase import Selection
from vlk2.bootstrap import open_store
from vlk2.domain.moments import DAY, MINUTE
from vlk2.domain.states import State
from vlk2.errors import InvalidInput, NotAllowed, NotFound

NAME = "Wilhelmina_Quux"


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World()
    made.store.close()
    made.folder = tmp_path / "store"
    made.store = open_store(f"sqlite://{made.folder / 'memory.db'}")
    return made


def holds(world: World, needle: str) -> list[str]:
    """The files of the store that hold the text, in either case: the index folds."""
    return [
        file.name
        for file in sorted(world.folder.iterdir())
        if needle.lower().encode() in file.read_bytes().lower()
    ]


def failure(n: int = 0, name: str = NAME) -> str:
    return (
        f'Traceback (most recent call last):\n  File "/home/{name}/app.py", line {n}, in run\n    pay("{name}")\n'
        f"KeyError: '{name}'\n"
    )


def test_a_forgotten_text_is_found_nowhere(world):
    ada = world.memory()
    kept = world.tells(ada, failure(name="Somebody_Else"), command="python other.py").entry_id
    gone = world.tells(ada, failure(), command=f"python pay.py --who {NAME}", place=f"{NAME}.py").entry_id
    world.cycle(ada)
    assert ada.recall(NAME).ids == ()  # it is PRESENT; the recall has indexed it
    assert holds(world, NAME)
    ada.forget(gone, "holds a name")
    assert holds(world, NAME) == []
    assert holds(world, "Somebody_Else")
    (grave,) = world.inside(ada, lambda t: t.tombstones(t.entry(gone)))
    assert grave.reason == "holds a name"
    assert world.inside(ada, lambda t: t.entry(kept)).state is State.PRESENT


def test_what_the_cycle_forgot_is_found_nowhere_once_its_grace_is_over(world):
    ada = world.memory()
    world.tells(ada, failure())
    world.cycle(ada)
    ada.recall(NAME)
    world.pass_time(5 * DAY)
    world.cycle(ada)
    world.pass_time(30 * DAY)
    world.cycle(ada)
    assert ada.status().states[State.PURGED] == 1
    assert holds(world, NAME)  # within its grace
    world.pass_time(15 * DAY)
    world.cycle(ada)
    assert holds(world, NAME) == []


def loops_of(world, *memories):
    for memory in memories:
        for n in range(3):
            memory.record(
                hooked(
                    failure(n), world.use_id(), f"python pay.py {NAME}", session=f"of {memory.owner.agent}"
                ),
                source="hook",
                stamps=f'{{"branch": "fix-{NAME}"}}',
            )


def test_an_erased_match_is_found_nowhere_although_facts_constraints_and_others_hold_it(world):
    ada, bob = world.memory("ada"), world.memory("bob", project="shop")
    loops_of(world, ada, bob)
    for memory in (ada, bob):
        world.cycle(memory)
        memory.recall(NAME)
    entry = ada.record(told("some other error", "make")).entry_id
    ada.time_travel([entry], f"never call {NAME} again")
    ada.revoke(ada.fetch_context().constraint_ids[-1], f"it was {NAME} all along")
    world.cycle(ada)
    assert holds(world, NAME)
    plan = ada.erase(Selection(match=NAME), dry_run=True)
    assert (plan.done, plan.timelines) == (False, 2)
    assert holds(world, NAME)
    done = ada.erase(Selection(match=NAME), "asked for by the person")
    assert done.done
    assert done.entries >= 6 + 2 + 1
    assert holds(world, NAME) == []
    assert ada.fetch_context().constraint_ids == bob.fetch_context().constraint_ids == ()
    again = ada.erase(Selection(match=NAME), "once more")
    assert (again.entries, again.contents) == (0, 0)


def test_erasing_an_entry_takes_every_holder_of_its_text_along_and_the_constraints_on_it(world):
    ada, bob = world.memory("ada"), world.memory("bob")
    loops_of(world, ada)
    same = bob.record(told(failure(1), "python x.py")).entry_id
    evidence = world.inside(ada, lambda t: t.evidence_entries(t.constraints()[0].entry))
    done = bob.erase(Selection(entry=evidence[1].id), "private")
    assert done.constraints == 1
    assert done.entries == 3
    assert world.inside(bob, lambda t: t.entry(same)).state is State.PURGED
    assert ada.fetch_context().constraint_ids == ()
    assert world.inside(ada, lambda t: t.body(evidence[0].content)) is not None


@pytest.mark.parametrize("selection", [Selection(agent="ada"), Selection(project="ledger")])
def test_erasing_an_agent_or_a_project_leaves_none_of_its_texts(world, selection):
    ada, eve = world.memory("ada", "ledger"), world.memory("eve", "shop")
    loops_of(world, ada)
    world.succeeds(ada, f"python pay.py {NAME}", session="of ada")
    eve.record(told(failure(name="Somebody_Else"), "python z.py"))
    world.cycle(ada)
    eve.erase(selection, "left the company")
    found = world.store.digest  # the store is open and still works
    assert found("x")
    assert ada.status().states.get(State.PAST, 0) == 0
    assert holds(world, "pay.py") == []
    assert holds(world, "Somebody_Else")


def test_a_text_that_another_team_holds_stays_theirs(world):
    ada, rival = world.memory("ada"), world.memory("eve", team="rivals")
    for memory in (ada, rival):
        memory.record(told(failure(), "python pay.py"))
    ada.erase(Selection(match=NAME), "ours")
    assert NAME in rival.fetch_context().text
    assert NAME not in ada.fetch_context().text


def test_a_text_that_comes_in_again_later_is_stored_anew(world):
    ada = world.memory()
    ada.record(told(failure(), "python pay.py"))
    ada.erase(Selection(match=NAME), "once")
    assert holds(world, NAME) == []
    again = ada.record(told(failure(), "python pay.py"))
    assert NAME in ada.fetch_context().text
    assert again.repeats == 1


def test_nothing_comes_back_from_erasure(world):
    ada = world.memory()
    entry_id = ada.record(told(failure(), "python pay.py")).entry_id
    ada.erase(Selection(entry=entry_id), "wrong place")
    with pytest.raises(NotAllowed) as refused:
        ada.restore(entry_id)
    assert "erased at once" in refused.value.message


@pytest.mark.parametrize(
    "selection",
    [Selection(), Selection(entry="e_x", match="abc"), Selection(match="ab"), Selection(match="  ")],
)
def test_a_selection_that_names_nothing_or_two_things_is_refused(world, selection):
    with pytest.raises(InvalidInput):
        world.memory().erase(selection, "why")


def test_a_name_that_nobody_has_is_not_found(world):
    ada = world.memory()
    ada.record(told(failure(), "make"))
    for selection in (
        Selection(entry="e_aaaaaaaaaaaa"),
        Selection(agent="nobody"),
        Selection(project="none"),
    ):
        with pytest.raises(NotFound):
            ada.erase(selection, "why")


def test_a_reason_that_holds_the_text_is_refused(world):
    ada = world.memory()
    ada.record(told(failure(), "make"))
    with pytest.raises(InvalidInput):
        ada.erase(Selection(match=NAME), f"{NAME} asked")
    assert holds(world, NAME)


def test_snapshots_and_fixes_are_erased_with_what_they_hold(world):
    class Disk:
        body = f"owner = '{NAME}'\n"

        def text(self, path: str) -> str | None:
            return self.body

        def masked(self, text: str) -> str:
            return text

    ada, disk = world.memory(), Disk()
    for n in range(3):
        world.fails(
            ada,
            f"src/a.rs:{n}: error[E0277]: the trait bound `X: Y` is not satisfied",
            place="src/a.rs",
            files=disk,
        )
    disk.body = "owner = nobody\n"
    world.edits(ada, "src/a.rs", "owner = old", "owner = nobody", files=disk)
    world.fails(ada, "other: error[E0308]: mismatched types", "cargo test", place="src/b.rs", files=Disk())
    ended = world.succeeds(ada, files=disk)
    assert ended.retired
    assert NAME in ada.show_fix(ended.retired[0]).diff
    ada.erase(Selection(match=NAME), "private")
    assert holds(world, NAME) == []


def test_a_restored_entry_is_found_by_recall_again(world):
    ada = world.memory()
    entry_id = world.tells(ada, failure()).entry_id
    world.cycle(ada)
    world.pass_time(5 * DAY)
    world.cycle(ada)
    world.pass_time(20 * DAY)
    world.cycle(ada)
    assert ada.recall(NAME).ids == ()
    world.pass_time(13 * DAY)
    ada.restore(entry_id)
    assert ada.recall(NAME).ids == (entry_id,)
    world.pass_time(MINUTE)
    world.cycle(ada)
    assert ada.recall(NAME).ids == (entry_id,)
