"""What became of a word: what repeated after it, and whether it was wrong."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from vlk2.domain.observation import Key, Outcome, Seen

SOON = 20
"""Observations within which an ending speaks against a constraint, where nothing was changed before it."""


def repeats_after(window: Sequence[Seen], key: Key, at: int) -> list[Seen]:
    """The failures of the key that came after a word was or would have been said: steps that it could have
    spared. A key on a whole type holds every failure of that type."""
    return [
        seen
        for seen in window
        if seen.at > at
        and seen.outcome is Outcome.FAILURE
        and seen.fingerprint
        and _holds(key, seen.fingerprint.key)
    ]


def succeeded_after_all(window: Sequence[Seen], call: str, at: int) -> bool | None:
    """Whether the call that was, or would have been, refused succeeded when it next ran: then the refusal was
    wrong. None where it did not run again, or nobody knows how it went."""
    for seen in window:
        if seen.at >= at and seen.call == call:
            return None if seen.outcome is Outcome.UNKNOWN else seen.outcome is Outcome.SUCCESS
    return None


def ended_by_itself(window: Sequence[Seen], marks: Collection[str], at: int) -> Seen | None:
    """The success of a call or command of the constraint (`marks`) soon after the word, with nothing changed between:
    the approach was not stuck, so the constraint was wrong. None where there is none."""
    for seen in [seen for seen in window if seen.at > at][:SOON]:
        own = bool({mark for mark in (seen.call, seen.command) if mark}.intersection(marks))
        if own and seen.outcome is Outcome.SUCCESS and seen.own_status:
            return seen
        if seen.changes and not own:
            return None
    return None


def _holds(key: Key, other: Key) -> bool:
    if key.signature.endswith(":*"):
        return other.signature.startswith(key.signature[:-1])
    return key == other
