"""The neutral step format: JSON lines with `i`, `action` (`TOOL: command`), `observation` and `is_error`.

Optional: `ts`, `exit_code`, `message` (one assistant message, one value), `thought`, `tok_in`, `tok_out`,
`interrupted`, `use_id`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from vlk2.clients.loose import flag, integer, mapping, microseconds, parsed, string
from vlk2.clients.recorded import Call, Step, Tape, stated_exit_code
from vlk2.clients.source import Source
from vlk2.domain.event import EventKind

EXPECTED: Final = "JSON lines with `i`, `action` and `observation`"

_TOOL: Final = re.compile(r"([A-Za-z_][\w./-]*): ?(.*)\Z", re.DOTALL)


def claims(value: object) -> bool:
    """Whether this JSON value is a neutral step."""
    row = mapping(value)
    return isinstance(row.get("action"), str) and "observation" in row and "i" in row


def steps(source: Source) -> Iterator[Step]:
    """One run, with the records' own numbers. Records that follow each other with one `message`, or without one
    and with the same prompt size, are of one assistant message: a later message has a longer prompt."""
    run = Tape("steps").run(source.stem, session=source.stem)
    begun = False
    place = 0
    prompt_size: int | None = None
    guessed = 0
    for _, value in source.values():
        row = mapping(value)
        action = row.get("action")
        if not isinstance(action, str):
            source.skipped += 1
            continue
        at = microseconds(row.get("ts"))
        if not begun:
            begun = True
            yield run.frame(EventKind.SESSION_START, at)
        number = integer(row.get("i"))
        number = place if number is None else number
        place = number + 1
        size = integer(row.get("tok_in"))
        message = row.get("message")
        batch = "" if message is None else str(message)
        if not batch and size:
            guessed += size != prompt_size
            batch = f"message-{guessed}"
        prompt_size = size
        if size:
            run.spend(batch, size + (integer(row.get("tok_out")) or 0))
        observation = row.get("observation")
        text = observation if isinstance(observation, str) else ""
        is_error = flag(row.get("is_error"))
        exit_code = integer(row.get("exit_code"))
        if exit_code is None:
            exit_code = stated_exit_code(text, is_error=is_error)
        yield from run.result(
            _call(action, string(row.get("use_id")), batch),
            text,
            at=at,
            is_error=is_error,
            exit_code=exit_code,
            interrupted=row.get("interrupted") is True,
            i=number,
        )


def _call(action: str, use_id: str, batch: str) -> Call:
    named = _TOOL.match(action)
    tool, command = (named.group(1), named.group(2)) if named else ("", action)
    arguments = parsed(command) if command.startswith("{") else None
    return Call(tool, mapping(arguments) or None, use_id, batch, command=command)
