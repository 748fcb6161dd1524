"""Record one observation, and decide in the same transaction whether it closes a loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vlk2.app.fix_trail import Files, end, keep_files
from vlk2.domain import answers
from vlk2.domain.anchors import anchor_text
from vlk2.domain.beliefs import INCIDENT_AGENTS, Incident, Pattern, incident_text, pattern_text, warning
from vlk2.domain.budget import cost
from vlk2.domain.clipping import LOG_LIMIT, clip
from vlk2.domain.context import entry_bound, excerpt
from vlk2.domain.entry import Attempt, Constraint, Entry, Kind
from vlk2.domain.event import Event
from vlk2.domain.fingerprint import diagnose
from vlk2.domain.grounds import compatible
from vlk2.domain.loops import Loop, Patience
from vlk2.domain.moments import HOUR, MINUTE
from vlk2.domain.observation import Diagnosis, Fingerprint, Key, Outcome, Seen
from vlk2.domain.project_rules import ProjectRules
from vlk2.domain.recording import (
    Closed,
    Met,
    Repeated,
    Returned,
    Succeeded,
    decide,
    marks_of,
    patience_for,
    standing,
)
from vlk2.domain.seeing import see
from vlk2.domain.states import Reason, State
from vlk2.domain.text import normalise
from vlk2.errors import InvalidInput
from vlk2.frozen import dataclass, replace
from vlk2.hints import assert_never
from vlk2.ports import Mint, NewAnchor, Owner, Redactor, RunKey, Store, Timeline, TokenCounter

WINDOW = 256
TWIN_WITHIN = 10 * MINUTE
TRANSIENT_LIFE = 30 * MINUTE
INCIDENT_WITHIN = HOUR
_TWIN_AMONG = 64
_MOST_MARKS = 48
_MOST_EVIDENCE = 24
_FILE_LIMIT = 400
_COMMAND_LIMIT = 2_000


@dataclass(frozen=True, slots=True)
class Terms:
    """How this deployment records: the loop threshold, and who acts (`agent`, `hook`, `import`, …). With
    `archive` what is recorded goes straight to PAST: it is history, not what an agent has before it."""

    source: str
    threshold: int = 3
    actor: str = "agent"
    archive: bool = False


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of an observation.

    `entry_id` and `state` are None for a success, which is a row without text. `repeats` counts its failure
    so far; `constraint` is the one that holds it, `show` whether the agent is to be told its text now.
    `retired` are the constraints that this success ended. `closed` is the loop that this very observation
    closed, `seen` the observation as the loop rule saw it (None for a second report). `learned` is what the team
    knows of a failure that this agent has just met for the first time: another agent's loop, or a transient
    failure that holds up several. `text` is the answer in words.
    """

    entry_id: str | None
    state: str | None
    outcome: Outcome
    fingerprint: Fingerprint | None
    repeats: int
    constraint: Constraint | None
    show: bool
    retired: tuple[str, ...]
    duplicate: bool
    closed: Loop | None
    seen: Seen | None
    text: str
    learned: Pattern | Incident | None = None

    @property
    def loop(self) -> bool:
        return self.constraint is not None


@dataclass(frozen=True, slots=True)
class Ready:
    """An event as it may be written: normalised, masked, clipped and diagnosed."""

    event: Event
    command: str
    diagnosis: Diagnosis
    clipped: bool


def record(
    store: Store,
    owner: Owner,
    event: Event,
    terms: Terms,
    *,
    now: int,
    mint: Mint,
    mask: Redactor,
    counter: TokenCounter,
    outcome: Outcome | None = None,
    stamps: str | Callable[[], str] = "{}",
    root: str = "",
    files: Files | None = None,
    rules: ProjectRules | None = None,
) -> Recorded:
    """Records `event` in the owner's timeline and answers what became of it.

    `outcome` overrides the diagnosis where the caller says. `stamps` are branch, HEAD, lockfile and toolchain
    as JSON (or a function that is called only where they matter), `root` the package that a command ran in,
    `files` the files of the workspace where the caller can read them: for the fix trail; `rules` the project's
    own fingerprint rows. A second report of one client event, and an explicit record of what a hook has just
    recorded, add nothing and say so. InvalidInput where there is neither text nor verdict.
    """
    ready = prepare(event, mask, outcome, rules)
    with store.write(owner, now) as timeline:
        return record_in(
            timeline,
            ready,
            terms,
            now=now,
            mint=mint,
            counter=counter,
            digest=store.digest,
            stamps=stamps,
            root=root,
            files=files,
        )


