"""Replace a token by a new one of the same agent and scope."""

from __future__ import annotations

from vlk2.app.create_token import Issued, issue
from vlk2.app.revoke_token import token_of_team
from vlk2.errors import NotAllowed
from vlk2.ports import Audited, Mint, Store


def rotate_token(
    store: Store,
    team: str,
    token_id: str,
    *,
    grace: int,
    actor: str,
    now: int,
    mint: Mint,
    random: bytes,
) -> Issued:
    """A new token that lasts as long from now as the old one did from its beginning; the old one ends after
    `grace` microseconds, at once where that is 0. NotFound as for `revoke_token`; NotAllowed where it has ended."""
    with store.directory(write=True) as directory:
        old = token_of_team(directory, team, token_id)
        if old.standing(now) != "active":
            raise NotAllowed(f"the token {old.id} is {old.standing(now)}: create a new one.")
        expires_at = None if old.expires_at is None else now + (old.expires_at - old.created_at)
        issued = issue(
            directory, team, old.agent, old.scope, expires_at, actor=actor, now=now, mint=mint, random=random
        )
        if grace > 0:
            directory.end_token(old.id, now + grace)
        else:
            directory.revoke_token(old.id, now)
        directory.note(Audited(now, actor, team, "token.rotate", old.id, f"by {issued.token.id}"))
    return issued
