"""The files that a failure's text may name: candidates, to be looked up by whoever can."""

from __future__ import annotations

import re
from functools import cache

MOST_NAMED = 96
_ENDS = 24 * 1024


@cache
def _words() -> re.Pattern[str]:
    return re.compile(r"[\w@~+./\\:-]{2,260}")


def named_files(text: str) -> tuple[str, ...]:
    """Words of `text` that look like a path or a file name, each once, without line numbers, at most
    `MOST_NAMED`. Only the first and the last 24 KiB are looked at."""
    if len(text) > 2 * _ENDS:
        text = f"{text[:_ENDS]}\n{text[-_ENDS:]}"
    found: dict[str, None] = {}
    for word in _words().findall(text):
        name = _without_position(word.rstrip(".:-"))
        if len(name) > 2 and _looks_like_file(name, word):
            found[name] = None
            if len(found) == MOST_NAMED:
                break
    return tuple(found)


def _without_position(word: str) -> str:
    """`a/b.rs:12:3` is `a/b.rs`; a Windows drive stays."""
    parts = word.split(":")
    while len(parts) > 1 and (not parts[-1] or parts[-1].isdigit()):
        parts.pop()
    return ":".join(parts)


def _looks_like_file(name: str, word: str) -> bool:
    if "://" in name or name.startswith("//"):
        return False
    last = name.replace("\\", "/").rpartition("/")[2]
    stem, dot, ending = last.rpartition(".")
    if dot and stem and 0 < len(ending) <= 10 and not ending.isdigit():
        return True
    return "/" in name or "\\" in name or (name != word and not name.isdigit())
