"""One recorded file as JSON values or lines, in bounded memory, with bytes consumed and lines skipped counted."""

from __future__ import annotations

import importlib
import io
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, cast

from vlk2.errors import InvalidInput

MAX_LINE: Final = 64 * 1024 * 1024
"""A longer line is skipped and counted, never held."""

MAX_DOCUMENT: Final = 128 * 1024 * 1024
"""A file that is one JSON document is read whole, up to so many bytes."""

_STEP: Final = 256 * 1024
_PROBE: Final = 64 * 1024
_EVENT_FILE: Final = re.compile(r"(?:event-)?(\d+)(?:-[\w-]+)?\.json")
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_ZSTD_MODULES: Final = ("compression.zstd", "backports.zstd")


class Source:
    """A recorded file. `size` is its size in bytes (compressed, where it is), `skipped` the lines so far that
    are no JSON object or array, or that a reader did not know.

    `progress` is called with the bytes of the file consumed so far, about every 256 KiB and at the end.
    Every error is an `InvalidInput` that names the file.
    """

    def __init__(self, path: Path, progress: Callable[[int], None] | None = None) -> None:
        self.path = path
        self.skipped = 0
        self._progress = progress
        self._document: object = None
        try:
            if path.is_dir():
                raise InvalidInput(f"{path}: is a folder, expected a recorded session")
            if path.exists() and not path.is_file():
                raise InvalidInput(f"{path}: is no regular file, expected a recorded session")
            self.size = path.stat().st_size
            with path.open("rb") as file:
                self._packed = file.read(4) == _ZSTD_MAGIC
        except OSError as error:
            raise InvalidInput(f"{path}: cannot be read ({error.strerror or error})") from error
        head = self.head()
        if not head.strip():
            raise InvalidInput(f"{path}: is empty, expected a recorded session")
        if b"\x00" in head:
            raise InvalidInput(f"{path}: is binary or not UTF-8, expected a recorded session as UTF-8 text")
        self._whole = head.lstrip()[:1] in (b"{", b"[") and not self._has_rows_within(8)

    @property
    def stem(self) -> str:
        """The file's name without its endings."""
        return self.path.name.split(".", 1)[0] or self.path.name

    def head(self) -> bytes:
        """The first 64 KiB, unpacked."""
        return self._read(_PROBE).removeprefix(b"\xef\xbb\xbf")

    def values(self, *, quiet: bool = False) -> Iterator[tuple[int, object]]:
        """Every JSON object or array with its line number from 0; the whole file as line 0 where it is one
        document. `quiet` reads without counting or reporting, for a look ahead."""
        if self._whole and self._document is None:
            self._document = self._load()
        if self._whole:
            document = self._document
            if not quiet:
                self._document = None
            yield 0, document
            if not quiet:
                self._report(self.size)
            return
        for number, line in self._lines(quiet=quiet):
            if not line.strip():
                continue
            value = _row(line)
            if value is not None:
                yield number, value
            elif not quiet:
                self.skipped += 1

    def texts(self) -> Iterator[str]:
        """Every line as text without its end; bytes that are no UTF-8 become U+FFFD."""
        for _, line in self._lines(quiet=False):
            yield line.decode("utf-8", "replace").rstrip("\r\n")

    def mentions(self, needle: bytes) -> bool:
        """Whether a line holds `needle`."""
        return any(needle in line for _, line in self._lines(quiet=True))

    def _has_rows_within(self, count: int) -> bool:
        """Whether one of the first lines is a JSON value of its own: a document is written on one line or begins
        with lines that are none."""
        for number, line in self._lines(quiet=True):
            if line.strip() and _row(line) not in (None, {}, []):
                return True
            if number >= count:
                return False
        return False

    def _load(self) -> object:
        data = self._read(MAX_DOCUMENT + 1)
        if len(data) > MAX_DOCUMENT:
            raise InvalidInput(
                f"{self.path}: is one JSON document of more than {MAX_DOCUMENT >> 20} MiB, expected a smaller one"
            )
        text = data.decode("utf-8-sig", "replace")
        del data
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            if self._has_rows_within(400):
                self._whole = False
                return None
            raise InvalidInput(
                f"{self.path}: is no whole JSON document ({error}), expected a recorded session; is it truncated?"
            ) from error

    def _read(self, limit: int) -> bytes:
        stream, raw = self._open()
        with raw, stream:
            return _guarded(self.path, partial(stream.read, limit))

    def _lines(self, *, quiet: bool) -> Iterator[tuple[int, bytes]]:
        stream, raw = self._open()
        with raw, stream:
            read = partial(stream.readline, MAX_LINE)
            told = number = 0
            while line := _guarded(self.path, read):
                if len(line) == MAX_LINE and not line.endswith(b"\n"):
                    while rest := _guarded(self.path, read):
                        if rest.endswith(b"\n"):
                            break
                    if not quiet:
                        self.skipped += 1
                else:
                    yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 0 else line
                number += 1
                if not quiet and (position := raw.tell()) - told >= _STEP:
                    told = position
                    self._report(min(position, self.size))
        if not quiet:
            self._report(self.size)

    def _report(self, consumed: int) -> None:
        if self._progress is not None:
            self._progress(consumed)

    def _open(self) -> tuple[BinaryIO, BinaryIO]:
        """The stream of unpacked bytes, and the one whose position says how far the file is consumed."""
        try:
            raw = self.path.open("rb")
        except OSError as error:
            raise InvalidInput(f"{self.path}: cannot be read ({error.strerror or error})") from error
        return (_unpacked(self.path, raw), raw) if self._packed else (raw, raw)


