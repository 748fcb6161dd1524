"""Codex rollouts `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl` (`.zst` too), in all three generations.

To September 2025 bare rows; then `{timestamp, type, payload}` with function calls whose verdict stands in
`exec_command_end` or in the output; since 0.147 `custom_tool_call` of `exec`, whose commands are the
`item_completed` rows between call and output. Rolled-back turns, copies of imported sessions and the history
that a compaction repeats are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from vlk2.clients.loose import (
    flag,
    integer,
    is_object,
    mapping,
    microseconds,
    parsed,
    plain,
    sequence,
    string,
)
from vlk2.clients.recorded import Call, Step, Tape, argv_line
from vlk2.clients.source import Source
from vlk2.domain.event import EventKind

EXPECTED: Final = "JSON lines with `timestamp`, `type` and `payload`, or the bare rows of 2025"

_ENVELOPES: Final = frozenset(["session_meta", "turn_context", "response_item", "event_msg", "compacted"])
_BARE: Final = frozenset(
    [
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "local_shell_call",
        "custom_tool_call",
        "custom_tool_call_output",
        "web_search_call",
        "tool_search_call",
        "tool_search_output",
    ]
)
_CALLS: Final = frozenset(("function_call", "custom_tool_call", "local_shell_call"))
_OUTPUTS: Final = frozenset(("function_call_output", "custom_tool_call_output"))
_NO_PROMPT: Final = re.compile(r"\s*(?:<[a-z][\w -]*>|# AGENTS\.md instructions)")
_EXIT: Final = (
    re.compile(r"failed in sandbox \S+ with execution error: .{0,200}?exit code: (-?\d+)", re.DOTALL),
    re.compile(r"(?:Chunk ID: .*\n)?(?:Wall time: .*\n)?Process exited with code (-?\d+)"),
    re.compile(r"Exit code: (-?\d+)\r?\n"),
)
_TOOL_OF_SCRIPT: Final = re.compile(r"\btools\.(\w+)\s*\(")
_LINE_OF_SCRIPT: Final = re.compile(r"""\b(?:cmd|command)\s*:\s*("(?:[^"\\]|\\.)*")""")
_IMPORTS: Final = "external_agent_session_imports.json"


def claims(value: object) -> bool:
    """Whether this JSON value is a row of a Codex rollout."""
    row = mapping(value)
    kind = string(row.get("type"))
    if kind in _ENVELOPES:
        return is_object(row.get("payload"))
    if kind in ("function_call", "custom_tool_call"):
        return "call_id" in row
    return (not kind and "id" in row and "timestamp" in row and ("instructions" in row or "git" in row)) or (
        row.get("record_type") == "state"
    )


def steps(source: Source) -> Iterator[Step]:
    """The events of one thread, numbered by the order of the results."""
    return _Reader(source).read()


def verdict(output: object) -> tuple[str, int | None, bool | None]:
    """What a call's recorded output says: its text, its exit code, and whether it is an error; None where it
    does not say. Forms: JSON text or object with `output` and `metadata`, plain text led by `Exit code: N` or
    `Process exited with code N`, a refusal by the sandbox, or a list of text items."""
    given = output
    if isinstance(output, str) and output.lstrip().startswith("{"):
        inner = mapping(parsed(output))
        given = inner if "output" in inner or "metadata" in inner else output
    record = mapping(given)
    if record:
        exit_code = integer(mapping(record.get("metadata")).get("exit_code", record.get("exit_code")))
        body = record.get("output", record.get("content"))
        success = flag(record.get("success"))
        failed = True if record.get("isError") is True or success is False else None
        text = body if isinstance(body, str) else plain(body)
        return text, exit_code, failed if exit_code is None else exit_code != 0
    text = plain(given)
    for pattern in _EXIT:
        found = pattern.match(text)
        if found:
            code = int(found.group(1))
            body = text.partition("\nOutput:\n")[2] if "\nOutput:\n" in text[:400] else text
            return body, code, code != 0
    if text.startswith("Script failed"):
        return text, None, True
    return text, None, None


