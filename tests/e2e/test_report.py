"""`vlk2 report`: observe first, then see what it would have said, spared, and got wrong."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from agents import BIN, RUST, environment, run


class _Session:
    """A session of Claude Code as its hook hears it."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self._environ = environment(folder, VLK2_HOOK_DEADLINE="20", **settings)
        self._calls = 0
        subprocess.run([str(BIN / "vlk2"), "consolidate"], env=self._environ, check=True, capture_output=True)

    def hook(self, event: str, **more: Any) -> str:
        payload = {"hook_event_name": event, "session_id": "s1", "cwd": str(self.folder), **more}
        done = subprocess.run(
            [str(BIN / "vlk2-hook"), "claude-code"],
            input=json.dumps(payload),
            text=True,
            capture_output=True,
            check=True,
            env=self._environ,
        )
        return done.stdout

    def call(self, command: str, error: str | None, tool: str = "Bash") -> str:
        """One call from beginning to end; all that the hook said to it."""
        self._calls += 1
        call = {"tool_name": tool, "tool_input": {"command": command}, "tool_use_id": f"t{self._calls}"}
        said = self.hook("PreToolUse", **call)
        if error is None:
            return said + self.hook("PostToolUse", **call, tool_response={"stdout": "fine", "stderr": ""})
        return said + self.hook("PostToolUseFailure", **call, error=f"Exit code 1\n{error}")


def _observing(folder: Path) -> _Session:
    (folder / "config.json").write_text(json.dumps({"observe": True}))
    return _Session(folder)


def _report(folder: Path, *arguments: str) -> dict[str, Any]:
    done = run(folder, "report", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_nothing_heard_is_nothing_to_report(tmp_path: Path) -> None:
    answer = _report(tmp_path)
    assert (answer["runs"], answer["constraints"], answer["wrong"]) == (0, [], [])


def test_observing_says_nothing_and_the_report_tells_what_would_have_been(tmp_path: Path) -> None:
    session = _observing(tmp_path)
    said = [session.call("cargo check", RUST.format(line=line)) for line in (1, 2, 3, 4, 5)]
    assert said == [""] * 5
    answer = _report(tmp_path)
    assert answer["said"]["words"] == {}
    assert answer["observed"]["words"]["context"] == 1
    assert answer["observed"]["words"]["refusal"] >= 1
    assert answer["observed"]["steps_after"] == 2, "the fourth and the fifth"
    assert answer["observed"]["tokens_after"] > 0
    assert answer["wrong"] == []
    (constraint,) = answer["constraints"]
    assert constraint["name"] == "error[E0277]"
    assert "would have been said" in answer["text"]


def test_a_call_that_would_have_been_refused_and_succeeded_is_told(tmp_path: Path) -> None:
    session = _observing(tmp_path)
    for _ in range(3):
        session.call("cargo check", RUST.format(line=1))
    session.call("cargo check", None)
    answer = _report(tmp_path)
    assert {(one["kind"], one["said"]) for one in answer["wrong"]} == {("refusal", False), ("context", False)}
    assert answer["observed"]["wrong"] == 2
    assert "Where it was wrong" in answer["text"]


def test_what_was_said_aloud_is_told_apart(tmp_path: Path) -> None:
    session = _Session(tmp_path)
    said = [session.call("cargo check", RUST.format(line=1)) for _ in range(3)]
    assert "SYSTEM ANCHOR" in said[2]
    answer = _report(tmp_path)
    assert answer["observed"]["words"] == {}
    assert answer["said"]["words"] == {"context": 1}
    assert answer["said"]["steps_after"] == 0


def test_only_what_is_young_enough_is_told(tmp_path: Path) -> None:
    session = _observing(tmp_path)
    for _ in range(3):
        session.call("cargo check", RUST.format(line=1))
    assert _report(tmp_path, "--since", "1h")["runs"] == 1
    assert _report(tmp_path, "--since", "2w")["runs"] == 1


@pytest.mark.parametrize("since", ["soon", "1", "-1d", "3y"])
def test_what_is_no_age_is_refused(tmp_path: Path, since: str) -> None:
    done = run(tmp_path, "report", "--since", since)
    assert done.returncode == 1
    assert "no age" in done.stderr
