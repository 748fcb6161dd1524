"""Whether this server can do its work, and if not, why."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from vlk2.app.dispatch import last_tick
from vlk2.bootstrap import Memory
from vlk2.domain.moments import SECOND, span
from vlk2.errors import StoreIncompatible, StoreUnavailable
from vlk2.ports import Backlog
from vlk2.spool import waiting
from vlk2.userfile import data_directory

TICKS_MISSED = 3
MOST_WAITING = 1_000
_BROKER_SECONDS = 2.0
_FRESH_SECONDS = 1.0

_log = logging.getLogger("vlk2.health")


@dataclass(frozen=True, slots=True)
class Health:
    """`failing` keeps the server from answering, `troubled` does not: recording goes on without the cycle, the
    broker or an empty spool. Each names a part and says why. `backlog` is None where the store is away."""

    failing: dict[str, str]
    troubled: dict[str, str]
    backlog: Backlog | None
    tick_age: float | None
    spooled: int

    @property
    def status(self) -> str:
        return "unavailable" if self.failing else "degraded" if self.troubled else "ready"


class Doctor:
    """Looks at most once a second, however often it is asked."""

    def __init__(self, memory: Memory, clock: Callable[[], float] = time.monotonic) -> None:
        self._memory = memory
        self._clock = clock
        self._began = memory.clock()
        self._last: tuple[float, Health] | None = None

    def look(self) -> Health:
        """The state of database, schema, broker, cycle and spool. Reasons name no address and no secret."""
        if self._last and self._clock() - self._last[0] < _FRESH_SECONDS:
            return self._last[1]
        health = self._look()
        self._last = (self._clock(), health)
        return health

    def _look(self) -> Health:
        settings, now = self._memory.settings, self._memory.clock()
        failing: dict[str, str] = {}
        troubled: dict[str, str] = {}
        backlog, age = None, None
        period = int(settings.cycle_seconds * SECOND)
        try:
            backlog = self._memory.store.backlog(now)
            ticked = last_tick(self._memory.store, period)
        except StoreIncompatible as error:
            _log.warning("%s", error.message)
            failing["schema"] = "the database's schema is not the one that this version works with"
        except StoreUnavailable as error:
            _log.warning("%s", error.message)
            failing["database"] = "the database cannot be asked"
        else:
            since = ticked if ticked is not None else self._began
            age = max(0, now - since) / SECOND
            if now - since > TICKS_MISSED * period:
                ran = "never" if ticked is None else f"{span(now - ticked)} ago"
                who = "beat and its workers" if settings.broker else "the cycle beside this server"
                troubled["beat"] = f"the cycle last ran {ran}; it should every {span(period)}: look at {who}"
            if backlog.parked:
                troubled["cycle"] = f"{backlog.parked} timelines failed again and again and are parked"
        if settings.broker and (why := broker_trouble(settings.broker)):
            troubled["redis"] = why
        spooled, _ = waiting(data_directory(os.environ))
        if spooled > MOST_WAITING:
            troubled["spool"] = f"{spooled} events wait in the spool"
        return Health(failing, troubled, backlog, age, spooled)


def broker_trouble(address: str) -> str:
    """Why a Redis does not answer PING, "" where it does. Spoken by hand: three lines of protocol need no driver."""
    import socket
    import ssl

    parts = urlsplit(address)
    if parts.scheme not in ("redis", "rediss"):
        return ""
    try:
        with socket.create_connection(
            (parts.hostname or "localhost", parts.port or 6379), _BROKER_SECONDS
        ) as plain:
            plain.settimeout(_BROKER_SECONDS)
            wire = (
                ssl.create_default_context().wrap_socket(plain, server_hostname=parts.hostname)
                if parts.scheme == "rediss"
                else plain
            )
            with wire:
                if parts.password:
                    user = (unquote(parts.username),) if parts.username else ()
                    if not _ask(wire, "AUTH", *user, unquote(parts.password)).startswith(b"+"):
                        return "the broker refuses its password"
                answer = _ask(wire, "PING")
    except OSError as error:
        _log.warning("the broker does not answer: %s", error)
        return "the broker does not answer"
    return "" if answer.startswith(b"+PONG") else "the broker answers with an error"


def _ask(wire: object, *words: str) -> bytes:
    import socket

    assert isinstance(wire, socket.socket)
    parts = [f"*{len(words)}\r\n".encode()]
    parts += [f"${len(word.encode())}\r\n{word}\r\n".encode() for word in words]
    wire.sendall(b"".join(parts))
    return wire.recv(512)
