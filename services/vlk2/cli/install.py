"""`vlk2 install` and `vlk2 uninstall`: Vlk² into a coding agent's own files, and out of them."""

from __future__ import annotations

import functools
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from vlk2.clients.applying import Blocked, Change, Outlook
from vlk2.clients.plan import MODULES, Place, Plan
from vlk2.errors import ConfigError, Vlk2Error

_CLIENTS = click.argument(
    "clients", nargs=-1, required=True, type=click.Choice(list(MODULES)), metavar="CLIENT…"
)
_SCOPE = click.option(
    "--scope",
    type=click.Choice(["user", "project"]),
    default="user",
    show_default=True,
    help="Your own files, or those of this project for everyone who works on it.",
)
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")


@click.command()
@_CLIENTS
@_SCOPE
@_DRY_RUN
@click.option("--yes", "-y", is_flag=True, help="Don't ask.")
@click.option(
    "--observe/--no-observe",
    default=None,
    help="Record and say nothing (`vlk2 report` tells what it would have said).",
)
def install(clients: Sequence[str], scope: str, dry_run: bool, yes: bool, observe: bool | None) -> None:
    """Add hooks and MCP server to coding agents: claude-code, codex, opencode, gemini, hermes, cursor.

    Shows every change first. Your other entries, comments and their order stay; `vlk2 uninstall` takes it back.
    """
    from vlk2.clients import applying

    plans = _plans(clients, scope)
    user = _user_file(observe)
    outlooks = [(plan, applying.to_install(plan, os.environ)) for plan in plans]
    for plan, outlook in outlooks:
        _show(plan, outlook)
    if user is not None:
        click.echo("settings")
        _show_change(user)
    blocked = [held for _, outlook in outlooks for held in outlook.blocked]
    changed = [plan for plan, outlook in outlooks if not outlook.nothing]
    if dry_run:
        click.echo("Nothing was written (--dry-run).")
    elif changed or user is not None:
        if not yes:
            _ask()
        if user is not None:
            _write_user_file(user)
        for plan in changed:
            for line in applying.install(plan, os.environ):
                click.echo(f"{plan.client}: {line}", err=True)
    failed = not dry_run and not _store_is_made()
    if not dry_run:
        for plan in plans:
            held, whole = applying.installed(plan)
            failed = failed or held < whole
            if held == whole:
                click.echo(
                    f"{plan.client}: installed." if plan in changed else f"{plan.client}: already installed."
                )
    for plan in plans:
        if not (blocked and dry_run):
            _show_manual(plan)
    if blocked or failed:
        sys.exit(1)


@click.command()
@_CLIENTS
@_SCOPE
@_DRY_RUN
@click.option("--yes", "-y", is_flag=True, help="Accepted for symmetry: taking back never asks.")
def uninstall(clients: Sequence[str], scope: str, dry_run: bool, yes: bool) -> None:
    """Take hooks and MCP server out of coding agents again. The memory itself stays."""
    from vlk2.clients import applying

    blocked = False
    for plan in _plans(clients, scope):
        outlook = applying.to_uninstall(plan, os.environ)
        _show(plan, outlook)
        blocked = blocked or bool(outlook.blocked)
        if dry_run:
            continue
        for line in applying.uninstall(plan, os.environ):
            click.echo(f"{plan.client}: {line}", err=True)
        click.echo(f"{plan.client}: not installed." if outlook.nothing else f"{plan.client}: taken out.")
    if dry_run:
        click.echo("Nothing was written (--dry-run).")
    elif scope == "user":
        _drop_user_file()
    if blocked:
        sys.exit(1)


def place_for(scope: str) -> Place:
    """This user's place: home, the project around the working directory, and this installation's launchers."""
    from vlk2.clients import launcher
    from vlk2.identity import worktree_of

    windows = os.name == "nt"
    return Place(
        scope=scope,
        home=str(Path.home()),
        root=worktree_of(str(Path.cwd())),
        environ=os.environ,
        launcher=launcher.by_name(windows=windows) if scope == "project" else launcher.find(os.environ),
        read=_read,
        version=_version,
    )


def _plans(clients: Sequence[str], scope: str) -> list[Plan]:
    from vlk2.clients.plan import installer

    place = place_for(scope)
    return [installer(client).plan(place) for client in dict.fromkeys(clients)]


