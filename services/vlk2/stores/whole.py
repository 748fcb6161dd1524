"""The whole store as rows, inside one transaction; see `vlk2.ports.Archive`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, LiteralString, cast

from vlk2.domain.recalling import index_text
from vlk2.stores.statements import Dialect, migrations, parsed, styled

if TYPE_CHECKING:
    from vlk2.stores.base import Statements

# Made anew by the store that takes the rows in.
_OWN = frozenset({"store_meta", "recall_pending", "recall_index"})


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the migrations: its columns, and the columns of its primary key. `lowest` stands before every
    key."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    lowest: tuple[Any, ...]


@cache
def tables(dialect: Dialect) -> tuple[Table, ...]:
    """The tables of the dialect, each after those that it refers to."""
    found: dict[str, Table] = {}
    for _, _, script in migrations(dialect):
        for name, body in re.findall(r"CREATE TABLE (\w+) \(\n(.*?)\n\)", script, re.DOTALL):
            if name not in _OWN:
                found[name] = _table(name, body)
    return tuple(found.values())


def _table(name: str, body: str) -> Table:
    types = dict(re.findall(r"^  ([a-z_]+) +([A-Z]+)", body, re.MULTILINE))
    types.pop("PRIMARY", None)
    whole = re.search(r"^  PRIMARY KEY \((.*?)\)", body, re.MULTILINE)
    single = re.search(r"^  ([a-z_]+) .*\bPRIMARY KEY\b", body, re.MULTILINE)
    assert whole or single
    key = tuple(whole[1].split(", ")) if whole else (single[1] if single else "",)
    lowest = tuple("" if types[column] == "TEXT" else -(1 << 62) for column in key)
    return Table(name, tuple(types), key, lowest)


@cache
def _statements(dialect: Dialect) -> Mapping[str, LiteralString]:
    """`page teams`, `put teams`, … for every table; the faults; and what the taking in needs beside."""
    found = {f"fault {name}": sql for name, sql in parsed("whole", "fault", dialect).items()}
    found |= parsed("whole", "name", dialect)
    templates = parsed("whole", "table", dialect)
    for table in tables(dialect):
        parts = {
            "table": table.name,
            "columns": ", ".join(f'"{column}"' for column in table.columns),
            "values": ", ".join(f":{column}" for column in table.columns),
            "key": ", ".join(f'"{column}"' for column in table.key),
            "after": ", ".join(f":{column}" for column in table.key),
        }
        for verb, template in templates.items():
            if verb != "renumber" or table.key == ("pk",):
                sql = template
                for word, part in parts.items():
                    sql = sql.replace(f"{{{word}}}", part)
                found[f"{verb} {table.name}"] = sql
    # The text comes from files that ship with the package and never from a caller.
    return {name: cast("LiteralString", styled(sql, dialect)) for name, sql in found.items()}


class SqlArchive:
    """The archive inside one transaction. `taken_key` is the key that `take_key` gave the store, or ""."""

    def __init__(
        self,
        run: Statements,
        dialect: Dialect,
        key: str,
        *,
        schema: int,
        fulltext: bool,
        remarks: tuple[str, ...],
    ) -> None:
        self._run = run
        self._whole = run.speaking(_statements(dialect))
        self._dialect: Dialect = dialect
        self._tables = {table.name: table for table in tables(dialect)}
        self._fulltext = fulltext
        self.key = key
        self.schema = schema
        self.remarks = remarks
        self.taken_key = ""
        if self._whole.has("be_patient"):
            self._whole.run("be_patient")

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        return {table.name: table.columns for table in self._tables.values()}

    def count(self, table: str) -> int:
        return self._whole.one(f"count {table}")[0]

    def pages(self, table: str, size: int) -> Iterator[Sequence[Mapping[str, Any]]]:
        shape = self._tables[table]
        after = dict(zip(shape.key, shape.lowest, strict=True))
        while True:
            found = self._whole.all(f"page {table}", **after, most=size)
            if not found:
                return
            rows = [dict(zip(shape.columns, row, strict=True)) for row in found]
            yield rows
            after = {column: rows[-1][column] for column in shape.key}

    def put(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        self._whole.many(f"put {table}", rows)
        if table == "memory_contents" and self._fulltext:
            index = [{"content": row["pk"], "tokens": index_text(row["body"])} for row in rows]
            self._run.many("index_content", index)

    def take_key(self, key: str) -> None:
        self._whole.run("take_key", key=key)
        self.taken_key = key
        for table in self._tables:
            if self._whole.has(f"renumber {table}"):
                self._whole.one(f"renumber {table}")

    def faults(self) -> list[tuple[str, int]]:
        found = [
            (name.removeprefix("fault "), self._whole.one(name)[0])
            for name in _statements(self._dialect)
            if name.startswith("fault ")
        ]
        return [(what, count) for what, count in found if count]
