"""Claude Code sessions: `projects/<folder>/<session>.jsonl` and the side folders of subagents.

One content block a line; the lines of one reply share `message.id` and repeat its usage. A result is a `user`
line with `tool_result` blocks. A resumed session repeats old lines under their old `uuid`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from vlk2.clients.loose import flag, integer, is_object, mapping, microseconds, plain, sequence, string
from vlk2.clients.recorded import Call, Run, Step, Tape, stated_exit_code, stopped
from vlk2.clients.source import Source
from vlk2.domain.event import EventKind

EXPECTED: Final = "JSON lines with `type`, `uuid`, `sessionId` and `message`"

_TALK: Final = frozenset(("user", "assistant"))
_KNOWN: Final = frozenset(
    [
        "system",
        "progress",
        "summary",
        "attachment",
        "file-history-snapshot",
        "custom-title",
        "ai-title",
        "queue-operation",
        "agent-name",
        "last-prompt",
        "pr-link",
        "mode",
        "permission-mode",
        "tag",
        "saved_hook_context",
        "agent-color",
        "agent-setting",
        "result",
        "content-replacement",
        "file-history-delta",
        "started",
    ]
)
_NOT_SAID: Final = re.compile(
    r"\s*<(?:local-command-\w+|command-(?:message|contents)|bash-(?:input|stdout|stderr)|system-reminder"
    r"|task-notification|user-prompt-submit-hook|ide_\w+)\b|\s*\[Request interrupted by user|\s*Caveat: "
)


def claims(value: object) -> bool:
    """Whether this JSON value is a line of a Claude Code session."""
    row = mapping(value)
    if string(row.get("type")) in _TALK:
        return "message" in row and ("sessionId" in row or "uuid" in row or "parentUuid" in row)
    return row.get("type") == "file-history-snapshot" or (row.get("type") == "summary" and "leafUuid" in row)


def steps(source: Source) -> Iterator[Step]:
    """The events of every session and subagent in the file, numbered by the order of the results."""
    return _Reader(source).read()


class _Reader:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._tape = Tape("claude-code")
        self._runs: dict[str, Run] = {}
        self._calls: dict[str, Call] = {}
        self._seen: set[str] = set()
        self._roots: dict[str, str] = {}

    def read(self) -> Iterator[Step]:
        for _, value in self._source.values():
            row = mapping(value)
            kind = string(row.get("type"))
            if kind in _TALK and is_object(row.get("message")):
                if not self._copied(row):
                    yield from self._talk(row, mapping(row.get("message")))
            elif kind == "system" and row.get("subtype") in ("compact_boundary", "microcompact_boundary"):
                if row.get("subtype") == "compact_boundary" and not self._copied(row):
                    run, start = self._run(row)
                    yield from start
                    yield run.frame(EventKind.COMPACTION, microseconds(row.get("timestamp")))
            elif kind not in _KNOWN:
                self._source.skipped += 1

    def _copied(self, row: dict[str, object]) -> bool:
        name = string(row.get("uuid"))
        if name and name in self._seen:
            return True
        self._seen.add(name)
        return False

    def _run(self, row: dict[str, object]) -> tuple[Run, list[Step]]:
        session = string(row.get("sessionId")) or string(row.get("session_id")) or self._source.stem
        subagent = string(row.get("agentId"))
        if row.get("isSidechain") is True and not subagent:
            subagent = self._root(row)
        name = f"{session}/{subagent}" if subagent else session
        run = self._runs.get(name)
        if run is not None:
            return run, []
        run = self._tape.run(name, session=session, subagent=subagent, worktree=string(row.get("cwd")))
        self._runs[name] = run
        return run, [run.frame(EventKind.SESSION_START, microseconds(row.get("timestamp")))]

    def _root(self, row: dict[str, object]) -> str:
        """The first line of the side conversation that this line belongs to."""
        name = string(row.get("uuid"))
        root = self._roots.get(string(row.get("parentUuid")), name)
        self._roots[name] = root
        return root

    def _talk(self, row: dict[str, object], message: dict[str, object]) -> Iterator[Step]:
        run, start = self._run(row)
        yield from start
        at = microseconds(row.get("timestamp"))
        if row.get("type") == "assistant":
            self._reply(row, message, run, at)
            return
        content = message.get("content")
        blocks: list[object] = (
            [{"type": "text", "text": content}] if isinstance(content, str) else sequence(content)
        )
        said: list[str] = []
        for block in map(mapping, blocks):
            if block.get("type") == "tool_result":
                yield from self._result(row, block, run, at)
            elif block.get("type") == "text":
                said.append(string(block.get("text")))
        text = "\n".join(part for part in said if part and not _NOT_SAID.match(part))
        hidden = row.get("isMeta") is True or row.get("isCompactSummary") is True or run.subagent
        if text and not hidden:
            yield run.prompt(text, at)

    def _reply(self, row: dict[str, object], message: dict[str, object], run: Run, at: int) -> None:
        name = string(message.get("id")) or string(row.get("requestId")) or string(row.get("uuid"))
        run.spend(name, _cost(message.get("usage")))
        for block in map(mapping, sequence(message.get("content"))):
            use_id = string(block.get("id"))
            if block.get("type") == "tool_use" and use_id not in self._seen:
                self._calls[use_id] = Call(string(block.get("name")), block.get("input"), use_id, name, at)

    def _result(self, row: dict[str, object], block: dict[str, object], run: Run, at: int) -> list[Step]:
        use_id = string(block.get("tool_use_id"))
        if use_id in self._seen:
            return []
        call = self._calls.pop(use_id, None)
        if call is None:
            self._source.skipped += 1
            return []
        self._seen.add(use_id)
        text = plain(block.get("content"))
        is_error = flag(block.get("is_error"))
        extra = row.get("toolUseResult")
        detail = mapping(extra)
        exit_code = stated_exit_code(text, is_error=is_error)
        if exit_code is None and not is_error and _came_through(detail):
            exit_code = 0
        return run.result(
            call,
            text,
            at=at,
            is_error=is_error,
            exit_code=exit_code,
            interrupted=detail.get("interrupted") is True or stopped(string(extra)),
        )


def _came_through(detail: dict[str, object]) -> bool:
    """Whether the structured result is that of a shell command that ended by itself with status 0: a failed one
    is recorded as a text, and an exit code that is no failure comes with its interpretation."""
    return (
        "stdout" in detail
        and "stderr" in detail
        and detail.get("interrupted") is False
        and not detail.get("returnCodeInterpretation")
        and not detail.get("backgroundTaskId")
    )


def _cost(usage: object) -> int | None:
    figures = mapping(usage)
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    known = [figure for name in names if (figure := integer(figures.get(name))) is not None]
    return sum(known) if known else None
