"""What the tests on containers share: one composed stack for all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from composed import Compose


@pytest.fixture(scope="session")
def compose(docker_engine: None) -> Iterator[Compose]:
    made = Compose()
    try:
        up = made.run("up", "--build", "--wait", "--wait-timeout", "240", check=False, timeout=900)
        if up.returncode:
            logs = made.run("logs", "--no-color", "--tail", "40", check=False).stdout
            pytest.fail(f"up exited {up.returncode}: {up.stderr[-3000:]}\n{logs}")
        yield made
    finally:
        made.run("down", "--volumes", "--timeout", "5", check=False, timeout=180)
