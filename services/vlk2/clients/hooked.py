"""What the hook adapters of all clients share. Standard library only, and little of it: it runs on every call.

An adapter (`vlk2.clients.NAME.hook`) has two functions: `hear(payload, environ)` turns one event of the client
into a `Heard`, None where it does not know the event; `answer(payload, said)` gives what goes to stdout, "" for
nothing.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from vlk2.domain.event import Event

_OWN_VERBS = (
    "vlk_record_state",
    "vlk_fetch_context",
    "vlk_revoke_future",
    "vlk_pin_memory",
    "vlk_time_travel",
    "vlk_recall",
    "vlk_forget",
)
_STOPPED = (
    "the user doesn't want to proceed with this tool use",
    "the user doesn't want to take this action",
    "request interrupted by user",
    "sibling tool call errored",
    "cancelled: parallel tool call",
    "user rejected",
    "user denied execution",
    "the user denied this operation",
    "operation cancelled",
    "tool call was cancelled",
    "interrupted by user",
    "aborted by user",
    "command rejected by user",
    "exec command rejected by user",
    "patch rejected by user",
    "command blocked by pretooluse hook",
)


class Heard:
    """What one payload of a client says: the event's name in the client's words, the events in ours, the folder
    it happened in, the workspace root that the client names ("" where it names none), and whether the client
    can take a word before a call (`advises`), a refusal of it (`refuses`), and any word at all with this event
    (`speaks`). `mark` tells this report from any other where calls have no id."""

    __slots__ = ("advises", "cwd", "events", "mark", "name", "refuses", "root", "speaks")

    def __init__(
        self,
        name: str,
        events: list[Event],
        *,
        cwd: str = "",
        root: str = "",
        advises: bool = True,
        refuses: bool = True,
        speaks: bool = True,
        mark: str = "",
    ) -> None:
        self.name = name
        self.events = events
        self.cwd = cwd
        self.root = root
        self.advises = advises
        self.refuses = refuses
        self.speaks = speaks
        self.mark = mark


def text_at(payload: Mapping[str, object], key: str) -> str:
    """The text at `key`, "" where there is none."""
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def as_object(value: object) -> dict[str, object]:
    """`value` where it is a JSON object, else {}."""
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def object_at(payload: Mapping[str, object], key: str) -> dict[str, object]:
    """The object at `key`, {} where there is none."""
    return as_object(payload.get(key))


def canonical(value: object) -> str:
    """A JSON value in its one canonical form; "" for None, and a text as it is."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def arguments_of(tool_input: dict[str, object], line: str | None) -> str:
    """The canonical arguments of a call. What a shell call says of itself in prose is no argument of it."""
    if line is not None:
        tool_input = {key: value for key, value in tool_input.items() if key != "description"}
    return canonical(tool_input)


def plain(value: object) -> str:
    """The text of a tool's result: a text, the texts of a list of content blocks, stdout and stderr, or the
    JSON form of anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        blocks: list[object] = value  # pyright: ignore[reportUnknownVariableType]
        return "\n".join(part for part in map(plain, blocks) if part)
    held = as_object(value)
    if isinstance(held.get("text"), str):
        return text_at(held, "text")
    if "stdout" in held or "stderr" in held:
        both = [text_at(held, "stdout"), text_at(held, "stderr")]
        return "\n".join(part for part in both if part)
    content = held.get("content")
    return plain(content) if isinstance(content, str | list) else canonical(value)  # pyright: ignore[reportUnknownArgumentType]


def stopped(text: str) -> bool:
    """Whether a result says that its call was rejected, interrupted, or cancelled by the failure of a sibling."""
    head = text[:200].lower().removeprefix("<tool_use_error>").lstrip(" \n[").removeprefix("error:").lstrip()
    return head.startswith(_STOPPED)


def ours(tool: str, line: str) -> bool:
    """Whether a call is one of our own: a memory tool under any client's prefix, or the `vlk2` command."""
    if tool.endswith(_OWN_VERBS) or tool.startswith(("mcp__vlk2__", "mcp_vlk2_", "vlk2_vlk_", "MCP:vlk_")):
        return True
    if "vlk2" not in line:
        return False
    from vlk2.domain.command import parse

    return not {"vlk2", "vlk2-hook"}.isdisjoint(parse("bash", line).programs)
