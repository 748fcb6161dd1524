"""The services of compose.yaml, brought up for a test."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


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
