"""Where the clients of this user keep their sessions."""

from __future__ import annotations

import os
from pathlib import Path

from vlk2.clients.transcripts import discover


def kept(path: Path, when: int, content: str = "{}\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    os.utime(path, (when, when))
    return path


def test_the_sessions_of_every_client_are_found_newest_first(tmp_path: Path):
    home, cwd = tmp_path / "home", tmp_path / "shop"
    expected = [
        ("aider", kept(cwd / ".aider.chat.history.md", 900)),
        ("codex", kept(home / ".codex/archived_sessions/rollout-2.jsonl.zst", 800)),
        ("codex", kept(home / ".codex/sessions/2026/05/04/rollout-1.jsonl", 700)),
        ("gemini", kept(home / ".gemini/tmp/ab12/chats/session-1.jsonl", 600)),
        ("gemini", kept(home / ".gemini/tmp/shop/chats/session-1.json", 500)),
        ("claude-code", kept(home / ".claude/projects/-home-kim-shop/s-1/subagents/agent-a1.jsonl", 400)),
        ("claude-code", kept(home / ".claude/projects/-home-kim-shop/s-1.jsonl", 300, "{}\n{}\n")),
    ]
    for other in (
        home / ".claude/projects/-home-kim-shop/memory/notes.md",
        home / ".codex/sessions/2026/05/04/other.jsonl",
        home / ".codex/history.jsonl",
        home / ".gemini/tmp/shop/logs.json",
        cwd / "README.md",
    ):
        kept(other, 1000)
    kept(home / ".claude/projects/-home-kim-shop/empty.jsonl", 1000, "")
    found = discover(home, cwd=cwd, environ={})
    assert [(one.client, one.path) for one in found] == expected
    assert found[-1].size == 6
    assert found[-1].modified == 300_000_000


def test_the_clients_own_variables_say_where_their_folders_are(tmp_path: Path):
    claude = kept(tmp_path / "c/projects/x/s.jsonl", 2)
    codex = kept(tmp_path / "o/sessions/rollout-1.jsonl", 1)
    kept(tmp_path / "home/.claude/projects/x/other.jsonl", 3)
    environ = {"CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "CODEX_HOME": str(tmp_path / "o")}
    assert [one.path for one in discover(tmp_path / "home", environ=environ)] == [claude, codex]


def test_a_machine_without_clients_has_none(tmp_path: Path):
    assert discover(tmp_path, cwd=tmp_path, environ={}) == []


def test_a_link_that_leads_back_is_not_followed(tmp_path: Path):
    kept(tmp_path / ".claude/projects/x/s.jsonl", 1)
    (tmp_path / ".claude/projects/x/loop").symlink_to(tmp_path / ".claude/projects", target_is_directory=True)
    assert len(discover(tmp_path, environ={})) == 1
