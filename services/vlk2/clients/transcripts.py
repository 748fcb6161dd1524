"""Recorded sessions of coding agents: which format a file is, its steps, and where clients keep them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple, Protocol, cast

from vlk2.clients.aider import transcript as aider
from vlk2.clients.claude_code import transcript as claude_code
from vlk2.clients.cline import transcript as cline
from vlk2.clients.codex import transcript as codex
from vlk2.clients.gemini import transcript as gemini
from vlk2.clients.mini_swe_agent import transcript as mini_swe_agent
from vlk2.clients.openhands import transcript as openhands
from vlk2.clients.recorded import Step
from vlk2.clients.source import FolderSource, Source, event_files
from vlk2.clients.steps import transcript as steps
from vlk2.clients.swe_agent import transcript as swe_agent
from vlk2.clients.tau_bench import transcript as tau_bench
from vlk2.errors import InvalidInput

__all__ = ["FORMATS", "Found", "Reading", "Step", "discover", "is_session_folder", "read"]


class _Reader(Protocol):
    EXPECTED: Final[str]

    def claims(self, value: object, /) -> bool: ...

    def steps(self, source: Source, /) -> Iterator[Step]: ...


_READERS: Final[Mapping[str, _Reader]] = {
    "steps": cast("_Reader", steps),
    "claude-code": cast("_Reader", claude_code),
    "codex": cast("_Reader", codex),
    "mini-swe-agent": cast("_Reader", mini_swe_agent),
    "gemini": cast("_Reader", gemini),
    "openhands": cast("_Reader", openhands),
    "swe-agent": cast("_Reader", swe_agent),
    "tau-bench": cast("_Reader", tau_bench),
    "cline": cast("_Reader", cline),
}

FORMATS: Final = (
    "auto",
    "steps",
    "claude-code",
    "codex",
    "gemini",
    "openhands",
    "swe-agent",
    "mini-swe-agent",
    "cline",
    "aider",
    "tau-bench",
)
"""What `--format` takes; `auto` looks at the content, never at the name."""

_LOOK: Final = 400


class Reading:
    """One recorded file, open to be read once: iterate over it for its steps, in their order.

    `format` is the format found (one of FORMATS, never `auto`), `size` the file's bytes, `skipped` the lines
    so far that were no JSON or that the reader did not know. A file may hold several runs: `Step.run` tells
    them apart, and they may lie interleaved. Memory is bounded by the longest line (64 MiB, longer ones are
    skipped and counted) or, where the file is one JSON document, by the document (128 MiB).
    """

    def __init__(self, source: Source, kind: str) -> None:
        self._source = source
        self.path = source.path
        self.format = kind
        self.size = source.size

    @property
    def skipped(self) -> int:
        return self._source.skipped

    def __iter__(self) -> Iterator[Step]:
        if self.format == "aider":
            return aider.steps(self._source)
        return _READERS[self.format].steps(self._source)


def read(path: Path, format: str = "auto", progress: Callable[[int], None] | None = None) -> Reading:  # noqa: A002
    """Open a recorded session; the format is known, and the file fit to be read, when this returns.

    `progress` gets the bytes of the file consumed so far while the steps are iterated.

    Raises:
        InvalidInput: the file cannot be read, is empty or binary, or is no session of that format; the one line
            names the file and what was expected. Iterating may raise it too, for a disk that fails in mid-file.
    """
    if format not in FORMATS:
        raise InvalidInput(f"unknown format {format!r}, expected one of {', '.join(FORMATS)}")
    source = FolderSource(path, progress) if is_session_folder(path) else Source(path, progress)
    if format in ("auto", "aider") and aider.claims_text(source.head().decode("utf-8", "replace")):
        return Reading(source, "aider")
    if format == "aider":
        raise InvalidInput(f"{path}: is no aider session, expected {aider.EXPECTED}")
    names = list(_READERS) if format == "auto" else [format]
    seen = 0
    for _, value in source.values(quiet=True):
        for name in names:
            if _READERS[name].claims(value):
                return Reading(source, name)
        seen += 1
        if seen >= _LOOK:
            break
    if format == "auto":
        known = ", ".join(name for name in FORMATS if name != "auto")
        cut = "; is it truncated?" if not seen and source.head().lstrip()[:1] in (b"{", b"[") else ""
        raise InvalidInput(f"{path}: is no recorded session that is known, expected one of {known}{cut}")
    raise InvalidInput(f"{path}: is no {format} session, expected {_READERS[format].EXPECTED}")


def is_session_folder(path: Path) -> bool:
    """Whether a folder is one session, of the clients that keep an event a file (OpenHands): `read` takes it."""
    return path.is_dir() and bool(event_files(path))


class Found(NamedTuple):
    """A recorded session on this machine: whose, where, its size in bytes, and when it was last written
    (microseconds UTC)."""

    client: str
    path: Path
    size: int
    modified: int


def discover(home: Path, *, cwd: Path | None = None, environ: Mapping[str, str] | None = None) -> list[Found]:
    """The recorded sessions of the clients of this user, newest first: Claude Code, Codex, Gemini CLI, and the
    aider history of `cwd`. Reads folder listings only, never a session, and leaves out what it may not list."""
    variables = os.environ if environ is None else environ
    claude = Path(variables.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    codex_home = Path(variables.get("CODEX_HOME") or home / ".codex")
    found = [
        *_listed("claude-code", claude / "projects", lambda name: name.endswith(".jsonl")),
        *_listed("codex", codex_home / "sessions", _is_rollout),
        *_listed("codex", codex_home / "archived_sessions", _is_rollout),
        *_listed("gemini", home / ".gemini" / "tmp", _is_chat, below="chats"),
    ]
    if cwd is not None:
        found.extend(_listed("aider", cwd, lambda name: name == ".aider.chat.history.md", depth=0))
    return sorted(found, key=lambda one: (-one.modified, str(one.path)))


def _is_rollout(name: str) -> bool:
    return name.startswith("rollout-") and name.endswith((".jsonl", ".jsonl.zst"))


def _is_chat(name: str) -> bool:
    return name.endswith((".json", ".jsonl"))


def _listed(
    client: str, folder: Path, wanted: Callable[[str], bool], *, depth: int = 6, below: str = ""
) -> Iterator[Found]:
    """The wanted files of a folder and, `depth` levels deep, of its folders (links to folders are not followed);
    with `below`, only those under a folder of that name."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        try:
            if entry.is_dir(follow_symlinks=False):
                if depth:
                    inside = "" if entry.name == below else below
                    yield from _listed(client, Path(entry.path), wanted, depth=depth - 1, below=inside)
            elif not below and wanted(entry.name):
                about = entry.stat()
                if about.st_size:
                    yield Found(client, Path(entry.path), about.st_size, about.st_mtime_ns // 1000)
        except OSError:
            continue
