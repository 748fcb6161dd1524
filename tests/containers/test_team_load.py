"""Many agents at once over HTTP on PostgreSQL: nothing is lost, and what comes back is one constraint each."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agents import BIN, environment
from httprpc import Agent, HttpServer

from vlk2.bootstrap import open_store
from vlk2.team import Desk, perform

pytestmark = pytest.mark.containers

AGENTS, CALLS = 64, 100
LOAD = Path(__file__).parents[1] / "bench" / "http_load.py"


@pytest.fixture
def database(postgres_server: str) -> Iterator[str]:
    """An empty database."""
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS vlk2_load WITH (FORCE)")
        connection.execute("CREATE DATABASE vlk2_load")
    yield postgres_server.rpartition("/")[0] + "/vlk2_load"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS vlk2_load WITH (FORCE)")


@pytest.fixture
def tokens(database: str) -> list[str]:
    store = open_store(database)
    operator = Desk(store, "cli op")
    perform(operator, "create_team", {"team": "load"})
    made = [
        perform(operator, "create_token", {"team": "load", "agent": f"agent-{n:02d}"})["token"]
        for n in range(AGENTS)
    ]
    store.close()
    return made


def test_sixty_four_agents_record_6400_failures_and_each_has_one_constraint(
    tmp_path: Path, database: str, tokens: list[str], record_property: Callable[[str, object], None]
) -> None:
    env = environment(tmp_path, VLK2_STORE=database, VLK2_AUTH="tokens")
    with HttpServer(BIN / "vlk2", env) as one, HttpServer(BIN / "vlk2", env) as other:
        agents = [_agent(token, number) for number, token in enumerate(tokens)]
        halves = [
            subprocess.Popen(
                [sys.executable, str(LOAD), str(server.port), str(CALLS)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for server in (one, other)
        ]
        for half, mine in zip(halves, (agents[::2], agents[1::2]), strict=True):
            assert half.stdin is not None
            half.stdin.write(json.dumps(mine))
            half.stdin.close()
        told = [json.loads(half.stdout.read()) for half in halves if half.stdout]
        for half in halves:
            half.wait()
        print(f"\n{AGENTS} agents, {CALLS} failures each, two replicas: {told}")
        record_property("latencies", told)
        assert sum(one["failed"] for one in told) == 0
        assert "has repeated 100 times" in Agent([one.port, other.port], tokens[7], "project-1").context()
    with psycopg.connect(database) as connection:
        rows = connection.execute(
            """
            SELECT (SELECT COUNT(*) FROM observations o WHERE o.timeline = t.pk),
                   (SELECT COUNT(*) FROM agent_timeline e WHERE e.timeline = t.pk AND e.kind = 'log'),
                   (SELECT COUNT(*) FROM agent_timeline e WHERE e.timeline = t.pk AND e.state = 'FUTURE'),
                   (SELECT SUM(a.count) FROM anchors a JOIN agent_timeline e ON e.pk = a.entry WHERE e.timeline = t.pk)
            FROM timelines t
            """
        ).fetchall()
    assert rows == [(CALLS, CALLS, 1, CALLS)] * AGENTS


def _agent(token: str, number: int) -> dict[str, Any]:
    """The same few failures of everybody: the contents and fingerprints that all of them write at once."""
    logs = [
        f"error[E0277]: cannot add `&str` to `i32`\n  --> src/lib.rs:{line}:5\n" + "   | context\n" * 20
        for line in range(5)
    ]
    return {
        "token": token,
        "project": f"project-{number % 3}",
        "tool": "vlk_record_state",
        "arguments": [{"raw_log": log, "outcome": "failure", "tool_payload": "cargo check"} for log in logs],
    }