class _Reader:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._tape = Tape("codex")
        self._run = self._tape.run(source.stem, session=source.stem)
        self._begun = False
        self._calls: dict[str, Call] = {}
        self._ends: dict[str, dict[str, object]] = {}
        self._items: list[tuple[dict[str, object], int]] = []
        self._done: set[str] = set()
        self._batch = 0
        self._calling = False
        self._said = ""
        self._compacted = False
        self._spent = 0
        self._imported_to = 0

    def read(self) -> Iterator[Step]:
        dropped = _rolled_back(self._source)
        for number, value in self._source.values():
            row = mapping(value)
            kind = string(row.get("type"))
            at = microseconds(row.get("timestamp"))
            if kind in _ENVELOPES:
                payload = mapping(row.get("payload"))
            elif kind in _BARE or (not kind and ("id" in row or "record_type" in row)):
                payload = row
                kind = "response_item" if kind else "session_meta"
            else:
                self._source.skipped += 1
                continue
            if any(first <= number < end for first, end in dropped):
                continue
            if kind != "session_meta" and at and at <= self._imported_to:
                continue
            yield from self._row(kind, payload, at)
        for use_id in [use_id for use_id in self._ends if use_id in self._calls]:
            yield from self._output({"call_id": use_id, "output": None}, 0)

    def _row(self, kind: str, payload: dict[str, object], at: int) -> Iterator[Step]:
        what = string(payload.get("type"))
        match kind:
            case "session_meta":
                yield from self._meta(payload, at)
            case "turn_context":
                self._run.worktree = self._run.worktree or string(payload.get("cwd"))
            case "compacted":
                self._compacted = True
                yield self._run.frame(EventKind.COMPACTION, at)
            case "event_msg":
                yield from self._event(what, payload, at)
            case _ if what in _CALLS:
                self._call(what, payload, at)
            case _ if what in _OUTPUTS:
                yield from self._output(payload, at)
            case _ if what == "message" and payload.get("role") == "user":
                yield from self._prompt(plain(payload.get("content")), at)
            case _:
                self._calling = False

    def _meta(self, payload: dict[str, object], at: int) -> Iterator[Step]:
        if self._begun:
            return
        self._begun = True
        inner = mapping(payload.get("meta")) or payload
        session = string(inner.get("id")) or self._source.stem
        parent = _parent(inner)
        self._run = self._tape.run(
            session,
            session=parent or session,
            subagent=session if parent else "",
            worktree=string(inner.get("cwd")),
        )
        self._imported_to = _imported_to(self._source.path, session)
        yield self._run.frame(EventKind.SESSION_START, at or microseconds(inner.get("timestamp")))

    def _event(self, what: str, payload: dict[str, object], at: int) -> Iterator[Step]:
        if what == "user_message":
            yield from self._prompt(string(payload.get("message")), at)
        elif what == "token_count":
            self._usage(mapping(payload.get("info")))
        elif what == "exec_command_end":
            if string(payload.get("call_id")) in self._calls:
                self._ends[string(payload.get("call_id"))] = payload
        elif what == "context_compacted":
            if not self._compacted:
                yield self._run.frame(EventKind.COMPACTION, at)
            self._compacted = False
        elif what in ("turn_aborted", "task_aborted"):
            self._calls.clear()
            self._ends.clear()
            self._items.clear()
        elif what == "item_completed":
            item = mapping(payload.get("item"))
            kind = _squeezed(item.get("type"))
            if kind == "usermessage":
                yield from self._prompt(plain(item.get("content")), at)
            elif kind in ("commandexecution", "mcptoolcall"):
                self._items.append((item, at))

    def _prompt(self, text: str, at: int) -> Iterator[Step]:
        """A prompt stands twice or three times in a rollout; the context that Codex itself puts there is none."""
        if not text or _NO_PROMPT.match(text) or text == self._said:
            return
        self._said = text
        self._calling = False
        yield self._run.prompt(text, at)

    def _usage(self, info: dict[str, object]) -> None:
        """The last request's tokens, once: a row that repeats the total is a repeated row."""
        total = integer(mapping(info.get("total_token_usage")).get("total_tokens")) or 0
        last = integer(mapping(info.get("last_token_usage")).get("total_tokens"))
        if total and total == self._spent:
            return
        self._spent = total
        self._run.spend(f"{total}", last)

    def _call(self, what: str, payload: dict[str, object], at: int) -> None:
        use_id = string(payload.get("call_id")) or string(payload.get("id"))
        if use_id in self._done:
            return
        if not self._calling:
            self._batch += 1
        self._calling = True
        self._said = ""
        batch = f"m{self._batch}"
        if what == "local_shell_call":
            action = mapping(payload.get("action"))
            arguments: object = {"command": action.get("command"), "workdir": action.get("working_directory")}
            self._calls[use_id] = Call("local_shell", arguments, use_id, batch, at)
        elif what == "custom_tool_call":
            script = string(payload.get("input"))
            self._items.clear()
            self._calls[use_id] = Call(
                string(payload.get("name")), {"input": script}, use_id, batch, at, command=script
            )
        else:
            arguments = parsed(string(payload.get("arguments")))
            command = None if is_object(arguments) else string(payload.get("arguments"))
            self._calls[use_id] = Call(
                string(payload.get("name")), mapping(arguments) or None, use_id, batch, at, command=command
            )

    def _output(self, payload: dict[str, object], at: int) -> Iterator[Step]:
        use_id = string(payload.get("call_id"))
        self._calling = False
        if use_id in self._done:
            return
        call = self._calls.pop(use_id, None)
        if call is None:
            self._source.skipped += 1
            return
        self._done.add(use_id)
        end = self._ends.pop(use_id, {})
        script = call.tool == "exec" and call.command is not None
        items = self._items_of(use_id, script=script)
        if script and items:
            yield from self._commands(call, items, payload.get("output"))
            return
        text, exit_code, is_error = verdict(payload.get("output"))
        if end:
            ended = integer(end.get("exit_code"))
            text = text or string(end.get("aggregated_output")) or string(end.get("formatted_output"))
            exit_code, is_error = (ended, ended != 0) if ended is not None else (exit_code, is_error)
        elif items:
            exit_code, is_error = _told(items[0][0], exit_code, is_error)
        if "apply_patch verification failed" in text[:400]:
            is_error = True
        if script:
            call = _unscripted(call)
        yield from self._run.result(call, text, at=at, is_error=is_error, exit_code=exit_code)

    def _items_of(self, use_id: str, *, script: bool) -> list[tuple[dict[str, object], int]]:
        """The items completed during a call: those that bear its id; without one, all since a script began, or
        all of a call that was the only one open."""
        own = [item for item in self._items if item[0].get("id") == use_id]
        if not own and (script or not self._calls):
            own = self._items
        self._items = [item for item in self._items if item not in own] if self._calls else []
        return own

    def _commands(
        self, call: Call, items: list[tuple[dict[str, object], int]], output: object
    ) -> Iterator[Step]:
        """The commands that one script ran, a step each: the text is the command's own, or the script's where it
        ran one command only."""
        told = plain(output)
        tool = _unscripted(call).tool
        for item, at in items:
            text = string(item.get("aggregated_output")) or string(item.get("aggregatedOutput"))
            if _squeezed(item.get("type")) == "mcptoolcall":
                name = f"mcp__{string(item.get('server'))}__{string(item.get('tool'))}"
                made = call._replace(tool=name, arguments=item.get("arguments"), command=None)
                text = text or plain(mapping(item.get("result")).get("content")) or string(item.get("error"))
            else:
                argv = item.get("command")
                line = argv if isinstance(argv, str) else argv_line(sequence(argv))
                where = string(item.get("cwd")).removeprefix("file://")
                made = call._replace(
                    tool=tool if tool != "exec" else "exec_command",
                    arguments={"cmd": line, "workdir": where} if where else {"cmd": line},
                    command=line,
                )
            exit_code, is_error = _told(item, None, None)
            yield from self._run.result(
                made,
                text or (told if len(items) == 1 else ""),
                at=at or call.at,
                is_error=is_error,
                exit_code=exit_code,
                interrupted=item.get("status") == "declined",
            )


