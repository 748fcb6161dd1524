"""What the use cases need from the world: small protocols, one for each need."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum

from vlk2.domain.beliefs import Evidence, Incident, Learned, Pattern, Source
from vlk2.domain.budget import Costed
from vlk2.domain.credentials import Token
from vlk2.domain.entry import Constraint, Entry
from vlk2.domain.importance import Importance, Life
from vlk2.domain.observation import Fingerprint, Key, Seen
from vlk2.domain.recording import History
from vlk2.domain.states import Reason, State
from vlk2.frozen import dataclass
from vlk2.hints import Any, Protocol

Redactor = Callable[[str], str]
Mint = Callable[[str], str]
"""A new public id with the given prefix (`e`): random, never given twice."""


Score = tuple[Entry, Importance, int | None]
"""An entry, its importance, and when it is to be scored again."""


class TokenCounter(Protocol):
    """Counts o200k_base tokens where `exact`, else an upper bound (UTF-8 bytes)."""

    @property
    def exact(self) -> bool: ...
    def count(self, text: str, /) -> int: ...


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose memory: the key of a timeline."""

    team: str
    agent: str
    project: str


@dataclass(frozen=True, slots=True)
class RunKey:
    """One client session, subagent and worktree; all empty is the timeline's own run."""

    client: str = ""
    session: str = ""
    subagent: str = ""
    worktree: str = ""


@dataclass(frozen=True, slots=True)
class NewAnchor:
    """What a constraint knows beside its entry, when it is made."""

    count: int
    shown: int
    threshold: int
    first_at: int
    last_at: int
    marks: tuple[str, ...]
    expires_at: int | None
    stamps: str
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """One row of the audit trail."""

    entry_id: str
    source: State
    target: State
    reason: Reason
    detail: str
    actor: str
    at: int


@dataclass(frozen=True, slots=True)
class Found:
    """A match of full-text search: the entry and its score, the higher the better."""

    entry: Entry
    score: float


@dataclass(frozen=True, slots=True)
class Lease:
    """A timeline taken for one cycle. A write-back under another version is refused."""

    timeline_id: str
    owner: str
    version: int


@dataclass(frozen=True, slots=True)
class Backlog:
    """How the cycle stands: timelines that are due, since when the oldest is (None where none), how many are
    leased and how many parked."""

    due: int
    oldest_due_at: int | None
    leased: int
    parked: int


@dataclass(frozen=True, slots=True)
class Cycle:
    """What one consolidation of one timeline did, and who did it. `moved` is JSON: what moved and why."""

    owner: str
    started_at: int
    ended_at: int
    scanned: int
    evaluated: int
    archived: int
    forgotten: int
    tokens: int
    moved: str


@dataclass(frozen=True, slots=True)
class Known:
    """An observation that is already held: its place, its run (None where not asked for) and its entry."""

    seq: int
    run: int | None
    entry_id: str | None


@dataclass(frozen=True, slots=True)
class Belief:
    """One interval in the life of a fact: what the team believed, from when to when (`valid_to` None: it still
    does), and the id of the belief that followed it."""

    id: str
    valid_from: int
    valid_to: int | None
    successor: str | None
    confidence: float
    loops: int
    repeats: int
    successes: int
    agents: int
    ended: str
    revoked_at: int | None


@dataclass(frozen=True, slots=True)
class Held:
    """A fact's row as its writer needs it."""

    pk: int
    id: str
    pinned: bool
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """An observation against a fact: when it was met, how it was resolved and when."""

    fact_id: str
    at: int
    resolution: str | None
    resolved_at: int | None


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What stays of a forgotten entry."""

    signature: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A file as it was when a command first failed over it; `body` is masked."""

    path: str
    at: int
    body: str


@dataclass(frozen=True, slots=True)
class Fix:
    """What had changed when a loop ended: the kind of change, and the masked diff since its first failure."""

    at: int
    kind: str
    diff: str


