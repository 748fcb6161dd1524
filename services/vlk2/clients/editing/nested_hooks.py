"""The hooks of Claude Code, Codex and Gemini CLI: event -> groups of (matcher, hooks). Ours is one group an event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vlk2.clients.editing import jsonc
from vlk2.clients.editing.unreadable import Unreadable

MARK = "vlk2-hook"


def ours(hook: object) -> bool:
    """Whether a hook's command is our launcher."""
    return isinstance(hook, dict) and any(
        MARK in str(hook.get(name, ""))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        for name in ("command", "commandWindows", "command_windows")
    )


def all_ours(group: object) -> bool:
    inner = _inner(group)
    return bool(inner) and all(ours(hook) for hook in inner)


def events(document: object) -> dict[str, list[Any]]:
    """Our hooks in a parsed file, by event."""
    hooks = document.get("hooks") if isinstance(document, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    found: dict[str, list[Any]] = {}
    if isinstance(hooks, dict):
        for event, groups in hooks.items():  # pyright: ignore[reportUnknownVariableType]
            if isinstance(groups, list):
                own = [hook for group in groups for hook in _inner(group) if ours(hook)]  # pyright: ignore[reportUnknownVariableType]
                if own:
                    found[str(event)] = own  # pyright: ignore[reportUnknownArgumentType]
    return found


def put(text: str, wanted: Mapping[str, object]) -> str:
    """The text with exactly these groups as ours, each under its event; foreign hooks stay where they are."""
    document = jsonc.parse(text)
    hooks = document.get("hooks", {}) if isinstance(document, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(hooks, dict):
        raise Unreadable("hooks is not an object")
    stale = [event for event in events(document) if event not in wanted]
    for event in stale:
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
    document = jsonc.parse(text)
    hooks = document.get("hooks") if isinstance(document, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    groups = hooks.get(event) if isinstance(hooks, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(groups, list):
        return text
    for index, group in enumerate(groups):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        if any(ours(hook) for hook in _inner(group)) and not all_ours(group):
            text = jsonc.drop_inner_items(text, ("hooks", event), index, "hooks", ours)
    return text


def _inner(group: object) -> list[Any]:
    held = group.get("hooks") if isinstance(group, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return held if isinstance(held, list) else []  # pyright: ignore[reportUnknownVariableType]
