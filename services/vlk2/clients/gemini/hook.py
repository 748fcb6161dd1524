"""Gemini CLI: a hook's stdin -> events, and the answer in its own schema; stdout holds JSON and nothing else.

A failing command is a normal AfterTool whose text has a line `Exit Code: N`, which a success lacks. Calls have no
id. Nothing can be said to the model before a call, so that a word about it comes with its result. PreCompress
comes before every request and tells of no compression.
"""

from __future__ import annotations

import json

from vlk2.clients.hooked import Heard, arguments_of, object_at, plain, stopped, text_at
from vlk2.domain.event import Event, EventKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from vlk2.domain.said import Said

SHELL = "run_shell_command"
_OTHERS = ("AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection", "Notification", "PreCompress")
_SPEAKING = ("SessionStart", "BeforeAgent", "AfterTool")
_TAILS = ("Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: ", "Error: ")


def hear(payload: Mapping[str, object], environ: Mapping[str, str]) -> Heard | None:
    """The events of one payload, None where it is not one of Gemini CLI's."""
    name, cwd = text_at(payload, "hook_event_name"), text_at(payload, "cwd")
    session = text_at(payload, "session_id")
    events: list[Event] = []
    match name:
        case "BeforeTool" | "AfterTool":
            events.append(_call(name, payload, session))
        case "BeforeAgent":
            events.append(Event(EventKind.PROMPT, client="gemini", session=session))
        case "SessionStart":
            source = text_at(payload, "source")
            kind = EventKind.COMPACTION if source in ("compact", "compress") else EventKind.SESSION_START
            events.append(Event(kind, client="gemini", session=session, text=source))
        case "SessionEnd":
            events.append(Event(EventKind.SESSION_END, client="gemini", session=session))
        case _ if name not in _OTHERS:
            return None
        case _:
            pass
    root = environ.get("GEMINI_PROJECT_DIR", "") or cwd
    return Heard(
        name,
        events,
        cwd=cwd,
        root=root,
        advises=False,
        speaks=name in _SPEAKING,
        mark=text_at(payload, "timestamp"),
    )


def _call(name: str, payload: Mapping[str, object], session: str) -> Event:
    tool, given = text_at(payload, "tool_name"), object_at(payload, "tool_input")
    line = text_at(given, "command") if tool == SHELL else None
    text, is_error, exit_code, interrupted = "", None, None, False
    if name == "AfterTool":
        response = object_at(payload, "tool_response")
        text = plain(response.get("llmContent"))
        if line is not None:
            text, exit_code, interrupted = _output(text)
            is_error = None if exit_code is None else exit_code != 0
        else:
            is_error = False
        if error := response.get("error"):
            is_error, exit_code = True, exit_code or None
            text = text or plain(object_at(response, "error").get("message", error))
    return Event(
        EventKind.CALL if name == "BeforeTool" else EventKind.RESULT,
        client="gemini",
        session=session,
        tool=tool,
        command=line if line is not None else text_at(given, "file_path") or arguments_of(given, None),
        input=arguments_of(given, line),
        text=text,
        is_error=is_error,
        exit_code=exit_code,
        interrupted=interrupted or (name == "AfterTool" and stopped(text)),
    )


def _output(text: str) -> tuple[str, int | None, bool]:
    """What a command printed, its exit code (None where it was not waited for), and whether it was stopped."""
    body = text.strip()
    if body.startswith("<untrusted_context>"):
        body = body.removeprefix("<untrusted_context>").removesuffix("</untrusted_context>").strip("\n")
    lines = body.split("\n")
    exit_code: int | None = 0
    while lines and lines[-1].startswith(_TAILS):
        word = lines.pop()
        if word.startswith("Exit Code: ") and word[11:].strip().lstrip("-").isdigit():
            exit_code = int(word[11:])
        elif word.startswith("Signal: ") and word[8:].strip() not in ("", "(none)"):
            exit_code = None
    body = "\n".join(lines).removeprefix("Output: ")
    if body.startswith("Command was cancelled by user"):
        return body, None, True
    if body.startswith(
        ("Command is running in background", "Command moved to background", "Command was automatically")
    ):
        return body, None, False
    return ("" if body == "(empty)" else body), exit_code, False


def answer(payload: Mapping[str, object], said: Said | None) -> str:
    """What goes to stdout: a denial before a tool, additional context where this event takes it."""
    from vlk2.domain.said import Hold, Tell

    name = text_at(payload, "hook_event_name")
    match said:
        case Hold(text) if name == "BeforeTool":
            return json.dumps({"decision": "deny", "reason": text}, ensure_ascii=False)
        case Tell(text) if name in _SPEAKING:
            given = {"hookEventName": name, "additionalContext": text}
            return json.dumps({"hookSpecificOutput": given}, ensure_ascii=False)
        case _:
            return ""
