"""Bring back an entry that the cycle forgot, while its text is still kept."""

from __future__ import annotations

from dataclasses import dataclass

from vlk2.app.consolidate import GRACE
from vlk2.app.entries import the_entry
from vlk2.domain.moments import span, stamp
from vlk2.domain.states import Reason, State
from vlk2.errors import NotAllowed
from vlk2.ports import Owner, Store


@dataclass(frozen=True, slots=True)
class Restored:
    entry_id: str
    state: str
    text: str


def restore(store: Store, owner: Owner, entry_id: str, *, now: int, actor: str = "agent") -> Restored:
    """PURGED -> PAST, within 14 days of the cycle's forgetting. NotAllowed where the entry is not forgotten, or
    where its words are gone: the grace is over, or it was forgotten or erased by hand."""
    with store.write(owner, now) as timeline:
        entry = the_entry(timeline, entry_id)
        if entry.state is not State.PURGED:
            raise NotAllowed(f"{entry.id} is {entry.state}, not forgotten: there is nothing to restore.")
        purge = timeline.moves(entry)[-1]
        if entry.tokens == 0:
            how = (
                "its grace of 14 days is over"
                if purge.reason is Reason.CYCLE
                else "its text was erased at once"
            )
            raise NotAllowed(
                f"{entry.id} was forgotten at {stamp(purge.at)} and {how}: nothing is left of it."
            )
        timeline.move(entry, State.PAST, Reason.RESTORED, actor=actor, at=now)
        timeline.note_use([entry.id], now, shown=False)
    left = span(max(0, purge.at + GRACE - now))
    return Restored(
        entry.id,
        State.PAST.value,
        f"Restored {entry.id}: it is in PAST again, {left} before its text would have been erased. Pin it to keep it.",
    )
