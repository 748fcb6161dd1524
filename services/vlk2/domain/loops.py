"""Whether the newest observation closes a loop: the same failure three times with no progress between.

A window is the recent past of a run chain, oldest first; its last member is the new observation. The rule
looks backwards from it and never keeps a state of its own, so the same window gives the same verdict.

What "the same failure" is was settled by measurement on 99 recorded sessions (79 harmless, 20 with a loop): by type
alone 14 harmless ones are flagged, by message alone 12, by type and symbols 2, by message and symbols 1 (19 loops
found, all in time). The symbols decide most; for a catch-all the message must complete the type; for a specific code
it adds nothing to the symbols. The tables and what is still wrong stand in docs/loops.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from vlk2.domain.change import then
from vlk2.domain.command import is_shell
from vlk2.domain.fingerprint import ALGORITHM, wildcard
from vlk2.domain.observation import UNRECOGNISED, Act, Change, Failing, Fingerprint, Key, Outcome, Seen
from vlk2.frozen import dataclass
from vlk2.hints import NamedTuple

REPEAT_LANGUAGE = "call"
REPEAT_TYPE = "repeat"
FIRST_THRESHOLD = 3
LAST_THRESHOLD = 24
REPEAT_REACH = 12
"""Observations that may lie between two equal looks for the second to be a repeat and not a fresh look."""
POLLING_PAUSE = 60 * 1_000_000
"""Microseconds between equal calls from which on they are taken for waiting."""


class Patience(NamedTuple):
    """How much evidence a key needs (`threshold`), and after which `seq` evidence counts (`since`)."""

    threshold: int = FIRST_THRESHOLD
    since: int = -1


@dataclass(frozen=True, slots=True)
class Loop:
    """The same failure, `repeats` times with no progress between.

    `evidence` holds every occurrence that was counted, oldest first; the new observation is its last. A
    `wildcard` loop is three explicit records of one specific type: its key has no symbols. `since` is the
    time of the first occurrence in microseconds.
    """

    key: Key
    language: str
    type: str
    headline: str
    transient: bool
    wildcard: bool
    repeats: int
    evidence: tuple[Seen, ...]
    since: int


@dataclass(frozen=True, slots=True)
class Progress:
    """The approach is not stuck: `reason` says which evidence of rule 3 the new observation brought."""

    reason: str


@dataclass(frozen=True, slots=True)
class Quiet:
    """Nothing to say yet; `repeats` is how often the new observation's failure has occurred so far."""

    repeats: int = 0


Verdict = Loop | Progress | Quiet


def judge(window: Sequence[Seen], policy: Callable[[Key], Patience]) -> Verdict:
    """The verdict on `window[-1]`; `policy` answers the patience for a key.

    The caller has already handled the case that a live constraint holds the new observation's key.
    """
    new = window[-1]
    if new.outcome is Outcome.FAILURE and new.fingerprint is not None:
        if loop := _wildcard(window, policy):
            return loop
        return _failure(window, new, new.fingerprint, policy)
    verdict = _repeat(window, new, policy)
    if isinstance(verdict, Quiet) and new.outcome is Outcome.SUCCESS and _succeeds(new, window):
        return Progress("the same command succeeded")
    return verdict


def _failure(
    window: Sequence[Seen], new: Seen, fingerprint: Fingerprint, policy: Callable[[Key], Patience]
) -> Verdict:
    patience = policy(fingerprint.key)
    found = _attempts(window, _start(window, new, patience.since), new)
    if (
        not found
        or found[-1] is not new
        or len(found) < patience.threshold
        or (fingerprint.transient and _backs_off(found))
    ):
        return Quiet(len(found))
    return Loop(
        key=fingerprint.key,
        language=fingerprint.language,
        type=fingerprint.type,
        headline=fingerprint.headline,
        transient=fingerprint.transient,
        wildcard=False,
        repeats=len(found),
        evidence=tuple(found),
        since=found[0].at,
    )


def _same(seen: Seen, new: Seen) -> bool:
    """Whether `seen` is the failure that `new` is: by signature and symbols.

    Edits that fail in two files are two failures. So are a checker's findings in two files where two commands
    asked for them; under one command the file does not matter. A text that no table knows is told apart by
    little more than one of its lines, so it must also come from the same command or, from a tool that is no
    shell, be equal as a whole.
    """
    if seen.outcome is not Outcome.FAILURE or seen.fingerprint is None or new.fingerprint is None:
        return False
    if seen.wanted or seen.fingerprint.key != new.fingerprint.key:
        return False
    if seen.explicit or new.explicit:
        return True
    if new.act is Act.EDIT and seen.place != new.place:
        return False
    if seen.command and seen.command == new.command:
        return True
    if new.fingerprint.language == UNRECOGNISED:
        return new.act in (Act.EDIT, Act.OTHER) and seen.tool == new.tool and seen.result == new.result
    return not new.fingerprint.specific or _files(seen) == _files(new) or bool(_files(seen) & _files(new))


