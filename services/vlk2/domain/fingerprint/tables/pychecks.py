"""Checkers of Python: mypy, pyright, ruff, flake8, pylint."""

from __future__ import annotations

from vlk2.domain.fingerprint.page import Page
from vlk2.domain.fingerprint.rows import CODED, UNCODED, WARNING, Found, Row, Table


def _split_rule(text: str) -> tuple[str, str]:
    """`message (reportX)` as (message, rule)."""
    if text.endswith(")"):
        message, _, rule = text[:-1].rpartition(" (")
        if message and rule.isidentifier():
            return message, rule
    return text, ""


def _pyright(page: Page) -> list[Found]:
    """One diagnostic may run over several indented lines; its rule ends the last of them."""
    found: list[Found] = []
    for literal, rank in ((" - error: ", CODED), (" - warning: ", WARNING)):
        for index, line in page.containing(literal):
            place, _, rest = line.strip().partition(literal)
            file, _, column = place.rpartition(":")
            file, _, row = file.rpartition(":")
            if not (row.isdigit() and column.isdigit()):
                continue
            message, rule = _split_rule(rest.rstrip())
            indent = len(line) - len(line.lstrip())
            for below in page.lines[index + 1 : index + 12]:
                if rule or " - " in below or len(below) - len(below.lstrip()) <= indent:
                    break
                rule = _split_rule(below.rstrip())[1]
            found.append(
                Found(
                    "pyright",
                    rank if rule else UNCODED if rank == CODED else rank,
                    "python",
                    rule,
                    message,
                    index,
                    file=file,
                    specific=bool(rule),
                    strong=rank == CODED,
                )
            )
    return found


def _ruff_full(page: Page) -> list[Found]:
    """The full form of ruff: the code and the message, and on the next line ` --> file:1:2`."""
    found: list[Found] = []
    for index, line in page.containing("--> "):
        if index == 0 or not line.startswith(" ") or not line.lstrip().startswith("--> "):
            continue
        code, _, message = page.lines[index - 1].partition(" ")
        code = code.rstrip(":")
        letters = code.rstrip("0123456789")
        if (
            letters.isalpha() and letters.isupper() and len(letters) < len(code) <= 10
        ) or code == "invalid-syntax":
            file = line.strip()[4:].split(":")[0]
            found.append(
                Found(
                    "ruff-full",
                    CODED,
                    "python",
                    code,
                    message.removeprefix("[*] "),
                    index - 1,
                    file=file,
                    specific=True,
                )
            )
    return found


TABLE = Table(
    "python",
    (
        Row(
            "mypy",
            ": error: ",
            r"(?P<file>[^\s:][^:\n]*\.pyi?)(?::\d+)*: error: (?P<message>.*?)  \[(?P<type>[a-z][a-z0-9-]*)\]$",
            CODED,
            specific=True,
        ),
        *(
            Row(
                "ruff",
                ending,
                r"(?P<file>[^\s:](?:[^:\n]|:[\\/])*\.(?:pyi?|ipynb|toml))(?::(?:cell \d+:)?\d+){1,3}: (?P<type>[A-Z]{1,5}\d{2,5}|invalid-syntax)(?::| \([a-z-]+\))? (?:\[\*\] )?(?P<message>.*)",
                CODED,
                specific=True,
            )
            for ending in (".py:", ".pyi:", ".ipynb:", ".toml:")
        ),
    ),
    finders=(_pyright, _ruff_full),
)
