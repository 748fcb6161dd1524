"""`POST /v1/events`: one event of a hook as JSON, and what the hook must say."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, assert_never, cast

from vlk2.app.hear import Manner, hear
from vlk2.app.record import Ready, Terms, prepare
from vlk2.bootstrap import Memory, mint
from vlk2.domain.anchors import failure_name
from vlk2.domain.event import Event, EventKind
from vlk2.domain.observation import Diagnosis, Failing, Fingerprint, Outcome
from vlk2.domain.refusal import Enforce
from vlk2.domain.said import Hold, Silence, Tell
from vlk2.errors import InvalidInput
from vlk2.frozen import replace

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
_MANNER = {"observe": False, "mute": False, "advises": True, "refuses": True, "speaks": True}
_LANGUAGE, _TYPE, _SIGNATURE, _SYMBOL, _MOST = 40, 200, 600, 400, 200


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

    def text(self, path: str) -> str | None:
        return None

    def masked(self, text: str) -> str:
        return text

    def stamps(self) -> str:
        return self.stamped

    def files(self, text: str) -> str:
        """Where nothing was told, nothing equals it."""
        return self.state or f"unknown {mint('u')}"


def heard(memory: Memory, body: object) -> Said:
    """Hears one event in the owner's timeline. InvalidInput names the field that is wrong.

    The body holds the fields of `vlk2.domain.event.Event`; beside them `stamps` (branch, HEAD, lockfiles and
    toolchain), `root` (the package), `files` (the state of the files that the failure names, as a digest) and
    how the hook may speak: `enforce`, `observe`, `mute`, `advises`, `refuses`, `speaks`. A hook that shares facts
    only sends, in place of texts, its own `diagnosis`.
    """
    if not isinstance(body, dict):
        raise InvalidInput("an event must be a JSON object.")
    held = cast("Mapping[str, Any]", body)
    event = event_of(held)
    ready = None
    if event.kind is EventKind.RESULT and not event.interrupted:
        told = held.get("diagnosis")
        ready = prepare(event, memory.mask) if told is None else _diagnosed(event, told)
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
    for name in ("is_error", "interrupted", "explicit"):
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


def _diagnosed(event: Event, told: object) -> Ready:
    """An event whose text stayed where it was met: what it was is taken as told."""
    try:
        outcome, found, failing = _parts(told)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"diagnosis is not of the form that a hook sends ({type(error).__name__})."
        ) from None
    if event.text or event.input or event.place or (found is None) != (outcome is not Outcome.FAILURE):
        raise InvalidInput("a diagnosis comes without texts, and with a fingerprint where it is a failure.")
    return Ready(event, event.command[:200], Diagnosis(outcome, found, failing), clipped=False)


def _parts(told: object) -> tuple[Outcome, Fingerprint | None, frozenset[Failing]]:
    held = cast("Mapping[str, Any]", told)
    found = held["fingerprint"]
    fingerprint = None
    if found is not None:
        fingerprint = Fingerprint(
            language=_short(found["language"], _LANGUAGE),
            type=_short(found["type"], _TYPE),
            signature=_short(found["signature"], _SIGNATURE),
            symbols=_symbols(found["symbols"]),
            headline="",
            specific=found["specific"] is True,
            transient=found["transient"] is True,
        )
        if len(fingerprint.signature.split(":")) < 4:
            raise ValueError("no signature")
        fingerprint = replace(fingerprint, headline=failure_name(fingerprint))
    failing = frozenset(
        Failing(_short(kind, _TYPE), _symbols(symbols), _short(test, _SYMBOL), _short(file, _SYMBOL))
        for kind, symbols, test, file in held["failing"][:_MOST]
    )
    return Outcome(held["outcome"]), fingerprint, failing


def _symbols(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("no list")
    return tuple(_short(one, _SYMBOL) for one in cast("list[Any]", value)[:_MOST])


def _short(value: Any, most: int) -> str:
    if not isinstance(value, str) or len(value) > most or not value.isprintable():
        raise TypeError("no short text")
    return value


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
