"""From what a client's hook is told to events: outcomes, texts and places, by recorded shapes, Windows among them."""

from __future__ import annotations

import json

import pytest

from vlk2.clients.claude_code import hook as claude_code
from vlk2.clients.codex import hook as codex
from vlk2.clients.cursor import hook as cursor
from vlk2.clients.gemini import hook as gemini
from vlk2.clients.hermes import hook as hermes
from vlk2.clients.hooked import ours, plain, stopped
from vlk2.clients.opencode import hook as opencode
from vlk2.domain.event import EventKind
from vlk2.domain.said import Hold, Silence, Tell


def event(adapter, payload, environ=None):
    heard = adapter.hear(payload, environ or {})
    assert heard is not None
    (one,) = heard.events
    return one


def claude(name, tool="Bash", given=None, **more):
    return {
        "hook_event_name": name,
        "session_id": "s",
        "cwd": "/w",
        "tool_name": tool,
        "tool_use_id": "u",
        "tool_input": given or {"command": "make"},
        **more,
    }


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("Exit code 101\nboom", 101),
        ("Error: Exit code 2\nboom", 2),
        ("File has not been read yet", None),
        ("", None),
    ],
)
def test_claude_codes_failure_says_its_exit_code_first(error, code):
    one = event(claude_code, claude("PostToolUseFailure", error=error))
    assert (one.kind, one.is_error, one.exit_code, one.text) == (EventKind.RESULT, True, code, error)


def test_claude_codes_success_joins_both_streams():
    response = {"stdout": "out", "stderr": "warned", "interrupted": False}
    one = event(claude_code, claude("PostToolUse", tool_response=response))
    assert (one.is_error, one.exit_code, one.text) == (False, 0, "out\nwarned")


def test_a_command_in_the_background_has_no_outcome_yet():
    given = {"command": "make serve", "run_in_background": True}
    one = event(claude_code, claude("PostToolUse", given=given, tool_response={"stdout": "started"}))
    assert (one.is_error, one.exit_code) == (None, None)


def test_what_a_call_says_of_itself_in_prose_is_no_argument_of_it():
    first = event(claude_code, claude("PreToolUse", given={"command": "make", "description": "Build it"}))
    second = event(claude_code, claude("PreToolUse", given={"command": "make", "description": "Try again"}))
    assert first.input == second.input


def test_an_edit_keeps_its_path_as_the_command_and_its_arguments_canonical():
    given = {"old_string": "b", "file_path": "/w/a.py", "new_string": "c"}
    one = event(claude_code, claude("PreToolUse", "Edit", given))
    assert one.command == "/w/a.py"
    assert one.input == '{"file_path":"/w/a.py","new_string":"c","old_string":"b"}'


def test_claude_code_on_windows():
    payload = claude(
        "PostToolUseFailure",
        "PowerShell",
        {"command": "cargo test; if (-not $?) { exit 1 }"},
        error="Exit code 1\nerror[E0277]: x\n --> src\\main.rs:3:1",
        cwd="C:\\Users\\dev\\shop",
        agent_id="a1",
    )
    heard = claude_code.hear(payload, {"CLAUDE_PROJECT_DIR": "C:\\Users\\dev\\shop"})
    assert heard is not None
    assert (heard.cwd, heard.root) == ("C:\\Users\\dev\\shop", "C:\\Users\\dev\\shop")
    assert heard.events[0].command.startswith("cargo test")
    assert (heard.events[0].subagent, heard.events[0].exit_code) == ("a1", 1)


def test_an_mcp_tools_content_blocks_become_text():
    response = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    one = event(
        claude_code, claude("PostToolUse", "mcp__db__query", {"sql": "select 1"}, tool_response=response)
    )
    assert one.text == "one\ntwo"
    assert (one.is_error, one.exit_code) == (False, None)