class FolderSource(Source):
    """A folder that keeps one event a file, read in the order of the numbers in their names; `size` is the sum
    of their bytes. A file that cannot be read is skipped and counted."""

    def __init__(self, path: Path, progress: Callable[[int], None] | None = None) -> None:
        self.path = path
        self.skipped = 0
        self._progress = progress
        self._files = event_files(path)
        self.size = sum(size for _, size in self._files)

    @property
    def stem(self) -> str:
        return self.path.parent.name if self.path.name == "events" else self.path.name

    def head(self) -> bytes:
        return b""

    def values(self, *, quiet: bool = False) -> Iterator[tuple[int, object]]:
        consumed = 0
        for number, (path, size) in enumerate(self._files):
            try:
                for _, value in Source(path).values():
                    yield number, value
            except InvalidInput:
                self.skipped += not quiet
            consumed += size
            if not quiet:
                self._report(consumed)


def event_files(folder: Path) -> list[tuple[Path, int]]:
    """The files of a folder that keeps one event a file (`12.json`, `event-00012-….json`, there or in its folder
    `events`), with their bytes; empty where it keeps other files too."""
    inner = folder / "events"
    try:
        entries = [
            entry
            for entry in (inner if inner.is_dir() else folder).iterdir()
            if not entry.name.startswith(".")
        ]
        numbered = [
            (int(found.group(1)), entry) for entry in entries if (found := _EVENT_FILE.fullmatch(entry.name))
        ]
        if len(numbered) != len(entries):
            return []
        return [(entry, entry.stat().st_size) for _, entry in sorted(numbered)]
    except OSError:
        return []


def _row(line: bytes) -> object:
    """The JSON object or array of a line, None where it is neither."""
    try:
        value = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return cast("object", value) if isinstance(value, (dict, list)) else None


def _unpacked(path: Path, raw: BinaryIO) -> BinaryIO:
    for name in _ZSTD_MODULES:
        try:
            return io.BufferedReader(importlib.import_module(name).ZstdFile(raw))
        except ImportError:
            continue
    try:
        reader = importlib.import_module("zstandard").ZstdDecompressor()
    except ImportError as error:
        raw.close()
        raise InvalidInput(
            f"{path}: is compressed with zstd, which needs Python 3.14 or `pip install backports.zstd`"
        ) from error
    return io.BufferedReader(reader.stream_reader(raw, read_across_frames=True))


def _guarded(path: Path, read: Callable[[], bytes]) -> bytes:
    """Read, with the errors of a failing disk or a broken archive told as the file's."""
    try:
        return read()
    except EOFError:
        return b""
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror or error})") from error
    except Exception as error:
        if "zstd" in type(error).__name__.lower():
            raise InvalidInput(f"{path}: is a broken zstd archive ({error})") from error
        raise
