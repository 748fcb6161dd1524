"""What every command shares: the memory it works on, and its two ways of answering."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from vlk2.bootstrap import Memory, owner_of
from vlk2.identity import worktree_of
from vlk2.remote_memory import memory_for
from vlk2.settings import load

_F = TypeVar("_F", bound=Callable[..., Any])


def memory(project: str | None = None) -> Memory:
    """The memory of the caller's own timeline, from settings and the working directory."""
    settings = load(**({"project": project} if project else {}))
    owner = owner_of(settings, os.environ, os.getcwd())  # noqa: PTH109
    mine = memory_for(settings, owner, os.environ, actor="cli")
    mine.workspace = "" if project else worktree_of(os.getcwd())  # noqa: PTH109
    return mine


def json_option(command: _F) -> _F:
    """`--json`: the answer as one JSON object."""
    return click.option("--json", "as_json", is_flag=True, help="Answer as JSON.")(command)


def answer(as_json: bool, text: str, **fields: Any) -> None:
    """Prints the text for people, or text and fields as one JSON object."""
    click.echo(json.dumps({"text": text, **fields}, ensure_ascii=False) if as_json else text)
