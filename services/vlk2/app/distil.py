"""Bring the team's facts up to date with what its timelines have learned since."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from vlk2.domain.beliefs import Evidence, Pattern, pattern_of, seen_by, taken_in
from vlk2.domain.moments import SECOND
from vlk2.domain.observation import Fingerprint
from vlk2.errors import StoreUnavailable
from vlk2.ports import Mint, Owner, Store, Timeline

LEASE = 30 * SECOND


def distil(store: Store, owner: Owner, *, worker: str, now: int, mint: Mint) -> bool:
    """Takes the timeline's new loops, endings and revocations into the facts of its team, under the team's lease.

    False, with nothing changed, where another worker holds the lease: the evidence waits for the next time.
    """
    return _under_lease(
        store, owner, worker, now, lambda timeline: _take_in(timeline, timeline.fact_evidence(), mint, now)
    )


def reconsolidate(
    store: Store, owner: Owner, failures: Sequence[Fingerprint], *, worker: str, now: int, mint: Mint
) -> list[Pattern]:
    """What the team believes of these failures now, with the evidence of all its timelines taken in.

    The facts are rewritten first, so that what is shown is what is stored. Where that cannot be (another worker
    holds the team's lease, the store takes no writes) the answer is no less true: what waits is counted in.
    """
    if not failures:
        return []
    with store.read(owner, now) as timeline:
        behind = [f for f in failures if (learned := timeline.learned(f)) and learned.pending]

    def rewrite(timeline: Timeline) -> None:
        for failure in behind:
            learned = timeline.learned(failure)
            _take_in(timeline, learned.pending if learned else (), mint, now)

    if behind:
        # The view below is made from the evidence itself, not from what could be written.
        with contextlib.suppress(StoreUnavailable):
            _under_lease(store, owner, worker, now, rewrite)
    with store.read(owner, now) as timeline:
        seen = [seen_by(learned, timeline.agent) for f in failures if (learned := timeline.learned(f))]
    return [pattern for pattern in seen if pattern is not None]


def _under_lease(store: Store, owner: Owner, worker: str, now: int, work: Callable[[Timeline], None]) -> bool:
    name = f"team:{owner.team}"
    version = store.take_lease(name, worker, now=now, until=now + LEASE)
    if version is None:
        return False
    try:
        with store.write(owner, now) as timeline:
            work(timeline)
    finally:
        store.drop_lease(name, worker, version)
    return True


def _take_in(timeline: Timeline, evidence: Sequence[Evidence], mint: Mint, now: int) -> None:
    """One item after the other, by failure and in the order of their own times: each belief of a fact's life is
    one that the team could have held."""
    for item in sorted(evidence, key=lambda e: (e.fingerprint, e.at, e.pk)):
        held = timeline.held(item.fingerprint)
        sources = taken_in(held.sources if held else (), [item])
        if held is None and not any(source.loops for source in sources):
            timeline.drop_evidence(item)
            continue
        belief = pattern_of(
            held.id if held and not item.against else mint("f"),
            timeline.fingerprint(item.fingerprint),
            sources,
            repeats=0,
            pinned=held is not None and held.pinned,
        )
        timeline.believe(held, belief, sources, item, now)
