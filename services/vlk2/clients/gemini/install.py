"""Vlk² in Gemini CLI: hooks and server in one `settings.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vlk2.clients import plan as plans
from vlk2.clients.editing import jsonc, nested_hooks
from vlk2.clients.editing.shape import value_at
from vlk2.clients.plan import NAME, SECONDS, Edit, Place, Plan

CLIENT = "gemini"
EVENTS = ("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "SessionEnd")


def plan(place: Place) -> Plan:
    if place.user:
        manual = ("Restart Gemini CLI where it is running: it reads its settings at its start.",)
    else:
        manual = (
            "Gemini CLI runs a project's hooks only in a trusted folder, and warns once that they are new.",
            "Each developer needs `vlk2` and `vlk2-hook` on the PATH (`uv tool install vlk2`).",
        )
    return Plan(CLIENT, "gemini", _folder(place), (settings_edit(_settings(place), place),), manual)


def policies(place: Place) -> list[str]:
    found: list[str] = []
    for path in (
        "/etc/gemini-cli/settings.json",
        str(Path(_folder(place), "settings.json")),
        str(Path(place.root, ".gemini", "settings.json")),
    ):
        document = plans.parsed(place, path)
        if value_at(document, "hooksConfig", "enabled") is False:
            found.append(f"{path} sets hooksConfig.enabled to false: no hook runs until it is true.")
        if NAME in (value_at(document, "hooksConfig", "disabled") or []):
            found.append(f"{path} disables our hook: `/hooks enable {NAME}` in Gemini CLI.")
        if NAME in (value_at(document, "mcp", "excluded") or []):
            found.append(f"{path} excludes our server in mcp.excluded: take {NAME} out of it.")
    return found


def settings_edit(path: str, place: Place) -> Edit:
    """Hooks and server. Not by `gemini mcp add`: it lays the whole file out anew, and the hooks go into the
    same file by our own hand anyway."""
    launcher = place.launcher
    command = launcher.powershell(CLIENT) if launcher.windows and place.user else launcher.posix(CLIENT)
    hook = {"type": "command", "name": NAME, "command": command, "timeout": SECONDS * 1000}
    wanted: dict[str, object] = {event: {"hooks": [hook]} for event in EVENTS}
    program, *arguments = launcher.serve()
    server: dict[str, object] = {"command": program, "args": arguments}
    if launcher.environment:
        server["env"] = dict(launcher.environment)

    def add(text: str) -> str:
        text = nested_hooks.put(text, wanted)
        held = value_at(jsonc.parse(text), "mcpServers", NAME)
        return jsonc.put(text, ("mcpServers", NAME), plans.server_entry(held, server))

    def remove(text: str, before: Any) -> str:
        text = nested_hooks.drop(text, before)
        return jsonc.drop(text, ("mcpServers", NAME), keep=before)

    return plans.json_edit(
        path,
        add,
        remove,
        {"hooks": {event: [group] for event, group in wanted.items()}, "mcpServers": {NAME: server}},
    )


def _folder(place: Place) -> str:
    return str(Path(place.environ.get("GEMINI_CLI_HOME") or place.home, ".gemini"))


def _settings(place: Place) -> str:
    folder = _folder(place) if place.user else str(Path(place.root, ".gemini"))
    return str(Path(folder, "settings.json"))
