"""Calls over stdio against an empty FastMCP tool with the same payload, and start-up against an empty server."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from agents import Agent
from jsonrpc import RawClient

_EMPTY = """
from fastmcp import FastMCP
server = FastMCP("empty")

@server.tool
def vlk_record_state(raw_log: str, file_context: str = "", tool_payload: str = "", outcome: str = "auto") -> dict:
    return {"text": ""}

server.run(show_banner=False)
"""
_ROUNDS = 60
_STARTS = 7


def measure() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = folder / "empty.py"
        script.write_text(_EMPTY)
        command = [sys.executable, str(script)]
        return [
            _row("record over stdio, 2 KiB log, p50", _calls(folder, command, 2 * 1024), 1.5),
            _row("record over stdio, 60 KiB log, p50", _calls(folder, command, 60 * 1024), 3.0),
            _row("start to the answer of initialize, p50", _starts(folder, command), 1.15),
        ]


def _row(figure: str, value: float, goal: float) -> dict[str, Any]:
    return {"figure": figure, "value": value, "goal": f"≤ {goal}", "unit": "x", "holds": value <= goal}


def _log(size: int, number: int) -> str:
    head = f"ValueError: case {number} of `Ledger{number % 50}` does not balance\n"
    line = '  File "/home/dev/ledger/book.py", line {0}, in post\n    raise ValueError(entry)\n'
    return (head + "".join(line.format(n) for n in range(size // 60)))[:size]


def _calls(folder: Path, empty: list[str], size: int) -> float:
    """p50 of record with a constraint present, over p50 of the empty tool, calls taking turns."""
    ours: list[float] = []
    theirs: list[float] = []
    home = folder / f"s{size}"
    home.mkdir()
    with Agent(home) as agent, RawClient(empty) as other:
        other.open()
        for _ in range(3):
            agent.record("KeyError: 'price'\n")
        for number in range(_ROUNDS + 10):
            arguments = {"raw_log": _log(size, number), "tool_payload": "pytest -q"}
            for client, times in ((agent, ours), (other, theirs)):
                started = time.perf_counter()
                client.call("vlk_record_state", arguments)
                times.append(time.perf_counter() - started)
    return statistics.median(ours[10:]) / statistics.median(theirs[10:])


def _starts(folder: Path, empty: list[str]) -> float:
    """p50 of our start over p50 of an empty server's, starts taking turns."""
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(_STARTS):
        started = time.perf_counter()
        with Agent(folder):
            ours.append(time.perf_counter() - started)
        started = time.perf_counter()
        with RawClient(empty) as other:
            other.open()
            theirs.append(time.perf_counter() - started)
    return statistics.median(ours) / statistics.median(theirs)
