"""Whether Codex trusts our hooks, as Codex itself says: an untrusted hook is skipped silently."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Mapping

from vlk2.clients.editing import nested_hooks
from vlk2.clients.editing.shape import items, mapping, value_at

PATIENCE = 15.0
_RUNS = ("trusted", "managed")


def untrusted(environ: Mapping[str, str], folder: str) -> list[str] | None:
    """The events of our hooks that Codex skips in `folder` since nobody has reviewed them, or they are switched off.
    None where Codex cannot be asked: it is not on the PATH, is too old, or did not answer in time."""
    program = shutil.which("codex", path=environ.get("PATH"))
    answer = _asked(program, environ, folder) if program else None
    if answer is None:
        return None
    hooks = [
        hook
        for place in items(value_at(answer, "result", "data"))
        for hook in items(mapping(place).get("hooks"))
    ]
    return [
        str(mapping(hook).get("eventName", ""))
        for hook in hooks
        if nested_hooks.ours(hook)
        and (mapping(hook).get("trustStatus") not in _RUNS or mapping(hook).get("enabled") is False)
    ]


def _asked(program: str, environ: Mapping[str, str], folder: str) -> object:
    """The answer of `codex app-server` to hooks/list, None where there is none."""
    asked = [
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "vlk2", "version": "1"}}},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [folder]}},
    ]
    try:
        process = subprocess.Popen(
            [program, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environ),
        )
    except OSError:
        return None
    watch = threading.Timer(PATIENCE, process.kill)
    watch.start()
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(json.dumps(line) + "\n" for line in asked).encode())
        process.stdin.flush()
        for line in process.stdout:
            found = _parsed(line)
            if mapping(found).get("id") == 2:
                return found if "result" in mapping(found) else None
    except OSError:
        return None
    finally:
        watch.cancel()
        process.kill()
        process.wait()
    return None


def _parsed(line: bytes) -> object:
    try:
        found: object = json.loads(line)
    except ValueError:
        return None
    return found
