"""`vlk2 patterns`: what the team has learned from its agents' loops."""

from __future__ import annotations

from typing import Any

import click

from vlk2.cli.desk import perform
from vlk2.cli.output import answer, json_option
from vlk2.settings import load

_team = click.option("--team", "team_name", default="", help="Another team than your own (VLK2_TEAM).")
_pattern = click.argument("pattern_id")
_reason = click.option("--reason", required=True, help="Why, in a sentence; kept in the audit.")


@click.group()
def patterns() -> None:
    """What fails for the team's agents, how often and how sure: never whose log, file or command."""


@patterns.command("list", epilog="Example: vlk2 patterns list")
@click.option("--limit", type=click.IntRange(1, 1_000), default=200, show_default=True)
@_team
@json_option
def list_patterns(limit: int, team_name: str, as_json: bool) -> None:
    """List the patterns, the newest first."""
    _say(as_json, "list_patterns", team_name, limit=limit)


@patterns.command("explain", epilog="Example: vlk2 patterns explain f_3kfq7m2xw5pa")
@_pattern
@click.option("--names", is_flag=True, help="Name agents and projects (admin; goes into the audit).")
@_team
@json_option
def explain(pattern_id: str, names: bool, team_name: str, as_json: bool) -> None:
    """Show what stands behind a pattern, and how the belief came about."""
    _say(as_json, "explain_pattern", team_name, pattern_id=pattern_id, names=names)


@patterns.command("revoke", epilog="Example: vlk2 patterns revoke f_3kfq7m2xw5pa --reason 'a broken image'")
@_pattern
@_reason
@_team
@json_option
def revoke(pattern_id: str, reason: str, team_name: str, as_json: bool) -> None:
    """Withdraw a pattern from everybody in the team (admin)."""
    _say(as_json, "revoke_pattern", team_name, pattern_id=pattern_id, reason=reason)


@patterns.command("restore", epilog="Example: vlk2 patterns restore f_3kfq7m2xw5pa --reason 'it was right'")
@_pattern
@_reason
@_team
@json_option
def restore(pattern_id: str, reason: str, team_name: str, as_json: bool) -> None:
    """Take a revocation back (admin)."""
    _say(as_json, "restore_pattern", team_name, pattern_id=pattern_id, reason=reason)


@patterns.command("pin", epilog="Example: vlk2 patterns pin f_3kfq7m2xw5pa")
@_pattern
@click.option("--off", is_flag=True, help="Take the pin away.")
@_team
@json_option
def pin(pattern_id: str, off: bool, team_name: str, as_json: bool) -> None:
    """Show a pattern to whoever meets its failure, however sure it is (admin)."""
    _say(as_json, "pin_pattern", team_name, pattern_id=pattern_id, pinned=not off)


def _say(as_json: bool, verb: str, team: str, **arguments: Any) -> None:
    settings = load()
    if not team and not settings.store.startswith(("https://", "http://")):
        team = settings.team
    said = perform(verb, {**arguments, **({"team": team} if team else {})})
    answer(as_json, said.pop("text"), **said)
