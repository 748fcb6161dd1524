"""Real workers and a real beat, as processes, on a real Redis, over both stores."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("celery")

from vlk2.bootstrap import Memory
from vlk2.domain.event import Event, EventKind
from vlk2.ports import Owner
from vlk2.settings import load

pytestmark = pytest.mark.containers

HERE = Path(__file__).parent
_numbers = itertools.count(1)


def until(condition: Callable[[], Any], seconds: float = 120) -> Any:
    """What the condition answers once it is true; fails where that takes longer."""
    end = time.monotonic() + seconds
    while not (answer := condition()):
        if time.monotonic() > end:
            pytest.fail(f"not within {seconds} s: {condition}")
        time.sleep(0.1)
    return answer


class RedisContainer:
    """A Redis of its own for a test that stops it; its port outlives the stop."""

    def __init__(self) -> None:
        import docker

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        image = os.environ.get("VLK_REDIS_IMAGE", "redis:8")
        # Docker's own client: what is stopped and started again here must keep its port and its data.
        self._container = docker.from_env().containers.run(
            image,
            ["redis-server", "--bind", "0.0.0.0", "--protected-mode", "no", "--appendonly", "yes"],
            detach=True,
            ports={"6379/tcp": ("127.0.0.1", self.port)},
        )
        self.url = f"redis://127.0.0.1:{self.port}/0"
        until(self.answers)

    def answers(self) -> bool:
        import redis

        try:
            return bool(redis.Redis.from_url(self.url, socket_timeout=1).ping())
        except redis.RedisError:
            return False

    def stop(self) -> None:
        self._container.stop(timeout=5)

    def start(self) -> None:
        self._container.start()
        until(self.answers)

    def remove(self) -> None:
        self._container.remove(force=True, v=True)


@pytest.fixture(scope="module")
def redis_server(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a Redis: `VLK2_TEST_REDIS`, else a container of `VLK_REDIS_IMAGE`."""
    if address := os.environ.get("VLK2_TEST_REDIS"):
        yield address.rstrip("/").removesuffix("/0")
        return
    request.getfixturevalue("docker_engine")
    from testcontainers.community.redis import RedisContainer as Container

    container = Container(os.environ.get("VLK_REDIS_IMAGE", "redis:8"))
    command = "redis-server --bind 0.0.0.0 --protected-mode no"
    with container.with_command(command) as running:
        yield f"redis://{running.get_container_host_ip()}:{running.get_exposed_port(6379)}"


