"""The MCP server: seven tools that translate between an agent and the memory, and decide nothing."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import mcp_types as types
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError, ValidationError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import FunctionTool, ToolResult
from mcp_types import TextContent, ToolAnnotations
from pydantic import Field
from pydantic import ValidationError as PydanticValidationError

from vlk2 import __version__
from vlk2.app.show import entry_line, story_text
from vlk2.bootstrap import Memory
from vlk2.domain.event import Event, EventKind
from vlk2.domain.observation import Outcome
from vlk2.domain.payload import call_of
from vlk2.errors import Vlk2Error
from vlk2.identity import package_root, stamps

INSTRUCTIONS = (
    "Vlk² is the memory of what did not work in this project. Call vlk_fetch_context when you begin and after a "
    "compaction, vlk_record_state when a command fails. A failure met three times becomes a [SYSTEM ANCHOR] "
    "constraint: do not retry what it names; vlk_revoke_future withdraws it if it is a misdiagnosis."
)

Remember = Callable[[], Memory]
"""The memory of the caller: one for a stdio server, the token's over HTTP."""


class _Tool(FunctionTool):
    """A tool listed without what costs tokens and says nothing: FastMCP's `_meta`, the title a second time."""

    def to_mcp_tool(self, **overrides: Any) -> types.Tool:
        listed = super().to_mcp_tool(**overrides)
        listed.meta = None
        listed.title = None
        return listed


class _PlainErrors(Middleware):
    """Arguments of a wrong type get one clear line, which never repeats the input."""

    async def on_call_tool(
        self, context: MiddlewareContext[types.CallToolRequestParams], call_next: CallNext[Any, Any]
    ) -> Any:
        try:
            return await call_next(context)
        except ValidationError as error:
            cause = error.__cause__
            if not isinstance(cause, PydanticValidationError):
                raise
            faults = [
                f"{'.'.join(map(str, one['loc']))}: {one['msg']}"
                for one in cause.errors(include_url=False, include_input=False)[:5]
            ]
            raise _refusal(f"{context.message.name}: {'; '.join(faults)}") from None


Surroundings = Callable[[], tuple[str, str]]
"""What lies around a call on disk: git's stamps as JSON, and the package root."""


def surroundings_of(workspace: str) -> Surroundings:
    """Those of a folder, looked at anew at each call."""
    return lambda: (stamps(workspace), package_root(workspace))


def build(
    remember: Remember,
    around: Surroundings,
    *,
    auth: Any = None,
    middleware: Sequence[Middleware] = (),
    resource: Callable[[str], str] | None = None,
) -> FastMCP:
    """The server over the memory that `remember` answers for each call. What `around` tells is kept with what
    is recorded. `resource` reads a resource by its URI where the memory lies elsewhere."""
    server: FastMCP = FastMCP(
        "vlk2",
        version=__version__,
        instructions=INSTRUCTIONS,
        middleware=[*middleware, _PlainErrors()],
        strict_input_validation=True,
        mask_error_details=True,
        on_duplicate="error",
        auth=auth,
    )
    for tool in _tools(remember, around):
        server.add_tool(tool)
    _resources(server, remember, resource)
    return server


