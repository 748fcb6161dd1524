"""`vlk2 explain`, `restore`, `erase` and `show-fix`: what became of a memory, and what a person may do about it."""

from __future__ import annotations

import click

from vlk2.cli.output import answer, json_option, memory
from vlk2.errors import InvalidInput

_project = click.option("--project", default=None, help="Another project than that of the working directory.")


@click.command(epilog="Example: vlk2 explain e_3kfq7m2xw5pa")
@click.argument("some_id", metavar="ID")
@_project
@json_option
def explain(some_id: str, project: str | None, as_json: bool) -> None:
    """Tell the whole story of an entry, a constraint or a fact: evidence, moves and their reasons, what it is
    worth and why, what the team believes of it and what contradicted that."""
    told = memory(project).explain(some_id)
    answer(as_json, told.text, **told.parts)


@click.command("show-fix", epilog="Example: vlk2 show-fix e_3kfq7m2xw5pa")
@click.argument("constraint_id", metavar="ID")
@_project
@json_option
def show_fix(constraint_id: str, project: str | None, as_json: bool) -> None:
    """Show what had changed in the files when the loop of a constraint ended."""
    fix = memory(project).show_fix(constraint_id)
    answer(as_json, fix.text, constraint_id=fix.constraint_id, at=fix.at, kind=fix.kind, diff=fix.diff)


@click.command(epilog="Example: vlk2 restore e_3kfq7m2xw5pa")
@click.argument("entry_id", metavar="ID")
@_project
@json_option
def restore(entry_id: str, project: str | None, as_json: bool) -> None:
    """Bring back an entry that the cycle forgot, within 14 days."""
    done = memory(project).restore(entry_id)
    answer(as_json, done.text, entry_id=done.entry_id, state=done.state)


@click.command(epilog="Example: vlk2 erase --match 'Jane Example' --reason 'asked for by Jane' --dry-run")
@click.option("--entry", default="", metavar="ID", help="This entry, and every other with the same text.")
@click.option("--agent", default="", metavar="NAME", help="All that this agent holds.")
@click.option("--project", default="", metavar="NAME", help="All of this project.")
@click.option("--match", default="", metavar="TEXT", help="Whatever holds this text; case counts.")
@click.option("--reason", default="", help="Why; it stays in the tombstones.")
@click.option("--dry-run", is_flag=True, help="Tell what would go, and touch nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def erase(
    entry: str, agent: str, project: str, match: str, reason: str, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Erase for good, in every timeline of the team that holds it.

    Texts, the search index, constraints that rest on them and what was made from them are gone from the store's
    files; a tombstone each stays (digest, signature, reason, date).
    """
    from vlk2.app.erase import Selection

    mine = memory(project or None)
    selection = Selection(entry, agent, project, match)
    done = mine.erase(selection, reason, dry_run=True)
    if not dry_run and done.entries:
        if not yes:
            if as_json:
                raise InvalidInput("erasing asks first: add --yes, or --dry-run to see what would go.")
            click.echo(done.text, err=True)
            click.confirm("This cannot be undone. Erase it?", abort=True, err=True)
        done = mine.erase(selection, reason)
    elif not dry_run:
        done = mine.erase(selection, reason)
    answer(
        as_json,
        done.text,
        erased=done.done,
        entries=done.entries,
        constraints=done.constraints,
        timelines=done.timelines,
        contents=done.contents,
    )
