"""A store of one kind, as the contract tests open it and look beneath it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vlk2.bootstrap import open_store
from vlk2.ports import Store

STORES = ("sqlite", "postgres")


@dataclass
class Backend:
    """A fresh, empty store of one kind. `rows` looks beneath the port: what is stored, and is it gone."""

    kind: str
    address: str
    opened: list[Store] = field(default_factory=list)

    def open(self, **options: Any) -> Store:
        self.opened.append(open_store(self.address, **options))
        return self.opened[-1]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        if self.kind == "sqlite":
            import sqlite3

            connection = sqlite3.connect(self.address.removeprefix("sqlite://"))
            try:
                return connection.execute(query).fetchall()
            finally:
                connection.close()
        import psycopg

        with psycopg.connect(self.address) as connection:
            return connection.execute(query).fetchall()  # type: ignore[arg-type]

    def execute(self, statement: str) -> None:
        """What another program, or a later version, might have written."""
        if self.kind == "sqlite":
            import sqlite3

            connection = sqlite3.connect(self.address.removeprefix("sqlite://"), isolation_level=None)
            connection.execute(statement)
            connection.close()
            return
        import psycopg

        with psycopg.connect(self.address) as connection:
            connection.execute(statement)  # type: ignore[arg-type]

    def holds(self, needle: str) -> bool:
        """Whether the text is anywhere in what the store keeps on disk or in its tables."""
        if self.kind == "sqlite":
            path = Path(self.address.removeprefix("sqlite://"))
            return any(needle.encode() in file.read_bytes() for file in path.parent.iterdir())
        tables = self.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return any(
            needle in text
            for (table,) in tables
            for (text,) in self.rows(f"SELECT CAST(t AS text) FROM {table} t")
        )
