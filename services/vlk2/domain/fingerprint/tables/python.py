"""Python tracebacks, pytest and unittest, type checkers and linters, pip."""

from __future__ import annotations

from vlk2.domain.fingerprint.page import Page
from vlk2.domain.fingerprint.rows import CODED, CRASH, TEST, TOOL, Found, Row, Table


def _exception(line: str) -> tuple[str, str]:
    """`pkg.Name: message` -> (Name, message); empty where the line is no such line."""
    name, _, message = line.partition(": ")
    name = name.rstrip(":").strip()
    parts = name.split(".")
    if not name or not all(part.replace("<locals>", "x").isidentifier() for part in parts):
        return "", ""
    return parts[-1], message.strip()


def _tracebacks(page: Page) -> list[Found]:
    found: list[Found] = []
    lines = page.lines
    for start, head in page.containing("Traceback (most recent call last)"):
        margin = len(head) - len(head.lstrip(" |+-"))
        index = start + 1
        place = function = ""
        while index < len(lines):
            line = lines[index]
            body = line[margin:] if line[:margin].strip(" |") == "" else ""
            if body.startswith("  File "):
                place = body[7:].split('"')[1] if '"' in body else ""
                function = body.rpartition(", in ")[2] if ", in " in body else ""
            elif body and not body.startswith((" ", "\t")):
                break
            index += 1
        if index >= len(lines):
            continue
        name, message = _exception(lines[index][margin:])
        if name:
            found.append(
                Found(
                    "python-traceback",
                    CRASH,
                    "python",
                    name,
                    message,
                    index,
                    file=place,
                    symbols=(function,) if function and not message else (),
                )
            )
    return found[-1:] + found[:-1]


def _pytest(page: Page) -> list[Found]:
    found: list[Found] = []
    for index, line in page.containing("E   "):
        if line.startswith("E   "):
            name, message = _exception(line[1:].strip())
            if name and (name[0].isupper()):
                found.append(Found("pytest-error", CRASH, "python", name, message, index))
    return found


TABLE = Table(
    "python",
    (
        Row(
            "mypy",
            ": error: ",
            r"(?P<file>[^\s:][^:\n]*\.pyi?):\d+(?::\d+)*: error: (?P<message>.*?)  \[(?P<type>[a-z][a-z0-9-]*)\]$",
            CODED,
            specific=True,
        ),
        Row(
            "pyright",
            " - error: ",
            r"\s*(?P<file>\S[^:\n]*):\d+:\d+ - error: (?P<message>.*?)(?: \((?P<type>report\w+)\))?$",
            CODED,
            specific=True,
        ),
        Row(
            "ruff",
            ":",
            r"(?P<file>[^\s:][^:\n]*\.(?:pyi?|ipynb)):\d+:\d+: (?P<type>[A-Z]{1,5}\d{2,4}) (?:\[\*\] )?(?P<message>.*)",
            CODED,
            specific=True,
        ),
        Row(
            "pytest-summary",
            "FAILED ",
            r"FAILED (?P<test>\S+::\S+)(?: - (?:[\w.]+\.)?(?P<type>[A-Z]\w+)(?:: (?P<message>.*))?)?",
            TEST,
        ),
        Row("pip", "ERROR: ", r"ERROR: (?P<message>.*)", TOOL, language="pip"),
    ),
    finders=(_tracebacks, _pytest),
)
