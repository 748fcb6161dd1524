"""Give an agent a token."""

from __future__ import annotations

from vlk2.app.team_names import agent_name, team_name
from vlk2.domain.credentials import Scope, Token, token_hash, token_text
from vlk2.errors import InvalidInput, NotFound
from vlk2.frozen import dataclass
from vlk2.ports import Audited, Directory, Mint, Store


@dataclass(frozen=True, slots=True)
class Issued:
    """A token, told this once: the store keeps its hash alone."""

    text: str
    token: Token


def create_token(
    store: Store,
    team: str,
    agent: str,
    scope: Scope,
    expires_at: int | None,
    *,
    actor: str,
    now: int,
    mint: Mint,
    random: bytes,
) -> Issued:
    """A new token of an agent of the team; `random` are 32 random bytes. The agent is made where it is new.

    NotFound where there is no such team, InvalidInput where it would have expired already.
    """
    team, agent = team_name(team), agent_name(agent)
    if expires_at is not None and expires_at <= now:
        raise InvalidInput("the token would have expired already.")
    with store.directory(write=True) as directory:
        added = directory.add_agent(team, agent, id=mint("a"), at=now)
        if added is None:
            raise NotFound(f"there is no team {team}: make it with `vlk2 team create {team}`.")
        if added:
            directory.note(Audited(now, actor, team, "agent.create", agent, ""))
        return issue(
            directory, team, agent, scope, expires_at, actor=actor, now=now, mint=mint, random=random
        )


def issue(
    directory: Directory,
    team: str,
    agent: str,
    scope: Scope,
    expires_at: int | None,
    *,
    actor: str,
    now: int,
    mint: Mint,
    random: bytes,
) -> Issued:
    """A new token of an agent that is there, inside an open transaction."""
    text = token_text(random)
    token = Token(mint("k"), team, agent, scope, now, expires_at, None, None)
    directory.add_token(token, token_hash(text))
    directory.note(Audited(now, actor, team, "token.create", token.id, f"{scope.value} of {agent}"))
    return Issued(text, token)
