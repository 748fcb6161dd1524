"""Installing into each client's files: twice is once, taking back restores the bytes, nothing can lock a client out."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vlk2.clients import applying, plan
from vlk2.clients.editing import files, jsonc, toml, yaml
from vlk2.clients.editing.unreadable import Unreadable
from vlk2.clients.launcher import Launcher, by_name
from vlk2.clients.plan import MODULES, Place, Plan
from vlk2.errors import ConfigError

NOTHING: dict[str, str] = {"PATH": ""}
JSON_FILES = {
    "claude-code": (".claude/settings.json", ".claude.json"),
    "codex": (".codex/hooks.json",),
    "opencode": (".config/opencode/opencode.json",),
    "gemini": (".gemini/settings.json",),
    "cursor": (".cursor/hooks.json", ".cursor/mcp.json"),
}


def _place(home: Path, *, scope: str = "user", windows: bool = False, **more: Any) -> Place:
    launcher = (
        by_name(windows=windows)
        if scope == "project"
        else Launcher("/opt/vlk2/bin/vlk2-hook", "/opt/vlk2/bin/vlk2", windows)
    )
    held: dict[str, Any] = {
        "scope": scope,
        "home": str(home),
        "root": str(home / "work"),
        "environ": {},
        "launcher": launcher,
        "read": _read,
        "version": lambda program: "",
    }
    return Place(**{**held, **more})


def _read(path: str) -> str | None:
    try:
        return files.read(path)
    except Unreadable:
        return None


def _plan(client: str, home: Path, **more: Any) -> Plan:
    return plan.installer(client).plan(_place(home, **more))


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


# recorded files of each client, as people keep them ---------------------------------------------------------

CLAUDE = """{
  "permissions": {
    "allow": ["Bash(make:*)"]
  },
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [{ "type": "command", "command": "~/bin/guard.sh" }]
      }
    ]
  },
  "model": "opus"
}
"""
CODEX = """# personal
model = "gpt-5"   # the big one
approval_policy = "on-request"

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs-mcp"]

# trusted folders
[projects."/home/me/app"]
trust_level = "trusted"
"""
CODEX_HOOKS = (
    CODEX
    + """
[[hooks.PreToolUse]]
matcher = "^Bash$"

[[hooks.PreToolUse.hooks]]
type = "command"
command = "guard"
timeout = 3
"""
)
OPENCODE = """{
  // see the docs
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "docs": { "type": "remote", "url": "https://docs.example/mcp" }, // team
  },
  "plugin": ["opencode-notify"],
}
"""
GEMINI = '{\r\n\t"security": {"auth": {"selectedType": "oauth-personal"}},\r\n\t/* servers */\r\n\t"mcpServers": {}\r\n}'
HERMES = """# hermes
model:
  default: m1   # cheap
mcp_servers:
  # ours come first
  docs:
    command: npx
    args: ["-y", "docs-mcp"]

plugins:
  enabled:
    - diary
  disabled: []
