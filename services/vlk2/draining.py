"""The spool, handed in from a thread beside a server: what hooks could not write comes in when they can again."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping

from vlk2 import spool
from vlk2.bootstrap import Memory
from vlk2.errors import Vlk2Error
from vlk2.remote import is_remote

EVERY = 5.0

_log = logging.getLogger("vlk2.spool")


class Drainer:
    """Looks into the spool of a data directory every few seconds, until `stop`."""

    def __init__(self, memory: Memory, directory: str) -> None:
        self._memory = memory
        self._directory = directory
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="vlk2-spool", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float = 2.0) -> None:
        self._stop.set()
        self._thread.join(timeout)

    def _run(self) -> None:
        wait = 1.0
        while not self._stop.wait(wait):
            wait = EVERY
            try:
                hand_in(self._memory, self._directory, os.environ)
            except Vlk2Error as error:
                _log.warning("the spool waits: %s", error.message)
            except Exception:
                _log.exception("the spool was not handed in")


def hand_in(memory: Memory, directory: str, environ: Mapping[str, str]) -> int:
    """Hands in what waits for the memory's store, wherever that lies; how many events."""
    if spool.waiting(directory)[0] == 0:
        return 0
    if is_remote(memory.settings.store):
        return spool.send(memory.settings.store, environ, directory=directory)
    return spool.drain(memory, directory=directory)
