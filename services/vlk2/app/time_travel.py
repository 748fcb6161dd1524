"""An agent declares a dead end: entries go to PAST, its lesson becomes a constraint in its own words."""

from __future__ import annotations

from collections.abc import Sequence

from vlk2.app.entries import the_entry
from vlk2.domain.anchors import anchor_text
from vlk2.domain.budget import cost
from vlk2.domain.entry import Attempt, Constraint, Entry, Kind
from vlk2.domain.observation import Fingerprint, Outcome
from vlk2.domain.quoting import one_line
from vlk2.domain.states import Reason, State
from vlk2.domain.text import normalise
from vlk2.errors import InvalidInput, NotAllowed
from vlk2.frozen import dataclass, replace
from vlk2.ports import Mint, NewAnchor, Owner, Redactor, Store, TokenCounter

LESSON_LIMIT = 500
MOST_ENTRIES = 100


@dataclass(frozen=True, slots=True)
class Travelled:
    """The new constraint, the ids that went to PAST, and the constraint's text."""

    constraint_id: str
    archived: tuple[str, ...]
    text: str


def time_travel(
    store: Store,
    owner: Owner,
    entry_ids: Sequence[str],
    lesson: str,
    *,
    now: int,
    mint: Mint,
    mask: Redactor,
    counter: TokenCounter,
    actor: str = "agent",
) -> Travelled:
    """PRESENT entries -> PAST; the lesson, at most 500 characters, becomes a FUTURE constraint that is never
    shared and never a reason to refuse. All or nothing: an unknown or live-constraint id changes nothing."""
    ids = list(dict.fromkeys(i.strip() for i in entry_ids if i.strip()))
    if not ids:
        raise InvalidInput(
            "entry_ids is empty: name the entries of the dead end, as vlk_fetch_context lists them."
        )
    if len(ids) > MOST_ENTRIES:
        raise InvalidInput(f"at most {MOST_ENTRIES} entries at once.")
    words = " ".join(normalise(lesson).split())
    if not words:
        raise InvalidInput("lesson is empty: say in a sentence or two what did not work and why.")
    if len(words) > LESSON_LIMIT:
        raise InvalidInput(
            f"the lesson has {len(words)} characters; at most {LESSON_LIMIT} are kept. Shorten it."
        )
    kept = one_line(mask(words), LESSON_LIMIT)
    with store.write(owner, now) as timeline:
        entries = [the_entry(timeline, entry_id) for entry_id in ids]
        for entry in entries:
            if entry.state in (State.FUTURE, State.PURGED):
                raise NotAllowed(
                    f"{entry.id} is {entry.state}: only PRESENT and PAST entries can be part of a dead end."
                )
        present = [entry for entry in entries if entry.state is State.PRESENT]
        for entry in present:
            timeline.move(entry, State.PAST, Reason.TIME_TRAVEL, detail=kept, actor=actor, at=now)
        signature = f"1:agent:lesson:{store.digest(kept)[:12]}"
        fingerprint = Fingerprint("agent", "lesson", signature, (), "")
        if any(c.entry.fingerprint == fingerprint for c in timeline.constraints(attempts=False)):
            raise NotAllowed("this very lesson is already an active constraint.")
        constraint = _constraint(entries, fingerprint, kept, mint("e"), timeline.last_seq(), now)
        tokens = cost(anchor_text(constraint, now), counter.count)
        draft = replace(constraint.entry, tokens=tokens, counted=counter.exact)
        made = timeline.add_entry(
            draft, fingerprint=timeline.add_fingerprint(fingerprint), reason=Reason.LESSON, actor=actor
        )
        timeline.add_anchor(
            made,
            NewAnchor(
                count=len(entries),
                shown=len(entries),
                threshold=0,
                first_at=constraint.first_at,
                last_at=constraint.last_at,
                marks=(),
                expires_at=None,
                stamps="{}",
                evidence=tuple(entry.pk for entry in entries),
            ),
        )
    return Travelled(
        made.id,
        tuple(entry.id for entry in present),
        f"{anchor_text(replace(constraint, entry=made), now)}\n\n{len(present)} entries went to PAST.",
    )


def _constraint(
    entries: Sequence[Entry], fingerprint: Fingerprint, lesson: str, entry_id: str, seq: int, now: int
) -> Constraint:
    last = entries[-1]
    entry = Entry(
        pk=0,
        id=entry_id,
        seq=seq,
        at=now,
        run=last.run,
        kind=Kind.LESSON,
        state=State.FUTURE,
        content=None,
        fingerprint=fingerprint,
        outcome=Outcome.FAILURE.value,
        headline="",
        file=last.file,
        command=last.command,
        tokens=0,
        counted=False,
        pinned=False,
        lesson=lesson,
    )
    return Constraint(
        entry=entry,
        count=len(entries),
        shown=len(entries),
        threshold=0,
        first_at=now,
        last_at=now,
        marks=(),
        expires_at=None,
        stamps="{}",
        overrides=0,
        ended=None,
        attempts=tuple(Attempt(e.at, e.command, e.file) for e in entries),
    )
