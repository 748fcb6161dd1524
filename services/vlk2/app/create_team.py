"""Make a team and the first token of its administrator."""

from __future__ import annotations

from vlk2.app.create_token import Issued, issue
from vlk2.app.team_names import team_name
from vlk2.domain.credentials import Scope
from vlk2.errors import NotAllowed
from vlk2.frozen import dataclass
from vlk2.ports import Audited, Mint, Store

ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class TeamMade:
    """A new team, and its admin's token, which is told this once."""

    team: str
    issued: Issued


def create_team(store: Store, name: str, *, actor: str, now: int, mint: Mint, random: bytes) -> TeamMade:
    """Makes the team, its agent `admin` and a token of scope admin; `random` are 32 random bytes.

    NotAllowed where an administrator made the team before; a team that exists only because something was
    recorded in it is taken over.
    """
    team = team_name(name)
    with store.directory(write=True) as directory:
        directory.add_team(team, id=mint("t"), at=now)
        if any(token.scope is Scope.ADMIN for token in directory.tokens(team)):
            raise NotAllowed(
                f"the team {team} is there already: `vlk2 token create --team {team} …` adds to it."
            )
        directory.add_agent(team, ADMIN, id=mint("a"), at=now)
        directory.note(Audited(now, actor, team, "team.create", team, ""))
        issued = issue(
            directory, team, ADMIN, Scope.ADMIN, None, actor=actor, now=now, mint=mint, random=random
        )
    return TeamMade(team, issued)
