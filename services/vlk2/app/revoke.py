"""Withdraw a constraint that was learned from a misdiagnosis."""

from __future__ import annotations

from vlk2.app.entries import must_be_live, the_constraint
from vlk2.domain.entry import Kind
from vlk2.domain.quoting import one_line
from vlk2.domain.recording import patience_for
from vlk2.domain.states import Reason, State
from vlk2.domain.text import normalise
from vlk2.errors import InvalidInput
from vlk2.frozen import dataclass
from vlk2.ports import Owner, Redactor, Store

REASON_LIMIT = 500


@dataclass(frozen=True, slots=True)
class Revoked:
    """The constraint and its new state; `threshold` is the evidence that its failure needs from now on."""

    constraint_id: str
    state: str
    threshold: int | None
    text: str


def revoke(
    store: Store,
    owner: Owner,
    constraint_id: str,
    reason: str,
    *,
    now: int,
    mask: Redactor,
    threshold: int,
    actor: str = "agent",
) -> Revoked:
    """FUTURE -> PAST, with the reason in the audit trail; the threshold of its failure doubles."""
    if not reason.strip():
        raise InvalidInput("reason is empty: say in a sentence why the constraint is wrong.")
    kept = one_line(mask(normalise(reason)), REASON_LIMIT)
    with store.write(owner, now) as timeline:
        constraint = the_constraint(timeline, constraint_id)
        must_be_live(constraint)
        timeline.move(constraint.entry, State.PAST, Reason.REVOKED, detail=kept, actor=actor, at=now)
        timeline.add_fact_evidence(
            constraint.entry, Reason.REVOKED, ended="", seq=timeline.last_seq(), at=now
        )
        needed = None
        text = f"Revoked {constraint.entry.id}: it is in PAST and no longer shown."
        if constraint.entry.kind is Kind.LOOP and constraint.entry.fingerprint:
            history = timeline.history(constraint.entry.fingerprint.key)
            needed = patience_for(threshold, history).threshold
            text += f" The same failure now needs {needed} repeats before it becomes a constraint again."
        return Revoked(constraint.entry.id, State.PAST.value, needed, text)
