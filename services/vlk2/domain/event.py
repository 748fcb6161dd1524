"""What a client reports, in one shape for hooks, transcripts, `vlk2 run`, the spool and `/v1/events`."""

from __future__ import annotations

from enum import StrEnum

from vlk2.frozen import dataclass


class EventKind(StrEnum):
    """`RESULT` is a finished tool call; `CALL` is one about to run; the rest frame a session."""

    RESULT = "result"
    CALL = "call"
    PROMPT = "prompt"
    SESSION_START = "session_start"
    SESSION_END = "session_end"
    COMPACTION = "compaction"


@dataclass(frozen=True, slots=True)
class Event:
    """One report of a client. Texts are as the client gave them, before masking and normalising.

    `tool` is the client's own tool name, `command` what it was told in one line (the shell command; the
    path for file tools; a short form of the arguments otherwise) and `input` its arguments as canonical
    JSON. `batch` names the assistant message ("" where unknown). `use_id` is the client's id of the call.
    `at` is microseconds UTC, 0 where the client gave none. `is_error` and `exit_code` are None unless
    the client said so: a reader never invents a success. `interrupted` marks what the user stopped.
    `explicit` marks a `vlk_record_state` call; `place` is its `file_context`.
    """

    kind: EventKind
    client: str = ""
    session: str = ""
    subagent: str = ""
    worktree: str = ""
    use_id: str = ""
    batch: str = ""
    at: int = 0
    tool: str = ""
    command: str = ""
    input: str = ""
    text: str = ""
    is_error: bool | None = None
    exit_code: int | None = None
    interrupted: bool = False
    explicit: bool = False
    place: str = ""
    tokens: int = 0

    @property
    def action(self) -> str:
        """`TOOL: command`, the neutral form of a call."""
        return f"{self.tool}: {self.command}" if self.tool else self.command
