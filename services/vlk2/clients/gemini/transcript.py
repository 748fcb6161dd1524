"""Gemini CLI: chat files (`session-*.json` documents, `session-*.jsonl` logs) and contents (`role`, `parts`).

A log writes a message in full again whenever its calls change; `{"$rewindTo": id}` takes that message and all
after it out of the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from vlk2.clients.loose import integer, is_array, mapping, microseconds, plain, sequence, spoken, string
from vlk2.clients.recorded import Call, Step, Tape, shell_line
from vlk2.clients.source import Source
from vlk2.domain.event import EventKind

EXPECTED: Final = "a chat file with `sessionId` and `messages`, or contents with `role` and `parts`"

_FINISHED: Final = frozenset(("success", "error", "cancelled"))
_EXIT: Final = re.compile(r"^Exit Code: (-?\d+)\s*$", re.MULTILINE)
_CONTEXT: Final = re.compile(r"\s*<(?:session_context|state_snapshot|hook_context|system-reminder)>")


def claims(value: object) -> bool:
    """Whether this JSON value is a Gemini CLI chat, a line of one, or a list of contents."""
    if is_array(value):
        items = [mapping(item) for item in sequence(value)[:20]]
        return bool(items) and all(
            "parts" in item and item.get("role") in ("user", "model") for item in items
        )
    row = mapping(value)
    if "history" in row and claims(row.get("history")):
        return True
    if "sessionId" in row and ("projectHash" in row or "startTime" in row):
        return True
    if row.get("type") == "gemini" and "id" in row:
        return True
    return "role" in row and "parts" in row and row.get("role") in ("user", "model")


def steps(source: Source) -> Iterator[Step]:
    """The events of one chat, numbered by the order in which calls finished."""
    return _Reader(source).read()


class _Reader:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._tape = Tape("gemini")
        self._run = self._tape.run(source.stem, session=source.stem)
        self._begun = False
        self._done: set[str] = set()
        self._calls: dict[str, Call] = {}
        self._message = 0
        self._dropped = _rewound(source)

    def read(self) -> Iterator[Step]:
        for _, value in self._source.values():
            if is_array(value):
                for content in map(mapping, sequence(value)):
                    yield from self._content(content)
                continue
            row = mapping(value)
            patch = mapping(row.get("$set"))
            if "sessionId" in row and "type" not in row:
                yield from self._header(row)
                yield from self._messages(row.get("messages"))
            elif patch:
                yield from self._messages(patch.get("messages"))
            elif "history" in row:
                for content in map(mapping, sequence(row.get("history"))):
                    yield from self._content(content)
            elif "parts" in row:
                yield from self._content(row)
            elif "id" in row and "type" in row:
                yield from self._messages([row])
            elif "$rewindTo" not in row and "$set" not in row:
                self._source.skipped += 1

    def _header(self, row: dict[str, object]) -> Iterator[Step]:
        if self._begun:
            return
        session = string(row.get("sessionId")) or self._source.stem
        folders = [string(folder) for folder in sequence(row.get("directories"))]
        self._run = self._tape.run(
            session,
            session=session,
            subagent=session if row.get("kind") == "subagent" else "",
            worktree=folders[0] if folders else "",
        )
        yield from self._start(microseconds(row.get("startTime")))

    def _start(self, at: int) -> Iterator[Step]:
        if not self._begun:
            self._begun = True
            yield self._run.frame(EventKind.SESSION_START, at)

    def _messages(self, messages: object) -> Iterator[Step]:
        for message in map(mapping, sequence(messages)):
            name = string(message.get("id"))
            if name and name in self._dropped:
                continue
            at = microseconds(message.get("timestamp"))
            yield from self._start(at)
            if message.get("type") == "user":
                yield from self._prompt(name, plain(message.get("content")), at)
            elif message.get("type") == "gemini":
                yield from self._reply(name, message, at)

    def _prompt(self, name: str, text: str, at: int) -> Iterator[Step]:
        known = bool(name) and f"prompt {name}" in self._done
        self._done.add(f"prompt {name}")
        if text and not known and not _CONTEXT.match(text):
            yield self._run.prompt(text, at)

    def _reply(self, name: str, message: dict[str, object], at: int) -> Iterator[Step]:
        self._run.spend(name, integer(mapping(message.get("tokens")).get("total")))
        for made in map(mapping, sequence(message.get("toolCalls"))):
            use_id = string(made.get("id"))
            status = string(made.get("status"))
            if status not in _FINISHED or (use_id and use_id in self._done):
                continue
            self._done.add(use_id)
            text, is_error = _responded(made.get("result"))
            call = Call(string(made.get("name")), made.get("args"), use_id, name, at)
            exit_code = _exit_code(call, text)
            if status != "cancelled":
                is_error = status == "error" or exit_code not in (None, 0)
            yield from self._run.result(
                call,
                text or plain(made.get("resultDisplay")),
                at=microseconds(made.get("timestamp")),
                is_error=is_error,
                exit_code=exit_code,
                interrupted=status == "cancelled",
            )

    def _content(self, content: dict[str, object]) -> Iterator[Step]:
        yield from self._start(0)
        self._message += 1
        model = content.get("role") == "model"
        said: list[str] = []
        for part in map(mapping, sequence(content.get("parts"))):
            made = mapping(part.get("functionCall"))
            answer = mapping(part.get("functionResponse"))
            if made:
                use_id = string(made.get("id")) or f"{string(made.get('name'))} {len(self._calls)}"
                self._calls[use_id] = Call(
                    string(made.get("name")), made.get("args"), string(made.get("id")), f"m{self._message}"
                )
            elif answer:
                yield from self._answer(answer)
            elif not model and part.get("thought") is not True:
                said.append(string(part.get("text")))
        text = "\n".join(filter(None, said))
        if text and not _CONTEXT.match(text):
            yield self._run.prompt(text)

    def _answer(self, answer: dict[str, object]) -> Iterator[Step]:
        use_id, tool = string(answer.get("id")), string(answer.get("name"))
        if use_id and use_id in self._done:
            return
        self._done.add(use_id)
        key = use_id or next((key for key, call in self._calls.items() if call.tool == tool), "")
        call = self._calls.pop(key, None) or Call(tool, None, use_id, command="")
        text, is_error = _responded([{"functionResponse": answer}])
        exit_code = _exit_code(call, text)
        yield from self._run.result(call, text, is_error=is_error, exit_code=exit_code)


def _responded(result: object) -> tuple[str, bool | None]:
    """The text of a result's parts, and true where one of them holds an error."""
    texts: list[str] = []
    is_error = None
    for part in map(mapping, sequence(result)):
        response = part.get("functionResponse")
        if response is None:
            texts.append(string(part.get("text")))
            continue
        body = mapping(mapping(response).get("response"))
        if "error" in body:
            is_error = True
        found = body.get("output", body.get("error"))
        texts.append(found if isinstance(found, str) else spoken(found if found is not None else body))
    return "\n".join(filter(None, texts)), is_error


def _exit_code(call: Call, text: str) -> int | None:
    """The exit code that the shell tool writes below the output."""
    if shell_line(call.tool, call.arguments) is None and call.tool != "run_shell_command":
        return None
    found: list[str] = _EXIT.findall(text[-2000:])
    return int(found[-1]) if found else None


def _rewound(source: Source) -> set[str]:
    """The ids of the messages that a later rewind took out of the conversation."""
    dropped: set[str] = set()
    if not source.mentions(b'"$rewindTo"'):
        return dropped
    order: dict[str, None] = {}
    for _, value in source.values(quiet=True):
        row = mapping(value)
        target = row.get("$rewindTo")
        if isinstance(target, str):
            names = list(order)
            gone = names[names.index(target) :] if target in order else names
            dropped.update(gone)
            for name in gone:
                del order[name]
        elif "type" in row and isinstance(row.get("id"), str):
            order[string(row.get("id"))] = None
    return dropped
