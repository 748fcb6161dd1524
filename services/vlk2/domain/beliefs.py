"""What a team believes of a failure: evidence for and against, how sure that makes it, and how newer evidence
rewrites it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from vlk2.domain.anchors import failure_name
from vlk2.domain.moments import stamp
from vlk2.domain.observation import Fingerprint
from vlk2.domain.quoting import code
from vlk2.domain.states import Reason
from vlk2.frozen import dataclass, replace

WARN_ABOVE = 0.5
"""A belief that is no surer than this is told to who asks for it by recall, and warns nobody."""
UNASKED_AGENTS = 2
INCIDENT_AGENTS = 3


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one constraint of one timeline says of a failure: a loop for the belief (`LOOP`), or its ending
    against it (`RETIRED` by a success, `REVOKED` by its agent). `ended` is the kind of change that ended it,
    "" where unknown. `pk`, `timeline`, `agent`, `fingerprint` and `anchor` are keys of the store."""

    pk: int
    timeline: int
    agent: int
    fingerprint: int
    anchor: int
    reason: Reason
    ended: str
    seq: int
    at: int
    project: str = ""

    @property
    def against(self) -> bool:
        return self.reason is not Reason.LOOP


@dataclass(frozen=True, slots=True)
class Source:
    """What one timeline has put behind a belief: its loops, how many of them ended, and by what the last did."""

    timeline: int
    agent: int
    loops: int
    successes: int
    ended: str
    first_at: int
    last_at: int
    project: str = ""

    @property
    def stands(self) -> bool:
        """Whether a loop of this timeline has not ended."""
        return self.loops > self.successes


@dataclass(frozen=True, slots=True)
class Pattern:
    """A fact of a team: what fails, how often, for how many agents, how sure, what ended it.

    `successes` counts the loops that ended. `ended` is the kind of change that most often ended it
    (dependency, config, source, test, environment) or "". `others` counts the agents, the asker not among
    them, for whom it still stands. `id` is "" where no fact holds the evidence yet. Times in microseconds UTC.
    """

    id: str
    fingerprint: Fingerprint
    confidence: float
    loops: int
    repeats: int
    successes: int
    agents: int
    ended: str
    first_at: int
    last_at: int
    pinned: bool = False
    others: int = 0

    @property
    def warns(self) -> bool:
        """Whether it is put in front of an agent other than those that it was learned from."""
        return self.others > 0 and self.confidence > WARN_ABOVE


@dataclass(frozen=True, slots=True)
class Incident:
    """A transient failure that several agents of a team loop on at the same time."""

    fingerprint: Fingerprint
    agents: int
    first_at: int
    last_at: int


@dataclass(frozen=True, slots=True)
class Learned:
    """All that a team knows of one failure, seen by one agent: the fact's row (`id` "" where there is none yet),
    the timelines behind it, and the evidence that it does not hold yet."""

    id: str
    fingerprint: Fingerprint
    repeats: int
    pinned: bool
    sources: tuple[Source, ...]
    pending: tuple[Evidence, ...]


def shareable(fingerprint: Fingerprint | None) -> bool:
    """Whether a constraint of this failure speaks for a team: no wildcard, nothing transient, and no repeat of one
    call, which only its own worktree can know."""
    return (
        fingerprint is not None
        and not fingerprint.transient
        and not fingerprint.signature.endswith(":*")
        and fingerprint.language not in ("call", "agent")
    )


def confidence(loops: int, ended: int) -> float:
    """(loops - ended + 1) / (loops + 2): Laplace's rule of succession, for the chance that a loop which was
    learned still stands. One loop makes 2/3, and its end 1/3; of ten loops one end leaves 10/12: one success
    does not refute a law."""
    return (loops - min(ended, loops) + 1) / (loops + 2)


def taken_in(sources: Iterable[Source], evidence: Iterable[Evidence]) -> tuple[Source, ...]:
    """The sources once the evidence is added, in the order of its own times; a loop ends at most once."""
    found = {source.timeline: source for source in sources}
    for item in sorted(evidence, key=lambda e: (e.at, e.pk)):
        source = found.get(item.timeline) or Source(
            item.timeline, item.agent, 0, 0, "", item.at, item.at, item.project
        )
        if item.against:
            successes = min(source.successes + 1, source.loops)
            source = replace(source, successes=successes, ended=item.ended or source.ended)
        else:
            source = replace(source, loops=source.loops + 1)
        found[item.timeline] = replace(
            source, first_at=min(source.first_at, item.at), last_at=max(source.last_at, item.at)
        )
    return tuple(found[key] for key in sorted(found))


