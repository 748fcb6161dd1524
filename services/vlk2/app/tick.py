"""One tick of the cycle: lease what changed or came due, consolidate each timeline, distil its facts."""

from __future__ import annotations

from collections.abc import Callable

from vlk2.app.consolidate import Done, consolidate
from vlk2.app.distil import distil
from vlk2.domain.moments import MINUTE
from vlk2.errors import NotAllowed, StoreBusy, Vlk2Error
from vlk2.ports import Lease, Mint, Store, TokenCounter

MOST_TIMELINES = 200
LEASE = 5 * MINUTE
RETRY = MINUTE
MOST_FAILURES = 5


def tick(
    store: Store,
    *,
    worker: str,
    clock: Callable[[], int],
    period: int,
    budget: int,
    counter: TokenCounter,
    mint: Mint,
) -> list[Done] | None:
    """Runs one tick unless another process has had this period's (then None). `period` in microseconds.

    A timeline that fails is given back and tried again a minute later, and parked at its fifth failure in a
    row; the others go on.
    """
    started = clock()
    # A little less than the period, so that its own next tick finds the lease free.
    if store.take_lease("cycle", worker, now=started, until=started + period * 9 // 10) is None:
        return None
    done: list[Done] = []
    for lease in store.lease_due(worker, now=started, until=started + LEASE, most=MOST_TIMELINES):
        try:
            done.append(consolidate(store, lease, clock=clock, budget=budget, counter=counter))
            distil_leased(store, lease, worker=worker, now=clock(), mint=mint)
        except (NotAllowed, StoreBusy):
            continue  # another worker has it, or will: its lease says which
        except Vlk2Error:
            store.note_failure(lease, now=clock(), retry_at=clock() + RETRY, most=MOST_FAILURES)
    return done


def distil_leased(store: Store, lease: Lease, *, worker: str, now: int, mint: Mint) -> None:
    owner = store.owner_of(lease.timeline_id)
    if owner is not None:
        distil(store, owner, worker=worker, now=now, mint=mint)
