"""Codex: a hook's stdin -> events, and an answer of only those keys that its schema allows for the event.

The hook is told the plain output of a shell call and not its exit code. The verdict stands in the rollout, of
which each event reads what is new: the completed item with the call's id, or the recorded output that names
`Process exited with code N`. Where it is not there yet, the call is heard with the next event.
"""

from __future__ import annotations

import json
import os

from vlk2.clients.hooked import Heard, arguments_of, object_at, plain, stopped, text_at
from vlk2.domain.event import Event, EventKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from vlk2.domain.said import Said

SHELL = "Bash"
_SHELL_CALLS = ("exec_command", "shell", "shell_command", "local_shell", "container.exec", "unified_exec")
_AT_MOST = 4 * 1024 * 1024
_UNPLACED = 256 * 1024
_KEPT = 30 * 86_400
_SPEAKING = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart")
_OTHERS = (
    "PermissionRequest",
    "PreCompact",
    "PostCompact",
    "Stop",
    "Interrupt",
    "SubagentStart",
    "StopFailure",
)


def hear(payload: Mapping[str, object], environ: Mapping[str, str]) -> Heard | None:
    """The events of one payload: first calls whose verdict the rollout has now, then the event itself."""
    name, cwd = text_at(payload, "hook_event_name"), text_at(payload, "cwd")
    session, subagent = text_at(payload, "session_id"), text_at(payload, "agent_id")
    if not session:
        return None
    rollout = _Rollout(text_at(payload, "transcript_path"), environ)
    own, events = text_at(payload, "tool_use_id"), list[Event]()
    calls = rollout.read(skip=not own and name in ("SessionStart", "UserPromptSubmit"))
    if name not in ("SessionStart", "UserPromptSubmit"):
        for use_id, call in calls.items():
            if use_id != own and (event := call.event(session, subagent, use_id)):
                events.append(event)
    match name:
        case "PreToolUse":
            events.append(_call(EventKind.CALL, payload, session, subagent))
        case "PostToolUse":
            call = calls.get(own)
            event = _call(EventKind.RESULT, payload, session, subagent, call)
            if event.is_error is None and rollout.readable and event.tool == SHELL:
                rollout.keep(own)  # its verdict is still to come
            else:
                events.append(event)
        case "UserPromptSubmit":
            events.append(Event(EventKind.PROMPT, client="codex", session=session, subagent=subagent))
        case "SessionStart":
            source = text_at(payload, "source")
            kind = EventKind.COMPACTION if source == "compact" else EventKind.SESSION_START
            events.append(Event(kind, client="codex", session=session, subagent=subagent, text=source))
        case "SessionEnd" | "SubagentStop":
            events.append(Event(EventKind.SESSION_END, client="codex", session=session, subagent=subagent))
        case _ if name not in _OTHERS:
            return None
        case _:
            pass
    rollout.save()
    return Heard(name, events, cwd=cwd, root=cwd, speaks=name in _SPEAKING)


def _call(
    kind: EventKind,
    payload: Mapping[str, object],
    session: str,
    subagent: str,
    known: _Call | None = None,
) -> Event:
    tool, given = text_at(payload, "tool_name"), object_at(payload, "tool_input")
    line = text_at(given, "command") if tool == SHELL else None
    text, is_error, exit_code = "", None, None
    if kind is EventKind.RESULT:
        text = plain(payload.get("tool_response"))
        if known is not None:
            is_error, exit_code = known.is_error, known.exit_code
        elif tool != SHELL:
            is_error = _said(tool, object_at(payload, "tool_response"), text)
    return Event(
        kind,
        client="codex",
        session=session,
        subagent=subagent,
        use_id=text_at(payload, "tool_use_id"),
        tool=tool,
        command=line if line is not None else text_at(given, "command") or arguments_of(given, None),
        input=arguments_of(given, line),
        text=text,
        is_error=is_error,
        exit_code=exit_code,
        interrupted=kind is EventKind.RESULT and stopped(text),
    )


