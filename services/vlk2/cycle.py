"""The in-process cycle: a thread beside the server that never delays a call."""

from __future__ import annotations

import logging
import threading

from vlk2.bootstrap import Memory
from vlk2.errors import Vlk2Error

_log = logging.getLogger("vlk2.cycle")


class CycleThread:
    """Ticks every `cycle_seconds` until `stop`. A tick that fails is logged and the next one tried."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="vlk2-cycle", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float = 2.0) -> None:
        self._stop.set()
        self._thread.join(timeout)

    def _run(self) -> None:
        said = ""
        while not self._stop.wait(self._memory.settings.cycle_seconds):
            try:
                self._memory.run_cycle()
                said = ""
            except Vlk2Error as error:
                if error.message != said:  # once, not at every tick
                    _log.warning("the cycle did not run: %s", error.message)
                said = error.message
            except Exception:
                _log.exception("the cycle failed")
