"""Cursor: a hook's stdin -> events, and the answer in its own schema.

A failing tool arrives as postToolUseFailure, to which nothing can be answered, or as postToolUse whose
`tool_output` (JSON text) names an `exitCode`. User hooks run in Cursor's own folder: the place is the first of
`workspace_roots`. Nothing can be said before a call but a refusal, so that a word about it comes with a later result.
"""

from __future__ import annotations

import json

from vlk2.clients.hooked import Heard, arguments_of, object_at, plain, stopped, text_at
from vlk2.domain.event import Event, EventKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from vlk2.domain.said import Said

SHELL = "Shell"
_OTHERS = (
    "stop",
    "preCompact",
    "afterShellExecution",
    "beforeShellExecution",
    "afterFileEdit",
    "beforeReadFile",
    "beforeMCPExecution",
    "afterMCPExecution",
    "afterAgentResponse",
    "afterAgentThought",
    "subagentStart",
)


def hear(payload: Mapping[str, object], environ: Mapping[str, str]) -> Heard | None:
    """The events of one payload, None where it is not one of Cursor's."""
    name = text_at(payload, "hook_event_name")
    session = text_at(payload, "conversation_id") or text_at(payload, "session_id")
    roots = payload.get("workspace_roots")
    root = next((part for part in roots if isinstance(part, str)), "") if isinstance(roots, list) else ""  # pyright: ignore[reportUnknownVariableType]
    events: list[Event] = []
    match name:
        case "preToolUse" | "postToolUse" | "postToolUseFailure":
            events.append(_call(name, payload, session))
        case "beforeSubmitPrompt":
            events.append(Event(EventKind.PROMPT, client="cursor", session=session))
        case "sessionStart":
            events.append(Event(EventKind.SESSION_START, client="cursor", session=session, text="startup"))
        case "sessionEnd":
            events.append(Event(EventKind.SESSION_END, client="cursor", session=session))
        case "subagentStop":
            subagent = text_at(payload, "subagent_id")
            events.append(Event(EventKind.SESSION_END, client="cursor", session=session, subagent=subagent))
        case _ if name not in _OTHERS:
            return None
        case _:
            pass
    cwd = text_at(payload, "cwd")
    inside = bool(root) and (cwd == root or cwd.startswith(root.rstrip("/\\") + "/"))
    return Heard(
        name,
        events,
        cwd=cwd if inside else root or cwd,
        root=root or environ.get("CURSOR_PROJECT_DIR", "") or cwd,
        advises=False,
        speaks=name not in ("postToolUseFailure", "beforeSubmitPrompt"),
    )


def _call(name: str, payload: Mapping[str, object], session: str) -> Event:
    tool, given = text_at(payload, "tool_name"), object_at(payload, "tool_input")
    line = text_at(given, "command") if tool == SHELL else None
    text, is_error, exit_code, interrupted = "", None, None, False
    if name == "postToolUseFailure":
        text = text_at(payload, "error_message")
        kind = text_at(payload, "failure_type")
        interrupted = payload.get("is_interrupt") is True or kind == "permission_denied"
        is_error = None if kind == "timeout" else True
    elif name == "postToolUse":
        text, exit_code = _output(payload.get("tool_output"))
        is_error = exit_code != 0 if exit_code is not None else (None if line is not None else False)
    return Event(
        EventKind.CALL if name == "preToolUse" else EventKind.RESULT,
        client="cursor",
        session=session,
        subagent=text_at(payload, "subagent_id"),
        use_id=text_at(payload, "tool_use_id"),
        tool=tool,
        command=line if line is not None else text_at(given, "file_path") or arguments_of(given, None),
        input=arguments_of(given, line),
        text=text,
        is_error=is_error,
        exit_code=exit_code,
        interrupted=interrupted or (name != "preToolUse" and stopped(text)),
    )


def _output(output: object) -> tuple[str, int | None]:
    """Text and exit code of a result, which is JSON text in most versions."""
    held = output
    if isinstance(output, str) and output.lstrip().startswith("{"):
        try:
            held = json.loads(output)
        except ValueError:
            held = output
    if isinstance(held, dict):
        given: dict[str, object] = held  # pyright: ignore[reportUnknownVariableType]
        codes = [given.get(key) for key in ("exitCode", "exit_code")]
        exit_code = next((c for c in codes if isinstance(c, int) and not isinstance(c, bool)), None)
        if isinstance(given.get("output"), str):
            return str(given["output"]), exit_code
        return plain(given), exit_code
    return plain(output), None


def answer(payload: Mapping[str, object], said: Said | None) -> str:
    """What goes to stdout: a denial before a tool, additional context after one and at a session's start."""
    from vlk2.domain.said import Hold, Tell

    name = text_at(payload, "hook_event_name")
    match said:
        case Hold(text) if name == "preToolUse":
            # The user sees one line, the agent all of it.
            first = text.split("\n", 1)[0]
            given = {"permission": "deny", "user_message": first, "agent_message": text}
        case Tell(text) if name in ("postToolUse", "sessionStart"):
            given = {"additional_context": text}
        case _:
            return ""
    return json.dumps(given, ensure_ascii=False)