def pattern_of(
    fact_id: str,
    fingerprint: Fingerprint,
    sources: Sequence[Source],
    *,
    repeats: int,
    pinned: bool,
    asker: int | None = None,
) -> Pattern:
    """The belief that the sources make, as the agent with the key `asker` is to see it."""
    loops = sum(source.loops for source in sources)
    ended = sum(source.successes for source in sources)
    kinds = Counter(source.ended for source in sources if source.ended)
    return Pattern(
        id=fact_id,
        fingerprint=fingerprint,
        confidence=confidence(loops, ended),
        loops=loops,
        repeats=max(repeats, 3 * loops),
        successes=ended,
        agents=len({source.agent for source in sources if source.loops}),
        ended=min(kinds, key=lambda kind: (-kinds[kind], kind)) if kinds else "",
        first_at=min((source.first_at for source in sources), default=0),
        last_at=max((source.last_at for source in sources), default=0),
        pinned=pinned,
        others=len({source.agent for source in sources if source.stands and source.agent != asker}),
    )


def seen_by(learned: Learned, asker: int) -> Pattern | None:
    """What is true now, whether or not a fact was rewritten yet; None where there is no evidence at all."""
    sources = taken_in(learned.sources, learned.pending)
    if not any(source.loops for source in sources):
        return None
    return pattern_of(
        learned.id, learned.fingerprint, sources, repeats=learned.repeats, pinned=learned.pinned, asker=asker
    )


def warning(learned: Learned, asker: int, project: str = "") -> Pattern | None:
    """The pattern that an agent is told of which has itself just met the failure, or None.

    One loop of one other agent is enough, as long as more of what was learned stands than has ended. Where the
    asker's own loop of it has ended, its own success is the newer word; and where every loop in the asker's project
    has ended, it warns there no more, while it may still elsewhere.
    """
    pattern = seen_by(learned, asker)
    if pattern is None or not (pattern.warns or (pattern.pinned and pattern.others)):
        return None
    sources = [s for s in taken_in(learned.sources, learned.pending) if s.loops]
    own = [source for source in sources if source.agent == asker]
    here = [source for source in sources if project and source.project == project and not pattern.pinned]
    over = any(near and not any(source.stands for source in near) for near in (own, here))
    return None if over else pattern


def unasked(pattern: Pattern) -> bool:
    """Whether it may be told to an agent that has not met the failure: loops of two agents stand."""
    return pattern.warns and pattern.others >= UNASKED_AGENTS


def pattern_text(pattern: Pattern) -> str:
    """A pattern as an agent reads it: evidence for and against, never another agent's log, file, command or
    lesson."""
    fingerprint = pattern.fingerprint
    named = ", ".join(code(s, 60) for s in fingerprint.symbols[:4])
    who = "1 agent" if pattern.agents == 1 else f"{pattern.agents} agents"
    head = f"{pattern.id} · " if pattern.id else ""
    lines = [
        f"{head}{code(fingerprint.language, 40).strip('`')} {failure_name(fingerprint)}"
        + (f" naming {named}" if named else ""),
        f"For it: looped {_times(pattern.loops)} for {who} ({pattern.repeats} occurrences), "
        f"{stamp(pattern.first_at)} to {stamp(pattern.last_at)}.",
    ]
    if pattern.successes:
        how = f", by a change of {pattern.ended}" if pattern.ended else ""
        lines.append(
            f"Against it: {pattern.successes} of {'that loop' if pattern.loops == 1 else 'those loops'} "
            f"ended{how}; {pattern.loops - pattern.successes} still "
            f"{'stands' if pattern.loops - pattern.successes == 1 else 'stand'}."
        )
    lines.append(
        f"Confidence {pattern.confidence:.2f} that it still holds"
        + (": it warns nobody." if pattern.confidence <= WARN_ABOVE and not pattern.pinned else ".")
        + (" Pinned by an admin." if pattern.pinned else "")
    )
    return "\n".join(lines)


def incident_text(incident: Incident) -> str:
    """An incident as an agent reads it."""
    return (
        f"{incident.fingerprint.language} {failure_name(incident.fingerprint)} holds up {incident.agents} agents of "
        f"the team at once, since {stamp(incident.first_at)}, last {stamp(incident.last_at)}: the cause is "
        "probably not in this project."
    )


def _times(n: int) -> str:
    return "once" if n == 1 else "twice" if n == 2 else f"{n} times"
