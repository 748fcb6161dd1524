"""Real coding agents of pinned versions: their installation, their settings, and one run on a stand-in model."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
from typing import Any

from stand_in import StandIn, Turn

NPM = {
    "claude-code": "@anthropic-ai/claude-code@2.1.332",
    "codex": "@openai/codex@0.171.0",
    "opencode": "opencode-ai@1.18.33",
    "gemini": "@google/gemini-cli@0.61.0",
}
PYPI = {"hermes": "hermes-agent[mcp]==0.19.0"}
CLIENTS = (*NPM, *PYPI)
LONGEST = 240
"""Seconds for one run of a client, on a slow machine that does other things."""


class Unavailable(Exception):
    """The clients cannot be installed here."""


def installation() -> pathlib.Path:
    """The folder that holds all pinned clients; made where it is missing, by one process at a time.

    `VLK2_CLIENTS_DIR`, else a folder of the user's cache, named for the pins.
    """
    pins = hashlib.sha256(json.dumps([NPM, PYPI], sort_keys=True).encode()).hexdigest()[:10]
    base = pathlib.Path(os.environ.get("VLK2_CLIENTS_DIR") or pathlib.Path.home() / ".cache" / "vlk2-clients")
    folder = base / pins
    done = folder / "complete"
    if done.exists():
        return folder
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is not on the PATH")
    folder.mkdir(parents=True, exist_ok=True)
    lock = folder / "lock"
    deadline = time.monotonic() + 600
    while not done.exists():
        try:
            lock.mkdir()
        except FileExistsError:
            if time.monotonic() > deadline:
                raise Unavailable(f"{lock} is held by a process that does not end") from None
            time.sleep(1)
            continue
        try:
            _install(folder, npm)
            done.touch()
        finally:
            lock.rmdir()
    return folder


def _install(folder: pathlib.Path, npm: str) -> None:
    quiet = ["--no-audit", "--no-fund", "--loglevel", "error"]
    python = folder / "hermes"
    steps: list[list[str]] = [
        [npm, "install", "--prefix", str(folder), *quiet, *NPM.values()],
        [sys.executable, "-m", "venv", str(python)],
        [str(python / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *PYPI.values()],
    ]
    for step in steps:
        ended = subprocess.run(step, capture_output=True, text=True, timeout=900)
        if ended.returncode:
            raise Unavailable(f"{' '.join(step[:3])} … ended with {ended.returncode}: {ended.stderr[-800:]}")


class Desk:
    """A developer's place: a fresh home, a working copy, one client with its settings and our installation."""

    def __init__(self, client: str, folder: pathlib.Path) -> None:
        self.client = client
        self.home = folder / "home"
        self.work = folder / "work"
        self.home.mkdir(parents=True)
        self.work.mkdir(parents=True)
        self.output = ""
        self._clients = installation()

    def environment(self, port: int = 0) -> dict[str, str]:
        """What a process at this desk sees: the home, the pinned clients and our commands on the PATH."""
        ours = str(pathlib.Path(sys.executable).parent)
        paths = [ours, str(self._clients / "node_modules" / ".bin"), str(self._clients / "hermes" / "bin")]
        kept = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("XDG_", "VLK2_", "CLAUDE", "GEMINI_", "CODEX_"))
        }
        url = f"http://127.0.0.1:{port}"
        return (
            kept
            | {
                "HOME": str(self.home),
                "PWD": str(self.work),
                "PATH": os.pathsep.join([*paths, os.environ["PATH"]]),
                "VLK2_HOOK_DEADLINE": "20",  # the drive is about what is said, not about how fast this machine is now
                "ANTHROPIC_BASE_URL": url,
                "ANTHROPIC_API_KEY": "stand-in",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_TELEMETRY": "1",
                "DISABLE_ERROR_REPORTING": "1",
                "ENABLE_TOOL_SEARCH": "false",  # tools are listed at once: the stand-in does not search for them
                "IS_SANDBOX": "1",
                "STAND_IN_KEY": "stand-in",
                "OPENAI_API_KEY": "stand-in",
                "GEMINI_API_KEY": "stand-in",
                "GOOGLE_GEMINI_BASE_URL": url,
                "GEMINI_CLI_TRUST_WORKSPACE": "true",
                "HERMES_ACCEPT_HOOKS": "1",
            }
        )

    def vlk2(self, *arguments: str) -> str:
        """What our command prints here; the test fails with its output where it fails."""
        ended = subprocess.run(
            ["vlk2", *arguments],
            cwd=self.work,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert ended.returncode == 0, f"vlk2 {' '.join(arguments)}:\n{ended.stdout}\n{ended.stderr}"
        return ended.stdout

    def install(self) -> None:
        """As a user does it."""
        self.vlk2("install", self.client, "--yes")

    def run(self, script: list[Turn], *folders: pathlib.Path) -> StandIn:
        """Sessions of the client on the script, one in each folder (the working copy by default), all at once;
        answers the stand-in with what they sent."""
        with StandIn(script) as model:
            _settings(self.client, self.home, model.port)
            started = [
                subprocess.Popen(
                    COMMANDS[self.client],
                    cwd=where,
                    env={**self.environment(model.port), "PWD": str(where)},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                )
                for where in (folders or (self.work,))
            ]
            for process in started:
                try:
                    text, _ = process.communicate(timeout=LONGEST)
                except subprocess.TimeoutExpired:
                    process.kill()
                    text, _ = process.communicate()
                self.output += f"{self.client} ended with {process.returncode}:\n{text[-4000:]}\n"
        log = next(self.home.rglob("hook.log"), None)
        if log is not None:
            self.output += f"hook.log:\n{log.read_text()[-2000:]}"
        return model


COMMANDS = {
    "claude-code": ["claude", "-p", "go", "--allowedTools", "Bash", "mcp__vlk2__*"],
    "codex": [
        "codex",
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust",
        "go",
    ],
    "opencode": ["opencode", "run", "go"],
    "gemini": ["gemini", "-p", "go", "--yolo", "-m", "gemini-2.5-pro"],
    "hermes": ["hermes", "--cli", "--yolo", "--accept-hooks", "-z", "go"],
}


def _settings(client: str, home: pathlib.Path, port: int) -> None:
    """The client's own settings for this model: written before each run, since the port is another each time."""
    url = f"http://127.0.0.1:{port}"
    match client:
        case "codex":
            path = home / ".codex" / "config.toml"
            head = (
                f'model = "gpt-5"\nmodel_provider = "stand-in"\n\n[model_providers.stand-in]\nname = "stand-in"\n'
                f'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "STAND_IN_KEY"\nrequest_max_retries = 0\n'
                "stream_max_retries = 0\n\n[analytics]\nenabled = false\n"
            )
            mark = "# end of the stand-in's settings\n"
            path.parent.mkdir(exist_ok=True)
            rest = path.read_text().rpartition(mark)[2] if path.exists() else ""
            path.write_text(head + mark + rest)
        case "opencode":
            models = {"m1": {"name": "m1", "tool_call": True, "limit": {"context": 100_000, "output": 4_000}}}
            options = {"baseURL": f"{url}/v1", "apiKey": "stand-in"}
            provider = {
                "npm": "@ai-sdk/openai-compatible",
                "name": "stand-in",
                "options": options,
                "models": models,
            }
            _merge(
                home / ".config" / "opencode" / "opencode.json",
                {
                    "autoupdate": False,
                    "model": "stand-in/m1",
                    "small_model": "stand-in/m1",
                    "permission": {"bash": "allow"},
                    "provider": {"stand-in": provider},
                },
            )
        case "gemini":
            _merge(
                home / ".gemini" / "settings.json",
                {
                    "security": {
                        "auth": {"selectedType": "gemini-api-key"},
                        "folderTrust": {"enabled": False},
                    },
                    "privacy": {"usageStatisticsEnabled": False},
                    "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
                    "telemetry": {"enabled": False},
                    "model": {
                        "disableLoopDetection": True
                    },  # the client's own would end the story before ours
                },
            )
        case "hermes":
            path = home / ".hermes" / "config.yaml"
            path.parent.mkdir(exist_ok=True)
            mark = "# end of the stand-in's settings\n"
            rest = path.read_text().rpartition(mark)[2] if path.exists() else ""
            path.write_text(
                f"model:\n  default: m1\n  provider: custom\n  base_url: {url}/v1\n  api_key: stand-in\n{mark}{rest}"
            )
        case _:
            (home / ".claude").mkdir(exist_ok=True)


def _merge(path: pathlib.Path, settings: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    held = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**held, **settings}, indent=2))
