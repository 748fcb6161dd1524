"""Months of a memory's life, at random: what must hold at every step."""

from __future__ import annotations

from failures import python, rust, throttled, typescript
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from lives import World

from vlk2.domain.entry import Kind
from vlk2.domain.moments import DAY, HOUR, MINUTE
from vlk2.domain.states import TRANSITIONS, Reason, State
from vlk2.errors import NotAllowed

BUDGET = 700
FAILURES = {
    "cargo check": [rust("Serialize"), rust("Hash")],
    "python a.py": [python("load"), python("save")],
    "tsc": [typescript("Price")],
    "curl https://api.example.test": [throttled(3)],
    "make": ["something odd happened", "w " * 900],
}
AGENTS = ("ada", "bob")
commands = st.sampled_from(sorted(FAILURES))
agents = st.sampled_from(AGENTS)
numbers = st.integers(0, 10_000)


class Months(RuleBasedStateMachine):
    """Two agents of a team: they fail, succeed, edit, ask, pin, revoke and forget, and time passes."""

    @initialize()
    def begin(self) -> None:
        self.world = World(token_budget=BUDGET)
        self.agents = {name: self.world.memory(name) for name in AGENTS}
        self.pinned: dict[str, int] = {}

    def entries(self, agent: str, *states: State) -> list:
        def look(timeline):
            return [e for state in states for e in timeline.in_state(state, 1_000)]

        return self.world.inside(self.agents[agent], look)

    def pick(self, agent: str, number: int, *states: State):
        found = self.entries(agent, *states)
        return found[number % len(found)] if found else None

    # what agents and people do ------------------------------------------------------------------------

    @rule(agent=agents, command=commands, which=numbers, told=st.booleans())
    def fail(self, agent, command, which, told):
        texts = FAILURES[command]
        text = texts[which % len(texts)]
        act = self.world.tells if told else self.world.fails
        act(self.agents[agent], text, command)

    @rule(agent=agents, command=commands, times=st.integers(3, 6))
    def loop(self, agent, command, times):
        for _ in range(times):
            self.world.fails(self.agents[agent], FAILURES[command][0], command)

    @rule(agent=agents, command=commands)
    def succeed(self, agent, command):
        self.world.succeeds(self.agents[agent], command)

    @rule(agent=agents, path=st.sampled_from(["src/a.rs", "Cargo.toml", "tests/a.rs"]))
    def edit(self, agent, path):
        self.world.edits(self.agents[agent], path)

    @rule(agent=agents, query=st.sampled_from(["E0277", "load", "odd", "src/a.ts"]))
    def recall(self, agent, query):
        self.agents[agent].recall(query)

    @rule(agent=agents, asked=st.sampled_from([0, 300]))
    def fetch(self, agent, asked):
        found = self.agents[agent].fetch_context(max_tokens=asked)
        assert found.tokens <= found.budget <= BUDGET

    @rule(agent=agents, number=numbers)
    def pin(self, agent, number):
        entry = self.pick(agent, number, State.PRESENT, State.PAST, State.FUTURE)
        if entry and not entry.pinned:
            try:
                self.agents[agent].pin(entry.id)
            except NotAllowed:
                return
            self.pinned[entry.id] = self.world.clock.now

    @rule(agent=agents, number=numbers)
    def unpin(self, agent, number):
        entry = self.pick(agent, number, State.PRESENT, State.PAST, State.FUTURE)
        if entry:
            self.agents[agent].pin(entry.id, pinned=False)
            self.pinned.pop(entry.id, None)

    @rule(agent=agents, number=numbers)
    def revoke(self, agent, number):
        if entry := self.pick(agent, number, State.FUTURE):
            self.agents[agent].revoke(entry.id, "a misdiagnosis")

    @rule(agent=agents, number=numbers)
    def forget(self, agent, number):
        if entry := self.pick(agent, number, State.PRESENT, State.PAST):
            try:
                self.agents[agent].forget(entry.id, "no longer needed")
            except NotAllowed:
                return

    @rule(agent=agents, number=numbers)
    def restore(self, agent, number):
        if entry := self.pick(agent, number, State.PURGED):
            try:
                self.agents[agent].restore(entry.id)
            except NotAllowed:
                return

    @rule(agent=agents, number=numbers)
    def declare_a_dead_end(self, agent, number):
        if entry := self.pick(agent, number, State.PRESENT):
            self.agents[agent].time_travel([entry.id], f"dead end number {number}")

    @rule(span=st.sampled_from([MINUTE, HOUR, 9 * HOUR, 3 * DAY, 20 * DAY, 45 * DAY]))
    def time_passes(self, span):
        self.world.pass_time(span)

    # the cycle ----------------------------------------------------------------------------------------

    @precondition(lambda self: hasattr(self, "world"))
    @rule()
    def cycle(self):
        first = next(iter(self.agents.values()))
        self.world.cycle(first)
        for memory in self.agents.values():
            pins = self.world.inside(memory, lambda t: sum(t.pinned_tokens()))
            assert self.world.inside(memory, lambda t: t.tokens) <= max(BUDGET, pins)
        for told in first.rehearse_cycle():  # a second run finds nothing to do
            assert told.moved == ()
        before = self.everything()
        self.world.cycle(first)
        assert self.everything() == before

    def everything(self):
        def look(timeline):
            entries = [e for s in State if s is not State.NEW for e in timeline.in_state(s, 1_000)]
            return [
                entries,
                [timeline.moves(e) for e in entries],
                timeline.constraints(),
                timeline.patterns(100),
            ]

        return [self.world.inside(memory, look) for memory in self.agents.values()]

    # what holds at every step -------------------------------------------------------------------------

    @invariant()
    def every_move_stands_in_the_table_and_leads_to_where_the_entry_is(self):
        for agent in getattr(self, "agents", ()):

            def look(timeline):
                for state in (State.PRESENT, State.PAST, State.FUTURE, State.PURGED):
                    for entry in timeline.in_state(state, 1_000):
                        at = State.NEW
                        for move in timeline.moves(entry):
                            assert move.source is at
                            assert move.reason in TRANSITIONS[move.source, move.target]
                            at = move.target
                        assert at is state
                        if state is State.PURGED:
                            assert timeline.tombstones(entry)
                        if state is State.FUTURE and entry.kind is Kind.LOOP:
                            evidence = timeline.evidence_entries(entry)
                            assert evidence
                            assert all(one.state is not State.PURGED for one in evidence)

            self.world.inside(self.agents[agent], look)

    @invariant()
    def what_is_pinned_stays(self):
        for agent in getattr(self, "agents", ()):

            def look(timeline):
                for entry_id, since in self.pinned.items():
                    if entry := timeline.entry(entry_id):
                        assert entry.pinned
                        assert entry.state is not State.PURGED
                        for move in timeline.moves(entry):
                            if move.at > since:
                                assert move.reason not in (Reason.BUDGET, Reason.STALE, Reason.CYCLE)

            self.world.inside(self.agents[agent], look)

    @invariant()
    def the_stored_sum_is_the_sum_of_what_is_live(self):
        for memory in getattr(self, "agents", {}).values():

            def look(timeline):
                return timeline.tokens, sum(one.tokens for one in timeline.costed())

            stored, summed = self.world.inside(memory, look)
            assert stored == summed

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.store.close()


Months.TestCase.settings = settings(
    max_examples=20, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
TestMonths = Months.TestCase
