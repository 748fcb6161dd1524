"""A text over 64 KiB keeps its head and its tail, and says so."""

from __future__ import annotations

LOG_LIMIT = 64 * 1024
_HEAD_SHARE = 0.6


def clip(text: str, limit: int = LOG_LIMIT) -> str:
    """`text` where its UTF-8 form has at most `limit` bytes, else its first 60 % and its last 40 % of that
    around a line that says how much was left out."""
    if len(text) * 4 <= limit:
        return text
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= limit:
        return text
    room = limit - 64
    head = data[: int(room * _HEAD_SHARE)].decode("utf-8", "ignore")
    tail = data[len(data) - (room - int(room * _HEAD_SHARE)) :].decode("utf-8", "ignore")
    return f"{head}\n[… {len(data) - room} bytes left out by Vlk² …]\n{tail}"
