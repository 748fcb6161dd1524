"""Text -> the tokens that both stores index, so that they find alike: `src/a.ts`, `E0277`, `foo_bar`."""

from __future__ import annotations

import re
from functools import cache

_MAX_TOKEN = 64
_MAX_QUERY = 24


@cache
def _word() -> re.Pattern[str]:
    return re.compile(r"[^\W_]+(?:[_./:\\-]*[^\W_]+)*")


@cache
def _part() -> re.Pattern[str]:
    return re.compile(r"[^\W_]+")


def _tokens(text: str) -> list[str]:
    """Each word folded, and for a compound (`foo_bar`, `src/a.ts`, `E0277:`) its parts and the whole, its
    separators written as `_`."""
    found: list[str] = []
    for match in _word().finditer(text.casefold()):
        word = match[0]
        parts = _part().findall(word)
        found += [part[:_MAX_TOKEN] for part in parts]
        if len(parts) > 1 and len(word) <= _MAX_TOKEN:
            found.append("_".join(parts))
    return found


def index_text(text: str) -> str:
    """What is indexed for `text`: its different tokens in order, separated by spaces."""
    return " ".join(dict.fromkeys(_tokens(text)))


def query_tokens(query: str) -> tuple[str, ...]:
    """The different tokens of a query, at most 24; the whole of a compound stands before its parts."""
    found: dict[str, None] = {}
    for match in _word().finditer(query.casefold()):
        parts = _part().findall(match[0])
        if len(parts) > 1 and len(match[0]) <= _MAX_TOKEN:
            found["_".join(parts)] = None
        found.update(dict.fromkeys(part[:_MAX_TOKEN] for part in parts))
    return tuple(found)[:_MAX_QUERY]
