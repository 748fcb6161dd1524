"""Decide which timelines a worker may take now, and free what no worker has any more."""

from __future__ import annotations

from vlk2.domain.moments import MINUTE
from vlk2.frozen import dataclass
from vlk2.ports import Backlog, Lease, Store

CYCLE = "cycle"
LEASE = 5 * MINUTE
MOST_TIMELINES = 200
MOST_FAILURES = 5


@dataclass(frozen=True, slots=True)
class Reconciled:
    """Leases that had run out and are free again, timelines newly parked, and how the cycle stands since."""

    freed: int
    parked: int
    backlog: Backlog


def dispatch(
    store: Store, *, worker: str, now: int, period: int, lease: int = LEASE, most: int = MOST_TIMELINES
) -> list[Lease] | None:
    """Leases at most `most` of the timelines that changed or came due, for `lease` microseconds each; fewer where
    twice as many are leased already, since what waits longer than its lease is done in vain. None where another
    process has this period's tick. `period` in microseconds."""
    if store.take_lease(CYCLE, worker, now=now, until=tick_end(now, period)) is None:
        return None
    room = min(most, 2 * most - store.backlog(now).leased)
    return store.lease_due(worker, now=now, until=now + lease, most=room) if room > 0 else []


def relieve(
    store: Store, *, worker: str, now: int, budget: int, lease: int = LEASE, most: int = MOST_TIMELINES
) -> list[Lease]:
    """Leases the timelines whose stored token sum has passed the budget since the last tick.

    None of them where the tick is due: it takes them, and does more for them.
    """
    until = store.lease_until(CYCLE)
    if until is None or until <= now:
        return []
    return store.lease_over(worker, budget=budget, now=now, until=now + lease, most=most)


def reconcile(store: Store, *, now: int, most_failures: int = MOST_FAILURES) -> Reconciled:
    """Frees the leases that have run out, and parks every timeline that failed so often in a row."""
    freed, parked = store.free_expired(now=now, most=most_failures)
    return Reconciled(freed, parked, store.backlog(now))


def last_tick(store: Store, period: int) -> int | None:
    """When the cycle last ticked, None where it never has."""
    until = store.lease_until(CYCLE)
    return None if until is None else until - tick_end(0, period)


def tick_end(now: int, period: int) -> int:
    """Until when a tick is its process's own: a little less than the period, so that its own next tick finds
    the lease free."""
    return now + period * 9 // 10