def _told(
    item: dict[str, object], exit_code: int | None, is_error: bool | None
) -> tuple[int | None, bool | None]:
    """The verdict of an `item_completed` row over the one that the output gives."""
    code = integer(item.get("exit_code", item.get("exitCode")))
    if code is not None:
        return code, code != 0
    if item.get("status") == "failed" or mapping(item.get("result")).get("isError") is True:
        return exit_code, True
    return exit_code, is_error


def _unscripted(call: Call) -> Call:
    """The call that a script makes, where it names one tool only."""
    script = call.command or ""
    tools: set[str] = set(_TOOL_OF_SCRIPT.findall(script))
    if len(tools) != 1:
        return call
    lines: list[str] = _LINE_OF_SCRIPT.findall(script)
    line = string(parsed(lines[0])) if len(lines) == 1 else ""
    return call._replace(tool=tools.pop(), command=line or script)


def _parent(meta: dict[str, object]) -> str:
    """The thread that started this one as its subagent, "" where it is a session of its own."""
    origin = mapping(mapping(meta.get("source")).get("subagent"))
    for place in (origin, *map(mapping, origin.values())):
        if place.get("parent_thread_id"):
            return string(place.get("parent_thread_id"))
    return ""


def _squeezed(kind: object) -> str:
    return string(kind).replace("_", "").lower()


