"""Teams, agents, tokens and the audit over named statements; see `vlk2.ports.Directory`."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any

from vlk2.domain.credentials import Scope, Token
from vlk2.ports import Audited, KnownAgent, KnownTeam, PatternSource
from vlk2.stores.rows import fingerprint_of, pattern_row

if TYPE_CHECKING:
    from vlk2.domain.beliefs import Pattern
    from vlk2.domain.observation import Fingerprint
    from vlk2.stores.base import Statements


class SqlDirectory:
    """The directory inside one transaction."""

    def __init__(self, run: Statements) -> None:
        self._run = run

    def add_team(self, name: str, *, id: str, at: int) -> bool:  # noqa: A002
        return self._run.one("new_team", id=id, name=name, at=at) is not None

    def add_agent(self, team: str, name: str, *, id: str, at: int) -> bool | None:  # noqa: A002
        found = self._run.one("team_pk", name=team)
        if found is None:
            return None
        return self._run.one("new_agent", id=id, team=found[0], name=name, at=at) is not None

    def add_token(self, token: Token, hashed: str) -> None:
        team = self._run.one("team_pk", name=token.team)[0]
        self._run.run(
            "new_token",
            id=token.id,
            agent=self._run.one("agent_pk", team=team, name=token.agent)[0],
            hash=hashed,
            scope=token.scope.value,
            at=token.created_at,
            expires_at=token.expires_at,
        )

    def token_of(self, hashed: str) -> Token | None:
        row = self._run.one("token_by_hash", hash=hashed)
        # The index finds by hash; the comparison that decides takes the same time wherever two hashes differ.
        if row is None or not hmac.compare_digest(row[0].encode(), hashed.encode()):
            return None
        return _token(row[1:])

    def teams(self) -> list[KnownTeam]:
        return [KnownTeam(*row) for row in self._run.all("teams")]

    def agents(self, team: str, now: int) -> list[KnownAgent]:
        return [KnownAgent(*row) for row in self._run.all("agents", team=team, now=now)]

    def tokens(self, team: str) -> list[Token]:
        return [_token(row) for row in self._run.all("tokens", team=team)]

    def revoke_token(self, token_id: str, at: int) -> bool:
        return self._run.run("revoke_token", id=token_id, at=at) == 1

    def end_token(self, token_id: str, at: int) -> None:
        self._run.run("end_token", id=token_id, at=at)

    def touch_token(self, token_id: str, at: int) -> None:
        self._run.run("touch_token", id=token_id, at=at)

    def patterns(self, team: str, most: int) -> list[tuple[Pattern, int | None]]:
        return [_pattern(row) for row in self._run.all("patterns", team=team, most=most)]

    def pattern(self, team: str, pattern_id: str) -> tuple[Pattern, int | None] | None:
        row = self._run.one("pattern", team=team, id=pattern_id)
        return _pattern(row) if row else None

    def unlearned(self, team: str, most: int) -> list[Fingerprint]:
        found = [fingerprint_of(row, "") for row in self._run.all("unlearned", team=team, most=most)]
        return [fingerprint for fingerprint in found if fingerprint is not None]

    def pattern_sources(self, team: str, pattern_id: str) -> list[PatternSource]:
        return [PatternSource(*row) for row in self._run.all("pattern_sources", team=team, id=pattern_id)]

    def revoke_pattern(self, team: str, pattern_id: str, at: int | None, now: int) -> None:
        self._run.run("revoke_pattern", team=team, id=pattern_id, at=at, now=now)

    def pin_pattern(self, team: str, pattern_id: str, pinned: bool, now: int) -> None:
        self._run.run("pin_pattern", team=team, id=pattern_id, pinned=int(pinned), now=now)

    def note(self, row: Audited) -> None:
        self._run.run(
            "add_audit",
            at=row.at,
            actor=row.actor,
            team=row.team,
            act=row.act,
            subject=row.subject,
            detail=row.detail,
        )

    def audit(self, team: str | None, most: int) -> list[Audited]:
        if team is None:
            rows = self._run.all("audit_of_all", most=most)
        else:
            rows = self._run.all("audit_of_team", team=team, most=most)
        return [Audited(*row) for row in rows]


def _token(row: Any) -> Token:
    """The columns of the fragment `token`."""
    return Token(row[0], row[1], row[2], Scope(row[3]), row[4], row[5], row[6], row[7])


def _pattern(row: Any) -> tuple[Pattern, int | None]:
    """The columns of the fragment `fact`, and when it was revoked."""
    return pattern_row(row[:-1]), row[-1]
