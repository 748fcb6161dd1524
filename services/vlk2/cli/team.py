"""`vlk2 team`, `vlk2 agent`, `vlk2 token` and `vlk2 audit`: who may come in, and what was done and refused."""

from __future__ import annotations

import re

import click

from vlk2.cli.desk import perform
from vlk2.cli.output import answer, json_option
from vlk2.errors import InvalidInput

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}

_team = click.option("--team", "team_name", default="", help="The team; over HTTP always the token's own.")


def seconds(text: str) -> int:
    """A duration such as 90d, 12h or 30m in seconds; InvalidInput for anything else."""
    found = re.fullmatch(r"(\d{1,6})([smhdw])", text.strip().lower())
    if not found or not int(found[1]):
        raise InvalidInput(f"{text!r} is no duration: say 90d, 12h or 30m.")
    return int(found[1]) * _UNITS[found[2]]


@click.group()
def team() -> None:
    """Make teams and list them."""


@team.command("create", epilog="Example: vlk2 team create acme --json")
@click.argument("name")
@json_option
def create_team(name: str, as_json: bool) -> None:
    """Make the team NAME and its admin's token, which is shown this once."""
    _say(as_json, "create_team", team=name)


@team.command("list", epilog="Example: vlk2 team list")
@json_option
def list_teams(as_json: bool) -> None:
    """List the teams."""
    _say(as_json, "list_teams")


@click.group()
def agent() -> None:
    """Add agents to a team, list them, lock them out."""


@agent.command("create", epilog="Example: vlk2 agent create ada --team acme")
@click.argument("name")
@_team
@json_option
def create_agent(name: str, team_name: str, as_json: bool) -> None:
    """Add the agent NAME."""
    _say(as_json, "create_agent", agent=name, team=team_name)


@agent.command("list", epilog="Example: vlk2 agent list --team acme")
@_team
@json_option
def list_agents(team_name: str, as_json: bool) -> None:
    """List a team's agents."""
    _say(as_json, "list_agents", team=team_name)


@agent.command("revoke", epilog="Example: vlk2 agent revoke ada --team acme")
@click.argument("name")
@_team
@json_option
def revoke_agent(name: str, team_name: str, as_json: bool) -> None:
    """Revoke every token of the agent NAME; its memory stays."""
    _say(as_json, "revoke_agent", agent=name, team=team_name)


@click.group()
def token() -> None:
    """Create, list, rotate and revoke tokens."""


@token.command("create", epilog="Example: vlk2 token create --team acme --agent ada --expires 90d --json")
@_team
@click.option("--agent", "agent_name", required=True, help="Whose token.")
@click.option("--scope", type=click.Choice(["agent", "admin"]), default="agent", show_default=True)
@click.option("--expires", default="", help="How long it lasts: 90d, 12h; for ever where not said.")
@json_option
def create_token(team_name: str, agent_name: str, scope: str, expires: str, as_json: bool) -> None:
    """Make a token; it is shown this once."""
    lasts = seconds(expires) if expires else 0
    _say(as_json, "create_token", agent=agent_name, team=team_name, scope=scope, lasts=lasts)


@token.command("list", epilog="Example: vlk2 token list --team acme")
@_team
@json_option
def list_tokens(team_name: str, as_json: bool) -> None:
    """List a team's tokens: ids and what they are good for, never the tokens."""
    _say(as_json, "list_tokens", team=team_name)


@token.command("rotate", epilog="Example: vlk2 token rotate k_3kfq7m2xw5pa --team acme --grace 1h")
@click.argument("token_id")
@_team
@click.option("--grace", default="", help="How long the old one stays good; it ends at once where not said.")
@json_option
def rotate_token(token_id: str, team_name: str, grace: str, as_json: bool) -> None:
    """Replace TOKEN_ID by a new token of the same agent and scope."""
    _say(as_json, "rotate_token", token_id=token_id, team=team_name, grace=seconds(grace) if grace else 0)


@token.command("revoke", epilog="Example: vlk2 token revoke k_3kfq7m2xw5pa --team acme")
@click.argument("token_id")
@_team
@json_option
def revoke_token(token_id: str, team_name: str, as_json: bool) -> None:
    """Revoke TOKEN_ID, at once and for good."""
    _say(as_json, "revoke_token", token_id=token_id, team=team_name)


@click.command(epilog="Example: vlk2 audit --team acme --limit 20")
@_team
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)
@json_option
def audit(team_name: str, limit: int, as_json: bool) -> None:
    """Show what administrators did and what was refused, newest first."""
    _say(as_json, "audit", team=team_name, limit=limit)


def _say(as_json: bool, verb: str, **arguments: str | int) -> None:
    said = perform(verb, {name: value for name, value in arguments.items() if value not in ("", 0)})
    answer(as_json, said.pop("text"), **said)