def _said(tool: str, response: Mapping[str, object], text: str) -> bool | None:
    """What the result of a tool that is no shell says of itself."""
    if response.get("isError") is True or response.get("is_error") is True:
        return True
    if tool == "apply_patch":
        if text.startswith(("apply_patch verification failed", "Failed to ", "Invalid patch")):
            return True
        return False if "Success." in text[:200] else None
    return False


class _Call:
    """One call as the rollout tells it: what was called, and once it is known, its text and its verdict."""

    __slots__ = ("arguments", "at", "exit_code", "is_error", "name", "text")

    def __init__(self, name: str, arguments: str, at: int) -> None:
        self.name = name
        self.arguments = arguments
        self.at = at
        self.text: str | None = None
        self.exit_code: int | None = None
        self.is_error: bool | None = None

    def event(self, session: str, subagent: str, use_id: str) -> Event | None:
        """The finished shell call as an event, None where it is none or not finished."""
        if self.text is None or self.name not in _SHELL_CALLS:
            return None
        line = _line(self.arguments)
        if not line or (self.exit_code is None and not self.text.strip()):
            return None
        return Event(
            EventKind.RESULT,
            client="codex",
            session=session,
            subagent=subagent,
            use_id=use_id,
            tool=SHELL,
            command=line,
            input=arguments_of({"command": line}, line),
            text=self.text,
            is_error=self.is_error,
            exit_code=self.exit_code,
            interrupted=stopped(self.text),
        )


class _Rollout:
    """The rows of a rollout since the last look. What was read is remembered by its place in the file."""

    def __init__(self, path: str, environ: Mapping[str, str]) -> None:
        self._path = path
        self._environ = environ
        self._state = ""
        self._from = 0
        self._to = 0
        self.readable = False

    def read(self, *, skip: bool) -> dict[str, _Call]:
        """The calls that are told of since the last look, by their ids. `skip` passes them over."""
        calls: dict[str, _Call] = {}
        try:
            size = os.stat(self._path).st_size if self._path else 0
        except OSError:
            size = 0
        if not size:
            return calls
        known = self._known()
        self._from = size - _UNPLACED if known is None else known
        if skip:
            self._from = self._to = size
            return calls
        start = max(0, min(self._from, size), size - _AT_MOST)
        try:
            with open(self._path, "rb") as file:
                file.seek(start)
                data = file.read(size - start)
        except OSError:
            return calls
        self.readable = True
        at = start
        for raw in data.splitlines(keepends=True):
            if not raw.endswith(b"\n"):
                break
            _row(raw, at, calls)
            at += len(raw)
        self._to = min([at, *(call.at for call in calls.values() if call.text is None)])
        return calls

    def keep(self, use_id: str) -> None:
        """Starts the next look no later than where this one did: the call's verdict is still to come."""
        self._to = min(self._to, max(0, self._from))

    def save(self) -> None:
        """Remembers up to where the rollout was read."""
        if not self._path or not self._to:
            return
        path = self._place()
        new = f"{path}.{os.getpid()}"
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            try:
                os.write(handle, str(self._to).encode())
            finally:
                os.close(handle)
            os.replace(new, path)
        except OSError:
            return

    def _known(self) -> int | None:
        try:
            with open(self._place(), encoding="ascii") as file:
                return int(file.read(32))
        except (OSError, ValueError):
            return None

    def _place(self) -> str:
        if not self._state:
            from vlk2.userfile import data_directory

            stem = os.path.basename(self._path)[:120]
            self._state = os.path.join(data_directory(self._environ), "rollouts", f"{stem}.offset")
        return self._state


