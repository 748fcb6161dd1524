"""Recorded steps: what every transcript reader yields, and the one place that numbers, costs and marks them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from vlk2.clients.loose import canonical, is_array, mapping, sequence, spoken, string
from vlk2.domain.event import Event, EventKind
from vlk2.domain.payload import call_of


class Step(NamedTuple):
    """One event of a recorded session.

    `i` is the position of a RESULT, from 0 (the record's own `i` in the neutral format), and of any other
    event that of the next RESULT. `run` tells the runs of one file apart: equal for equal client session,
    subagent and row.
    """

    i: int
    run: str
    event: Event


class Call(NamedTuple):
    """A tool call that awaits its result: the client's tool name, its arguments as parsed, its id and message."""

    tool: str
    arguments: object
    use_id: str = ""
    batch: str = ""
    at: int = 0
    command: str | None = None
    worktree: str = ""


_SHELLS: Final = frozenset(
    [
        "bash",
        "powershell",
        "shell",
        "shell_command",
        "exec_command",
        "local_shell",
        "container.exec",
        "unified_exec",
        "execute_bash",
        "run_shell_command",
        "execute_command",
        "terminal",
        "run_terminal_cmd",
    ]
)
_OWN_TOOL: Final = re.compile(
    r"(?:^|[_.:/-])vlk_(?:record_state|fetch_context|revoke_future|pin_memory|time_travel|recall|forget)$"
)
_STOPPED: Final = re.compile(
    r"\s*(?:<tool_use_error>\s*|Error:\s*|\[)*(?:"
    r"The user doesn't want to (?:proceed with this tool use|take this action)"
    r"|Request interrupted by user|Sibling tool call errored|Cancelled: parallel tool call"
    r"|User rejected (?:tool|this|the) |User denied execution|The user denied this operation"
    r"|Operation Cancelled\]|Tool call was cancelled|Interrupted by user|aborted by user"
    r"|(?:exec command|command|patch) rejected by user|Tool \[[^\]\n]*\] was not executed because)",
    re.IGNORECASE,
)
_STATED: Final = re.compile(
    r"(?:<exception>.{0,4000}?</exception>\s*)?<returncode>(-?\d+)</returncode>", re.DOTALL
)
_LED: Final = re.compile(r"(?:Error: )?Exit code (\d+)(?:\r?\n|$)")


def stopped(text: str) -> bool:
    """Whether a result's text says that the call was rejected, interrupted, or cancelled by a sibling's error."""
    return _STOPPED.match(text) is not None


def stated_exit_code(text: str, *, is_error: bool | None) -> int | None:
    """The exit code that leads a result's text: `<returncode>N</returncode>` (mini-swe-agent) always, and
    `Exit code N` (Claude Code) where the client called the result an error."""
    found = _STATED.match(text) or (_LED.match(text) if is_error else None)
    return int(found.group(1)) if found else None


def shell_line(tool: str, arguments: object) -> str | None:
    """The shell command that a call runs, None where the tool is no shell: `["bash","-lc",c]` is `c`."""
    if tool.lower().rpartition("__")[2] not in _SHELLS:
        return None
    given = mapping(arguments)
    for key in ("command", "cmd", "script"):
        value = given.get(key)
        if isinstance(value, str):
            return value
        if is_array(value):
            return argv_line(sequence(value))
    return None


def argv_line(argv: list[object]) -> str:
    """An argument list as one line; the last word of `SHELL -c LINE` alone."""
    words = [word for word in argv if isinstance(word, str)]
    if len(words) >= 3 and words[-2] in ("-c", "-lc", "-lic", "-Command", "-command", "/c", "/C"):
        return words[-1]
    return " ".join(words)


def estimated_tokens(command: str, text: str) -> int:
    """Tokens of a step whose client records no usage: a quarter of the characters of its call and its result."""
    return (len(command) + len(text)) // 4


class Run:
    """One run of a file: makes its events, each with its place, its cost and its marks."""

    def __init__(
        self, tape: Tape, name: str, *, session: str, subagent: str = "", worktree: str = ""
    ) -> None:
        self.name = name
        self.session = session
        self.subagent = subagent
        self.worktree = worktree
        self._tape = tape
        self._usage: dict[str, int] = {}
        self._counted: set[str] = set()
        self._measured = False

    def spend(self, message: str, tokens: int | None) -> None:
        """Note the tokens that one assistant message cost, by its id; told again, the larger figure counts.
        They are put on the next result, once."""
        if tokens is not None and tokens > 0:
            self._measured = True
            if message not in self._counted:
                self._usage[message] = max(tokens, self._usage.get(message, 0))

    def frame(self, kind: EventKind, at: int = 0, text: str = "") -> Step:
        """A session's start or end, or a compaction."""
        return self._framed(kind, at, text)

    def prompt(self, text: str, at: int = 0) -> Step:
        """What the user said."""
        return self._framed(EventKind.PROMPT, at, text)

    def result(
        self,
        call: Call,
        text: str,
        *,
        at: int = 0,
        is_error: bool | None = None,
        exit_code: int | None = None,
        interrupted: bool = False,
        i: int | None = None,
    ) -> list[Step]:
        """A finished call: one step, or none (though it is numbered) for a call of Vlk²'s own tools, but for an
        explicit record, whose text and place are those that it recorded."""
        place = ""
        explicit = False
        tool, command, arguments = call.tool, call.command, call.arguments
        if _OWN_TOOL.search(call.tool):
            given = mapping(call.arguments)
            if not call.tool.endswith("record_state"):
                self._tape.advance(self, i)
                return []
            explicit = True
            text, place = string(given.get("raw_log")), string(given.get("file_context"))
            named = call_of(string(given.get("tool_payload")))
            is_error = {"failure": True, "success": False}.get(string(given.get("outcome")))
            exit_code = named.exit_code
            tool, command, arguments = named.tool, named.command, None
        if command is None:
            line = shell_line(tool, arguments)
            command = spoken(arguments) if line is None else line
        tokens = sum(self._usage.values()) if self._measured else estimated_tokens(command, text)
        self._counted.update(self._usage)
        self._usage.clear()
        position = self._tape.advance(self, i)
        event = Event(
            EventKind.RESULT,
            client=self._tape.client,
            session=self.session,
            subagent=self.subagent,
            worktree=call.worktree or self.worktree,
            use_id=call.use_id,
            batch=call.batch,
            at=at or call.at,
            tool=tool,
            command=command,
            input=canonical(arguments) if arguments else "",
            text=text,
            is_error=is_error,
            exit_code=exit_code,
            interrupted=interrupted or stopped(text),
            explicit=explicit,
            place=place,
            tokens=tokens,
        )
        return [Step(position, self.name, event)]

    def _framed(self, kind: EventKind, at: int, text: str) -> Step:
        event = Event(
            kind,
            client=self._tape.client,
            session=self.session,
            subagent=self.subagent,
            worktree=self.worktree,
            at=at,
            text=text,
        )
        return Step(self._tape.position(self), self.name, event)


class Tape:
    """The runs of one file and the numbering of its steps: one row of numbers for the whole file, or one for
    each run where a file is a collection of runs (`each`)."""

    def __init__(self, client: str, *, each: bool = False) -> None:
        self.client = client
        self._each = each
        self._next: dict[str, int] = {}
        self._named: dict[str, int] = {}

    def row(self, session: str, *, worktree: str = "") -> Run:
        """The run of another row of the file: named for its session, with `#2` and on where that is not the
        first of this name."""
        count = self._named[session] = self._named.get(session, 0) + 1
        name = session if count == 1 else f"{session}#{count}"
        return self.run(name, session=session, worktree=worktree)

    def run(self, name: str, *, session: str, subagent: str = "", worktree: str = "") -> Run:
        return Run(self, name, session=session, subagent=subagent, worktree=worktree)

    def position(self, run: Run) -> int:
        """The number of the next step."""
        return self._next.get(run.name if self._each else "", 0)

    def advance(self, run: Run, i: int | None = None) -> int:
        """Take the next number, or `i` where the record has its own."""
        position = self.position(run) if i is None else i
        self._next[run.name if self._each else ""] = position + 1
        return position
