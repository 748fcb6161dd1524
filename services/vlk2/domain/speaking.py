"""What a hook says, from facts: after a result, before a call, in place of a call, at a session's start.

Facts and not orders, at most `LIMIT` characters, and each text says how to silence and how to revoke.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from vlk2.domain.anchors import anchor_text, failure_name
from vlk2.domain.beliefs import Incident, Pattern, incident_text, pattern_text
from vlk2.domain.entry import Constraint, Kind
from vlk2.domain.moments import span, stamp
from vlk2.domain.quoting import ANCHOR, code, one_line, quoted
from vlk2.frozen import replace

LIMIT = 2_000
_SILENCE = "These notes stop with `vlk2 pause 1h`, or for good with VLK2_ENFORCE=off."


def due(count: int, told: int | None) -> bool:
    """Whether a constraint at `count` is to be put in front of an agent that was told of it at `told` (None:
    never): nothing is shown twice in a session unless its count has doubled."""
    return told is None or count >= 2 * told


def after_result(constraint: Constraint, now: int, stamps: str) -> str:
    """The constraint as a whole, with what it was learned on where that differs."""
    return _whole(constraint, now, learned_on(constraint.stamps, stamps))


def before_call(constraint: Constraint, now: int, stamps: str, *, failures: int, told: bool) -> str:
    """A word before a call that has failed so before. The constraint itself where the agent was not told of it."""
    learned = learned_on(constraint.stamps, stamps)
    if not told:
        return _whole(constraint, now, learned)
    name, times = _name(constraint), failures
    call = f"This very call was {times} of them" if failures else "This command is among them"
    lines = [
        f"{ANCHOR} {name} has repeated {constraint.count} times. {call}, last {stamp(constraint.last_at)}.",
        *([learned] if learned else []),
        f"It is constraint {constraint.entry.id}, shown before in this session.",
        _revocation(constraint),
        _SILENCE,
    ]
    return _within(lines)


def in_place_of_call(constraint: Constraint, now: int, *, failures: int, last: int) -> str:
    """Why a call was not run: what is known to be as it was, and that the next one like it passes."""
    entry = constraint.entry
    headline = f": {quoted(entry.headline, 300)}" if entry.headline else ""
    lines = [
        f"{ANCHOR} Not run: this identical call failed {failures} times with {_name(constraint)}{headline}.",
        f"The last time was {span(max(0, now - last))} ago. Nothing but reading was done since, and the files it "
        "names, HEAD, the index and the lockfiles are as they were.",
        "It is held back once at this count: the same call again will run, and is noted as an override.",
        f"It is constraint {entry.id}, {constraint.count} occurrences.",
        _revocation(constraint),
        _SILENCE,
    ]
    return _within(lines)


def by_the_team(learned: Pattern | Incident) -> str:
    """What other agents of the team learned of a failure that this agent has just met for the first time."""
    text = pattern_text(learned) if isinstance(learned, Pattern) else incident_text(learned)
    return _within([f"Vlk² memory of the team, of the failure that was just met:\n{text}", _SILENCE])


def at_start(constraints: Sequence[Constraint], stamps: str) -> str:
    """The active constraints of a project, a line each, as many as there is room for."""
    count = len(constraints)
    head = (
        f"Vlk² memory of this project: {count} active {'constraint' if count == 1 else 'constraints'}, "
        "learned from failures that repeated."
    )
    foot = [
        'Withdraw one that is a misdiagnosis: vlk_revoke_future(constraint_id, reason) or `vlk2 revoke ID --reason "…"`.',
        _SILENCE,
    ]
    room = LIMIT - len(head) - sum(len(line) + 1 for line in foot) - 80
    lines: list[str] = []
    for constraint in constraints:
        line = _brief(constraint, learned_on(constraint.stamps, stamps))
        if len(line) + 1 > room:
            break
        room -= len(line) + 1
        lines.append(line)
    if len(lines) < count:
        lines.append(f"- {count - len(lines)} more: vlk_fetch_context, or `vlk2 context`.")
    return "\n".join([head, *lines, *foot])


def learned_on(then: str, now: str) -> str:
    """Where branch, HEAD, lockfiles or toolchain are no longer those of the evidence: what it was learned on."""
    before, current = _stamps(then), _stamps(now)
    if not before or not current or before == current:
        return ""
    branch = before.get("branch", "")
    if branch and branch != current.get("branch"):
        return f"It was learned on {code(branch, 80)}."
    names = {"head": "HEAD", "locks": "a lockfile", "toolchain": "the toolchain"}
    changed = [word for key, word in names.items() if before.get(key) != current.get(key)]
    where = f" on {code(branch, 80)}" if branch else ""
    return f"It was learned{where} before {' and '.join(changed)} changed." if changed else ""


def same_ground(then: str, now: str) -> bool | None:
    """Whether the stamps of a constraint's evidence are today's; None where either is unknown."""
    before, current = _stamps(then), _stamps(now)
    return before == current if before is not None and current is not None else None


def _stamps(text: str) -> Mapping[str, str] | None:
    if not text:
        return None
    try:
        found: object = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None  # pyright: ignore[reportUnknownVariableType]


def _whole(constraint: Constraint, now: int, learned: str) -> str:
    """The constraint's own text, with fewer attempts where all of them are too long."""
    extra = [*([learned] if learned else []), _SILENCE]
    room = LIMIT - sum(len(line) + 1 for line in extra)
    attempts = constraint.attempts
    text = anchor_text(constraint, now)
    while len(text) > room and attempts:
        attempts = attempts[len(attempts) // 2 + len(attempts) % 2 :]
        text = anchor_text(replace(constraint, attempts=attempts), now)
    return _within([text, *extra])


def _brief(constraint: Constraint, learned: str) -> str:
    entry = constraint.entry
    if entry.kind is Kind.LESSON:
        return f"- {entry.id} {ANCHOR} a dead end, in an agent's own words: {quoted(entry.lesson or '', 240)}"
    what = f": {quoted(entry.headline, 160)}" if entry.headline else ""
    by = f" by {code(entry.command, 100)}" if entry.command else ""
    tail = f" {learned}" if learned else ""
    return (
        f"- {entry.id} {ANCHOR} {_name(constraint)} has repeated {constraint.count} times{by}{what}, "
        f"last {stamp(constraint.last_at)}.{tail}"
    )


def _name(constraint: Constraint) -> str:
    fingerprint = constraint.entry.fingerprint
    return failure_name(fingerprint) if fingerprint else "the same failure"


def _revocation(constraint: Constraint) -> str:
    entry_id = constraint.entry.id
    return (
        f'A misdiagnosis is withdrawn with vlk_revoke_future(constraint_id="{entry_id}", reason="…") or '
        f'`vlk2 revoke {entry_id} --reason "…"`.'
    )


def _within(lines: Sequence[str]) -> str:
    """The lines within the limit; what is too long is cut out of the first."""
    text = "\n".join(lines)
    if len(text) <= LIMIT:
        return text
    rest = "\n".join(lines[1:])
    return one_line(lines[0], max(1, LIMIT - len(rest) - 1)) + "\n" + rest
