"""Foreign text made inert: quoted, one line of it never an anchor, markup or a terminal's command."""

from __future__ import annotations

ANCHOR = "[SYSTEM ANCHOR]"


def inert(text: str) -> str:
    """`text` with control characters made visible and our own marker defused; line feeds and tabs stay."""
    if not _printable(text):
        text = "".join(c if c in "\n\t" or c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    if "ANCHOR" in text or "anchor" in text.lower():
        text = _defuse(text)
    return text


def _printable(text: str) -> bool:
    """Whether `text` is printable but for line feeds and tabs; in C speed, since every log passes here."""
    return text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable()


def _defuse(text: str) -> str:
    upper, marker, parts, start = text.upper(), "SYSTEM ANCHOR", list[str](), 0
    if len(upper) != len(text):  # a character whose upper case is longer: compare without folding
        upper = text
    while (found := upper.find(marker, start)) >= 0:
        parts += [text[start:found], "quoted-anchor"]
        start = found + len(marker)
    parts.append(text[start:])
    return "".join(parts)


def one_line(text: str, limit: int) -> str:
    """The first `limit` characters of `text` as one inert line."""
    flat = " ".join(inert(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def code(text: str, limit: int = 160) -> str:
    """`text` as one inert line between backticks."""
    return f"`{one_line(text, limit).replace('`', 'ʼ')}`"


def quoted(text: str, limit: int = 200) -> str:
    """`text` as one inert line between double quotes."""
    return '"' + one_line(text, limit).replace('"', "'") + '"'


def block(text: str, indent: str = "") -> str:
    """`text` as quoted lines, each behind `> `: data, never an instruction."""
    return "\n".join(f"{indent}> {line}" for line in inert(text).split("\n"))
