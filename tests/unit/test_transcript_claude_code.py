"""Claude Code sessions as their lines tell them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from vlk2.clients.transcripts import Step, read
from vlk2.domain.event import EventKind

Row = dict[str, Any]


def line(kind: str, number: int, message: Row | None = None, **more: object) -> Row:
    row: Row = {
        "type": kind,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": "s-1",
        "timestamp": f"2026-05-04T10:00:{number:02d}.000Z",
        "cwd": "/home/kim/shop",
        "isSidechain": False,
    }
    if message is not None:
        row["message"] = message
    return {**row, **more}


def call(
    number: int, use: str, tool: str, given: Row, message: str = "", usage: Row | None = None, **more: object
):
    return line(
        "assistant",
        number,
        {
            "role": "assistant",
            "id": message or f"msg-{use}",
            "content": [{"type": "tool_use", "id": use, "name": tool, "input": given}],
            "usage": usage or {},
        },
        **more,
    )


def answer(number: int, use: str, content: object, extra: object = None, **more: object) -> Row:
    block: Row = {"type": "tool_result", "tool_use_id": use, "content": content}
    if "is_error" in more:
        block["is_error"] = more.pop("is_error")
    return line("user", number, {"role": "user", "content": [block]}, toolUseResult=extra, **more)


def said(number: int, text: str, **more: object) -> Row:
    return line("user", number, {"role": "user", "content": text}, **more)


def replayed(folder: Path, *rows: Row) -> list[Step]:
    path = folder / "s-1.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return list(read(path))


def of(kind: EventKind, steps: list[Step]):
    return [step.event for step in steps if step.event.kind is kind]


RAN = {"stdout": "ok", "stderr": "", "interrupted": False, "isImage": False}


def test_a_result_carries_its_call_its_message_its_verdict_and_its_code(tmp_path: Path):
    steps = replayed(
        tmp_path,
        said(0, "make it green"),
        call(1, "t1", "Bash", {"command": "npm test", "description": "Run tests"}),
        answer(2, "t1", "Exit code 1\nFAIL cart", "Error: Exit code 1\nFAIL cart", is_error=True),
        call(3, "t2", "Edit", {"file_path": "a.js", "old_string": "a", "new_string": "ü"}),
        answer(
            4,
            "t2",
            [{"type": "text", "text": "updated"}, {"type": "image", "source": {}}],
            {"filePath": "a.js"},
        ),
    )
    assert [step.event.kind for step in steps[:2]] == [EventKind.SESSION_START, EventKind.PROMPT]
    failed, edited = of(EventKind.RESULT, steps)
    assert failed.action == "Bash: npm test"
    assert json.loads(failed.input) == {"command": "npm test", "description": "Run tests"}
    assert (failed.is_error, failed.exit_code, failed.text) == (True, 1, "Exit code 1\nFAIL cart")
    assert (failed.session, failed.subagent, failed.worktree) == ("s-1", "", "/home/kim/shop")
    assert (failed.use_id, failed.batch, failed.client) == ("t1", "msg-t1", "claude-code")
    assert edited.action == 'Edit: {"file_path": "a.js", "old_string": "a", "new_string": "ü"}'
    assert (edited.text, edited.is_error, edited.exit_code) == ("updated", None, None)
    assert edited.at - failed.at == 2_000_000


def test_only_a_shell_command_that_ended_by_itself_has_status_0(tmp_path: Path):
    cases: list[tuple[object, Row]] = [
        (RAN, {"is_error": False}),
        (RAN, {}),
        ({**RAN, "returnCodeInterpretation": "No matches found"}, {"is_error": False}),
        ({**RAN, "backgroundTaskId": "b1"}, {"is_error": False}),
        ({**RAN, "interrupted": True}, {"is_error": False}),
        (None, {}),
    ]
    rows: list[Row] = []
    for number, (extra, more) in enumerate(cases):
        rows.append(call(2 * number, f"t{number}", "Bash", {"command": "grep x y"}))
        rows.append(answer(2 * number + 1, f"t{number}", "", extra, **more))
    found = of(EventKind.RESULT, replayed(tmp_path, *rows))
    assert [event.exit_code for event in found] == [0, 0, None, None, None, None]
    assert [event.is_error for event in found] == [False, None, False, False, False, None]
    assert [event.interrupted for event in found] == [False, False, False, False, True, False]


def test_calls_of_one_message_share_a_batch_and_are_numbered_as_they_finish(tmp_path: Path):
    steps = replayed(
        tmp_path,
        call(0, "t1", "Grep", {"pattern": "a"}, "msg-1"),
        call(1, "t2", "Grep", {"pattern": "b"}, "msg-1"),
        answer(2, "t2", "2"),
        answer(3, "t1", "1"),
        call(4, "t3", "Grep", {"pattern": "c"}, "msg-2"),
        answer(5, "t3", "3"),
    )
    results = [step for step in steps if step.event.kind is EventKind.RESULT]
    assert [(step.i, step.event.use_id, step.event.batch) for step in results] == [
        (0, "t2", "msg-1"),
        (1, "t1", "msg-1"),
        (2, "t3", "msg-2"),
    ]


def test_the_usage_that_every_line_of_a_message_repeats_is_counted_once(tmp_path: Path):
    early = {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 1}
    late = {**early, "output_tokens": 50}
    found = of(
        EventKind.RESULT,
        replayed(
            tmp_path,
            call(0, "t1", "Read", {"file_path": "a"}, "msg-1", early),
            call(1, "t2", "Read", {"file_path": "b"}, "msg-1", late),
            answer(2, "t1", "a"),
            answer(3, "t2", "b"),
            call(4, "t3", "Read", {"file_path": "c"}, "msg-2", early),
            answer(5, "t3", "c"),
        ),
    )
    assert [event.tokens for event in found] == [150, 0, 101]


def test_lines_that_a_resumed_session_repeats_are_read_once(tmp_path: Path):
    first = [
        said(0, "go"),
        call(1, "t1", "Bash", {"command": "make"}),
        answer(2, "t1", "Exit code 2\nmake: *** [all] Error 2", is_error=True),
    ]
    copied = [{**row, "sessionId": "s-1", "uuid": f"copy-{row['uuid']}"} for row in first[1:]]
    steps = replayed(tmp_path, *first, *first, *copied)
    assert len(of(EventKind.PROMPT, steps)) == 1
    assert len(of(EventKind.RESULT, steps)) == 1


def test_rejections_interrupts_and_cancelled_siblings_are_marked_interrupted(tmp_path: Path):
    rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    found = of(
        EventKind.RESULT,
        replayed(
            tmp_path,
            call(0, "t1", "Bash", {"command": "rm -rf x"}),
            answer(1, "t1", rejected, "User rejected tool use", is_error=True),
            call(2, "t2", "Read", {"file_path": "a"}),
            answer(3, "t2", "<tool_use_error>Sibling tool call errored</tool_use_error>", is_error=True),
            call(4, "t3", "Bash", {"command": "make"}),
            answer(5, "t3", "Exit code 2\nboom", is_error=True),
        ),
    )
    assert [event.interrupted for event in found] == [True, True, False]


def test_only_what_the_user_typed_is_a_prompt(tmp_path: Path):
    blocks = [{"type": "text", "text": "and this"}]
    steps = replayed(
        tmp_path,
        said(0, "first"),
        said(1, "Caveat: generated", isMeta=True),
        said(2, "<local-command-stdout>ok</local-command-stdout>"),
        said(3, "[Request interrupted by user]"),
        said(4, "This session is being continued", isCompactSummary=True),
        said(5, "<system-reminder>do</system-reminder>"),
        line("user", 6, {"role": "user", "content": blocks}),
        said(7, "prompt of a subagent", isSidechain=True),
    )
    assert [event.text for event in of(EventKind.PROMPT, steps)] == ["first", "and this"]


def test_subagents_are_runs_of_their_own_by_agent_id_or_by_their_first_line(tmp_path: Path):
    steps = replayed(
        tmp_path,
        call(0, "t0", "Bash", {"command": "a"}),
        said(1, "look", isSidechain=True, parentUuid=None),
        call(2, "t1", "Bash", {"command": "b"}, isSidechain=True),
        said(3, "look too", isSidechain=True, parentUuid=None),
        call(4, "t2", "Bash", {"command": "c"}, isSidechain=True),
        answer(5, "t1", "1", isSidechain=True, parentUuid="u2"),
        answer(6, "t2", "2", isSidechain=True, parentUuid="u4"),
        call(7, "t3", "Bash", {"command": "d"}, isSidechain=True, agentId="a9", cwd="/home/kim/shop-2"),
        answer(8, "t3", "3", isSidechain=True, agentId="a9"),
        answer(9, "t0", "0"),
    )
    results = [step for step in steps if step.event.kind is EventKind.RESULT]
    assert [(step.i, step.event.command, step.event.subagent) for step in results] == [
        (0, "b", "u1"),
        (1, "c", "u3"),
        (2, "d", "a9"),
        (3, "a", ""),
    ]
    assert len({step.run for step in results}) == 4
    assert [step.event.worktree for step in results][2] == "/home/kim/shop-2"
    assert len(of(EventKind.SESSION_START, steps)) == 4


def test_the_worktree_is_where_the_session_began_not_where_it_went(tmp_path: Path):
    found = of(
        EventKind.RESULT,
        replayed(
            tmp_path,
            call(0, "t1", "Bash", {"command": "cd web"}),
            answer(1, "t1", "", cwd="/home/kim/shop/web"),
            call(2, "t2", "Bash", {"command": "ls"}, cwd="/home/kim/shop/web"),
            answer(3, "t2", "", cwd="/home/kim/shop/web"),
        ),
    )
    assert {event.worktree for event in found} == {"/home/kim/shop"}


def test_a_compaction_is_told_and_other_rows_are_passed_over(tmp_path: Path):
    path = tmp_path / "s-1.jsonl"
    rows: list[Row] = [
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        {"type": "summary", "summary": "x", "leafUuid": "l"},
        said(0, "go"),
        line("system", 1, subtype="compact_boundary", content="Conversation compacted"),
        line("progress", 2, data={}),
        {"type": "from-the-future", "uuid": "f"},
        answer(3, "never-called", "text"),
        call(4, "t1", "Bash", {"command": "never finished"}),
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    reading = read(path)
    steps = list(reading)
    assert [step.event.kind for step in steps] == [
        EventKind.SESSION_START,
        EventKind.PROMPT,
        EventKind.COMPACTION,
    ]
    assert reading.skipped == 2
