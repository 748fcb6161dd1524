"""Erase for good, in every holder of a team: entries, their texts, and everything made from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vlk2.domain.entry import Entry
from vlk2.domain.quoting import code, one_line
from vlk2.domain.states import Reason, State
from vlk2.domain.text import normalise
from vlk2.errors import InvalidInput, NotFound
from vlk2.ports import Owner, Redactor, Store, Timeline

SHORTEST_MATCH = 3
REASON_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Selection:
    """What is to be erased; exactly one is set. `match` is a text as it is stored: case counts."""

    entry: str = ""
    agent: str = ""
    project: str = ""
    match: str = ""


@dataclass(frozen=True, slots=True)
class Erased:
    """How many entries in how many timelines went, of them constraints, and how many texts. With `done` False
    nothing was touched: it is what would go."""

    entries: int
    constraints: int
    timelines: int
    contents: int
    done: bool
    text: str


def erase(
    store: Store,
    owner: Owner,
    selection: Selection,
    reason: str,
    *,
    now: int,
    mask: Redactor,
    actor: str = "admin",
    dry_run: bool = False,
) -> Erased:
    """Erases what the selection names in every timeline of the owner's team that holds it.

    Every entry with the same text goes along, and every constraint that rests on one, live or not, for its words
    are made from theirs. Bodies, search index, headlines, places, commands, lessons, diffs, audit details, and the
    fingerprints and facts that nothing else stands behind are removed, and the store is swept. What stays is a
    tombstone each: digest, signature, reason and date. A text that another team holds too stays theirs. It may be
    run again: a second time finds nothing.
    """
    needle = normalise(selection.match)
    chosen = [bool(v.strip()) for v in (selection.entry, selection.agent, selection.project, needle)]
    if sum(chosen) != 1:
        raise InvalidInput("name exactly one of --entry, --agent, --project and --match.")
    if needle and len(needle.strip()) < SHORTEST_MATCH:
        raise InvalidInput(f"a match needs at least {SHORTEST_MATCH} characters.")
    kept = one_line(mask(normalise(reason)), REASON_LIMIT) or "erased"
    if needle and needle in kept:
        raise InvalidInput(
            "the reason holds the very text that is to be erased: it would stay in the tombstones."
        )
    holders = _holders(store, owner, selection, needle, now)
    entries = constraints = touched = 0
    contents: set[int] = set()
    for holder in holders:
        with (store.read if dry_run else store.write)(holder, now) as timeline:
            going = timeline.to_erase(
                entry=selection.entry.strip(),
                whole=_whole(holder, selection),
                match=needle,
                contents=contents,
            )
            contents.update(entry.content for entry in going if entry.content is not None)
            entries += len(going)
            constraints += sum(1 for entry in going if entry.content is None and entry.kind != "log")
            touched += bool(going)
            if not dry_run:
                _purge(timeline, going, kept, needle, actor, now)
                timeline.scrub(whole=_whole(holder, selection), match=needle)
    if (selection.entry or selection.agent or selection.project) and not entries and not holders:
        raise NotFound("nothing of that name is held: `vlk2 timeline` and `vlk2 team` list what is.")
    if not dry_run:
        with store.write(owner, now) as timeline:
            timeline.sweep(sorted(contents), match=needle)
    text = _words(entries, constraints, touched, dry_run)
    return Erased(entries, constraints, touched, len(contents), not dry_run, text)


def _holders(store: Store, owner: Owner, selection: Selection, needle: str, now: int) -> Sequence[Owner]:
    """The timelines to look at, the one with the named entry first: what it holds is then looked for in all."""
    owners = [found for _, found, _ in store.timelines(owner.team)]
    if selection.agent and not any(o.agent == selection.agent for o in owners):
        raise NotFound(f"no agent {code(selection.agent, 60)} has a timeline in team {code(owner.team, 60)}.")
    if selection.project and not any(o.project == selection.project for o in owners):
        raise NotFound(
            f"no timeline of team {code(owner.team, 60)} is of project {code(selection.project, 120)}."
        )
    first: list[Owner] = []
    if selection.entry:
        for found in owners:
            with store.read(found, now) as timeline:
                if timeline.entry(selection.entry.strip()):
                    first = [found]
        if not first:
            raise NotFound(f"there is no entry {code(selection.entry, 40)} in team {code(owner.team, 60)}.")
    elif not needle:
        first = [o for o in owners if _whole(o, selection)]
    rest = [o for o in owners if o not in first]
    return [*first, *rest, *(first if len(owners) > 1 else [])] if needle else [*first, *rest]


def _whole(owner: Owner, selection: Selection) -> bool:
    return owner.agent == selection.agent or owner.project == selection.project


def _purge(
    timeline: Timeline, going: Sequence[Entry], reason: str, needle: str, actor: str, now: int
) -> None:
    for entry in going:
        if entry.state is not State.PURGED:
            named = entry.fingerprint.signature if needle and entry.fingerprint else ""
            timeline.bury(entry, reason=reason, at=now, unnamed=bool(needle) and needle in named)
            timeline.move(entry, State.PURGED, Reason.ERASED, detail=reason, actor=actor, at=now)
        timeline.blank(entry)


def _words(entries: int, constraints: int, timelines: int, dry_run: bool) -> str:
    verb = "Would erase" if dry_run else "Erased"
    if not entries:
        return "Nothing holds it: nothing was erased." if not dry_run else "Nothing holds it."
    parts = f"{entries} {'entry' if entries == 1 else 'entries'}"
    if constraints:
        parts += f" ({constraints} of them {'a constraint' if constraints == 1 else 'constraints'})"
    return (
        f"{verb} {parts} in {timelines} {'timeline' if timelines == 1 else 'timelines'} for good, with their texts, "
        "what the search index has of them, and what was made from them."
    )
