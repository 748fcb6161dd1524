"""What the tasks of one process work with: the store, opened after the fork, and the exact token counter."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from celery import signals

from vlk2.bootstrap import open_store
from vlk2.ports import Store, TokenCounter
from vlk2.settings import Settings
from vlk2.tokens import background
from vlk2_workers.celery_app import settings
from vlk2_workers.limits import Limits


@dataclass(frozen=True, slots=True)
class Process:
    """Settings, store and counter of this process, and its limits."""

    settings: Settings
    store: Store
    counter: TokenCounter
    limits: Limits

    @property
    def period(self) -> int:
        """The cycle in microseconds."""
        return round(self.settings.cycle_seconds * 1_000_000)

    @property
    def lease(self) -> int:
        """A timeline's lease in microseconds."""
        return round(self.limits.lease * 1_000_000)


_held: tuple[int, Process] | None = None
_signals: Any = signals


def process() -> Process:
    """This process's own: never one that was opened before a fork, whose connections its parent uses too."""
    global _held
    if _held is None or _held[0] != os.getpid():
        counter = background()
        counter.wait(10)  # a budget by upper bounds would archive what fits
        held = settings()
        _held = (os.getpid(), Process(held, open_store(held.store), counter, Limits.of(held)))
    return _held[1]


def close() -> None:
    """Closes this process's store; the next task opens it again."""
    global _held
    if _held is not None and _held[0] == os.getpid():
        _held[1].store.close()
    _held = None


@_signals.worker_process_init.connect
def _forget_the_parent(**_: Any) -> None:
    global _held
    _held = None


@_signals.worker_process_shutdown.connect
def _close(**_: Any) -> None:
    close()