hooks_auto_accept: false
"""
CURSOR = """{
    "version": 1,
    "hooks": {
        "afterFileEdit": [{"command": "./format.sh"}],
        "preToolUse": [
            {"command": "./audit.sh"}
        ]
    }
}
"""
RECORDED = [
    ("claude-code", ".claude/settings.json", CLAUDE),
    (
        "claude-code",
        ".claude.json",
        '{"numStartups":12,"mcpServers":{"docs":{"command":"npx"}},"projects":{}}',
    ),
    ("codex", ".codex/config.toml", CODEX),
    ("codex", ".codex/config.toml", CODEX_HOOKS),
    ("codex", ".codex/config.toml", CODEX.rstrip("\n")),
    ("codex", ".codex/config.toml", CODEX.replace("\n", "\r\n")),
    ("codex", ".codex/config.toml", ""),
    ("opencode", ".config/opencode/opencode.json", OPENCODE),
    ("opencode", ".config/opencode/opencode.jsonc", OPENCODE),
    ("gemini", ".gemini/settings.json", GEMINI),
    ("hermes", ".hermes/config.yaml", HERMES),
    ("hermes", ".hermes/config.yaml", HERMES.replace("\n", "\r\n")),
    ("hermes", ".hermes/config.yaml", "mcp_servers:\nplugins:\n  enabled:\n"),
    ("hermes", ".hermes/config.yaml", ""),
    ("cursor", ".cursor/hooks.json", CURSOR),
    ("cursor", ".cursor/mcp.json", '{"mcpServers": {}}\n'),
    *[
        (client, path, text)
        for client, paths in JSON_FILES.items()
        for path in paths
        for text in ("", "{}", "{\n}\n", "\ufeff{ }\n")
    ],
    *[(client, path, "// mine\n") for client, paths in JSON_FILES.items() for path in paths],
]


@pytest.mark.parametrize(("client", "path", "text"), RECORDED)
def test_installing_twice_is_installing_once_and_taking_back_restores_the_bytes(
    tmp_path: Path, client: str, path: str, text: str
) -> None:
    _write(tmp_path / path, text)
    before = _tree(tmp_path)
    assert applying.install(_plan(client, tmp_path), NOTHING) == []
    once = _tree(tmp_path)
    assert once[path] != before[path]
    assert once[path + files.BACKUP] == before[path]
    assert applying.installed(_plan(client, tmp_path))[0] == len(_plan(client, tmp_path).edits)
    assert applying.to_install(_plan(client, tmp_path), NOTHING).nothing
    assert applying.install(_plan(client, tmp_path), NOTHING) == []
    assert _tree(tmp_path) == once
    assert applying.uninstall(_plan(client, tmp_path), NOTHING) == []
    assert _tree(tmp_path) == before


@pytest.mark.parametrize("client", MODULES)
def test_a_fresh_home_is_left_without_a_file_again(tmp_path: Path, client: str) -> None:
    applying.install(_plan(client, tmp_path), NOTHING)
    assert applying.present(_plan(client, tmp_path))
    assert not list(tmp_path.rglob("*" + files.BACKUP)), "there was nothing to keep"
    applying.uninstall(_plan(client, tmp_path), NOTHING)
    assert _tree(tmp_path) == {}
    assert not applying.present(_plan(client, tmp_path))


_documents = st.dictionaries(
    st.sampled_from(["hooks", "mcpServers", "mcp", "model", "version", "env"]),
    st.one_of(
        st.just({}),
        st.text(max_size=4),
        st.dictionaries(
            st.sampled_from(["PreToolUse", "BeforeTool", "preToolUse", "docs", "vlk2"]),
            st.one_of(
                st.just([]),
                st.just({}),
                st.just({"command": "x"}),
                st.just([{"hooks": [{"command": "lint"}], "command": "y"}]),
            ),
            max_size=3,
        ),
    ),
    max_size=4,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    _documents,
    st.sampled_from([None, 1, 2, "\t"]),
    st.sampled_from(["", "\n", "\r\n"]),
    st.sampled_from(list(JSON_FILES)),
)
def test_whatever_stood_in_a_json_file_stands_there_after_both(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any], indent: Any, end: str, client: str
) -> None:
    home = tmp_path_factory.mktemp("home")
    if document.get("version") != 1:
        document.pop("version", None)
    for path in JSON_FILES[client]:
        _write(home / path, json.dumps(document, indent=indent) + end)
    before = _tree(home)
    outlook = applying.to_install(_plan(client, home), NOTHING)
    applying.install(_plan(client, home), NOTHING)
    once = _tree(home)
    for blocked in outlook.blocked:
        kept = str(Path(blocked.path).relative_to(home))
        assert once[kept] == before[kept]
    applying.install(_plan(client, home), NOTHING)
    assert _tree(home) == once
    applying.uninstall(_plan(client, home), NOTHING)
    if '"vlk2"' not in json.dumps(document):  # an entry of that name was ours to take
        assert _tree(home) == before


def test_what_python_made_of_our_plugin_goes_with_it(tmp_path: Path) -> None:
    applying.install(_plan("hermes", tmp_path), NOTHING)
    _write(tmp_path / ".hermes/plugins/vlk2/__pycache__/__init__.cpython-311.pyc", "x")
    _write(tmp_path / ".hermes/plugins/other/__init__.py", "y")
    applying.uninstall(_plan("hermes", tmp_path), NOTHING)
    assert _tree(tmp_path) == {".hermes/plugins/other/__init__.py": b"y"}
    assert not (tmp_path / ".hermes/plugins/vlk2").exists()


def test_what_the_user_changed_after_the_install_stays(tmp_path: Path) -> None:
    path = tmp_path / ".gemini/settings.json"
    _write(path, GEMINI)
    applying.install(_plan("gemini", tmp_path), NOTHING)
    path.write_text(jsonc.put(path.read_text(), ("theme",), "dark"))
    applying.uninstall(_plan("gemini", tmp_path), NOTHING)
    assert jsonc.parse(path.read_text()) == {**jsonc.parse(GEMINI), "theme": "dark"}
    assert (tmp_path / (".gemini/settings.json" + files.BACKUP)).exists(), (
        "the copy stays where the file differs"
    )


def test_what_the_user_added_to_our_server_stays_when_the_launcher_moves(tmp_path: Path) -> None:
    path = tmp_path / ".gemini/settings.json"
    applying.install(_plan("gemini", tmp_path), NOTHING)
    path.write_text(jsonc.put(path.read_text(), ("mcpServers", "vlk2", "trust"), True))
    moved = Launcher("/new/bin/vlk2-hook", "/new/bin/vlk2")
    applying.install(_plan("gemini", tmp_path, launcher=moved), NOTHING)
    entry = jsonc.parse(path.read_text())["mcpServers"]["vlk2"]
    assert entry == {"command": "/new/bin/vlk2", "args": ["serve"], "trust": True}


def test_a_codex_table_that_the_user_added_to_ours_goes_with_it(tmp_path: Path) -> None:
    path = tmp_path / ".codex/config.toml"
    _write(path, CODEX)
    applying.install(_plan("codex", tmp_path), NOTHING)
    path.write_text(
        path.read_text()
        + '\n[mcp_servers.vlk2.tools.vlk_recall]\napproval_mode = "approve"\n\n[tui]\nx = 1\n'
    )
    applying.uninstall(_plan("codex", tmp_path), NOTHING)
    assert toml.parse(path.read_text()) == {**toml.parse(CODEX), "tui": {"x": 1}}


def test_codex_hooks_go_where_the_user_keeps_hooks(tmp_path: Path) -> None:
    _write(tmp_path / ".codex/config.toml", CODEX_HOOKS)
    applying.install(_plan("codex", tmp_path), NOTHING)
    assert not (tmp_path / ".codex/hooks.json").exists(), "two forms in one layer make Codex warn"
    hooks = toml.parse((tmp_path / ".codex/config.toml").read_text())["hooks"]
    assert [len(hooks["PreToolUse"]), len(hooks["PostToolUse"])] == [2, 1]


BROKEN = [
    ("claude-code", ".claude/settings.json", b'{"hooks": {'),
    ("claude-code", ".claude/settings.json", b"\xff\xfe{\x00"),
    ("claude-code", ".claude/settings.json", b'{"hooks": []}'),
    ("codex", ".codex/config.toml", b"model = \n"),
    ("codex", ".codex/config.toml", b'mcp_servers = {docs = {command = "x"}}\n'),
    ("opencode", ".config/opencode/opencode.json", b'{"mcp": 1}'),
    ("gemini", ".gemini/settings.json", b"{'a': 1}"),
    ("hermes", ".hermes/config.yaml", b"a: [\n"),
    ("cursor", ".cursor/hooks.json", b'{"version": 2, "hooks": {}}'),
    ("cursor", ".cursor/mcp.json", b"[]"),
]


@pytest.mark.parametrize(("client", "path", "raw"), BROKEN)
def test_a_file_that_we_cannot_read_is_not_touched_and_the_snippet_is_given(
    tmp_path: Path, client: str, path: str, raw: bytes
) -> None:
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_bytes(raw)
    outlook = applying.to_install(_plan(client, tmp_path), NOTHING)
    assert [blocked.path for blocked in outlook.blocked] == [str(tmp_path / path)]
    assert "vlk2" in outlook.blocked[0].snippet
    applying.install(_plan(client, tmp_path), NOTHING)
    applying.uninstall(_plan(client, tmp_path), NOTHING)
    assert _tree(tmp_path) == {path: raw}


def test_each_snippet_is_valid_in_the_language_of_its_file(tmp_path: Path) -> None:
    for client in MODULES:
        for edit in _plan(client, tmp_path).edits:
            parsers: dict[str, Callable[[str], Any]] = {
                ".json": jsonc.parse,
                ".toml": toml.parse,
                ".yaml": yaml.parse,
            }
            parser = parsers.get(Path(edit.path).suffix)
            if parser:
                assert edit.add(edit.snippet) is not None
                assert parser(edit.snippet)


def test_a_file_of_another_origin_in_the_place_of_our_plugin_stays(tmp_path: Path) -> None:
    path = tmp_path / ".config/opencode/plugins/vlk2.js"
    _write(path, "export const Mine = async () => ({})\n")
    outlook = applying.to_install(_plan("opencode", tmp_path), NOTHING)
    assert [blocked.path for blocked in outlook.blocked] == [str(path)]
    applying.install(_plan("opencode", tmp_path), NOTHING)
    applying.uninstall(_plan("opencode", tmp_path), NOTHING)
    assert path.read_text() == "export const Mine = async () => ({})\n"


@pytest.mark.parametrize("dangling", [False, True])
def test_a_link_stays_a_link_and_what_it_points_to_is_edited(tmp_path: Path, dangling: bool) -> None:
    dotfiles, home = tmp_path / "dotfiles", tmp_path / "home"
    dotfiles.mkdir()
    target, link = dotfiles / "claude.json", home / ".claude/settings.json"
    link.parent.mkdir(parents=True)
    if not dangling:
        target.write_text(CLAUDE)
        target.chmod(0o640)
    link.symlink_to(target)
    applying.install(_plan("claude-code", home), NOTHING)
    assert link.is_symlink()
    assert "vlk2-hook" in target.read_text()
    if not dangling:
        assert stat.S_IMODE(target.stat().st_mode) == 0o640
        assert stat.S_IMODE(Path(str(link) + files.BACKUP).stat().st_mode) == 0o640
    applying.uninstall(_plan("claude-code", home), NOTHING)
    assert link.is_symlink()
    assert target.exists() != dangling
    if not dangling:
        assert target.read_text() == CLAUDE
    assert _tree(dotfiles) == ({} if dangling else {"claude.json": CLAUDE.encode()})


def test_a_write_that_fails_leaves_the_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}")

    def refuse(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="No space"):
        files.write(str(path), '{"a": 1}')
    assert _tree(tmp_path) == {"settings.json": b"{}"}


# the vendor's own command -----------------------------------------------------------------------------------


def _stand_in(folder: Path, name: str, script: str) -> dict[str, str]:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin"}


def test_the_vendors_command_goes_before_an_edit_of_ours(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    environ = _stand_in(
        tmp_path / "bin",
        "claude",
        f'echo "$@" >> {tmp_path}/calls\n[ "$2" = remove ] && echo "{{}}" > {home}/.claude.json\n'
        f'[ "$2" = add-json ] && echo "{{\\"mcpServers\\": {{\\"vlk2\\": $6}}}}" > {home}/.claude.json\nexit 0',
    )
    outlook = applying.to_install(_plan("claude-code", home), environ)
    assert [command[:3] for command in outlook.commands] == [("claude", "mcp", "add-json")]
    assert [Path(change.path).name for change in outlook.changes] == ["settings.json"]
    assert applying.install(_plan("claude-code", home), environ) == []
    assert applying.to_install(_plan("claude-code", home), environ).nothing
    moved = _plan("claude-code", home, launcher=Launcher("/new/vlk2-hook", "/new/vlk2"))
    assert [command[2] for command in applying.to_install(moved, environ).commands] == ["remove", "add-json"]
    assert applying.uninstall(_plan("claude-code", home), environ) == []
    calls = (tmp_path / "calls").read_text().splitlines()
    assert [call.split()[1] for call in calls] == ["add-json", "remove"]


@pytest.mark.parametrize("before", [None, "", CODEX, CODEX.rstrip("\n")])
def test_a_file_that_the_vendors_command_laid_out_anew_comes_back_as_it_was(
    tmp_path: Path, before: str | None
) -> None:
    home = tmp_path / "home"
    config = home / ".codex/config.toml"
    config.parent.mkdir(parents=True)
    if before is not None:
        _write(config, before)
    environ = _stand_in(
        tmp_path / "bin",
        "codex",
        f"cd {home}/.codex; touch config.toml\n"
        "[ \"$2\" = add ] && printf \"\\n\\n[mcp_servers.vlk2]\\ncommand = '$5'\\nargs = ['$6']\\n\" >> config.toml\n"
        '[ "$2" = remove ] && sed -i "/vlk2/d; /.serve.\\]/d" config.toml\nexit 0',
    )
    assert applying.install(_plan("codex", home), environ) == []
    assert toml.parse(config.read_text())["mcp_servers"]["vlk2"]["args"] == ["serve"]
    assert not applying.to_install(_plan("codex", home), environ).commands
    assert applying.uninstall(_plan("codex", home), environ) == []
    assert _tree(home) == ({} if before is None else {".codex/config.toml": before.encode()})


def test_where_the_vendors_command_fails_the_file_is_edited_and_that_is_said(tmp_path: Path) -> None:
    home = tmp_path / "home"
    environ = _stand_in(tmp_path / "bin", "codex", "echo 'config is locked' >&2; exit 3")
    said = applying.install(_plan("codex", home), environ)
    assert len(said) == 1
    assert "config is locked" in said[0]
    assert toml.parse((home / ".codex/config.toml").read_text())["mcp_servers"]["vlk2"]["args"] == ["serve"]


# what a client runs ------------------------------------------------------------------------------------------


def _shell_commands(client: str, home: Path, launcher: Launcher, scope: str = "user") -> list[str]:
    found: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                if key == "command" and isinstance(inner, str) and "vlk2-hook" in inner:
                    found.append(inner)
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    for edit in _plan(client, home, launcher=launcher, scope=scope).edits:
        if edit.path.endswith(".json"):
            walk(jsonc.parse(edit.add("")))
    return sorted(set(found))


SHELL_CLIENTS = ["claude-code", "codex", "gemini", "cursor"]


@pytest.mark.parametrize("client", SHELL_CLIENTS)
@pytest.mark.parametrize("state", ["works", "missing", "not executable", "interpreter gone"])
def test_no_state_of_the_launcher_locks_a_client_out(tmp_path: Path, client: str, state: str) -> None:
    hook = tmp_path / "a folder, it's $HOME's" / "vlk2-hook"
    hook.parent.mkdir()
    if state != "missing":
        hook.write_text(
            f"#!{'/gone/python' if state == 'interpreter gone' else '/bin/sh'}\necho heard $1\ncat\n"
        )
        hook.chmod(0o644 if state == "not executable" else 0o755)
    (command,) = _shell_commands(client, tmp_path, Launcher(str(hook), "/opt/vlk2/bin/vlk2"))
    runs = [["/bin/sh", "-c", command], ["/bin/bash", "-c", command]]
    if client in ("codex", "cursor"):
        runs.append(shlex.split(command))  # no shell of its own at all
    for words in runs:
        done = subprocess.run(words, input=b"{}", capture_output=True, env={"PATH": "/usr/bin:/bin"})
        assert done.returncode == 0
        assert done.stdout == (f"heard {client}\n{{}}".encode() if state == "works" else b"")


@pytest.mark.parametrize("client", SHELL_CLIENTS)
def test_a_projects_command_finds_the_launcher_on_the_path_or_is_silent(tmp_path: Path, client: str) -> None:
    (command,) = _shell_commands(client, tmp_path, by_name(windows=False), "project")
    environ = _stand_in(tmp_path / "bin", "vlk2-hook", "echo heard $1")
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, env=environ)
    assert (done.returncode, done.stdout) == (0, f"heard {client}\n".encode())
    without = subprocess.run(["/bin/sh", "-c", command], capture_output=True, env={"PATH": "/usr/bin:/bin"})
    assert (without.returncode, without.stdout, without.stderr) == (0, b"", b"")


def test_what_a_client_filters_is_passed_on(tmp_path: Path) -> None:
    hook = tmp_path / "vlk2-hook"
    hook.write_text('#!/bin/sh\necho "$VLK2_CONFIG"\n')
    hook.chmod(0o755)
    passing = Launcher(str(hook), "/opt/vlk2", environment={"VLK2_CONFIG": "/a b/it's.json"})
    for client in SHELL_CLIENTS:
        (command,) = _shell_commands(client, tmp_path, passing)
        done = subprocess.run(
            ["/bin/sh", "-c", command], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}
        )
        assert done.stdout == "/a b/it's.json\n"
    words = passing.words("opencode")
    done = subprocess.run(words, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
    assert done.stdout == "/a b/it's.json\n"
    entry = toml.parse(_plan("codex", tmp_path, launcher=passing).edits[0].add(""))["mcp_servers"]["vlk2"]
    assert entry["env"] == {"VLK2_CONFIG": "/a b/it's.json"}


@pytest.mark.parametrize("client", [name for name in MODULES if name != "hermes"])
def test_a_projects_files_name_no_home_and_no_token(tmp_path: Path, client: str) -> None:
    place = _place(
        tmp_path, scope="project", environ={"VLK2_TOKEN": "s3cret", "VLK2_CONFIG": str(tmp_path / "c.json")}
    )
    for edit in plan.installer(client).plan(place).edits:
        written = edit.add("")
        assert Path(edit.path).is_relative_to(tmp_path / "work")
        assert str(tmp_path) not in written
        assert "s3cret" not in written
        assert "/opt/" not in written


def test_hermes_has_no_project_scope(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no project scope"):
        _plan("hermes", tmp_path, scope="project")


def test_timeouts_are_in_each_clients_own_unit(tmp_path: Path) -> None:
    def timeout(client: str, event: str, nested: bool = True) -> int:
        edit = next(e for e in _plan(client, tmp_path).edits if '"hooks"' in e.snippet)
        entry = jsonc.parse(edit.add(""))["hooks"][event][0]
        return (entry["hooks"][0] if nested else entry)["timeout"]

    assert timeout("claude-code", "PreToolUse") == 5
    assert timeout("codex", "PreToolUse") == 5
    assert timeout("gemini", "BeforeTool") == 5000
    assert timeout("cursor", "preToolUse", nested=False) == 5


@pytest.mark.parametrize("client", MODULES)
def test_every_client_is_told_a_step_and_no_server_name_holds_an_underscore(
    tmp_path: Path, client: str
) -> None:
    assert _plan(client, tmp_path).manual
    assert "_" not in plan.NAME


# opencode's two shapes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "answer", "second"),
    [
        ("", "1.18.33\n", False),
        ("", "2.0.4\n", True),
        ("", "", False),
        (OPENCODE, "2.0.4\n", False),
        ('{"mcp": {"servers": {"docs": {"type": "local", "command": ["x"]}}}}', "1.18.33\n", True),
        ('{"mcp": {"servers": {"type": "local", "command": ["x"]}}}', "2.0.4\n", False),
    ],
)
def test_opencode_gets_the_shape_that_its_file_or_version_has(
    tmp_path: Path, text: str, answer: str, second: bool
) -> None:
    if text:
        _write(tmp_path / ".config/opencode/opencode.json", text)
    found = _plan("opencode", tmp_path, version=lambda program: answer)
    config = next(edit for edit in found.edits if edit.path.endswith(".json"))
    document = jsonc.parse(config.add(text))
    assert ("vlk2" in document["mcp"].get("servers", {})) == second
    assert ("vlk2" in document["mcp"]) != second


def test_what_opencode_itself_adds_to_our_new_file_goes_with_it(tmp_path: Path) -> None:
    applying.install(_plan("opencode", tmp_path), NOTHING)
    path = tmp_path / ".config/opencode/opencode.json"
    path.write_text(jsonc.put(path.read_text(), ("$schema",), "https://opencode.ai/config.json"))
    applying.uninstall(_plan("opencode", tmp_path), NOTHING)
    assert _tree(tmp_path) == {}


# Windows ------------------------------------------------------------------------------------------------------

EXE = Launcher(
    r"C:\Users\Jo O'Neil\.local\bin\vlk2-hook.exe", r"C:\Users\Jo O'Neil\.local\bin\vlk2.exe", windows=True
)
BATCH = Launcher(r"C:\tools\vlk2-hook.cmd", r"C:\tools\vlk2.cmd", windows=True)


def _hook(client: str, home: Path, launcher: Launcher, event: str) -> dict[str, Any]:
    edit = next(e for e in _plan(client, home, launcher=launcher).edits if '"hooks"' in e.snippet)
    entry = jsonc.parse(edit.add(""))["hooks"][event][0]
    return entry["hooks"][0] if "hooks" in entry else entry


def test_on_windows_claude_code_starts_the_program_without_a_shell(tmp_path: Path) -> None:
    hook = _hook("claude-code", tmp_path, EXE, "PreToolUse")
    assert (hook["command"], hook["args"]) == (EXE.hook, ["claude-code"])
    batch = _hook("claude-code", tmp_path, BATCH, "PreToolUse")
    assert [batch["command"], *batch["args"]] == ["cmd", "/d", "/c", r"C:\tools\vlk2-hook.cmd", "claude-code"]


def test_on_windows_codex_gets_a_line_for_cmd(tmp_path: Path) -> None:
    hook = _hook("codex", tmp_path, EXE, "PreToolUse")
    assert hook["commandWindows"] == f'if exist "{EXE.hook}" "{EXE.hook}" codex'


def test_on_windows_gemini_gets_a_line_for_powershell(tmp_path: Path) -> None:
    quoted = EXE.hook.replace("'", "''")
    hook = _hook("gemini", tmp_path, EXE, "BeforeTool")
    assert hook["command"] == f"if (Test-Path -LiteralPath '{quoted}') {{ & '{quoted}' gemini }}"


def test_on_windows_cursor_gets_a_line_that_both_shells_read(tmp_path: Path) -> None:
    hook = _hook("cursor", tmp_path, EXE, "preToolUse")
    assert hook["command"] == f'cmd /d /c if exist "{EXE.hook}" "{EXE.hook}" cursor'


@pytest.mark.parametrize(
    ("launcher", "words"), [(EXE, [EXE.server, "serve"]), (BATCH, ["cmd", "/d", "/c", BATCH.server, "serve"])]
)
def test_on_windows_backslashes_survive_every_file_format(
    tmp_path: Path, launcher: Launcher, words: list[str]
) -> None:
    gemini = jsonc.parse(_plan("gemini", tmp_path, launcher=launcher).edits[0].add(""))["mcpServers"]["vlk2"]
    codex = toml.parse(_plan("codex", tmp_path, launcher=launcher).edits[0].add(""))["mcp_servers"]["vlk2"]
    hermes = yaml.parse(_plan("hermes", tmp_path, launcher=launcher).edits[-1].add(""))["mcp_servers"]["vlk2"]
    assert all([entry["command"], *entry["args"]] == words for entry in (gemini, codex, hermes))


# policies -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("client", "path", "text", "said"),
    [
        ("claude-code", ".claude/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
        ("claude-code", "work/.claude/settings.local.json", '{"disableAllHooks": true}', "disableAllHooks"),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n", "[features]"),
        ("gemini", ".gemini/settings.json", '{"hooksConfig": {"enabled": false}}', "hooksConfig.enabled"),
        ("gemini", ".gemini/settings.json", '{"hooksConfig": {"disabled": ["vlk2"]}}', "disables our hook"),
        ("hermes", ".hermes/config.yaml", "plugins:\n  disabled: [vlk2]\n", "disables our plugin"),
        (
            "opencode",
            ".config/opencode/opencode.json",
            '{"mcp": {"vlk2": {"enabled": false}}}',
            "switches our server off",
        ),
    ],
)
def test_what_keeps_our_hooks_from_running_is_found(
    tmp_path: Path, client: str, path: str, text: str, said: str
) -> None:
    assert plan.installer(client).policies(_place(tmp_path)) == []
    _write(tmp_path / path, text)
    (line,) = plan.installer(client).policies(_place(tmp_path))
    assert said in line
    assert str(tmp_path / path) in line


def test_a_managed_policy_is_found(tmp_path: Path) -> None:
    def read(path: str) -> str | None:
        return '{"allowManagedHooksOnly": true}' if path.endswith("managed-settings.json") else None

    (line,) = plan.installer("claude-code").policies(_place(tmp_path, read=read))
    assert "administrator" in line
