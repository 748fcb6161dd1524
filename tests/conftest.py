"""Servers that tests need: one that runs already (named by the environment), else a container. Without either
a test skips on a laptop and fails in CI."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from composed import Compose


def absent(what: str) -> NoReturn:
    """Skips the test that asks; fails it where the environment says `CI`."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def docker_engine() -> None:
    """A Docker engine that answers."""
    import docker
    from docker.errors import DockerException

    try:
        client = docker.from_env()
        client.ping()
        client.close()
    except DockerException as error:
        absent(f"no Docker engine answers: {error}")


@pytest.fixture(scope="session")
def postgres_server(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a PostgreSQL server whose role may create databases: `VLK2_TEST_POSTGRES`, else a
    container of `VLK_POSTGRES_IMAGE`."""
    if address := os.environ.get("VLK2_TEST_POSTGRES"):
        yield address
        return
    request.getfixturevalue("docker_engine")
    from testcontainers.community.postgres import PostgresContainer

    image = os.environ.get("VLK_POSTGRES_IMAGE", "postgres:17")
    container = PostgresContainer(image, username="vlk2", password="vlk2", dbname="vlk2", driver=None)
    with container.with_command("postgres -c max_connections=300") as running:
        yield running.get_connection_url()


@pytest.fixture(scope="session")
def compose(docker_engine: None) -> Iterator[Compose]:
    """The composed stack, one for all the tests that need it."""
    from composed import Compose

    made = Compose()
    try:
        up = made.run("up", "--build", "--wait", "--wait-timeout", "240", check=False, timeout=900)
        if up.returncode:
            logs = made.run("logs", "--no-color", "--tail", "40", check=False).stdout
            pytest.fail(f"up exited {up.returncode}: {up.stderr[-3000:]}\n{logs}")
        yield made
    finally:
        made.run("down", "--volumes", "--timeout", "5", check=False, timeout=180)
