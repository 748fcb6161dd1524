"""Events that a hook could not write into the store: one masked line a file, until the next writer drains them.

A line is a file of its own, made under another name and renamed into place: it is there as a whole or not at
all, and a drainer takes it by renaming it, which only one of several can. The lines hold no digest, since
the key of the store may be out of reach. Standard library only: the hook writes here.
"""

from __future__ import annotations

import json
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vlk2.app.record import Ready
    from vlk2.bootstrap import Memory
    from vlk2.domain.event import Event
    from vlk2.ports import Owner, Redactor

FORM = 1
_WAITING = ".json"
_TAKEN = ".taken"
_ABANDONED = 120.0
"""Seconds after which a line that somebody took and did not finish may be taken again."""
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
    "place",
)


def line_of(event: Event, *, store: str, owner: Owner, stamps: str, root: str) -> str:
    """The line that is kept of an event. Its texts must be masked already."""
    held: dict[str, object] = {name: getattr(event, name) for name in _FIELDS}
    return json.dumps(
        {
            "form": FORM,
            "store": store,
            "owner": [owner.team, owner.agent, owner.project],
            "kind": event.kind.value,
            "event": {
                name: value
                for name, value in held.items()
                if value not in ("", None, False, 0) or name == "exit_code"
            },
            "stamps": stamps,
            "root": root,
        }
    )


