"""The verbs of a team's administration, as the command line and the HTTP server both call them.

Each takes plain arguments and answers a JSON object with `text`, so that a command does the same with a store of
its own and through a server.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vlk2.bootstrap import mint, now
from vlk2.domain.credentials import RANDOM_BYTES, Scope, Token
from vlk2.domain.moments import SECOND, iso, span
from vlk2.errors import InvalidInput, NotAllowed
from vlk2.ports import Store

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Desk:
    """Who administers what: `team` is the only one within reach, None (whoever has the database itself) all.

    `scope` is what the caller may do. `actor` stands in the audit; `agent` is "" for who has the database itself.
    """

    store: Store
    actor: str
    team: str | None = None
    scope: Scope = Scope.ADMIN
    agent: str = ""
    clock: Callable[[], int] = now

    def reach(self, team: str) -> str:
        """The team that is meant: the caller's own, or the one named where all are within reach."""
        if self.team is None:
            if not team:
                raise InvalidInput("name the team: --team NAME.")
            return team
        if team and team != self.team:
            raise NotAllowed(f"this token administers the team {self.team} only.")
        return self.team


def perform(desk: Desk, verb: str, arguments: Mapping[str, Any]) -> Answer:
    """Does what the verb says. InvalidInput for an unknown verb or argument, NotAllowed where the scope is not
    enough."""
    found = _VERBS.get(verb)
    if found is None:
        raise InvalidInput(f"there is no verb {verb[:60]!r}: it is one of {', '.join(_VERBS)}.")
    if found.scope is Scope.ADMIN and desk.scope is not Scope.ADMIN:
        raise NotAllowed(f"{verb} needs a token of the scope admin.")
    given: dict[str, Any] = {}
    for name, value in arguments.items():
        kind = found.takes.get(name)
        if kind is None or not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise InvalidInput(
                f"{verb} takes {', '.join(found.takes) or 'nothing'}; not {name[:60]!r} as it came."
            )
        given[name] = value
    missing = [name for name in found.needs if name not in given]
    if missing:
        raise InvalidInput(f"{verb} needs {', '.join(missing)}.")
    return found.does(desk, **given)


def _who_am_i(desk: Desk) -> Answer:
    return {
        "text": f"{desk.agent or desk.actor} of the team {desk.team or '(all)'}, scope {desk.scope.value}",
        "team": desk.team,
        "agent": desk.agent,
        "scope": desk.scope.value,
    }


def _create_team(desk: Desk, team: str) -> Answer:
    from vlk2.app.create_team import create_team

    if desk.team is not None:
        raise NotAllowed("a team is made on the server itself: `vlk2 team create NAME` beside its store.")
    made = create_team(desk.store, team, actor=desk.actor, now=desk.clock(), mint=mint, random=_random())
    return {
        "text": f"Team {made.team} is there. Its admin's token, shown only now:\n{made.issued.text}",
        "team": made.team,
        "token": made.issued.text,
        "token_id": made.issued.token.id,
    }


def _list_teams(desk: Desk) -> Answer:
    with desk.store.directory(write=False) as directory:
        found = [t for t in directory.teams() if desk.team in (None, t.name)]
    return {
        "text": "\n".join(f"{t.name}  {t.agents} agents, since {iso(t.created_at)}" for t in found)
        or "no team yet",
        "teams": [
            {"id": t.id, "team": t.name, "agents": t.agents, "created_at": t.created_at} for t in found
        ],
    }


def _create_agent(desk: Desk, agent: str, team: str = "") -> Answer:
    from vlk2.app.create_agent import create_agent

    team = desk.reach(team)
    added = create_agent(desk.store, team, agent, actor=desk.actor, now=desk.clock(), mint=mint)
    done = "added to" if added else "already in"
    return {"text": f"{agent} is {done} the team {team}.", "team": team, "agent": agent, "added": added}


def _list_agents(desk: Desk, team: str = "") -> Answer:
    team = desk.reach(team)
    with desk.store.directory(write=False) as directory:
        found = directory.agents(team, desk.clock())
    return {
        "text": "\n".join(f"{a.name}  {a.tokens} active tokens" for a in found)
        or f"no agent in the team {team}",
        "team": team,
        "agents": [
            {"id": a.id, "agent": a.name, "tokens": a.tokens, "created_at": a.created_at} for a in found
        ],
    }


def _revoke_agent(desk: Desk, agent: str, team: str = "") -> Answer:
    from vlk2.app.revoke_token import revoke_agent

    team = desk.reach(team)
    ended = revoke_agent(desk.store, team, agent, actor=desk.actor, now=desk.clock())
    return {
        "text": f"{ended} tokens of {agent} are revoked; its memory stays.",
        "team": team,
        "agent": agent,
        "revoked": ended,
    }


