"""Whether a part makes progress, for health checks: `python -m vlk2_workers.health worker|beat`.

Exit code 0 and one line, or 1 and why not: a process that lives and does nothing is not healthy. The front-end
says it of itself, at /readyz.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from vlk2.app.dispatch import last_tick
from vlk2.bootstrap import now, open_store
from vlk2.errors import Vlk2Error
from vlk2.ports import Store
from vlk2.settings import Settings, load
from vlk2_workers.heartbeat import heartbeat_file
from vlk2_workers.limits import Limits

# A worker's heart beats every two seconds, and is that of the process that talks to the broker.
SILENT_AFTER = 60
MISSED_TICKS = 3
SLACK = 15
_SECOND = 1_000_000


class Unhealthy(Exception):
    """What does not go on, in a sentence."""


def worker(store: Store, held: Settings) -> str:
    """This worker hears its broker, and what is due gets done."""
    file = heartbeat_file()
    try:
        silent = time.time() - file.stat().st_mtime
    except FileNotFoundError:
        raise Unhealthy(f"the worker has not reached its broker yet (no {file})") from None
    if silent > SILENT_AFTER:
        raise Unhealthy(f"the worker has not heard its broker for {silent:.0f} s")
    backlog = store.backlog(now())
    waited = 0 if backlog.oldest_due_at is None else (now() - backlog.oldest_due_at) / _SECOND
    longest = longest_wait(held)
    if waited > longest:
        raise Unhealthy(
            f"{backlog.due} timelines are due, the oldest for {waited:.0f} s (more than {longest:.0f}): add workers, "
            "or see their log"
        )
    return f"heartbeat {silent:.0f} s ago, {backlog.due} timelines due, {backlog.parked} parked"


def beat(store: Store, held: Settings) -> str:
    """The cycle has ticked: beat sent it, the broker carried it and a worker ran it."""
    at = last_tick(store, round(held.cycle_seconds * _SECOND))
    if at is None:
        raise Unhealthy("the cycle has not ticked yet")
    ago, most = (now() - at) / _SECOND, held.cycle_seconds * MISSED_TICKS + SLACK
    if ago > most:
        raise Unhealthy(f"the last tick was {ago:.0f} s ago (more than {most:.0f})")
    return f"last tick {max(ago, 0.0):.0f} s ago"


def longest_wait(held: Settings) -> float:
    """Seconds that a timeline may be due before something is wrong: two leases that were lost in a row, and
    the ticks between."""
    return 2 * Limits.of(held).lease + 3 * held.cycle_seconds + SLACK


PARTS: dict[str, Callable[[Store, Settings], str]] = {"worker": worker, "beat": beat}


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in PARTS:
        sys.stderr.write(f"usage: python -m vlk2_workers.health {'|'.join(PARTS)}\n")
        return 2
    try:
        held = load()
        store = open_store(held.store, migrate=False)
        try:
            said = PARTS[arguments[0]](store, held)
        finally:
            store.close()
    except (Unhealthy, Vlk2Error) as error:
        sys.stdout.write(f"{arguments[0]} is not healthy: {error}\n")
        return 1
    sys.stdout.write(f"{arguments[0]} is healthy: {said}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
