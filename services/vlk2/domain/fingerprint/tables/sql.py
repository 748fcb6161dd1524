"""PostgreSQL, MySQL and MariaDB, SQLite."""

from __future__ import annotations

import re
from functools import cache

from vlk2.domain.fingerprint.page import Page
from vlk2.domain.fingerprint.rows import SYSTEM, UNCODED, Found, Row, Table

_TYPES = (
    r"(?:timestamp|time) with(?:out)? time zone|character varying|double precision|bit varying|smallint|integer|bigint"
    r"|numeric|decimal|real|boolean|text|character|bytea|date|interval|uuid|jsonb?|xml|inet|cidr|macaddr8?|money|point"
    r"|line|lseg|box|path|polygon|circle|tsvector|tsquery|record|unknown|name|oid|reg\w+|int[248]\w*|float[48]|bool"
    r"|varchar|char|bpchar|any\w*|void|internal|cstring|bit|tid|xid8?|cid|hstore|ltree|cube|citext|anyarray"
)


@cache
def _terms() -> re.Pattern[str]:
    # What PostgreSQL names without quotes: calls, qualified names, operators between types, type names.
    return re.compile(
        rf"(?P<call>\b[a-z_][\w.]*\([^()]*\))"
        rf"|(?P<dotted>\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)"
        rf"|(?P<type>\b(?:{_TYPES})(?:\(\d+(?:,\d+)?\))?(?:\[\])*(?![\w]))"
        rf"|(?P<op>(?<= )[-+*/<>=~!@#%^&|?]{{1,4}}(?= ))"
    )


def masked(message: str) -> tuple[str, tuple[str, ...]]:
    """The message with the things that it names without quotes masked, and those things."""
    head, colon, tail = message.partition("does not exist: ")
    if colon:  # operator does not exist: integer = text
        return head + colon + "<name>", (tail.strip(),)
    symbols: list[str] = []

    def put(found: re.Match[str]) -> str:
        symbols.append(found[0])
        return "<name>"

    # what stands in quotes is left to the common masks
    parts = re.split(r'("[^"]*")', message)
    text = "".join(part if part.startswith('"') else _terms().sub(put, part) for part in parts)
    return text, tuple(symbols)


def _postgres(page: Page) -> list[Found]:
    found: list[Found] = []
    for literal in ("ERROR:  ", "FATAL:  ", "PANIC:  "):
        for index, line in page.containing(literal):
            head, _, message = line.partition(literal)
            if head and not head.endswith((": ", "] ", " ")):
                continue
            if head and not (head.startswith("psql:") or "[" in head or head.strip().endswith(":")):
                continue
            state = ""
            if len(message) > 7 and message[5:7] == ": " and message[:5].isalnum() and message[:5].isupper():
                state, message = message[:5], message[7:]
            text, symbols = masked(message)
            found.append(
                Found(
                    "postgres",
                    UNCODED + (10 if state else 0),
                    "sql",
                    state,
                    text,
                    index,
                    symbols=symbols,
                    specific=bool(state),
                    headline=line,
                )
            )
    return found


TABLE = Table(
    "sql",
    (
        Row("mysql", "ERROR ", r"(?:mysql\S*: )?ERROR (?:\d{3,5} \()?(?P<type>[0-9A-Z]{5})\)?(?: at line \d+)?(?: in file: '[^']*')?: (?P<message>.*)", UNCODED, specific=True),
        Row("mysql-plain", "ERROR ", r"ERROR (?P<type>\d{4})(?: at line \d+)?: (?P<message>.*)", UNCODED - 1, specific=True),
        Row("sqlite", "rror near line", r"(?:Parse|Runtime|Error:?)(?: error)? near line \d+: (?P<message>.*?)(?: \(\d+\))?$", UNCODED, type="sqlite"),
        Row("sqlite-error", "Error: ", r"(?:Error: (?:in prepare, |stepping, |near line \d+: )?)(?P<message>no such (?:table|column|function): .*|near \".*\": syntax error.*|UNIQUE constraint failed: .*|NOT NULL constraint failed: .*|FOREIGN KEY constraint failed.*|database is locked.*|unable to open database.*)", SYSTEM, type="sqlite"),
        Row("psql-connect", "connection to server", r"psql: error: (?P<message>connection to server .* failed: .*)", UNCODED, type="connection-failed", transient=True),
    ),
    finders=(_postgres,),
)  # fmt: skip
