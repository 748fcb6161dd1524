"""Recorded sessions of Gemini CLI, OpenHands, SWE-agent, mini-swe-agent, Cline, aider and tau-bench."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from vlk2.clients.transcripts import Reading, Step, is_session_folder, read
from vlk2.domain.event import Event, EventKind

Row = dict[str, Any]


def document(folder: Path, value: object, *, indent: int | None = 2, name: str = "demo.json") -> Reading:
    path = folder / name
    path.write_text(json.dumps(value, indent=indent))
    return read(path)


def rows(folder: Path, *values: object, name: str = "demo.jsonl") -> Reading:
    path = folder / name
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return read(path)


def of(kind: EventKind, steps: Reading | list[Step]) -> list[Event]:
    return [step.event for step in steps if step.event.kind is kind]


def told(reading: Reading | list[Step]) -> list[tuple[str, str, bool | None, int | None]]:
    return [(e.action, e.text, e.is_error, e.exit_code) for e in of(EventKind.RESULT, reading)]


# Gemini CLI


def gemini_call(use: str, name: str, given: Row, response: Row | None, status: str) -> Row:
    result = [{"functionResponse": {"id": use, "name": name, "response": response}}] if response else []
    return {"id": use, "name": name, "args": given, "result": result, "status": status}


def gemini(name: str, *calls: Row, **more: object) -> Row:
    return {
        "id": name,
        "type": "gemini",
        "timestamp": "2026-05-04T10:00:00.000Z",
        "content": "",
        "tokens": {"input": 90, "output": 10, "total": 100},
        "toolCalls": list(calls),
        **more,
    }


HEADER: Row = {"sessionId": "g-1", "projectHash": "ab", "startTime": "2026-05-04T09:59:00Z"}


def test_a_gemini_chat_file_tells_status_and_exit_code(tmp_path: Path):
    shell = "Command: make\nOutput: boom\nExit Code: 2\nProcess Group PGID: 4"
    chat = {
        **HEADER,
        "messages": [
            {"id": "m0", "type": "user", "content": "go"},
            {"id": "m1", "type": "info", "content": "update available"},
            gemini(
                "m2",
                gemini_call("c1", "run_shell_command", {"command": "make"}, {"output": shell}, "success"),
                gemini_call("c2", "read_file", {"file_path": "a"}, {"output": "x"}, "success"),
            ),
            gemini(
                "m3", gemini_call("c3", "replace", {"file_path": "a"}, {"error": "0 occurrences"}, "error")
            ),
            gemini("m4", gemini_call("c4", "replace", {"file_path": "a"}, None, "cancelled")),
        ],
    }
    for indent in (None, 2):
        reading = document(tmp_path, chat, indent=indent)
        assert reading.format == "gemini"
        steps = list(reading)
        assert told(steps) == [
            ("run_shell_command: make", shell, True, 2),
            ('read_file: {"file_path": "a"}', "x", False, None),
            ('replace: {"file_path": "a"}', "0 occurrences", True, None),
            ('replace: {"file_path": "a"}', "", None, None),
        ]
        found = of(EventKind.RESULT, steps)
        assert [event.interrupted for event in found] == [False, False, False, True]
        assert [event.tokens for event in found] == [100, 0, 100, 100]
        assert [event.batch for event in found] == ["m2", "m2", "m3", "m4"]
        assert [event.text for event in of(EventKind.PROMPT, steps)] == ["go"]
        assert {event.session for event in found} == {"g-1"}


def test_a_gemini_log_rewrites_messages_and_rewinds(tmp_path: Path):
    pending = gemini_call("c1", "read_file", {"file_path": "a"}, None, "executing")
    done = gemini_call("c1", "read_file", {"file_path": "a"}, {"output": "x"}, "success")
    gone = gemini_call("c2", "read_file", {"file_path": "b"}, {"error": "no such file"}, "error")
    reading = rows(
        tmp_path,
        HEADER,
        {"id": "u1", "type": "user", "content": [{"text": "go"}]},
        gemini("m1", pending),
        gemini("m1", done),
        gemini("m1", done),
        {"$set": {"lastUpdated": "2026-05-04T10:01:00Z"}},
        {"id": "u2", "type": "user", "content": "wrong way"},
        gemini("m2", gone),
        {"$rewindTo": "u2"},
        {"id": "u3", "type": "user", "content": "right way"},
    )
    steps = list(reading)
    assert [event.text for event in of(EventKind.PROMPT, steps)] == ["go", "right way"]
    assert told(steps) == [('read_file: {"file_path": "a"}', "x", False, None)]
    assert reading.skipped == 0


def test_gemini_contents_pair_calls_with_responses_by_id(tmp_path: Path):
    def answer(use: str, name: str, response: Row) -> Row:
        return {
            "role": "user",
            "parts": [{"functionResponse": {"id": use, "name": name, "response": response}}],
        }

    reading = document(
        tmp_path,
        [
            {"role": "user", "parts": [{"text": "<session_context>\nToday is Monday"}]},
            {"role": "user", "parts": [{"text": "go"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "thinking", "thought": True},
                    {"functionCall": {"id": "c1", "name": "run_shell_command", "args": {"command": "make"}}},
                ],
            },
            answer("c1", "run_shell_command", {"output": "Output: x\nExit Code: 1\nProcess Group PGID: 9"}),
            answer("c9", "read_file", {"error": "denied"}),
        ],
    )
    steps = list(reading)
    assert reading.format == "gemini"
    assert [event.text for event in of(EventKind.PROMPT, steps)] == ["go"]
    assert [(e.tool, e.command, e.is_error, e.exit_code) for e in of(EventKind.RESULT, steps)] == [
        ("run_shell_command", "make", None, 1),
        ("read_file", "", True, None),
    ]


# OpenHands


def act(number: int, action: str, given: Row, function: str = "", response: str = "", **more: object) -> Row:
    made = {
        "function_name": function,
        "tool_call_id": f"call-{number}",
        "model_response": {"id": response or f"r{number}", "usage": {"total_tokens": 500}},
    }
    return {
        "id": number,
        "timestamp": "2026-05-04T10:00:00.5",
        "source": "agent",
        "action": action,
        "args": {"thought": "hm", **given},
        **({"tool_call_metadata": made} if function else {}),
        **more,
    }


def saw(number: int, cause: int | None, observation: str, content: str, **extras: object) -> Row:
    return {
        "id": number,
        "timestamp": "2026-05-04T10:00:01.5",
        "source": "agent",
        "cause": cause,
        "observation": observation,
        "content": content,
        "extras": extras,
    }


HISTORY: list[Row] = [
    {"id": 0, "source": "agent", "action": "system", "args": {"content": "You are"}},
    {"id": 1, "source": "user", "action": "message", "args": {"content": "fix it"}},
    {"id": 2, "source": "user", "action": "recall", "args": {"query": "fix it"}},
    saw(3, 2, "recall", "context"),
    act(4, "run", {"command": "make"}, "execute_bash"),
    saw(5, 4, "run", "boom", metadata={"exit_code": 2, "working_dir": "/workspace"}),
    act(
        6,
        "edit",
        {"path": "/a", "command": "create", "file_text": "x", "old_str": None, "start": 1, "end": -1},
        "ed",
    ),
    saw(7, 6, "edit", "ERROR:\nNo replacement"),
    saw(8, None, "error", "bad parameter"),
    act(9, "run", {"command": "sleep 99", "is_input": False}, "execute_bash"),
    saw(10, 9, "run", "", metadata={"exit_code": -1}),
    act(11, "think", {}, "think"),
    saw(12, 11, "think", "Your thought has been logged."),
    act(13, "finish", {"outputs": {}}, "finish"),
]


def test_openhands_observations_answer_the_action_that_caused_them(tmp_path: Path):
    expected = [
        ("execute_bash: make", "boom", True, 2),
        ('ed: {"path": "/a", "command": "create", "file_text": "x"}', "ERROR:\nNo replacement", None, None),
        ("execute_bash: sleep 99", "", None, None),
        ("think: {}", "Your thought has been logged.", None, None),
    ]
    for reading in (
        document(tmp_path, HISTORY),
        rows(tmp_path, {"instance_id": "shop-1", "history": HISTORY}),
        rows(tmp_path, *HISTORY, name="events.jsonl"),
    ):
        assert reading.format == "openhands"
        steps = list(reading)
        assert told(steps) == expected
        assert [event.text for event in of(EventKind.PROMPT, steps)] == ["fix it"]
        assert [event.tokens for event in of(EventKind.RESULT, steps)] == [500, 500, 500, 500]
    assert {event.worktree for event in of(EventKind.RESULT, document(tmp_path, HISTORY))} == {"/workspace"}


def test_each_openhands_row_is_a_run_numbered_from_0(tmp_path: Path):
    steps = list(
        rows(
            tmp_path,
            {"instance_id": "shop-1", "history": HISTORY},
            {"instance_id": "shop-2", "history": [[HISTORY[4], HISTORY[5]]]},
            {"instance_id": "shop-1", "history": []},
            {"instance_id": "shop-1", "history": HISTORY[4:6]},
        )
    )
    results = [(step.run, step.i) for step in steps if step.event.kind is EventKind.RESULT]
    assert results == [
        ("shop-1", 0),
        ("shop-1", 1),
        ("shop-1", 2),
        ("shop-1", 3),
        ("shop-2", 0),
        ("shop-1#3", 0),
    ]
    ends = [step.run for step in steps if step.event.kind is EventKind.SESSION_END]
    assert ends == ["shop-1", "shop-2", "shop-1#3"]


def test_openhands_chat_rows_take_the_exit_code_from_the_text(tmp_path: Path):
    def call(use: str, command: str) -> Row:
        return {
            "id": use,
            "function": {"name": "execute_bash", "arguments": json.dumps({"command": command})},
        }

    reading = rows(
        tmp_path,
        {
            "instance_id": "shop-3",
            "messages": [
                {"role": "system", "content": "You are"},
                {"role": "user", "content": [{"type": "text", "text": "fix"}]},
                {"role": "assistant", "content": "", "tool_calls": [call("a", "make"), call("b", "ls")]},
                {"role": "tool", "tool_call_id": "b", "content": "x\n[Command finished with exit code 0]"},
                {"role": "tool", "tool_call_id": "a", "content": "y\n[Command finished with exit code 2]"},
            ],
        },
    )
    assert reading.format == "openhands"
    assert [(a, e, c) for a, _, e, c in told(reading)] == [
        ("execute_bash: ls", False, 0),
        ("execute_bash: make", True, 2),
    ]


SDK: list[Row] = [
    {"id": "e0", "kind": "SystemPromptEvent", "source": "agent"},
    {
        "id": "e1",
        "kind": "MessageEvent",
        "source": "user",
        "llm_message": {"role": "user", "content": [{"type": "text", "text": "fix it"}]},
    },
    {
        "id": "e2",
        "kind": "ActionEvent",
        "source": "agent",
        "tool_name": "terminal",
        "tool_call_id": "c1",
        "llm_response_id": "r1",
        "tool_call": {"arguments": '{"command": "make"}'},
        "action": {"kind": "TerminalAction", "command": "make", "timeout": None},
    },
    {
        "id": "e3",
        "kind": "ObservationEvent",
        "source": "environment",
        "tool_call_id": "c1",
        "action_id": "e2",
        "observation": {"content": [{"type": "text", "text": "boom"}], "is_error": False, "exit_code": 2},
    },
    {
        "id": "e4",
        "kind": "ActionEvent",
        "source": "agent",
        "tool_name": "file_editor",
        "tool_call_id": "c2",
        "action": {"kind": "FileEditorAction", "command": "view", "path": "/a"},
    },
    {"id": "e5", "kind": "AgentErrorEvent", "source": "agent", "tool_call_id": "c2", "error": "no such tool"},
]


def test_openhands_events_of_the_sdk_read_from_a_folder_or_a_list(tmp_path: Path):
    folder = tmp_path / "conversation-7" / "events"
    folder.mkdir(parents=True)
    for number, event in enumerate(SDK):
        (folder / f"event-{number:05d}-{event['id']}.json").write_text(json.dumps(event))
    (folder / "event-00099-broken.json").write_text("{")
    sessions: list[set[str]] = []
    for reading in (read(folder.parent), read(folder), document(tmp_path, SDK)):
        assert reading.format == "openhands"
        steps = list(reading)
        assert told(steps) == [
            ("terminal: make", "boom", True, 2),
            ('file_editor: {"command": "view", "path": "/a"}', "no such tool", True, None),
        ]
        assert [event.text for event in of(EventKind.PROMPT, steps)] == ["fix it"]
        sessions.append({step.event.session for step in steps})
    assert sessions == [{"conversation-7"}, {"conversation-7"}, {"demo"}]


def test_an_openhands_folder_of_numbered_events_reads_in_the_order_of_the_numbers(tmp_path: Path):
    folder = tmp_path / "s-1" / "events"
    folder.mkdir(parents=True)
    for event in HISTORY:
        (folder / f"{event['id']}.json").write_text(json.dumps(event, indent=2))
    told_bytes: list[int] = []
    reading = read(folder.parent, progress=told_bytes.append)
    assert [action for action, *_ in told(reading)][:1] == ["execute_bash: make"]
    assert told_bytes[-1] == reading.size
    assert is_session_folder(folder.parent)
    (folder / "notes.txt").write_text("x")
    assert not is_session_folder(folder.parent)


# SWE-agent


def test_a_swe_agent_trajectory_records_no_verdict(tmp_path: Path):
    state: list[object] = [json.dumps({"open_file": "n/a", "working_dir": "/repo"}), {"working_dir": "/repo"}]
    for where in state:
        reading = document(
            tmp_path,
            {
                "environment": "swe_main",
                "trajectory": [
                    {
                        "action": "ls\n",
                        "observation": "a.py\r\n",
                        "response": "",
                        "thought": "",
                        "state": where,
                    },
                    {
                        "action": "edit 1:1\nx: int\nend_of_edit\n",
                        "observation": "",
                        "state": where,
                        "messages": [],
                    },
                    {"action": "", "observation": "Exit due to cost limit", "state": where},
                ],
                "history": [
                    {"role": "system", "content": "You are"},
                    {"role": "user", "content": "a demonstration", "is_demo": True},
                    {"role": "user", "content": "the issue"},
                ],
                "info": {"exit_status": "exit_cost"},
            },
            name="repo__repo-1.traj",
        )
        assert reading.format == "swe-agent"
        steps = list(reading)
        assert told(steps) == [
            ("ls", "a.py\r\n", None, None),
            ("edit 1:1\nx: int\nend_of_edit", "", None, None),
            ("", "Exit due to cost limit", None, None),
        ]
        assert [event.text for event in of(EventKind.PROMPT, steps)] == ["the issue"]
        assert steps[-1].event.kind is EventKind.SESSION_END
        assert {event.worktree for event in of(EventKind.RESULT, steps)} == {"/repo"}


def test_swe_agent_rows_of_texts_and_of_written_calls(tmp_path: Path):
    texts = {
        "instance_id": "i-1",
        "trajectory": [
            {"role": "system", "text": None, "system_prompt": "You are"},
            {"role": "user", "text": "the issue"},
            {"role": "ai", "text": "First\n```\nls\n```\nthen\n```\npython a.py\n```"},
            {"role": "user", "text": "Traceback"},
            {"role": "ai", "text": "no block"},
            {"role": "user", "text": "Your output was not formatted correctly"},
        ],
        "exit_status": "submitted",
    }
    written = {
        "instance_id": "i-2",
        "messages": [
            {"role": "system", "content": "You are"},
            {"role": "user", "content": "the issue"},
            {
                "role": "assistant",
                "content": "Go\n<function=bash>\n<parameter=command>make\n</parameter>\n</function>",
            },
            {"role": "user", "content": "OBSERVATION:\nmake: *** Error 2"},
            {"role": "assistant", "content": "<function=submit>\n</function>"},
            {"role": "user", "content": "EXECUTION RESULT of [submit]:\ndone"},
        ],
    }
    reading = rows(tmp_path, texts, {"unknown": 1}, written)
    assert reading.format == "swe-agent"
    steps = list(reading)
    assert told(steps) == [
        ("python a.py", "Traceback", None, None),
        ("", "Your output was not formatted correctly", None, None),
        ("bash: make", "make: *** Error 2", None, None),
        ("submit: {}", "done", None, None),
    ]
    assert [(s.run, s.i) for s in steps if s.event.kind is EventKind.RESULT] == [
        ("i-1", 0),
        ("i-1", 1),
        ("i-2", 0),
        ("i-2", 1),
    ]
    assert reading.skipped == 1


# mini-swe-agent


def test_mini_swe_agent_1_has_one_block_a_reply(tmp_path: Path):
    def reply(text: str, created: int) -> Row:
        usage = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
        return {
            "role": "assistant",
            "content": text,
            "extra": {"response": {"created": created, "usage": usage}},
        }

    reading = document(
        tmp_path,
        {
            "info": {"exit_status": "Submitted", "mini_version": "1.9.0"},
            "messages": [
                {"role": "system", "content": "You are"},
                {"role": "user", "content": "the issue"},
                reply("THOUGHT: run\n\n```bash\nmake test\n```", 1_790_000_000),
                {"role": "user", "content": "<returncode>2</returncode>\n<output>\nboom</output>"},
                reply("THOUGHT: two\n```bash\nls\n```\n```bash\npwd\n```", 1_790_000_010),
                {
                    "role": "user",
                    "content": "Please always provide EXACTLY ONE action in triple backticks, found 2",
                },
                reply("```bash\nsleep 99\n```", 1_790_000_020),
                {"role": "user", "content": "The last command <command>sleep 99</command> timed out"},
                reply("```bash\necho COMPLETE_TASK\n```", 1_790_000_030),
                {"role": "user", "content": "diff --git a b"},
            ],
            "trajectory_format": "mini-swe-agent-1",
            "instance_id": "shop-1",
        },
    )
    assert reading.format == "mini-swe-agent"
    steps = list(reading)
    assert [(a, e, c) for a, _, e, c in told(steps)] == [
        ("bash: make test", True, 2),
        ("NO_ACTION(2 blocks): THOUGHT: two\n```bash\nls\n```\n```bash\npwd\n```", None, None),
        ("bash: sleep 99", None, None),
        ("bash: echo COMPLETE_TASK", None, None),
    ]
    found = of(EventKind.RESULT, steps)
    assert found[0].at == 1_790_000_000_000_000
    assert [event.tokens for event in found] == [100, 100, 100, 100]
    assert [event.text for event in of(EventKind.PROMPT, steps)] == ["the issue"]


def test_mini_swe_agent_2_has_tool_calls_and_an_exit(tmp_path: Path):
    def call(use: str, command: str) -> Row:
        return {"id": use, "function": {"name": "bash", "arguments": json.dumps({"command": command})}}

    reading = document(
        tmp_path,
        {
            "info": {"mini_version": "2.1", "config": {"environment": {"cwd": "/testbed"}}},
            "messages": [
                {"role": "system", "content": "You are"},
                {"role": "user", "content": "the issue"},
                {
                    "role": "assistant",
                    "content": "both",
                    "tool_calls": [call("c1", "make"), call("c2", "ls")],
                    "extra": {"timestamp": 1_790_000_000.5},
                },
                {
                    "role": "tool",
                    "tool_call_id": "c2",
                    "content": "<returncode>0</returncode>\n<output>\n</output>",
                    "extra": {"returncode": 0, "timestamp": 1_790_000_001.5},
                },
                {
                    "role": "tool",
                    "tool_call_id": "c1",
                    "content": "<exception>timed out</exception>\n<returncode>-1</returncode>",
                    "extra": {"returncode": -1, "timestamp": 1_790_000_002.5},
                },
                {"role": "assistant", "content": "", "tool_calls": [call("c3", "submit")], "extra": {}},
                {"role": "exit", "content": "", "extra": {"exit_status": "Submitted", "submission": "diff"}},
            ],
            "trajectory_format": "mini-swe-agent-1.1",
        },
        name="shop-2.traj.json",
    )
    steps = list(reading)
    assert [(a, e, c) for a, _, e, c in told(steps)] == [
        ("bash: ls", False, 0),
        ("bash: make", True, -1),
        ("bash: submit", None, None),
    ]
    found = of(EventKind.RESULT, steps)
    assert found[0].batch == found[1].batch != found[2].batch
    assert found[2].text == "[exit] Submitted\ndiff"
    assert (found[0].worktree, found[0].session) == ("/testbed", "shop-2")
    assert steps[-1].event.kind is EventKind.SESSION_END


# Cline


def test_cline_results_are_text_blocks_in_the_order_of_the_calls(tmp_path: Path):
    def use(name: str, use_id: str, **given: object) -> Row:
        return {"type": "tool_use", "id": use_id, "name": name, "input": given}

    def text(value: str) -> Row:
        return {"type": "text", "text": value}

    reading = document(
        tmp_path,
        [
            {"role": "user", "content": [text("<task>\nfix it\n</task>"), text("<environment_details>\nx")]},
            {
                "role": "assistant",
                "content": [
                    text("ok"),
                    use("execute_command", "c1", command="make"),
                    use("read_file", "c2", path="a"),
                ],
                "ts": 1_790_000_000_000,
                "metrics": {"tokens": {"prompt": 90, "completion": 10, "cached": 5}},
            },
            {
                "role": "user",
                "content": [
                    text("[execute_command for 'make'] Result:\nCommand failed with exit code 2\nboom"),
                    text(
                        "Tool [read_file] was not executed because a tool has already been used in this message."
                    ),
                    text("<environment_details>\n[x] Result:\n"),
                ],
                "ts": 1_790_000_001_000,
            },
            {"role": "assistant", "content": [use("read_file", "c3", path="a")]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c3", "content": [text("x")], "is_error": False}
                ],
            },
            {"role": "assistant", "content": [text("<read_file><path>b</path></read_file>")]},
            {
                "role": "user",
                "content": [text("[read_file for 'b'] Result:"), text("line one"), text("and stop")],
            },
            {"role": "user", "content": [text("<feedback>no, the other one</feedback>")]},
        ],
        name="api_conversation_history.json",
    )
    assert reading.format == "cline"
    steps = list(reading)
    assert told(steps) == [
        ("execute_command: make", "Command failed with exit code 2\nboom", True, 2),
        (
            'read_file: {"path": "a"}',
            "Tool [read_file] was not executed because a tool has already been used in this message.",
            None,
            None,
        ),
        ('read_file: {"path": "a"}', "x", False, None),
        ("read_file: b", "line one\nand stop", None, None),
    ]
    found = of(EventKind.RESULT, steps)
    assert [event.interrupted for event in found] == [False, True, False, False]
    assert found[0].at == 1_790_000_001_000_000
    assert found[0].tokens == 105
    assert [event.text for event in of(EventKind.PROMPT, steps)] == ["fix it", "no, the other one"]


# aider

AIDER = """
# aider chat started at 2026-03-01 10:00:00

