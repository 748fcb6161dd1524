"""opencode: what its plugin (`plugin_v1.js`, `plugin_v2.js`) hands over -> events, and the answer that it expects.

The plugin speaks a form of our own: `{"event", "session", "directory", "worktree", "tool", "call", "message", "args",
"output", "exit", "error", "source"}` in, `{"context": TEXT}` or `{"refuse": TEXT}` out. opencode can refuse a call
but not say anything before it, so that a word about it is appended to its result.
"""

from __future__ import annotations

import json

from vlk2.clients.hooked import Heard, arguments_of, object_at, plain, stopped, text_at
from vlk2.domain.event import Event, EventKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from vlk2.domain.said import Said

SHELLS = ("bash", "shell")
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
    elif name in _FRAMES:
        event = Event(_FRAMES[name], client="opencode", session=session, text=text_at(payload, "source"))
    else:
        return None
    root = text_at(payload, "worktree")
    return Heard(
        name,
        [event],
        cwd=cwd,
        root=cwd if root in ("", "/") else root,
        advises=False,
        speaks=name in ("result", "start", "compaction"),
    )


def _call(name: str, payload: Mapping[str, object], session: str) -> Event:
    tool, given = text_at(payload, "tool"), object_at(payload, "args")
    line = text_at(given, "command") if tool in SHELLS else None
    text, is_error, exit_code = "", None, None
    if name == "result":
        error = payload.get("error")
        text = plain(payload.get("output")) or plain(error)
        given_code = payload.get("exit")
        if error is not None:
            is_error = True
        elif isinstance(given_code, int) and not isinstance(given_code, bool):
            is_error, exit_code = given_code != 0, given_code
        elif line is None:
            is_error = False
    return Event(
        EventKind.CALL if name == "call" else EventKind.RESULT,
        client="opencode",
        session=session,
        use_id=text_at(payload, "call"),
        batch=text_at(payload, "message"),
        tool=tool,
        command=line if line is not None else text_at(given, "filePath") or arguments_of(given, None),
        input=arguments_of(given, line),
        text=text,
        is_error=is_error,
        exit_code=exit_code,
        interrupted=name == "result" and (stopped(text) or "\nUser aborted the command" in text[-200:]),
    )


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
