"""Rows of the store -> what the domain knows, and back. One row shape for every dialect."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

from vlk2.domain.beliefs import Evidence, Pattern
from vlk2.domain.entry import Attempt, Constraint, Entry, Kind
from vlk2.domain.observation import Act, Change, Failing, Fingerprint, Key, Outcome, Seen
from vlk2.domain.states import Reason, State
from vlk2.hints import Any

EXPLICIT, OWN_STATUS, WANTED, CHANGES, TOLD, COMPLAINS = 1, 2, 4, 8, 16, 32
_CHANGE_BITS = {Change.NONE: 0, Change.PROBE: 64, Change.RESTORE: 128, Change.EDIT: 192}
_CHANGE_OF = {bits: change for change, bits in _CHANGE_BITS.items()}
ENTRY_COLUMNS = 22

Row = Sequence[Any]


def symbols_text(symbols: tuple[str, ...]) -> str:
    return json.dumps(symbols, ensure_ascii=False, separators=(",", ":")) if symbols else "[]"


@lru_cache(maxsize=1024)
def symbols_of(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text != "[]" else ()


def failing_text(failing: frozenset[Failing]) -> str:
    return json.dumps(sorted(failing), ensure_ascii=False, separators=(",", ":"))


@lru_cache(maxsize=512)
def failing_of(text: str) -> frozenset[Failing]:
    return frozenset(Failing(t, tuple(symbols), test, file) for t, symbols, test, file in json.loads(text))


def fingerprint_of(row: Row, headline: str) -> Fingerprint | None:
    """Columns signature, symbols, language, type, specific, transient; None where they are NULL."""
    if row[0] is None:
        return None
    signature, symbols, language, type_, specific, transient = row
    return Fingerprint(
        language, type_, signature, symbols_of(symbols), headline, bool(specific), bool(transient)
    )


def entry_of(row: Row) -> Entry:
    """The columns of the fragment `entry`."""
    return Entry(
        pk=row[0],
        id=row[1],
        seq=row[2],
        at=row[3],
        run=row[4],
        kind=Kind(row[5]),
        state=State(row[6]),
        content=row[7],
        fingerprint=fingerprint_of(row[8:14], row[15]),
        outcome=row[14],
        headline=row[15],
        file=row[16],
        command=row[17],
        tokens=row[18],
        counted=bool(row[19]),
        pinned=bool(row[20]),
        lesson=row[21],
    )


def constraint_of(row: Row, attempts: tuple[Attempt, ...]) -> Constraint:
    """The columns of the fragments `entry` and `anchor`."""
    count, shown, threshold, first_at, last_at, marks, expires_at, stamps, overrides, ended, before = row[
        ENTRY_COLUMNS : ENTRY_COLUMNS + 11
    ]
    return Constraint(
        entry=entry_of(row),
        count=count,
        shown=shown,
        threshold=threshold,
        first_at=first_at,
        last_at=last_at,
        marks=tuple(json.loads(marks)),
        expires_at=expires_at,
        stamps=stamps,
        overrides=overrides,
        ended=ended,
        attempts=attempts,
        before=before,
    )


@lru_cache(maxsize=4096)
def seen_of(row: tuple[Any, ...]) -> Seen:
    """The columns of the fragment `seen`. The same rows are read again at every record of their run."""
    flags = row[5]
    return Seen(
        seq=row[0],
        at=row[1],
        run=str(row[2]),
        batch=row[8],
        explicit=bool(flags & EXPLICIT),
        act=Act(row[4]),
        tool=row[7],
        call=row[9],
        command=row[10],
        own_status=bool(flags & OWN_STATUS),
        outcome=Outcome(row[3]),
        fingerprint=fingerprint_of(row[13:19], ""),
        failing=failing_of(row[20]) if row[20] else frozenset(),
        result=row[11],
        place=row[12],
        wanted=bool(flags & WANTED),
        changes=bool(flags & CHANGES),
        change=_CHANGE_OF[flags & 192],
        pause=row[6],
        complains=bool(flags & COMPLAINS),
    )


def flags_of(seen: Seen) -> int:
    return (
        EXPLICIT * seen.explicit
        | OWN_STATUS * seen.own_status
        | WANTED * seen.wanted
        | CHANGES * seen.changes
        | COMPLAINS * seen.complains
        | _CHANGE_BITS[seen.change]
    )


def pattern_row(row: Row) -> Pattern:
    """The columns of the fragment `fact`."""
    fingerprint = fingerprint_of(row[1:7], "")
    assert fingerprint is not None
    return Pattern(
        id=row[0],
        fingerprint=fingerprint,
        confidence=row[7],
        loops=row[8],
        repeats=row[9],
        successes=row[10],
        agents=row[11],
        ended=row[12],
        first_at=row[13],
        last_at=row[14],
        pinned=bool(row[15]),
    )


def evidence_of(row: Row) -> Evidence:
    """The columns of the fragment `pending`."""
    pk, timeline, agent, fingerprint, anchor, reason, ended, seq, at, project = row
    return Evidence(pk, timeline, agent, fingerprint, anchor, Reason(reason), ended, seq, at, project)


def key_of(signature: str, symbols: str) -> Key:
    return Key(signature, symbols_of(symbols))


def fingerprint_params(fingerprint: Fingerprint) -> Mapping[str, Any]:
    return {
        "signature": fingerprint.signature,
        "symbols": symbols_text(fingerprint.symbols),
        "language": fingerprint.language,
        "type": fingerprint.type,
        "specific": int(fingerprint.specific),
        "transient": int(fingerprint.transient),
    }
