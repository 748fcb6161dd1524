"""Fields of loosely shaped JSON: every reader here takes what fits and gives an empty value for the rest."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import cast


def mapping(value: object) -> dict[str, object]:
    """`value` if it is a JSON object, else an empty one."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def sequence(value: object) -> list[object]:
    """`value` if it is a JSON array, else an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []


def is_object(value: object) -> bool:
    return isinstance(value, dict)


def is_array(value: object) -> bool:
    return isinstance(value, list)


def string(value: object) -> str:
    """`value` if it is a text, else ""."""
    return value if isinstance(value, str) else ""


def integer(value: object) -> int | None:
    """`value` if it is a whole number (true and false are none), else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def flag(value: object) -> bool | None:
    """`value` if it is true or false, else None."""
    return value if isinstance(value, bool) else None


def parsed(text: str) -> object:
    """The JSON value that `text` holds, or None."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def spoken(arguments: object) -> str:
    """Arguments as recorded sessions write them after `TOOL: `, in their recorded order."""
    return json.dumps(arguments, ensure_ascii=False)


def canonical(arguments: object) -> str:
    """Arguments as canonical JSON: sorted keys, no blanks."""
    return json.dumps(arguments, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def plain(content: object) -> str:
    """The text of a message or result: a text, or a list of blocks whose texts stand on lines of their own."""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for block in sequence(content):
        if isinstance(block, str):
            texts.append(block)
        else:
            text = mapping(block).get("text")
            if isinstance(text, str):
                texts.append(text)
    return "\n".join(texts)


def microseconds(value: object) -> int:
    """Microseconds UTC of an ISO text or of seconds or milliseconds since 1970, 0 where it is neither.

    A clock without a zone is taken as UTC.
    """
    if isinstance(value, bool):
        return 0
    if isinstance(value, (int, float)):
        seconds = value / 1000 if value > 100_000_000_000 else value
        return int(seconds * 1_000_000) if 0 < seconds < 100_000_000_000 else 0
    if not isinstance(value, str) or not value:
        return 0
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return 0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1_000_000)
