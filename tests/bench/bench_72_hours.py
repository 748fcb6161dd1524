"""72 hours of 50 agents of one team, played in minutes on a clock of their own."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import grown
from failures import hooked, python, rust, throttled, typescript

from vlk2.bootstrap import Memory
from vlk2.domain.entry import Kind
from vlk2.domain.moments import HOUR, MINUTE, SECOND
from vlk2.domain.states import State
from vlk2.frozen import replace
from vlk2.ports import Timeline

AGENTS = int(os.environ.get("VLK2_BENCH_AGENTS", "50"))
HOURS = 72
BUDGET = 4_000
_COMMANDS = {
    "cargo check": [lambda n: rust(line=n % 90), lambda n: rust("Hash", line=n % 90)],
    "pytest -q": [lambda n: python(f"name_{n % 40}", line=n % 300), lambda n: python("load", line=n % 300)],
    "npx tsc": [lambda n: typescript(f"Kind{n % 6}", line=n % 50)],
    "curl -f https://api.example.test": [lambda n: throttled(n % 60)],
    "make": [lambda n: f"make: *** [all] Error {n % 3}\n" + "noise " * (n % 800)],
}


def measure() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        first = grown.memory(path, agent="agent0", token_budget=BUDGET)
        memories = [first]
        for n in range(1, AGENTS):
            one = grown.memory(path, agent=f"agent{n}", token_budget=BUDGET)
            one._store, one.clock = first.store, first.clock
            memories.append(one)
        played = _Days(memories)
        played.run()
        played.close()
        size = sum(p.stat().st_size for p in path.parent.iterdir())
        beyond = (size - 1.5 * played.distinct) / max(1, played.observations)
    return [
        count("contexts over the budget in 72 h of 50 agents", played.over),
        count("timelines over the budget after a cycle", played.over_after_cycle),
        count("constraints older than their evidence, or without any", played.groundless),
        count("entries in a state that their audit trail does not lead to", played.astray),
        {
            "figure": f"bytes an observation beyond 1.5 x distinct contents, {played.observations:,} observations of 50 agents",
            "value": beyond,
            "goal": "≤ 1500",
            "unit": "B",
            "holds": beyond <= 1500,
        },
    ]


def count(figure: str, value: int) -> dict[str, Any]:
    return {"figure": figure, "value": value, "goal": "0", "unit": "", "holds": value == 0}


class _Days:
    """Every agent works in its own rhythm; the cycle runs every five minutes."""

    def __init__(self, memories: list[Memory]) -> None:
        self._memories = memories
        self._clock = memories[0].clock
        self._dice = Random(72)
        self._step = 0
        self.over = self.over_after_cycle = self.groundless = self.astray = self.observations = 0
        self.distinct = 0
        self._texts: set[str] = set()

    def run(self) -> None:
        begin = self._clock.now
        asleep = {id(m): self._dice.randrange(24) for m in self._memories}
        while self._clock.now < begin + HOURS * HOUR:
            hour = (self._clock.now - begin) // HOUR % 24
            for memory in self._memories:
                working = (hour - asleep[id(memory)]) % 24 < 10
                if working and self._dice.random() < 0.5:
                    self._work(memory, begin)
            self._clock.now = max(self._clock.now, begin) + 5 * MINUTE
            self._cycle()
        for memory in self._memories:
            with memory.store.read(memory.owner, self._clock()) as timeline:
                self._look(timeline)

    def close(self) -> None:
        self._memories[0].close()

    def _work(self, memory: Memory, begin: int) -> None:
        dice = self._dice
        command = dice.choice(list(_COMMANDS))
        session = f"{memory.owner.agent} {(self._clock.now - begin) // (4 * HOUR)}"
        for _ in range(dice.choice((1, 1, 2, 4))):
            self._step += 1
            event = hooked("", f"u{self._step}", command, session=session, worktree="/home/dev/project")
            if dice.random() < 0.3:
                event = replace(event, text="ok", is_error=False, exit_code=0)
            else:
                event = replace(event, text=dice.choice(_COMMANDS[command])(dice.randrange(100_000)))
                self._texts.add(event.text)
            memory.record(event, source="hook")
            self.observations += 1
        if dice.random() < 0.2:
            found = memory.fetch_context(max_tokens=dice.choice((0, 0, 400)))
            self.over += found.tokens > found.budget
        if dice.random() < 0.05:
            memory.recall(dice.choice(("E0277", "load", "Kind3", "make")))
        if dice.random() < 0.02 and (ids := memory.fetch_context().constraint_ids):
            memory.revoke(dice.choice(ids), "a misdiagnosis")
        self.distinct = sum(map(len, self._texts))

    def _cycle(self) -> None:
        self._clock.now += 60 * SECOND
        self._memories[0].run_cycle()
        for _, _, tokens in self._memories[0].store.timelines("default"):
            self.over_after_cycle += tokens > BUDGET

    def _look(self, timeline: Timeline) -> None:
        for state in (State.PRESENT, State.PAST, State.FUTURE, State.PURGED):
            for entry in timeline.in_state(state, 5_000):
                self.astray += timeline.moves(entry)[-1].target is not state
                if entry.kind is Kind.LOOP:
                    evidence = timeline.evidence_entries(entry)
                    # Repeats join it later; what it was made from came before it. A call that succeeds again
                    # and again has one entry: a success has no text.
                    known = entry.fingerprint is not None and entry.fingerprint.language != "call"
                    need = 3 if known else 1
                    self.groundless += len(evidence) < need or any(
                        one.at > entry.at for one in evidence[:need]
                    )
