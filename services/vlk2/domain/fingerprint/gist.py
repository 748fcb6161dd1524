"""The gist of a text: which literals stand in it, without a search of the whole text for each.

Logs repeat themselves. With every digit made the same, few kinds of lines are left, and fewer words: hundreds of
literals are looked for in those.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

# Positions in UTF-8 don't matter here, and bytes are translated and searched fast whatever the letters.
_ZEROED = bytes.maketrans(b"123456789", b"000000000")
_LETTERS = bytes(code if code > 127 or chr(code).isalpha() else 32 for code in range(256))
_FEW = 8


class Sign(NamedTuple):
    """How a literal is looked for: `word` is necessary among the words, `part` among the kinds of lines (which
    is enough where `exact`). A `part` that is empty says that only the whole text tells."""

    literal: str
    word: bytes
    part: bytes
    exact: bool


def sign(literal: str) -> Sign:
    """The sign of one literal."""
    data = literal.encode("utf-8", "surrogatepass")
    if b"\n" in data[1:] or data == b"\n":
        return Sign(literal, b"", b"", False)
    zeroed = data.translate(_ZEROED)
    plain = data.translate(_LETTERS)
    word = max(plain.split(), key=len, default=b"")
    if word:
        at = plain.find(word)
        word = plain[max(0, at - 1) : at + len(word) + 1]
    return Sign(literal, word, zeroed, zeroed == data and not any(48 <= code < 58 for code in data))


@cache
def _sign(literal: str) -> Sign:
    return sign(literal)


class Gist:
    """Made of one text. `words` holds each of its words once, between spaces."""

    __slots__ = ("_groups", "_held", "_kinds", "_lines", "_text", "words")

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.encode("utf-8", "surrogatepass").translate(_ZEROED).split(b"\n")
        kinds = dict.fromkeys(self._lines)
        first = self._lines[0]
        # a first line that comes again stands behind a line end too
        again = b"\n" if len(kinds) < len(self._lines) and self._lines.count(first) > 1 else b""
        self._kinds = again + b"\n".join(kinds)
        self.words: bytes = b" %b " % b" ".join({*self._kinds.translate(_LETTERS).split()})
        self._groups: dict[bytes, list[int]] | None = None
        self._held: dict[str, bool] = {}

    def holds(self, literal: str) -> bool:
        """Whether `literal` stands in the text."""
        held = self._held.get(literal)
        return self.has(_sign(literal)) if held is None else held

    def has(self, sign: Sign) -> bool:
        """Whether the literal of `sign` stands in the text."""
        literal, word, part, exact = sign
        held = self._held.get(literal)
        if held is None:
            held = word in self.words and part in self._kinds and (exact or literal in self._text)
            self._held[literal] = held
        return held

    def kinds_with(self, literal: str) -> Iterable[list[int]] | None:
        """The numbers of the lines that contain `literal`, those that differ only in digits together; None
        where the lines are too various for that to gain anything, or digits matter."""
        part, exact = _sign(literal)[2:]
        if not exact or not part or len(self._lines) < _FEW or part[:1] == b"\n":
            return None
        groups = self._groups
        if groups is None:
            groups = {}
            if self._kinds.count(b"\n") < len(self._lines) // 2:
                for index, line in enumerate(self._lines):
                    known = groups.get(line)
                    if known is None:
                        groups[line] = [index]
                    else:
                        known.append(index)
            self._groups = groups
        return [lines for kind, lines in groups.items() if part in kind] if groups else None
