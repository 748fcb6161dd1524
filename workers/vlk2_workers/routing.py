"""Which queue a task goes to: one timeline's tasks always to the same, so that its pages stay warm there.

That is locality and nothing else. Two tasks of one timeline may run at once wherever they are; the lease and
its version decide which of them writes.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

from kombu.entity import Exchange, Queue

MAINTENANCE = "vlk2.maintenance"
KEYED = frozenset(["vlk2.consolidate", "vlk2.enforce_budget"])


def queues(shards: int) -> list[Queue]:
    """Every queue there is: the maintenance queue and one for each shard. A worker takes from all of them, or
    from those that `-Q` names."""
    exchange = Exchange("vlk2", type="direct")
    names = (MAINTENANCE, *(shard_name(n) for n in range(shards)))
    return [Queue(name, exchange, routing_key=name) for name in names]


def shard_name(number: int) -> str:
    return f"vlk2.timelines.{number}"


def spread(timeline_id: str) -> int:
    """A number that is the same for a timeline in every process, evenly spread over 32 bit."""
    return zlib.crc32(timeline_id.encode())


def queue_of(timeline_id: str, shards: int) -> str:
    return shard_name(spread(timeline_id) % shards)


def route(shards: int, name: str, args: Sequence[Any], *_: Any, **__: Any) -> dict[str, Any] | None:
    """Celery's router, but for `shards`: the shard of the timeline that the first argument names; None for
    the tasks that are of no timeline."""
    if name not in KEYED:
        return None
    return {"queue": queue_of(args[0], shards)}
