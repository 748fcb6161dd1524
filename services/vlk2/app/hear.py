"""Hear one event of a client's hook: record it, decide, and answer what is to be said there and then."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vlk2.app.record import WINDOW, Ready, Recorded, Terms, record_in
from vlk2.domain.command import is_shell
from vlk2.domain.entry import Constraint, Kind
from vlk2.domain.event import Event, EventKind
from vlk2.domain.identical import Identical, identical
from vlk2.domain.moments import MINUTE
from vlk2.domain.observation import Act, Diagnosis, Outcome
from vlk2.domain.refusal import AboutToRun, Advise, Enforce, Refuse, decide, shown_at
from vlk2.domain.said import Hold, Said, Silence, Tell
from vlk2.domain.seeing import see
from vlk2.domain.speaking import (
    after_result,
    at_start,
    before_call,
    by_the_team,
    due,
    in_place_of_call,
    same_ground,
)
from vlk2.frozen import dataclass, replace
from vlk2.hints import Protocol, assert_never
from vlk2.ports import Mint, Owner, RunKey, SayingKind, Store, Timeline, TokenCounter

TOGETHER = 10 * MINUTE
"""A call in flight for longer is taken for one whose end was never told."""


class Surroundings(Protocol):
    """What lies around a call on disk: `stamps` are branch, HEAD, lockfiles and toolchain as JSON, `files` the
    state of the files that a text names with HEAD, index and lockfiles, as a text to compare; `root` is the
    package that the call ran in. `text` and `masked` are for the fix trail; see `vlk2.app.fix_trail.Files`."""

    @property
    def root(self) -> str: ...
    def stamps(self) -> str: ...
    def files(self, text: str) -> str: ...
    def text(self, path: str) -> str | None: ...
    def masked(self, text: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Manner:
    """How the hook may speak: `observe` says nothing and keeps what it would have said, `mute` says nothing.
    `advises`, `refuses` and `speaks` say whether this client can take a word before a call, a refusal, and any word
    at all with this event."""

    enforce: Enforce = Enforce.REFUSE
    observe: bool = False
    mute: bool = False
    advises: bool = True
    refuses: bool = True
    speaks: bool = True

    @property
    def silent(self) -> bool:
        return self.mute or self.enforce is Enforce.OFF


def hear(
    store: Store,
    owner: Owner,
    event: Event,
    ready: Ready | None,
    terms: Terms,
    manner: Manner,
    around: Surroundings,
    *,
    now: int,
    mint: Mint,
    counter: TokenCounter,
) -> Said:
    """Hears `event` in one transaction. `ready` is its masked form, which a RESULT needs (one without is only
    noted as ended). A second report of one call changes nothing and says nothing."""
    at = min(event.at or now, now)
    key = RunKey(event.client, event.session, event.subagent, event.worktree)
    with store.write(owner, now) as timeline:
        if event.kind is EventKind.SESSION_END:
            timeline.end_run(key, at)
            return Silence()
        hearer = _Hearer(timeline, timeline.run(key, at), terms, manner, around, store.digest, now, at)
        match event.kind:
            case EventKind.RESULT:
                answer = hearer.result(event, ready, mint, counter)
            case EventKind.CALL:
                answer = hearer.call(event)
            case EventKind.PROMPT:
                timeline.prompt(hearer.run, at)
                answer = Silence()
            case EventKind.SESSION_START:
                answer = hearer.start(afresh=event.text != "resume")
            case EventKind.COMPACTION:
                answer = hearer.start(afresh=True)
            case _:
                assert_never(event.kind)
        if isinstance(answer, Silence) and (event.kind is not EventKind.CALL or manner.advises):
            return hearer.late()
        return answer


class _Hearer:
    """One event of one run inside an open transaction."""

    def __init__(
        self,
        timeline: Timeline,
        run: int,
        terms: Terms,
        manner: Manner,
        around: Surroundings,
        digest: Callable[[str], str],
        now: int,
        at: int,
    ) -> None:
        self.run = run
        self._timeline = timeline
        self._terms = terms
        self._manner = manner
        self._around = around
        self._digest = digest
        self._now = now
        self._at = at

    # the kinds of event ------------------------------------------------------------------------------

    def result(self, event: Event, ready: Ready | None, mint: Mint, counter: TokenCounter) -> Said:
        batch = self._timeline.end_call(self.run, self._use(event), self._at)
        if ready is None or event.interrupted:
            return Silence()
        if batch and not ready.event.batch:
            ready = replace(ready, event=replace(ready.event, batch=batch))
        failed = ready.diagnosis.outcome is Outcome.FAILURE
        done = record_in(
            self._timeline,
            ready,
            self._terms,
            now=self._now,
            mint=mint,
            counter=counter,
            digest=self._digest,
            stamps=self._around.stamps,
            root=self._around.root,
            files=self._around,
        )
        if done.duplicate:
            return Silence()
        if failed and done.seen is not None:
            self._timeline.add_stamp(done.seen.seq, self._digest(self._around.files(ready.event.text)))
        return self._after(done)

    def call(self, event: Event) -> Said:
        self._timeline.start_call(self.run, self._use(event), self._at, together=TOGETHER)
        if self._manner.silent:
            return Silence()
        live = self._live()
        if not live:
            return Silence()
        about = see(
            replace(event, text="", at=self._at),
            Diagnosis(Outcome.UNKNOWN),
            seq=0,
            run=str(self.run),
            digest=lambda text: self._digest(text)[:16],
            root=self._around.root,
        )
        marks = {mark for mark in (about.call, about.command) if mark}
        near = [c for c in live if c.entry.kind is Kind.LOOP and marks.intersection(c.marks)]
        if not near:
            return Silence()
        window = self._timeline.window(self._timeline.chain(self.run), WINDOW)
        if facts := identical(window, about.call, near):
            return self._about(event, about.call, facts)
        return self._advise(near[0], about.call, failures=0, again=False)

    def late(self) -> Said:
        """What was due with an earlier event that took no words."""
        if self._manner.silent or self._manner.observe or not self._manner.speaks:
            return Silence()
        owed = self._timeline.owed(self.run)
        if not owed:
            return Silence()
        live = {constraint.entry.pk: constraint for constraint in self._live()}
        for anchor in owed:
            if constraint := live.get(anchor):
                self._timeline.paid(self.run, constraint, self._at)
                constraint = self._timeline.constraint(constraint.entry) or constraint
                return self._say(after_result(constraint, self._now, self._around.stamps()))
        return Silence()

    def start(self, *, afresh: bool) -> Said:
        if self._manner.silent:
            return Silence()
        told = self._told()
        constraints = [c for c in self._live() if afresh or due(c.count, told.get(c.entry.pk))]
        if not constraints:
            return Silence()
        for constraint in constraints:
            self._note(constraint, SayingKind.START, constraint.count)
        return self._say(at_start(constraints, self._around.stamps()))

    # parts -------------------------------------------------------------------------------------------

    def _after(self, done: Recorded) -> Said:
        """The constraint that holds the failure, where this run has not been told of it at half its count. Where
        the client takes no word before a call, the one that was due before this call."""
        constraint = done.constraint
        if self._manner.silent:
            return Silence()
        if constraint is None:
            return self._say(by_the_team(done.learned)) if done.learned else Silence()
        counts = self._timeline.shown_counts(self.run, said=not self._manner.observe)
        told = self._told(counts).get(constraint.entry.pk)
        if due(constraint.count, told):
            if not self._manner.speaks and not self._manner.observe:
                self._timeline.owe(self.run, constraint, SayingKind.CONTEXT, constraint.count, self._at)
                return Silence()
            constraint = self._timeline.constraint(constraint.entry) or constraint
            self._note(constraint, SayingKind.CONTEXT, constraint.count)
            return self._say(after_result(constraint, self._now, self._around.stamps()))
        if not self._manner.speaks or self._manner.advises or done.seen is None:
            return Silence()
        passed = self._timeline.refusals(constraint, done.seen.call, said=not self._manner.observe)
        if passed or not due(constraint.count, counts.get((constraint.entry.pk, SayingKind.ADVICE))):
            return Silence()
        window = self._timeline.window(self._timeline.chain(self.run), WINDOW)
        facts = identical(window, done.seen.call, [constraint])
        if facts is None or facts.failures < 2:
            return Silence()
        self._note(constraint, SayingKind.ADVICE, told or constraint.count, done.seen.call)
        return self._say(
            before_call(constraint, self._now, self._around.stamps(), failures=facts.failures, told=True)
        )

    def _about(self, event: Event, call: str, facts: Identical) -> Said:
        """Rule 7 on a call that has failed under a live constraint."""
        constraint = facts.constraint
        passed = self._timeline.refusals(constraint, call, said=not self._manner.observe)
        call_facts = AboutToRun(
            is_shell=is_shell(event.tool),
            failures=facts.failures,
            since=facts.since,
            changed=facts.changed,
            prompted=(self._timeline.prompted_at(self.run) or 0) >= facts.last.at,
            stamps_equal=True,
            branch_equal=True,
            transient=constraint.expires_at is not None,
            contradicted=constraint.ended is not None,
            last_failure=facts.last.at,
            now=self._now,
            refused_at=tuple(count for kind, count in passed if kind is SayingKind.REFUSAL),
            threshold=constraint.threshold,
        )
        enforce = self._manner.enforce if self._manner.refuses else Enforce.ADVISE
        decision = decide(call_facts, enforce)
        if isinstance(decision, Refuse):  # only now is it worth looking at the disk
            decision = decide(
                replace(
                    call_facts,
                    stamps_equal=self._files_equal(facts.last.seq),
                    branch_equal=same_ground(constraint.stamps, self._around.stamps()),
                ),
                enforce,
            )
        if isinstance(decision, Refuse):
            self._note(constraint, SayingKind.REFUSAL, decision.count, call)
            text = in_place_of_call(constraint, self._now, failures=facts.failures, last=facts.last.at)
            if self._manner.observe:
                return Silence()
            self._timeline.end_call(self.run, self._use(event), self._at)
            return Hold(text)
        count = shown_at(facts.failures, constraint.threshold)
        if passed and passed[-1] == (SayingKind.REFUSAL, count) and not _something_done(call_facts):
            self._note(constraint, SayingKind.OVERRIDE, count, call)
            if not self._manner.observe:
                self._timeline.add_override(constraint)
            return Silence()
        if isinstance(decision, Advise):
            return self._advise(constraint, call, failures=facts.failures, again=True)
        return Silence()

    def _advise(self, constraint: Constraint, call: str, *, failures: int, again: bool) -> Said:
        """A word before the call: the constraint where this run was not told of it; else, where the very call
        failed (`again`), that it is about to be repeated, once at each doubled count."""
        if not self._manner.advises:
            return Silence()
        counts = self._timeline.shown_counts(self.run, said=not self._manner.observe)
        told = self._told(counts).get(constraint.entry.pk)
        anew = due(constraint.count, told)
        if not anew and not (
            again and due(constraint.count, counts.get((constraint.entry.pk, SayingKind.ADVICE)))
        ):
            return Silence()
        if anew:
            constraint = self._timeline.constraint(constraint.entry) or constraint
        # A short word stands for the count at which the whole was told, so that the whole comes when it is due.
        self._note(constraint, SayingKind.ADVICE, constraint.count if anew or told is None else told, call)
        return self._say(
            before_call(constraint, self._now, self._around.stamps(), failures=failures, told=not anew)
        )

    def _files_equal(self, seq: int) -> bool | None:
        """Whether what the failure at `seq` names is as it was when it was met; None where that is unknown."""
        then = self._timeline.stamp(seq)
        entry = self._timeline.entry_at(seq)
        body = self._timeline.body(entry.content) if entry and entry.content is not None else None
        if then is None or body is None:
            return None
        return then == self._digest(self._around.files(body))

    def _live(self) -> list[Constraint]:
        return [
            constraint
            for constraint in self._timeline.constraints(attempts=False)
            if constraint.expires_at is None or constraint.expires_at > self._now
        ]

    def _told(self, counts: dict[tuple[int, SayingKind], int] | None = None) -> dict[int, int]:
        """By constraint, the largest count at which its text was put in front of this run."""
        if counts is None:
            counts = self._timeline.shown_counts(self.run, said=not self._manner.observe)
        told: dict[int, int] = {}
        for (anchor, kind), count in counts.items():
            if kind in (SayingKind.CONTEXT, SayingKind.START, SayingKind.ADVICE):
                told[anchor] = max(count, told.get(anchor, 0))
        return told

    def _note(self, constraint: Constraint, kind: SayingKind, count: int, call: str = "") -> None:
        self._timeline.add_saying(
            self.run, constraint, kind, count, call, said=not self._manner.observe, at=self._at
        )

    def _say(self, text: str) -> Said:
        return Silence() if self._manner.observe else Tell(text)

    def _use(self, event: Event) -> str:
        """What names a call between its beginning and its end: the client's id, else what it does."""
        parts: Sequence[str] = (event.use_id,) if event.use_id else (event.tool, event.input or event.command)
        return self._digest("\x1f".join(parts))[:16]


def _something_done(call: AboutToRun) -> bool:
    return call.prompted or call.changed or any(act is not Act.READ for act in call.since)
