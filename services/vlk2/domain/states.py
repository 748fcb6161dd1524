"""The four states of an entry and the only ways between them, written down once."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """`NEW` is before the first state and is never stored as an entry's state."""

    NEW = "NEW"
    PRESENT = "PRESENT"
    PAST = "PAST"
    FUTURE = "FUTURE"
    PURGED = "PURGED"


class Reason(StrEnum):
    """Why an entry moved."""

    RECORDED = "recorded"
    LOOP = "loop"
    LESSON = "lesson"
    REPEAT = "repeat"
    IMPORTED = "imported"
    BUDGET = "budget"
    STALE = "stale"
    TIME_TRAVEL = "time_travel"
    FORGOTTEN = "forgotten"
    CYCLE = "cycle"
    REVOKED = "revoked"
    RETIRED = "retired"
    SUPERSEDED = "superseded"
    RETURNED = "returned"
    RESTORED = "restored"
    ERASED = "erased"


TRANSITIONS: dict[tuple[State, State], frozenset[Reason]] = {
    (State.NEW, State.PRESENT): frozenset({Reason.RECORDED}),
    (State.NEW, State.FUTURE): frozenset({Reason.LOOP, Reason.LESSON, Reason.IMPORTED}),
    (State.NEW, State.PAST): frozenset({Reason.REPEAT, Reason.IMPORTED}),
    (State.PRESENT, State.PAST): frozenset({Reason.LOOP, Reason.BUDGET, Reason.STALE, Reason.TIME_TRAVEL}),
    (State.PRESENT, State.PURGED): frozenset({Reason.FORGOTTEN, Reason.CYCLE, Reason.ERASED}),
    (State.PAST, State.PURGED): frozenset({Reason.FORGOTTEN, Reason.CYCLE, Reason.ERASED}),
    (State.FUTURE, State.PAST): frozenset({Reason.REVOKED, Reason.RETIRED, Reason.BUDGET, Reason.SUPERSEDED}),
    (State.PAST, State.FUTURE): frozenset({Reason.RETURNED}),
    (State.PURGED, State.PAST): frozenset({Reason.RESTORED}),
    (State.FUTURE, State.PURGED): frozenset({Reason.ERASED}),
}


def allowed(source: State, target: State, reason: Reason) -> bool:
    """Whether an entry may go from `source` to `target` for `reason`."""
    return reason in TRANSITIONS.get((source, target), frozenset())
