"""PostgreSQL, MySQL and MariaDB, SQLite."""

from __future__ import annotations

import re
from functools import cache

from vlk2.domain.fingerprint.page import Page
from vlk2.domain.fingerprint.rows import SYSTEM, UNCODED, Found, Row, Table


@cache
def _terms() -> re.Pattern[str]:
    # What PostgreSQL names without quotes: calls, qualified names, commands, operators between types, and what
    # follows the words that announce a type or a domain.
    return re.compile(
        r"(?P<call>\b[a-z_][\w.]*\([^()]*\))"
        r"|(?P<dotted>\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)"
        r"|(?P<command>\b[A-Z]{2,}(?:[ ][A-Z]{2,}|[ ]\.\.\.){0,5}\b)"
        r"|(?<=\btype )(?!modifier|name|of\b|is\b|input|output)[\w\[\]]+(?: (?:varying|precision|with(?:out)? time zone))?(?:\(\d+(?:,\d+)?\))?(?:\[\])*"
        r"|(?<=\bdomain )(?!is\b|has\b)[\w.]+"
        r"|(?<= )\w*_\w*(?= |$)"
        r"|(?P<op>(?<= )[-+*/<>=~!@#%^&|?]{1,4}(?= ))"
    )


def masked(message: str) -> tuple[str, tuple[str, ...]]:
    """The message with the things that it names without quotes masked, and those things."""
    head, colon, tail = message.partition("does not exist: ")
    if colon:  # operator does not exist: integer = text
        return head + colon + "<name>", (tail.strip(),)
    for head, joint in (("cannot cast type ", " to "), ("types ", " and ")):
        start = message.find(head)
        middle = message.find(joint, start + len(head))
        if start >= 0 and middle > 0 and '"' not in message:
            first, rest = message[start + len(head) : middle], message[middle + len(joint) :]
            second, space, tail = rest.partition(" cannot ")
            return message[:start] + head + "<name>" + joint + "<name>" + space + tail, (
                first,
                second.strip(),
            )
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
            if (
                len(message) > 7
                and message[5:7] == ": "
                and message[:5].isalnum()
                and message[:5] == message[:5].upper()
            ):
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
