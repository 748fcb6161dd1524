"""What something was learned on (branch, HEAD, lockfiles, toolchain), and whether an observation speaks of the same."""

from __future__ import annotations

import json
from collections.abc import Mapping

from vlk2.domain.quoting import code
from vlk2.hints import Any


def compatible(learned: str, here: str) -> bool:
    """Whether an observation with the stamps `here` may contradict what was learned with the stamps `learned`.

    Stamps are JSON: branch, head, locks, toolchain. Another branch, or without branches another HEAD, is
    another state of the code: what holds there says nothing here. A new commit, lockfile or toolchain of the same
    branch is what moves on, and so may end a failure. What is unknown on either side counts as equal.
    """
    before, now = _stamps(learned), _stamps(here)
    if "branch" in before or "branch" in now:
        return _equal(before, now, "branch")
    return _equal(before, now, "head")


def moved(learned: str, here: str) -> frozenset[str]:
    """Which of the stamps are known on both sides and differ."""
    before, now = _stamps(learned), _stamps(here)
    return frozenset(key for key in before.keys() & now.keys() if before[key] != now[key])


def ground(stamps: str) -> str:
    """The stamps in words: branch and HEAD."""
    known = _stamps(stamps)
    words = [f"branch {code(known['branch'], 60)}"] if known.get("branch") else []
    if known.get("head"):
        words.append(f"commit {known['head'][:12]}")
    return ", ".join(words)


def _equal(before: Mapping[str, str], now: Mapping[str, str], key: str) -> bool:
    return key not in before or key not in now or before[key] == now[key]


def _stamps(text: str) -> dict[str, str]:
    try:
        found: Any = json.loads(text or "{}")
    except ValueError:
        return {}
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
