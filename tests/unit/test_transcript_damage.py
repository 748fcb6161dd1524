"""A damaged session costs what is damaged: a value of another type, a missing field or a cut never stops a reader."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vlk2.clients.transcripts import read
from vlk2.domain.event import Event
from vlk2.errors import InvalidInput

TEXT = [{"type": "text", "text": "x"}]
CALL = {"id": "c", "function": {"name": "bash", "arguments": '{"command": "make"}'}}
CHAT = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": TEXT, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "x\n[Command finished with exit code 2]"},
]
ENVELOPE = {"timestamp": "2026-05-04T10:00:00Z", "type": "response_item"}
CLAUDE = {"uuid": "u", "parentUuid": "p", "sessionId": "s", "timestamp": "2026-05-04T10:00:00Z", "cwd": "/x"}
GEMINI_RESULT = [
    {"functionResponse": {"id": "c", "name": "run_shell_command", "response": {"output": "Exit Code: 1"}}}
]

ROWS: dict[str, list[Any]] = {
    "steps": [
        {
            "i": 0,
            "action": "Bash: make",
            "observation": "x",
            "is_error": True,
            "ts": 1,
            "tok_in": 5,
            "message": "m",
        }
    ],
    "claude-code": [
        {
            **CLAUDE,
            "type": "assistant",
            "message": {
                "id": "m",
                "usage": {"input_tokens": 1},
                "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "make"}}],
            },
        },
        {
            **CLAUDE,
            "uuid": "v",
            "type": "user",
            "toolUseResult": {"stdout": "", "stderr": "", "interrupted": False},
            "message": {
                "content": [{"type": "tool_result", "tool_use_id": "t", "content": TEXT, "is_error": False}]
            },
        },
    ],
    "codex": [
        {
            **ENVELOPE,
            "type": "session_meta",
            "payload": {"id": "t", "cwd": "/x", "source": {"subagent": {"a": {}}}},
        },
        {**ENVELOPE, "type": "event_msg", "payload": {"type": "user_message", "message": "go"}},
        {
            **ENVELOPE,
            "payload": {"type": "custom_tool_call", "name": "exec", "input": "tools.a()", "call_id": "c"},
        },
        {
            **ENVELOPE,
            "type": "event_msg",
            "payload": {
                "type": "item_completed",
                "item": {
                    "type": "CommandExecution",
                    "command": ["sh", "-c", "make"],
                    "exit_code": 1,
                    "cwd": "file:///x",
                },
            },
        },
        {**ENVELOPE, "payload": {"type": "custom_tool_call_output", "call_id": "c", "output": TEXT}},
        {**ENVELOPE, "type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}},
    ],
    "gemini": [
        {"sessionId": "g", "projectHash": "a", "startTime": "2026-05-04T10:00:00Z", "directories": ["/x"]},
        {
            "id": "m",
            "type": "gemini",
            "tokens": {"total": 5},
            "toolCalls": [
                {
                    "id": "c",
                    "name": "run_shell_command",
                    "args": {"command": "make"},
                    "result": GEMINI_RESULT,
                    "status": "success",
                }
            ],
        },
        {"$rewindTo": "m"},
    ],
    "openhands": [
        {
            "instance_id": "i",
            "history": [
                {"id": 1, "source": "user", "action": "message", "args": {"content": "go"}},
                {
                    "id": 2,
                    "source": "agent",
                    "action": "run",
                    "args": {"command": "make"},
                    "tool_call_metadata": {
                        "function_name": "execute_bash",
                        "tool_call_id": "c",
                        "model_response": {"id": "r", "usage": {"total_tokens": 5}},
                    },
                },
                {
                    "id": 3,
                    "cause": 2,
                    "observation": "run",
                    "content": "x",
                    "extras": {"metadata": {"exit_code": 2}},
                },
            ],
        },
        {"instance_id": "j", "messages": CHAT},
    ],
    "swe-agent": [
        {
            "trajectory": [{"action": "ls", "observation": "x", "state": {"working_dir": "/x"}}],
            "history": [{"role": "user", "content": "go"}],
            "info": {"exit_status": "submitted"},
        },
        {
            "instance_id": "k",
            "trajectory": [{"role": "ai", "text": "```\nls\n```"}, {"role": "user", "text": "x"}],
        },
    ],
    "mini-swe-agent": [
        {
            "trajectory_format": "mini-swe-agent-1.1",
            "info": {"config": {"environment": {"cwd": "/x"}}},
            "messages": [
                *CHAT[:2],
                {
                    "role": "tool",
                    "tool_call_id": "c",
                    "content": "x",
                    "extra": {"returncode": 1, "timestamp": 1.5},
                },
                {"role": "exit", "content": "", "extra": {"exit_status": "Submitted", "submission": "d"}},
            ],
        }
    ],
    "cline": [
        [
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "t", "name": "read_file", "input": {"path": "a"}}],
            },
            {
                "role": "user",
                "ts": 1,
                "content": [{"type": "text", "text": "[read_file for 'a'] Result:\nx"}],
            },
        ]
    ],
    "tau-bench": [[{"task_id": 1, "trial": 0, "traj": CHAT}]],
}

ODD: list[object] = [None, True, 1.5, 10**30, "x", [], ["x"], {"x": 1}, "2026-13-99"]


def damaged(value: Any) -> Iterator[Any]:
    """The value with one part replaced by something odd, or left out, for every part and every oddity."""
    yield from ODD
    if isinstance(value, dict):
        for key, part in value.items():
            yield {k: v for k, v in value.items() if k != key}
            for other in damaged(part):
                yield {**value, key: other}
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield value[:place] + value[place + 1 :]
            for other in damaged(part):
                yield [*value[:place], other, *value[place + 1 :]]


def read_all(path: Path, kind: str) -> list[Event] | None:
    try:
        return [step.event for step in read(path, kind)]
    except InvalidInput:
        return None


@pytest.mark.parametrize("kind", ROWS)
def test_any_part_may_be_of_another_type_or_missing(tmp_path: Path, kind: str):
    path = tmp_path / "session"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS[kind]))
    assert read(path).format == kind
    assert read_all(path, kind)
    for place, row in enumerate(ROWS[kind]):
        for other in damaged(row):
            rows = [*ROWS[kind][:place], other, *ROWS[kind][place + 1 :]]
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            for event in read_all(path, kind) or []:
                assert isinstance(event.text, str)
                assert isinstance(event.command, str)
                assert isinstance(event.at, int)
                assert event.exit_code is None or isinstance(event.exit_code, int)


@pytest.mark.parametrize("kind", ROWS)
def test_a_session_cut_anywhere_gives_its_events_so_far_or_one_error(tmp_path: Path, kind: str):
    kept = [
        line for line in map(json.dumps, ROWS[kind]) if "rewindTo" not in line and "rolled_back" not in line
    ]
    whole = "".join(line + "\n" for line in kept).encode()
    path = tmp_path / "session"
    path.write_bytes(whole)
    count = len(read_all(path, "auto") or [])
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        events = read_all(path, "auto")
        assert events is None or len(events) <= count
