"""`vlk2 timeline`."""

from __future__ import annotations

import json
from typing import Any

import click

from vlk2.app.show import Story, entry_line, overrides_line, story_text
from vlk2.cli.output import json_option, memory
from vlk2.domain.entry import Entry
from vlk2.domain.states import State


@click.command(epilog="Examples: vlk2 timeline --state FUTURE    vlk2 timeline e_3kfq7m2xw5pa")
@click.argument("entry_id", required=False)
@click.option(
    "--state",
    type=click.Choice([s.value for s in State if s is not State.NEW], case_sensitive=False),
    default=None,
    help="Only this state.",
)
@click.option("--limit", type=int, default=50, show_default=True, help="At most so many of each state.")
@click.option("--project", default=None, help="Another project than that of the working directory.")
@json_option
def timeline(entry_id: str | None, state: str | None, limit: int, project: str | None, as_json: bool) -> None:
    """List the entries of this timeline by state, or show ENTRY_ID whole with its audit trail."""
    mine = memory(project)
    if entry_id:
        told = mine.story(entry_id)
        if as_json:
            moves = [
                {
                    "from": m.source,
                    "to": m.target,
                    "reason": m.reason,
                    "detail": m.detail,
                    "actor": m.actor,
                    "at": m.at,
                }
                for m in told.moves
            ]
            said = [
                {"at": s.at, "kind": s.kind.value, "count": s.count, "said": s.said} for s in told.sayings
            ]
            whole = fields(told.entry) | _counts(told)
            click.echo(json.dumps({**whole, "body": told.body, "transitions": moves, "sayings": said}))
        else:
            click.echo(story_text(told, mine.clock()))
        return
    states = [state.upper()] if state else [State.FUTURE, State.PRESENT, State.PAST, State.PURGED]
    found = {str(s): mine.list_state(str(s), limit) for s in states}
    stories = {entry.id: mine.story(entry.id) for entry in found.get(str(State.FUTURE), ())}
    if as_json:
        listed = {
            s: [fields(e) | _counts(stories.get(e.id)) for e in entries] for s, entries in found.items()
        }
        click.echo(json.dumps(listed))
        return
    for name, entries in found.items():
        click.echo(f"{name} ({len(entries)}{'+' if len(entries) == limit else ''})")
        for entry in entries:
            counts = f"  ({overrides_line(stories[entry.id])})" if entry.id in stories else ""
            click.echo(f"  {entry_line(entry)}{counts}")


def _counts(told: Story | None) -> dict[str, Any]:
    constraint = told.constraint if told else None
    return {"count": constraint.count, "overrides": constraint.overrides} if constraint else {}


def fields(entry: Entry) -> dict[str, Any]:
    """An entry as JSON."""
    fingerprint = entry.fingerprint
    return {
        "entry_id": entry.id,
        "state": entry.state.value,
        "kind": entry.kind.value,
        "seq": entry.seq,
        "at": entry.at,
        "outcome": entry.outcome,
        "language": fingerprint.language if fingerprint else None,
        "type": fingerprint.type if fingerprint else None,
        "signature": fingerprint.signature if fingerprint else None,
        "symbols": list(fingerprint.symbols) if fingerprint else [],
        "headline": entry.headline,
        "file": entry.file,
        "command": entry.command,
        "tokens": entry.tokens,
        "pinned": entry.pinned,
        "lesson": entry.lesson,
    }
