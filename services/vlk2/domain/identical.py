"""What a run's recent past says of one identical call that is about to run again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vlk2.domain.entry import Constraint, Kind
from vlk2.domain.loops import key_of
from vlk2.domain.observation import Act, Outcome, Seen
from vlk2.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Identical:
    """The constraint that the call would run into, and what happened: `failures` of this very call under it,
    the newest of them, and the acts since, with whether any may have changed something."""

    constraint: Constraint
    failures: int
    last: Seen
    since: tuple[Act, ...]
    changed: bool


def identical(window: Sequence[Seen], call: str, live: Iterable[Constraint]) -> Identical | None:
    """The facts about `call` (an identical-call hash), or None where it never failed under a live constraint."""
    if not call:
        return None
    failed = [seen for seen in window if seen.call == call and seen.outcome is Outcome.FAILURE]
    if not failed:
        return None
    last = failed[-1]
    key = key_of(last)
    for constraint in live:
        fingerprint = constraint.entry.fingerprint
        if constraint.entry.kind is Kind.LOOP and fingerprint and fingerprint.key == key:
            later = [seen for seen in window if seen.seq > last.seq]
            return Identical(
                constraint=constraint,
                failures=sum(1 for seen in failed if key_of(seen) == key),
                last=last,
                since=tuple(seen.act for seen in later),
                changed=any(seen.changes for seen in later),
            )
    return None
