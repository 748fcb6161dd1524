"""Carry a whole store elsewhere with every id and its key: into a file of lines, out of one, or straight into
another store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from vlk2.errors import InvalidInput, NotAllowed, StoreIncompatible
from vlk2.ports import Archive, Store

PAGE = 500
FORMAT = 1

Tell = Callable[[str, int], None]
"""Is told of each page: the table, and how many of its rows were carried."""


@dataclass(frozen=True, slots=True)
class Carried:
    """How many rows of each table were carried."""

    rows: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.rows.values())


def silent(table: str, rows: int) -> None:
    """Tells nobody."""


def export(store: Store, tell: Tell = silent) -> Iterator[str]:
    """The lines of the store's export, one snapshot: a head with the key and what follows, a JSON object for each
    row, and an end. The key and the hashes of tokens are in it: it is to be kept like the store."""
    with store.archive(write=False) as archive:
        rows = {table: archive.count(table) for table in archive.tables}
        yield _line(
            {"vlk2": "export", "format": FORMAT, "schema": archive.schema, "key": archive.key, "rows": rows}
        )
        for table in archive.tables:
            for page in archive.pages(table, PAGE):
                for row in page:
                    yield _line({"table": table, "row": row})
                tell(table, len(page))
    yield _line({"vlk2": "end"})


def take_in(store: Store, lines: Iterable[str], tell: Tell = silent) -> Carried:
    """Fills an empty store from the lines of an export, all or nothing. NotAllowed where it holds a memory,
    InvalidInput (with the line's number) where the lines are no whole export, StoreIncompatible where they are of
    a newer version."""
    numbered = enumerate(lines, 1)
    with store.archive(write=True) as archive:
        _must_be_empty(archive)
        head = _head(numbered, archive)
        found: dict[str, int] = {}
        for table, page in _pages(numbered, archive):
            archive.put(table, page)
            found[table] = found.get(table, 0) + len(page)
            tell(table, len(page))
        if found != {table: count for table, count in head["rows"].items() if count}:
            raise InvalidInput("the file does not hold the rows that its head names: nothing was taken in.")
        archive.take_key(head["key"])
    return Carried(found)


def move(source: Store, target: Store, tell: Tell = silent) -> Carried:
    """Copies everything of one store into another, empty one. The source stays as it is; what is recorded there
    after the copy began is not in the target."""
    found: dict[str, int] = {}
    with source.archive(write=False) as old, target.archive(write=True) as new:
        _must_be_empty(new)
        if old.schema > new.schema:
            raise StoreIncompatible(f"the source has schema {old.schema}, the target {new.schema}.")
        for table in old.tables:
            for page in old.pages(table, PAGE):
                new.put(table, page)
                found[table] = found.get(table, 0) + len(page)
                tell(table, len(page))
        new.take_key(old.key)
    return Carried(found)


def _must_be_empty(archive: Archive) -> None:
    if archive.count("teams"):
        raise NotAllowed(
            "this store holds a memory already, and nothing of it is overwritten: name a new one (a file that does "
            "not exist yet, an empty database)."
        )


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def _parsed(number: int, line: str) -> dict[str, Any]:
    try:
        found: object = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InvalidInput(f"line {number} is no line of an export: nothing was taken in.")
    return cast("dict[str, Any]", found)


def _head(numbered: Iterator[tuple[int, str]], archive: Archive) -> dict[str, Any]:
    number, line = next(numbered, (1, ""))
    head = _parsed(number, line)
    rows, key = head.get("rows"), head.get("key")
    if head.get("vlk2") != "export" or not isinstance(rows, dict) or not isinstance(key, str):
        raise InvalidInput("this is no export of a Vlk² store: nothing was taken in.")
    if head.get("format") != FORMAT or int(head.get("schema", 0)) > archive.schema:
        raise StoreIncompatible(
            "the export was written by a newer Vlk²: nothing was taken in. Upgrade this installation: "
            "`uv tool upgrade vlk2`."
        )
    try:
        bytes.fromhex(key)
    except ValueError:
        raise InvalidInput("the key of the export is damaged: nothing was taken in.") from None
    return head


def _pages(
    numbered: Iterator[tuple[int, str]], archive: Archive
) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """The rows by table, in pages; InvalidInput where the end is missing."""
    table, page = "", list[Mapping[str, Any]]()
    for number, line in numbered:
        found = _parsed(number, line)
        if found.get("vlk2") == "end":
            if page:
                yield table, page
            return
        name, row = found.get("table"), found.get("row")
        if not isinstance(name, str) or not isinstance(row, dict):
            raise InvalidInput(f"line {number} is no line of an export: nothing was taken in.")
        values = cast("dict[str, Any]", row)
        if name not in archive.tables or set(values) != set(archive.tables[name]):
            raise InvalidInput(f"line {number} is no row of {name[:40]!r}: nothing was taken in.")
        if page and (name != table or len(page) == PAGE):
            yield table, page
            page = []
        table = name
        page.append(values)
    raise InvalidInput("the file ends too early: it was cut off. Nothing was taken in.")
