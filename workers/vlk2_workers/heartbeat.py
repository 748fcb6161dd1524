"""A file that a worker touches while it hears its broker."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any


def heartbeat_file() -> Path:
    """The file: `VLK2_HEARTBEAT`, else one in the directory for temporary files."""
    return Path(os.environ.get("VLK2_HEARTBEAT") or Path(tempfile.gettempdir(), "vlk2-worker-heartbeat"))


def beats(**_: Any) -> None:
    """On every heartbeat of the process that talks to the broker, also while its pool is busy."""
    heartbeat_file().touch()


def ends(**_: Any) -> None:
    """When the worker stops: what it leaves behind must not look alive."""
    heartbeat_file().unlink(missing_ok=True)