def _tools(remember: Remember, around: Surroundings) -> list[FunctionTool]:
    def record_state(
        raw_log: Annotated[str, Field(description="what the tool printed")],
        file_context: Annotated[str, Field(description="file it is about")] = "",
        tool_payload: Annotated[
            str, Field(description="the command, or JSON with tool, command, exit_code")
        ] = "",
        outcome: Literal["auto", "failure", "success", "unknown"] = "auto",
    ) -> ToolResult:
        call = call_of(tool_payload)
        stamped, root = around()
        event = Event(
            EventKind.RESULT,
            tool=call.tool,
            command=call.command,
            input=call.input,
            text=raw_log,
            exit_code=call.exit_code,
            explicit=True,
            place=file_context,
        )
        done = remember().record(
            event,
            outcome=None if outcome == "auto" else Outcome(outcome),
            stamps=stamped,
            root=root,
        )
        return _answer(
            done.text,
            entry_id=done.entry_id,
            state=done.state,
            language=done.fingerprint.language if done.fingerprint else None,
            type=done.fingerprint.type if done.fingerprint else None,
            repeats=done.repeats,
            loop=done.loop,
            constraint_id=done.constraint.entry.id if done.constraint else None,
        )

    def fetch_context(
        query: Annotated[str, Field(description="ranks, never filters")] = "",
        max_tokens: Annotated[int, Field(description="0: the budget", ge=0)] = 0,
    ) -> ToolResult:
        found = remember().fetch_context(query, max_tokens, lambda: around()[0])
        return _answer(
            found.text,
            tokens=found.tokens,
            budget=found.budget,
            left_out=found.left_out,
            constraint_ids=list(found.constraint_ids),
        )

    def revoke_future(
        constraint_id: str, reason: Annotated[str, Field(description="why it is wrong")]
    ) -> ToolResult:
        done = remember().revoke(constraint_id, reason)
        return _answer(done.text, constraint_id=done.constraint_id, state=done.state)

    def pin_memory(entry_id: str, pinned: bool = True) -> ToolResult:
        done = remember().pin(entry_id, pinned=pinned)
        return _answer(done.text, entry_id=done.entry_id, pinned=done.pinned)

    def time_travel(
        entry_ids: list[str],
        lesson: Annotated[str, Field(description="what did not work and why, at most 500 characters")],
    ) -> ToolResult:
        done = remember().time_travel(entry_ids, lesson)
        return _answer(done.text, constraint_id=done.constraint_id, archived=list(done.archived))

    def recall(
        query: Annotated[str, Field(description="error code, symbol, file or command")],
        limit: Annotated[int, Field(ge=1, le=50)] = 5,
    ) -> ToolResult:
        done = remember().recall(query, limit)
        return _answer(done.text, ids=list(done.ids))

    def forget(entry_id: str, reason: str) -> ToolResult:
        done = remember().forget(entry_id, reason)
        return _answer(done.text, entry_id=done.entry_id, state=done.state)

    text, integer, flag, maybe = "string", "integer", "boolean", ("string", "null")
    return [
        _tool(
            record_state,
            "Record a failure",
            "Call after a command or tool fails, with what it printed. Counts the same failure by language and "
            "type, whatever its line or path; at the third repeat the answer holds a [SYSTEM ANCHOR] constraint. "
            "Record a success too (outcome=success): it retires the constraint.",
            {
                "entry_id": maybe,
                "state": maybe,
                "language": maybe,
                "type": maybe,
                "repeats": integer,
                "loop": flag,
                "constraint_id": maybe,
            },
        ),
        _tool(
            fetch_context,
            "What to know now",
            "Call when you begin a task, after a compaction, and before retrying what failed: active constraints, "
            "what the team learned of present failures, then recent failures, newest first.",
            {"tokens": integer, "budget": integer, "left_out": integer, "constraint_ids": "array"},
            read_only=True,
        ),
        _tool(
            revoke_future,
            "Withdraw a constraint",
            "Withdraw a constraint that rests on a misdiagnosis. Its failure then needs twice the evidence.",
            {"constraint_id": text, "state": text},
            destructive=True,
        ),
        _tool(
            pin_memory,
            "Pin an entry",
            "Protect an entry or constraint from budget, age and forgetting (pinned=false takes it away).",
            {"entry_id": text, "pinned": flag},
            idempotent=True,
        ),
        _tool(
            time_travel,
            "Declare a dead end",
            "Give up an approach: its entries are archived and your lesson becomes a constraint.",
            {"constraint_id": text, "archived": "array"},
        ),
        _tool(
            recall,
            "Search the archive",
            "Search archived failures and the team's facts when an error looks familiar.",
            {"ids": "array"},
            read_only=True,
        ),
        _tool(
            forget,
            "Forget an entry",
            "Erase an entry's text for good, for instance a secret or a mistake.",
            {"entry_id": text, "state": text},
            destructive=True,
        ),
    ]


def _tool(
    function: Callable[..., ToolResult],
    title: str,
    description: str,
    answers: dict[str, str | tuple[str, ...]],
    *,
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
) -> FunctionTool:
    guarded = _guarded(function)
    return _Tool.from_function(
        guarded,
        name=f"vlk_{function.__name__}",
        description=description,
        output_schema=_shape(answers),
        annotations=ToolAnnotations(
            title=title,
            read_only_hint=read_only,
            destructive_hint=destructive,
            idempotent_hint=idempotent or read_only,
            open_world_hint=False,
        ),
    )


