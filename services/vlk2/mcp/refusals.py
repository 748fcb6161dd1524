"""Refusals on their way into the audit: each kind once a minute, with how often it came again, whatever the flood."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from vlk2.domain.moments import MINUTE
from vlk2.errors import Vlk2Error
from vlk2.ports import Audited

MOST_KINDS = 64
MOST_WAITING = 1_000

_log = logging.getLogger("vlk2.audit")
_Kind = tuple[str, str, str, str]


class Refusals:
    """Writes refusals from a thread of its own, so that none of them costs a request a write.

    In a minute at most `MOST_KINDS` different ones get a row of their own; what comes again, and what passes
    that number, is counted and written as one row when the minute is over.
    """

    def __init__(self, write: Callable[[Sequence[Audited]], None], clock: Callable[[], int]) -> None:
        self._write = write
        self._clock = clock
        self._rows: list[Audited] = []
        self._again: dict[_Kind, int] = {}
        self._since = clock()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="vlk2-audit", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float = 2.0) -> None:
        """Writes what is still to be written."""
        self._ended = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def note(self, act: str, *, actor: str, team: str, subject: str, detail: str = "") -> None:
        """One refusal. `actor` is who was refused: an agent, or an address."""
        now = self._clock()
        kind = (act, actor, team, subject)
        with self._lock:
            if now - self._since >= MINUTE:
                self._roll(now)
            if kind in self._again:
                self._again[kind] += 1
                return
            if len(self._again) >= MOST_KINDS:
                other = (act, "many", "", "")
                self._again[other] = self._again.get(other, 0) + 1
                return
            self._again[kind] = 0
            self._queue(Audited(now, actor, team, act, subject, detail))
        self._wake.set()

    def _roll(self, now: int) -> None:
        """A minute is over: what came again in it becomes rows."""
        for (act, actor, team, subject), count in self._again.items():
            if count:
                self._queue(Audited(now, actor, team, act, subject, f"{count} more within a minute"))
        self._again.clear()
        self._since = now

    def _queue(self, row: Audited) -> None:
        if len(self._rows) < MOST_WAITING:
            self._rows.append(row)

    def _run(self) -> None:
        while True:
            self._wake.wait(1.0)
            self._wake.clear()
            ended, now = self._ended, self._clock()
            with self._lock:
                if ended or now - self._since >= MINUTE:
                    self._roll(now)
                rows, self._rows = self._rows, []
            if rows:
                try:
                    self._write(rows)
                except Vlk2Error as error:
                    _log.warning("the audit cannot be written now: %s", error.message)
                    with self._lock:
                        self._rows = [*rows, *self._rows][:MOST_WAITING]
            if ended:
                return
