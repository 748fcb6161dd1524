"""The Celery application: what is sent where and when, and what a task does with it."""

from __future__ import annotations

import inspect
import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("celery")

from celery import signals
from celery.contrib.testing.worker import start_worker

import vlk2.app.tick as ticks
from vlk2.bootstrap import Memory, now
from vlk2.domain.event import Event, EventKind
from vlk2.domain.moments import MINUTE
from vlk2.domain.states import State
from vlk2.errors import ConfigError
from vlk2.ports import Owner
from vlk2.settings import load
from vlk2_workers import celery_app, health, process, tasks
from vlk2_workers.celery_app import app, configuration
from vlk2_workers.limits import Limits
from vlk2_workers.routing import MAINTENANCE, queue_of, queues, shard_name
from vlk2_workers.schedule import delay, schedule

IDS = [f"l_{n:012d}" for n in range(2_000)]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """The settings of every process here: an in-memory broker, three shards, a store of the test's own."""
    store = f"sqlite://{tmp_path / 'memory.db'}"
    for name, value in {"STORE": store, "BROKER": "memory://", "SHARDS": "3"}.items():
        monkeypatch.setenv(f"VLK2_{name}", value)
    monkeypatch.setenv("VLK2_HEARTBEAT", str(tmp_path / "heartbeat"))
    celery_app.settings.cache_clear()
    yield store
    process.close()
    celery_app.settings.cache_clear()


def settings(**more: Any) -> Any:
    return load(**more)


# what is sent, where and when -----------------------------------------------------------------------


@pytest.mark.parametrize("lease", [5, 30, 150, 3600])
def test_soft_limit_hard_limit_lease_and_visibility_timeout_follow_each_other(lease: float) -> None:
    held = settings(lease_seconds=lease, broker="redis://broker/0")
    limits = Limits.of(held)
    assert 0 < limits.soft < limits.hard < limits.lease < limits.visibility
    made = configuration(held)
    assert (made["task_soft_time_limit"], made["task_time_limit"]) == (limits.soft, limits.hard)
    assert made["broker_transport_options"]["visibility_timeout"] == limits.visibility


def test_only_json_goes_over_the_broker_and_no_result_comes_back() -> None:
    made = configuration(settings())
    assert (made["task_serializer"], made["accept_content"]) == ("json", ["json"])
    assert made["task_ignore_result"] is True
    assert "result_backend" not in made


def test_a_timeline_task_is_acknowledged_when_it_is_done_and_comes_again_when_its_process_is_lost() -> None:
    made = configuration(settings())
    assert made["task_acks_late"]
    assert made["task_reject_on_worker_lost"]
    assert made["task_acks_on_timeout"] is False
    assert made["worker_prefetch_multiplier"] == 1


def test_without_a_broker_the_application_says_which_variable_is_missing() -> None:
    with pytest.raises(ConfigError, match="VLK2_BROKER"):
        configuration(settings(broker=""))


def test_a_timeline_goes_to_the_same_shard_in_every_process() -> None:
    here = [queue_of(one, 8) for one in IDS[:20]]
    script = (
        "import json, sys; from vlk2_workers.routing import queue_of; "
        "print(json.dumps([queue_of(one, 8) for one in json.loads(sys.argv[1])]))"
    )
    there = subprocess.run(
        [sys.executable, "-c", script, json.dumps(IDS[:20])],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(sys.path)},
    )
    assert json.loads(there.stdout) == here


def test_timelines_are_spread_evenly_over_the_shards() -> None:
    held = Counter(queue_of(one, 4) for one in IDS)
    assert set(held) == {shard_name(n) for n in range(4)}
    assert min(held.values()) > len(IDS) / 4 * 0.8


def test_a_worker_takes_from_every_queue_that_anything_is_sent_to() -> None:
    known = [queue.name for queue in queues(4)]
    assert known == [MAINTENANCE, *(shard_name(n) for n in range(4))]
    assert len({queue.routing_key for queue in queues(4)}) == 5
    made = configuration(settings(shards=4))
    (route,) = made["task_routes"]
    for name in ("vlk2.consolidate", "vlk2.enforce_budget"):
        assert route(name, (IDS[7], 3), {}, {})["queue"] == queue_of(IDS[7], 4)
    for entry in made["beat_schedule"].values():
        assert route(entry["task"], (), {}, {}) is None
    assert made["task_default_queue"] == MAINTENANCE


