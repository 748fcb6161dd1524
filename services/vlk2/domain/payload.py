"""`tool_payload` of an explicit record -> which call it was."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

_SHELL = "Bash"


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
            found: Any = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            return _named(found)  # pyright: ignore[reportUnknownArgumentType]
    return Call(_SHELL, text, "", None)


def _named(fields: dict[str, Any]) -> Call:
    inner = next(
        (fields[k] for k in ("input", "tool_input", "arguments", "args") if isinstance(fields.get(k), dict)),
        {},
    )
    tool = next((str(fields[k]) for k in ("tool", "tool_name", "name") if fields.get(k)), "")
    command = ""
    for source in (fields, inner):
        for key in ("command", "cmd", "file_path", "path", "query", "url"):
            value = source.get(key)
            if isinstance(value, list):
                value = " ".join(str(part) for part in value)
            if value and not command:
                command = str(value)
    code = fields.get("exit_code", fields.get("exitCode", fields.get("returncode")))
    canonical = json.dumps(inner, sort_keys=True, ensure_ascii=False) if inner else ""
    return Call(
        tool or _SHELL,
        command,
        canonical,
        code if isinstance(code, int) and not isinstance(code, bool) else None,
    )
