"""Two people's real Claude Code on the composed team server: what the first one's loop teaches the second."""

from __future__ import annotations

import concurrent.futures
import json
import pathlib
import subprocess
from typing import Any

import pytest
from composed import Compose
from driving import Desk
from httprpc import Agent
from stand_in import Run, Say, written
from test_real_clients import CHECK, checkout

pytestmark = [pytest.mark.clients, pytest.mark.containers]


class Team:
    """The desks of two people who joined the composed stack."""

    def __init__(self, folder: pathlib.Path, compose: Compose) -> None:
        self.compose = compose
        self.tokens: dict[str, str] = {}
        self.desks: dict[str, Desk] = {}
        self._operate("team", "create", "joined")
        for name in ("ada", "bob"):
            self._operate("agent", "create", name, "--team", "joined")
            made = self._operate("token", "create", "--team", "joined", "--agent", name)
            self.tokens[name] = made["token"]
            self.desks[name] = self._join(Desk("claude-code", folder / name), made["token"])

    def _operate(self, *arguments: str) -> dict[str, Any]:
        done = self.compose.run("exec", "-T", "serve", "vlk2", *arguments, "--json")
        return json.loads(done.stdout)

    def _join(self, desk: Desk, token: str) -> Desk:
        checkout(desk.work)
        joined = subprocess.run(
            ["vlk2", "join", f"http://127.0.0.1:{self.compose.port}"],
            input=token + "\n",
            env=desk.environment(),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert joined.returncode == 0, joined.stderr
        desk.install()
        return desk

    def stop(self) -> None:
        self.compose.run("stop", "--timeout", "5", "serve", timeout=60)

    def start(self) -> None:
        self.compose.run("up", "--detach", "--wait", "--no-recreate", "serve", timeout=180)

    def project(self, name: str) -> str:
        return str((self.desks[name].work / ".git").resolve())

    def context(self, name: str) -> str:
        return Agent([self.compose.port], self.tokens[name], self.project(name)).context()


@pytest.fixture(scope="module")
def team(clients: pathlib.Path, compose: Compose, tmp_path_factory: pytest.TempPathFactory) -> Team:
    return Team(tmp_path_factory.mktemp("joined"), compose)


def test_the_second_agents_next_request_after_its_first_failure_holds_what_the_first_ones_loop_taught(
    team: Team,
) -> None:
    ada, bob = team.desks["ada"], team.desks["bob"]
    first = ada.run([CHECK, CHECK, CHECK, Say("done")])
    assert "[SYSTEM ANCHOR] KeyError has repeated 3 times." in written(first.conversation()), ada.output
    second = bob.run([Run("make check"), Say("done")])
    read = written(second.conversation())
    assert "looped once for 1 agent" in read, bob.output
    assert str(ada.work) not in read


def test_with_the_server_stopped_both_go_on_and_every_event_is_there_when_it_is_back(team: Team) -> None:
    team.stop()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        scripts = [CHECK, CHECK, Run("echo no more"), Say("done")]
        models = list(pool.map(lambda desk: desk.run(scripts), team.desks.values()))
    for model, desk in zip(models, team.desks.values(), strict=True):
        read = written(model.conversation())
        assert read.count("Traceback (most recent call last)") == 2, desk.output
        assert "no more" in read
    team.start()
    for desk in team.desks.values():
        done = json.loads(desk.vlk2("sync", "--json"))
        assert done["waiting"] == 0
    assert "has repeated 5 times" in team.context("ada")
    assert "[SYSTEM ANCHOR] KeyError has repeated 3 times." in team.context("bob")
