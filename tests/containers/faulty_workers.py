"""The workers' application with faults that a test asks for by environment: `celery -A faulty_workers worker`.

FAULT_LOG   a file that gets a line for each fault, so that a test can count them
FAULT_EXIT  project: the process of whoever consolidates it dies in the middle of the transaction, always
FAULT_ONCE  the first consolidation of all dies so
FAULT_RAISE project: its consolidation raises
FAULT_SLOW  seconds: no consolidation begins before a second delivery has come, or so many have passed
FAULT_VISIBILITY  the broker's visibility timeout in seconds, whatever the limits say
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import vlk2.app.consolidate
import vlk2.app.tick
from vlk2.domain.moments import SECOND
from vlk2_workers import app, tasks

__all__ = ["app"]

_within: list[str] = []
_real_leased = tasks.consolidate_leased
_real_archive = vlk2.app.consolidate.archive_over_budget


def _note(what: str) -> int:
    """Adds a line to the log; answers how many there are."""
    with Path(os.environ["FAULT_LOG"]).open("a+") as log:
        log.write(f"{what}\n")
        log.flush()
        log.seek(0)
        return len(log.readlines())


def _leased(store: Any, lease: Any, **more: Any) -> Any:
    owner = store.owner_of(lease.timeline_id)
    _within[:] = [owner.project]
    if seconds := float(os.environ.get("FAULT_SLOW", "0")):
        _note(owner.project)
        end = time.monotonic() + seconds
        while Path(os.environ["FAULT_LOG"]).read_text().count(owner.project) < 2 and time.monotonic() < end:
            time.sleep(0.1)
    return _real_leased(store, lease, **more)


def _archive(timeline: Any, budget: int, now: int) -> Any:
    moved = _real_archive(timeline, budget, now)
    project = _within[0]
    if project == os.environ.get("FAULT_RAISE"):
        _note(project)
        raise ZeroDivisionError("what it holds breaks a rule")
    if project == os.environ.get("FAULT_EXIT") or (os.environ.get("FAULT_ONCE") and _note(project) == 1):
        if not os.environ.get("FAULT_ONCE"):
            _note(project)
        os._exit(9)
    return moved


tasks.consolidate_leased = _leased
vlk2.app.consolidate.archive_over_budget = _archive
vlk2.app.tick.RETRY = SECOND
if visibility := os.environ.get("FAULT_VISIBILITY"):
    app.conf.broker_transport_options = {
        **app.conf.broker_transport_options,
        "visibility_timeout": float(visibility),
        "unacked_restore_interval": 1,
    }