def _guarded(function: Callable[..., ToolResult]) -> Callable[..., ToolResult]:
    """Our own errors become the tool's: their text says what is wrong and what to do."""
    from functools import wraps

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> ToolResult:
        try:
            return function(*args, **kwargs)
        except Vlk2Error as error:
            raise _refusal(error.message) from error

    return call


def _refusal(message: str) -> ToolError:
    return ToolError(message, log_level=logging.DEBUG)


def _answer(text: str, **fields: Any) -> ToolResult:
    """The text whole in both places, since clients show the model one or the other."""
    return ToolResult(
        content=[TextContent(type="text", text=text)], structured_content={"text": text, **fields}
    )


def _shape(answers: dict[str, str | tuple[str, ...]]) -> dict[str, Any]:
    members: dict[str, Any] = {"text": {"type": "string"}}
    for name, kind in answers.items():
        if kind == "array":
            members[name] = {"type": "array", "items": {"type": "string"}}
        else:
            members[name] = {"type": list(kind) if isinstance(kind, tuple) else kind}
    return {"type": "object", "properties": members, "required": list(members)}


def _resources(server: FastMCP, remember: Remember, elsewhere: Callable[[str], str] | None) -> None:
    def context() -> str:
        return elsewhere("vlk://context") if elsewhere else remember().fetch_context().text

    def timeline(state: str) -> str:
        if elsewhere:
            return elsewhere(f"vlk://timeline/{state}")
        return "\n".join(entry_line(entry) for entry in remember().list_state(state)) or "nothing"

    def entry(id: str) -> str:  # noqa: A002 - the name in the URI template
        if elsewhere:
            return elsewhere(f"vlk://entry/{id}")
        memory = remember()
        return story_text(memory.story(id), memory.clock())

    for uri, function, description in (
        ("vlk://context", context, "What an agent should know now"),
        ("vlk://timeline/{state}", timeline, "The newest entries in PRESENT, PAST, FUTURE or PURGED"),
        ("vlk://entry/{id}", entry, "One entry whole, with its audit trail"),
    ):
        server.resource(uri, description=description, mime_type="text/plain")(_readable(function))


def _readable(function: Callable[..., str]) -> Callable[..., str]:
    from functools import wraps

    from mcp.shared.exceptions import MCPError

    @wraps(function)
    def read(*args: Any, **kwargs: Any) -> str:
        try:
            return function(*args, **kwargs)
        except Vlk2Error as error:
            raise MCPError(types.INVALID_PARAMS, error.message) from error

    return read


def serve_stdio() -> None:
    """`vlk2 serve`: one owner's memory on stdin and stdout, with the cycle beside it."""
    from vlk2 import seen
    from vlk2.bootstrap import owner_of
    from vlk2.cycle import CycleThread
    from vlk2.draining import Drainer
    from vlk2.identity import workspace, worktree_of
    from vlk2.mcp.stdio import run_stdio
    from vlk2.remote_memory import RemoteMemory, memory_for
    from vlk2.settings import load
    from vlk2.userfile import data_directory

    settings = load()
    root = workspace(os.environ, os.getcwd())  # noqa: PTH109
    memory = memory_for(settings, owner_of(settings, os.environ, root), os.environ)
    memory.workspace = worktree_of(root)
    far = isinstance(memory, RemoteMemory)
    # For `vlk2 doctor`: hook and server must be of one store.
    seen.note(data_directory(os.environ), "server", "start", settings.store, memory.clock())
    server = build(
        lambda: memory,
        surroundings_of(root),
        resource=memory.read if isinstance(memory, RemoteMemory) else None,
    )
    cycle = None if settings.broker or far else CycleThread(memory)
    drainer = Drainer(memory, data_directory(os.environ))
    if cycle:
        cycle.start()
    drainer.start()
    try:
        run_stdio(server)
    finally:
        drainer.stop()
        if cycle:
            cycle.stop()
        memory.close()
