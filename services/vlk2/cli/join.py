"""`vlk2 join`, `vlk2 leave` and `vlk2 sync`: a team server instead of this machine's own store."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vlk2.cli.output import answer, json_option, memory
from vlk2.errors import ConfigError, InvalidInput
from vlk2.userfile import SHARE, config_path, data_directory, default_store, read_user_file

if TYPE_CHECKING:
    from vlk2.remote import Server

_OURS = ("store", "token_from", "share", "before_join")


@click.command(epilog="Example: vlk2 join https://vlk2.example.org < token.txt")
@click.argument("url")
@click.option(
    "--keep",
    type=click.Choice(["file", "keyring", "env"]),
    default="file",
    show_default=True,
    help="Where the token is kept: a file that only you can read, the keyring (slower: hooks ask it at every "
    "event), or nowhere (env: VLK2_TOKEN says it each time).",
)
@click.option("--share", type=click.Choice(SHARE), default=None, help="What leaves this machine.")
@json_option
def join(url: str, keep: str, share: str | None, as_json: bool) -> None:
    """Use the team server at URL from now on.

    The token comes from VLK2_TOKEN or from stdin, never from an argument. Server and a reference to the token go
    into the user file; nothing is written into a project.
    """
    from vlk2.remote import Server

    address = url.rstrip("/").removesuffix("/mcp")
    if not address.startswith(("https://", "http://")):
        raise InvalidInput("URL must be https://… (http:// only for this very machine).")
    token = os.environ.get("VLK2_TOKEN", "").strip() or _asked()
    known = _check(Server(address, token))
    source = _keep(keep, address, token)
    held = read_user_file(config_path(os.environ))
    before = held.get("store") if not str(held.get("store", "")).startswith(("https://", "http://")) else None
    _write(
        {
            "store": address,
            "token_from": source,
            "share": share,
            "before_join": before or held.get("before_join"),
        }
    )
    answer(
        as_json,
        f"Joined {address} as {known['agent']} of the team {known['team']}. `vlk2 leave` undoes it.",
        server=address,
        team=known["team"],
        agent=known["agent"],
        token_from=source,
    )


@click.command(epilog="Example: vlk2 leave")
@json_option
def leave(as_json: bool) -> None:
    """Go back to this machine's own store; the token is forgotten here (an admin revokes it)."""
    held = read_user_file(config_path(os.environ))
    server = str(held.get("store", ""))
    if not server.startswith(("https://", "http://")):
        raise InvalidInput("this machine uses no team server: there is nothing to leave.")
    _forget(str(held.get("token_from", "")))
    store = held.get("before_join")
    _write({**dict.fromkeys(_OURS), "store": store})
    answer(
        as_json,
        f"Left {server}. The memory is {store or default_store(os.environ)} again.",
        left=server,
        store=store or default_store(os.environ),
    )


@click.command(epilog="Example: vlk2 sync")
@json_option
def sync(as_json: bool) -> None:
    """Hand in the events that hooks could not write and that wait in the spool."""
    from vlk2 import spool
    from vlk2.draining import hand_in

    directory = data_directory(os.environ)
    done = hand_in(memory(), directory, os.environ)
    left = spool.waiting(directory)[0]
    answer(as_json, f"{done} events handed in, {left} still wait.", handed_in=done, waiting=left)


def _asked() -> str:
    """The token from stdin: typed without an echo, or piped in."""
    if sys.stdin.isatty():
        return str(click.prompt("Token", hide_input=True, err=True)).strip()
    token = sys.stdin.readline().strip()
    if not token:
        raise InvalidInput("there is no token: give it in VLK2_TOKEN or on stdin.")
    return token


def _check(server: Server) -> dict[str, str]:
    """Who the server takes us for; its refusal is the command's error."""
    found = server.verb("whoami", {})
    return {"team": str(found["team"]), "agent": str(found["agent"])}


def _keep(where: str, address: str, token: str) -> str:
    """Puts the token away; the reference to it that goes into the user file."""
    if where == "env":
        return "env:VLK2_TOKEN"
    if where == "keyring":
        _keyring().set_password("vlk2", address, token)
        return f"keyring:{address}"
    path = Path(config_path(os.environ)).parent / "token"
    new = path.with_suffix(".new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(token + "\n")
        new.replace(path)
    except OSError as error:
        raise ConfigError(f"the token cannot be written to {path}: {error.strerror}") from error
    return f"file:{path}"


def _forget(source: str) -> None:
    kind, _, name = source.partition(":")
    if kind == "file":
        Path(name).unlink(missing_ok=True)
    elif kind == "keyring":
        _keyring().delete_password("vlk2", name)


def _keyring() -> Any:
    try:
        return importlib.import_module("keyring")
    except ImportError as error:
        raise ConfigError(
            "the package keyring is not installed: pip install keyring, or --keep file."
        ) from error


def _write(fields: dict[str, object]) -> None:
    """The user file with these fields set, and without those that are None."""
    from vlk2.clients.editing import files, jsonc

    path = config_path(os.environ)
    text = files.read(path) or ""
    for name, value in fields.items():
        text = jsonc.drop(text, (name,)) if value is None else jsonc.put(text, (name,), value)
    try:
        Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        files.write(path, text, mode=0o600)
    except OSError as error:
        raise ConfigError(f"the user file {path} cannot be written: {error.strerror}") from error
