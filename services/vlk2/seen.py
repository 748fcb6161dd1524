"""When each client's hook was last heard, for `vlk2 doctor`: one small file for each client and event."""

from __future__ import annotations

import json
import os


class LastSeen:
    """An event of a client's hook: when (microseconds UTC) it last came, and to which store it went."""

    __slots__ = ("at", "client", "event", "store")

    def __init__(self, client: str, event: str, at: int, store: str) -> None:
        self.client = client
        self.event = event
        self.at = at
        self.store = store


def note(directory: str, client: str, event: str, store: str, at: int) -> None:
    """Remembers that the event came. What cannot be written is not remembered: no hook fails for it."""
    folder = os.path.join(directory, "seen")
    path = os.path.join(folder, f"{client}.{_word(event)}.json")
    new = f"{path}.{os.getpid()}"
    text = json.dumps({"client": client, "event": event, "at": at, "store": store})
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    try:
        try:
            handle = os.open(new, flags, 0o600)
        except FileNotFoundError:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            handle = os.open(new, flags, 0o600)
        try:
            os.write(handle, text.encode())
        finally:
            os.close(handle)
        os.replace(new, path)
    except OSError:
        return


def read(directory: str) -> list[LastSeen]:
    """The last time of every client's every event, the newest first. Files of another form are left out."""
    folder = os.path.join(directory, "seen")
    found: list[LastSeen] = []
    try:
        names = os.listdir(folder)
    except OSError:
        return found
    for name in names:
        if not name.endswith(".json"):
            continue
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                held = json.load(file)
            one = LastSeen(str(held["client"]), str(held["event"]), int(held["at"]), str(held["store"]))
        except (OSError, ValueError, TypeError, KeyError):
            continue
        found.append(one)
    return sorted(found, key=lambda one: -one.at)


def _word(text: str) -> str:
    return "".join(c if c.isalnum() or c in "_-" else "-" for c in text)[:60] or "event"
