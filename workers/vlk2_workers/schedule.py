"""What beat sends, and when."""

from __future__ import annotations

from typing import Any

from vlk2.settings import Settings
from vlk2_workers.routing import spread

LONGEST_SPREAD = 5.0
# A busy worker may be slower than a short cycle: it would find every tick expired and never run one.
SHORTEST_LIFE = 10.0


def schedule(settings: Settings) -> dict[str, dict[str, Any]]:
    """Beat's entries. Each expires when its next one comes (or after 10 seconds), so that what piled up in an
    outage is not caught up with."""
    cycle = settings.cycle_seconds
    return {
        "dispatch": _every(cycle, "vlk2.dispatch"),
        "relieve": _every(cycle / 3, "vlk2.relieve"),
        "reconcile": _every(max(cycle, settings.lease_seconds / 5), "vlk2.reconcile"),
    }


def _every(seconds: float, task: str) -> dict[str, Any]:
    return {"task": task, "schedule": seconds, "options": {"expires": max(seconds, SHORTEST_LIFE)}}


def delay(timeline_id: str, cycle_seconds: float) -> float:
    """How long after its tick a timeline's turn comes: by its hash, within a sixth of the cycle and 5 seconds,
    so that a tick of many timelines does not meet the database at once."""
    return spread(timeline_id) / 2**32 * min(cycle_seconds / 6, LONGEST_SPREAD)
