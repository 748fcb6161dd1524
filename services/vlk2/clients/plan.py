"""What installing into a client means, as data: the files to edit, the vendor's command, the step by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from vlk2.clients.editing import jsonc
from vlk2.clients.editing.shape import mapping
from vlk2.clients.editing.unreadable import Unreadable
from vlk2.clients.launcher import Launcher
from vlk2.errors import ConfigError

NAME = "vlk2"
SECONDS = 5
"""How long a client waits for the hook at most. The hook itself gives up after 300 ms."""

Read = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Place:
    """Where to install: `home` of the user, `root` of the project, and the launchers that the files name.

    `read` gives a file's text (None where there is none), `version` what a program answers to `--version`
    ("" where it is not on the PATH): so a plan depends on its arguments alone.
    """

    scope: str
    home: str
    root: str
    environ: Mapping[str, str]
    launcher: Launcher
    read: Read
    version: Callable[[str], str]

    @property
    def user(self) -> bool:
        return self.scope == "user"

    def folder(self, variable: str, *default: str) -> str:
        """The folder that a variable names, else the one below the home."""
        return self.environ.get(variable) or str(Path(self.home, *default))


@dataclass(frozen=True, slots=True)
class Edit:
    """One file. `add` is idempotent; `remove` takes the file's text and the one before the first `add` (None
    where there was no file); both raise Unreadable. `alike` tells texts that differ in layout only.
    `snippet` is what a person pastes where we may not write."""

    path: str
    add: Callable[[str], str]
    remove: Callable[[str, str | None], str]
    alike: Callable[[str, str], bool]
    snippet: str


@dataclass(frozen=True, slots=True)
class Vendor:
    """The client's own command for what `edit` would do: `add` and `remove` begin with the program."""

    edit: Edit
    add: tuple[str, ...]
    remove: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """All that one client needs. `manual` are the steps that only a person can take, `program` its command."""

    client: str
    program: str
    folder: str
    steps: tuple[Edit | Vendor, ...]
    manual: tuple[str, ...]

    @property
    def edits(self) -> tuple[Edit, ...]:
        return tuple(step.edit if isinstance(step, Vendor) else step for step in self.steps)


class Installer(Protocol):
    """What `vlk2.clients.NAME.install` offers."""

    def plan(self, place: Place) -> Plan: ...

    def policies(self, place: Place) -> list[str]:
        """What keeps this client from running our hooks, each with what to do; [] where nothing is known to."""
        ...


MODULES = {
    "claude-code": "claude_code",
    "codex": "codex",
    "opencode": "opencode",
    "gemini": "gemini",
    "hermes": "hermes",
    "cursor": "cursor",
}


def installer(client: str) -> Installer:
    """The installer of a client by its name."""
    import importlib

    if client not in MODULES:
        raise ConfigError(f"{client} is no client that Vlk² knows: {', '.join(MODULES)}.")
    module: Any = importlib.import_module(f"vlk2.clients.{MODULES[client]}.install")
    return module


def server_entry(held: object, wanted: Mapping[str, object]) -> dict[str, object]:
    """Our server's entry: what is wanted, and what the user added to it."""
    return {**mapping(held), **wanted}


def json_edit(
    path: str,
    add: Callable[[str], str],
    remove: Callable[[str, Any], str],
    snippet: object,
) -> Edit:
    """An edit of a JSON or JSONC file; `remove` is given the parsed document from before."""

    def removed(text: str, original: str | None) -> str:
        before = None
        if original is not None:
            try:
                before = jsonc.parse(original)
            except Unreadable:
                before = None
        return remove(text, before)

    return Edit(path, add, removed, jsonc.alike, jsonc.indented(snippet))


def whole_file(path: str, content: str) -> Edit:
    """A file that is ours alone. One of another origin under its name is left as it is."""

    def add(text: str) -> str:
        if text.strip() and NAME not in text:
            raise Unreadable("a file of another origin has this name")
        return content

    def remove(text: str, original: str | None) -> str:
        return text if text.strip() and NAME not in text else ""

    return Edit(path, add, remove, lambda one, other: one == other, content)


def parsed(place: Place, path: str) -> Any:
    """The parsed JSON of a file, {} where there is none or it is broken."""
    try:
        return jsonc.parse(place.read(path) or "")
    except Unreadable:
        return {}
