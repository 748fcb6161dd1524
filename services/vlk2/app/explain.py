"""The whole story of an entry, a constraint or a fact, as a newcomer can follow it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vlk2.app.entries import the_entry
from vlk2.domain.anchors import anchor_text, failure_name, once_ended
from vlk2.domain.beliefs import Pattern, pattern_text, seen_by
from vlk2.domain.entry import Constraint, Entry, Kind
from vlk2.domain.grounds import ground
from vlk2.domain.importance import FORGET_BELOW, STALE_BELOW, WEIGHTS, Importance
from vlk2.domain.moments import span, stamp
from vlk2.domain.observation import Fingerprint
from vlk2.domain.quoting import block, code, one_line, quoted
from vlk2.domain.states import Reason, State
from vlk2.errors import NotFound
from vlk2.frozen import dataclass
from vlk2.ports import Belief, Contradiction, Fix, Move, Owner, Store, Timeline, Tombstone

_WHY = {
    Reason.RECORDED: "it was met, and is part of what the agent has before it",
    Reason.LOOP: "the same failure had come often enough, with no progress between: a loop",
    Reason.LESSON: "the agent declared a dead end in its own words",
    Reason.REPEAT: "it repeated what a constraint says already, so it was archived at once and counted there",
    Reason.IMPORTED: "it was imported from a recorded session, as history",
    Reason.BUDGET: "the context was over its token budget, and this was the least important part of it",
    Reason.STALE: "its importance had fallen under what is kept in context",
    Reason.TIME_TRAVEL: "the agent declared it part of a dead end",
    Reason.FORGOTTEN: "an agent forgot it: its words were erased at once",
    Reason.CYCLE: "it had become unimportant and nothing rested on it: its words are kept for 14 days",
    Reason.REVOKED: "it was withdrawn as a misdiagnosis",
    Reason.RETIRED: "it no longer holds",
    Reason.SUPERSEDED: "another constraint took its place",
    Reason.RETURNED: "its failure came again, so the constraint that the budget had archived is back",
    Reason.RESTORED: "it was restored within its grace",
    Reason.ERASED: "it was erased in every holder",
}
_MEANS = {
    State.PRESENT: "PRESENT: in context",
    State.PAST: "PAST: archived, out of context, found by recall",
    State.FUTURE: "FUTURE: a constraint that is shown before the agent acts",
    State.PURGED: "PURGED: forgotten",
}


@dataclass(frozen=True, slots=True)
class Explained:
    """The story as text, and its parts as JSON values."""

    text: str
    parts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ShownFix:
    """What had changed when the loop of a constraint ended: its kind, and the diff where the files were at hand."""

    constraint_id: str
    at: int
    kind: str
    diff: str
    text: str


def explain(store: Store, owner: Owner, any_id: str, *, now: int) -> Explained:
    """The story of an entry or constraint of the owner's timeline, or of a fact of its team. NotFound for any other
    id."""
    with store.read(owner, now) as timeline:
        if any_id.strip().startswith("f_"):
            return _fact(timeline, any_id.strip())
        return _entry(timeline, the_entry(timeline, any_id), now)


def show_fix(store: Store, owner: Owner, constraint_id: str, *, now: int) -> ShownFix:
    """The fix of a constraint, or of the last one of the same failure that ended. NotFound where none is kept."""
    with store.read(owner, now) as timeline:
        entry = the_entry(timeline, constraint_id)
        for one in [entry, *timeline.resting_on(entry)]:
            if fix := timeline.fix(one):
                return _shown(one.id, fix)
        constraint = timeline.constraint(entry)
        earlier = constraint.before if constraint else None
        if earlier and (old := timeline.entry(_of(earlier))) and (fix := timeline.fix(old)):
            return _shown(old.id, fix)
    raise NotFound(
        f"no fix is kept for {entry.id}: one is kept at the success that ends a loop, where a hook could read the files "
        "that the failing command named and that were edited since."
    )


def _of(ending: str) -> str:
    import json

    return str(json.loads(ending).get("of") or "")


def _shown(constraint_id: str, fix: Fix) -> ShownFix:
    head = f"What had changed when {constraint_id} ended, {stamp(fix.at)} (a change of {fix.kind}), since its first failure:"
    return ShownFix(constraint_id, fix.at, fix.kind, fix.diff, f"{head}\n\n{fix.diff}")


def _entry(timeline: Timeline, entry: Entry, now: int) -> Explained:
    moves = timeline.moves(entry)
    value = timeline.importance_of(entry)
    constraint = timeline.constraint(entry)
    evidence = timeline.evidence_entries(entry) if constraint else []
    resting = timeline.resting_on(entry)
    graves = timeline.tombstones(entry)
    sections = [
        _title(entry),
        *([_of_constraint(constraint, now)] if constraint else []),
        _section("What happened to it", [_move(move) for move in moves]),
    ]
    if evidence:
        sections.append(
            _section(f"What it rests on: {len(evidence)} observations", [_line(one) for one in evidence])
        )
    if resting:
        sections.append(_section("What rests on it", [f"{one.id} ({_MEANS[one.state]})" for one in resting]))
    if entry.fingerprint and (met := timeline.met(entry.fingerprint.key)):
        sections.append(
            _section(
                "How often this failure was met here",
                [
                    f"{met[0]} {'time' if met[0] == 1 else 'times'}, first {stamp(met[1])}, last {stamp(met[2])}"
                ],
            )
        )
    if value:
        sections.append(_section("What it is worth", _worth(entry, value, now)))
    sections += _graves(graves)
    pattern, beliefs, against = _team(timeline, entry.fingerprint)
    if pattern or beliefs:
        sections += _belief_sections(pattern, beliefs, against)
    fix = timeline.fix(entry)
    if fix:
        sections.append(f"A fix is kept: `vlk2 show-fix {entry.id}`.")
    body = timeline.body(entry.content) if entry.content is not None else None
    if body:
        sections.append("What was printed:\n" + block(_short(body)))
    parts: dict[str, Any] = {
        "id": entry.id,
        "kind": entry.kind.value,
        "state": entry.state.value,
        "signature": entry.fingerprint.signature if entry.fingerprint else None,
        "symbols": list(entry.fingerprint.symbols) if entry.fingerprint else [],
        "pinned": entry.pinned,
        "tokens": entry.tokens,
        "count": constraint.count if constraint else None,
        "evidence": [one.id for one in evidence],
        "rests_on_it": [one.id for one in resting],
        "transitions": [
            {
                "from": m.source.value,
                "to": m.target.value,
                "reason": m.reason.value,
                "detail": m.detail,
                "actor": m.actor,
                "at": m.at,
            }
            for m in moves
        ],
        "importance": _value_parts(value),
        "tombstones": [{"signature": g.signature, "reason": g.reason, "at": g.at} for g in graves],
        **_belief_parts(pattern, beliefs, against),
        "fix": bool(fix),
    }
    return Explained("\n\n".join(sections), parts)


def _fact(timeline: Timeline, fact_id: str) -> Explained:
    stored = timeline.pattern(fact_id)
    if stored is None:
        raise NotFound(f"there is no fact {code(fact_id, 40)} in this team: `vlk2 recall` lists the ids.")
    pattern, beliefs, against = _team(timeline, stored.fingerprint)
    own = next((belief for belief in beliefs if belief.id == fact_id), None)
    lines = [f"{fact_id}: what the team learned of {_name(stored.fingerprint)}."]
    if own and own.valid_to is not None:
        lines.append(
            f"It was believed from {stamp(own.valid_from)} to {stamp(own.valid_to)}; then newer evidence contradicted it, "
            f"and {own.successor or 'another belief'} followed."
        )
    elif own and own.revoked_at is not None:
        lines.append(f"An admin revoked it, {stamp(own.revoked_at)}: it is shown to nobody.")
    sections = ["\n".join(lines), *_belief_sections(pattern, beliefs, against)]
    return Explained("\n\n".join(sections), {"id": fact_id, **_belief_parts(pattern, beliefs, against)})


def _team(
    timeline: Timeline, fingerprint: Fingerprint | None
) -> tuple[Pattern | None, Sequence[Belief], Sequence[Contradiction]]:
    if fingerprint is None:
        return None, (), ()
    learned = timeline.learned(fingerprint)
    return (
        seen_by(learned, timeline.agent) if learned else None,
        timeline.beliefs(fingerprint.key),
        timeline.contradictions(fingerprint.key),
    )


# words -----------------------------------------------------------------------------------------------------


def _title(entry: Entry) -> str:
    kind = {
        Kind.LOG: "an observation",
        Kind.LOOP: "a constraint from a loop",
        Kind.LESSON: "a declared dead end",
    }
    where = f" in {code(entry.file, 120)}" if entry.file else ""
    by = f" by {code(entry.command, 120)}" if entry.command else ""
    what = _name(entry.fingerprint) if entry.fingerprint and entry.kind is not Kind.LESSON else entry.outcome
    pin = " It is pinned: budget, age and forgetting leave it alone." if entry.pinned else ""
    return f"{entry.id} is {kind[entry.kind]}: {what}{by}{where}, {stamp(entry.at)}.\nIt is {_MEANS[entry.state]}.{pin}"


def _name(fingerprint: Fingerprint) -> str:
    named = ", ".join(code(s, 60) for s in fingerprint.symbols[:4])
    return f"{one_line(fingerprint.language, 30)} {failure_name(fingerprint)}" + (
        f" naming {named}" if named else ""
    )


def _of_constraint(constraint: Constraint, now: int) -> str:
    lines = [
        f"It was made after {constraint.threshold or constraint.count} occurrences and counts {constraint.count} now, from "
        f"{stamp(constraint.first_at)} to {stamp(constraint.last_at)}."
    ]
    if where := ground(constraint.stamps):
        lines.append(f"It was learned on {where}.")
    if constraint.expires_at is not None:
        lines.append(
            f"Its failure looks transient, so it lapses by itself at {stamp(constraint.expires_at)}."
        )
    if constraint.overrides:
        lines.append(f"A call that it held back was run all the same {constraint.overrides} times.")
    if constraint.ended:
        lines.append(once_ended(constraint.ended).replace("It once ended", "It ended"))
    if constraint.before:
        lines.append("An earlier constraint of the same failure: " + once_ended(constraint.before))
    if constraint.live:
        seen = anchor_text(constraint, now).split("\n")
        lines.append("What the agent sees:\n" + "\n".join(f"  | {line}" for line in seen))
    return "\n".join(lines)


def _section(title: str, lines: Sequence[str]) -> str:
    return "\n".join([f"{title}:", *(f"  {line}" for line in lines)])


def _move(move: Move) -> str:
    detail = f" ({quoted(move.detail, 160)})" if move.detail else ""
    way = move.target.value if move.source is State.NEW else f"{move.source.value} to {move.target.value}"
    return f"{stamp(move.at)}  {way}, by {one_line(move.actor, 40)}: {_WHY[move.reason]}{detail}."


def _line(entry: Entry) -> str:
    by = f" by {code(entry.command, 100)}" if entry.command else ""
    where = f" in {code(entry.file, 100)}" if entry.file else ""
    return f"{entry.id}  {stamp(entry.at)}{by}{where}"


def _worth(entry: Entry, value: Importance, now: int) -> list[str]:
    parts = zip(
        ("recency", "frequency", "connectivity", "use", "outcome"),
        (value.recency, value.frequency, value.connectivity, value.use, value.outcome),
        WEIGHTS,
        strict=True,
    )
    lines = [
        f"importance {value.total:.2f} of 1, from "
        + ", ".join(f"{name} {part:.2f} (weight {weight:.2f})" for name, part, weight in parts)
        + "; all but recency fade with age"
    ]
    if value.review_at is not None:
        threshold = STALE_BELOW if entry.state is State.PRESENT else FORGET_BELOW
        then = "goes to PAST" if entry.state is State.PRESENT else "is forgotten, if nothing rests on it"
        when = f"in {span(value.review_at - now)}" if value.review_at > now else "at the next cycle"
        lines.append(f"it {then} when that falls under {threshold:g}, {when} ({stamp(value.review_at)})")
    return lines


def _graves(graves: Sequence[Tombstone]) -> list[str]:
    if not graves:
        return []
    return [
        _section(
            "What its tombstone says",
            [f"{stamp(g.at)}: {one_line(g.reason, 120) or 'no reason is kept'}" for g in graves],
        )
    ]


def _belief_sections(
    pattern: Pattern | None, beliefs: Sequence[Belief], against: Sequence[Contradiction]
) -> list[str]:
    sections: list[str] = []
    if pattern:
        sections.append(_section("What the team believes now", pattern_text(pattern).split("\n")))
    if beliefs:
        lines: list[str] = []
        for belief in beliefs:
            until = f"to {stamp(belief.valid_to)}" if belief.valid_to is not None else "until today"
            follow = f", followed by {belief.successor}" if belief.successor else ""
            lines.append(
                f"{belief.id}  {stamp(belief.valid_from)} {until}: confidence {belief.confidence:.2f}, {belief.loops} learned, "
                f"{belief.successes} ended{follow}"
            )
        sections.append(_section("How the belief went", lines))
    if against:
        sections.append(
            _section(
                "What contradicted it",
                [
                    f"{stamp(c.at)}  {c.fact_id}: {one_line(c.resolution or 'not resolved yet', 120)}"
                    for c in against
                ],
            )
        )
    return sections


def _belief_parts(
    pattern: Pattern | None, beliefs: Sequence[Belief], against: Sequence[Contradiction]
) -> dict[str, Any]:
    return {
        "belief": None
        if pattern is None
        else {
            "id": pattern.id,
            "confidence": pattern.confidence,
            "loops": pattern.loops,
            "ended": pattern.successes,
            "agents": pattern.agents,
            "occurrences": pattern.repeats,
            "ended_by": pattern.ended,
            "warns": pattern.warns,
        },
        "beliefs": [
            {
                "id": b.id,
                "valid_from": b.valid_from,
                "valid_to": b.valid_to,
                "successor": b.successor,
                "confidence": b.confidence,
            }
            for b in beliefs
        ],
        "contradictions": [
            {"fact_id": c.fact_id, "at": c.at, "resolution": c.resolution, "resolved_at": c.resolved_at}
            for c in against
        ],
    }


def _value_parts(value: Importance | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {
        "total": value.total,
        "recency": value.recency,
        "frequency": value.frequency,
        "connectivity": value.connectivity,
        "use": value.use,
        "outcome": value.outcome,
        "review_at": value.review_at,
    }


def _short(body: str) -> str:
    lines = body.rstrip("\n").split("\n")
    shown = [line if len(line) <= 200 else line[:199] + "…" for line in lines[:20]]
    return "\n".join(
        shown + ([f"… {len(lines) - 20} more lines (`vlk2 timeline ID`)"] if len(lines) > 20 else [])
    )
