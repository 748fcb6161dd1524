"""One machine that joins a team server: hooks, commands and `vlk2 serve` go there, and come home again."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agents import BIN, RUST, Agent, environment, rows
from httprpc import Agent as HttpAgent
from httprpc import HttpServer

from vlk2.bootstrap import open_store
from vlk2.team import Desk, perform

SECRET = "module_that_nobody_may_see"
LOG = "error[E0277]: cannot add `&str` to `i32`\n  --> src/{where}.rs:{line}:5\n"


class Office:
    """A team server of the team `acme`, and homes of people who may join it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = environment(folder, VLK2_AUTH="tokens")
        store = open_store(self.env["VLK2_STORE"])
        self._desk = Desk(store, "cli op")
        perform(self._desk, "create_team", {"team": "acme"})
        self.server = HttpServer(BIN / "vlk2", self.env)
        self.url = f"http://127.0.0.1:{self.server.port}"

    def perform(self, verb: str, **arguments: Any) -> dict[str, Any]:
        return perform(self._desk, verb, {"team": "acme", **arguments})

    def token(self, agent: str) -> dict[str, Any]:
        return self.perform("create_token", agent=agent)

    def restart(self) -> None:
        self.server = HttpServer(BIN / "vlk2", self.env, "--port", str(self.server.port))

    def close(self) -> None:
        self.server.stop()
        self._desk.store.close()


class Home:
    """A person's machine: a HOME of its own, and the installed commands in it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.env = environment(folder)
        for name in ("VLK2_STORE", "VLK2_AGENT"):
            del self.env[name]
        self.config = Path(self.env["VLK2_CONFIG"])
        self._events = 0

    def vlk2(self, *arguments: str, text: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(BIN / "vlk2"), *arguments],
            input=text,
            capture_output=True,
            text=True,
            env={**self.env, **settings},
            cwd=self.folder,
            timeout=120,
        )

    def join(self, office: Office, token: str, *arguments: str) -> None:
        done = self.vlk2("join", office.url, *arguments, text=token + "\n")
        assert done.returncode == 0, done.stderr

    def failure(
        self, command: str = "cargo check", line: int = 0, text: str = "", **settings: str
    ) -> dict[str, Any]:
        """The answer of a hook that heard of a failed command."""
        self._events += 1
        return self.hook(
            {
                "hook_event_name": "PostToolUseFailure",
                "tool_name": "Bash",
                "tool_input": {"command": command},
                "tool_use_id": f"use-{self._events}",
                "error": f"{text}\n --> src/{SECRET}.rs:{line or self._events}:5"
                if text
                else LOG.format(where=SECRET, line=line or self._events),
            },
            **settings,
        )

    def hook(self, event: dict[str, Any], **settings: str) -> dict[str, Any]:
        done = subprocess.run(
            [str(BIN / "vlk2-hook"), "claude-code"],
            input=json.dumps({"session_id": "s1", "cwd": str(self.folder), **event}),
            capture_output=True,
            text=True,
            env={**self.env, "VLK2_HOOK_DEADLINE": "30", **settings},
            timeout=60,
        )
        assert done.returncode == 0
        return json.loads(done.stdout) if done.stdout.strip() else {}

    def spooled(self) -> list[Path]:
        return sorted((Path(self.env["VLK2_DATA"]) / "spool").glob("*.json"))


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """One for all: every test has agents of its own."""
    made = Office(tmp_path_factory.mktemp("office"))
    yield made
    made.close()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def test_join_keeps_the_token_where_only_its_owner_reads_it_and_leave_undoes_it(
    office: Office, home: Home
) -> None:
    home.config.write_text('{\n  "store": "sqlite:////somewhere/own.db",\n  "enforce": "advise"\n}\n')
    before = home.config.read_text()
    token = office.token("ada")["token"]
    home.join(office, token)
    held = home.config.read_text()
    assert office.url in held
    assert token not in held
    kept = home.config.parent / "token"
    assert kept.read_text().strip() == token
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    written = {p for p in home.folder.rglob("*") if p.is_file() and token in p.read_text(errors="replace")}
    assert written == {kept}
    done = home.vlk2("leave")
    assert done.returncode == 0, done.stderr
    assert home.config.read_text() == before
    assert not kept.exists()


KEYRING = """
import json, os, pathlib
FILE = pathlib.Path(os.environ["HOME"]) / "keyring.json"
held = json.loads(FILE.read_text()) if FILE.exists() else {}
def set_password(service, name, value):
    FILE.write_text(json.dumps({**held, service + name: value}))
