"""`vlk2 install` and `vlk2 uninstall` as a person uses them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vlk2.clients.launcher import passed_environment
from vlk2.clients.plan import MODULES

BIN = Path(sys.executable).parent


def _vlk2(
    home: Path,
    *arguments: str,
    text: str = "",
    program: Path = BIN / "vlk2",
    cwd: Path | None = None,
    **more: str,
) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("LANG", "PYTHONPATH") if name in os.environ}
    environ = {**kept, "HOME": str(home), "PATH": "/usr/bin:/bin", "LOGNAME": "ann", **more}
    return subprocess.run(
        [str(program), *arguments],
        cwd=cwd or home,
        env=environ,
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
    )


def _files(home: Path) -> dict[str, bytes]:
    """All files but the memory itself, which stays whatever is installed."""
    found = {str(p.relative_to(home)): p for p in sorted(home.rglob("*")) if p.is_file()}
    return {
        name: path.read_bytes() for name, path in found.items() if not name.startswith(".local/share/vlk2/")
    }


def _settings(home: Path) -> dict[str, object]:
    return json.loads((home / ".config/vlk2/config.json").read_text())


def test_all_clients_in_and_out_of_a_fresh_home(tmp_path: Path) -> None:
    done = _vlk2(tmp_path, "install", *MODULES, "--yes")
    assert done.returncode == 0, done.stderr
    assert all(f"{client}: installed." in done.stdout for client in MODULES)
    once = _files(tmp_path)
    again = _vlk2(tmp_path, "install", *MODULES, "--yes")
    assert all(f"{client}: already installed." in again.stdout for client in MODULES)
    assert _files(tmp_path) == once
    gone = _vlk2(tmp_path, "uninstall", *MODULES)
    assert gone.returncode == 0
    assert all(f"{client}: taken out." in gone.stdout for client in MODULES)
    assert _files(tmp_path) == {}


def test_a_dry_run_shows_the_change_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor/mcp.json").write_text('{\n  "mcpServers": {"docs": {"command": "x"}}\n}\n')
    before = _files(tmp_path)
    done = _vlk2(tmp_path, "install", "cursor", "--dry-run")
    assert done.returncode == 0
    assert f"+++ {tmp_path}/.cursor/mcp.json" in done.stdout
    assert '"vlk2"' in done.stdout
    assert "Nothing was written" in done.stdout
    assert _files(tmp_path) == before


def test_a_token_in_the_lines_around_a_change_is_not_shown(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor/mcp.json").write_text(
        json.dumps({"mcpServers": {}, "env": {"GITHUB_TOKEN": token}}, indent=2)
    )
    done = _vlk2(tmp_path, "install", "cursor", "--yes")
    assert token not in done.stdout
    assert token in (tmp_path / ".cursor/mcp.json").read_text()


def test_a_stores_password_is_not_shown_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    store = "postgresql://vlk2:s3cr3t-Pa55w0rd@db.example.test/vlk2"
    done = _vlk2(tmp_path, "install", "cursor", "--dry-run", VLK2_STORE=store)
    assert "db.example.test" in done.stdout
    assert "s3cr3t" not in done.stdout
    _vlk2(tmp_path, "install", "cursor", "--yes", VLK2_STORE=store)
    assert _settings(tmp_path)["store"] == store
    assert (tmp_path / ".config/vlk2/config.json").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(("text", "code"), [("", 1), ("n\n", 1), ("y\n", 0)])
def test_it_asks_before_it_writes(tmp_path: Path, text: str, code: int) -> None:
    done = _vlk2(tmp_path, "install", "gemini", text=text)
    assert done.returncode == code
    assert "Write these changes?" in done.stdout
    assert (_files(tmp_path) != {}) == (code == 0)
    if code:
        assert "--yes" in done.stderr


def test_the_settings_of_this_shell_are_written_resolved(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/elsewhere/memory.db"
    _vlk2(tmp_path, "install", "gemini", "--yes", VLK2_STORE=store, VLK2_TEAM="shop", VLK2_AGENT="ann-laptop")
    assert _settings(tmp_path) == {"store": store, "team": "shop", "agent": "ann-laptop"}
    assert (tmp_path / ".config/vlk2/config.json").stat().st_mode & 0o777 == 0o600
    _vlk2(tmp_path, "uninstall", "gemini")
    assert _settings(tmp_path)["store"] == store, "what is no default stays known"


def test_what_else_the_user_file_holds_stays(tmp_path: Path) -> None:
    path = tmp_path / ".config/vlk2/config.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"token_budget": 4000, "team": "shop"}\n')
    _vlk2(tmp_path, "install", "gemini", "--yes", "--observe")
    held = _settings(tmp_path)
    assert (held["token_budget"], held["team"], held["observe"]) == (4000, "shop", True)
    _vlk2(tmp_path, "install", "gemini", "--yes")
    assert _settings(tmp_path)["observe"] is True, "only --no-observe ends it"
    _vlk2(tmp_path, "install", "gemini", "--yes", "--no-observe")
    assert _settings(tmp_path)["observe"] is False


def test_a_file_that_cannot_be_read_stays_and_the_rest_is_done(tmp_path: Path) -> None:
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor/hooks.json").write_text("{broken")
    done = _vlk2(tmp_path, "install", "cursor", "--yes")
    assert done.returncode == 1
    assert "stays as it is" in done.stdout
    assert '"preToolUse"' in done.stdout, "the snippet to paste"
    assert (tmp_path / ".cursor/hooks.json").read_text() == "{broken"
    assert "vlk2" in (tmp_path / ".cursor/mcp.json").read_text()


def test_the_store_is_there_when_the_first_hook_comes(tmp_path: Path) -> None:
    assert _vlk2(tmp_path, "install", "cursor", "--yes").returncode == 0
    path = tmp_path / ".local/share/vlk2/memory.db"
    assert path.stat().st_mode & 0o777 == 0o600
    event = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": str(tmp_path)}
    hook = _vlk2(
        tmp_path, "claude-code", text=json.dumps(event), program=BIN / "vlk2-hook", VLK2_HOOK_DEADLINE="20"
    )
    assert hook.returncode == 0
    assert not list(path.parent.glob("spool/*.json")), "it was written, not put aside"


def test_a_store_that_cannot_be_made_is_said_and_the_files_are_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = _vlk2(tmp_path, "install", "cursor", "--yes", VLK2_STORE=f"sqlite:///{tmp_path}/file/memory.db")
    assert done.returncode == 1
    assert "store:" in done.stderr
    assert (tmp_path / ".cursor/hooks.json").exists()


def test_an_unknown_client_is_wrong_usage(tmp_path: Path) -> None:
    done = _vlk2(tmp_path, "install", "emacs", "--yes")
    assert done.returncode == 2
    assert "claude-code" in done.stderr


def test_a_projects_files_go_to_the_root_of_the_checkout(tmp_path: Path) -> None:
    work = tmp_path / "shop"
    (work / ".git").mkdir(parents=True)
    (work / "src/deep").mkdir(parents=True)
    done = _vlk2(
        tmp_path, "install", "claude-code", "cursor", "--scope", "project", "--yes", cwd=work / "src/deep"
    )
    assert done.returncode == 0, done.stderr
    found = _files(work)
    assert set(found) == {".mcp.json", ".claude/settings.json", ".cursor/hooks.json", ".cursor/mcp.json"}
    assert all(str(tmp_path).encode() not in text for text in found.values())
    assert "approve" in done.stdout
    _vlk2(tmp_path, "uninstall", "claude-code", "cursor", "--scope", "project", cwd=work / "src/deep")
    assert _files(work) == {}


def test_a_link_on_the_path_is_what_the_client_starts(tmp_path: Path) -> None:
    links = tmp_path / "bin"
    links.mkdir()
    for name in ("vlk2", "vlk2-hook"):
        (links / name).symlink_to(BIN / name)
    _vlk2(tmp_path, "install", "gemini", "--yes", program=links / "vlk2", PATH=f"{links}:/usr/bin:/bin")
    written = (tmp_path / ".gemini/settings.json").read_text()
    assert f"{links}/vlk2-hook gemini" in written
    assert str(BIN) not in written, "the link outlives an upgrade"


def test_folders_that_only_this_shell_knows_are_passed_on(tmp_path: Path) -> None:
    assert passed_environment({"HOME": str(tmp_path)}) == {}
    _vlk2(
        tmp_path,
        "install",
        "claude-code",
        "--yes",
        VLK2_CONFIG=str(tmp_path / "c.json"),
        VLK2_DATA=str(tmp_path / "d"),
    )
    server = json.loads((tmp_path / ".claude.json").read_text())["mcpServers"]["vlk2"]
    assert server["env"] == {"VLK2_CONFIG": str(tmp_path / "c.json"), "VLK2_DATA": str(tmp_path / "d")}
    (hook,) = json.loads((tmp_path / ".claude/settings.json").read_text())["hooks"]["PreToolUse"]
    assert f"env VLK2_CONFIG={tmp_path}/c.json VLK2_DATA={tmp_path}/d " in hook["hooks"][0]["command"]
