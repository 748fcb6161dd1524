"""Look at a timeline: its entries by state, one entry whole, and its figures. Nothing is written."""

from __future__ import annotations

from collections.abc import Mapping

from vlk2.app.entries import the_entry
from vlk2.domain.anchors import anchor_text, failure_name
from vlk2.domain.entry import Constraint, Entry
from vlk2.domain.importance import Importance
from vlk2.domain.moments import iso, stamp
from vlk2.domain.quoting import block, code, one_line
from vlk2.domain.states import State
from vlk2.errors import InvalidInput
from vlk2.frozen import dataclass
from vlk2.ports import Cycle, Move, Owner, Saying, SayingKind, Store

MOST = 1_000


@dataclass(frozen=True, slots=True)
class Story:
    """One entry whole: its text, its audit trail, its importance, what a constraint knows beside, and when it was
    put in front of an agent."""

    entry: Entry
    body: str | None
    moves: tuple[Move, ...]
    importance: Importance | None
    constraint: Constraint | None
    cited_by: tuple[str, ...]
    sayings: tuple[Saying, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """A timeline in figures: entries by state, observations, the stored token sum, the last cycle."""

    timeline_id: str
    owner: Owner
    states: Mapping[State, int]
    observations: int
    tokens: int
    last_cycle: Cycle | None


def list_state(store: Store, owner: Owner, state: str, *, limit: int, now: int) -> list[Entry]:
    """The newest entries in a state, at most `limit` (1 to 1,000). InvalidInput for an unknown state."""
    try:
        wanted = State(state.strip().upper())
    except ValueError:
        wanted = State.NEW
    if wanted is State.NEW:
        raise InvalidInput(f"{code(state, 20)} is no state: use PRESENT, PAST, FUTURE or PURGED.")
    if not 1 <= limit <= MOST:
        raise InvalidInput(f"limit must be from 1 to {MOST}.")
    with store.read(owner, now) as timeline:
        return timeline.in_state(wanted, limit)


def story(store: Store, owner: Owner, entry_id: str, *, now: int) -> Story:
    """One entry with everything that is known of it. NotFound where there is none in this timeline."""
    with store.read(owner, now) as timeline:
        entry = the_entry(timeline, entry_id)
        return Story(
            entry=entry,
            body=timeline.body(entry.content) if entry.content is not None else None,
            moves=tuple(timeline.moves(entry)),
            importance=timeline.importance_of(entry),
            constraint=timeline.constraint(entry),
            cited_by=tuple(timeline.cited_by(entry)),
            sayings=tuple(s for s in timeline.sayings(0) if s.constraint_id == entry.id),
        )


def status(store: Store, owner: Owner, *, now: int) -> Status:
    with store.read(owner, now) as timeline:
        return Status(
            timeline.id,
            owner,
            timeline.count_states(),
            timeline.observations(),
            timeline.tokens,
            timeline.last_cycle(),
        )


def entry_line(entry: Entry) -> str:
    """One entry in one line: id, time, state, what it is, where."""
    what = entry.outcome
    if entry.fingerprint:
        what = f"{entry.fingerprint.language} {failure_name(entry.fingerprint)}"
    if entry.lesson:
        what = f"lesson: {one_line(entry.lesson, 80)}"
    place = " ".join(
        part for part in (code(entry.command, 60) if entry.command else "", one_line(entry.file, 60)) if part
    )
    mark = " (pinned)" if entry.pinned else ""
    kind = "" if entry.kind == "log" else f" {entry.kind} constraint"
    return f"{entry.id}  {stamp(entry.at)}  {entry.state.value:<7}{kind}  {what}  {place}{mark}".rstrip()


_SAID = {
    SayingKind.CONTEXT: "shown after a result",
    SayingKind.ADVICE: "shown before a call",
    SayingKind.REFUSAL: "an identical call was refused",
    SayingKind.START: "shown at a session's start",
    SayingKind.OVERRIDE: "override: the identical call was made again and ran",
}


def _saying(saying: Saying) -> str:
    only = "" if saying.said else " (observing: nothing was said)"
    return f"{stamp(saying.at)}  at {saying.count} occurrences: {_SAID[saying.kind]}{only}"


def overrides_line(told: Story) -> str:
    """What a constraint counts, in a few words: occurrences and overrides; "" for another entry."""
    constraint = told.constraint
    if constraint is None:
        return ""
    overrides = f", {constraint.overrides} overridden" if constraint.overrides else ""
    return f"{constraint.count} occurrences{overrides}"


def story_text(told: Story, now: int) -> str:
    """An entry's story for people: what it is, how it moved and why, what it is worth, its text."""
    entry = told.entry
    parts = [entry_line(entry)]
    if told.constraint:
        parts.append(anchor_text(told.constraint, now))
    parts.append("\n".join(_move(move) for move in told.moves))
    parts.append("\n".join(_saying(saying) for saying in told.sayings))
    if told.importance:
        value = told.importance
        parts.append(
            f"importance {value.total:.2f} = recency {value.recency:.2f}, frequency {value.frequency:.2f}, "
            f"connectivity {value.connectivity:.2f}, use {value.use:.2f}"
            + (f"; next looked at {stamp(value.review_at)}" if value.review_at else "")
        )
    if told.cited_by:
        parts.append(f"evidence of {', '.join(told.cited_by)}")
    if told.body:
        parts.append(block(told.body.rstrip("\n")))
    return "\n\n".join(part for part in parts if part)


def _move(move: Move) -> str:
    detail = f": {one_line(move.detail, 120)}" if move.detail else ""
    return f"  {iso(move.at)}  {move.source.value} -> {move.target.value}  {move.reason.value} by {move.actor}{detail}"