def _row(raw: bytes, at: int, calls: dict[str, _Call]) -> None:
    """Takes in one row where it tells of a call: its begin, its recorded output, or its completed item."""
    if b"call_id" not in raw and b"CommandExecution" not in raw:
        return
    try:
        row: object = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return
    payload = object_at(row, "payload") if isinstance(row, dict) else {}  # pyright: ignore[reportUnknownArgumentType]
    kind, use_id = text_at(payload, "type"), text_at(payload, "call_id")
    if kind in ("function_call", "custom_tool_call", "local_shell_call") and use_id:
        arguments = text_at(payload, "arguments") or text_at(payload, "input")
        calls.setdefault(use_id, _Call(text_at(payload, "name"), arguments, at))
    elif kind == "exec_command_end" and use_id:
        _end(calls, use_id, at, payload)
    elif kind == "item_completed":
        item = object_at(payload, "item")
        if item.get("type") == "CommandExecution" and text_at(item, "id"):
            _end(calls, text_at(item, "id"), at, item)
    elif kind == "function_call_output" and use_id:
        call = calls.get(use_id)
        if call is None or call.exit_code is not None:
            return
        text, exit_code = _recorded(payload.get("output"))
        call.text, call.exit_code = text, exit_code
        call.is_error = None if exit_code is None else exit_code != 0


def _end(calls: dict[str, _Call], use_id: str, at: int, row: Mapping[str, object]) -> None:
    exit_code = row.get("exit_code")
    if not isinstance(exit_code, int) or isinstance(exit_code, bool):
        return
    call = calls.get(use_id)
    if call is None:
        command = row.get("command")
        words = [word for word in command if isinstance(word, str)] if isinstance(command, list) else []  # pyright: ignore[reportUnknownVariableType]
        call = calls[use_id] = _Call("exec_command", json.dumps({"command": words}), at)
    call.text = text_at(row, "aggregated_output")
    call.exit_code, call.is_error = exit_code, exit_code != 0


def _recorded(output: object) -> tuple[str, int | None]:
    """Text and exit code of a recorded output: JSON with `metadata`, or a head line that names the code."""
    if isinstance(output, str) and output.startswith("{"):
        try:
            held: object = json.loads(output)
        except ValueError:
            held = None
        if isinstance(held, dict):
            output = held  # pyright: ignore[reportUnknownVariableType]
    if isinstance(output, dict):
        given: dict[str, object] = output  # pyright: ignore[reportUnknownVariableType]
        code = object_at(given, "metadata").get("exit_code", given.get("exit_code"))
        return plain(given.get("output", given.get("content", ""))), code if isinstance(code, int) else None
    text = plain(output)
    head, marker, body = text.partition("\nOutput:\n")
    if not marker:
        head, body = text[:300], text
    for line in head[:600].splitlines():
        for lead in ("Process exited with code ", "Exit code: "):
            word = line.removeprefix(lead)
            if word != line and word.lstrip("-").isdigit():
                return body, int(word)
    return body, None


def _line(arguments: str) -> str:
    """The shell line of a call's arguments: `cmd`, or `command` as a text or as `[shell, -lc, line]`."""
    try:
        held: object = json.loads(arguments)
    except ValueError:
        return ""
    if not isinstance(held, dict):
        return ""
    given: dict[str, object] = held  # pyright: ignore[reportUnknownVariableType]
    for key in ("cmd", "command"):
        value = given.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            words = [word for word in value if isinstance(word, str)]  # pyright: ignore[reportUnknownVariableType]
            return words[-1] if len(words) >= 3 and words[-2] in ("-c", "-lc") else " ".join(words)
    return ""


def answer(payload: Mapping[str, object], said: Said | None) -> str:
    """What goes to stdout: documented keys only, since Codex takes any other for a failure of the hook."""
    from vlk2.domain.said import Hold, Tell

    name = text_at(payload, "hook_event_name")
    match said:
        case Hold(text) if name == "PreToolUse":
            given = {"permissionDecision": "deny", "permissionDecisionReason": text}
        case Tell(text) if name in _SPEAKING:
            given = {"additionalContext": text}
        case _:
            return "{}" if name in ("Stop", "SubagentStop") else ""
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, **given}}, ensure_ascii=False)