def _create_token(desk: Desk, agent: str, team: str = "", scope: str = "agent", lasts: int = 0) -> Answer:
    from vlk2.app.create_token import create_token

    at = desk.clock()
    issued = create_token(
        desk.store,
        desk.reach(team),
        agent,
        _scope(scope),
        at + lasts * SECOND if lasts else None,
        actor=desk.actor,
        now=at,
        mint=mint,
        random=_random(),
    )
    return _issued(issued.text, issued.token, at)


def _rotate_token(desk: Desk, token_id: str, team: str = "", grace: int = 0) -> Answer:
    from vlk2.app.rotate_token import rotate_token

    at = desk.clock()
    issued = rotate_token(
        desk.store,
        desk.reach(team),
        token_id,
        grace=grace * SECOND,
        actor=desk.actor,
        now=at,
        mint=mint,
        random=_random(),
    )
    return {**_issued(issued.text, issued.token, at), "replaces": token_id}


def _revoke_token(desk: Desk, token_id: str, team: str = "") -> Answer:
    from vlk2.app.revoke_token import revoke_token

    token = revoke_token(desk.store, desk.reach(team), token_id, actor=desk.actor, now=desk.clock())
    return {"text": f"{token.id} of {token.agent} is revoked.", "token_id": token.id, "agent": token.agent}


def _list_tokens(desk: Desk, team: str = "") -> Answer:
    team, at = desk.reach(team), desk.clock()
    with desk.store.directory(write=False) as directory:
        found = directory.tokens(team)
    lines = [
        f"{t.id}  {t.agent}  {t.scope.value}  {t.standing(at)}"
        + (f", expires {iso(t.expires_at)}" if t.expires_at else "")
        + (f", used {span(max(0, at - t.last_used_at))} ago" if t.last_used_at else ", never used")
        for t in found
    ]
    return {
        "text": "\n".join(lines) or f"no token in the team {team}",
        "team": team,
        "tokens": [
            {
                "token_id": t.id,
                "agent": t.agent,
                "scope": t.scope.value,
                "standing": t.standing(at),
                "created_at": t.created_at,
                "expires_at": t.expires_at,
                "revoked_at": t.revoked_at,
                "last_used_at": t.last_used_at,
            }
            for t in found
        ],
    }


def _audit(desk: Desk, team: str = "", limit: int = 100) -> Answer:
    if not 1 <= limit <= 10_000:
        raise InvalidInput("limit must be 1 to 10,000.")
    with desk.store.directory(write=False) as directory:
        rows = directory.audit(desk.reach(team) if team or desk.team else None, limit)
    lines = [
        f"{iso(r.at)}  {r.team or '-'}  {r.actor}  {r.act}  {r.subject}"
        + (f"  {r.detail}" if r.detail else "")
        for r in rows
    ]
    return {
        "text": "\n".join(lines) or "nothing yet",
        "audit": [
            {
                "at": r.at,
                "team": r.team,
                "actor": r.actor,
                "act": r.act,
                "subject": r.subject,
                "detail": r.detail,
            }
            for r in rows
        ],
    }


def _issued(text: str, token: Token, at: int) -> Answer:
    until = f", until {iso(token.expires_at)}" if token.expires_at else ""
    return {
        "text": f"Token {token.id} of {token.agent} ({token.scope.value}{until}), shown only now:\n{text}",
        "token": text,
        "token_id": token.id,
        "team": token.team,
        "agent": token.agent,
        "scope": token.scope.value,
        "expires_at": token.expires_at,
    }


def _scope(name: str) -> Scope:
    try:
        return Scope(name)
    except ValueError:
        raise InvalidInput("the scope is agent or admin.") from None


def _random() -> bytes:
    return secrets.token_bytes(RANDOM_BYTES)


@dataclass(frozen=True, slots=True)
class _Verb:
    does: Callable[..., Answer]
    takes: Mapping[str, type]
    needs: tuple[str, ...] = ()
    scope: Scope = Scope.ADMIN


_VERBS: Mapping[str, _Verb] = {
    "whoami": _Verb(_who_am_i, {}, scope=Scope.AGENT),
    "create_team": _Verb(_create_team, {"team": str}, ("team",)),
    "list_teams": _Verb(_list_teams, {}),
    "create_agent": _Verb(_create_agent, {"agent": str, "team": str}, ("agent",)),
    "list_agents": _Verb(_list_agents, {"team": str}),
    "revoke_agent": _Verb(_revoke_agent, {"agent": str, "team": str}, ("agent",)),
    "create_token": _Verb(_create_token, {"agent": str, "team": str, "scope": str, "lasts": int}, ("agent",)),
    "rotate_token": _Verb(_rotate_token, {"token_id": str, "team": str, "grace": int}, ("token_id",)),
    "revoke_token": _Verb(_revoke_token, {"token_id": str, "team": str}, ("token_id",)),
    "list_tokens": _Verb(_list_tokens, {"team": str}),
    "audit": _Verb(_audit, {"team": str, "limit": int}),
}
