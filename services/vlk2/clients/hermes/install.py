"""Vlk² in Hermes: a plugin in its plugin folder, enabled, and the server, both in `config.yaml`."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

from vlk2.clients import plan as plans
from vlk2.clients.editing import yaml
from vlk2.clients.editing.shape import value_at
from vlk2.clients.editing.unreadable import Unreadable
from vlk2.clients.plan import NAME, Edit, Place, Plan
from vlk2.errors import ConfigError

CLIENT = "hermes"
LAUNCHER = '"__VLK2_HOOK__"'
"""What stands in the packaged plugin for the launcher's words."""
_FILES = ("plugin.yaml", "__init__.py")


def plan(place: Place) -> Plan:
    if not place.user:
        raise ConfigError("hermes has no project scope: install it for the user.")
    folder = _folder(place)
    plugin = tuple(_plugin_file(str(Path(folder, "plugins", NAME, name)), name, place) for name in _FILES)
    return Plan(
        CLIENT,
        "hermes",
        folder,
        (*plugin, config_edit(str(Path(folder, "config.yaml")), place)),
        (
            "Restart Hermes (or `/reload-mcp` for the server alone): it loads plugins at its start.",
            "`hermes plugins list` must show vlk2 as enabled, `hermes mcp test vlk2` must connect.",
            "Where its tools are missing in one-shot mode (-z), set mcp_discovery_timeout: 10 in config.yaml: "
            "Hermes waits 1.5 s for a server by itself.",
        ),
    )


def policies(place: Place) -> list[str]:
    path = str(Path(_folder(place), "config.yaml"))
    try:
        document = yaml.parse(place.read(path) or "")
    except Unreadable:
        return []
    found: list[str] = []
    if NAME in (value_at(document, "plugins", "disabled") or []):
        found.append(f"{path} disables our plugin: `hermes plugins enable {NAME}`.")
    if value_at(document, "mcp_servers", NAME, "enabled") is False:
        found.append(f"{path} switches our server off: set mcp_servers.{NAME}.enabled to true.")
    return found


def config_edit(path: str, place: Place) -> Edit:
    """Server and plugin. Not by `hermes mcp add`: it asks, and lays the file out anew."""
    program, *arguments = place.launcher.serve()
    passed = dict(place.launcher.environment)  # Hermes hands a server next to nothing of its own
    wanted: dict[str, object] = {"command": program, "args": arguments}
    if passed:
        wanted["env"] = passed

    def add(text: str) -> str:
        held = value_at(yaml.parse(text), "mcp_servers", NAME)
        text = yaml.put(text, ("mcp_servers", NAME), plans.server_entry(held, wanted))
        return yaml.put_item(text, ("plugins", "enabled"), NAME)

    def remove(text: str, original: str | None) -> str:
        before: Any = None
        if original is not None:
            try:
                before = yaml.parse(original)
            except Unreadable:
                before = None
        text = yaml.drop(text, ("mcp_servers", NAME), keep=before)
        return yaml.drop_item(text, ("plugins", "enabled"), NAME, keep=before)

    snippet = (
        f"mcp_servers:\n  {NAME}:\n    command: {json.dumps(program)}\n    args: {json.dumps(arguments)}\n"
        + (f"    env: {json.dumps(passed)}\n" if passed else "")
        + f"plugins:\n  enabled:\n    - {NAME}\n"
    )
    return Edit(path, add, remove, yaml.alike, snippet)


def _plugin_file(path: str, name: str, place: Place) -> Edit:
    source = resources.files("vlk2.clients.hermes").joinpath("plugin", name).read_text(encoding="utf-8")
    return plans.whole_file(path, source.replace(LAUNCHER, json.dumps(place.launcher.words(CLIENT))))


def _folder(place: Place) -> str:
    return place.folder("HERMES_HOME", ".hermes")
