"""From a client's report and its diagnosis to the row that the loop rule sees."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from vlk2.domain.command import Command, parse
from vlk2.domain.event import Event
from vlk2.domain.observation import Act, Diagnosis, Outcome, Seen


@cache
def _volatile() -> re.Pattern[str]:
    return re.compile(
        r"0x[0-9a-fA-F]+"
        r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
        r"|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
        r"|\b\d\d:\d\d:\d\d(?:[.,]\d+)?"
        r"|\b\d+(?:\.\d+)?\s?(?:ms|us|µs|ns|s|sec|secs|seconds?|minutes?)\b"
    )


@cache
def _complaint() -> re.Pattern[str]:
    return re.compile(
        r"^[ \t]*(?:Traceback \(most recent call last\)|FAIL(?:ED|URE|URES)?\b|panic: |Exception in thread )",
        re.MULTILINE,
    )


@cache
def _expected() -> re.Pattern[str]:
    return re.compile(
        r"as expected|expected (?:error|exception|failure)|correctly (?:raised|raises|failed|rejected)"
        r"|(?:raised|got|caught) (?:the )?expected",
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
    command = parse(event.tool, event.command, event.input)
    arguments = event.input or event.command
    return Seen(
        seq=seq,
        at=event.at,
        run=run,
        batch=event.batch,
        explicit=event.explicit,
        act=command.act,
        tool=event.tool,
        call=digest("\x1f".join((event.tool, arguments, event.worktree))) if arguments else "",
        command=digest("\x1f".join((command.key, root))) if command.key else "",
        own_status=command.own_status,
        outcome=diagnosis.outcome,
        fingerprint=diagnosis.fingerprint,
        failing=diagnosis.failing,
        result=digest(_volatile().sub("#", event.text)),
        place=event.place or command.place,
        wanted=_wanted(event, diagnosis, command),
        changes=command.changes,
        change=command.change,
        pause=round(command.pause * 1_000_000),
        complains=diagnosis.outcome is not Outcome.FAILURE
        and command.act is Act.RUN
        and _complaint().search(event.text) is not None,
    )


def _wanted(event: Event, diagnosis: Diagnosis, command: Command) -> bool:
    """Whether the caller says itself that this failure is the one it wants to see."""
    if diagnosis.outcome is not Outcome.FAILURE:
        return False
    return _expected().search(event.text) is not None
