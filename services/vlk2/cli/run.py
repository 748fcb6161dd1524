"""`vlk2 run -- COMMAND…`: for any shell, CI job or agent without hooks."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from vlk2.cli import relay

if TYPE_CHECKING:
    from vlk2.app.record import Ready
    from vlk2.around import Around
    from vlk2.domain.said import Said
    from vlk2.ports import Owner
    from vlk2.userfile import HookSettings

_PATIENCE = 3.0
"""Seconds for the store, after the command has ended."""

_JOBS = (
    ("GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_JOB"),
    ("CI_JOB_ID",),
    ("BUILDKITE_JOB_ID",),
    ("CIRCLE_WORKFLOW_JOB_ID",),
    ("CIRCLE_BUILD_NUM",),
    ("BUILD_TAG",),
    ("BUILD_BUILDID", "SYSTEM_JOBID"),
    ("TRAVIS_JOB_ID",),
    ("DRONE_BUILD_NUMBER", "DRONE_STEP_NUMBER"),
    ("CODEBUILD_BUILD_ID",),
)
_SHELLS = ("sh", "bash", "zsh", "dash", "ksh", "fish")


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--session", default="", help="What belongs together; the CI job, else the terminal session.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(session: str, command: Sequence[str]) -> None:
    """Run COMMAND as it is and record how it went; say on stderr when its failure has repeated three times.

    Exit code, output, colour, signals and standard input pass through. The store being away changes nothing.
    """
    ran = relay.run(command)
    try:
        said = _record(command, ran, session or session_of(os.environ))
    except Exception as error:  # whatever it is: the command's own outcome stands
        said = f"vlk2 run: not recorded: {type(error).__name__}: {error}"
    if said:
        sys.stdout.flush()
        sys.stderr.write(said.rstrip("\n") + "\n")
    relay.leave(ran.code)


def session_of(environ: Mapping[str, str]) -> str:
    """The CI job, else the session of the terminal (what is typed into one shell, in whatever shells it starts)."""
    for names in _JOBS:
        values = [environ.get(name, "") for name in names]
        if values[0]:
            return " ".join([names[0].lower(), *values])
    leader = os.getsid(0) if hasattr(os, "getsid") else os.getppid()
    return f"pid {leader} {_started(leader)}".strip()


def words_of(command: Sequence[str]) -> str:
    """The command as one line; of `sh -c SCRIPT` the script itself."""
    name = command[0].replace("\\", "/").rpartition("/")[2]
    if len(command) == 3 and name in _SHELLS and command[1] in ("-c", "-lc", "-ec"):
        return command[2]
    return shlex.join(command)


def _record(command: Sequence[str], ran: relay.Ran, session: str) -> str:
    """Records the run; answers what is to be said, "" where nothing."""
    from vlk2 import spool
    from vlk2.app.record import prepare
    from vlk2.around import Around
    from vlk2.bootstrap import now
    from vlk2.domain.event import Event, EventKind
    from vlk2.domain.said import Tell
    from vlk2.errors import Vlk2Error
    from vlk2.frozen import replace
    from vlk2.ports import Owner
    from vlk2.project_file import rules_for
    from vlk2.redaction import mask
    from vlk2.remote import is_remote
    from vlk2.userfile import data_directory, default_store, hook_settings, share_of

    settings = hook_settings(os.environ)
    at = now()
    around = Around(os.getcwd())  # noqa: PTH109
    owner = Owner(settings.team, settings.agent, settings.project or around.project())
    share = share_of(os.environ, owner.project) if is_remote(settings.store) else ""
    if share == "none":
        settings, share = replace(settings, store=default_store(os.environ)), ""
    line = words_of(command)
    event = Event(
        kind=EventKind.RESULT,
        client="run",
        session=session,
        worktree=around.worktree(),
        use_id=f"run-{os.getpid()}-{at}",
        at=at,
        tool="Bash",
        command=line,
        input=json.dumps({"command": line}),
        text=ran.text,
        exit_code=ran.shell_code,
        interrupted=ran.interrupted,
    )
    directory = data_directory(os.environ)
    rules = rules_for(event.worktree, directory)
    if rules.excludes(line):
        return ""
    ready = prepare(event, mask, rules=rules)
    try:
        said = _told(settings, owner, ready, around, share, directory, at, rules.loop_threshold)
    except Vlk2Error as error:
        kept = replace(ready.event, command=ready.command, input=mask(event.input), worktree=event.worktree)
        spool.put(
            directory,
            spool.line_of(kept, store=settings.store, owner=owner, stamps=around.stamps(), root=around.root),
            at,
        )
        return f"vlk2 run: the store is away, so this run waits in the spool: {error.message}"
    return said.text if isinstance(said, Tell) else ""


def _told(
    settings: HookSettings,
    owner: Owner,
    ready: Ready,
    around: Around,
    share: str,
    directory: str,
    at: int,
    threshold: int | None,
) -> Said:
    """Records the event where the settings say: in a store, or (`share` says what may go there) at a team server.
    `threshold` is the project's own, where it has one."""
    from vlk2.app.hear import Manner, hear
    from vlk2.app.record import Terms
    from vlk2.bootstrap import mint, open_store
    from vlk2.domain.refusal import Enforce
    from vlk2.pausing import paused
    from vlk2.tokens import ByteCounter

    manner = Manner(
        enforce=Enforce(settings.enforce),
        observe=settings.observe,
        mute=paused(directory, at),
        advises=True,  # at the doubled counts only: no word comes before a command that has run already
        refuses=False,
    )
    if share:
        from vlk2.sending import tell

        return tell(
            settings.store,
            owner,
            [(ready.event, ready)],
            around,
            manner,
            environ=os.environ,
            share=share,
            directory=directory,
            timeout=_PATIENCE,
        )
    terms = Terms("run", threshold or settings.loop_threshold, "run")
    store = open_store(settings.store, busy_seconds=_PATIENCE)
    try:
        return hear(
            store, owner, ready.event, ready, terms, manner, around, now=at, mint=mint, counter=ByteCounter()
        )
    finally:
        store.close()


def _started(pid: int) -> str:
    """When the process began, as the system counts, "" where it does not say: a number alone comes back."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
