"""What one new observation means for the memory: facts in, decision out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vlk2.domain.anchors import due_to_show
from vlk2.domain.entry import Constraint, Kind
from vlk2.domain.loops import LAST_THRESHOLD, Loop, Patience, Progress, contradicts, judge
from vlk2.domain.observation import Key, Outcome, Seen
from vlk2.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Met:
    """A new observation of an approach that is not known to be stuck. `repeats` counts its failure so far."""

    repeats: int


@dataclass(frozen=True, slots=True)
class Repeated:
    """One more occurrence under a live constraint: it goes straight to PAST and raises the count."""

    constraint: Constraint
    count: int
    show: bool


@dataclass(frozen=True, slots=True)
class Returned:
    """The failure of a constraint that the budget had archived: the constraint comes back."""

    constraint: Constraint
    count: int


@dataclass(frozen=True, slots=True)
class Closed:
    """The observation closed a loop: its evidence goes to PAST and a constraint is made."""

    loop: Loop
    threshold: int

    @property
    def repeats(self) -> int:
        return self.loop.repeats


@dataclass(frozen=True, slots=True)
class Succeeded:
    """A success; `against` are the live constraints that it contradicts and so retires."""

    against: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class History:
    """What a key has been through in a timeline: how often its constraints were revoked, and the seq after
    which evidence counts again (-1: all of it)."""

    revocations: int = 0
    since: int = -1


def patience_for(threshold: int, history: History) -> Patience:
    """The evidence that a key needs: the threshold, doubled for each revocation, at most 24 (or the threshold
    itself, where that is set higher)."""
    return Patience(min(threshold << history.revocations, max(threshold, LAST_THRESHOLD)), history.since)


Decision = Met | Repeated | Returned | Closed | Succeeded


def decide(
    window: Sequence[Seen],
    *,
    live: Sequence[Constraint],
    evidence: Callable[[Constraint], Sequence[Seen]],
    archived: Callable[[Key], Constraint | None],
    patience: Callable[[Key], Patience],
) -> Decision:
    """The decision on `window[-1]`, the new observation.

    `live` are the timeline's FUTURE constraints that have not lapsed, `evidence` answers the observations that
    one rests on, `archived` the constraint of a key that the budget archived, `patience` how
    much evidence a key needs.
    """
    new = window[-1]
    if new.outcome is Outcome.FAILURE and new.fingerprint is not None:
        if constraint := standing(new, live):
            count = constraint.count + 1
            return Repeated(constraint, count, due_to_show(count, constraint.shown))
        if back := archived(new.fingerprint.key):
            return Returned(back, back.count + 1)
    against = contradicted(new, live, evidence)
    verdict = judge(window, patience)
    if isinstance(verdict, Loop):
        for constraint in live:
            if constraint.entry.fingerprint and constraint.entry.fingerprint.key == verdict.key:
                count = constraint.count + 1
                return Repeated(constraint, count, due_to_show(count, constraint.shown))
        return Closed(verdict, patience(verdict.key).threshold)
    if new.outcome is Outcome.SUCCESS:
        return Succeeded(against)
    return Met(0 if isinstance(verdict, Progress) else verdict.repeats)


def standing(new: Seen, live: Sequence[Constraint]) -> Constraint | None:
    """The live constraint that holds this failure: of its key, or for an explicit record one of its type."""
    assert new.fingerprint is not None
    for constraint in live:
        if constraint.entry.kind is not Kind.LOOP or constraint.entry.fingerprint is None:
            continue
        if constraint.entry.fingerprint.key == new.fingerprint.key:
            return constraint
        if new.explicit and constraint.entry.fingerprint.signature == wildcard(new.fingerprint.signature):
            return constraint
    return None


def wildcard(signature: str) -> str:
    """`VERSION:LANGUAGE:TYPE:*`, the signature of a constraint on a whole type."""
    return signature.rpartition(":")[0] + ":*"


def contradicted(
    new: Seen, live: Sequence[Constraint], evidence: Callable[[Constraint], Sequence[Seen]]
) -> tuple[Constraint, ...]:
    """The live constraints against which this observation is a success (rule 10)."""
    if new.outcome is not Outcome.SUCCESS:
        return ()
    return tuple(
        constraint
        for constraint in live
        if constraint.entry.kind is Kind.LOOP
        and (new.command in constraint.marks or new.call in constraint.marks)
        and contradicts(new, evidence(constraint))
    )


def marks_of(evidence: Sequence[Seen]) -> tuple[str, ...]:
    """The same-command keys and identical-call hashes of what failed: by them a later success is found."""
    return tuple(dict.fromkeys(mark for seen in evidence for mark in (seen.command, seen.call) if mark))
