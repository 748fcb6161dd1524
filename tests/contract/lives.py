"""Memories with a clock that a test sets, all in one store that lives in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from failures import hooked, told

from vlk2.bootstrap import Memory, open_store
from vlk2.domain.event import Event, EventKind
from vlk2.domain.moments import DAY, SECOND
from vlk2.ports import Owner, Store, Timeline
from vlk2.settings import load

BEGIN = 20_000 * DAY


class Clock:
    """Every reading is a second later than the last."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> int:
        self.now += SECOND
        return self.now


class Quarter:
    """A stand-in for the tokenizer: four characters are a token, and that is exact."""

    exact = True

    def count(self, text: str) -> int:
        return len(text) // 4 + 1


class World:
    """One store and one clock; memories of agents in it."""

    def __init__(self, counter: Any = None, **settings: Any) -> None:
        self.clock = Clock()
        self.store: Store = open_store("sqlite://:memory:")
        self._counter = counter or Quarter()
        self._settings = settings
        self._uses = 0

    def memory(self, agent: str = "ada", project: str = "ledger", team: str = "default") -> Memory:
        chosen = load(
            store="sqlite:////nowhere/memory.db", agent=agent, project=project, team=team, **self._settings
        )
        made = Memory(
            chosen,
            Owner(team, agent, project),
            counter=self._counter,
            mask=lambda text: text,
            clock=self.clock,
            actor=f"agent {agent}",
        )
        made._store = self.store
        return made

    def pass_time(self, microseconds: int) -> None:
        self.clock.now += microseconds

    def cycle(self, memory: Memory) -> list[Any]:
        """A tick that finds its period free."""
        self.pass_time(60 * SECOND)
        return memory.run_cycle() or []

    def use_id(self) -> str:
        self._uses += 1
        return f"use{self._uses}"

    def fails(self, memory: Memory, text: str, command: str = "cargo check", **more: Any) -> Any:
        """A hook's report of a failing call; `stamps`, `files` and `root` go to the record."""
        extra = {key: more.pop(key) for key in ("stamps", "files", "root") if key in more}
        return memory.record(hooked(text, self.use_id(), command, **more), source="hook", **extra)

    def succeeds(self, memory: Memory, command: str = "cargo check", **more: Any) -> Any:
        extra = {key: more.pop(key) for key in ("stamps", "files", "root") if key in more}
        event = hooked("", self.use_id(), command, **{"is_error": False, "exit_code": 0, **more})
        return memory.record(replace(event, text="ok"), source="hook", **extra)

    def edits(self, memory: Memory, path: str, old: str = "a", new: str = "b", **extra: Any) -> Any:
        import json

        event = Event(
            EventKind.RESULT,
            client="claude-code",
            session="s1",
            worktree="/w",
            use_id=self.use_id(),
            tool="Edit",
            command=path,
            input=json.dumps({"file_path": path, "old_string": old, "new_string": new}),
            text="edited",
            is_error=False,
        )
        return memory.record(event, source="hook", **extra)

    def tells(self, memory: Memory, text: str, command: str = "cargo check", **more: Any) -> Any:
        return memory.record(told(text, command, **more))

    def inside(self, memory: Memory, work: Any) -> Any:
        """What `work` answers of the memory's timeline."""
        with self.store.read(memory.owner, self.clock()) as timeline:
            return work(timeline)


def state_of(timeline: Timeline, entry_id: str) -> str:
    entry = timeline.entry(entry_id)
    assert entry is not None
    return entry.state.value
