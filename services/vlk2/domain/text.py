"""The one documented normalisation of a text, done before masking, digests and fingerprints."""

from __future__ import annotations

import re
from functools import cache


@cache
def _surrogates() -> re.Pattern[str]:
    return re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]+")


def _whole(found: re.Match[str]) -> str:
    """A pair is the character that it stands for; anything else of the range stands for nothing."""
    text = found[0]
    if len(text) == 2 and text[0] < "\udc00" <= text[1]:
        return chr(0x10000 + ((ord(text[0]) - 0xD800) << 10) + (ord(text[1]) - 0xDC00))
    return "\ufffd" * len(text)


@cache
def _escapes() -> re.Pattern[str]:
    # CSI sequences, OSC strings (title, hyperlink), charset selections, other two-byte escapes; and last a
    # stray ESC or C1 CSI, so that what is left over can never join into a new sequence.
    return re.compile(
        "\x1b\\[[0-?]*[ -/]*[@-~]"
        "|\x1b\\][^\x07\x1b\n]*(?:\x07|\x1b\\\\)?"
        "|\x1b[()*+][0-9A-Za-z]"
        "|\x1b[PX^_][^\x1b\n]*(?:\x1b\\\\)?"
        "|\x1b[ -~]?"
        "|\x9b[0-?]*[ -/]*[@-~]?"
    )


def _redrawn(line: str) -> str:
    """What a terminal would leave of a line that was redrawn with carriage returns.

    A segment is dropped where the next one draws over it: it shows a percentage or a bar, or both begin
    alike. Any other carriage return was a line break.
    """
    parts = [part for part in line.split("\r") if part]
    kept: list[str] = []
    for at, part in enumerate(parts):
        if at + 1 < len(parts):
            following = parts[at + 1]
            head = part[:4]
            if "%" in part or "\u2588" in part or "##" in part or "==" in part or head == following[:4]:
                continue
        kept.append(part)
    return "\n".join(kept)


def normalise(text: str) -> str:
    """Return `text` in the form that is stored, digested and fingerprinted.

    NUL becomes U+2400 and a lone surrogate U+FFFD; CRLF becomes LF; colour, cursor and title sequences go; a
    line redrawn with lone carriage returns (a progress bar) keeps what a terminal would show at the end.
    Idempotent, and linear in the length of the text.
    """
    if "\x1b" in text or "\x9b" in text:
        text = _escapes().sub("", text)
    if "\x00" in text:
        text = text.replace("\x00", "\u2400")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = _surrogates().sub(_whole, text)
    if "\r" in text:
        lines = text.split("\n")
        last = len(lines) - 1
        lines = [line.rstrip("\r") if at < last else line for at, line in enumerate(lines)]
        text = "\n".join(_redrawn(line) if "\r" in line else line for line in lines)
    return text
