"""Real clients: without npm these tests skip on a laptop and fail in CI."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from driving import Unavailable, installation


@pytest.fixture(scope="session")
def clients(tmp_path_factory):
    # A client gives a server little time to start: an installed one has its bytecode, this one makes it now.
    subprocess.run(
        [str(Path(sys.executable).parent / "vlk2"), "serve"],
        env={**os.environ, "VLK2_DATA": str(tmp_path_factory.mktemp("data"))},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        timeout=120,
        check=True,
    )
    try:
        return installation()
    except Unavailable as error:
        if os.environ.get("CI"):
            pytest.fail(f"the pinned clients cannot be installed: {error}")
        pytest.skip(f"no real clients here: {error}")
