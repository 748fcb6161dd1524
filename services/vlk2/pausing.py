"""Whether `vlk2 pause` holds: the file `paused.json` of the data directory."""

from __future__ import annotations

import json
import os


def paused(directory: str, now: int) -> bool:
    """Whether `vlk2 pause` holds: `paused.json` in the data directory names a time (microseconds) to come."""
    try:
        with open(os.path.join(directory, "paused.json"), encoding="utf-8") as file:
            text = file.read(400)
    except OSError:
        return False
    try:
        return int(json.loads(text)["until"]) > now
    except (ValueError, TypeError, KeyError):
        return False