def test_beat_sends_the_tick_every_cycle_and_no_message_outlives_the_next() -> None:
    entries = schedule(settings(cycle_seconds=12))
    assert entries["dispatch"]["schedule"] == 12
    assert entries["relieve"]["schedule"] < 12
    for entry in entries.values():
        assert entry["options"]["expires"] == max(entry["schedule"], 10)
        assert entry["task"] in app.tasks


def test_turns_are_spread_by_hash_within_a_sixth_of_the_cycle_and_five_seconds() -> None:
    for cycle in (1.0, 30.0, 600.0):
        waits = [delay(one, cycle) for one in IDS]
        bound = min(cycle / 6, 5)
        assert min(waits) >= 0
        assert max(waits) <= bound
        assert max(waits) - min(waits) > bound * 0.9
        assert waits == [delay(one, cycle) for one in IDS]


def test_the_tasks_of_a_timeline_take_its_id_and_the_version_of_its_lease_and_nothing_else() -> None:
    for task in (tasks.consolidate, tasks.enforce_budget):
        assert list(inspect.signature(task.run).parameters) == ["timeline_id", "version"]
    for task in (tasks.dispatch, tasks.relieve, tasks.reconcile):
        assert not inspect.signature(task.run).parameters


# what a task does -----------------------------------------------------------------------------------


