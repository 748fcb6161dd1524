"""From a client's report and its diagnosis to the row that the loop rule sees."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from vlk2.domain.command import Command, parse
from vlk2.domain.event import Event
from vlk2.domain.observation import UNRECOGNISED, Act, Diagnosis, Outcome, Seen

_CLEARED = 4096


@cache
def _volatile() -> re.Pattern[str]:
    # The first character is taken before all alternatives, so that the search runs from digit to digit.
    return re.compile(
        r"[\da-f](?:"
        r"(?<=0)x[0-9a-fA-F]+"
        r"|(?<!\w[\da-f])(?:"
        r"(?<=[0-9a-f])[0-9a-f]{7}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
        r"|(?<=\d)(?:"
        r"\d{3}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
        r"|\d:\d\d:\d\d(?:[.,]\d+)?"
        r"|\d*(?:\.\d+)?\s?(?:ms|us|µs|ns|s|sec|secs|seconds?|minutes?)\b"
        r")))"
    )


@cache
def _complaint() -> re.Pattern[str]:
    return re.compile(
        r"^[ \t]*(?:Traceback \(most recent call last\)|FAIL(?:ED|URE|URES)?\b|panic: |Exception in thread )",
        re.MULTILINE,
    )


_COMPLAINTS = ("Traceback (most recent call last)", "FAIL", "panic: ", "Exception in thread ")


def _complains(text: str) -> bool:
    return any(part in text for part in _COMPLAINTS) and _complaint().search(text) is not None


@cache
def _expected() -> re.Pattern[str]:
    return re.compile(
        r"\bas expected\b|\bexpected (?:error|exception|failure)\b(?!:)|\bcorrectly (?:raised|raises|failed|rejected)\b"
        r"|\b(?:raised|got|caught) (?:the )?expected\b|\((?:expected|intended|on purpose)\)",
        re.IGNORECASE,
    )


def see(
    event: Event, diagnosis: Diagnosis, *, seq: int, run: str, digest: Callable[[str], str], root: str = ""
) -> Seen:
    """One observation as the loop rule sees it; nothing of the call's or the result's text is kept in clear.

    `digest` is the store's keyed hash. `root` names the package that the call ran in (the folder of the
    nearest manifest, "" where unknown): equal commands in two packages are two commands. Equal calls have
    equal tool, arguments and worktree; equal results are equal but for clocks, durations, addresses and ids.
    """
    if event.interrupted:
        diagnosis = Diagnosis(Outcome.UNKNOWN)
    command = parse(event.tool, event.command, event.input)
    return Seen(
        seq=seq,
        at=event.at,
        run=run,
        batch=event.batch,
        explicit=event.explicit,
        act=command.act,
        tool=event.tool,
        call=digest(call) if (call := _identity(event, command)) else "",
        command=digest("\x1f".join((command.key, root))) if command.key else "",
        own_status=command.own_status,
        outcome=diagnosis.outcome,
        fingerprint=diagnosis.fingerprint,
        failing=diagnosis.failing,
        result=digest(_steady(event.text)),
        place=event.place or command.place,
        wanted=_wanted(diagnosis, command),
        changes=command.changes,
        change=command.change,
        pause=round(command.pause * 1_000_000),
        complains=diagnosis.outcome is not Outcome.FAILURE
        and command.act is Act.RUN
        and _complains(event.text),
    )


def _steady(text: str) -> str:
    """`text` without what differs from run to run. Of a long text only the first and the last 4 KiB are
    cleared so, where clocks and durations stand; between them every character counts."""
    if len(text) <= 3 * _CLEARED:
        return _volatile().sub("#", text)
    clear = _volatile().sub
    return clear("#", text[:_CLEARED]) + text[_CLEARED:-_CLEARED] + clear("#", text[-_CLEARED:])


def _identity(event: Event, command: Command) -> str:
    """What makes two calls the identical call, "" where that is not known: not by an edit's path alone, nor without arguments."""
    arguments = event.input or event.command
    if arguments.strip() in ("", "{}", "null") or not (command.key or command.is_shell):
        return ""
    if command.act is Act.EDIT and not command.is_shell and arguments.strip() == command.place:
        return ""
    return "\x1f".join((event.tool, arguments, event.worktree))


def _wanted(diagnosis: Diagnosis, command: Command) -> bool:
    """Whether the failure is what the caller wanted to see.

    It says so itself, or a checker, or a program that no table knows, was asked about a literal text and
    answered. A crash is no answer.
    """
    failure = diagnosis.fingerprint
    if failure is None:
        return False
    if command.asks and (failure.specific or failure.language == UNRECOGNISED):
        return True
    return _expected().search(failure.headline) is not None
