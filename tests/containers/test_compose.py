"""The whole of compose.yaml, from the checkout: up, healthy, used, down."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonrpc import RawClient

pytestmark = pytest.mark.containers

ROOT = Path(__file__).parents[2]
LONG_RUNNING = {"postgres", "redis", "serve", "worker", "beat"}


class Compose:
    """The services of one project of their own, with a port of their own."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.environment = {
            **os.environ,
            "COMPOSE_PROJECT_NAME": f"vlk2-test-{os.getpid()}",
            "VLK2_IMAGE": "vlk2-test",
            "VLK2_PUBLISH": f"127.0.0.1:{self.port}",
            "VLK2_CYCLE_SECONDS": "5",
        }

    def command(self, *arguments: str) -> list[str]:
        return ["docker", "compose", "--project-directory", str(ROOT), *arguments]

    def run(
        self, *arguments: str, check: bool = True, timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            self.command(*arguments),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        if check and done.returncode:
            pytest.fail(f"{arguments}: {done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return done

    def services(self) -> dict[str, dict[str, Any]]:
        lines = self.run("ps", "--all", "--format", "json").stdout.splitlines()
        return {one["Service"]: one for one in map(json.loads, lines)}

    def ask(self, path: str, body: bytes | None = None) -> tuple[int, str]:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            body,
            {"content-type": "application/json", "accept": "application/json, text/event-stream"},
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def vlk2(self, *arguments: str) -> list[str]:
        """A command of ada's, on her ledger, straight on the store."""
        who = ("-e", "VLK2_AGENT=ada", "-e", "VLK2_PROJECT=ledger")
        return self.command("exec", "-T", *who, "serve", "vlk2", *arguments)


@pytest.fixture(scope="module")
def compose(docker_engine: None) -> Iterator[Compose]:
    made = Compose()
    try:
        up = made.run("up", "--build", "--wait", "--wait-timeout", "240", check=False, timeout=900)
        if up.returncode:
            logs = made.run("logs", "--no-color", "--tail", "40", check=False).stdout
            pytest.fail(f"up exited {up.returncode}: {up.stderr[-3000:]}\n{logs}")
        yield made
    finally:
        made.run("down", "--volumes", "--timeout", "5", check=False, timeout=180)


def test_every_service_is_healthy_and_the_migration_is_over(compose: Compose) -> None:
    services = compose.services()
    assert {name for name, one in services.items() if one["Health"] == "healthy"} == LONG_RUNNING
    assert services["migrate"]["State"] == "exited"
    assert services["migrate"]["ExitCode"] == 0


@pytest.mark.parametrize("service", ["serve", "worker", "beat"])
def test_our_services_are_not_root_and_cannot_write_their_image(compose: Compose, service: str) -> None:
    assert compose.run("exec", "-T", service, "id", "-u").stdout.strip() == "10001"
    tried = compose.run("exec", "-T", service, "touch", "/opt/vlk2/written", check=False)
    assert tried.returncode
    assert "Read-only file system" in tried.stderr


def test_a_loop_recorded_on_stdio_is_consolidated_by_the_worker_and_not_by_the_front_end(
    compose: Compose,
) -> None:
    with RawClient(compose.vlk2("serve"), env=compose.environment) as client:
        client.open(60)
        for line in (3, 9, 27):
            log = (
                f"error[E0277]: the trait bound `Invoice: Serialize` is not satisfied\n --> src/a.rs:{line}:4"
            )
            last = client.call("vlk_record_state", {"raw_log": log, "outcome": "failure"}, 60)
        assert last["structuredContent"]["loop"] is True
        end = time.monotonic() + 60
        while (status := json.loads(compose_status(compose)))["last_cycle"] is None:
            assert time.monotonic() < end, "no cycle within a minute"
            time.sleep(0.5)
    host = compose.run("exec", "-T", "worker", "hostname").stdout.strip()
    assert status["last_cycle"]["owner"] == f"celery@{host}"
    assert status["last_cycle"]["scanned"] == 4
    assert status["states"] == {"PRESENT": 0, "PAST": 3, "FUTURE": 1, "PURGED": 0}


def compose_status(compose: Compose) -> str:
    done = subprocess.run(
        compose.vlk2("status", "--json"), env=compose.environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_front_end_answers_over_http_and_lets_nobody_in_without_a_token(compose: Compose) -> None:
    assert compose.ask("/readyz")[0] == 200
    assert compose.ask("/mcp", b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}')[0] == 401


def test_every_figure_that_the_alerts_and_the_dashboard_name_is_measured(compose: Compose) -> None:
    status, text = compose.ask("/metrics")
    assert status == 200
    known = set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))
    files = [ROOT / "deploy/prometheus/alerts.yml", ROOT / "deploy/grafana/dashboards/vlk2.json"]
    named = {name for file in files for name in re.findall(r"\bvlk2_\w+", file.read_text("utf-8"))}
    assert len(named) > 8
    assert {name.removesuffix("_bucket") for name in named} <= known
