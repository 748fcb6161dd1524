"""Vlk² in Claude Code: hooks in `settings.json`, the server by `claude mcp` (or `.mcp.json` for a project)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from vlk2.clients import plan as plans
from vlk2.clients.editing import jsonc, nested_hooks
from vlk2.clients.editing.shape import value_at
from vlk2.clients.plan import NAME, SECONDS, Edit, Place, Plan, Vendor

CLIENT = "claude-code"
EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStop",
    "PreCompact",
    "SessionEnd",
)
_MANAGED = {
    "darwin": "/Library/Application Support/ClaudeCode/managed-settings.json",
    "win32": r"C:\Program Files\ClaudeCode\managed-settings.json",
}


def plan(place: Place) -> Plan:
    folder = _folder(place)
    if place.user:
        server: Edit | Vendor = _vendor(place)
        manual = ("Restart Claude Code where it is running: it reads hooks and servers at its start.",)
    else:
        server = server_edit(str(Path(place.root, ".mcp.json")), place)
        manual = (
            "Claude Code asks each user once to approve the server of .mcp.json: say yes.",
            "Each developer needs `vlk2` and `vlk2-hook` on the PATH (`uv tool install vlk2`).",
        )
    return Plan(CLIENT, "claude", folder, (hooks_edit(_settings(place), place), server), manual)


def policies(place: Place) -> list[str]:
    managed = Path(_MANAGED.get(sys.platform, "/etc/claude-code/managed-settings.json"))
    found: list[str] = []
    for path in (
        str(managed),
        *(str(path) for path in sorted(managed.parent.glob("managed-settings.d/*.json"))),
        str(Path(_folder(place), "settings.json")),
        str(Path(place.root, ".claude", "settings.json")),
        str(Path(place.root, ".claude", "settings.local.json")),
    ):
        document = plans.parsed(place, path)
        if value_at(document, "disableAllHooks") is True:
            found.append(f"{path} sets disableAllHooks: take it out, or no hook runs.")
        if value_at(document, "allowManagedHooksOnly") is True:
            found.append(
                f"{path} sets allowManagedHooksOnly: your administrator must add the hooks of "
                "`vlk2 install claude-code --dry-run` to the managed settings."
            )
    return found


def groups(place: Place) -> dict[str, object]:
    """Our group of each event."""
    launcher = place.launcher
    if launcher.windows and place.user:
        program, *arguments = launcher.words(CLIENT)
        hook: dict[str, object] = {"type": "command", "command": program, "args": arguments}
    else:
        hook = {"type": "command", "command": launcher.posix(CLIENT)}
    return {event: {"hooks": [{**hook, "timeout": SECONDS}]} for event in EVENTS}


def hooks_edit(path: str, place: Place) -> Edit:
    wanted = groups(place)
    return plans.json_edit(
        path, lambda text: nested_hooks.put(text, wanted), nested_hooks.drop, {"hooks": _listed(wanted)}
    )


def server_edit(path: str, place: Place) -> Edit:
    wanted = server(place)

    def add(text: str) -> str:
        held = value_at(jsonc.parse(text), "mcpServers", NAME)
        return jsonc.put(text, ("mcpServers", NAME), plans.server_entry(held, wanted))

    return plans.json_edit(
        path,
        add,
        lambda text, before: jsonc.drop(text, ("mcpServers", NAME), keep=before),
        {"mcpServers": {NAME: wanted}},
    )


def server(place: Place) -> dict[str, object]:
    command, *arguments = place.launcher.serve()
    entry: dict[str, object] = {"type": "stdio", "command": command, "args": arguments}
    if place.launcher.environment:
        entry["env"] = dict(place.launcher.environment)
    return entry


def _vendor(place: Place) -> Vendor:
    return Vendor(
        server_edit(_state(place), place),
        ("claude", "mcp", "add-json", "--scope", "user", NAME, json.dumps(server(place))),
        ("claude", "mcp", "remove", "--scope", "user", NAME),
    )


def _folder(place: Place) -> str:
    return place.folder("CLAUDE_CONFIG_DIR", ".claude")


def _settings(place: Place) -> str:
    folder = _folder(place) if place.user else str(Path(place.root, ".claude"))
    return str(Path(folder, "settings.json"))


def _state(place: Place) -> str:
    """Claude Code's own state file, which it rewrites while it runs."""
    return str(Path(place.environ.get("CLAUDE_CONFIG_DIR") or place.home, ".claude.json"))


def _listed(wanted: dict[str, object]) -> dict[str, list[object]]:
    return {event: [group] for event, group in wanted.items()}
