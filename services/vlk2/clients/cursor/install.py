"""Vlk² in Cursor: hooks in `hooks.json` (version 1), the server in `mcp.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vlk2.clients import plan as plans
from vlk2.clients.editing import jsonc, nested_hooks
from vlk2.clients.editing.shape import mapping, value_at
from vlk2.clients.editing.unreadable import Unreadable
from vlk2.clients.plan import NAME, SECONDS, Edit, Place, Plan

CLIENT = "cursor"
EVENTS = (
    "sessionStart",
    "beforeSubmitPrompt",
    "preToolUse",
    "postToolUse",
    "postToolUseFailure",
    "subagentStop",
    "sessionEnd",
)


def plan(place: Place) -> Plan:
    folder = str(Path(place.home if place.user else place.root, ".cursor"))
    manual = ["In Cursor, open Settings > MCP and switch vlk2 on: a new server starts switched off."]
    if not place.user:
        manual.append("Each developer needs `vlk2` and `vlk2-hook` on the PATH (`uv tool install vlk2`).")
    return Plan(
        CLIENT,
        "cursor",
        str(Path(place.home, ".cursor")),
        (
            hooks_edit(str(Path(folder, "hooks.json")), place),
            server_edit(str(Path(folder, "mcp.json")), place),
        ),
        tuple(manual),
    )


def policies(place: Place) -> list[str]:
    return []


def hooks_edit(path: str, place: Place) -> Edit:
    launcher = place.launcher
    command = launcher.cmd_from_any(CLIENT) if launcher.windows and place.user else launcher.any_shell(CLIENT)
    hook = {"command": command, "timeout": SECONDS}

    def add(text: str) -> str:
        document = jsonc.parse(text)
        version = value_at(document, "version")
        if version is None:
            text = jsonc.put(text, ("version",), 1)
        elif version != 1:
            raise Unreadable(f"it has version {version}, and we know version 1")
        for event in EVENTS:
            text = jsonc.put_item(text, ("hooks", event), hook, nested_hooks.ours)
        return text

    def remove(text: str, before: Any) -> str:
        given = text
        for event in mapping(value_at(jsonc.parse(text), "hooks")):
            held = text
            text = jsonc.drop_items(text, ("hooks", event), nested_hooks.ours)
            if text != held:
                text = jsonc.prune(text, ("hooks", event), before)
        left = value_at(jsonc.parse(text), "hooks")
        ours = value_at(before, "version") is None and left in (None, {}, value_at(before, "hooks"))
        return jsonc.drop(text, ("version",)) if text != given and ours else text

    return plans.json_edit(path, add, remove, {"version": 1, "hooks": {event: [hook] for event in EVENTS}})


def server_edit(path: str, place: Place) -> Edit:
    program, *arguments = place.launcher.serve()
    wanted: dict[str, object] = {"command": program, "args": arguments}
    if place.launcher.environment:
        wanted["env"] = dict(place.launcher.environment)

    def add(text: str) -> str:
        held = value_at(jsonc.parse(text), "mcpServers", NAME)
        return jsonc.put(text, ("mcpServers", NAME), plans.server_entry(held, wanted))

    return plans.json_edit(
        path,
        add,
        lambda text, before: jsonc.drop(text, ("mcpServers", NAME), keep=before),
        {"mcpServers": {NAME: wanted}},
    )
