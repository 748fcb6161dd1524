"""The whole process of `vlk2-hook` on a store of 100,000 entries, against an interpreter that imports what it must."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from grown import grown
from hook_events import ClaudeCode, key_error

_GOAL = 3.0
_ROUNDS = 41
_EMPTY = [sys.executable, "-c", "import sqlite3, json, re"]


def measure() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "work").mkdir()
        grown(folder / "memory.db", 100_000)
        environ = {
            **os.environ,
            "VLK2_STORE": f"sqlite://{folder}/memory.db",
            "VLK2_AGENT": "ada",
            "VLK2_PROJECT": "github.com/acme/ledger",
            "VLK2_DATA": str(folder / "data"),
            "VLK2_CONFIG": str(folder / "config.json"),
            "VLK2_HOOK_DEADLINE": "10",
        }
        client = ClaudeCode(str(folder / "work"))
        command = [str(Path(sys.executable).with_name("vlk2-hook")), client.name]

        def failed() -> dict[str, Any]:
            client.session = (
                f"s{time.monotonic_ns()}"  # a first failure each time: nothing is short-circuited
            )
            return client.failed(client.new_call("make check"), key_error(), 2)

        events = {
            "before a call": lambda: client.before(client.new_call("make check")),
            "after a success": lambda: client.succeeded(client.new_call("make check"), "checked 4\n" * 20),
            "after a failure": failed,
        }
        return [
            _row(f"hook, whole process, {what}, p50", command, event, environ)
            for what, event in events.items()
        ]


def _row(figure: str, command: list[str], event: Any, environ: dict[str, str]) -> dict[str, Any]:
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(_ROUNDS + 3):
        raw = json.dumps(event()).encode()
        took, empty = _time(command, raw, environ), _time(_EMPTY, b"", environ)
        if number >= 3:  # the first ones make bytecode and patterns
            ours.append(took)
            theirs.append(empty)
    value = statistics.median(ours) / statistics.median(theirs)
    return {"figure": figure, "value": value, "goal": f"<= {_GOAL:g} x", "unit": "x", "holds": value <= _GOAL}


def _time(command: list[str], raw: bytes, environ: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, input=raw, stdout=subprocess.DEVNULL, env=environ, check=True)
    return time.perf_counter() - started
