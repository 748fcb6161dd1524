"""`vlk2 doctor`: it names what is wrong, says what to do, and ends with 1 where something fails."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BIN = Path(sys.executable).parent
STARTED = {"hook_event_name": "SessionStart", "session_id": "s1", "source": "startup"}


def _environ(home: Path, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("LANG", "PYTHONPATH") if name in os.environ}
    held = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LOGNAME": "ann", "VLK2_DATA": str(home / "data")}
    return {**kept, **held, "VLK2_CONFIG": str(home / "vlk2.json"), **more}


def _vlk2(home: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BIN / "vlk2"), *arguments],
        cwd=home,
        env=_environ(home, **more),
        capture_output=True,
        text=True,
        timeout=60,
    )


def _doctor(home: Path, **more: str) -> tuple[int, dict[str, dict[str, Any]]]:
    done = _vlk2(home, "doctor", "--json", **more)
    assert done.stderr == ""
    answer = json.loads(done.stdout)
    assert answer["ok"] == (done.returncode == 0)
    return done.returncode, {check["name"]: check for check in answer["checks"]}


def _hook(home: Path, client: str, event: dict[str, Any], **more: str) -> None:
    subprocess.run(
        [str(BIN / "vlk2-hook"), client],
        input=json.dumps({"cwd": str(home), **event}),
        text=True,
        env=_environ(home, VLK2_HOOK_DEADLINE="20", **more),
        check=True,
        capture_output=True,
    )


def _started(home: Path, store: str) -> None:
    """A server that noted its start."""
    from vlk2 import seen

    seen.note(str(home / "data"), "server", "start", store, 1)


def test_a_fresh_machine_is_well(tmp_path: Path) -> None:
    code, checks = _doctor(tmp_path)
    assert code == 0
    assert checks["store"]["state"] == "ok"
    assert "does not exist yet" in checks["store"]["text"]
    assert not {"claude-code", "codex", "cursor"} & set(checks), "no line for a client that is not there"


def test_hooks_without_a_store_fail(tmp_path: Path) -> None:
    _vlk2(tmp_path, "install", "cursor", "--yes")
    (tmp_path / "data/memory.db").unlink()
    code, checks = _doctor(tmp_path)
    assert code == 1
    assert "say nothing" in checks["store"]["text"]


def test_a_client_is_found_then_installed_then_seen_firing(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    _, checks = _doctor(tmp_path)
    assert checks["claude-code"]["state"] == "note"
    assert "`vlk2 install claude-code`" in checks["claude-code"]["todo"]
    assert _vlk2(tmp_path, "install", "claude-code", "--yes").returncode == 0
    _, checks = _doctor(tmp_path)
    assert "not heard yet" in checks["claude-code"]["text"]
    assert "Restart Claude Code" in checks["claude-code"]["todo"]
    _hook(tmp_path, "claude-code", STARTED)
    code, checks = _doctor(tmp_path)
    assert code == 0
    assert checks["claude-code"]["state"] == "ok"
    assert "(SessionStart)" in checks["claude-code"]["text"]


def test_a_client_whose_hooks_were_half_taken_out_fails(tmp_path: Path) -> None:
    _vlk2(tmp_path, "install", "cursor", "--yes")
    (tmp_path / ".cursor/mcp.json").unlink()
    code, checks = _doctor(tmp_path)
    assert code == 1
    assert "mcp.json" in checks["cursor"]["text"]
    assert checks["cursor"]["todo"] == "Run `vlk2 install cursor` again."


def test_hooks_that_a_setting_switches_off_fail(tmp_path: Path) -> None:
    _vlk2(tmp_path, "install", "claude-code", "--yes")
    path = tmp_path / ".claude/settings.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "disableAllHooks": True}))
    code, checks = _doctor(tmp_path)
    assert code == 1
    assert "disableAllHooks" in checks["claude-code"]["todo"]


CODEX = """#!{python}
import json, sys
if sys.argv[1:] != ["app-server"]:
    sys.exit(3)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "hooks/list":
        print(json.dumps({{"method": "configWarning", "params": {{}}}}))
        hook = {{"eventName": "preToolUse", "command": "x/vlk2-hook codex", "enabled": True, "trustStatus": "{trust}"}}
        other = {{"eventName": "preToolUse", "command": "lint", "enabled": True, "trustStatus": "untrusted"}}
        print(json.dumps({{"id": asked["id"], "result": {{"data": [{{"hooks": [hook, other]}}]}}}}), flush=True)
