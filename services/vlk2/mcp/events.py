"""`POST /v1/events`: one event of a hook as JSON, and what the hook must say."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, assert_never, cast

from vlk2.app.hear import Hold, Manner, Silence, Tell, hear
from vlk2.app.record import Terms, prepare
from vlk2.bootstrap import Memory, mint
from vlk2.domain.event import Event, EventKind
from vlk2.domain.refusal import Enforce
from vlk2.errors import InvalidInput

MOST_EVENTS = 200
_TEXTS = {
    "client": 40,
    "session": 200,
    "subagent": 200,
    "worktree": 1_000,
    "use_id": 400,
    "batch": 200,
    "tool": 200,
    "command": 100_000,
    "input": 4_000_000,
    "text": 4_000_000,
    "place": 2_000,
}
_MANNER = {"observe": False, "mute": False, "advises": True, "refuses": True}


@dataclass(frozen=True, slots=True)
class Said:
    """The event's kind and what the hook must say: `tell` (put the text in front of the agent), `hold` (do not
    run the call), or "" for nothing."""

    kind: str
    say: str
    text: str


@dataclass(frozen=True, slots=True)
class _AsTold:
    """The surroundings as the hook's machine told them; `state` is a digest of the files that the failure names."""

    root: str
    stamped: str
    state: str

    def stamps(self) -> str:
        return self.stamped

    def files(self, text: str) -> str:
        """Where nothing was told, nothing equals it."""
        return self.state or f"unknown {mint('u')}"


def heard(memory: Memory, body: object) -> Said:
    """Hears one event in the owner's timeline. InvalidInput names the field that is wrong.

    The body holds the fields of `vlk2.domain.event.Event`; beside them `stamps` (branch, HEAD, lockfiles and
    toolchain), `root` (the package), `files` (the state of the files that the failure names, as a digest) and
    how the hook may speak: `enforce`, `observe`, `mute`, `advises`, `refuses`.
    """
    if not isinstance(body, dict):
        raise InvalidInput("an event must be a JSON object.")
    held = cast("Mapping[str, Any]", body)
    event = event_of(held)
    ready = prepare(event, memory.mask) if event.kind is EventKind.RESULT and not event.interrupted else None
    around = _AsTold(_text(held, "root", 1_000), _stamps(held), _text(held, "files", 200))
    answer = hear(
        memory.store,
        memory.owner,
        event,
        ready,
        Terms("hook", memory.settings.loop_threshold, "hook"),
        _manner(held),
        around,
        now=memory.clock(),
        mint=mint,
        counter=memory.counter,
    )
    match answer:
        case Silence():
            return Said(event.kind.value, "", "")
        case Tell(text):
            return Said(event.kind.value, "tell", text)
        case Hold(text):
            return Said(event.kind.value, "hold", text)
        case _:
            assert_never(answer)


def event_of(held: Mapping[str, Any]) -> Event:
    """The event of a JSON object. An event without a `use_id` gets one of its own content, so that the same
    event sent twice counts once."""
    try:
        kind = EventKind(held.get("kind", ""))
    except ValueError:
        raise InvalidInput(f"kind must be one of {', '.join(k.value for k in EventKind)}.") from None
    fields: dict[str, Any] = {name: _text(held, name, most) for name, most in _TEXTS.items()}
    for name in ("is_error", "interrupted"):
        value = held.get(name)
        if value is not None and not isinstance(value, bool):
            raise InvalidInput(f"{name} must be true or false.")
        fields[name] = value if name == "is_error" else bool(value)
    for name in ("at", "exit_code"):
        value = held.get(name)
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, int) or abs(value) > 1 << 53
        ):
            raise InvalidInput(f"{name} must be a whole number.")
        fields[name] = value if name == "exit_code" else (value or 0)
    if kind is EventKind.RESULT and not fields["use_id"]:
        whole = json.dumps(held, sort_keys=True, ensure_ascii=True)
        fields["use_id"] = "event " + hashlib.sha256(whole.encode()).hexdigest()[:32]
    return Event(kind, **fields)


def _manner(held: Mapping[str, Any]) -> Manner:
    told: dict[str, bool] = {}
    for name, usual in _MANNER.items():
        value = held.get(name, usual)
        if not isinstance(value, bool):
            raise InvalidInput(f"{name} must be true or false.")
        told[name] = value
    try:
        enforce = Enforce(held.get("enforce", Enforce.REFUSE.value))
    except ValueError:
        raise InvalidInput("enforce must be refuse, advise or off.") from None
    return Manner(enforce=enforce, **told)


def _stamps(held: Mapping[str, Any]) -> str:
    text = _text(held, "stamps", 8_000) or "{}"
    try:
        found: object = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InvalidInput("stamps must be a text that holds a JSON object.")
    return text


def _text(held: Mapping[str, Any], name: str, most: int) -> str:
    value = held.get(name, "")
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a text.")
    if len(value) > most:
        raise InvalidInput(f"{name} is longer than {most} characters.")
    return value