class SayingKind(StrEnum):
    """How something was put in front of an agent: the constraint after a result, a word before a call, a refusal,
    the list at a session's start; `OVERRIDE` is no word: the call that passed after its refusal."""

    CONTEXT = "context"
    ADVICE = "advice"
    REFUSAL = "refusal"
    START = "start"
    OVERRIDE = "override"


@dataclass(frozen=True, slots=True)
class Saying:
    """One thing that was put in front of an agent, or where not `said` (it only observes) would have been.

    `count` is the constraint's count (of a refusal, an override and a short word, that which it stands for), `call`
    the identical call that it was about, "" where none.
    """

    at: int
    kind: SayingKind
    constraint_id: str
    count: int
    call: str
    said: bool
    run: int


class Timeline(Protocol):
    """One timeline inside one transaction. Everything read and written is of this timeline only, but for
    contents, fingerprints and failing sets (inserted) and the team's facts (written under the team's lease)."""

    owner: Owner
    id: str
    pk: int
    version: int

    @property
    def leased(self) -> bool:
        """Whether a worker has this timeline: False once a cycle has given it back."""
        ...

    @property
    def tokens(self) -> int:
        """The stored sum of PRESENT + FUTURE."""
        ...

    @property
    def fulltext(self) -> bool: ...

    # runs and observations
    def run(self, key: RunKey, at: int) -> int: ...
    def end_run(self, key: RunKey, at: int) -> None: ...
    def chain(self, run: int) -> tuple[int, ...]:
        """The run and those that it goes on from, newest first."""
        ...

    def next_seq(self) -> int: ...
    def last_seq(self) -> int: ...
    def window(self, runs: Sequence[int], limit: int, upto: int | None = None) -> list[Seen]:
        """The newest `limit` observations of the runs, up to a seq, oldest first."""
        ...

    def known_event(self, event: str) -> Known | None: ...
    def untold_twin(self, key: Key, since: int, among: int) -> Known | None:
        """The newest hook observation of the key, at or after `since` and among the last so many, of which
        nobody was told yet."""
        ...

    def mark_told(self, seq: int) -> None: ...
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
    ) -> None: ...
    def observations(self) -> int: ...

    # what hooks remember
    def start_call(self, run: int, use: str, at: int, *, together: int) -> str:
        """Notes that the call `use` began; answers its batch: that of a call which is in flight for at most
        `together` microseconds and which no result of the run has overtaken, else a new one."""
        ...

    def end_call(self, run: int, use: str, at: int) -> str:
        """Notes that the call ended; answers its batch, "" where its beginning was not seen."""
        ...

    def prompt(self, run: int, at: int) -> None:
        """Notes that the user spoke."""
        ...

    def prompted_at(self, run: int) -> int | None: ...
    def add_stamp(self, seq: int, stamp: str) -> None: ...
    def stamp(self, seq: int) -> str | None:
        """The digest of the files that the failure at `seq` names, as they were then; None where unknown."""
        ...

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
    ) -> None: ...
    def owed(self, run: int) -> list[int]:
        """The constraints (their entries' keys) that were put off with `owe`, oldest first."""
        ...

    def owe(self, run: int, constraint: Constraint, kind: SayingKind, count: int, at: int) -> None:
        """Puts off what is due to be said, since this event takes no words."""
        ...

    def paid(self, run: int, constraint: Constraint, at: int) -> None:
        """What was put off has been said now."""
        ...

    def shown_counts(self, run: int, *, said: bool) -> dict[tuple[int, SayingKind], int]:
        """By constraint (its entry's key) and kind, the largest count at which the run was told; with `said`
        only what was really said."""
        ...

    def refusals(self, constraint: Constraint, call: str, *, said: bool) -> list[tuple[SayingKind, int]]:
        """The refusals and overrides of the call, oldest first."""
        ...

    def sayings(self, since: int) -> list[Saying]:
        """Everything that was or would have been said since, oldest first."""
        ...

    def add_override(self, constraint: Constraint) -> None: ...

    # contents and fingerprints
    def add_content(self, digest: str, body: str) -> int: ...
    def add_fingerprint(self, fingerprint: Fingerprint) -> int: ...
    def body(self, content: int) -> str | None: ...
    def excerpt(self, content: int, head: int, tail: int) -> tuple[str, str, int]: ...
    def excerpts(self, contents: Sequence[int], head: int, tail: int) -> dict[int, tuple[str, str, int]]:
        """The same of many contents, by their key; one that is gone is missing."""
        ...

    # entries
    def add_entry(
        self, entry: Entry, *, fingerprint: int | None, reason: Reason, actor: str, detail: str = ""
    ) -> Entry:
        """Adds the entry in its first state; its `pk` is the store's to give."""
        ...

    def move(
        self, entry: Entry, target: State, reason: Reason, *, actor: str, at: int, detail: str = ""
    ) -> None:
        """One allowed transition, with its row in the audit trail. NotAllowed for any other."""
        ...

    def touch(self, at: int) -> None: ...
    def entry(self, entry_id: str) -> Entry | None: ...
    def entry_at(self, seq: int) -> Entry | None: ...
    def in_state(self, state: State, limit: int, before_seq: int | None = None) -> list[Entry]: ...
    def set_pinned(self, entry: Entry, pinned: bool, now: int) -> None: ...
    def pinned_tokens(self) -> list[int]: ...
    def set_tokens(self, entry: Entry, tokens: int, *, counted: bool) -> None: ...
    def set_counts(self, counts: Sequence[tuple[Entry, int]]) -> None:
        """Keeps the exact costs of many entries."""
        ...

    def uncounted(self) -> list[Entry]: ...
    def moves(self, entry: Entry) -> list[Move]: ...
    def count_states(self) -> dict[State, int]: ...
    def count_live(self, state: State) -> int: ...

    # constraints
    def add_anchor(self, entry: Entry, anchor: NewAnchor) -> None: ...
    def add_evidence(self, constraint: Constraint, entry: Entry) -> None: ...
    def constraints(self, *, attempts: bool = True) -> list[Constraint]:
        """Every FUTURE constraint, newest first; without its attempts where those are not asked for."""
        ...

    def evidence(self, constraint: Constraint) -> list[Seen]:
        """The observations that the constraint rests on, oldest first, at most the newest 24."""
        ...

    def constraint(self, entry: Entry) -> Constraint | None: ...
    def budget_archived(self, key: Key) -> Constraint | None:
        """The newest constraint of the key, where the budget archived it and nothing else ended it."""
        ...

    def save_constraint(self, constraint: Constraint) -> None: ...
    def set_shown(self, constraint: Constraint, shown: int) -> None: ...
    def set_ended(self, constraint: Constraint, ended: str | None) -> None: ...
    def set_before(self, constraint: Constraint, before: str) -> None: ...
    def last_ending(self, key: Key) -> str | None:
        """How the newest constraint of the key that a success ended had ended."""
        ...

    # the fix trail
    def add_snapshot(self, mark: str, path: str, body: str, at: int) -> None:
        """Keeps a file as it was; of a mark and path only the first, and the newest few of a timeline."""
        ...

    def snapshots(self, marks: Sequence[str]) -> list[Snapshot]:
        """The snapshots under these marks, one for each path, the oldest."""
        ...

    def drop_snapshots(self, marks: Sequence[str]) -> None: ...
    def add_fix(self, constraint: Constraint, fix: Fix) -> None: ...
    def fix(self, entry: Entry) -> Fix | None: ...

    def history(self, key: Key) -> History: ...

    def cited_by(self, entry: Entry) -> list[str]:
        """The live constraints that rest on the entry."""
        ...

    def is_cited(self, entry: Entry) -> bool: ...
    def evidence_entries(self, entry: Entry) -> list[Entry]:
        """The entries that a constraint rests on, oldest first."""
        ...

    def resting_on(self, entry: Entry) -> list[Entry]:
        """The constraints, in whatever state, that rest on an entry."""
        ...

    def tombstones(self, entry: Entry) -> list[Tombstone]: ...

    # erasing
    def held_elsewhere(self, content: int) -> bool:
        """Whether an entry of another timeline holds the content."""
        ...

    def same_content(self, content: int) -> list[Entry]: ...
    def bury(self, entry: Entry, *, reason: str, at: int, unnamed: bool = False) -> None:
        """Leaves a tombstone: digest, signature (`unnamed`: its keyed digest alone), reason and date."""
        ...

    def blank(self, entry: Entry, *, facts: bool = True) -> None:
        """Removes every word of the entry from it, its observation and the archived constraints on it; with
        `facts` also what the team made of a failure behind which then nothing stands any more."""
        ...

    def to_erase(self, *, entry: str, whole: bool, match: str, contents: Collection[int]) -> list[Entry]:
        """The entries of this timeline that still hold words and are to go: the one of that id, all, those that
        hold the text, those of these contents; and what shares their texts or rests on them."""
        ...

    def scrub(self, *, whole: bool, match: str) -> None:
        """Erases what is no entry's: places of successes, audit details, snapshots of files."""
        ...

    def sweep(self, contents: Sequence[int], *, match: str) -> None:
        """Erases those contents that nobody holds any more, and fingerprints and facts of the team that hold the
        text and that nothing stands behind."""
        ...

    def drop_content(self, content: int) -> None:
        """Erases a body that no entry holds, and what the search index has of it."""
        ...

    # consolidation
    def lives(self, entries: Sequence[Entry]) -> dict[int, Life]:
        """What is known of each entry's life, by its key."""
        ...

    def importance_of(self, entry: Entry) -> Importance | None: ...
    def to_evaluate(self, now: int, limit: int) -> list[Entry]:
        """Entries that moved since the last cycle, or whose review came due, at most `limit` of each."""
        ...

    def score(self, scores: Sequence[Score], now: int) -> None:
        """Keeps the importance of many entries, and when each is to be looked at again (None: not by time)."""
        ...

    def costed(self) -> list[Costed]: ...
    def note_use(self, entry_ids: Sequence[str], at: int, *, shown: bool) -> None: ...
    def evaluated(self) -> None:
        """What `to_evaluate` gave has been looked at, and what moved since then by the same hand."""
        ...

    def met(self, key: Key) -> tuple[int, int, int] | None:
        """How often the failure was met in this timeline, and when first and last."""
        ...

    def set_due(self, now: int, grace: int) -> None:
        """The timeline is next due at its first review, or when the grace of its oldest purge is over."""
        ...

    def add_cycle(self, cycle: Cycle) -> None: ...
    def last_cycle(self) -> Cycle | None: ...
    def release(self) -> None:
        """Gives the lease back after a cycle that succeeded."""
        ...

    def give_back(self) -> None:
        """Gives the lease back and says nothing about success or failure."""
        ...

    def collectable(self, before: int, limit: int) -> list[Entry]:
        """Purged entries that still hold their text and were purged at or before `before`."""
        ...

    # recall and facts
    def take_pending(self, limit: int) -> list[tuple[int, str]]: ...
    def index(self, content: int, tokens: str) -> None: ...
    def search(self, tokens: Sequence[str], limit: int) -> list[Found]: ...
    def scan(self, limit: int) -> list[tuple[Entry, str]]: ...
    def closed_constraints(self, limit: int) -> list[Entry]: ...
    @property
    def agent(self) -> int:
        """The store's key of the agent whose timeline it is."""
        ...

    def patterns(self, limit: int) -> list[Pattern]:
        """The team's current facts as they are stored, the newest first."""
        ...

    def pattern(self, fact_id: str) -> Pattern | None:
        """A fact of the team by its id, closed or not."""
        ...

    def learned(self, fingerprint: Fingerprint) -> Learned | None:
        """What the team knows of a failure, with what no fact holds yet; None where it knows nothing, or where
        an admin revoked it."""
        ...

    def fact_evidence(self) -> list[Evidence]:
        """This timeline's evidence that no fact holds yet."""
        ...

    def evidence_of(self, fingerprint: int) -> list[Evidence]:
        """The team's evidence on a failure (its key in the store) that no fact holds yet."""
        ...

    def add_fact_evidence(self, entry: Entry, reason: Reason, *, ended: str, seq: int, at: int) -> None:
        """Puts a constraint's word down for the facts, where its failure is one that may be shared."""
        ...

    def held(self, fingerprint: int) -> Held | None:
        """The team's current fact of a failure (its key in the store), with the timelines behind it."""
        ...

    def believe(
        self, held: Held | None, belief: Pattern, sources: Sequence[Source], item: Evidence, now: int
    ) -> None:
        """Writes what the team believes once `item` is taken in, under the team's lease.

        A belief with the id that is held rewrites it in place. One with another id follows it: the interval of
        the old one is closed and names its successor, and `item` stands as the contradiction that it was. The
        item leaves the list of what waits to be taken in.
        """
        ...

    def drop_evidence(self, item: Evidence) -> bool:
        """Takes the item off the list of what waits; False where somebody else has."""
        ...

    def fingerprint(self, pk: int) -> Fingerprint: ...
    def incident(self, fingerprint: Fingerprint, since: int) -> Incident | None:
        """How many agents of the team loop on a transient failure since then; None where nobody does."""
        ...

    def beliefs(self, key: Key) -> list[Belief]:
        """Every belief that the team held of a failure, the oldest first."""
        ...

    def contradictions(self, key: Key) -> list[Contradiction]: ...


