"""Vlk²: the memory of what did not work. Hands each tool call of Hermes to `vlk2-hook hermes` and passes on what
it answers. Whatever goes wrong here, Hermes goes on as if this plugin were not there.

Written by `vlk2 install hermes`, taken away by `vlk2 uninstall hermes`.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from typing import Any, Protocol

HOOK: list[str] = "__VLK2_HOOK__"  # pyright: ignore[reportAssignmentType]
PATIENCE = 2.0
"""Seconds; the hook keeps a deadline of its own that is far below."""


class Registry(Protocol):
    """What this plugin uses of Hermes' plugin context."""

    def register_hook(self, hook_name: str, callback: Callable[..., Any], /) -> None: ...


def register(ctx: Registry) -> None:
    """Called by Hermes when it loads the plugin."""
    ctx.register_hook("pre_tool_call", _before)
    ctx.register_hook("transform_tool_result", _after)
    ctx.register_hook("pre_llm_call", _prompt)
    ctx.register_hook("on_session_finalize", _end)


def _ask(event: str, session: str, **more: Any) -> Mapping[str, Any]:
    folder = os.environ.get("TERMINAL_CWD") or os.getcwd()  # noqa: PTH109
    message = json.dumps({"event": event, "session": session, "directory": folder, **more}, default=str)
    try:
        done = subprocess.run(
            HOOK,
            input=message.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE,
            check=False,
        )
        answer: Any = json.loads(done.stdout) if done.stdout.strip() else {}
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
    return answer if isinstance(answer, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _before(
    tool_name: str = "", args: Any = None, session_id: str = "", tool_call_id: str = "", **_: Any
) -> dict[str, str] | None:
    refuse = _ask("call", session_id, tool=tool_name, call=tool_call_id, args=args).get("refuse")
    return {"action": "block", "message": str(refuse)} if refuse else None


def _after(
    tool_name: str = "",
    args: Any = None,
    result: Any = None,
    session_id: str = "",
    tool_call_id: str = "",
    status: Any = None,
    error_message: Any = None,
    **_: Any,
) -> str | None:
    told = _ask(
        "result",
        session_id,
        tool=tool_name,
        call=tool_call_id,
        args=args,
        result=result,
        status=status,
        error=error_message,
    )
    context = told.get("context")
    if not context or not isinstance(result, str):
        return None
    try:
        held = json.loads(result)
    except ValueError:
        held = None
    if isinstance(held, dict):
        return json.dumps({**held, "memory": context}, ensure_ascii=False)  # pyright: ignore[reportUnknownArgumentType]
    return f"{result}\n\n{context}"


def _prompt(session_id: str = "", is_first_turn: bool = False, **_: Any) -> dict[str, str] | None:
    _ask("prompt", session_id)
    if not is_first_turn:
        return None
    context = _ask("start", session_id, source="startup").get("context")
    return {"context": str(context)} if context else None


def _end(session_id: str = "", **_: Any) -> None:
    if session_id:
        _ask("end", session_id)
