"""Run a recorded session through the very rules of live recording, on a memory of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from vlk2.app.record import WINDOW, Recorded, Terms, record
from vlk2.domain.anchors import anchor_text
from vlk2.domain.command import is_shell
from vlk2.domain.entry import Constraint
from vlk2.domain.event import Event, EventKind
from vlk2.domain.identical import identical
from vlk2.domain.observation import Diagnosis, Outcome, Seen
from vlk2.domain.refusal import AboutToRun, Enforce, Refuse, decide
from vlk2.domain.seeing import see
from vlk2.frozen import replace
from vlk2.ports import Mint, Owner, Redactor, Store, TokenCounter

_UNDATED = 1_700_000_000_000_000
_TICK = 1_000_000


@dataclass(slots=True)
class Found:
    """A loop of a recorded session. `step` is where it was flagged, `steps_seen` every occurrence that was
    counted, `tokens_after` what the steps between the flag and the last occurrence cost."""

    step: int
    language: str
    type: str
    signature: str
    headline: str
    repeats: int
    steps_seen: list[int]
    anchor: str
    tokens_after: int = 0


@dataclass(slots=True)
class Replayed:
    """One recorded run. `refusals` are the steps that would have been refused; `total` and
    `after_third_repeat` are tokens: of all steps, and of those between a flag and its last occurrence."""

    run: str
    steps: int = 0
    failures: int = 0
    loops: list[Found] = field(default_factory=list[Found])
    refusals: list[int] = field(default_factory=list[int])
    total: int = 0
    after_third_repeat: int = 0


def replay(
    store: Store,
    owner: Owner,
    steps: Iterable[tuple[int, str, Event]],
    *,
    threshold: int,
    mint: Mint,
    mask: Redactor,
    counter: TokenCounter,
) -> list[Replayed]:
    """Records the steps (position, run, event) in the owner's timeline and answers, run by run, what looped
    and which calls would have been refused. `store` should hold nothing else.

    Steps keep their own times; one without follows the last by a second, so that no pause is invented. No
    stamps of files are recorded, so a refusal takes the acts since as the only evidence of a change.
    """
    player = _Player(store, owner, Terms("import", threshold, "replay"), mint, mask, counter)
    for position, run, event in steps:
        player.play(position, run, event)
    return player.finish()


class _Player:
    """Plays events one by one; keeps what a summary needs, bounded by the window and by what looped."""

    def __init__(
        self, store: Store, owner: Owner, terms: Terms, mint: Mint, mask: Redactor, counter: TokenCounter
    ) -> None:
        self._store = store
        self._owner = owner
        self._terms = terms
        self._mint = mint
        self._mask = mask
        self._counter = counter
        self._clock = _UNDATED
        self._runs: dict[str, Replayed] = {}
        self._costs: dict[str, list[tuple[int, int]]] = {}
        self._positions: dict[int, int] = {}
        self._seen: dict[str, deque[Seen]] = {}
        self._live: dict[str, Constraint] = {}
        self._found: dict[str, Found] = {}
        self._prompted: dict[str, int] = {}
        self._refused: dict[str, tuple[int, ...]] = {}

    def play(self, position: int, run: str, event: Event) -> None:
        into = self._runs.setdefault(run, Replayed(run))
        seen = self._seen.setdefault(run, deque(maxlen=WINDOW))
        if event.kind is EventKind.PROMPT:
            self._prompted[run] = seen[-1].seq if seen else 0
        if event.kind is not EventKind.RESULT:
            return
        into.steps += 1
        into.total += event.tokens
        self._costs.setdefault(run, []).append((position, event.tokens))
        if event.interrupted or _says_nothing(event):
            return
        now = max(event.at, 1) if event.at else self._clock + _TICK
        self._clock = max(self._clock, now) if event.at else now
        event = replace(event, at=now)
        if self._live and self._would_refuse(event, run, seen):
            into.refusals.append(position)
        done = record(
            self._store,
            self._owner,
            event,
            self._terms,
            now=now,
            mint=self._mint,
            mask=self._mask,
            counter=self._counter,
        )
        if done.seen is None:
            return
        seen.append(done.seen)
        self._positions[done.seen.seq] = position
        into.failures += done.outcome is Outcome.FAILURE
        for retired in done.retired:
            self._live.pop(retired, None)
        if done.constraint:
            self._loop(position, into, done, done.constraint, now)

    def finish(self) -> list[Replayed]:
        for run, into in self._runs.items():
            costs = self._costs.get(run, [])
            inside: set[int] = set()
            for loop in into.loops:
                after = [(i, tokens) for i, tokens in costs if loop.step < i <= loop.steps_seen[-1]]
                loop.tokens_after = sum(tokens for _, tokens in after)
                inside.update(i for i, _ in after)
            into.after_third_repeat = sum(tokens for i, tokens in costs if i in inside)
        return list(self._runs.values())

    def _loop(self, position: int, into: Replayed, done: Recorded, constraint: Constraint, now: int) -> None:
        self._live[constraint.entry.id] = constraint
        if done.closed is None:
            if known := self._found.get(constraint.entry.id):
                known.repeats = constraint.count
                known.steps_seen.append(position)
            return
        loop = done.closed
        found = Found(
            step=position,
            language=loop.language,
            type=loop.type,
            signature=loop.key.signature,
            headline=loop.headline,
            repeats=loop.repeats,
            steps_seen=sorted(self._positions[seen.seq] for seen in loop.evidence),
            anchor=anchor_text(constraint, now),
        )
        self._found[constraint.entry.id] = found
        into.loops.append(found)

    def _would_refuse(self, event: Event, run: str, window: deque[Seen]) -> bool:
        about = see(
            replace(event, text=""),
            Diagnosis(Outcome.UNKNOWN),
            seq=0,
            run=run,
            digest=lambda text: self._store.digest(text)[:16],
        )
        facts = identical(list(window), about.call, self._live.values())
        if facts is None:
            return False
        fingerprint = facts.constraint.entry.fingerprint
        refused = self._refused.get(about.call, ())
        decision = decide(
            AboutToRun(
                is_shell=is_shell(event.tool),
                failures=facts.failures,
                since=facts.since,
                changed=facts.changed,
                prompted=self._prompted.get(run, 0) >= facts.last.seq,
                stamps_equal=True,
                branch_equal=True,
                transient=fingerprint is not None and fingerprint.transient,
                last_failure=facts.last.at,
                now=event.at,
                refused_at=refused,
                threshold=facts.constraint.threshold,
            ),
            Enforce.REFUSE,
        )
        if not isinstance(decision, Refuse):
            return False
        self._refused[about.call] = (*refused, decision.count)
        return True


def _says_nothing(event: Event) -> bool:
    return not event.text.strip() and event.is_error is None and event.exit_code is None
