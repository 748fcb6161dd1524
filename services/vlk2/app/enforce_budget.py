"""Bring one timeline's PRESENT + FUTURE within its token budget."""

from __future__ import annotations

from collections.abc import Callable

from vlk2.app.entries import excerpts_of
from vlk2.domain.anchors import anchor_text
from vlk2.domain.budget import cost, fit
from vlk2.domain.context import entry_text
from vlk2.domain.entry import Entry, Kind
from vlk2.domain.states import Reason, State
from vlk2.ports import Lease, Store, Timeline, TokenCounter

ACTOR = "cycle"


def enforce_budget(
    store: Store, lease: Lease, *, now: int, budget: int, counter: TokenCounter
) -> list[tuple[str, str]]:
    """Archives what does not fit, without a cycle: entry ids with their reason, none where all fits.

    It needs the lease's version and no more, so it may follow a consolidation that has given the lease back;
    alone, it gives the lease back and leaves the timeline due for its next cycle. NotAllowed where the lease
    was lost.
    """
    with store.write_leased(lease, now) as timeline:
        moved: list[tuple[str, str]] = []
        if timeline.tokens > budget:
            if counter.exact:
                count_exactly(timeline, now, counter.count)
            moved = archive_over_budget(timeline, budget, now)
        if timeline.leased:
            timeline.give_back()
    return moved


def count_exactly(timeline: Timeline, now: int, count: Callable[[str], int]) -> None:
    """Replaces upper bounds by exact costs."""
    entries = timeline.uncounted()
    excerpts = excerpts_of(timeline, entries)
    counts: list[tuple[Entry, int]] = []
    for entry in entries:
        constraint = timeline.constraint(entry) if entry.kind is not Kind.LOG else None
        text = anchor_text(constraint, now) if constraint else entry_text(entry, excerpts[entry.pk], count)
        counts.append((entry, cost(text, count)))
    timeline.set_counts(counts)


def archive_over_budget(timeline: Timeline, budget: int, now: int) -> list[tuple[str, str]]:
    """Moves to PAST what the plan says must leave."""
    live = timeline.costed()
    leaving = set(fit(live, budget).leave)
    if not leaving:
        return []
    moved: list[tuple[str, str]] = []
    for state in (State.PRESENT, State.FUTURE):
        for entry in timeline.in_state(state, len(live)):
            if entry.pk in leaving:
                timeline.move(entry, State.PAST, Reason.BUDGET, actor=ACTOR, at=now)
                moved.append((entry.id, Reason.BUDGET.value))
    return moved
