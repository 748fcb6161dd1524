"""How long each thing may take."""

from __future__ import annotations

from dataclasses import dataclass

from vlk2.settings import Settings


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds, each less than the next: a task is asked to stop, killed, its lease runs out, and its message
    is delivered again."""

    soft: float
    hard: float
    lease: float
    visibility: float

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        lease = settings.lease_seconds
        return cls(soft=lease * 0.3, hard=lease * 0.4, lease=lease, visibility=lease * 3)
