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
from vlk2.domain.beliefs import Pattern, pattern_text
from vlk2.domain.credentials import RANDOM_BYTES, Scope, Token
from vlk2.domain.moments import SECOND, iso, span
from vlk2.errors import InvalidInput, NotAllowed
from vlk2.ports import Audited, Store

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

    @property
    def worker(self) -> str:
        """Under whose name it takes the team's lease."""
        return f"desk-{mint('w')[2:8]}"

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


def _list_patterns(desk: Desk, team: str = "", limit: int = 200) -> Answer:
    from vlk2.app.patterns import list_patterns

    team = desk.reach(team)
    found = list_patterns(desk.store, team, worker=desk.worker, now=desk.clock(), mint=mint, most=limit)
    return {
        "text": "\n\n".join(_pattern_text(p, r) for p, r in found) or f"the team {team} has no pattern yet",
        "team": team,
        "patterns": [_pattern(p, r) for p, r in found],
    }


def _explain_pattern(desk: Desk, pattern_id: str, team: str = "", names: bool = False) -> Answer:
    from vlk2.app.patterns import explain_pattern

    team = desk.reach(team)
    if names and desk.scope is not Scope.ADMIN:
        raise NotAllowed("names are shown to a token of the scope admin only.")
    at = desk.clock()
    found = explain_pattern(desk.store, team, pattern_id, worker=desk.worker, now=at, mint=mint)
    if names:
        with desk.store.directory(write=True) as directory:
            directory.note(Audited(at, desk.actor, team, "pattern.names", found.pattern.id, ""))

    def who(kind: str, name: str) -> str:
        return name if names else f"{kind}-{desk.store.digest(f'{team}/{kind}/{name}')[:6]}"

    sources = [
        {
            "agent": who("agent", s.agent),
            "project": who("project", s.project),
            "loops": s.loops,
            "ended": s.successes,
            "by": s.ended,
            "first_at": s.first_at,
            "last_at": s.last_at,
        }
        for s in found.sources
    ]
    lines = [_pattern_text(found.pattern, found.revoked_at), "Behind it:"]
    lines += [
        f"  {s['agent']} in {s['project']}: {s['loops']} loops, {s['ended']} ended"
        + (f" by a change of {s['by']}" if s["by"] else "")
        for s in sources
    ]
    lines += [
        f"Believed since {iso(b.valid_from)}"
        + (f" until {iso(b.valid_to)}" if b.valid_to is not None else "")
        + f": {b.loops} loops, {b.successes} ended, confidence {b.confidence:.2f}"
        for b in found.beliefs
    ]
    lines += [f"Contradicted {iso(c.at)}: {c.resolution or 'not resolved yet'}" for c in found.contradictions]
    return {"text": "\n".join(lines), **_pattern(found.pattern, found.revoked_at), "sources": sources}


def _revoke_pattern(desk: Desk, pattern_id: str, reason: str, team: str = "") -> Answer:
    return _withdraw(desk, pattern_id, reason, team, revoked=True)


def _restore_pattern(desk: Desk, pattern_id: str, reason: str, team: str = "") -> Answer:
    return _withdraw(desk, pattern_id, reason, team, revoked=False)


def _withdraw(desk: Desk, pattern_id: str, reason: str, team: str, *, revoked: bool) -> Answer:
    from vlk2.app.patterns import revoke_pattern
    from vlk2.redaction import mask

    pattern = revoke_pattern(
        desk.store,
        desk.reach(team),
        pattern_id,
        reason,
        revoked=revoked,
        actor=desk.actor,
        worker=desk.worker,
        now=desk.clock(),
        mint=mint,
        mask=mask,
    )
    done = "revoked: nobody in the team is shown it any more" if revoked else "back"
    return {"text": f"Pattern {pattern.id} is {done}.", "pattern_id": pattern.id, "revoked": revoked}


def _pin_pattern(desk: Desk, pattern_id: str, team: str = "", pinned: bool = True) -> Answer:
    from vlk2.app.patterns import pin_pattern

    pattern = pin_pattern(
        desk.store,
        desk.reach(team),
        pattern_id,
        pinned=pinned,
        actor=desk.actor,
        worker=desk.worker,
        now=desk.clock(),
        mint=mint,
    )
    return {
        "text": f"Pattern {pattern.id} is {'pinned' if pinned else 'not pinned'}.",
        "pattern_id": pattern.id,
        "pinned": pinned,
    }


def _pattern_text(pattern: Pattern, revoked_at: int | None) -> str:
    return pattern_text(pattern) + (f"\nRevoked {iso(revoked_at)}." if revoked_at is not None else "")


def _pattern(pattern: Pattern, revoked_at: int | None) -> Answer:
    return {
        "pattern_id": pattern.id,
        "language": pattern.fingerprint.language,
        "type": pattern.fingerprint.type,
        "signature": pattern.fingerprint.signature,
        "symbols": list(pattern.fingerprint.symbols),
        "confidence": pattern.confidence,
        "loops": pattern.loops,
        "repeats": pattern.repeats,
        "ended": pattern.successes,
        "ended_by": pattern.ended,
        "agents": pattern.agents,
        "first_at": pattern.first_at,
        "last_at": pattern.last_at,
        "pinned": pattern.pinned,
        "revoked_at": revoked_at,
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
    "list_patterns": _Verb(_list_patterns, {"team": str, "limit": int}, scope=Scope.AGENT),
    "explain_pattern": _Verb(
        _explain_pattern, {"pattern_id": str, "team": str, "names": bool}, ("pattern_id",), Scope.AGENT
    ),
    "revoke_pattern": _Verb(
        _revoke_pattern, {"pattern_id": str, "reason": str, "team": str}, ("pattern_id", "reason")
    ),
    "restore_pattern": _Verb(
        _restore_pattern, {"pattern_id": str, "reason": str, "team": str}, ("pattern_id", "reason")
    ),
    "pin_pattern": _Verb(_pin_pattern, {"pattern_id": str, "team": str, "pinned": bool}, ("pattern_id",)),
    "audit": _Verb(_audit, {"team": str, "limit": int}),
}
