"""Cline `api_conversation_history.json`: messages of blocks; results are text blocks `[TOOL for 'X'] Result:` in
the order of the calls, or `tool_result` blocks in later versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from vlk2.clients.loose import flag, integer, is_array, mapping, microseconds, plain, sequence, string
from vlk2.clients.recorded import Call, Run, Step, Tape
from vlk2.clients.source import Source
from vlk2.domain.event import EventKind

EXPECTED: Final = "a JSON list of messages with `role` and `content` blocks"

_HEADER: Final = re.compile(
    r"\[(\w+)(?: for '(.*?)')?\] Result:\n?|(?=Tool \[(\w+)\] was not executed)", re.DOTALL
)
_SURROUNDS: Final = re.compile(r"\s*<(?:environment_details|task_progress|system-reminder)\b")
_TASK: Final = re.compile(
    r"\s*<(?:task|user_message|feedback|answer)>(.*?)</(?:task|user_message|feedback|answer)>", re.DOTALL
)
_EXIT: Final = re.compile(
    r"(?:Command (?:failed|executed|completed|exited)[^\n]{0,60}?exit code:? |Exit code: )(-?\d+)"
)


def claims(value: object) -> bool:
    """Whether this JSON value is a Cline conversation."""
    items = [mapping(item) for item in sequence(value)[:20]]
    return (
        bool(items)
        and all(item.get("role") in ("user", "assistant") and "content" in item for item in items)
        and any(is_array(item.get("content")) and _blocks(item) for item in items)
    )


def steps(source: Source) -> Iterator[Step]:
    """One run, numbered by the order of the results."""
    run = Tape("cline").run(source.stem, session=source.stem)
    waiting: list[Call] = []
    begun = False
    for _, value in source.values():
        for number, message in enumerate(map(mapping, sequence(value))):
            at = microseconds(message.get("ts"))
            if not begun:
                begun = True
                yield run.frame(EventKind.SESSION_START, at)
            if message.get("role") == "assistant":
                figures = mapping(mapping(message.get("metrics")).get("tokens"))
                known = [integer(figures.get(key)) or 0 for key in ("prompt", "completion", "cached")]
                run.spend(f"m{number}", sum(known))
                waiting = [
                    Call(
                        string(block.get("name")),
                        block.get("input"),
                        string(block.get("id")),
                        f"m{number}",
                        at,
                    )
                    for block in _blocks(message)
                    if block.get("type") == "tool_use"
                ]
            else:
                yield from _answers(run, message, waiting, f"m{number - 1}", at)
                waiting = []


def _answers(
    run: Run, message: dict[str, object], waiting: list[Call], batch: str, at: int
) -> Iterator[Step]:
    said: list[str] = []
    open_call: tuple[Call, list[str]] | None = None
    for block in _blocks(message):
        if block.get("type") == "tool_result":
            yield from _close(run, open_call, at)
            open_call = None
            call = _take(waiting, string(block.get("tool_use_id")), "")
            if call is not None:
                text = plain(block.get("content"))
                yield from run.result(
                    call, text, at=at, is_error=flag(block.get("is_error")), exit_code=_code(text)
                )
            continue
        text = string(block.get("text"))
        if _SURROUNDS.match(text) or not text:
            continue
        header = _HEADER.match(text)
        if header is None:
            if open_call is None:
                told = _TASK.match(text)
                said.append(told.group(1).strip() if told else text)
            else:
                open_call[1].append(text)
            continue
        yield from _close(run, open_call, at)
        tool = header.group(1) or header.group(3)
        call = _take(waiting, "", tool) or Call(tool, None, batch=batch, command=header.group(2) or "")
        rest = text[header.end() :]
        open_call = call, [rest] if rest else []
    yield from _close(run, open_call, at)
    if said:
        yield run.prompt("\n".join(said), at)


def _close(run: Run, open_call: tuple[Call, list[str]] | None, at: int) -> list[Step]:
    if open_call is None:
        return []
    call, parts = open_call
    text = "\n".join(parts)
    code = _code(text)
    return run.result(call, text, at=at, is_error=None if code is None else code != 0, exit_code=code)


def _take(waiting: list[Call], use_id: str, tool: str) -> Call | None:
    for place, call in enumerate(waiting):
        if (use_id and call.use_id == use_id) or (tool and call.tool == tool):
            return waiting.pop(place)
    return None


def _code(text: str) -> int | None:
    found = _EXIT.match(text)
    return int(found.group(1)) if found else None


def _blocks(message: dict[str, object]) -> list[dict[str, object]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [mapping(block) for block in sequence(content) if "type" in mapping(block)]