class Bench:
    """A worker on an in-memory broker in this process, over a store of its own, with a clock to move."""

    def __init__(self, store: str) -> None:
        self.store = store
        self.ahead = 0
        self.sent: list[tuple[str, list[Any], dict[str, Any]]] = []
        self.finished: list[str] = []
        self.done = threading.Event()
        self.made: list[Memory] = []

    def memory(self, project: str = "ledger", **more: Any) -> Memory:
        held = load(store=self.store, agent="ada", project=project, **more)
        self.made.append(Memory(held, Owner("default", "ada", project), clock=self.now))
        return self.made[-1]

    def now(self) -> int:
        return now() + self.ahead

    def record(
        self, memory: Memory, text: str = "error[E0277]: the trait bound `A: B` is not satisfied"
    ) -> str:
        event = Event(EventKind.RESULT, tool="Bash", command="cargo check", text=text, explicit=True)
        return memory.record(event).entry_id

    def run(self, task: Any, *arguments: Any) -> None:
        """Sends the task, and waits until it and all that it sent have run."""
        task.apply_async(arguments)
        self.settle()

    def settle(self, seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if len(self.finished) >= len(self.sent):
                return
            self.done.wait(0.05)
            self.done.clear()
        pytest.fail(f"{len(self.sent)} sent, {len(self.finished)} finished")


@pytest.fixture(scope="module")
def worker() -> Iterator[None]:
    """One worker for all tests: each gives it a store of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VLK2_BROKER", "memory://")
        patch.setenv("VLK2_SHARDS", "3")
        celery_app.settings.cache_clear()
        patch.setitem(app.conf, "broker_transport_options", {"polling_interval": 0.01})
        with start_worker(app, pool="threads", concurrency=2, perform_ping_check=False, loglevel="ERROR"):
            yield


@pytest.fixture
def bench(worker: None, environment: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    made = Bench(environment)
    monkeypatch.setattr(tasks, "now", made.now)
    monkeypatch.setattr(tasks, "delay", lambda *_: 0)

    def published(sender: str, body: Any, **_: Any) -> None:
        made.sent.append((sender, list(body[0]), body[2]))

    def finished(sender: Any, **_: Any) -> None:
        made.finished.append(sender.name)
        made.done.set()

    signals.before_task_publish.connect(published)
    signals.task_postrun.connect(finished)
    try:
        yield made
    finally:
        signals.before_task_publish.disconnect(published)
        signals.task_postrun.disconnect(finished)
        for memory in made.made:
            memory.close()


def test_a_tick_sends_each_changed_timeline_one_chain_and_the_worker_consolidates_it(bench: Bench) -> None:
    memories = [bench.memory(f"p{n}") for n in range(5)]
    for memory in memories:
        bench.record(memory)
    bench.run(tasks.dispatch)
    chains = [
        (arguments, embed["chain"]) for name, arguments, embed in bench.sent if name == "vlk2.consolidate"
    ]
    assert len(chains) == 5
    for arguments, rest in chains:
        assert [step["task"] for step in rest] == ["vlk2.enforce_budget"]
        assert list(rest[0]["args"]) == arguments
        assert isinstance(arguments[0], str)
        assert isinstance(arguments[1], int)
        assert len(arguments) == 2
    for memory in memories:
        with memory.store.read(memory.owner, bench.now()) as timeline:
            cycle = timeline.last_cycle()
            assert cycle is not None
            assert cycle.scanned == 1
            assert not timeline.leased
    assert {name for name, _, _ in bench.sent} == {"vlk2.dispatch", "vlk2.consolidate", "vlk2.enforce_budget"}


def test_a_second_tick_in_the_same_period_does_nothing(bench: Bench) -> None:
    memory = bench.memory()
    bench.record(memory)
    bench.run(tasks.dispatch)
    bench.record(memory)
    bench.run(tasks.dispatch)
    assert [name for name, _, _ in bench.sent].count("vlk2.consolidate") == 1
    bench.ahead += MINUTE
    bench.run(tasks.dispatch)
    assert [name for name, _, _ in bench.sent].count("vlk2.consolidate") == 2


def test_the_cycle_row_names_the_worker_and_not_the_front_end(bench: Bench) -> None:
    memory = bench.memory()
    bench.record(memory)
    bench.run(tasks.dispatch)
    with memory.store.read(memory.owner, bench.now()) as timeline:
        cycle = timeline.last_cycle()
    assert cycle is not None
    assert cycle.owner not in ("", memory.worker)


def test_a_task_whose_lease_is_not_the_newest_ends_quietly_and_changes_nothing(bench: Bench) -> None:
    memory = bench.memory()
    bench.record(memory)
    at = bench.now()
    (late,) = memory.store.lease_due("gone", now=at, until=at, most=5)
    (held,) = memory.store.lease_due("other", now=at, until=at + MINUTE, most=5)
    assert held.version > late.version
    bench.run(tasks.consolidate, late.timeline_id, late.version)
    bench.run(tasks.enforce_budget, late.timeline_id, late.version)
    with memory.store.read(memory.owner, at) as timeline:
        assert timeline.last_cycle() is None
        assert timeline.leased
    bench.run(tasks.consolidate, held.timeline_id, held.version)
    with memory.store.read(memory.owner, at) as timeline:
        assert timeline.last_cycle() is not None


def test_the_same_task_delivered_twice_makes_one_cycle(bench: Bench) -> None:
    memory = bench.memory()
    bench.record(memory)
    at = bench.now()
    (held,) = memory.store.lease_due("dispatcher", now=at, until=at + MINUTE, most=5)
    for _ in range(2):
        bench.run(tasks.consolidate, held.timeline_id, held.version)
    with sqlite3.connect(bench.store.removeprefix("sqlite://")) as connection:
        assert connection.execute("SELECT COUNT(*) FROM cycles").fetchone() == (1,)


def test_a_timeline_over_the_budget_is_relieved_before_its_next_cycle(bench: Bench) -> None:
    memory = bench.memory()
    bench.run(tasks.dispatch)
    for n in range(40):
        bench.record(memory, f"the words of note {chr(97 + n % 26)} are many: " + "word " * 400)
    with memory.store.read(memory.owner, bench.now()) as timeline:
        assert timeline.tokens > 8_000
    bench.run(tasks.relieve)
    assert [name for name, _, _ in bench.sent] == ["vlk2.dispatch", "vlk2.relieve", "vlk2.enforce_budget"]
    with memory.store.read(memory.owner, bench.now()) as timeline:
        assert 0 < timeline.tokens <= 8_000
        assert timeline.last_cycle() is None
        assert not timeline.leased
    bench.ahead += MINUTE
    bench.run(tasks.dispatch)
    with memory.store.read(memory.owner, bench.now()) as timeline:
        assert timeline.last_cycle() is not None


def test_a_timeline_within_its_budget_is_not_relieved(bench: Bench) -> None:
    memory = bench.memory()
    bench.run(tasks.dispatch)
    bench.record(memory)
    bench.run(tasks.relieve)
    assert [name for name, _, _ in bench.sent] == ["vlk2.dispatch", "vlk2.relieve"]


def test_one_poisoned_timeline_among_many_is_parked_and_the_others_go_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    memories = [bench.memory(f"p{n}") for n in range(10)]
    for memory in memories:
        bench.record(memory)
    poisoned = memories[4]
    with poisoned.store.read(poisoned.owner, bench.now()) as timeline:
        poison = timeline.id
    real: Callable[..., Any] = ticks.consolidate

    def poisonous(store: Any, lease: Any, **more: Any) -> Any:
        if lease.timeline_id == poison:
            raise ZeroDivisionError("what it holds breaks the rule")
        return real(store, lease, **more)

    monkeypatch.setattr(ticks, "consolidate", poisonous)
    for turn in range(8):
        bench.run(tasks.dispatch)
        bench.ahead += 2 * MINUTE
        for memory in memories:
            bench.record(memory, f"ValueError: balance {chr(97 + turn)} is off")
    tried = [arguments[0] for name, arguments, _ in bench.sent if name == "vlk2.consolidate"]
    assert Counter(tried)[poison] == 5
    assert all(Counter(tried)[one] == 8 for one in set(tried) - {poison})
    assert poisoned.store.backlog(bench.now()).parked == 1
    assert [name for name, _, _ in bench.sent].count("vlk2.enforce_budget") == 72


def test_a_lease_whose_worker_is_gone_is_freed_and_the_timeline_gets_its_turn(bench: Bench) -> None:
    memory = bench.memory()
    bench.record(memory)
    at = bench.now()
    memory.store.lease_due("celery@gone", now=at, until=at + MINUTE, most=5)
    bench.run(tasks.reconcile)
    assert memory.store.backlog(bench.now()).leased == 1
    bench.ahead += 2 * MINUTE
    bench.run(tasks.reconcile)
    assert memory.store.backlog(bench.now()).leased == 0
    bench.run(tasks.dispatch)
    with memory.store.read(memory.owner, bench.now()) as timeline:
        assert timeline.last_cycle() is not None


def test_a_loop_becomes_a_fact_of_its_team_through_the_worker(bench: Bench) -> None:
    memory = bench.memory()
    for _ in range(3):
        bench.record(memory)
    with memory.store.read(memory.owner, bench.now()) as timeline:
        assert len(timeline.in_state(State.FUTURE, 5)) == 1
        assert timeline.patterns(5) == []
    bench.run(tasks.dispatch)
    with memory.store.read(memory.owner, bench.now()) as timeline:
        assert len(timeline.patterns(5)) == 1


# health ---------------------------------------------------------------------------------------------


def check(part: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    return health.main([part]), capsys.readouterr().out


def test_a_worker_that_never_reached_its_broker_is_not_healthy(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench.record(bench.memory())
    monkeypatch.setenv("VLK2_HEARTBEAT", str(tmp_path / "another"))
    code, said = check("worker", capsys)
    assert code == 1
    assert "broker" in said


def test_a_worker_is_healthy_while_what_is_due_gets_done(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench.record(bench.memory())
    beating = tmp_path / "beating"
    beating.touch()
    monkeypatch.setenv("VLK2_HEARTBEAT", str(beating))
    assert check("worker", capsys)[0] == 0
    monkeypatch.setattr(health, "now", lambda: now() + 60 * MINUTE)
    code, said = check("worker", capsys)
    assert code == 1
    assert "due" in said
    bench.run(tasks.dispatch)
    assert check("worker", capsys)[0] == 0


def test_a_worker_whose_heart_stopped_is_not_healthy(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench.record(bench.memory())
    silent = tmp_path / "silent"
    silent.touch()
    os.utime(silent, (1_000_000, 1_000_000))
    monkeypatch.setenv("VLK2_HEARTBEAT", str(silent))
    code, said = check("worker", capsys)
    assert code == 1
    assert "not heard" in said


def test_beat_is_healthy_when_its_tick_has_run_and_not_when_it_stopped(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.record(bench.memory())
    code, said = check("beat", capsys)
    assert code == 1
    assert "not ticked yet" in said
    bench.run(tasks.dispatch)
    assert check("beat", capsys)[0] == 0
    monkeypatch.setattr(health, "now", lambda: now() + 5 * MINUTE)
    code, said = check("beat", capsys)
    assert code == 1
    assert "last tick" in said


@pytest.mark.parametrize("part", ["worker", "beat"])
def test_no_part_is_healthy_without_its_store_and_none_makes_one(
    part: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("VLK2_STORE", f"sqlite://{tmp_path / 'absent' / 'memory.db'}")
    code, said = check(part, capsys)
    assert code == 1
    assert "no store" in said
    assert not (tmp_path / "absent").exists()


def test_a_health_check_of_an_unknown_part_says_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert health.main(["nothing"]) == 2
    assert "worker|beat" in capsys.readouterr().err
