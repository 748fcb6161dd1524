"""tau-bench results: a list of trials with `task_id`, `trial`, `reward` and `traj`, a chat each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from vlk2.clients.chat import conversation
from vlk2.clients.loose import is_array, mapping, sequence
from vlk2.clients.recorded import Step, Tape
from vlk2.clients.source import Source
from vlk2.domain.event import EventKind

EXPECTED: Final = "a JSON list of trials with `task_id` and `traj`"


def claims(value: object) -> bool:
    """Whether this JSON value is a trial or a list of trials."""
    row = mapping(sequence(value)[0] if is_array(value) and value else value)
    return "task_id" in row and is_array(row.get("traj"))


def steps(source: Source) -> Iterator[Step]:
    """One run a trial, named `TASK-TRIAL`."""
    tape = Tape("tau-bench", each=True)
    for _, value in source.values():
        for row in map(mapping, sequence(value) if is_array(value) else [value]):
            if not claims(row):
                source.skipped += 1
                continue
            name = f"{row.get('task_id')}-{row.get('trial', 0)}"
            run = tape.row(name)
            yield run.frame(EventKind.SESSION_START)
            yield from conversation(run, row.get("traj"))
            yield run.frame(EventKind.SESSION_END)
