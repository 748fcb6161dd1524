"""Hermes: what its plugin (`plugin/`) hands over -> events, and the answer that it expects.

The plugin speaks a form of our own: `{"event", "session", "directory", "tool", "call", "args", "result",
"status", "error", "source"}` in, `{"context": TEXT}` or `{"refuse": TEXT}` out. The result of a terminal call is
JSON text with `output`, `exit_code` and `error`. Hermes can block a call but not say anything before it, so that
a word about it goes into its result.
"""

from __future__ import annotations

import json

from vlk2.clients.hooked import Heard, arguments_of, object_at, plain, stopped, text_at
from vlk2.domain.event import Event, EventKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from vlk2.domain.said import Said

SHELL = "terminal"
_FRAMES = {
    "prompt": EventKind.PROMPT,
    "start": EventKind.SESSION_START,
    "compaction": EventKind.COMPACTION,
    "end": EventKind.SESSION_END,
}


def hear(payload: Mapping[str, object], environ: Mapping[str, str]) -> Heard | None:
    """The events of one message of the plugin, None where it is none."""
    name, session = text_at(payload, "event"), text_at(payload, "session")
    cwd = text_at(payload, "directory")
    if name in ("call", "result"):
        event = _call(name, payload, session)
        folder = text_at(object_at(payload, "args"), "workdir")
        if folder.startswith("/"):
            return Heard(
                name,
                [event],
                cwd=folder,
                root=cwd,
                advises=False,
                speaks=name in ("result", "start", "compaction"),
            )
    elif name in _FRAMES:
        event = Event(_FRAMES[name], client="hermes", session=session, text=text_at(payload, "source"))
    else:
        return None
    return Heard(
        name, [event], cwd=cwd, root=cwd, advises=False, speaks=name in ("result", "start", "compaction")
    )


def _call(name: str, payload: Mapping[str, object], session: str) -> Event:
    tool, given = text_at(payload, "tool"), object_at(payload, "args")
    line = text_at(given, "command") if tool == SHELL else None
    text, is_error, exit_code, interrupted = "", None, None, False
    if name == "result":
        text, is_error, exit_code, interrupted = _verdict(payload)
        if line is not None and given.get("background") is True:
            is_error = exit_code = None  # it was started, not waited for
    return Event(
        EventKind.CALL if name == "call" else EventKind.RESULT,
        client="hermes",
        session=session,
        use_id=text_at(payload, "call"),
        tool=tool,
        command=line if line is not None else text_at(given, "path") or arguments_of(given, None),
        input=arguments_of(given, line),
        text=text,
        is_error=is_error,
        exit_code=exit_code,
        interrupted=interrupted or (name == "result" and stopped(text)),
    )


def _verdict(payload: Mapping[str, object]) -> tuple[str, bool | None, int | None, bool]:
    """Text, is_error, exit code and whether it was stopped, from a result's own JSON or its status."""
    result = payload.get("result")
    held: object = result
    if isinstance(result, str) and result.lstrip().startswith("{"):
        try:
            held = json.loads(result)
        except ValueError:
            held = result
    if not isinstance(held, dict):
        failed = text_at(payload, "status") == "error"
        return plain(result), failed, None, False
    given: dict[str, object] = held  # pyright: ignore[reportUnknownVariableType]
    code = given.get("exit_code")
    parts = [plain(given.get("output", "")), plain(given.get("error", ""))]
    text = "\n".join(part for part in parts if part)
    interrupted = given.get("status") in ("interrupted", "cancelled") or given.get("interrupted") is True
    if isinstance(code, int) and not isinstance(code, bool):
        return text, code != 0, code, interrupted
    failed = bool(given.get("error")) or given.get("success") is False
    return text or plain(result), failed, None, interrupted


def answer(payload: Mapping[str, object], said: Said | None) -> str:
    """What goes to stdout, for the plugin to pass on."""
    from vlk2.domain.said import Hold, Tell

    match said:
        case Hold(text):
            return json.dumps({"refuse": text}, ensure_ascii=False)
        case Tell(text):
            return json.dumps({"context": text}, ensure_ascii=False)
        case _:
            return ""
