"""The whole of compose.yaml, from the checkout: up, healthy, used, down."""

from __future__ import annotations

import json
import re
import subprocess
import time

import pytest
from composed import ROOT, Compose
from jsonrpc import RawClient

pytestmark = pytest.mark.containers

LONG_RUNNING = {"postgres", "redis", "serve", "worker", "beat"}


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
