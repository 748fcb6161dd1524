"""Bring the team's facts up to date with what one timeline has learned since."""

from __future__ import annotations

from collections.abc import Sequence

from vlk2.domain.beliefs import Pattern, confidence
from vlk2.domain.moments import SECOND
from vlk2.domain.states import Reason
from vlk2.ports import FactEvidence, Mint, Owner, Store, Timeline

LEASE = 30 * SECOND


def distil(store: Store, owner: Owner, *, worker: str, now: int, mint: Mint) -> bool:
    """Adds the timeline's new loops, endings and revocations to the facts of its team, under the team's lease.

    False, with nothing changed, where another worker holds the lease: the evidence waits for the next time.
    """
    name = f"team:{owner.team}"
    version = store.take_lease(name, worker, now=now, until=now + LEASE)
    if version is None:
        return False
    try:
        with store.write(owner, now) as timeline:
            # In the order of their keys, so that two teams' workers never wait for each other.
            for evidence in sorted(timeline.fact_evidence(), key=lambda e: (e.fingerprint, e.at)):
                _add(timeline, evidence, mint)
            timeline.facts_are_current()
    finally:
        store.drop_lease(name, worker, version)
    return True


def _add(timeline: Timeline, evidence: FactEvidence, mint: Mint) -> None:
    fact = timeline.fact(evidence.fingerprint, new_id=mint("f"), at=evidence.at)
    against = evidence.reason is not Reason.LOOP
    sums = timeline.add_to_fact(
        fact,
        loops=0 if against else 1,
        repeats=0 if against else evidence.count,
        successes=int(against),
        at=evidence.at,
    )
    if against:
        timeline.contradict(fact, seq=evidence.seq, at=evidence.at, resolution=evidence.reason.value)
    timeline.save_fact(fact, sums, confidence(sums.loops, sums.successes), evidence.at)


def reconsolidate(
    store: Store, owner: Owner, patterns: Sequence[Pattern], *, worker: str, now: int, mint: Mint
) -> list[Pattern]:
    """The patterns as they stand once this timeline's newer observations are taken in."""
    if not patterns:
        return []
    distil(store, owner, worker=worker, now=now, mint=mint)
    with store.read(owner, now) as timeline:
        fresh = [timeline.pattern(pattern.fingerprint.key) for pattern in patterns]
    return [pattern for pattern in fresh if pattern is not None]
