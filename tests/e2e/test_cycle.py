"""The in-process cycle beside real servers."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

from agents import Agent, rows

LONG = (
    "ValueError: case {n} of the ledger does not balance\n"
    + "  detail {n}: "
    + "amount mismatch " * 120
    + "\n"
)


def _until(condition: object, seconds: float) -> bool:
    """Whether the condition came to hold within so many seconds."""
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return False


def _live(folder: Path) -> int:
    found = rows(folder, "SELECT SUM(tokens) FROM agent_timeline WHERE state IN ('PRESENT', 'FUTURE')")
    return found[0][0] or 0


def test_the_database_itself_comes_under_the_budget_with_no_call_made(tmp_path: Path) -> None:
    with Agent(tmp_path, VLK2_CYCLE_SECONDS="1") as agent:
        pinned = agent.record(LONG.format(n="pinned"))["entry_id"]
        agent.tool("vlk_pin_memory", entry_id=pinned)
        for number in range(500):
            agent.record(LONG.format(n=f"n{chr(97 + number % 26)}{chr(97 + number // 26)}"))
        assert _until(lambda: _live(tmp_path) <= 8_000, 5), _live(tmp_path)
    assert rows(tmp_path, f"SELECT state, pinned FROM agent_timeline WHERE id = '{pinned}'") == [
        ("PRESENT", 1)
    ]
    archived = rows(tmp_path, "SELECT COUNT(*) FROM agent_timeline WHERE state = 'PAST'")[0][0]
    audited = rows(
        tmp_path, "SELECT COUNT(DISTINCT entry) FROM transitions WHERE to_state = 'PAST' AND reason <> ''"
    )[0][0]
    assert archived == audited > 0
    stored = rows(tmp_path, "SELECT token_sum FROM timelines")[0][0]
    assert stored == _live(tmp_path)


def test_of_three_servers_on_one_file_exactly_one_runs_each_cycle(tmp_path: Path) -> None:
    with (
        Agent(tmp_path, VLK2_CYCLE_SECONDS="1") as a,
        Agent(tmp_path, VLK2_CYCLE_SECONDS="1") as b,
        Agent(tmp_path, VLK2_CYCLE_SECONDS="1") as c,
    ):
        for number in range(24):
            for agent in (a, b, c):
                agent.record(f"ValueError: balance {chr(97 + number)} of {id(agent)} is off\n")
            time.sleep(0.15)
        assert _until(lambda: rows(tmp_path, "SELECT COUNT(*) FROM cycles")[0][0] >= 3, 10)
    started = [row[0] for row in rows(tmp_path, "SELECT started_at FROM cycles ORDER BY started_at")]
    assert all(later - earlier > 700_000 for earlier, later in itertools.pairwise(started)), started
