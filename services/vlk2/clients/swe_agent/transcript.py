"""SWE-agent: `*.traj` documents (0.x and 1.x), nebius rows (`trajectory` of texts) and SWE-smith rows
(`messages` with calls written as `<function=NAME>`). None records an exit code or, for a step, a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from vlk2.clients.loose import mapping, parsed, plain, sequence, string
from vlk2.clients.recorded import Call, Run, Step, Tape
from vlk2.clients.source import Source
from vlk2.domain.event import EventKind

EXPECTED: Final = "a JSON document with `trajectory`, or JSON lines with `trajectory` or `messages`"

_FENCED: Final = re.compile(r"```[\w-]*\n(.*?)\n?```", re.DOTALL)
_FUNCTION: Final = re.compile(r"<function=([^>\s]+)>(.*?)</function>", re.DOTALL)
_PARAMETER: Final = re.compile(r"<parameter=([^>\s]+)>(.*?)</parameter>", re.DOTALL)
_RESULT: Final = re.compile(r"\s*(?:OBSERVATION:|EXECUTION RESULT of \[[^\]]*\]:)\s*")


def claims(value: object) -> bool:
    """Whether this JSON value is a SWE-agent trajectory or a row of one of its published sets."""
    document = mapping(value)
    trajectory = sequence(document.get("trajectory"))
    if trajectory:
        first = mapping(trajectory[0])
        return ("action" in first and "observation" in first) or ("role" in first and "text" in first)
    if "trajectory" in document:
        return "history" in document or "instance_id" in document
    messages = sequence(document.get("messages"))
    return not mapping(document.get("info")) and any(
        "<function=" in plain(mapping(m).get("content")) for m in messages
    )


def steps(source: Source) -> Iterator[Step]:
    """One run a document or row."""
    tape = Tape("swe-agent", each=True)
    for _, value in source.values():
        document = mapping(value)
        if not claims(document):
            source.skipped += 1
            continue
        trajectory = [mapping(step) for step in sequence(document.get("trajectory"))]
        run = tape.row(string(document.get("instance_id")) or source.stem, worktree=_folder(trajectory))
        yield run.frame(EventKind.SESSION_START)
        if trajectory and "action" in trajectory[0]:
            yield from _trajectory(run, document, trajectory)
        else:
            turns = trajectory or [mapping(message) for message in sequence(document.get("messages"))]
            yield from _conversation(run, turns)
        if mapping(document.get("info")).get("exit_status") or document.get("exit_status"):
            yield run.frame(EventKind.SESSION_END)


def _trajectory(run: Run, document: dict[str, object], trajectory: list[dict[str, object]]) -> Iterator[Step]:
    for message in map(mapping, sequence(document.get("history"))):
        if message.get("role") == "user" and not message.get("is_demo"):
            yield run.prompt(plain(message.get("content")))
            break
    for number, step in enumerate(trajectory):
        call = Call("", None, batch=f"m{number}", command=string(step.get("action")).strip())
        yield from run.result(call, plain(step.get("observation")))


def _folder(trajectory: list[dict[str, object]]) -> str:
    """The folder in which the first step left the shell: a JSON text in 0.x, an object in 1.x."""
    state = trajectory[0].get("state") if trajectory else None
    return string((mapping(parsed(state)) if isinstance(state, str) else mapping(state)).get("working_dir"))


def _conversation(run: Run, turns: list[dict[str, object]]) -> Iterator[Step]:
    waiting: Call | None = None
    for number, turn in enumerate(turns):
        text = plain(turn.get("content")) if "content" in turn else string(turn.get("text"))
        match turn.get("role"):
            case "assistant" | "ai":
                waiting = _call(text, f"m{number}")
            case "user" | "tool":
                if waiting is None:
                    yield run.prompt(text)
                else:
                    yield from run.result(
                        waiting, _RESULT.sub("", text, count=1) if _RESULT.match(text) else text
                    )
                    waiting = None
            case _:
                pass


def _call(text: str, batch: str) -> Call:
    function = _FUNCTION.search(text)
    if function:
        pairs: list[tuple[str, str]] = _PARAMETER.findall(function.group(2))
        return Call(function.group(1), {key: value.strip("\n") for key, value in pairs}, batch=batch)
    blocks: list[str] = _FENCED.findall(text)
    return Call("", None, batch=batch, command=blocks[-1].strip() if blocks else "")
