"""TOML edited in place: our own tables are appended and cut, and a parser confirms that nothing else changed."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from vlk2.clients.editing.unreadable import Unreadable

_HEADER = re.compile(r"^[ \t]*(\[\[?)[ \t]*([^\[\]#\n]+?)[ \t]*\]\]?[ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE)
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class Section(NamedTuple):
    """A table's header and all lines up to the next header: `name` as written, `body` with its header."""

    name: str
    body: str
    start: int
    end: int


def parse(text: str) -> dict[str, Any]:
    """The document. Unreadable says what is wrong, and where."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Unreadable(f"no valid TOML: {error}") from None


def sections(text: str) -> list[Section]:
    """The tables of a text in order. A line inside a multi-line string may look like a header: whoever cuts
    confirms the result with a parser."""
    found = list(_HEADER.finditer(text))
    starts = [match.start() for match in found]
    ends = [*starts[1:], len(text)]
    return [
        Section(match.group(2), text[start:end], start, end)
        for match, start, end in zip(found, starts, ends, strict=False)
    ]


def append(text: str, block: str, expected: Mapping[str, Any]) -> str:
    """The text with `block` (whole tables) at its end. Unreadable where the document would not then be
    `expected`."""
    line = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text.strip("\ufeff") else line if text.endswith("\n") else line * 2
    result = text + gap + block.replace("\n", line)
    if parse(result) != expected:
        raise Unreadable("our tables cannot stand at its end")
    return result


def cut(text: str, ours: Callable[[Sequence[Section], int], bool], expected: Mapping[str, Any]) -> str:
    """The text without the sections that `ours` picks. Unreadable where more or less would be gone."""
    held = sections(text)
    gone = [section for index, section in enumerate(held) if ours(held, index)]
    result = text
    for section in reversed(gone):
        head, tail = result[: section.start], result[section.end :]
        remarks = _next_remarks(section.body)
        if not tail and not remarks:
            head = _without_blank_line(head)
        result = head + remarks + tail
    if parse(result) != expected:
        raise Unreadable("our tables cannot be told from the others")
    return result


def table(name: Sequence[str], values: Mapping[str, object]) -> str:
    """One table as text: scalars and lists of texts in line, texts of a mapping as a table of its own."""
    lines = [f"[{'.'.join(_key(part) for part in name)}]"]
    tables: list[str] = []
    for key, value in values.items():
        if isinstance(value, Mapping):
            tables.append(table([*name, key], value))  # pyright: ignore[reportUnknownArgumentType]
        else:
            lines.append(f"{_key(key)} = {literal(value)}")
    return "\n".join([*lines, *("\n" + inner.rstrip("\n") for inner in tables)]) + "\n"


def literal(value: object) -> str:
    """A scalar or a list of texts as TOML. JSON's strings are TOML's basic strings."""
    return json.dumps(value, ensure_ascii=False)


def alike(one: str, other: str) -> bool:
    """Whether two texts differ in blank lines and ends of lines only."""
    return _lines(one) == _lines(other)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.removeprefix("\ufeff").splitlines() if line.strip()]


def _key(part: str) -> str:
    return part if _BARE.fullmatch(part) else json.dumps(part, ensure_ascii=False)


def _next_remarks(body: str) -> str:
    """The comments at a section's end that a blank line sets apart: they speak of what comes next."""
    lines = body.splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#"))
    tail = lines[last + 1 :]
    for index, line in enumerate(tail):
        if not line.strip() and any(rest.strip() for rest in tail[index:]):
            return "".join(tail[index + 1 :])
    return ""


def _without_blank_line(text: str) -> str:
    """The text without the blank line that `append` put before our tables."""
    for line in ("\r\n", "\n"):
        if text.endswith(line * 2):
            return text[: -len(line)]
    return "" if not text.strip("\ufeff \t\r\n") and text in ("\n", "\r\n") else text