def _files(seen: Seen) -> set[str]:
    """The files that an observation's headline failure stands in, as far as its failing set names them."""
    failure = seen.fingerprint
    return {
        member.file
        for member in seen.failing
        if member.file and failure and (member.type, member.symbols) == (failure.type, failure.symbols)
    }


def _start(window: Sequence[Seen], new: Seen, since: int) -> int:
    """Where in the window the evidence begins: after the newest progress on the way back from its end.

    Progress is a success of a command that had the failure before it or has it after it, and a failing set of
    such a command that moved on. A reply that was no call at all is put right by the next one that is.
    """
    met = {new.command: new}
    succeeded: set[str] = set()
    latest = new
    for index in range(len(window) - 2, -1, -1):
        seen = window[index]
        if seen.seq <= since or (seen.command and not latest.command and not latest.explicit):
            return index + 1
        if not seen.command:
            same = _same(seen, new)
        elif seen.outcome is Outcome.SUCCESS and seen.own_status:
            if seen.command in met:
                return index + 1
            succeeded.add(seen.command)
            continue
        else:
            later = met.get(seen.command)
            if later is not None and _moved(window, index, seen, later, since):
                return index + 1
            same = _same(seen, new)
            if same and seen.command in succeeded:
                return index + 1
        if same:
            met[seen.command] = latest = seen
    return 0


def _attempts(window: Sequence[Seen], start: int, new: Seen) -> list[Seen]:
    """The occurrences of the failure `new` that are attempts: not the same message, not a look, not a baseline.

    A run after edits that only add output looks closer at the same failure, and a run after going back to
    version control's state measures what was there before: neither is another attempt. The very same call
    once more, with nothing changed, always is.
    """
    found: list[Seen] = []
    last: Seen | None = None
    since_counted = since_last = Change.NONE
    for seen in window[start:]:
        change = _change(seen)
        since_counted, since_last = then(since_counted, change), then(since_last, change)
        if not _same(seen, new):
            continue
        again = last is not None and seen.call == last.call and since_last is Change.NONE
        looks = since_counted is Change.RESTORE or (since_counted is Change.PROBE and bool(found))
        together = bool(found) and bool(seen.batch) and seen.batch == found[-1].batch and not seen.explicit
        if not together and (again or not looks):
            found.append(seen)
            since_counted = Change.NONE
        last, since_last = seen, Change.NONE
    return found


def _change(seen: Seen) -> Change:
    """What a call changed: an edit that failed changed nothing."""
    return Change.NONE if seen.act is Act.EDIT and seen.outcome is Outcome.FAILURE else seen.change


def _moved(window: Sequence[Seen], index: int, before: Seen, after: Seen, since: int) -> bool:
    """Whether the failing set of one command moved on from `before` (at `index`) to `after`, its next failure.

    It did when members only went away, or when it became, files aside, one that was not there before:
    coming back to an earlier set is a repeat, whatever lay between.
    """
    if not before.failing or not after.failing:
        return False
    if after.failing < before.failing:
        return True
    now = _nameless(after.failing)
    return all(
        seen.failing != after.failing and _nameless(seen.failing) != now
        for seen in reversed(window[: index + 1])
        if seen.seq > since and seen.command == after.command and seen.outcome is Outcome.FAILURE
    )


def _nameless(failing: frozenset[Failing]) -> frozenset[Failing]:
    return frozenset(
        Failing(member.type, () if _asserts(member) else member.symbols, member.test) for member in failing
    )


def _asserts(member: Failing) -> bool:
    """Whether a named test's own assertion failed: the same test with another diff is the same failure."""
    kind = member.type.lower()
    return bool(member.test) and ("assert" in kind or "expect" in kind)


def _backs_off(found: Sequence[Seen]) -> bool:
    """Whether one command was tried again, each time after a pause clearly longer than the one before."""
    if not found[-1].command or any(seen.command != found[-1].command for seen in found):
        return False
    pauses = [after.at - before.at for before, after in pairwise(found)]
    if len(pauses) < 2 or not all(pauses):
        return False
    return all(later >= 1.3 * earlier for earlier, later in pairwise(pauses))


