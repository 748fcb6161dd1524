"""Vlk² in Codex: hooks in `hooks.json` (or the config's own `[hooks]`), the server in `config.toml`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from vlk2.clients import plan as plans
from vlk2.clients.editing import nested_hooks, toml
from vlk2.clients.editing.shape import items, mapping, value_at
from vlk2.clients.editing.toml import Section
from vlk2.clients.editing.unreadable import Unreadable
from vlk2.clients.plan import NAME, SECONDS, Edit, Place, Plan, Vendor

CLIENT = "codex"
EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Stop",
    "SubagentStop",
    "SessionEnd",
)
_REQUIREMENTS = "/etc/codex/requirements.toml"


def plan(place: Place) -> Plan:
    folder = _folder(place) if place.user else str(Path(place.root, ".codex"))
    config = str(Path(folder, "config.toml"))
    server: Edit | Vendor = server_edit(config, place)
    if place.user:
        passed = [part for pair in place.launcher.environment.items() for part in ("--env", "=".join(pair))]
        server = Vendor(
            server,
            ("codex", "mcp", "add", NAME, *passed, "--", *place.launcher.serve()),
            ("codex", "mcp", "remove", NAME),
        )
    if place.read(str(Path(folder, "hooks.json"))) is None and _hooks_in(place, config):
        hooks = toml_hooks_edit(config, place)  # one form a layer: both would make Codex warn
    else:
        hooks = hooks_edit(str(Path(folder, "hooks.json")), place)
    manual = [
        "In Codex, open /hooks once, look at the new hooks and trust them: until then it skips them silently.",
    ]
    if not place.user:
        manual.append("Codex reads a project's .codex/ only where the user has trusted the project.")
        manual.append("Each developer needs `vlk2` and `vlk2-hook` on the PATH (`uv tool install vlk2`).")
    return Plan(CLIENT, "codex", _folder(place), (server, hooks), tuple(manual))


def policies(place: Place) -> list[str]:
    found: list[str] = []
    for path in (
        str(Path(_folder(place), "config.toml")),
        str(Path(place.root, ".codex", "config.toml")),
    ):
        features = mapping(_document(place, path).get("features"))
        if False in (features.get("hooks"), features.get("codex_hooks")):
            found.append(f"{path} switches hooks off in [features]: set hooks = true.")
    if _document(place, _REQUIREMENTS).get("allow_managed_hooks_only") is True:
        found.append(f"{_REQUIREMENTS} allows managed hooks only: your administrator must add ours.")
    return found


def hook(place: Place) -> dict[str, object]:
    launcher = place.launcher
    entry: dict[str, object] = {"type": "command"}
    if launcher.windows and place.user:
        entry["command"] = entry["commandWindows"] = launcher.cmd(CLIENT)
    else:
        # Codex starts the user's own login shell, whichever that is.
        entry["command"] = launcher.any_shell(CLIENT)
        if not place.user:
            entry["commandWindows"] = launcher.cmd(CLIENT)
    return {**entry, "timeout": SECONDS}


def hooks_edit(path: str, place: Place) -> Edit:
    entry = hook(place)
    wanted: dict[str, object] = {event: {"hooks": [entry]} for event in EVENTS}
    return plans.json_edit(
        path,
        lambda text: nested_hooks.put(text, wanted),
        nested_hooks.drop,
        {"hooks": {event: [group] for event, group in wanted.items()}},
    )


def server_edit(path: str, place: Place) -> Edit:
    command, *arguments = place.launcher.serve()
    wanted: dict[str, object] = {"command": command, "args": arguments}
    if place.launcher.environment:
        wanted["env"] = dict(place.launcher.environment)

    def add(text: str) -> str:
        document = toml.parse(text)
        held = value_at(document, "mcp_servers", NAME)
        entry = plans.server_entry(held, wanted)
        if held == entry:
            return text
        if held is not None:
            text = remove(text, None)
        servers = {**mapping(document.get("mcp_servers")), NAME: entry}
        return toml.append(
            text, toml.table(("mcp_servers", NAME), entry), {**document, "mcp_servers": servers}
        )

    def remove(text: str, original: str | None) -> str:
        document = toml.parse(text)
        if value_at(document, "mcp_servers", NAME) is None:
            return text
        servers = {key: value for key, value in document["mcp_servers"].items() if key != NAME}
        rest = {key: value for key, value in document.items() if key != "mcp_servers"}
        return _cut(text, _own_server, [{**rest, "mcp_servers": servers}, *([] if servers else [rest])])

    return Edit(path, add, remove, toml.alike, toml.table(("mcp_servers", NAME), wanted))


def toml_hooks_edit(path: str, place: Place) -> Edit:
    """Our hooks as tables of `config.toml`, for who keeps hooks there."""
    entry = hook(place)
    block = "\n".join(
        f"[[hooks.{event}]]\n\n[[hooks.{event}.hooks]]\n"
        + "".join(f"{key} = {toml.literal(value)}\n" for key, value in entry.items())
        for event in EVENTS
    )

    def add(text: str) -> str:
        if nested_hooks.events(toml.parse(text)) == {event: [entry] for event in EVENTS}:
            return text
        text = remove(text, None)
        document = toml.parse(text)
        held: dict[str, Any] = dict(document.get("hooks") or {})
        for event in EVENTS:
            held[event] = [*held.get(event, []), {"hooks": [entry]}]
        return toml.append(text, block, {**document, "hooks": held})

    def remove(text: str, original: str | None) -> str:
        document = toml.parse(text)
        if not nested_hooks.events(document):
            return text
        held: dict[str, Any] = {}
        for event, groups in mapping(document["hooks"]).items():
            rest = [g for g in items(groups) if not nested_hooks.all_ours(g)]
            if rest or not isinstance(groups, list):
                held[event] = rest or groups
        others = {key: value for key, value in document.items() if key != "hooks"}
        return _cut(text, _own_hook, [{**others, "hooks": held}, *([] if held else [others])])

    return Edit(path, add, remove, toml.alike, block)


def _cut(
    text: str, ours: Callable[[Sequence[Section], int], bool], expected: Sequence[Mapping[str, Any]]
) -> str:
    """The cut that leaves one of the expected documents (a parent table may stand by itself, or not)."""
    for document in expected[:-1]:
        try:
            return toml.cut(text, ours, document)
        except Unreadable:
            continue
    return toml.cut(text, ours, expected[-1])


def _own_server(sections: Sequence[Section], index: int) -> bool:
    name = sections[index].name.replace(" ", "").replace('"', "").replace("'", "")
    return name == f"mcp_servers.{NAME}" or name.startswith(f"mcp_servers.{NAME}.")


def _own_hook(sections: Sequence[Section], index: int) -> bool:
    """A hook with our launcher, or the group before it that holds nothing else."""
    section = sections[index]
    if section.name.startswith("hooks.") and section.name.endswith(".hooks"):
        return nested_hooks.MARK in section.body
    following = [s for s in sections[index + 1 : index + 3] if s.name == f"{section.name}.hooks"]
    return (
        section.name.startswith("hooks.")
        and len(following) == 1
        and following[0].start == section.end
        and nested_hooks.MARK in following[0].body
    )


def _folder(place: Place) -> str:
    return place.folder("CODEX_HOME", ".codex")


def _hooks_in(place: Place, config: str) -> bool:
    return any(key != "state" for key in mapping(_document(place, config).get("hooks")))


def _document(place: Place, path: str) -> dict[str, Any]:
    try:
        return toml.parse(place.read(path) or "")
    except Unreadable:
        return {}
