"""The fix trail: which files a failure is about, as they were, and what had changed when it ended."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from typing import Any

MOST_LINES = 120
MOST_CHARACTERS = 6_000
_CONTEXT_LINES = 2
_REPLACED = (
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("old_text", "new_text"),
)


def before_edit(arguments: str, now: str) -> str | None:
    """A file as it was before an edit that has just been made, from the edit's arguments (JSON) and the file as it
    is; None where the arguments don't tell."""
    try:
        given: Any = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, dict):
        return None
    for old_name, new_name in _REPLACED:
        old, new = given.get(old_name), given.get(new_name)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if isinstance(old, str) and isinstance(new, str) and new and now.count(new) == 1:
            return now.replace(new, old)
    return None


def difference(before: Mapping[str, str], after: Mapping[str, str | None]) -> str:
    """A unified diff of the files that changed, at most 120 lines and 6,000 characters; "" where none did.

    A file that is no longer there is said to be gone.
    """
    lines: list[str] = []
    for path in sorted(before):
        now = after.get(path)
        if now == before[path]:
            continue
        if now is None:
            lines += [f"--- {path}", "+++ (gone or no longer readable)"]
            continue
        lines += difflib.unified_diff(
            before[path].splitlines(), now.splitlines(), path, path, lineterm="", n=_CONTEXT_LINES
        )
    return _bounded(lines)


def _bounded(lines: Iterable[str]) -> str:
    kept: list[str] = []
    room = MOST_CHARACTERS
    left = 0
    for line in lines:
        short = line if len(line) <= 240 else line[:239] + "…"
        if left or len(kept) == MOST_LINES or len(short) + 1 > room:
            left += 1
            continue
        kept.append(short)
        room -= len(short) + 1
    return "\n".join(kept + ([f"… {left} more lines"] if left else []))
