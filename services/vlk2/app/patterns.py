"""A team's patterns as its people see them: listed, explained, revoked, pinned."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from vlk2.app.distil import LEASE, reconsolidate
from vlk2.app.revoke import REASON_LIMIT
from vlk2.domain.beliefs import Pattern
from vlk2.domain.quoting import one_line
from vlk2.domain.text import normalise
from vlk2.errors import InvalidInput, NotFound, StoreBusy
from vlk2.frozen import dataclass
from vlk2.ports import Audited, Belief, Contradiction, Directory, Mint, PatternSource, Redactor, Store

MOST = 1_000
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Explained:
    """A pattern, when it was revoked, what stands behind it, and how the team came to believe it."""

    pattern: Pattern
    revoked_at: int | None
    sources: tuple[PatternSource, ...]
    beliefs: tuple[Belief, ...]
    contradictions: tuple[Contradiction, ...]


def list_patterns(
    store: Store, team: str, *, worker: str, now: int, mint: Mint, most: int = 200
) -> list[tuple[Pattern, int | None]]:
    """The team's patterns, newest first, each with when it was revoked; what was learned a moment ago among them."""
    if not 1 <= most <= MOST:
        raise InvalidInput(f"limit must be 1 to {MOST:,}.")
    _take_in(store, team, worker, now, mint)
    with store.directory(write=False) as directory:
        return directory.patterns(team, most)


def explain_pattern(
    store: Store, team: str, pattern_id: str, *, worker: str, now: int, mint: Mint
) -> Explained:
    """Everything about a pattern. NotFound where the team has none of that id (another team's reads the same)."""
    _take_in(store, team, worker, now, mint)
    with store.directory(write=False) as directory:
        pattern, revoked_at = _found(directory, team, pattern_id)
        sources = directory.pattern_sources(team, pattern.id)
    owner = next(owner for _, owner, _ in store.timelines(team))
    with store.read(owner, now) as timeline:
        return Explained(
            pattern,
            revoked_at,
            tuple(sources),
            tuple(timeline.beliefs(pattern.fingerprint.key)),
            tuple(timeline.contradictions(pattern.fingerprint.key)),
        )


def revoke_pattern(
    store: Store,
    team: str,
    pattern_id: str,
    reason: str,
    *,
    revoked: bool,
    actor: str,
    worker: str,
    now: int,
    mint: Mint,
    mask: Redactor,
) -> Pattern:
    """Withdraws a pattern from everybody in the team, or (`revoked` False) takes that back; constraints that agents
    learned from their own loops stay theirs. NotFound as for `explain_pattern`."""
    kept = one_line(mask(normalise(reason)), REASON_LIMIT)
    if not kept:
        raise InvalidInput("reason is empty: say in a sentence why.")
    _take_in(store, team, worker, now, mint)

    def act(directory: Directory) -> Pattern:
        pattern, _ = _found(directory, team, pattern_id)
        directory.revoke_pattern(team, pattern.id, now if revoked else None, now)
        act = "pattern.revoke" if revoked else "pattern.restore"
        directory.note(Audited(now, actor, team, act, pattern.id, kept))
        return pattern

    return _under_lease(store, team, worker, now, act)


def pin_pattern(
    store: Store,
    team: str,
    pattern_id: str,
    *,
    pinned: bool,
    actor: str,
    worker: str,
    now: int,
    mint: Mint,
) -> Pattern:
    """Keeps a pattern in front of those who meet its failure, whatever its confidence; or takes that back."""
    _take_in(store, team, worker, now, mint)

    def act(directory: Directory) -> Pattern:
        pattern, _ = _found(directory, team, pattern_id)
        directory.pin_pattern(team, pattern.id, pinned, now)
        act = "pattern.pin" if pinned else "pattern.unpin"
        directory.note(Audited(now, actor, team, act, pattern.id, ""))
        return pattern

    return _under_lease(store, team, worker, now, act)


def _found(directory: Directory, team: str, pattern_id: str) -> tuple[Pattern, int | None]:
    found = directory.pattern(team, pattern_id)
    if found is None:
        raise NotFound(f"there is no pattern {one_line(pattern_id, 40)}: `vlk2 patterns list` shows them.")
    return found


def _take_in(store: Store, team: str, worker: str, now: int, mint: Mint) -> None:
    """Makes facts of the evidence that waits, so that each pattern has its id."""
    owner = next((owner for _, owner, _ in store.timelines(team)), None)
    if owner is None:
        return
    with store.directory(write=False) as directory:
        waiting = directory.unlearned(team, MOST)
    reconsolidate(store, owner, waiting, worker=worker, now=now, mint=mint)


def _under_lease(store: Store, team: str, worker: str, now: int, act: Callable[[Directory], _T]) -> _T:
    """Facts are written under the team's lease. StoreBusy where somebody else holds it."""
    name = f"team:{team}"
    version = store.take_lease(name, worker, now=now, until=now + LEASE)
    if version is None:
        raise StoreBusy("the team's facts are just being written: try again in a moment.")
    try:
        with store.directory(write=True) as directory:
            return act(directory)
    finally:
        store.drop_lease(name, worker, version)