def record_in(
    timeline: Timeline,
    ready: Ready,
    terms: Terms,
    *,
    now: int,
    mint: Mint,
    counter: TokenCounter,
    digest: Callable[[str], str],
    stamps: str | Callable[[], str] = "{}",
    root: str = "",
    files: Files | None = None,
) -> Recorded:
    """Records a prepared event inside an open transaction; see `record`. `digest` is the store's."""
    event = ready.event
    event_key = digest(f"{event.client}\x1f{event.session}\x1f{event.use_id}")[:16] if event.use_id else None
    at = min(event.at or now, now)
    recorder = _Recorder(timeline, terms, mint, counter, stamps, files, now)
    if event_key and (known := timeline.known_event(event_key)):
        return recorder.again(known.seq, known.entry_id, ready)
    if event.explicit and ready.diagnosis.fingerprint:
        key = ready.diagnosis.fingerprint.key
        if twin := timeline.untold_twin(key, now - TWIN_WITHIN, _TWIN_AMONG):
            timeline.mark_told(twin.seq)
            return recorder.again(twin.seq, twin.entry_id, ready)
    run = timeline.run(RunKey(event.client, event.session, event.subagent, event.worktree), at)
    seen = see(
        replace(ready.event, at=at),
        ready.diagnosis,
        seq=timeline.next_seq(),
        run=str(run),
        digest=lambda text: digest(text)[:16],
        root=root,
    )
    return recorder.write(seen, ready, run, event_key, digest)


