"""Codex rollouts of the three generations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vlk2.clients.codex.transcript import verdict
from vlk2.clients.transcripts import Step, read
from vlk2.domain.event import Event, EventKind

Row = dict[str, Any]
THREAD = "019a-thread"


def row(second: int, kind: str, **payload: object) -> Row:
    return {"timestamp": f"2026-05-04T10:00:{second:02d}.000Z", "type": kind, "payload": payload}


def meta(second: int = 0, **more: object) -> Row:
    return row(second, "session_meta", id=THREAD, cwd="/home/kim/shop", cli_version="0.99.0", **more)


def item(second: int, **payload: object) -> Row:
    return row(second, "response_item", **payload)


def event(second: int, **payload: object) -> Row:
    return row(second, "event_msg", **payload)


def shell(second: int, use: str, command: str, name: str = "shell") -> Row:
    given = {"command": ["bash", "-lc", command]} if name == "shell" else {"cmd": command}
    return item(second, type="function_call", name=name, arguments=json.dumps(given), call_id=use)


def output(second: int, use: str, text: object) -> Row:
    return item(second, type="function_call_output", call_id=use, output=text)


def ended(code: int, text: str) -> str:
    return json.dumps({"output": text, "metadata": {"exit_code": code, "duration_seconds": 0.1}})


def prompt(second: int, text: str) -> list[Row]:
    content = [{"type": "input_text", "text": text}]
    return [
        item(second, type="message", role="user", content=content),
        event(second, type="user_message", message=text),
    ]


def replayed(folder: Path, *rows: Row, name: str = "rollout-x.jsonl") -> list[Step]:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    reading = read(path)
    assert reading.format == "codex"
    return list(reading)


def of(kind: EventKind, steps: list[Step]) -> list[Event]:
    return [step.event for step in steps if step.event.kind is kind]


def ran(steps: list[Step]) -> list[tuple[str, int | None, bool | None, str]]:
    return [(e.action, e.exit_code, e.is_error, e.text) for e in of(EventKind.RESULT, steps)]


def test_the_first_generation_has_bare_rows(tmp_path: Path):
    steps = replayed(
        tmp_path,
        {"id": THREAD, "timestamp": "2025-06-01T08:00:00Z", "instructions": None, "git": {"branch": "main"}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "build it"}]},
        {"type": "reasoning", "summary": []},
        {
            "type": "function_call",
            "name": "shell",
            "arguments": json.dumps({"command": ["bash", "-lc", "make"]}),
            "call_id": "c1",
        },
        {"type": "function_call_output", "call_id": "c1", "output": ended(2, "make: *** Error 2")},
        {
            "type": "local_shell_call",
            "call_id": "c2",
            "action": {"type": "exec", "command": ["git", "status"], "working_directory": "/x"},
        },
        {"type": "function_call_output", "call_id": "c2", "output": ended(0, "clean")},
    )
    assert [event.text for event in of(EventKind.PROMPT, steps)] == ["build it"]
    assert ran(steps) == [
        ("shell: make", 2, True, "make: *** Error 2"),
        ("local_shell: git status", 0, False, "clean"),
    ]
    assert {event.session for event in of(EventKind.RESULT, steps)} == {THREAD}


def test_the_second_generation_has_envelopes_and_several_forms_of_output(tmp_path: Path):
    steps = replayed(
        tmp_path,
        meta(),
        *prompt(1, "go"),
        shell(2, "c1", "pytest"),
        output(3, "c1", ended(1, "1 failed")),
        shell(4, "c2", "pytest -q", "exec_command"),
        event(5, type="exec_command_end", call_id="c2", exit_code=1, aggregated_output="1 failed in 2s"),
        output(
            5,
            "c2",
            "Chunk ID: 1a\nWall time: 2.1 seconds\nProcess exited with code 1\nOutput:\n1 failed in 2s",
        ),
        item(
            6,
            type="custom_tool_call",
            name="apply_patch",
            input="*** Begin Patch\n*** End Patch",
            call_id="c3",
        ),
        item(
            7,
            type="custom_tool_call_output",
            call_id="c3",
            output="apply_patch verification failed: no such line",
        ),
        item(
            8, type="function_call", name="update_plan", arguments='{"plan": [{"step": "ü"}]}', call_id="c4"
        ),
        output(9, "c4", "Plan updated"),
        shell(10, "c5", "sleep 99", "exec_command"),
        output(
            11, "c5", "Chunk ID: 2b\nWall time: 10 seconds\nProcess running with session ID 7\nOutput:\n..."
        ),
    )
    assert ran(steps) == [
        ("shell: pytest", 1, True, "1 failed"),
        ("exec_command: pytest -q", 1, True, "1 failed in 2s"),
        (
            "apply_patch: *** Begin Patch\n*** End Patch",
            None,
            True,
            "apply_patch verification failed: no such line",
        ),
        ('update_plan: {"plan": [{"step": "ü"}]}', None, None, "Plan updated"),
        (
            "exec_command: sleep 99",
            None,
            None,
            "Chunk ID: 2b\nWall time: 10 seconds\nProcess running with session ID 7\nOutput:\n...",
        ),
    ]
    first = of(EventKind.RESULT, steps)[0]
    assert (first.worktree, first.use_id) == ("/home/kim/shop", "c1")


def command(second: int, line: str, code: int | None, **more: object) -> Row:
    ran_item: Row = {
        "type": "CommandExecution",
        "command": ["/bin/zsh", "-lc", line],
        "cwd": "file:///home/kim/shop",
    }
    if code is not None:
        ran_item |= {"exit_code": code, "status": "failed" if code else "completed"}
    return event(second, type="item_completed", item={**ran_item, **more})


def script(second: int, use: str, source: str) -> Row:
    return item(second, type="custom_tool_call", name="exec", input=source, call_id=use)


def scripted(second: int, use: str, text: str) -> Row:
    return item(
        second, type="custom_tool_call_output", call_id=use, output=[{"type": "input_text", "text": text}]
    )


def test_the_third_generation_pairs_commands_with_the_script_they_lie_in(tmp_path: Path):
    steps = replayed(
        tmp_path,
        meta(),
        event(
            1,
            type="item_completed",
            item={"type": "UserMessage", "content": [{"type": "text", "text": "go"}]},
        ),
        event(1, type="user_message", message="go"),
        script(2, "x1", 'const r = await tools.exec_command({cmd:"npm test"}); text(r.output)'),
        command(3, "npm test", 1),
        scripted(4, "x1", "Script completed\nWall time 1.2 seconds\n1 failing"),
        script(5, "x2", "await Promise.all([tools.exec_command(a), tools.exec_command(b)])"),
        command(6, "npm run lint", 0, aggregated_output="clean"),
        command(6, "npm run types", 2, aggregated_output="TS2345"),
        scripted(7, "x2", "Script completed"),
        script(8, "x3", 'await tools.exec_command({ cmd: "ls -la" })'),
        scripted(9, "x3", "Script completed\nWall time 0.1 seconds\na.txt"),
        script(10, "x4", "boom("),
        scripted(11, "x4", "Script failed\nSyntaxError: unexpected end"),
        script(12, "x5", "await tools.mcp__docs__search({q: 'x'})"),
        event(
            13,
            type="item_completed",
            item={
                "type": "McpToolCall",
                "server": "docs",
                "tool": "search",
                "status": "failed",
                "arguments": {"q": "x"},
                "result": {"content": [{"type": "text", "text": "401"}], "isError": True},
            },
        ),
        scripted(14, "x5", "Script completed"),
    )
    assert [event.text for event in of(EventKind.PROMPT, steps)] == ["go"]
    assert ran(steps) == [
        ("exec_command: npm test", 1, True, "Script completed\nWall time 1.2 seconds\n1 failing"),
        ("exec_command: npm run lint", 0, False, "clean"),
        ("exec_command: npm run types", 2, True, "TS2345"),
        ("exec_command: ls -la", None, None, "Script completed\nWall time 0.1 seconds\na.txt"),
        ("exec: boom(", None, True, "Script failed\nSyntaxError: unexpected end"),
        ('mcp__docs__search: {"q": "x"}', None, True, "401"),
    ]
    batches = [event.batch for event in of(EventKind.RESULT, steps)]
    assert batches[1] == batches[2] != batches[0]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("", ("", None, None)),
        ("Exit code: 3\nWall time: 0.2 seconds\nOutput:\nno", ("no", 3, True)),
        ({"content": "denied", "success": False}, ("denied", None, True)),
        ({"output": "fine", "metadata": {"exit_code": 0}}, ("fine", 0, False)),
        (
            [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "data:"}],
            ("a", None, None),
        ),
        ('{"temperature": 20}', ('{"temperature": 20}', None, None)),
        (
            "failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error, exit code: 2, stdout: x",
            (
                "failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error, "
                "exit code: 2, stdout: x",
                2,
                True,
            ),
        ),
    ],
)
def test_an_output_says_only_what_it_says(told: object, expected: tuple[str, int | None, bool | None]):
    assert verdict(told) == expected


def test_a_rolled_back_turn_is_dropped_and_the_rest_kept(tmp_path: Path):
    steps = replayed(
        tmp_path,
        meta(),
        *prompt(1, "one"),
        shell(2, "c1", "make one"),
        output(3, "c1", ended(1, "1")),
        *prompt(4, "two"),
        shell(5, "c2", "make two"),
        output(6, "c2", ended(1, "2")),
        *prompt(7, "three"),
        shell(8, "c3", "make three"),
        output(9, "c3", ended(1, "3")),
        event(10, type="thread_rolled_back", num_turns=2),
        *prompt(11, "four"),
        shell(12, "c4", "make four"),
        output(13, "c4", ended(1, "4")),
    )
    assert [event.text for event in of(EventKind.PROMPT, steps)] == ["one", "four"]
    assert [event.command for event in of(EventKind.RESULT, steps)] == ["make one", "make four"]
    assert [step.i for step in steps if step.event.kind is EventKind.RESULT] == [0, 1]


def test_what_a_compaction_or_a_copy_repeats_is_read_once(tmp_path: Path):
    steps = replayed(
        tmp_path,
        meta(),
        shell(1, "c1", "make"),
        output(2, "c1", ended(2, "Error 2")),
        row(3, "compacted", message="summary", replacement_history=[shell(1, "c1", "make")["payload"]]),
        event(3, type="context_compacted"),
        meta(4),
        shell(4, "c1", "make"),
        output(4, "c1", ended(2, "Error 2")),
    )
    assert len(of(EventKind.RESULT, steps)) == 1
    assert len(of(EventKind.COMPACTION, steps)) == 1
    assert len(of(EventKind.SESSION_START, steps)) == 1


def test_a_call_that_the_user_aborted_is_no_failure(tmp_path: Path):
    steps = replayed(
        tmp_path,
        meta(),
        shell(1, "c1", "sleep 600"),
        output(2, "c1", "aborted by user after 1.2s"),
        shell(3, "c2", "sleep 700"),
        event(4, type="turn_aborted", reason="interrupted"),
        shell(5, "c3", "true"),
        output(6, "c3", ended(0, "")),
    )
    assert [(e.command, e.interrupted) for e in of(EventKind.RESULT, steps)] == [
        ("sleep 600", True),
        ("true", False),
    ]


def test_calls_before_the_first_output_are_one_message(tmp_path: Path):
    steps = replayed(
        tmp_path,
        meta(),
        shell(1, "c1", "a"),
        shell(1, "c2", "b"),
        output(2, "c1", ended(0, "")),
        output(2, "c2", ended(0, "")),
        shell(3, "c3", "c"),
        output(4, "c3", ended(0, "")),
    )
    one, two, three = (event.batch for event in of(EventKind.RESULT, steps))
    assert one == two != three


def test_items_that_bear_the_id_of_a_call_are_its_own(tmp_path: Path):
    steps = replayed(
        tmp_path,
        meta(),
        shell(1, "c1", "a", "exec_command"),
        shell(1, "c2", "b", "exec_command"),
        command(2, "b", 3, id="c2"),
        command(2, "a", 0, id="c1"),
        output(3, "c1", "out a"),
        output(3, "c2", "out b"),
    )
    assert ran(steps) == [("exec_command: a", 0, False, "out a"), ("exec_command: b", 3, True, "out b")]


def test_a_repeated_token_count_is_counted_once(tmp_path: Path):
    def count(second: int, total: int, last: int) -> Row:
        return event(
            second,
            type="token_count",
            info={"total_token_usage": {"total_tokens": total}, "last_token_usage": {"total_tokens": last}},
        )

    steps = replayed(
        tmp_path,
        meta(),
        event(1, type="token_count", info=None),
        count(1, 900, 900),
        count(1, 900, 900),
        shell(2, "c1", "a"),
        output(3, "c1", ended(0, "")),
        count(4, 1900, 1000),
        shell(5, "c2", "b"),
        output(6, "c2", ended(0, "")),
    )
    assert [event.tokens for event in of(EventKind.RESULT, steps)] == [900, 1000]


def test_the_turns_that_codex_copied_from_another_agent_are_left_out(tmp_path: Path):
    home = tmp_path / "codex-home"
    home.mkdir()
    listing = {
        "records": [
            {
                "source_path": "/home/kim/.claude/projects/x/s.jsonl",
                "imported_thread_id": THREAD,
                "imported_at": "2026-05-04T10:00:05Z",
            }
        ]
    }
    (home / "external_agent_session_imports.json").write_text(json.dumps(listing))
    rows = [
        meta(),
        shell(2, "c1", "copied"),
        output(3, "c1", ended(1, "x")),
        shell(8, "c2", "own"),
        output(9, "c2", ended(1, "y")),
    ]
    steps = replayed(home, *rows, name="sessions/2026/05/04/rollout-1.jsonl")
    assert [event.command for event in of(EventKind.RESULT, steps)] == ["own"]


def test_a_thread_of_a_subagent_names_the_session_that_started_it(tmp_path: Path):
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "parent-1", "depth": 1}}}
    steps = replayed(tmp_path, meta(source=source), shell(1, "c1", "a"), output(2, "c1", ended(0, "")))
    found = of(EventKind.RESULT, steps)[0]
    assert (found.session, found.subagent) == ("parent-1", THREAD)


def test_the_context_that_codex_writes_itself_is_no_prompt(tmp_path: Path):
    steps = replayed(
        tmp_path,
        meta(),
        *prompt(1, "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>"),
        *prompt(2, "# AGENTS.md instructions for /x"),
        *prompt(3, "fix it"),
        shell(4, "c1", "a"),
        output(5, "c1", ended(0, "")),
        *prompt(6, "fix it"),
    )
    assert [event.text for event in of(EventKind.PROMPT, steps)] == ["fix it", "fix it"]
