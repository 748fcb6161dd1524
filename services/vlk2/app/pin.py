"""Pin or unpin an entry: protected from budget, age and forgetting, not from truth."""

from __future__ import annotations

from vlk2.app.entries import the_entry
from vlk2.domain.budget import pins_fit
from vlk2.domain.states import State
from vlk2.errors import NotAllowed
from vlk2.frozen import dataclass
from vlk2.ports import Owner, Store


@dataclass(frozen=True, slots=True)
class Pinned:
    entry_id: str
    pinned: bool
    text: str


def pin(store: Store, owner: Owner, entry_id: str, *, pinned: bool, budget: int, now: int) -> Pinned:
    """Pins or unpins. NotAllowed, with the figures, where pins alone would pass the budget, and for a
    purged entry."""
    with store.write(owner, now) as timeline:
        entry = the_entry(timeline, entry_id)
        if entry.state is State.PURGED:
            raise NotAllowed(
                f"{entry.id} is forgotten; `vlk2 restore {entry.id}` brings it back if it is in time."
            )
        if entry.pinned == pinned:
            return Pinned(entry.id, pinned, f"{entry.id} is {'already' if pinned else 'not'} pinned.")
        live = entry.state in (State.PRESENT, State.FUTURE)
        if pinned and live:
            held = timeline.pinned_tokens()
            total = pins_fit(held, entry.tokens, budget)
            if total is not None:
                raise NotAllowed(
                    f"pinning {entry.id} ({entry.tokens} tokens) would bring the pinned entries to {total} "
                    f"tokens, over the budget of {budget}; {sum(held)} are pinned now. Unpin another first."
                )
        timeline.set_pinned(entry, pinned, now)
        timeline.touch(now)
    meaning = (
        "it is kept from budget, age and forgetting, not from contradiction."
        if pinned
        else "it may be archived and forgotten like any other."
    )
    return Pinned(entry.id, pinned, f"{'Pinned' if pinned else 'Unpinned'} {entry.id}: {meaning}")
