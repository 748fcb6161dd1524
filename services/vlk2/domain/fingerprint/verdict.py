"""Rule 2: what the caller's verdict, the exit status and the command itself say about a text."""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import cache

from vlk2.domain.command import answers_by_exit, parse_action
from vlk2.domain.observation import Act


class Verdict(Enum):
    """FAILED and SUCCEEDED were said; HIDDEN is a success whose status was not the command's own; LOOKED is
    a command that shows text, which may then hold anything; ANSWERED and STOPPED are no failures; SILENT
    means that nobody said."""

    FAILED = auto()
    SUCCEEDED = auto()
    HIDDEN = auto()
    LOOKED = auto()
    ANSWERED = auto()
    STOPPED = auto()
    SILENT = auto()


_STOPPED = frozenset({130, 143})


@cache
def _said_exit() -> re.Pattern[str]:
    return re.compile(
        r"\A\s*(?:<returncode>(\d{1,3})</returncode>|Exit code:? (\d{1,3})\b|\[exit(?: code)?:? (\d{1,3})\])"
        r"|(?:\[The command completed with exit code (\d{1,3})\.?\]|<returncode>(\d{1,3})</returncode>"
        r"|\[Command finished with exit code (\d{1,3})\]|executed with exit code (\d{1,3})\.|^\(?[Ee]xit [Cc]ode: (\d{1,3})\)?)\s*\Z",
        re.MULTILINE,
    )


def exit_said(text: str) -> int | None:
    """The exit status that a harness wrote before or after the output, or None."""
    if "xit" not in text and "returncode" not in text:
        return None
    ends = text if len(text) <= 1_200 else text[:400] + "\n" + text[-800:]
    found = _said_exit().search(ends)
    if found is None:
        return None
    return next(int(group) for group in found.groups() if group is not None)


def judge(*, is_error: bool | None, exit_code: int | None, action: str) -> Verdict:
    """Decide what was said about a call, before its text is read."""
    if exit_code in _STOPPED:
        return Verdict.STOPPED
    command = parse_action(action) if action else None
    if exit_code == 1 and command is not None and answers_by_exit(command):
        return Verdict.ANSWERED
    if is_error or (exit_code is not None and exit_code != 0):
        return Verdict.FAILED
    if command is not None and command.act is Act.READ:
        return Verdict.LOOKED
    if is_error is False or exit_code == 0:
        return Verdict.SUCCEEDED if command is None or command.own_status else Verdict.HIDDEN
    return Verdict.SILENT


@cache
def _says_edited() -> re.Pattern[str]:
    return re.compile(
        r"\A\s*(?:(?:The )?file \S+ (?:has been|was) (?:updated|edited|created|written|overwritten)"
        r"|File (?:created|written|updated|saved) successfully|(?:Successfully|Succesfully) (?:modified|created|wrote|overwrote|edited|replaced|updated|inserted|deleted)"
        r"|Success\. Updated the following files|Done!\s*\Z|\[File updated|The edit was applied)",
        re.IGNORECASE,
    )


def edited(text: str, action: str) -> bool:
    """Whether a file tool says in its own fixed words that its edit was made, where nobody else said."""
    return (
        bool(action)
        and _says_edited().search(text[:300]) is not None
        and parse_action(action).act is Act.EDIT
    )
