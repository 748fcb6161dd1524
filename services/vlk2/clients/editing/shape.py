"""Looking into a parsed document of unknown shape."""

from __future__ import annotations

from typing import Any, cast


def mapping(value: object) -> dict[str, Any]:
    """The value where it is a mapping, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """The value where it is a list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def value_at(document: object, *path: str) -> Any:
    """What a document holds at a path, None where nothing."""
    for key in path:
        document = mapping(document).get(key)
    return document
