"""What an agent should know now: constraints, what the team learned, and what is present."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vlk2.app.entries import excerpt_of
from vlk2.app.record import INCIDENT_WITHIN
from vlk2.domain.anchors import anchor_text
from vlk2.domain.beliefs import INCIDENT_AGENTS, UNASKED_AGENTS, Incident, Pattern, unasked, warning
from vlk2.domain.context import Rendered, Shown, render
from vlk2.domain.entry import Constraint, Entry
from vlk2.domain.observation import Key
from vlk2.domain.recalling import query_tokens
from vlk2.domain.states import State
from vlk2.errors import InvalidInput, StoreUnavailable
from vlk2.ports import Owner, Redactor, Store, Timeline, TokenCounter

MOST_PRESENT = 400
MOST_FAILURES = 40
RECENT_FACTS = 50
MOST_UNASKED = 3
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
    stamps: Callable[[], str] | None = None,
) -> Rendered:
    """The context of the owner's timeline within `max_tokens` (0: the budget; never more than it).

    `query` ranks and never filters: matches come first in each part. Where `stamps` tells of another branch, HEAD,
    lockfile or toolchain than a constraint was learned on, the constraint says so. Constraints that have lapsed are not
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
        present = timeline.in_state(State.PRESENT, MOST_PRESENT)
        patterns = _patterns(timeline, constraints, present, now)
        constraints.sort(key=lambda c: (not c.entry.pinned, -_matches(wanted, anchor_text(c, now))))
        present.sort(key=lambda e: -_matches(wanted, f"{e.headline} {e.file} {e.command}"))
        rendered = render(
            project=owner.project,
            constraints=constraints,
            patterns=patterns,
            present=(Shown(entry, excerpt_of(timeline, entry)) for entry in present),
            present_count=timeline.count_live(State.PRESENT),
            budget=allowance,
            now=now,
            here=stamps() if stamps and constraints else "",
            count=counter.count,
        )
    _note_shown(store, owner, rendered, constraints, now)
    return rendered


def _patterns(
    timeline: Timeline, constraints: Sequence[Constraint], present: Sequence[Entry], now: int
) -> list[Pattern | Incident]:
    """What the team learned of the failures that are present and that no constraint says already; then, unasked,
    what loops of two other agents taught in this very project, the newest first."""
    held = {c.entry.fingerprint.key for c in constraints if c.entry.fingerprint}
    met = {entry.fingerprint.key: entry.fingerprint for entry in present if entry.fingerprint}
    found: list[Pattern | Incident] = []
    for key, fingerprint in list(met.items())[:MOST_FAILURES]:
        if key in held:
            continue
        if fingerprint.transient:
            incident = timeline.incident(fingerprint, now - INCIDENT_WITHIN)
            if incident and incident.agents >= INCIDENT_AGENTS:
                found.append(incident)
        elif (learned := timeline.learned(fingerprint)) and (
            pattern := warning(learned, timeline.agent, timeline.owner.project)
        ):
            found.append(pattern)
    return found + _unasked(timeline, held | set(met))


def _unasked(timeline: Timeline, known: set[Key]) -> list[Pattern]:
    found: list[Pattern] = []
    for fact in timeline.patterns(RECENT_FACTS):
        if fact.agents < UNASKED_AGENTS or fact.fingerprint.key in known:
            continue
        learned = timeline.learned(fact.fingerprint)
        here = timeline.owner.project
        if learned is None or not any(s.stands and s.project == here for s in learned.sources):
            continue
        pattern = warning(learned, timeline.agent, here)
        if pattern and unasked(pattern):
            found.append(pattern)
            if len(found) == MOST_UNASKED:
                break
    return found


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
