"""Full-text search over PAST and facts. Every recall reconsolidates what it is about to show."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vlk2.app.entries import excerpt_of
from vlk2.domain.beliefs import Pattern, pattern_text
from vlk2.domain.budget import cost
from vlk2.domain.context import Excerpt, entry_text
from vlk2.domain.entry import Entry
from vlk2.domain.observation import Fingerprint
from vlk2.domain.quoting import code
from vlk2.domain.recalling import index_text, query_tokens
from vlk2.domain.text import normalise
from vlk2.errors import InvalidInput, StoreUnavailable
from vlk2.frozen import dataclass
from vlk2.ports import Owner, Redactor, Store, Timeline, TokenCounter

MOST = 50
TOKEN_LIMIT = 4_000
_PENDING_AT_ONCE = 500
_SCANNED = 2_000
_PATTERNS_SCANNED = 500


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
    """At most `limit` (1 to 50) PAST entries and facts that match, within 4,000 tokens.

    `reconsolidate` rewrites facts that newer observations contradict before they are shown. Where the store
    has no full-text search the newest 2,000 archived entries are scanned, and the answer says so.
    """
    if not 1 <= limit <= MOST:
        raise InvalidInput(f"limit must be from 1 to {MOST}.")
    tokens = query_tokens(mask(normalise(query)))
    if not tokens:
        raise InvalidInput("query holds no word: name an error code, a symbol, a file or a command.")
    _index_pending(store, owner, now)
    with store.read(owner, now) as timeline:
        fulltext = timeline.fulltext
        entries = _search(timeline, tokens, limit) if fulltext else _scan(timeline, tokens, limit)
        shown = [(entry, excerpt_of(timeline, entry)) for entry in entries]
        failures = _failures(timeline, tokens, limit)
    patterns = list(reconsolidate(store, owner, failures, now))
    return _rendered(query, patterns, shown, limit, fulltext, counter.count)


def _index_pending(store: Store, owner: Owner, now: int) -> None:
    """Takes into the index what recording left for later; what cannot be written now is found next time."""
    try:
        while True:
            with store.write(owner, now) as timeline:
                pending = timeline.take_pending(_PENDING_AT_ONCE)
                for content, body in pending:
                    timeline.index(content, index_text(body))
            if len(pending) < _PENDING_AT_ONCE:
                return
    except StoreUnavailable:
        return


def _search(timeline: Timeline, tokens: Sequence[str], limit: int) -> list[Entry]:
    found = timeline.search(tokens, max(limit * 4, 20))
    wanted = frozenset(tokens)
    found.sort(key=lambda f: (-_covered(wanted, f.entry), -f.score, -f.entry.seq))
    return [f.entry for f in found[:limit]]


def _covered(wanted: frozenset[str], entry: Entry) -> int:
    return len(wanted.intersection(query_tokens(f"{entry.headline} {entry.file} {entry.command}")))


def _scan(timeline: Timeline, tokens: Sequence[str], limit: int) -> list[Entry]:
    wanted = frozenset(tokens)
    scored: list[tuple[int, int, Entry]] = []
    for entry, body in timeline.scan(_SCANNED):
        score = len(wanted.intersection(index_text(body).split(" ")))
        if score:
            scored.append((-score, -entry.seq, entry))
    return [entry for _, _, entry in sorted(scored, key=lambda row: row[:2])[:limit]]


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
    query: str,
    patterns: Sequence[Pattern],
    shown: Sequence[tuple[Entry, Excerpt]],
    limit: int,
    fulltext: bool,
    count: Callable[[str], int],
) -> Recalled:
    pieces = [(p.id, pattern_text(p)) for p in patterns]
    pieces += [(entry.id, entry_text(entry, part, count)) for entry, part in shown]
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