def get_password(service, name):
    return held.get(service + name)
def delete_password(service, name):
    held.pop(service + name)
    FILE.write_text(json.dumps(held))
"""


def test_the_token_may_lie_in_the_keyring_or_in_the_environment_alone(office: Office, home: Home) -> None:
    (home.folder / "keyring.py").write_text(KEYRING)
    home.env["PYTHONPATH"] = str(home.folder)
    token = office.token("kim")["token"]
    home.join(office, token, "--keep", "keyring")
    assert not (home.config.parent / "token").exists()
    assert token not in home.config.read_text()
    assert home.vlk2("context").returncode == 0
    assert home.vlk2("leave").returncode == 0
    assert token not in (home.folder / "keyring.json").read_text()
    home.join(office, token, "--keep", "env")
    lost = home.vlk2("context")
    assert lost.returncode == 1
    assert "VLK2_TOKEN" in lost.stderr
    assert home.vlk2("context", VLK2_TOKEN=token).returncode == 0


def test_a_token_that_the_server_does_not_take_changes_nothing(office: Office, home: Home) -> None:
    done = home.vlk2("join", office.url, text="vlk2_" + "A" * 43 + "\n")
    assert done.returncode == 1
    assert "does not take the token" in done.stderr
    assert not home.config.exists()
    assert home.vlk2("join", "http://vlk2.example.org", text="x\n").returncode == 1
    assert home.vlk2("leave").returncode == 1


def test_commands_the_stdio_server_and_hooks_of_a_joined_machine_share_one_memory_at_the_server(
    office: Office, home: Home
) -> None:
    home.join(office, office.token("bea")["token"])
    for number in (1, 2):
        recorded = home.vlk2("record", "--command", "cargo check", "--json", text=RUST.format(line=number))
        assert json.loads(recorded.stdout)["repeats"] == number
    with Agent(home.folder, **_as_joined(home)) as agent:
        third = agent.record(RUST.format(line=99), tool_payload="cargo check")
        assert third["loop"] is True
        read = agent.ask("resources/read", {"uri": f"vlk://entry/{third['constraint_id']}"})["result"]
        assert "SYSTEM ANCHOR" in str(read)
    assert "has repeated 4 times" in str(home.failure())
    assert "has repeated 4 times" in home.vlk2("context").stdout
    revoked = home.vlk2("revoke", third["constraint_id"], "--reason", "the image was broken")
    assert revoked.returncode == 0, revoked.stderr
    assert "has repeated" not in home.vlk2("context").stdout
    assert not (Path(home.env["VLK2_DATA"]) / "memory.db").exists()


def test_what_a_colleague_learned_is_said_when_the_failure_is_first_met(
    office: Office, home: Home, tmp_path: Path
) -> None:
    home.join(office, office.token("cora")["token"])
    for _ in range(3):
        home.failure(text="error[E0599]: no method named `frobnicate` found for struct `Widget`")
    other = Home(tmp_path / "other")
    other.join(office, office.token("bob")["token"])
    told = str(
        other.failure("make", text="error[E0599]: no method named `frobnicate` found for struct `Widget`")
    )
    assert "looped once for 1 agent" in told
    assert not any(private in told for private in ("cora", "cargo", SECRET))


def test_a_call_is_refused_only_while_the_files_that_its_failure_names_are_as_they_were(
    office: Office, home: Home
) -> None:
    source = home.folder / "src" / f"{SECRET}.rs"
    source.parent.mkdir()
    source.write_text("fn main() {}\n")
    home.join(office, office.token("finn")["token"])
    about = {
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "cargo check"},
        "tool_use_id": "next",
    }
    for _ in range(3):
        home.failure(line=3)
    held = home.hook(about)["hookSpecificOutput"]
    assert held["permissionDecision"] == "deny"
    for _ in range(3):
        home.failure(line=3)
    source.write_text("fn main() { changed() }\n")
    os.utime(source, ns=(1, 1))
    again = home.hook({**about, "tool_use_id": "later"})
    assert again.get("hookSpecificOutput", {}).get("permissionDecision") != "deny"


def test_sharing_facts_sends_the_failure_and_no_text_and_still_closes_the_loop(
    office: Office, home: Home
) -> None:
    hidden = "another_module_that_stays_here"
    home.join(office, office.token("gil")["token"], "--share", "facts")
    text = "error[E0432]: unresolved import `serde`"
    told = [
        home.failure(f"cargo check -p {hidden}", text=f"{text}\n --> src/{hidden}.rs:1:5") for _ in range(3)
    ]
    assert "has repeated 3 times" in str(told[2])
    recorded = home.vlk2("record", "--command", hidden, "--json", text=f"{text}\n --> {hidden}.rs:1:5")
    assert recorded.returncode == 0, recorded.stderr
    data = b"".join(file.read_bytes() for file in office.folder.rglob("*") if file.is_file())
    assert hidden.encode() not in data
    assert b"E0432" in data


def test_a_project_that_shares_nothing_stays_on_the_machine(office: Office, home: Home) -> None:
    home.join(office, office.token("ida")["token"])
    recorded = home.vlk2("record", "--command", "make", text=RUST.format(line=1), VLK2_SHARE="none")
    assert recorded.returncode == 0, recorded.stderr
    home.failure(VLK2_SHARE="none")
    assert "E0277" in home.vlk2("context", VLK2_SHARE="none").stdout
    assert rows(home.folder / "data", "SELECT COUNT(*) FROM observations") == [(2,)]
    known = rows(office.folder, "SELECT agents.name FROM timelines JOIN agents ON agents.pk = agent")
    assert ("ida",) not in known


def test_an_admin_administers_from_a_joined_machine(office: Office, home: Home) -> None:
    home.join(office, office.perform("create_token", agent="root", scope="admin")["token"])
    made = json.loads(home.vlk2("token", "create", "--agent", "dora", "--json").stdout)
    assert HttpAgent([office.server.port], made["token"]).rpc("tools/list").status == 200
    assert home.vlk2("token", "revoke", made["token_id"]).returncode == 0
    assert HttpAgent([office.server.port], made["token"]).rpc("tools/list").status == 401
    assert "token.revoke" in home.vlk2("audit").stdout
    for _ in range(3):
        home.failure()
    assert "looped" in home.vlk2("patterns", "list").stdout


def test_with_the_server_stopped_nothing_is_lost_and_sync_hands_it_in(office: Office, home: Home) -> None:
    home.join(office, office.token("dan")["token"])
    home.failure()
    office.server.stop()
    for _ in range(2):
        assert home.failure() == {}
    assert len(home.spooled()) == 2
    with Agent(home.folder, **_as_joined(home)) as agent:
        assert len(agent.ask("tools/list")["result"]["tools"]) == 7
        assert "cannot be reached" in agent.refusal("vlk_fetch_context", {})
    office.restart()
    done = json.loads(home.vlk2("sync", "--json").stdout)
    assert (done["handed_in"], done["waiting"]) == (2, 0)
    assert "has repeated 3 times" in home.vlk2("context").stdout


def _as_joined(home: Home) -> dict[str, str]:
    """The settings under which the stdio server reads the user file as everything else does."""
    joined = json.loads(home.config.read_text())
    return {"VLK2_STORE": joined["store"], "VLK2_AGENT": "whoever", "VLK2_CONFIG": str(home.config)}
