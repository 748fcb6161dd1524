"""A project's own rows, from its `vlk2.toml`: patterns without regular expressions, matched in linear time.

A pattern is literal text with holes: `{type}`, `{symbol}`, `{file}` and `{test}` stand for text without
spaces, `{message}` and `*` for any text. A line matches from its start; the text between the holes is looked
for from left to right and never tried again, so that no pattern can be slow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vlk2.domain.fingerprint.page import Page
from vlk2.domain.fingerprint.rows import CODED, WARNING, Found, Table
from vlk2.errors import InvalidInput

_HOLES = frozenset(["type", "symbol", "file", "test", "message", "*"])
_NARROW = frozenset(["type", "symbol", "file", "test"])
_KEYS = frozenset(["name", "pattern", "language", "type", "severity", "specific", "transient"])
_MOST_ROWS = 200
_LONGEST = 500


class _Part(NamedTuple):
    """A hole and the literal that ends it; the first part of a pattern has no hole."""

    hole: str
    literal: str


class _OwnRow(NamedTuple):
    name: str
    parts: tuple[_Part, ...]
    guard: str
    language: str
    type: str
    rank: int
    specific: bool
    transient: bool


def _parts(pattern: str, where: str) -> tuple[_Part, ...]:
    parts: list[_Part] = []
    hole = ""
    literal: list[str] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "*":
            name, at = "*", at + 1
        elif char == "{":
            end = pattern.find("}", at)
            name = pattern[at + 1 : end] if end > 0 else ""
            if name not in _HOLES:
                known = ", ".join(f"{{{hole}}}" for hole in sorted(_HOLES - {"*"}))
                raise InvalidInput(
                    f"{where}: unknown hole {pattern[at : end + 1]!r}; known are {known} and *"
                )
            at = end + 1
        else:
            literal.append(char)
            at += 1
            continue
        parts.append(_Part(hole, "".join(literal)))
        if not literal and parts[:-1]:
            raise InvalidInput(f"{where}: two holes of {pattern!r} need text between them")
        hole, literal = name, []
    parts.append(_Part(hole, "".join(literal)))
    return tuple(parts)


def _text(row: Mapping[str, object], key: str, where: str) -> str:
    value = row.get(key, "")
    if not isinstance(value, str) or "\n" in value or len(value) > _LONGEST:
        raise InvalidInput(f"{where}: {key} must be one line of text of at most {_LONGEST} characters")
    return value.strip() if key != "pattern" else value


def _flag(row: Mapping[str, object], key: str, where: str) -> bool:
    value = row.get(key, False)
    if not isinstance(value, bool):
        raise InvalidInput(f"{where}: {key} must be true or false")
    return value


def _row(row: Mapping[str, object], number: int) -> _OwnRow:
    where = f"fingerprint row {number}"
    unknown = sorted(set(row) - _KEYS)
    if unknown:
        raise InvalidInput(f"{where}: unknown key {unknown[0]!r}; known are {', '.join(sorted(_KEYS))}")
    pattern = _text(row, "pattern", where)
    parts = _parts(pattern, where)
    guard = max((part.literal for part in parts), key=len)
    if len(guard.strip()) < 3:
        raise InvalidInput(
            f"{where}: the pattern {pattern!r} needs at least 3 characters of literal text in a row"
        )
    kind = _text(row, "type", where)
    if not kind and not any(part.hole in ("type", "message") for part in parts):
        raise InvalidInput(f"{where}: give a type, or a hole {{type}} or {{message}} in the pattern")
    severity = _text(row, "severity", where) or "error"
    if severity not in ("error", "warning"):
        raise InvalidInput(f"{where}: severity must be 'error' or 'warning', not {severity!r}")
    language = _text(row, "language", where) or "project"
    if not language.replace("-", "").isalnum():
        raise InvalidInput(f"{where}: language must be one word, not {language!r}")
    return _OwnRow(
        name=_text(row, "name", where) or f"own-{number}",
        parts=parts,
        guard=guard,
        language=language.lower(),
        type=kind,
        rank=CODED + 5 if severity == "error" else WARNING,
        specific=_flag(row, "specific", where),
        transient=_flag(row, "transient", where),
    )


def _match(parts: tuple[_Part, ...], line: str) -> dict[str, str] | None:
    first = parts[0].literal
    if not line.startswith(first):
        return None
    values: dict[str, str] = {}
    at = len(first)
    for part in parts[1:]:
        end = line.find(part.literal, at) if part.literal else len(line)
        if end < 0:
            return None
        value = line[at:end]
        if part.hole in _NARROW and (not value or " " in value):
            return None
        values[part.hole] = value
        at = end + len(part.literal)
    return values


def own_rows(rows: Sequence[Mapping[str, object]]) -> Table:
    """The table of a project's own rows, for `diagnose(…, extra=…)`.

    Each row has a `pattern` and may have `name`, `language` (default `project`), `type`, `severity` (`error` or
    `warning`), `specific` and `transient`. Raises InvalidInput, naming the row, for anything else.
    """
    if len(rows) > _MOST_ROWS:
        raise InvalidInput(f"at most {_MOST_ROWS} fingerprint rows, not {len(rows)}")
    made = tuple(_row(row, number) for number, row in enumerate(rows, 1))

    def find(page: Page) -> list[Found]:
        found: list[Found] = []
        for row in made:
            for index, line in page.containing(row.guard):
                values = _match(row.parts, line)
                if values is None:
                    continue
                symbol = values.get("symbol", "")
                found.append(
                    Found(
                        row.name,
                        row.rank,
                        row.language,
                        row.type or values.get("type", ""),
                        values.get("message", "").strip(),
                        index,
                        file=values.get("file", ""),
                        test=values.get("test", ""),
                        symbols=(symbol,) if symbol else (),
                        strong=row.rank > WARNING,
                        specific=row.specific,
                        transient=row.transient,
                    )
                )
        return found

    return Table("project", finders=(find,))
