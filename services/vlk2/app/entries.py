"""Finding an entry by the id that an agent gives, with the same words for what is not there and what is
another's; and what is shown of its content."""

from __future__ import annotations

from collections.abc import Sequence

from vlk2.domain.context import HEAD_CHARS, TAIL_CHARS, Excerpt
from vlk2.domain.entry import Constraint, Entry
from vlk2.domain.quoting import code
from vlk2.domain.states import State
from vlk2.errors import NotAllowed, NotFound
from vlk2.ports import Timeline


def the_entry(timeline: Timeline, entry_id: str) -> Entry:
    """The entry of this timeline; NotFound where there is none."""
    entry = timeline.entry(entry_id.strip())
    if entry is None:
        raise NotFound(
            f"there is no entry {code(entry_id, 40)} in this timeline: `vlk_fetch_context` and `vlk2 timeline` "
            "list the ids."
        )
    return entry


def the_constraint(timeline: Timeline, constraint_id: str) -> Constraint:
    """The constraint of this timeline, in whatever state; NotAllowed where the id is that of a plain entry."""
    entry = the_entry(timeline, constraint_id)
    constraint = timeline.constraint(entry)
    if constraint is None:
        raise NotAllowed(
            f"{entry.id} is an entry in {entry.state}, not a constraint: `vlk_fetch_context` lists the "
            "constraints with their ids."
        )
    return constraint


def must_be_live(constraint: Constraint) -> None:
    if constraint.entry.state is not State.FUTURE:
        raise NotAllowed(
            f"{constraint.entry.id} is no longer active (it is {constraint.entry.state}); nothing to do."
        )


def excerpt_of(timeline: Timeline, entry: Entry) -> Excerpt:
    """The head and the tail of the entry's content, empty where it has none."""
    if entry.content is None:
        return Excerpt("", "", 0)
    return _cut(*timeline.excerpt(entry.content, HEAD_CHARS, TAIL_CHARS))


def excerpts_of(timeline: Timeline, entries: Sequence[Entry]) -> dict[int, Excerpt]:
    """The same of many entries, by their key."""
    contents = [entry.content for entry in entries if entry.content is not None]
    found = timeline.excerpts(contents, HEAD_CHARS, TAIL_CHARS) if contents else {}
    nothing = ("", "", 0)
    return {
        entry.pk: _cut(*(nothing if entry.content is None else found.get(entry.content, nothing)))
        for entry in entries
    }


def _cut(head: str, tail: str, length: int) -> Excerpt:
    return Excerpt(head, tail, max(0, length - len(head) - len(tail)))
