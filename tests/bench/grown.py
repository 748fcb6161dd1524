"""Stores as they are after a long time: a real beginning, recorded and consolidated, multiplied row by row."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from random import Random
from typing import Any

from failures import hooked

from vlk2.bootstrap import Memory
from vlk2.domain.moments import DAY, SECOND
from vlk2.ports import Owner
from vlk2.settings import load
from vlk2.tokens import ExactCounter

BEGIN = 20_000 * DAY
BASE = 2_000
DISTINCT = 20
"""One content in so many observations is new."""
_NAMES = [
    "load",
    "parse",
    "save",
    "render",
    "build",
    "check",
    "merge",
    "split",
    "fetch",
    "index",
    "ledger",
    "invoice",
    "totals",
    "export",
    "price",
]
_COUNTER = ExactCounter()


class Clock:
    def __init__(self, now: int = BEGIN) -> None:
        self.now = now

    def __call__(self) -> int:
        self.now += SECOND // 4
        return self.now


def memory(
    path: Path, agent: str = "ada", project: str = "github.com/acme/ledger", **settings: Any
) -> Memory:
    chosen = load(store=f"sqlite://{path}", agent=agent, project=project, **settings)
    return Memory(
        chosen, Owner("default", agent, project), counter=_COUNTER, mask=str, clock=Clock(), actor="hook"
    )


def text(number: int) -> tuple[str, str]:
    """A traceback of half a kilobyte, and the file that it names."""
    dice = Random(number)
    name = f"{dice.choice(_NAMES)}_{dice.choice(_NAMES)}"
    file = f"src/{dice.choice(_NAMES)}/{name}.py"
    frames = "\n".join(
        f'  File "/home/dev/project/{file}", line {dice.randrange(900)}, in {dice.choice(_NAMES)}\n'
        f"    {dice.choice(_NAMES)}({dice.choice(_NAMES)})"
        for _ in range(dice.randrange(3, 9))
    )
    return f"Traceback (most recent call last):\n{frames}\nKeyError: '{name}_{number:09d}'\n", file


def record(mine: Memory, number: int, step: int) -> None:
    log, file = text(number)
    event = hooked(
        log,
        f"toolu_{step:020d}",
        f"pytest tests/{file} -x -q",
        session=f"session-{step // 200:08d}-4f2a-9b1c",
        worktree="/home/dev/project",
        exit_code=1,
    )
    mine.record(event, source="hook")


def grown(path: Path, observations: int) -> int:
    """A store whose one timeline has met so many observations, 5 % of them distinct, all archived; answers the
    bytes of its distinct contents. The first 2,000 are recorded and consolidated, the rest are their copies."""
    mine = memory(path)
    base = min(BASE, observations)
    dice = Random(7)
    for step in range(base):
        record(mine, dice.randrange(max(1, base // DISTINCT)), step)
        if step % 200 == 199:
            mine.clock.now += 60 * SECOND
            mine.run_cycle()
    mine.clock.now += 5 * DAY  # what was left PRESENT goes stale
    mine.run_cycle()
    mine.close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA cache_size = -200000")
    for copy in range(1, observations // base):
        _multiply(connection, copy, base)
    connection.execute("UPDATE timelines SET next_seq = (SELECT MAX(seq) + 1 FROM observations)")
    (distinct,) = connection.execute("SELECT SUM(length(CAST(body AS BLOB))) FROM memory_contents").fetchone()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return distinct


def _multiply(connection: sqlite3.Connection, copy: int, base: int) -> None:
    """One more copy of the beginning, with keys, ids and contents of its own."""
    off = copy * base * 3
    connection.execute("BEGIN")
    connection.execute(
        "INSERT INTO memory_contents (pk, digest, body) SELECT pk + :off, lower(hex(randomblob(16))), "
        "substr(body, 1, length(body) - 12) || printf('%09d''', :copy * 1000 + pk) || char(10) || ' ' FROM memory_contents WHERE pk <= :base",
        {"off": off, "copy": copy, "base": base},
    )
    connection.execute(
        "INSERT INTO recall_pending (content) SELECT pk FROM memory_contents WHERE pk > :off AND pk <= :off + :base",
        {"off": off, "base": base},
    )
    first = {"off": off, "copy": copy, "base": base, "shift": copy * base}
    connection.execute(
        "INSERT INTO agent_timeline (pk, id, timeline, seq, at, run, kind, state, content, fingerprint, outcome, headline, file, command, "
        "tokens, counted, pinned, lesson) SELECT pk + :off, 'e_' || lower(hex(randomblob(6))), timeline, seq + :shift, at, run, kind, 'PAST', "
        "content + :off, fingerprint, outcome, headline, file, command, tokens, counted, 0, lesson "
        "FROM agent_timeline WHERE pk <= 3 * :base AND kind = 'log' ORDER BY pk",
        first,
    )
    connection.execute(
        "INSERT INTO observations SELECT timeline, seq + :shift, entry + :off, run, at, source, outcome, act, flags, pause, tool, batch, "
        "call, command, result, place, fingerprint, failing, lower(hex(randomblob(8))) FROM observations WHERE seq <= :base ORDER BY seq",
        first,
    )
    for table, columns in (
        ("transitions", "timeline, entry + :off, from_state, to_state, reason, detail, actor, at"),
        (
            "memory_metadata",
            'entry + :off, timeline, recency, frequency, connectivity, "use", outcome, importance, uses, shows, used_at, scored_at, review_at',
        ),
    ):
        names = columns.replace(" + :off", "")
        connection.execute(
            f"INSERT INTO {table} ({names}) SELECT {columns} FROM {table} WHERE entry <= 3 * :base "
            "AND entry IN (SELECT pk FROM agent_timeline WHERE kind = 'log')",
            first,
        )
    connection.execute("COMMIT")
