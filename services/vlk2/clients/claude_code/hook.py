"""Claude Code: a hook's stdin -> events, and the answer in its own schema.

A failing command arrives as PostToolUseFailure whose `error` begins `Exit code N`; PostToolUse is a success.
Unknown keys and events are passed over, since every version adds some.
"""

from __future__ import annotations

import json

from vlk2.clients.hooked import Heard, arguments_of, object_at, plain, stopped, text_at
from vlk2.domain.event import Event, EventKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from vlk2.domain.said import Said

SHELLS = ("Bash", "PowerShell")
_OTHERS = ("PreCompact", "PostCompact", "Stop", "SubagentStart", "Notification", "PostToolBatch", "Setup")


def hear(payload: Mapping[str, object], environ: Mapping[str, str]) -> Heard | None:
    """The events of one payload, None where it is not one of Claude Code's that matter here."""
    name = text_at(payload, "hook_event_name")
    cwd = text_at(payload, "cwd")
    event = _event(name, payload)
    if event is None and name not in _OTHERS:
        return None
    return Heard(
        name,
        [event] if event else [],
        cwd=cwd,
        root=environ.get("CLAUDE_PROJECT_DIR", "") or cwd,
        speaks=name not in ("SessionEnd", "SubagentStop"),
    )


def _event(name: str, payload: Mapping[str, object]) -> Event | None:
    session, subagent = text_at(payload, "session_id"), text_at(payload, "agent_id")

    def frame(kind: EventKind, text: str = "") -> Event:
        return Event(kind, client="claude-code", session=session, subagent=subagent, text=text)

    match name:
        case "PreToolUse" | "PostToolUse" | "PostToolUseFailure":
            return _call(name, payload, session, subagent)
        case "UserPromptSubmit":
            return frame(EventKind.PROMPT)
        case "SessionStart":
            source = text_at(payload, "source")
            return frame(EventKind.COMPACTION if source == "compact" else EventKind.SESSION_START, source)
        case "SessionEnd" | "SubagentStop":
            return frame(EventKind.SESSION_END)
        case _:
            return None


def _call(name: str, payload: Mapping[str, object], session: str, subagent: str) -> Event | None:
    tool, given = text_at(payload, "tool_name"), object_at(payload, "tool_input")
    if not tool:
        return None
    line = text_at(given, "command") if tool in SHELLS else None
    text, is_error, exit_code, interrupted = "", None, None, False
    if name == "PostToolUseFailure":
        text = text_at(payload, "error")
        is_error, exit_code = True, _exit_code(text)
        interrupted = payload.get("is_interrupt") is True or stopped(text)
    elif name == "PostToolUse":
        response = payload.get("tool_response")
        text = plain(response)
        detail = object_at(payload, "tool_response")
        interrupted = detail.get("interrupted") is True
        if not (given.get("run_in_background") is True or detail.get("backgroundTaskId")):
            is_error, exit_code = False, 0 if line is not None else None
    return Event(
        EventKind.CALL if name == "PreToolUse" else EventKind.RESULT,
        client="claude-code",
        session=session,
        subagent=subagent,
        use_id=text_at(payload, "tool_use_id"),
        tool=tool,
        command=line if line is not None else text_at(given, "file_path") or arguments_of(given, None),
        input=arguments_of(given, line),
        text=text,
        is_error=is_error,
        exit_code=exit_code,
        interrupted=interrupted,
    )


def _exit_code(error: str) -> int | None:
    """The exit code that leads an error's text: `Exit code N`."""
    head, _, _ = error.partition("\n")
    word = head.removeprefix("Error: ").removeprefix("Exit code ")
    return int(word) if word != head and word.isdigit() else None


def answer(payload: Mapping[str, object], said: Said | None) -> str:
    """What goes to stdout: additional context where this event takes it, a denial before a call."""
    from vlk2.domain.said import Hold, Tell

    name = text_at(payload, "hook_event_name")
    match said:
        case Hold(text):
            given = {"permissionDecision": "deny", "permissionDecisionReason": text}
        case Tell(text):
            given = {"additionalContext": text}
        case _:
            return ""
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, **given}}, ensure_ascii=False)
