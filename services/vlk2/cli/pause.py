"""`vlk2 pause` and `vlk2 resume`: hooks and `vlk2 run` go on recording and say nothing for a while."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import click

from vlk2.bootstrap import now
from vlk2.cli.output import answer, json_option
from vlk2.errors import ConfigError, InvalidInput

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_LONGEST = 366 * 86_400


@click.command()
@click.argument("duration", default="1h")
@json_option
def pause(duration: str, as_json: bool) -> None:
    """Say nothing for DURATION (30m, 1h, 2d; 1h by default). Recording goes on. `off` ends the pause."""
    if duration == "off":
        _end(as_json)
        return
    seconds = _seconds(duration)
    until = now() + seconds * 1_000_000
    path = paused_file()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = path.with_name(f".{path.name}.{os.getpid()}")
        new.write_text(json.dumps({"until": until}), encoding="utf-8")
        new.replace(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error
    from vlk2.domain.moments import stamp

    text = f"Paused until {stamp(until)}: Vlk² records and says nothing. `vlk2 resume` ends it."
    answer(as_json, text, until=until)


@click.command()
@json_option
def resume(as_json: bool) -> None:
    """End a pause."""
    _end(as_json)


def paused_file() -> Path:
    """The file that the hook looks for: {"until": microseconds UTC}."""
    from vlk2.userfile import data_directory

    return Path(data_directory(os.environ), "paused.json")


def _end(as_json: bool) -> None:
    path = paused_file()
    try:
        path.unlink()
    except FileNotFoundError:
        answer(as_json, "There was no pause.", until=None)
        return
    except OSError as error:
        raise ConfigError(f"{path} cannot be removed: {error.strerror or error}") from error
    answer(as_json, "Vlk² speaks again.", until=None)


def _seconds(duration: str) -> int:
    found = re.fullmatch(r"(\d{1,9})\s*([smhd])", duration.strip().lower())
    seconds = int(found.group(1)) * _UNITS[found.group(2)] if found else 0
    if not 0 < seconds <= _LONGEST:
        raise InvalidInput(f"{duration!r} is no duration: say 30m, 1h, 2d (at most a year), or off.")
    return seconds