def put(directory: str, line: str, at: int) -> None:
    """Adds one line to the spool of a data directory; readable by its owner only. Raises OSError where it
    cannot be written."""
    folder = os.path.join(directory, "spool")
    name = f"{at:020d}-{os.getpid():07d}-{os.urandom(4).hex()}"
    new = os.path.join(folder, f".{name}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        handle = os.open(new, flags, 0o600)
    except FileNotFoundError:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        handle = os.open(new, flags, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(line + "\n")
    os.rename(new, os.path.join(folder, name + _WAITING))


def waiting(directory: str) -> tuple[int, int]:
    """How many lines wait, and their bytes together."""
    count = size = 0
    for path in _lines(directory):
        try:
            size += os.stat(path).st_size
        except OSError:
            continue
        count += 1
    return count, size


def drain(memory: Memory, *, directory: str | None = None, most: int = 1_000) -> int:
    """Hears what waits for this memory's store, the oldest first, as of its own time; answers how many lines.

    Safe beside other drainers. A line that cannot be written now is put back; one that cannot be read, or that
    no rule accepts, is set aside with the ending `.bad`.
    """
    if directory is None:
        from vlk2.userfile import data_directory

        directory = data_directory(os.environ)
    return _each(directory, most, memory.settings.store, lambda held: _replay(memory, held))


def send(
    store: str, environ: Mapping[str, str], *, directory: str, most: int = 1_000, timeout: float = 30.0
) -> int:
    """As `drain`, for the lines of the team server that `store` names: each is sent there, of its own project."""
    return _each(directory, most, store, lambda held: _post(store, environ, timeout, held))


def _each(directory: str, most: int, store: str, hear: Callable[[Mapping[str, object]], None]) -> int:
    done = 0
    for path in _lines(directory)[:most]:
        taken = _take(path)
        if taken is None:
            continue
        heard = _hear(store, hear, taken)
        if heard is None:
            return done
        done += heard
    return done


def _lines(directory: str) -> list[str]:
    """The lines that wait, and those that a drainer left behind, in the order of their time."""
    folder = os.path.join(directory, "spool")
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    found: list[str] = []
    for name in sorted(names):
        path = os.path.join(folder, name)
        if name.endswith(_WAITING):
            found.append(path)
        elif name.endswith(_TAKEN):
            try:
                if time.time() - os.stat(path).st_mtime > _ABANDONED:
                    found.append(path)
            except OSError:
                continue
    return found


def _take(path: str) -> str | None:
    """Takes a line for this process: its new path, None where another was first."""
    stem = path.removesuffix(_WAITING)
    if path.endswith(_TAKEN):
        stem = path.rpartition("~")[0]
    taken = f"{stem}~{os.getpid()}-{os.urandom(3).hex()}{_TAKEN}"
    try:
        os.utime(path)  # before the rename: nobody may find it abandoned
        os.rename(path, taken)
    except OSError:
        return None
    return taken


def _hear(store: str, hear: Callable[[Mapping[str, object]], None], taken: str) -> bool | None:
    """Hears one line; whether it was one of this store's and heard. None where the store cannot be written now: the
    line is put back."""
    from vlk2.errors import ConfigError, NotAllowed, StoreUnavailable, Vlk2Error

    back = taken.rpartition("~")[0] + _WAITING
    try:
        with open(taken, encoding="utf-8") as file:
            held: dict[str, object] = json.load(file)
        if held["store"] != store:
            os.rename(taken, back)
            return False
        hear(held)
    except (StoreUnavailable, NotAllowed, ConfigError):  # a token that is refused may be renewed
        os.rename(taken, back)
        return None
    except FileNotFoundError:
        return False
    except (ValueError, TypeError, KeyError, Vlk2Error):
        os.rename(taken, taken.rpartition("~")[0] + ".bad")
        return False
    os.unlink(taken)
    return True


def _read(held: Mapping[str, object], mask: Redactor) -> tuple[Event, Ready | None, Owner]:
    """The event of a line, its masked form where it is a result, and whose it is."""
    from vlk2.app.record import prepare
    from vlk2.domain.event import Event, EventKind
    from vlk2.ports import Owner

    fields = held["event"]
    owner = held["owner"]
    if held.get("form") != FORM or not isinstance(fields, dict) or not isinstance(owner, list):
        raise ValueError("another form of line")
    known: dict[str, object] = {name: fields[name] for name in _FIELDS if name in fields}
    event = Event(EventKind(str(held["kind"])), **known)  # pyright: ignore[reportArgumentType]
    team, agent, project = (str(part) for part in owner)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    ready = None
    if event.kind is EventKind.RESULT and not event.interrupted:
        ready = prepare(event, mask)
    return event, ready, Owner(team, agent, project)


def _post(store: str, environ: Mapping[str, str], timeout: float, held: Mapping[str, object]) -> None:
    from vlk2.redaction import mask
    from vlk2.remote import connect
    from vlk2.sending import body_of
    from vlk2.userfile import share_of

    event, ready, owner = _read(held, mask)
    share = share_of(environ, owner.project)
    if share == "none":  # it was to be shared when it was met, and is not any more
        return
    body = body_of(
        event,
        ready,
        mask,
        stamps=str(held.get("stamps", "{}")),
        root=str(held.get("root", "")),
        share=share,
    )
    if body is not None:
        connect(store, environ, project=owner.project, timeout=timeout).events([{**body, "mute": True}])


def _replay(memory: Memory, held: Mapping[str, object]) -> None:
    from vlk2.app.hear import Manner, hear
    from vlk2.app.record import Terms
    from vlk2.bootstrap import mint

    event, ready, owner = _read(held, memory.mask)
    hear(
        memory.store,
        owner,
        event,
        ready,
        Terms("hook", memory.settings.loop_threshold, "hook"),
        Manner(mute=True),
        _AsWritten(str(held.get("stamps", "{}")), str(held.get("root", ""))),
        now=memory.clock(),
        mint=mint,
        counter=memory.counter,
    )


class _AsWritten:
    """The surroundings that a line tells of; the files that it names may have changed since."""

    def __init__(self, stamps: str, root: str) -> None:
        self._stamps = stamps
        self.root = root

    def stamps(self) -> str:
        return self._stamps

    def text(self, path: str) -> str | None:
        return None

    def masked(self, text: str) -> str:
        return text

    def files(self, text: str) -> str:
        return f"unknown {os.urandom(8).hex()}"
