"""The seven tools as commands of the same verbs."""

from __future__ import annotations

import os
import sys

import click

from vlk2.cli.output import answer, json_option, memory
from vlk2.domain.event import Event, EventKind
from vlk2.domain.observation import Outcome
from vlk2.domain.payload import call_of
from vlk2.errors import InvalidInput
from vlk2.identity import package_root, stamps

_project = click.option("--project", default=None, help="Another project than that of the working directory.")
_reason = click.option("--reason", required=True, help="Why, in a sentence; kept in the audit trail.")


@click.command(epilog="Example: cargo check 2>&1 | vlk2 record --command 'cargo check' --outcome failure")
@click.argument("log", required=False)
@click.option("--file", "file_context", default="", help="The file that it is about.")
@click.option("--command", "command", default="", help="The command that printed it.")
@click.option(
    "--outcome",
    type=click.Choice(["auto", "failure", "success", "unknown"]),
    default="auto",
    show_default=True,
    help="What the command's end was; auto lets the text decide.",
)
@click.option("--exit-code", type=int, default=None, help="The command's exit code.")
@_project
@json_option
def record(
    log: str | None,
    file_context: str,
    command: str,
    outcome: str,
    exit_code: int | None,
    project: str | None,
    as_json: bool,
) -> None:
    """Record LOG (or stdin): what a tool printed.

    The same failure counts by language and type, not by string. Its third repeat becomes a constraint, and
    this very answer shows it.
    """
    if log is None and sys.stdin.isatty():
        raise InvalidInput("nothing to record: give the log as an argument or on stdin.")
    raw = log if log is not None else sys.stdin.buffer.read().decode("utf-8", "replace")
    call = call_of(command)
    event = Event(
        EventKind.RESULT,
        tool=call.tool,
        command=call.command,
        input=call.input,
        text=raw,
        exit_code=exit_code if exit_code is not None else call.exit_code,
        explicit=True,
        place=file_context,
    )
    here = os.getcwd()  # noqa: PTH109
    done = memory(project).record(
        event,
        outcome=None if outcome == "auto" else Outcome(outcome),
        stamps=stamps(here),
        root=package_root(here),
    )
    answer(
        as_json,
        done.text,
        entry_id=done.entry_id,
        state=done.state,
        language=done.fingerprint.language if done.fingerprint else None,
        type=done.fingerprint.type if done.fingerprint else None,
        repeats=done.repeats,
        loop=done.loop,
        constraint_id=done.constraint.entry.id if done.constraint else None,
    )


@click.command(epilog="Example: vlk2 context --query 'cargo E0277' --max-tokens 2000")
@click.option("--query", default="", help="Ranks what is shown; filters nothing.")
@click.option("--max-tokens", type=int, default=0, help="At most so many tokens; 0 is the budget.")
@_project
@json_option
def context(query: str, max_tokens: int, project: str | None, as_json: bool) -> None:
    """Show what an agent should know now: constraints, the team's facts, what is present."""
    found = memory(project).fetch_context(query, max_tokens, lambda: stamps(os.getcwd()))  # noqa: PTH109
    answer(
        as_json,
        found.text,
        tokens=found.tokens,
        budget=found.budget,
        left_out=found.left_out,
        constraint_ids=list(found.constraint_ids),
    )


@click.command(epilog="Example: vlk2 revoke e_3kfq7m2xw5pa --reason 'the CI image was broken, not the code'")
@click.argument("constraint_id")
@_reason
@_project
@json_option
def revoke(constraint_id: str, reason: str, project: str | None, as_json: bool) -> None:
    """Withdraw a constraint learned from a misdiagnosis; its failure then needs twice the evidence."""
    done = memory(project).revoke(constraint_id, reason)
    answer(as_json, done.text, constraint_id=done.constraint_id, state=done.state)


@click.command(epilog="Example: vlk2 pin e_3kfq7m2xw5pa")
@click.argument("entry_id")
@_project
@json_option
def pin(entry_id: str, project: str | None, as_json: bool) -> None:
    """Protect an entry from budget, age and forgetting (not from contradiction)."""
    done = memory(project).pin(entry_id, pinned=True)
    answer(as_json, done.text, entry_id=done.entry_id, pinned=done.pinned)


@click.command(epilog="Example: vlk2 unpin e_3kfq7m2xw5pa")
@click.argument("entry_id")
@_project
@json_option
def unpin(entry_id: str, project: str | None, as_json: bool) -> None:
    """Take a pin away."""
    done = memory(project).pin(entry_id, pinned=False)
    answer(as_json, done.text, entry_id=done.entry_id, pinned=done.pinned)


@click.command(epilog="Example: vlk2 recall 'E0277 Ledger' --limit 3")
@click.argument("query")
@click.option("--limit", type=int, default=5, show_default=True, help="At most so many (1 to 50).")
@_project
@json_option
def recall(query: str, limit: int, project: str | None, as_json: bool) -> None:
    """Search what was archived and the team's facts, best first."""
    done = memory(project).recall(query, limit)
    answer(as_json, done.text, ids=list(done.ids))


@click.command(epilog="Example: vlk2 forget e_3kfq7m2xw5pa --reason 'holds a customer name'")
@click.argument("entry_id")
@_reason
@_project
@json_option
def forget(entry_id: str, reason: str, project: str | None, as_json: bool) -> None:
    """Forget an entry at once: its text is erased, unless another timeline holds the same."""
    done = memory(project).forget(entry_id, reason)
    answer(as_json, done.text, entry_id=done.entry_id, state=done.state)


@click.command(
    "time-travel",
    epilog="Example: vlk2 time-travel e_3kfq7m2xw5pa e_q2l5n7yd4c6b --lesson 'vendoring openssl never links here'",
)
@click.argument("entry_ids", nargs=-1, required=True)
@click.option("--lesson", required=True, help="What did not work and why, at most 500 characters.")
@_project
@json_option
def time_travel(entry_ids: tuple[str, ...], lesson: str, project: str | None, as_json: bool) -> None:
    """Declare a dead end: the entries go to PAST, the lesson becomes a constraint."""
    done = memory(project).time_travel(entry_ids, lesson)
    answer(as_json, done.text, constraint_id=done.constraint_id, archived=list(done.archived))