@dataclass(frozen=True, slots=True)
class KnownTeam:
    """A team and how many agents it has."""

    id: str
    name: str
    created_at: int
    agents: int


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent of a team and how many of its tokens are good now."""

    id: str
    team: str
    name: str
    created_at: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Audited:
    """One row of the audit: who did, or was refused, what, to whom. `team` is "" where none is known."""

    at: int
    actor: str
    team: str
    act: str
    subject: str
    detail: str


@dataclass(frozen=True, slots=True)
class PatternSource:
    """What one agent put behind a fact in one project: loops, how many of them ended, and by what."""

    agent: str
    project: str
    loops: int
    successes: int
    ended: str
    first_at: int
    last_at: int


class Directory(Protocol):
    """Teams, agents, tokens and the audit, inside one transaction."""

    def add_team(self, name: str, *, id: str, at: int) -> bool:  # noqa: A002
        """False where there is a team of that name."""
        ...

    def add_agent(self, team: str, name: str, *, id: str, at: int) -> bool | None:  # noqa: A002
        """False where the team has an agent of that name, None where there is no such team."""
        ...

    def add_token(self, token: Token, hashed: str) -> None:
        """Of an agent that is there."""
        ...

    def token_of(self, hashed: str) -> Token | None: ...
    def teams(self) -> list[KnownTeam]: ...
    def agents(self, team: str, now: int) -> list[KnownAgent]: ...
    def tokens(self, team: str) -> list[Token]: ...
    def revoke_token(self, token_id: str, at: int) -> bool:
        """False where it was revoked before."""
        ...

    def end_token(self, token_id: str, at: int) -> None:
        """It expires at `at`, where it would not have earlier."""
        ...

    def touch_token(self, token_id: str, at: int) -> None: ...
    def patterns(self, team: str, most: int) -> list[tuple[Pattern, int | None]]:
        """The team's current facts, each with when an admin revoked it, the newest first."""
        ...

    def pattern(self, team: str, pattern_id: str) -> tuple[Pattern, int | None] | None:
        """The current fact of the failure that this fact, closed or not, was about; None where the team has none
        of that id."""
        ...

    def unlearned(self, team: str, most: int) -> list[Fingerprint]:
        """Failures of which the team has evidence that no fact holds yet."""
        ...

    def pattern_sources(self, team: str, pattern_id: str) -> list[PatternSource]: ...
    def revoke_pattern(self, team: str, pattern_id: str, at: int | None, now: int) -> None:
        """Hides the fact from everybody since `at`; None takes that back."""
        ...

    def pin_pattern(self, team: str, pattern_id: str, pinned: bool, now: int) -> None: ...
    def note(self, row: Audited) -> None: ...
    def audit(self, team: str | None, most: int) -> list[Audited]:
        """The newest rows of a team (None: of all), newest first."""
        ...