@pytest.fixture
def broker(redis_server: str) -> str:
    """An empty database of the Redis for one test."""
    import redis

    address = f"{redis_server}/{next(_numbers) % 16}"
    redis.Redis.from_url(address).flushdb()
    return address


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty store."""
    if request.param == "sqlite":
        yield f"sqlite://{tmp_path / 'memory.db'}"
        return
    import psycopg

    server = request.getfixturevalue("postgres_server")
    name = f"vlk2_workers_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield f"{server.rpartition('/')[0]}/{name}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


class Fleet:
    """Workers, beats and front-ends of one store and one broker."""

    def __init__(self, folder: Path, store: str, broker: str) -> None:
        self.folder, self.store, self.broker = folder, store, broker
        self.running: list[subprocess.Popen[bytes]] = []
        self.memories: list[Memory] = []
        self.environment: dict[str, str] = {
            "VLK2_STORE": store,
            "VLK2_BROKER": broker,
            "VLK2_CYCLE_SECONDS": "1",
            "VLK2_LEASE_SECONDS": "10",
            "VLK2_SHARDS": "3",
            "FAULT_LOG": str(folder / "faults"),
        }

    def start(
        self, *arguments: str, app: str = "vlk2_workers", **environment: str
    ) -> subprocess.Popen[bytes]:
        name = f"{len(self.running)}"
        paths = [str(HERE), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        with (self.folder / f"log-{name}").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "celery", "-A", app, *arguments, "-l", "INFO"],
                cwd=self.folder,
                env={
                    **os.environ,
                    **self.environment,
                    "VLK2_HEARTBEAT": str(self.folder / f"beats-{name}"),
                    "PYTHONPATH": os.pathsep.join(paths),
                    **environment,
                },
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.running.append(process)
        return process

    def worker(self, name: str = "celery", *, app: str = "vlk2_workers", **environment: str) -> None:
        """A worker process with two children, ready when this returns."""
        ready = self.folder / f"beats-{len(self.running)}"
        self.start(
            *("worker", "-n", f"{name}@%h", "-c", "2", "--without-gossip", "--without-mingle"),
            app=app,
            **environment,
        )
        until(ready.exists)

    def beat(self) -> None:
        self.start("beat", "--pidfile=")

    def memory(self, project: str) -> Memory:
        held = load(store=self.store, agent="ada", project=project)
        self.memories.append(Memory(held, Owner("default", "ada", project)))
        return self.memories[-1]

    def faults(self) -> Counter[str]:
        log = Path(self.environment["FAULT_LOG"])
        return Counter(log.read_text().split()) if log.exists() else Counter()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        if self.store.startswith("sqlite:"):
            import sqlite3

            connection = sqlite3.connect(self.store.removeprefix("sqlite://"), timeout=10)
            try:
                return connection.execute(query).fetchall()
            finally:
                connection.close()
        import psycopg

        with psycopg.connect(self.store) as connection:
            return connection.execute(query).fetchall()  # type: ignore[arg-type]

    def settled(self) -> bool:
        """Whether nothing is due and nothing leased."""
        first = self.memories[0]
        backlog = first.store.backlog(first.clock())
        return backlog.due == 0 and backlog.leased == 0

    def moved_twice(self) -> list[tuple[Any, ...]]:
        """Transitions that an entry made more than once: none of these tests revokes or returns anything."""
        return self.rows(
            "SELECT entry, from_state, to_state, COUNT(*) FROM transitions "
            "GROUP BY entry, from_state, to_state HAVING COUNT(*) > 1"
        )

    def end(self) -> None:
        for process in self.running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        for memory in self.memories:
            memory.close()


@pytest.fixture
def fleet(tmp_path: Path, store: str, broker: str) -> Iterator[Fleet]:
    made = Fleet(tmp_path, store, broker)
    yield made
    made.end()


def meet(memory: Memory, number: int) -> None:
    """The agent meets a failure that it has not met before."""
    name = f"name_{number}"
    text = f"Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nNameError: name '{name}' is not defined"
    memory.record(Event(EventKind.RESULT, tool="Bash", command="python a.py", text=text, explicit=True))


def loop(memory: Memory) -> None:
    """The agent meets one failure three times: a constraint, and three entries that go to PAST."""
    for line in range(1, 4):
        text = f"error[E0277]: the trait bound `A: B` is not satisfied\n --> src/a.rs:{line}:1"
        memory.record(Event(EventKind.RESULT, tool="Bash", command="cargo check", text=text, explicit=True))


def test_two_beats_and_two_workers_consolidate_each_changed_timeline_once_a_cycle(fleet: Fleet) -> None:
    memories = [fleet.memory(f"p{n}") for n in range(6)]
    for memory in memories:
        loop(memory)
    fleet.worker("celery")
    fleet.worker("second")
    fleet.beat()
    fleet.beat()
    end = time.monotonic() + 4
    for number in itertools.count():
        for memory in memories:
            meet(memory, number)
        if time.monotonic() > end:
            break
        time.sleep(0.1)
    until(fleet.settled)
    ticks = fleet.rows("SELECT version FROM leases WHERE name = 'cycle'")[0][0]
    cycles = fleet.rows("SELECT timeline, COUNT(*) FROM cycles GROUP BY timeline")
    assert len(cycles) == len(memories)
    assert max(count for _, count in cycles) <= ticks
    assert fleet.moved_twice() == []
    host = socket.gethostname()
    owners = {owner for (owner,) in fleet.rows("SELECT DISTINCT owner FROM cycles")}
    assert owners <= {f"celery@{host}", f"second@{host}"}
    assert fleet.rows("SELECT COUNT(*) FROM timelines WHERE failures > 0 OR parked_at IS NOT NULL") == [(0,)]
    # Where two workers wanted the team's facts at once, one of them comes back for it.
    until(lambda: fleet.rows("SELECT loops FROM semantic_facts WHERE valid_to IS NULL") == [(len(memories),)])


def test_a_worker_killed_in_the_middle_of_its_task_leaves_nothing_half_done(fleet: Fleet) -> None:
    memories = [fleet.memory(f"p{n}") for n in range(4)]
    for memory in memories:
        loop(memory)
    fleet.worker(app="faulty_workers", FAULT_ONCE="1")
    fleet.beat()
    until(lambda: sum(fleet.faults().values()) > 0)
    for number, memory in enumerate(memories):
        meet(memory, number)
    until(fleet.settled)
    assert len(fleet.rows("SELECT DISTINCT timeline FROM cycles")) == 4
    assert fleet.moved_twice() == []
    assert fleet.rows("SELECT COUNT(*) FROM timelines WHERE failures > 0 OR parked_at IS NOT NULL") == [(0,)]
    assert fleet.rows("SELECT COUNT(*) FROM agent_timeline") == [(4 * 5,)]


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_a_timeline_that_kills_its_workers_is_parked_and_the_others_go_on(fleet: Fleet) -> None:
    memories = {name: fleet.memory(name) for name in ("deadly", "p1", "p2")}
    for memory in memories.values():
        loop(memory)
    # Longer than five deaths take: a new lease would begin with a delivery that nobody lost yet.
    fleet.environment["VLK2_LEASE_SECONDS"] = "120"
    fleet.worker(app="faulty_workers", FAULT_EXIT="deadly")
    fleet.beat()
    parked = "SELECT project FROM timelines WHERE parked_at IS NOT NULL"
    until(lambda: fleet.rows(parked) == [("deadly",)])
    assert fleet.faults()["deadly"] == 5
    for memory in memories.values():
        meet(memory, 1)
    until(fleet.settled)
    others = fleet.rows(
        "SELECT DISTINCT t.project FROM cycles c JOIN timelines t ON t.pk = c.timeline ORDER BY 1"
    )
    assert others == [("p1",), ("p2",)]


@pytest.mark.parametrize("store", ["postgres"], indirect=True)
def test_one_poisoned_timeline_among_a_hundred_is_parked_and_ninety_nine_go_on(fleet: Fleet) -> None:
    memories = [fleet.memory(f"p{n}") for n in range(100)]
    # One store for all of them, as one front-end would have.
    for memory in memories:
        memory._store = memories[0].store
        meet(memory, 1)
    fleet.worker(app="faulty_workers", FAULT_RAISE="p41")
    fleet.beat()
    parked = "SELECT project FROM timelines WHERE parked_at IS NOT NULL"
    until(lambda: fleet.rows(parked) == [("p41",)])
    for memory in memories:
        meet(memory, 2)
    until(fleet.settled)
    assert fleet.faults() == {"p41": 5}
    done = fleet.rows("SELECT timeline, SUM(scanned) FROM cycles GROUP BY timeline")
    assert len(done) == 99
    assert min(scanned for _, scanned in done) >= 2
    assert fleet.moved_twice() == []


def test_a_visibility_timeout_shorter_than_the_task_leaves_one_result(fleet: Fleet) -> None:
    memory = fleet.memory("slow")
    loop(memory)
    fleet.environment["VLK2_LEASE_SECONDS"] = "300"
    faulty = {"FAULT_SLOW": "80", "FAULT_VISIBILITY": "1"}
    fleet.worker("celery", app="faulty_workers", **faulty)
    fleet.worker("second", app="faulty_workers", **faulty)
    fleet.beat()
    until(lambda: fleet.faults()["slow"] == 1)
    meet(memory, 1)
    until(lambda: fleet.faults()["slow"] > 1)
    until(fleet.settled)
    scanned = fleet.rows("SELECT scanned FROM cycles ORDER BY pk")
    # The loop's four, and what was met meanwhile: in the same cycle, or in the next.
    assert sum(count for (count,) in scanned) == 5
    assert all(count for (count,) in scanned)
    assert fleet.moved_twice() == []
    assert fleet.rows("SELECT COUNT(*) FROM timelines WHERE parked_at IS NOT NULL") == [(0,)]


@pytest.mark.usefixtures("docker_engine")
@pytest.mark.parametrize("store", ["postgres"], indirect=True)
def test_redis_stopped_and_started_delays_the_cycle_and_never_the_recording(
    tmp_path: Path, store: str
) -> None:
    own = RedisContainer()
    fleet = Fleet(tmp_path, store, own.url)
    try:
        memories = [fleet.memory(f"p{n}") for n in range(4)]
        fleet.worker()
        fleet.beat()
        for memory in memories:
            loop(memory)
        until(fleet.settled)
        before = fleet.rows("SELECT COUNT(*) FROM cycles")[0][0]
        own.stop()
        for number, memory in enumerate(memories):
            meet(memory, number)
        assert fleet.rows("SELECT COUNT(*) FROM timelines WHERE due_at IS NOT NULL")[0][0] == 4
        own.start()
        until(fleet.settled)
        assert fleet.rows("SELECT COUNT(*) FROM cycles")[0][0] >= before + 4
        assert fleet.moved_twice() == []
        assert fleet.rows("SELECT COUNT(*) FROM agent_timeline") == [(4 * 5,)]
        assert all(process.poll() is None for process in fleet.running)
    finally:
        fleet.end()
        own.remove()
