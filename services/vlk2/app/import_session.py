"""Write a recorded session into the memory at its own times: PAST and facts, hardly ever a constraint."""

from __future__ import annotations

from collections.abc import Iterable

from vlk2.app.record import Terms, record
from vlk2.domain.event import Event, EventKind
from vlk2.domain.moments import DAY
from vlk2.domain.states import Reason, State
from vlk2.frozen import dataclass, replace
from vlk2.ports import Mint, Owner, Redactor, Store, TokenCounter

FRESH = 7 * DAY


@dataclass(frozen=True, slots=True)
class Imported:
    """How many observations were new, how many were held already, and the constraints that stand."""

    added: int
    known: int
    undated: int
    constraint_ids: tuple[str, ...]


def import_session(
    store: Store,
    owner: Owner,
    steps: Iterable[tuple[int, str, Event]],
    name: str,
    *,
    threshold: int,
    now: int,
    mint: Mint,
    mask: Redactor,
    counter: TokenCounter,
) -> Imported:
    """Records every dated step at its own time, straight to PAST; a second import adds nothing.

    `name` tells the file's steps apart where the client gave no id of the call. A constraint stands only
    where its last occurrence is under seven days old and no later success retired it. A step without a time
    is left out and counted: it cannot be placed in a timeline.
    """
    terms = Terms("import", threshold, "import", archive=True)
    added = known = undated = 0
    made: dict[str, int] = {}
    for position, run, event in steps:
        if event.kind is not EventKind.RESULT or event.interrupted:
            continue
        if not event.text.strip() and event.is_error is None and event.exit_code is None:
            continue
        if not event.at:
            undated += 1
            continue
        placed = replace(
            event,
            at=min(event.at, now),
            use_id=event.use_id or f"{name}#{position}",
            session=event.session or run,
        )
        done = record(
            store,
            owner,
            placed,
            terms,
            now=placed.at,
            mint=mint,
            mask=mask,
            counter=counter,
        )
        if done.duplicate:
            known += 1
            continue
        added += 1
        if done.constraint:
            made[done.constraint.entry.id] = placed.at
        for retired in done.retired:
            made.pop(retired, None)
    return Imported(added, known, undated, _keep_fresh(store, owner, made, now))


def _keep_fresh(store: Store, owner: Owner, made: dict[str, int], now: int) -> tuple[str, ...]:
    """Archives the constraints of this import whose last occurrence is too long ago."""
    if not made:
        return ()
    standing: list[str] = []
    with store.write(owner, now) as timeline:
        for constraint in timeline.constraints(attempts=False):
            if constraint.entry.id not in made:
                continue
            if now - constraint.last_at < FRESH:
                standing.append(constraint.entry.id)
            else:
                timeline.move(
                    constraint.entry,
                    State.PAST,
                    Reason.RETIRED,
                    detail="imported: its last occurrence is over seven days old",
                    actor="import",
                    at=now,
                )
    return tuple(standing)