> Aider v0.86.1
> Git repo: .git with 12 files

#### add a total
#### to the cart

I will add it.

```python
total = 0
```

> Applied edit to cart.py
> Running pytest
> FAILED test_cart.py::test_total

#### /run pytest
> ^C again to exit

# aider chat started at 2026-03-02 11:00:00

> Aider v0.86.1

# aider chat started at 2026-03-03 12:00:00

#### and now
"""


def test_an_aider_history_is_a_run_a_session_and_a_step_a_turn(tmp_path: Path):
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(AIDER)
    reading = read(path)
    assert reading.format == "aider"
    steps = list(reading)
    results = [step for step in steps if step.event.kind is EventKind.RESULT]
    assert [step.i for step in results] == [0, 1, 2]
    assert len({step.run for step in results}) == 2
    first, second, third = (step.event for step in results)
    assert first.action == "aider-turn: add a total to the cart\n--- reply ---\n" + (
        "I will add it.\n\n```python\ntotal = 0\n```"
    )
    assert first.text == "Applied edit to cart.py\nRunning pytest\nFAILED test_cart.py::test_total"
    assert first.is_error is None
    assert (second.interrupted, first.interrupted) == (True, False)
    assert third.text == ""
    assert third.at - first.at == (2 * 24 + 2) * 3_600_000_000
    assert [event.text for event in of(EventKind.PROMPT, steps)] == [
        "add a total to the cart",
        "/run pytest",
        "and now",
    ]
    assert first.worktree == str(tmp_path)


# tau-bench


def test_each_tau_bench_trial_is_a_run(tmp_path: Path):
    call = {"id": "c", "function": {"name": "cancel", "arguments": '{"id": 7}'}}
    chat = [
        {"role": "system", "content": "You are"},
        {"role": "user", "content": "cancel it"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "name": "cancel", "content": "Error: not found"},
    ]
    trials = [
        {"task_id": task, "trial": trial, "reward": 0.0, "traj": chat} for task, trial in ((3, 0), (3, 1))
    ]
    reading = document(tmp_path, trials, indent=None)
    assert reading.format == "tau-bench"
    steps = list(reading)
    assert told(steps) == [('cancel: {"id": 7}', "Error: not found", None, None)] * 2
    assert [(s.run, s.i) for s in steps if s.event.kind is EventKind.RESULT] == [("3-0", 0), ("3-1", 0)]