def _succeeds(new: Seen, window: Sequence[Seen]) -> bool:
    return (
        new.own_status
        and bool(new.command)
        and any(seen.command == new.command and seen.outcome is Outcome.FAILURE for seen in window[:-1])
    )


def _wildcard(window: Sequence[Seen], policy: Callable[[Key], Patience]) -> Loop | None:
    """Three explicit records of one specific type, one right after the other in the timeline."""
    new = window[-1]
    fingerprint = new.fingerprint
    if fingerprint is None or not new.explicit or not fingerprint.specific:
        return None
    key = Key(wildcard(fingerprint.signature))
    patience = policy(key)
    found = [new]
    for seen in reversed(window[:-1]):
        other = seen.fingerprint
        if (
            len(found) == patience.threshold
            or seen.seq != found[-1].seq - 1
            or seen.seq <= patience.since
            or not seen.explicit
            or other is None
            or (other.language, other.type) != (fingerprint.language, fingerprint.type)
        ):
            break
        found.append(seen)
    found.reverse()
    if len(found) < patience.threshold or len({_key(seen) for seen in found}) == 1:
        return None
    return Loop(
        key=key,
        language=fingerprint.language,
        type=fingerprint.type,
        headline=fingerprint.headline,
        transient=fingerprint.transient,
        wildcard=True,
        repeats=len(found),
        evidence=tuple(found),
        since=found[0].at,
    )


def _key(seen: Seen) -> Key | None:
    return seen.fingerprint.key if seen.fingerprint else None


def _repeat(window: Sequence[Seen], new: Seen, policy: Callable[[Key], Patience]) -> Loop | Quiet:
    """The same call with the same result and no error.

    Nothing may be known to have changed between (for a run: nothing else that may change something was run),
    with two exceptions. Where the result itself shows a failure, the
    edits between were attempts, and none of them made a difference. And a file tool's edit that succeeds
    again was undone between: the edits go back and forth.
    """
    if not new.call or new.explicit or new.pause or new.wanted:
        return Quiet()
    key = _repeat_key(new)
    patience = policy(key)
    rewritten = new.act is Act.EDIT and not is_shell(new.tool)
    found = [new]
    apart = 0
    for seen in reversed(window[:-1]):
        if seen.seq <= patience.since:
            break
        if seen.call != new.call:
            apart += 1
            if apart > REPEAT_REACH and not new.complains:
                break
            if not (new.complains or rewritten) and (
                _change(seen) is not Change.NONE or (seen.changes and new.act is Act.RUN)
            ):
                break
        elif seen.outcome is Outcome.FAILURE:
            if not new.complains:
                break
        elif seen.result == new.result:
            apart = 0
            if not (seen.batch and seen.batch == found[-1].batch):
                found.append(seen)
        elif not (new.complains and seen.complains):
            break
    found.reverse()
    if len(found) < patience.threshold or _waits(found):
        return Quiet(len(found))
    return Loop(
        key=key,
        language=REPEAT_LANGUAGE,
        type=REPEAT_TYPE,
        headline="the same call with the same result",
        transient=False,
        wildcard=False,
        repeats=len(found),
        evidence=tuple(found),
        since=found[0].at,
    )


def _waits(found: Sequence[Seen]) -> bool:
    """Whether the repeats are looks at something that takes its time: a minute or more lies between each."""
    return (
        found[-1].act is Act.RUN
        and not found[-1].complains
        and all(after.at - before.at >= POLLING_PAUSE for before, after in pairwise(found))
    )


def contradicts(seen: Seen, evidence: Iterable[Seen]) -> bool:
    """Whether `seen` is a success against a constraint made from `evidence` (rule 10).

    It is one of the same command, with a status of its own. One edit of a file says nothing about another:
    there only the identical call counts. Against an error-free repeat stands another result of its call.
    """
    if seen.outcome is not Outcome.SUCCESS or not seen.own_status or seen.complains:
        return False
    for met in evidence:
        if met.outcome is not Outcome.FAILURE:
            if seen.call and seen.call == met.call and seen.result != met.result:
                return True
        elif seen.act is Act.EDIT:
            if seen.call and seen.call == met.call:
                return True
        elif seen.command and seen.command == met.command:
            return True
    return False


def key_of(seen: Seen) -> Key | None:
    """The key under which this observation counts: its failure's, or that of an error-free repeat."""
    if seen.outcome is Outcome.FAILURE:
        return _key(seen)
    return _repeat_key(seen) if seen.call else None


def _repeat_key(seen: Seen) -> Key:
    return Key(f"{ALGORITHM}:{REPEAT_LANGUAGE}:{REPEAT_TYPE}:{seen.call}")
