"""Failures that the contract tests let an agent meet, and the event of each."""

from __future__ import annotations

from vlk2.domain.event import Event, EventKind


def rust(trait: str = "Serialize", file: str = "invoice", line: int = 12) -> str:
    return (
        f"error[E0277]: the trait bound `Invoice: {trait}` is not satisfied\n"
        f"  --> src/{file}.rs:{line}:14\n   |\n{line} |     serde_json::to_string(&invoice)\n"
        f"   |     ^^^^^ the trait `{trait}` is not implemented for `Invoice`\n"
    )


def typescript(wanted: str = "Price", file: str = "src/a.ts", line: int = 4) -> str:
    return f"{file}({line},7): error TS2345: Argument of type 'string' is not assignable to parameter of type '{wanted}'."


def python(name: str = "foo_bar", file: str = "ledger/totals.py", line: int = 8) -> str:
    return (
        f'Traceback (most recent call last):\n  File "{file}", line {line}, in <module>\n    total = {name}(rows)\n'
        f"NameError: name '{name}' is not defined\n"
    )


def throttled(seconds: int = 7) -> str:
    return f"HTTP 429 Too Many Requests: retry after {seconds} s"


def told(text: str, command: str = "cargo check", **more: object) -> Event:
    """An explicit record, as `vlk_record_state` makes it."""
    return Event(EventKind.RESULT, tool="Bash", command=command, text=text, explicit=True, **more)  # type: ignore[arg-type]


def hooked(text: str, use_id: str, command: str = "cargo check", **more: object) -> Event:
    """What a hook reports of a tool call: a failure by exit code."""
    given = {"client": "claude-code", "session": "s1", "worktree": "/w", "exit_code": 101, "is_error": True}
    return Event(
        EventKind.RESULT, tool="Bash", command=command, text=text, use_id=use_id, **{**given, **more}
    )  # type: ignore[arg-type]
