"""What an agent should know now: constraints, what the team learned, and what is present."""

from __future__ import annotations

from collections.abc import Sequence

from vlk2.app.entries import excerpt_of
from vlk2.domain.anchors import anchor_text
from vlk2.domain.beliefs import Pattern
from vlk2.domain.context import Rendered, Shown, render
from vlk2.domain.entry import Constraint
from vlk2.domain.recalling import query_tokens
from vlk2.domain.states import State
from vlk2.errors import InvalidInput, StoreUnavailable
from vlk2.ports import Owner, Redactor, Store, Timeline, TokenCounter

MOST_PRESENT = 400
_LEAST_BUDGET = 200


def fetch_context(
    store: Store,
    owner: Owner,
    *,
    query: str = "",
    max_tokens: int = 0,
    budget: int,
    now: int,
    mask: Redactor,
    counter: TokenCounter,
) -> Rendered:
    """The context of the owner's timeline within `max_tokens` (0: the budget; never more than it).

    `query` ranks and never filters: matches come first in each part. Constraints that have lapsed are not
    shown, whether or not a cycle has archived them yet.
    """
    if max_tokens < 0:
        raise InvalidInput("max_tokens must be 0 (the budget) or a positive number of tokens.")
    allowance = min(max_tokens or budget, budget)
    if max_tokens and max_tokens < _LEAST_BUDGET:
        raise InvalidInput(f"max_tokens must be at least {_LEAST_BUDGET}: less holds no constraint.")
    wanted = frozenset(query_tokens(mask(query)))
    with store.read(owner, now) as timeline:
        constraints = [c for c in timeline.constraints() if c.expires_at is None or c.expires_at > now]
        present = [
            Shown(entry, excerpt_of(timeline, entry))
            for entry in timeline.in_state(State.PRESENT, MOST_PRESENT)
        ]
        patterns = _patterns(timeline, constraints, present)
    constraints.sort(key=lambda c: (not c.entry.pinned, -_matches(wanted, anchor_text(c, now))))
    present.sort(key=lambda s: -_matches(wanted, f"{s.entry.headline} {s.entry.file} {s.entry.command}"))
    rendered = render(
        project=owner.project,
        constraints=constraints,
        patterns=patterns,
        present=present,
        budget=allowance,
        now=now,
        count=counter.count,
    )
    _note_shown(store, owner, rendered, constraints, now)
    return rendered


def _patterns(
    timeline: Timeline, constraints: Sequence[Constraint], present: Sequence[Shown]
) -> list[Pattern]:
    """What the team learned of the failures that are present and that no constraint says already."""
    held = {c.entry.fingerprint.key for c in constraints if c.entry.fingerprint}
    keys = dict.fromkeys(s.entry.fingerprint.key for s in present if s.entry.fingerprint)
    found = [timeline.pattern(key) for key in keys if key not in held]
    return [pattern for pattern in found if pattern is not None]


def _matches(wanted: frozenset[str], text: str) -> int:
    return len(wanted.intersection(query_tokens(text))) if wanted else 0


def _note_shown(
    store: Store, owner: Owner, rendered: Rendered, constraints: Sequence[Constraint], now: int
) -> None:
    """Remembers what was shown, for importance; a store that cannot be written still answers."""
    shown = {c.entry.id: c for c in constraints}
    new = [shown[i] for i in rendered.constraint_ids if shown[i].shown < shown[i].count]
    if not new:
        return
    try:
        with store.write(owner, now) as timeline:
            timeline.note_use([c.entry.id for c in new], now, shown=True)
            for constraint in new:
                timeline.set_shown(constraint, constraint.count)
    except StoreUnavailable:
        return