def _read(path: str) -> str | None:
    from vlk2.clients.editing import files
    from vlk2.clients.editing.unreadable import Unreadable

    try:
        return files.read(path)
    except Unreadable:
        return None


@functools.cache
def _version(program: str) -> str:
    import shutil
    import subprocess

    found = shutil.which(program)
    if found is None:
        return ""
    try:
        done = subprocess.run(
            [found, "--version"],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=20,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


# what is shown ---------------------------------------------------------------------------------------------


def _show(plan: Plan, outlook: Outlook) -> None:
    click.echo(click.style(plan.client, bold=True))
    for command in outlook.commands:
        click.echo(f"  runs: {shlex.join(command)}")
    for change in outlook.changes:
        _show_change(change)
    for held in outlook.blocked:
        _show_blocked(held)
    if outlook.nothing and not outlook.blocked:
        click.echo("  nothing to change")


def _show_change(change: Change) -> None:
    from vlk2.clients.editing.files import difference

    for line in difference(change.path, change.before, change.after).splitlines():
        colour = "green" if line.startswith("+") else "red" if line.startswith("-") else None
        click.echo(click.style(line, fg=colour))


def _show_blocked(held: Blocked) -> None:
    click.echo(f"  {held.path} stays as it is: {held.reason}.")
    if held.snippet:
        click.echo("  Add this to it by hand (or mend the file and run this again):")
        click.echo("".join(f"    {line}\n" for line in held.snippet.splitlines()), nl=False)


def _show_manual(plan: Plan) -> None:
    for step in plan.manual:
        click.echo(f"{plan.client}: {step}")


def _ask() -> None:
    if not sys.stdin.isatty() and not sys.stdin.readable():
        raise ConfigError("nothing was written: pass --yes to go on without asking.")
    try:
        agreed = click.confirm("Write these changes?")
    except click.Abort:
        agreed = False
        click.echo("")
    if not agreed:
        raise ConfigError("nothing was written. (Pass --yes to go on without asking.)")


def _store_is_made() -> bool:
    """Makes the store where there is none: a hook never does, so that without it nothing would be told in the first
    session. What keeps it from being made is said."""
    from vlk2.bootstrap import open_store
    from vlk2.settings import load

    address = load().store
    if not address.startswith("sqlite:"):
        return True
    try:
        open_store(address).close()
    except Vlk2Error as error:
        click.echo(f"store: {error.message}", err=True)
        return False
    return True


# the user file ---------------------------------------------------------------------------------------------


def _user_file(observe: bool | None) -> Change | None:
    """The user file with the resolved settings, since a client may pass none of the environment on. None where
    it holds them already."""
    from vlk2.clients.editing import files, jsonc
    from vlk2.settings import load
    from vlk2.userfile import config_path

    settings = load()
    path = config_path(os.environ)
    before = files.read(path)
    after = before or ""
    for name in ("store", "team", "agent"):
        after = jsonc.put(after, (name,), getattr(settings, name))
    if observe is not None:
        after = jsonc.put(after, ("observe",), observe)
    return None if after == before else Change(path, before, after)


def _write_user_file(change: Change) -> None:
    from vlk2.clients.editing import files

    assert change.after is not None
    try:
        Path(change.path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        files.write(change.path, change.after, mode=0o600)
    except OSError as error:
        raise ConfigError(f"the user file {change.path} could not be written: {error.strerror}") from error


def _drop_user_file() -> None:
    """Removes the user file where no client is left and it says no more than the defaults do."""
    from vlk2.clients import applying
    from vlk2.clients.editing import files
    from vlk2.userfile import config_path, default_agent, default_store, read_user_file

    path = config_path(os.environ)
    try:
        held = read_user_file(path)
        if any(applying.present(plan) for plan in _plans(list(MODULES), "user")):
            return
    except Vlk2Error:
        return
    plain = {"store": default_store(os.environ), "team": "default", "agent": default_agent(os.environ)}
    if held and all(name in ("observe",) or plain.get(name) == value for name, value in held.items()):
        files.remove(path)
        files.drop_folder(path)
        click.echo(f"{path} removed: it held the defaults only.")
