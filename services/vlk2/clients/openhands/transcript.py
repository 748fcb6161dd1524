"""OpenHands: `output.jsonl` rows with a `history` of events (or of pairs), event lists and single events of the
file store, the events of the agent SDK (`kind`: ActionEvent …), and rows of chat messages (SWE-Gym)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from vlk2.clients.chat import conversation, has_calls
from vlk2.clients.loose import (
    flag,
    integer,
    is_array,
    is_object,
    mapping,
    microseconds,
    parsed,
    plain,
    sequence,
    spoken,
    string,
)
from vlk2.clients.recorded import Call, Run, Step, Tape
from vlk2.clients.source import Source
from vlk2.domain.event import EventKind

EXPECTED: Final = "events with `id`, `source` and `action` or `observation`, or rows with `history`"

_TOOLS: Final = {
    "run": "execute_bash",
    "run_ipython": "execute_ipython_cell",
    "read": "str_replace_editor",
    "edit": "str_replace_editor",
    "write": "str_replace_editor",
    "browse": "browser",
    "browse_interactive": "browser",
    "call_tool_mcp": "mcp",
}
_SDK_KINDS: Final = frozenset(
    (
        "ActionEvent",
        "ObservationEvent",
        "MessageEvent",
        "SystemPromptEvent",
        "AgentErrorEvent",
        "Condensation",
    )
)
_FRAMES: Final = frozenset(("recall", "agent_state_changed", "null", "message", "condensation", "system"))


def claims(value: object) -> bool:
    """Whether this JSON value is an OpenHands event, a list of events, or a row with a history."""
    if is_array(value):
        items = sequence(value)
        first = items[0] if items else None
        return claims(first) if is_object(first) else _pair(first)
    row = mapping(value)
    history = row.get("history")
    if is_array(history):
        return "instance_id" in row and (not history or claims(sequence(history)))
    if "instance_id" in row and has_calls(row.get("messages")) and "trajectory_format" not in row:
        return True
    if string(row.get("kind")) in _SDK_KINDS and "source" in row:
        return True
    return (
        ("action" in row and is_object(row.get("args"))) or ("observation" in row and "extras" in row)
    ) and ("source" in row or "id" in row or "cause" in row)


def steps(source: Source) -> Iterator[Step]:
    """One run a row; a list of events, or lines of single events, is one run."""
    tape = Tape("openhands", each=True)
    loose: _History | None = None
    for _, value in source.values():
        row = mapping(value)
        session = string(row.get("instance_id")) or source.stem
        if is_array(value) or is_array(row.get("history")):
            events = sequence(value) if is_array(value) else sequence(row.get("history"))
            run = tape.row(session, worktree=_folder(events))
            history = _History(run)
            for event in events:
                yield from history.take(event)
            yield from history.close()
        elif "messages" in row:
            run = tape.row(session)
            yield run.frame(EventKind.SESSION_START)
            yield from conversation(run, row.get("messages"))
            yield run.frame(EventKind.SESSION_END)
        elif claims(row):
            loose = loose or _History(tape.row(source.stem))
            yield from loose.take(row)
        else:
            source.skipped += 1


class _History:
    """Events in their order: an observation answers the action that its `cause` names."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._actions: dict[str, dict[str, object]] = {}
        self._begun = False
        self._at = 0

    def take(self, event: object) -> Iterator[Step]:
        if _pair(event):
            action, observation = map(mapping, sequence(event))
            yield from self._action(action)
            yield from self._observation(observation, action)
            return
        row = mapping(event)
        if "kind" in row:
            yield from self._sdk(string(row.get("kind")), row)
        elif "observation" in row:
            action = self._actions.pop(str(row.get("cause")), None)
            if action is not None:
                yield from self._observation(row, action)
        elif "action" in row:
            yield from self._action(row)

    def close(self) -> Iterator[Step]:
        if self._begun:
            yield self._run.frame(EventKind.SESSION_END, self._at)

    def _begin(self, at: int) -> Iterator[Step]:
        if not self._begun:
            self._begun = True
            yield self._run.frame(EventKind.SESSION_START, at)

    def _sdk(self, kind: str, row: dict[str, object]) -> Iterator[Step]:
        at = self._clock(row)
        yield from self._begin(at)
        match kind:
            case "ActionEvent":
                self._actions[string(row.get("tool_call_id")) or str(row.get("id"))] = row
            case "MessageEvent" if row.get("source") == "user":
                yield self._run.prompt(plain(mapping(row.get("llm_message")).get("content")), at)
            case "Condensation":
                yield self._run.frame(EventKind.COMPACTION, at)
            case "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation":
                key = string(row.get("tool_call_id")) or str(row.get("action_id"))
                action = self._actions.pop(key, None)
                if action is not None and row.get("tool_name") not in ("finish",):
                    yield from self._sdk_result(kind, row, action, at)
            case _:
                pass

    def _sdk_result(
        self, kind: str, row: dict[str, object], action: dict[str, object], at: int
    ) -> Iterator[Step]:
        seen = mapping(row.get("observation"))
        code = integer(seen.get("exit_code", mapping(seen.get("metadata")).get("exit_code")))
        code = None if code == -1 else code
        given = mapping(action.get("tool_call")).get("arguments")
        arguments = mapping(parsed(given)) if isinstance(given, str) else mapping(given)
        if not arguments:
            arguments = {
                k: v for k, v in mapping(action.get("action")).items() if k != "kind" and v is not None
            }
        call = Call(
            string(action.get("tool_name")),
            arguments,
            string(action.get("tool_call_id")),
            string(action.get("llm_response_id")),
            microseconds(action.get("timestamp")),
        )
        yield from self._run.result(
            call,
            plain(seen.get("content")) or string(row.get("error")) or string(row.get("rejection_reason")),
            at=at,
            is_error=True
            if kind == "AgentErrorEvent"
            else (flag(seen.get("is_error")) if code is None else code != 0),
            exit_code=code,
            interrupted=kind == "UserRejectObservation",
        )

    def _action(self, row: dict[str, object]) -> Iterator[Step]:
        at = self._clock(row)
        yield from self._begin(at)
        if row.get("action") == "message" and row.get("source") == "user":
            yield self._run.prompt(string(mapping(row.get("args")).get("content")), at)
        elif row.get("source") != "user" and string(row.get("action")) not in _FRAMES:
            self._actions[str(row.get("id"))] = row
        elif row.get("action") == "condensation":
            yield self._run.frame(EventKind.COMPACTION, at)

    def _observation(self, row: dict[str, object], action: dict[str, object]) -> Iterator[Step]:
        at = self._clock(row)
        kind = string(row.get("observation"))
        if kind in _FRAMES or not action.get("action"):
            return
        call = self._call(action)
        extras = mapping(row.get("extras"))
        code = integer(mapping(extras.get("metadata")).get("exit_code", extras.get("exit_code")))
        code = None if code == -1 else code
        yield from self._run.result(
            call,
            plain(row.get("content")) or string(row.get("message")),
            at=at,
            is_error=None if code is None else code != 0,
            exit_code=code,
        )

    def _call(self, action: dict[str, object]) -> Call:
        made = mapping(action.get("tool_call_metadata"))
        response = mapping(made.get("model_response"))
        batch = string(response.get("id"))
        self._run.spend(batch, integer(mapping(response.get("usage")).get("total_tokens")))
        kind = string(action.get("action"))
        arguments = {key: value for key, value in mapping(action.get("args")).items() if _told(key, value)}
        line = string(arguments.get("command")) if kind == "run" else ""
        return Call(
            string(made.get("function_name")) or _TOOLS.get(kind, kind),
            arguments,
            string(made.get("tool_call_id")),
            batch,
            microseconds(action.get("timestamp")),
            command=line or spoken({k: v for k, v in arguments.items() if v is not False}),
        )

    def _clock(self, row: dict[str, object]) -> int:
        self._at = microseconds(row.get("timestamp")) or self._at
        return self._at


def _folder(events: list[object]) -> str:
    """The first working folder that a result names."""
    for event in events:
        metadata = mapping(mapping(mapping(event).get("extras")).get("metadata"))
        if metadata.get("working_dir"):
            return string(metadata.get("working_dir"))
    return ""


def _told(key: str, value: object) -> bool:
    """Whether an argument is the model's own: the record adds its thought and the defaults of the event class."""
    if key in ("thought", "impl_source", "security_risk", "confirmation_state"):
        return False
    if key in ("start", "end"):
        return value not in (0, 1, -1)
    return value is not None and value != ""


def _pair(value: object) -> bool:
    """Whether this is an [action, observation] pair of the oldest rows."""
    items = sequence(value)
    return len(items) == 2 and "action" in mapping(items[0]) and "observation" in mapping(items[1])
