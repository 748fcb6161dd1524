"""Unknown tools: a template of the most error-like line, stateless and deterministic."""

from __future__ import annotations

import re
from functools import cache

from vlk2.domain.fingerprint.page import Page

_WORDS = (
    "fatal",
    "panic",
    "exception",
    "error",
    "failed",
    "failure",
    "cannot",
    "denied",
    "refused",
    "unable",
    "invalid",
    "not found",
    "no such",
    "missing",
    "undefined",
    "unknown",
    "timeout",
    "timed out",
    "abort",
)


@cache
def _likely() -> re.Pattern[str]:
    return re.compile("|".join(_WORDS), re.IGNORECASE)


def headline(page: Page) -> int:
    """The index of the line to go by: the first that has an error word, else the last that has a word."""
    found = _likely().search(page.text)
    if found is not None:
        return page.index_at(found.start())
    for index in range(len(page.lines) - 1, -1, -1):
        if any(char.isalpha() for char in page.lines[index]):
            return index
    return -1
