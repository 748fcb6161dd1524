"""The tasks. Each takes ids, calls a use case of `vlk2.app`, and may run twice."""

from __future__ import annotations

import logging
from typing import Any, Protocol

from celery.exceptions import Ignore

from vlk2.app import dispatch as turns
from vlk2.app.tick import Dropped, Failed, consolidate_leased, enforce_leased
from vlk2.bootstrap import mint, now
from vlk2.errors import StoreUnavailable
from vlk2.ports import Lease
from vlk2_workers.celery_app import app
from vlk2_workers.process import Process, process
from vlk2_workers.schedule import delay

_log = logging.getLogger(__name__)


class Running(Protocol):
    """What a bound task knows of the message that it runs for."""

    request: Any


# A store that is away is waited for a little; for longer, the lease runs out and the timeline is sent again.
PATIENT: dict[str, Any] = {
    "autoretry_for": (StoreUnavailable,),
    "retry_backoff": 1,
    "retry_backoff_max": 10,
    "max_retries": 3,
    "throws": (StoreUnavailable,),
}
# What beat sends comes again by itself.
PERIODIC: dict[str, Any] = {"acks_late": False, "throws": (StoreUnavailable,)}


@app.task(name="vlk2.dispatch", bind=True, **PERIODIC)
def dispatch(self: Running) -> None:
    """One tick: leases what changed or came due and sends each timeline's chain."""
    mine = process()
    cycle = mine.settings.cycle_seconds
    leases = turns.dispatch(
        mine.store,
        worker=_worker(self),
        now=now(),
        period=mine.period,
        lease=mine.lease,
        most=mine.settings.cycle_most,
    )
    for wait, names in sorted((delay(one.timeline_id, cycle), _names(one)) for one in leases or ()):
        steps = consolidate.si(*names) | enforce_budget.si(*names)
        steps.apply_async(countdown=wait, expires=mine.limits.lease)


@app.task(name="vlk2.relieve", bind=True, **PERIODIC)
def relieve(self: Running) -> None:
    """Between two ticks: sends the budget's part alone for the timelines that have passed it."""
    mine = process()
    for lease in turns.relieve(
        mine.store,
        worker=_worker(self),
        now=now(),
        budget=mine.settings.token_budget,
        lease=mine.lease,
        most=mine.settings.cycle_most,
    ):
        enforce_budget.apply_async(_names(lease), expires=mine.limits.lease)


@app.task(name="vlk2.reconcile", **PERIODIC)
def reconcile() -> None:
    """Frees the leases that have run out and parks what keeps failing."""
    done = turns.reconcile(process().store, now=now())
    if done.freed or done.parked:
        _log.warning("%d leases had run out, %d timelines newly parked", done.freed, done.parked)


@app.task(name="vlk2.consolidate", bind=True, **PATIENT)
def consolidate(self: Running, timeline_id: str, version: int) -> None:
    """One timeline's cycle, under its lease."""
    mine, lease = _taken(self, timeline_id, version)
    budget, counter = mine.settings.token_budget, mine.counter
    _settled(
        consolidate_leased(mine.store, lease, clock=now, budget=budget, counter=counter, mint=mint), lease
    )


@app.task(name="vlk2.enforce_budget", bind=True, **PATIENT)
def enforce_budget(self: Running, timeline_id: str, version: int) -> None:
    """One timeline's budget, after its cycle or alone."""
    mine, lease = _taken(self, timeline_id, version)
    budget, counter = mine.settings.token_budget, mine.counter
    _settled(enforce_leased(mine.store, lease, clock=now, budget=budget, counter=counter), lease)


def _names(lease: Lease) -> tuple[str, int]:
    return lease.timeline_id, lease.version


def _worker(task: Running) -> str:
    return str(task.request.hostname)


def _taken(task: Running, timeline_id: str, version: int) -> tuple[Process, Lease]:
    """This process and the lease in this worker's name. A delivery that comes again was lost with its worker:
    that counts as a failure of the timeline, so that one which kills its workers is parked too."""
    mine, lease = process(), Lease(timeline_id, _worker(task), version)
    delivery: dict[str, Any] = task.request.delivery_info or {}
    if delivery.get("redelivered") and not mine.store.note_lost(lease, now=now(), most=turns.MOST_FAILURES):
        raise Ignore
    return mine, lease


def _settled(outcome: object, lease: Lease) -> None:
    """Ends the chain where the timeline failed or another worker has it."""
    if isinstance(outcome, Failed):
        # The name alone: an error's text may quote what the timeline holds.
        _log.warning("timeline %s failed: %s", lease.timeline_id, type(outcome.error).__name__)
    if isinstance(outcome, Failed | Dropped):
        raise Ignore