def test_codex_reads_the_oldest_forms_of_its_rollout(tmp_path):
    rollout = tmp_path / "rollout.jsonl"
    output = json.dumps({"output": "boom", "metadata": {"exit_code": 3}})
    rows = [
        {
            "payload": {
                "type": "function_call",
                "name": "shell",
                "call_id": "c1",
                "arguments": json.dumps({"command": ["bash", "-lc", "make"]}),
            }
        },
        {"payload": {"type": "function_call_output", "call_id": "c1", "output": output}},
        {
            "payload": {
                "type": "exec_command_end",
                "call_id": "c2",
                "exit_code": 4,
                "aggregated_output": "bang",
                "command": ["sh", "-c", "ls"],
            }
        },
    ]
    rollout.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"cut')
    payload = {
        "hook_event_name": "Stop",
        "session_id": "s",
        "cwd": "/w",
        "transcript_path": str(rollout),
    }
    heard = codex.hear(payload, {"VLK2_DATA": str(tmp_path / "data")})
    assert heard is not None
    found = [(e.use_id, e.command, e.exit_code, e.text) for e in heard.events]
    assert found == [("c1", "make", 3, "boom"), ("c2", "ls", 4, "bang")]
    again = codex.hear(payload, {"VLK2_DATA": str(tmp_path / "data")})
    assert again is not None
    assert again.events == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("apply_patch verification failed: no such line", True),
        ("Success. Updated the following files:\nM a", False),
    ],
)
def test_codex_patches_say_themselves_whether_they_failed(text, expected):
    payload = {
        "hook_event_name": "PostToolUse",
        "session_id": "s",
        "cwd": "/w",
        "tool_name": "apply_patch",
        "tool_use_id": "u",
        "tool_input": {"command": "*** Begin Patch\n*** Update File: a.py\n*** End Patch"},
        "tool_response": text,
    }
    assert event(codex, payload).is_error is expected


@pytest.mark.parametrize(
    ("shown", "text", "code"),
    [
        ("Output: a\nb\nExit Code: 101\nProcess Group PGID: 77", "a\nb", 101),
        ("<untrusted_context>\nOutput: a\nProcess Group PGID: 9\n</untrusted_context>", "a", 0),
        ("Output: (empty)\nProcess Group PGID: 9", "", 0),
        ("Output: a\nError: (none)\nSignal: SIGTERM", "a", None),
        ("Command is running in background. PID: 9", "Command is running in background. PID: 9", None),
    ],
)
def test_gemini_says_a_status_only_where_it_is_not_zero(shown, text, code):
    payload = {
        "hook_event_name": "AfterTool",
        "session_id": "s",
        "cwd": "/w",
        "tool_name": "run_shell_command",
        "tool_input": {"command": "make"},
        "tool_response": {"llmContent": shown},
    }
    one = event(gemini, payload)
    assert (one.text, one.exit_code) == (text, code)


def test_gemini_tools_say_their_error():
    payload = {
        "hook_event_name": "AfterTool",
        "session_id": "s",
        "cwd": "/w",
        "tool_name": "replace",
        "tool_input": {"file_path": "a.py"},
        "tool_response": {
            "llmContent": "",
            "error": {"message": "0 occurrences found", "type": "edit_no_occurrence"},
        },
    }
    one = event(gemini, payload)
    assert (one.is_error, one.text, one.command) == (True, "0 occurrences found", "a.py")


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ('{"output": "x", "exit_code": 2, "error": null}', ("x", True, 2)),
        ('{"output": "x", "exit_code": 0, "error": null}', ("x", False, 0)),
        ('{"error": "no such file"}', ("no such file", True, None)),
        ("plain text", ("plain text", False, None)),
    ],
)
def test_hermes_results_are_json_in_a_text(result, expected):
    payload = {
        "event": "result",
        "session": "s",
        "directory": "/w",
        "tool": "terminal",
        "call": "c",
        "result": result,
    }
    one = event(hermes, {**payload, "args": {"command": "make"}})
    assert (one.text, one.is_error, one.exit_code) == expected


def test_opencodes_timeout_is_unknown_and_never_a_success():
    payload = {
        "event": "result",
        "session": "s",
        "directory": "/w",
        "tool": "bash",
        "call": "c",
        "args": {"command": "x"},
    }
    one = event(opencode, {**payload, "output": "shell tool terminated command after exceeding timeout"})
    assert (one.is_error, one.exit_code) == (None, None)


def test_opencodes_tool_that_throws_is_a_failure():
    payload = {
        "event": "result",
        "session": "s",
        "directory": "/w",
        "tool": "edit",
        "call": "c",
        "args": {"filePath": "a"},
    }
    one = event(opencode, {**payload, "error": "oldString not found"})
    assert (one.is_error, one.text, one.command) == (True, "oldString not found", "a")


