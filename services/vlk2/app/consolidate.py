"""One cycle of one timeline: SCAN, EVALUATE, BUDGET, ARCHIVE, FORGET."""

from __future__ import annotations

import json
from collections.abc import Callable

from vlk2.app.enforce_budget import ACTOR, archive_over_budget, count_exactly
from vlk2.domain.entry import Entry
from vlk2.domain.importance import FORGET_BELOW, STALE_BELOW, Life, importance
from vlk2.domain.moments import DAY, MINUTE
from vlk2.domain.states import Reason, State
from vlk2.frozen import dataclass
from vlk2.ports import Cycle, Lease, Owner, Score, Store, Timeline, TokenCounter

GRACE = 14 * DAY
MOST_AT_ONCE = 2_000
EVIDENCE_AGAIN = MINUTE
CITED_AGAIN = 7 * DAY


@dataclass(frozen=True, slots=True)
class Done:
    """What one cycle of one timeline moved: entry ids with their reason; and whether the timeline has
    `evidence` that the facts of its team do not hold yet."""

    cycle: Cycle
    moved: tuple[tuple[str, str], ...]
    evidence: bool = False


def consolidate(
    store: Store, lease: Lease, *, clock: Callable[[], int], budget: int, counter: TokenCounter
) -> Done:
    """Consolidates the leased timeline and gives the lease back.

    SCAN what moved or came due; EVALUATE its importance and count its tokens exactly; BUDGET which entries
    leave; ARCHIVE those, what is stale and what has lapsed; FORGET what is stale, archived and cited by
    nothing. A second run under the same lease changes nothing. NotAllowed where the lease was lost. A timeline
    with evidence comes due again within a minute, in case that whoever was to distil it does not live to.
    """
    started = clock()
    with store.write_leased(lease, started) as timeline:
        if not timeline.leased:
            return Done(Cycle(lease.owner, started, started, 0, 0, 0, 0, timeline.tokens, "[]"), ())
        done = _cycle(timeline, lease.owner, started, clock, budget, counter)
        timeline.add_cycle(done.cycle)
        timeline.release()
    return done


def rehearse(
    store: Store, owner: Owner, *, clock: Callable[[], int], budget: int, counter: TokenCounter
) -> Done:
    """What a cycle of the owner's timeline would do now: it is done, told and taken back."""
    started = clock()
    try:
        with store.write(owner, started) as timeline:
            raise _Rehearsed(_cycle(timeline, "rehearsal", started, clock, budget, counter))
    except _Rehearsed as told:
        return told.done


class _Rehearsed(Exception):
    def __init__(self, done: Done) -> None:
        super().__init__()
        self.done = done


def _cycle(
    timeline: Timeline,
    worker: str,
    started: int,
    clock: Callable[[], int],
    budget: int,
    counter: TokenCounter,
) -> Done:
    moved: list[tuple[str, str]] = []
    if counter.exact:
        count_exactly(timeline, started, counter.count)
    _lapse(timeline, started, moved)
    changed = timeline.to_evaluate(started, MOST_AT_ONCE)
    lives = timeline.lives(changed)
    timeline.score([_evaluate(timeline, one, lives[one.pk], started, moved) for one in changed], started)
    moved += archive_over_budget(timeline, budget, started)
    _collect(timeline, started)
    timeline.evaluated()
    timeline.set_due(started, GRACE)
    evidence = bool(timeline.fact_evidence())
    if evidence:
        timeline.touch(started + EVIDENCE_AGAIN)
    cycle = Cycle(
        owner=worker,
        started_at=started,
        ended_at=clock(),
        scanned=len(changed),
        evaluated=len(changed),
        archived=sum(1 for _, reason in moved if reason != Reason.CYCLE),
        forgotten=sum(1 for _, reason in moved if reason == Reason.CYCLE),
        tokens=timeline.tokens,
        moved=json.dumps(moved[:200]),
    )
    return Done(cycle, tuple(moved), evidence)


def _lapse(timeline: Timeline, now: int, moved: list[tuple[str, str]]) -> None:
    for constraint in timeline.constraints(attempts=False):
        if constraint.expires_at is not None and constraint.expires_at <= now:
            timeline.move(constraint.entry, State.PAST, Reason.RETIRED, detail="lapsed", actor=ACTOR, at=now)
            moved.append((constraint.entry.id, Reason.RETIRED.value))


def _evaluate(timeline: Timeline, entry: Entry, life: Life, now: int, moved: list[tuple[str, str]]) -> Score:
    """Scores one entry and acts on it where it is stale or to be forgotten.

    An entry is looked at again when its score will have crossed the threshold of its state; a constraint and
    what is pinned, which age never moves, only when something moves them.
    """
    value = importance(life, now=now, below=STALE_BELOW if entry.state is State.PRESENT else FORGET_BELOW)
    due = value.review_at is not None and value.review_at <= now
    review_at = value.review_at
    if entry.pinned or entry.state is State.FUTURE:
        review_at = None
    elif due and entry.state is State.PRESENT:
        timeline.move(entry, State.PAST, Reason.STALE, actor=ACTOR, at=now)
        moved.append((entry.id, Reason.STALE.value))
        value = importance(life, now=now, below=FORGET_BELOW)
        review_at = max(value.review_at or now + DAY, now + DAY)
    elif due and timeline.is_cited(entry):
        review_at = now + CITED_AGAIN
    elif due:
        timeline.bury(entry, reason="stale and connected to nothing", at=now)
        timeline.move(entry, State.PURGED, Reason.CYCLE, detail="stale", actor=ACTOR, at=now)
        moved.append((entry.id, Reason.CYCLE.value))
        review_at = None
    return entry, value, review_at


def _collect(timeline: Timeline, now: int) -> None:
    """Erases the texts of entries whose grace is over."""
    for entry in timeline.collectable(now - GRACE, MOST_AT_ONCE):
        content = entry.content
        timeline.blank(entry, facts=False)
        if (
            content is not None
            and not timeline.held_elsewhere(content)
            and not timeline.same_content(content)
        ):
            timeline.drop_content(content)
