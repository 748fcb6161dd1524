"""Named queries in `.sql` files -> statements in a driver's own parameter style."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache

from vlk2.hints import Literal, LiteralString, cast

Dialect = Literal["sqlite", "postgres"]
SUBJECTS = (
    "identity",
    "contents",
    "observations",
    "hearing",
    "entries",
    "constraints",
    "cycle",
    "recall",
    "facts",
    "team",
)
_HEADINGS = ("name", "fragment", "table", "fault")
_FOLDER = os.path.join(os.path.dirname(__file__), "sql")


@cache
def statements(dialect: Dialect) -> Mapping[str, LiteralString]:
    """Every named query of the dialect. A name without a dialect serves both; `[dialect]` overrides it."""
    fragments = parsed("fragments", "fragment", dialect)
    found: dict[str, LiteralString] = {}
    for subject in SUBJECTS:
        for name, sql in parsed(subject, "name", dialect).items():
            whole = sql
            for fragment, columns in fragments.items():
                whole = whole.replace(f"{{{fragment}}}", columns)
            # The text comes from files that ship with the package and never from a caller.
            found[name] = cast("LiteralString", styled(whole, dialect))
    return found


def migrations(dialect: Dialect) -> list[tuple[int, str, LiteralString]]:
    """Number, name and script of every migration of the dialect, in order."""
    folder = os.path.join(_FOLDER, "migrations", dialect)
    names = sorted(name for name in os.listdir(folder) if name.endswith(".sql"))
    return [(int(n[:4]), n[:-4], cast("LiteralString", _read_path(os.path.join(folder, n)))) for n in names]


def script(name: str) -> LiteralString:
    """A file of statements that are run together."""
    return cast("LiteralString", _read_path(os.path.join(_FOLDER, f"{name}.sql")))


def parsed(subject: str, word: str, dialect: Dialect) -> dict[str, str]:
    """The queries of one file that are headed by `-- WORD: `, by their names."""
    return _parse(_read_path(os.path.join(_FOLDER, f"{subject}.sql")), word, dialect)


def _read_path(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _parse(text: str, word: str, dialect: Dialect) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.split("\n"):
        if not line.startswith("--"):
            if current is not None:
                current.append(line)
            continue
        kind, _, head = line[3:].partition(": ")
        if kind in _HEADINGS:
            name, bracket, only = head.strip().partition(" [")
            wanted = kind == word and (not bracket or only == f"{dialect}]")
            current = [] if wanted else None
            if current is not None:
                found[name] = current
    return {name: "\n".join(lines).strip() for name, lines in found.items()}


def styled(sql: str, dialect: Dialect) -> str:
    """`:name` stays for SQLite and becomes `%(name)s` for psycopg."""
    if dialect == "sqlite":
        return sql
    import re

    return re.sub(r"(?<![:\w]):([a-z_]+)\b", r"%(\1)s", sql.replace("%", "%%"))
