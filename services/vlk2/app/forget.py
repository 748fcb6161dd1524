"""Forget an entry at once: PURGED, and erased where no other agent holds the same text."""

from __future__ import annotations

from vlk2.app.entries import the_entry
from vlk2.domain.entry import Entry
from vlk2.domain.quoting import one_line
from vlk2.domain.states import Reason, State
from vlk2.domain.text import normalise
from vlk2.errors import InvalidInput, NotAllowed
from vlk2.frozen import dataclass
from vlk2.ports import Owner, Redactor, Store, Timeline

REASON_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The entry, its new state, and how many entries of this timeline held the same text and went with it."""

    entry_id: str
    state: str
    along: int
    text: str


def forget(
    store: Store, owner: Owner, entry_id: str, reason: str, *, now: int, mask: Redactor, actor: str = "agent"
) -> Forgotten:
    """PRESENT or PAST -> PURGED, with a tombstone. Entries of this timeline with the very same text go with
    it, for they hold what is to be forgotten. NotAllowed for a constraint and for what one still rests on:
    revoke it first; and for what is pinned."""
    if not reason.strip():
        raise InvalidInput("reason is empty: say in a few words why it is to be forgotten.")
    kept = one_line(mask(normalise(reason)), REASON_LIMIT)
    with store.write(owner, now) as timeline:
        entry = the_entry(timeline, entry_id)
        if entry.state is State.FUTURE:
            raise NotAllowed(
                f"{entry.id} is an active constraint: revoke it first (vlk_revoke_future or `vlk2 revoke`)."
            )
        if entry.state is State.PURGED:
            raise NotAllowed(f"{entry.id} is forgotten already.")
        holders = timeline.same_content(entry.content) if entry.content is not None else [entry]
        going = [h for h in holders if h.state is not State.PURGED]
        for holder in going:
            if holder.pinned:
                raise NotAllowed(f"{holder.id} is pinned: unpin it first (vlk_pin_memory or `vlk2 unpin`).")
            if cited := timeline.cited_by(holder):
                raise NotAllowed(
                    f"{holder.id} is what the active constraint {cited[0]} rests on: revoke that first."
                )
        for holder in going:
            _purge(timeline, holder, kept, actor, now)
        shared = entry.content is not None and timeline.held_elsewhere(entry.content)
        if entry.content is not None and not shared:
            timeline.drop_content(entry.content)
    along = len(going) - 1
    text = f"Forgot {entry.id}: " + (
        "nothing of it is left in this timeline; another timeline holds the same text, and keeps it."
        if shared
        else "its text is erased."
    )
    if along:
        text += f" {along} more {'entry' if along == 1 else 'entries'} with the same text went with it."
    return Forgotten(entry.id, State.PURGED.value, along, text)


def _purge(timeline: Timeline, entry: Entry, reason: str, actor: str, now: int) -> None:
    timeline.bury(entry, reason=reason, at=now)
    timeline.move(entry, State.PURGED, Reason.FORGOTTEN, detail=reason, actor=actor, at=now)
    timeline.blank(entry)
