"""Every port method once, over a connection that speaks named statements."""

from __future__ import annotations

import contextlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import AbstractContextManager

from vlk2.domain.beliefs import Evidence, Incident, Learned, Pattern, Source, shareable
from vlk2.domain.budget import Costed
from vlk2.domain.digests import blake2b
from vlk2.domain.entry import Attempt, Constraint, Entry, Kind
from vlk2.domain.importance import Importance, Life
from vlk2.domain.moments import MINUTE
from vlk2.domain.observation import Failing, Fingerprint, Key, Outcome, Seen
from vlk2.domain.recording import History
from vlk2.domain.states import Reason, State, allowed
from vlk2.errors import NotAllowed
from vlk2.frozen import replace
from vlk2.hints import Any, LiteralString, Protocol
from vlk2.ports import (
    Archive,
    Backlog,
    Belief,
    Contradiction,
    Cycle,
    Directory,
    Fix,
    Found,
    Held,
    Known,
    Lease,
    Mint,
    Move,
    NewAnchor,
    Owner,
    RunKey,
    Saying,
    SayingKind,
    Score,
    Snapshot,
    Timeline,
    Tombstone,
)
from vlk2.stores.rows import (
    TOLD,
    constraint_of,
    entry_of,
    evidence_of,
    failing_text,
    fingerprint_of,
    fingerprint_params,
    flags_of,
    key_of,
    pattern_row,
    seen_of,
    symbols_text,
)
from vlk2.stores.statements import Dialect

RUN_SILENCE = 30 * MINUTE
LONGEST_CHAIN = 8
CALL_LIFE = 24 * 60 * MINUTE
MOST_SNAPSHOTS = 24
MOST_CYCLES = 500
_PARTS = 10_000
_NO_SEQ = 1 << 62


class Cursor(Protocol):
    """What this module uses of a DB-API cursor."""

    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> Any: ...


class Connection(Protocol):
    """One connection (or cursor) in one transaction, executing named statements of its dialect. An answer is read
    before the next statement is sent."""

    def execute(self, sql: LiteralString, params: Mapping[str, Any], /) -> Cursor: ...
    def executemany(self, sql: LiteralString, rows: Any, /) -> object: ...


