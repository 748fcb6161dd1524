"""Vlk² in opencode: a plugin file in its plugin folder, the server in `opencode.json(c)`, for both plugin APIs."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

from vlk2.clients import plan as plans
from vlk2.clients.editing import jsonc
from vlk2.clients.editing.shape import value_at
from vlk2.clients.plan import NAME, Edit, Place, Plan

CLIENT = "opencode"
LAUNCHER = '"__VLK2_HOOK__"'
"""What stands in the packaged plugin for the launcher's words."""


def plan(place: Place) -> Plan:
    folder = _folder(place) if place.user else place.root
    config = next(
        (
            path
            for name in ("opencode.jsonc", "opencode.json")
            if place.read(path := str(Path(folder, name))) is not None
        ),
        str(Path(folder, "opencode.json")),
    )
    second = is_second(place, config)
    plugins = str(Path(folder if place.user else str(Path(folder, ".opencode")), "plugins"))
    manual = ["Restart opencode where it is running: it loads plugins and servers at its start."]
    if not place.user:
        manual.append("Each developer needs `vlk2` and `vlk2-hook` on the PATH (`uv tool install vlk2`).")
    return Plan(
        CLIENT,
        "opencode",
        _folder(place),
        (
            plugin(str(Path(plugins, "vlk2.js")), place, second=second),
            server_edit(config, place, second=second),
        ),
        tuple(manual),
    )


def policies(place: Place) -> list[str]:
    found: list[str] = []
    for folder in (_folder(place), place.root):
        for name in ("opencode.json", "opencode.jsonc"):
            path = str(Path(folder, name))
            held = value_at(plans.parsed(place, path), "mcp")
            for entry in (value_at(held, NAME), value_at(held, "servers", NAME)):
                if value_at(entry, "enabled") is False or value_at(entry, "disabled") is True:
                    found.append(f"{path} switches our server off: enable mcp.{NAME}.")
    return found


def is_second(place: Place, config: str) -> bool:
    """Whether this is opencode 2: by the shape that the file has, else by what the program says of itself."""
    document = plans.parsed(place, config)
    servers = value_at(document, "mcp", "servers")
    if value_at(document, "plugins") is not None or (
        isinstance(servers, dict) and "type" not in servers and "command" not in servers
    ):
        return True
    if value_at(document, "mcp") or value_at(document, "plugin") is not None:
        return False
    found = re.search(r"(\d+)\.\d+", place.version("opencode"))
    return bool(found) and int(found.group(1)) >= 2


def plugin(path: str, place: Place, *, second: bool) -> Edit:
    """The plugin that hands each event to `vlk2-hook opencode`."""
    name = "plugin_v2.js" if second else "plugin_v1.js"
    source = resources.files("vlk2.clients.opencode").joinpath(name).read_text(encoding="utf-8")
    words = place.launcher.words(CLIENT)
    return plans.whole_file(path, source.replace(LAUNCHER, json.dumps(words)))


def server_edit(path: str, place: Place, *, second: bool) -> Edit:
    at = ("mcp", "servers", NAME) if second else ("mcp", NAME)
    wanted: dict[str, object] = {"type": "local", "command": place.launcher.serve()}
    if place.launcher.environment:
        wanted["environment"] = dict(place.launcher.environment)
    if not second:
        wanted["enabled"] = True

    def add(text: str) -> str:
        held = value_at(jsonc.parse(text), *at)
        return jsonc.put(text, at, plans.server_entry(held, wanted))

    def remove(text: str, before: Any) -> str:
        given = text
        for held in (("mcp", "servers", NAME), ("mcp", NAME)):
            text = jsonc.drop(text, held, keep=before)
        if before is None and text != given and list(jsonc.parse(text)) == ["$schema"]:
            text = jsonc.drop(text, ("$schema",))  # opencode itself adds that to a file that it finds
        return text

    snippet: object = wanted
    for key in reversed(at):
        snippet = {key: snippet}
    return plans.json_edit(path, add, remove, snippet)


def _folder(place: Place) -> str:
    base = place.environ.get("XDG_CONFIG_HOME") or str(Path(place.home, ".config"))
    return place.environ.get("OPENCODE_CONFIG_DIR") or str(Path(base, "opencode"))
