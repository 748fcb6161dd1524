"""Entries -> the text that an agent reads, within its tokens."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence

from vlk2.domain.anchors import anchor_text, failure_name
from vlk2.domain.beliefs import Incident, Pattern, incident_text, pattern_text
from vlk2.domain.budget import ENTRY_LIMIT, cost
from vlk2.domain.entry import Constraint, Entry
from vlk2.domain.moments import stamp
from vlk2.domain.quoting import block, code, one_line
from vlk2.domain.speaking import learned_on
from vlk2.frozen import dataclass

HEAD_CHARS = 1_400
TAIL_CHARS = 700


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The head and the tail of a content, and how many characters lie between."""

    head: str
    tail: str
    between: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A PRESENT entry with what is shown of its content."""

    entry: Entry
    excerpt: Excerpt


@dataclass(frozen=True, slots=True)
class Rendered:
    """A context: its text, its cost in tokens (the larger of text and serialised answer), what it shows."""

    text: str
    tokens: int
    budget: int
    left_out: int
    constraint_ids: tuple[str, ...]
    entry_ids: tuple[str, ...]


def excerpt(body: str) -> Excerpt:
    """Head and tail of a body, whole where it is short."""
    if len(body) <= HEAD_CHARS + TAIL_CHARS:
        return Excerpt(body, "", 0)
    return Excerpt(body[:HEAD_CHARS], body[-TAIL_CHARS:], len(body) - HEAD_CHARS - TAIL_CHARS)


def entry_text(entry: Entry, shown: Excerpt, count: Callable[[str], int], limit: int = ENTRY_LIMIT) -> str:
    """One entry as an agent reads it: headline, place, head and tail, at most `limit` tokens.

    Where head and tail are too long they are cut further, by halves, until the form fits.
    """
    head, tail, between = shown.head, shown.tail, shown.between
    top = _entry_head(entry)
    while True:
        text = "\n".join([top, *_quoted(head, tail, between, entry.id)])
        if cost(text, count) <= limit or not (head or tail):
            return text
        keep_head, keep_tail = len(head) * 2 // 3, len(tail) * 2 // 3
        if len(head) + len(tail) < 40:
            keep_head = keep_tail = 0
        between += len(head) - keep_head + len(tail) - keep_tail
        head, tail = head[:keep_head], tail[len(tail) - keep_tail :] if keep_tail else ""


def entry_bound(entry: Entry, shown: Excerpt) -> int:
    """At least what `entry_text` can cost, without counting a token: the bytes of the form, or the limit."""
    top = _entry_head(entry)
    whole = "\n".join([top, *_quoted(shown.head, shown.tail, shown.between, entry.id)])
    return min(len(json.dumps(whole)), max(ENTRY_LIMIT, len(json.dumps(top))))


def _entry_head(entry: Entry) -> str:
    what = entry.outcome
    if entry.fingerprint:
        what = f"{one_line(entry.fingerprint.language, 24)} {failure_name(entry.fingerprint)}"
    place = f" in {code(entry.file, 120)}" if entry.file else ""
    command = f" by {code(entry.command, 160)}" if entry.command else ""
    pin = ", pinned" if entry.pinned else ""
    return f"{entry.id} · {stamp(entry.at)} · {what}{command}{place}{pin}"


def _quoted(head: str, tail: str, between: int, entry_id: str) -> list[str]:
    lines = [block(head.rstrip("\n"))] if head else []
    if between:
        lines.append(f"> … {between} characters left out; `vlk2 timeline {entry_id}` has them …")
    return [*lines, block(tail.rstrip("\n"))] if tail else lines


def render(
    *,
    project: str,
    constraints: Sequence[Constraint],
    patterns: Sequence[Pattern | Incident],
    present: Iterable[Shown],
    present_count: int,
    budget: int,
    now: int,
    count: Callable[[str], int],
    here: str = "",
) -> Rendered:
    """Constraints, then what the team learned, then PRESENT, each in the order given, within `budget` tokens.

    What does not fit is left out and counted: `present_count` entries are there in all, and no more of them are
    looked at than there is room for. `here` are the stamps of where it is read. The budget holds for the larger of the text and of the structured answer
    that carries it.
    """
    total = len(constraints) + len(patterns) + present_count
    project = _short(project, total, budget, count)
    room = budget - cost(_assemble(project, [], total, budget), count) - _ENVELOPE
    kept: list[_Piece] = []
    for piece in _pieces(constraints, patterns, present, now, here, count):
        price = cost(piece.text, count) + _SEPARATOR
        if price <= room:
            kept.append(piece)
            room -= price
        if room < _SMALLEST:
            break
    while True:
        left_out = total - len(kept)
        text = _assemble(project, kept, left_out, budget)
        ids = tuple(p.id for p in kept if p.kind == "constraint")
        tokens = max(count(text), count(_envelope(text, budget, left_out, ids)))
        if tokens <= budget or not kept:
            shown = tuple(p.id for p in kept if p.kind == "entry")
            return Rendered(text, tokens, budget, left_out, ids, shown)
        kept.pop()


def _pieces(
    constraints: Sequence[Constraint],
    patterns: Sequence[Pattern | Incident],
    present: Iterable[Shown],
    now: int,
    here: str,
    count: Callable[[str], int],
) -> Iterator[_Piece]:
    for constraint in constraints:
        learned = learned_on(constraint.stamps, here) if here else ""
        text = anchor_text(constraint, now)
        yield _Piece("constraint", constraint.entry.id, f"{text}\n{learned}" if learned else text)
    for pattern in patterns:
        yield _Piece(
            "pattern", "", pattern_text(pattern) if isinstance(pattern, Pattern) else incident_text(pattern)
        )
    for shown in present:
        yield _Piece("entry", shown.entry.id, entry_text(shown.entry, shown.excerpt, count))


def _envelope(text: str, budget: int, left_out: int, ids: Sequence[str]) -> str:
    """The structured answer as it is serialised; its token count has at most as many digits as the budget."""
    return json.dumps(
        {"text": text, "tokens": budget, "budget": budget, "left_out": left_out, "constraint_ids": list(ids)}
    )


def _short(project: str, total: int, budget: int, count: Callable[[str], int]) -> str:
    """The project's name, cut where it alone would take a third of the budget."""
    for limit in (120, 48, 16):
        name = one_line(project, limit)
        if cost(_assemble(name, [], total, budget), count) <= budget // 3:
            return name
    return one_line(project, 6)


_ENVELOPE = 40
_SEPARATOR = 3
_SMALLEST = 24
"""Tokens in which not even the shortest entry fits."""


@dataclass(frozen=True, slots=True)
class _Piece:
    kind: str
    id: str
    text: str


def _assemble(project: str, pieces: Sequence[_Piece], left_out: int, budget: int) -> str:
    parts = [f"Vlk² memory of {one_line(project, 120)}"]
    for kind, title in (
        ("constraint", "FUTURE: what not to repeat"),
        ("pattern", "What the team learned"),
        ("entry", "PRESENT: newest first"),
    ):
        texts = [piece.text for piece in pieces if piece.kind == kind]
        if texts:
            parts += [f"## {title}", *texts]
    if not pieces and not left_out:
        parts.append("Nothing is held: no constraint is active and no failure is present.")
    if left_out:
        parts.append(f"{left_out} left out: they do not fit {budget} tokens. vlk_recall searches the rest.")
    return "\n\n".join(parts)
