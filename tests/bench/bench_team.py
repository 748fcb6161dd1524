"""64 agents record over HTTP on PostgreSQL, against an empty FastMCP tool over the same HTTP.

The database is that of `VLK2_TEST_POSTGRES` (a role that may create databases), else a container. The two servers take
turns; each is one process, and the load comes from another. `VLK2_BENCH_CALLS` changes how many calls an agent makes.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
from agents import BIN, environment
from httprpc import HttpServer

from vlk2.bootstrap import open_store
from vlk2.team import Desk, perform

HERE = Path(__file__).parent
AGENTS = 64
CALLS = int(os.environ.get("VLK2_BENCH_CALLS", "20"))
ROUNDS = 3
GOAL = 0.6


def measure() -> list[dict[str, Any]]:
    with _database() as address, tempfile.TemporaryDirectory() as folder:
        tokens = _tokens(address)
        agents = [_agent(token, number) for number, token in enumerate(tokens)]
        empty = [{**agent, "tool": "record", "token": ""} for agent in agents]
        env = environment(Path(folder), VLK2_STORE=address, VLK2_AUTH="tokens", VLK2_CYCLE_SECONDS="3600")
        with HttpServer(BIN / "vlk2", env) as server, _empty() as other:
            _load(
                server.port, agents[:8]
            )  # both are warm: the tokenizer is loaded, the statements are prepared
            _load(other, empty[:8])
            told = [(_load(server.port, agents), _load(other, empty)) for _ in range(ROUNDS)]
    for ours, theirs in told:
        print(f"  ours {ours}\n  empty {theirs}", file=sys.stderr)
    failed = sum(ours["failed"] for ours, _ in told)
    ratio = sorted(_rate(ours) / _rate(theirs) for ours, theirs in told)[ROUNDS // 2]
    return [
        {
            "figure": "team: records a second over HTTP, 64 agents, PostgreSQL",
            "value": ratio,
            "goal": f"≥ {GOAL}",
            "unit": "x",
            "holds": ratio >= GOAL and not failed,
        }
    ]


def _rate(told: dict[str, float]) -> float:
    return (told["calls"] - told["failed"]) / told["seconds"]


@contextlib.contextmanager
def _database() -> Iterator[str]:
    with contextlib.ExitStack() as stack:
        server = os.environ.get("VLK2_TEST_POSTGRES")
        if not server:
            from testcontainers.community.postgres import PostgresContainer

            image = os.environ.get("VLK_POSTGRES_IMAGE", "postgres:17")
            made = PostgresContainer(image, username="vlk2", password="vlk2", dbname="vlk2", driver=None)
            server = stack.enter_context(made).get_connection_url()
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("DROP DATABASE IF EXISTS vlk2_bench WITH (FORCE)")
            connection.execute("CREATE DATABASE vlk2_bench")
        yield server.rpartition("/")[0] + "/vlk2_bench"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("DROP DATABASE IF EXISTS vlk2_bench WITH (FORCE)")


def _tokens(address: str) -> list[str]:
    store = open_store(address)
    operator = Desk(store, "bench")
    perform(operator, "create_team", {"team": "bench"})
    made = [
        perform(operator, "create_token", {"team": "bench", "agent": f"agent-{n:02d}"})["token"]
        for n in range(AGENTS)
    ]
    store.close()
    return made


def _agent(token: str, number: int) -> dict[str, Any]:
    """Failures of its own: five places of two of them, as an agent meets them."""
    arguments = [
        {
            "raw_log": f"error[E0{277 + line % 2}]: cannot add `Ledger{number}` to `i32`\n --> src/a{line}.rs:{line}:5\n"
            + "   | context of what the compiler saw\n" * 40,
            "outcome": "failure",
        }
        for line in range(5)
    ]
    return {"token": token, "project": "bench", "tool": "vlk_record_state", "arguments": arguments}


@contextlib.contextmanager
def _empty() -> Iterator[int]:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(HERE / "http_empty.py"), str(port)])
    try:
        for _ in range(300):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait()


def _load(port: int, agents: list[dict[str, Any]]) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, str(HERE / "http_load.py"), str(port), str(CALLS)],
        input=json.dumps(agents),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)
