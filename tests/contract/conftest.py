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
    else:
        server = request.getfixturevalue("postgres_server")
        found = Backend(kind, request.getfixturevalue("new_database")(server, empty=empty))
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


@pytest.fixture(scope="session")
def new_database() -> Iterator[Callable[..., str]]:
    """Makes a database on a server and answers its address: empty, or a copy of one with the schema. All are
    dropped at the end."""
    made: list[tuple[str, str]] = []
    whole: list[str] = []

    def make(server: str, *, empty: bool = False) -> str:
        import psycopg

        if not empty and not whole:
            address = make(server, empty=True)
            open_store(address).close()
            whole.append(address.rpartition("/")[2])
        name = f"vlk2_contract_{os.getpid()}_{next(_numbers)}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}" + ("" if empty else f" TEMPLATE {whole[0]}"))
        made.append((server, name))
        return server.rpartition("/")[0] + f"/{name}"

    yield make
    if made:
        import psycopg

        with psycopg.connect(made[0][0], autocommit=True) as connection:
            for _, name in made:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


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