"""


@pytest.mark.parametrize(
    ("trust", "state"), [("untrusted", "fail"), ("modified", "fail"), ("trusted", "note")]
)
def test_codex_is_asked_whether_it_trusts_our_hooks(tmp_path: Path, trust: str, state: str) -> None:
    _vlk2(tmp_path, "install", "codex", "--yes")
    program = tmp_path / "bin/codex"
    program.parent.mkdir()
    program.write_text(CODEX.format(python=sys.executable, trust=trust))
    program.chmod(0o755)
    code, checks = _doctor(tmp_path, PATH=f"{program.parent}:/usr/bin:/bin")
    assert checks["codex"]["state"] == state
    assert (code == 1) == (state == "fail")
    assert "/hooks" in checks["codex"]["todo"]
    program.write_text("#!/bin/sh\nexit 2\n")
    _, checks = _doctor(tmp_path, PATH=f"{program.parent}:/usr/bin:/bin")
    assert checks["codex"]["state"] == "note", "an old Codex cannot be asked"


def test_hook_and_server_on_two_stores_fail(tmp_path: Path) -> None:
    _hook(tmp_path, "claude-code", STARTED)
    store = f"sqlite:///{tmp_path}/data/memory.db"
    _started(tmp_path, store)
    _, checks = _doctor(tmp_path)
    assert checks["one store"]["state"] == "ok"
    _started(tmp_path, f"sqlite:///{tmp_path}/other.db")
    code, checks = _doctor(tmp_path)
    assert code == 1
    assert "other.db" in checks["one store"]["text"]
    assert "VLK2_STORE" in checks["one store"]["todo"]


def test_a_server_notes_the_store_that_it_serves(tmp_path: Path) -> None:
    _vlk2(tmp_path, "serve")
    (held,) = (tmp_path / "data/seen").glob("server.*.json")
    assert json.loads(held.read_text())["store"] == f"sqlite:///{tmp_path}/data/memory.db"


def test_a_shell_that_names_another_store_than_the_user_file_is_told_so(tmp_path: Path) -> None:
    _vlk2(tmp_path, "install", "cursor", "--yes")
    _, checks = _doctor(tmp_path, VLK2_STORE=f"sqlite:///{tmp_path}/other.db")
    assert checks["settings"]["state"] == "note"
    assert "VLK2_STORE" in checks["settings"]["text"]


@pytest.mark.parametrize("make", ["text", "newer", "folder"])
def test_a_store_that_cannot_be_used_fails_and_is_left_as_it_was(tmp_path: Path, make: str) -> None:
    path = tmp_path / "data/memory.db"
    path.parent.mkdir()
    if make == "text":
        path.write_text("no database\n" * 100)
    elif make == "folder":
        path.mkdir()
    else:
        _hook(tmp_path, "claude-code", STARTED)
        _vlk2(tmp_path, "run", "--", "true")
        with sqlite3.connect(path) as base:
            base.execute("UPDATE store_meta SET value = '9999' WHERE name IN ('min_reader', 'min_writer')")
    before = path.read_bytes() if path.is_file() else b""
    code, checks = _doctor(tmp_path)
    assert code == 1
    assert checks["store"]["state"] == "fail"
    assert "memory.db" in checks["store"]["text"]
    assert checks["store"]["todo"]
    if make == "text":
        assert path.read_bytes() == before


def test_a_folder_that_cannot_be_made_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, checks = _doctor(tmp_path, VLK2_STORE=f"sqlite:///{tmp_path}/file/memory.db")
    assert code == 1
    assert "cannot be made" in checks["store"]["text"]


def test_a_team_server_that_does_not_answer_fails(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        store = f"http://127.0.0.1:{unused.getsockname()[1]}"
        code, checks = _doctor(tmp_path, VLK2_STORE=store, VLK2_TOKEN="t")
    assert code == 1
    assert store in checks["store"]["text"]


def test_events_that_wait_in_the_spool_are_counted(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/memory.db").write_text("no database\n" * 100)
    _vlk2(tmp_path, "run", "--", "sh", "-c", "echo 'KeyError: x'; exit 1")
    _, checks = _doctor(tmp_path)
    assert checks["spool"]["state"] == "note"
    assert checks["spool"]["text"].startswith("1 events wait")


def test_a_wrong_setting_is_named(tmp_path: Path) -> None:
    code, checks = _doctor(tmp_path, VLK2_LOOP_THRESHOLD="many")
    assert code == 1
    assert "VLK2_LOOP_THRESHOLD" in checks["settings"]["text"]


def test_it_says_why_nothing_is_said(tmp_path: Path) -> None:
    assert _vlk2(tmp_path, "install", "cursor", "--yes", "--observe").returncode == 0
    _vlk2(tmp_path, "pause", "30m")
    done = _vlk2(tmp_path, "doctor", VLK2_ENFORCE="off")
    assert done.returncode == 0
    assert "vlk2 resume" in done.stdout
    assert "VLK2_ENFORCE is off" in done.stdout
    assert "vlk2 report" in done.stdout
