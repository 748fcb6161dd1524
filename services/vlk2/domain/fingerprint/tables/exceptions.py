"""An exception's own line without its trace: `NameError: …`, which a harness or a tail often leaves over."""

from __future__ import annotations

import re
from functools import cache

from vlk2.domain.fingerprint.page import Page
from vlk2.domain.fingerprint.rows import LOOSE, Found, Table

PYTHON = frozenset(
    [
        "Arithmetic", "Assertion", "Attribute", "BlockingIO", "BrokenPipe", "Buffer", "ChildProcess", "Connection",
        "ConnectionAborted", "ConnectionRefused", "ConnectionReset", "EOF", "Environment", "FileExists",
        "FileNotFound", "FloatingPoint", "IO", "Import", "Indentation", "Index", "IsADirectory", "JSONDecode", "Key",
        "Lookup", "Memory", "ModuleNotFound", "Name", "NotADirectory", "NotImplemented", "OS", "Overflow",
        "Permission", "ProcessLookup", "Recursion", "Runtime", "System", "Tab", "Timeout", "UnboundLocal", "Unicode",
        "UnicodeDecode", "UnicodeEncode", "Value", "ZeroDivision",
    ]
)  # fmt: skip
_JAVASCRIPT = frozenset(["Reference", "Range", "Eval", "URI", "Internal", "Aggregate", ""])
_JAVASCRIPT_SAYS = (
    " is not a function", " is not defined", "Cannot read prop", "Cannot set prop", " is not iterable", "undefined",
    "Unexpected token", "null", "is not a constructor", "Invalid or unexpected", "Cannot use import",
    "does not provide an export", "Assignment to constant",
)  # fmt: skip


@cache
def _line() -> re.Pattern[str]:
    return re.compile(
        r"(?:E\s+|Uncaught |error: Uncaught |\w+ failed: )?(?P<path>(?:\w+[.\\:]{1,2})*)(?P<name>[A-Z]\w{0,60}?|)(?P<suffix>Error|Exception)"
        r"(?: \[\w+\])?(?:: (?P<message>\S.*))$"
    )


def _language(name: str, suffix: str, path: str, message: str) -> str:
    if suffix == "Exception":
        return "java" if path.count(".") > 1 else "php" if "\\" in path else "text"
    if "::" in path:
        return "ruby"
    if name in PYTHON:
        return "python"
    if name in _JAVASCRIPT:
        return "javascript" if name else "text"
    if name in ("Type", "Syntax"):
        return "javascript" if any(part in message for part in _JAVASCRIPT_SAYS) else "python"
    return "python" if path and path[-1] == "." else "text"


def _bare(page: Page) -> list[Found]:
    found: list[Found] = []
    pattern = _line()
    for literal in ("Error", "Exception"):
        for index, line in page.candidates(literal, pattern):
            hit = pattern.match(line)
            if hit is None or (not hit["name"] and not hit["path"]):
                continue
            language = _language(hit["name"], hit["suffix"], hit["path"], hit["message"])
            found.append(
                Found(
                    "exception-line",
                    LOOSE + 5,
                    language,
                    hit["name"] + hit["suffix"],
                    hit["message"],
                    index,
                    strong=False,
                )
            )
    return found


TABLE = Table("text", finders=(_bare,))