def _rolled_back(source: Source) -> list[tuple[int, int]]:
    """The ranges of lines that a later rollback of turns took out of the thread."""
    if not source.mentions(b"thread_roll"):
        return []
    turns: list[int] = []
    dropped: list[tuple[int, int]] = []
    said = ""
    for number, value in source.values(quiet=True):
        row = mapping(value)
        payload = mapping(row.get("payload"))
        what = string(payload.get("type"))
        text = ""
        if what == "user_message":
            text = string(payload.get("message"))
        elif (
            what == "item_completed" and _squeezed(mapping(payload.get("item")).get("type")) == "usermessage"
        ):
            text = plain(mapping(payload.get("item")).get("content"))
        elif what == "message" and payload.get("role") == "user":
            text = plain(payload.get("content"))
        elif what in _CALLS or (what == "message" and payload.get("role") == "assistant"):
            said = ""
        elif what in ("thread_rolled_back", "thread_rollback"):
            count = integer(payload.get("num_turns")) or 1
            kept = turns[: max(0, len(turns) - count)]
            if len(kept) < len(turns):
                dropped.append((turns[len(kept)], number))
            turns = kept
            said = ""
        if text and text != said and not _NO_PROMPT.match(text):
            said = text
            turns.append(number)
    return dropped


def _imported_to(path: Path, thread: str) -> int:
    """Until when the rows of a thread are copies of another agent's session, 0 where it is no import."""
    for folder in path.resolve().parents:
        listing = folder / _IMPORTS
        try:
            if not listing.is_file():
                continue
            records = mapping(parsed(listing.read_text(encoding="utf-8", errors="replace"))).get("records")
        except OSError:
            continue
        times = [
            microseconds(record.get("imported_at"))
            for record in map(mapping, sequence(records))
            if record.get("imported_thread_id") == thread
        ]
        return max(times, default=0)
    return 0
