"""One event on its way to a team server: what of it leaves this machine, and what comes back.

Standard library and the light parts of Vlk² only: the hook sends from here.
"""

from __future__ import annotations

import hashlib
import json
import os

from vlk2.domain.observation import Outcome
from vlk2.domain.said import Hold, Said, Silence, Tell
from vlk2.remote import connect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vlk2.app.hear import Manner
    from vlk2.app.record import Ready
    from vlk2.around import Around
    from vlk2.domain.event import Event
    from vlk2.ports import Owner

LONGEST_INPUT = 64 * 1024
MOST_NOTES = 200
_FIELDS = (
    "client",
    "session",
    "subagent",
    "worktree",
    "use_id",
    "batch",
    "at",
    "tool",
    "command",
    "input",
    "text",
    "is_error",
    "exit_code",
    "interrupted",
    "explicit",
    "place",
)


def body_of(
    event: Event, ready: Ready | None, mask: Callable[[str], str], *, stamps: str, root: str, share: str
) -> dict[str, object] | None:
    """The body for `/v1/events`, every text masked. With `share` "facts" no text but the names of what failed:
    paths and commands go as digests, and what neither failed nor succeeded does not go at all (None)."""
    if share == "facts":
        return _facts(event, ready, root)
    fields: dict[str, object] = {name: getattr(event, name) for name in _FIELDS}
    fields["command"] = ready.command if ready else mask(event.command)
    fields["input"] = mask(event.input[:LONGEST_INPUT])
    fields["text"] = ready.event.text if ready else event.text[:40]
    fields["place"] = ready.event.place if ready else ""
    return _told({"kind": event.kind.value, **fields, "stamps": stamps, "root": root})


def _facts(event: Event, ready: Ready | None, root: str) -> dict[str, object] | None:
    held: dict[str, object] = {
        "kind": event.kind.value,
        "client": event.client,
        "session": event.session,
        "subagent": event.subagent,
        "worktree": _hidden(event.worktree),
        "use_id": event.use_id,
        "batch": event.batch,
        "at": event.at,
        "refuses": False,
    }
    if ready is None:
        return _told(held) if event.kind.value not in ("call", "result") else None
    from vlk2.domain.command import parse

    command = parse(event.tool, event.command, event.input)
    outcome, found = ready.diagnosis.outcome, ready.diagnosis.fingerprint
    if outcome is Outcome.SUCCESS and not command.own_status:
        outcome = Outcome.UNKNOWN
    if outcome is Outcome.UNKNOWN:
        return None
    held["tool"] = event.tool
    held["command"] = _hidden("\x1f".join((command.key, root))) if command.key else ""
    held["diagnosis"] = {
        "outcome": outcome.value,
        "fingerprint": None
        if found is None
        else {
            "language": found.language,
            "type": found.type,
            "signature": found.signature,
            "symbols": list(found.symbols),
            "specific": found.specific,
            "transient": found.transient,
        },
        "failing": sorted(
            [one.type, list(one.symbols), _hidden(one.test), _hidden(one.file)]
            for one in ready.diagnosis.failing
        ),
    }
    return _told(held)


def _hidden(text: str) -> str:
    """A name of its own for a text that stays here: the same text has the same name."""
    return "hidden-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16] if text else ""


def _told(fields: Mapping[str, object]) -> dict[str, object]:
    """The fields that say something."""
    return {
        name: value for name, value in fields.items() if value not in ("", None, False, 0) or name in _KEPT
    }


_KEPT = ("exit_code", "is_error", "refuses")


def tell(
    store: str,
    owner: Owner,
    events: Sequence[tuple[Event, Ready | None]],
    around: Around,
    manner: Manner,
    *,
    environ: Mapping[str, str],
    share: str,
    directory: str,
    timeout: float,
) -> Said:
    """Hands a hook's events to the server within `timeout` seconds; what is to be said about the last that has
    something said about it. `directory` is the data directory. Errors as `vlk2.remote.Server` raises them."""
    from vlk2.redaction import mask

    notes = Notes(directory)
    bodies: list[dict[str, object]] = []
    for event, ready in events:
        body = body_of(event, ready, mask, stamps=around.stamps(), root=around.root, share=share)
        if body is None:
            continue
        if state := notes.state(event, ready, around):
            body["files"] = state
        bodies.append(
            {
                "enforce": manner.enforce.value,
                "observe": manner.observe,
                "mute": manner.mute,
                "advises": manner.advises,
                "refuses": manner.refuses,
                "speaks": manner.speaks,
                **body,
            }
        )
    if not bodies:
        return Silence()
    server = connect(store, environ, project=owner.project, timeout=timeout)
    said: Said = Silence()
    for say, text in server.events(bodies):
        if say:
            said = Hold(text) if say == "hold" else Tell(text)
    return said


class Notes:
    """Which files the last failure of a call named: a refusal needs them unchanged, and only this machine can
    see them. One small file a call in the data directory, the newest `MOST_NOTES`."""

    def __init__(self, directory: str) -> None:
        self._folder = os.path.join(directory, "calls")

    def state(self, event: Event, ready: Ready | None, around: Around) -> str:
        """A digest of the state of the files that the failure names, or named when the call failed last; "" where
        that is unknown. A failure's names are noted."""
        from vlk2.domain.event import EventKind
        from vlk2.domain.naming import named_files

        if event.kind is EventKind.RESULT and ready and ready.diagnosis.outcome is Outcome.FAILURE:
            names = list(named_files(ready.event.text))
            self._note(event, names)
            return _digest(around.state_of(names))
        if event.kind is EventKind.CALL:
            noted = self._noted(event)
            return "" if noted is None else _digest(around.state_of(noted))
        return ""

    def _path(self, event: Event) -> str:
        what = "\x1f".join((event.tool, event.input or event.command, event.worktree))
        return os.path.join(self._folder, hashlib.sha256(what.encode("utf-8", "replace")).hexdigest()[:32])

    def _note(self, event: Event, names: Sequence[str]) -> None:
        path = self._path(event)
        new = f"{path}.{os.getpid()}"
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                json.dump(names, file)
            os.replace(new, path)
            held = os.listdir(self._folder)
            if len(held) > MOST_NOTES:
                paths = [os.path.join(self._folder, name) for name in held]
                for old in sorted(paths, key=_age)[: len(paths) - MOST_NOTES]:
                    os.unlink(old)
        except OSError:
            return  # without a note the call is not refused

    def _noted(self, event: Event) -> list[str] | None:
        try:
            with open(self._path(event), encoding="utf-8") as file:
                found: object = json.load(file)
        except (OSError, ValueError):
            return None
        return [str(name) for name in found] if isinstance(found, list) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _age(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _digest(state: str) -> str:
    return hashlib.sha256(state.encode("utf-8", "surrogatepass")).hexdigest()[:32]