class Archive(Protocol):
    """The whole store as rows, inside one transaction: for export, import, move and check."""

    @property
    def key(self) -> str:
        """The store's random key, hex."""
        ...

    @property
    def schema(self) -> int: ...
    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """The columns of each table, in an order in which each refers only to those before it."""
        ...

    def count(self, table: str) -> int: ...
    def pages(self, table: str, size: int) -> Iterator[Sequence[Mapping[str, Any]]]:
        """The rows of a table by its key, at most `size` at once."""
        ...

    def put(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Adds rows with the keys that they bring; contents become findable."""
        ...

    def take_key(self, key: str) -> None:
        """The last act of taking in a whole store: from now on its digests are those of `key`."""
        ...

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is allowed, and worth knowing of how this store is set up."""
        ...

    def faults(self) -> list[tuple[str, int]]:
        """What is not as it has to be: the rule in words, and how often it is broken."""
        ...


class Store(Protocol):
    """One database. Every transaction is of one timeline; `now` is microseconds UTC."""

    def digest(self, text: str) -> str:
        """A keyed hash (128 bit, hex) under the store's own random key."""
        ...

    def write(self, owner: Owner, now: int) -> AbstractContextManager[Timeline]:
        """A writing transaction on the owner's timeline, which is made where it is new and locked. It is
        committed at the end of the block and rolled back by an exception."""
        ...

    def read(self, owner: Owner, now: int) -> AbstractContextManager[Timeline]:
        """A reading transaction: one snapshot, no lock."""
        ...

    def take_lease(self, name: str, owner: str, *, now: int, until: int) -> int | None:
        """Takes a named lease where it is free or expired; its version, or None."""
        ...

    def drop_lease(self, name: str, owner: str, version: int) -> None: ...
    def lease_due(self, owner: str, *, now: int, until: int, most: int) -> list[Lease]:
        """Leases the timelines that changed or came due."""
        ...

    def write_leased(self, lease: Lease, now: int) -> AbstractContextManager[Timeline]:
        """A writing transaction on a leased timeline; NotAllowed where the lease's version is no longer the
        timeline's."""
        ...

    def note_failure(self, lease: Lease, *, now: int, retry_at: int, most: int) -> None:
        """Gives the lease back after a failed cycle; parks the timeline at the `most`th failure in a row."""
        ...

    def lease_over(self, owner: str, *, budget: int, now: int, until: int, most: int) -> list[Lease]:
        """Leases the changed timelines whose stored token sum is over the budget."""
        ...

    def note_lost(self, lease: Lease, *, now: int, most: int) -> bool:
        """Counts a delivery of the lease that its worker did not survive and parks the timeline at the
        `most`th in a row. Whether the lease still stands."""
        ...

    def free_expired(self, *, now: int, most: int) -> tuple[int, int]:
        """Frees the leases that have run out and parks what failed `most` times; how many of each."""
        ...

    def lease_until(self, name: str) -> int | None:
        """When the named lease ends or ended; None where it was never taken."""
        ...

    def backlog(self, now: int) -> Backlog: ...
    def owner_of(self, timeline_id: str) -> Owner | None: ...
    def timelines(self, team: str) -> list[tuple[str, Owner, int]]:
        """Id, owner and stored token sum of every timeline of a team."""
        ...

    def archive(self, *, write: bool) -> AbstractContextManager[Archive]:
        """The whole store in one transaction."""
        ...

    def directory(self, *, write: bool) -> AbstractContextManager[Directory]:
        """A transaction on who may come in; see `Directory`."""
        ...

    def glance(self) -> AbstractContextManager[Directory]:
        """As `directory` without writing, for one question: what every request asks costs one message."""
        ...

    def close(self) -> None: ...
