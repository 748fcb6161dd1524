"""What was said and what would have been, what that could have spared, and where it was wrong. Nothing is written."""

from __future__ import annotations

from collections.abc import Mapping

from vlk2.domain.anchors import failure_name
from vlk2.domain.hindsight import ended_by_itself, repeats_after, succeeded_after_all
from vlk2.domain.observation import Seen
from vlk2.frozen import dataclass
from vlk2.ports import Owner, Saying, SayingKind, Store, Timeline

WINDOW = 5_000
_WORDS = (SayingKind.CONTEXT, SayingKind.ADVICE, SayingKind.START, SayingKind.REFUSAL)


@dataclass(frozen=True, slots=True)
class Wrong:
    """A word that should not have been: `why` in a sentence."""

    constraint_id: str
    kind: SayingKind
    at: int
    said: bool
    why: str


@dataclass(frozen=True, slots=True)
class Spoken:
    """One constraint in one run: the words by kind, since when, and the steps and tokens of its failure after the
    first of them. Tokens are those of the entries as they are rendered: a lower bound of what was read."""

    constraint_id: str
    name: str
    headline: str
    said: bool
    words: Mapping[SayingKind, int]
    first_at: int
    steps_after: int
    tokens_after: int


@dataclass(frozen=True, slots=True)
class Report:
    """The words of one timeline since a time. `spared` are steps and tokens that came after a word which was not
    said (observe mode); `in_vain` those that came although it was said."""

    owner: Owner
    since: int
    runs: int
    spoken: tuple[Spoken, ...]
    wrong: tuple[Wrong, ...]
    spared: tuple[int, int]
    in_vain: tuple[int, int]
    overrides: int


def report(store: Store, owner: Owner, *, since: int, now: int) -> Report:
    """Looks back at every word of the owner's timeline since `since` (microseconds)."""
    with store.read(owner, now) as timeline:
        sayings = timeline.sayings(since)
        by_run: dict[int, list[Saying]] = {}
        for saying in sayings:
            by_run.setdefault(saying.run, []).append(saying)
        spoken: list[Spoken] = []
        wrong: list[Wrong] = []
        for run, words in by_run.items():
            window = timeline.window((run,), WINDOW)
            groups: dict[tuple[str, bool], list[Saying]] = {}
            for saying in words:
                if saying.kind in _WORDS:
                    groups.setdefault((saying.constraint_id, saying.said), []).append(saying)
            for (constraint_id, said), group in groups.items():
                spoken.append(_spoken(timeline, window, constraint_id, said, group))
                wrong += _wrong(timeline, window, constraint_id, group)
        return Report(
            owner,
            since,
            len(by_run),
            tuple(spoken),
            tuple(wrong),
            _sum(spoken, said=False),
            _sum(spoken, said=True),
            sum(saying.kind is SayingKind.OVERRIDE for saying in sayings),
        )


def _spoken(
    timeline: Timeline, window: list[Seen], constraint_id: str, said: bool, group: list[Saying]
) -> Spoken:
    entry = timeline.entry(constraint_id)
    fingerprint = entry.fingerprint if entry else None
    first = group[0].at
    after = repeats_after(window, fingerprint.key, first) if fingerprint else []
    entries = [timeline.entry_at(seen.seq) for seen in after]
    words: dict[SayingKind, int] = {}
    for saying in group:
        words[saying.kind] = words.get(saying.kind, 0) + 1
    return Spoken(
        constraint_id,
        failure_name(fingerprint) if fingerprint else "a dead end",
        entry.headline if entry else "",
        said,
        words,
        first,
        len(after),
        sum(held.tokens for held in entries if held),
    )


def _wrong(timeline: Timeline, window: list[Seen], constraint_id: str, group: list[Saying]) -> list[Wrong]:
    found = [
        Wrong(constraint_id, saying.kind, saying.at, saying.said, "the call that it holds back succeeded")
        for saying in group
        if saying.kind is SayingKind.REFUSAL and succeeded_after_all(window, saying.call, saying.at)
    ]
    entry = timeline.entry(constraint_id)
    constraint = timeline.constraint(entry) if entry else None
    told = next((saying for saying in group if saying.kind is SayingKind.CONTEXT), None)
    if constraint and told and ended_by_itself(window, constraint.marks, told.at):
        found.append(
            Wrong(
                constraint_id,
                told.kind,
                told.at,
                told.said,
                "the command succeeded soon after, and nothing was changed between",
            )
        )
    return found


def _sum(spoken: list[Spoken], *, said: bool) -> tuple[int, int]:
    mine = [one for one in spoken if one.said == said]
    return sum(one.steps_after for one in mine), sum(one.tokens_after for one in mine)