def test_cursor_takes_the_workspace_and_not_its_own_folder():
    payload = {
        "hook_event_name": "postToolUseFailure",
        "conversation_id": "s",
        "workspace_roots": ["/w"],
        "cwd": "/home/dev/.cursor",
        "tool_name": "Shell",
        "tool_input": {"command": "make"},
        "tool_use_id": "u",
        "error_message": "boom",
        "failure_type": "timeout",
        "user_email": "dev@example.org",
    }
    heard = cursor.hear(payload, {})
    assert heard is not None
    assert (heard.cwd, heard.root, heard.speaks) == ("/w", "/w", False)
    assert heard.events[0].is_error is None
    assert "dev@example.org" not in repr(heard.events[0])


@pytest.mark.parametrize(
    ("adapter", "payload"),
    [
        (claude_code, {"hook_event_name": "SessionEnd"}),
        (codex, {"hook_event_name": "Stop"}),
        (gemini, {"hook_event_name": "BeforeTool"}),
        (cursor, {"hook_event_name": "postToolUseFailure"}),
        (cursor, {"hook_event_name": "beforeSubmitPrompt"}),
    ],
)
def test_no_answer_carries_words_that_the_event_does_not_take(adapter, payload):
    said = adapter.answer(payload, Tell("words"))
    assert adapter is claude_code or said in ("", "{}")
    assert adapter.answer(payload, Silence()) in ("", "{}")


def test_a_refusal_outside_of_a_call_is_never_answered():
    for adapter, name in ((codex, "PostToolUse"), (gemini, "AfterTool"), (cursor, "postToolUse")):
        assert adapter.answer({"hook_event_name": name}, Hold("no")) == ""


@pytest.mark.parametrize(
    ("tool", "line", "own"),
    [
        ("mcp__vlk2__vlk_recall", "", True),
        ("mcp_vlk2_vlk_recall", "", True),
        ("vlk2_vlk_recall", "", True),
        ("MCP:vlk_recall", "", True),
        ("Bash", "vlk2 timeline", True),
        ("Bash", "cd a && uvx vlk2 status", True),
        ("Bash", "grep vlk2 README.md", False),
        ("Bash", "python -m pytest tests/vlk2", False),
        ("mcp__other__recall", "", False),
    ],
)
def test_our_own_calls_are_known(tool, line, own):
    assert ours(tool, line) is own


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[Request interrupted by user for tool use]", True),
        ("Error: User rejected tool use", True),
        ("<tool_use_error>Cancelled: parallel tool call Bash(x) errored</tool_use_error>", True),
        ("Command blocked by PreToolUse hook: not run", True),
        ("error: the user denied is a variable", False),
        ("KeyError: 'x'", False),
    ],
)
def test_what_was_stopped_is_known_by_its_first_words(text, expected):
    assert stopped(text) is expected


def test_any_result_has_a_text():
    assert plain(None) == ""
    assert plain({"content": [{"type": "text", "text": "a"}]}) == "a"
    assert plain({"filePath": "a"}) == '{"filePath":"a"}'


# What Codex takes, by event: the output schemas of openai/codex, codex-rs/hooks/schema/generated/*.output.schema.json.
# Each is an object without further keys, and so is its hookSpecificOutput, whose hookEventName is required.
_CODEX_TOP = {"continue", "hookSpecificOutput", "stopReason", "suppressOutput", "systemMessage"}
_CODEX_TAKES = {
    "PreToolUse": (
        _CODEX_TOP,
        {"additionalContext", "permissionDecision", "permissionDecisionReason", "updatedInput"},
    ),
    "PostToolUse": (
        _CODEX_TOP | {"decision", "reason"},
        {"additionalContext", "updatedMCPToolOutput", "updatedToolOutput"},
    ),
    "SessionStart": (_CODEX_TOP, {"additionalContext", "env"}),
}


@pytest.mark.parametrize("event", _CODEX_TAKES)
@pytest.mark.parametrize("said", [Tell("words"), Hold("no"), Silence(), None])
def test_codex_is_answered_within_its_published_schema(event, said):
    answer = codex.answer({"hook_event_name": event}, said)
    if not answer:
        return
    top, inner = _CODEX_TAKES[event]
    given = json.loads(answer)
    assert set(given) <= top
    special = dict(given["hookSpecificOutput"])
    assert special.pop("hookEventName") == event
    assert set(special) <= inner
    assert all(isinstance(value, str) for value in special.values())
    assert special.get("permissionDecision", "deny") in ("allow", "deny", "ask")


@pytest.mark.parametrize("event", _CODEX_TAKES)
def test_codex_is_told_something_at_each_of_these_events(event):
    assert "words" in codex.answer({"hook_event_name": event}, Tell("words"))