class Statements:
    """Runs named statements on a connection."""

    def __init__(self, connection: Connection, named: Mapping[str, LiteralString]) -> None:
        self._connection = connection
        self._named = named

    def run(self, name: str, /, **params: Any) -> int:
        """Executes; answers the number of rows touched."""
        return self._execute(name, params).rowcount

    def one(self, name: str, /, **params: Any) -> Any:
        """The first row, or None."""
        return self._execute(name, params).fetchone()

    def all(self, name: str, /, **params: Any) -> list[Any]:
        return self._execute(name, params).fetchall()

    def many(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Executes once for each row of parameters."""
        self._connection.executemany(self._named[name], rows)

    def speaking(self, named: Mapping[str, LiteralString]) -> Statements:
        """Other statements on the same connection."""
        return Statements(self._connection, named)

    def _execute(self, name: str, params: dict[str, Any]) -> Cursor:
        for key, value in params.items():
            if value.__class__ is str and not storable(value):
                params[key] = made_storable(value)
        return self._connection.execute(self._named[name], params)

    def has(self, name: str) -> bool:
        return name in self._named


def storable(text: str) -> bool:
    """Whether every database holds the text as it is: no NUL, no lone surrogate."""
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def made_storable(text: str) -> str:
    """NUL -> U+2400, a lone surrogate -> U+FFFD: ids and names that no use case has normalised."""
    return text.replace("\0", "\u2400").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def timeline_pk(run: Statements, owner: Owner, mint: Mint, now: int) -> int:
    """The key of the owner's timeline; team, agent and timeline are made where they are new."""
    found = run.one("timeline_pk", team=owner.team, agent=owner.agent, project=owner.project)
    if found:
        return found[0]
    run.run("add_team", id=mint("t"), name=owner.team, at=now)
    team = run.one("team_pk", name=owner.team)[0]
    run.run("add_agent", id=mint("a"), team=team, name=owner.agent, at=now)
    agent = run.one("agent_pk", team=team, name=owner.agent)[0]
    run.run("add_timeline", id=mint("l"), team=team, agent=agent, project=owner.project, at=now)
    return run.one("timeline_pk", team=owner.team, agent=owner.agent, project=owner.project)[0]


class SqlTimeline:
    """One timeline inside one transaction; see `vlk2.ports.Timeline`."""

    def __init__(
        self, run: Statements, row: Sequence[Any], digest: Callable[[str], str], *, fulltext: bool
    ) -> None:
        self._run = run
        self._digest = digest
        self._fulltext = fulltext
        (
            self.pk,
            self.id,
            self._team,
            self._agent,
            team,
            agent,
            project,
            self._next_seq,
            self._tokens,
            self._due_at,
            self._lease_owner,
            self.version,
        ) = row
        self.owner = Owner(team, agent, project)
        self.erased = False
        """Whether this transaction removed words for good."""
        self._keys: dict[Key, int | None] = {}  # asked for several times in one transaction
        self._changed = False
        self._looked_upto = _NO_SEQ

    @property
    def tokens(self) -> int:
        return self._tokens

    @property
    def leased(self) -> bool:
        return self._lease_owner is not None

    def save(self) -> None:
        """Writes the timeline's own row back where something changed; the store calls it before commit."""
        if self._changed:
            self._run.run(
                "save_timeline",
                next_seq=self._next_seq,
                token_sum=self._tokens,
                due_at=self._due_at,
                pk=self.pk,
            )
        if self.erased and self._fulltext and self._run.has("merge_index"):
            self._run.run("merge_index")

    # runs and observations ---------------------------------------------------------------------------

    def run(self, key: RunKey, at: int) -> int:
        """The run of the key, made where it is new: it then follows the newest run of its worktree that had
        ended, by its own word or by 30 minutes of silence, before `at`."""
        params = {
            "client": key.client,
            "session": key.session,
            "subagent": key.subagent,
            "worktree": key.worktree,
        }
        found = self._run.one("run", timeline=self.pk, **params)
        if found:
            if at > found[1]:
                self._run.run("touch_run", pk=found[0], at=at)
            return found[0]
        follows = None
        if key.session:
            before = self._run.one(
                "run_before",
                timeline=self.pk,
                worktree=key.worktree,
                subagent=key.subagent,
                at=at,
                silent_since=at - RUN_SILENCE,
            )
            follows = before[0] if before else None
        return self._run.one("add_run", timeline=self.pk, follows=follows, at=at, **params)[0]

    def end_run(self, key: RunKey, at: int) -> None:
        found = self._run.one(
            "run",
            timeline=self.pk,
            client=key.client,
            session=key.session,
            subagent=key.subagent,
            worktree=key.worktree,
        )
        if found:
            self._run.run("end_run", pk=found[0], at=at)

    def chain(self, run: int) -> tuple[int, ...]:
        chain = [run]
        while len(chain) < LONGEST_CHAIN:
            row = self._run.one("run_follows", pk=chain[-1])
            if row is None or row[0] is None:
                break
            chain.append(row[0])
        return tuple(chain)

    def next_seq(self) -> int:
        seq = self._next_seq
        self._next_seq += 1
        self._changed = True
        return seq

    def last_seq(self) -> int:
        return self._next_seq - 1

    def window(self, runs: Sequence[int], limit: int, upto: int | None = None) -> list[Seen]:
        rows: list[Any] = []
        for run in runs:
            if len(rows) >= limit:
                break
            rows += self._run.all(
                "window", run=run, most=limit - len(rows), upto=_NO_SEQ if upto is None else upto
            )
        rows.reverse()
        return [seen_of(row) for row in rows]

    def known_event(self, event: str) -> Known | None:
        row = self._run.one("event_seen", timeline=self.pk, event=event)
        return Known(row[0], None, row[1]) if row else None

    def untold_twin(self, key: Key, since: int, among: int) -> Known | None:
        after = self._next_seq - 1 - among
        for seq, run, entry_id, signature, symbols in self._run.all(
            "untold", timeline=self.pk, after=after, since=since
        ):
            if key_of(signature, symbols) == key:
                return Known(seq, run, entry_id)
        return None

    def mark_told(self, seq: int) -> None:
        self._run.run("mark_told", timeline=self.pk, seq=seq)

    def add_observation(
        self,
        seen: Seen,
        *,
        run: int,
        source: str,
        event: str | None,
        entry: int | None,
        fingerprint: int | None,
        told: bool,
    ) -> None:
        self._run.run(
            "add_observation",
            timeline=self.pk,
            seq=seen.seq,
            entry=entry,
            run=run,
            at=seen.at,
            source=source,
            outcome=seen.outcome.value,
            act=seen.act.value,
            flags=flags_of(seen) | TOLD * told,
            pause=seen.pause,
            tool=seen.tool,
            batch=seen.batch,
            call=seen.call,
            command=seen.command,
            result=seen.result,
            place=seen.place,
            fingerprint=fingerprint,
            failing=self._add_failing(seen.failing) if seen.failing else None,
            event=event,
        )
        if fingerprint is not None:
            self._run.run("count_failure", timeline=self.pk, fingerprint=fingerprint, at=seen.at)

    def observations(self) -> int:
        return self._run.one("observations_of", timeline=self.pk)[0]

    # what hooks remember -----------------------------------------------------------------------------

    def start_call(self, run: int, use: str, at: int, *, together: int) -> str:
        beside = self._run.one("call_beside", run=run, use=use, since=at - together)
        batch = beside[0] if beside else f"{use}.{at}"
        self._run.run("start_call", run=run, use=use, batch=batch, at=at)
        return batch

    def end_call(self, run: int, use: str, at: int) -> str:
        row = self._run.one("call_batch", run=run, use=use)
        self._run.run("end_call", run=run, use=use, stale=at - CALL_LIFE)
        self._run.run("set_quiet", run=run, at=at)
        return row[0] if row else ""

    def prompt(self, run: int, at: int) -> None:
        self._run.run("set_prompted", run=run, at=at)

    def prompted_at(self, run: int) -> int | None:
        row = self._run.one("prompted", run=run)
        return row[0] if row else None

    def add_stamp(self, seq: int, stamp: str) -> None:
        self._run.run("add_stamp", timeline=self.pk, seq=seq, stamp=stamp)

    def stamp(self, seq: int) -> str | None:
        row = self._run.one("stamp_of", timeline=self.pk, seq=seq)
        return row[0] if row else None

    def add_saying(
        self,
        run: int,
        constraint: Constraint,
        kind: SayingKind,
        count: int,
        call: str,
        *,
        said: bool,
        at: int,
    ) -> None:
        self._run.run(
            "add_saying",
            timeline=self.pk,
            run=run,
            at=at,
            kind=kind.value,
            anchor=constraint.entry.pk,
            count=count,
            call=call,
            said=int(said),
        )

    def owed(self, run: int) -> list[int]:
        return [row[0] for row in self._run.all("owed", run=run)]

    def owe(self, run: int, constraint: Constraint, kind: SayingKind, count: int, at: int) -> None:
        self._run.run(
            "add_saying",
            timeline=self.pk,
            run=run,
            at=at,
            kind=kind.value,
            anchor=constraint.entry.pk,
            count=count,
            call="",
            said=-1,
        )

    def paid(self, run: int, constraint: Constraint, at: int) -> None:
        self._run.run("set_said", run=run, anchor=constraint.entry.pk, at=at)

    def shown_counts(self, run: int, *, said: bool) -> dict[tuple[int, SayingKind], int]:
        return {
            (anchor, SayingKind(kind)): count
            for anchor, kind, count in self._run.all("sayings_of_run", run=run, said=int(said))
        }

    def refusals(self, constraint: Constraint, call: str, *, said: bool) -> list[tuple[SayingKind, int]]:
        rows = self._run.all("refusals_of_call", anchor=constraint.entry.pk, call=call, said=int(said))
        return [(SayingKind(kind), count) for kind, count in rows]

    def sayings(self, since: int) -> list[Saying]:
        return [
            Saying(at, SayingKind(kind), constraint_id, count, call, said > 0, run)
            for at, kind, constraint_id, count, call, said, run in self._run.all(
                "sayings", timeline=self.pk, since=since
            )
        ]

    def add_override(self, constraint: Constraint) -> None:
        self._run.run("add_override", entry=constraint.entry.pk)

    # contents and fingerprints -----------------------------------------------------------------------

    def add_content(self, digest: str, body: str) -> int:
        found = self._run.one("content_pk", digest=digest)
        if found and found[0] is not None:
            return found[0]
        row = self._run.one("add_content", digest=digest, body=body)
        if row is None or row[0] is None:  # another writer added it between the two statements
            return self._run.one("content_pk", digest=digest)[0]
        self._run.run("add_pending", content=row[0])
        return row[0]

    def add_fingerprint(self, fingerprint: Fingerprint) -> int:
        values = fingerprint_params(fingerprint)
        key = {"signature": values["signature"], "symbols": values["symbols"]}
        found = self._run.one("fingerprint_key", **key)
        if found is None or found[0] is None:
            # None again where another writer added it between the two statements.
            found = self._run.one("add_fingerprint", **values) or self._run.one("fingerprint_key", **key)
        self._keys[fingerprint.key] = found[0]
        return found[0]

    def fingerprint_pk(self, key: Key) -> int | None:
        if key not in self._keys:
            row = self._run.one("fingerprint_pk", signature=key.signature, symbols=symbols_text(key.symbols))
            self._keys[key] = row[0] if row else None
        return self._keys[key]

    def _add_failing(self, failing: frozenset[Failing]) -> int:
        text = failing_text(failing)
        digest = self._digest(text)
        found = self._run.one("failing_pk", digest=digest)
        if found is None or found[0] is None:
            found = self._run.one("add_failing", digest=digest, members=text) or self._run.one(
                "failing_pk", digest=digest
            )
        return found[0]

    def body(self, content: int) -> str | None:
        row = self._run.one("body", pk=content)
        return row[0] if row else None

    def excerpt(self, content: int, head: int, tail: int) -> tuple[str, str, int]:
        """The first `head` and the last `tail` characters, without overlap, and the length of the body."""
        row = self._run.one("excerpt", pk=content, head=head, tail=tail)
        return (row[0], row[1], row[2]) if row else ("", "", 0)

    def excerpts(self, contents: Sequence[int], head: int, tail: int) -> dict[int, tuple[str, str, int]]:
        rows = self._run.all("excerpts", contents=json.dumps(list(contents)), head=head, tail=tail)
        return {row[0]: (row[1], row[2], row[3]) for row in rows}

    # entries -----------------------------------------------------------------------------------------

    def add_entry(
        self, entry: Entry, *, fingerprint: int | None, reason: Reason, actor: str, detail: str = ""
    ) -> Entry:
        if not allowed(State.NEW, entry.state, reason):
            raise NotAllowed(f"an entry cannot begin as {entry.state} because it was {reason}")
        pk = self._run.one(
            "add_entry",
            id=entry.id,
            timeline=self.pk,
            seq=entry.seq,
            at=entry.at,
            run=entry.run,
            kind=entry.kind.value,
            state=entry.state.value,
            content=entry.content,
            fingerprint=fingerprint,
            outcome=entry.outcome,
            headline=entry.headline,
            file=entry.file,
            command=entry.command,
            tokens=entry.tokens,
            counted=int(entry.counted),
            lesson=entry.lesson,
        )[0]
        self._note(pk, State.NEW, entry.state, reason, detail, actor, entry.at)
        if entry.state in (State.PRESENT, State.FUTURE):
            self._tokens += entry.tokens
        return replace(entry, pk=pk)

    def move(
        self, entry: Entry, target: State, reason: Reason, *, actor: str, at: int, detail: str = ""
    ) -> None:
        if not allowed(entry.state, target, reason):
            raise NotAllowed(f"{entry.id} is {entry.state} and cannot become {target} by {reason}")
        self._run.run("set_state", pk=entry.pk, state=target.value)
        self._note(entry.pk, entry.state, target, reason, detail, actor, at)
        live = (State.PRESENT, State.FUTURE)
        self._tokens += entry.tokens * ((target in live) - (entry.state in live))
        if entry.state is State.FUTURE and reason is not Reason.BUDGET:
            self._run.run("close_anchor", entry=entry.pk, seq=self.last_seq(), reason=reason.value)

    def _note(
        self, pk: int, source: State, target: State, reason: Reason, detail: str, actor: str, at: int
    ) -> None:
        self._run.run(
            "add_transition",
            timeline=self.pk,
            entry=pk,
            from_state=source.value,
            to_state=target.value,
            reason=reason.value,
            detail=detail,
            actor=actor,
            at=at,
        )
        self._run.run("add_cycle_pending", timeline=self.pk, entry=pk)
        self.touch(at)

    def touch(self, at: int) -> None:
        """Marks the timeline as changed: the next cycle looks at it."""
        self._changed = True
        self._due_at = at if self._due_at is None else min(self._due_at, at)

    def entry(self, entry_id: str) -> Entry | None:
        row = self._run.one("entry", id=entry_id, timeline=self.pk)
        return entry_of(row) if row else None

    def entry_at(self, seq: int) -> Entry | None:
        row = self._run.one("entry_of_seq", timeline=self.pk, seq=seq)
        return entry_of(row) if row else None

    def in_state(self, state: State, limit: int, before_seq: int | None = None) -> list[Entry]:
        name = "entries_live" if state in (State.PRESENT, State.FUTURE) else "entries_archived"
        before = _NO_SEQ if before_seq is None else before_seq
        return [
            entry_of(row)
            for row in self._run.all(name, timeline=self.pk, state=state.value, before=before, most=limit)
        ]

    def set_pinned(self, entry: Entry, pinned: bool, now: int) -> None:
        self._run.run("set_pinned", pk=entry.pk, pinned=int(pinned))
        self._run.run("review_now", entry=entry.pk, now=now)

    def pinned_tokens(self) -> list[int]:
        return [row[0] for row in self._run.all("pinned_tokens", timeline=self.pk)]

    def set_tokens(self, entry: Entry, tokens: int, *, counted: bool) -> None:
        self._run.run("set_tokens", pk=entry.pk, tokens=tokens, counted=int(counted))
        if entry.state in (State.PRESENT, State.FUTURE):
            self._tokens += tokens - entry.tokens
            self._changed = True

    def set_counts(self, counts: Sequence[tuple[Entry, int]]) -> None:
        self._run.many(
            "set_tokens", [{"pk": entry.pk, "tokens": tokens, "counted": 1} for entry, tokens in counts]
        )
        for entry, tokens in counts:
            if entry.state in (State.PRESENT, State.FUTURE):
                self._tokens += tokens - entry.tokens
        self._changed = True

    def uncounted(self) -> list[Entry]:
        return [entry_of(row) for row in self._run.all("uncounted", timeline=self.pk)]

    def moves(self, entry: Entry) -> list[Move]:
        return [
            Move(entry.id, State(source), State(target), Reason(reason), detail, actor, at)
            for source, target, reason, detail, actor, at in self._run.all("moves", entry=entry.pk)
        ]

    def count_live(self, state: State) -> int:
        return self._run.one("count_live", timeline=self.pk, state=state.value)[0]

    def count_states(self) -> dict[State, int]:
        return {State(state): n for state, n in self._run.all("count_states", timeline=self.pk)}

    # constraints -------------------------------------------------------------------------------------

    def add_anchor(self, entry: Entry, anchor: NewAnchor) -> None:
        self._run.run(
            "add_anchor",
            entry=entry.pk,
            count=anchor.count,
            shown=anchor.shown,
            threshold=anchor.threshold,
            first_at=anchor.first_at,
            last_at=anchor.last_at,
            marks=json.dumps(anchor.marks),
            expires_at=anchor.expires_at,
            stamps=anchor.stamps,
        )
        for evidence in anchor.evidence:
            self._run.run("add_evidence", anchor=entry.pk, entry=evidence)

    def add_evidence(self, constraint: Constraint, entry: Entry) -> None:
        self._run.run("add_evidence", anchor=constraint.entry.pk, entry=entry.pk)

    def constraints(self, *, attempts: bool = True) -> list[Constraint]:
        rows = self._run.all("constraints", timeline=self.pk)
        return [self._constraint(row) if attempts else constraint_of(row, ()) for row in rows]

    def evidence(self, constraint: Constraint) -> list[Seen]:
        rows = self._run.all("evidence", anchor=constraint.entry.pk, most=24)
        return [seen_of(row) for row in reversed(rows)]

    def constraint(self, entry: Entry) -> Constraint | None:
        row = self._run.one("constraint", pk=entry.pk)
        return self._constraint(row) if row else None

    def _constraint(self, row: Sequence[Any]) -> Constraint:
        attempts = [Attempt(*a) for a in self._run.all("attempts", anchor=row[0], most=24)]
        return constraint_of(row, tuple(reversed(attempts)))

    def budget_archived(self, key: Key) -> Constraint | None:
        fingerprint = self.fingerprint_pk(key)
        if fingerprint is None:
            return None
        row = self._run.one("closed_constraint", timeline=self.pk, fingerprint=fingerprint)
        if row is None or row[-1] is not None:
            return None
        return self._constraint(row)

    def save_constraint(self, constraint: Constraint) -> None:
        self._run.run(
            "raise_count",
            entry=constraint.entry.pk,
            count=constraint.count,
            shown=constraint.shown,
            last_at=constraint.last_at,
            marks=json.dumps(constraint.marks),
            expires_at=constraint.expires_at,
        )

    def set_shown(self, constraint: Constraint, shown: int) -> None:
        self._run.run("set_shown", entry=constraint.entry.pk, shown=shown)

    def set_ended(self, constraint: Constraint, ended: str | None) -> None:
        self._run.run("set_ended", entry=constraint.entry.pk, ended=ended)

    def set_before(self, constraint: Constraint, before: str) -> None:
        self._run.run("set_before", entry=constraint.entry.pk, before=before)

    def last_ending(self, key: Key) -> str | None:
        fingerprint = self.fingerprint_pk(key)
        if fingerprint is None:
            return None
        row = self._run.one("last_ending", timeline=self.pk, fingerprint=fingerprint)
        return row[0] if row else None

    # the fix trail -----------------------------------------------------------------------------------

    def add_snapshot(self, mark: str, path: str, body: str, at: int) -> None:
        if self._run.run("add_snapshot", timeline=self.pk, mark=mark, path=path, body=body, at=at):
            self._run.run("drop_old_snapshots", timeline=self.pk, keep=MOST_SNAPSHOTS)

    def snapshots(self, marks: Sequence[str]) -> list[Snapshot]:
        rows = [row for mark in marks for row in self._run.all("snapshots", timeline=self.pk, mark=mark)]
        oldest: dict[str, Snapshot] = {}
        for path, at, body in sorted(rows, key=lambda row: row[1]):
            oldest.setdefault(path, Snapshot(path, at, body))
        return list(oldest.values())

    def drop_snapshots(self, marks: Sequence[str]) -> None:
        for mark in marks:
            self._run.run("drop_snapshots", timeline=self.pk, mark=mark)

    def add_fix(self, constraint: Constraint, fix: Fix) -> None:
        self._run.run("add_fix", anchor=constraint.entry.pk, at=fix.at, kind=fix.kind, diff=fix.diff)

    def fix(self, entry: Entry) -> Fix | None:
        row = self._run.one("fix", anchor=entry.pk)
        return Fix(*row) if row else None

    def history(self, key: Key) -> History:
        fingerprint = self.fingerprint_pk(key)
        if fingerprint is None:
            return History()
        return History(*self._run.one("history", timeline=self.pk, fingerprint=fingerprint))

    def cited_by(self, entry: Entry) -> list[str]:
        return [row[0] for row in self._run.all("cited_by", entry=entry.pk)]

    def is_cited(self, entry: Entry) -> bool:
        return self._run.one("cited", entry=entry.pk) is not None

    def evidence_entries(self, entry: Entry) -> list[Entry]:
        return [entry_of(row) for row in self._run.all("evidence_entries", anchor=entry.pk)]

    def resting_on(self, entry: Entry) -> list[Entry]:
        return [entry_of(row) for row in self._run.all("resting_on", entry=entry.pk)]

    def tombstones(self, entry: Entry) -> list[Tombstone]:
        return [Tombstone(*row) for row in self._run.all("tombstones", entry=entry.id, timeline=self.pk)]

    # erasing -----------------------------------------------------------------------------------------

    def held_elsewhere(self, content: int) -> bool:
        return self._run.one("held_elsewhere", content=content, timeline=self.pk) is not None

    def same_content(self, content: int) -> list[Entry]:
        return [
            entry_of(row) for row in self._run.all("entries_of_content", content=content, timeline=self.pk)
        ]

    def bury(self, entry: Entry, *, reason: str, at: int, unnamed: bool = False) -> None:
        """Leaves a tombstone: digest, signature (`unnamed`: its digest alone), reason and date."""
        digest = self._run.one("content_digest", pk=entry.content) if entry.content is not None else None
        signature = entry.fingerprint.signature if entry.fingerprint else ""
        self._run.run(
            "add_tombstone",
            entry=entry.id,
            timeline=self.pk,
            digest=digest[0] if digest else "",
            signature=self._digest(signature) if unnamed and signature else signature,
            reason=reason,
            at=at,
        )

    def blank(self, entry: Entry, *, facts: bool = True) -> None:
        """Removes from the entry, its observation and the archived constraints that cite it every word of it; with
        `facts` also what the team made of a failure behind which then nothing stands any more."""
        self.erased = True
        if entry.content is not None and self._run.has("lock_content"):
            self._run.one("lock_content", pk=entry.content)
        named = self._run.one("names_of", entry=entry.pk)
        self._run.run("blank_details", entry=entry.pk)
        self._run.run("blank_citations", entry=entry.pk)
        self._run.run("blank_endings", entry=entry.pk)
        self._run.run("blank_anchor", entry=entry.pk)
        self._run.run("blank_fixes", entry=entry.pk)
        self._run.run("blank_entry", pk=entry.pk)
        if entry.kind is Kind.LOG:  # a constraint has none of its own
            self._run.run("blank_observation", timeline=self.pk, seq=entry.seq)
        self._run.run("drop_metadata", entry=entry.pk)
        fingerprint, failing = named or (None, None)
        if fingerprint is not None:
            if entry.kind is Kind.LOG:
                self._run.run("uncount_failure", timeline=self.pk, fingerprint=fingerprint)
                self._run.run("drop_uncounted", timeline=self.pk, fingerprint=fingerprint)
            self._release(fingerprint, facts=facts)
        if failing is not None:
            self._run.one("drop_failing", pk=failing)

    def _release(self, fingerprint: int, *, facts: bool) -> None:
        """Drops a fingerprint that nothing stands behind any more, with `facts` also what was made of it."""
        if self._run.one("stands_behind", fingerprint=fingerprint):
            return
        if facts:
            self._run.run("unname_constraints", fingerprint=fingerprint)
            self._run.run("drop_facts_pending", fingerprint=fingerprint)
            self._run.run("drop_facts_contradictions", fingerprint=fingerprint)
            self._run.run("drop_facts_sources", fingerprint=fingerprint)
            self._run.run("drop_facts", fingerprint=fingerprint)
        self._run.one("drop_fingerprint", pk=fingerprint)
        self._keys.clear()

    def to_erase(self, *, entry: str, whole: bool, match: str, contents: Collection[int]) -> list[Entry]:
        found: dict[int, Entry] = {}

        def add(rows: Sequence[Any]) -> list[Entry]:
            new = [one for row in rows if (one := entry_of(row)).pk not in found]
            found.update({one.pk: one for one in new})
            return new

        if entry:
            add(self._run.all("entry", id=entry, timeline=self.pk))
        if whole:
            add(self._run.all("entries_with_words", timeline=self.pk))
        if match:
            add(self._run.all("entries_that_hold", timeline=self.pk, needle=match, escaped=_escaped(match)))
        held = set(contents) | {one.content for one in found.values() if one.content is not None}
        for content in sorted(held):
            add(self._run.all("entries_of_content", content=content, timeline=self.pk))
        for one in list(found.values()):
            add(self._run.all("resting_on", entry=one.pk))
        return [one for one in found.values() if one.tokens > 0 or one.state is not State.PURGED]

    def scrub(self, *, whole: bool, match: str) -> None:
        """What is no entry's: places of successes, audit details, snapshots of files."""
        self.erased = True
        if whole:
            self._run.run("blank_places", timeline=self.pk)
            self._run.run("drop_all_snapshots", timeline=self.pk)
        if match:
            params = {"timeline": self.pk, "needle": match}
            for name in ("blank_places_that_hold", "blank_details_that_hold", "drop_snapshots_that_hold"):
                self._run.run(name, **params)
            self._run.run("blank_graves_that_hold", **params)

    def sweep(self, contents: Sequence[int], *, match: str) -> None:
        self.erased = True
        for content in contents:
            if self._run.one("still_held", content=content) is None:
                self.drop_content(content)
        if match:
            params = {"team": self._team, "needle": match, "escaped": _escaped(match)}
            for row in self._run.all("fingerprints_that_hold", **params):
                self._release(row[0], facts=True)

    def drop_content(self, content: int) -> None:
        if self._run.has("erase_content"):
            self._run.one("erase_content", pk=content)
            return
        body = self.body(content)
        if body is None:
            return
        self.unindex(content, body)
        self._run.run("delete_content", pk=content)

    # consolidation -----------------------------------------------------------------------------------

    def lives(self, entries: Sequence[Entry]) -> dict[int, Life]:
        rows = self._run.all(
            "lives",
            timeline=self.pk,
            team=self._team,
            entries=json.dumps([entry.pk for entry in entries]),
        )
        known = {row[0]: row[1:] for row in rows}
        return {entry.pk: _life(entry, *known[entry.pk]) for entry in entries}

    def importance_of(self, entry: Entry) -> Importance | None:
        row = self._run.one("metadata", entry=entry.pk)
        if row is None:
            return None
        recency, frequency, connectivity, use, outcome, total = (part / _PARTS for part in row[3:9])
        return Importance(recency, frequency, connectivity, use, outcome, total, row[9])

    def met(self, key: Key) -> tuple[int, int, int] | None:
        fingerprint = self.fingerprint_pk(key)
        row = self._run.one("repeats", timeline=self.pk, fingerprint=fingerprint) if fingerprint else None
        return (row[0], row[1], row[2]) if row else None

    def to_evaluate(self, now: int, limit: int) -> list[Entry]:
        moved, upto = self._run.one("cycle_pending", timeline=self.pk, most=limit)
        # Where nothing is left over, what moves from here on is looked at by whoever moves it.
        self._looked_upto = upto if moved == limit else _NO_SEQ
        found = [entry_of(row) for row in self._run.all("to_evaluate", timeline=self.pk, now=now, most=limit)]
        return [entry for entry in found if entry.state is not State.PURGED]

    def score(self, scores: Sequence[Score], now: int) -> None:
        self._run.many(
            "set_importance",
            [
                {
                    "entry": entry.pk,
                    "timeline": self.pk,
                    "recency": round(value.recency * _PARTS),
                    "frequency": round(value.frequency * _PARTS),
                    "connectivity": round(value.connectivity * _PARTS),
                    "used": round(value.use * _PARTS),
                    "outcome": round(value.outcome * _PARTS),
                    "importance": round(value.total * _PARTS),
                    "review_at": review_at,
                    "now": now,
                }
                for entry, value, review_at in scores
            ],
        )

    def costed(self) -> list[Costed]:
        return [
            Costed(pk, seq, tokens, kind != Kind.LOG, bool(pinned), importance / _PARTS)
            for pk, seq, tokens, kind, pinned, importance in self._run.all("costed", timeline=self.pk)
        ]

    def note_use(self, entry_ids: Sequence[str], at: int, *, shown: bool) -> None:
        for entry_id in entry_ids:
            self._run.run(
                "note_use", timeline=self.pk, id=entry_id, at=at, uses=int(not shown), shows=int(shown)
            )
        self.touch(at)

    def evaluated(self) -> None:
        self._run.run("drop_cycle_pending", timeline=self.pk, upto=self._looked_upto)
        self._changed = True

    def set_due(self, now: int, grace: int) -> None:
        """Nothing is due before the next review of an entry of this timeline."""
        if self._run.one("cycle_pending_left", timeline=self.pk):
            self.touch(now)
            return
        review = self._run.one("next_review", timeline=self.pk)[0]
        purge = self._run.one("oldest_purge", timeline=self.pk)[0]
        due = [at for at in (review, purge + grace if purge is not None else None) if at is not None]
        self._due_at = max(min(due), now + 1) if due else None
        self._changed = True

    def add_cycle(self, cycle: Cycle) -> None:
        self._run.run(
            "add_cycle",
            timeline=self.pk,
            owner=cycle.owner,
            started_at=cycle.started_at,
            ended_at=cycle.ended_at,
            scanned=cycle.scanned,
            evaluated=cycle.evaluated,
            archived=cycle.archived,
            forgotten=cycle.forgotten,
            tokens=cycle.tokens,
            moved=cycle.moved,
        )
        self._run.run("drop_old_cycles", timeline=self.pk, keep=MOST_CYCLES)

    def last_cycle(self) -> Cycle | None:
        row = self._run.one("last_cycle", timeline=self.pk)
        return Cycle(*row) if row else None

    def release(self) -> None:
        self._run.run("release_lease", pk=self.pk, version=self.version)

    def give_back(self) -> None:
        self._run.run("give_back_lease", pk=self.pk, version=self.version)

    def collectable(self, before: int, limit: int) -> list[Entry]:
        return [
            entry_of(row) for row in self._run.all("collectable", timeline=self.pk, before=before, most=limit)
        ]

    # recall and facts --------------------------------------------------------------------------------

    def take_pending(self, limit: int) -> list[tuple[int, str]]:
        """Contents that the search index lacks, at most `limit`."""
        return [(row[0], row[1]) for row in self._run.all("pending", most=limit)]

    def index(self, content: int, tokens: str) -> None:
        if self._fulltext:
            self._run.run("index_content", content=content, tokens=tokens)
        self._run.run("drop_pending", content=content)

    def unindex(self, content: int, body: str) -> None:
        from vlk2.domain.recalling import index_text

        if self._run.run("drop_pending", content=content) == 0 and self._fulltext:
            self._run.run("unindex_content", content=content, tokens=index_text(body))

    @property
    def fulltext(self) -> bool:
        return self._fulltext

    def search(self, tokens: Sequence[str], limit: int) -> list[Found]:
        query = " OR ".join(f'"{token}"' for token in tokens)
        rows = self._run.all("search", timeline=self.pk, query=query, most=limit)
        return [Found(entry_of(row), row[-1]) for row in rows]

    def scan(self, limit: int) -> list[tuple[Entry, str]]:
        """The newest PAST entries with their bodies: what a store without full-text search looks through."""
        return [(entry_of(row), row[-1]) for row in self._run.all("scan", timeline=self.pk, most=limit)]

    def closed_constraints(self, limit: int) -> list[Entry]:
        return [entry_of(row) for row in self._run.all("closed_constraints", timeline=self.pk, most=limit)]

    @property
    def agent(self) -> int:
        return self._agent

    def patterns(self, limit: int) -> list[Pattern]:
        return [pattern_row(row) for row in self._run.all("facts_of_team", team=self._team, most=limit)]

    def pattern(self, fact_id: str) -> Pattern | None:
        row = self._run.one("fact_by_id", team=self._team, id=fact_id)
        return pattern_row(row) if row else None

    def learned(self, fingerprint: Fingerprint) -> Learned | None:
        pk = self.fingerprint_pk(fingerprint.key)
        if pk is None:
            return None
        row = self._run.one("fact_of", team=self._team, fingerprint=pk)
        pending = self.evidence_of(pk)
        if row is None:
            return Learned("", fingerprint, 0, False, (), tuple(pending)) if pending else None
        if row[4] is not None:
            return None
        return Learned(row[1], fingerprint, row[2], bool(row[3]), self._sources(row[0]), tuple(pending))

    def fact_evidence(self) -> list[Evidence]:
        return [evidence_of(row) for row in self._run.all("evidence_of_timeline", timeline=self.pk)]

    def evidence_of(self, fingerprint: int) -> list[Evidence]:
        rows = self._run.all("evidence_of_failure", team=self._team, fingerprint=fingerprint)
        return [evidence_of(row) for row in rows]

    def add_fact_evidence(self, entry: Entry, reason: Reason, *, ended: str, seq: int, at: int) -> None:
        if entry.fingerprint is None or entry.kind is not Kind.LOOP or not shareable(entry.fingerprint):
            return
        self._run.run(
            "add_fact_evidence",
            team=self._team,
            timeline=self.pk,
            fingerprint=self.fingerprint_pk(entry.fingerprint.key),
            anchor=entry.pk,
            reason=reason.value,
            ended=ended,
            seq=seq,
            at=at,
        )

    def held(self, fingerprint: int) -> Held | None:
        row = self._run.one("fact_of", team=self._team, fingerprint=fingerprint)
        return Held(row[0], row[1], bool(row[3]), self._sources(row[0])) if row else None

    def _sources(self, fact: int) -> tuple[Source, ...]:
        return tuple(Source(*row) for row in self._run.all("fact_sources", fact=fact))

    def believe(
        self, held: Held | None, belief: Pattern, sources: Sequence[Source], item: Evidence, now: int
    ) -> None:
        if not self.drop_evidence(item):
            return
        figures = {
            "confidence": belief.confidence,
            "loops": belief.loops,
            "successes": belief.successes,
            "agents": belief.agents,
            "ended": belief.ended,
            "first_at": belief.first_at,
            "last_at": belief.last_at,
            "now": now,
        }
        fact = held.pk if held else 0
        if held is None or belief.id != held.id:
            fact = self._follow(held, belief, item, figures)
        for source in sources:
            self._run.run(
                "save_fact_source",
                fact=fact,
                timeline=source.timeline,
                loops=source.loops,
                successes=source.successes,
                ended=source.ended,
                first_at=source.first_at,
                last_at=source.last_at,
            )
        met = self._run.one("met_by_sources", fact=fact, fingerprint=item.fingerprint)[0]
        self._run.run("save_fact", fact=fact, repeats=met, **figures)

    def _follow(self, held: Held | None, belief: Pattern, item: Evidence, figures: dict[str, Any]) -> int:
        """Closes the belief that is held, if any, and adds the one that follows it."""
        if held is not None:
            self._run.run("close_fact", fact=held.pk, at=item.at, successor=belief.id, now=figures["now"])
        fact = self._run.one(
            "add_fact",
            id=belief.id,
            team=self._team,
            fingerprint=item.fingerprint,
            at=item.at,
            repeats=0,
            pinned=int(belief.pinned),
            **figures,
        )[0]
        if held is None:
            return fact
        self._run.run("hand_on_sources", fact=held.pk, successor=fact)
        self._run.run("hand_on_revocation", fact=held.pk, successor=fact)
        how = f" by a change of {item.ended}" if item.ended else ""
        self._run.run(
            "add_contradiction",
            fact=held.pk,
            timeline=item.timeline,
            seq=item.seq,
            at=item.at,
            resolution=f"{item.reason.value}{how}; followed by {belief.id}",
            now=figures["now"],
        )
        return fact

    def drop_evidence(self, item: Evidence) -> bool:
        return self._run.run("drop_evidence", pk=item.pk) > 0

    def fingerprint(self, pk: int) -> Fingerprint:
        found = fingerprint_of(self._run.one("fingerprint_by_pk", pk=pk), "")
        assert found is not None
        return found

    def incident(self, fingerprint: Fingerprint, since: int) -> Incident | None:
        pk = self.fingerprint_pk(fingerprint.key)
        row = self._run.one("incident", team=self._team, fingerprint=pk, since=since) if pk else None
        return Incident(fingerprint, row[0], row[1], row[2]) if row and row[0] else None

    def beliefs(self, key: Key) -> list[Belief]:
        pk = self.fingerprint_pk(key)
        return [Belief(*row) for row in self._run.all("beliefs", team=self._team, fingerprint=pk)]

    def contradictions(self, key: Key) -> list[Contradiction]:
        pk = self.fingerprint_pk(key)
        rows = self._run.all("contradictions", team=self._team, fingerprint=pk)
        return [Contradiction(*row) for row in rows]


def _escaped(text: str) -> str:
    """The text as it stands inside a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _life(
    entry: Entry,
    count: int | None,
    last_at: int | None,
    kin: int,
    fact: int,
    cited: int,
    uses: int | None,
    used_at: int | None,
) -> Life:
    """A constraint's time is that of its failure's last occurrence."""
    at = entry.at if entry.kind is Kind.LOG else max(entry.at, last_at or 0)
    failed = entry.outcome == Outcome.FAILURE
    return Life(entry.kind, at, max(1, count or 1), kin + fact + cited, uses or 0, used_at, failed)


class SqlStore(ABC):
    """The store port over a database's transactions; each kind of database says how it opens and ends them,
    and calls `_opened` with what `store_meta` holds once its schema is in place."""

    dialect: Dialect
    schema: int

    def __init__(self, named: Mapping[str, LiteralString], mint: Mint) -> None:
        self._named = named
        self._mint = mint
        self._key = b""
        self._pks: dict[Owner, int] = {}
        self.fulltext = False

    def _opened(self, key: str, *, fulltext: bool) -> None:
        self._key = bytes.fromhex(key)
        self.fulltext = fulltext

    @abstractmethod
    def _transaction(self, *, write: bool, team: str | None = None) -> AbstractContextManager[Statements]:
        """A transaction: committed at the end of the block, rolled back by an exception; a reading one sees
        one snapshot. Where the database can, it is held to the rows of `team`. The database's errors come out
        of it as ours."""

    def remarks(self) -> tuple[str, ...]:
        """What is worth knowing of how the store is set up, in sentences."""
        return ()

    def _after_erasure(self) -> None:
        """Removes what the database still keeps of erased words outside its tables, after the commit."""
        return

    def digest(self, text: str) -> str:
        return blake2b(text.encode("utf-8", "surrogatepass"), key=self._key, digest_size=16).hexdigest()

    @contextlib.contextmanager
    def write(self, owner: Owner, now: int) -> Generator[Timeline]:
        with self._transaction(write=True, team=owner.team) as run:
            pk = self._pks.get(owner)
            if pk is None:
                pk = timeline_pk(run, owner, self._mint, now)
            timeline = SqlTimeline(run, run.one("lock_timeline", pk=pk), self.digest, fulltext=self.fulltext)
            yield timeline
            timeline.save()
        self._pks[owner] = pk
        if timeline.erased:
            self._after_erasure()

    @contextlib.contextmanager
    def read(self, owner: Owner, now: int) -> Generator[Timeline]:
        if owner not in self._pks and not self._is_known(owner):
            with self.write(owner, now):
                pass
        with self._transaction(write=False, team=owner.team) as run:
            row = run.one("read_timeline", pk=self._pks[owner])
            yield SqlTimeline(run, row, self.digest, fulltext=self.fulltext)

    @contextlib.contextmanager
    def write_leased(self, lease: Lease, now: int) -> Generator[Timeline]:
        with self._transaction(write=True, team=self._team_of(lease.timeline_id)) as run:
            found = run.one("timeline_pk_by_id", id=lease.timeline_id)
            row = run.one("lock_timeline", pk=found[0]) if found else None
            if row is None or row[-1] != lease.version:
                raise NotAllowed(f"the lease on timeline {lease.timeline_id} was taken by another worker")
            timeline = SqlTimeline(run, row, self.digest, fulltext=self.fulltext)
            yield timeline
            timeline.save()
        if timeline.erased:
            self._after_erasure()

    @contextlib.contextmanager
    def archive(self, *, write: bool) -> Generator[Archive]:
        from vlk2.stores.whole import SqlArchive  # a hook never needs it

        with self._transaction(write=write) as run:
            archive = SqlArchive(
                run,
                self.dialect,
                self._key.hex(),
                schema=self.schema,
                fulltext=self.fulltext,
                remarks=self.remarks(),
            )
            yield archive
        if archive.taken_key:
            self._opened(archive.taken_key, fulltext=self.fulltext)
            self._pks.clear()

    @contextlib.contextmanager
    def directory(self, *, write: bool) -> Generator[Directory]:
        from vlk2.stores.directory import SqlDirectory  # a hook never needs it

        with self._transaction(write=write) as run:
            yield SqlDirectory(run)

    @contextlib.contextmanager
    def glance(self) -> Generator[Directory]:
        from vlk2.stores.directory import SqlDirectory

        with self._statement() as run:
            yield SqlDirectory(run)

    def _statement(self) -> AbstractContextManager[Statements]:
        """For one reading statement, where the database can do without a transaction around it."""
        return self._transaction(write=False)

    def _is_known(self, owner: Owner) -> bool:
        """Looks for the owner's timeline without the write lock: a store that takes no writes can be read."""
        with self._transaction(write=False, team=owner.team) as run:
            found = run.one("timeline_pk", team=owner.team, agent=owner.agent, project=owner.project)
        if found:
            self._pks[owner] = found[0]
        return found is not None

    def _team_of(self, timeline_id: str) -> str | None:
        """The team of a timeline where the transaction has to be told; None where it need not be."""
        return None

    def take_lease(self, name: str, owner: str, *, now: int, until: int) -> int | None:
        with self._transaction(write=True) as run:
            row = run.one("take_lease", name=name, owner=owner, now=now, until=until)
            return row[0] if row else None

    def drop_lease(self, name: str, owner: str, version: int) -> None:
        with self._transaction(write=True) as run:
            run.run("drop_lease", name=name, owner=owner, version=version)

    def lease_due(self, owner: str, *, now: int, until: int, most: int) -> list[Lease]:
        with self._transaction(write=True) as run:
            rows = run.all("lease_due", owner=owner, now=now, until=until, most=most)
            return [Lease(row[0], owner, row[1]) for row in rows]

    def note_failure(self, lease: Lease, *, now: int, retry_at: int, most: int) -> None:
        with self._transaction(write=True) as run:
            run.run(
                "note_failure",
                id=lease.timeline_id,
                version=lease.version,
                now=now,
                retry_at=retry_at,
                most=most,
            )

    def lease_over(self, owner: str, *, budget: int, now: int, until: int, most: int) -> list[Lease]:
        with self._transaction(write=True) as run:
            rows = run.all("lease_over", owner=owner, budget=budget, now=now, until=until, most=most)
            return [Lease(row[0], owner, row[1]) for row in rows]

    def note_lost(self, lease: Lease, *, now: int, most: int) -> bool:
        with self._transaction(write=True) as run:
            row = run.one("note_lost", id=lease.timeline_id, version=lease.version, now=now, most=most)
            return row is not None and row[0] < most

    def free_expired(self, *, now: int, most: int) -> tuple[int, int]:
        with self._transaction(write=True) as run:
            freed = run.run("free_expired", now=now)
            return freed, run.run("park_failed", now=now, most=most)

    def lease_until(self, name: str) -> int | None:
        with self._transaction(write=False) as run:
            row = run.one("lease_until", name=name)
            return row[0] if row else None

    def backlog(self, now: int) -> Backlog:
        with self._transaction(write=False) as run:
            due, oldest = run.one("due_now", now=now)
            return Backlog(due, oldest, run.one("leased_now", now=now)[0], run.one("parked_now")[0])

    def owner_of(self, timeline_id: str) -> Owner | None:
        with self._transaction(write=False) as run:
            row = run.one("owner_of", id=timeline_id)
            return Owner(*row) if row else None

    def timelines(self, team: str) -> list[tuple[str, Owner, int]]:
        with self._transaction(write=False) as run:
            return [
                (row[0], Owner(row[1], row[2], row[3]), row[4])
                for row in run.all("timelines_of_team", team=team)
            ]
