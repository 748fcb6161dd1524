"""The hooks of Claude Code, Codex and Gemini CLI: event -> groups of (matcher, hooks). Ours is one group an event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vlk2.clients.editing import jsonc
from vlk2.clients.editing.shape import items, mapping, value_at
from vlk2.clients.editing.unreadable import Unreadable

MARK = "vlk2-hook"


def ours(hook: object) -> bool:
    """Whether a hook's command is our launcher."""
    held = mapping(hook)
    return any(
        MARK in str(held.get(name, "")) for name in ("command", "commandWindows", "command_windows", "args")
    )


def all_ours(group: object) -> bool:
    """Whether a group holds our hooks and no others."""
    inner = _inner(group)
    return bool(inner) and all(ours(hook) for hook in inner)


def events(document: object) -> dict[str, list[Any]]:
    """Our hooks in a parsed file, by event."""
    found: dict[str, list[Any]] = {}
    for event, groups in mapping(value_at(document, "hooks")).items():
        own = [hook for group in items(groups) for hook in _inner(group) if ours(hook)]
        if own:
            found[event] = own
    return found


def put(text: str, wanted: Mapping[str, object]) -> str:
    """The text with exactly these groups as ours, each under its event; foreign hooks stay where they are."""
    document = jsonc.parse(text)
    if not isinstance(mapping(document).get("hooks", {}), dict):
        raise Unreadable("hooks is not an object")
    for event in events(document):
        if event not in wanted:
            text = _drop(text, event, None)
    for event, group in wanted.items():
        text = _separate(text, event)
        text = jsonc.put_item(text, ("hooks", event), group, all_ours)
    return text


def drop(text: str, original: object) -> str:
    """The text without our hooks, and without the containers that this empties, but for those of `original`."""
    for event in events(jsonc.parse(text)):
        text = _drop(text, event, original)
    return text


def _drop(text: str, event: str, original: object) -> str:
    text = _separate(text, event)
    text = jsonc.drop_items(text, ("hooks", event), all_ours)
    return jsonc.prune(text, ("hooks", event), original)


def _separate(text: str, event: str) -> str:
    """Takes our hooks out of groups that hold foreign ones too."""
    for index, group in enumerate(items(value_at(jsonc.parse(text), "hooks", event))):
        if any(ours(hook) for hook in _inner(group)) and not all_ours(group):
            text = jsonc.drop_inner_items(text, ("hooks", event), index, "hooks", ours)
    return text


def _inner(group: object) -> list[Any]:
    return items(mapping(group).get("hooks"))
