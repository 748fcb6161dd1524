"""Add an agent to a team."""

from __future__ import annotations

from vlk2.app.team_names import agent_name, team_name
from vlk2.errors import NotFound
from vlk2.ports import Audited, Mint, Store


def create_agent(store: Store, team: str, agent: str, *, actor: str, now: int, mint: Mint) -> bool:
    """Adds the agent; False where the team has one of that name. NotFound where there is no such team."""
    team, agent = team_name(team), agent_name(agent)
    with store.directory(write=True) as directory:
        added = directory.add_agent(team, agent, id=mint("a"), at=now)
        if added is None:
            raise NotFound(f"there is no team {team}: make it with `vlk2 team create {team}`.")
        if added:
            directory.note(Audited(now, actor, team, "agent.create", agent, ""))
    return added
