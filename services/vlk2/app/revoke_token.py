"""Take tokens away."""

from __future__ import annotations

from vlk2.app.team_names import agent_name
from vlk2.domain.credentials import Token
from vlk2.errors import NotFound
from vlk2.ports import Audited, Directory, Store


def revoke_token(store: Store, team: str, token_id: str, *, actor: str, now: int) -> Token:
    """Revokes a token of the team, at once and for good; again changes nothing. NotFound where the team has none
    of that id."""
    with store.directory(write=True) as directory:
        token = token_of_team(directory, team, token_id)
        if directory.revoke_token(token.id, now):
            directory.note(Audited(now, actor, team, "token.revoke", token.id, f"of {token.agent}"))
    return token


def revoke_agent(store: Store, team: str, agent: str, *, actor: str, now: int) -> int:
    """Revokes every token of an agent; how many were good until now. Its memory stays. NotFound where the team
    has no such agent."""
    agent = agent_name(agent)
    with store.directory(write=True) as directory:
        if agent not in {known.name for known in directory.agents(team, now)}:
            raise NotFound(f"there is no agent {agent} in the team {team}.")
        held = [token for token in directory.tokens(team) if token.agent == agent]
        ended = [token for token in held if token.standing(now) == "active"]
        for token in held:
            directory.revoke_token(token.id, now)
        directory.note(Audited(now, actor, team, "agent.revoke", agent, f"{len(ended)} tokens"))
    return len(ended)


def token_of_team(directory: Directory, team: str, token_id: str) -> Token:
    """The token, where it is the team's: another team's id reads like one that does not exist."""
    for token in directory.tokens(team):
        if token.id == token_id:
            return token
    raise NotFound(f"there is no token {token_id} in the team {team}: `vlk2 token list` shows them.")
