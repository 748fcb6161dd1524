"""`tool_payload` of an explicit record -> which call it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple, cast

_SHELL = "Bash"
_ARGUMENTS = ("input", "tool_input", "arguments", "args")
_COMMANDS = ("command", "cmd", "file_path", "path", "query", "url")


class Call(NamedTuple):
    """Tool and command as a client would report them; the exit code where the payload says it."""

    tool: str
    command: str
    input: str
    exit_code: int | None


def call_of(payload: str) -> Call:
    """The call that a payload names: a JSON object with `tool`, `command` (or `cmd`, `path`, or these under
    `input`) and `exit_code`, or any other text, which is taken as the shell command itself."""
    text = payload.strip()
    if not text:
        return Call("", "", "", None)
    if text.startswith("{"):
        try:
            found: object = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if fields := _mapping(found):
            return _named(fields)
    return Call(_SHELL, text, "", None)


def _named(fields: Mapping[str, object]) -> Call:
    inner = next((m for k in _ARGUMENTS if (m := _mapping(fields.get(k)))), dict[str, object]())
    tool = next((str(fields[k]) for k in ("tool", "tool_name", "name") if fields.get(k)), "")
    command = next((_line(source[k]) for source in (fields, inner) for k in _COMMANDS if source.get(k)), "")
    code = next((fields[k] for k in ("exit_code", "exitCode", "returncode") if k in fields), None)
    return Call(
        tool or _SHELL,
        command,
        json.dumps(inner, sort_keys=True, ensure_ascii=False) if inner else "",
        code if isinstance(code, int) and not isinstance(code, bool) else None,
    )


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _line(value: object) -> str:
    return " ".join(map(str, cast("list[object]", value))) if isinstance(value, list) else str(value)
