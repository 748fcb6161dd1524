"""Whether a call that is about to run may be refused because it has already failed three times (rule 7)."""

from __future__ import annotations

from enum import StrEnum

from vlk2.domain.observation import Act
from vlk2.frozen import dataclass

TOO_LONG_AGO = 10 * 60 * 1_000_000


class Enforce(StrEnum):
    """How far a constraint may go at the action: refuse the call, only say so, or stay silent."""

    REFUSE = "refuse"
    ADVISE = "advise"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class AboutToRun:
    """The facts about one call that is about to run, under a live constraint of the failure it had.

    `failures` counts how often this identical call failed with the constraint's failure, `threshold` what the
    constraint needed. `is_shell`: only shell calls are ever refused. `since` are the acts of everything the
    run did after the last of those failures, `changed` whether any of them may have altered something.
    `prompted` says that the user spoke since. `stamps_equal` compares the stamps of the files that the failure
    names, HEAD, index and lockfiles with those of the evidence: True all equal, False one differs, None
    unknown. `branch_equal` does so for the constraint's own stamps: branch, HEAD, lockfile and toolchain. `last_failure` and
    `now` are microseconds UTC, 0 where unknown. `refused_at` are the counts at which this call was refused.
    """

    is_shell: bool
    failures: int
    since: tuple[Act, ...] = ()
    changed: bool = False
    prompted: bool = False
    stamps_equal: bool | None = None
    branch_equal: bool | None = None
    transient: bool = False
    wildcard: bool = False
    shared: bool = False
    own_words: bool = False
    contradicted: bool = False
    last_failure: int = 0
    now: int = 0
    refused_at: tuple[int, ...] = ()
    threshold: int = 3


@dataclass(frozen=True, slots=True)
class Refuse:
    """Do not run it: `count` is the count that this refusal stands for, to be remembered in `refused_at`."""

    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class Advise:
    """Let it run and put the constraint in front of the agent; `reason` says why it is no refusal."""

    reason: str


@dataclass(frozen=True, slots=True)
class Allow:
    """Let it run and say nothing."""

    reason: str


Decision = Refuse | Advise | Allow


def decide(call: AboutToRun, enforce: Enforce) -> Decision:
    """Refuse only where everything rule 7 asks for is known to hold; what is unknown is never held to hold."""
    if enforce is Enforce.OFF:
        return Allow("enforcement is off")
    if call.failures < 1:
        return Allow("this call has not failed")
    if objection := _objection(call):
        return Advise(objection)
    if enforce is Enforce.ADVISE:
        return Advise("only advice is wanted")
    return Refuse(
        shown_at(call.failures, call.threshold),
        f"this identical call failed {call.failures} times and nothing has changed since",
    )


def shown_at(count: int, threshold: int) -> int:
    """The newest of the counts threshold, 2 x threshold, 4 x threshold … that `count` has reached, else 0.

    A constraint is shown, and a call refused, once per such count (rules 6 and 7).
    """
    if count < threshold:
        return 0
    reached = threshold
    while reached * 2 <= count:
        reached *= 2
    return reached


def _objection(call: AboutToRun) -> str:
    """The first of rule 7's needs that is not met, or ""."""
    if not call.is_shell:
        return "not a shell call"
    if call.wildcard or call.shared or call.own_words:
        return "a constraint of this kind never refuses"
    if call.contradicted:
        return "the constraint is contradicted"
    if call.transient:
        return "waiting may cure it"
    if call.failures < call.threshold:
        return "it failed less often than a constraint needs"
    if call.prompted:
        return "the user has spoken since"
    if call.changed or any(act is not Act.READ for act in call.since):
        return "something was done since"
    if call.branch_equal is not True:
        return "it may have been learned elsewhere"
    if call.stamps_equal is not True:
        return "a file may have changed since" if call.stamps_equal is None else "a file has changed since"
    if not call.last_failure or not call.now or not 0 <= call.now - call.last_failure <= TOO_LONG_AGO:
        return "the last failure is too long ago"
    if shown_at(call.failures, call.threshold) in call.refused_at:
        return "it was refused once at this count"
    return ""
