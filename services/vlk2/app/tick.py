"""One tick of the cycle: lease what changed or came due, consolidate each timeline, distil its facts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from vlk2.app.consolidate import Done, consolidate
from vlk2.app.dispatch import MOST_FAILURES, dispatch
from vlk2.app.distil import distil
from vlk2.app.enforce_budget import enforce_budget
from vlk2.app.index_pending import index_pending
from vlk2.domain.moments import MINUTE
from vlk2.errors import NotAllowed, StoreBusy, StoreFault, StoreUnavailable
from vlk2.frozen import dataclass
from vlk2.ports import Lease, Mint, Store, TokenCounter

RETRY = MINUTE
INDEX_ROUNDS = 5
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Dropped:
    """Another worker has the timeline, or will: its lease says which."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The timeline could not be consolidated; that is noted, and it is tried again later."""

    error: Exception


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
    row; the others go on. At last some of what recording left for the search index is taken in.
    """
    leases = dispatch(store, worker=worker, now=clock(), period=period)
    if leases is None:
        return None
    done: list[Done] = []
    for lease in leases:
        try:
            outcome = consolidate_leased(store, lease, clock=clock, budget=budget, counter=counter, mint=mint)
        except StoreBusy:
            continue  # not the timeline's fault: its lease runs out and it is taken again
        if isinstance(outcome, Done):
            done.append(outcome)
    owner = store.owner_of(leases[-1].timeline_id) if leases else None
    if owner:
        with suppress(StoreUnavailable):
            index_pending(store, owner, clock(), rounds=INDEX_ROUNDS)
    return done


def consolidate_leased(
    store: Store,
    lease: Lease,
    *,
    clock: Callable[[], int],
    budget: int,
    counter: TokenCounter,
    mint: Mint,
) -> Done | Dropped | Failed:
    """Consolidates one leased timeline and distils what it has learned. StoreUnavailable where the store is
    away: that is no failure of the timeline."""

    def work() -> Done:
        done = consolidate(store, lease, clock=clock, budget=budget, counter=counter)
        owner = store.owner_of(lease.timeline_id) if done.evidence else None
        if owner and not distil(store, owner, worker=lease.owner, now=clock(), mint=mint):
            with store.write(owner, clock()) as timeline:  # another has the team: again at the next tick
                timeline.touch(clock())
        return done

    return _guarded(store, lease, clock, work)


def enforce_leased(
    store: Store, lease: Lease, *, clock: Callable[[], int], budget: int, counter: TokenCounter
) -> list[tuple[str, str]] | Dropped | Failed:
    """Brings one leased timeline within its budget. StoreUnavailable as above."""

    def work() -> list[tuple[str, str]]:
        return enforce_budget(store, lease, now=clock(), budget=budget, counter=counter)

    return _guarded(store, lease, clock, work)


def _guarded(
    store: Store, lease: Lease, clock: Callable[[], int], work: Callable[[], _Result]
) -> _Result | Dropped | Failed:
    try:
        return work()
    except NotAllowed:
        return Dropped()
    except Exception as error:
        if isinstance(error, StoreUnavailable) and not isinstance(error, StoreFault):
            raise
        now = clock()
        store.note_failure(lease, now=now, retry_at=now + RETRY, most=MOST_FAILURES)
        return Failed(error)