def prepare(
    event: Event, mask: Redactor, outcome: Outcome | None = None, rules: ProjectRules | None = None
) -> Ready:
    """The event as it may be written. `rules` are the project's own. InvalidInput where there is neither text
    nor verdict."""
    # Clipped twice: what a first cut tears in two (a key without its end) is cut away by the second.
    whole = normalise(clip(event.text, LOG_LIMIT + LOG_LIMIT // 2))
    masked = mask(whole)
    text = clip(masked)
    verdict = event.is_error, event.exit_code
    match outcome:
        case Outcome.FAILURE:
            verdict = True, event.exit_code
        case Outcome.SUCCESS:
            verdict = False, 0
        case Outcome.UNKNOWN | None:
            pass
        case _:
            assert_never(outcome)
    if not text.strip() and verdict == (None, None):
        raise InvalidInput(
            "raw_log is empty: pass what the tool printed, or say outcome='success' or outcome='failure'."
        )
    if outcome is Outcome.SUCCESS or outcome is Outcome.UNKNOWN:
        diagnosis = Diagnosis(outcome)
    else:
        diagnosis = diagnose(
            text,
            is_error=verdict[0],
            exit_code=verdict[1],
            action=event.action,
            extra=rules.table if rules else None,
        )
    file = mask(normalise(event.place))[:_FILE_LIMIT]
    return Ready(
        event=replace(event, text=text, place=file),
        command=mask(normalise(event.command))[:_COMMAND_LIMIT],
        diagnosis=diagnosis,
        clipped=len(whole) < len(event.text) or len(text) < len(masked),
    )


class _Recorder:
    """Writes one observation, and what follows from it, into an open timeline."""

    def __init__(
        self,
        timeline: Timeline,
        terms: Terms,
        mint: Mint,
        counter: TokenCounter,
        stamps: str | Callable[[], str],
        files: Files | None,
        now: int,
    ) -> None:
        self._timeline = timeline
        self._terms = terms
        self._mint = mint
        self._count = counter.count
        self._exact = counter.exact
        self._given_stamps = stamps
        self._files = files
        self._now = now

    def again(self, seq: int, entry_id: str | None, ready: Ready) -> Recorded:
        """The answer to a second report of an observation that is held already."""
        entry = self._timeline.entry(entry_id) if entry_id else None
        window = self._timeline.window(self._timeline.chain(entry.run), WINDOW, upto=seq) if entry else []
        constraint, repeats = None, 0
        if window and window[-1].fingerprint:
            constraint = standing(window[-1], self._live())
            verdict = decide(
                window,
                live=(),
                evidence=self._timeline.evidence,
                archived=lambda _: None,
                patience=self._patience,
            )
            repeats = verdict.repeats if isinstance(verdict, Met | Closed) else 0
        return self._answer(
            entry,
            ready,
            outcome=window[-1].outcome if window else Outcome.SUCCESS,
            repeats=constraint.count if constraint else repeats,
            constraint=constraint,
            show=constraint is not None,
            duplicate=True,
        )

    def write(
        self, seen: Seen, ready: Ready, run: int, event_key: str | None, digest: Callable[[str], str]
    ) -> Recorded:
        """Writes a new observation and acts on the decision about it."""
        timeline = self._timeline
        window = [*timeline.window(timeline.chain(run), WINDOW - 1), seen]
        decision = decide(
            window,
            live=self._live(),
            evidence=timeline.evidence,
            archived=timeline.budget_archived,
            patience=self._patience,
        )
        fingerprint = ready.diagnosis.fingerprint
        fingerprint_pk = timeline.add_fingerprint(fingerprint) if fingerprint else None
        entry = None
        if seen.outcome is not Outcome.SUCCESS or isinstance(decision, Closed):
            reason = Reason.RECORDED
            if self._terms.archive:
                reason = Reason.IMPORTED
            elif isinstance(decision, Repeated | Returned):
                reason = Reason.REPEAT
            entry = self._add_entry(seen, ready, run, fingerprint_pk, digest, reason)
        timeline.add_observation(
            seen,
            run=run,
            source=self._terms.source,
            event=event_key,
            entry=entry.pk if entry else None,
            fingerprint=fingerprint_pk,
            told=seen.explicit,
        )
        timeline.touch(self._now)
        if self._files and seen.outcome is not Outcome.UNKNOWN:
            keep_files(timeline, seen, ready.event, window, self._files, self._now)
        match decision:
            case Met(repeats):
                learned = self._learned(seen.fingerprint) if repeats == 1 else None
                return self._answer(
                    entry, ready, outcome=seen.outcome, repeats=repeats, seen=seen, learned=learned
                )
            case Succeeded(against):
                retired = tuple(c.entry.id for c in against if self._retire(c, ready.command, window))
                if self._files and seen.command:
                    timeline.drop_snapshots([seen.command])
                return self._answer(entry, ready, outcome=seen.outcome, repeats=0, retired=retired, seen=seen)
            case Repeated(constraint, count, show):
                raised = self._raise(
                    constraint, seen, entry, count, shown=count if show else constraint.shown
                )
                return self._answer(
                    entry, ready, outcome=seen.outcome, repeats=count, constraint=raised, show=show, seen=seen
                )
            case Returned(constraint, count):
                timeline.move(
                    constraint.entry, State.FUTURE, Reason.RETURNED, actor=self._terms.actor, at=self._now
                )
                back = replace(constraint, entry=replace(constraint.entry, state=State.FUTURE))
                raised = self._raise(back, seen, entry, count, shown=count)
                return self._answer(
                    entry, ready, outcome=seen.outcome, repeats=count, constraint=raised, show=True, seen=seen
                )
            case Closed(loop, threshold):
                constraint = self._close(loop, threshold, run)
                entry = timeline.entry(entry.id) if entry else None
                return self._answer(
                    entry,
                    ready,
                    outcome=seen.outcome,
                    repeats=loop.repeats,
                    constraint=constraint,
                    show=True,
                    closed=loop,
                    seen=seen,
                )
            case _:
                assert_never(decision)

    # parts -------------------------------------------------------------------------------------------

    def _patience(self, key: Key) -> Patience:
        return patience_for(self._terms.threshold, self._timeline.history(key))

    def _live(self) -> list[Constraint]:
        """The constraints that hold now; those that have lapsed are archived first."""
        live: list[Constraint] = []
        for constraint in self._timeline.constraints(attempts=False):
            if constraint.expires_at is not None and constraint.expires_at <= self._now:
                self._timeline.move(
                    constraint.entry,
                    State.PAST,
                    Reason.RETIRED,
                    detail="lapsed",
                    actor=self._terms.actor,
                    at=self._now,
                )
            else:
                live.append(constraint)
        return live

    def _add_entry(
        self,
        seen: Seen,
        ready: Ready,
        run: int,
        fingerprint: int | None,
        digest: Callable[[str], str],
        reason: Reason,
    ) -> Entry:
        text = ready.event.text
        draft = Entry(
            pk=0,
            id=self._mint("e"),
            seq=seen.seq,
            at=seen.at,
            run=run,
            kind=Kind.LOG,
            state=State.PRESENT if reason is Reason.RECORDED else State.PAST,
            content=self._timeline.add_content(digest(text), text) if text else None,
            fingerprint=seen.fingerprint,
            outcome=seen.outcome.value,
            headline=seen.fingerprint.headline if seen.fingerprint else "",
            file=ready.event.place or seen.place,
            command=ready.command,
            tokens=0,
            counted=False,  # an upper bound: the cycle counts, so that recording need not
            pinned=False,
            lesson=None,
        )
        return self._timeline.add_entry(
            replace(draft, tokens=entry_bound(draft, excerpt(text))),
            fingerprint=fingerprint,
            reason=reason,
            actor=self._terms.actor,
        )

    def _close(self, loop: Loop, threshold: int, run: int) -> Constraint:
        """Archives the loop's evidence and makes its constraint."""
        timeline = self._timeline
        found = [timeline.entry_at(seen.seq) for seen in loop.evidence]
        evidence = [entry for entry in found if entry is not None]
        for entry in evidence:
            if entry.state is State.PRESENT:
                timeline.move(entry, State.PAST, Reason.LOOP, actor=self._terms.actor, at=self._now)
        last = evidence[-1]
        fingerprint = Fingerprint(
            loop.language, loop.type, *loop.key, loop.headline, specific=loop.wildcard or _specific(loop)
        )
        fingerprint = replace(fingerprint, transient=loop.transient)
        draft = replace(
            last,
            id=self._mint("e"),
            at=self._now,
            run=run,
            kind=Kind.LOOP,
            state=State.FUTURE,
            content=None,
            fingerprint=fingerprint,
            headline=loop.headline,
            counted=self._exact,
            pinned=False,
        )
        anchor = NewAnchor(
            count=loop.repeats,
            shown=loop.repeats,
            threshold=threshold,
            first_at=loop.since,
            last_at=loop.evidence[-1].at,
            marks=marks_of(loop.evidence[-_MOST_EVIDENCE:]),
            expires_at=self._now + TRANSIENT_LIFE if loop.transient else None,
            stamps=self._stamps(),
            evidence=tuple(entry.pk for entry in evidence[-_MOST_EVIDENCE:]),
        )
        attempts = tuple(Attempt(e.at, e.command, e.file) for e in evidence[-_MOST_EVIDENCE:])
        constraint = Constraint(
            entry=draft,
            count=anchor.count,
            shown=anchor.shown,
            threshold=threshold,
            first_at=anchor.first_at,
            last_at=anchor.last_at,
            marks=anchor.marks,
            expires_at=anchor.expires_at,
            stamps=anchor.stamps,
            overrides=0,
            ended=None,
            attempts=attempts,
        )
        tokens = cost(anchor_text(constraint, self._now), self._count)
        entry = timeline.add_entry(
            replace(draft, tokens=tokens),
            fingerprint=timeline.add_fingerprint(fingerprint),
            reason=Reason.LOOP,
            actor=self._terms.actor,
        )
        timeline.add_anchor(entry, anchor)
        timeline.add_fact_evidence(entry, Reason.LOOP, ended="", seq=loop.evidence[-1].seq, at=anchor.last_at)
        made = replace(constraint, entry=entry)
        if before := timeline.last_ending(loop.key):
            timeline.set_before(made, before)
            made = replace(made, before=before)
        return made

    def _raise(
        self, constraint: Constraint, seen: Seen, entry: Entry | None, count: int, *, shown: int
    ) -> Constraint:
        marks = tuple(dict.fromkeys((*constraint.marks, *marks_of([seen]))))
        raised = replace(
            constraint,
            count=count,
            shown=shown,
            last_at=max(constraint.last_at, seen.at),
            marks=marks[-_MOST_MARKS:],
            expires_at=self._now + TRANSIENT_LIFE if constraint.expires_at is not None else None,
        )
        self._timeline.save_constraint(raised)
        if raised.ended:  # pinned, contradicted, and now its failure is back
            self._timeline.set_before(raised, raised.ended)
            self._timeline.set_ended(raised, None)
        if entry is not None and count <= _MOST_EVIDENCE:
            self._timeline.add_evidence(raised, entry)
        full = self._timeline.constraint(raised.entry)
        assert full is not None
        tokens = cost(anchor_text(full, self._now), self._count)
        self._timeline.set_tokens(full.entry, tokens, counted=self._exact)
        return full

    def _retire(self, constraint: Constraint, command: str, window: Sequence[Seen]) -> bool:
        """A success against a constraint: it is archived, or where it is pinned stays and says so.

        A success on other ground (another branch) says nothing against it. What had changed is kept as the fix.
        """
        if not compatible(constraint.stamps, stamps := self._stamps()):
            return False
        timeline, entry = self._timeline, constraint.entry
        ending = end(timeline, constraint, window, stamps, self._files, self._now, command)
        again = constraint.ended is not None
        timeline.set_ended(constraint, ending.as_json())
        if not again:
            timeline.add_fact_evidence(
                entry, Reason.RETIRED, ended=ending.kind, seq=window[-1].seq, at=window[-1].at
            )
        if entry.pinned:
            return False
        timeline.move(
            entry,
            State.PAST,
            Reason.RETIRED,
            detail=f"a success of the same command; what changed: {ending.kind}",
            actor=self._terms.actor,
            at=self._now,
        )
        return True

    def _learned(self, fingerprint: Fingerprint | None) -> Pattern | Incident | None:
        """What the team knows of a failure that was just met for the first time."""
        if fingerprint is None or self._terms.archive:
            return None
        if fingerprint.transient:
            incident = self._timeline.incident(fingerprint, self._now - INCIDENT_WITHIN)
            return incident if incident and incident.agents >= INCIDENT_AGENTS else None
        learned = self._timeline.learned(fingerprint)
        owner = self._timeline.owner
        return warning(learned, self._timeline.agent, owner.project) if learned else None

    def _stamps(self) -> str:
        given = self._given_stamps
        return given if isinstance(given, str) else given()

    def _answer(
        self,
        entry: Entry | None,
        ready: Ready,
        *,
        outcome: Outcome,
        repeats: int,
        constraint: Constraint | None = None,
        show: bool = False,
        retired: tuple[str, ...] = (),
        duplicate: bool = False,
        closed: Loop | None = None,
        seen: Seen | None = None,
        learned: Pattern | Incident | None = None,
    ) -> Recorded:
        fingerprint = entry.fingerprint if entry else None
        if constraint and show and not constraint.attempts:
            constraint = self._timeline.constraint(constraint.entry) or constraint
        threshold = self._terms.threshold
        if fingerprint and constraint is None:
            threshold = patience_for(threshold, self._timeline.history(fingerprint.key)).threshold
        text = answers.recorded(
            entry_id=entry.id if entry else None,
            state=entry.state.value if entry else None,
            outcome=outcome,
            fingerprint=fingerprint,
            repeats=repeats,
            threshold=threshold,
            anchor=anchor_text(constraint, self._now) if constraint and show else "",
            constraint_id=constraint.entry.id if constraint else None,
            retired=retired,
            duplicate=duplicate,
            clipped=ready.clipped,
            learned=_told(learned),
        )
        return Recorded(
            entry_id=entry.id if entry else None,
            state=entry.state.value if entry else None,
            outcome=outcome,
            fingerprint=fingerprint,
            repeats=repeats,
            constraint=constraint,
            show=show,
            retired=retired,
            duplicate=duplicate,
            closed=closed,
            seen=seen,
            text=text,
            learned=learned,
        )


def _specific(loop: Loop) -> bool:
    last = loop.evidence[-1].fingerprint
    return last is not None and last.specific


def _told(learned: Pattern | Incident | None) -> str:
    if learned is None:
        return ""
    return pattern_text(learned) if isinstance(learned, Pattern) else incident_text(learned)
