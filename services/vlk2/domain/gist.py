"""The gist of a text: which literals stand in it, without a search of the whole text for each.

Logs repeat themselves. With every digit made the same, few kinds of lines are left, and fewer words: hundreds of
literals are looked for in those.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from vlk2.hints import NamedTuple

# Positions in UTF-8 don't matter here, and bytes are translated and searched fast whatever the letters.
_ZEROED = bytes.maketrans(b"123456789", b"000000000")
_LETTERS = bytes(code if code > 127 or chr(code).isalpha() else 32 for code in range(256))
_FEW = 8


def zeroed(data: bytes) -> bytes:
    """UTF-8 with every digit a 0, as the kinds of lines are."""
    return data.translate(_ZEROED)


class Sign(NamedTuple):
    """How a literal is looked for: `word` is necessary among the words, `part` among the kinds of lines (which
    is enough where `exact`). A `part` that is empty says that only the whole text tells."""

    literal: str
    word: str
    part: bytes
    exact: bool


def sign(literal: str) -> Sign:
    """The sign of one literal."""
    data = literal.encode("utf-8", "surrogatepass")
    if b"\n" in data[1:] or data == b"\n":
        return Sign(literal, "", b"", False)
    part = zeroed(data)
    plain = data.translate(_LETTERS)
    word = max(plain.split(), key=len, default=b"")
    if word:
        at = plain.find(word)
        word = plain[max(0, at - 1) : at + len(word) + 1]
    return Sign(
        literal, word.decode("utf-8", "surrogatepass"), part, not any(48 <= code < 58 for code in data)
    )


@cache
def _sign(literal: str) -> Sign:
    return sign(literal)


class Gist:
    """Made of one text. `kinds` are its lines, in UTF-8 with every digit a 0, each once; `words` holds each word of
    those once, between spaces."""

    __slots__ = ("_each", "_held", "_lines", "_text", "kinds", "words")

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = zeroed(text.encode("utf-8", "surrogatepass")).split(b"\n")
        count = len(self._lines)
        self._each = dict(zip(self._lines, range(count), strict=True))
        first = self._lines[0]
        # a first line that comes again stands behind a line end too
        again = b"\n" if self._each[first] else b""
        self.kinds: bytes = again + b"\n".join(self._each)
        words = {*self.kinds.translate(_LETTERS).split()}
        self.words: str = f" {b' '.join(words).decode('utf-8', 'surrogatepass')} "
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
            held = word in self.words and part in self.kinds and (exact or literal in self._text)
            self._held[literal] = held
        return held

    def alike(self, literal: str) -> list[tuple[bytes, int]] | None:
        """The kinds of lines that contain `literal`, each with the number of one of its lines; None where the
        lines are too various for that to gain anything, or digits matter."""
        if len(self._lines) < _FEW or len(self._each) * 2 > len(self._lines):
            return None
        _, _, part, exact = _sign(literal)
        if not exact or not part or part[:1] == b"\n":
            return None
        return [(kind, line) for kind, line in self._each.items() if part in kind]

    def count(self, kinds: Iterable[bytes]) -> int:
        """How many lines are of one of these kinds."""
        return sum(map(self._lines.count, kinds))

    def lines_of(self, kind: bytes) -> list[int]:
        """The numbers of the lines of one kind, in order."""
        return [index for index, line in enumerate(self._lines) if line == kind]
