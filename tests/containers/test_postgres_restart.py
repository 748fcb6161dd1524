"""PostgreSQL restarted under load: clear errors that say to try again, and nothing acknowledged is lost."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from vlk2.bootstrap import Memory, open_store
from vlk2.domain.event import Event, EventKind
from vlk2.errors import StoreUnavailable
from vlk2.ports import Owner
from vlk2.settings import load

pytestmark = pytest.mark.containers

AGENTS = 16


@pytest.fixture
def server(docker_engine: None) -> Iterator[object]:
    """A server that keeps its port over a restart."""
    from testcontainers.community.postgres import PostgresContainer

    image = os.environ.get("VLK_POSTGRES_IMAGE", "postgres:17")
    container = PostgresContainer(image, username="vlk2", password="vlk2", dbname="vlk2", driver=None)
    with container.with_bind_ports(5432, _free_port()) as running:
        yield running


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


class Recorder(threading.Thread):
    """One agent that records one failure after the other until it is stopped, and notes what it was told."""

    def __init__(self, memory: Memory, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.memory = memory
        self.stop = stop
        self.acknowledged: list[str] = []
        self.refused: list[str] = []
        self.broken: list[BaseException] = []
        self.last = 0.0

    def run(self) -> None:
        number = 0
        while not self.stop.is_set():
            number += 1
            text = f"KeyError: 'item {number} of {self.memory.owner.agent}'\n"
            try:
                done = self.memory.record(Event(EventKind.RESULT, text=text, explicit=True))
            except StoreUnavailable as error:
                self.refused.append(error.message)
                self.stop.wait(0.05)
            except BaseException as error:
                self.broken.append(error)
                return
            else:
                assert done.entry_id is not None
                self.acknowledged.append(done.entry_id)
                self.last = time.monotonic()


def _until(condition: object, seconds: float) -> bool:
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        threading.Event().wait(0.05)
    return False


def test_postgres_restarted_under_load_loses_nothing_that_was_acknowledged(server: object) -> None:
    address = server.get_connection_url()  # type: ignore[attr-defined]
    store = open_store(address)
    stop = threading.Event()
    agents = []
    for number in range(AGENTS):
        memory = Memory(load(store=address), Owner("default", f"agent{number}", "example.test/a/b"))
        memory._store = store  # one front-end, many agents
        agents.append(Recorder(memory, stop))
    for agent in agents:
        agent.start()
    assert _until(lambda: all(len(agent.acknowledged) >= 3 for agent in agents), 60)

    server.get_wrapped_container().restart(timeout=5)  # type: ignore[attr-defined]
    back = time.monotonic()
    assert _until(lambda: all(agent.last > back for agent in agents), 60)
    stop.set()
    for agent in agents:
        agent.join(30)

    assert [agent.broken for agent in agents if agent.broken] == []
    told = [message for agent in agents for message in agent.refused]
    assert told, "the restart was not noticed: the load did not meet it"
    assert all("try again" in message.lower() for message in told), set(told)
    for agent in agents:
        held = {entry.id for state in ("PRESENT", "PAST") for entry in agent.memory.list_state(state, 1_000)}
        assert set(agent.acknowledged) <= held
    store.close()
