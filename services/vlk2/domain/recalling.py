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
def _step() -> re.Pattern[str]:
    return re.compile(r"[/:\\]+")


@cache
def _line_numbers() -> re.Pattern[str]:
    return re.compile(r"(?::\d+)+$")


@cache
def _part() -> re.Pattern[str]:
    return re.compile(r"[^\W_]+")


def _tokens(text: str) -> list[str]:
    """Each word folded, and for a compound (`foo_bar`, `src/a.ts`, `E0277:`) its parts, the whole and the ends
    of a path or qualified name, their separators written as `_`."""
    found: list[str] = []
    for match in _word().finditer(text.casefold()):
        word = match[0]
        parts = _part().findall(word)
        found += [part[:_MAX_TOKEN] for part in parts]
        if len(parts) > 1 and len(word) <= _MAX_TOKEN:
            found.append("_".join(parts))
            found += _ends(word)
    return found


def _ends(word: str) -> list[str]:
    """`ledger/src/a.ts` is also looked for as `src/a.ts` and `a.ts`, `serde_json::to_string` as `to_string`."""
    steps = _step().split(_line_numbers().sub("", word))
    pieces = (_part().findall(" ".join(steps[-most:])) for most in (1, 2) if len(steps) >= most)
    ends = ("_".join(parts) for parts in pieces if len(parts) > 1)
    return [end for end in ends if len(end) <= _MAX_TOKEN]


def index_text(text: str) -> str:
    """What is indexed for `text`: its different tokens in order, separated by spaces."""
    return " ".join(dict.fromkeys(_tokens(text)))


def query_words(text: str) -> list[str]:
    """Every token of a text that a query may be compared with."""
    return _tokens(text)


def query_tokens(query: str) -> tuple[str, ...]:
    """The different tokens of a query, at most 24; the whole of a compound stands before its parts."""
    found: dict[str, None] = {}
    for match in _word().finditer(query.casefold()):
        parts = _part().findall(match[0])
        if len(parts) > 1 and len(match[0]) <= _MAX_TOKEN:
            found["_".join(parts)] = None
        found.update(dict.fromkeys(part[:_MAX_TOKEN] for part in parts))
    return tuple(found)[:_MAX_QUERY]
