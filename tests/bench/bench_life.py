"""A long life: what a large past costs the agent, the cycle and the disk."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import grown

from vlk2.app.consolidate import consolidate
from vlk2.domain.moments import HOUR, SECOND

LARGE = int(os.environ.get("VLK2_BENCH_ENTRIES", "1000000"))
ROUNDS = 120


def measure() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        distinct = grown.grown(home / "large.db", LARGE)
        grown.grown(home / "small.db", 1_000)
        rows = _answers(home)
        rows.append(_storage(home / "large.db", distinct))
        grown.grown(home / "many.db", 100_000)
        grown.grown(home / "few.db", 100)
        rows.append(_cycles(home))
        rows.append(_timelines(home))
    return rows


def row(figure: str, value: float, goal: float, unit: str = "x") -> dict[str, Any]:
    return {"figure": figure, "value": value, "goal": f"≤ {goal:g}", "unit": unit, "holds": value <= goal}


def _answers(home: Path) -> list[dict[str, Any]]:
    """fetch_context and record over a large past against a small one, turn by turn."""
    large, small = grown.memory(home / "large.db"), grown.memory(home / "small.db")
    times: dict[str, list[float]] = {
        name: [] for name in ("context large", "context small", "record large", "record small")
    }
    for memory in (large, small):
        memory.clock.now += 30 * 24 * HOUR
        for n in range(12):
            grown.record(memory, 900_000 + n, 10_000_000 + n)
        memory.fetch_context()
    for turn in range(ROUNDS):
        for name, memory in (("large", large), ("small", small))[:: 1 if turn % 2 else -1]:
            began = time.perf_counter()
            memory.fetch_context()
            times[f"context {name}"].append(time.perf_counter() - began)
            began = time.perf_counter()
            grown.record(memory, 910_000 + turn, 20_000_000 + turn)
            times[f"record {name}"].append(time.perf_counter() - began)
            if turn % 20 == 19:
                memory.clock.now += 60 * SECOND
                memory.run_cycle()
    large.close()
    small.close()
    return [
        row(
            f"{verb} p50, {LARGE:,} PAST entries against 1,000",
            median(times[f"{what} large"]) / median(times[f"{what} small"]),
            1.2,
        )
        for verb, what in (("fetch_context", "context"), ("record", "record"))
    ]


def _storage(path: Path, distinct: int) -> dict[str, Any]:
    """Every content in the search index, the log in the file."""
    memory = grown.memory(path)
    memory.recall("KeyError")
    memory.close()
    size = sum(p.stat().st_size for p in path.parent.glob(path.name + "*"))
    value = (size - 1.5 * distinct) / LARGE
    return row(
        f"bytes an observation beyond 1.5 x its distinct contents, {LARGE:,} with 5 % distinct",
        value,
        750,
        "B",
    )


def _cycles(home: Path) -> dict[str, Any]:
    """A cycle that finds 20 new entries, over 100,000 archived ones against over 100."""
    many, few = grown.memory(home / "many.db"), grown.memory(home / "few.db")
    times: dict[str, list[float]] = {"many": [], "few": []}
    for turn in range(50):
        for name, memory in (("many", many), ("few", few))[:: 1 if turn % 2 else -1]:
            for n in range(20):
                grown.record(memory, 920_000 + turn * 20 + n, 30_000_000 + turn * 20 + n)
            now = memory.clock()
            (lease,) = memory.store.lease_due("bench", now=now, until=now + HOUR, most=1)
            began = time.perf_counter()
            consolidate(memory.store, lease, clock=memory.clock, budget=8_000, counter=memory.counter)
            if turn >= 10:
                times[name].append(time.perf_counter() - began)
    many.close()
    few.close()
    return row(
        "cycle p50, 100,000 archived entries against 100", median(times["many"]) / median(times["few"]), 1.2
    )


def _timelines(home: Path) -> dict[str, Any]:
    """A tick over 10,000 timelines of which 100 changed, against one over 100 that all changed."""
    took: dict[int, list[float]] = {}
    for count in (100, 10_000):
        first = grown.memory(home / f"t{count}.db", agent="agent0")
        store = first.store
        memories = []
        for n in range(count):
            memory = grown.memory(home / f"t{count}.db", agent=f"agent{n}")
            memory._store, memory.clock = store, first.clock
            if n < 100:
                memories.append(memory)
            else:
                with store.write(memory.owner, first.clock()):
                    pass
        took[count] = []
        for turn in range(3):
            for memory in memories:
                for n in range(20):
                    grown.record(memory, 940_000 + n % (7 if turn else 20), 40_000_000 + turn * 20 + n)
            first.clock.now += 60 * SECOND
            began = time.perf_counter()
            done = first.run_cycle()
            took[count].append(time.perf_counter() - began)
            assert done is not None
            assert len(done) == 100
        store.close()
    return row(
        "cycle over 10,000 timelines with 100 changed, against 100 all changed",
        min(took[10_000]) / min(took[100]),
        1.3,
    )
