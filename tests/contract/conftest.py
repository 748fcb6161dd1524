"""One behaviour suite for every store: a fresh store for each test, and memories of owners in it."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from backends import STORES, Backend

from vlk2.bootstrap import Memory, open_store
from vlk2.domain.moments import DAY, SECOND
from vlk2.ports import Owner
from vlk2.settings import load

_BEGIN = 20_000 * DAY
_numbers = itertools.count(1)
ran: Counter[str] = Counter()


class Clock:
    """A clock that a test sets; every reading is a second later than the last."""

    def __init__(self) -> None:
        self.now = _BEGIN

    def __call__(self) -> int:
        self.now += SECOND
        return self.now

    def pass_time(self, microseconds: int) -> None:
        self.now += microseconds


class Words:
    """A stand-in for the tokenizer: four characters are a token, and that is exact."""

    exact = True

    def count(self, text: str) -> int:
        return len(text) // 4 + 1


def fresh(kind: str, request: pytest.FixtureRequest, tmp_path: Path, *, empty: bool) -> Iterator[Backend]:
    if kind == "sqlite":
        found = Backend(kind, f"sqlite://{tmp_path / 'store' / 'memory.db'}")
        yield found
    else:
        databases = request.getfixturevalue("databases")
        found = Backend(kind, databases.empty() if empty else databases.clean())
        yield found
    for store in found.opened:
        store.close()


@pytest.fixture(params=STORES)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    """A store without a memory in it."""
    yield from fresh(request.param, request, tmp_path, empty=False)


@pytest.fixture(params=STORES)
def nothing_yet(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    """A store that has no schema yet."""
    yield from fresh(request.param, request, tmp_path, empty=True)


class Databases:
    """Databases on one server. Those with a schema are wiped and used again: to make one takes the server longer
    than a test."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._names: list[str] = []
        self._free: list[str] = []
        self._lent: list[str] = []

    def empty(self) -> str:
        """The address of a database without anything in it."""
        import psycopg

        name = f"vlk2_contract_{os.getpid()}_{next(_numbers)}"
        with psycopg.connect(self._server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]
        self._names.append(name)
        return self._server.rpartition("/")[0] + f"/{name}"

    def clean(self) -> str:
        """The address of a database with a schema and no memory."""
        address = self._free.pop() if self._free else self.empty()
        open_store(address).close()
        self._lent.append(address)
        return address

    def take_back(self) -> None:
        """Wipes what was lent."""
        import psycopg

        for address in self._lent:
            with psycopg.connect(address) as connection:
                tables = [
                    table
                    for (table,) in connection.execute(
                        "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'store_meta'"
                    )
                ]
                connection.execute(f"TRUNCATE {', '.join(tables)} RESTART IDENTITY CASCADE")  # type: ignore[arg-type]
                connection.execute("UPDATE store_meta SET value = '1' WHERE name LIKE 'min_%'")
        self._free += self._lent
        self._lent = []

    def drop(self) -> None:
        import psycopg

        with psycopg.connect(self._server, autocommit=True) as connection:
            for name in self._names:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def _databases(postgres_server: str) -> Iterator[Databases]:
    made = Databases(postgres_server)
    yield made
    made.drop()


@pytest.fixture
def databases(_databases: Databases) -> Iterator[Databases]:
    yield _databases
    _databases.take_back()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory_of(backend: Backend, clock: Clock) -> Iterator[Callable[..., Memory]]:
    """A memory of an owner in the backend's store: `memory_of("ada", "ledger", token_budget=900)`."""
    made: list[Memory] = []

    def make(agent: str = "ada", project: str = "ledger", team: str = "default", **settings: Any) -> Memory:
        chosen = load(store=backend.address, agent=agent, project=project, team=team, **settings)
        made.append(
            Memory(chosen, Owner(team, agent, project), counter=Words(), clock=clock, actor=f"agent {agent}")
        )
        return made[-1]

    yield make
    for memory in made:
        memory.close()


@pytest.fixture
def memory(memory_of: Callable[..., Memory]) -> Memory:
    return memory_of()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" and report.passed:
        for kind in STORES:
            if f"[{kind}" in report.nodeid or f"-{kind}]" in report.nodeid:
                ran[kind] += 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The count of what ran is taken when everything has run."""
    items.sort(key=lambda item: item.name == "test_as_many_contract_tests_ran_on_postgres_as_on_sqlite")


@pytest.fixture
def ran_so_far() -> Counter[str]:
    return ran
