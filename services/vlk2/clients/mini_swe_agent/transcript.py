"""mini-swe-agent `*.traj.json`, 1.x (one ```bash block a reply) and 2.x (tool calls)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from vlk2.clients.loose import integer, is_array, mapping, microseconds, parsed, plain, sequence, string
from vlk2.clients.recorded import Call, Run, Step, Tape, stated_exit_code
from vlk2.clients.source import Source
from vlk2.domain.event import EventKind

EXPECTED: Final = "a JSON document with `messages`, `info` and `trajectory_format`"

_BLOCK: Final = re.compile(r"```(?:bash|mswea_bash_command)\s*\n(.*?)\n```", re.DOTALL)
_TAIL: Final = 600


def claims(value: object) -> bool:
    """Whether this JSON value is a mini-swe-agent trajectory."""
    document = mapping(value)
    if not is_array(document.get("messages")):
        return False
    info = mapping(document.get("info"))
    return string(document.get("trajectory_format")).startswith("mini-swe-agent") or "mini_version" in info


def steps(source: Source) -> Iterator[Step]:
    """One run a document; a file of several (JSON lines) yields each."""
    tape = Tape("mini-swe-agent", each=True)
    for _, value in source.values():
        document = mapping(value)
        if not claims(document):
            source.skipped += 1
            continue
        session = string(document.get("instance_id")) or source.stem
        environment = mapping(mapping(mapping(document.get("info")).get("config")).get("environment"))
        run = tape.row(session, worktree=string(environment.get("cwd")))
        yield from _conversation(run, [mapping(message) for message in sequence(document.get("messages"))])


def _conversation(run: Run, messages: list[dict[str, object]]) -> Iterator[Step]:
    waiting: list[Call] = []
    begun = False
    for number, message in enumerate(messages):
        role = message.get("role")
        extra = mapping(message.get("extra"))
        at = _clock(extra)
        text = plain(message.get("content"))
        if role == "system":
            continue
        if not begun:
            begun = True
            yield run.frame(EventKind.SESSION_START, _first_clock(messages))
        if role == "assistant":
            waiting = _calls(message, extra, text, f"m{number}", at)
            usage = mapping(mapping(extra.get("response")).get("usage"))
            run.spend(f"m{number}", integer(usage.get("total_tokens")))
        elif role == "exit":
            told = f"[exit] {string(extra.get('exit_status'))}\n{string(extra.get('submission')) or text}"
            for call in waiting:
                yield from run.result(call, told, at=at)
            waiting = []
            yield run.frame(EventKind.SESSION_END, at)
        elif not waiting:
            if role == "user":
                yield run.prompt(text, at)
        else:
            call = _answered(waiting, string(message.get("tool_call_id")))
            exit_code = integer(extra.get("returncode"))
            if exit_code is None:
                exit_code = stated_exit_code(text, is_error=None)
            is_error = None if exit_code is None else exit_code != 0
            yield from run.result(call, text, at=at, is_error=is_error, exit_code=exit_code)


def _answered(waiting: list[Call], use_id: str) -> Call:
    for place, call in enumerate(waiting):
        if use_id and call.use_id == use_id:
            return waiting.pop(place)
    return waiting.pop(0)


def _calls(
    message: dict[str, object], extra: dict[str, object], text: str, batch: str, at: int
) -> list[Call]:
    found: list[Call] = []
    for made in map(mapping, sequence(message.get("tool_calls"))):
        function = mapping(made.get("function"))
        given = function.get("arguments")
        arguments = parsed(given) if isinstance(given, str) else given
        found.append(Call(string(function.get("name")), arguments, string(made.get("id")), batch, at))
    if found:
        return found
    for action in map(mapping, sequence(extra.get("actions"))):
        command = string(action.get("command"))
        found.append(Call("bash", {"command": command}, string(action.get("tool_call_id")), batch, at))
    if found:
        return found
    blocks: list[str] = _BLOCK.findall(text)
    if len(blocks) == 1:
        return [Call("bash", {"command": blocks[0].strip()}, "", batch, at)]
    return [Call("", None, "", batch, at, command=f"NO_ACTION({len(blocks)} blocks): {text[-_TAIL:]}")]


def _clock(extra: dict[str, object]) -> int:
    return microseconds(extra.get("timestamp")) or microseconds(mapping(extra.get("response")).get("created"))


def _first_clock(messages: list[dict[str, object]]) -> int:
    return next((at for message in messages if (at := _clock(mapping(message.get("extra"))))), 0)
