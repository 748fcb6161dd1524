"""Full-text search over PAST and facts. Every recall reconsolidates what it is about to show."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from vlk2.app.entries import excerpt_of
from vlk2.app.index_pending import index_pending
from vlk2.domain.anchors import closed_text
from vlk2.domain.beliefs import Pattern, pattern_text
from vlk2.domain.budget import cost
from vlk2.domain.context import entry_text
from vlk2.domain.entry import Entry
from vlk2.domain.observation import Fingerprint
from vlk2.domain.quoting import code
from vlk2.domain.recalling import index_text, query_tokens, query_words
from vlk2.domain.text import normalise
from vlk2.errors import InvalidInput, StoreUnavailable
from vlk2.frozen import dataclass
from vlk2.ports import Owner, Redactor, Store, Timeline, TokenCounter

MOST = 50
TOKEN_LIMIT = 4_000
_SCANNED = 2_000
_PATTERNS_SCANNED = 500
_CONSTRAINTS_SCANNED = 500


@dataclass(frozen=True, slots=True)
class Recalled:
    """The ids of what was found, best first, and the text that shows it."""

    ids: tuple[str, ...]
    text: str


def recall(
    store: Store,
    owner: Owner,
    query: str,
    *,
    limit: int,
    now: int,
    mask: Redactor,
    counter: TokenCounter,
    reconsolidate: Callable[[Store, Owner, Sequence[Fingerprint], int], Sequence[Pattern]],
) -> Recalled:
    """At most `limit` (1 to 50) facts and PAST entries, constraints among them, that match, within 4,000 tokens:
    ranked by match and importance, each with why it was found.

    `reconsolidate` rewrites facts that newer observations contradict before they are shown. Where the store
    has no full-text search the newest 2,000 archived entries are scanned, and the answer says so.
    """
    if not 1 <= limit <= MOST:
        raise InvalidInput(f"limit must be from 1 to {MOST}.")
    tokens = query_tokens(mask(normalise(query)))
    if not tokens:
        raise InvalidInput("query holds no word: name an error code, a symbol, a file or a command.")
    with contextlib.suppress(StoreUnavailable):  # what cannot be indexed now is found next time
        index_pending(store, owner, now)
    with store.read(owner, now) as timeline:
        fulltext = timeline.fulltext
        hits = _entries(timeline, tokens, limit) + _constraints(timeline, tokens)
        failures = _failures(timeline, tokens, limit)
    hits.sort(key=lambda hit: (-hit.rank, -hit.seq))
    patterns = list(reconsolidate(store, owner, failures, now))
    if hits:  # facts stand first and leave half of the room
        patterns = patterns[: max(1, limit // 2)]
    pieces = [(p.id, pattern_text(p)) for p in patterns] + [
        (h.id, f"{h.text(counter.count)}\n{h.why}") for h in hits
    ]
    recalled = _rendered(query, pieces, limit, fulltext, counter.count)
    _note_use(store, owner, [h.id for h in hits if h.id in recalled.ids], now)
    return recalled


@dataclass(frozen=True, slots=True)
class _Hit:
    """Something of PAST that matches: `rank` is the sum of three shares of 1 each: how many of the query's words
    its headline, place and command hold, how many what is shown of it holds, and its importance."""

    id: str
    seq: int
    rank: float
    why: str
    text: Callable[[Callable[[str], int]], str]


def _note_use(store: Store, owner: Owner, ids: Sequence[str], now: int) -> None:
    """A recall is a use, for importance; a store that cannot be written still answers."""
    if not ids:
        return
    with contextlib.suppress(StoreUnavailable), store.write(owner, now) as timeline:
        timeline.note_use(ids, now, shown=False)


def _entries(timeline: Timeline, tokens: Sequence[str], limit: int) -> list[_Hit]:
    found = _search(timeline, tokens, limit) if timeline.fulltext else _scan(timeline, tokens, limit)
    hits: list[_Hit] = []
    for entry in found:
        part = excerpt_of(timeline, entry)
        value = timeline.importance_of(entry)
        importance = value.total if value else 1.0
        covered = _words(tokens, f"{entry.headline} {entry.file} {entry.command}")
        words = _words(tokens, f"{part.head} {part.tail} {entry.headline} {entry.file} {entry.command}")
        hits.append(
            _Hit(
                entry.id,
                entry.seq,
                (len(covered) + len(words)) / len(tokens) + importance,
                _why(words, importance),
                lambda count, entry=entry, part=part: entry_text(entry, part, count),
            )
        )
    hits.sort(key=lambda hit: (-hit.rank, -hit.seq))
    return hits[:limit]


def _search(timeline: Timeline, tokens: Sequence[str], limit: int) -> list[Entry]:
    """The candidates. How the store scores them decides no more than who they are, so that all answer alike."""
    return [found.entry for found in timeline.search(tokens, max(limit * 4, 20))]


def _scan(timeline: Timeline, tokens: Sequence[str], limit: int) -> list[Entry]:
    wanted = frozenset(tokens)
    scored = [
        (len(wanted.intersection(index_text(body).split(" "))), entry.seq, entry)
        for entry, body in timeline.scan(_SCANNED)
    ]
    best = sorted((hit for hit in scored if hit[0]), key=lambda hit: (-hit[0], -hit[1]))
    return [entry for _, _, entry in best[: max(limit * 4, 20)]]


def _constraints(timeline: Timeline, tokens: Sequence[str]) -> list[_Hit]:
    """Constraints that no longer stand, of the newest 500."""
    hits: list[_Hit] = []
    for entry in timeline.closed_constraints(_CONSTRAINTS_SCANNED):
        named = entry.fingerprint
        known = f"{named.language} {named.type} {' '.join(named.symbols)}" if named else ""
        words = _words(tokens, f"{entry.headline} {entry.lesson or ''} {entry.command} {entry.file} {known}")
        if not words:
            continue
        value = timeline.importance_of(entry)
        importance = value.total if value else 1.0
        share = len(words) / len(tokens)
        moves = timeline.moves(entry)
        constraint = timeline.constraint(entry)
        ended = constraint.ended if constraint else None
        hits.append(
            _Hit(
                entry.id,
                entry.seq,
                2 * share + importance,
                _why(words, importance),
                lambda _, entry=entry, last=moves[-1], ended=ended: closed_text(
                    entry, last.reason, last.at, last.detail, ended
                ),
            )
        )
    return hits


def _words(tokens: Sequence[str], text: str) -> list[str]:
    held = frozenset(query_words(text))
    return [token for token in tokens if token in held]


def _why(words: Sequence[str], importance: float) -> str:
    by = ", ".join(code(word, 40) for word in words[:6]) or "words of the part that is left out"
    return f"Found by {by}; importance {importance:.2f}."


def _failures(timeline: Timeline, tokens: Sequence[str], limit: int) -> list[Fingerprint]:
    """The failures that match of those that the team has a fact of, best first."""
    wanted = frozenset(tokens)
    known = {p.fingerprint.key: p.fingerprint for p in timeline.patterns(_PATTERNS_SCANNED)}
    scored = [
        (len(wanted.intersection(query_tokens(f"{f.language} {f.type} {' '.join(f.symbols)}"))), f)
        for f in known.values()
    ]
    return [f for score, f in sorted(scored, key=lambda s: -s[0]) if score][:limit]


def _rendered(
    query: str, pieces: Sequence[tuple[str, str]], limit: int, fulltext: bool, count: Callable[[str], int]
) -> Recalled:
    ids: list[str] = []
    texts: list[str] = []
    room = TOKEN_LIMIT
    for piece_id, text in pieces[:limit]:
        price = cost(text, count) + 4
        if price > room:
            break
        room -= price
        ids.append(piece_id)
        texts.append(text)
    if not ids:
        texts = [f"Nothing in PAST or in the team's facts matches {code(query, 120)}."]
    head = f"{len(ids)} found for {code(query, 120)}, best first." if ids else ""
    note = "" if fulltext else "This store has no full-text search: the newest archived entries were scanned."
    return Recalled(tuple(ids), "\n\n".join(part for part in (head, *texts, note) if part))
